//! Enums, nullable values and boxes in loops.

use crate::random::feature::Feature;
use crate::random::generator::{Generator, statement};
use crate::random::tree::{Expression, Statement};
use crate::random::types::Type::{self, Bool, Float, Int, String as Text};

/// A state that is an enum.
pub fn enums(g: &mut Generator, size: usize) -> Vec<Statement> {
    let names: Vec<String> = g.enums.iter().map(|e| e.name.clone()).collect();
    let Some(name) = g.choice.pick_any(&names).cloned() else { return nullables(g, size) };
    g.mark(Feature::Enum);
    let kind = Type::named(&name);
    let state = g.fresh("v");
    let start = g.value(&kind, 1);
    let mut statements = vec![statement(&format!("var {state}: {kind} = @"), [start])];
    let declared = g.enumeration(&name).map(|e| e.variants.clone()).unwrap_or_default();
    let count = g.choice.between(0, 3);
    statements.extend(g.hot_loop(size, &[], &mut |g| {
        g.mark(Feature::EnumMatch);
        let mut arms = Vec::new();
        for (variant, payload) in &declared {
            let bound: Vec<String> = payload.iter().map(|_| g.fresh("m")).collect();
            let arm = g.scoped(|g| {
                for (name, kind) in bound.iter().zip(payload) {
                    g.declare(name, kind, false);
                }
                // No state within states without end.
                g.value(&kind, if payload.contains(&kind) { 1 } else { 2 })
            });
            let pattern = match bound.is_empty() {
                true => variant.clone(),
                false => format!("{variant}({})", bound.join(", ")),
            };
            arms.push(Statement::new(&format!("{pattern} => @,"), [arm.into()]));
        }
        g.declare(&state, &kind, true);
        let mut body = vec![Statement::new(
            &format!("{state} = match {state} @"),
            [crate::random::tree::Block::new(arms).into()],
        )];
        body.extend(g.statements(count));
        body.push(Statement::text(format!("h = mix(h, {state}.digest() + {state}.ordinal)")));
        body
    }));
    statements
}

/// A variable that is null now and then.
pub fn nullables(g: &mut Generator, size: usize) -> Vec<Statement> {
    g.mark(Feature::Nullable);
    let mut kinds = vec![Int, Float, Bool, Text];
    kinds.extend(g.classes.iter().map(|class| Type::named(&class.name)));
    let inner = g.choice.pick(&kinds).clone();
    let kind = Type::nullable(inner.clone());
    let (name, bound) = (g.fresh("v"), g.fresh("n"));
    let mut statements = vec![Statement::text(format!("var {name}: {kind} = null"))];
    g.declare(&name, &kind, true);
    g.declare(&name, &kind, true);
    let count = g.choice.between(0, 3);
    statements.extend(g.hot_loop(size, &[], &mut |g| {
        let mut body = Vec::new();
        let condition = g.condition();
        let value = if inner == Text { g.clipped(1) } else { g.value(&inner, 2) };
        body.push(statement(
            &format!("if @ {{ {name} = @ }} else if h % 3 == 0 {{ {name} = null }}"),
            [condition, value],
        ));
        let inside = g.scoped(|g| {
            g.declare(&bound, &inner, false);
            let seen = g.digest(Expression::text(&inner, bound.clone()));
            let mut inside = vec![statement("h = mix(h, @)", [seen])];
            inside.extend(g.statements(1));
            crate::random::tree::Block::new(inside)
        });
        g.mark(Feature::IfLet);
        body.push(Statement::new(&format!("if let {bound} = {name} @ else {{ h += 3 }}"), [inside.into()]));
        body.extend(g.statements(count));
        body
    }));
    statements
}

/// Values of many types in boxes.
pub fn boxes(g: &mut Generator, size: usize) -> Vec<Statement> {
    g.mark(Feature::Boxing);
    g.mark(Feature::ObjectArray);
    g.mark(Feature::TypeMatch);
    let array = Type::array(Type::Any);
    let name = g.fresh("v");
    let mut statements = vec![g.fixed(&name, &array, Some(8), Expression::text(&array, "Array<Any>(8, 1)"))];
    let count = g.choice.between(0, 3);
    statements.extend(g.hot_loop(size, &[], &mut |g| {
        let counter = g.scope.last().map(|v| v.name.clone()).unwrap_or_default();
        let value = g.value(&Type::Any, 2);
        let mut body = vec![statement(&format!("{name}[{counter} & 7] = @"), [value])];
        let parts = [g.value(&Int, 1), g.value(&Int, 1)];
        let template = format!(
            "h = mix(h, match {name}[(h & 7)] {{ k: Int => k + @, x: Float => x.bits(), s: String => s.length, b: Bool => if b {{ 1 }} else {{ 2 }}, _ => @ }})"
        );
        body.push(statement(&template, parts));
        body.extend(g.statements(count));
        body
    }));
    statements
}
