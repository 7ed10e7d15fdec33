//! The register stack of a green thread: one contiguous piece of memory that starts small and grows by copying. Frames hold
//! distances, not addresses, so that they can move; nothing but the running interpreter (which is told the new place) has
//! addresses into it.

use std::fmt;

/// Words of a new stack.
const FIRST_WORDS: usize = 512;
/// A stack beyond this many words is an overflow, whatever the depth limit says: 512 MiB.
const MAX_WORDS: usize = 1 << 26;

/// Why a register stack does not grow: the message of the error that the call throws.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StackFull {
    /// It may not be so large.
    Limit,
    /// The system has no memory.
    System,
}

impl fmt::Display for StackFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("stack overflow: ")?;
        match self {
            StackFull::Limit => {
                write!(f, "the registers of the nested calls take more than {} MiB", MAX_WORDS >> 17)
            }
            StackFull::System => {
                f.write_str("the system has no memory for the registers of the nested calls")
            }
        }
    }
}

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

    /// Makes room for `more` words above `top`, unless there is; where `top` is now, or why the stack does not grow so far.
    pub fn grow(&mut self, top: *mut u64, more: usize) -> Result<*mut u64, StackFull> {
        self.grow_within(MAX_WORDS, top, more)
    }

    /// The same for frames of calls that compiled code has made already: they are written whatever the limit says,
    /// and the next call is the overflow. It fails only if the system has no memory.
    pub fn grow_for_frames(&mut self, top: *mut u64, more: usize) -> Result<*mut u64, StackFull> {
        self.grow_within(usize::MAX, top, more)
    }

    fn grow_within(&mut self, most: usize, top: *mut u64, more: usize) -> Result<*mut u64, StackFull> {
        let used = (top as usize - self.start() as usize) / 8;
        if used + more <= self.words.len() {
            return Ok(top);
        }
        if used + more > most {
            return Err(StackFull::Limit);
        }
        let wanted = (self.words.len() * 2).min(MAX_WORDS).max(used + more);
        self.words.try_reserve_exact(wanted - self.words.len()).map_err(|_| StackFull::System)?;
        self.words.resize(wanted, 0);
        Ok(self.start().wrapping_add(used))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_grows_up_to_its_limit() {
        let mut stack = RegisterStack::new();
        let top = stack.start().wrapping_add(100);
        // SAFETY: the word is one of the first.
        unsafe { *top.sub(1) = 7 };
        let top = stack.grow(top, FIRST_WORDS).expect("there is memory");
        // SAFETY: the words were copied.
        assert_eq!(unsafe { *top.sub(1) }, 7);
        let full = stack.grow(top, MAX_WORDS).expect_err("there is a limit");
        assert_eq!(
            full.to_string(),
            "stack overflow: the registers of the nested calls take more than 512 MiB"
        );
        assert_eq!(stack.grow(top, 1), Ok(top));
    }
}
