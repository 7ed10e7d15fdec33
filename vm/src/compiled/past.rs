//! What is known of the past of a running program, for compilers: counters of the interpreter, or advice.

use super::block_order::{BlockOrder, Flipped, Told};
use super::inlining::{CallSource, InlineBy, Inlining, ToldCalls};
use super::profile::{Branches, OrderBy, Profile, ReachedMethods, Receivers};
use crate::adaptive::advice::AdviceProfile;
use crate::adaptive::watcher::{FEWEST_EXECUTIONS, Watcher, Window};
use crate::loader::Counters;
use crate::vm::Machinery;
use holloway_bytecode::verify::VerifiedProgram;
use holloway_bytecode::{ClassId, FunctionId};
use holloway_profilers::edges::EdgeProfile;
use holloway_profilers::{BranchId, MethodId};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

/// What is known of the past: what the interpreter counts, or advice; and what was learned from compiled code.
///
/// What PEP samples goes on where the interpreter's counters stop: both have the same form, and are added up (Bond and
/// McKinley 2005, section 4.3: continuous profiles). A branch that only the samples never saw go one way is not thereby one that
/// never did.
///
/// Where code follows the program's phases, a branch that was executed in the last two windows is what it was there. An arm that
/// was ever taken before stays one that may be.
pub(crate) struct PastProfile {
    counters: Counters,
    sampled: Option<EdgeProfile>,
    recent: Option<Arc<Window>>,
    advice: Option<Arc<AdviceProfile>>,
    failed: Arc<BTreeSet<(FunctionId, u32, &'static str)>>,
    instantiated: Arc<Vec<bool>>,
    own_code: Arc<OwnCode>,
    order: Told,
    calls: ToldCalls,
    program: Arc<VerifiedProgram>,
}

/// Of how many words the own code of each function was made. The compiler's thread reads it while it compiles, not when it is asked to: what
/// is called was often asked for just before.
pub(crate) struct OwnCode(Box<[AtomicU32]>);

impl OwnCode {
    /// Nothing is compiled yet.
    pub fn new(functions: usize) -> OwnCode {
        OwnCode((0..functions).map(|_| AtomicU32::new(0)).collect())
    }

    /// The method was compiled.
    pub fn made(&self, function: FunctionId, words: usize) {
        let words = u32::try_from(words).unwrap_or(u32::MAX);
        self.0[function.index()].store(words, Ordering::Relaxed);
    }
}

impl Branches for Counters {
    fn branch(&self, function: FunctionId, pc: u32) -> [u32; 2] {
        self.counters(function, pc + 1).into()
    }

    fn switch(&self, function: FunctionId, pc: u32, cases: usize) -> Vec<u32> {
        (0..cases as u32).map(|case| self.counters(function, pc + 2 + case).1).collect()
    }
}

impl Branches for PastProfile {
    fn branch(&self, function: FunctionId, pc: u32) -> [u32; 2] {
        if self.advice.is_some() {
            return self.one_time().branch(function, pc);
        }
        let [not_taken, taken] = self.counters.branch(function, pc);
        let sampled = self.sampled(function, pc);
        // The profiles' arms are in the other order.
        let mut arms = [more(taken, sampled.first()), more(not_taken, sampled.get(1))];
        self.renew(function, pc, &mut arms);
        let [taken, not_taken] = arms;
        [not_taken, taken]
    }

    fn switch(&self, function: FunctionId, pc: u32, cases: usize) -> Vec<u32> {
        let mut cases = self.one_time().switch(function, pc, cases);
        if self.advice.is_some() {
            return cases;
        }
        let sampled = self.sampled(function, pc);
        cases.iter_mut().enumerate().for_each(|(case, count)| *count = more(*count, sampled.get(case)));
        self.renew(function, pc, &mut cases);
        cases
    }
}

impl Profile for PastProfile {
    fn order(&self) -> OrderBy<'_> {
        self.order.order()
    }

    fn inlining(&self) -> Inlining<'_> {
        self.calls.inlining(|| self.calls.one_time.get(&self.program, self))
    }

    fn reached(&self, function: FunctionId, pc: u32) -> Option<ReachedMethods> {
        self.recent.as_ref()?.reached(function, pc)
    }

    fn receivers(&self, function: FunctionId, pc: u32) -> Receivers {
        match &self.advice {
            Some(advice) => advice.receivers(function, pc),
            None => self.counters.receivers(function, pc),
        }
    }

    fn invocations(&self, function: FunctionId) -> u32 {
        match &self.advice {
            Some(advice) => advice.invocations(function),
            None => self.counters.invocations(function),
        }
    }

    fn own_code(&self, function: FunctionId) -> usize {
        self.own_code.0[function.index()].load(Ordering::Relaxed) as usize
    }

    fn is_instantiated(&self, class: ClassId) -> bool {
        self.instantiated[class.index()]
            || self.advice.as_ref().is_some_and(|advice| advice.is_instantiated(class))
    }

    fn has_failed(&self, function: FunctionId, pc: u32, reason: &str) -> bool {
        self.failed.iter().any(|&(f, p, r)| f == function && p == pc && r == reason)
            || self.advice.as_ref().is_some_and(|advice| advice.has_failed(function, pc, reason))
    }
}

