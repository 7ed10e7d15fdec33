//! Exact profiles of random programs are what one gets by following every step.
//!
//! Compiled code is made to tell each edge that it takes, each block that it enters and each place where a path ends
//! (`holloway_vm::profiling::Step`), beside the counting that it does for the profilers. What [`Walks`] makes of it without any
//! numbers must be what the profilers found: outcomes of branches, paths in arrays and hash tables, sequences of paths, and, where a
//! window is open all the time, samples; where it is not, samples are of paths that were run. Paths without an end are dropped paths, and why compiled code was left says for
//! which reason.
//!
//! `TRACE_PROGRAMS=5000` runs more programs, `TRACE_SEED=7` begins elsewhere.

use holloway_profilers::edges::EdgeProfile;
use holloway_profilers::stream::{Lost, PathProfile};
use holloway_profilers::{BranchId, PathNumber, VersionId};
use holloway_tests::modes::compiler;
use holloway_tests::parallel::check_all;
use holloway_tests::random::generate;
use holloway_tests::run::compile;
use holloway_tests::walks::{Walk, Walks, walk_of};
use holloway_vm::compiled::{Level, TierOptions, TierStatistics};
use holloway_vm::profiling::{Collected, CollectedVersion, ProfileOptions};
use holloway_vm::timer::TimerSource;
use holloway_vm::{Outcome, Vm, VmOptions};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::Write;
use std::panic::catch_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Programs that a plain `cargo test` runs, each in one of the settings.
const PROGRAMS: u64 = 200;
/// Yieldpoints after which a program is ended: the trace has every step.
const FUEL: u64 = 6_000;

/// Which profilers run in which code.
struct Setting {
    name: &'static str,
    level: Option<Level>,
    /// Compiled code is left at every n-th yieldpoint, and entered again at every back edge.
    leaves: Option<u32>,
    /// Yieldpoints from tick to tick. All of them are taken.
    ticks: u64,
    specs: &'static [&'static str],
}

const SETTINGS: &[Setting] = &[
    Setting {
        name: "arrays at o2",
        level: Some(Level::O2),
        leaves: None,
        ticks: 211,
        specs: &["edges", "blpp:storage=array", "kblpp:k=3", "kroy:k=3"],
    },
    Setting {
        name: "hash tables at o1, placed naively",
        level: Some(Level::O1),
        leaves: None,
        ticks: 97,
        specs: &["edges", "blpp:storage=hash", "pep:placement=naive", "kblpp:k=2"],
    },
    Setting {
        name: "code that is left all the time",
        level: Some(Level::O2),
        leaves: Some(7),
        ticks: 61,
        specs: &["edges", "blpp:storage=array", "pep:samples=5,stride=3,placement=hot", "kblpp:k=4"],
    },
    Setting {
        name: "hash tables at o0",
        level: Some(Level::O0),
        leaves: Some(31),
        ticks: 61,
        specs: &["edges", "blpp:storage=hash", "kblpp:k=9", "kroy:k=2"],
    },
    Setting {
        name: "levels that change",
        level: None,
        leaves: None,
        ticks: 7,
        specs: &["edges", "kroy:k=4"],
    },
    Setting {
        name: "samples of everything",
        level: Some(Level::O2),
        leaves: None,
        ticks: 1,
        specs: &["edges", "pep:samples=4000000000,stride=1"],
    },
];

/// What a run found, why code was left, did a limit stop it, and is each path sampled, if any is.
struct Ran {
    found: Collected,
    tiers: TierStatistics,
    stopped: bool,
    everything: bool,
}

fn run(text: &str, setting: &Setting) -> Result<Ran, String> {
    run_with(text, setting, TimerSource::Virtual(setting.ticks), Some(FUEL))
}

fn run_with(text: &str, setting: &Setting, timer: TimerSource, fuel: Option<u64>) -> Result<Ran, String> {
    let program = compile(Path::new("traced.hol"), text)?;
    // What threads count by themselves is merged to the same.
    let per_thread = setting.leaves.is_some();
    let mut profile = ProfileOptions { traced: true, per_thread, ..ProfileOptions::default() };
    for spec in setting.specs {
        profile.add(spec.parse()?)?;
    }
    let adaptive = setting.level.is_none();
    let tiers = TierOptions {
        compiler: Some(compiler()),
        level: setting.level,
        synchronous: true,
        method_threshold: if adaptive { 5 } else { 1 },
        loop_steps: 1,
        deopt_every: setting.leaves,
        osr_every_backedge: setting.leaves.is_some(),
        ..TierOptions::default()
    };
    let options = VmOptions {
        output: Box::new(std::io::sink()),
        stack_depth: 100,
        fuel,
        timer,
        tiers,
        profile,
        ..VmOptions::default()
    };
    let mut vm = Vm::new(program, options)?;
    let stopped = matches!(vm.run(), Outcome::Stopped(..));
    let everything = setting.ticks == 1;
    Ok(Ran { found: vm.profile(), tiers: vm.statistics().tiers, stopped, everything })
}

/// The meanings of the numbers that a profile has.
struct Meanings<'a>(BTreeMap<VersionId, &'a CollectedVersion>);

