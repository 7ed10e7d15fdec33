//! The speed of the heap, measured directly on its interface, beside the same loads on `malloc` and `free`.
//!
//! The machines on which this runs are shared and noisy. So each load runs several times, the two allocators by turns,
//! and the least CPU time counts; what carries over from one machine to another is the ratio to `malloc`.
//!
//! ```text
//! cargo run --release -p holloway-vm --example heap_load [ROUNDS] [NURSERY_MIB]
//! ```
//!
//! * `trees`: the binary trees benchmark at depth 18: one long-lived tree, many short-lived ones, objects of 24 bytes.
//! * `churn`: ten million operations on a table of 100 000 short lists: walk along one, or push (a store of a young
//!   object into an old one), or drop the list when it has eight nodes.
//! * `allocate`: garbage of 24 bytes each, nanoseconds per object.
//! * `barrier`: stores into a young object with and without the test of the header, nanoseconds per store.
//!
//! Measured on 2026-11-20 on two shared cores of an AMD EPYC (x86-64 Linux, rustc 1.95), nursery 32 MiB, least of 3 to 5
//! rounds. With little else running: trees 0.22-0.25 s, longest pause 3.5-4.6 ms; churn 0.95-0.97 s, longest pause 14-20 ms;
//! allocation 2.4-2.6 ns; the barrier's test up to 0.17 ns, within the noise. With a load of 12 on the two cores: 0.23-0.29 s,
//! 1.8-2.0 s, 2.4-3.4 ns (pauses then contain the time of others). `malloc` took, over all of these runs, 2.1 to 3.8 times as
//! long for trees, 1.7 to 2.2 times for churn, 3.2 to 4.9 times for allocation.
//!
//! For each load a child process of its own measures the high-water mark of resident memory (`self rss LOAD`).

use std::hint::black_box;

use holloway_vm::heap::{
    CollectionKind, Heap, HeapConfig, RootVisitor, Roots, cell_size, size_class, with_registers_saved,
};
use holloway_vm::layout::{ClassRecord, ELEMENTS, ObjectKind, ObjectPointer, UNLOGGED};

const NODE: u32 = 64;
const TABLE: u32 = 128;
const DEPTH: u32 = 18;
const LISTS: usize = 100_000;
const OPERATIONS: u32 = 10_000_000;

/// The native stack, from where the collector runs up to where the load began.
struct Stack {
    base: *const u64,
}

// SAFETY: all references of the loads are in registers and on the stack below `base`.
unsafe impl Roots for Stack {
    fn scan(&mut self, visitor: &mut RootVisitor<'_>) {
        // SAFETY: between the stack pointer and a frame further up lies stack.
        with_registers_saved(|top| unsafe { visitor.words(top, self.base) });
    }
}

/// What the loads need of an allocator of nodes with two references, or a value and a reference.
trait Allocator {
    /// A node with these fields.
    fn node(&mut self, first: u64, second: u64) -> *mut u64;
    /// A table of null references.
    fn table(&mut self, length: usize) -> *mut u64;
    /// Stores a reference into a table.
    fn set(&mut self, table: *mut u64, index: usize, value: *mut u64);
    /// Frees a node, if that must be said.
    fn free(&mut self, node: *mut u64);
    /// Whether freeing must be said.
    const FREES: bool;
}

struct Collected {
    heap: Heap,
    roots: Stack,
}

impl Allocator for Collected {
    const FREES: bool = false;

    #[inline(always)]
    fn node(&mut self, first: u64, second: u64) -> *mut u64 {
        const CLASS: usize = size_class(24);
        // SAFETY: the fast path as documented; then a slow one with a valid class.
        unsafe {
            let run = self.heap.runs().add(CLASS);
            let mut object: *mut u64 = (*run).cur.cast();
            if (*run).cur == (*run).limit {
                object = node_slow(&mut self.heap, &mut self.roots, first, second);
            } else {
                (*run).cur = (*run).cur.add(cell_size(CLASS));
                *object = (NODE as u64) << 32;
            }
            *object.add(1) = first;
            *object.add(2) = second;
            object
        }
    }

