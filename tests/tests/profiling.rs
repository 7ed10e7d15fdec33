//! Profiles: what is counted in compiled code agrees with itself, with what the interpreter counts, and with the next run.

use holloway_benchmarks::measure::{Ending, Hooks, measure};
use holloway_benchmarks::registry::Benchmark;
use holloway_bytecode::verify::VerifiedProgram;
use holloway_profilers::edges::EdgeProfile;
use holloway_profilers::stream::PathProfile;
use holloway_profilers::{BranchArm, PathNumber, VersionId};
use holloway_tests::benchmarks::{same_in_all_tiers, with_most_programs};
use holloway_tests::modes::{ALL_PROFILERS, compiler};
use holloway_vm::compiled::{Level, TierOptions};
use holloway_vm::profiling::file::ProfileFile;
use holloway_vm::profiling::{Collected, ProfileOptions};
use holloway_vm::timer::TimerSource;
use holloway_vm::{Vm, VmOptions};
use std::sync::Arc;

/// Everything is compiled at once at a level; without one, everything is interpreted.
fn tiers(level: Option<Level>) -> TierOptions {
    let defaults =
        TierOptions { synchronous: true, method_threshold: 1, loop_steps: 1, ..TierOptions::default() };
    TierOptions { compiler: level.map(|_| compiler()), level, ..defaults }
}

fn profilers(specs: &[&str]) -> ProfileOptions {
    let mut options = ProfileOptions::default();
    for spec in specs {
        options.add(spec.parse().expect("a profiler")).expect("each once");
    }
    options
}

/// Runs a benchmark program; gives what was found, as values and as a file.
fn profile(
    benchmark: &'static Benchmark,
    program: &Arc<VerifiedProgram>,
    level: Option<Level>,
    specs: &[&str],
) -> Result<(Collected, ProfileFile), String> {
    let timer = same_in_all_tiers(benchmark, TimerSource::Virtual(1009));
    profile_with(benchmark, program, level, specs, timer)
}

fn profile_with(
    benchmark: &'static Benchmark,
    program: &Arc<VerifiedProgram>,
    level: Option<Level>,
    specs: &[&str],
    timer: TimerSource,
) -> Result<(Collected, ProfileFile), String> {
    let mut found = None;
    let options = |arguments, output| VmOptions {
        arguments,
        output,
        tiers: tiers(level),
        timer,
        profile: profilers(specs),
        ..VmOptions::default()
    };
    let ended = |vm: &Vm| found = Some((vm.profile(), vm.profile_file(benchmark.name, "finished")));
    let measured = measure(
        benchmark,
        program.clone(),
        benchmark.quick_size,
        1,
        options,
        Hooks::none().with_ended(ended),
    );
    match (measured.ending, found) {
        (Ending::Verified, Some(found)) => Ok(found),
        (ending, _) => Err(format!("{ending:?}")),
    }
}

/// The edges on counted paths.
fn edges_of(found: &Collected, paths: &PathProfile) -> EdgeProfile {
    paths.edges(&mut |version: VersionId, number: PathNumber, out: &mut Vec<BranchArm>| {
        let version = found.versions.iter().find(|known| known.version == version);
        let dag = version.and_then(|version| version.dag.as_ref());
        out.extend(dag.and_then(|dag| dag.decode(number)).into_iter().flat_map(|path| path.branches));
    })
}

/// Every outcome of a branch that was counted is on a path, but for those on paths that were dropped; and no other is.
fn edges_are_on_paths(found: &Collected, edges: &EdgeProfile, paths: &PathProfile) -> Result<(), String> {
    let on_paths = edges_of(found, paths);
    for (branch, arms) in edges.iter() {
        for (counted, on_path) in arms.iter().zip(on_paths.arms(branch).iter().chain(std::iter::repeat(&0))) {
            if on_path > counted || on_path < counted && found.losses.total() == 0 {
                return Err(format!("{branch:?} was counted {arms:?}, on paths {:?}", on_paths.arms(branch)));
            }
        }
    }
    Ok(())
}

#[test]
fn edges_paths_samples_and_sequences_agree() {
    with_most_programs(|benchmark, program| {
        for level in Level::ALL {
            let (found, _) = profile(benchmark, program, Some(level), ALL_PROFILERS)?;
            agree(&found).map_err(|why| format!("{}: {why}", level.name()))?;
        }
        Ok(())
    });
}

