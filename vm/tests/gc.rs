//! The collector under programs: everything in `programs` must print the same however often and however thoroughly is
//! collected, in any number of machines at once. Stress mode overwrites the dead and checks all invariants, so that a root
//! or a barrier that was forgotten shows.

mod common;

use common::{Machine, program};
use holloway_bytecode::verify::VerifiedProgram;
use holloway_vm::Dispatch;
use holloway_vm::heap::HeapConfig;
use holloway_vm::timer::TimerSource;
use std::num::NonZeroU32;
use std::sync::Arc;

/// The programs of the folder, with their names.
fn programs() -> Vec<(&'static str, Arc<VerifiedProgram>)> {
    [
        ("trees", include_str!("programs/trees.hbc")),
        ("tables", include_str!("programs/tables.hbc")),
        ("texts", include_str!("programs/texts.hbc")),
        ("boxes", include_str!("programs/boxes.hbc")),
        ("handover", include_str!("programs/handover.hbc")),
    ]
    .map(|(name, text)| (name, program(text)))
    .into()
}

/// A heap in which no collection takes place while these programs run.
fn roomy() -> HeapConfig {
    HeapConfig { limit: 256 << 20, nursery: 256 << 20, ..HeapConfig::default() }
}

fn stress(every: u32) -> HeapConfig {
    HeapConfig { limit: 16 << 20, stress: NonZeroU32::new(every), verify: true, ..HeapConfig::default() }
}

/// What a program prints, and how many collections took place.
fn print(program: &Arc<VerifiedProgram>, heap: HeapConfig, dispatch: Dispatch) -> (String, u64) {
    let mut machine = Machine::new(program, |o| (o.heap, o.dispatch) = (heap, dispatch));
    let output = machine.finish();
    let statistics = machine.vm.statistics().heap;
    (output, statistics.minor_collections + statistics.full_collections)
}

#[test]
fn collections_change_nothing() {
    for (name, program) in programs() {
        let (expected, none) = print(&program, roomy(), Dispatch::Tail);
        assert!(!expected.is_empty() && none == 0, "{name}: {none} collections in a roomy heap");
        let small_nursery =
            HeapConfig { nursery: 32 << 10, full_threshold: 64 << 10, verify: true, ..roomy() };
        let small_mark_stack = HeapConfig { mark_stack_limit: 4, ..stress(31) };
        let tight = HeapConfig { limit: 2 << 20, verify: true, ..HeapConfig::default() };
        let heaps = [stress(1), stress(2), stress(5), stress(17), small_nursery, small_mark_stack, tight];
        for (number, heap) in heaps.into_iter().enumerate() {
            let dispatch = if number % 2 == 0 { Dispatch::Tail } else { Dispatch::Loop };
            let (output, collections) = print(&program, heap.clone(), dispatch);
            assert_eq!(output, expected, "{name} with {heap:?}");
            assert!(collections > 0 || heap.stress.is_none(), "{name}: no collection with {heap:?}");
        }
    }
}

/// A machine can run its program again in a heap that is full of the remains of the run before.
#[test]
fn many_runs_in_one_heap() {
    for (name, program) in programs() {
        for heap in [stress(23), HeapConfig { limit: 2 << 20, ..HeapConfig::default() }] {
            let mut machine = Machine::new(&program, |o| o.heap = heap);
            let first = machine.finish();
            for _ in 0..3 {
                assert_eq!(machine.finish(), first, "{name}");
            }
        }
    }
}

/// What only globals and constants refer to, in a program that allocates from one collection to the next. The global
/// that is overwritten does not keep what was in it.
#[test]
fn globals_and_constants_are_roots() {
    let text = r#"
global kept: String
global many: Array<Int>
function main() {
    registers r0: int, r1: String, r2: int, r3: Array<Int>
    ldi r0, 123456
    calln r1, intToString(r0)
    stg r1, kept
    ldstr r1, "constant"
    ldi r0, 0
L1:
    ldi r2, 20000
    newarr r3, r2, Array<Int>
    stg r3, many
    calln r1, intToString(r0)
    forlti r0, 300, L1
    calln -, collectGarbage()
    ldg r1, kept
    call -, showText(r1)
    ldstr r1, "constant"
    call -, showText(r1)
    ldg r3, many
    len r2, r3
    call -, show(r2)
    retu
}
"#;
    let program = program(text);
    // 300 arrays of 160,000 bytes do not fit, one does.
    for heap in [stress(1), HeapConfig { limit: 2 << 20, ..HeapConfig::default() }] {
        assert_eq!(print(&program, heap, Dispatch::default()).0, "123456\nconstant\n20000\n");
    }
}

