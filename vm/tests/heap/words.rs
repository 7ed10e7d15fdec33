//! Conservative roots: any word that points to or into an object, on native stacks and stacks of coroutines.

use std::hint::black_box;

use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult};
use holloway_vm::heap::{CollectionKind, Heap, HeapConfig, RootVisitor, Roots, with_registers_saved};
use holloway_vm::layout::ObjectPointer;

use crate::fake::{
    BYTES, CLASSES, PAIR, REFERENCES, TestHeap, WORDS, class_table, offset_of_class, set_word, small, word,
};

#[test]
fn a_word_anywhere_into_an_object_keeps_it() {
    let mut test = TestHeap::new(small());
    let shapes =
        [(PAIR, 0, 24), (BYTES, 5, 24), (WORDS, 100, 816), (9, 0, 3000), (REFERENCES, 100_000, 800_016)];
    for kind in [CollectionKind::Minor, CollectionKind::Full] {
        for (class, length, bytes) in shapes {
            for inside in [0, 1, 8, bytes / 2, bytes - 1] {
                let before = test.make(class, length);
                let object = test.make(class, length);
                test.roots.ambiguous = vec![object as u64 + inside];
                test.collect(kind);
                assert!(test.lives(object), "byte {inside} of class {class}");
                assert!(!test.lives(before));
            }
        }
    }
}

#[test]
fn words_that_point_to_no_object_keep_nothing() {
    let mut test = TestHeap::new(small());
    let range = test.heap.range();
    let object = test.make(PAIR, 0);
    let free = object as u64 + 24;
    for word in [0, 1, 8, u64::MAX, range.start as u64 - 1, range.end as u64, range.end as u64 - 1, free] {
        assert_eq!(test.heap.find(word), None, "{word:#x}");
        test.roots.ambiguous.push(word);
    }
    test.collect(CollectionKind::Full);
    assert_eq!(test.heap.statistics().live_bytes, 0);
    assert_eq!(test.heap.find(object as u64), None, "dead, though its bytes are still there");
}

#[test]
fn a_dead_object_does_not_come_back_through_a_stale_word() {
    let mut test = TestHeap::new(small());
    // Fill a block and more, then kill every other object, so that blocks are partly unswept.
    let objects: Vec<ObjectPointer> = (0..5000).map(|_| test.make(PAIR, 0)).collect();
    for (index, &object) in objects.iter().enumerate() {
        set_word(object, 8, objects[(index + 1) % objects.len()] as u64);
        set_word(object, 16, 0);
    }
    for &object in objects.iter().step_by(2) {
        set_word(object, 8, 0);
    }
    test.roots.precise = objects.iter().copied().step_by(2).collect();
    test.collect(CollectionKind::Minor);
    // Words that point to the dead, at a minor and a full collection, before and after some sweeping.
    test.roots.ambiguous = objects.iter().skip(1).step_by(2).map(|&object| object as u64).collect();
    for kind in [CollectionKind::Minor, CollectionKind::Full] {
        for _ in 0..100 {
            test.make(PAIR, 0);
        }
        let reused = objects.iter().skip(1).step_by(2).filter(|&&object| test.lives(object)).count();
        assert!(reused <= 200, "only cells that were allocated again are objects");
        test.collect(kind);
        let live = test.heap.statistics().live_bytes;
        assert!(live <= (2500 + reused) * 24, "{live} bytes live, {reused} cells reused");
    }
}

/// Scans the native stack between the collector and a frame.
struct NativeStack {
    base: *const u64,
    /// Stacks of suspended coroutines.
    suspended: Vec<(*const u64, *const u64)>,
}

// SAFETY: the tests keep references in the frames that are scanned.
unsafe impl Roots for NativeStack {
    fn scan(&mut self, visitor: &mut RootVisitor<'_>) {
        // SAFETY: the bounds lie on stacks that exist, the lower one below the upper one.
        with_registers_saved(|top| unsafe {
            visitor.words(top, self.base);
            for &(top, base) in &self.suspended {
                visitor.words(top, base);
            }
        });
    }
}

fn new_heap(config: HeapConfig) -> Heap {
    // SAFETY: the class table is leaked.
    unsafe { Heap::new(config, class_table()) }.expect("address space")
}

