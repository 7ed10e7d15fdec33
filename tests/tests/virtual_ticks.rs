//! Virtual ticks. Where they are due, most yieldpoints are taken only to be counted, and pass without asking the profilers; with a limit of
//! steps all of them go the whole way, which is the naive twin: profiles, results and ticks must be the same.

use holloway::compile::compile_benchmark;
use holloway_benchmarks::measure::{Ending, Hooks, measure};
use holloway_benchmarks::registry::find;
use holloway_tests::modes::mode;
use holloway_tests::parallel::check_all;
use holloway_vm::profiling::Looks;
use holloway_vm::timer::TimerSource;
use holloway_vm::{Vm, VmOptions};

/// What is the same either way.
#[derive(PartialEq, Debug)]
struct Run {
    profile: String,
    ticks: u64,
    yieldpoints_taken: u64,
    looks: Looks,
}

/// Runs a program of the suite; each yieldpoint goes the whole way if `whole`.
fn run(name: &str, at: &str, timer: TimerSource, whole: bool) -> Result<Run, String> {
    let benchmark = find(name).expect("a program");
    let program = compile_benchmark(benchmark, false)?;
    let mut ended = None;
    let options = |arguments, output| {
        let mut options = VmOptions { arguments, output, timer, ..VmOptions::default() };
        for spec in ["edges", "blpp", "calls", "pep:samples=7,stride=3", "cbs:samples=5,stride=2"] {
            options.profile.add(spec.parse().expect("a profiler")).expect("each once");
        }
        (mode(at).apply)(&mut options);
        options.timer = timer;
        options.fuel = whole.then_some(u64::MAX);
        options
    };
    let hooks = Hooks::none().with_ended(|vm: &Vm| ended = Some((vm.profile_file("", ""), vm.looks())));
    let measured = measure(benchmark, program, benchmark.quick_size, 2, options, hooks);
    let (Ending::Verified, Some((profile, looks))) = (&measured.ending, ended) else {
        return Err(format!("{:?}", measured.ending));
    };
    Ok(Run {
        profile: serde_json::to_string(&profile).map_err(|error| error.to_string())?,
        ticks: measured.statistics.ticks,
        yieldpoints_taken: measured.statistics.yieldpoints_taken,
        looks,
    })
}

#[test]
fn what_passes_between_ticks_changes_nothing() {
    let timers = [TimerSource::Virtual(1009), TimerSource::Drawn { every: 211, seed: 3 }];
    let mut runs = Vec::new();
    for program in ["richards", "json", "list", "queens", "orders"] {
        for at in ["tail", "o0", "o1", "o2"] {
            runs.extend(timers.map(|timer| (program, at, timer)));
        }
    }
    check_all(
        &runs,
        |(program, at, timer)| format!("{program}, {at}, {timer:?}"),
        |&(program, at, timer)| {
            let [passing, whole] = [false, true].map(|whole| run(program, at, timer, whole));
            let (passing, whole) = (passing?, whole?);
            if passing.ticks < 3 {
                return Err(format!("only {} ticks say little", passing.ticks));
            }
            if passing == whole { Ok(()) } else { Err(format!("{passing:?}\n\n{whole:?}")) }
        },
    );
}
