//! Threads. Whatever they do must not depend on the schedule: they work on values of their own, hand results over
//! by channels that one side only writes, and are all joined.

use crate::random::feature::Feature;
use crate::random::generator::{Generator, Surroundings, statement};
use crate::random::tree::{Block, Statement};
use crate::random::types::Type::Int;

/// The body of a thread: a loop over variables of its own. It sees nothing of the function around it.
fn worker(g: &mut Generator, iterations: usize, sent: Option<&str>) -> Block {
    let around = Surroundings { isolated: true, ..Surroundings::new(4000) };
    let hidden = std::mem::take(&mut g.scope);
    let (block, _) = g.within(around, |g| {
        g.declare("k", &Int, false);
        g.declare("h", &Int, true);
        let count = g.choice.between(1, 4);
        let mut statements = vec![Statement::text("var h = k * 7919")];
        let (body, label) = g.loop_body(iterations, true, true, &mut |g| {
            g.declare_index("i", &[]);
            let mut body = g.statements(count);
            let value = g.value(&Int, 2);
            match sent {
                Some(channel) => body.push(statement(&format!("{channel}.send(h ^ @)"), [value])),
                None => body.push(statement("h = mix(h, @)", [value])),
            }
            body
        });
        statements
            .push(Statement::new(&format!("{label}for i in 0..{iterations} @"), [Block::new(body).into()]));
        if let Some(channel) = sent {
            statements.push(Statement::text(format!("{channel}.close()")));
        }
        statements.push(Statement::text("h"));
        Block::new(statements)
    });
    g.scope = hidden;
    block
}

/// Some threads, and maybe channels.
pub fn threads(g: &mut Generator, size: usize) -> Vec<Statement> {
    g.mark(Feature::Threads);
    let iterations = size.clamp(4, 100);
    g.charge(5000);
    if g.choice.percent(50) {
        // Workers that give their results when they are joined.
        let workers = g.choice.between(2, 4);
        let body = worker(g, iterations, None);
        let list = g.fresh("v");
        let start = Statement::new(&format!("{list}.add(spawn(|| -> Int @))"), [body.into()]);
        return vec![
            Statement::text(format!("let {list} = List<Thread<Int>>()")),
            Statement::new(&format!("for k in 0..{workers} @"), [Block::new(vec![start]).into()]),
            Statement::text(format!("for t in {list} {{ h = mix(h, t.join()) }}")),
        ];
    }
    g.mark(Feature::Channels);
    let (channel, thread) = (g.fresh("v"), g.fresh("v"));
    let capacity = g.choice.below(4);
    let iterations = iterations.min(40);
    let body = worker(g, iterations, Some(&channel));
    let mut statements = vec![
        Statement::text("let k = seed".to_string()),
        Statement::text(format!("let {channel} = Channel<Int>({capacity})")),
        Statement::new(&format!("let {thread} = spawn(|| -> Int @)"), [body.into()]),
    ];
    let receive = match g.choice.percent(50) {
        true => {
            g.mark(Feature::Iteration);
            format!("for x in {channel} {{ h = mix(h, x) }}")
        }
        false => format!(
            "while true {{ let x = try {{ {channel}.receive() }} catch _: ChannelError {{ break }}; h = mix(h, x) }}"
        ),
    };
    statements.push(Statement::text(receive));
    statements.push(Statement::text(format!("h = mix(h, {thread}.join())")));
    statements
}
