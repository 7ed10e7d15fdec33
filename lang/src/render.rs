//! Diagnostics as text for people: what is wrong, the source line underlined, places that explain it, the way
//! out.
//!
//! `ariadne` draws. It indexes whole files and prints whole lines, so that it is given only what is of
//! reasonable size: for huge files and very long lines there is a plain form, `path:line:column: message`.
//! Characters that would move the cursor, change colours or end lines behind our back are replaced, byte for
//! byte, before anything reaches a terminal.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::{Debug, Display};
use std::ops::Range;

use ariadne::{Cache, Color, Config, IndexType, Label, Report, ReportKind, Source};

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::sources::Sources;
use crate::span::{FileId, Span};

/// Longer lines are not drawn.
const LONGEST_LINE: usize = 500;

/// Larger files are not drawn.
const LARGEST_FILE: usize = 1 << 20;

/// All errors as text, in the order of files and places, with a count of those left out.
pub fn render(sources: &Sources, diagnostics: &Diagnostics, color: bool) -> String {
    let mut renderer = Renderer { sources, color, drawn: BTreeMap::new() };
    let mut output = String::new();
    for diagnostic in diagnostics.sorted() {
        match renderer.drawing(diagnostic) {
            Some(drawing) => output.push_str(&drawing),
            None => renderer.plain(diagnostic, &mut output),
        }
    }
    match diagnostics.dropped() {
        0 => {}
        1 => output.push_str("and 1 more error\n"),
        dropped => output.push_str(&format!("and {dropped} more errors\n")),
    }
    output
}

struct Renderer<'a> {
    sources: &'a Sources,
    color: bool,
    /// The files drawn so far, as `ariadne` indexes them.
    drawn: BTreeMap<u32, Source<String>>,
}

impl Cache<u32> for Renderer<'_> {
    type Storage = String;

    fn fetch(&mut self, file: &u32) -> Result<&Source<String>, impl Debug> {
        let sources = self.sources;
        Ok::<_, Infallible>(
            self.drawn.entry(*file).or_insert_with(|| Source::from(harmless(sources.text(FileId(*file))))),
        )
    }

    fn display<'b>(&self, file: &'b u32) -> Option<impl Display + 'b> {
        Some(harmless(self.sources.path(FileId(*file))))
    }
}

impl Renderer<'_> {
    /// The drawing of an error, or nothing if its line or file is too long.
    fn drawing(&mut self, diagnostic: &Diagnostic) -> Option<String> {
        let place = self.drawable(diagnostic.span)?;
        let config = Config::default().with_index_type(IndexType::Byte).with_color(self.color);
        // Labels of one file are drawn together only if they come in the order of lines.
        let label = |place: (u32, Range<usize>), text: &str| {
            let same_file = place.0 == diagnostic.span.file.0;
            let order = if same_file { place.1.start as i32 } else { i32::MAX };
            Label::new(place).with_message(harmless(text)).with_order(order)
        };
        let mut report = Report::build(ReportKind::Error, place.clone())
            .with_config(config)
            .with_message(harmless(&diagnostic.message))
            .with_label(label(place, &diagnostic.label).with_color(Color::Red));
        for (span, text) in &diagnostic.related {
            match self.drawable(*span) {
                Some(place) => report.add_label(label(place, text).with_color(Color::Blue)),
                None => report.add_note(format!("{}: {}", self.position(*span), harmless(text))),
            }
        }
        if let Some(help) = &diagnostic.help {
            report.set_help(harmless(help));
        }
        let mut bytes = Vec::new();
        report.finish().write(&mut *self, &mut bytes).ok()?;
        String::from_utf8(bytes).ok()
    }

    /// The part of `span` on its first line, if that is of reasonable size. At the end of the file it is
    /// the end of the last line that has anything on it.
    fn drawable(&self, span: Span) -> Option<(u32, Range<usize>)> {
        let text = self.sources.text(span.file);
        if text.len() > LARGEST_FILE {
            return None;
        }
        let mut start = span.start as usize;
        if start >= text.trim_end().len() {
            start = text.trim_end().char_indices().next_back().map_or(0, |(offset, _)| offset);
        }
        let line = self.sources.line_range(Span::new(span.file, start, start));
        if start == line.end {
            start -= text[line.clone()].chars().next_back().map_or(0, char::len_utf8);
        }
        let first = text[start..line.end].chars().next().map_or(0, char::len_utf8);
        let end = (span.end as usize).min(line.end).max(start + first);
        (line.len() <= LONGEST_LINE).then_some((span.file.0, start..end))
    }

    fn position(&self, span: Span) -> String {
        let (line, column) = self.sources.line_column(span);
        format!("{}:{line}:{column}", harmless(self.sources.path(span.file)))
    }

    fn plain(&self, diagnostic: &Diagnostic, output: &mut String) {
        let mut line = |place: Option<Span>, text: &str| {
            let position = place.map(|span| self.position(span) + ": ").unwrap_or_default();
            output.push_str(&position);
            output.push_str(&harmless(text));
            output.push('\n');
        };
        line(Some(diagnostic.span), &format!("Error: {}", diagnostic.message));
        for (span, label) in &diagnostic.related {
            line(Some(*span), label);
        }
        if let Some(help) = &diagnostic.help {
            line(None, &format!("Help: {help}"));
        }
    }
}

