//! With nothing to be profiled, machine code is what it would be if profiling did not exist.
//!
//! A compiler that stands before the real one makes each piece of code twice: as the machine asks for it, and in the *bare* way, in
//! which the step that puts in counters is not even called and the lowering is told of no profilers and has no counters. A
//! region without operations of profiling and a model without profilers leave lowering nothing to do about them, and the
//! test looks at what Cranelift got: no slot in the frame, and no instruction that names a word of the context that only
//! profiling uses.
//!
//! Both are made in the same process, for the same machine: so the bytes must be equal as they are, addresses included.

use holloway_benchmarks::measure::{Ending, Hooks, measure};
use holloway_benchmarks::registry::{Benchmark, find};
use holloway_bytecode::FunctionId;
use holloway_bytecode::verify::VerifiedProgram;
use holloway_jit::Jit;
use holloway_jit::ir::Region;
use holloway_jit::lower::{Layout, Lowered, Target, emit, lower};
use holloway_jit::passes::Notes;
use holloway_jit::pipeline::Watch;
use holloway_tests::parallel::check_all;
use holloway_vm::compiled::{
    CodeId, Compiled, Compiler, Entry, Level, Model, NoProfile, Profile, Request, Stub, TierOptions,
};
use holloway_vm::profiling::{Instrumentation, ProfileOptions, VersionCalls};
use holloway_vm::timer::TimerSource;
use holloway_vm::{Vm, VmOptions};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Programs that together have loops of all kinds, deep inlining, closures, texts and floats.
const PROGRAMS: &[&str] = &["json", "richards", "havlak", "nbody"];

/// Numbers of code that no run of these programs reaches: the number is part of the code.
const OTHERS: u32 = 1 << 20;

/// At which every method is compiled.
const LEVELS: [Level; 2] = [Level::O0, Level::O2];

/// Words of the context that only profiling uses, by their displacement.
fn words_of_profiling(model: &Model) -> Vec<i32> {
    let stubs = [Stub::CountPath, Stub::PlantForest, Stub::GrowForest, Stub::SamplePath, Stub::Trace]
        .map(|stub| model.context.stub(stub));
    let words = [model.context.counters, model.context.forest_nodes, model.context.forest_steps];
    words.into_iter().chain(stubs).collect()
}

/// What a piece of code has to do with profiling.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Traces {
    /// Operations in the region.
    operations: usize,
    /// Slots in the frame. Nothing else has any.
    slots: usize,
    /// Instructions that name a word of the context.
    instructions: usize,
    /// Sites at which a path ends.
    ends: usize,
}

impl Traces {
    fn of(region: &Region, lowered: &Lowered, words: &[i32]) -> Traces {
        let nodes = region.blocks.iter().flat_map(|block| &block.nodes);
        // The context is the first parameter of the function: its words are `v0+32` and so on.
        let text = lowered.function.display().to_string();
        let words: Vec<String> = words.iter().map(|word| format!("v0+{word}")).collect();
        let names = |line: &str| {
            let mut operands = line.split([' ', ',', '(', ')']);
            operands.any(|operand| words.iter().any(|word| word == operand))
        };
        Traces {
            operations: nodes.filter(|&&value| region.op(value).is_of_profiling()).count(),
            slots: lowered.function.sized_stack_slots.len(),
            instructions: text.lines().filter(|line| names(line)).count(),
            ends: lowered.sites.iter().filter(|site| site.path.is_some()).count(),
        }
    }
}

/// Looks at what the real compiler does.
struct Look<'a> {
    words: &'a [i32],
    traces: Traces,
}

impl Watch for Look<'_> {
    fn step(&mut self, _: &'static str, _: &Region, _: Duration) {}

    fn finished(&mut self, _: &Region) {}

    fn lowered(&mut self, region: &Region, lowered: &Lowered) {
        self.traces = Traces::of(region, lowered, self.words);
    }

    fn wants_code(&self) -> bool {
        false
    }

    fn code(&mut self, _: &Region, _: &Compiled, _: &Layout) {}
}

/// What was seen of the compilations of a run.
#[derive(Default)]
struct Seen {
    compilations: usize,
    /// Those that count something, by what they say themselves.
    counting: usize,
    /// Second versions, which tell of blocks.
    marked: usize,
    wrong: Vec<String>,
}

/// The compiler that makes everything twice.
struct Twice {
    program: Arc<VerifiedProgram>,
    jit: Jit,
    /// The same for a machine without a word about profilers.
    bare: Jit,
    target: Target,
    words: Vec<i32>,
    seen: Arc<Mutex<Seen>>,
}

