//! What a region's calls through tables reach: where that is tested, and where the others are called. For profiles of paths, which
//! tell how often each was the case.

use super::{cut, side};
use crate::ir::{Op, Region, Terminator};
use holloway_bytecode::Program;
use holloway_profilers::calls::CallSite;
use holloway_profilers::paths::Side;
use holloway_profilers::{BlockId, MethodId};
use holloway_vm::adaptive::watcher::SiteBias;
use holloway_vm::profiling::{ReceiverOutcome, target};
use std::collections::BTreeMap;

/// The tests and the calls of a finished region.
pub fn outcomes(region: &Region, program: &Program) -> Vec<ReceiverOutcome> {
    let mut found = Vec::new();
    for test in tests(region, program) {
        let reached = (test.site, Some(test.callee));
        // The branch is the end of its block.
        let side = Side::Behind;
        found.push(ReceiverOutcome { block: test.block, side, next: Some(test.holds), reached });
    }
    for id in region.block_ids() {
        let cut = cut(region, id);
        for (at, &value) in region.block(id).nodes.iter().enumerate() {
            let node = region.node(value);
            if matches!(node.op, Op::CallVirtual(..) | Op::CallInterface(..)) {
                let caller = region.inlines[node.inline.index()].function;
                let site = CallSite { caller: MethodId(caller.0), position: node.pc };
                let (block, side) = (BlockId(id.0), side(at, cut));
                found.push(ReceiverOutcome { block, side, next: None, reached: (site, None) });
            }
        }
    }
    found
}

/// What the tests of a finished region were made for, and the calls through tables that have none.
pub fn biases(region: &Region, program: &Program) -> Vec<SiteBias> {
    let tests: Vec<ReceiverTest> = tests(region, program).collect();
    let mut sites: BTreeMap<CallSite, SiteBias> = BTreeMap::new();
    for test in &tests {
        let new = SiteBias { site: test.site, callees: Vec::new(), others: 0 };
        let bias = sites.entry(test.site).or_insert(new);
        // A site may have been copied.
        match bias.callees.iter_mut().find(|(callee, _)| *callee == test.callee) {
            Some((_, count)) => *count = count.saturating_add(test.counts[0]),
            None => bias.callees.push((test.callee, test.counts[0])),
        }
        // Those that are left behind the last test.
        if !tests.iter().any(|other| other.block == test.fails && other.site == test.site) {
            bias.others = bias.others.saturating_add(test.counts[1]);
        }
    }
    for outcome in outcomes(region, program).iter().filter(|outcome| outcome.next.is_none()) {
        let site = outcome.reached.0;
        sites.entry(site).or_insert(SiteBias { site, callees: Vec::new(), others: 1 });
    }
    sites.into_values().collect()
}

/// A branch on the receiver of a call.
struct ReceiverTest {
    block: BlockId,
    /// Where control goes if it holds, and if not.
    holds: BlockId,
    fails: BlockId,
    site: CallSite,
    /// What is inlined there.
    callee: MethodId,
    counts: [u32; 2],
}

fn tests<'r>(region: &'r Region, program: &'r Program) -> impl Iterator<Item = ReceiverTest> + 'r {
    region.block_ids().filter_map(move |id| {
        let Terminator::Branch { condition, then, otherwise, counts, .. } = &region.block(id).end else {
            return None;
        };
        let node = region.node(*condition);
        let function = region.inlines[node.inline.index()].function;
        let callee = match node.op {
            // Other tests of classes, the program's own, do not stand at calls.
            Op::IsExactly(class) | Op::IsInstance(class) => target(program, function, node.pc, class)?,
            Op::Reaches(_, callee) => callee,
            _ => return None,
        };
        Some(ReceiverTest {
            block: BlockId(id.0),
            holds: BlockId(then.block.0),
            fails: BlockId(otherwise.block.0),
            site: CallSite { caller: MethodId(function.0), position: node.pc },
            callee: MethodId(callee.0),
            counts: *counts,
        })
    })
}
