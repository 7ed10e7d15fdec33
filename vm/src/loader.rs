//! From a verified program to code that runs: one area with the words of all functions, in which names have become
//! addresses, plus the tables to get back from an address to function and place.
//!
//! What the loader writes into instructions (and [`crate::interpreter::bodies`] reads):
//!
//! | instruction | becomes |
//! |---|---|
//! | calls | b: distance to the callee's frame; c: words of the instruction; x: the [`Method`], or for calls through a table the displacement from the class record |
//! | `calln` | b: number of the native; c: words |
//! | `new` | b: bytes of a cell; x: class offset and size class |
//! | `newarr` | x: class offset |
//! | `is`, `cast` | x: first offset and span of the class's subtree |
//! | `ldg` | a quick form where the global can be unset |
//!
//! Before the first instruction of each function lies one word more: the instruction that enters its compiled code. A method
//! that has code begins there.

use crate::classes::ClassTable;
use crate::compiled::Receivers;
use crate::heap;
use crate::interpreter::machine::FRAME_HEADER;
use crate::interpreter::quick::Quick;
use holloway_bytecode::{
    ClassId, Function, FunctionId, Op, Program, Type,
    code::{self, encode},
};

/// A function that can be called: what a call needs, at an address that does not change.
#[repr(C)]
#[derive(Debug)]
pub struct Method {
    /// First instruction, or the word before it if the method has compiled code.
    pub code: *const u64,
    /// Registers.
    pub frame: usize,
    /// How often the interpreter entered it.
    pub invocations: u32,
    /// At how many invocations it is worth compiling.
    pub threshold: u32,
    /// Machine code to call: its own, or its thunk; null before anything was compiled.
    pub entry: *const u8,
    /// The same for calls from code that tells of blocks, where there are two versions of code.
    pub marked: *const u8,
}

/// The classes that receivers of one call had: three of them with counts, and how often it was another one.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct ReceiverCell {
    /// Class offset and count of each; offset 0 for none.
    pub classes: [(u32, u32); 3],
    /// All others.
    pub others: u32,
    /// Room up to a power of two.
    pub reserved: u32,
}

const _: () = assert!(size_of::<ReceiverCell>() == 32);

/// The code of a program.
pub struct LoadedCode {
    /// All words. Counters in it are written while it runs, through raw pointers only.
    words: Box<[std::cell::UnsafeCell<u64>]>,
    /// Where each function's code begins in `words`; one more entry for the end of the last.
    starts: Vec<usize>,
    /// The methods by function number. Their counters and entries change while code runs, through raw pointers only.
    methods: Box<[std::cell::UnsafeCell<Method>]>,
    /// The receivers of calls through tables, likewise.
    receivers: Box<[std::cell::UnsafeCell<ReceiverCell>]>,
    /// Classes by the offsets of their records.
    class_offsets: std::sync::Arc<Vec<(u32, ClassId)>>,
    /// The first thunk, and the distance from one to the next; null before anything was compiled.
    thunks: (*const u8, usize),
    /// The first listener, if methods are listened to; the distance is the same.
    listeners: *const u8,
    /// Where a method has no second version of its code, the first one serves.
    shares_versions: bool,
}

/// The word at which the stub below a thread's first frame begins: a call that never happened, then `halt`.
const STUB: usize = 0;
/// Words of the stub.
pub(crate) const STUB_WORDS: usize = 2;

