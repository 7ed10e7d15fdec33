//! Blocks for edges that have to carry moves.
//!
//! Between a block that goes elsewhere, too, and one that is reached from elsewhere, too, the register allocator needs a block of
//! its own for moves. Cranelift puts it just behind the first of the two: if the edge is the colder one, and the hotter one leads
//! to what would come next, that one jumps over it. So such an edge becomes a cold block of the function before Cranelift sees to it: the register allocator finds it
//! in the same place, but it is emitted behind everything else. Without moves it vanishes.
//!
//! Where the hotter way leads elsewhere, back to the head of a loop above all, its branch is taken in any case, and the moves behind it are in nobody's way.

use super::heat::Heat;
use cranelift_codegen::ir::{Block, BlockCall, Function, InstructionData, Opcode};
use holloway_profilers::layout::ASIDE;

/// Makes cold blocks of edges that run seldom in comparison with the other way out of their block, which is to fall through; `entered` says how
/// many ways lead into each block. All blocks in the order given, with the new ones in it.
pub fn set_aside(
    function: &mut Function,
    order: &[Block],
    entered: impl Fn(Block) -> u32,
    heat: &mut Heat,
) -> Vec<Block> {
    let mut blocks = Vec::with_capacity(order.len());
    let hot: Vec<Block> =
        order.iter().copied().filter(|&block| !function.is_effectively_cold(block)).collect();
    // What is emitted behind each of them.
    let mut behind = hot.into_iter().skip(1);
    for &block in order {
        blocks.push(block);
        if function.is_effectively_cold(block) {
            continue;
        }
        let next = behind.next();
        let is_two_way = |end| function.dfg.insts[end].opcode() == Opcode::Brif;
        if !function.layout.last_inst(block).is_some_and(is_two_way) {
            continue;
        }
        let counts = heat.arms(function, block);
        let (colder, hotter) = if counts[0] < counts[1] { (0, 1) } else { (1, 0) };
        let target = |arm| function.block_successors(block).nth(arm);
        let falls_through = target(hotter) == next;
        let is_critical =
            target(colder).is_some_and(|to| entered(to) > 1 && !function.is_effectively_cold(to));
        if falls_through && is_critical && counts[colder] * (ASIDE as f64) < counts[hotter] {
            blocks.extend(split(function, block, colder, heat));
        }
    }
    blocks
}

/// Makes a cold block of an edge.
fn split(function: &mut Function, from: Block, arm: usize, heat: &mut Heat) -> Option<Block> {
    let end = function.layout.last_inst(from)?;
    let InstructionData::Brif { blocks, .. } = function.dfg.insts[end] else { return None };
    let to = blocks[arm].block(&function.dfg.value_lists);
    let between = function.dfg.make_block();
    heat.set_edge(between, [from, to], heat.arms(function, from)[arm]);
    function.layout.insert_block_after(between, from);
    function.layout.set_cold(between);
    let jump = InstructionData::Jump { opcode: Opcode::Jump, destination: blocks[arm] };
    let jump = function.dfg.make_inst(jump);
    function.layout.append_inst(jump, between);
    let call = BlockCall::new(between, [], &mut function.dfg.value_lists);
    if let InstructionData::Brif { blocks, .. } = &mut function.dfg.insts[end] {
        blocks[arm] = call;
    }
    Some(between)
}
