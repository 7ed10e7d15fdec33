//! Counters of compiled code: numbers that are handed out, and for who counts by itself one reservation of address space with a
//! counter for each number.
//!
//! Code reaches its counters by a displacement from the beginning, which is in the context: so the code is the same in
//! every run and for every thread, and no address occupies a register of a loop. Numbers are never handed out twice, because their
//! owners' counts are read at the end of the run, when the code may be long gone; memory that nobody touched costs nothing.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of address space: as far as a displacement reaches.
const RESERVED: usize = 1 << 30;

/// The numbers of counters. The compiler's thread hands them out.
#[derive(Debug, Default)]
pub struct CounterNumbers {
    next: AtomicUsize,
}

impl CounterNumbers {
    /// The number of the first of so many new counters, all zero. `None` if there are no more.
    pub fn allocate(&self, count: usize) -> Option<u32> {
        let room = |next: usize| next.checked_add(count).filter(|&end| end <= RESERVED / 8);
        let first = self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, room).ok()?;
        u32::try_from(first).ok()
    }

    /// How many there are so far.
    pub(crate) fn handed_out(&self) -> usize {
        self.next.load(Ordering::Relaxed)
    }
}

/// A counter for each number. Compiled code increments them, the virtual machine reads them while no compiled code runs.
#[derive(Debug)]
pub(super) struct CounterArea {
    base: *mut u64,
}

impl CounterArea {
    /// Reserves the address space. `Err` if the system has none to give.
    pub fn new() -> std::io::Result<CounterArea> {
        // SAFETY: a fresh private mapping.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                RESERVED,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        Ok(CounterArea { base: base.cast() })
    }

    /// The same for one of many, each of which is hardly touched: the system is not to give a huge page for the first touch.
    pub fn one_of_many() -> std::io::Result<CounterArea> {
        let area = CounterArea::new()?;
        // SAFETY: our mapping. A system that does not know of huge pages refuses, and gives none.
        unsafe { libc::madvise(area.base.cast(), RESERVED, libc::MADV_NOHUGEPAGE) };
        Ok(area)
    }

    /// Where counter 0 is.
    pub fn base(&self) -> *mut u64 {
        self.base
    }

    /// Makes a counter say something. Nothing happens to numbers that there cannot be.
    pub fn set(&self, counter: u32, value: u64) {
        if (counter as usize) < RESERVED / 8 {
            // SAFETY: as in `get`.
            unsafe { self.base.add(counter as usize).write(value) };
        }
    }

    /// One more.
    pub fn increment(&self, counter: u32) {
        self.set(counter, self.get(counter) + 1);
    }

    /// What a counter says. 0 for numbers that were never handed out.
    pub fn get(&self, counter: u32) -> u64 {
        if counter as usize >= RESERVED / 8 {
            return 0;
        }
        // SAFETY: inside the mapping; compiled code, which writes, runs on this thread or not at all.
        unsafe { self.base.add(counter as usize).read() }
    }
}

impl Drop for CounterArea {
    fn drop(&mut self) {
        // SAFETY: our mapping, which nobody uses any more: no code runs that was told of it.
        unsafe { libc::munmap(self.base.cast(), RESERVED) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_handed_out_once_and_there_is_an_end() {
        let numbers = CounterNumbers::default();
        assert_eq!((numbers.allocate(3), numbers.allocate(1)), (Some(0), Some(3)));
        assert!(numbers.allocate(RESERVED / 8 - 4).is_some());
        assert_eq!((numbers.allocate(1), numbers.allocate(usize::MAX)), (None, None));
    }

    #[test]
    fn counters_are_zero_and_each_area_has_its_own() {
        let areas = [CounterArea::new(), CounterArea::one_of_many()].map(|area| area.expect("address space"));
        let last = (RESERVED / 8 - 1) as u32;
        areas[0].set(7, 1);
        areas[1].set(last, 2);
        areas[1].set(last + 1, 3);
        let say = |area: &CounterArea| [7, 8, last, last + 1].map(|counter| area.get(counter));
        assert_eq!([say(&areas[0]), say(&areas[1])], [[1, 0, 0, 0], [0, 0, 2, 0]]);
    }
}