impl PastProfile {
    /// What the interpreter of this run counted.
    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Branches without what was sampled in compiled code: as advice has them, or the interpreter.
    pub(super) fn one_time(&self) -> &dyn Branches {
        match &self.advice {
            Some(advice) => &**advice,
            None => &self.counters,
        }
    }

    /// How often PEP saw each arm of a branch.
    fn sampled(&self, function: FunctionId, pc: u32) -> &[u64] {
        self.sampled.as_ref().map_or(&[], |sampled| sampled.arms(branch_at(function, pc)))
    }

    /// Divides the executions of a branch among its arms as in the last two windows, if it was executed often enough there. An arm that
    /// was not taken in the window keeps its share as far as a window can tell: a loop that was not seen to end still
    /// ends.
    fn renew(&self, function: FunctionId, pc: u32, counts: &mut [u32]) {
        let Some(Window { paths, .. }) = self.recent.as_deref() else { return };
        let branch = branch_at(function, pc);
        let (arms, seen) = (paths.edges.arms(branch), paths.edges.executions(branch));
        if seen < FEWEST_EXECUTIONS {
            return;
        }
        let before = counts.iter().map(|&count| u64::from(count)).sum::<u64>();
        let all = before.max(seen);
        for (arm, count) in counts.iter_mut().enumerate() {
            let renewed = match arms.get(arm).copied().unwrap_or(0) {
                0 => (f64::from(*count) * all as f64 / before.max(1) as f64)
                    .min(all as f64 / (seen + 1) as f64),
                taken => all as f64 * taken as f64 / seen as f64,
            };
            *count = (renewed as u32).max(u32::from(*count > 0));
        }
    }
}

/// The name that profiles have for the branch at `pc`.
pub(super) fn branch_at(function: FunctionId, pc: u32) -> BranchId {
    BranchId { method: MethodId(function.0), position: pc }
}

fn more(counted: u32, sampled: Option<&u64>) -> u32 {
    counted.saturating_add(u32::try_from(sampled.copied().unwrap_or(0)).unwrap_or(u32::MAX))
}

/// What is known of the past just now. It reads counters while they change; samples are those of this moment.
pub(crate) fn past_profile(vm: &Machinery) -> PastProfile {
    let recent = vm.compiled.watcher.as_ref().map(Watcher::recent);
    let sampled = vm.profiling.sampled_edges();
    let order = match &vm.compiled.options.block_order {
        BlockOrder::Program => Told::Program,
        BlockOrder::Aside => Told::Aside,
        BlockOrder::OneTime if sampled.is_some() => Told::Counts(Box::new(interpreted_profile(vm))),
        BlockOrder::OneTime | BlockOrder::Continuous => Told::Profile,
        BlockOrder::Flipped => Told::Counts(Box::new(Flipped(interpreted_profile(vm)))),
        BlockOrder::Given(edges) => Told::Given(edges.clone()),
    };
    let options = vm.compiled.options.inlining.clone();
    let by_samples = matches!((&options.by, &options.calls), (InlineBy::Calls(_), CallSource::Sampled));
    let calls = ToldCalls {
        sampled: by_samples.then(|| vm.compiled.sampled_calls.get(&vm.profiling)),
        one_time: vm.compiled.one_time_calls.clone(),
        weights: OnceLock::new(),
        options,
    };
    PastProfile { sampled, recent, order, calls, ..interpreted_profile(vm) }
}

/// The same without samples of compiled code: what the interpreter did.
pub(crate) fn interpreted_profile(vm: &Machinery) -> PastProfile {
    PastProfile {
        counters: vm.code.profile_counters(),
        sampled: None,
        recent: None,
        advice: vm.compiled.advice.clone(),
        failed: vm.compiled.failed.clone(),
        instantiated: vm.compiled.instantiated.clone(),
        own_code: vm.compiled.own_code.clone(),
        order: Told::default(),
        calls: ToldCalls::default(),
        program: vm.program.clone(),
    }
}
