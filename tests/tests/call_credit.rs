//! Credit for inlined calls: what sampled paths say of them, against exact counts.

use holloway_bytecode::verify::VerifiedProgram;
use holloway_profilers::calls::{CallEdge, CallGraph, overlap};
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

/// Nothing that is hot is called once it is compiled, for it is all in `main`.
const INLINED: &str = "\
class Counter {
    var count: Int = 0
    fn add(n: Int) { this.count = (this.count + n) % 1000003 }
}
fn double(n: Int) -> Int { n + n }
fn mix(n: Int) -> Int { if n % 4 == 0 { double(n) } else { n + 1 } }

fn main() {
    let counter = Counter()
    for i in 0..4000000 { counter.add(mix(i)) }
    println(counter.count.toString())
}
";

#[test]
fn a_run_of_inlined_calls_has_a_call_graph() {
    let specs = ["calls", "pep", "cbs:credit=paths"];
    let (_, found) = found(INLINED, "adaptive", &specs, 997);
    let exact = found.calls.exact.as_ref().expect("calls ran");
    let sampled = &found.calls.sampled.as_ref().expect("cbs ran").graph;
    let is = overlap(credited(&found), exact);
    println!("{is:.2} %, {} samples", sampled.total());
    assert!(sampled.total() < 20_000, "{} samples: calls are not inlined", sampled.total());
    assert!(credited(&found).total() > sampled.total() * 2 && is > 90.0, "{is:.2} %");
}

/// What is inlined and what is called in the first phase are others in the second.
const PHASES: &str = "\
fn small(n: Int) -> Int { n * 3 + 1 }
fn tiny(n: Int) -> Int { n * 5 + 2 }
fn stays(n: Int) -> Int {
    var sum = n
    LONG
    sum
}
fn remains(n: Int) -> Int {
    var sum = n
    LONG
    sum
}

fn first(n: Int) -> Int {
    var sum = 0
    for i in 0..n {
        sum = (sum + small(i)) % 1000003
        if i % 16 == 0 { sum += stays(2) }
    }
    sum
}

fn second(n: Int) -> Int {
    var sum = 0
    for i in 0..n {
        sum = (sum + tiny(i)) % 1000003
        if i % 16 == 0 { sum += remains(2) }
    }
    sum
}

fn main() {
    var sum = 0
    for i in 0..500 { sum += first(1000) }
    for i in 0..500 { sum += second(1000) }
    println(sum.toString())
}
";

#[test]
fn credit_ages_as_samples_do() {
    let run = |cbs: &str| found(PHASES, "o1", &["pep", cbs], 997);
    let share = |of: &(Arc<VerifiedProgram>, Collected), callee: &str| {
        let graph = credited(&of.1);
        called(&of.0, graph, callee) / graph.total() as f64
    };
    let kept = run("cbs:credit=paths,depth=all");
    let aged = run("cbs:credit=paths,depth=all,decay=200");
    for (old, new) in [("small", "tiny"), ("stays", "remains")] {
        assert!((0.8..1.25).contains(&(share(&kept, old) / share(&kept, new))), "{old}, {new}");
        assert!(share(&kept, old) > 0.02, "{old} {}", share(&kept, old));
        let (was, is) = (share(&aged, old), share(&aged, new));
        assert!(was < 0.001 && is > 0.02, "{old}: {was}, {new}: {is}");
    }
    let contexts = |(_, found): &(Arc<VerifiedProgram>, Collected)| {
        found.calls.sampled.as_ref().and_then(|sampled| sampled.contexts.clone()).expect("contexts").total()
    };
    assert!(contexts(&kept) > 1_000 && contexts(&aged) < 200, "{} {}", contexts(&kept), contexts(&aged));
}
