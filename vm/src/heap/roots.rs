//! Roots: the references from outside of the heap.
//!
//! The VM knows its stacks and globals, the collector does not: it calls [`Roots::scan`], and the VM reports words.
//! *Conservative* words (registers and stacks) may be anything; one that happens to be the address of an object or of
//! a place within one keeps that object. Not a place behind it: a pointer just past the end of an array does not
//! keep it. *Precise* words are null or objects of this heap or pointers out of it.
//!
//! All roots are looked up before any mark changes, because the lookup needs the old marks to tell objects from
//! remains in blocks that were not swept since the last collection.
//!
//! # Native stacks
//!
//! A reference that compiled code holds in a register is, by the time a collection runs, either still in that register,
//! if it is one that callees preserve, or saved in some frame in between. [`with_registers_saved`] stores the preserved
//! registers into its own frame and passes the stack pointer: from there up to the base of the stack lies everything.
//! To suspend a green thread, do the switch within it and remember that stack pointer; to scan the running one, report
//! the words within it. The base must lie above the frame of the outermost function that may hold references.
//!
//! # Soundness
//!
//! Stacks contain words that Rust considers uninitialised, or borrowed by somebody. They are therefore read by an
//! instruction in inline assembly, of which the compiler knows only that it yields some integer.

use super::space::Space;
use crate::layout::ObjectPointer;

/// The VM's knowledge of its roots.
///
/// # Safety
/// `scan` must report all references to objects of the heap that will be used after it, except those in the heap.
pub unsafe trait Roots {
    /// Reports all roots to `visitor`.
    fn scan(&mut self, visitor: &mut RootVisitor<'_>);
}

/// Receives roots.
pub struct RootVisitor<'a> {
    space: &'a Space,
    found: &'a mut Vec<ObjectPointer>,
    failed: bool,
}

impl<'a> RootVisitor<'a> {
    pub(super) fn new(space: &'a Space, found: &'a mut Vec<ObjectPointer>) -> RootVisitor<'a> {
        RootVisitor { space, found, failed: false }
    }

    /// Whether memory for the list of roots ran out.
    pub(super) fn failed(&self) -> bool {
        self.failed
    }

    /// Reports the words from `start` up to `end`, which may be anything: registers, stacks.
    ///
    /// # Safety
    /// `start` is aligned to 8 bytes and the memory from there to `end` can be read.
    pub unsafe fn words(&mut self, start: *const u64, end: *const u64) {
        let mut at = start;
        while at < end {
            // SAFETY: by the caller's promise.
            let word = unsafe { read_word(at) };
            if let Some(object) = self.space.find(word) {
                self.add(object);
            }
            at = at.wrapping_add(1);
        }
    }

    /// Reports one word that may be anything.
    pub fn word(&mut self, word: u64) {
        if let Some(object) = self.space.find(word) {
            self.add(object);
        }
    }

    /// Reports a reference: null, an object of this heap (its start), or a pointer out of the heap.
    ///
    /// # Safety
    /// It is one of these.
    pub unsafe fn reference(&mut self, object: ObjectPointer) {
        if self.space.offset(object as usize).is_some() {
            self.add(object);
        }
    }

    /// Reports `count` references in a row, such as globals.
    ///
    /// # Safety
    /// The memory is readable, and each satisfies [`RootVisitor::reference`].
    pub unsafe fn references(&mut self, start: *const ObjectPointer, count: usize) {
        for index in 0..count {
            // SAFETY: by the caller's promise.
            unsafe { self.reference(start.add(index).read()) };
        }
    }

    #[inline]
    fn add(&mut self, object: ObjectPointer) {
        if self.found.len() == self.found.capacity() && self.found.try_reserve(1024).is_err() {
            self.failed = true;
            return;
        }
        self.found.push(object);
    }
}

/// No roots at all.
pub struct NoRoots;

// SAFETY: whoever passes it says that nothing is reachable, so nothing will be used.
unsafe impl Roots for NoRoots {
    fn scan(&mut self, _visitor: &mut RootVisitor<'_>) {}
}

/// Reads a word of memory without telling the compiler what it is.
///
/// # Safety
/// The address is aligned and can be read.
#[inline(always)]
unsafe fn read_word(address: *const u64) -> u64 {
    let word: u64;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: one load from readable memory.
    unsafe {
        std::arch::asm!("mov {}, qword ptr [{}]", out(reg) word, in(reg) address,
            options(nostack, preserves_flags, readonly));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: one load from readable memory.
    unsafe {
        std::arch::asm!("ldr {}, [{}]", out(reg) word, in(reg) address,
            options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    // SAFETY: readable by the caller's promise; a volatile read is the closest that the language has.
    unsafe {
        word = address.read_volatile();
    }
    word
}

/// Calls `action` with a stack pointer such that all references that callers keep in registers or on this stack lie
/// at or above it. Valid while `action` runs (or is suspended).
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(never)]
pub fn with_registers_saved<R>(action: impl FnOnce(*const u64) -> R) -> R {
    // The registers that a callee must preserve by the System V (6) and AArch64 (12) conventions.
    let mut registers = [0_u64; 12];
    let stack_pointer: *const u64;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: writes six words of the array and reads the stack pointer.
    unsafe {
        std::arch::asm!(
            "mov [{0}], rbx", "mov [{0} + 8], rbp", "mov [{0} + 16], r12", "mov [{0} + 24], r13",
            "mov [{0} + 32], r14", "mov [{0} + 40], r15", "mov {1}, rsp",
            in(reg) registers.as_mut_ptr(), out(reg) stack_pointer, options(nostack, preserves_flags));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: writes twelve words of the array and reads the stack pointer.
    unsafe {
        std::arch::asm!(
            "stp x19, x20, [{0}]", "stp x21, x22, [{0}, 16]", "stp x23, x24, [{0}, 32]",
            "stp x25, x26, [{0}, 48]", "stp x27, x28, [{0}, 64]", "str x29, [{0}, 80]", "mov {1}, sp",
            in(reg) registers.as_mut_ptr(), out(reg) stack_pointer, options(nostack, preserves_flags));
    }
    let result = action(stack_pointer);
    // The array stays in this frame until here.
    std::hint::black_box(&mut registers);
    result
}

/// As above, by means of the C library: `getcontext` stores all registers. The address of a local variable of
/// a function further down stands for the stack pointer.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline(never)]
pub fn with_registers_saved<R>(action: impl FnOnce(*const u64) -> R) -> R {
    #[inline(never)]
    fn address_below() -> *const u64 {
        let mut here = 0_u64;
        std::hint::black_box(&raw mut here).cast_const()
    }
    let mut context = std::mem::MaybeUninit::<libc::ucontext_t>::zeroed();
    // SAFETY: it writes one `ucontext_t`.
    unsafe { libc::getcontext(context.as_mut_ptr()) };
    let result = action(address_below());
    std::hint::black_box(&mut context);
    result
}