impl LoadedCode {
    /// Lays out the words of all functions; [`LoadedCode::link`] fills them in.
    pub fn allocate(program: &Program) -> LoadedCode {
        let mut starts = Vec::with_capacity(program.functions.len() + 1);
        let mut at = STUB_WORDS;
        for function in &program.functions {
            at += 1;
            starts.push(at);
            at += function.code.len();
        }
        starts.push(at + 1);
        let words: Box<[std::cell::UnsafeCell<u64>]> =
            std::iter::repeat_with(|| std::cell::UnsafeCell::new(0)).take(at).collect();
        let base: *const u64 = words.as_ptr().cast();
        let methods = program
            .functions
            .iter()
            .zip(&starts)
            .map(|(function, &start)| {
                let code = base.wrapping_add(start);
                let frame = function.registers.len();
                let (entry, marked) = (std::ptr::null(), std::ptr::null());
                Method { code, frame, invocations: 0, threshold: u32::MAX, entry, marked }.into()
            })
            .collect();
        LoadedCode {
            words,
            starts,
            methods,
            receivers: Box::new([]),
            class_offsets: Default::default(),
            thunks: (std::ptr::null(), 0),
            listeners: std::ptr::null(),
            shares_versions: false,
        }
    }

    /// Copies the words in and replaces numbers by addresses.
    pub fn link(&mut self, program: &Program, classes: &ClassTable) {
        let stub_call = encode(Op::CallNative, 0, 0, FRAME_HEADER as u16, 1);
        let stub = [stub_call, Quick::Halt.number() as u64];
        self.words[STUB] = stub[0].into();
        self.words[STUB + 1] = stub[1].into();
        // Calls without a table share the first cell, which nobody reads.
        let mut cells = 1;
        for (index, function) in program.functions.iter().enumerate() {
            let start = self.starts[index];
            self.words[start - 1] = (Quick::EnterCompiled.number() as u64 | (index as u64) << 32).into();
            let mut words = function.code.clone();
            link_function(program, function, classes, &self.methods, &mut cells, &mut words);
            for (to, word) in self.words[start..].iter_mut().zip(words) {
                *to.get_mut() = word;
            }
        }
        self.receivers =
            std::iter::repeat_with(|| ReceiverCell::default().into()).take(cells as usize).collect();
        let offsets = (0..program.classes.len() as u32).map(|id| (classes.offset(ClassId(id)), ClassId(id)));
        let mut offsets: Vec<_> = offsets.collect();
        offsets.sort_unstable();
        self.class_offsets = offsets.into();
    }

    /// The cells of receivers.
    pub fn receiver_cells(&self) -> *mut ReceiverCell {
        self.receivers.as_ptr().cast_mut().cast()
    }

    /// The address to which a thread's first function returns.
    pub fn stub(&self) -> *const u64 {
        self.words[STUB].get()
    }

    /// The method of a function.
    pub fn method(&self, function: FunctionId) -> *const Method {
        self.methods[function.index()].get()
    }

    /// The function of a method.
    pub fn function_of(&self, method: *const Method) -> FunctionId {
        let index = (method as usize - self.methods.as_ptr() as usize) / size_of::<Method>();
        FunctionId(index as u32)
    }

    /// Counts an entry that the interpreter makes for compiled code; true if the threshold is reached.
    pub fn count_invocation(&self, function: FunctionId) -> bool {
        // SAFETY: methods live as long as the code, and nobody holds a reference to one.
        unsafe {
            let method = self.methods[function.index()].get();
            (*method).invocations = (*method).invocations.wrapping_add(1);
            (*method).invocations == (*method).threshold
        }
    }

    /// Every method is worth compiling after so many entries.
    pub fn set_thresholds(&self, threshold: u32) {
        for method in &self.methods {
            // SAFETY: as above.
            unsafe { (*method.get()).threshold = threshold.max(1) };
        }
    }

    /// The method is not to be compiled again soon.
    pub fn raise_threshold(&self, function: FunctionId) {
        // SAFETY: as above. A method that cannot be compiled asks again when its count has wrapped.
        unsafe {
            let method = self.methods[function.index()].get();
            (*method).threshold = (*method).invocations.wrapping_sub(1);
        }
    }

    /// The method is thought about again when it was entered as often again.
    pub fn double_threshold(&self, function: FunctionId) {
        // SAFETY: as above.
        unsafe {
            let method = self.methods[function.index()].get();
            (*method).threshold = (*method).invocations.saturating_mul(2);
        }
    }

