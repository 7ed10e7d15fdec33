//! The naive twin: a random program that makes, links, changes and drops objects, on the heap and in plain Rust vectors
//! at the same time. After every collection everything that the vectors can reach must be in the heap with
//! the same contents; after a full one the heap must hold nothing else. The heap verifies its invariants besides.

use std::num::NonZeroU32;

use holloway_vm::heap::{BLOCK, CELLS, CollectionKind, HeapConfig, LARGEST_CELL, cell_size, size_class};
use holloway_vm::layout::{ELEMENTS, FIELDS, ObjectKind, ObjectPointer};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

use crate::fake::{
    BYTES, CLASSES, PAIR, REFERENCES, TestHeap, WORDS, offset_of_class, set_word, small, word,
};

#[derive(Clone, Copy, PartialEq, Debug)]
enum Word {
    Data(u64),
    Reference(Option<usize>),
}

/// What an object should be.
struct Shadow {
    address: ObjectPointer,
    class: usize,
    bytes: usize,
    /// The words from the first field or element on.
    words: Vec<Word>,
}

impl Shadow {
    fn first(&self) -> usize {
        if CLASSES[self.class].kind == ObjectKind::Fields { FIELDS } else { ELEMENTS }
    }

    /// Bytes that the heap uses for it.
    fn footprint(&self) -> usize {
        if self.bytes > LARGEST_CELL {
            self.bytes.next_multiple_of(BLOCK)
        } else {
            cell_size(size_class(self.bytes))
        }
    }
}

/// A root: an object, how it is reported, and for ambiguous ones the byte that is pointed to.
#[derive(Clone, Copy)]
struct Root {
    object: usize,
    interior: Option<usize>,
}

struct Twin {
    test: TestHeap,
    random: Xoshiro256PlusPlus,
    objects: Vec<Option<Shadow>>,
    roots: Vec<Option<Root>>,
    collections: u64,
    failures: u64,
}

impl Twin {
    fn new(seed: u64, config: HeapConfig) -> Twin {
        Twin {
            test: TestHeap::new(config),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            objects: Vec::new(),
            roots: vec![None; 60],
            collections: 0,
            failures: 0,
        }
    }

    fn shadow(&self, object: usize) -> &Shadow {
        self.objects[object].as_ref().expect("a reachable object has a shadow")
    }

    /// An object that is found by a short random walk from a random root.
    fn pick(&mut self) -> Option<usize> {
        let root = self.random.random_range(0..self.roots.len());
        let mut object = self.roots[root]?.object;
        for _ in 0..self.random.random_range(0..6) {
            let count = self.shadow(object).words.len();
            if count == 0 {
                break;
            }
            let at = self.random.random_range(0..count);
            if let Word::Reference(Some(next)) = self.shadow(object).words[at] {
                object = next;
            }
        }
        Some(object)
    }

    fn set_root(&mut self, object: usize) {
        let slot = self.random.random_range(0..self.roots.len());
        let bytes = self.shadow(object).bytes;
        let interior = self.random.random_bool(0.5).then(|| self.random.random_range(0..bytes));
        self.roots[slot] = Some(Root { object, interior });
    }

    fn publish_roots(&mut self) {
        let (mut precise, mut ambiguous) = (vec![std::ptr::null_mut()], vec![0, 1, u64::MAX]);
        for root in self.roots.iter().flatten() {
            let address = self.shadow(root.object).address;
            match root.interior {
                None => precise.push(address),
                Some(byte) => ambiguous.push(address as u64 + byte as u64),
            }
        }
        self.test.roots.precise = precise;
        self.test.roots.ambiguous = ambiguous;
    }

