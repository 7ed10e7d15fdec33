//! Which orders of blocks Cranelift can make code for.
//!
//! It goes through the blocks from the last to the first, and leaves an instruction without effect out if no use of its result was
//! met so far (`machinst/lower.rs`). So a block must stand behind those whose results it uses, directly or through instructions that
//! are merged into their users: for each block, that is ensured for the operands of all its instructions, whatever they are.
//! Parameters of blocks are always there. Definitions dominate their uses, so that these demands have no cycle, and Cranelift's own
//! order meets them.

use super::edges::Piece;
use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir::{Block, Function, Value, ValueDef};

/// For each piece, by number, those whose results it uses.
pub struct Demands(Vec<Vec<usize>>);

impl Demands {
    /// Those of all pieces of a function.
    pub fn of(function: &Function, pieces: &[Piece]) -> Demands {
        let mut numbers: SecondaryMap<Block, usize> = SecondaryMap::new();
        for (number, piece) in pieces.iter().enumerate().filter(|(_, piece)| piece.arm.is_none()) {
            numbers[piece.block] = number;
        }
        let mut demands = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let mut found: Vec<usize> = Vec::new();
            values(function, *piece, |value| {
                let value = function.dfg.resolve_aliases(value);
                if let ValueDef::Result(definition, _) = function.dfg.value_def(value)
                    && let Some(home) = function.layout.inst_block(definition)
                    && (home != piece.block || piece.arm.is_some())
                    && !found.contains(&numbers[home])
                {
                    found.push(numbers[home]);
                }
            });
            demands.push(found);
        }
        Demands(demands)
    }

    /// The pieces whose results this one uses.
    pub fn piece(&self, number: usize) -> &[usize] {
        &self.0[number]
    }

    /// Can Cranelift make code for this order of all pieces.
    pub fn are_met(&self, order: &[usize]) -> bool {
        let mut placed = vec![false; self.0.len()];
        let is_met = |&number: &usize| {
            placed[number] = true;
            self.0[number].iter().all(|&demand| placed[demand])
        };
        order.len() == self.0.len() && order.iter().all(is_met)
    }

    /// Puts cold pieces into an order of the others: each behind the one that it is behind in Cranelift's order, and behind those that
    /// it demands. They are emitted elsewhere; but what looks at the whole order (how deep loops nest, for the register
    /// allocator) finds them there.
    pub fn weave(&self, order: &[usize], is_cold: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut missing = vec![0; self.0.len()];
        let mut waiting: Vec<Vec<usize>> = vec![Vec::new(); self.0.len()];
        let mut last = None;
        for (number, demands) in self.0.iter().enumerate() {
            if !is_cold(number) {
                last = Some(number);
                continue;
            }
            for &other in demands.iter().chain(&last) {
                missing[number] += 1;
                waiting[other].push(number);
            }
        }
        let mut woven = Vec::with_capacity(self.0.len());
        let mut ready = Vec::new();
        for &number in order {
            ready.push(number);
            while let Some(number) = ready.pop() {
                woven.push(number);
                // The last one goes first.
                for other in std::mem::take(&mut waiting[number]).into_iter().rev() {
                    missing[other] -= 1;
                    if missing[other] == 0 {
                        ready.push(other);
                    }
                }
            }
        }
        woven
    }
}

/// Calls `with` for all values that a piece uses. What an edge carries counts for its block, too, which does no harm.
fn values(function: &Function, piece: Piece, mut with: impl FnMut(Value)) {
    let dfg = &function.dfg;
    match (piece.arm, function.layout.last_inst(piece.block)) {
        (Some(arm), Some(end)) => {
            let calls = dfg.insts[end].branch_destination(&dfg.jump_tables, &dfg.exception_tables);
            let args = calls[arm].args(&dfg.value_lists);
            args.filter_map(|arg| arg.as_value()).for_each(&mut with);
        }
        _ => {
            let instructions = function.layout.block_insts(piece.block);
            instructions.for_each(|inst| dfg.inst_values(inst).for_each(&mut with));
        }
    }
}
