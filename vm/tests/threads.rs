//! Green threads: who runs when, who waits for whom, what becomes of errors, and how many there can be. Under the virtual
//! timer all of it is the same in every run.

mod common;

use common::{Machine, lines, places, program, stress};
use holloway_bytecode::verify::VerifiedProgram;
use holloway_vm::errors::UncaughtError;
use holloway_vm::heap::HeapConfig;
use holloway_vm::timer::TimerSource;
use holloway_vm::{Dispatch, Outcome};
use std::sync::Arc;
use std::time::Duration;

/// A class of things to run in a thread: `Task.run` is given the body. `tag` tells them apart.
fn task(registers: &str, body: &str) -> String {
    format!(
        "file \"main.hol\"\nclass Task {{\nfield tag: int\nfield text: String\nmethod run() = Task.run\n}}\n\
         global gate: Task\nglobal sum: int\n\
         function Task.run(r0: Task) {{\nregisters r1: int, r2: int, {registers}\ngetf r1, r0.tag @ 10:1\n{body}\nretu\n}}\n\
         function start(r0: int) -> int {{\nregisters r1: Task, r2: String\nnew r1, Task\nputf r0, r1.tag\n\
         calln r2, intToString(r0)\nputr r2, r1.text\ncalln r0, threadSpawn(r1)\nret r0\n}}\n"
    )
}

/// A main function that starts threads with tags from 0 on, then goes on with `body`.
fn starting(count: usize, body: &str) -> String {
    format!(
        "function main() {{\nregisters r0..r3: int, r4: Task, r5: String, r6: bool, r7: Error, r8: String\nnew r4, Task @ 20:1\n\
         stg r4, gate\nldi r3, {count}\nldi r0, 0\nT:\ncall r1, start(r0)\nforlt r0, r3, T\n{body}\nretu\n}}"
    )
}

/// Waits until the threads are over: each adds 1 to `sum`.
const WAIT: &str = "W:\ncalln -, threadYield()\nldg r0, sum\nlooplt r0, r3, W\n";
const DONE: &str = "ldg r2, sum\naddi r2, r2, 1\nstg r2, sum\n";

#[test]
fn the_virtual_timer_is_repeatable() {
    // Each prints its tag ten times, with some work in between that differs.
    let body = format!(
        "ldi r3, 0\nL1:\ncall -, show(r1)\nldi r4, 0\nL2:\naddi r4, r4, 1\nmul r5, r1, r3\nlooplt r4, r5, L2\nforlti r3, 10, L1\n{DONE}"
    );
    let program = program(&(task("r3..r5: int", &body) + &starting(4, WAIT)));
    let run = |ticks, dispatch| {
        let mut machine =
            Machine::new(&program, |o| (o.timer, o.dispatch) = (TimerSource::Virtual(ticks), dispatch));
        let first = machine.finish();
        let statistics = machine.vm.statistics();
        assert_eq!(machine.finish(), first, "a second run differs");
        assert_eq!(statistics.threads, 5);
        (first, statistics.ticks, statistics.thread_switches, statistics.yieldpoints_taken)
    };
    let seven = run(7, Dispatch::Tail);
    assert_eq!(run(7, Dispatch::Tail), seven);
    assert_eq!(run(7, Dispatch::Loop), seven);
    assert_ne!(run(8, Dispatch::Tail).0, seven.0);
    // A tick so long that nobody is interrupted.
    let (output, ..) = run(1_000_000, Dispatch::Tail);
    assert_eq!(output, lines((0..4).flat_map(|tag| [tag; 10])));
}

/// Two endless loops and a main thread that sleeps: all three get their share.
#[test]
fn the_wall_timer_is_fair() {
    let text = task(
        "r3: int",
        "breqi r1, 0, Z\nO:\nldg r2, ones\naddi r2, r2, 1\nstg r2, ones\nloop O\nZ:\nldg r2, zeros\naddi r2, r2, 1\nstg r2, zeros\nloop Z",
    ) + "global ones: int\nglobal zeros: int\n"
        + &starting(
            2,
            "ldi r0, 150\ncalln -, threadSleep(r0)\nldg r0, ones\ncall -, show(r0)\nldg r0, zeros\ncall -, show(r0)",
        );
    let mut machine =
        Machine::new(&program(&text), |o| o.timer = TimerSource::Wall(Duration::from_millis(2)));
    let output = machine.finish();
    let counts: Vec<f64> = output.lines().map(|line| line.parse().expect("a count")).collect();
    println!("{counts:?} rounds, {:?}", machine.vm.statistics());
    assert!(counts[0] > 0.0 && counts[1] > 0.0, "{output}");
    let share = counts[0] / (counts[0] + counts[1]);
    assert!((0.1..0.9).contains(&share), "{output}");
}

