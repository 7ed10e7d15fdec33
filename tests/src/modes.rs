//! The modes in which every case runs. Whatever a program does, it must do it in all of them: one more tier or one
//! more stress is one more row.

use holloway_jit::Jit;
use holloway_profilers::calls::Policy;
use holloway_vm::compiled::{
    BlockOrder, CallSource, CompilerFactory, Fallback, GuardTest, InlineBy, InlineOptions, Level, TierOptions,
};
use holloway_vm::timer::TimerSource;
use holloway_vm::{Dispatch, VmOptions};
use std::num::NonZeroU32;
use std::sync::Arc;

/// A way to run a program.
pub struct Mode {
    /// Its name, for `skip` and for messages.
    pub name: &'static str,
    /// What it changes.
    pub apply: fn(&mut VmOptions),
}

impl Mode {
    /// Is it left out by a case that skips this: its name, `compiled` for all modes with compiled code, `virtual-timer` for all
    /// with virtual time.
    pub fn is_skipped(&self, skipped: &str) -> bool {
        skipped == self.name
            || skipped == "compiled" && !INTERPRETED.contains(&self.name)
            || skipped == "virtual-timer" && VIRTUAL.contains(&self.name)
    }
}

/// The modes without compiled code.
const INTERPRETED: &[&str] = &["tail", "loop", "gc-stress", "virtual-timer"];

/// The modes with virtual time, besides the one that is named after it.
const VIRTUAL: &[&str] = &["profiled", "profiled-deopt-7", "burst", "subpaths", "versions", "turns"];

/// All modes. The first is the one whose results `BLESS` writes down.
pub const MODES: &[Mode] = &[
    Mode { name: "tail", apply: |options| interpreted(options, Dispatch::Tail) },
    Mode { name: "loop", apply: |options| interpreted(options, Dispatch::Loop) },
    Mode { name: "gc-stress", apply: interpreted_gc_stress },
    Mode { name: "virtual-timer", apply: virtual_timer },
    Mode { name: "o0", apply: |options| compiled(options, Level::O0) },
    Mode { name: "o1", apply: |options| compiled(options, Level::O1) },
    Mode { name: "o2", apply: |options| compiled(options, Level::O2) },
    Mode { name: "adaptive", apply: adaptive },
    Mode { name: "osr", apply: osr_every_backedge },
    Mode { name: "deopt-1", apply: |options| deopt_every(options, 1) },
    Mode { name: "deopt-7", apply: |options| deopt_every(options, 7) },
    Mode { name: "deopt-101", apply: |options| deopt_every(options, 101) },
    Mode { name: "o2-gc-stress", apply: compiled_gc_stress },
    Mode { name: "profiled", apply: profiled },
    Mode { name: "profiled-deopt-7", apply: profiled_deopt },
    Mode { name: "burst", apply: burst },
    Mode { name: "subpaths", apply: subpaths },
    Mode { name: "versions", apply: versions },
    Mode { name: "turns", apply: turns },
];

/// The mode of this name.
pub fn mode(name: &str) -> &'static Mode {
    MODES.iter().find(|mode| mode.name == name).expect("a mode")
}

/// The optimizing tier, with Cranelift's verifier.
pub fn compiler() -> CompilerFactory {
    Box::new(|program, model| Ok(Arc::new(Jit::new(program, model, true)?)))
}

/// Everything is compiled at a level, at once, when it is entered for the first time.
fn compiled(options: &mut VmOptions, level: Level) {
    options.tiers.compiler = Some(compiler());
    options.tiers.block_order = match level {
        Level::O0 => BlockOrder::Program,
        Level::O1 => BlockOrder::Aside,
        Level::O2 => BlockOrder::Continuous,
    };
    options.tiers.level = Some(level);
    options.tiers.synchronous = true;
    options.tiers.method_threshold = 1;
    options.tiers.loop_steps = 1;
}

/// What is hot is compiled in the background. Thresholds are low, so that small programs have something hot.
fn adaptive(options: &mut VmOptions) {
    compiled(options, Level::O2);
    options.tiers.level = None;
    options.tiers.synchronous = false;
    options.tiers.method_threshold = 20;
}

/// Compiled loops are entered at every back edge.
fn osr_every_backedge(options: &mut VmOptions) {
    compiled(options, Level::O2);
    options.tiers.method_threshold = u32::MAX;
    options.tiers.osr_every_backedge = true;
}

