//! Running out of memory, recovering from it, giving memory back, and requests that can never be met.

use holloway_vm::heap::{BLOCK, CELLS, CLASSES, CollectionKind, Heap, HeapConfig, OutOfMemory};
use holloway_vm::layout::ObjectPointer;

use crate::fake::{BYTES, PAIR, REFERENCES, TestHeap, WORDS, class_table, set_word, small};

const MEBIBYTE: usize = 1 << 20;

/// Makes a list until memory runs out. Returns its length; the list is in the roots.
fn fill_with_list(test: &mut TestHeap) -> usize {
    test.roots.precise = vec![std::ptr::null_mut()];
    for length in 0.. {
        let Ok(node) = test.allocate(PAIR, 0) else { return length };
        set_word(node, 8, test.roots.precise[0] as u64);
        test.roots.precise[0] = node;
    }
    unreachable!()
}

fn list_length(mut list: ObjectPointer) -> usize {
    let mut length = 0;
    while !list.is_null() {
        length += 1;
        list = crate::fake::word(list, 8) as ObjectPointer;
    }
    length
}

#[test]
fn running_out_and_recovering_three_times() {
    for megabytes in [64, 96] {
        let config = HeapConfig { limit: megabytes * MEBIBYTE, ..HeapConfig::default() };
        let mut test = TestHeap::new(config);
        for _ in 0..3 {
            let length = fill_with_list(&mut test);
            // At least nine tenths of the limit are of use.
            assert!(length * 24 > megabytes * MEBIBYTE * 9 / 10, "{length} nodes");
            assert_eq!(list_length(test.roots.precise[0]), length);
            test.roots.precise.clear();
            // Garbage of all sizes, three times what fits.
            for number in 0..megabytes as u64 * 3 {
                test.make(BYTES, 1 << (number % 20));
                test.make(WORDS, 1 << (number % 17));
            }
        }
        let statistics = test.heap.statistics();
        assert!(statistics.full_collections < 60, "running out costs few collections: {statistics:?}");
        test.heap.verify().expect("sound");
    }
}

#[test]
fn large_objects_run_out_and_recover() {
    let mut test = TestHeap::new(small());
    for _ in 0..3 {
        let mut count = 0;
        while let Ok(array) = test.allocate(BYTES, 5_000_000) {
            test.roots.precise.push(array);
            count += 1;
        }
        assert_eq!(count, 13, "13 times 153 blocks of 2048");
        test.roots.precise.clear();
        let all = test.make(BYTES, 62 * MEBIBYTE as u64);
        test.roots.precise.push(all);
        assert_eq!(test.allocate(BYTES, 5_000_000), Err(OutOfMemory));
        test.roots.precise.clear();
    }
}

#[test]
fn what_must_exist_goes_beyond_the_limit() {
    let mut test = TestHeap::new(HeapConfig { limit: 2 * MEBIBYTE, ..small() });
    let one_block = BLOCK as u64 - 64;
    while let Ok(array) = test.allocate(BYTES, one_block) {
        test.roots.precise.push(array);
    }
    let arrays = test.roots.precise.len();
    // No block is free but for those of the margin: none of these sizes has a cell.
    assert!(arrays >= test.heap.limit() / BLOCK - 1, "{arrays}");
    test.heap.allow_beyond_limit(true);
    for bytes in CELLS {
        let object = test.make(BYTES, u64::from(bytes) - 16);
        test.roots.precise.push(object);
        assert!(test.heap.range().contains(&object.cast()));
    }
    // As many as the largest native stack may have values for.
    for _ in 0..16 * MEBIBYTE / 24 {
        let object = test.make(PAIR, 0);
        test.roots.precise.push(object);
    }
    test.heap.allow_beyond_limit(false);
    test.collect(CollectionKind::Full);
    test.heap.verify().expect("sound");
    // What lies beyond counts, as long as it lives.
    test.roots.precise.drain(..arrays / 2);
    assert_eq!(test.allocate(BYTES, one_block), Err(OutOfMemory));
    test.roots.precise.clear();
    while let Ok(array) = test.allocate(BYTES, one_block) {
        test.roots.precise.push(array);
    }
    assert_eq!(test.roots.precise.len(), arrays);
    test.heap.verify().expect("sound");
}

