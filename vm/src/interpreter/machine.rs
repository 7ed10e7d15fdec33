//! The interpreter's view of its state: where the code is, where the frame is, and the context. All raw memory access
//! of the instruction bodies is in this file.
//!
//! # Why it is sound
//!
//! A [`Machine`] is only made by the dispatchers, for code that [`holloway_bytecode::verify`] accepted and the loader
//! copied. So at every moment `pc` points at the first word of an instruction all of whose words are in the code area; each operand
//! that names a register is below the frame size of the function; `base` points into the register stack of the running green
//! thread with at least that many words above and [`FRAME_HEADER`] words below it, because a call checks the limit before it
//! enters; a register read as a non-null reference holds the address of a live object of the static class (types
//! and definite assignment are verified, and the collector does not move objects or free reachable ones). Each accessor relies on
//! exactly these facts; its comment says which.

use crate::context::{Context, control};
use crate::heap::Run;
use crate::layout::{ELEMENTS, FIELDS, Header, LENGTH, UNLOGGED};
use crate::loader::Method;
use std::sync::atomic::{AtomicU32, Ordering};

/// Words below `base` that belong to a frame: the address of the call that made it at `base[-1]`, and how many more calls may
/// nest at `base[-2]`.
pub const FRAME_HEADER: usize = 2;

/// A back edge leaves to the slow path each time that it has been taken so often: is the loop worth compiling, is there code
/// for it.
pub const LOOP_STEP: u32 = 1024;

/// What the dispatcher does after an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Goes on at `pc`.
    Next,
    /// Goes on at `pc`, by another jump: the two directions of a branch stay apart for the branch predictor.
    Taken,
    /// Leaves to the slow path.
    Slow(Slow),
    /// Leaves the interpreter: the thread's first function returned.
    Halt,
}

/// Why an instruction leaves to the slow path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Slow {
    /// A loop header's yieldpoint; `pc` is the header.
    LoopYieldpoint,
    /// A prologue's yieldpoint; the callee's frame is in place, `pc` its first instruction.
    PrologueYieldpoint,
    /// An epilogue's yieldpoint; `pc` is the return instruction, not executed yet.
    EpilogueYieldpoint,
    /// A call does not fit on the register stack; `pc` is the call. Grow and execute again.
    GrowStack,
    /// A call exceeds the depth limit; `pc` is the call.
    StackOverflow,
    /// Array index outside; `pc` is the access, likewise below.
    Index,
    /// `nonnull` of null.
    Null,
    /// Failed cast.
    Cast,
    /// Division by zero.
    Division,
    /// Element or global read before it was written.
    Unset,
    /// `throw`.
    Throw,
    /// A call of the system.
    Native,
    /// The whole instruction is executed out of line: an allocation that does not fit its run, a store that must be recorded.
    Execute,
    /// A method has been entered often; `pc` is the call, which is executed again.
    HotMethod,
    /// A back edge has been taken often; `pc` is the loop header.
    HotLoop,
    /// A method that has compiled code is entered; its frame is in place.
    Compiled,
    /// A `new` that was never executed before.
    NewFirst,
}

/// Program counter, frame and context of running code.
#[derive(Clone, Copy)]
pub struct Machine {
    /// The current instruction.
    pub pc: *const u64,
    /// Register 0 of the current frame.
    pub base: *mut u64,
    /// The context.
    pub ctx: *mut Context,
}

impl Machine {
    /// Operand a.
    #[inline(always)]
    pub fn a(&self) -> usize {
        // SAFETY: `pc` points at a whole word of code.
        unsafe { *self.pc.cast::<u16>().add(1) as usize }
    }

    /// Operand b.
    #[inline(always)]
    pub fn b(&self) -> usize {
        // SAFETY: as `a`.
        unsafe { *self.pc.cast::<u16>().add(2) as usize }
    }

    /// Operand c.
    #[inline(always)]
    pub fn c(&self) -> usize {
        // SAFETY: as `a`.
        unsafe { *self.pc.cast::<u16>().add(3) as usize }
    }

    /// The byte beside the opcode.
    #[inline(always)]
    pub fn n(&self) -> usize {
        // SAFETY: as `a`.
        unsafe { *self.pc.cast::<u8>().add(1) as usize }
    }

