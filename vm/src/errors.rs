//! Errors of running programs: making them, finding who catches them, telling where they came from.
//!
//! An error is an object of the language. When it is thrown for the first time, the stack is written into its second
//! field as an array of integers: the depth of the stack, then one integer for each frame kept (function in the
//! high half, word of its code in the low half), innermost first. Of a deep stack the innermost and outermost frames are kept.

use crate::interpreter::machine::Object;
use crate::layout::ObjectPointer;
use crate::vm::Machinery;
use holloway_bytecode::{ClassId, ErrorKind, FunctionId, Layout, Position, Type};
use std::fmt;

/// Frames kept at the inner end of a deep stack.
const INNER_FRAMES: usize = 40;
/// Frames kept at the outer end.
const OUTER_FRAMES: usize = 10;

/// Why a native or a slow path did not succeed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error of the language is to be thrown.
    Error(ErrorKind, String),
    /// This object is to be thrown.
    Thrown(ObjectPointer),
    /// The program is to end.
    Stop(StopReason),
}

/// Why a program was ended from outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopReason {
    /// Ctrl-C or [`crate::signals::InterruptHandle`].
    Interrupted,
    /// `--time-limit`.
    TimeLimit,
    /// `--fuel`.
    FuelExhausted,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StopReason::Interrupted => "interrupted",
            StopReason::TimeLimit => "the time limit is over",
            StopReason::FuelExhausted => "the fuel is used up",
        })
    }
}

/// A place in a running program.
#[derive(Clone, PartialEq, Debug)]
pub struct TraceFrame {
    /// Full name of the function.
    pub function: String,
    /// File as shown to the user.
    pub file: String,
    /// Where in it.
    pub position: Position,
}

/// A stack trace, innermost frame first.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Trace {
    /// The innermost frames.
    pub inner: Vec<TraceFrame>,
    /// How many frames were left out here.
    pub omitted: usize,
    /// The outermost frames.
    pub outer: Vec<TraceFrame>,
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let frame = |f: &mut fmt::Formatter<'_>, t: &TraceFrame| {
            if t.position.line == 0 {
                writeln!(f, "    at {}", t.function)
            } else {
                writeln!(f, "    at {} ({}:{}:{})", t.function, t.file, t.position.line, t.position.column)
            }
        };
        for t in &self.inner {
            frame(f, t)?;
        }
        if self.omitted > 0 {
            writeln!(f, "    … {} more …", self.omitted)?;
        }
        for t in &self.outer {
            frame(f, t)?;
        }
        Ok(())
    }
}

/// The stack as it was when an error was thrown, before names are looked up.
fn capture(vm: &mut Machinery) -> Vec<i64> {
    let pack = |(f, pc): (FunctionId, u32)| (f.0 as i64) << 32 | pc as i64;
    let mut frames = Vec::new();
    let mut outer = std::collections::VecDeque::new();
    let mut depth = 0;
    let mut keep = |place: (FunctionId, u32)| {
        depth += 1;
        if frames.len() < INNER_FRAMES {
            frames.push(pack(place));
        } else {
            if outer.len() == OUTER_FRAMES {
                outer.pop_front();
            }
            outer.push_back(pack(place));
        }
    };
    vm.walk_current(&mut |place| {
        keep(place);
        true
    });
    let mut words = vec![depth];
    words.extend(frames);
    words.extend(outer);
    words
}

/// Names the frames of a captured stack. The words were within the program's reach: they may be anything.
fn describe(vm: &Machinery, words: &[i64]) -> Trace {
    let Some((&depth, frames)) = words.split_first() else { return Trace::default() };
    let depth = usize::try_from(depth).unwrap_or(0);
    let frames = &frames[..frames.len().min(depth)];
    let name = |&word: &i64| {
        let function = vm.program.functions.get((word >> 32) as usize)?;
        let position = function.position(word as u32);
        let file = vm.program.files.get(position.file as usize).map_or("?", |f| f);
        Some(TraceFrame { function: function.name.to_string(), file: file.to_string(), position })
    };
    let (inner, outer) = frames.split_at(frames.len().min(INNER_FRAMES));
    Trace {
        inner: inner.iter().filter_map(name).collect(),
        omitted: depth - frames.len(),
        outer: outer.iter().filter_map(name).collect(),
    }
}

/// The stack of the running thread, for programs ended from outside.
pub(crate) fn trace_of(vm: &mut Machinery) -> Trace {
    let words = capture(vm);
    describe(vm, &words)
}

/// What [`find_handler`] found.
pub(crate) enum Raised {
    /// A handler: go on there.
    Caught(*const u64, *mut u64),
    /// No handler: the thread ends with this error.
    Uncaught(ObjectPointer),
}