    fn allocate(&mut self) {
        let (class, length) = match self.random.random_range(0..1000) {
            0..60 => (BYTES, self.random.random_range(0..300)),
            60..120 => (WORDS, self.random.random_range(0..100)),
            120..240 => (REFERENCES, self.random.random_range(0..40)),
            240..244 => (BYTES, self.random.random_range(0..200_000)),
            244..248 => (WORDS, self.random.random_range(0..10_000)),
            248..256 => (REFERENCES, self.random.random_range(0..10_000)),
            _ => {
                let class = self.random.random_range(REFERENCES + 1..CLASSES.len());
                // The largest class is rare.
                (if class == CLASSES.len() - 1 && self.random.random_bool(0.9) { PAIR } else { class }, 0)
            }
        };
        let kind = CLASSES[class].kind;
        let (first, bytes) = match kind {
            ObjectKind::Fields => (FIELDS, CLASSES[class].size as usize),
            ObjectKind::Bytes => (ELEMENTS, (ELEMENTS + length as usize).next_multiple_of(8)),
            ObjectKind::Words | ObjectKind::References => (ELEMENTS, ELEMENTS + 8 * length as usize),
        };
        self.publish_roots();
        let fast =
            if self.random.random_bool(0.5) { self.allocate_inline(class, bytes, length) } else { None };
        let address = match fast.map_or_else(|| self.test.allocate(class, length), Ok) {
            Ok(address) => address,
            Err(_) => {
                // Let go of most of what there is.
                self.failures += 1;
                for slot in 0..self.roots.len() {
                    if self.random.random_bool(0.7) {
                        self.roots[slot] = None;
                    }
                }
                self.compare_if_collected(None);
                return;
            }
        };
        let words: Vec<Word> = (first..bytes)
            .step_by(8)
            .map(|offset| {
                let reference =
                    kind == ObjectKind::References || CLASSES[class].references.contains(&(offset as u32));
                if reference { Word::Reference(None) } else { Word::Data(0) }
            })
            .collect();
        // It must be a cell of its own, zeroed.
        assert_eq!(word(address, 0), (offset_of_class(class) as u64) << 32);
        for offset in (first..bytes).step_by(8) {
            assert_eq!(word(address, offset), 0, "a new object is not zero at {offset}");
        }
        self.objects.push(Some(Shadow { address, class, bytes, words }));
        // It is not in a root yet.
        let newest = self.objects.len() - 1;
        self.compare_if_collected(Some(newest));
        self.set_root(newest);
    }

    /// The fast path as machine code has it.
    fn allocate_inline(&mut self, class: usize, bytes: usize, length: u64) -> Option<ObjectPointer> {
        if bytes > LARGEST_CELL {
            return None;
        }
        let number = size_class(bytes);
        // SAFETY: the protocol that `allocate.rs` describes.
        unsafe {
            let run = self.test.heap.runs().add(number);
            if (*run).cur == (*run).limit {
                return None;
            }
            let object: ObjectPointer = (*run).cur.cast();
            (*run).cur = (*run).cur.add(CELLS[number] as usize);
            (*object).class = offset_of_class(class);
            if CLASSES[class].kind != ObjectKind::Fields {
                set_word(object, 8, length);
            }
            Some(object)
        }
    }

    fn mutate(&mut self) {
        let Some(object) = self.pick() else { return };
        let target = self.pick();
        let (address, first) = (self.shadow(object).address, self.shadow(object).first());
        let count = self.shadow(object).words.len();
        if count == 0 {
            return;
        }
        let at = self.random.random_range(0..count);
        let new = match self.shadow(object).words[at] {
            Word::Data(_) => {
                let value = self.random.random();
                set_word(address, first + 8 * at, value);
                Word::Data(value)
            }
            Word::Reference(_) => {
                let target = if self.random.random_bool(0.15) { None } else { target };
                let value = target.map_or(std::ptr::null_mut(), |target| self.shadow(target).address);
                if self.shadow(object).class == REFERENCES {
                    self.test.set_element(address, at, value);
                } else {
                    self.test.set_field(address, first + 8 * at, value);
                }
                Word::Reference(target)
            }
        };
        self.objects[object].as_mut().expect("picked").words[at] = new;
    }

