//! Programs as trees. The generator makes them and the minimizer takes them apart, and neither needs to know every
//! construct of the language: a node is a piece of text with holes, and what is in a hole is either a value, which has a
//! type, or a block, whose statements can be left out. So one more construct is one more template in the generator, and
//! nothing else.
//!
//! Declarations, members of classes and arms of `match` are statements of the blocks around them.

use super::types::Type;

/// A piece of a node.
#[derive(Clone, PartialEq, Debug)]
pub enum Part {
    /// Text as it is.
    Text(String),
    /// A value of a type.
    Value(Expression),
    /// Statements in braces.
    Block(Block),
}

/// An expression whose type is known.
#[derive(Clone, PartialEq, Debug)]
pub struct Expression {
    /// Its type.
    pub kind: Type,
    /// How it is written.
    pub parts: Vec<Part>,
}

/// A statement, a declaration, a member, an arm: what stands on lines of its own.
#[derive(Clone, PartialEq, Debug)]
pub struct Statement {
    /// How it is written.
    pub parts: Vec<Part>,
}

/// A sequence of statements.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Block {
    /// In order.
    pub statements: Vec<Statement>,
}

/// Stands in templates where a part goes in.
const HOLE: char = '@';

/// Puts parts into the holes of a template.
pub fn fill<const N: usize>(template: &str, parts: [Part; N]) -> Vec<Part> {
    fill_all(template, parts.into())
}

/// Puts parts into the holes of a template.
pub fn fill_all(template: &str, parts: Vec<Part>) -> Vec<Part> {
    let texts: Vec<&str> = template.split(HOLE).collect();
    assert_eq!(texts.len(), parts.len() + 1, "holes of {template}");
    let mut filled = Vec::with_capacity(texts.len() + parts.len());
    let mut parts = parts.into_iter();
    for text in texts {
        if !text.is_empty() {
            filled.push(Part::Text(text.to_string()));
        }
        filled.extend(parts.next());
    }
    filled
}

impl From<Expression> for Part {
    fn from(expression: Expression) -> Part {
        Part::Value(expression)
    }
}

impl From<Block> for Part {
    fn from(block: Block) -> Part {
        Part::Block(block)
    }
}

impl Expression {
    /// An expression with holes.
    pub fn new<const N: usize>(kind: &Type, template: &str, parts: [Part; N]) -> Expression {
        Expression { kind: kind.clone(), parts: fill(template, parts) }
    }

    /// An expression without holes.
    pub fn text(kind: &Type, text: impl Into<String>) -> Expression {
        Expression { kind: kind.clone(), parts: vec![Part::Text(text.into())] }
    }
}

impl Statement {
    /// A statement with holes.
    pub fn new<const N: usize>(template: &str, parts: [Part; N]) -> Statement {
        Statement { parts: fill(template, parts) }
    }

    /// A statement without holes.
    pub fn text(text: impl Into<String>) -> Statement {
        Statement { parts: vec![Part::Text(text.into())] }
    }
}

impl Block {
    /// A block of these statements.
    pub fn new(statements: Vec<Statement>) -> Block {
        Block { statements }
    }

    /// The text of a whole program: the statements of this block one after the other, without braces.
    pub fn program_text(&self) -> String {
        let mut text = String::new();
        for statement in &self.statements {
            print(&statement.parts, 0, &mut text);
            text.push('\n');
        }
        text
    }
}

fn print(parts: &[Part], depth: usize, text: &mut String) {
    for part in parts {
        match part {
            Part::Text(words) => text.push_str(words),
            Part::Value(expression) => print(&expression.parts, depth, text),
            Part::Block(block) if block.statements.is_empty() => text.push_str("{}"),
            Part::Block(block) => {
                text.push_str("{\n");
                for statement in &block.statements {
                    text.extend(std::iter::repeat_n("    ", depth + 1));
                    print(&statement.parts, depth + 1, text);
                    text.push('\n');
                }
                text.extend(std::iter::repeat_n("    ", depth));
                text.push('}');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_printed_with_indentation() {
        let sum = Expression::new(
            &Type::Int,
            "(@ + @)",
            [Expression::text(&Type::Int, "x").into(), Expression::text(&Type::Int, "1").into()],
        );
        let block = Block::new(vec![Statement::new("x = @", [sum.into()]), Statement::text("break")]);
        let program = Block::new(vec![
            Statement::new("loop @", [block.into()]),
            Statement::new("if c @", [Block::default().into()]),
        ]);
        assert_eq!(program.program_text(), "loop {\n    x = (x + 1)\n    break\n}\nif c {}\n");
    }
}