    /// Operand b as a signed constant.
    #[inline(always)]
    pub fn b_int(&self) -> i64 {
        self.b() as i16 as i64
    }

    /// Operand c as a signed constant.
    #[inline(always)]
    pub fn c_int(&self) -> i64 {
        self.c() as i16 as i64
    }

    /// Operand bc.
    #[inline(always)]
    pub fn bc(&self) -> i32 {
        // SAFETY: as `a`.
        unsafe { *self.pc.cast::<i32>().add(1) }
    }

    /// The second word.
    #[inline(always)]
    pub fn x(&self) -> u64 {
        // SAFETY: only used by instructions of two words or more, which lie whole in the code area.
        unsafe { *self.pc.add(1) }
    }

    /// Word `i` of the instruction.
    #[inline(always)]
    pub fn word(&self, i: usize) -> u64 {
        // SAFETY: callers stay within the length of their instruction.
        unsafe { *self.pc.add(i) }
    }

    /// Argument `i` of a call: the register it names.
    #[inline(always)]
    pub fn arg(&self, i: usize) -> usize {
        // SAFETY: `i` is below the argument count of the call at `pc`, whose words hold four registers each.
        unsafe { *self.pc.add(2).cast::<u16>().add(i) as usize }
    }

    /// A register as bits.
    #[inline(always)]
    pub fn bits(&self, register: usize) -> u64 {
        // SAFETY: verified registers are below the frame size.
        unsafe { *self.base.add(register) }
    }

    /// Writes a register.
    #[inline(always)]
    pub fn set(&mut self, register: usize, bits: u64) {
        // SAFETY: as `bits`.
        unsafe { *self.base.add(register) = bits }
    }

    /// An integer register.
    #[inline(always)]
    pub fn int(&self, register: usize) -> i64 {
        self.bits(register) as i64
    }

    /// Writes an integer register.
    #[inline(always)]
    pub fn set_int(&mut self, register: usize, value: i64) {
        self.set(register, value as u64)
    }

    /// A float register.
    #[inline(always)]
    pub fn float(&self, register: usize) -> f64 {
        f64::from_bits(self.bits(register))
    }

    /// Writes a float register.
    #[inline(always)]
    pub fn set_float(&mut self, register: usize, value: f64) {
        self.set(register, value.to_bits())
    }

    /// A reference register.
    #[inline(always)]
    pub fn object(&self, register: usize) -> Object {
        Object(self.bits(register) as *mut Header)
    }

    /// Writes a reference register.
    #[inline(always)]
    pub fn set_object(&mut self, register: usize, object: Object) {
        self.set(register, object.0 as u64)
    }

    /// Goes on after an instruction of `words` words.
    #[inline(always)]
    pub fn next(&mut self, words: usize) -> Flow {
        // SAFETY: verified code does not fall off its end.
        self.pc = unsafe { self.pc.add(words) };
        Flow::Next
    }

    /// Goes to a target relative to this instruction.
    #[inline(always)]
    pub fn jump(&mut self, offset: i64) {
        // SAFETY: verified targets are instructions of the same function.
        self.pc = unsafe { self.pc.offset(offset as isize) };
    }

    /// Counts one direction of the branch at `pc` (0 not taken, 1 taken).
    #[inline(always)]
    fn count(&self, direction: usize) -> u32 {
        // SAFETY: branches have a counter word after them. Counters are read by other threads (a compiler), so they are
        // atomics; one thread writes, so a relaxed load and store lose nothing.
        unsafe {
            let counter = AtomicU32::from_ptr(self.pc.add(1).cast::<u32>().cast_mut().add(direction));
            let count = counter.load(Ordering::Relaxed).wrapping_add(1);
            counter.store(count, Ordering::Relaxed);
            count
        }
    }

    /// A forward branch: counts and goes.
    #[inline(always)]
    pub fn branch(&mut self, condition: bool) -> Flow {
        if condition {
            self.count(1);
            self.jump(self.c_int());
            keep_apart();
            Flow::Taken
        } else {
            self.count(0);
            keep_apart();
            self.next(2)
        }
    }

