//! The bound on the depth of the tree.
//!
//! Two numbers describe the node being parsed: its `depth` below the root, and `peak`, the depth of the deepest
//! node seen inside the current operand. Going down increments `depth`. An operator behind a finished operand
//! pushes that operand one level down after the fact, and so increments `peak`: a chain `a + b + c` of a
//! thousand operators is a thousand levels deep though the parser loops over it. Whichever passes the limit
//! stops the parser, so that the finished tree is never deeper than the limit.

use super::Parser;
use crate::ast::MAX_NESTING;
use crate::diagnostics::Diagnostic;

/// How deep the tree is here.
#[derive(Default)]
pub(super) struct Nesting {
    depth: u32,
    peak: u32,
}

impl Parser<'_> {
    /// Parses something one level further down.
    pub(super) fn deeper<R>(&mut self, parse: impl FnOnce(&mut Self) -> R) -> R {
        self.nesting.depth += 1;
        self.nesting.peak = self.nesting.peak.max(self.nesting.depth);
        self.check_depth();
        let result = parse(self);
        self.nesting.depth -= 1;
        result
    }

    /// Parses an operand together with the operators behind it, each of which calls [`Parser::wrap`].
    pub(super) fn chain<R>(&mut self, parse: impl FnOnce(&mut Self) -> R) -> R {
        let outer_peak = std::mem::replace(&mut self.nesting.peak, self.nesting.depth);
        let result = parse(self);
        self.nesting.peak = self.nesting.peak.max(outer_peak);
        result
    }

    /// What the current chain has so far becomes the operand of one more operator.
    pub(super) fn wrap(&mut self) {
        self.nesting.peak += 1;
        self.check_depth();
    }

    fn check_depth(&mut self) {
        if self.nesting.peak > MAX_NESTING && !self.aborted {
            self.recovering = false;
            self.report(
                Diagnostic::new(
                    self.here(),
                    "the program nests too deeply",
                    format!("more than {MAX_NESTING} levels"),
                )
                .help("give the parts names with `let`, or move them into functions"),
            );
            self.aborted = true;
            self.recovering = true;
            self.position = self.tokens.len() - 1;
        }
    }
}