    fn table(&mut self, length: usize) -> *mut u64 {
        // SAFETY: a valid class of arrays of references.
        unsafe { self.heap.allocate_array(TABLE, length as u64, 8, &mut self.roots) }.expect("room").cast()
    }

    #[inline(always)]
    fn set(&mut self, table: *mut u64, index: usize, value: *mut u64) {
        // SAFETY: the table is an array of references and the index within it.
        unsafe {
            if *table & UNLOGGED as u64 != 0 {
                self.heap.remember_element(table.cast(), index);
            }
            *table.byte_add(ELEMENTS).add(index) = value as u64;
        }
    }

    #[inline(always)]
    fn free(&mut self, _node: *mut u64) {}
}

/// The fields of the new node are passed along so that they are on the stack, where the collector sees them.
#[inline(never)]
fn node_slow(heap: &mut Heap, roots: &mut Stack, first: u64, second: u64) -> *mut u64 {
    let fields = black_box([first, second]);
    // SAFETY: a valid class of 24 bytes.
    let object: ObjectPointer = unsafe { heap.allocate(24, NODE, roots) }.expect("room");
    black_box(&fields);
    object.cast()
}

struct Malloc;

impl Allocator for Malloc {
    const FREES: bool = true;

    #[inline(always)]
    fn node(&mut self, first: u64, second: u64) -> *mut u64 {
        // SAFETY: 24 bytes have room for three words.
        unsafe {
            let object = libc::malloc(24).cast::<u64>();
            *object = NODE as u64;
            *object.add(1) = first;
            *object.add(2) = second;
            object
        }
    }

    fn table(&mut self, length: usize) -> *mut u64 {
        // SAFETY: a plain call.
        unsafe { libc::calloc(length + 2, 8).cast() }
    }

    #[inline(always)]
    fn set(&mut self, table: *mut u64, index: usize, value: *mut u64) {
        // SAFETY: the index is within the table.
        unsafe { *table.byte_add(ELEMENTS).add(index) = value as u64 };
    }

    #[inline(always)]
    fn free(&mut self, node: *mut u64) {
        // SAFETY: the loads free a node once, and do not use it afterwards.
        unsafe { libc::free(node.cast()) };
    }
}

fn make_tree(allocator: &mut impl Allocator, depth: u32) -> *mut u64 {
    if depth == 0 {
        return allocator.node(0, 0);
    }
    let left = make_tree(allocator, depth - 1);
    let right = make_tree(allocator, depth - 1);
    allocator.node(left as u64, right as u64)
}

fn check_tree(tree: *mut u64) -> u64 {
    if tree.is_null() {
        return 0;
    }
    // SAFETY: a node of `make_tree`.
    unsafe { 1 + check_tree(*tree.add(1) as *mut u64) + check_tree(*tree.add(2) as *mut u64) }
}

fn free_tree<A: Allocator>(allocator: &mut A, tree: *mut u64) {
    if !A::FREES || tree.is_null() {
        return;
    }
    // SAFETY: a node of `make_tree`.
    unsafe {
        free_tree(allocator, *tree.add(1) as *mut u64);
        free_tree(allocator, *tree.add(2) as *mut u64);
    }
    allocator.free(tree);
}

#[inline(never)]
fn trees(allocator: &mut impl Allocator) -> u64 {
    let stretch = make_tree(allocator, DEPTH + 1);
    let mut total = check_tree(stretch);
    free_tree(allocator, stretch);
    let long_lived = make_tree(allocator, DEPTH);
    for depth in (4..=DEPTH).step_by(4) {
        for _ in 0..1_u32 << (DEPTH - depth + 4) {
            let tree = make_tree(allocator, depth);
            total += check_tree(tree);
            free_tree(allocator, tree);
        }
    }
    total += check_tree(long_lived);
    free_tree(allocator, long_lived);
    total
}