    /// A back edge: counts and goes, with the yieldpoint of the loop header.
    #[inline(always)]
    pub fn loop_branch(&mut self, condition: bool) -> Flow {
        if condition {
            let count = self.count(1);
            self.jump(self.c_int());
            keep_apart();
            if count.is_multiple_of(LOOP_STEP) {
                return Flow::Slow(Slow::HotLoop);
            }
            self.loop_yieldpoint()
        } else {
            self.count(0);
            keep_apart();
            self.next(2)
        }
    }

    /// The yieldpoint of the loop header at `pc`.
    #[inline(always)]
    pub fn loop_yieldpoint(&self) -> Flow {
        if self.control() > control::NONE { Flow::Slow(Slow::LoopYieldpoint) } else { Flow::Taken }
    }

    /// The control word.
    #[inline(always)]
    fn control(&self) -> i32 {
        // SAFETY: the context outlives all code that runs in it.
        unsafe { (*self.ctx).control.load(Ordering::Relaxed) }
    }

    /// Counts case `index` of the switch at `pc` and goes to it.
    #[inline(always)]
    pub fn switch_to(&mut self, index: usize) -> Flow {
        // SAFETY: `index` is at most the number of cases, and the default follows them.
        let entry = unsafe { self.pc.add(2 + index) };
        // SAFETY: as `count`: the high half of a case word is its counter.
        unsafe {
            let counter = AtomicU32::from_ptr(entry.cast::<u32>().cast_mut().add(1));
            counter.store(counter.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        }
        // SAFETY: the low half is the target.
        self.jump(unsafe { *entry.cast::<i32>() } as i64);
        Flow::Next
    }

    /// Enters `method` with `count` arguments of the call at `pc`: makes the frame, checks depth and stack, takes the
    /// prologue's yieldpoint.
    #[inline(always)]
    pub fn enter(&mut self, method: *mut Method, count: usize) -> Flow {
        // SAFETY: the loader put the caller's frame size into b and a live method into the call. Before the check, the new
        // frame may lie beyond the stack, so its address is only computed; after it, header and frame are inside.
        unsafe {
            let invocations = AtomicU32::from_ptr(&raw mut (*method).invocations);
            let entered = invocations.load(Ordering::Relaxed).wrapping_add(1);
            invocations.store(entered, Ordering::Relaxed);
            if entered == (*method).threshold {
                return Flow::Slow(Slow::HotMethod);
            }
        }
        self.push_frame(method, count)
    }

    /// The same without counting the entry.
    #[inline(always)]
    pub fn push_frame(&mut self, method: *mut Method, count: usize) -> Flow {
        // SAFETY: as `enter`.
        unsafe {
            let base = self.base.wrapping_add(self.b());
            if base.wrapping_add((*method).frame) > (*self.ctx).stack_limit {
                return Flow::Slow(Slow::GrowStack);
            }
            let (depth, exceeded) = (*self.base.sub(2)).overflowing_sub(1);
            if exceeded {
                return Flow::Slow(Slow::StackOverflow);
            }
            *base.sub(1) = self.pc as u64;
            *base.sub(2) = depth;
            for i in 0..count {
                *base.add(i) = self.bits(self.arg(i));
            }
            self.base = base;
            self.pc = (*method).code;
        }
        if self.control() != control::NONE {
            return Flow::Slow(Slow::PrologueYieldpoint);
        }
        Flow::Next
    }

    /// True if the epilogue's yieldpoint must be taken.
    #[inline(always)]
    pub fn epilogue_yieldpoint(&self) -> bool {
        self.control() != control::NONE
    }

    /// Leaves the frame; `result` goes to the register that the call names.
    #[inline(always)]
    pub fn leave(&mut self, result: Option<u64>) -> Flow {
        // SAFETY: `base[-1]` is the address of the call that made this frame (or of the stub below the first one): its word holds
        // the result register in a, the frame distance in b and its own length in c.
        unsafe {
            self.pc = *self.base.sub(1) as *const u64;
            self.base = self.base.sub(self.b());
            if let Some(bits) = result {
                self.set(self.a(), bits);
            }
        }
        self.next(self.c())
    }

    /// The method that a call through a table finds at `displacement` from the receiver's class record.
    #[inline(always)]
    pub fn lookup(&self, receiver: Object, displacement: i32) -> *mut Method {
        // SAFETY: the receiver is a live object (its register is non-null), whose class has a method at the displacement that the loader
        // computed from the static class.
        unsafe {
            let class = (*receiver.0).class as usize;
            *(*self.ctx).classes.add(class).offset(displacement as isize).cast::<*mut Method>()
        }
    }

    /// Counts the receiver's class in a cell of receivers.
    #[inline(always)]
    pub fn count_receiver(&self, receiver: Object, cell: usize) {
        // SAFETY: the loader numbered the cells, and the receiver is live.
        unsafe {
            let words = (*self.ctx).receivers.add(cell).cast::<u32>();
            let class = (*receiver.0).class;
            let first = *words;
            if first == class {
                return count_at(words.add(1));
            }
            let second = *words.add(2);
            if first == 0 {
                publish(words, class);
                return count_at(words.add(1));
            }
            if second == class {
                return count_at(words.add(3));
            }
            let third = *words.add(4);
            if second == 0 {
                publish(words.add(2), class);
                return count_at(words.add(3));
            }
            if third == class {
                return count_at(words.add(5));
            }
            if third == 0 {
                publish(words.add(4), class);
                return count_at(words.add(5));
            }
            count_at(words.add(6));
        }
    }

    /// A global variable.
    #[inline(always)]
    pub fn global(&self, index: usize) -> u64 {
        // SAFETY: verified global numbers are below their count.
        unsafe { *(*self.ctx).globals.add(index) }
    }

    /// Writes a global variable.
    #[inline(always)]
    pub fn set_global(&mut self, index: usize, bits: u64) {
        // SAFETY: as `global`.
        unsafe { *(*self.ctx).globals.add(index) = bits }
    }

    /// A string constant.
    #[inline(always)]
    pub fn string(&self, index: usize) -> Object {
        // SAFETY: verified string numbers are below their count.
        unsafe { Object(*(*self.ctx).strings.add(index)) }
    }

    /// Takes a cell of `bytes` from the run of a size class and writes its header; `None` if the run is used up.
    #[inline(always)]
    pub fn bump(&mut self, size_class: usize, bytes: usize, header: u64) -> Option<Object> {
        // SAFETY: the runs are part of the heap, which lives as long as the context; between `cur` and `limit` lie zeroed cells
        // of this size class that belong to nobody.
        unsafe {
            let run: *mut Run = (*self.ctx).runs.add(size_class);
            let at = (*run).cur;
            if at == (*run).limit {
                return None;
            }
            (*run).cur = at.add(bytes);
            *at.cast::<u64>() = header;
            Some(Object(at.cast()))
        }
    }

    /// The header of a new box: 0 `Int`, 1 `Float`, 2 `Bool`.
    #[inline(always)]
    pub fn box_header(&self, which: usize) -> u64 {
        // SAFETY: the context is live.
        unsafe { (*self.ctx).box_headers[which] }
    }

    /// The class record of an object.
    #[inline(always)]
    pub fn class_record(&self, object: Object) -> &crate::layout::ClassRecord {
        // SAFETY: a live object's header holds the offset of a record of the table.
        unsafe { &*(*self.ctx).classes.add((*object.0).class as usize).cast() }
    }
}

/// A reference to an object, or null. Obtained from a register, so live where the verifier says so.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Object(pub *mut Header);

impl Object {
    /// Null.
    #[inline(always)]
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Offset of its class record.
    #[inline(always)]
    pub fn class(self) -> u32 {
        // SAFETY: callers have a non-null live object.
        unsafe { (*self.0).class }
    }