fn agree(found: &Collected) -> Result<(), String> {
    let (Some(edges), Some(paths), Some(sampled), Some(iterated)) =
        (&found.edges, &found.paths, &found.sampled, &found.iterated)
    else {
        return Err("something is missing".into());
    };
    // Every edge is on a path that was counted, or on one that was dropped.
    edges_are_on_paths(found, edges, paths)?;
    // A sequence of one path is a path.
    let mut total = 0;
    for gram in iterated.paths.grams().iter().filter(|gram| gram.paths.len() == 1) {
        let exact = paths.count(gram.version, gram.paths[0]);
        if exact != gram.count {
            return Err(format!(
                "{:?} {:?}: {exact} times, {} in the forest",
                gram.version, gram.paths, gram.count
            ));
        }
        total += gram.count;
    }
    if total != paths.total() {
        return Err(format!("{} paths, {total} in the forest", paths.total()));
    }
    // What was sampled was run.
    for sample in sampled.paths.iter() {
        if sample.count > paths.count(sample.version, sample.path) {
            return Err(format!("{sample:?} is more than was counted"));
        }
    }
    if sampled.paths.total() != sampled.window.taken {
        return Err(format!("{} samples of {}", sampled.paths.total(), sampled.window.taken));
    }
    Ok(())
}

/// A window that opens at once and never closes samples every path, also in loops that need no register for samples: what
/// is on the sampled paths is what was counted on edges.
#[test]
fn samples_of_everything_are_counts() {
    with_most_programs(|benchmark, program| {
        let specs = ["edges", "pep:samples=4000000000,stride=1"];
        let (found, _) = profile_with(benchmark, program, Some(Level::O2), &specs, TimerSource::Virtual(1))?;
        let (Some(edges), Some(sampled)) = (&found.edges, &found.sampled) else {
            return Err("something is missing".into());
        };
        edges_are_on_paths(&found, edges, &sampled.paths)
    });
}

#[test]
fn hash_tables_and_arrays_count_the_same() {
    with_most_programs(|benchmark, program| {
        let level = Some(Level::O2);
        let (array, _) = profile(benchmark, program, level, &["blpp:storage=array"])?;
        let (hash, _) = profile(benchmark, program, level, &["blpp:storage=hash"])?;
        match array.paths == hash.paths && hash.hash_operations == hash.paths.map_or(0, |paths| paths.total())
        {
            true => Ok(()),
            false => Err("they differ".into()),
        }
    });
}

#[test]
fn the_same_run_gives_the_same_profile() {
    with_most_programs(|benchmark, program| {
        let run = || -> Result<String, String> {
            let (_, file) = profile(benchmark, program, Some(Level::O2), ALL_PROFILERS)?;
            file.check()?;
            serde_json::to_string(&file).map_err(|error| error.to_string())
        };
        match run()? == run()? {
            true => Ok(()),
            false => Err("two profiles of the same run differ".into()),
        }
    });
}

#[test]
fn compiled_code_counts_what_the_interpreter_would() {
    with_most_programs(|benchmark, program| {
        let reference = profile(benchmark, program, None, &[])?.0.baseline;
        for level in Level::ALL {
            let (found, _) = profile(benchmark, program, Some(level), &["edges"])?;
            let mut together = found.baseline.clone();
            together.merge(&found.edges.unwrap_or_default());
            let (mut executed, mut missing) = (0, 0);
            for (branch, arms) in reference.iter() {
                for (&expected, &counted) in arms.iter().zip(together.arms(branch)) {
                    if counted > expected {
                        let counts = together.arms(branch);
                        return Err(format!("{}: {branch:?} {arms:?} was counted {counts:?}", level.name()));
                    }
                    executed += expected;
                    missing += expected - counted;
                }
            }
            // What the compiler decided once and for all is not a branch any more: little of it without inlining.
            let most = if level == Level::O0 { 8 } else { 30 };
            if missing * 100 > executed * most {
                return Err(format!("{}: {missing} of {executed} branches were not counted", level.name()));
            }
        }
        Ok(())
    });
}