fn free_list<A: Allocator>(allocator: &mut A, head: *mut u64) {
    let mut node = head;
    while A::FREES && !node.is_null() {
        // SAFETY: a node of `churn`.
        let next = unsafe { *node.add(2) as *mut u64 };
        allocator.free(node);
        node = next;
    }
}

#[inline(never)]
fn churn<A: Allocator>(allocator: &mut A) -> u64 {
    let table = allocator.table(LISTS);
    let lengths = allocator.table(LISTS);
    let mut total = 0_u64;
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..OPERATIONS {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let index = (state >> 20) as usize % LISTS;
        // SAFETY: indices are below the lengths of the tables; lists consist of nodes.
        unsafe {
            let length = lengths.byte_add(ELEMENTS).add(index);
            let head = *table.byte_add(ELEMENTS).add(index) as *mut u64;
            if state & 7 == 0 {
                let mut node = head;
                while !node.is_null() {
                    total = total.wrapping_mul(31).wrapping_add(*node.add(1));
                    node = *node.add(2) as *mut u64;
                }
            } else if *length < 8 {
                let node = allocator.node(state, head as u64);
                allocator.set(table, index, node);
                *length += 1;
            } else {
                free_list(allocator, head);
                allocator.set(table, index, std::ptr::null_mut());
                *length = 0;
            }
        }
    }
    if A::FREES {
        for index in 0..LISTS {
            // SAFETY: the index is below the length of the table.
            let head = unsafe { *table.byte_add(ELEMENTS).add(index) };
            free_list(allocator, head as *mut u64);
        }
        allocator.free(table);
        allocator.free(lengths);
    }
    total
}

#[inline(never)]
fn garbage(allocator: &mut impl Allocator) -> u64 {
    for number in 0..20_000_000 {
        let node = black_box(allocator.node(number, 0));
        allocator.free(node);
    }
    20_000_000
}

/// Stores a reference 300 million times, with or without the test of the header.
#[inline(never)]
fn stores<const BARRIER: bool>(collected: &mut Collected) -> u64 {
    let table = collected.table(64);
    let value = collected.node(0, 0);
    for number in 0..300_000_000_usize {
        let index = number & 63;
        if BARRIER {
            collected.set(table, index, value);
        } else {
            // SAFETY: the index is below the length of the table.
            unsafe { *table.byte_add(ELEMENTS).add(index) = value as u64 };
        }
        black_box(table);
    }
    300_000_000
}

/// A class table with the two classes of the loads. Leaked: it must outlive the heaps.
fn classes() -> *const u8 {
    let record = |size, kind, references: &'static [u32]| ClassRecord {
        instance_size: size,
        kind,
        id: 0,
        last: 0,
        references: references.as_ptr(),
        reference_count: references.len() as u32,
        interface_words: 0,
        interfaces: std::ptr::null(),
        reserved: [0; 3],
    };
    // The second field of a node is what both loads use for references; trees use the first one, too. A random
    // number of `churn` in the first field must not be taken for one, which the range check of marking sees to.
    let records = [
        record(0, ObjectKind::Bytes, &[]),
        record(24, ObjectKind::Fields, &[8, 16]),
        record(0, ObjectKind::References, &[]),
    ];
    Box::leak(Box::new(records)).as_ptr().cast()
}

/// CPU time of this process so far, in seconds.
fn cpu_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it fills in the struct.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Runs a load on a new heap. Returns its result, CPU seconds, and the longest pause in milliseconds.
#[inline(never)]
fn collected(nursery: usize, load: fn(&mut Collected) -> u64) -> (u64, f64, f64) {
    let base = 0_u64;
    let begin = cpu_time();
    let config = HeapConfig { nursery, ..HeapConfig::default() };
    // SAFETY: the class table is leaked.
    let heap = unsafe { Heap::new(config, classes()) }.expect("address space");
    // The base lies in this frame, above those of the load; this frame itself holds no references.
    let mut allocator = Collected { heap, roots: Stack { base: black_box(&raw const base) } };
    let result = load(&mut allocator);
    let seconds = cpu_time() - begin;
    let statistics = allocator.heap.statistics();
    if std::env::var_os("HEAP_LOAD_STATISTICS").is_some() {
        eprintln!("{statistics:?}");
    }
    allocator.heap.collect(CollectionKind::Full, &mut allocator.roots);
    (result, seconds, statistics.maximum_pause.as_secs_f64() * 1e3)
}

