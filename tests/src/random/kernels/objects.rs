//! Objects in loops: some live for an iteration, some escape from it, some are read in every iteration and written in
//! few, some form chains.

use crate::random::feature::Feature;
use crate::random::generator::{Generator, Variable, block_with_value, expression, statement};
use crate::random::tree::{Block, Expression, Statement};
use crate::random::types::Type::{self, Float, Int};

/// A type whose values are new objects.
fn allocated(g: &mut Generator) -> Type {
    let mut kinds =
        vec![Type::Named("Pair".into(), vec![Int, Int]), Type::Named("Pair".into(), vec![Float, Int])];
    kinds.push(Type::of("Option", Int));
    kinds.push(Type::nullable(Int));
    kinds.push(Type::int_function());
    kinds.extend(g.cells.iter().map(|cell| Type::of(cell, Int)));
    let concrete = g.classes.iter().filter(|class| class.constructor.is_some());
    kinds.extend(concrete.map(|class| Type::named(&class.name)));
    g.choice.pick(&kinds).clone()
}

/// Allocates in every iteration. Sometimes an object is kept.
pub fn short_lived(g: &mut Generator, size: usize) -> Vec<Statement> {
    g.mark(Feature::ShortLived);
    let kind = allocated(g);
    let kept = Type::array(kind.clone());
    let keeps = g.choice.percent(70);
    let mut statements = Vec::new();
    let store = g.fresh("v");
    if keeps {
        g.mark(Feature::Escaping);
        let first = g.value(&kind, 1);
        let made = expression(&kept, &format!("{kept}(8, @)"), [first]);
        statements.push(g.fixed(&store, &kept, Some(8), made));
    }
    let count = g.choice.between(0, 3);
    statements.extend(g.hot_loop(size, &[], &mut |g| {
        let counter = g.scope.last().map(|v| v.name.clone()).unwrap_or_default();
        let object = g.fresh("o");
        let mut body = Vec::new();
        let value = g.value(&kind, 2);
        if g.choice.percent(30) {
            // Two ways to come to the object.
            let other = g.value(&kind, 1);
            let condition = g.condition();
            body.push(statement(
                &format!("let {object}: {kind} = if @ {{ @ }} else {{ @ }}"),
                [condition, value, other],
            ));
        } else {
            body.push(statement(&format!("let {object}: {kind} = @"), [value]));
        }
        g.declare(&object, &kind, false);
        body.extend(g.field_store());
        body.extend(g.statements(count));
        let seen = g.digest(Expression::text(&kind, object.clone()));
        body.push(statement("h = mix(h, @)", [seen]));
        if keeps {
            let condition = g.rare_condition();
            let keep = Statement::text(format!("{store}[{counter} & 7] = {object}"));
            body.push(Statement::new("if @ @", [condition.into(), Block::new(vec![keep]).into()]));
        }
        body
    }));
    if keeps {
        let seen = g.digest(Expression::text(&kind, format!("{store}[j]")));
        statements.push(statement("for j in 0..8 { h = mix(h, @) }", [seen]));
    }
    statements
}

/// Loads that could be done before the loop, unless something writes now and then.
pub fn invariants(g: &mut Generator, size: usize) -> Vec<Statement> {
    g.mark(Feature::LoopInvariant);
    let mut statements = Vec::new();
    let concrete: Vec<String> = g
        .classes
        .iter()
        .filter(|class| class.constructor.is_some())
        .map(|class| class.name.clone())
        .collect();
    let class = g.choice.pick(&concrete).clone();
    let kind = Type::named(&class);
    let (object, alias) = (g.fresh("o"), g.fresh("o"));
    let made = g.instance(&class, 1).unwrap_or_else(|| Expression::text(&kind, "null"));
    statements.push(g.fixed(&object, &kind, None, made));
    let same = if g.choice.percent(50) {
        object.clone()
    } else {
        format!("if seed % 2 == 0 {{ {object} }} else {{ {object} }}")
    };
    statements.push(g.fixed(&alias, &kind, None, Expression::text(&kind, same)));
    let (array, declared) = g.array_of_n(&Int);
    statements.push(declared);
    let fields = g.class(&class).map(|class| class.fields.clone()).unwrap_or_default();
    let readable: Vec<_> = fields.iter().filter(|f| f.kind == Int || f.kind == Float).cloned().collect();
    let writable: Vec<_> = readable.iter().filter(|field| field.mutable).cloned().collect();
    let breaks = g.choice.percent(60);
    let count = g.choice.between(0, 3);
    let below = [array.clone()];
    statements.extend(g.hot_loop(size, &below, &mut |g| {
        let mut body = Vec::new();
        for field in readable.iter().take(2) {
            g.mark(Feature::Field);
            let seen = g.digest(Expression::text(&field.kind, format!("{object}.{}", field.name)));
            body.push(statement("h = mix(h, @)", [seen]));
        }
        body.push(Statement::text(format!("h += {array}[n / 2] ^ {array}.length")));
        body.extend(g.statements(count));
        if breaks && let Some(field) = writable.first() {
            g.mark(Feature::InvariantBroken);
            g.mark(Feature::FieldWrite);
            let condition = g.rare_condition();
            let value = g.value(&field.kind, 2);
            let store = statement(&format!("{alias}.{} = @", field.name), [value]);
            body.push(Statement::new("if @ @", [condition.into(), Block::new(vec![store]).into()]));
        }
        body
    }));
    statements
}