/// Compiled code is left at every n-th yieldpoint, and entered again at every back edge.
fn deopt_every(options: &mut VmOptions, n: u32) {
    compiled(options, Level::O2);
    options.tiers.deopt_every = Some(n);
    options.tiers.osr_every_backedge = true;
}

/// The collector runs all the time while references are in machine registers.
fn compiled_gc_stress(options: &mut VmOptions) {
    compiled(options, Level::O2);
    gc_stress(options);
}

/// All profilers at once, in the order of the command line.
pub const ALL_PROFILERS: &[&str] = &[
    "edges",
    "blpp",
    "pep:samples=5,stride=3",
    "kblpp:k=4",
    "kroy:k=3",
    "calls",
    "cbs:samples=5,stride=2,depth=3",
    "oneshot:burst=5",
    "icache:entries=2,sites=all",
];

/// Everything is compiled, and all profilers count in it. Ticks come often, so that there are many samples; code follows them, and what is
/// inlined is chosen by them.
fn profiled(options: &mut VmOptions) {
    compiled(options, Level::O2);
    options.tiers.continuous = true;
    options.tiers.method_order = Some(CallSource::Sampled);
    options.tiers.inlining = InlineOptions {
        by: InlineBy::Calls(Policy::NEW),
        calls: CallSource::Sampled,
        test: GuardTest::Method,
        fallback: Fallback::Profile,
    };
    profile(options);
}

/// The same where compiled code is left all the time, which drops paths, and each thread counts by itself.
fn profiled_deopt(options: &mut VmOptions) {
    deopt_every(options, 7);
    options.tiers.method_order = Some(CallSource::OneTime);
    options.tiers.inlining = InlineOptions {
        by: InlineBy::Calls(Policy::OLD),
        fallback: Fallback::Deopt,
        ..InlineOptions::default()
    };
    profile(options);
    options.profile.per_thread = true;
}

/// Compiled code is left for bursts of branch traces very often.
fn burst(options: &mut VmOptions) {
    compiled(options, Level::O2);
    options.timer = TimerSource::Virtual(11);
    let spec = "btb:backend=burst,depth=9,spread=0".parse().expect("a profiler");
    options.profile.add(spec).expect("each once");
}

/// Compiled code counts blocks down, and the profiler takes over very often; all that is interpreted is recorded.
fn subpaths(options: &mut VmOptions) {
    deopt_every(options, 31);
    options.timer = TimerSource::Virtual(61);
    let spec = "osp:rate=3,memory=4k".parse().expect("a profiler");
    options.profile.add(spec).expect("each once");
}

/// Compiled code is left very often for its second version, which counts blocks, and that for the first.
fn versions(options: &mut VmOptions) {
    compiled(options, Level::O2);
    options.timer = TimerSource::Virtual(37);
    let spec = "osp:skip=versions,rate=3,stretch=100".parse().expect("a profiler");
    options.profile.add(spec).expect("each once");
}

/// Code follows what PEP sees in looks, in a version of the code of its own.
fn turns(options: &mut VmOptions) {
    compiled(options, Level::O2);
    options.tiers.continuous = true;
    options.timer = TimerSource::Virtual(11);
    for spec in ["pep:code=turns,samples=5,stride=3", "cbs"] {
        options.profile.add(spec.parse().expect("a profiler")).expect("each once");
    }
}

fn profile(options: &mut VmOptions) {
    options.timer = TimerSource::Virtual(61);
    for spec in ALL_PROFILERS {
        let spec = spec.parse().expect("a profiler");
        options.profile.add(spec).expect("each once");
    }
}

/// Nothing is compiled.
fn interpreted(options: &mut VmOptions, dispatch: Dispatch) {
    options.tiers = TierOptions::default();
    options.dispatch = dispatch;
}

/// The interpreter under the stress of [`gc_stress`].
fn interpreted_gc_stress(options: &mut VmOptions) {
    interpreted(options, Dispatch::default());
    gc_stress(options);
}

/// A collection at every few allocations, minor and full by turns; the dead are overwritten.
fn gc_stress(options: &mut VmOptions) {
    options.heap.stress = NonZeroU32::new(3);
}

/// Threads are switched very often. The period is odd so that it does not march in step with loops.
fn virtual_timer(options: &mut VmOptions) {
    interpreted(options, Dispatch::default());
    options.timer = TimerSource::Virtual(7);
}