    /// Must a reference store into it be recorded.
    #[inline(always)]
    pub fn is_unlogged(self) -> bool {
        // SAFETY: as `class`.
        unsafe { (*self.0).flags & UNLOGGED != 0 }
    }

    /// Field number `index`.
    #[inline(always)]
    pub fn field(self, index: usize) -> u64 {
        // SAFETY: verified field numbers exist in the static class of a live object.
        unsafe { *self.0.cast::<u8>().add(FIELDS + index * 8).cast() }
    }

    /// Writes field number `index`.
    #[inline(always)]
    pub fn set_field(self, index: usize, bits: u64) {
        // SAFETY: as `field`.
        unsafe { *self.0.cast::<u8>().add(FIELDS + index * 8).cast() = bits }
    }

    /// Number of elements of an array.
    #[inline(always)]
    pub fn length(self) -> usize {
        // SAFETY: verified to be an array, bytes or a string.
        unsafe { *self.0.cast::<u8>().add(LENGTH).cast() }
    }

    /// The element of eight bytes at an index that the caller has checked.
    #[inline(always)]
    pub fn word(self, index: usize) -> *mut u64 {
        // SAFETY: `index` is below the length; the element lies within the object.
        unsafe { self.0.cast::<u8>().add(ELEMENTS).cast::<u64>().add(index) }
    }