#[test]
fn impossible_sizes_are_out_of_memory_at_once() {
    let mut test = TestHeap::new(small());
    for length in
        [1 << 26, 1 << 40, 1 << 60, 1 << 61, 1 << 62, 1 << 63, u64::MAX, u64::MAX - 8, u64::MAX - 23]
    {
        for class in [BYTES, WORDS, REFERENCES] {
            assert_eq!(test.allocate(class, length), Err(OutOfMemory), "{length}");
        }
    }
    let statistics = test.heap.statistics();
    assert_eq!(statistics.full_collections + statistics.minor_collections, 0);
    test.make(PAIR, 0);
}

#[test]
fn a_reservation_that_fails_says_why() {
    for limit in [usize::MAX, isize::MAX as usize, 1 << 60] {
        // SAFETY: nothing is allocated in it.
        let result = unsafe { Heap::new(HeapConfig { limit, ..HeapConfig::default() }, class_table()) };
        let message = result.err().expect("no machine has that much").to_string();
        assert!(message.starts_with("cannot reserve"), "{message}");
        assert!(message.contains("smaller heap limit"), "{message}");
    }
}

/// How many bytes of a heap are resident, by asking the system about every page.
#[cfg(target_os = "linux")]
fn resident(heap: &Heap) -> usize {
    let range = heap.range();
    let bytes = range.end as usize - range.start as usize;
    // SAFETY: the range is mapped, and the vector has a byte for each of its pages.
    unsafe {
        let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
        let mut pages = vec![0_u8; bytes / page];
        assert_eq!(libc::mincore(range.start.cast(), bytes, pages.as_mut_ptr()), 0);
        pages.iter().filter(|page| *page & 1 != 0).count() * page
    }
}

#[cfg(target_os = "linux")]
#[test]
fn memory_is_given_back() {
    let config = HeapConfig { limit: 512 * MEBIBYTE, nursery: 4 * MEBIBYTE, ..HeapConfig::default() };
    let mut test = TestHeap::new(config);
    assert_eq!(test.heap.statistics().committed_bytes, 0);
    assert_eq!(resident(&test.heap), 0, "an empty heap uses no memory");
    for round in 0..3 {
        // 100 MiB of small objects and 96 MiB of large ones.
        test.roots.precise = vec![std::ptr::null_mut()];
        for _ in 0..100 * MEBIBYTE / 24 {
            let node = test.make(PAIR, 0);
            set_word(node, 8, test.roots.precise[0] as u64);
            test.roots.precise[0] = node;
        }
        for _ in 0..12 {
            let array = test.make(WORDS, MEBIBYTE as u64);
            test.roots.precise.push(array);
            set_word(array, 16, 1);
        }
        let large = test.heap.statistics().committed_bytes;
        assert!(large >= 196 * MEBIBYTE, "{large}");
        assert!(resident(&test.heap) >= 100 * MEBIBYTE);
        test.roots.precise.clear();
        test.collect(CollectionKind::Full);
        let statistics = test.heap.statistics();
        // What is kept is the next nursery, and a block for each size class.
        let kept = 4 * MEBIBYTE + CLASSES * BLOCK;
        assert_eq!(statistics.committed_bytes, kept, "round {round}");
        assert!(statistics.maximum_committed_bytes >= large);
        assert!(statistics.returned_bytes as usize >= (round + 1) * 190 * MEBIBYTE);
        assert!(resident(&test.heap) <= kept, "{}", resident(&test.heap));
        test.heap.verify().expect("sound");
    }
}

#[test]
fn a_steady_program_gives_nothing_back() {
    let mut test = TestHeap::new(HeapConfig { nursery: MEBIBYTE, ..small() });
    for _ in 0..400_000 {
        test.make(PAIR, 0);
    }
    let statistics = test.heap.statistics();
    assert!(statistics.minor_collections >= 8);
    assert_eq!(statistics.returned_bytes, 0);
    assert!(statistics.committed_bytes <= MEBIBYTE + 64 * 1024, "{statistics:?}");
}