/// A chain of objects that is built, walked and changed.
pub fn chain(g: &mut Generator, size: usize) -> Vec<Statement> {
    g.mark(Feature::LinkedList);
    g.mark(Feature::Nullable);
    g.mark(Feature::WhileLoop);
    let class = g.fresh("Node");
    let kind = Type::nullable(Type::named(&class));
    let (value, next) = (g.fresh("x"), g.fresh("x"));
    let extra = if g.choice.percent(50) { ", let tag: Float" } else { "" };
    g.add(Statement::text(format!("final class {class}(var {value}: Int, var {next}: {kind}{extra})")));
    let more = if extra.is_empty() { "" } else { ", i.toFloat()" };
    let length = size.min(400);
    let (head, walk) = (g.fresh("head"), g.fresh("walk"));
    let item = g.value(&Int, 2);
    let build = statement(&format!("{head} = {class}(@ ^ i, {head}{more})"), [item]);
    g.charge(length as i64 * 12);
    let mut statements = vec![
        Statement::text(format!("var {head}: {kind} = null")),
        Statement::new(&format!("for i in 0..n.min({length}) @"), [Block::new(vec![build]).into()]),
        Statement::text(format!("var {walk} = {head}")),
    ];
    let count = g.choice.between(1, 4);
    let (mut body, label) = g.loop_body(length, false, true, &mut |g| {
        let mut body = vec![Statement::text(format!("h = mix(h, {walk}.{value})"))];
        let value_now = g.value(&Int, 2);
        if g.choice.percent(50) {
            body.push(statement(&format!("{walk}.{value} = @"), [value_now]));
        }
        body.extend(g.statements(count));
        body
    });
    if g.choice.percent(50) {
        g.mark(Feature::SafeCall);
        g.mark(Feature::Coalesce);
        body.push(Statement::text(format!("h += {walk}?.{next}?.{value} ?? 9")));
    }
    if g.choice.percent(40) {
        // Takes an object out of the chain now and then.
        let condition = g.rare_condition();
        body.push(statement(&format!("if @ {{ {walk}.{next} = {walk}.{next}?.{next} }}"), [condition]));
    }
    body.push(Statement::text(format!("{walk} = {walk}.{next}")));
    statements.push(Statement::new(&format!("{label}while {walk} != null @"), [Block::new(body).into()]));
    statements.push(Statement::text(format!("if let first = {head} {{ h = mix(h, first.{value}) }}")));
    statements
}

/// A class of the program that `for` walks through.
pub fn iterator(g: &mut Generator, size: usize) -> Vec<Statement> {
    g.mark(Feature::OwnIterator);
    g.mark(Feature::Iteration);
    let (range, walker) = (g.fresh("Range"), g.fresh("Walker"));
    let step = g.fresh("x");
    let next = {
        let variable = |name: &str| Variable {
            name: name.into(),
            kind: Int,
            assignable: false,
            below: Vec::new(),
            length: None,
        };
        let hidden = std::mem::replace(&mut g.scope, vec![variable("at"), variable(&step)]);
        let isolated = std::mem::replace(&mut g.around.isolated, true);
        let risky = std::mem::replace(&mut g.around.risky, false);
        g.charge(size as i64 * 10);
        let value = g.value(&Int, 2);
        g.around.isolated = isolated;
        g.around.risky = risky;
        g.scope = hidden;
        block_with_value(vec![Statement::text(format!("at += {step}"))], value)
    };
    g.add(Statement::new(
        &format!("final class {walker}(var at: Int, let end: Int, let {step}: Int) : Iterator<Int> @"),
        [Block::new(vec![
            Statement::text("fn hasNext() -> Bool { at < end }"),
            Statement::new("fn next() -> Int @", [next.into()]),
        ])
        .into()],
    ));
    g.add(Statement::text(format!(
        "final class {range}(let end: Int) {{ fn iterator() -> {walker} {{ {walker}(0, end, 1) }} }}"
    )));
    let item = g.fresh("item");
    let count = g.choice.between(1, 4);
    let (body, label) = g.loop_body(size, true, true, &mut |g| {
        g.declare(&item, &Int, false);
        let mut body = vec![Statement::text(format!("h = mix(h, {item})"))];
        body.extend(g.statements(count));
        body
    });
    vec![Statement::new(&format!("{label}for {item} in {range}(n) @"), [Block::new(body).into()])]
}
