//! Loops in loops that are left in all ways, and recurrences of floats.

use crate::random::feature::Feature;
use crate::random::generator::{Generator, statement};
use crate::random::tree::{Block, Statement};
use crate::random::types::Type::{Float, Int};

/// Two or three loops in each other.
pub fn nest(g: &mut Generator, size: usize) -> Vec<Statement> {
    g.mark(Feature::NestedLoop);
    let outer = g.choice.between(3, 12);
    let inner = (size / outer).max(3);
    let (carried, other) = (g.fresh("v"), g.fresh("v"));
    let mut statements =
        vec![Statement::text(format!("var {carried} = seed")), Statement::text(format!("var {other} = 1"))];
    g.declare(&carried, &Int, true);
    g.declare(&other, &Int, true);
    let (count, before) = (g.choice.between(1, 3), g.choice.between(0, 1));
    let made = g.any_loop(outer, &mut |g| {
        let mut body = g.statements(before);
        let within = g.any_loop(inner, &mut |g| {
            // Values that go round in circles.
            let value = g.value(&Int, 2);
            let mut body = vec![
                statement(&format!("let old = {carried}; {carried} = {other} + @; {other} = old"), [value]),
                Statement::text(format!("h = mix(h, {carried})")),
            ];
            body.extend(g.leave());
            body.extend(g.statements(count));
            body.extend(g.leave());
            body
        });
        body.extend(within.unwrap_or_default());
        body
    });
    statements.extend(made.unwrap_or_default());
    statements.push(Statement::text(format!("h = mix(h, {carried} ^ {other})")));
    // The size counts only where the loops have no bounds of their own.
    statements
        .push(Statement::new("if n > 1 @", [Block::new(vec![Statement::text("h = mix(h, n)")]).into()]));
    statements
}

/// Floats that depend on what they were before.
pub fn floats(g: &mut Generator, size: usize) -> Vec<Statement> {
    g.mark(Feature::FloatArithmetic);
    let names = [g.fresh("v"), g.fresh("v")];
    let mut statements = Vec::new();
    for name in &names {
        let start = g.float_literal();
        statements.push(statement(&format!("var {name}: Float = @"), [start]));
        g.declare(name, &Float, true);
    }
    let [x, y] = &names;
    let count = g.choice.between(0, 3);
    statements.extend(g.hot_loop(size, &[], &mut |g| {
        let recurrence = *g.choice.pick(&[
            "X = X * 0.5 + @; Y = Y - X",
            "X = (X + @) / 3.0; Y += X * Y - X",
            "let t = X * X - Y * Y; Y = 2.0 * X * Y + @; X = t",
            "X += @; if X > 1e6 || X.isNaN() { X = 0.25 }; Y = Y.max(X)",
            "X = @ % 7.5; Y = X.min(Y) + 0.1",
        ]);
        let value = g.value(&Float, 2);
        let mut body = vec![statement(&recurrence.replace('X', x).replace('Y', y), [value])];
        body.extend(g.statements(count));
        if g.choice.percent(50) {
            g.mark(Feature::FloatConversion);
            body.push(Statement::text(format!("h = mix(h, {x}.toInt() ^ {y}.bits())")));
        } else {
            body.push(Statement::text(format!(
                "if {x} < {y} {{ h = mix(h, {x}.bits()) }} else {{ h += 1 }}"
            )));
        }
        body
    }));
    statements.push(Statement::text(format!("h = mix(h, {x}.bits() ^ {y}.bits())")));
    statements
}
