//! Whether a call is inlined, and as what.

use super::decision::{Arm, Decision, Otherwise, Refusal, Site, Test};
use super::judge::{Asked, Judge};
use super::limits::Limits;
use crate::ir::{Op, Reason, Region};
use crate::passes::Input;
use crate::passes::devirtualize::{self, Targets};
use holloway_bytecode::{ClassId, FunctionId, RefType, Shape, Type};
use holloway_vm::compiled::{Fallback, GuardTest, InlineBy, Receivers};

/// Decides.
pub struct Decider<'a> {
    input: &'a Input<'a>,
    limits: &'a Limits,
    judge: Judge<'a>,
    nodes: usize,
    words: usize,
    grown: usize,
}

impl<'a> Decider<'a> {
    /// For a region as it is now.
    pub fn new(input: &'a Input<'a>, limits: &'a Limits, region: &Region) -> Decider<'a> {
        let nodes = region.blocks.iter().map(|block| block.nodes.len()).sum();
        let inlined = region.inlines.iter().filter(|inline| inline.caller.is_some());
        let words = inlined.map(|inline| input.program.functions[inline.function.index()].code.len()).sum();
        Decider { input, limits, judge: Judge::new(input, limits), nodes, words, grown: 0 }
    }

    /// A decision was carried out, which added so many nodes.
    pub fn grow(&mut self, decision: &Decision, nodes: usize) {
        self.words += decision.words();
        self.grown += nodes;
    }

    /// How many nodes were added.
    pub fn grown(&self) -> usize {
        self.grown
    }

    /// Is the region small enough for this. (A word makes about two nodes.)
    pub fn has_room(&self, decision: &Decision) -> bool {
        let nodes = self.nodes + self.grown;
        let limits = self.limits;
        // The call takes as much code.
        if decision.words() <= limits.tiny {
            return nodes < 2 * limits.nodes && self.words < 2 * limits.words;
        }
        if self.words + decision.words() > limits.words {
            return false;
        }
        let most =
            if self.is_in_loop(decision.frequency) { limits.nodes } else { limits.nodes_outside_loops };
        nodes + 2 * decision.words() <= most
    }

    /// Is a call in a loop that runs so often.
    fn is_in_loop(&self, frequency: f64) -> bool {
        frequency > self.limits.loop_frequency
    }

    /// What to do with a call.
    pub fn decide(&mut self, region: &Region, site: &Site) -> Result<Decision, Refusal> {
        match region.op(site.call) {
            Op::Call(function) => {
                let asked = Asked { is_only: true, ..self.asked(region, site, function, 1.0) };
                let (words, why) = self.judge.allows(region, &asked)?;
                let arms = vec![Arm { test: Test::Always, function, words, count: 0, why }];
                Ok(self.decision(region, site, arms, Otherwise::Nothing, 0))
            }
            _ if !self.limits.guards => Err(Refusal::ManyTargets(site.targets.as_ref().map_or(0, count))),
            _ => self.decide_by_table(region, site),
        }
    }

    /// A target of a call that gets this share of its receivers.
    fn asked(&self, region: &Region, site: &Site, function: FunctionId, share: f64) -> Asked {
        let node = region.node(site.call);
        let local = site.local * share;
        let has_few = site.targets.as_ref().is_some_and(|targets| count(targets) <= self.limits.few_targets);
        let is_cold =
            self.judge.is_cold(site, if has_few && self.judge.judges_sites() { 1.0 } else { share });
        let in_loop = self.is_in_loop(site.frequency * share);
        let (caller, pc, given) = (node.inline, node.pc, site.given);
        Asked { caller, pc, function, local, given, is_cold, in_loop, is_only: false, has_few }
    }

    fn decision(
        &self,
        region: &Region,
        site: &Site,
        arms: Vec<Arm>,
        otherwise: Otherwise,
        left_over: u64,
    ) -> Decision {
        let (node, frequency) = (region.node(site.call), site.frequency);
        let value = self.judge.value(region, node.inline, node.pc, frequency);
        Decision { arms, otherwise, left_over, frequency, value }
    }

    fn decide_by_table(&mut self, region: &Region, site: &Site) -> Result<Decision, Refusal> {
        let node = region.node(site.call);
        if region.inlines.iter().any(|inline| inline.caller == Some((node.inline, node.pc))) {
            return Err(Refusal::LeftOver);
        }
        let inlining = self.judge.inlining();
        let by_policy = matches!(inlining.by, InlineBy::Calls(_));
        // A policy is asked about every call, however seldom it runs.
        if self.judge.is_cold(site, 1.0) && !by_policy {
            return Err(Refusal::Cold);
        }
        let function = region.inlines[node.inline.index()].function;
        let knows_receivers = self.limits.profile && !matches!(inlining.by, InlineBy::Size(_));
        let receivers = match knows_receivers {
            true => self.input.profile.receivers(function, node.pc),
            false => Receivers::default(),
        };
        let mut shares = self.shares(node.op, site, &receivers);
        let possible = site.targets.as_ref().map(Targets::functions);
        let few = possible.as_ref().filter(|possible| possible.len() <= self.limits.few_targets);
        let input = self.input;
        let is_possible = |callee| match &possible {
            Some(possible) => possible.contains(&callee),
            None => devirtualize::reachable(input, node.op).any(|(_, target)| target == callee),
        };
        let reached = if knows_receivers { input.profile.reached(function, node.pc) } else { None };
        let mut seen = receivers.total();
        if let Some(reached) = reached {
            // What happened of late says more than all that was.
            shares.weigh(reached.methods.iter().map(|&(callee, count)| (callee, count, is_possible(callee))));
            shares.others = reached.others;
            seen = shares.total();
        } else if by_policy {
            // The receivers of the interpreter only tell of which classes they are.
            shares.weigh(inlining.calls.targets(function, node.pc).iter().map(|&(callee, weight)| {
                let callee = FunctionId(callee.0);
                (callee, weight, is_possible(callee))
            }));
        }
        if by_policy && shares.targets.is_empty() {
            return Err(self.unseen(region, site, possible.as_deref()));
        }
        let wanted = match few {
            // Few are possible: no need to have seen them.
            Some(possible) => {
                possible.iter().for_each(|&function| shares.mention(function));
                shares.targets.len()
            }
            // A policy looks at each by itself.
            None if by_policy => shares.targets.len(),
            None if !knows_receivers => {
                return Err(possible.map_or(Refusal::Unseen, |targets| Refusal::ManyTargets(targets.len())));
            }
            None if seen < self.limits.least_receivers => return Err(Refusal::Unseen),
            None if shares.covered_by(1) >= self.limits.monomorphic => 1,
            None if shares.covered_by(2) >= self.limits.bimorphic => 2,
            None => return Err(Refusal::Megamorphic),
        };
        self.arms(region, site, shares, wanted)
    }

    /// Why a policy inlines nothing at a site that was never seen: what it says of the methods that are possible there, the first that it
    /// refuses. What it would take of them is as likely to be the wrong one.
    fn unseen(&mut self, region: &Region, site: &Site, possible: Option<&[FunctionId]>) -> Refusal {
        let input = self.input;
        let by_table = || devirtualize::reachable(input, region.op(site.call)).map(|(_, target)| target);
        let possible = possible.map_or_else(|| by_table().collect(), <[FunctionId]>::to_vec);
        let mut judged = possible.into_iter().map(|function| {
            let asked = self.asked(region, site, function, 1.0);
            self.judge.allows(region, &asked)
        });
        judged.find_map(Result::err).unwrap_or(Refusal::Unseen)
    }

    /// The receivers that a call had, by the method that is called on them.
    fn shares(&self, call: Op, site: &Site, receivers: &Receivers) -> Shares {
        let mut shares = Shares::default();
        for &(class, count) in &receivers.classes {
            // A class that the type excludes by now was seen by other callers of the inlined method.
            let target = match &site.targets {
                Some(targets) => targets.classes.iter().find(|(c, _)| *c == class).map(|(_, target)| *target),
                None => {
                    let mut reachable = devirtualize::reachable(self.input, call);
                    reachable.find(|(c, _)| *c == class).map(|(_, target)| target)
                }
            };
            match target {
                Some(target) => shares.add(target, class, count as u64),
                None if site.targets.is_some() => {}
                None => shares.others += count as u64,
            }
        }
        shares.others += receivers.others as u64;
        shares.sort();
        shares
    }

    /// The first `wanted` targets that may be inlined, and what happens to the others.
    fn arms(
        &mut self,
        region: &Region,
        site: &Site,
        mut shares: Shares,
        wanted: usize,
    ) -> Result<Decision, Refusal> {
        let node = region.node(site.call);
        let total = shares.total();
        let mut arms: Vec<Arm> = Vec::new();
        let mut refusal = None;
        let mut left_over = shares.others + shares.targets.iter().skip(wanted).map(|t| t.count).sum::<u64>();
        shares.targets.truncate(wanted);
        let mut complete = true;
        for target in &shares.targets {
            // Without counts all targets are as likely.
            let share = match total {
                0 => 1.0 / shares.targets.len() as f64,
                _ => target.count as f64 / total as f64,
            };
            let (test, covers) = self.test(site, target);
            let asked = self.asked(region, site, target.function, share);
            match self.judge.allows(region, &asked) {
                // Of many possible targets only those that were seen are asked about if sites are judged.
                Ok((words, why)) if total == 0 || target.count > 0 || self.judge.judges_sites() => {
                    arms.push(Arm { test, function: target.function, words, count: target.count, why });
                    complete &= covers;
                }
                Ok(_) => complete = false,
                Err(why) => {
                    refusal.get_or_insert(why);
                    complete = false;
                    left_over += target.count;
                }
            }
        }
        // Without counts, a test for some of the methods is as likely to be lost time as not.
        if arms.is_empty() || total == 0 && !complete {
            let many = if shares.targets.is_empty() { Refusal::Unseen } else { Refusal::Megamorphic };
            return Err(refusal.unwrap_or(many));
        }
        // If these are all there can be, the last needs no test.
        let possible = site.targets.as_ref().map(|targets| targets.functions().len());
        let all = complete && possible == Some(arms.len());
        let failed = || {
            let function = region.inlines[node.inline.index()].function;
            self.input.profile.has_failed(function, node.pc, Reason::Receiver.name())
        };
        let otherwise = match self.judge.inlining().fallback {
            _ if all => Otherwise::Nothing,
            // What is left too often is called from then on: code would be thrown away and made again for ever.
            Fallback::Deopt if !failed() => Otherwise::Deopt,
            Fallback::Profile if total > 0 && left_over == 0 && !failed() => Otherwise::Deopt,
            Fallback::Call | Fallback::Deopt | Fallback::Profile => Otherwise::Call,
        };
        if let Some(last) = arms.last_mut().filter(|_| all) {
            last.test = Test::Always;
        }
        Ok(self.decision(region, site, arms, otherwise, left_over))
    }

    /// The cheapest test for a target, and whether it holds for all its possible receivers, not only for those that were seen.
    fn test(&self, site: &Site, target: &Share) -> (Test, bool) {
        if self.judge.inlining().test == GuardTest::Method {
            return (Test::Method(target.function), true);
        }
        // Of which classes it can be is not known, but by which method it is told from others.
        let Some(targets) = &site.targets else { return (Test::Method(target.function), true) };
        let mut possible = targets.classes.iter().filter(|(_, function)| *function == target.function);
        // One possible class needs no look at superclasses.
        if let (Some(&(class, _)), None) = (possible.next(), possible.next()) {
            return (Test::Exactly(class), true);
        }
        // The class that the method belongs to, if all its possible subclasses have the same.
        let class = match self.input.program.functions[target.function.index()].registers.first() {
            Some(Type::Ref(RefType { shape: Shape::Class(class), .. })) => Some(*class),
            _ => None,
        };
        let is_below = |c: ClassId, class| self.input.program.is_subclass(c, class);
        let same = |class| targets.classes.iter().all(|&(c, f)| f == target.function || !is_below(c, class));
        match (class, &target.classes[..]) {
            (_, &[class]) => (Test::Exactly(class), false),
            (Some(class), _) if same(class) => (Test::Instance(class), true),
            _ => (Test::Method(target.function), true),
        }
    }
}

fn count(targets: &Targets) -> usize {
    targets.functions().len()
}

/// Receivers by the method that is called on them.
#[derive(Default)]
struct Shares {
    targets: Vec<Share>,
    /// Receivers of unknown classes.
    others: u64,
}

struct Share {
    function: FunctionId,
    classes: Vec<ClassId>,
    count: u64,
}

impl Shares {
    fn add(&mut self, function: FunctionId, class: ClassId, count: u64) {
        match self.targets.iter_mut().find(|share| share.function == function) {
            Some(share) => {
                share.classes.push(class);
                share.count += count;
            }
            None => self.targets.push(Share { function, classes: vec![class], count }),
        }
    }

    /// A target that was perhaps not seen.
    fn mention(&mut self, function: FunctionId) {
        if !self.targets.iter().any(|share| share.function == function) {
            self.targets.push(Share { function, classes: Vec::new(), count: 0 });
        }
    }

    /// Counts by something else than receivers: each method with its weight, and whether it can still be called.
    fn weigh(&mut self, weights: impl Iterator<Item = (FunctionId, u64, bool)>) {
        self.others = 0;
        self.targets.iter_mut().for_each(|share| share.count = 0);
        for (function, weight, is_possible) in weights {
            if is_possible {
                self.mention(function);
            }
            if let Some(share) = self.targets.iter_mut().find(|share| share.function == function) {
                share.count = weight;
            }
        }
        self.targets.retain(|share| share.count > 0);
        self.sort();
    }

    fn sort(&mut self) {
        self.targets.sort_by_key(|share| std::cmp::Reverse(share.count));
    }

    fn total(&self) -> u64 {
        self.others + self.targets.iter().map(|share| share.count).sum::<u64>()
    }

    fn covered_by(&self, first: usize) -> f64 {
        self.targets.iter().take(first).map(|share| share.count as f64).sum::<f64>()
            / self.total().max(1) as f64
    }
}
