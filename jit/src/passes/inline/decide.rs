//! Whether a call is inlined, as what, and why.

use super::limits::Limits;
use crate::ir::{InlineId, Op, Reason, Region, Value};
use crate::options::Fallback;
use crate::passes::Input;
use crate::passes::devirtualize::{self, Targets};
use holloway_bytecode::code::instructions;
use holloway_bytecode::ops::OpShape;
use holloway_bytecode::{ClassId, FunctionId, Program, RefType, Shape, Type};
use std::collections::BTreeMap;
use std::fmt;

/// A call of the region.
pub struct Site {
    /// The node.
    pub call: Value,
    /// How often it runs for each time the region is entered.
    pub frequency: f64,
    /// What it can reach, if it is a call through a table.
    pub targets: Option<Targets>,
}

/// What to do with a call.
#[derive(Clone, PartialEq, Debug)]
pub struct Decision {
    /// The methods that are inlined, each with the test for it, in order.
    pub arms: Vec<Arm>,
    /// What happens if no test holds.
    pub otherwise: Otherwise,
    /// How many receivers were seen for which no test would have held.
    pub left_over: u64,
    /// How often the call runs.
    pub frequency: f64,
    /// Why this is worth it.
    pub why: &'static str,
}

/// A method that is inlined.
#[derive(Clone, PartialEq, Debug)]
pub struct Arm {
    /// When it is the one that is called.
    pub test: Test,
    /// The method.
    pub function: FunctionId,
    /// Its size in words.
    pub words: usize,
    /// How many receivers of it were seen.
    pub count: u64,
}

/// A test of a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Test {
    /// There is nothing to be tested: no other method can be called (any more).
    Always,
    /// Of exactly this class.
    Exactly(ClassId),
    /// Of this class or one that extends it.
    Instance(ClassId),
}

/// What happens to receivers for which no test holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Otherwise {
    /// There are none.
    Nothing,
    /// They get the call.
    Call,
    /// They were not seen: compiled code is left.
    Deopt,
}

/// Why a call is not inlined.
#[derive(Clone, PartialEq, Debug)]
pub enum Refusal {
    /// The callee's size, and how many words it might have had.
    TooLarge(usize, usize),
    /// It hardly ever runs.
    Cold,
    /// Too many calls lie between it and the root.
    TooDeep,
    /// The callee is there already, calling itself.
    Recursive,
    /// Calls through tables stay what they are at this level.
    ManyTargets(usize),
    /// The receivers were of many classes.
    Megamorphic,
    /// Not enough receivers were seen.
    Unseen,
    /// It is for the receivers for which nothing was inlined.
    LeftOver,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::TooLarge(words, limit) => write!(f, "too large: {words} words, at most {limit} here"),
            Refusal::Cold => f.write_str("cold"),
            Refusal::TooDeep => f.write_str("too deep"),
            Refusal::Recursive => f.write_str("recursive"),
            Refusal::ManyTargets(count) => write!(f, "{count} possible targets"),
            Refusal::Megamorphic => f.write_str("receivers of many classes"),
            Refusal::Unseen => f.write_str("receivers not known"),
            Refusal::LeftOver => f.write_str("other receivers"),
        }
    }
}

impl Decision {
    /// Hot and small first.
    pub fn priority(&self) -> f64 {
        self.frequency / (self.words() + 10) as f64
    }

    /// Words of all that is inlined.
    pub fn words(&self) -> usize {
        self.arms.iter().map(|arm| arm.words).sum()
    }

    /// Small enough to be inlined into a region that is full.
    fn is_tiny(&self, limits: &Limits) -> bool {
        self.words() <= limits.tiny
    }

    /// Is it right only as long as classes without instances have none.
    pub fn relies_on_classes(&self) -> bool {
        self.otherwise == Otherwise::Nothing
            || self.arms.iter().any(|arm| matches!(arm.test, Test::Instance(_)))
    }

    /// A line for the notes.
    pub fn describe(&self, program: &Program, region: &Region, call: Value) -> String {
        let node = region.node(call);
        let caller = &program.functions[region.inlines[node.inline.index()].function.index()].name;
        let arm = |arm: &Arm| {
            let name = &program.functions[arm.function.index()].name;
            match arm.test {
                Test::Always => name.to_string(),
                Test::Exactly(class) => format!("{name} if {}", program.classes[class.index()].name),
                Test::Instance(class) => format!("{name} if any {}", program.classes[class.index()].name),
            }
        };
        let arms: Vec<String> = self.arms.iter().map(arm).collect();
        let otherwise = match self.otherwise {
            Otherwise::Nothing => "",
            Otherwise::Call => ", else call",
            Otherwise::Deopt => ", else leave",
        };
        let (callee, why, words) = (arms.join(", "), self.why, self.words());
        format!("{caller}@{} -> {callee}{otherwise}: inlined ({why}, {words} words)", node.pc)
    }
}

