//! Call graphs. Exact counts are the same in all tiers, whatever is inlined, left and entered again: the interpreter, which counts
//! each call as it makes it, is the naive twin of the counters in compiled code. Samples find what Arnold and Grove found.
//!
//! `CALL_PROGRAMS=5000` runs more random programs, `CALL_SEED=7` begins elsewhere.

use holloway::compile::compile_benchmark;
use holloway_benchmarks::measure::{Ending, Hooks, measure};
use holloway_benchmarks::registry::{Benchmark, find};
use holloway_bytecode::verify::VerifiedProgram;
use holloway_profilers::calls::{CallEdge, CallGraph, overlap};
use holloway_tests::benchmarks::{same_in_all_tiers, with_most_programs};
use holloway_tests::modes::{Mode, mode};
use holloway_tests::parallel::check_all;
use holloway_tests::random::generate;
use holloway_tests::run::compile;
use holloway_vm::profiling::{Collected, ProfileOptions, SampledCalls};
use holloway_vm::timer::TimerSource;
use holloway_vm::{Outcome, Vm, VmOptions};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Random programs of a plain `cargo test`, each in so many modes besides the interpreter.
const PROGRAMS: u64 = 150;
/// See [`PROGRAMS`].
const EACH: u64 = 2;

fn options(mode: &Mode, specs: &[&str], timer: TimerSource) -> VmOptions {
    let mut options = VmOptions { output: Box::new(std::io::sink()), timer, ..VmOptions::default() };
    (mode.apply)(&mut options);
    for spec in specs {
        options.profile.add(spec.parse().expect("a profiler")).expect("each once");
    }
    options
}

/// Runs a benchmark program of a size.
fn profile(
    benchmark: &'static Benchmark,
    program: &Arc<VerifiedProgram>,
    (size, extra): (u64, &[&str]),
    mode: &Mode,
    specs: &[&str],
    timer: TimerSource,
) -> Result<Collected, String> {
    let mut found = None;
    let options = |arguments: Vec<String>, output| {
        let mut options = options(mode, specs, timer);
        (options.arguments, options.output) = (arguments, output);
        options.arguments.extend(extra.iter().map(ToString::to_string));
        options
    };
    let hooks = Hooks::none().with_ended(|vm: &Vm| found = Some(vm.profile()));
    let measured = measure(benchmark, program.clone(), size, 1, options, hooks);
    match (measured.ending, found) {
        (Ending::Verified, Some(found)) => Ok(found),
        (ending, _) => Err(format!("{}: {ending:?}", mode.name)),
    }
}

fn exact(found: &Collected) -> Result<&CallGraph, String> {
    found.calls.exact.as_ref().ok_or_else(|| "calls were not counted".to_string())
}

fn sampled(found: &Collected) -> Result<&SampledCalls, String> {
    found.calls.sampled.as_ref().ok_or_else(|| "calls were not sampled".to_string())
}

/// The first call that was not counted as it should be.
fn same(program: &VerifiedProgram, expected: &CallGraph, counted: &CallGraph) -> Result<(), String> {
    let edges = expected.edges().into_iter().chain(counted.edges()).map(|(edge, _)| edge);
    let name = |id: holloway_profilers::MethodId| &program.functions[id.index()].name;
    for edge in edges {
        let (should, is) = (expected.weight(edge), counted.weight(edge));
        if should != is {
            let CallEdge { site, callee } = edge;
            let (caller, callee) = (name(site.caller), name(callee));
            return Err(format!("{caller}@{} -> {callee}: {is} times instead of {should}", site.position));
        }
    }
    Ok(())
}

/// What listeners heard and caches counted was called.
fn no_more(program: &VerifiedProgram, exact: &CallGraph, found: &Collected) -> Result<(), String> {
    let heard = found.calls.heard.as_ref().map(|heard| ("heard", &heard.graph));
    let cached = found.calls.cached.as_ref().map(|cached| ("in caches", &cached.graph));
    let name = |id: holloway_profilers::MethodId| &program.functions[id.index()].name;
    for (how, graph) in heard.into_iter().chain(cached) {
        let more = graph.edges().into_iter().find(|&(edge, count)| count > exact.weight(edge));
        if let Some((edge, count)) = more {
            let (called, callee) = (exact.weight(edge), name(edge.callee));
            let caller = name(edge.site.caller);
            return Err(format!("{caller} -> {callee}: {count} times {how}, called {called} times"));
        }
    }
    Ok(())
}

