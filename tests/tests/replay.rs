//! Replay: what a run learned makes later runs compile the same methods in the same order to the same machine code, whatever the
//! addresses, or take what another made of it; what it lacks is made by the model; what does not fit is refused with the reason.

use holloway::compile::compile_benchmark;
use holloway_benchmarks::measure::{Ending, Hooks, measure};
use holloway_benchmarks::registry::Benchmark;
use holloway_bytecode::verify::VerifiedProgram;
use holloway_jit::Jit;
use holloway_tests::benchmarks::with_most_programs;
use holloway_tests::modes::compiler;
use holloway_vm::adaptive::Advice;
use holloway_vm::compiled::{Compiled, Compiler, Profile, ReplayedCode, Request, TierOptions};
use holloway_vm::profiling::ProfileOptions;
use holloway_vm::profiling::file::ProfileFile;
use holloway_vm::timer::TimerSource;
use holloway_vm::{Vm, VmOptions};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs a benchmark program with these options; gives the digest of its machine code, how much was compiled, and what was learned.
fn run(
    benchmark: &'static Benchmark,
    program: &Arc<VerifiedProgram>,
    tiers: TierOptions,
    timer: TimerSource,
) -> Result<(u64, u64, Advice), String> {
    let mut advice = None;
    let options = |arguments, output| VmOptions { arguments, output, tiers, timer, ..VmOptions::default() };
    let hooks = Hooks::none().with_ended(|vm: &Vm| advice = Some(vm.advice()));
    let measured = measure(benchmark, program.clone(), benchmark.quick_size, 3, options, hooks);
    match (measured.ending, advice) {
        (Ending::Verified, Some(advice)) => {
            let tiers = measured.statistics.tiers;
            Ok((tiers.digest, tiers.compilations(), advice))
        }
        (ending, _) => Err(format!("{ending:?}")),
    }
}

#[test]
fn two_replays_make_the_same_machine_code() {
    with_most_programs(|benchmark, program| {
        let first =
            TierOptions { compiler: Some(compiler()), method_threshold: 20, ..TierOptions::default() };
        let (_, _, advice) = run(benchmark, program, first, TimerSource::default())?;
        let text = serde_json::to_string(&advice).map_err(|error| error.to_string())?;
        let advice: Arc<Advice> = Arc::new(serde_json::from_str(&text).map_err(|e| e.to_string())?);
        let replay = || TierOptions {
            compiler: Some(compiler()),
            replay: Some(advice.clone()),
            digests: true,
            ..TierOptions::default()
        };
        let code = Some(Arc::<ReplayedCode>::default());
        // What the advice lacks is compiled by what the interpreter has counted, which depends on when threads are switched.
        let run = |tiers| run(benchmark, program, tiers, TimerSource::Virtual(5_000));
        let (one, made, _) = run(replay())?;
        for replayed in [code.clone(), code] {
            let (two, again, _) = run(TierOptions { replayed, ..replay() })?;
            if one != two || made != again {
                return Err(format!("{made} compilations with digest {one:x}, then {again} with {two:x}"));
            }
        }
        // All that the advice names was compiled, and perhaps again when an assumption broke.
        match made >= advice.compilations.len() as u64 && (one != 0 || made == 0) {
            true => Ok(()),
            false => {
                Err(format!("{made} compilations of {} that the advice names", advice.compilations.len()))
            }
        }
    });
}

/// What a machine that counts everything found, and how often it asked its compiler.
fn counted(
    benchmark: &'static Benchmark,
    program: &Arc<VerifiedProgram>,
    advice: &Arc<Advice>,
    code: Option<Arc<ReplayedCode>>,
) -> (ProfileFile, u64, usize) {
    let mut profile = ProfileOptions::default();
    for spec in ["edges", "blpp:storage=hash", "calls", "kblpp:k=3"] {
        profile.add(spec.parse().expect("a profiler")).expect("each once");
    }
    let asked = Arc::<AtomicUsize>::default();
    let options = |arguments, output| {
        let asked = asked.clone();
        let compiler = Box::new(move |program, model| {
            let jit = Jit::new(program, model, true)?;
            Ok(Arc::new(Asked { jit, asked }) as Arc<dyn Compiler>)
        });
        let tiers = TierOptions {
            compiler: Some(compiler),
            replay: Some(advice.clone()),
            replayed: code,
            digests: true,
            ..TierOptions::default()
        };
        let timer = TimerSource::Virtual(5_000);
        VmOptions { arguments, output, tiers, timer, profile, ..VmOptions::default() }
    };
    let mut found = None;
    let hooks = Hooks::none().with_ended(|vm: &Vm| found = Some(vm.profile_file("", "")));
    let measured = measure(benchmark, program.clone(), benchmark.quick_size, 3, options, hooks);
    assert!(matches!(measured.ending, Ending::Verified), "{:?}", measured.ending);
    let asked = asked.load(Ordering::Relaxed);
    (found.expect("it ended"), measured.statistics.tiers.digest, asked)
}

/// Counts how often it is asked.
struct Asked {
    jit: Jit,
    asked: Arc<AtomicUsize>,
}

impl Compiler for Asked {
    fn compile(&self, request: &Request, profile: &dyn Profile) -> Result<Compiled, String> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.jit.compile(request, profile)
    }
}