    fn step(&mut self) {
        match self.random.random_range(0..100) {
            0..40 => self.allocate(),
            40..85 => self.mutate(),
            85..92 => {
                if let Some(object) = self.pick() {
                    self.set_root(object);
                }
            }
            _ => {
                let slot = self.random.random_range(0..self.roots.len());
                self.roots[slot] = None;
            }
        }
    }

    fn compare_if_collected(&mut self, newest: Option<usize>) {
        let statistics = self.test.heap.statistics();
        let collections = statistics.minor_collections + statistics.full_collections;
        if collections != self.collections {
            self.collections = collections;
            self.compare(newest);
        }
    }

    /// Drops the shadows of unreachable objects and compares all others. Returns the bytes that they use.
    fn compare(&mut self, newest: Option<usize>) -> usize {
        let mut reachable = vec![false; self.objects.len()];
        let mut waiting: Vec<usize> = self.roots.iter().flatten().map(|root| root.object).collect();
        waiting.extend(newest);
        let mut footprint = 0;
        while let Some(object) = waiting.pop() {
            if std::mem::replace(&mut reachable[object], true) {
                continue;
            }
            let shadow = self.shadow(object);
            footprint += shadow.footprint();
            assert!(self.test.lives(shadow.address), "object {object} was lost");
            assert_eq!(word(shadow.address, 0) >> 32, offset_of_class(shadow.class) as u64);
            for (at, expected) in shadow.words.iter().enumerate() {
                let value = word(shadow.address, shadow.first() + 8 * at);
                let expected = match *expected {
                    Word::Data(value) => value,
                    Word::Reference(None) => 0,
                    Word::Reference(Some(target)) => {
                        waiting.push(target);
                        self.shadow(target).address as u64
                    }
                };
                assert_eq!(value, expected, "object {object} differs in word {at}");
            }
        }
        for (object, reachable) in reachable.into_iter().enumerate() {
            if !reachable {
                self.objects[object] = None;
            }
        }
        footprint
    }

    /// A full collection must leave exactly what is reachable.
    fn compare_exactly(&mut self) {
        self.publish_roots();
        self.test.collect(CollectionKind::Full);
        self.collections += 1;
        let footprint = self.compare(None);
        assert_eq!(
            self.test.heap.statistics().live_bytes,
            footprint,
            "the heap keeps more than is reachable"
        );
    }

    fn run(&mut self, steps: usize) {
        for number in 0..steps {
            self.step();
            if number % 5000 == 4999 {
                self.compare_exactly();
            }
        }
        self.compare_exactly();
        self.test.heap.verify().expect("a sound heap");
    }
}

#[test]
fn random_programs_agree_with_their_twins() {
    for seed in 0..6 {
        let mut twin = Twin::new(seed, small());
        twin.run(60_000);
        assert!(twin.collections > 20, "{} collections", twin.collections);
        assert_eq!(twin.failures, 0);
    }
}

#[test]
fn also_when_every_allocation_collects() {
    for seed in 10..13 {
        let mut twin = Twin::new(seed, HeapConfig { stress: NonZeroU32::new(1), ..small() });
        twin.run(2_000);
        assert!(twin.collections > 500);
    }
}

#[test]
fn also_when_some_allocations_collect() {
    for seed in 20..23 {
        let mut twin = Twin::new(seed, HeapConfig { stress: NonZeroU32::new(17), ..small() });
        twin.run(15_000);
    }
}

#[test]
fn also_when_the_mark_stack_overflows() {
    for (seed, mark_stack_limit) in [(30, 0), (31, 1), (32, 5), (33, 100)] {
        let mut twin = Twin::new(seed, HeapConfig { mark_stack_limit, ..small() });
        twin.run(20_000);
    }
}

#[test]
fn also_when_memory_runs_out_again_and_again() {
    let mut failures = 0;
    for seed in 40..46 {
        let mut twin = Twin::new(seed, HeapConfig { limit: 1, ..small() });
        twin.roots.resize(400, None);
        twin.run(20_000);
        failures += twin.failures;
    }
    assert!(failures > 10, "{failures} allocations failed");
}
