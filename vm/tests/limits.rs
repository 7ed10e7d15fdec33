//! What a program may not exceed: nested calls, the heap, fuel, time, and the patience of whoever presses Ctrl-C. After
//! any of them the machine can run its program again.

mod common;

use common::{Machine, places, program, stress};
use holloway_bytecode::verify::VerifiedProgram;
use holloway_vm::errors::StopReason;
use holloway_vm::heap::HeapConfig;
use holloway_vm::timer::TimerSource;
use holloway_vm::{Dispatch, Outcome, Vm, VmOptions};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Calls itself `r0` times; `main` reads how often from a global.
fn recursion(depth: usize) -> Arc<VerifiedProgram> {
    program(&format!(
        "file \"main.hol\"\nfunction f(r0: int) -> int {{\nbrgti r0, 0, L1 @ 1:1\nret r0\nL1:\naddi r0, r0, -1\n\
         call r0, f(r0) @ 2:1\naddi r0, r0, 1\nret r0\n}}\n\
         function main() {{\nregisters r0: int\nldi r0, {depth} @ 9:1\ncall r0, f(r0) @ 10:1\ncall -, show(r0)\nretu\n}}"
    ))
}

#[test]
fn depth_is_exact() {
    for dispatch in [Dispatch::Tail, Dispatch::Loop] {
        // The entry function does not count; `f` runs from the depth down to 0.
        let mut fits = Machine::new(&recursion(99), |o| (o.stack_depth, o.dispatch) = (100, dispatch));
        assert_eq!(fits.finish(), "99\n");
        let mut exceeds = Machine::new(&recursion(100), |o| (o.stack_depth, o.dispatch) = (100, dispatch));
        for _ in 0..2 {
            let error = exceeds.fail();
            assert_eq!(error.class, "StackOverflowError");
            assert_eq!(error.message, "stack overflow: more than 100 nested calls");
            assert_eq!((error.trace.inner.len(), error.trace.omitted, error.trace.outer.len()), (40, 51, 10));
            let places = places(&error.trace);
            assert!(places[..49].iter().all(|place| place == "f:2"), "{places:?}");
            assert_eq!(places[49], "main:10");
        }
    }
    // A depth of zero is the entry function alone.
    let error = Machine::new(&recursion(0), |o| o.stack_depth = 0).fail();
    assert_eq!((error.class.as_str(), places(&error.trace)), ("StackOverflowError", vec!["main:10".into()]));
    let trace = Machine::new(&recursion(49), |o| o.stack_depth = 49).fail().trace;
    assert_eq!((trace.inner.len(), trace.omitted, trace.outer.len()), (40, 0, 10));
}

#[test]
fn the_default_depth_fits() {
    assert_eq!(Machine::new(&recursion(19_999), |_| {}).finish(), "19999\n");
    assert_eq!(Machine::new(&recursion(20_000), |_| {}).fail().class, "StackOverflowError");
}

/// Overflows, catches it at the bottom, and does so again, 50 times.
#[test]
fn stack_overflow_can_be_caught() {
    let text = r#"
function forever(r0: int) -> int {
    addi r0, r0, 1
    call r0, forever(r0)
    ret r0
}
function main() {
    registers r0: int, r1: Error, r2: String
    ldi r0, 0
A:
    call -, forever(r0)
B:
    retu
C:
    forlti r0, 50, A
    getf r2, r1.message
    call -, showText(r2)
    retu
    catch StackOverflowError in r1 from A to B at C
}
"#;
    let program = program(
        &text.replace("call -, forever", "call r3, forever").replace("r2: String", "r2: String, r3: int"),
    );
    let output = Machine::new(&program, |_| {}).finish();
    assert_eq!(output, "stack overflow: more than 20000 nested calls\n");
}

/// Each frame keeps a string that nothing else refers to, while the register stack grows several times, and each
/// allocation collects.
#[test]
fn frames_keep_their_references_while_the_stack_moves() {
    let text = r#"
function f(r0: int, r1: String) -> int {
    registers r2..r30: String, r31: int, r32: String
    calln r2, intToString(r0)
    calln r30, concat(r1, r2)
    calln r32, intToHex(r0)
    brlei r0, 0, L1
    addi r31, r0, -1
    call r31, f(r31, r30)
L1:
    len r31, r30
    len r0, r2
    sub r31, r31, r0
    calln r32, concat(r1, r2, r32)
    len r0, r1
    sub r31, r31, r0
    ret r31
}
function main() {
    registers r0: int, r1: String
    ldi r0, 700
    ldstr r1, "x"
    call r0, f(r0, r1)
    call -, show(r0)
    retu
}
"#;
    let program = program(text);
    for dispatch in [Dispatch::Tail, Dispatch::Loop] {
        let mut machine = Machine::new(&program, |o| {
            o.dispatch = dispatch;
            o.heap = HeapConfig { stress: std::num::NonZeroU32::new(5), ..stress() };
        });
        assert_eq!(machine.finish(), "0\n");
    }
}

