//! The register stack of a green thread: one contiguous piece of memory that starts small and grows by copying. Frames hold
//! distances, not addresses, so that they can move; nothing but the running interpreter (which is told the new place) has
//! addresses into it.

/// Words of a new stack.
const FIRST_WORDS: usize = 512;
/// A stack beyond this many words is an overflow, whatever the depth limit says: 512 MiB.
const MAX_WORDS: usize = 1 << 26;

/// A register stack.
pub struct RegisterStack {
    words: Vec<u64>,
}

impl RegisterStack {
    /// A small stack.
    pub fn new() -> RegisterStack {
        RegisterStack { words: vec![0; FIRST_WORDS] }
    }

    /// Its lowest word.
    pub fn start(&mut self) -> *mut u64 {
        self.words.as_mut_ptr()
    }

    /// Its lowest word, to be read.
    pub fn begin(&self) -> *mut u64 {
        self.words.as_ptr().cast_mut()
    }

    /// One past its highest word.
    pub fn limit(&mut self) -> *mut u64 {
        self.words.as_mut_ptr_range().end
    }

    /// Makes room for `more` words above `top`, unless there is; where `top` is now, or `None` if the stack may not grow so far.
    pub fn grow(&mut self, top: *mut u64, more: usize) -> Option<*mut u64> {
        self.grow_within(MAX_WORDS, top, more)
    }

    /// The same for frames of calls that compiled code has made already: they are written whatever the limit says,
    /// and the next call is the overflow. `None` if the system has no memory.
    pub fn grow_for_frames(&mut self, top: *mut u64, more: usize) -> Option<*mut u64> {
        self.grow_within(usize::MAX, top, more)
    }

    fn grow_within(&mut self, most: usize, top: *mut u64, more: usize) -> Option<*mut u64> {
        let used = (top as usize - self.start() as usize) / 8;
        if used + more <= self.words.len() {
            return Some(top);
        }
        if used + more > most {
            return None;
        }
        let wanted = (self.words.len() * 2).min(MAX_WORDS).max(used + more);
        self.words.try_reserve_exact(wanted - self.words.len()).ok()?;
        self.words.resize(wanted, 0);
        Some(self.start().wrapping_add(used))
    }
}