impl Twice {
    fn new(program: Arc<VerifiedProgram>, model: Model, seen: Arc<Mutex<Seen>>) -> Result<Twice, String> {
        let mut bare = model.clone();
        (bare.instrumentation, bare.counters) = (Instrumentation::default(), None);
        let words = words_of_profiling(&model);
        let jit = Jit::new(program.clone(), model, false)?;
        let bare = Jit::new(program.clone(), bare, false)?;
        Ok(Twice { program, jit, bare, target: Target::native(false)?, words, seen })
    }

    /// The code without the step that instruments, and what it has of profiling.
    fn bare(&self, request: &Request, profile: &dyn Profile) -> Result<(Compiled, Traces), String> {
        let region = self.bare.region(request, profile, &mut Notes::default(), &mut |_, _| {})?;
        let lowered = lower(
            &region,
            region.shape(),
            &self.program,
            self.bare.model(),
            request.code.0,
            self.target.frontend(),
            profile.order(),
        )?;
        let traces = Traces::of(&region, &lowered, &self.words);
        Ok((emit(lowered, &self.target, false)?.0, traces))
    }

    /// What is wrong with the two kinds of code, if anything is; and does the real one count.
    fn compare(
        &self,
        real: &Compiled,
        traces: Traces,
        bare: &Compiled,
        of_bare: Traces,
    ) -> Result<bool, String> {
        if of_bare != Traces::default() {
            return Err(format!("without profilers there is {of_bare:?}"));
        }
        let counts = real.instrumented.as_ref().is_some_and(|instrumented| {
            instrumented.edges.as_ref().is_some_and(|edges| !edges.sparse.is_empty())
                || instrumented.paths.as_ref().is_some_and(|paths| paths.dag.paths() > 0)
                || instrumented.calls.as_ref().is_some_and(|calls| *calls != VersionCalls::default())
        });
        let same = real.bytes == bare.bytes && real.sites == bare.sites && real.calls == bare.calls;
        match (counts, same) {
            (true, true) => Err("it counts, but the code is the same".into()),
            (false, false) => Err("it counts nothing, but the code differs".into()),
            (false, true) if traces != Traces::default() => {
                Err(format!("it counts nothing, but has {traces:?}"))
            }
            (true, false) if traces.operations + traces.instructions + traces.ends == 0 => {
                Err("it counts by nothing".into())
            }
            _ => Ok(counts),
        }
    }

    /// The version that tells of blocks: not the code that this is about. Without the mark in the request it would be.
    fn marked(&self, request: &Request, profile: &dyn Profile) -> Result<Compiled, String> {
        let real = self.jit.compile(request, profile)?;
        let plain = self.jit.compile(&Request { marked: false, ..request.clone() }, profile)?;
        let mut seen = self.seen.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        seen.marked += 1;
        if real.bytes == plain.bytes {
            let name = &self.program.functions[request.function.index()].name;
            seen.wrong.push(format!("{name}: both versions are the same"));
        }
        Ok(real)
    }

    fn both(&self, request: &Request, profile: &dyn Profile) -> Result<Compiled, String> {
        let mut look = Look { words: &self.words, traces: Traces::default() };
        let real = self.jit.compile_watched(request, profile, &mut look);
        let bare = self.bare(request, profile);
        let compared = match (&real, &bare) {
            (Ok(real), Ok((bare, of_bare))) => self.compare(real, look.traces, bare, *of_bare),
            (Err(_), Err(_)) => Ok(false),
            _ => Err("only one of the two is refused".into()),
        };
        let mut seen = self.seen.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        seen.compilations += 1;
        match compared {
            Ok(counts) => seen.counting += usize::from(counts),
            Err(why) => {
                let name = &self.program.functions[request.function.index()].name;
                seen.wrong.push(format!("{name} {:?} {}: {why}", request.entry, request.level.name()));
            }
        }
        real
    }
}

impl Compiler for Twice {
    fn compile(&self, request: &Request, profile: &dyn Profile) -> Result<Compiled, String> {
        if request.marked { self.marked(request, profile) } else { self.both(request, profile) }
    }
}

