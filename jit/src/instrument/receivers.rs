//! What a region's calls through tables reach: where that is tested or checked, and where the others are called. For profiles of paths, which
//! tell how often each was the case.
//!
//! Behind the last test of a site is the call, or one more method that no test is for: if there are no others, or if code is left by a check
//! where it is another. What comes there reaches that method: without it, of two methods that take turns the first would seem to
//! be the only one.

use super::{cut, side};
use crate::ir::{InlineId, Op, Reason, Region, Terminator};
use holloway_bytecode::{FunctionId, Program};
use holloway_profilers::calls::CallSite;
use holloway_profilers::{Arm, BlockId, Edge, MethodId};
use holloway_vm::adaptive::watcher::SiteBias;
use holloway_vm::profiling::{ReceiverOutcome, Through, target};
use std::collections::{BTreeMap, BTreeSet};

/// The tests, checks and calls of a finished region.
pub fn outcomes(region: &Region, program: &Program) -> Vec<ReceiverOutcome> {
    let Told { tests, checks, calls } = Told::of(region, program);
    let of_tests = tests.iter().flat_map(|test| {
        let way = |arm: usize, callee: MethodId| {
            let edge = Edge { from: test.block, arm: Arm::new(arm) };
            ReceiverOutcome { through: Through::Edge(edge), reached: (test.site, Some(callee)) }
        };
        let behind = match test.behind {
            Behind::Method(callee) => Some(way(1, callee)),
            Behind::Test | Behind::Others => None,
        };
        std::iter::once(way(0, test.callee)).chain(behind)
    });
    let of_checks = checks
        .into_iter()
        .map(|(through, site, callee)| ReceiverOutcome { through, reached: (site, Some(callee)) });
    let of_calls =
        calls.into_iter().map(|(through, site)| ReceiverOutcome { through, reached: (site, None) });
    of_tests.chain(of_checks).chain(of_calls).collect()
}

/// What the tests and checks of a finished region were made for, and the calls through tables that have none.
pub fn biases(region: &Region, program: &Program) -> Vec<SiteBias> {
    let Told { tests, checks, calls } = Told::of(region, program);
    let mut sites: BTreeMap<CallSite, SiteBias> = BTreeMap::new();
    // A site may have been copied.
    let mut add = |site: CallSite, callee: MethodId, count: u32| {
        let bias = sites.entry(site).or_insert(SiteBias { site, callees: Vec::new(), others: 0 });
        match bias.callees.iter_mut().find(|(other, _)| *other == callee) {
            Some((_, sum)) => *sum = sum.saturating_add(count),
            None => bias.callees.push((callee, count)),
        }
    };
    for test in &tests {
        add(test.site, test.callee, test.counts[0]);
        if let Behind::Method(callee) = test.behind {
            add(test.site, callee, test.counts[1]);
        }
    }
    // How often the only method was seen is not known any more.
    checks.iter().for_each(|&(_, site, callee)| add(site, callee, 1));
    for test in tests.iter().filter(|test| test.behind == Behind::Others) {
        if let Some(bias) = sites.get_mut(&test.site) {
            bias.others = bias.others.saturating_add(test.counts[1]);
        }
    }
    for (_, site) in calls {
        sites.entry(site).or_insert(SiteBias { site, callees: Vec::new(), others: 1 });
    }
    sites.into_values().collect()
}

/// A call of one of the bodies: that, and the place in it.
type Place = (InlineId, u32);

/// What tells which methods are reached.
struct Told {
    tests: Vec<ReceiverTest>,
    /// Where code is left unless it is the only method that is inlined at a site.
    checks: Vec<(Through, CallSite, MethodId)>,
    /// Where others are called.
    calls: Vec<(Through, CallSite)>,
}

/// A branch on the receiver of a call.
struct ReceiverTest {
    block: BlockId,
    /// Where control goes if it does not hold.
    fails: BlockId,
    place: Place,
    site: CallSite,
    /// What is inlined where it holds.
    callee: MethodId,
    behind: Behind,
    counts: [u32; 2],
}

/// What is where a test does not hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Behind {
    /// The next test.
    Test,
    /// A method that no test is for.
    Method(MethodId),
    /// A call of what is left, or nothing.
    Others,
}

impl Told {
    fn of(region: &Region, program: &Program) -> Told {
        let mut tests: Vec<ReceiverTest> = tests(region, program).collect();
        let tested: BTreeSet<(Place, MethodId)> =
            tests.iter().map(|test| (test.place, test.callee)).collect();
        let inlined = region.inlines.iter().filter_map(|inline| Some((inline.caller?, inline.function)));
        let mut untested: BTreeMap<Place, MethodId> = BTreeMap::new();
        let mut note = |place: Place, function: FunctionId| {
            let callee = MethodId(function.0);
            if !tested.contains(&(place, callee)) {
                untested.insert(place, callee);
            }
        };
        inlined.for_each(|(place, function)| note(place, function));
        let (mut checked, mut called) = (Vec::new(), Vec::new());
        for id in region.block_ids() {
            let cut = cut(region, id);
            for (at, &value) in region.block(id).nodes.iter().enumerate() {
                let node = region.node(value);
                let (here, place) = (Through::Block(BlockId(id.0), side(at, cut)), (node.inline, node.pc));
                match node.op {
                    // It could not be inlined.
                    Op::Call(function) => note(place, function),
                    Op::CheckExactly(_) | Op::Guard(_, Reason::Receiver) => checked.push((here, place)),
                    Op::CallVirtual(..) | Op::CallInterface(..) => called.push((here, place)),
                    _ => {}
                }
            }
        }
        for (_, place) in &called {
            untested.remove(place);
        }
        let blocks: BTreeSet<(BlockId, Place)> = tests.iter().map(|test| (test.block, test.place)).collect();
        for test in &mut tests {
            test.behind = match untested.get(&test.place) {
                _ if blocks.contains(&(test.fails, test.place)) => Behind::Test,
                Some(&callee) => Behind::Method(callee),
                None => Behind::Others,
            };
        }
        let has_tests = |place: Place| tests.iter().any(|test| test.place == place);
        let checks = checked.into_iter().filter(|&(_, place)| !has_tests(place));
        let checks = checks
            .filter_map(|(here, place)| Some((here, site(region, place), *untested.get(&place)?)))
            .collect();
        let calls = called.into_iter().map(|(here, place)| (here, site(region, place))).collect();
        Told { tests, checks, calls }
    }
}

/// The call of the program that a place is.
fn site(region: &Region, (inline, position): Place) -> CallSite {
    CallSite { caller: MethodId(region.inlines[inline.index()].function.0), position }
}

fn tests<'r>(region: &'r Region, program: &'r Program) -> impl Iterator<Item = ReceiverTest> + 'r {
    region.block_ids().filter_map(move |id| {
        let Terminator::Branch { condition, otherwise, counts, .. } = &region.block(id).end else {
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
        let place = (node.inline, node.pc);
        Some(ReceiverTest {
            block: BlockId(id.0),
            fails: BlockId(otherwise.block.0),
            place,
            site: site(region, place),
            callee: MethodId(callee.0),
            behind: Behind::Others,
            counts: *counts,
        })
    })
}