/// Without ticks nobody is interrupted: code without a wait is atomic.
#[test]
fn no_tick_no_switch() {
    let text = task("r3: int", &format!("ldi r3, 0\nL:\ncall -, show(r1)\nforlti r3, 3, L\n{DONE}"))
        + &starting(3, WAIT);
    assert_eq!(Machine::new(&program(&text), |_| {}).finish(), lines([0, 0, 0, 1, 1, 1, 2, 2, 2]));
}

/// Threads with tags 0 to 5 that sleep 60, 20, 0, 40, 20, 60 ms and then print their tags; the main thread waits for them.
fn sleepers() -> Arc<VerifiedProgram> {
    let body = format!(
        "switch r1, 0 [A, B, C, D, B] else A\nA:\nldi r2, 60\njump E\nB:\nldi r2, 20\njump E\nC:\nldi r2, -5\njump E\n\
         D:\nldi r2, 40\nE:\ncalln -, threadSleep(r2)\ncall -, show(r1)\n{DONE}"
    );
    program(&(task("r3: int", &body) + &starting(6, WAIT)))
}

/// Who sleeps as long as another wakes in the order of falling asleep.
#[test]
fn sleepers_wake_in_order() {
    let output = Machine::new(&sleepers(), |o| o.timer = TimerSource::Virtual(1000)).finish();
    assert_eq!(output, lines([2, 1, 4, 3, 0, 5]));
}

/// By the clock, a busy machine may let a long time pass between two threads' falling asleep. What it cannot change without a
/// tick in between: who falls asleep first and sleeps no longer wakes first.
#[test]
fn sleepers_wake_by_the_clock() {
    let output =
        Machine::new(&sleepers(), |o| o.timer = TimerSource::Wall(Duration::from_secs(3600))).finish();
    let place = |tag: u32| output.lines().position(|line| line == tag.to_string()).expect("all wake");
    assert_eq!(output.lines().count(), 6, "{output}");
    for (first, second) in [(2, 3), (2, 4), (2, 5), (1, 3), (1, 4), (1, 5), (3, 5), (0, 5)] {
        assert!(place(first) < place(second), "{first} before {second}: {output}");
    }
}

#[test]
fn virtual_time_is_exact() {
    let body = "calln r0, nanoTime()\ncall -, show(r0)\nldi r0, 3\ncalln -, threadSleep(r0)\ncalln r0, nanoTime()\ncall -, show(r0)\n\
                ldi r0, 0\nL:\nforlti r0, 101, L\ncalln r0, nanoTime()\ncall -, show(r0)";
    let text = format!("function main() {{\nregisters r0: int\n{body}\nretu\n}}");
    // 10 ns for each yieldpoint: `show` has two, the loop a hundred.
    let output = Machine::new(&program(&text), |o| o.timer = TimerSource::Virtual(1000)).finish();
    assert_eq!(output, lines([0, 3_000_020, 3_001_040]));
}

#[test]
fn who_waits_first_wakes_first() {
    let text = task(
        "r3: Task, r4: String",
        "ldg r3, gate\nldstr r4, \"the gate\"\ncalln -, threadWait(r3, r4)\ncall -, show(r1)",
    ) + &starting(
        6,
        // One at a time, then all. Waking nobody does nothing; nor does waking for another object.
        "ldb r6, false\ncalln -, threadYield()\ncalln -, threadWake(r4, r6)\ncalln -, threadYield()\n\
             calln -, threadWake(r4, r6)\ncalln -, threadWake(r4, r6)\ncalln -, threadYield()\nldi r0, 77\ncall -, show(r0)\n\
             ldstr r5, \"\"\nldb r6, true\ncalln -, threadWake(r5, r6)\ncalln -, threadYield()\ncalln -, threadWake(r4, r6)\n\
             calln -, threadWake(r4, r6)\ncalln -, threadYield()",
    );
    assert_eq!(Machine::new(&program(&text), |_| {}).finish(), lines([0, 1, 2, 77, 3, 4, 5]));
}

