//! Inlining: puts the bodies of callees in the place of calls, as far as that is worth it.
//!
//! It goes in rounds. Each looks at all calls of the region with the frequency of their blocks, and inlines the hottest for
//! their size first. Between rounds the region is simplified and calls through tables become direct where types have
//! become exact: that is how a closure passed to an inlined method gets inlined, too. It ends when a round finds nothing,
//! or the region is full. The limits are in [`limits`], the decision is a value ([`decision::Decision`]), and carrying it out is
//! elsewhere ([`splice`], [`dispatch`]).
//!
//! | file | what it holds |
//! |---|---|
//! | [`limits`] | all constants |
//! | [`decision`] | what is done about a call, and why, as values |
//! | [`judge`] | whether a method may be inlined: by frequency, size, or a policy and the call graph |
//! | [`decide`] | what to do with a call |
//! | [`dispatch`] | a call through a table becomes tests and direct calls |
//! | [`splice`] | a direct call becomes the callee's body |
//! | [`absent`] | calls for which there is no code, and why |

pub mod absent;
pub mod decide;
pub mod decision;
pub mod dispatch;
pub mod judge;
pub mod limits;
pub mod splice;

use super::{Input, Notes, by_name, devirtualize};
use crate::build::stores;
use crate::frequency::Frequencies;
use crate::ir::{InlineId, Op, Region, Value};
use crate::passes::edit::Map;
use decide::Decider;
use decision::{Decision, Given, Site};
use limits::Limits;
use splice::Editor;

/// Inlines what is worth it.
pub fn run(region: &mut Region, input: &Input<'_>, notes: &mut Notes) -> bool {
    let limits = Limits::of(input.options.level);
    let mut changed = false;
    let mut entered = Entered(vec![1.0; region.inlines.len()]);
    for _ in 0..limits.rounds {
        changed |= devirtualize::run(region, input, notes);
        if !round(region, input, &limits, &mut entered, notes) {
            break;
        }
        changed = true;
        clean(region, input, notes);
    }
    report(region, input, &limits, &entered, notes);
    if changed {
        stores::relax(region);
    }
    changed
}

/// The cheap passes that show what the inlined code knows of its arguments.
fn clean(region: &mut Region, input: &Input<'_>, notes: &mut Notes) {
    region.clear_unreachable();
    for pass in ["params", "simplify"].into_iter().filter_map(by_name) {
        (pass.run)(region, input, notes);
    }
}

/// The calls of a region, with what decisions about them need.
fn sites(region: &Region, input: &Input<'_>, limits: &Limits, entered: &Entered) -> Vec<Site> {
    let shape = region.shape();
    let frequencies = Frequencies::of(region, &shape);
    let blocks = shape.graph.reverse_postorder().iter();
    let work: f64 = blocks.map(|&b| frequencies.block(b) * region.block(b).nodes.len() as f64).sum();
    let share = limits.call_nodes / work;
    let mut sites = Vec::new();
    let mut made: Map<Value, Given> = Map::default();
    for &block in shape.graph.reverse_postorder() {
        let cold = region.block(block).cold;
        let frequency = if cold { 0.0 } else { frequencies.block(block) };
        for &value in &region.block(block).nodes {
            let node = region.node(value);
            match node.op {
                Op::New(_) => {
                    made.insert(value, Given { frequency, inline: node.inline });
                }
                Op::Call(_) | Op::CallVirtual(..) | Op::CallInterface(..) => {
                    let targets = devirtualize::targets(region, input, value);
                    let local = entered.local(frequency, node.inline);
                    let given = node.args.iter().filter_map(|&arg| made.get(&region.unchecked(arg)).copied());
                    let given = given.max_by(|a, b| a.frequency.total_cmp(&b.frequency));
                    sites.push(Site { call: value, frequency, local, share, given, targets });
                }
                _ => {}
            }
        }
    }
    sites
}

/// Inlines the most valuable calls of the region as it is now. False if there are none.
fn round(
    region: &mut Region,
    input: &Input<'_>,
    limits: &Limits,
    entered: &mut Entered,
    notes: &mut Notes,
) -> bool {
    let mut decider = Decider::new(input, limits, region);
    let mut wanted: Vec<(Site, Decision)> = Vec::new();
    for site in sites(region, input, limits, entered) {
        match decider.decide(region, &site) {
            Ok(decision) => wanted.push((site, decision)),
            Err(_) => continue,
        }
    }
    // The order of calls in the region decides between equals: sorting is stable.
    wanted.sort_by(|(_, a), (_, b)| b.priority().total_cmp(&a.priority()));
    let mut editor = Editor::new(region);
    let mut any = false;
    for (site, decision) in wanted {
        if decider.grown() > limits.growth_of_round {
            // What has grown hot or known by now shows in the next round.
            break;
        }
        if !decider.has_room(&decision) {
            continue;
        }
        // What cannot be built stays a call: the report says so.
        if let Ok(Some(nodes)) = dispatch::carry_out(&mut editor, input, &site, &decision) {
            decider.grow(&decision, nodes);
            entered.note(editor.region(), &decision);
            if let Some(targets) = site.targets.as_ref().filter(|_| decision.relies_on_classes()) {
                notes.uninstantiated.extend(&targets.relied_on);
            }
            notes.inlining.push(decision.told(input.program, editor.region(), site.call));
            any = true;
        }
    }
    editor.finish();
    any
}

/// Notes why the calls that are left were not inlined.
fn report(region: &Region, input: &Input<'_>, limits: &Limits, entered: &Entered, notes: &mut Notes) {
    let mut decider = Decider::new(input, limits, region);
    for site in sites(region, input, limits, entered) {
        let why = match decider.decide(region, &site) {
            Err(refusal) => refusal.to_string(),
            Ok(decision) if !decider.has_room(&decision) => "the region is full".to_string(),
            Ok(_) => "no round was left, or the callee cannot be built".to_string(),
        };
        notes.inlining.push(decision::told_refused(input.program, region, &site, why));
    }
    notes.absent = absent::absent(region, input, &notes.inlining);
}

/// How often each body of the region is entered for each time that the region is, as was thought when it was inlined. A call that
/// seldom runs where it is called is not hot because there is a loop around it all.
struct Entered(Vec<f64>);

impl Entered {
    /// Bodies were inlined by a decision.
    fn note(&mut self, region: &Region, decision: &Decision) {
        for inline in &region.inlines[self.0.len()..] {
            self.0.push(decision.frequency * decision.share(inline.function));
        }
    }

    /// How often a call runs for each time that its method or the region is entered, whatever is less.
    fn local(&self, frequency: f64, inline: InlineId) -> f64 {
        frequency / self.0[inline.index()].max(1.0)
    }
}
