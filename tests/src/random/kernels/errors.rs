//! Errors in loops: thrown here or further down, caught here or further up.

use crate::random::feature::Feature;
use crate::random::generator::{Callable, Generator, Surroundings, block_with_value, statement};
use crate::random::tree::{Block, Statement};
use crate::random::types::Type::Int;

/// A function that throws now and then.
fn thrower(g: &mut Generator, callee: Option<&Callable>) -> Callable {
    let name = g.fresh("risky");
    g.mark(Feature::Throw);
    let around = Surroundings { risky: true, isolated: true, result: Some(Int), ..Surroundings::new(60) };
    let hidden = std::mem::take(&mut g.scope);
    let (body, around) = g.within(around, |g| {
        g.declare("a", &Int, true);
        let condition = g.rare_condition();
        let thrown = g.error();
        let mut statements = vec![statement("if @ { throw @ }", [condition, thrown])];
        statements.extend(g.statements(1));
        if let Some(callee) = callee {
            statements.push(statement(&format!("a ^= {}(@)", callee.name), [g.value(&Int, 2)]));
        }
        block_with_value(statements, g.value(&Int, 3))
    });
    g.scope = hidden;
    g.add(Statement::new(&format!("fn {name}(a: Int) -> Int @"), [body.into()]));
    let cost = 70 - around.budget.min(60) + callee.map_or(0, |callee| callee.cost);
    Callable { name, parameters: vec![Int], result: Int, cost, throws: true, effects: false }
}

/// `try` in each iteration, or around the loop.
pub fn errors(g: &mut Generator, size: usize) -> Vec<Statement> {
    let first = thrower(g, None);
    let second = g.choice.percent(60).then(|| thrower(g, Some(&first)));
    let called = second.unwrap_or(first);
    g.mark(Feature::ThrownAcross);
    let outside = g.choice.percent(25);
    let count = g.choice.between(0, 3);
    let looped = g.hot_loop(size, &[], &mut |g| {
        if !outside {
            g.mark(Feature::TryInLoop);
        }
        let body = g.risking(|g| {
            let call = g.make_call(&called.name, &called, 2);
            let mut body = vec![statement("h = mix(h, @)", [call])];
            body.extend(g.scoped(|g| g.statements(count)));
            body
        });
        if outside {
            return body;
        }
        let mut all = vec![g.catching(Block::new(body))];
        all.extend(g.statements(1));
        all
    });
    if outside { vec![g.catching(Block::new(looped))] } else { looped }
}

/// A value that is computed in steps of which each may fail, as an expression.
pub fn pipeline(g: &mut Generator, size: usize) -> Vec<Statement> {
    let called = thrower(g, None);
    g.mark(Feature::TryInLoop);
    g.mark(Feature::ThrownAcross);
    let count = g.choice.between(0, 3);
    g.hot_loop(size, &[], &mut |g| {
        let step = g.fresh("v");
        let call = g.risking(|g| g.make_call(&called.name, &called, 2));
        let others = [call, g.value(&Int, 2), g.value(&Int, 1)];
        g.mark(Feature::CatchByClass);
        let template = *g.choice.pick(&[
            "try { @ } catch e: IndexError { e.message.length + @ } catch _ { @ }",
            "try { @ } catch e: ValueError { @ } catch e { e.message.hash() ^ @ }",
            "Result.of(|| @).map(|x: Int| x ^ @).getOr(@)",
        ]);
        let mut body = vec![statement(&format!("let {step}: Int = {template}"), others)];
        g.declare(&step, &Int, false);
        body.push(Statement::text(format!("h = mix(h, {step})")));
        body.extend(g.statements(count));
        body
    })
}