#[test]
fn deadlocks_name_everybody() {
    let text = task(
        "r3: Task, r4: String",
        "ldg r3, gate\nldstr r4, \"the gate\"\ncall -, wait(r3, r4) @ 11:3",
    ) + "file \"std/channel.hol\"\n\
           function wait(r0: Task, r1: String) {\ncalln -, threadWait(r0, r1) @ \"std/channel.hol\" 50:1\nretu\n}\n"
        + &starting(
            2,
            "ldstr r5, \"an \"\nldstr r8, \"answer\"\ncalln r5, concat(r5, r8)\nA:\ncalln -, threadWait(r4, r5) @ 21:7\nB:\nretu\nC:\ngetf r8, r7.message\n\
                        call -, showText(r8)\ncalln -, threadWait(r4, r5) @ 22:9\ncatch DeadlockError in r7 from A to B at C",
        );
    // Many registers put the main thread's stack far away from the others'.
    let text = text.replace("r8: String\nnew r4", "r8: String, r9..r40000: int\nnew r4");
    let message = |line| {
        format!(
            "all threads wait for each other\n  the main thread waits for an answer at main.hol:{line}\n  \
             thread 1 waits for the gate at main.hol:11:3\n  thread 2 waits for the gate at main.hol:11:3"
        )
    };
    let every_allocation = HeapConfig { stress: std::num::NonZeroU32::new(1), ..stress() };
    for (dispatch, heap) in [(Dispatch::Tail, every_allocation), (Dispatch::Loop, HeapConfig::default())] {
        let mut machine = Machine::new(&program(&text), |o| (o.dispatch, o.heap) = (dispatch, heap));
        for _ in 0..2 {
            let error = machine.fail();
            assert_eq!(machine.output.take(), message("21:7") + "\n");
            assert_eq!((error.class.as_str(), error.message), ("DeadlockError", message("22:9")));
            assert_eq!((places(&error.trace), error.thread), (vec!["main:22".to_string()], 0));
        }
    }
    let many = text.replace("ldi r3, 2\n", "ldi r3, 30\n");
    assert!(Machine::new(&program(&many), |_| {}).fail().message.ends_with("\n  … and 11 more"));
}

/// Errors of threads are reported at the end in the order in which they happened, unless they were handed over.
#[test]
fn errors_that_nobody_joined() {
    let text = task("r3: int", "ldi r3, 0\ndiv r3, r3, r3 @ 12:1")
        + &starting(3, "calln -, threadYield()\nldi r0, 2\ncalln -, threadJoined(r0)");
    let program = program(&text);
    for heap in [HeapConfig { limit: 8 << 20, ..HeapConfig::default() }, stress()] {
        let mut machine = Machine::new(&program, |o| o.heap = heap);
        for _ in 0..2 {
            let Outcome::Finished(errors) = machine.vm.run() else { panic!("it fails") };
            let summary: Vec<(&str, &str, u32, Vec<String>)> = errors
                .iter()
                .map(|UncaughtError { class, message, trace, thread }| {
                    (&**class, &**message, *thread, places(trace))
                })
                .collect();
            let place = vec!["Task.run:12".to_string()];
            let expected = [
                ("DivisionError", "division by zero", 1, place.clone()),
                ("DivisionError", "division by zero", 3, place),
            ];
            assert_eq!(summary, expected);
        }
    }
}

/// The main thread fails or returns while others run, wait and sleep: they are stopped, and all can run again.
#[test]
fn the_main_thread_ends_the_program() {
    let body = "ldg r3, gate\nldstr r4, \"x\"\nswitch r1, 0 [A, B] else C\nA:\nloop A\nB:\ncalln -, threadWait(r3, r4)\nretu\nC:\n\
                ldi r2, 100000\ncalln -, threadSleep(r2)\nretu";
    let failing = task("r3: Task, r4: String", body)
        + &starting(5, "ldi r0, 1\ncalln -, threadSleep(r0)\nldi r0, 0\ndiv r0, r0, r0 @ 25:1");
    let mut machine = Machine::new(&program(&failing), |o| o.timer = TimerSource::Virtual(50));
    for _ in 0..3 {
        assert_eq!(places(&machine.fail().trace), ["main:25"]);
    }
    let ending = failing.replace("div r0, r0, r0 @ 25:1", "");
    let mut machine = Machine::new(&program(&ending), |o| o.timer = TimerSource::Virtual(50));
    for _ in 0..3 {
        machine.finish();
    }
}

/// A thread's stack overflows by itself, and only it.
#[test]
fn each_thread_has_a_stack_of_its_own() {
    let text = task("r3: int", &format!("call r3, deep(r1)\n{DONE}"))
        + "function deep(r0: int) -> int {\naddi r0, r0, 1\ncall r0, deep(r0)\nret r0\n}\n"
        + &starting(2, "ldi r0, 0\nL:\ncalln -, threadYield()\nforlti r0, 100, L");
    let mut machine =
        Machine::new(&program(&text), |o| (o.stack_depth, o.timer) = (500, TimerSource::Virtual(100)));
    let Outcome::Finished(errors) = machine.vm.run() else { panic!("it fails") };
    let mut threads: Vec<u32> = errors.iter().map(|e| e.thread).collect();
    threads.sort();
    assert_eq!(threads, [1, 2]);
    assert!(errors.iter().all(|e| e.class == "StackOverflowError"));
    assert_eq!(errors[0].trace.omitted, 450);
}

