//! Tokens and syntax trees as text, for `holloway dump` and for tests: stable, readable, one truth for both.
//!
//! A tree is printed as S-expressions. Heads of declarations, types and patterns look as in the language;
//! statements and expressions are lists that begin with what they are.

mod expressions;
mod items;
mod layout;

use std::fmt::Write;

use crate::ast::Module;
use crate::lexer::{Token, TokenKind};
use crate::sources::Sources;
use crate::span::FileId;

/// The tokens of a file, one a line: `line:column kind text`.
pub fn dump_tokens(sources: &Sources, file: FileId, tokens: &[Token]) -> String {
    let text = sources.text(file);
    let mut output = String::new();
    let (mut line, mut column, mut at) = (1_usize, 1_usize, 0_usize);
    for token in tokens {
        for character in text[at..token.start as usize].chars() {
            (line, column) = if character == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
        at = token.start as usize;
        let shown = text[at..token.end as usize].escape_debug();
        let separator = if token.kind == TokenKind::Eof { "" } else { " " };
        let _ = writeln!(output, "{line}:{column} {}{separator}{}", token.kind.name(), Unescaped(shown));
    }
    output
}

/// Text with line ends and control characters escaped, but quotes as they are.
struct Unescaped<'a>(std::str::EscapeDebug<'a>);

impl std::fmt::Display for Unescaped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut characters = self.0.clone().peekable();
        while let Some(character) = characters.next() {
            match (character, characters.peek()) {
                ('\\', Some('"' | '\'' | '\\')) => {
                    characters.next().map_or(Ok(()), |escaped| f.write_char(escaped))?;
                }
                _ => f.write_char(character)?,
            }
        }
        Ok(())
    }
}

/// The tree of a file. Call it inside [`crate::with_deep_stack`].
pub fn dump_ast(module: &Module) -> String {
    let mut output = String::new();
    for import in &module.imports {
        let path: Vec<&str> = import.path.iter().map(|name| &*name.text).collect();
        let _ = writeln!(output, "(import {})", path.join("."));
    }
    for item in &module.items {
        items::item(item).write(0, &mut output);
        output.push('\n');
    }
    output
}
