//! What minor collections look at and what they leave alone.

use holloway_vm::heap::{CollectionKind, HeapConfig, LARGEST_CELL};
use holloway_vm::layout::{ELEMENTS, ObjectPointer, UNLOGGED};

use crate::fake::{PAIR, REFERENCES, TestHeap, WORDS, set_word, small, word};

fn flags(object: ObjectPointer) -> u32 {
    word(object, 0) as u32
}

/// A heap with one old object in the roots.
fn with_old(class: usize, length: u64, config: HeapConfig) -> (TestHeap, ObjectPointer) {
    let mut test = TestHeap::new(config);
    let old = test.make(class, length);
    test.roots.precise.push(old);
    test.collect(CollectionKind::Minor);
    (test, old)
}

#[test]
fn a_minor_collection_frees_the_young_only() {
    let (mut test, old) = with_old(PAIR, 0, small());
    let dead = test.make(PAIR, 0);
    test.roots.precise.clear();
    test.collect(CollectionKind::Minor);
    assert!(test.lives(old), "old objects stay, reachable or not");
    assert!(!test.lives(dead));
    test.collect(CollectionKind::Full);
    assert!(!test.lives(old));
}

#[test]
fn the_flag_is_set_by_survival_and_cleared_by_the_barrier() {
    let (mut test, old) = with_old(PAIR, 0, small());
    assert_eq!(flags(old), UNLOGGED);
    let young = test.make(PAIR, 0);
    assert_eq!(flags(young), 0);
    test.set_field(old, 8, young);
    assert_eq!(flags(old), 0);
    test.set_field(old, 16, young);
    assert_eq!(test.heap.statistics().remembered_objects, 1, "the second store finds the object remembered");
    test.collect(CollectionKind::Minor);
    assert!(test.lives(young));
    assert_eq!(flags(old), UNLOGGED);
    assert_eq!(flags(young), UNLOGGED);
}

#[test]
fn objects_without_references_never_have_the_flag() {
    let (_test, old) = with_old(WORDS, 10, small());
    assert_eq!(flags(old), 0);
}

#[test]
fn chains_behind_an_old_object_survive() {
    let (mut test, old) = with_old(PAIR, 0, small());
    let mut last = old;
    for _ in 0..100_000 {
        // The chain hangs on the old object only. It is made from old to young, with minor collections in between.
        let next = test.make(PAIR, 0);
        test.set_field(last, 8, next);
        last = next;
        test.roots.ambiguous = vec![last as u64];
    }
    assert!(test.heap.statistics().minor_collections > 1);
    test.roots.ambiguous.clear();
    test.collect(CollectionKind::Full);
    let mut count = 0;
    let mut at = old;
    while word(at, 8) != 0 {
        at = word(at, 8) as ObjectPointer;
        count += 1;
    }
    assert_eq!((count, at), (100_000, last));
}

const LENGTH: u64 = 1_000_000;

#[test]
fn only_marked_cards_of_a_large_array_are_looked_at() {
    // A store without the barrier is against the rules, and verification would complain. It shows what is looked at.
    let (mut test, array) = with_old(REFERENCES, LENGTH, HeapConfig { verify: false, ..small() });
    let (recorded, near, far) = (test.make(PAIR, 0), test.make(PAIR, 0), test.make(PAIR, 0));
    test.set_element(array, 500_000, recorded);
    set_word(array, ELEMENTS + 8 * 500_001, near as u64);
    set_word(array, ELEMENTS + 8 * 600_000, far as u64);
    test.collect(CollectionKind::Minor);
    assert!(test.lives(recorded));
    assert!(test.lives(near), "on the same card");
    assert!(!test.lives(far), "on a card that is not marked");
    set_word(array, ELEMENTS + 8 * 600_000, 0);
    test.heap.verify().expect("sound again");
    // The cards are clear now: the next store is found only if the barrier works once more.
    let (again, lost) = (test.make(PAIR, 0), test.make(PAIR, 0));
    set_word(array, ELEMENTS + 8 * 500_000, lost as u64);
    test.set_element(array, 999_999, again);
    test.collect(CollectionKind::Minor);
    assert!(test.lives(again));
    assert!(!test.lives(lost));
}

#[test]
fn every_element_of_a_large_array_is_covered_by_its_card() {
    for (length, step) in [(LARGEST_CELL as u64 / 8, 1), (LARGEST_CELL as u64 / 8 + 1, 1), (100_000, 61)] {
        let (mut test, array) = with_old(REFERENCES, length, HeapConfig { verify: false, ..small() });
        for index in (0..length as usize).step_by(step).chain([length as usize - 1]) {
            let young = test.make(PAIR, 0);
            test.set_element(array, index, young);
            test.collect(CollectionKind::Minor);
            assert!(test.lives(young), "element {index} of {length}");
        }
        test.heap.verify().expect("sound");
    }
}

#[test]
fn large_arrays_keep_the_flag_and_are_listed_once() {
    let (mut test, array) = with_old(REFERENCES, LENGTH, small());
    let young = test.make(PAIR, 0);
    for index in 0..1000 {
        test.set_element(array, index, young);
        assert_ne!(flags(array) & UNLOGGED, 0);
    }
    assert_eq!(test.heap.statistics().marked_cards, 1000);
    assert_eq!(test.heap.statistics().remembered_objects, 0);
    // A range, and the array as a whole.
    // SAFETY: an array of references that has these elements.
    unsafe {
        test.heap.remember_elements(array, 10_000, 64 * 100);
        test.heap.remember(array);
    }
    test.heap.verify().expect("sound");
    test.collect(CollectionKind::Minor);
    assert_eq!(flags(array), UNLOGGED);
    // Cards of an array that dies are clear when its memory is used again.
    test.set_element(array, 77_777, young);
    test.roots.precise.clear();
    test.collect(CollectionKind::Full);
    assert!(!test.lives(array));
    let next = test.make(REFERENCES, LENGTH);
    assert_eq!(next, array, "the same place");
    test.heap.verify().expect("no stale cards");
}

#[test]
fn a_large_object_that_is_no_array_is_remembered_as_a_whole() {
    let largest = crate::fake::CLASSES.len() - 1;
    let (mut test, old) = with_old(largest, 0, small());
    let young = test.make(PAIR, 0);
    test.set_field(old, 39_992, young);
    assert_eq!(test.heap.statistics().remembered_objects, 1);
    test.collect(CollectionKind::Minor);
    assert!(test.lives(young));
}

#[test]
fn full_collections_come_when_the_old_have_doubled() {
    let mut test = TestHeap::new(small());
    // 24 bytes each in a growing list: 60 MB in all.
    let mut list: ObjectPointer = std::ptr::null_mut();
    for _ in 0..2_000_000 {
        test.roots.precise = vec![list];
        let node = test.make(PAIR, 0);
        set_word(node, 8, list as u64);
        list = node;
    }
    let statistics = test.heap.statistics();
    assert!(statistics.minor_collections > 30, "{statistics:?}");
    assert!((3..=5).contains(&statistics.full_collections), "at about 4, 8, 16 and 32 MiB: {statistics:?}");
}