/// Frames of the most registers that the verifier allows: the stack grows by more than it doubles.
#[test]
fn huge_frames() {
    let text = "function f(r0: int) -> int {\nregisters r1..r64999: int\nldi r64999, 3\nbrlei r0, 0, L1\n\
                addi r1, r0, -1\ncall r1, f(r1)\nadd r64999, r64999, r1\nL1:\nret r64999\n}\n\
                function main() {\nregisters r0: int\nldi r0, 20\ncall r0, f(r0)\ncall -, show(r0)\nretu\n}";
    assert_eq!(Machine::new(&program(text), |_| {}).finish(), "63\n");
    // 20,000 of them would take 10 GiB. The register stack ends before the depth does.
    let deep = program(&text.replace("ldi r0, 20\n", "ldi r0, 19000\n"));
    assert_eq!(Machine::new(&deep, |_| {}).fail().class, "StackOverflowError");
}

/// Fills the heap with a list until it is full, three times, and says so.
const HOARD: &str = r#"
file "main.hol"
class Node {
    field next: Node?
    field text: String
}
global list: Node?
function fill() {
    registers r0: Node?, r1: Node, r2: int, r3: String
    ldnull r0
    ldi r2, 0
L1:
    new r1, Node
    putr r0, r1.next
    mov r0, r1
    stg r0, list
    calln r3, intToString(r2)
    putr r3, r1.text
    addi r2, r2, 1
    loop L1
}
function fillAtOnce() {
    registers r0: Bytes, r1: int
    ldi64 r1, 9223372036854775807
    newarr r0, r1, Bytes
    retu
}
function main() {
    registers r0: Error, r1: String, r2: int, r3: Node?
    ldi r2, 0 @ 98:1
A:
    call -, fill()
B:
    retu
C:
    ldnull r3
    stg r3, list
    getf r1, r0.message
    call -, showText(r1)
    forlti r2, 3, A
    ldi r2, 0
D:
    call -, fillAtOnce()
E:
    retu
F:
    getf r1, r0.message
    call -, showText(r1)
    forlti r2, 3, D
    call -, fill() @ 99:1
    retu
    catch OutOfMemoryError in r0 from A to B at C
    catch OutOfMemoryError in r0 from D to E at F
}
"#;

#[test]
fn a_full_heap_can_be_survived() {
    let program = program(HOARD);
    for dispatch in [Dispatch::Tail, Dispatch::Loop] {
        let mut machine = Machine::new(&program, |o| (o.heap.limit, o.dispatch) = (4 << 20, dispatch));
        for _ in 0..3 {
            let error = machine.fail();
            assert_eq!(machine.output.take(), "out of memory: the heap is limited to 4 MiB\n".repeat(6));
            assert_eq!(error.class, "OutOfMemoryError");
            assert_eq!(error.message, "out of memory: the heap is limited to 4 MiB");
            assert_eq!(places(&error.trace), ["fill:0", "main:99"]);
        }
    }
}

/// Yieldpoints by hand: 4 back edges taken, 3 calls with prologue and epilogue, 1 epilogue of `main`.
const COUNTED: &str = "file \"main.hol\"\nfunction f() {\nretu @ 5:1\n}\nfunction main() {\nregisters r0: int\nldi r0, 0 @ 1:1\nL1:\n\
                       forlti r0, 5, L1 @ 2:1\ncall -, f()\ncall -, f()\ncall -, f()\nretu @ 3:1\n}";

#[test]
fn fuel_is_exact() {
    let program = program(COUNTED);
    for dispatch in [Dispatch::Tail, Dispatch::Loop] {
        let run = |fuel| {
            let mut machine = Machine::new(&program, |o| (o.fuel, o.dispatch) = (Some(fuel), dispatch));
            let outcomes = [machine.vm.run(), machine.vm.run()];
            outcomes.map(|outcome| match outcome {
                Outcome::Finished(errors) if errors.is_empty() => None,
                Outcome::Stopped(StopReason::FuelExhausted, trace) => Some(places(&trace)),
                other => panic!("{other:?}"),
            })
        };
        assert_eq!(run(11), [None, None]);
        assert_eq!(run(10), [(); 2].map(|()| Some(vec!["main:3".into()])));
        assert_eq!(run(9), [(); 2].map(|()| Some(vec!["f:5".into(), "main:2".into()])));
        assert_eq!(run(0), [(); 2].map(|()| Some(vec!["main:2".into()])));
    }
}

/// Sleeping passes virtual time, but uses no fuel.
#[test]
fn sleeping_uses_no_fuel() {
    let text = "function main() {\nregisters r0..r1: int\nldi64 r0, 9223372036854775807\ncalln -, threadSleep(r0)\nldi r0, 1000\n\
                calln -, threadSleep(r0)\ncalln r0, nanoTime()\ncall -, show(r0)\nretu\n}";
    let output =
        Machine::new(&program(text), |o| (o.fuel, o.timer) = (Some(5), TimerSource::Virtual(2))).finish();
    assert_eq!(output, format!("{}\n", i64::MAX), "time ends at the largest number");
}