/// Natives hold objects in variables of their own while they allocate: the arguments here are overwritten by the result, and the
/// collector sees them in the call's registers or on the native stack.
#[test]
fn natives_keep_what_they_work_on() {
    let text = r#"
class Array<String> array String
function main() {
    registers r0: String, r1: int, r2: Array<String>, r3: Bytes, r4: int, r5: int, r6: Int?, r7: Int
    ldi r1, 0
L1:
    calln r0, intToHex(r1)
    calln r0, concat(r0, r0, r0, r0, r0, r0)
    calln r3, stringToBytes(r0)
    len r4, r3
    ldi r5, 0
    calln r3, arrayCopy(r3, r5, r4)
    calln r0, stringFromBytes(r3, r5, r4)
    divi r4, r4, 6
    calln r0, substring(r0, r5, r4)
    ldi r4, 3
    newarr r2, r4, Array<String>
    calln -, fillRef(r2, r0)
    ldstr r0, ""
    calln r2, arrayCopy(r2, r5, r4)
    calln r2, arrayCopy(r2, r5, r4)
    ldi r4, 2
    gete r0, r2, r4
    calln r6, intParse(r0)
    brnull r6, L2
    nonnull r7, r6
    getf r4, r7.value
    call -, show(r4)
L2:
    forlti r1, 100, L1
    retu
}
"#;
    let expected =
        common::lines((0..100).map(|n| format!("{n:x}")).filter_map(|hex| hex.parse::<i64>().ok()));
    for every in [1, 2, 3] {
        for dispatch in [Dispatch::Tail, Dispatch::Loop] {
            assert_eq!(print(&program(text), stress(every), dispatch).0, expected);
        }
    }
}

/// Natives that store references into an old array must say so: a minor collection finds what only the array refers to (and no
/// register). Small arrays are remembered as a whole, large ones by their cards.
#[test]
fn natives_have_barriers() {
    let text = r#"
class Array<String?> array String?
function check(r0: int) {
    registers r1: Array<String?>, r2: Array<String?>, r3: int, r4: String, r5: String?, r6: int, r7: int, r8: int
    newarr r1, r0, Array<String?>
    calln -, collectGarbage()
    calln -, collectGarbage()
    addi r8, r0, -1
    ldi r7, 1
    ldi r6, 0
    ldi r3, 0
L1:
    calln r4, intToHex(r3)
    newarr r2, r7, Array<String?>
    pute r4, r2, r6
    calln -, arrayMove(r2, r6, r1, r8, r7)
    ; Neither registers nor what is left on the native stack refer to the string and its array any more.
    newarr r2, r7, Array<String?>
    ldstr r4, ""
    calln -, arrayMove(r1, r6, r1, r6, r7)
    calln r4, intToString(r3)
    calln r4, intToString(r3)
    calln r4, intToString(r3)
    getw r5, r1, r8
    nonnull r4, r5
    call -, showText(r4)
    calln r4, intToString(r3)
    calln -, fillRef(r1, r4)
    ldstr r4, ""
    calln r4, intToHex(r3)
    calln r4, intToHex(r3)
    calln r4, intToHex(r3)
    getw r5, r1, r8
    nonnull r4, r5
    call -, showText(r4)
    forlti r3, 20, L1
    retu
}
function main() {
    registers r0: int
    ldi r0, 40
    call -, check(r0)
    ldi r0, 4000
    call -, check(r0)
    retu
}
"#;
    let once: String = (0..20).map(|n| format!("{n:x}\n{n}\n")).collect();
    // Not at every allocation: string and array must both be young when they are stored.
    for every in [3, 5, 7] {
        assert_eq!(print(&program(text), stress(every), Dispatch::default()).0, once.repeat(2));
    }
}

/// Errors are made in the middle of things: message, object and trace each may collect.
#[test]
fn errors_under_stress() {
    let text = "function fail(r0: int) {\nregisters r1: int\nldi r1, 0\nnewarr r2, r1, Bytes\ngetb r1, r2, r0\nretu\n}\n\
                function main() {\nregisters r0: int, r1: Error, r2: String, r3: Array<Int>?, r4: Array<Int>, r5: int\nldi r0, 0\n\
                A:\ncall -, fail(r0)\nB:\nretu\nC:\ngetf r2, r1.message\ncall -, showText(r2)\ngetf r3, r1.trace\nnonnull r4, r3\nlen r5, r4\n\
                call -, show(r5)\nforlti r0, 30, A\nretu\ncatch IndexError in r1 from A to B at C\n}";
    let program =
        program(&text.replace("r1: int\nldi r1, 0\nnewarr", "r1: int, r2: Bytes\nldi r1, 0\nnewarr"));
    let expected: String = (0..30).map(|i| format!("index {i} is out of bounds for length 0\n3\n")).collect();
    for every in [1, 2, 3, 4] {
        assert_eq!(print(&program, stress(every), Dispatch::default()).0, expected);
    }
}

/// Machines share nothing but the program: two that take turns on one system thread, then several on threads of their own.
#[test]
fn many_machines() {
    let programs = programs();
    let expected: Vec<String> =
        programs.iter().map(|(_, p)| print(p, roomy(), Dispatch::default()).0).collect();
    let mut machines: Vec<Machine> =
        programs.iter().map(|(_, p)| Machine::new(p, |o| o.heap = stress(29))).collect();
    for _ in 0..2 {
        for (machine, expected) in machines.iter_mut().zip(&expected) {
            assert_eq!(&machine.finish(), expected);
        }
    }
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (programs, expected) = (&programs, &expected);
            scope.spawn(move || {
                for ((name, program), expected) in programs.iter().zip(expected) {
                    let mut machine = Machine::new(program, |o| {
                        o.heap = stress(20 + number);
                        o.timer = TimerSource::Virtual(50 + number as u64);
                    });
                    let output = machine.finish();
                    // Under the virtual timer the threads of `handover` take turns in other places.
                    let sorted = |text: &str| {
                        let mut lines: Vec<String> = text.lines().map(String::from).collect();
                        lines.sort();
                        lines
                    };
                    assert_eq!(sorted(&output), sorted(expected), "{name}");
                }
            });
        }
    });
}