/// The caller, the place and the callee of a call, for the notes.
pub fn name_of_call(program: &Program, region: &Region, call: Value) -> String {
    let node = region.node(call);
    let caller = &program.functions[region.inlines[node.inline.index()].function.index()].name;
    let callee = match node.op {
        Op::Call(function) => program.functions[function.index()].name.to_string(),
        Op::CallVirtual(class, slot) => {
            let class = &program.classes[class.index()];
            let method = class.methods.get(slot as usize).map_or("?", |method| &method.name);
            format!("{}.{method}", class.name)
        }
        Op::CallInterface(interface, method) => {
            let interface = &program.interfaces[interface.index()];
            let method = interface.methods.get(method as usize).map_or("?", |method| &method.name);
            format!("{}.{method}", interface.name)
        }
        _ => String::new(),
    };
    format!("{caller}@{} -> {callee}", node.pc)
}

/// What is known of a callee's code.
#[derive(Clone, Copy)]
struct Size {
    words: usize,
    /// Without calls and loops.
    plain: bool,
}

/// Decides.
pub struct Decider<'a> {
    input: &'a Input<'a>,
    limits: &'a Limits,
    sizes: BTreeMap<FunctionId, Size>,
    nodes: usize,
    grown: usize,
}

impl<'a> Decider<'a> {
    /// For a region with so many nodes.
    pub fn new(input: &'a Input<'a>, limits: &'a Limits, nodes: usize) -> Decider<'a> {
        Decider { input, limits, sizes: BTreeMap::new(), nodes, grown: 0 }
    }

    /// The region has got more nodes.
    pub fn grow(&mut self, nodes: usize) {
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
        if decision.is_tiny(limits) {
            return nodes < 2 * limits.nodes;
        }
        let in_loop = decision.frequency > limits.loop_frequency;
        nodes + 2 * decision.words() <= if in_loop { limits.nodes } else { limits.nodes_outside_loops }
    }

    /// What to do with a call.
    pub fn decide(&mut self, region: &Region, site: &Site) -> Result<Decision, Refusal> {
        let inline = region.node(site.call).inline;
        match region.op(site.call) {
            Op::Call(function) => {
                let (words, why) = self.allows(region, inline, function, site.frequency)?;
                let arms = vec![Arm { test: Test::Always, function, words, count: 0 }];
                let frequency = site.frequency;
                Ok(Decision { arms, otherwise: Otherwise::Nothing, left_over: 0, frequency, why })
            }
            _ if !self.limits.guards => Err(Refusal::ManyTargets(site.targets.as_ref().map_or(0, count))),
            _ => self.decide_by_table(region, site),
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
        })
    }

    /// May the method be inlined where it runs so often; its words, and why.
    fn allows(
        &mut self,
        region: &Region,
        caller: InlineId,
        function: FunctionId,
        frequency: f64,
    ) -> Result<(usize, &'static str), Refusal> {
        let Size { words, plain } = self.size(function);
        if region.inlines[caller.index()].depth >= self.limits.depth {
            return Err(Refusal::TooDeep);
        }
        if plain && words <= self.limits.tiny {
            return Ok((words, "tiny"));
        }
        let mut at = Some(caller);
        let mut same = 0;
        while let Some(id) = at {
            same += (region.inlines[id.index()].function == function) as usize;
            at = region.inlines[id.index()].caller.map(|(above, _)| above);
        }
        if same > self.limits.recursion {
            return Err(Refusal::Recursive);
        }
        if frequency < self.limits.cold_frequency {
            return Err(Refusal::Cold);
        }
        if words <= self.limits.small {
            return Ok((words, "small"));
        }
        let hot = frequency >= self.limits.hot_frequency;
        match hot && words <= self.limits.hot {
            true => Ok((words, "hot")),
            false => Err(Refusal::TooLarge(words, if hot { self.limits.hot } else { self.limits.small })),
        }
    }