#[inline(never)]
fn tree(heap: &mut Heap, roots: &mut NativeStack, depth: u64) -> ObjectPointer {
    if depth == 0 {
        return std::ptr::null_mut();
    }
    // Both subtrees are known to nothing but this frame and its registers while the next allocation collects.
    let left = tree(heap, roots, depth - 1);
    let right = tree(heap, roots, depth - 1);
    // SAFETY: a class of the table.
    let node =
        unsafe { heap.allocate(CLASSES[PAIR].size as usize, offset_of_class(PAIR), roots) }.expect("room");
    set_word(node, 8, left as u64);
    set_word(node, 16, right as u64);
    node
}

fn count(tree: ObjectPointer) -> u64 {
    if tree.is_null() {
        0
    } else {
        1 + count(word(tree, 8) as ObjectPointer) + count(word(tree, 16) as ObjectPointer)
    }
}

#[test]
fn references_in_frames_and_registers_are_seen() {
    let mut heap = new_heap(HeapConfig { stress: std::num::NonZeroU32::new(1), ..small() });
    let base = 0_u64;
    let mut roots = NativeStack { base: black_box(&raw const base), suspended: Vec::new() };
    let tree = tree(&mut heap, &mut roots, 9);
    assert_eq!(count(tree), 511);
    assert!(heap.statistics().full_collections > 200);
}

#[test]
fn references_on_suspended_stacks_are_seen() {
    let mut heap = new_heap(small());
    let base = 0_u64;
    let base = black_box(&raw const base);
    let mut coroutines = Vec::new();
    let mut suspended = Vec::new();
    for number in 0..50_u64 {
        let stack = DefaultStack::new(64 * 1024).expect("memory for a stack");
        let stack_base = stack.base().get() as *const u64;
        let heap_pointer = &raw mut heap as usize;
        let mut coroutine: Coroutine<(), usize, u64, DefaultStack> =
            Coroutine::with_stack(stack, move |yielder, ()| {
                // SAFETY: nothing else uses the heap until this is suspended, and this does not use it afterwards.
                let heap = unsafe { &mut *(heap_pointer as *mut Heap) };
                let mut nothing = NativeStack { base: std::ptr::null(), suspended: Vec::new() };
                let tree = tree(heap, &mut nothing, 5);
                with_registers_saved(|top| yielder.suspend(top as usize));
                number + count(tree)
            });
        let CoroutineResult::Yield(top) = coroutine.resume(()) else { panic!("it suspends first") };
        suspended.push((top as *const u64, stack_base));
        coroutines.push(coroutine);
    }
    let mut roots = NativeStack { base, suspended };
    heap.collect(CollectionKind::Full, &mut roots);
    for (number, mut coroutine) in coroutines.into_iter().enumerate() {
        let CoroutineResult::Return(result) = coroutine.resume(()) else { panic!("it returns") };
        assert_eq!(result, number as u64 + 31);
    }
}

/// How many words from the captured stack pointer on are `key ^ masked`. The word itself is computed nowhere, so that
/// it is not found by accident.
#[cfg(target_arch = "x86_64")]
extern "C" fn count_words(masked: u64, key: u64, base: *const u64) -> u64 {
    with_registers_saved(|top| {
        let words = (0..).map(|at| top.wrapping_add(at)).take_while(|&at| at < base);
        // SAFETY: the words lie on the stack, below a frame of the caller.
        words.filter(|at| (unsafe { at.read_volatile() }) ^ key == masked).count() as u64
    })
}

#[cfg(target_arch = "x86_64")]
#[test]
fn registers_that_callees_preserve_are_captured() {
    let base = 0_u64;
    let base = black_box(&raw const base);
    let (masked, key) = (black_box(0x1234_5678_9abc_def0_u64), black_box(0x0f1e_2d3c_4b5a_6978_u64));
    macro_rules! check {
        ($register:literal) => {
            let found: u64;
            // SAFETY: a call by the C convention, on an aligned stack; the register is saved around it by hand. Its old
            // value goes to the stack, the new one is in the register only.
            unsafe {
                std::arch::asm!(
                    concat!("push ", $register), "sub rsp, 8",
                    concat!("mov ", $register, ", rdi"), concat!("xor ", $register, ", rsi"),
                    "call {count}",
                    "add rsp, 8", concat!("pop ", $register),
                    count = sym count_words, in("rdi") masked, in("rsi") key, in("rdx") base,
                    lateout("rax") found, clobber_abi("C"));
            }
            assert!(found >= 1, "{} was not captured", $register);
        };
    }
    check!("rbx");
    check!("rbp");
    check!("r12");
    check!("r13");
    check!("r14");
    check!("r15");
}