    /// Two strings, or null: the same text, or both null.
    #[inline(always)]
    pub fn same_text(self, other: Object) -> bool {
        if self == other {
            return true;
        }
        if self.is_null() || other.is_null() || self.length() != other.length() {
            return false;
        }
        // Word by word: the bytes behind the end of a string, up to the next multiple of 8, are zero.
        (0..self.length().div_ceil(8)).all(|i| {
            // SAFETY: objects are multiples of 8 bytes long, so that these words lie within both.
            unsafe { *self.word(i) == *other.word(i) }
        })
    }

    /// The element of one byte at an index that the caller has checked.
    #[inline(always)]
    pub fn byte(self, index: usize) -> *mut u8 {
        // SAFETY: as `word`.
        unsafe { self.0.cast::<u8>().add(ELEMENTS).add(index) }
    }
}

/// Adds one to a counter that a compiler on another thread may be reading.
///
/// # Safety
/// It is a live, aligned counter that only this thread writes.
#[inline(always)]
unsafe fn count_at(counter: *mut u32) {
    // SAFETY: by the caller's promise.
    unsafe { publish(counter, (*counter).wrapping_add(1)) }
}

/// Writes a word that a compiler on another thread may be reading.
///
/// # Safety
/// As [`count_at`].
#[inline(always)]
unsafe fn publish(word: *mut u32, value: u32) {
    // SAFETY: by the caller's promise.
    unsafe { AtomicU32::from_ptr(word).store(value, Ordering::Relaxed) }
}

/// Keeps the compiler from joining the two directions of a branch into a conditional move, after which every operand
/// fetch would wait for the compared data (measured at up to 1.8 times the run time).
#[inline(always)]
fn keep_apart() {
    // SAFETY: empty.
    unsafe { std::arch::asm!("", options(nomem, nostack, preserves_flags)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicI32;

    /// A context of which only the control word and the stack limit matter.
    fn context(control: i32, stack: &mut [u64]) -> Context {
        Context {
            control: AtomicI32::new(control),
            stack_limit: stack.as_mut_ptr_range().end,
            ..Context::default()
        }
    }

    /// Which yieldpoints each state of the control word lets through: loop header, prologue, epilogue.
    #[test]
    fn the_control_word_has_three_states() {
        for (word, expected) in [
            (control::NONE, [false, false, false]),
            (control::CALLS, [false, true, true]),
            (control::ALL, [true, true, true]),
        ] {
            let mut stack = [9u64; 16];
            let mut ctx = context(word, &mut stack);
            // A call without arguments: the frame of the callee begins two words up.
            let call = [holloway_bytecode::code::encode(holloway_bytecode::Op::Call, 0, 0, 4, 2), 0];
            let callee = [0u64];
            let mut method = Method {
                code: callee.as_ptr(),
                frame: 1,
                invocations: 0,
                threshold: u32::MAX,
                entry: std::ptr::null(),
                marked: std::ptr::null(),
            };
            let mut machine =
                Machine { pc: call.as_ptr(), base: stack.as_mut_ptr().wrapping_add(2), ctx: &raw mut ctx };
            let taken = [
                matches!(machine.loop_yieldpoint(), Flow::Slow(Slow::LoopYieldpoint)),
                matches!(machine.enter(&raw mut method, 0), Flow::Slow(Slow::PrologueYieldpoint)),
                machine.epilogue_yieldpoint(),
            ];
            assert_eq!(taken, expected, "control word {word}");
            assert_eq!(machine.pc, callee.as_ptr(), "the callee's frame is in place");
        }
    }
}
