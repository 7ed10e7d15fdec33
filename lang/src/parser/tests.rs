//! Tests of what golden files do not show: the places of nodes.

use super::parse;
use crate::ast::{Block, Expr, ExprKind, ItemKind, StmtKind};
use crate::diagnostics::Diagnostics;
use crate::sources::Sources;
use crate::with_deep_stack;

/// The texts at the places of all expressions in the body of `main`, outer ones first.
fn places(body: &str) -> Vec<String> {
    let text = format!("fn main() {{ {body} }}");
    with_deep_stack(|| {
        let mut sources = Sources::new();
        let file = sources.add("test.hol", text);
        let mut diagnostics = Diagnostics::default();
        let module = parse(&sources, file, &mut diagnostics);
        assert!(diagnostics.is_empty());
        let mut found = Vec::new();
        for item in &module.items {
            if let ItemKind::Function(function) = &item.kind {
                assert_eq!(sources.slice(function.span), "fn main()");
                function.body.iter().for_each(|block| visit_block(&sources, block, &mut found));
            }
        }
        found
    })
}

fn visit_block(sources: &Sources, block: &Block, found: &mut Vec<String>) {
    assert!(sources.slice(block.span).starts_with('{') && sources.slice(block.span).ends_with('}'));
    for stmt in &block.stmts {
        match &stmt.kind {
            StmtKind::Expr(value) => visit(sources, value, found),
            StmtKind::Let { init, .. } => visit(sources, init, found),
            StmtKind::Assign { target, value, .. } => {
                visit(sources, target, found);
                visit(sources, value, found);
            }
            _ => {}
        }
    }
}

fn visit(sources: &Sources, expr: &Expr, found: &mut Vec<String>) {
    found.push(sources.slice(expr.span).to_string());
    match &expr.kind {
        ExprKind::Binary(_, op, left, right) => {
            found.push(sources.slice(*op).to_string());
            visit(sources, left, found);
            visit(sources, right, found);
        }
        ExprKind::Call { callee, args } => {
            visit(sources, callee, found);
            args.iter().for_each(|arg| visit(sources, arg, found));
        }
        ExprKind::Member { object, name, .. } => {
            visit(sources, object, found);
            found.push(sources.slice(name.span).to_string());
        }
        ExprKind::Index(object, index) => {
            visit(sources, object, found);
            visit(sources, index, found);
        }
        ExprKind::Unary(_, operand) | ExprKind::NonNull(operand) => visit(sources, operand, found),
        ExprKind::Is(operand, ty) | ExprKind::As(operand, ty) => {
            visit(sources, operand, found);
            found.push(sources.slice(ty.span).to_string());
        }
        ExprKind::Block(block) => visit_block(sources, block, found),
        _ => {}
    }
}

#[test]
fn operators_cover_their_operands() {
    let expected = ["(a + b) * -c", "*", "(a + b)", "+", "a", "b", "-c", "c"];
    assert_eq!(places("(a + b) * -c /* behind */"), expected);
    assert_eq!(places("x ?? y ?? z"), ["x ?? y ?? z", "??", "x", "y ?? z", "??", "y", "z"]);
    assert_eq!(places("a is B && c"), ["a is B && c", "&&", "a is B", "a", "B", "c"]);
}

#[test]
fn chains_grow_to_the_right() {
    let expected = ["a.b(c)[1]!", "a.b(c)[1]", "a.b(c)", "a.b", "a", "b", "c", "1"];
    assert_eq!(places("a.b(c)[1]!"), expected);
}

#[test]
fn split_brackets_have_their_own_places() {
    assert_eq!(places("x as List<List<Int>>"), ["x as List<List<Int>>", "x", "List<List<Int>>"]);
    assert_eq!(places("List<List<Int>>()"), ["List<List<Int>>()", "List<List<Int>>"]);
}

#[test]
fn blocks_and_literals_have_theirs() {
    assert_eq!(places("{ -9223372036854775808 }"), ["{ -9223372036854775808 }", "-9223372036854775808"]);
    assert_eq!(places("\"a${b}c\""), ["\"a${b}c\""]);
}
