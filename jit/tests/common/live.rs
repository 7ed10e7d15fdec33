//! What is live: frame states that hold only what the rest of the region needs, as those made from bytecode do.
//!
//! States of generated regions hold all that exists, so that nothing ever dies. Here registers leave them again whose values nobody
//! uses from there on. States themselves are no uses: the interpreter reads registers, not states.

use holloway_jit::ir::{Region, StateKind, Value};
use std::collections::BTreeSet;

/// Takes dead values out of all states.
pub fn trim(region: &mut Region) {
    let count = region.blocks.len();
    let mut live: Vec<BTreeSet<Value>> = vec![BTreeSet::new(); count];
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for block in (0..count).rev() {
            let before = at_beginning(region, &live, block, |_, _| {});
            if before != live[block] {
                live[block] = before;
                changed = true;
            }
        }
    }
    let mut kept = Vec::new();
    for block in 0..count {
        at_beginning(region, &live, block, |node, live| {
            if let Some(state) = region.node(node).state {
                kept.push((state, live.clone()));
            }
        });
    }
    for (state, live) in kept {
        region.states[state.index()].registers.retain(|(_, value)| live.contains(value));
    }
}

/// What is live where a block begins. `see` is told what is live where the state of a node is that of the program.
fn at_beginning(
    region: &Region,
    live: &[BTreeSet<Value>],
    block: usize,
    mut see: impl FnMut(Value, &BTreeSet<Value>),
) -> BTreeSet<Value> {
    let block = &region.blocks[block];
    let mut now = BTreeSet::new();
    for target in block.end.targets() {
        now.extend(&live[target.block.index()]);
    }
    block.end.values(|value| {
        now.insert(value);
    });
    for &node in block.nodes.iter().rev() {
        now.remove(&node);
        let is_after =
            region.node(node).state.is_some_and(|state| region.state(state).kind != StateKind::Before);
        if is_after {
            see(node, &now);
        }
        now.extend(&region.node(node).args);
        if !is_after {
            see(node, &now);
        }
    }
    for param in &block.params {
        now.remove(param);
    }
    now
}
