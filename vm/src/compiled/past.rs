//! What is known of the past of a running program, for compilers: counters of the interpreter, or advice.

use super::profile::{Profile, Receivers};
use crate::adaptive::advice::AdviceProfile;
use crate::loader::Counters;
use crate::vm::Machinery;
use holloway_bytecode::{ClassId, FunctionId};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What is known of the past: what the interpreter counts, or advice; and what was learned from compiled code.
pub(crate) struct PastProfile {
    counters: Counters,
    advice: Option<Arc<AdviceProfile>>,
    failed: Arc<BTreeSet<(FunctionId, u32, &'static str)>>,
    instantiated: Arc<Vec<bool>>,
}

impl Profile for PastProfile {
    fn branch(&self, function: FunctionId, pc: u32) -> [u32; 2] {
        if let Some(advice) = &self.advice {
            return advice.branch(function, pc);
        }
        let (not_taken, taken) = self.counters.counters(function, pc + 1);
        [not_taken, taken]
    }

    fn switch(&self, function: FunctionId, pc: u32, cases: usize) -> Vec<u32> {
        if let Some(advice) = &self.advice {
            return advice.switch(function, pc, cases);
        }
        (0..cases as u32).map(|case| self.counters.counters(function, pc + 2 + case).1).collect()
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

    fn is_instantiated(&self, class: ClassId) -> bool {
        self.instantiated[class.index()]
            || self.advice.as_ref().is_some_and(|advice| advice.is_instantiated(class))
    }

    fn has_failed(&self, function: FunctionId, pc: u32, reason: &str) -> bool {
        self.failed.iter().any(|&(f, p, r)| f == function && p == pc && r == reason)
            || self.advice.as_ref().is_some_and(|advice| advice.has_failed(function, pc, reason))
    }
}

/// What is known of the past just now. It reads counters while they change.
pub(crate) fn past_profile(vm: &Machinery) -> PastProfile {
    PastProfile {
        counters: vm.code.profile_counters(),
        advice: vm.compiled.advice.clone(),
        failed: vm.compiled.failed.clone(),
        instantiated: vm.compiled.instantiated.clone(),
    }
}
