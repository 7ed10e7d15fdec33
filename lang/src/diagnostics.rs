//! Errors in source text, as values. Every stage adds to one [`Diagnostics`] list and goes on, so that a user
//! sees all that is wrong at once; [`crate::render`] prints them with the source underlined.

use crate::span::Span;

/// One error: what is wrong, where, and what would be right.
#[derive(Clone, PartialEq, Debug)]
pub struct Diagnostic {
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// The place.
    pub span: Span,
    /// What is at the place, shown beside the underline (`"this is an `Int`"`).
    pub label: String,
    /// Other places that explain it (`"first declared here"`).
    pub related: Vec<(Span, String)>,
    /// What would be right.
    pub help: Option<String>,
}

/// At most this many errors are kept; the rest is counted.
pub const MAX_DIAGNOSTICS: usize = 100;

/// The errors found so far, in the order found.
#[derive(Default, Debug)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    dropped: usize,
}

impl Diagnostic {
    /// An error at `span`; `label` says what stands there.
    pub fn new(span: Span, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
        Diagnostic { message: message.into(), span, label: label.into(), related: Vec::new(), help: None }
    }

    /// Adds another place.
    pub fn related(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.related.push((span, label.into()));
        self
    }

    /// Adds the way out.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }
}

impl Diagnostics {
    /// Adds an error. Of several at exactly one place the first is kept: the later ones are its consequences.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        if self.list.iter().any(|d| d.span == diagnostic.span) {
            return;
        }
        if self.list.len() == MAX_DIAGNOSTICS {
            self.dropped += 1;
        } else {
            self.list.push(diagnostic);
        }
    }

    /// True if nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// True if further errors are only counted, so that working out help for them is work for nothing.
    pub fn is_full(&self) -> bool {
        self.list.len() == MAX_DIAGNOSTICS
    }

    /// The errors kept, in the order of files and places.
    pub fn sorted(&self) -> Vec<&Diagnostic> {
        let mut all: Vec<&Diagnostic> = self.list.iter().collect();
        all.sort_by_key(|d| (d.span.file, d.span.start, d.span.end));
        all
    }

    /// How many errors beyond [`MAX_DIAGNOSTICS`] were not kept.
    pub fn dropped(&self) -> usize {
        self.dropped
    }
}
