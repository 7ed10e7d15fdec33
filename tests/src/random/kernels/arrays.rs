//! Loops over arrays: filling, summing, writing while reading, going one too far.

use crate::random::feature::Feature;
use crate::random::generator::{Generator, expression, statement};
use crate::random::tree::{Block, Expression, Statement};
use crate::random::types::Type::{self, Bool, Float, Int};

/// Arrays of several types, written and read in one or two loops.
pub fn arrays(g: &mut Generator, size: usize) -> Vec<Statement> {
    let mut statements = Vec::new();
    let mut names = Vec::new();
    for _ in 0..g.choice.between(1, 3) {
        let mut elements = vec![Int, Int, Int, Float, Float, Bool];
        elements.extend(g.classes.iter().filter(|c| !c.interface).map(|c| Type::named(&c.name)));
        let element = g.choice.pick(&elements).clone();
        let (name, declared) = g.array_of_n(&element);
        statements.push(declared);
        names.push((name, element));
    }
    g.charge(size as i64 / 4);
    let below: Vec<String> = names.iter().map(|(name, _)| name.clone()).collect();
    for round in 0..g.choice.between(1, 2) {
        let (target, element) = g.choice.pick(&names).clone();
        let count = g.choice.between(1, 4);
        statements.extend(g.hot_loop(size, &below, &mut |g| {
            let mut body = Vec::new();
            let counter = g.scope.last().map(|v| v.name.clone()).unwrap_or_default();
            if round == 0 || g.choice.percent(50) {
                let value = g.value(&element, 2);
                body.push(statement(&format!("{target}[{counter}] = @"), [value]));
            }
            body.extend(g.statements(count));
            let read = Expression::text(&element, format!("{target}[{counter}]"));
            let seen = g.digest(read);
            body.push(statement("h = mix(h, @)", [seen]));
            body
        }));
    }
    statements
}

/// A loop that goes one too far, or nearly.
pub fn last_iteration(g: &mut Generator, size: usize) -> Vec<Statement> {
    g.mark(Feature::LastIterationFails);
    g.mark(Feature::BadIndex);
    let element = if g.choice.percent(70) { Int } else { Float };
    let (name, declared) = g.array_of_n(&element);
    let (counter, reached) = (g.fresh("i"), g.fresh("v"));
    let heads = [
        "for I in 0..=A.length",
        "for I in 0..=n",
        "for I in 0..n + 1 step 3",
        "for I in n - 1..=-1 step -1",
        "for I in seed & 1..=n",
    ];
    let head = g.choice.pick(&heads).replace('I', &counter).replace('A', &name);
    let count = g.choice.between(0, 3);
    let body = g.risking(|g| {
        g.loop_body(size, true, true, &mut |g| {
            g.declare_index(&counter, &[]);
            let value = g.value(&element, 2);
            let template = *g.choice.pick(&[
                "A[I] = @",
                "A[I] = A[I] + @",
                "A[I - 1] = @; h ^= I",
                "if I % 2 == 0 { A[I] = @ } else { h = mix(h, I) }",
            ]);
            let template = template.replace('A', &name).replace('I', &counter);
            let mut body = vec![statement(&template, [value])];
            body.push(Statement::text(format!("{reached} += {counter}")));
            body.extend(g.statements(count));
            body
        })
    });
    let (body, label) = body;
    let looped = Statement::new(&format!("{label}{head} @"), [Block::new(body).into()]);
    let mut statements = vec![declared, Statement::text(format!("var {reached} = 0"))];
    if !g.around.risky || g.choice.percent(70) {
        statements.push(g.catching(Block::new(vec![looped])));
    } else {
        statements.push(looped);
    }
    statements.push(Statement::text(format!("h = mix(h, {reached})")));
    let first = g.digest(Expression::text(&element, format!("{name}[n / 2]")));
    statements.push(statement("h = mix(h, @)", [first]));
    statements
}

