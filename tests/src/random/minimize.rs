//! Makes a program smaller for as long as something holds of it.
//!
//! Three kinds of edits, tried from the coarse to the fine, and again until none helps:
//! statements are left out (in chunks that are halved, so that much goes at once), statements are replaced by what is in
//! one of their blocks, and expressions are replaced by a constant, or by an operand of the same type.
//! An edit need not make sense: a program that does not compile does not fail in the way asked for, and the edit is undone.

use super::tree::{Block, Expression, Part, Statement};
use std::time::{Duration, Instant};

/// Tries edits.
struct Minimizer<'a> {
    tree: Block,
    text: String,
    deadline: Instant,
    fails: &'a mut dyn FnMut(&str) -> bool,
}

/// The smallest program found in this time of which `fails` holds, which it does of `tree`.
pub fn minimize(tree: &Block, time: Duration, fails: &mut dyn FnMut(&str) -> bool) -> Block {
    let deadline = Instant::now() + time;
    let mut minimizer = Minimizer { tree: tree.clone(), text: tree.program_text(), deadline, fails };
    loop {
        let before = minimizer.text.len();
        minimizer.leave_out_statements();
        minimizer.unwrap_statements();
        minimizer.simplify_expressions();
        if minimizer.text.len() >= before || minimizer.is_late() {
            return minimizer.tree;
        }
    }
}

impl Minimizer<'_> {
    fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Keeps the edited tree if it still fails.
    fn keep(&mut self, edited: Block) -> bool {
        let text = edited.program_text();
        if text == self.text || self.is_late() || !(self.fails)(&text) {
            return false;
        }
        self.tree = edited;
        self.text = text;
        true
    }

    fn leave_out_statements(&mut self) {
        let mut number = 0;
        while let Some(length) = nth_block(&mut self.tree, number).map(|block| block.statements.len()) {
            let (mut length, mut chunk) = (length, length);
            while chunk > 0 {
                // From the end: what comes later is used less.
                let mut end = length;
                while end > 0 {
                    let start = end.saturating_sub(chunk);
                    let mut edited = self.tree.clone();
                    if let Some(block) = nth_block(&mut edited, number) {
                        block.statements.drain(start..end);
                    }
                    if self.keep(edited) {
                        length -= end - start;
                    }
                    end = start;
                }
                chunk = if chunk == 1 { 0 } else { chunk.div_ceil(2) };
            }
            number += 1;
        }
    }

    fn unwrap_statements(&mut self) {
        let mut number = 1;
        while let Some(length) = nth_block(&mut self.tree, number).map(|block| block.statements.len()) {
            for at in (0..length).rev() {
                let mut which = 0;
                loop {
                    let mut edited = self.tree.clone();
                    let Some(block) = nth_block(&mut edited, number) else { break };
                    let Some(inner) = block.statements.get(at).and_then(|s| block_of(s, which)) else {
                        break;
                    };
                    block.statements.splice(at..=at, inner.statements);
                    if self.keep(edited) {
                        break;
                    }
                    which += 1;
                }
            }
            number += 1;
        }
    }

    fn simplify_expressions(&mut self) {
        let mut number = 0;
        while let Some(expression) = nth_expression(&mut self.tree, number).map(|e| e.clone()) {
            let mut simpler: Vec<Expression> = expression
                .kind
                .constants()
                .into_iter()
                .map(|text| Expression::text(&expression.kind, text))
                .collect();
            if expression.parts.len() == 1 && matches!(expression.parts[0], Part::Text(_)) {
                // A literal or variable: constants that are no shorter are no gain.
                simpler.truncate(1);
            }
            operands(&expression.parts, &expression, &mut simpler);
            for simple in simpler {
                let mut edited = self.tree.clone();
                if let Some(place) = nth_expression(&mut edited, number) {
                    *place = simple;
                }
                if self.keep(edited) {
                    break;
                }
            }
            if self.is_late() {
                return;
            }
            number += 1;
        }
    }
}

/// The n-th block in the order of the text, the whole program being the first.
fn nth_block(tree: &mut Block, mut number: usize) -> Option<&mut Block> {
    fn in_parts<'a>(parts: &'a mut [Part], number: &mut usize) -> Option<&'a mut Block> {
        parts.iter_mut().find_map(|part| match part {
            Part::Text(_) => None,
            Part::Value(expression) => in_parts(&mut expression.parts, number),
            Part::Block(block) => in_block(block, number),
        })
    }
    fn in_block<'a>(block: &'a mut Block, number: &mut usize) -> Option<&'a mut Block> {
        if *number == 0 {
            return Some(block);
        }
        *number -= 1;
        block.statements.iter_mut().find_map(|statement| in_parts(&mut statement.parts, number))
    }
    in_block(tree, &mut number)
}

/// The n-th expression in the order of the text.
fn nth_expression(tree: &mut Block, mut number: usize) -> Option<&mut Expression> {
    fn in_parts<'a>(parts: &'a mut [Part], number: &mut usize) -> Option<&'a mut Expression> {
        parts.iter_mut().find_map(|part| match part {
            Part::Text(_) => None,
            Part::Value(expression) => {
                if *number == 0 {
                    return Some(expression);
                }
                *number -= 1;
                in_parts(&mut expression.parts, number)
            }
            Part::Block(block) => in_block(block, number),
        })
    }
    fn in_block<'a>(block: &'a mut Block, number: &mut usize) -> Option<&'a mut Expression> {
        block.statements.iter_mut().find_map(|statement| in_parts(&mut statement.parts, number))
    }
    in_block(tree, &mut number)
}

/// The n-th of the blocks that are directly in a statement.
fn block_of(statement: &Statement, which: usize) -> Option<Block> {
    let blocks = statement.parts.iter().filter_map(|part| match part {
        Part::Block(block) => Some(block.clone()),
        _ => None,
    });
    blocks.into_iter().nth(which)
}

/// The operands of a type, and their operands, outermost first.
fn operands(parts: &[Part], whole: &Expression, found: &mut Vec<Expression>) {
    /// More are not worth the time.
    const MOST: usize = 8;
    for part in parts {
        if found.len() >= MOST {
            return;
        }
        match part {
            Part::Text(_) => {}
            Part::Value(expression) => {
                if expression.kind == whole.kind {
                    found.push(expression.clone());
                }
                operands(&expression.parts, whole, found);
            }
            Part::Block(block) => {
                for statement in &block.statements {
                    operands(&statement.parts, whole, found);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::generate;

    #[test]
    fn what_does_not_matter_goes() {
        // Fails if some function has a loop in which something is divided.
        let mut fails = |text: &str| {
            let loop_at = text.find("for ");
            loop_at.is_some_and(|at| text[at..].contains(" / "))
        };
        let seed = (0..).find(|&seed| fails(&generate(seed).tree.program_text())).expect("there is one");
        let tree = generate(seed).tree;
        let small = minimize(&tree, Duration::from_secs(60), &mut fails).program_text();
        assert!(fails(&small));
        assert!(small.len() < 200, "{small}");
    }
}
