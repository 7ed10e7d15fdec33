//! Profiles by green thread: each thread's counts are those of what it did, and together they are the profile of the same run
//! without them.

use holloway_bytecode::verify::VerifiedProgram;
use holloway_profilers::MethodId;
use holloway_profilers::kblpp::Statistics;
use holloway_profilers::stream::Lost;
use holloway_tests::modes::{ALL_PROFILERS, compiler};
use holloway_tests::run::compile;
use holloway_vm::compiled::{Level, TierOptions};
use holloway_vm::profiling::file::ProfileFile;
use holloway_vm::profiling::{Collected, CountedThread, ProfileOptions};
use holloway_vm::timer::TimerSource;
use holloway_vm::{Outcome, Vm, VmOptions};
use std::path::Path;
use std::sync::Arc;

/// Thread t (1, 2, ...) goes n = 20 t rounds through the loop of `walk` and calls `tree` down to depth t % 5; each third thread starts
/// the next, and the last is the first to need `late`. The loop in `tree` goes on after each recursive call, and threads take turns
/// all the time.
const PROGRAM: &str = "\
fn walk(n: Int) -> Int {
    var sum = 0
    for i in 0..n {
        if i % 3 == 0 { sum += i } else { sum += 1 }
        yieldNow()
    }
    sum
}

fn tree(depth: Int) -> Int {
    if depth == 0 { return 1 }
    var sum = 0
    for i in 0..3 {
        yieldNow()
        sum += if i % 2 == 0 { tree(depth - 1) } else { 1 }
    }
    sum
}

fn late(n: Int) -> Int {
    var product = 1
    for i in 0..n {
        product = if i % 7 == 3 { product * 5 % 1009 } else { product + 1 }
    }
    product
}

fn work(t: Int, most: Int) -> Int {
    let next = if t % 3 == 0 && t < most { spawn(|| work(t + 1, most)) } else { null }
    var sum = walk(20 * t) + tree(t % 5)
    if t == most { sum += late(most * 33 + 7) }
    if let thread = next { sum += thread.join() }
    sum
}

fn main() {
    let most = 21
    let threads = List<Thread<Int>>()
    for t in 1..=most {
        if t == 1 || t % 3 != 1 { threads.add(spawn(|| work(t, most))) }
    }
    var sum = walk(args().length + 10)
    for thread in threads { sum += thread.join() }
    println(sum.toString())
}
";

/// Its threads, without the main thread.
const MOST: usize = 21;

/// Time slices end in the middle of loops, where the thread goes on in the interpreter.
const SHORT: TimerSource = TimerSource::Virtual(23);
/// Threads are switched where they yield only: everything is counted in compiled code.
const ENDLESS: TimerSource = TimerSource::Virtual(u64::MAX);

struct Ran {
    found: Collected,
    file: ProfileFile,
    /// Of all machine code.
    digest: u64,
}

fn tiers(level: Option<Level>) -> TierOptions {
    TierOptions {
        compiler: Some(compiler()),
        level,
        synchronous: true,
        method_threshold: if level.is_some() { 1 } else { 5 },
        loop_steps: 1,
        digests: true,
        ..TierOptions::default()
    }
}

fn run(
    program: &Arc<VerifiedProgram>,
    specs: &[&str],
    tiers: TierOptions,
    timer: TimerSource,
    per_thread: bool,
) -> Ran {
    let mut profile = ProfileOptions { per_thread, ..ProfileOptions::default() };
    for spec in specs {
        profile.add(spec.parse().expect("a profiler")).expect("each once");
    }
    let options =
        VmOptions { output: Box::new(std::io::sink()), timer, tiers, profile, ..VmOptions::default() };
    let mut vm = Vm::new(program.clone(), options).expect("it has an entry and memory");
    let outcome = vm.run();
    assert!(matches!(&outcome, Outcome::Finished(errors) if errors.is_empty()), "{outcome:?}");
    let file = vm.profile_file("threads.hol", "finished");
    assert_eq!(file.check(), Ok(()));
    Ran { found: vm.profile(), file, digest: vm.statistics().tiers.digest }
}

fn program(text: &str) -> Arc<VerifiedProgram> {
    compile(Path::new("threads.hol"), text).expect("it is a program")
}

/// The number of a function.
fn method(program: &VerifiedProgram, name: &str) -> MethodId {
    let found = program.functions.iter().position(|function| &*function.name == name);
    MethodId(found.expect("there is such a function") as u32)
}

