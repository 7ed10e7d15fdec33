//! Which tables the running green thread counts in: those of all, or its own if each thread is to count by itself.
//!
//! ```text
//!   begin                 switch_to                         end
//!   ──────► own tables ──────────────► counting there ──────────────► what was counted, kept by number
//!      └──► those of all, if the system has no address space for counters (and for every thread, unless asked)
//! ```
//!
//! A thread's counters are a reservation of address space, of which only what the thread counts in becomes memory, and they live
//! as long as the thread. Where the system gives no more, a thread has no tables of its own for all its life, for what
//! activations remember belongs to the tables in which they began.

use super::collect::{FoundCalls, Windowed};
use super::counters::CounterArea;
use super::state::Version;
use super::tally::{Counted, TableCells, Tally};
use crate::context::Context;
use crate::threads::ThreadNumber;
use holloway_bytecode::FunctionId;
use holloway_profilers::kblpp::K;
use std::collections::BTreeMap;

/// What a green thread counted, or those together that could not count by themselves.
#[derive(Clone, Debug)]
pub struct CountedThread {
    /// Which thread. `None` for the rest.
    pub thread: Option<ThreadNumber>,
    /// The function that it was started with. `None` for the main thread, which the program begins with.
    pub function: Option<FunctionId>,
    /// How many threads.
    pub threads: u32,
    /// What was counted.
    pub counted: Counted,
    /// Calls, as they are found in the end.
    pub calls: FoundCalls,
    /// Windows of paths, if they are counted.
    pub windowed: Option<Windowed>,
}

/// The tables of a machine's threads.
pub(super) struct Tallies {
    /// Tables of all that have none of their own.
    together: Tally,
    /// By number, while the thread lives.
    own: Vec<Option<Box<Tally>>>,
    /// Who runs.
    running: Option<ThreadNumber>,
    /// Threads that were begun, and those of them that are over.
    begun: BTreeMap<ThreadNumber, Option<FunctionId>>,
    over: BTreeMap<ThreadNumber, Counted>,
    /// How many could not count by themselves.
    rest: u32,
    k: Option<K>,
    /// Is there code that counts.
    counters: bool,
}

impl Tallies {
    /// Tables for all; `counters` if there are any, and the k of their forest, if there is one.
    pub fn new(counters: Option<CounterArea>, k: Option<K>) -> Tallies {
        Tallies {
            counters: counters.is_some(),
            together: Tally::new(counters, k),
            own: Vec::new(),
            running: None,
            begun: BTreeMap::new(),
            over: BTreeMap::new(),
            rest: 0,
            k,
        }
    }

    /// The tables of the running thread.
    pub fn here(&mut self) -> &mut Tally {
        let own = self.running.and_then(|thread| self.own.get_mut(thread as usize)?.as_deref_mut());
        own.unwrap_or(&mut self.together)
    }

    /// A thread will run this function, and counts by itself.
    pub fn begin(&mut self, thread: ThreadNumber, function: Option<FunctionId>) {
        let counters = match self.counters {
            false => None,
            true => match CounterArea::one_of_many() {
                Ok(counters) => Some(counters),
                Err(_) => {
                    self.rest += 1;
                    return;
                }
            },
        };
        self.begun.entry(thread).or_insert(function);
        let at = thread as usize;
        self.own.resize_with(self.own.len().max(at + 1), || None);
        self.own[at] = Some(Box::new(Tally::new(counters, self.k)));
    }

    /// This thread runs from here on.
    pub fn switch_to(&mut self, thread: ThreadNumber, context: &mut Context, tables: &[TableCells]) {
        self.running = Some(thread);
        self.here().attach(context, tables);
    }

    /// A thread is over, and does not run.
    pub fn end(&mut self, thread: ThreadNumber, versions: &BTreeMap<u32, Version>) {
        if let Some(tally) = self.own.get_mut(thread as usize).and_then(Option::take) {
            // Numbers begin anew in the next run of a machine.
            self.over.entry(thread).or_default().merge(&tally.counted(versions));
        }
    }

    /// What each thread counted that counted by itself, and what the rest did if there is one.
    pub fn threads(&self, versions: &BTreeMap<u32, Version>) -> Vec<CountedThread> {
        let by_number = self.begun.iter().map(|(&thread, &function)| {
            let mut counted = self.over.get(&thread).cloned().unwrap_or_default();
            if let Some(Some(tally)) = self.own.get(thread as usize) {
                counted.merge(&tally.counted(versions));
            }
            CountedThread {
                thread: Some(thread),
                function,
                threads: 1,
                counted,
                calls: FoundCalls::default(),
                windowed: None,
            }
        });
        let rest = (self.rest > 0).then(|| CountedThread {
            thread: None,
            function: None,
            threads: self.rest,
            counted: self.together.counted(versions),
            calls: FoundCalls::default(),
            windowed: None,
        });
        by_number.chain(rest).collect()
    }

    /// What all counted that have no tables of their own.
    pub fn together(&self, versions: &BTreeMap<u32, Version>) -> Counted {
        self.together.counted(versions)
    }
}
