//! How Cranelift is made to emit blocks in our order.
//!
//! `TargetIsa::compile_function` takes the optimized function and a dominator tree, and uses of that tree only the reverse postorder
//! of the blocks, as the order in which it lowers, and emits, them (`machinst/blockorder.rs`). So we give it the tree of another
//! function, whose blocks have the same numbers and go one to the next in our order. All that looks at loops and dominance
//! is done by then, with the true tree. Blocks that are marked cold come last in any case, in the same order.

use cranelift_codegen::dominator_tree::DominatorTree;
use cranelift_codegen::flowgraph::ControlFlowGraph;
use cranelift_codegen::ir::{Block, BlockCall, Function, InstructionData, Opcode, ValueList};

/// A tree whose reverse postorder is `order`: all blocks of `function` that can be reached, the entry first.
pub fn tree(function: &Function, order: &[Block]) -> DominatorTree {
    let mut chain = Function::new();
    for _ in 0..function.dfg.num_blocks() {
        chain.dfg.make_block();
    }
    for (at, &block) in order.iter().enumerate() {
        chain.layout.append_block(block);
        let data = match order.get(at + 1) {
            Some(&next) => InstructionData::Jump {
                opcode: Opcode::Jump,
                destination: BlockCall::new(next, [], &mut chain.dfg.value_lists),
            },
            None => InstructionData::MultiAry { opcode: Opcode::Return, args: ValueList::new() },
        };
        let end = chain.dfg.make_inst(data);
        chain.layout.append_inst(end, block);
    }
    // Who comes before a block is asked for dominators only, which nobody asks for.
    let nobody = ControlFlowGraph::with_function(&Function::new());
    DominatorTree::with_function(&chain, &nobody)
}
