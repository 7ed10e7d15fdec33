//! How the tiers are used.

use super::Model;
use super::block_order::BlockOrder;
use super::inlining::{CallSource, InlineOptions};
use super::perf_map::PerfMap;
use super::replayed::ReplayedCode;
use super::report::Log;
use super::request::{Compiler, Level};
use crate::adaptive::{Advice, Constants};
use holloway_bytecode::verify::VerifiedProgram;
use std::sync::Arc;

/// Makes the compiler for a machine, once the machine exists.
pub type CompilerFactory =
    Box<dyn FnOnce(Arc<VerifiedProgram>, Model) -> Result<Arc<dyn Compiler>, String> + Send>;

/// How the tiers are used.
pub struct TierOptions {
    /// Makes the compiler; without one everything is interpreted.
    pub compiler: Option<CompilerFactory>,
    /// The level at which everything is compiled; without one, the adaptive system decides.
    pub level: Option<Level>,
    /// What the adaptive system knows of tiers and machine.
    pub constants: Constants,
    /// What to compile, instead of what the adaptive system would. It fits the program.
    pub replay: Option<Arc<Advice>>,
    /// What other machines made of the same advice: it is not compiled again.
    pub replayed: Option<Arc<ReplayedCode>>,
    /// Code is made again when the program behaves otherwise than it was made for, as samples of paths tell.
    pub continuous: bool,
    /// Compute digests of machine code.
    pub digests: bool,
    /// Compile at once instead of in the background.
    pub synchronous: bool,
    /// Entries of a method after which it is thought about first.
    pub method_threshold: u32,
    /// Thousands of back edges after which a loop is thought about first.
    pub loop_steps: u32,
    /// Bytes of executable memory.
    pub code_cache: usize,
    /// By which profile the blocks of machine code are ordered.
    pub block_order: BlockOrder,
    /// Who chooses which calls are inlined, and what is known of them.
    pub inlining: InlineOptions,
    /// By which calls methods are ordered in memory; without, they lie there in the order in which they were compiled.
    pub method_order: Option<CallSource>,
    /// Methods begin anywhere in a cache line, as this number decides, instead of at its beginning.
    pub scatter: Option<u64>,
    /// Compiled code has yieldpoints. Without them it cannot be interrupted and threads do not switch in it: only for measuring
    /// what they cost.
    pub yieldpoints: bool,
    /// Keep why code was made, or was not.
    pub explains: bool,
    /// Enter compiled loops at every back edge.
    pub osr_every_backedge: bool,
    /// Leave compiled code at every n-th taken yieldpoint.
    pub deopt_every: Option<u32>,
    /// Told what happens, one line each.
    pub log: Option<Log>,
    /// Told where code lies, for `perf`.
    pub perf_map: Option<PerfMap>,
}

impl Default for TierOptions {
    fn default() -> Self {
        TierOptions {
            compiler: None,
            level: None,
            constants: Constants::default(),
            replay: None,
            replayed: None,
            continuous: false,
            digests: false,
            synchronous: false,
            method_threshold: 300,
            loop_steps: 2,
            code_cache: 64 << 20,
            block_order: BlockOrder::default(),
            inlining: InlineOptions::default(),
            method_order: None,
            scatter: None,
            yieldpoints: true,
            explains: false,
            osr_every_backedge: false,
            deopt_every: None,
            log: None,
            perf_map: None,
        }
    }
}