const TICKS: TimerSource = TimerSource::Virtual(1009);

#[test]
fn all_tiers_count_the_same_calls() {
    with_most_programs(|benchmark, program| {
        let size = (benchmark.quick_size, &[][..]);
        let ticks = same_in_all_tiers(benchmark, TICKS);
        let specs = ["calls", "cbs:samples=4,stride=2"];
        let reference = profile(benchmark, program, size, mode("tail"), &specs, ticks)?;
        let reference = exact(&reference)?;
        for name in ["o0", "o2", "deopt-7"] {
            let found = profile(benchmark, program, size, mode(name), &specs, ticks)?;
            same(program, reference, exact(&found)?).map_err(|why| format!("{name}: {why}"))?;
            let sampled = sampled(&found)?;
            if sampled.graph.total() + sampled.roots != sampled.window.taken {
                return Err(format!("{name}: {} samples of {}", sampled.graph.total(), sampled.window.taken));
            }
            if let Some((edge, _)) =
                sampled.graph.edges().into_iter().find(|&(edge, samples)| samples > reference.weight(edge))
            {
                return Err(format!("{name}: {edge} was sampled more often than it was called"));
            }
        }
        Ok(())
    });
}

/// What a random program called, unless a limit stopped it.
fn calls_of(
    program: &Arc<VerifiedProgram>,
    mode: &Mode,
    specs: &[&str],
) -> Result<Option<Collected>, String> {
    // Without ticks: what threads call may depend on when they are switched.
    let mut options = options(mode, specs, TimerSource::Wall(Duration::from_secs(3600)));
    (options.stack_depth, options.time_limit) = (100, Some(Duration::from_secs(60)));
    let mut vm = Vm::new(program.clone(), options)?;
    match vm.run() {
        Outcome::Stopped(..) => Ok(None),
        _ => Ok(Some(vm.profile())),
    }
}

#[test]
fn random_programs_call_the_same_in_all_tiers() {
    let number = |variable: &str, otherwise: u64| match std::env::var(variable) {
        Ok(text) => text.parse().expect("a number"),
        Err(_) => otherwise,
    };
    let (first, count) = (number("CALL_SEED", 0), number("CALL_PROGRAMS", PROGRAMS));
    let modes: Vec<&Mode> =
        ["o0", "o1", "o2", "adaptive", "osr", "deopt-1", "deopt-7", "deopt-101", "o2-gc-stress", "loop"]
            .map(mode)
            .into();
    let (compared, calls) = (AtomicU64::new(0), AtomicU64::new(0));
    let seeds: Vec<u64> = (first..first + count).collect();
    check_all(
        &seeds,
        |seed| format!("program {seed}"),
        |&seed| {
            let program = compile(Path::new("calls.hol"), &generate(seed).tree.program_text())?;
            let Some(reference) = calls_of(&program, mode("tail"), &["calls"])? else { return Ok(()) };
            let reference = exact(&reference)?.clone();
            for turn in 0..EACH {
                let mode = modes[((seed * EACH + turn) % modes.len() as u64) as usize];
                let specs = [
                    "calls",
                    "cbs:samples=3,stride=2,depth=3",
                    "oneshot:burst=7",
                    "icache:entries=2,sites=all",
                ];
                if let Some(found) = calls_of(&program, mode, &specs)? {
                    let fail = |why| format!("{}: {why}", mode.name);
                    same(&program, &reference, exact(&found)?).map_err(fail)?;
                    no_more(&program, &reference, &found).map_err(fail)?;
                    compared.fetch_add(1, Ordering::Relaxed);
                }
            }
            calls.fetch_add(reference.total(), Ordering::Relaxed);
            Ok(())
        },
    );
    let (compared, calls) = (compared.into_inner(), calls.into_inner());
    println!("{count} programs, {calls} calls, {compared} comparisons");
    assert!(compared > count && calls > 10 * count, "too little was compared");
}