#[inline(never)]
fn manual(load: fn(&mut Malloc) -> u64) -> (u64, f64) {
    let begin = cpu_time();
    let result = load(&mut Malloc);
    (result, cpu_time() - begin)
}

/// Peak resident memory of a child that runs one load, in MiB.
fn peak_memory(load: &str, nursery: &str) -> String {
    let run = || -> Option<String> {
        let program = std::env::current_exe().ok()?;
        let output = std::process::Command::new(program).args(["rss", load, nursery]).output().ok()?;
        String::from_utf8(output.stdout).ok()
    };
    run().map_or("?".to_owned(), |text| text.trim().to_owned())
}

fn child(load: &str, nursery: usize) {
    let _ = match load {
        "trees" => collected(nursery, trees).0,
        "churn" => collected(nursery, churn).0,
        "trees-malloc" => manual(trees).0,
        _ => manual(churn).0,
    };
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or("VmHWM: 0 kB");
    let kilobytes: u64 = line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    println!("{}", kilobytes >> 10);
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [mode, load, nursery] = &arguments[..]
        && mode == "rss"
    {
        return child(load, nursery.parse().unwrap_or(32) << 20);
    }
    let rounds = arguments.first().and_then(|word| word.parse().ok()).unwrap_or(5);
    let megabytes = arguments.get(1).map_or("32", |word| word.as_str());
    let nursery = megabytes.parse().unwrap_or(32) << 20;

    type Load = (&'static str, fn(&mut Collected) -> u64, fn(&mut Malloc) -> u64, f64);
    let loads: [Load; 3] =
        [("trees", trees, trees, 0.0), ("churn", churn, churn, 0.0), ("allocate", garbage, garbage, 20e6)];
    println!("load      heap       malloc     malloc/heap  longest pause  peak memory (heap, malloc)");
    for (name, ours, theirs, count) in loads {
        let (mut best, mut yardstick, mut pause) = (f64::MAX, f64::MAX, f64::MAX);
        for _ in 0..rounds {
            let (result, seconds, longest) = collected(nursery, ours);
            let (expected, malloc_seconds) = manual(theirs);
            assert_eq!(result, expected, "{name}: the results differ");
            best = best.min(seconds);
            yardstick = yardstick.min(malloc_seconds);
            pause = pause.min(longest);
        }
        let ratio = yardstick / best;
        if count != 0.0 {
            let (ours, theirs) = (best / count * 1e9, yardstick / count * 1e9);
            println!("{name:9} {ours:7.2} ns {theirs:7.2} ns {ratio:12.2} {pause:11.1} ms");
        } else {
            let memory = peak_memory(name, megabytes);
            let malloc_memory = peak_memory(&format!("{name}-malloc"), megabytes);
            println!(
                "{name:9} {best:7.3} s  {yardstick:7.3} s  {ratio:12.2} {pause:11.1} ms  {memory} MiB, {malloc_memory} MiB"
            );
        }
    }
    let mut start = f64::MAX;
    for _ in 0..100 {
        let begin = std::time::Instant::now();
        // SAFETY: nothing is allocated in it.
        let heap = unsafe { Heap::new(HeapConfig::default(), std::ptr::null()) };
        start = start.min(begin.elapsed().as_secs_f64());
        drop(black_box(heap));
    }
    println!("making a heap takes {:.4} ms", start * 1e3);
    let (mut without, mut with) = (f64::MAX, f64::MAX);
    for _ in 0..rounds {
        without = without.min(collected(nursery, stores::<false>).1);
        with = with.min(collected(nursery, stores::<true>).1);
    }
    let each = |seconds: f64| seconds / 300e6 * 1e9;
    println!("store without barrier {:.3} ns, with {:.3} ns", each(without), each(with));
}