/// Switches at every level of a recursion, in which the register stacks grow while others are suspended. Each level keeps a
/// string that only its registers refer to, under stress.
#[test]
fn switches_inside_deep_calls() {
    let text = task(
        "r3: String, r4: int",
        &format!("getf r3, r0.text\nldi r4, 60\ncall r1, down(r4, r3)\ncall -, show(r1)\n{DONE}"),
    ) + "function down(r0: int, r1: String) -> int {\nregisters r2..r20: int, r21: String, r22: String\n\
           calln r21, intToString(r0)\ncalln r22, concat(r1, r21)\ncalln -, threadYield()\nldi r2, 0\nbrlei r0, 0, L1\n\
           addi r2, r0, -1\ncall r2, down(r2, r22)\nL1:\ncalln -, threadYield()\nlen r3, r22\nlen r4, r1\nsub r3, r3, r4\nadd r2, r2, r3\n\
           ret r2\n}\n"
        + &starting(4, WAIT);
    let program = program(&text);
    let digits: usize = (0..=60).map(|i: i32| i.to_string().len()).sum();
    for timer in [TimerSource::Virtual(3), TimerSource::Wall(Duration::from_millis(1))] {
        for heap in [HeapConfig::default(), stress()] {
            let mut machine = Machine::new(&program, |o| (o.timer, o.heap) = (timer, heap.clone()));
            assert_eq!(machine.finish(), lines([digits; 4]));
        }
    }
}

/// What only the registers of a suspended thread refer to stays, and so does a closure that only its thread knows.
#[test]
fn suspended_threads_keep_objects() {
    let text = task(
        "r3: String, r4: Task, r5: String",
        &format!(
            "calln r3, intToHex(r1)\nldg r4, gate\nldstr r5, \"\"\ncalln r3, concat(r3, r5)\n\
        calln -, threadWait(r4, r5)\ncall -, showText(r3)\ngetf r3, r0.text\ncall -, showText(r3)\n{DONE}"
        ),
    ) + &starting(
        20,
        &format!(
            "calln -, threadYield()\nldi r0, 0\nL:\ncalln r5, intToString(r0)\nforlti r0, 200, L\ncalln -, collectGarbage()\n\
                         ldb r6, true\ncalln -, threadWake(r4, r6)\n{WAIT}"
        ),
    );
    let mut machine = Machine::new(&program(&text), |o| o.heap = stress());
    assert_eq!(machine.finish(), lines((0..20).flat_map(|i| [format!("{i:x}"), i.to_string()])));
}

/// The most bytes that this process had in memory so far.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|n| n.parse::<usize>().ok()).unwrap_or(0) * 1024
}

#[test]
fn ten_thousand_threads_at_once() {
    let text = task(
        "r3: Task, r4: String",
        &format!("ldg r3, gate\nldstr r4, \"the gate\"\ncalln -, threadWait(r3, r4)\n{DONE}"),
    ) + &starting(
        10_000,
        &format!(
            "calln -, threadYield()\ncalln -, collectGarbage()\ncall -, show(r3)\nldb r6, true\ncalln -, threadWake(r4, r6)\n{WAIT}"
        ),
    );
    let before = peak();
    let mut machine = Machine::new(&program(&text), |_| {});
    assert_eq!(machine.finish(), "10000\n");
    // Other tests run in this process at the same time: what they use counts, too.
    let used = peak().saturating_sub(before);
    println!("{} MiB more for ten thousand threads", used >> 20);
    assert!(used < 1 << 30);
    assert_eq!(machine.vm.statistics().threads, 10_001);
}

/// Threads that end at once use the stacks of those before them.
#[test]
fn many_short_threads() {
    let text = task("r3: int", DONE)
        + "function main() {\nregisters r0..r1: int\nldi r0, 0\nL:\ncall r1, start(r0)\ncalln -, threadYield()\nldi r1, 40000\nforlt r0, r1, L\n\
           ldg r0, sum\ncall -, show(r0)\nretu\n}";
    let mut machine = Machine::new(&program(&text), |_| {});
    assert_eq!(machine.finish(), "40000\n");
    assert_eq!(machine.vm.statistics().threads, 40_001);
}
