//! Edges of control flow, by the interpreter's counters.

use holloway_bytecode::Program;
use holloway_bytecode::cfg::{Cfg, EdgeKind};
use holloway_profilers::{BlockId, MethodId};
use holloway_vm::profiling::Collected;
use std::collections::BTreeMap;

/// Edges as the interpreter's counters have them: of branches and switches.
pub fn counted_edges(program: &Program, found: &Collected) -> BTreeMap<(MethodId, BlockId, BlockId), u64> {
    let mut edges = BTreeMap::new();
    for (branch, arms) in found.baseline.iter() {
        let cfg = Cfg::of_function(&program.functions[branch.method.index()]);
        let block = cfg.block_at(branch.position).expect("branches are in blocks");
        for edge in cfg.out_edges(block) {
            let arm = match cfg.kind(edge) {
                EdgeKind::Taken => 0,
                EdgeKind::FallThrough => 1,
                EdgeKind::Case(case) => case as usize,
                EdgeKind::Default => arms.len() - 1,
                EdgeKind::Exception(_) => continue,
            };
            let key = (branch.method, BlockId(block.0), BlockId(cfg.target(edge).0));
            *edges.entry(key).or_default() += arms[arm];
        }
    }
    edges
}