/// The calls of a site's method of other methods, by their names.
fn calls(program: &VerifiedProgram, graph: &CallGraph, caller: &str, callee: &str) -> u64 {
    let name = |id: holloway_profilers::MethodId| &*program.functions[id.index()].name;
    let of = |&(edge, _): &(CallEdge, u64)| name(edge.site.caller) == caller && name(edge.callee) == callee;
    graph.edges().iter().filter(|of_graph| of(of_graph)).map(|&(_, count)| count).sum()
}

#[test]
fn the_ledger_is_counted_right() {
    let ledger = find("ledger").expect("a benchmark");
    let program = compile_benchmark(ledger, false).expect("it compiles");
    for name in ["tail", "o0", "o2"] {
        let found = profile(ledger, &program, (3, &[]), mode(name), &["calls"], TICKS).expect("it runs");
        let graph = exact(&found).expect("calls are counted");
        for (caller, callee, per_day) in [
            ("Shop.day", "Shop.sell", 1200),
            ("Shop.sell", "Shop.charge", 1200),
            ("Shop.charge", "Card.charge", 1080),
            ("Shop.charge", "Cash.charge", 120),
            ("Shop.send", "Letter.cost", 600),
            ("Shop.discount", "Student.discount", 360),
            ("Shop.tax", "Wine.tax", 100),
            ("Shop.book", "Savings.post", 600),
        ] {
            let count = calls(&program, graph, caller, callee);
            assert_eq!(count, 3 * per_day, "{name}: {caller} -> {callee}");
        }
    }
}

/// Figure 1 of Arnold & Grove: one sample for each tick finds the call after the stretch and hardly ever the other; skips of any
/// stride and several samples for each tick find both. With epilogues, a stride of 2 is in step with the program again.
#[test]
fn the_adversary_deceives_the_timer_alone() {
    let adversary = find("adversary").expect("a benchmark");
    let program = compile_benchmark(adversary, false).expect("it compiles");
    let ticks = TimerSource::Virtual(10_007);
    let score = |name: &str, spec: &str| {
        let size = (4000, &["1000"][..]);
        let found = profile(adversary, &program, size, mode(name), &["calls", spec], ticks).expect("it runs");
        overlap(&sampled(&found).expect("cbs ran").graph, exact(&found).expect("calls ran"))
    };
    for name in ["tail", "o0"] {
        for (spec, low, high) in [
            ("cbs:schedule=timer", 49.0, 52.0),
            ("cbs:schedule=timer,at=both", 49.0, 52.0),
            ("cbs:samples=1,stride=2,at=both", 49.0, 52.0),
            ("cbs", 97.0, 100.0),
            ("cbs:at=both", 97.0, 100.0),
            ("cbs:samples=16,stride=7", 97.0, 100.0),
            ("cbs:samples=64,stride=17", 97.0, 100.0),
            ("cbs:samples=16,stride=3,skip=random,seed=5", 97.0, 100.0),
        ] {
            let overlap = score(name, spec);
            assert!((low..=high).contains(&overlap), "{name}: {spec}: {overlap:.2} %");
        }
    }
}

/// A window that opens at once and never closes sees every call that has a prologue, once: in the interpreter that is every call.
#[test]
fn samples_of_everything_are_counts() {
    let benchmarks =
        ["richards", "json", "havlak", "cd", "ledger"].map(|name| find(name).expect("a benchmark"));
    let name = |benchmark: &&Benchmark| benchmark.name.to_string();
    check_all(&benchmarks, name, |&benchmark| {
        let program = &compile_benchmark(benchmark, false)?;
        let size = (benchmark.quick_size, &[][..]);
        let specs = ["calls", "cbs:samples=4000000000,stride=1"];
        let found = profile(benchmark, program, size, mode("tail"), &specs, TimerSource::Virtual(1))?;
        same(program, exact(&found)?, &sampled(&found)?.graph)?;
        // Calls between tiers are seen once, too; inlined ones are not.
        let found = profile(benchmark, program, size, mode("deopt-7"), &specs, TimerSource::Virtual(1))?;
        let (exact, sampled) = (exact(&found)?, &sampled(&found)?.graph);
        match sampled.edges().into_iter().find(|&(edge, samples)| samples > exact.weight(edge)) {
            Some((edge, samples)) => Err(format!("{edge}: {samples} samples, called {}", exact.weight(edge))),
            None => Ok(()),
        }
    });
}

