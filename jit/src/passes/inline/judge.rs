//! Whether a method may be inlined where it is called: by its size and how often the call runs in the region, by its size alone,
//! or by a policy and the call graph.

use super::decision::{Given, Refusal, Site, Why};
use super::limits::Limits;
use crate::ir::{InlineId, Region};
use crate::passes::Input;
use holloway_bytecode::code::instructions;
use holloway_bytecode::ops::OpShape;
use holloway_bytecode::{FunctionId, Op as Code};
use holloway_profilers::MethodId;
use holloway_profilers::calls::{self, CallEdge, Candidate, Policy};
use holloway_vm::compiled::{InlineBy, Inlining};
use std::collections::BTreeMap;

/// A method that might be inlined.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// In which method the call is.
    pub caller: InlineId,
    /// Where it is there.
    pub pc: u32,
    /// The method.
    pub function: FunctionId,
    /// How often it runs for each time that its caller is entered, or the region if that is less.
    pub local: f64,
    /// An object that it is given.
    pub given: Option<Given>,
    /// Not worth a thought.
    pub is_cold: bool,
    /// It runs more often than the region.
    pub in_loop: bool,
    /// The call has no other targets.
    pub is_only: bool,
    /// The call has so few possible targets that all are tested for without asking the profile.
    pub has_few: bool,
}

/// What is known of a callee's code.
#[derive(Clone, Copy)]
struct Size {
    words: usize,
    /// Without calls and loops.
    plain: bool,
    /// With allocations.
    makes_objects: bool,
}

/// Judges.
pub struct Judge<'a> {
    input: &'a Input<'a>,
    limits: &'a Limits,
    inlining: Inlining<'a>,
    sizes: BTreeMap<FunctionId, Size>,
}

impl<'a> Judge<'a> {
    /// For a compilation. Levels below that of the profile choose by frequency.
    pub fn new(input: &'a Input<'a>, limits: &'a Limits) -> Judge<'a> {
        let inlining = if limits.profile { input.profile.inlining() } else { Inlining::default() };
        Judge { input, limits, inlining, sizes: BTreeMap::new() }
    }

    /// Who chooses.
    pub fn inlining(&self) -> Inlining<'a> {
        self.inlining
    }

    /// Is this share of a call not worth a thought. What it is given counts for itself: inlined, it need perhaps not be made.
    pub fn is_cold(&self, site: &Site, share: f64) -> bool {
        let given = site.given.map_or(0.0, |given| given.frequency);
        let frequency = site.frequency.max(given) * share;
        let limits = self.limits;
        let is_cold = frequency < limits.cold_frequency || frequency * site.share < limits.cold_share;
        is_cold && !matches!(self.inlining.by, InlineBy::Size(_))
    }

    /// Are few possible targets of a call judged together, each as if all receivers were its own.
    pub fn judges_sites(&self) -> bool {
        matches!(self.inlining.by, InlineBy::Calls(Policy::J9 { .. }))
    }

    /// How much a call is worth that runs so often, from the call graph if that is what decides.
    pub fn value(&self, region: &Region, caller: InlineId, pc: u32, frequency: f64) -> f64 {
        match self.inlining.by {
            InlineBy::Frequency => frequency,
            InlineBy::Size(_) => 1.0,
            // What was never seen, but is small, comes last.
            InlineBy::Calls(_) => {
                1.0 + self.inlining.calls.of_site(region.inlines[caller.index()].function, pc) as f64
            }
        }
    }

    fn size(&mut self, function: FunctionId) -> Size {
        let code = &self.input.program.functions[function.index()].code;
        *self.sizes.entry(function).or_insert_with(|| Size {
            words: code.len(),
            plain: code.len() <= 64
                && instructions(code).all(|(_, i)| {
                    !matches!(i.op.shape(), OpShape::Call | OpShape::LoopJump | OpShape::LoopBranch)
                }),
            makes_objects: instructions(code).any(|(_, i)| i.op == Code::New),
        })
    }

