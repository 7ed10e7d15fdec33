//! Closures in loops: made in each iteration, kept in arrays, sharing variables, given to the library.

use crate::random::calls::CLOSURE_COST;
use crate::random::feature::Feature;
use crate::random::generator::{Generator, expression, statement};
use crate::random::tree::{Block, Expression, Statement, fill_all};
use crate::random::types::Type::{self, Int};

/// Closures that share variables, in an array, called in turn.
pub fn closures(g: &mut Generator, size: usize) -> Vec<Statement> {
    let kind = Type::int_function();
    let array = Type::array(kind.clone());
    let (cell, functions) = (g.fresh("c"), g.fresh("v"));
    g.mark(Feature::Cell);
    let start = g.value(&Int, 1);
    let mut statements = vec![statement(&format!("var {cell} = @"), [start])];
    g.declare(&cell, &Int, true);
    g.declare(&cell, &Int, true);
    let length = *g.choice.pick(&[1, 2, 4]);
    let items = (0..length).map(|_| g.function_value(&[Int], &Int).into()).collect();
    let template = format!("[{}]", vec!["@"; length].join(", "));
    let made = Expression { kind: array.clone(), parts: fill_all(&template, items) };
    statements.push(g.fixed(&functions, &array, Some(length), made));
    let count = g.choice.between(0, 3);
    let replaces = g.choice.percent(40);
    statements.extend(g.hot_loop(size, &[], &mut |g| {
        let counter = g.scope.last().map(|v| v.name.clone()).unwrap_or_default();
        let mut body = Vec::new();
        g.charge(CLOSURE_COST);
        let argument = g.value(&Int, 2);
        body.push(statement(&format!("h = mix(h, {functions}[{counter} & {}](@))", length - 1), [argument]));
        if g.choice.percent(50) {
            // A closure that lives for one iteration and captures what belongs to it.
            let (own, local) = (g.fresh("c"), g.fresh("f"));
            let first = g.value(&Int, 1);
            body.push(statement(&format!("var {own} = @"), [first]));
            g.declare(&own, &Int, true);
            let closure = g.function_value(&[Int], &Int);
            body.push(statement(&format!("let {local} = @"), [closure]));
            g.declare(&local, &kind, false);
            g.charge(CLOSURE_COST);
            body.push(Statement::text(format!("h += {local}({counter}) ^ {own}")));
        }
        body.extend(g.statements(count));
        if replaces {
            let condition = g.rare_condition();
            let closure = g.function_value(&[Int], &Int);
            let store = statement(&format!("{functions}[{counter} & {}] = @", length - 1), [closure]);
            body.push(Statement::new("if @ @", [condition.into(), Block::new(vec![store]).into()]));
        }
        body
    }));
    statements.push(Statement::text(format!("h = mix(h, {cell})")));
    statements
}

/// Closures that the library calls.
pub fn library(g: &mut Generator, size: usize) -> Vec<Statement> {
    g.mark(Feature::Lists);
    g.mark(Feature::ClosurePassed);
    let list = g.fresh("v");
    let kind = Type::of("List", Int);
    let length = size.min(300);
    g.charge(length as i64 * 10);
    let item = g.value(&Int, 1);
    let mut statements = vec![
        Statement::text(format!("let {list}: {kind} = List<Int>()")),
        statement(&format!("for i in 0..n.min({length}) {{ {list}.add(i ^ @) }}"), [item]),
    ];
    for _ in 0..g.choice.between(1, 4) {
        g.charge(length as i64 * (CLOSURE_COST + 8));
        let made = match g.choice.below(7) {
            0 => {
                let change = g.function_value(&[Int], &Int);
                statement(&format!("for x in {list}.map(@) {{ h = mix(h, x) }}"), [change])
            }
            1 => {
                let test = g.function_value(&[Int], &Type::Bool);
                statement(&format!("h = mix(h, {list}.filter(@).length())"), [test])
            }
            2 => {
                let combine = g.function_value(&[Int, Int], &Int);
                statement(&format!("h = {list}.fold(h, @)"), [combine])
            }
            3 => {
                g.mark(Feature::Cell);
                let value = g.leaf(&Int);
                statement(&format!("{list}.forEach(|x: Int| {{ h = mix(h, x + @) }})"), [value])
            }
            4 => {
                let test = g.function_value(&[Int], &Type::Bool);
                statement(&format!("if {list}.any(@) {{ h += 1 }}"), [test])
            }
            5 => {
                let mask = *g.choice.pick(&["7", "255", "-1"]);
                Statement::text(format!("{list}.sort(|x, y| (x & {mask}).compareTo(y & {mask}))"))
            }
            _ => {
                let test = g.function_value(&[Int], &Type::Bool);
                statement(&format!("h = mix(h, {list}.find(@) ?? -3)"), [test])
            }
        };
        statements.push(made);
    }
    let first = expression(
        &Int,
        "(if @.isEmpty() { 0 } else { @.first() })",
        [Expression::text(&kind, list.clone()), Expression::text(&kind, list)],
    );
    statements.push(statement("h = mix(h, @)", [first]));
    statements
}
