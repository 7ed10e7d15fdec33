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

use crate::classes::ClassTable;
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
    /// First instruction.
    pub code: *const u64,
    /// Registers.
    pub frame: usize,
}

/// The code of a program.
pub struct LoadedCode {
    /// All words. Counters in it are written while it runs, through raw pointers only.
    words: Box<[std::cell::UnsafeCell<u64>]>,
    /// Where each function's code begins in `words`; one more entry for the end of the last.
    starts: Vec<usize>,
    /// The methods by function number.
    methods: Box<[Method]>,
}

/// The word at which the stub below a thread's first frame begins: a call that never happened, then `halt`.
const STUB: usize = 0;
/// Words of the stub.
const STUB_WORDS: usize = 2;

impl LoadedCode {
    /// Lays out the words of all functions; [`LoadedCode::link`] fills them in.
    pub fn allocate(program: &Program) -> LoadedCode {
        let mut starts = Vec::with_capacity(program.functions.len() + 1);
        let mut at = STUB_WORDS;
        for function in &program.functions {
            starts.push(at);
            at += function.code.len();
        }
        starts.push(at);
        let words: Box<[std::cell::UnsafeCell<u64>]> =
            std::iter::repeat_with(|| std::cell::UnsafeCell::new(0)).take(at).collect();
        let base: *const u64 = words.as_ptr().cast();
        let methods = program
            .functions
            .iter()
            .zip(&starts)
            .map(|(function, &start)| Method {
                code: base.wrapping_add(start),
                frame: function.registers.len(),
            })
            .collect();
        LoadedCode { words, starts, methods }
    }

    /// Copies the words in and replaces numbers by addresses.
    pub fn link(&mut self, program: &Program, classes: &ClassTable) {
        let stub_call = encode(Op::CallNative, 0, 0, FRAME_HEADER as u16, 1);
        let stub = [stub_call, Quick::Halt.number() as u64];
        self.words[STUB] = stub[0].into();
        self.words[STUB + 1] = stub[1].into();
        for (index, function) in program.functions.iter().enumerate() {
            let start = self.starts[index];
            let mut words = function.code.clone();
            link_function(program, function, classes, &self.methods, &mut words);
            for (to, word) in self.words[start..].iter_mut().zip(words) {
                *to.get_mut() = word;
            }
        }
    }

    /// The address to which a thread's first function returns.
    pub fn stub(&self) -> *const u64 {
        self.words[STUB].get()
    }

    /// The method of a function.
    pub fn method(&self, function: FunctionId) -> *const Method {
        &self.methods[function.index()]
    }

    /// The function and the place in it of a code address; `None` for the stub, and for null.
    pub fn locate(&self, pc: *const u64) -> Option<(FunctionId, u32)> {
        let word = (pc as usize).checked_sub(self.words.as_ptr() as usize)? / 8;
        let function = self.starts.partition_point(|&s| s <= word).checked_sub(1)?;
        Some((FunctionId(function as u32), (word - self.starts[function]) as u32))
    }

    /// The frames of a stack from the innermost out, as (instruction, base).
    pub fn frames(&self, pc: *const u64, base: *mut u64) -> impl Iterator<Item = (*const u64, *mut u64)> {
        let mut at = Some((pc, base));
        std::iter::from_fn(move || {
            let (pc, base) = at?;
            let below = self.caller(base);
            at = (below.0 != self.stub()).then_some(below);
            Some((pc, base))
        })
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

fn link_function(
    program: &Program,
    function: &Function,
    classes: &ClassTable,
    methods: &[Method],
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
                words[pc + 1] = &raw const methods[i.bc() as usize] as u64;
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
                words[pc + 1] = displacement as u32 as u64;
            }
            Op::CallNative => words[pc] = call(Op::CallNative as u8, i.bc() as u64),
            Op::New => {
                let class = ClassId(i.bc());
                let size = classes.record(class).instance_size as usize;
                let offset = classes.offset(class) as u64;
                if size <= heap::LARGEST_CELL {
                    let size_class = heap::size_class(size);
                    words[pc] = encode(Op::New, 0, i.a, heap::cell_size(size_class) as u16, 0);
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
