//! Methods lie in memory in the order that the calls between them give, and the program still does what it should.
//!
//! The plan is made a second time here, from what was said about the calls of the code that there is. (How calls make an order
//! is tested against a naive twin in `profilers/tests/layout.rs`.)

use holloway::compile::compile_benchmark;
use holloway_benchmarks::measure::{Ending, Hooks, measure};
use holloway_benchmarks::registry::{Benchmark, find};
use holloway_bytecode::verify::VerifiedProgram;
use holloway_profilers::MethodId;
use holloway_profilers::calls::{CallEdge, CallGraph, CallSite};
use holloway_profilers::layout::order_methods;
use holloway_tests::benchmarks::with_most_programs;
use holloway_tests::modes::compiler;
use holloway_vm::compiled::{
    CallSource, CodeId, CompiledCalls, GivenCalls, Level, LogEvent, TierOptions, Verdict,
};
use holloway_vm::timer::TimerSource;
use holloway_vm::{Outcome, Vm, VmOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// What the virtual machine told of its code, as far as it matters here.
#[derive(Default)]
struct Told {
    orders: usize,
    /// Code came or went after the last time.
    later: bool,
}

struct Ran {
    code: Vec<CompiledCalls>,
    told: Told,
    calls: CallGraph,
}

/// Everything is compiled when it is entered for the first time.
fn at_once() -> TierOptions {
    TierOptions {
        compiler: Some(compiler()),
        level: Some(Level::O2),
        synchronous: true,
        method_threshold: 1,
        loop_steps: 1,
        ..TierOptions::default()
    }
}

/// Runs a program with methods in the order of these calls.
fn run(
    benchmark: &'static Benchmark,
    program: &Arc<VerifiedProgram>,
    given: Option<&CallGraph>,
) -> Result<Ran, String> {
    let told = Arc::new(Mutex::new(Told::default()));
    let options = |arguments, output| {
        let told = told.clone();
        let log = move |event: LogEvent, line: &str| {
            let mut told = told.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let is_order = line.contains("lie in a row now");
            told.orders += usize::from(is_order);
            // Code that is thrown away has calls no more.
            let changes = event == LogEvent::Compile || line.contains("is invalid");
            told.later = !is_order && (told.later || changes);
        };
        let tiers = TierOptions {
            method_order: given
                .map(|calls| CallSource::Given(Arc::new(GivenCalls::of_program(program, calls.clone())))),
            log: Some(Box::new(log)),
            ..at_once()
        };
        let timer = TimerSource::Virtual(29);
        let mut options = VmOptions { arguments, output, tiers, timer, ..VmOptions::default() };
        options.profile.add("calls".parse().expect("a profiler")).expect("each once");
        options
    };
    let mut ran = None;
    let hooks =
        Hooks::none().with_ended(|vm: &Vm| ran = Some((vm.compiled_calls(), vm.profile().calls.exact)));
    let measured = measure(benchmark, program.clone(), benchmark.quick_size, 3, options, hooks);
    let told = std::mem::take(&mut *told.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
    match (measured.ending, ran) {
        (Ending::Verified, Some((code, Some(calls)))) => Ok(Ran { code, told, calls }),
        (ending, _) => Err(format!("{ending:?}")),
    }
}

/// The calls that are left in code.
fn calls_left(code: &[CompiledCalls], all: &CallGraph) -> CallGraph {
    let mut left = Vec::new();
    for piece in code {
        for decision in &piece.decisions {
            let is_left = [Verdict::Called, Verdict::GuardedElseCall].contains(&decision.verdict);
            if let Some(&(caller, position)) =
                decision.path.last().filter(|_| is_left && decision.frequency > 0.0)
            {
                left.push((
                    MethodId(piece.function.0),
                    CallSite { caller: MethodId(caller.0), position },
                    decision,
                ));
            }
        }
    }
    // How often each call is left, and whom it reaches.
    let mut sites: BTreeMap<CallSite, (u64, Vec<(MethodId, u64)>)> = BTreeMap::new();
    left.iter().for_each(|(_, site, _)| sites.entry(*site).or_default().0 += 1);
    for (edge, weight) in all.edges() {
        sites.entry(edge.site).or_default().1.push((edge.callee, weight));
    }
    let mut graph = CallGraph::new();
    for (method, site, decision) in &left {
        let (times, reached) = &sites[site];
        for &(callee, weight) in reached {
            let is_inlined = decision.inlined.iter().any(|inlined| inlined.0 == callee.0);
            if !is_inlined && weight >= *times {
                graph.add(CallEdge::new(*method, site.position, callee), weight / times);
            }
        }
    }
    graph
}

#[test]
fn methods_lie_as_their_calls_say() {
    let (ordered, moved) = (AtomicUsize::new(0), AtomicUsize::new(0));
    with_most_programs(|benchmark, program| {
        let before = run(benchmark, program, None)?;
        let Ran { mut code, told, .. } = run(benchmark, program, Some(&before.calls))?;
        if told.orders == 0 || told.later {
            return Ok(());
        }
        let compiled: Vec<_> = code.iter().map(|piece| piece.id).collect();
        let plan = order_methods(program.functions.len(), &calls_left(&code, &before.calls));
        code.sort_by_key(|piece| piece.address);
        let places = code.iter().map(|piece| plan.iter().position(|method| method.0 == piece.function.0));
        if !places.is_sorted() {
            let names = code.iter().map(|piece| &*program.functions[piece.function.index()].name);
            return Err(format!("in memory: {}", names.collect::<Vec<_>>().join(", ")));
        }
        ordered.fetch_add(1, Relaxed);
        moved.fetch_add(usize::from(!code.iter().map(|piece| piece.id).eq(compiled)), Relaxed);
        Ok(())
    });
    let (ordered, moved) = (ordered.into_inner(), moved.into_inner());
    assert!(
        ordered >= 10 && moved >= 5,
        "{ordered} programs were put in order, {moved} in another than that of compiling"
    );
}

#[test]
fn programs_do_the_same_wherever_their_code_is_scattered() {
    for name in ["richards", "json", "havlak", "dispatcher"] {
        let benchmark = find(name).expect("a program");
        let program = compile_benchmark(benchmark, false).expect("a program");
        let tiers = TierOptions { scatter: Some(1), ..at_once() };
        let arguments = vec![benchmark.quick_size.to_string(), "1".to_string()];
        let mut vm = Vm::new(program, VmOptions { arguments, tiers, ..VmOptions::default() }).expect(name);
        let mut places: BTreeMap<CodeId, BTreeSet<usize>> = BTreeMap::new();
        for seed in 0..8 {
            let outcome = vm.run();
            assert!(
                matches!(&outcome, Outcome::Finished(errors) if errors.is_empty()),
                "{name}: {outcome:?}"
            );
            for code in vm.compiled_calls() {
                places.entry(code.id).or_default().insert(code.address);
            }
            vm.scatter(seed);
        }
        let most = places.values().map(BTreeSet::len).max();
        assert_eq!(most, Some(8), "{name}: each time somewhere else");
        let used = vm.statistics().tiers.code_in_use;
        assert!(used < 4 * vm.statistics().tiers.bytes() as usize, "{name}: {used} bytes are in use");
    }
}
