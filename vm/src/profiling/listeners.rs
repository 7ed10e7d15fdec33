//! One-shot listeners (`oneshot`): the first calls of a method whose code has reached some level, and then never again
//! ([`holloway_profilers::calls::Bursts`]; what others did by patching the code).
//!
//! Nothing is patched here. Code calls methods through their slots, and while a method is listened to, its slot leads to a
//! listener of its own (`crate::compiled::stubs::listener`), which calls [`heard`] and goes on to the code; with the last
//! entry of the burst, the slot leads to the code itself. So the machine code is that of a run without profilers, and once a
//! listener is out, nothing is left of it. What is called from the interpreter goes through the slot as well; what is inlined, or
//! interpreted, is not heard.

use super::spec::OneShotOptions;
use crate::compiled::Level;
use crate::compiled::library;
use crate::vm::Machinery;
use holloway_bytecode::FunctionId;
use holloway_profilers::MethodId;
use holloway_profilers::calls::{Burst, Bursts, CallEdge, CallGraph, rated};

/// What `oneshot` found.
#[derive(Clone, Debug)]
pub struct HeardCalls {
    /// Calls, as often as they were heard.
    pub graph: CallGraph,
    /// Entries of methods that nobody called: those with which threads begin.
    pub roots: u64,
    /// The bursts, by method.
    pub bursts: Vec<(MethodId, Burst)>,
    /// Nanoseconds that the program ran.
    pub run: u64,
}

impl HeardCalls {
    /// How often each call was made, if methods were always entered as often as during their bursts.
    pub fn rated(&self) -> CallGraph {
        rated(&self.graph, self.run, |method| {
            let at = self.bursts.binary_search_by_key(&method, |of| of.0).ok()?;
            Some(self.bursts[at].1)
        })
    }
}

/// The listeners of a machine.
pub(super) struct Listeners {
    level: Level,
    bursts: Bursts,
    graph: CallGraph,
    roots: u64,
    /// Nanoseconds of earlier runs, and whether there is one now.
    earlier: u64,
    runs: bool,
}

impl Listeners {
    /// Nobody is listened to.
    pub fn new(OneShotOptions { burst, level }: OneShotOptions) -> Listeners {
        let bursts = Bursts::new(u64::from(burst));
        Listeners { level, bursts, graph: CallGraph::new(), roots: 0, earlier: 0, runs: false }
    }

    /// Time of all runs, `now` of the present one.
    fn clock(&self, now: u64) -> u64 {
        self.earlier + if self.runs { now } else { 0 }
    }

    /// Entries that were heard.
    pub fn entries(&self) -> u64 {
        self.bursts.iter().map(|(_, burst)| burst.entries).sum()
    }

    /// What was found.
    pub fn found(&self, now: u64) -> HeardCalls {
        HeardCalls {
            graph: self.graph.clone(),
            roots: self.roots,
            bursts: self.bursts.iter().collect(),
            run: self.clock(now),
        }
    }
}

impl Machinery {
    /// Are methods listened to, so that listeners must be made.
    pub(crate) fn listens(&self) -> bool {
        self.profiling.listeners.is_some()
    }

    /// A run begins.
    pub(crate) fn listeners_begin(&mut self) {
        if let Some(listeners) = &mut self.profiling.listeners {
            listeners.runs = true;
        }
    }

    /// A run is over.
    pub(crate) fn listeners_end(&mut self) {
        let now = self.now();
        if let Some(listeners) = &mut self.profiling.listeners {
            listeners.earlier = listeners.clock(now);
            listeners.runs = false;
        }
    }

    /// Where calls of a method are to lead whose code of this level is there: to the code, or to its listener.
    pub(crate) fn entry_of(&mut self, function: FunctionId, level: Level, code: *const u8) -> *const u8 {
        let now = self.now();
        let Some(listeners) = &mut self.profiling.listeners else { return code };
        let now = listeners.clock(now);
        match level >= listeners.level && listeners.bursts.listens(MethodId(function.0), now) {
            true => self.code.listener(function),
            false => code,
        }
    }
}

/// A method is entered that is listened to; the thread stands at the call. Gives where its code is.
pub(crate) fn heard(vm: &mut Machinery, function: FunctionId) -> *const u8 {
    let callee = MethodId(function.0);
    let mut caller = None;
    vm.walk_current(&mut |at| {
        caller = Some(at);
        false
    });
    let now = vm.now();
    let code = library::method_code(vm, function);
    let per_thread = vm.profiling.options.per_thread;
    let Some(listeners) = &mut vm.profiling.listeners else { return code };
    let edge = caller.map(|(caller, position)| CallEdge::new(MethodId(caller.0), position, callee));
    match edge {
        Some(edge) => listeners.graph.add(edge, 1),
        None => listeners.roots += 1,
    }
    let is_over = listeners.bursts.heard(callee, listeners.clock(now));
    if per_thread {
        vm.profiling.here().made.hear(callee, edge);
    }
    if is_over {
        vm.code.set_compiled(function, Some(code));
    }
    code
}