    /// The method is thought about when it is entered next, unless it has been already.
    pub fn think_at_next_entry(&self, function: FunctionId) {
        // SAFETY: as above.
        unsafe {
            let method = self.methods[function.index()].get();
            if (*method).threshold > (*method).invocations {
                (*method).threshold = (*method).invocations.wrapping_add(1);
            }
        }
    }

    /// The method lost its code: it is compiled again after a few more entries.
    pub fn lower_threshold(&self, function: FunctionId) {
        const AGAIN: u32 = 100;
        // SAFETY: as above.
        unsafe {
            let method = self.methods[function.index()].get();
            (*method).threshold = (*method).invocations.wrapping_add(AGAIN);
        }
    }

    /// The thunks of all methods lie in a row: from now on methods can be called from compiled code.
    pub fn set_thunks(&mut self, first: *const u8, distance: usize) {
        self.thunks = (first, distance);
        for (index, method) in self.methods.iter().enumerate() {
            // SAFETY: as above.
            unsafe {
                (*method.get()).entry = first.wrapping_add(index * distance);
                (*method.get()).marked = (*method.get()).entry;
            }
        }
    }

    /// Second versions of code call the first one of a method that has no second, from now on: before there is any code.
    pub fn share_versions(&mut self) {
        self.shares_versions = true;
    }

    /// The listeners of all methods lie in a row, as far from each other as thunks.
    pub fn set_listeners(&mut self, first: *const u8) {
        self.listeners = first;
    }

    /// The listener of a method.
    pub fn listener(&self, function: FunctionId) -> *const u8 {
        self.listeners.wrapping_add(function.index() * self.thunks.1)
    }

    /// The method has compiled code, or has it no more.
    pub fn set_compiled(&self, function: FunctionId, entry: Option<*const u8>) {
        let begin = self.words[self.starts[function.index()]].get().cast_const();
        let thunk = self.thunks.0.wrapping_add(function.index() * self.thunks.1);
        // SAFETY: as above.
        unsafe {
            let method = self.methods[function.index()].get();
            let serves_both = self.shares_versions && (*method).marked == (*method).entry;
            (*method).entry = entry.unwrap_or(thunk);
            if serves_both {
                (*method).marked = (*method).entry;
            }
            (*method).code = if entry.is_some() { begin.wrapping_sub(1) } else { begin };
        }
    }

    /// The method has compiled code that tells of blocks, or has it no more.
    pub fn set_marked(&self, function: FunctionId, entry: Option<*const u8>) {
        let thunk = self.thunks.0.wrapping_add(function.index() * self.thunks.1);
        // SAFETY: as above.
        unsafe {
            let method = self.methods[function.index()].get();
            let without = if self.shares_versions { (*method).entry } else { thunk };
            (*method).marked = entry.unwrap_or(without);
        }
    }

    /// Where a method begins that is called in the interpreter: at its first instruction, or at that which enters its compiled code.
    pub fn begin(&self, function: FunctionId) -> *const u64 {
        // SAFETY: methods live as long as the code.
        unsafe { (*self.methods[function.index()].get()).code }
    }

    /// What the interpreter counts, for compilers.
    pub fn profile_counters(&self) -> Counters {
        Counters {
            words: self.words.as_ptr().cast(),
            starts: self.starts.as_slice() as *const [usize],
            methods: self.methods.as_ptr().cast(),
            receivers: self.receiver_cells(),
            class_offsets: self.class_offsets.clone(),
        }
    }

    /// The machine code of a method that has some.
    pub fn compiled(&self, function: FunctionId) -> *const u8 {
        // SAFETY: methods live as long as the code.
        unsafe { (*self.methods[function.index()].get()).entry }
    }

    /// Changes the opcode of the instruction at a code address.
    pub fn set_opcode(&self, pc: *const u64, opcode: u8) {
        // SAFETY: the address is that of an instruction of this code; one thread executes and changes it.
        unsafe { *pc.cast_mut().cast::<u8>() = opcode };
    }

