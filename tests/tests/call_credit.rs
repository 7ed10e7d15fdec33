//! Credit for inlined calls: what sampled paths say of them, against exact counts.

use holloway_bytecode::verify::VerifiedProgram;
use holloway_profilers::calls::{CallEdge, CallGraph};
use holloway_tests::modes::mode;
use holloway_tests::run::compile;
use holloway_vm::profiling::Collected;
use holloway_vm::timer::TimerSource;
use holloway_vm::{Outcome, Vm, VmOptions};
use std::path::Path;
use std::sync::Arc;

/// Two loops of equally many rounds. The one of `alone` is a single block, which has the call and the loop's yieldpoint; that of
/// `apart` has its calls in blocks of their own, and one of a method that is too long to be inlined.
const SIDES: &str = "\
fn f(i: Int) -> Int { i * 3 + 1 }
fn g(i: Int) -> Int { i * 5 + 2 }
fn h(i: Int) -> Int { i * 7 + 3 }

fn stays(n: Int) -> Int {
    var sum = n
    LONG
    sum
}

fn alone(n: Int) -> Int {
    var sum = 0
    for i in 0..n { sum += f(i) }
    sum
}

fn apart(n: Int) -> Int {
    var sum = 0
    for i in 0..n {
        if i % 4 == 0 { sum += g(i) } else { sum += h(i) }
        if i % 16 == 0 { sum += stays(i) }
        sum = sum % 1000003
    }
    sum
}

fn main() {
    var sum = 0
    for round in 0..4000 { sum += alone(160) + apart(160) }
    println(sum.toString())
}
";

/// What makes a method too long to be inlined.
fn long() -> String {
    "sum = (sum * 3 + 1) % 1000003\n".repeat(200)
}

/// What profilers found in a program.
fn found(text: &str, level: &str, specs: &[&str], ticks: u64) -> (Arc<VerifiedProgram>, Collected) {
    let program = compile(Path::new("credit.hol"), &text.replace("LONG", &long())).expect("it compiles");
    let timer = TimerSource::Virtual(ticks);
    let mut options = VmOptions { output: Box::new(std::io::sink()), timer, ..VmOptions::default() };
    (mode(level).apply)(&mut options);
    for spec in specs {
        options.profile.add(spec.parse().expect("a profiler")).expect("each once");
    }
    let mut vm = Vm::new(program.clone(), options).expect("a machine");
    let outcome = vm.run();
    assert!(matches!(outcome, Outcome::Finished(_)), "{outcome:?}");
    (program, vm.profile())
}

/// The weight of all calls of a method by its name.
fn called(program: &VerifiedProgram, graph: &CallGraph, callee: &str) -> f64 {
    let of = |&(edge, _): &(CallEdge, u64)| *program.functions[edge.callee.index()].name == *callee;
    graph.edges().into_iter().filter(of).map(|(_, weight)| weight as f64).sum()
}

fn credited(found: &Collected) -> &CallGraph {
    &found.credited_calls.as_ref().expect("there is credit").graph
}

/// A path from yieldpoint to yieldpoint has the block of the loop twice, and passes its call once.
#[test]
fn a_call_beside_a_loops_yieldpoint_is_credited_once() {
    for level in ["o1", "o2"] {
        // Windows that are longer than the rounds of `main`: ticks prefer the loop that has yieldpoints of calls as well.
        let specs = ["calls", "pep:samples=1024", "cbs:credit=paths"];
        let (program, found) = found(SIDES, level, &specs, 997);
        let exact = found.calls.exact.as_ref().expect("calls ran");
        let of = |graph: &CallGraph, callee: &str| called(&program, graph, callee);
        let ratio = |graph: &CallGraph| of(graph, "f") / (of(graph, "g") + of(graph, "h"));
        assert_eq!(ratio(exact), 1.0);
        let sampled = &found.calls.sampled.as_ref().expect("cbs ran").graph;
        let (inlined, stays) = (of(sampled, "f"), of(sampled, "stays"));
        assert!(
            inlined < stays / 10.0,
            "{level}: {inlined} samples of what is inlined, {stays} of what stays"
        );
        let is = ratio(credited(&found));
        println!("{level}: {is:.3}");
        assert!((0.97..1.03).contains(&is), "{level}: {is:.3} instead of 1");
    }
}