#[test]
fn what_one_machine_has_made_another_takes_with_its_counters() {
    for name in ["richards", "json", "havlak", "masks"] {
        let benchmark = holloway_benchmarks::registry::find(name).expect("a benchmark");
        let program = compile_benchmark(benchmark, false).expect("it compiles");
        let first =
            TierOptions { compiler: Some(compiler()), method_threshold: 20, ..TierOptions::default() };
        let (_, _, advice) = run(benchmark, &program, first, TimerSource::default()).expect("it runs");
        let advice = Arc::new(advice);
        let code = Arc::<ReplayedCode>::default();
        let [makes, takes] = [(); 2].map(|()| counted(benchmark, &program, &advice, Some(code.clone())));
        assert_eq!(
            (&makes.0, makes.1),
            (&takes.0, takes.1),
            "{name}: what they found, or their code, differs"
        );
        let advised = advice.compilations.len();
        assert!(advised > 0 && makes.2 >= advised, "{name}: the first made {} pieces", makes.2);
        assert!(takes.2 <= makes.2 - advised, "{name}: the second compiled {} of {}", takes.2, makes.2);
    }
}

#[test]
fn what_takes_long_is_compiled_though_the_advice_does_not_name_it() {
    let queens = holloway_benchmarks::registry::find("queens").expect("a benchmark");
    let program = compile_benchmark(queens, false).expect("it compiles");
    let tiers = |replay| TierOptions {
        compiler: Some(compiler()),
        method_threshold: 20,
        digests: true,
        replay,
        ..TierOptions::default()
    };
    let run = |replay| run(queens, &program, tiers(replay), TimerSource::default()).expect("it runs");
    let (_, _, mut advice) = run(None);
    advice.compilations.clear();
    let advice = Arc::new(advice);
    let (one, made, _) = run(Some(advice.clone()));
    assert!(made > 0, "all of it was interpreted");
    let (two, again, _) = run(Some(advice));
    assert_eq!((one, made), (two, again), "two replays differ");
}

#[test]
fn synchronous_compilation_is_repeatable() {
    with_most_programs(|benchmark, program| {
        let tiers = || TierOptions {
            compiler: Some(compiler()),
            synchronous: true,
            digests: true,
            method_threshold: 20,
            ..TierOptions::default()
        };
        // These programs print times: under the virtual timer, the same ones.
        let run = || run(benchmark, program, tiers(), TimerSource::Virtual(5_000));
        let (one, two) = (run()?, run()?);
        match (one.0, one.1) == (two.0, two.1) {
            true => Ok(()),
            false => Err(format!("{} compilations: {:x}; {}: {:x}", one.1, one.0, two.1, two.0)),
        }
    });
}

#[test]
fn advice_that_does_not_fit_is_refused_with_the_reason() {
    let [towers, sieve] =
        ["towers", "sieve"].map(|name| holloway_benchmarks::registry::find(name).expect("a benchmark"));
    let (towers, other) = (towers, sieve);
    let fits = compile_benchmark(towers, false).expect("it compiles");
    let tiers = TierOptions {
        compiler: Some(compiler()),
        synchronous: true,
        method_threshold: 5,
        ..TierOptions::default()
    };
    let (_, made, advice) = run(towers, &fits, tiers, TimerSource::default()).expect("it runs");
    assert!(made > 0 && !advice.compilations.is_empty(), "nothing was compiled");
    assert_eq!(advice.check(&fits), Ok(()));
    let refused = |change: &dyn Fn(&mut Advice), why: &str| {
        let mut changed = advice.clone();
        change(&mut changed);
        let error = changed.check(&fits).expect_err(why).to_string();
        assert!(error.contains(why), "`{error}` does not say `{why}`");
    };
    let other = compile_benchmark(other, false).expect("it compiles");
    let error = advice.check(&other).expect_err("of another program").to_string();
    assert!(error.contains("it is about `") || error.contains("has changed"), "{error}");
    refused(&|a| a.format = "recipe".into(), "its format is `recipe`");
    refused(&|a| a.version = 99, "version 99");
    refused(&|a| a.functions[0].fingerprint = "0".into(), "has changed since");
    refused(&|a| a.functions[0].function = 1 << 20, "which the program does not have");
    refused(&|a| a.functions[0].name.push('x'), "made for another program");
    refused(&|a| a.program = "0".into(), "the program has changed since");
    refused(&|a| a.functions[0].branches.push((1 << 20, 1, 1)), "no branch at 1048576");
    refused(&|a| a.compilations[0].loop_at = Some(1 << 20), "no loop at 1048576");
    refused(&|a| a.compilations[0].function = 1 << 20, "of which it says nothing");
    refused(&|a| a.instantiated[0].name.push('x'), "class");
    let mut wrong = advice.clone();
    wrong.version = 2;
    let tiers =
        TierOptions { compiler: Some(compiler()), replay: Some(Arc::new(wrong)), ..TierOptions::default() };
    let vm = Vm::new(fits.clone(), VmOptions { tiers, ..VmOptions::default() });
    assert!(vm.err().is_some_and(|error| error.contains("does not fit the program: it has version 2")));
}
