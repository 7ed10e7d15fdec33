//! How calls are chosen for inlining: what is chosen on the command line, what a compilation is told of it, and what it says
//! of each call.

use super::call_weights::{CallWeights, GivenCalls, NO_CALLS, OneTimeCalls};
use super::request::{CodeId, Entry, Level};
use holloway_bytecode::{FunctionId, Program};
use holloway_profilers::calls::Policy;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Who chooses.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum InlineBy {
    /// Sizes, and how often a call runs for each time that the compiled method does, by the counts of branches; receivers as
    /// the interpreter saw them.
    #[default]
    Frequency,
    /// Static heuristics: callees of at most so many words. No profile is asked.
    Size(u32),
    /// A policy of Arnold and Grove 2005, section 5: the share of a call in all calls of the program.
    Calls(Policy),
}

/// The call graph that a policy is told.
#[derive(Clone, PartialEq, Default, Debug)]
pub enum CallSource {
    /// None: no call was ever seen.
    None,
    /// What the interpreter counted until code was compiled.
    #[default]
    OneTime,
    /// The same with its weights in reverse: as bad as can be.
    Flipped,
    /// What `cbs` sampled so far, with credit for inlined calls if it gives any.
    Sampled,
    /// The calls of another run.
    Given(Arc<GivenCalls>),
}

impl CallSource {
    /// The calls as they are now, if `count` puts together what the interpreter counted, and `sampled` what was sampled.
    pub(super) fn weights(
        &self,
        count: impl Fn() -> Arc<CallWeights>,
        sampled: impl Fn() -> Arc<CallWeights>,
    ) -> Arc<CallWeights> {
        match self {
            CallSource::None => Arc::default(),
            CallSource::OneTime => count(),
            CallSource::Flipped => Arc::new(count().flipped()),
            CallSource::Sampled => sampled(),
            CallSource::Given(given) => given.weights(),
        }
    }
}

/// How a receiver is tested for being one of those for which a method was inlined.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum GuardTest {
    /// By its class.
    #[default]
    Class,
    /// By the method in its table: holds for all classes that inherit it, and costs a load more.
    Method,
}

/// What a guarded inlined call does when the test fails.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Fallback {
    /// A real call.
    Call,
    /// Leaves for the interpreter.
    Deopt,
    /// Leaves where the profile saw no other receiver, else calls.
    #[default]
    Profile,
}

/// What is chosen.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct InlineOptions {
    /// Who chooses.
    pub by: InlineBy,
    /// What a policy knows of calls.
    pub calls: CallSource,
    /// How receivers are tested.
    pub test: GuardTest,
    /// What happens to others.
    pub fallback: Fallback,
}

/// What a compilation is told.
#[derive(Clone, Copy, Debug)]
pub struct Inlining<'a> {
    /// Who chooses.
    pub by: InlineBy,
    /// All calls, if the choice is by these.
    pub calls: &'a CallWeights,
    /// How receivers are tested.
    pub test: GuardTest,
    /// What happens to others.
    pub fallback: Fallback,
}

impl Default for Inlining<'_> {
    fn default() -> Self {
        Inlining {
            by: InlineBy::default(),
            calls: &NO_CALLS,
            test: GuardTest::default(),
            fallback: Fallback::default(),
        }
    }
}

/// A choice on its way to a compilation.
#[derive(Default)]
pub(super) struct ToldCalls {
    pub options: InlineOptions,
    /// What was sampled when code was asked for.
    pub sampled: Option<Arc<CallWeights>>,
    /// What the interpreter counts is put together by whoever compiles, and kept for the next.
    pub one_time: Arc<OneTimeCalls>,
    pub weights: OnceLock<Arc<CallWeights>>,
}

impl ToldCalls {
    /// For a compiler. `count` puts together what the interpreter counted.
    pub fn inlining(&self, count: impl Fn() -> Arc<CallWeights>) -> Inlining<'_> {
        let InlineOptions { by, ref calls, test, fallback } = self.options;
        let weights = || calls.weights(count, || self.sampled.clone().unwrap_or_default());
        let calls = match by {
            InlineBy::Calls(_) => self.weights.get_or_init(weights),
            _ => &NO_CALLS,
        };
        Inlining { by, calls, test, fallback }
    }
}

/// What was decided about a call, and why: for logs and `explain`.
#[derive(Clone, PartialEq, Debug)]
pub struct CallDecision {
    /// From the compiled method to the call: in which method it is at which place; all but the last are inlined calls.
    pub path: Vec<(FunctionId, u32)>,
    /// The methods that it calls, as far as they matter, each with the test for it.
    pub callee: String,
    /// What was done.
    pub verdict: Verdict,
    /// The methods that are inlined.
    pub inlined: Vec<FunctionId>,
    /// Why, with the numbers that decided.
    pub why: String,
    /// How often the call runs each time that the compiled method does.
    pub frequency: f64,
}

impl CallDecision {
    /// A line for logs.
    pub fn line(&self, program: &Program) -> String {
        let (verb, otherwise) = match self.verdict {
            Verdict::Inlined => ("inlined", ""),
            Verdict::GuardedElseCall => ("inlined", ", else call"),
            Verdict::GuardedElseLeave => ("inlined", ", else leave"),
            Verdict::Called => ("not inlined", ""),
            Verdict::NoCode => ("no code", ""),
        };
        let (caller, pc) = self
            .path
            .last()
            .map_or(("", 0), |&(function, pc)| (&*program.functions[function.index()].name, pc));
        format!("{caller}@{pc} -> {}{otherwise}: {verb} ({})", self.callee, self.why)
    }
}

/// The calls of a piece of compiled code that is entered.
#[derive(Clone, PartialEq, Debug)]
pub struct CompiledCalls {
    /// Its number.
    pub id: CodeId,
    /// The method.
    pub function: FunctionId,
    /// Where it is entered.
    pub entry: Entry,
    /// How it was compiled.
    pub level: Level,
    /// Where it lies.
    pub address: usize,
    /// Where it lay before it was moved, as long as frames are there.
    pub before: Vec<usize>,
    /// Why it was asked for, if that is kept ([`super::TierOptions::explains`]).
    pub asked: Option<String>,
    /// What was decided about its calls, and those for which it has no code.
    pub decisions: Vec<CallDecision>,
}

/// What was done about a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Its target is inlined, and there can be no other.
    Inlined,
    /// Targets are inlined behind a test; others get a real call.
    GuardedElseCall,
    /// Targets are inlined behind a test; for others, compiled code is left.
    GuardedElseLeave,
    /// It is called.
    Called,
    /// There is no code for it.
    NoCode,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Inlined => "inlined",
            Verdict::GuardedElseCall => "inlined, else call",
            Verdict::GuardedElseLeave => "inlined, else leave",
            Verdict::Called => "not inlined",
            Verdict::NoCode => "no code",
        })
    }
}