    /// May the method be inlined: its words, and why.
    pub fn allows(&mut self, region: &Region, asked: &Asked) -> Result<(usize, Why), Refusal> {
        let Size { words, plain, makes_objects } = self.size(asked.function);
        // The call would take as much code, and no profile can refuse it: where calls are sampled in code of the lowest level, that has
        // inlined what is tiny, and its calls look cold. Only what needs a test is the policy's to decide.
        let overrides = matches!(self.inlining.by, InlineBy::Calls(_)) && !asked.is_only;
        let is_tiny = plain && words <= self.limits.tiny && !overrides;
        // The policy is asked before anything else refuses a call, so that its reasons are told of all that it refuses.
        let by_policy = match self.inlining.by {
            InlineBy::Calls(policy) if !is_tiny => {
                Some((policy, self.by_calls(&policy, region, asked, words, makes_objects)?))
            }
            _ => None,
        };
        if region.inlines[asked.caller.index()].depth >= self.limits.depth {
            return Err(Refusal::TooDeep);
        }
        if is_tiny {
            return Ok((words, Why::Tiny));
        }
        let mut at = Some(asked.caller);
        let mut same = 0;
        while let Some(id) = at {
            same += (region.inlines[id.index()].function == asked.function) as usize;
            at = region.inlines[id.index()].caller.map(|(above, _)| above);
        }
        // A policy knows how hot all calls of a method are, not that it has eight of itself: only the small may be inlined there.
        let often = matches!(self.inlining.by, InlineBy::Calls(_)) && words > self.limits.small;
        if same > if often { 0 } else { self.limits.recursion } {
            return Err(Refusal::Recursive);
        }
        match (by_policy, self.inlining.by) {
            (Some((policy, decision)), _)
                if asked.is_cold && !self.decides(&policy, region, asked, words) =>
            {
                Err(Refusal::ColdHere(decision))
            }
            (Some((_, decision)), _) => Ok((words, Why::Policy(decision))),
            (None, _) if asked.is_cold => Err(Refusal::Cold),
            (None, InlineBy::Size(most)) if words <= most as usize => Ok((words, Why::Small)),
            (None, InlineBy::Size(most)) => Err(Refusal::TooLarge(words, most as usize)),
            (None, InlineBy::Frequency | InlineBy::Calls(_)) => self.by_frequency(words, asked),
        }
    }

    /// Does what a policy allows stand, though the call hardly runs in the region. A policy has its own notion of what is cold. But a callee
    /// that may only be so large because all its calls together are hot is not worth it where the region says otherwise; on the line of
    /// the new policy, size and this call's weight agree, if it has any. J9's as in the paper knows nothing of regions.
    fn decides(&self, policy: &Policy, region: &Region, asked: &Asked, words: usize) -> bool {
        match policy {
            Policy::New { .. } => {
                let caller = region.inlines[asked.caller.index()].function;
                self.inlining.calls.of_site(caller, asked.pc) > 0
            }
            Policy::Old { limits, .. } | Policy::J9 { limits, .. } => words <= limits.base as usize,
            Policy::J9Plain { .. } => true,
        }
    }

    fn by_frequency(&self, words: usize, asked: &Asked) -> Result<(usize, Why), Refusal> {
        let own_code = self.input.profile.own_code(asked.function);
        if own_code >= self.limits.own_code && !asked.in_loop {
            return Err(Refusal::OwnCode(own_code));
        }
        if words <= self.limits.small {
            return Ok((words, Why::Small));
        }
        let hot = asked.local >= self.limits.hot_frequency;
        match hot && words <= self.limits.hot {
            true => Ok((words, Why::Hot)),
            false => Err(Refusal::TooLarge(words, if hot { self.limits.hot } else { self.limits.small })),
        }
    }

    /// How often the methods are called into which a call was inlined, of all of them the most.
    fn around(&self, region: &Region, caller: InlineId) -> u64 {
        let up = |id: &InlineId| region.inlines[id.index()].caller.map(|(above, _)| above);
        let around = std::iter::successors(Some(caller), up);
        let called = around.map(|id| self.inlining.calls.called(region.inlines[id.index()].function));
        called.max().unwrap_or(0)
    }

    fn by_calls(
        &self,
        policy: &Policy,
        region: &Region,
        asked: &Asked,
        words: usize,
        makes_objects: bool,
    ) -> Result<calls::Decision, Refusal> {
        let (calls, pc) = (self.inlining.calls, asked.pc);
        let caller = region.inlines[asked.caller.index()].function;
        let edge = CallEdge::new(MethodId(caller.0), pc, MethodId(asked.function.0));
        let targets = calls.targets(caller, pc);
        let site_weight = calls.of_site(caller, pc);
        let weight = match self.input.profile.reached(caller, pc).filter(|_| !asked.is_only) {
            // Of late the site's calls were divided in another way.
            Some(reached) => {
                let of = reached.methods.iter().filter(|(callee, _)| *callee == asked.function);
                let (of, all): (u64, u64) = (of.map(|(_, count)| count).sum(), reached.total());
                (u128::from(site_weight) * u128::from(of) / u128::from(all.max(1))) as u64
            }
            None => targets.iter().find(|(callee, _)| *callee == edge.callee).map_or(0, |&(_, w)| w),
        };
        let around = |inline| if asked.is_cold { 0 } else { self.around(region, inline) };
        // In a loop an object is made more often than any method around is called.
        let made_in_loops =
            |given: Given| (calls.called(region.inlines[0].function) as f64 * given.frequency) as u64;
        let candidate = Candidate {
            edge,
            weight,
            site_weight,
            inside: calls.inside(asked.function),
            makes: if makes_objects { around(asked.caller) } else { 0 },
            given: asked.given.map_or(0, |given| around(given.inline).max(made_in_loops(given))),
            total: calls.total(),
            size: words as u32,
            is_static: asked.is_only,
            has_few: asked.has_few,
        };
        let decision = policy.decide(&candidate);
        match decision.is_inlined() {
            true => Ok(decision),
            false => Err(Refusal::Policy(decision)),
        }
    }
}
