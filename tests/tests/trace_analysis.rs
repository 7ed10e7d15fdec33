//! Branch traces that are analysed while the program runs say the same as those that are analysed in the end, and can be asked
//! meanwhile.

use holloway_tests::modes::MODES;
use holloway_tests::random::generate;
use holloway_tests::run::compile;
use holloway_vm::compiled::GivenCalls;
use holloway_vm::profiling::ProfileOptions;
use holloway_vm::timer::TimerSource;
use holloway_vm::{Vm, VmOptions};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const PROGRAM: &str = "\
fn step(n: Int) -> Int {
    if n % 3 == 0 { n / 3 } else { n + 1 }
}

fn walk(n: Int) -> Int {
    var sum = 0
    for i in 0..n {
        sum += step(i)
        if i % 2 == 0 && i % 5 == 1 { sum += 7 }
    }
    sum
}

fn main() {
    let threads = List<Thread<Int>>()
    for t in 1..=3 { threads.add(spawn(|| walk(20000 * t))) }
    for thread in threads { println(thread.join().toString()) }
}
";

/// The calls of the program, exactly.
fn calls(text: &str) -> GivenCalls {
    let mut vm = machine(text, "tail", "calls");
    vm.run();
    let program = compile(Path::new("traced.hol"), text).expect("it compiles");
    GivenCalls::of_program(&program, vm.profile().calls.exact.expect("they were counted"))
}

fn machine(text: &str, mode: &str, spec: &str) -> Vm {
    let program = compile(Path::new("traced.hol"), text).expect("it compiles");
    let hot_calls = spec.contains("calls=hot").then(|| Arc::new(calls(text)));
    let mut profile = ProfileOptions::default();
    profile.add(spec.parse().expect("a spec")).expect("once");
    let mut options =
        VmOptions { output: Box::new(std::io::sink()), profile, hot_calls, ..VmOptions::default() };
    (MODES.iter().find(|known| known.name == mode).expect("a mode").apply)(&mut options);
    (options.timer, options.stack_depth) = (TimerSource::Virtual(97), 100);
    options.fuel = Some(400_000);
    Vm::new(program, options).expect("a machine")
}

#[test]
fn the_result_is_the_same() {
    let mut texts = vec![PROGRAM.to_string()];
    texts.extend((0..12).map(|seed| generate(seed).tree.program_text()));
    for (number, text) in texts.iter().enumerate() {
        for (mode, spec) in [
            ("tail", "btb:depth=8,period=13"),
            ("o1", "btb:backend=burst,depth=8"),
            ("tail", "btb:depth=16,period=13,calls=hot"),
        ] {
            let found = ["end", "background"].map(|when| {
                let mut vm = machine(text, mode, &format!("{spec},analysis={when}"));
                vm.run();
                vm.profile().traces.expect("it ran")
            });
            let [end, background] = found;
            assert_eq!(end.recording, background.recording, "program {number}, {spec}");
            assert_eq!(end.statistics, background.statistics, "program {number}, {spec}");
            assert_eq!(end.runs, background.runs, "program {number}, {spec}");
            assert_eq!(end.estimate, background.estimate, "program {number}, {spec}");
            assert_eq!(end.spans.is_some(), spec.contains("calls=hot"));
            assert!(number > 0 || end.statistics.samples > 50, "{:?}", end.statistics);
        }
    }
}

#[test]
fn it_can_be_asked_while_the_program_runs() {
    let mut vm = machine(PROGRAM, "tail", "btb:depth=8,period=13,analysis=background");
    let reader = vm.trace_reader().expect("it runs in the background");
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let asker = scope.spawn(|| {
            let mut last = 0;
            while !over.load(Ordering::Relaxed) {
                let now = reader.now().expect("the machine is there");
                assert!(now.samples >= last, "samples went away");
                let flow: u64 = now.estimate.regions.iter().map(|region| region.flow).sum();
                assert!((now.estimate.flow() - flow as f64).abs() <= 1e-6 * flow as f64);
                last = now.samples;
            }
        });
        vm.run();
        over.store(true, Ordering::Relaxed);
        asker.join().expect("what it was told made sense");
    });
    let now = reader.now().expect("the machine is there");
    assert!(now.samples > 100 && !now.estimate.paths.is_empty());
    assert_eq!(reader.latest().samples, now.samples);
    let all = vm.profile().traces.expect("it ran").statistics.samples;
    // The last batch was not full.
    assert!((now.samples..now.samples + 64).contains(&all), "{all} samples, {} handed over", now.samples);
    drop(vm);
    assert!(reader.now().is_none());
    let end = machine(PROGRAM, "tail", "btb:depth=8,period=13");
    assert!(end.trace_reader().is_none());
}
