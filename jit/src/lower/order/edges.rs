//! Blocks for edges that have to carry moves.
//!
//! Between a block that goes elsewhere, too, and one that is reached from elsewhere, too, the register allocator needs a block of
//! its own for moves. Cranelift would put it just behind the first of the two: if the edge is the colder one, the hotter
//! one jumps over it. So such an edge is something to be placed, like a block, and becomes a block of the function before
//! Cranelift sees to it. Without moves it vanishes.

use super::heat::Heat;
use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir::{Block, BlockCall, Function, InstructionData, Opcode};

/// Something that has a place of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// A block.
    pub block: Block,
    /// One of the ways out of it, instead of itself.
    pub arm: Option<usize>,
}

/// The pieces of a function with these blocks, in the order in which Cranelift would emit them.
pub fn pieces(function: &Function, blocks: &[Block]) -> Vec<Piece> {
    let mut entered: SecondaryMap<Block, u32> = SecondaryMap::new();
    for &block in blocks {
        function.block_successors(block).for_each(|target| entered[target] += 1);
    }
    let mut pieces = Vec::with_capacity(blocks.len() * 2);
    for &block in blocks {
        pieces.push(Piece { block, arm: None });
        if !is_two_way(function, block) || function.is_effectively_cold(block) {
            continue;
        }
        for (arm, target) in function.block_successors(block).enumerate() {
            if entered[target] > 1 && !function.is_effectively_cold(target) {
                pieces.push(Piece { block, arm: Some(arm) });
            }
        }
    }
    pieces
}

fn is_two_way(function: &Function, block: Block) -> bool {
    let end = function.layout.last_inst(block);
    end.is_some_and(|end| function.dfg.insts[end].opcode() == Opcode::Brif)
}

/// Makes blocks of the pieces that are edges. All blocks in the order of the pieces.
pub fn split(
    function: &mut Function,
    pieces: impl IntoIterator<Item = Piece>,
    heat: &mut Heat,
) -> Vec<Block> {
    let mut of_piece = |piece: Piece| {
        let (Some(arm), Some(end)) = (piece.arm, function.layout.last_inst(piece.block)) else {
            return piece.block;
        };
        let InstructionData::Brif { blocks, .. } = function.dfg.insts[end] else { return piece.block };
        let (from, to) = (piece.block, blocks[arm].block(&function.dfg.value_lists));
        let between = function.dfg.make_block();
        heat.set_edge(between, [from, to], heat.arms(function, from)[arm]);
        function.layout.insert_block_after(between, from);
        let jump = InstructionData::Jump { opcode: Opcode::Jump, destination: blocks[arm] };
        let jump = function.dfg.make_inst(jump);
        function.layout.append_inst(jump, between);
        let call = BlockCall::new(between, [], &mut function.dfg.value_lists);
        if let InstructionData::Brif { blocks, .. } = &mut function.dfg.insts[end] {
            blocks[arm] = call;
        }
        between
    };
    pieces.into_iter().map(&mut of_piece).collect()
}