const ENDLESS: &str = "file \"main.hol\"\nfunction spin() {\nL1:\nloop L1 @ 7:1\n}\nfunction main() {\ncall -, spin() @ 8:1\nretu\n}";
const SLEEPING: &str = "file \"main.hol\"\nfunction main() {\nregisters r0: int\nldi r0, 1000000 @ 2:1\ncalln -, threadSleep(r0) @ 3:1\nretu\n}";

#[test]
fn the_time_limit_ends_programs() {
    for (text, trace) in [(ENDLESS, &["spin:7", "main:8"][..]), (SLEEPING, &["main:3"])] {
        for timer in
            [TimerSource::Wall(Duration::from_millis(1)), TimerSource::Wall(Duration::from_secs(1000))]
        {
            let mut machine = Machine::new(&program(text), |o| {
                (o.time_limit, o.timer) = (Some(Duration::from_millis(50)), timer)
            });
            for _ in 0..2 {
                let start = Instant::now();
                match machine.vm.run() {
                    Outcome::Stopped(StopReason::TimeLimit, t) => assert_eq!(places(&t), trace),
                    other => panic!("{other:?}"),
                }
                assert!(start.elapsed() >= Duration::from_millis(50));
            }
        }
    }
    let mut virtually = Machine::new(&program(ENDLESS), |o| {
        (o.time_limit, o.timer) = (Some(Duration::from_millis(50)), TimerSource::Virtual(1000));
    });
    assert!(matches!(virtually.vm.run(), Outcome::Stopped(StopReason::TimeLimit, _)));
    // Limits and periods that no clock can express are as good as none.
    let forever = Duration::MAX;
    let mut unlimited = Machine::new(&program(COUNTED), |o| {
        (o.time_limit, o.timer) = (Some(forever), TimerSource::Wall(forever))
    });
    assert_eq!(unlimited.finish(), "");
}

#[test]
fn interrupts_end_programs() {
    for text in [ENDLESS, SLEEPING] {
        for dispatch in [Dispatch::Tail, Dispatch::Loop] {
            let mut machine = Machine::new(&program(text), |o| o.dispatch = dispatch);
            let handle = machine.vm.interrupt_handle();
            let interrupter = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(30));
                handle.interrupt();
                Instant::now()
            });
            assert!(matches!(machine.vm.run(), Outcome::Stopped(StopReason::Interrupted, _)));
            let latency = interrupter.join().expect("the interrupter").elapsed();
            println!("ended {latency:?} after the interrupt");
            assert!(latency < Duration::from_secs(1));
        }
    }
}

/// One that comes too early is not lost; one that was handled is over.
#[test]
fn interrupts_before_the_run() {
    let mut machine = Machine::new(&program(COUNTED), |_| {});
    machine.vm.interrupt_handle().interrupt();
    assert!(matches!(machine.vm.run(), Outcome::Stopped(StopReason::Interrupted, _)));
    assert_eq!(machine.finish(), "");
    let handle = machine.vm.interrupt_handle();
    drop(machine);
    handle.interrupt();
}

/// Nothing of a run is left for the next one: neither globals nor numbers.
#[test]
fn each_run_begins_anew() {
    let text = "global count: int\nfunction main() {\nregisters r0: int\nldg r0, count\ncall -, show(r0)\naddi r0, r0, 1\nstg r0, count\n\
                calln r0, nextNumber()\ncall -, show(r0)\ncalln r0, nextNumber()\ncall -, show(r0)\nretu\n}";
    let mut machine = Machine::new(&program(text), |_| {});
    for _ in 0..2 {
        assert_eq!(machine.finish(), "0\n1\n2\n");
    }
}

/// Output that nobody reads any more does not end a program.
#[test]
fn broken_output_is_ignored() {
    struct Broken;
    impl std::io::Write for Broken {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
    }
    let mut machine = Machine::new(&recursion(5), |o| o.output = Box::new(Broken));
    assert!(matches!(machine.vm.run(), Outcome::Finished(errors) if errors.is_empty()));
}

#[test]
fn machines_that_cannot_be_made() {
    let constant = "x".repeat(5 << 20);
    let text = format!("function main() {{\nregisters r0: String\nldstr r0, \"{constant}\"\nretu\n}}");
    let error = |program: &Arc<VerifiedProgram>, limit| {
        let options =
            VmOptions { heap: HeapConfig { limit, ..HeapConfig::default() }, ..VmOptions::default() };
        Vm::new(program.clone(), options).err()
    };
    let large = program(&text);
    assert_eq!(
        error(&large, 4 << 20).expect("an error"),
        "the heap limit leaves no room for the program's constants"
    );
    assert_eq!(error(&large, 16 << 20), None);
    assert!(error(&large, usize::MAX).is_some());
    let mut without_entry = (**recursion(1)).clone();
    without_entry.entry = None;
    let without_entry = Arc::new(holloway_bytecode::verify::verify(without_entry).expect("a sound program"));
    assert_eq!(error(&without_entry, 16 << 20).expect("an error"), "the program has no entry function");
}