impl Meanings<'_> {
    fn of(&self, version: VersionId, number: PathNumber) -> Result<Walk, String> {
        walk_of(self.0.get(&version).ok_or_else(|| format!("there is no {version}"))?, number)
    }

    fn paths(&self, profile: &PathProfile) -> Result<BTreeMap<Walk, u64>, String> {
        let mut walks = BTreeMap::new();
        for found in profile.iter() {
            let walk = self.of(found.version, found.path)?;
            if let Some(other) = walks.insert(walk, found.count) {
                return Err(format!("two paths are the same: {found:?} and one that ran {other} times"));
            }
        }
        Ok(walks)
    }
}

/// The first difference between two maps.
fn same<K: Ord + std::fmt::Debug>(
    what: &str,
    walked: &BTreeMap<K, u64>,
    counted: &BTreeMap<K, u64>,
) -> Result<(), String> {
    let keys = walked.keys().chain(counted.keys());
    let of = |map: &BTreeMap<K, u64>, key: &K| map.get(key).copied().unwrap_or(0);
    let wrong = keys.into_iter().find(|key| of(walked, key) != of(counted, key));
    wrong.map_or(Ok(()), |key| {
        Err(format!("{what}: {key:?} happened {} times, counted {}", of(walked, key), of(counted, key)))
    })
}

fn outcomes(profile: &EdgeProfile) -> BTreeMap<(BranchId, usize), u64> {
    let arms = |(branch, arms): (BranchId, &[u64])| -> Vec<((BranchId, usize), u64)> {
        arms.iter().enumerate().map(|(arm, &count)| ((branch, arm), count)).collect()
    };
    profile.iter().flat_map(arms).collect()
}

/// Compares what was found with the trace. How much there was to compare: paths.
fn check(Ran { found, tiers, stopped, everything }: &Ran) -> Result<u64, String> {
    let walks = Walks::of(found)?;
    let meanings = Meanings(found.versions.iter().map(|code| (code.version, code)).collect());
    if let Some(edges) = &found.edges {
        same("branch", &outcomes(&walks.edges), &outcomes(edges))?;
    }
    if let Some(paths) = &found.paths {
        same("path", &walks.paths, &meanings.paths(paths)?)?;
    }
    if let Some(iterated) = &found.iterated {
        let mut counted = BTreeMap::new();
        for gram in iterated.paths.grams() {
            let walks: Result<Vec<Walk>, String> =
                gram.paths.iter().map(|&path| meanings.of(gram.version, path)).collect();
            counted.insert(walks?, gram.count);
        }
        same("sequence", &walks.sequences_of(iterated.k as usize), &counted)?;
    }
    if let Some(windowed) = &found.windowed
        && windowed.refused.is_empty()
    {
        let mut counted = BTreeMap::new();
        for gram in windowed.paths.sequences() {
            let walks: Result<Vec<Walk>, String> =
                gram.paths.iter().map(|&path| meanings.of(gram.version, path)).collect();
            counted.insert(walks?, gram.count);
        }
        same("window", &walks.sequences_of(windowed.k as usize), &counted)?;
    }
    if let (Some(sampled), None) = (&found.sampled, &found.paths) {
        let mut counted = meanings.paths(&sampled.paths)?;
        for (walk, &times) in &counted {
            let walked = walks.paths.get(walk).copied().unwrap_or(0);
            if times > walked {
                return Err(format!("{walk:?} happened {walked} times, and was sampled {times} times"));
            }
        }
        // A stop comes before the sample: the last path has ended, and nobody saw it.
        let unseen = |walk: &Walk, times: u64| counted.get(walk).copied().unwrap_or(0) + 1 == times;
        if let Some((walk, _)) = walks.paths.iter().find(|(walk, times)| *stopped && unseen(walk, **times)) {
            *counted.entry(walk.clone()).or_default() += 1;
        }
        if *everything {
            same("sample", &walks.paths, &counted)?;
        }
    }
    losses(found, tiers, *stopped, &walks)?;
    Ok(walks.paths.values().sum())
}

/// Every activation that did not return dropped a path, for the reason for which its code was left.
fn losses(found: &Collected, tiers: &TierStatistics, stopped: bool, walks: &Walks) -> Result<(), String> {
    let lost = |reason| found.losses.of(reason);
    let what = |what: &str, walked: u64, counted: u64| match walked == counted {
        true => Ok(()),
        false => {
            Err(format!("dropped paths, {what}: {walked} walked, {counted} counted: {:?}", found.losses))
        }
    };
    what("all", walks.unfinished, found.losses.total())?;
    // An activation is left at an exit, or an error or the end of the program goes through it.
    let exits = |errors| -> u64 {
        tiers.exits.iter().filter(|exit| (*exit.0 == "exception") == errors).map(|exit| exit.1).sum()
    };
    if !stopped {
        what("deoptimized", exits(false) - walks.left_at_return, lost(Lost::Deoptimized))?;
    }
    if lost(Lost::Unwound) < exits(true) {
        return Err(format!("{} errors were caught, {:?}", exits(true), found.losses));
    }
    what("otherwise", 0, lost(Lost::Silent) + lost(Lost::Replaced))
}