    /// The function and the place in it of a code address; `None` for the stub, and for null.
    pub fn locate(&self, pc: *const u64) -> Option<(FunctionId, u32)> {
        let word = (pc as usize).checked_sub(self.words.as_ptr() as usize)? / 8;
        // The word before the first instruction belongs to the function, too.
        let function = self.starts.partition_point(|&s| s <= word + 1).checked_sub(1)?;
        Some((FunctionId(function as u32), word.saturating_sub(self.starts[function]) as u32))
    }

    /// The call that made the frame `base`, and its own frame.
    pub fn caller(&self, base: *mut u64) -> (*const u64, *mut u64) {
        // SAFETY: `base` is a frame: below it lies the address of its call, whose b is the distance to the caller's frame.
        unsafe {
            let call = *base.sub(1) as *const u64;
            let distance = *call.cast::<u16>().add(2) as usize;
            (call, base.sub(distance))
        }
    }

    /// How many words all code has, the stub included.
    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// The number of the word at a code address.
    pub fn word_of(&self, pc: *const u64) -> usize {
        (pc as usize - self.words.as_ptr() as usize) / 8
    }

    /// The address of a place in a function.
    pub fn address(&self, function: FunctionId, pc: u32) -> *const u64 {
        self.words[self.starts[function.index()] + pc as usize].get()
    }

    /// The second word of a branch or a case word of a switch: not taken or target (low), taken or count (high).
    pub fn counters(&self, function: FunctionId, pc: u32) -> (u32, u32) {
        let word = self.words[self.starts[function.index()] + pc as usize].get().cast::<u32>();
        // SAFETY: the word is inside the area; counters are only accessed as relaxed atomics while code runs.
        unsafe {
            use std::sync::atomic::{AtomicU32, Ordering};
            let low = AtomicU32::from_ptr(word).load(Ordering::Relaxed);
            (low, AtomicU32::from_ptr(word.add(1)).load(Ordering::Relaxed))
        }
    }
}

/// The counters of running code, to be read by another thread: branches, entries, receivers. Valid as long as the code; whoever
/// hands it to a thread ends that thread first.
pub struct Counters {
    words: *const u64,
    starts: *const [usize],
    methods: *const Method,
    receivers: *const ReceiverCell,
    class_offsets: std::sync::Arc<Vec<(u32, ClassId)>>,
}

// SAFETY: all that is read through it while code runs are counters, each by an atomic load.
unsafe impl Send for Counters {}
// SAFETY: as above.
unsafe impl Sync for Counters {}

impl Counters {
    fn word(&self, function: FunctionId, pc: u32) -> *const u64 {
        // SAFETY: the table does not change while code runs.
        let start = unsafe { (&*self.starts)[function.index()] };
        self.words.wrapping_add(start + pc as usize)
    }

    /// As [`LoadedCode::counters`].
    pub fn counters(&self, function: FunctionId, pc: u32) -> (u32, u32) {
        let word = self.word(function, pc).cast::<u32>();
        (read_counter(word), read_counter(word.wrapping_add(1)))
    }

    /// How often the interpreter entered a function.
    pub fn invocations(&self, function: FunctionId) -> u32 {
        let method = self.methods.wrapping_add(function.index());
        // SAFETY: only the address of the counter is computed.
        read_counter(unsafe { &raw const (*method).invocations })
    }

    /// The receivers of the call at `pc`.
    pub fn receivers(&self, function: FunctionId, pc: u32) -> Receivers {
        let cell = read_counter(self.word(function, pc + 1).cast::<u32>().wrapping_add(1));
        let words = self.receivers.wrapping_add(cell as usize).cast::<u32>();
        let mut classes: Vec<(ClassId, u32)> = (0..3)
            .map(|i| (read_counter(words.wrapping_add(2 * i)), read_counter(words.wrapping_add(2 * i + 1))))
            .filter_map(|(offset, count)| {
                let index = self.class_offsets.binary_search_by_key(&offset, |&(o, _)| o).ok()?;
                Some((self.class_offsets[index].1, count))
            })
            .collect();
        classes.sort_by_key(|&(class, count)| (std::cmp::Reverse(count), class));
        Receivers { classes, others: read_counter(words.wrapping_add(6)) }
    }
}

