//! Several heaps at once, counters, stress mode, and that verification finds what is broken on purpose.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};

use holloway_vm::heap::{CLASSES, CollectionKind, HeapConfig};
use holloway_vm::layout::UNLOGGED;

use crate::fake::{BYTES, PAIR, REFERENCES, TestHeap, WORDS, set_word, small, word};

#[test]
fn heaps_do_not_know_of_each_other() {
    let mut heaps: Vec<TestHeap> = (0..4).map(|_| TestHeap::new(small())).collect();
    for round in 0..50_000_u64 {
        for (number, test) in heaps.iter_mut().enumerate() {
            let node = test.make(PAIR, 0);
            let last = test.roots.precise.last().copied().unwrap_or(std::ptr::null_mut());
            test.set_field(node, 8, last);
            test.roots.precise = if round % 1000 == number as u64 { vec![] } else { vec![node] };
        }
    }
    for (number, test) in heaps.iter_mut().enumerate() {
        test.collect(CollectionKind::Full);
        let expected = 24 * (999 - number);
        assert_eq!(test.heap.statistics().live_bytes, expected);
        let mut at = test.roots.precise[0];
        let range = test.heap.range();
        for _ in 0..expected / 24 {
            assert!(range.contains(&at.cast()));
            at = word(at, 8) as _;
        }
        assert!(at.is_null());
    }
}

#[test]
fn heaps_run_on_threads_and_move_between_them() {
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let TestHeap { heap, .. } = TestHeap::new(HeapConfig { verify: false, ..small() });
            let runs = heap.runs() as usize;
            std::thread::spawn(move || {
                assert_eq!(heap.runs() as usize, runs, "the runs do not move with the heap");
                let mut test = TestHeap { heap, roots: Default::default() };
                for _ in 0..200_000 {
                    test.make(PAIR, 0);
                }
                test.collect(CollectionKind::Full);
                test.heap.statistics().live_bytes
            })
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().expect("no panic"), 0);
    }
}

#[test]
fn counters_are_exact() {
    let mut test = TestHeap::new(small());
    let mut expected = 0;
    for (class, length, bytes) in
        [(PAIR, 0, 24), (BYTES, 1, 24), (WORDS, 8, 80), (REFERENCES, 100_000, 800_016)]
    {
        for _ in 0..10 {
            test.make(class, length);
            expected += bytes;
            assert_eq!(test.heap.statistics().allocated_bytes, expected);
        }
    }
    test.collect(CollectionKind::Minor);
    test.collect(CollectionKind::Full);
    let statistics = test.heap.statistics();
    assert_eq!(statistics.allocated_bytes, expected);
    assert_eq!((statistics.minor_collections >= 1, statistics.full_collections), (true, 1));
    assert!(statistics.maximum_pause <= statistics.total_pause);
}

#[test]
fn each_collection_is_reported() {
    let mut test = TestHeap::new(small());
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = lines.clone();
    test.heap.set_observer(Some(Box::new(move |report| sink.lock().expect("sane").push(report.to_string()))));
    let object = test.make(PAIR, 0);
    test.roots.precise.push(object);
    test.collect(CollectionKind::Minor);
    for _ in 0..50_000 {
        test.make(PAIR, 0);
    }
    test.collect(CollectionKind::Full);
    let lines = lines.lock().expect("sane");
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[0].starts_with("gc 1 minor (request) "), "{}", lines[0]);
    assert!(lines[1].starts_with("gc 2 minor (nursery) "), "{}", lines[1]);
    assert!(lines[2].starts_with("gc 3 full (request) "), "{}", lines[2]);
    assert!(lines[1].contains(" ms, allocated 1055 KiB, live 0 KiB, committed 1056 KiB, "), "{}", lines[1]);
}

#[test]
fn stress_mode_leaves_nothing_to_the_fast_path_and_overwrites_the_dead() {
    let mut test = TestHeap::new(HeapConfig { stress: NonZeroU32::new(1), ..small() });
    for number in 0..100_u64 {
        let object = test.make(PAIR, 0);
        test.roots.precise = vec![object];
        for class in 0..CLASSES {
            // SAFETY: there is a run for each class.
            let run = unsafe { *test.heap.runs().add(class) };
            assert_eq!(run.cur, run.limit);
        }
        let statistics = test.heap.statistics();
        assert_eq!(statistics.full_collections + statistics.minor_collections, number + 1);
        assert!(statistics.full_collections.abs_diff(statistics.minor_collections) <= 1);
    }
    let dead = test.roots.precise[0];
    let kept = test.make(PAIR, 0);
    test.roots.precise = vec![kept];
    test.collect(CollectionKind::Full);
    assert_eq!(word(dead, 8), 0x6b6b_6b6b_6b6b_6b6b);
}

#[test]
fn verification_finds_what_is_broken() {
    let broken = |breaking: &dyn Fn(&mut TestHeap)| {
        let mut test = TestHeap::new(HeapConfig { verify: false, ..small() });
        let old = test.make(PAIR, 0);
        let array = test.make(REFERENCES, 10_000);
        test.roots.precise = vec![old, array];
        test.collect(CollectionKind::Minor);
        let young = test.make(PAIR, 0);
        test.roots.precise.push(young);
        test.heap.verify().expect("sound before");
        breaking(&mut test);
        test.heap.verify().expect_err("broken").to_string()
    };
    let message = broken(&|test| set_word(test.roots.precise[0], 8, test.roots.precise[2] as u64));
    assert!(message.contains("refers to young"), "{message}");
    let message = broken(&|test| set_word(test.roots.precise[1], 4096, test.roots.precise[2] as u64));
    assert!(message.contains("refers to young"), "{message}");
    let message = broken(&|test| set_word(test.roots.precise[2], 8, test.roots.precise[0] as u64 + 8));
    assert!(message.contains("where no object is"), "{message}");
    let message = broken(&|test| set_word(test.roots.precise[2], 0, 4 << 32));
    assert!(message.contains("has class 0x4"), "{message}");
    let message = broken(&|test| set_word(test.roots.precise[0], 0, word(test.roots.precise[0], 0) & !1));
    assert!(message.contains("UNLOGGED false"), "{message}");
    let message = broken(&|test| {
        let young = test.roots.precise[2];
        set_word(young, 0, word(young, 0) | UNLOGGED as u64);
    });
    assert!(message.contains("UNLOGGED true"), "{message}");
    let message = broken(&|test| set_word(test.roots.precise[0], 0, 0));
    assert!(message.contains("an empty cell"), "{message}");
    let message = broken(&|test| set_word(test.roots.precise[1], 8, 1 << 40));
    assert!(message.contains("bytes in"), "{message}");
    let message = broken(&|test| set_word(test.roots.precise[2], 24, 5));
    assert!(message.contains("is not zero"), "{message}");
}
