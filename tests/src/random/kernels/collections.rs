//! Lists, maps, sets and texts in loops.

use crate::random::feature::Feature;
use crate::random::generator::{Generator, statement};
use crate::random::tree::{Expression, Statement};
use crate::random::types::Type::{self, Int, String as Text};

/// A list, a map and a set, some of them, in one loop.
pub fn collections(g: &mut Generator, size: usize) -> Vec<Statement> {
    let mut statements = Vec::new();
    let mut names = Vec::new();
    let key = if g.choice.percent(60) { Int } else { Text };
    let candidates = [
        (Type::of("List", Int), Feature::Lists),
        (Type::Named("Map".into(), vec![key.clone(), Int]), Feature::Maps),
        (Type::of("Set", key), Feature::Sets),
    ];
    for (kind, feature) in candidates {
        if !g.choice.percent(60) {
            continue;
        }
        g.mark(feature);
        let name = g.fresh("v");
        statements.push(g.fixed(&name, &kind, None, Expression::text(&kind, format!("{kind}()"))));
        names.push((name, kind));
    }
    let size = size.min(400);
    let count = g.choice.between(2, 4);
    statements.extend(g.hot_loop(size, &[], &mut |g| {
        let counter = g.scope.last().map(|v| v.name.clone()).unwrap_or_default();
        let mut body = vec![Statement::text(format!("if {counter} > 500 {{ h ^= 1 }}"))];
        for (name, kind) in &names {
            let Type::Named(class, arguments) = kind else { continue };
            g.charge(25);
            let item = g.value(&Int, 2);
            body.push(match class.as_str() {
                "List" => statement(&format!("{name}.add(@)"), [item]),
                "Map" => {
                    let key = g.map_key(&arguments[0]);
                    statement(&format!("{name}.put(@, @)"), [key, item])
                }
                _ => {
                    let key = g.map_key(&arguments[0]);
                    statement(&format!("{name}.add(@)"), [key])
                }
            });
        }
        body.extend(g.statements(count));
        body
    }));
    for (name, kind) in &names {
        let Type::Named(class, arguments) = kind else { continue };
        g.mark(Feature::Iteration);
        g.charge(600);
        statements.push(Statement::text(match (class.as_str(), &arguments[0]) {
            ("Map", Int) => format!("for e in {name} {{ h = mix(h, e.first * 31 + e.second) }}"),
            ("Map", _) => format!("for e in {name} {{ h = mix(h, e.first.hash() ^ e.second) }}"),
            (_, Int) => format!("for e in {name} {{ h = mix(h, e) }}"),
            _ => format!("{name}.forEach(|e| {{ h = mix(h, e.hash()) }})"),
        }));
    }
    statements
}

/// Texts that grow and are cut.
pub fn texts(g: &mut Generator, size: usize) -> Vec<Statement> {
    g.mark(Feature::Builders);
    g.mark(Feature::Concatenation);
    let (text, builder) = (g.fresh("v"), g.fresh("v"));
    let start = g.text_literal();
    let mut statements = vec![statement(&format!("var {text}: String = @"), [start])];
    g.declare(&text, &Text, true);
    let kind = Type::named("StringBuilder");
    statements.push(g.fixed(&builder, &kind, None, Expression::text(&kind, "StringBuilder()")));
    let size = size.min(200);
    let count = g.choice.between(1, 4);
    statements.extend(g.hot_loop(size, &[], &mut |g| {
        let mut body = vec![Statement::text(format!("if {builder}.length() > 200 {{ {builder}.clear() }}"))];
        let value = g.clipped(3);
        body.push(statement(&format!("{text} = @"), [value]));
        let seen = g.digest(Expression::text(&Text, text.clone()));
        body.push(statement("h = mix(h, @)", [seen]));
        let piece = g.value(&Int, 1);
        body.push(statement(&format!("{builder}.addInt(@)"), [piece]));
        body.extend(g.statements(count));
        body
    }));
    statements.push(Statement::text(format!("h = mix(h, {builder}.toString().hash())")));
    g.mark(Feature::StringByte);
    g.mark(Feature::Iteration);
    statements.push(Statement::text(format!("for b in {text} {{ h = h * 33 + b }}")));
    statements
}