/// The text with all characters replaced that a terminal would obey, or that end a line for `ariadne` but not
/// for us. The replacement is as many bytes long as what it replaces.
fn harmless(text: &str) -> String {
    let harmful = |character: char| match character {
        '\n' | '\t' => false,
        '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        other => other.is_control(),
    };
    let mut result = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' if characters.peek() == Some(&'\n') => result.push(' '),
            other if harmful(other) => (0..other.len_utf8()).for_each(|_| result.push('?')),
            other => result.push(other),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render_one(text: &str, needle: &str) -> String {
        let mut sources = Sources::new();
        let file = sources.add("a.hol", text);
        let start = text.find(needle).unwrap_or(text.len());
        let span = Span::new(file, start, start + needle.len());
        let mut diagnostics = Diagnostics::default();
        diagnostics.report(
            Diagnostic::new(span, "the message", "the label")
                .related(Span::new(file, 0, 1), "the other place")
                .help("the way out"),
        );
        render(&sources, &diagnostics, false)
    }

    #[test]
    fn underlines_count_bytes_and_respect_wide_characters() {
        let shown = render_one("fn f() {\n\tlet é = \"漢字\" + wrong\n}\n", "wrong");
        let expected = "\
Error: the message
   ╭─[ a.hol:2:17 ]
   │
 1 │ fn f() {
   │ ┬  
   │ ╰── the other place
 2 │     let é = \"漢字\" + wrong
   │                      ──┬──  
   │                        ╰──── the label
   │ 
   │ Help: the way out
───╯
";
        assert_eq!(shown, expected);
    }

    #[test]
    fn the_end_of_the_file_is_the_end_of_its_last_line() {
        let shown = render_one("fn f() {\n  x\n\n\n", "");
        assert!(shown.contains("a.hol:1:1"), "{shown}");
        let mut sources = Sources::new();
        let text = "fn f() {\n  x\n\n\n";
        let file = sources.add("a.hol", text);
        let mut diagnostics = Diagnostics::default();
        diagnostics.report(Diagnostic::new(Span::new(file, text.len(), text.len()), "message", "label"));
        let shown = render(&sources, &diagnostics, false);
        assert!(shown.contains("a.hol:2:3"), "{shown}");
        let empty = sources.add("b.hol", "");
        let mut diagnostics = Diagnostics::default();
        diagnostics.report(Diagnostic::new(Span::new(empty, 0, 0), "message", "label"));
        assert!(render(&sources, &diagnostics, false).contains("b.hol"));
    }

    #[test]
    fn long_lines_and_huge_files_have_a_plain_form() {
        let long = format!("x{}wrong", " ".repeat(LONGEST_LINE));
        let plain = |column| {
            format!("a.hol:1:{column}: Error: the message\na.hol:1:1: the other place\nHelp: the way out\n")
        };
        assert_eq!(render_one(&long, "wrong"), plain(LONGEST_LINE + 2));
        let huge = format!("x wrong{}", "\n".repeat(LARGEST_FILE));
        assert_eq!(render_one(&huge, "wrong"), plain(3));
    }

    #[test]
    fn terminals_get_nothing_to_obey() {
        let shown = render_one("a\u{1b}[31m \u{202e} wrong \u{2028} \r b\r\n", "wrong");
        assert!(shown.contains("a?[31m ??? wrong ??? ? b"), "{shown}");
    }

    #[test]
    fn errors_left_out_are_counted() {
        let mut sources = Sources::new();
        let file = sources.add("a.hol", "x".repeat(200));
        let mut diagnostics = Diagnostics::default();
        for at in 0..150 {
            diagnostics.report(Diagnostic::new(Span::new(file, at, at + 1), "message", "label"));
        }
        assert!(render(&sources, &diagnostics, true).ends_with("and 50 more errors\n"));
    }
}
