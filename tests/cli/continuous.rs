//! `--continuous`: code that is made again when the program changes its behaviour.

use crate::process::{Seen, folder, holloway};

/// A branch that goes one way for a long time, and then the other.
const PROGRAM: &str = "\
fn step(n: Int, turn: Int) -> Int {
    if n % 8 < turn { n * 3 % 1009 } else { (n + 7) % 1013 }
}

fn main() {
    var n = 1
    for phase in 0..PHASES {
        let turn = if phase % 2 == 0 { 7 } else { 1 }
        for i in 0..CALLS {
            n = step(n + i, turn)
        }
    }
    println(n.toString())
}
";

fn run(name: &str, phases: u32, calls: u32, flags: &[&str]) -> Seen {
    let program = folder(name).join("phases.hol");
    let text = PROGRAM.replace("PHASES", &phases.to_string()).replace("CALLS", &calls.to_string());
    std::fs::write(&program, text).expect("a file");
    let program = program.to_string_lossy();
    let always = ["--sync-compile", "--timer", "virtual:1000", "--stats", "--log", "compile"];
    let seen = holloway(&[&["run"], &always[..], flags, &[&program]].concat());
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    seen
}

fn remade(seen: &Seen) -> usize {
    let line = seen.err.lines().find(|line| line.starts_with("made again"));
    line.and_then(|line| line.split_whitespace().last()?.parse().ok()).expect("a number")
}

#[test]
fn code_follows_phases() {
    let continuous = run("continuous", 4, 300_000, &["--continuous"]);
    assert!((3..=12).contains(&remade(&continuous)), "{}", continuous.err);
    assert!(continuous.err.contains("the program changed"), "{}", continuous.err);
    let again = run("continuous_again", 4, 300_000, &["--continuous"]);
    let lines = |seen: &Seen| seen.err.lines().filter(|line| line.contains("the program changed")).count();
    assert_eq!((lines(&continuous), remade(&continuous)), (lines(&again), remade(&again)), "repeatable");
    let otherwise = run("not_continuous", 4, 300_000, &["--profile", "pep"]);
    assert_eq!((&otherwise.out, remade(&otherwise)), (&continuous.out, 0));
}

/// A call whose receivers are of one class in each phase; rare ones of four others keep it from being the only class.
const RECEIVERS: &str = "\
interface Shape { fn area(n: Int) -> Int }
class Square : Shape { fn area(n: Int) -> Int { n * n } }
class Circle : Shape { fn area(n: Int) -> Int { 3 * n * n + 1 } }
class Line : Shape { fn area(n: Int) -> Int { n } }
class Point : Shape { fn area(n: Int) -> Int { n - n } }
class Dot : Shape { fn area(n: Int) -> Int { 1 } }
class Ray : Shape { fn area(n: Int) -> Int { n + n } }

fn shape(i: Int, phase: Int) -> Shape {
    if i % 50 == 7 { return Line() }
    if i % 50 == 9 { return Point() }
    if i % 50 == 11 { return Dot() }
    if i % 50 == 13 { return Ray() }
    if phase % 2 == 0 { Square() } else { Circle() }
}

fn measure(shapes: List<Shape>) -> Int {
    var sum = 0
    for s in shapes { sum += s.area(7) }
    sum
}

fn main() {
    var sum = 0
    for phase in 0..4 {
        let shapes = List<Shape>()
        for i in 0..100 { shapes.add(shape(i, phase)) }
        for i in 0..4000 { sum += measure(shapes) }
    }
    println(sum.toString())
}
";

#[test]
#[cfg(target_arch = "x86_64")]
fn code_follows_receivers() {
    let program = crate::process::file(&folder("continuous_receivers"), "shapes.hol", RECEIVERS);
    let flags = ["--sync-compile", "--timer", "virtual:1009", "--stats", "--log", "compile,inline"];
    for inline in ["frequency", "new"] {
        let run = |more: &[&str]| {
            let seen = holloway(&[&["run", &program, "--inline", inline], &flags[..], more].concat());
            assert_eq!((seen.code, &*seen.out), (Some(0), "145696000\n"), "{}", seen.err);
            seen
        };
        let inlined = |seen: &Seen, method: &str| {
            let first =
                |line: &str| line.split(" -> ").nth(1).is_some_and(|callee| callee.starts_with(method));
            seen.err
                .lines()
                .any(|line| line.starts_with("inline: measure") && first(line) && line.contains(": inlined"))
        };
        let once = run(&[]);
        assert!(inlined(&once, "Square.area") && !inlined(&once, "Circle.area"), "{}", once.err);
        let continuous = run(&["--continuous"]);
        assert!(inlined(&continuous, "Circle.area"), "{}", continuous.err);
        assert!(remade(&continuous) >= 2, "{}", continuous.err);
    }
}

