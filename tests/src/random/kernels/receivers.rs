//! Virtual calls whose receivers are all of one class, of two, of many, and change as the loop goes on.

use crate::random::feature::Feature;
use crate::random::generator::{Callable, Class, Generator, statement};
use crate::random::tree::{Block, Expression, Statement};
use crate::random::types::Type;

/// A class or interface with subclasses.
fn receiver(g: &mut Generator) -> Class {
    let parents: Vec<Class> = g
        .classes
        .iter()
        .filter(|class| class.interface || class.ancestors[0].ends_with('0'))
        .cloned()
        .collect();
    g.choice.pick(&parents).clone()
}

/// An array of objects whose classes change from phase to phase, and a loop that calls them.
pub fn receivers(g: &mut Generator, size: usize) -> Vec<Statement> {
    g.mark(Feature::Phases);
    g.mark(Feature::ObjectArray);
    let class = receiver(g);
    let kind = Type::named(&class.name);
    let array = Type::array(kind.clone());
    let length = *g.choice.pick(&[4, 8, 16]);
    let objects = g.fresh("v");
    let first = g.instance(&class.name, 1).unwrap_or_else(|| Expression::text(&kind, "null"));
    let made = crate::random::generator::expression(&array, &format!("Array<{kind}>({length}, @)"), [first]);
    let mut statements = vec![g.fixed(&objects, &array, Some(length), made)];

    let phases = g.choice.between(2, 4);
    let (phase, counter, object) = (g.fresh("phase"), g.fresh("i"), g.fresh("o"));
    let mut arms = Vec::new();
    for index in 0..phases - 1 {
        let fresh = g.instance(&class.name, 1).unwrap_or_else(|| Expression::text(&kind, "null"));
        let place = *g.choice.pick(&["0", "P & M", "M", "seed & M"]);
        let place = place.replace('P', &phase).replace('M', &(length - 1).to_string());
        let every = match g.choice.percent(50) {
            true => statement(
                &format!("for j in 0..{length} step {} {{ {objects}[j] = @ }}", g.choice.between(1, 3)),
                [fresh],
            ),
            false => statement(&format!("{objects}[{place}] = @"), [fresh]),
        };
        arms.push(Statement::new(&format!("{} => @", index + 1), [Block::new(vec![every]).into()]));
    }
    arms.push(Statement::text("_ => {}"));
    let change = Statement::new(&format!("match {phase} @"), [Block::new(arms).into()]);

    let iterations = (size / phases).max(2);
    // There is always `digest`, which can be called anywhere.
    let isolated = g.around.isolated;
    let harmless = |method: &&Callable| !(method.throws || isolated && method.effects);
    let methods: Vec<Callable> = class.methods.iter().filter(harmless).cloned().collect();
    let method = g.choice.pick(&methods).clone();
    let count = g.choice.between(0, 3);
    g.mark(if class.interface { Feature::InterfaceCall } else { Feature::VirtualCall });
    let (body, label) = g.loop_body(iterations * phases, true, true, &mut |g| {
        g.declare_index(&phase, &[]);
        g.declare_index(&counter, &[]);
        let bound = Statement::text(format!("let {object}: {kind} = {objects}[{counter} & {}]", length - 1));
        g.declare(&object, &kind, false);
        let mut body = vec![bound];
        let call = g.make_call(&format!("{object}.{}", method.name), &method, 1);
        let seen = g.digest(call);
        body.push(statement("h = mix(h, @)", [seen]));
        body.extend(g.statements(count));
        body
    });
    let head = match g.choice.below(3) {
        0 => format!("{label}for {counter} in 0..n / {phases}"),
        1 => format!("{label}for {counter} in 1..=n / {phases}"),
        _ => format!("{label}for {counter} in n / {phases}..0 step -1"),
    };
    let inner = Statement::new(&format!("{head} @"), [Block::new(body).into()]);
    g.mark(Feature::NestedLoop);
    g.mark(Feature::ForRange);
    let whole = Block::new(vec![change, inner]);
    statements.push(Statement::new(&format!("for {phase} in 0..{phases} @"), [whole.into()]));
    statements
}

/// Objects of a family that are asked for their class all the time.
pub fn casts(g: &mut Generator, size: usize) -> Vec<Statement> {
    g.mark(Feature::ObjectArray);
    g.mark(Feature::TypeTest);
    g.mark(Feature::Cast);
    let class = receiver(g);
    let kind = Type::named(&class.name);
    let array = Type::array(kind.clone());
    let objects = g.fresh("v");
    let items: Vec<Expression> = (0..4)
        .map(|_| g.instance(&class.name, 1).unwrap_or_else(|| Expression::text(&kind, "null")))
        .collect();
    let made = Expression {
        kind: array.clone(),
        parts: crate::random::tree::fill_all("[@, @, @, @]", items.into_iter().map(Into::into).collect()),
    };
    let mut statements = vec![g.fixed(&objects, &array, Some(4), made)];
    let subclass = g.subclass(&class.name).unwrap_or(class.name.clone());
    let (object, narrowed) = (g.fresh("o"), g.fresh("n"));
    let count = g.choice.between(1, 4);
    statements.extend(g.hot_loop(size, &[], &mut |g| {
        let counter = g.scope.last().map(|v| v.name.clone()).unwrap_or_default();
        let place = *g.choice.pick(&["I & 3", "(I >> 6) & 3", "if I > n - 4 { 3 } else { 0 }"]);
        let bound = format!("let {object}: {kind} = {objects}[{}]", place.replace('I', &counter));
        g.declare(&object, &kind, false);
        let mut body = vec![Statement::text(bound)];
        let inside = g.scoped(|g| {
            g.declare(&narrowed, &Type::named(&subclass), false);
            let seen = g.digest(Expression::text(&Type::named(&subclass), narrowed.clone()));
            let mut inside = vec![statement("h = mix(h, @)", [seen])];
            inside.extend(g.statements(count));
            Block::new(inside)
        });
        match g.choice.below(3) {
            0 => {
                let head = format!("if let {narrowed} = {object} as? {subclass} @ else @");
                let otherwise = g.block(1);
                body.push(Statement::new(&head, [inside.into(), otherwise.into()]));
            }
            1 => {
                let tested = g.fresh("n");
                let known = Statement::text(format!("let {narrowed}: {subclass} = {tested}"));
                let mut inside = inside;
                inside.statements.insert(0, known);
                body.push(Statement::text(format!("let {tested} = {object}")));
                body.push(Statement::new(&format!("if {tested} is {subclass} @"), [inside.into()]));
            }
            _ => {
                let cast = Statement::text(format!("let {narrowed} = {object} as {subclass}"));
                let mut inside = inside;
                inside.statements.insert(0, cast);
                body.push(g.catching(inside));
            }
        }
        body
    }));
    statements
}