#[test]
fn the_same_run_gives_the_same_samples() {
    with_most_programs(|benchmark, program| {
        let run = || {
            let size = (benchmark.quick_size, &[][..]);
            let specs = ["cbs:samples=7,stride=3,skip=random,seed=3,depth=4,at=both", "pep"];
            profile(benchmark, program, size, mode("o2"), &specs, TICKS)
        };
        let (one, other) = (run()?, run()?);
        let (one, other) = (sampled(&one)?, sampled(&other)?);
        match one.graph == other.graph && one.contexts == other.contexts && one.window == other.window {
            true => Ok(()),
            false => Err("two profiles of the same run differ".into()),
        }
    });
}

/// Contexts of depth 1 are calls; deeper ones have the same calls at their ends.
#[test]
fn contexts_end_in_calls() {
    let ledger = find("ledger").expect("a benchmark");
    let program = compile_benchmark(ledger, false).expect("it compiles");
    let run = |spec: &str| profile(ledger, &program, (3, &[]), mode("o0"), &[spec], TICKS).expect("it runs");
    let plain = run("cbs");
    let plain = sampled(&plain).expect("cbs ran");
    assert!(plain.contexts.is_none());
    for (spec, depth) in [("cbs:depth=2", 3), ("cbs:depth=all", usize::MAX)] {
        let found = run(spec);
        let found = sampled(&found).expect("cbs ran");
        assert_eq!(found.graph, plain.graph, "{spec}");
        let contexts = found.contexts.as_ref().expect("contexts were asked for");
        let mut ends = CallGraph::new();
        for (stack, weight) in contexts.contexts() {
            assert!(stack.len() <= depth, "{spec}: {} frames", stack.len());
            if let [.., caller, callee] = &*stack {
                ends.add(CallEdge::new(caller.method, caller.position, callee.method), weight);
            }
        }
        assert_eq!(ends, plain.graph, "{spec}");
    }
}

/// Most calls of optimized code are inlined and never sampled; the paths that PEP samples pass them.
#[test]
fn paths_give_credit_to_inlined_calls() {
    for (name, size, level, least) in
        [("richards", 3, "o1", 97.0), ("havlak", 15, "o2", 85.0), ("ledger", 10, "o2", 80.0)]
    {
        let benchmark = find(name).expect("a benchmark");
        let program = compile_benchmark(benchmark, false).expect("it compiles");
        let specs = ["calls", "pep", "cbs:credit=paths"];
        let size = (size, &[][..]);
        let found = profile(benchmark, &program, size, mode(level), &specs, TICKS).expect("it runs");
        let (actual, sampled) = (exact(&found).expect("calls ran"), sampled(&found).expect("cbs ran"));
        let credited = &found.credited_calls.as_ref().expect("there is credit").graph;
        let (without, with) = (overlap(&sampled.graph, actual), overlap(credited, actual));
        println!("{name} {level}: {without:.2} % without, {with:.2} % with credit");
        assert!(without < 50.0 && with >= least, "{name}: {without:.2} % without, {with:.2} % with credit");
    }
}

#[test]
fn what_is_old_is_forgotten() {
    let ledger = find("ledger").expect("a benchmark");
    let program = compile_benchmark(ledger, false).expect("it compiles");
    let run = |spec: &str| profile(ledger, &program, (3, &[]), mode("o0"), &[spec], TICKS).expect("it runs");
    let (kept, aged) = (run("cbs"), run("cbs:decay=100"));
    let (kept, aged) = (sampled(&kept).expect("cbs ran"), sampled(&aged).expect("cbs ran"));
    assert_eq!(kept.window, aged.window);
    assert!(aged.graph.total() < 200 && kept.graph.total() > 1000, "{}", aged.graph.total());
}

#[test]
fn nothing_asked_for_is_nothing_found() {
    let queens = find("queens").expect("a benchmark");
    let program = compile_benchmark(queens, false).expect("it compiles");
    let found = profile(queens, &program, (1, &[]), mode("o2"), &["edges"], TICKS).expect("it runs");
    assert!(found.calls.exact.is_none() && found.calls.sampled.is_none());
    assert_eq!(ProfileOptions::default().specs(), []);
}