/// Reads a counter that another thread may be changing.
fn read_counter(at: *const u32) -> u32 {
    use std::sync::atomic::{AtomicU32, Ordering};
    // SAFETY: the addresses are those of live, aligned counters.
    unsafe { AtomicU32::from_ptr(at.cast_mut()).load(Ordering::Relaxed) }
}

fn link_function(
    program: &Program,
    function: &Function,
    classes: &ClassTable,
    methods: &[std::cell::UnsafeCell<Method>],
    cells: &mut u64,
    words: &mut [u64],
) {
    let distance = (function.registers.len() + FRAME_HEADER) as u64;
    let edits: Vec<(usize, code::Instruction)> = code::instructions(&function.code).collect();
    for (pc, i) in edits {
        let length = i.words.len() as u64;
        // A call's first word keeps opcode, argument count and result; b and c are the machine's.
        let call = |op: u8, b: u64| op as u64 | words_low(i.words[0]) | b << 32 | length << 48;
        match i.op {
            Op::Call => {
                let op = match i.n {
                    0 => Quick::Call0.number(),
                    1 => Quick::Call1.number(),
                    2 => Quick::Call2.number(),
                    3 => Quick::Call3.number(),
                    4 => Quick::Call4.number(),
                    _ => Op::Call as u8,
                };
                words[pc] = call(op, distance);
                words[pc + 1] = methods[i.bc() as usize].get() as u64;
            }
            Op::CallVirtual | Op::CallInterface => {
                let op = match i.n {
                    1 => Quick::CallVirtual1.number(),
                    2 => Quick::CallVirtual2.number(),
                    3 => Quick::CallVirtual3.number(),
                    4 => Quick::CallVirtual4.number(),
                    _ => Op::CallVirtual as u8,
                };
                words[pc] = call(op, distance);
                let displacement = match i.op {
                    Op::CallVirtual => classes.virtual_displacement(i.bc()),
                    _ => classes.interface_displacement(i.c as u32, i.b as u32),
                };
                words[pc + 1] = displacement as u32 as u64 | *cells << 32;
                *cells += 1;
            }
            Op::CallNative => words[pc] = call(Op::CallNative as u8, i.bc() as u64),
            Op::New => {
                let class = ClassId(i.bc());
                let size = classes.record(class).instance_size as usize;
                let offset = classes.offset(class) as u64;
                if size <= heap::LARGEST_CELL {
                    let size_class = heap::size_class(size);
                    words[pc] = encode(Op::New, 0, i.a, heap::cell_size(size_class) as u16, 0) & !0xff
                        | Quick::NewFirst.number() as u64;
                    words[pc + 1] = offset | (size_class as u64) << 32;
                } else {
                    words[pc] = Quick::NewLarge.number() as u64 | (i.a as u64) << 16;
                    words[pc + 1] = offset;
                }
            }
            Op::NewArray => words[pc + 1] = classes.offset(ClassId(i.x() as u32)) as u64,
            Op::Is | Op::Cast => {
                let first = classes.offset(ClassId(i.x() as u32));
                let last = classes.record(ClassId(i.x() as u32)).last;
                words[pc + 1] = first as u64 | ((last - first) as u64) << 32;
            }
            Op::LoadGlobal if can_be_unset(program.globals[i.bc() as usize].ty) => {
                words[pc] = words[pc] & !0xff | Quick::LoadGlobalSet.number() as u64;
            }
            _ => {}
        }
    }
}

/// The argument count and the result register of a first word.
fn words_low(word: u64) -> u64 {
    word & 0xffff_ff00
}

fn can_be_unset(ty: Type) -> bool {
    matches!(ty, Type::Ref(r) if !r.nullable)
}