/// Rows and columns, as arrays of arrays or in one array.
pub fn matrix(g: &mut Generator, size: usize) -> Vec<Statement> {
    g.mark(Feature::Matrix);
    g.mark(Feature::NestedLoop);
    g.mark(Feature::ForRange);
    let side = ((size as f64).sqrt() as usize).clamp(3, 30);
    let element = if g.choice.percent(50) { Int } else { Float };
    g.mark_array(&element);
    let (name, row, column) = (g.fresh("v"), g.fresh("i"), g.fresh("i"));
    let start = g.leaf(&element);
    let flat = g.choice.percent(50);
    let (declared, place) = if flat {
        let kind = Type::array(element.clone());
        let made = expression(&kind, &format!("Array<{element}>({}, @)", side * side), [start]);
        (statement(&format!("let {name} = @"), [made]), format!("{name}[{row} * {side} + {column}]"))
    } else {
        let rows = Type::array(Type::array(element.clone()));
        let made = expression(&rows, &format!("{rows}({side})"), []);
        let declared = statement(&format!("let {name}: {rows} = @"), [made]);
        (declared, format!("{name}[{row}][{column}]"))
    };
    let mut statements = vec![declared];
    if !flat {
        let inner = expression(
            &Type::array(element.clone()),
            &format!("Array<{element}>({side}, @)"),
            [g.leaf(&element)],
        );
        let fill = statement(&format!("{name}[{row}] = @"), [inner]);
        let mut body = vec![fill];
        if g.choice.percent(20) && g.around.risky {
            g.mark(Feature::UnsetElement);
            body.insert(0, Statement::text(format!("if {row} == {} {{ continue }}", side / 2)));
        }
        statements.push(Statement::new(&format!("for {row} in 0..{side} @"), [Block::new(body).into()]));
    }
    let count = g.choice.between(1, 4);
    let mut inner_label = String::new();
    let (inner, label) = g.loop_body(side, true, true, &mut |g| {
        g.declare_index(&row, &[]);
        let (body, label) = g.loop_body(side, true, true, &mut |g| {
            g.declare_index(&column, &[]);
            let value = g.value(&element, 2);
            let mut body = vec![statement(&format!("{place} = @"), [value])];
            body.extend(g.statements(count));
            let seen = g.digest(Expression::text(&element, place.clone()));
            body.push(statement("h = mix(h, @)", [seen]));
            body
        });
        inner_label = label;
        body
    });
    let columns =
        Statement::new(&format!("{inner_label}for {column} in 0..{side} @"), [Block::new(inner).into()]);
    let rows = Block::new(vec![columns]);
    statements.push(Statement::new(&format!("{label}for {row} in 0..{side} @"), [rows.into()]));
    statements
}

/// An array of which not all elements were set.
pub fn unset(g: &mut Generator, size: usize) -> Vec<Statement> {
    g.mark(Feature::UnsetElement);
    let mut elements = vec![Type::String, Type::of("Option", Int), Type::int_function()];
    elements.extend(g.instantiable().iter().map(|name| Type::named(name)));
    let element = g.choice.pick(&elements).clone();
    g.mark_array(&element);
    let kind = Type::array(element.clone());
    let name = g.fresh("v");
    let mut statements = vec![g.fixed(&name, &kind, None, Expression::text(&kind, format!("{kind}(n)")))];
    let divisor = *g.choice.pick(&[2, 7, 64, 1000]);
    let value = g.repeated(size, |g| g.value(&element, 1));
    let set = statement(&format!("if i % {divisor} != 1 {{ {name}[i] = @ }}"), [value]);
    statements.push(Statement::new("for i in 0..n @", [Block::new(vec![set]).into()]));
    let count = g.choice.between(0, 3);
    // Nothing else reads the array, which may be without its elements.
    let hidden = g.scope.pop();
    statements.extend(g.hot_loop(size, &[], &mut |g| {
        let counter = g.scope.last().map(|v| v.name.clone()).unwrap_or_default();
        let seen = g.digest(Expression::text(&element, format!("{name}[{counter}]")));
        let mut body = vec![statement("h = mix(h, @)", [seen])];
        body.extend(g.risking(|g| g.scoped(|g| g.statements(count))));
        let value = g.value(&element, 1);
        let repair = statement(&format!("h += 1; {name}[{counter}] = @"), [value]);
        let handlers = [Block::new(body).into(), Block::new(vec![repair]).into(), g.block(1).into()];
        vec![Statement::new("try @ catch _: UnsetError @ catch _ @", handlers)]
    }));
    drop(hidden);
    statements
}

/// Bytes and flags.
pub fn bytes(g: &mut Generator, size: usize) -> Vec<Statement> {
    g.mark(Feature::ByteArray);
    g.mark(Feature::BoolArray);
    let (bytes, flags) = (g.fresh("v"), g.fresh("v"));
    let first = g.fixed(&bytes, &Type::Bytes, None, Expression::text(&Type::Bytes, "Bytes(n)"));
    let flag_array = Type::array(Bool);
    let second = g.fixed(&flags, &flag_array, None, Expression::text(&flag_array, "Array<Bool>(n)"));
    let count = g.choice.between(1, 4);
    let below = [bytes.clone(), flags.clone()];
    let mut statements = vec![first, second];
    statements.extend(g.hot_loop(size, &below, &mut |g| {
        let counter = g.scope.last().map(|v| v.name.clone()).unwrap_or_default();
        let mut body = vec![
            statement(&format!("{bytes}[{counter}] = @"), [g.value(&Int, 3)]),
            statement(&format!("{flags}[{counter}] = @"), [g.value(&Bool, 2)]),
        ];
        body.extend(g.statements(count));
        body.push(Statement::text(format!(
            "if {flags}[{counter}] {{ h = mix(h, {bytes}[{counter}]) }} else {{ h += {bytes}[n - 1] }}"
        )));
        body
    }));
    g.mark(Feature::Iteration);
    statements.push(Statement::text(format!("for b in {bytes} {{ h = h * 31 + b }}")));
    statements
}