/// Makes an error object of a kind. If there is no memory for it, it is one that says so; likewise if it is to say that the heap is
/// full and no more. The machinery's position is where it is going to be thrown.
pub(crate) fn make(vm: &mut Machinery, kind: ErrorKind, message: &str) -> ObjectPointer {
    if kind == ErrorKind::OutOfMemory && message.is_empty() {
        return make_out_of_memory(vm);
    }
    let class = vm.program.error_classes[kind as usize];
    let made = vm.allocate_string(message.as_bytes()).and_then(|text| {
        let error = vm.allocate_instance(class)?;
        // The new object is young: no barrier is needed.
        Object(error).set_field(0, text as u64);
        Ok(error)
    });
    made.unwrap_or_else(|_| make_out_of_memory(vm))
}

/// An error that says that the heap is full. What fills it is mostly large, so that there is room for a small object with its
/// trace; if not, it is the one prepared for that case, which has forgotten where it was thrown before.
fn make_out_of_memory(vm: &mut Machinery) -> ObjectPointer {
    let class = vm.program.error_classes[ErrorKind::OutOfMemory as usize];
    if let Ok(error) = vm.allocate_instance(class) {
        // The new object is young: no barrier is needed.
        Object(error).set_field(0, vm.out_of_memory_message() as u64);
        record_trace(vm, error);
        if Object(error).field(1) != 0 {
            return error;
        }
    }
    vm.out_of_memory_error()
}

/// Throws `error` at the instruction `pc` of the frame `base`, where the thread stands.
pub(crate) fn raise(vm: &mut Machinery, pc: *const u64, base: *mut u64, error: ObjectPointer) -> Raised {
    record_trace(vm, error);
    find_handler(vm, pc, base, error)
}

/// Looks for who catches `error` at the instruction `pc` of the frame `base` and outside of it, up to where this segment of the
/// stack begins.
pub(crate) fn find_handler(
    vm: &Machinery,
    mut pc: *const u64,
    mut base: *mut u64,
    error: ObjectPointer,
) -> Raised {
    let class = vm.class_of(error);
    loop {
        let Some((function, at)) = vm.code.locate(pc) else { return Raised::Uncaught(error) };
        let handlers = &vm.program.functions[function.index()].handlers;
        let found =
            handlers.iter().find(|h| h.start <= at && at < h.end && vm.program.is_subclass(class, h.class));
        if let Some(handler) = found {
            // SAFETY: `base` is this function's frame and the handler's register one of its registers.
            unsafe { *base.add(handler.register.0 as usize) = error as u64 };
            return Raised::Caught(vm.code.address(function, handler.target), base);
        }
        (pc, base) = vm.code.caller(base);
    }
}

/// Writes the stack into the error unless it has one already. The machinery's position must be where the running thread stands:
/// the stack is walked from there.
pub(crate) fn record_trace(vm: &mut Machinery, error: ObjectPointer) {
    if Object(error).field(1) != 0 {
        return;
    }
    let words = capture(vm);
    let trace = match vm.prepared_trace(error) {
        Some(prepared) => prepared,
        None => {
            let Some(class) = trace_class(vm) else { return };
            match vm.allocate_array(class, words.len()) {
                Ok(array) => array,
                // An error without a trace is better than none.
                Err(_) => return,
            }
        }
    };
    let array = Object(trace);
    for (i, &word) in words.iter().enumerate().take(array.length()) {
        // SAFETY: the index is inside.
        unsafe { *array.word(i) = word as u64 };
    }
    vm.store_reference(error, 1, trace);
}

/// Most words that a trace takes.
pub(crate) const TRACE_WORDS: usize = 1 + INNER_FRAMES + OUTER_FRAMES;

/// The array class of the trace field.
pub(crate) fn trace_class(vm: &Machinery) -> Option<ClassId> {
    let root = vm.program.error_root?;
    let Layout::Object(fields) = &vm.program.classes[root.index()].layout else { return None };
    match fields.get(1)?.ty {
        Type::Ref(r) => match r.shape {
            holloway_bytecode::Shape::Class(class) => Some(class),
            _ => None,
        },
        _ => None,
    }
}

/// An error that nobody caught.
#[derive(Clone, PartialEq, Debug)]
pub struct UncaughtError {
    /// Name of its class.
    pub class: String,
    /// Its message.
    pub message: String,
    /// Where it was thrown.
    pub trace: Trace,
    /// In which thread; 0 is the main thread.
    pub thread: u32,
}

/// Reads an error object.
pub(crate) fn read(vm: &Machinery, error: ObjectPointer, thread: u32) -> UncaughtError {
    let object = Object(error);
    let class = vm.class_of(error);
    let message = match object.field(0) {
        0 => String::new(),
        text => vm.text(text as ObjectPointer).to_owned(),
    };
    let words: Vec<i64> = match object.field(1) {
        0 => Vec::new(),
        trace => {
            let array = Object(trace as ObjectPointer);
            // SAFETY: indices below the length are inside.
            (0..array.length().min(TRACE_WORDS)).map(|i| unsafe { *array.word(i) } as i64).collect()
        }
    };
    UncaughtError {
        class: vm.program.classes[class.index()].name.to_string(),
        message,
        trace: describe(vm, &words),
        thread,
    }
}