    fn decide_by_table(&mut self, region: &Region, site: &Site) -> Result<Decision, Refusal> {
        let node = region.node(site.call);
        if region.inlines.iter().any(|inline| inline.caller == Some((node.inline, node.pc))) {
            return Err(Refusal::LeftOver);
        }
        if site.frequency < self.limits.cold_frequency {
            return Err(Refusal::Cold);
        }
        let function = region.inlines[node.inline.index()].function;
        let receivers = match self.limits.profile {
            true => self.input.profile.receivers(function, node.pc),
            false => Default::default(),
        };
        let total = receivers.total();
        let possible = site.targets.as_ref().map(Targets::functions);
        let mut shares = Shares::default();
        for &(class, count) in &receivers.classes {
            // A class that the type excludes by now was seen by other callers of the inlined method.
            let target = match &site.targets {
                Some(targets) => targets.classes.iter().find(|(c, _)| *c == class).map(|(_, target)| *target),
                None => devirtualize::target_of(self.input.program, node.op, class),
            };
            match target {
                Some(target) => shares.add(target, class, count as u64),
                None if site.targets.is_some() => {}
                None => shares.others += count as u64,
            }
        }
        shares.others += receivers.others as u64;
        shares.sort();
        let wanted = match possible {
            // Few are possible: no need to have seen them.
            Some(possible) if possible.len() <= self.limits.few_targets => {
                possible.iter().for_each(|&function| shares.mention(function));
                shares.targets.len()
            }
            _ if !self.limits.profile => return Err(Refusal::ManyTargets(possible.map_or(0, |p| p.len()))),
            _ if total < self.limits.least_receivers => return Err(Refusal::Unseen),
            _ if shares.covered_by(1) >= self.limits.monomorphic => 1,
            _ if shares.covered_by(2) >= self.limits.bimorphic => 2,
            _ => return Err(Refusal::Megamorphic),
        };
        self.arms(region, site, shares, wanted)
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
        let mut refusal = Refusal::Megamorphic;
        let mut reason = "small";
        let mut left_over = shares.others + shares.targets.iter().skip(wanted).map(|t| t.count).sum::<u64>();
        shares.targets.truncate(wanted);
        let mut complete = true;
        for target in &shares.targets {
            // Without counts all targets are as likely.
            let share = match total {
                0 => 1.0 / shares.targets.len() as f64,
                _ => target.count as f64 / total as f64,
            };
            let Some((test, covers)) = self.test(site, target) else {
                (left_over, complete) = (left_over + target.count, false);
                continue;
            };
            match self.allows(region, node.inline, target.function, site.frequency * share) {
                Ok((words, why)) if total == 0 || target.count > 0 => {
                    arms.push(Arm { test, function: target.function, words, count: target.count });
                    complete &= covers;
                    if why == "hot" {
                        reason = why;
                    }
                }
                Ok(_) => complete = false,
                Err(why) => {
                    (refusal, complete) = (why, false);
                    left_over += target.count;
                }
            }
        }
        // Without counts, a test for some of the methods is as likely to be lost time as not.
        if arms.is_empty() || total == 0 && !complete {
            return Err(refusal);
        }
        // If these are all there can be, the last needs no test.
        let possible = site.targets.as_ref().map(|targets| targets.functions().len());
        let all = complete && possible == Some(arms.len());
        let failed = || {
            let function = region.inlines[node.inline.index()].function;
            self.input.profile.has_failed(function, node.pc, Reason::Receiver.name())
        };
        let otherwise = match self.input.options.fallback {
            _ if all => Otherwise::Nothing,
            Fallback::Call => Otherwise::Call,
            Fallback::Deopt => Otherwise::Deopt,
            Fallback::Profile if total > 0 && left_over == 0 && !failed() => Otherwise::Deopt,
            Fallback::Profile => Otherwise::Call,
        };
        if let Some(last) = arms.last_mut().filter(|_| all) {
            last.test = Test::Always;
        }
        Ok(Decision { arms, otherwise, left_over, frequency: site.frequency, why: reason })
    }

    /// The cheapest test for a target, and whether it holds for all its possible receivers, not only for those that were seen.
    fn test(&self, site: &Site, target: &Share) -> Option<(Test, bool)> {
        let targets = site.targets.as_ref()?;
        let mut possible = targets.classes.iter().filter(|(_, function)| *function == target.function);
        // One possible class needs no look at superclasses.
        if let (Some(&(class, _)), None) = (possible.next(), possible.next()) {
            return Some((Test::Exactly(class), true));
        }
        // The class that the method belongs to, if all its possible subclasses have the same.
        let class = match self.input.program.functions[target.function.index()].registers.first() {
            Some(Type::Ref(RefType { shape: Shape::Class(class), .. })) => Some(*class),
            _ => None,
        };
        let is_below = |c: ClassId, class| self.input.program.is_subclass(c, class);
        let same = |class| targets.classes.iter().all(|&(c, f)| f == target.function || !is_below(c, class));
        match (class, &target.classes[..]) {
            (_, &[class]) => Some((Test::Exactly(class), false)),
            (Some(class), _) if same(class) => Some((Test::Instance(class), true)),
            _ => None,
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