/// How often each branch of a method was executed in both ways, the rarer one first.
fn branches(thread: &CountedThread, method: MethodId) -> Vec<[u64; 2]> {
    let of_method = thread.counted.edges.iter().filter(|(branch, _)| branch.method == method);
    let mut all: Vec<[u64; 2]> = of_method
        .map(|(_, arms)| {
            let [a, b] = *arms else { panic!("{arms:?} is of no condition") };
            [a.min(b), a.max(b)]
        })
        .collect();
    all.sort();
    all
}

/// A loop of `rounds` with a condition that held `held` times: is there a round, is there another, the condition.
fn looped(rounds: u64, held: u64) -> Vec<[u64; 2]> {
    let mut all = [[0, 1], [1, rounds - 1], [held, rounds - held]].map(|[a, b]| [a.min(b), a.max(b)]);
    all.sort();
    all.to_vec()
}

/// The branches of `walk` after this many rounds.
fn walked(rounds: u64) -> Vec<[u64; 2]> {
    looped(rounds, rounds.div_ceil(3))
}

/// The rounds of `walk` that a thread went.
fn rounds(thread: &CountedThread, walk: MethodId) -> u64 {
    branches(thread, walk).iter().map(|both| both[1] + 1).max().unwrap_or_default()
}

fn threads(found: &Collected) -> &[CountedThread] {
    found.threads.as_deref().expect("each counted by itself")
}

#[test]
fn each_thread_has_counted_what_it_did() {
    let program = program(PROGRAM);
    let Ran { found, .. } = run(&program, ALL_PROFILERS, tiers(Some(Level::O1)), ENDLESS, true);
    let [walk, tree, late] = ["walk", "tree", "late"].map(|name| method(&program, name));
    let threads = threads(&found);
    let numbers: Vec<Option<u32>> = threads.iter().map(|thread| thread.thread).collect();
    assert_eq!(numbers, (0..=MOST as u32).map(Some).collect::<Vec<_>>());
    assert_eq!(branches(&threads[0], walk), walked(10));
    let mut seen: Vec<Vec<[u64; 2]>> = threads[1..].iter().map(|thread| branches(thread, walk)).collect();
    // Threads have their numbers in the order in which they happened to be started.
    seen.sort();
    let mut expected: Vec<Vec<[u64; 2]>> = (1..=MOST as u64).map(|t| walked(20 * t)).collect();
    expected.sort();
    assert_eq!(seen, expected);
    for thread in &threads[1..] {
        let rounds = rounds(thread, walk);
        let depth = (rounds / 20 % 5) as u32;
        // Inner nodes of a tree of which each inner node has two more, and leaves.
        let (inner, leaves) = (2u64.pow(depth) - 1, 2u64.pow(depth));
        let mut expected = match depth {
            0 => vec![[0, 1]],
            // Is it a leaf, is there another round, the condition.
            _ => vec![[inner, leaves], [inner, 2 * inner], [inner, 2 * inner]],
        };
        expected.sort();
        assert_eq!(branches(thread, tree), expected, "depth {depth}");
        let is_last = rounds == 20 * MOST as u64;
        assert_eq!(branches(thread, late), if is_last { looped(700, 100) } else { vec![] });
        let function = &program.functions[thread.function.expect("a closure").index()].name;
        assert!(["main.closure", "work.closure"].contains(&&**function), "{function}");
    }
}

/// What every profiler found of a thread agrees: paths have the edges, single paths of the forest are the paths, samples are of
/// paths that were run.
#[test]
fn what_profilers_found_of_a_thread_agrees() {
    let program = program(PROGRAM);
    for storage in ["blpp:storage=array", "blpp:storage=hash"] {
        let specs = ["edges", storage, "pep:samples=5,stride=3", "kblpp:k=3"];
        let Ran { found, .. } = run(&program, &specs, tiers(Some(Level::O1)), SHORT, true);
        let mut samples = 0;
        for thread in threads(&found) {
            let counted = &thread.counted;
            let mut decode = |version, number, out: &mut Vec<_>| {
                let version = found.versions.iter().find(|known| known.version == version);
                let dag = version.and_then(|version| version.dag.as_ref()).expect("its paths are numbered");
                out.extend(dag.decode(number).expect("a path").branches);
            };
            let left = counted.losses.of(Lost::Deoptimized);
            assert_eq!(counted.losses.total(), left);
            for (branch, arms) in counted.paths.edges(&mut decode).iter() {
                let counts = counted.edges.arms(branch);
                let at_most = arms.iter().zip(counts).all(|(on_paths, counted)| on_paths <= counted);
                let missing = counts.iter().sum::<u64>() - arms.iter().sum::<u64>();
                assert!(at_most && (missing == 0 || left > 0), "{branch:?} {arms:?} {counts:?} {left}");
            }
            let forest = counted.forest.as_ref().expect("kblpp ran").paths();
            let singles = forest.grams().into_iter().filter(|gram| gram.paths.len() == 1);
            let singles: Vec<_> = singles.map(|gram| (gram.version, gram.paths[0], gram.count)).collect();
            let paths: Vec<_> =
                counted.paths.iter().map(|count| (count.version, count.path, count.count)).collect();
            assert_eq!(singles, paths);
            assert!(counted.samples.iter().all(|of| of.count <= counted.paths.count(of.version, of.path)));
            samples += counted.samples.total();
        }
        assert_eq!(Some(samples), found.sampled.map(|sampled| sampled.window.taken));
    }
}

