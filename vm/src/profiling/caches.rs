//! Inline caches with counters (`icache`): what a call site's polymorphic inline cache knows of its targets
//! ([`holloway_profilers::calls::InlineCaches`]).
//!
//! Calls through tables need no caches here; these are made to count, as others' caches do. In compiled code each call through a table
//! has one in its counters: what was lost, then class and count of each entry, the first of which is compared in the code itself. A
//! call that the compiler bound to its only target has a single counter, like a cache with a single entry. The
//! interpreter's caches are in [`super::tally`], with an entry for a method instead of a class.
//!
//! What inline caches do not know: a call that was inlined has none. A call whose target the language itself knows has none either,
//! unless every call is taken for a message that is sent, as in Self (`sites=all`).

use super::call_tally::CountedCalls;
use super::calls::target;
use super::state::Profiling;
use crate::vm::Machinery;
use holloway_bytecode::{FunctionId, Op, Program, code};
use holloway_profilers::MethodId;
use holloway_profilers::calls::{CachedCalls, CallEdge, CallSite};

/// The caches of a piece of code.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct VersionCaches {
    /// Sites of calls through tables, each with the first of its counters.
    pub sites: Vec<(CallSite, u32)>,
    /// Calls whose target is known, each with its counter.
    pub bound: Vec<(CallEdge, u32)>,
    /// How many entries each cache has.
    pub entries: u32,
}

impl VersionCaches {
    /// How many counters a site with so many entries has.
    pub fn counters(entries: u32) -> usize {
        2 * entries as usize + 1
    }
}

/// An entry of a cache in compiled code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct CacheEntry {
    /// The site.
    pub site: CallSite,
    /// The offset of the class.
    pub class: u32,
}

/// Is the call at a site one through a table.
pub fn is_through_table(program: &Program, site: CallSite) -> bool {
    let function = &program.functions[FunctionId(site.caller.0).index()];
    let call = code::decode(&function.code, site.position as usize);
    call.is_some_and(|call| matches!(call.op, Op::CallVirtual | Op::CallInterface))
}

impl Profiling {
    /// What the caches of all tiers counted, if there are any.
    pub(super) fn cached_calls(&self, vm: &Machinery, counted: &CountedCalls) -> Option<CachedCalls> {
        self.options.icache?;
        let mut found = counted.caches.clone();
        for (&CacheEntry { site, class }, &count) in &counted.cache_entries {
            let class = vm.classes.class_of_record(class);
            match target(&vm.program, FunctionId(site.caller.0), site.position, class) {
                Some(callee) => found.graph.add(CallEdge { site, callee: MethodId(callee.0) }, count),
                None => found.lose(site, count),
            }
        }
        Some(found)
    }
}
