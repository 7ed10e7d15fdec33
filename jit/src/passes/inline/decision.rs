//! What is done about a call, as a value, and how it is told.

use crate::ir::{InlineId, Op, Region, Value};
use crate::passes::devirtualize::Targets;
use holloway_bytecode::{ClassId, FunctionId, Program};
use holloway_profilers::calls;
use holloway_vm::compiled::{CallDecision, Verdict};
use std::fmt;

/// A call of the region.
pub struct Site {
    /// The node.
    pub call: Value,
    /// How often it runs for each time the region is entered.
    pub frequency: f64,
    /// How often it runs for each time the method is entered that it is in, if that is less.
    pub local: f64,
    /// Which part of what the region does is a call that runs once, about.
    pub share: f64,
    /// Of the objects that it is given and the region makes, the one that is made most.
    pub given: Option<Given>,
    /// What it can reach, if it is a call through a table.
    pub targets: Option<Targets>,
}

/// An object that is given to a call: as long as the call is there, it is made wherever it would be in the program, however seldom
/// that comes to the call.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Given {
    /// How often it is made for each time the region is entered.
    pub frequency: f64,
    /// In which body.
    pub inline: InlineId,
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
    /// What it is worth against others: how often it runs for each time the region is entered, or its weight.
    pub value: f64,
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
    /// Why it is worth it.
    pub why: Why,
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
    /// Of any class in whose table the method is.
    Method(FunctionId),
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

/// Why a method is inlined.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Why {
    /// The call takes as much code.
    Tiny,
    /// It is small.
    Small,
    /// It is not large, and the call is hot.
    Hot,
    /// A policy says so.
    Policy(calls::Decision),
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Tiny => f.write_str("tiny"),
            Why::Small => f.write_str("small"),
            Why::Hot => f.write_str("hot"),
            Why::Policy(decision) => f.write_str(&weighed(decision)),
        }
    }
}

/// Why a call is not inlined.
#[derive(Clone, PartialEq, Debug)]
pub enum Refusal {
    /// The callee's size, and how many words it might have had.
    TooLarge(usize, usize),
    /// It has so many words of code of its own, and would be no faster here.
    OwnCode(usize),
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
    /// A policy says so.
    Policy(calls::Decision),
    /// A policy would inline it, but it hardly ever runs in this region.
    ColdHere(calls::Decision),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::TooLarge(words, limit) => write!(f, "too large: {words} words, at most {limit} here"),
            Refusal::OwnCode(words) => {
                write!(f, "has code of its own: {words} words with what is inlined there")
            }
            Refusal::Cold => f.write_str("cold"),
            Refusal::TooDeep => f.write_str("too deep"),
            Refusal::Recursive => f.write_str("recursive"),
            Refusal::ManyTargets(count) => write!(f, "{count} possible targets"),
            Refusal::Megamorphic => f.write_str("receivers of many classes"),
            Refusal::Unseen => f.write_str("receivers not known"),
            Refusal::LeftOver => f.write_str("other receivers"),
            Refusal::Policy(decision) => {
                write!(f, "{}, {} words", weighed(decision), decision.candidate.size)
            }
            Refusal::ColdHere(decision) => {
                write!(f, "hardly runs here, though {}, {} words", weighed(decision), decision.candidate.size)
            }
        }
    }
}

/// The reason of a policy with the numbers that it is about.
fn weighed(decision: &calls::Decision) -> String {
    let candidate = &decision.candidate;
    let percent = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
    let of_all = percent(candidate.weight, candidate.total);
    match candidate.is_static {
        true => format!("{}, {of_all:.2} % of all calls", decision.reason),
        false => {
            let of_site = percent(candidate.weight, candidate.site_weight);
            format!("{}, {of_all:.2} % of all calls and {of_site:.0} % of the site's", decision.reason)
        }
    }
}

impl Decision {
    /// Valuable and small first.
    pub fn priority(&self) -> f64 {
        self.value / (self.words() + 10) as f64
    }

    /// Words of all that is inlined.
    pub fn words(&self) -> usize {
        self.arms.iter().map(|arm| arm.words).sum()
    }

    /// Which part of the calls reaches a method, of those that were seen.
    pub fn share(&self, function: FunctionId) -> f64 {
        let seen = self.left_over + self.arms.iter().map(|arm| arm.count).sum::<u64>();
        match self.arms.iter().find(|arm| arm.function == function) {
            Some(arm) if seen > 0 => arm.count as f64 / seen as f64,
            _ => 1.0,
        }
    }

    /// Is it right only as long as classes without instances have none.
    pub fn relies_on_classes(&self) -> bool {
        self.otherwise == Otherwise::Nothing
            || self.arms.iter().any(|arm| matches!(arm.test, Test::Instance(_)))
    }

    /// As it is told.
    pub fn told(&self, program: &Program, region: &Region, call: Value) -> CallDecision {
        let arm = |arm: &Arm| {
            let name = &program.functions[arm.function.index()].name;
            match arm.test {
                Test::Always => name.to_string(),
                Test::Exactly(class) => format!("{name} if {}", program.classes[class.index()].name),
                Test::Instance(class) => format!("{name} if any {}", program.classes[class.index()].name),
                Test::Method(_) => format!("{name} if it is the method"),
            }
        };
        let callee = self.arms.iter().map(arm).collect::<Vec<_>>().join(", ");
        // What made one hot made the inlining worth it.
        let why = self.arms.iter().find(|arm| arm.why == Why::Hot).or(self.arms.first());
        let why = why.map_or_else(String::new, |arm| format!("{}, {} words", arm.why, self.words()));
        let verdict = match self.otherwise {
            Otherwise::Nothing => Verdict::Inlined,
            Otherwise::Call => Verdict::GuardedElseCall,
            Otherwise::Deopt => Verdict::GuardedElseLeave,
        };
        let inlined = self.arms.iter().map(|arm| arm.function).collect();
        CallDecision { path: path(region, call), callee, verdict, inlined, why, frequency: self.frequency }
    }
}

/// That a call stays one, as it is told.
pub fn told_refused(program: &Program, region: &Region, site: &Site, why: String) -> CallDecision {
    let callee = callee(program, region.op(site.call));
    let path = path(region, site.call);
    CallDecision {
        path,
        callee,
        verdict: Verdict::Called,
        inlined: Vec::new(),
        why,
        frequency: site.frequency,
    }
}

/// What a call calls, as the program writes it.
pub fn callee(program: &Program, call: Op) -> String {
    match call {
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
    }
}

/// From the root to a call: the calls that are inlined, then itself.
fn path(region: &Region, call: Value) -> Vec<(FunctionId, u32)> {
    let node = region.node(call);
    path_to(region, node.inline, node.pc)
}

/// The same to a place in one of the bodies.
pub fn path_to(region: &Region, mut inline: InlineId, mut pc: u32) -> Vec<(FunctionId, u32)> {
    let mut path = Vec::new();
    loop {
        let at = &region.inlines[inline.index()];
        path.push((at.function, pc));
        match at.caller {
            Some((above, place)) => (inline, pc) = (above, place),
            None => break,
        }
    }
    path.reverse();
    path
}