/// Counting by thread changes neither code nor counts. What forests and tables cost to look at is another matter.
#[test]
fn together_they_are_the_profile_of_all() {
    let program = program(PROGRAM);
    for (level, storage) in [
        (Some(Level::O0), "blpp:storage=hash"),
        (Some(Level::O1), "blpp:storage=array"),
        (Some(Level::O2), "blpp:storage=hash"),
        (None, "blpp:storage=array"),
    ] {
        let specs = ["edges", storage, "pep:samples=5,stride=3", "kblpp:k=4"];
        let [all, each] =
            [false, true].map(|per_thread| run(&program, &specs, tiers(level), SHORT, per_thread));
        assert_eq!(all.digest, each.digest, "{level:?}");
        assert_eq!((all.found.threads.is_none(), threads(&each.found).len()), (true, MOST + 1));
        let plain = |mut file: ProfileFile| {
            (file.threads, file.work.hash_probes) = (None, 0);
            if let Some(forest) = &mut file.iterated {
                let Statistics { items, uncounted, chunks, roots, nodes, .. } = forest.statistics;
                forest.statistics =
                    Statistics { items, uncounted, chunks, roots, nodes, ..Statistics::default() };
            }
            file.methods.retain(|method| !method.name.ends_with("closure"));
            file
        };
        assert_eq!(plain(all.file), plain(each.file), "{level:?}");
    }
}

#[test]
fn the_same_run_gives_the_same_profile() {
    let program = program(PROGRAM);
    let text = || {
        let Ran { file, .. } = run(&program, ALL_PROFILERS, tiers(Some(Level::O2)), SHORT, true);
        serde_json::to_string(&file).expect("JSON")
    };
    assert_eq!(text(), text());
}

/// All of them at once, then one after the other, where the counters of those that are over are given back.
#[test]
fn a_thousand_threads() {
    let text = "\
fn walk(n: Int) -> Int {
    var sum = 0
    for i in 0..n {
        if i % 3 == 0 { sum += i } else { sum += 1 }
    }
    sum
}

fn main() {
    let go = Channel<Bool>(0)
    let threads = List<Thread<Int>>()
    for t in 1..=1000 {
        threads.add(spawn(|| { go.receive(); walk(t) }))
    }
    for _ in 1..=1000 { go.send(true) }
    for thread in threads { thread.join() }
    for t in 1001..=2000 { spawn(|| walk(t)).join() }
}
";
    let program = program(text);
    let Ran { found, .. } = run(&program, ALL_PROFILERS, tiers(Some(Level::O1)), ENDLESS, true);
    let walk = method(&program, "walk");
    let threads = threads(&found);
    assert_eq!(threads.len(), 2001);
    for (rounds, thread) in (1..).zip(&threads[1..]) {
        assert_eq!(branches(thread, walk), walked(rounds), "{:?}", thread.thread);
    }
}

/// A machine that runs its program again adds to the threads of the same numbers.
#[test]
fn runs_add_up() {
    let program = program(PROGRAM);
    let mut profile = ProfileOptions { per_thread: true, ..ProfileOptions::default() };
    profile.add("edges".parse().expect("a profiler")).expect("once");
    let options = VmOptions {
        output: Box::new(std::io::sink()),
        timer: ENDLESS,
        tiers: tiers(Some(Level::O1)),
        profile,
        ..VmOptions::default()
    };
    let mut vm = Vm::new(program.clone(), options).expect("it has an entry and memory");
    for _ in 0..2 {
        assert!(matches!(vm.run(), Outcome::Finished(_)));
    }
    let found = vm.profile();
    assert_eq!(threads(&found).len(), MOST + 1);
    let twice = walked(10).into_iter().map(|[a, b]| [2 * a, 2 * b]).collect::<Vec<_>>();
    assert_eq!(branches(&threads(&found)[0], method(&program, "walk")), twice);
}
