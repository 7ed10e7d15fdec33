//! What others did before counter-based sampling: bursts of methods that were just optimized, inline caches with counters. Both are
//! judged by exact counts; programs whose calls are known say that these are right (`profiling_calls`).

use holloway::compile::compile_benchmark;
use holloway_benchmarks::measure::{Ending, Hooks, measure};
use holloway_benchmarks::registry::{Benchmark, find};
use holloway_bytecode::verify::VerifiedProgram;
use holloway_profilers::calls::{CallGraph, CallSite, overlap};
use holloway_tests::modes::{Mode, mode};
use holloway_tests::parallel::check_all;
use holloway_vm::profiling::{Collected, HeardCalls, Snapshots, is_through_table};
use holloway_vm::timer::TimerSource;
use holloway_vm::{Vm, VmOptions};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What was found in a run, and a digest of all machine code.
struct Ran {
    found: Collected,
    digest: u64,
}

fn run(
    (benchmark, program): (&'static Benchmark, &Arc<VerifiedProgram>),
    (size, extra): (u64, &[&str]),
    mode: &Mode,
    specs: &[&str],
) -> Result<Ran, String> {
    let mut ran = None;
    let options = |arguments: Vec<String>, output| {
        let timer = TimerSource::Virtual(1009);
        let mut options = VmOptions { output, timer, arguments, ..VmOptions::default() };
        (mode.apply)(&mut options);
        (options.tiers.digests, options.profile.snapshots) = (true, Some(Snapshots::Doubling));
        options.arguments.extend(extra.iter().map(ToString::to_string));
        for spec in specs {
            options.profile.add(spec.parse().expect("a profiler")).expect("each once");
        }
        options
    };
    let ended = |vm: &Vm| ran = Some(Ran { found: vm.profile(), digest: vm.statistics().tiers.digest });
    let measured = measure(benchmark, program.clone(), size, 1, options, Hooks::none().with_ended(ended));
    match (measured.ending, ran) {
        (Ending::Verified, Some(ran)) => Ok(ran),
        (ending, _) => Err(format!("{}: {ending:?}", mode.name)),
    }
}

/// Calls `with` for each of these programs.
fn with_programs(
    names: &[&str],
    with: impl Fn((&'static Benchmark, &Arc<VerifiedProgram>)) -> Result<(), String> + Sync,
) {
    let benchmarks: Vec<&'static Benchmark> =
        names.iter().map(|name| find(name).expect("a benchmark")).collect();
    let name = |benchmark: &&Benchmark| benchmark.name.to_string();
    check_all(&benchmarks, name, |&benchmark| with((benchmark, &compile_benchmark(benchmark, false)?)));
}

fn exact(found: &Collected) -> &CallGraph {
    found.calls.exact.as_ref().expect("calls ran")
}

fn heard(found: &Collected) -> &HeardCalls {
    found.calls.heard.as_ref().expect("oneshot ran")
}

/// Listeners change no code, hear as many entries as they are to hear, and only calls that were made.
#[test]
fn bursts_are_so_long_and_of_calls() {
    with_programs(&["json", "havlak", "ledger", "shapes"], |program| {
        let size = (program.0.quick_size, &[][..]);
        for name in ["tail", "o0", "o2", "adaptive", "deopt-7"] {
            let plain = run(program, size, mode(name), &["calls"])?;
            let Ran { found, digest } = run(program, size, mode(name), &["calls", "oneshot:burst=20"])?;
            if name != "adaptive" && digest != plain.digest {
                return Err(format!("{name}: there is other code with listeners"));
            }
            let (heard, exact) = (heard(&found), exact(&found));
            // Adaptively, all calls may be inlined.
            if name == "tail" && !heard.graph.is_empty() || name == "o0" && heard.graph.is_empty() {
                return Err(format!("{name}: {} calls were heard", heard.graph.total()));
            }
            let mut entries: BTreeMap<_, u64> = BTreeMap::new();
            for (edge, count) in heard.graph.edges() {
                *entries.entry(edge.callee).or_default() += count;
                if count > exact.weight(edge) {
                    return Err(format!("{name}: {edge} was heard {count} times"));
                }
            }
            for &(method, burst) in &heard.bursts {
                let calls = entries.get(&method).copied().unwrap_or_default();
                let is_right = burst.entries <= 20 && (burst.entries == 20) == burst.until.is_some();
                if !is_right || calls > burst.entries {
                    return Err(format!("{name}: {method}: {calls} calls, {burst:?}"));
                }
            }
            let sum: u64 = heard.bursts.iter().map(|(_, burst)| burst.entries).sum();
            if sum != heard.graph.total() + heard.roots {
                return Err(format!("{name}: {sum} entries, {} calls", heard.graph.total()));
            }
        }
        Ok(())
    });
}

/// A burst that never ends hears what samples of everything see, but for the entries before there was code.
#[test]
fn an_endless_burst_hears_every_entry_of_compiled_code() {
    with_programs(&["richards", "json", "havlak", "ledger"], |program| {
        let size = (program.0.quick_size, &[][..]);
        let specs = ["oneshot:burst=4000000000", "cbs:samples=4000000000,stride=1"];
        let Ran { found, .. } = run(program, size, mode("o0"), &specs)?;
        let (heard, sampled) = (&heard(&found).graph, &found.calls.sampled.as_ref().expect("cbs ran").graph);
        for (edge, seen) in sampled.edges() {
            // A method is compiled when it is entered first, and the first window opens with the first tick.
            if heard.weight(edge) + 1100 < seen || heard.weight(edge) > seen + 1100 {
                return Err(format!("{edge}: {} times heard, {seen} times seen", heard.weight(edge)));
            }
        }
        Ok(())
    });
}

/// A cache with room for everything counts everything in the interpreter, where nothing is inlined; caches of tables only what goes
/// through tables. What compiled code does not inline it counts as well.
#[test]
fn caches_with_room_count_calls() {
    with_programs(&["json", "ledger", "dispatcher"], |program| {
        let size = (program.0.quick_size, &[][..]);
        let cached = |mode: &Mode, spec: &str| {
            let ran = run(program, size, mode, &["calls", spec])?;
            let cached = ran.found.calls.cached.clone().expect("icache ran");
            Ok::<_, String>((exact(&ran.found).clone(), cached))
        };
        let (exact, all) = cached(mode("tail"), "icache:entries=1024,sites=all")?;
        if exact != all.graph || !all.lost.is_empty() {
            return Err("not all calls of the interpreter were counted".into());
        }
        let of_tables = |graph: &CallGraph| -> CallGraph {
            let edges = graph.edges().into_iter();
            edges.filter(|(edge, _)| is_through_table(program.1, edge.site)).collect()
        };
        for name in ["o0", "deopt-7"] {
            let (_, all) = cached(mode(name), "icache:entries=1024,sites=all")?;
            let (_, tables) = cached(mode(name), "icache:entries=1024")?;
            if of_tables(&all.graph) != tables.graph {
                return Err(format!("{name}: caches of tables count other calls than caches of all"));
            }
            // Fewer entries lose calls, but not their number.
            let (_, few) = cached(mode(name), "icache:entries=2")?;
            let calls = |graph: &CallGraph, lost: &BTreeMap<CallSite, u64>| {
                let mut sites: BTreeMap<CallSite, u64> = lost.clone();
                for of in graph.sites() {
                    *sites.entry(of.site).or_default() += of.total;
                }
                sites
            };
            if calls(&few.graph, &few.lost) != calls(&tables.graph, &tables.lost) {
                return Err(format!("{name}: caches of 2 have other numbers of calls than caches of 1024"));
            }
        }
        Ok(())
    });
}

/// The ledger's sites with one, two, four and twelve classes of receivers: caches of four lose calls of the last only.
#[test]
fn sites_with_more_targets_than_entries_lose_calls() {
    let ledger = find("ledger").expect("a benchmark");
    let program = compile_benchmark(ledger, false).expect("it compiles");
    for name in ["tail", "o0"] {
        let specs = ["calls", "icache:entries=4"];
        let Ran { found, .. } = run((ledger, &program), (3, &[]), mode(name), &specs).expect("it runs");
        let cached = found.calls.cached.as_ref().expect("icache ran");
        let targets: BTreeMap<CallSite, usize> =
            exact(&found).sites().into_iter().map(|of| (of.site, of.targets.len())).collect();
        assert!(!cached.lost.is_empty(), "{name}: nothing is lost");
        for site in cached.lost.keys() {
            assert!(targets[site] > 4, "{name}: {site} has {} targets", targets[site]);
        }
    }
}

/// Arnold & Grove, section 3.2: bursts are of one phase. On programs with phases they are worse than samples of the whole run, and so
/// they are where a run is short.
#[test]
fn bursts_are_worse_than_samples_of_phases() {
    for name in ["sparse", "orders", "json"] {
        let benchmark = find(name).expect("a benchmark");
        let program = compile_benchmark(benchmark, false).expect("it compiles");
        let (size, specs) = ((benchmark.quick_size, &[][..]), ["calls", "cbs", "oneshot"]);
        let ran = run((benchmark, &program), size, mode("o0"), &specs).expect("it runs");
        let (actual, calls) = (exact(&ran.found), &ran.found.calls);
        let sampled = overlap(&calls.sampled.as_ref().expect("cbs ran").graph, actual);
        let heard = heard(&ran.found);
        let (rated, raw) = (overlap(&heard.rated(), actual), overlap(&heard.graph, actual));
        println!("{name}: cbs {sampled:.2} %, bursts at rates {rated:.2} %, as heard {raw:.2} %");
        assert!(rated.max(raw) < sampled, "{name}: cbs {sampled:.2} %, bursts {rated:.2} % and {raw:.2} %");
    }
}

/// Snapshots are of the profile as it grows.
#[test]
fn moments_grow_into_the_profile() {
    let ledger = find("ledger").expect("a benchmark");
    let program = compile_benchmark(ledger, false).expect("it compiles");
    let Ran { found, .. } =
        run((ledger, &program), (20, &[]), mode("o0"), &["cbs", "oneshot"]).expect("it runs");
    let ticks: Vec<u64> = found.call_moments.iter().map(|moment| moment.ticks).collect();
    assert!(ticks.len() > 4 && ticks.iter().zip(0..).all(|(&ticks, at)| ticks == 1 << at), "{ticks:?}");
    let end = found.calls.sampled.as_ref().expect("cbs ran");
    assert!(*ticks.last().expect("some") <= end.window.ticks);
    let mut before = CallGraph::new();
    for moment in &found.call_moments {
        let graph = moment.sampled.as_ref().expect("cbs ran");
        assert!(before.edges().into_iter().all(|(edge, count)| graph.weight(edge) >= count));
        assert!(moment.heard.is_some());
        before.clone_from(graph);
    }
    assert!(
        before.total() > 0 && before.edges().into_iter().all(|(edge, count)| end.graph.weight(edge) >= count)
    );
}
