//! A thread with a stack deep enough for every recursive pass of the compiler.
//!
//! The parser bounds the depth of the tree ([`crate::ast::MAX_NESTING`]), so that later passes may recurse
//! without counting. The frames of an unoptimized build are large, though, and the stack of the calling thread
//! is not ours to choose; a scoped thread settles both. Trees are dropped recursively too: build them, use them
//! and drop them inside.

use std::cell::Cell;
use std::panic::resume_unwind;
use std::thread::{Builder, scope};

/// The depth of the stack in bytes. Pages that are never touched cost nothing.
const STACK_BYTES: usize = 256 << 20;

thread_local! {
    /// This thread has the deep stack already.
    static DEEP: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` on a thread with a 256 MiB stack (this one, if it has it) and returns what it returns. A panic inside goes on outside. If
/// the system refuses another thread, `work` runs on the calling thread.
pub fn with_deep_stack<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    if DEEP.get() {
        return work();
    }
    let mut work = Some(work);
    let finished = scope(|scope| {
        let run = || {
            DEEP.set(true);
            work.take().map(|work| work())
        };
        let thread = Builder::new().name("holloway-compiler".to_string()).stack_size(STACK_BYTES);
        match thread.spawn_scoped(scope, run) {
            Ok(handle) => handle.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => None,
        }
    });
    match (finished, work) {
        (Some(result), _) => result,
        (None, Some(work)) => work(),
        (None, None) => unreachable!("the work was taken, so that it either returned or unwound"),
    }
}

#[cfg(test)]
mod tests {
    use super::with_deep_stack;

    fn depth_of(levels: u32) -> u32 {
        let ballast = [levels; 256];
        if levels == 0 { 0 } else { 1 + depth_of(std::hint::black_box(ballast)[7] - 1) }
    }

    #[test]
    fn recursion_that_would_overflow_an_ordinary_stack_returns() {
        assert_eq!(with_deep_stack(|| depth_of(50_000)), 50_000);
    }

    #[test]
    #[should_panic(expected = "seen outside")]
    fn a_panic_inside_is_seen_outside() {
        with_deep_stack(|| panic!("seen outside"));
    }
}
