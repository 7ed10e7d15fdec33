//! Is the `<` behind a name in an expression a comparison, or does it open type arguments? It does if a
//! well-formed list of types follows whose `>` stands before `(` or `.`.
//!
//! The question is answered by a scan over the tokens with a stack of open brackets. One scan meets many `<` on
//! its way, and answers for all of them: each is written down, so that no stretch of the file is scanned twice
//! and hostile input cannot make this quadratic. (A scan that goes wrong at some token goes wrong there
//! for every list then open.)

use super::Parser;
use crate::lexer::TokenKind;

/// The answers of the last scan.
#[derive(Default)]
pub(super) struct TypeArgumentScans {
    /// Every `<` that the scan met, by position, and what it opens.
    answers: Vec<(usize, Answer)>,
    /// The positions scanned.
    scanned: std::ops::Range<usize>,
}

/// What a `<` opens.
#[derive(Clone, Copy, PartialEq, Default)]
enum Answer {
    /// Nothing: it is a comparison.
    #[default]
    Nothing,
    /// A list of types, behind which the expression does not go on as it must behind type arguments.
    TypeList,
    /// The type arguments of a name in an expression.
    TypeArguments,
}

/// What is open.
enum Open {
    /// `<`, by its index in the answers.
    Angle(usize),
    /// The parameters of a function type.
    Parameters,
    /// A type in parentheses.
    Group,
}

/// What may come next.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    Type,
    AfterName,
    AfterType,
    AfterParameters,
}

impl Parser<'_> {
    /// True if the current token is a `<` that opens type arguments in an expression.
    pub(super) fn at_type_arguments(&mut self) -> bool {
        self.opened() == Answer::TypeArguments
    }

    /// True if the current token is a `<` that opens a list of types, whatever follows it.
    pub(super) fn at_type_list(&mut self) -> bool {
        self.opened() != Answer::Nothing
    }

    fn opened(&mut self) -> Answer {
        if !self.at(TokenKind::Less) {
            return Answer::Nothing;
        }
        if !self.scans.scanned.contains(&self.position) {
            self.scan_type_arguments();
        }
        let found = self.scans.answers.binary_search_by_key(&self.position, |answer| answer.0);
        found.map_or(Answer::Nothing, |index| self.scans.answers[index].1)
    }

    fn scan_type_arguments(&mut self) {
        let mut answers = std::mem::take(&mut self.scans.answers);
        answers.clear();
        answers.push((self.position, Answer::Nothing));
        let mut open = vec![Open::Angle(0)];
        let mut next = Next::Type;
        let mut at = self.position + 1;
        // `Eof` fits nowhere, so that the loop ends with the file at the latest.
        while !open.is_empty() {
            let following = self.tokens.get(at + 1).map_or(TokenKind::Eof, |token| token.kind);
            next = match (next, self.tokens[at].kind) {
                (Next::Type, TokenKind::Name) => Next::AfterName,
                (Next::Type, TokenKind::Fn) if following == TokenKind::OpenParen => {
                    at += 1;
                    open.push(Open::Parameters);
                    match self.tokens.get(at + 1).map(|token| token.kind) {
                        Some(TokenKind::CloseParen) => Next::AfterType,
                        _ => Next::Type,
                    }
                }
                // Other types in parentheses could as well be expressions.
                (Next::Type, TokenKind::OpenParen) if following == TokenKind::Fn => {
                    open.push(Open::Group);
                    Next::Type
                }
                (Next::AfterName, TokenKind::Dot) if following == TokenKind::Name => {
                    at += 1;
                    Next::AfterName
                }
                (Next::AfterName, TokenKind::Less) => {
                    open.push(Open::Angle(answers.len()));
                    answers.push((at, Answer::Nothing));
                    Next::Type
                }
                (Next::AfterParameters, TokenKind::Arrow) => Next::Type,
                (Next::Type, _) => break,
                (_, TokenKind::Question) => Next::AfterType,
                (_, TokenKind::Comma) if !matches!(open.last(), Some(Open::Group)) => Next::Type,
                (_, TokenKind::CloseParen) => match open.pop() {
                    Some(Open::Parameters) => Next::AfterParameters,
                    Some(Open::Group) => Next::AfterType,
                    _ => break,
                },
                (_, closing @ (TokenKind::Greater | TokenKind::Shr | TokenKind::Ushr)) => {
                    let count = closing.text().map_or(0, str::len);
                    if !self.close_angles(&mut open, &mut answers, count, at) {
                        break;
                    }
                    Next::AfterType
                }
                _ => break,
            };
            at += 1;
        }
        self.scans.scanned = self.position..at;
        self.scans.answers = answers;
    }

    /// Closes `count` lists with the token at `at`. Only the one closed by its last character can be type
    /// arguments of an expression. False if fewer are open.
    fn close_angles(
        &self,
        open: &mut Vec<Open>,
        answers: &mut [(usize, Answer)],
        count: usize,
        at: usize,
    ) -> bool {
        for closed in 1..=count {
            let Some(Open::Angle(index)) = open.pop() else { return false };
            answers[index].1 = Answer::TypeList;
            if closed == count {
                let following = self.tokens[(at + 1).min(self.tokens.len() - 1)];
                let goes_on = match following.kind {
                    TokenKind::Dot => true,
                    TokenKind::OpenParen => !(self.line_ends && following.newline_before),
                    _ => false,
                };
                if goes_on {
                    answers[index].1 = Answer::TypeArguments;
                }
            }
        }
        true
    }
}