/// Runs a program in which everything is compiled; besides, compiles all its methods as if nothing were known about them.
fn run(benchmark: &'static Benchmark, profile: ProfileOptions, every_method: bool) -> Result<Seen, String> {
    let program = holloway::compile::compile_benchmark(benchmark, false)?;
    let methods = if every_method { LEVELS.len() * program.functions.len() } else { 0 };
    let seen = Arc::new(Mutex::new(Seen::default()));
    let options = |arguments, output| {
        let seen = seen.clone();
        let compiler = Box::new(move |program: Arc<VerifiedProgram>, model: Model| {
            let twice = Twice::new(program.clone(), model, seen)?;
            for (number, level) in (0..program.functions.len() as u32)
                .flat_map(|number| LEVELS.map(|level| (number, level)))
                .filter(|_| every_method)
            {
                let (code, function) = (CodeId(OTHERS + number), FunctionId(number));
                let request = Request { code, function, entry: Entry::Method, level, marked: false };
                // What is refused is refused twice, which is compared as well.
                let _ = twice.both(&request, &NoProfile);
            }
            Ok(Arc::new(twice) as Arc<dyn Compiler>)
        });
        let tiers = TierOptions {
            compiler: Some(compiler),
            synchronous: true,
            method_threshold: 2,
            ..TierOptions::default()
        };
        VmOptions {
            arguments,
            output,
            tiers,
            timer: TimerSource::Virtual(5_003),
            profile,
            ..VmOptions::default()
        }
    };
    let hooks = Hooks::none().with_ended(|_: &Vm| {});
    let measured = measure(benchmark, program, benchmark.quick_size, 1, options, hooks);
    if measured.ending != Ending::Verified {
        return Err(format!("{:?}", measured.ending));
    }
    let seen = std::mem::take(&mut *seen.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
    match (seen.compilations, seen.wrong.first()) {
        (made, _) if made <= methods => Err(format!("only {made} pieces of code were made")),
        (_, Some(first)) => Err(format!("{} of {}: {first}", seen.wrong.len(), seen.compilations)),
        _ => Ok(seen),
    }
}

fn with_programs(names: &[&str], check: impl Fn(&'static Benchmark) -> Result<(), String> + Sync) {
    let benchmarks: Vec<&'static Benchmark> =
        names.iter().map(|name| find(name).expect("a benchmark")).collect();
    check_all(&benchmarks, |benchmark| benchmark.name.to_string(), |&benchmark| check(benchmark));
}

#[test]
fn without_profilers_the_code_is_the_same() {
    with_programs(PROGRAMS, |benchmark| {
        let seen = run(benchmark, ProfileOptions::default(), true)?;
        match seen.counting {
            0 => Ok(()),
            counting => Err(format!("{counting} of {} count something", seen.compilations)),
        }
    });
}

/// Who samples calls looks at yieldpoints that are there anyway.
#[test]
fn samples_of_calls_need_no_other_code() {
    with_programs(PROGRAMS, |benchmark| {
        let mut options = ProfileOptions::default();
        options.add("cbs:samples=100,stride=1,at=both,depth=all".parse()?)?;
        match run(benchmark, options, false)?.counting {
            0 => Ok(()),
            counting => Err(format!("{counting} pieces of code count something")),
        }
    });
}

/// Samples of subpaths leave compiled code, or run another version of it in between.
#[test]
fn samples_of_subpaths_leave_the_code_as_it_is() {
    for (spec, has_versions) in [("osp:skip=burst", false), ("osp:skip=versions", true)] {
        // Those that run for long enough that the other version is wanted.
        with_programs(&PROGRAMS[..3], |benchmark| {
            let mut options = ProfileOptions::default();
            options.add(spec.parse()?)?;
            let seen = run(benchmark, options, false)?;
            match (seen.counting, seen.marked > 0) {
                (0, marked) if marked == has_versions => Ok(()),
                (0, _) => Err(format!("{spec}: {} pieces of code tell of blocks", seen.marked)),
                (counting, _) => Err(format!("{spec}: {counting} pieces of code count something")),
            }
        });
    }
}

/// So that the other test can fail: each profiler by itself changes all code of which it wants to know something.
#[test]
fn with_any_profiler_the_code_differs() {
    with_programs(&PROGRAMS[..2], |benchmark| {
        for spec in ["edges", "blpp", "pep", "kblpp", "calls"] {
            let mut options = ProfileOptions::default();
            options.add(spec.parse().map_err(|why| format!("{spec}: {why}"))?)?;
            let seen = run(benchmark, options, false).map_err(|why| format!("{spec}: {why}"))?;
            // All code has a path; of what is left of a small program, little may have a branch or a call.
            if seen.counting == 0 || seen.counting < seen.compilations && !["edges", "calls"].contains(&spec)
            {
                return Err(format!("{spec}: {} of {} count something", seen.counting, seen.compilations));
            }
        }
        Ok(())
    });
}