fn number(variable: &str, otherwise: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")),
        Err(_) => otherwise,
    }
}

thread_local! {
    /// The program that this thread runs.
    static SEED: Cell<Option<u64>> = const { Cell::new(None) };
}

/// A panic in what compiled code calls ends the process: then nobody else says with which program.
fn tell_the_seed_of_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if let Some(seed) = SEED.get() {
            let _ = writeln!(std::io::stderr(), "seed {seed} panics");
        }
        before(info);
    }));
}

#[test]
fn profiles_are_what_the_trace_says() {
    tell_the_seed_of_panics();
    let first = number("TRACE_SEED", 0);
    let seeds: Vec<u64> = (first..first + number("TRACE_PROGRAMS", PROGRAMS)).collect();
    let (paths, dropped, stopped) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    check_all(
        &seeds,
        |seed| format!("seed {seed}"),
        |&seed| {
            let setting = &SETTINGS[seed as usize % SETTINGS.len()];
            SEED.set(Some(seed));
            let checked = catch_unwind(|| {
                let ran = run(&generate(seed).tree.program_text(), setting)?;
                dropped.fetch_add(ran.found.losses.total(), Ordering::Relaxed);
                stopped.fetch_add(u64::from(ran.stopped), Ordering::Relaxed);
                check(&ran)
            });
            let checked = checked.unwrap_or_else(|_| Err("panicked".into()));
            let walked = checked.map_err(|why| format!("{}: {why}", setting.name))?;
            paths.fetch_add(walked, Ordering::Relaxed);
            Ok(())
        },
    );
    let [paths, dropped, stopped] = [paths, dropped, stopped].map(AtomicU64::into_inner);
    println!("{} programs, {paths} paths, {dropped} dropped, {stopped} runs were stopped", seeds.len());
    assert!(paths > 100 * seeds.len() as u64 && dropped > seeds.len() as u64, "there is little to compare");
}

/// Runs a program without inlining, with a tick at each of these distances; calls `with` for what was found.
fn at_distances(text: &str, distances: std::ops::Range<u64>, with: impl Fn(&Collected)) {
    for ticks in distances {
        let (name, specs) = ("at o0", &["edges", "blpp", "kblpp"][..]);
        let ran = run(text, &Setting { name, level: Some(Level::O0), leaves: None, ticks, specs });
        let ran = ran.expect("it runs");
        assert!(!ran.stopped);
        check(&ran).unwrap_or_else(|why| panic!("a tick every {ticks} yieldpoints: {why}"));
        with(&ran.found);
    }
}

/// Threads that wait in compiled code when the program ends drop the paths of all their activations.
#[test]
fn threads_that_are_still_there_at_the_end_drop_their_paths() {
    let text = "
fn waits() { sleep(100000) }

fn main() {
    for i in 0..9 {
        let _ = spawn(|| waits())
    }
    sleep(10)
}
";
    at_distances(text, 1..40, |found| assert!(found.losses.of(Lost::ThreadEnd) > 0, "{:?}", found.losses));
}

/// Code that is left at the yieldpoint at its beginning drops its path, also if the first instruction is a return.
#[test]
fn methods_that_only_return_drop_their_path_at_the_beginning() {
    let text = "
fn same(n: Int) -> Int { n }

fn sum() -> Int {
    var sum = 0
    for i in 0..100 {
        sum += same(i)
    }
    sum
}

fn main() {
    let other = spawn(|| sum())
    println((sum() + other.join()).toString())
}
";
    at_distances(text, 1..40, |found| assert!(found.losses.of(Lost::Deoptimized) > 0, "{:?}", found.losses));
}

/// Rounds of a loop in which nothing is called do not set the path register, which goes on from what earlier rounds left there; samples that begin in the
/// middle of such a loop, or behind a call that is seldom made, are right all the same. By the clock: with virtual time all yieldpoints are taken.
#[test]
fn samples_that_begin_in_a_loop_are_right() {
    let text = "
fn rest(n: Int, of: Int) -> Int {
    if n < of { return n }
    rest(n - of, of)
}

fn rounds(from: Int) -> Int {
    var sum = 0
    for i in from..from + 400 {
        if i % 3 == 0 { sum += i } else if i % 5 == 0 { sum -= 1 }
        if i % 7 == 2 { sum += 3 }
        if i % 61 == 0 { sum += rest(i, 7) }
        if sum < 0 { return sum }
    }
    sum
}

fn main() {
    var sum = 0
    for i in 0..500 { sum += rounds(i) }
    println(sum.toString())
}
";
    for spec in ["pep:schedule=timer", "pep:samples=5,stride=3"] {
        let specs = vec!["edges", spec].leak();
        let setting = Setting { name: "", level: None, leaves: None, ticks: 0, specs };
        let timer = TimerSource::Wall(Duration::from_micros(100));
        let ran = run_with(text, &setting, timer, None).expect("it runs");
        check(&ran).unwrap_or_else(|why| panic!("{spec}: {why}"));
        assert!(ran.found.sampled.is_some_and(|sampled| sampled.paths.total() > 0), "there are no samples");
    }
}
