//! Code that is made again and again: what profilers keep of it does not grow, and what they counted is not lost. And code that was
//! moved is freed copy by copy.

use holloway_profilers::BranchArm;
use holloway_profilers::edges::EdgeProfile;
use holloway_tests::modes::compiler;
use holloway_tests::run::compile;
use holloway_vm::compiled::{CallSource, CompiledCalls, Level, TierOptions};
use holloway_vm::profiling::Collected;
use holloway_vm::timer::TimerSource;
use holloway_vm::{Outcome, Vm, VmOptions};
use std::collections::BTreeMap;
use std::path::Path;

/// A branch that goes one way for a while, and then the other.
const PHASES: &str = "\
fn step(n: Int, turn: Int) -> Int {
    if n % 8 < turn { n * 3 % 1009 } else { (n + 7) % 1013 }
}

fn main() {
    var n = 1
    for phase in 0..PHASES {
        let turn = if phase % 2 == 0 { 7 } else { 1 }
        for i in 0..60000 { n = step(n + i, turn) }
    }
    println(n.toString())
}
";

/// What the profilers found in so many phases, and how often code was made again.
fn followed(phases: u32) -> (Collected, u64) {
    let text = PHASES.replace("PHASES", &phases.to_string());
    let program = compile(Path::new("phases.hol"), &text).expect("it compiles");
    let tiers = TierOptions {
        compiler: Some(compiler()),
        synchronous: true,
        continuous: true,
        ..TierOptions::default()
    };
    let timer = TimerSource::Virtual(500);
    let mut options = VmOptions { output: Box::new(std::io::sink()), timer, tiers, ..VmOptions::default() };
    for spec in ["pep", "cbs:credit=paths"] {
        options.profile.add(spec.parse().expect("a profiler")).expect("each once");
    }
    let mut vm = Vm::new(program, options).expect("a machine");
    let outcome = vm.run();
    assert!(matches!(outcome, Outcome::Finished(_)), "{outcome:?}");
    (vm.profile(), vm.statistics().tiers.adaptive.remade)
}

#[test]
#[cfg(target_arch = "x86_64")]
fn what_is_kept_of_code_does_not_grow_with_how_often_it_is_made_again() {
    let (few, many) = (followed(12), followed(48));
    assert!(many.1 >= 20 && many.1 >= 2 * few.1, "made again: {} and {}", few.1, many.1);
    let versions = [&few, &many].map(|(found, _)| found.versions.len());
    assert!(versions[1] <= versions[0] + 6 && (versions[1] as u64) < many.1, "{versions:?} of {}", many.1);
    for (found, _) in [&few, &many] {
        let sampled = found.sampled.as_ref().expect("PEP ran");
        // All samples are still there, each of a path whose meaning is known, and they add up to the branches that were counted.
        let counts: Vec<_> = sampled.paths.iter().collect();
        assert_eq!(counts.iter().map(|count| count.count).sum::<u64>(), sampled.window.taken);
        let mut edges = EdgeProfile::default();
        for count in counts {
            let version = found.versions.iter().find(|version| version.version == count.version);
            let dag = version.and_then(|version| version.dag.as_ref()).expect("the code is known");
            let path = dag.decode(count.path).expect("a path");
            path.branches.iter().for_each(|&outcome| edges.add(outcome, count.count));
        }
        let executed = |edges: &EdgeProfile| {
            let arms = edges.iter().flat_map(|(branch, arms)| {
                let arms = arms.iter().enumerate();
                arms.map(move |(arm, &count)| {
                    (BranchArm { branch, arm: holloway_profilers::Arm::new(arm) }, count)
                })
            });
            arms.filter(|&(_, count)| count > 0).collect::<BTreeMap<_, _>>()
        };
        assert_eq!(executed(&edges), executed(&sampled.edges));
    }
}

/// A method that stays on the stack, in the first of its copies, while everything is moved again and again.
const LONG: &str = "\
fn a(n: Int) -> Int { var s = n; for i in 0..n { s = (s * 3 + i) % 1009 }; s }
fn b(n: Int) -> Int { var s = n; for i in 0..n { s = (s * 5 + i) % 1009 }; s }
fn c(n: Int) -> Int { var s = n; for i in 0..n { s = (s * 7 + i) % 1009 }; s }
fn d(n: Int) -> Int { var s = n; for i in 0..n { s = (s * 9 + i) % 1009 }; s }

fn work(n: Int) -> Int {
    var s = 0
    for i in 0..n { s += a(100) }
    for i in 0..n { s += b(100) }
    for i in 0..n { s += c(100) }
    for i in 0..n { s += d(100) }
    s
}

fn main() {
    println(work(300).toString())
    println(work(300).toString())
}
";

#[test]
#[cfg(target_arch = "x86_64")]
fn copies_are_freed_one_by_one() {
    let program = compile(Path::new("long.hol"), LONG).expect("it compiles");
    let tiers = TierOptions {
        compiler: Some(compiler()),
        level: Some(Level::O0),
        synchronous: true,
        method_threshold: 1,
        loop_steps: 1,
        method_order: Some(CallSource::OneTime),
        ..TierOptions::default()
    };
    let timer = TimerSource::Virtual(29);
    let options = VmOptions { output: Box::new(std::io::sink()), timer, tiers, ..VmOptions::default() };
    let mut vm = Vm::new(program, options).expect("a machine");
    let outcome = vm.run();
    assert!(matches!(outcome, Outcome::Finished(_)), "{outcome:?}");
    let orders = vm.statistics().tiers.method_orders;
    let code: Vec<CompiledCalls> = vm.compiled_calls();
    let name = |code: &CompiledCalls| vm.program().functions[code.function.index()].name.to_string();
    let copies: Vec<(String, usize)> = code.iter().map(|code| (name(code), code.before.len())).collect();
    // `main` calls from where it was entered; what it had been moved to in between is free, and what `work` had been moved to, too.
    assert!(orders >= 4, "{orders} orders: {copies:?}");
    assert!(copies.iter().all(|(_, before)| *before <= 1), "{orders} orders: {copies:?}");
    assert!(copies.iter().any(|(name, before)| name == "main" && *before == 1), "{copies:?}");
}
