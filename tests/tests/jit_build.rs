//! Every function of every benchmark program, and every loop of it, can be built and inlined into, with and without a
//! past, and what comes out is well formed.

use holloway_benchmarks::registry::{BENCHMARKS, Benchmark};
use holloway_bytecode::code::instructions;
use holloway_bytecode::ops::OpShape;
use holloway_bytecode::{ClassId, FunctionId, Program};
use holloway_jit::build;
use holloway_jit::hierarchy::Hierarchy;
use holloway_jit::ir::{self, Region, RegionEntry};
use holloway_jit::options::{Level, Options};
use holloway_jit::passes::{Input, Notes, inline};
use holloway_profilers::MethodId;
use holloway_profilers::calls::{CallEdge, CallGraph, Policy};
use holloway_tests::parallel::check_all;
use holloway_tests::past::Past;
use holloway_vm::compiled::{
    Branches, CallWeights, Fallback, GuardTest, InlineBy, Inlining, NoProfile, Profile, Receivers,
};

/// A past in which some branches went one way only.
struct Lopsided {
    classes: u32,
}

impl Branches for Lopsided {
    fn branch(&self, function: FunctionId, pc: u32) -> [u32; 2] {
        match (function.0.wrapping_mul(31) ^ pc).wrapping_mul(0x9e37_79b9) >> 30 {
            0 => [0, 1000],
            1 => [1000, 0],
            _ => [700, 300],
        }
    }

    fn switch(&self, function: FunctionId, pc: u32, cases: usize) -> Vec<u32> {
        (0..cases as u32).map(|case| (function.0 ^ pc ^ case) % 3 * 100).collect()
    }
}

impl Profile for Lopsided {
    fn receivers(&self, function: FunctionId, pc: u32) -> Receivers {
        let first = function.0.wrapping_add(pc);
        let seen = (0..self.classes).map(|n| ClassId((first + n * 7) % self.classes));
        let counts = [900, 80, 30, 0];
        let mut classes: Vec<(ClassId, u32)> = Vec::new();
        for (class, count) in seen.take((pc % 4) as usize + 1).zip(counts) {
            if classes.iter().all(|(other, _)| *other != class) {
                classes.push((class, count));
            }
        }
        Receivers { classes, others: pc % 3 * 5 }
    }

    fn invocations(&self, _: FunctionId) -> u32 {
        0
    }

    fn is_instantiated(&self, class: ClassId) -> bool {
        !class.0.is_multiple_of(3)
    }

    fn has_failed(&self, _: FunctionId, _: u32, _: &str) -> bool {
        false
    }
}

/// Every call of a function, of this weight or that.
fn all_calls(program: &Program, caller: FunctionId) -> CallWeights {
    let mut graph = CallGraph::new();
    for (pc, _) in
        instructions(&program.functions[caller.index()].code).filter(|(_, i)| i.op.shape() == OpShape::Call)
    {
        for callee in 0..program.functions.len() as u32 {
            let weight = u64::from((callee ^ pc as u32).wrapping_mul(0x9e37_79b9) >> 27);
            graph.add(CallEdge::new(MethodId(caller.0), pc as u32, MethodId(callee)), weight * weight);
        }
    }
    CallWeights::of(&graph)
}

/// Where regions of a function may begin: at its beginning, and at its loops.
fn entries(program: &Program, function: FunctionId) -> Vec<RegionEntry> {
    let code = &program.functions[function.index()].code;
    let loops =
        instructions(code).filter(|(_, i)| matches!(i.op.shape(), OpShape::LoopJump | OpShape::LoopBranch));
    let headers = loops.filter_map(|(pc, i)| Some((pc as i64 + i.target()? as i64) as u32));
    let mut entries: Vec<u32> = headers.collect();
    entries.sort_unstable();
    entries.dedup();
    std::iter::once(RegionEntry::Method).chain(entries.into_iter().map(RegionEntry::Loop)).collect()
}

/// Calls `with` for each function and loop of each benchmark program, with and without a past.
fn for_each_region(
    with: impl Fn(&Program, &Hierarchy, &dyn Profile, FunctionId, RegionEntry) -> Result<(), String> + Sync,
) {
    let benchmarks: Vec<&'static Benchmark> = BENCHMARKS.iter().collect();
    check_all(
        &benchmarks,
        |benchmark| benchmark.name.to_string(),
        |&benchmark| {
            let program = holloway::compile::compile_benchmark(benchmark, false)?;
            let hierarchy = Hierarchy::of(&program);
            for number in 0..program.functions.len() as u32 {
                let function = FunctionId(number);
                let name = &program.functions[function.index()].name;
                for entry in entries(&program, function) {
                    for profile in
                        [&NoProfile as &dyn Profile, &Lopsided { classes: program.classes.len() as u32 }]
                    {
                        with(&program, &hierarchy, profile, function, entry)
                            .map_err(|error| format!("{name} {entry:?}: {error}"))?;
                    }
                }
            }
            Ok(())
        },
    );
}

#[test]
fn everything_is_built_and_well_formed() {
    for_each_region(|program, _, profile, function, entry| {
        let options = Options::of(Level::O2);
        let region =
            build::region(program, profile, &options, function, entry).map_err(|error| error.to_string())?;
        check(program, &region)
    });
}

#[test]
fn everything_is_inlined_and_well_formed() {
    for_each_region(|program, hierarchy, profile, function, entry| {
        let weights = all_calls(program, function);
        let choose = |level, by, test, fallback| {
            (Options::of(level), Inlining { by, calls: &weights, test, fallback })
        };
        use {Fallback as F, GuardTest as T, InlineBy as By};
        let all = [
            choose(Level::O0, By::Frequency, T::Class, F::Profile),
            choose(Level::O1, By::Frequency, T::Class, F::Profile),
            choose(Level::O2, By::Frequency, T::Class, F::Profile),
            choose(Level::O2, By::Frequency, T::Class, F::Call),
            choose(Level::O2, By::Frequency, T::Method, F::Deopt),
            choose(Level::O2, By::Size(35), T::Class, F::Call),
            choose(Level::O2, By::Calls(Policy::OLD), T::Method, F::Call),
            choose(Level::O2, By::Calls(Policy::NEW), T::Method, F::Profile),
            choose(Level::O2, By::Calls(Policy::J9), T::Class, F::Deopt),
        ];
        for (options, inlining) in &all {
            let profile = &Past { inlining: *inlining, ..Past::of(profile) };
            let input = Input { program, hierarchy, profile, options };
            let mut region = build::region(program, profile, options, function, entry)
                .map_err(|error| error.to_string())?;
            inline::run(&mut region, &input, &mut Notes::default());
            check(program, &region)?;
        }
        Ok(())
    });
}

/// What is wrong with a region, if anything.
fn check(program: &Program, region: &Region) -> Result<(), String> {
    ir::verify(region, program)
        .map_err(|errors| format!("{}\n{}", errors.join("\n"), ir::print(region, program)))
}