/// Of two classes the receivers alternate all the time, beside a branch that follows phases. (Methods that only compute a value would
/// become a selection without a test.)
const PAIR: &str = "\
interface Shape { fn grow(n: Int) }
class Square : Shape {
    var side: Int = 0
    fn grow(n: Int) { this.side = (this.side + n) % 1009 }
}
class Circle : Shape {
    var radius: Int = 0
    fn grow(n: Int) { this.radius = (this.radius * 3 + n) % 1013 }
}

fn step(n: Int, turn: Int) -> Int {
    if n % 8 < turn { n * 3 % 1009 } else { (n + 7) % 1013 }
}

fn work(shapes: List<Shape>, turn: Int) -> Int {
    var n = 1
    for s in shapes {
        n = step(n, turn)
        s.grow(n)
    }
    n
}

fn main() {
    let shapes = List<Shape>()
    for i in 0..100 { shapes.add(if i % 2 == 0 { Square() } else { Circle() }) }
    var sum = 0
    for phase in 0..4 {
        let turn = if phase % 2 == 0 { 7 } else { 1 }
        for i in 0..4000 { sum += work(shapes, turn) }
    }
    println(sum.toString())
}
";

#[test]
#[cfg(target_arch = "x86_64")]
fn the_receivers_that_no_test_is_for_are_seen() {
    let program = crate::process::file(&folder("continuous_pair"), "pair.hol", PAIR);
    let flags = ["--sync-compile", "--timer", "virtual:1009", "--stats", "--log", "compile,inline,deopt"];
    let seen = holloway(&[&["run", &program, "--continuous"], &flags[..]].concat());
    assert_eq!(seen.code, Some(0), "{}", seen.err);
    assert!(remade(&seen) >= 4, "{}", seen.err);
    assert!(seen.err.contains("the branch at step"), "{}", seen.err);
    let sites =
        || seen.err.lines().filter(|line| line.starts_with("inline: work@") && line.contains(".grow"));
    assert!(sites().count() >= 4, "{}", seen.err);
    assert!(sites().all(|line| line.contains("Square.grow") && line.contains("Circle.grow")), "{}", seen.err);
    assert!(!seen.err.contains("left: receiver"), "{}", seen.err);
}

#[test]
fn what_changes_faster_than_code_can_follow_is_left_alone() {
    let seen = run("continuous_fast", 400, 1_000, &["--continuous"]);
    // Once or twice, from the first phase to the mean of all.
    assert!(remade(&seen) <= 4, "{}", seen.err);
}

#[test]
fn pep_has_code_of_its_own_if_others_let_it() {
    let asked = |flags: &[&str]| {
        let seen = run(&format!("turns{}", flags.len()), 4, 300_000, flags);
        seen.err.lines().filter(|line| line.contains("marked") && line.contains("PEP looked there")).count()
    };
    assert!(asked(&["--continuous"]) >= 2);
    assert!(asked(&["--profile", "pep:code=turns", "--tier", "o2"]) >= 2, "without anybody who follows");
    assert_eq!(asked(&["--continuous", "--profile", "pep"]), 0);
    assert_eq!(asked(&["--continuous", "--profile", "blpp", "--profile", "edges"]), 0);
    let program = crate::process::file(&folder("turns_refused"), "phases.hol", "fn main() {}\n");
    let refused = holloway(&["run", "--profile", "pep:code=turns", "--profile", "blpp", &program]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(refused.err.contains("leave code=turns out"), "{}", refused.err);
}

#[test]
fn it_is_about_code_that_may_be_made_again() {
    let refused = |flags: &[&str], why: &str| {
        let seen = holloway(&[&["run", "--continuous"], flags, &["nothing.hol"]].concat());
        assert_eq!(seen.code, Some(2));
        assert!(seen.err.contains(why), "{}", seen.err);
    };
    refused(&["--replay", "advice.json"], "--continuous compiles anew");
    refused(&["--tier", "interp"], "--continuous is about compiled code");
}
