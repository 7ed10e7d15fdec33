//! Counters of compiled code: one reservation of address space, handed out from its beginning.
//!
//! Code reaches its counters by a displacement from the beginning, which is in the context: so the code is the same in
//! every run, and no address occupies a register of a loop. Counters are never handed out twice, because their owners'
//! counts are read at the end of the run, when the code may be long gone; memory that nobody touched costs nothing.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of address space: as far as a displacement reaches.
const RESERVED: usize = 1 << 30;

/// Counters, by number. The compiler's thread hands them out, compiled code increments them, the virtual machine reads
/// them while no compiled code runs.
#[derive(Debug)]
pub struct CounterArea {
    base: *mut u64,
    next: AtomicUsize,
}

// SAFETY: the memory is touched by compiled code and through `CounterArea::get` only, both on the thread of the virtual
// machine; handing out numbers is atomic.
unsafe impl Send for CounterArea {}
// SAFETY: as above.
unsafe impl Sync for CounterArea {}

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
        Ok(CounterArea { base: base.cast(), next: AtomicUsize::new(0) })
    }

    /// Where counter 0 is.
    pub fn base(&self) -> *mut u64 {
        self.base
    }

    /// The number of the first of so many new counters, all zero. `None` if there are no more.
    pub fn allocate(&self, count: usize) -> Option<u32> {
        let room = |next: usize| next.checked_add(count).filter(|&end| end <= RESERVED / 8);
        let first = self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, room).ok()?;
        u32::try_from(first).ok()
    }

    /// How many were handed out.
    pub fn len(&self) -> usize {
        self.next.load(Ordering::Relaxed)
    }

    /// Was none handed out.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes a counter say something. Nothing happens to numbers that were never handed out.
    pub(crate) fn set(&self, counter: u32, value: u64) {
        if (counter as usize) < self.len() {
            // SAFETY: as in `get`.
            unsafe { self.base.add(counter as usize).write(value) };
        }
    }

    /// One more.
    pub(crate) fn increment(&self, counter: u32) {
        self.set(counter, self.get(counter) + 1);
    }

    /// What a counter says. 0 for numbers that were never handed out.
    pub(crate) fn get(&self, counter: u32) -> u64 {
        if counter as usize >= self.len() {
            return 0;
        }
        // SAFETY: inside the mapping; compiled code, which writes, runs on this thread or not at all.
        unsafe { self.base.add(counter as usize).read() }
    }
}

impl Drop for CounterArea {
    fn drop(&mut self) {
        // SAFETY: our mapping, which nobody uses any more: the compiler and the code went before.
        unsafe { libc::munmap(self.base.cast(), RESERVED) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_handed_out_once_and_are_zero() {
        let area = CounterArea::new().expect("address space");
        assert!(area.is_empty());
        let (a, b) = (area.allocate(3).expect("room"), area.allocate(1).expect("room"));
        assert_eq!((a, b, area.len()), (0, 3, 4));
        assert_eq!((0..5).map(|counter| area.get(counter)).sum::<u64>(), 0);
    }

    #[test]
    fn there_is_an_end() {
        let area = CounterArea::new().expect("address space");
        assert!(area.allocate(RESERVED / 8).is_some());
        assert_eq!(area.allocate(1), None);
        assert_eq!(area.allocate(usize::MAX), None);
    }
}
