//! What compiled code calls: the slow paths of allocation, barriers and yieldpoints, natives, comparison of texts.
//!
//! Most are called through stubs that preserve all registers; those give their result in the context. They get the
//! frame pointer of the code that called, and set the position of the thread first, so that the collector and stack traces see it.

use super::frames::Position;
use super::request::{EndNumber, PathEnd};
use crate::context::{Context, NO_PATH};
use crate::errors::{self, Failure};
use crate::interpreter::machine::Object;
use crate::layout::Header;
use crate::loader::Method;
use crate::natives::{self, NativeCall};
use crate::vm::Machinery;
use holloway_bytecode::Native;
use holloway_profilers::schedule::YieldKind;

/// The machinery behind a context.
///
/// # Safety
/// The context is live, and the caller holds no other reference into the machinery.
pub(crate) unsafe fn machinery<'a>(ctx: *mut Context) -> &'a mut Machinery {
    // SAFETY: by the caller's promise.
    unsafe { &mut *(*ctx).machine }
}

/// A yieldpoint that is taken. Afterwards the context's `leave` says whether compiled code must leave: because the program
/// ends, because other threads ran (and changed memory), because its code is not valid any more.
pub(super) unsafe extern "C" fn yieldpoint(ctx: *mut Context, _: u64, _: u64, frame: *const u64) {
    // SAFETY: called by compiled code with its context.
    let vm = unsafe { machinery(ctx) };
    let place = vm.context.exit_place;
    vm.position = Position::Compiled(frame, place);
    let switches = vm.statistics.thread_switches;
    vm.profiling.compiled_code_runs();
    // SAFETY: the frame is that of the code which stands at this place.
    vm.context.path = unsafe { ended_path(vm, place, frame) };
    let kind = match vm.context.kind {
        kind if kind == YieldKind::Prologue as u32 => YieldKind::Prologue,
        kind if kind == YieldKind::Epilogue as u32 => YieldKind::Epilogue,
        _ => YieldKind::Header,
    };
    let result = crate::interpreter::slow::yieldpoint(vm, Some(kind));
    // SAFETY: as above; other threads may have run in between.
    let vm = unsafe { machinery(ctx) };
    let stopped = match result {
        Ok(()) => false,
        Err(failure) => {
            vm.position = Position::Compiled(frame, place);
            stop(vm, failure);
            true
        }
    };
    let valid = super::library::is_valid(vm, place);
    vm.context.leave = (stopped
        || !valid
        || switches != vm.statistics.thread_switches
        || super::library::is_superseded(vm, place)
        || super::versions::is_wrong_version(vm, place)
        || super::library::wants_exit(vm)) as u64;
}

/// The number of the path that ends at a yieldpoint which is taken, or that none does. The path register is set for the next one, if that
/// is left to the yieldpoint.
///
/// # Safety
/// `frame` is the frame pointer of the code that stands at `place`.
unsafe fn ended_path(vm: &Machinery, place: u64, frame: *const u64) -> u64 {
    let object = vm.compiled.map.at(place);
    let ended =
        object.and_then(|object| Some((object.tables.path_register, object.site(place as u32).path?)));
    let Some((register, PathEnd { number, next })) = ended else { return NO_PATH };
    let word = register.map(|below| frame.wrapping_byte_sub(below as usize).cast_mut());
    let number = match (number, word) {
        (EndNumber::Known(number), _) => number,
        (EndNumber::Register(more), Some(word)) => {
            // SAFETY: the code has its path register in a word of its frame, so far below the frame pointer.
            let register = unsafe { word.read() } as u32;
            u64::from(register.wrapping_add(more))
        }
        (EndNumber::Register(_), None) => return NO_PATH,
    };
    if let (Some(next), Some(word)) = (next, word) {
        // SAFETY: as above. All of the word is written, as compiled code does.
        unsafe { word.write(u64::from(next)) };
    }
    number
}

/// A method is entered that is listened to. `frame` is the frame pointer of its listener, which stands in its place. Gives where its code is.
pub(super) unsafe extern "C" fn listen(
    ctx: *mut Context,
    method: *const Method,
    frame: *const u64,
) -> *const u8 {
    // SAFETY: called by a listener, with the context of who calls.
    let vm = unsafe { machinery(ctx) };
    vm.position = Position::Stub(frame);
    let function = vm.code.function_of(method);
    crate::profiling::heard(vm, function)
}

/// Notes an error that comes out of a helper: the caller looks at the context's `leave`.
fn stop(vm: &mut Machinery, failure: Failure) {
    let error = match failure {
        Failure::Error(kind, message) => errors::make(vm, kind, &message),
        Failure::Thrown(error) => error,
        Failure::Stop(reason) => {
            vm.stop = Some((reason, errors::trace_of(vm)));
            return;
        }
    };
    errors::record_trace(vm, error);
    vm.threads.current_mut().error = error;
    vm.compiled.unwinding = true;
}

/// A new instance of the class at an offset of the class table as the context's `result`; null if memory is exhausted.
pub(super) unsafe extern "C" fn allocate(ctx: *mut Context, class: u64, _: u64, frame: *const u64) {
    // SAFETY: as `yieldpoint`.
    let vm = unsafe { machinery(ctx) };
    vm.position = Position::Compiled(frame, vm.context.exit_place);
    let class = vm.classes.class_of_record(class as u32);
    vm.context.result = vm.allocate_instance(class).unwrap_or(std::ptr::null_mut()) as u64;
}

/// A new array, likewise.
pub(super) unsafe extern "C" fn allocate_array(
    ctx: *mut Context,
    class: u64,
    length: u64,
    frame: *const u64,
) {
    // SAFETY: as `yieldpoint`.
    let vm = unsafe { machinery(ctx) };
    vm.position = Position::Compiled(frame, vm.context.exit_place);
    let class = vm.classes.class_of_record(class as u32);
    vm.context.result = vm.allocate_array(class, length as usize).unwrap_or(std::ptr::null_mut()) as u64;
}

/// Before a store into an old object.
pub(super) unsafe extern "C" fn remember(ctx: *mut Context, object: *mut Header) {
    // SAFETY: as `yieldpoint`; the object is live.
    unsafe { machinery(ctx).heap.remember(object) }
}

/// Before a store into an element of an old array.
pub(super) unsafe extern "C" fn remember_element(ctx: *mut Context, array: *mut Header, index: u64) {
    // SAFETY: as `yieldpoint`; the array is live and the index inside.
    unsafe { machinery(ctx).heap.remember_element(array, index as usize) }
}

/// The same text, or both null: 1 or 0 as the context's `result`.
pub(super) unsafe extern "C" fn same_text(ctx: *mut Context, a: *mut Header, b: *mut Header) {
    // SAFETY: the context is live.
    unsafe { (*ctx).result = Object(a).same_text(Object(b)) as u64 }
}

/// Most arguments of a native: as many as a call can have.
const NATIVE_ARGUMENTS: usize = 256;

/// Calls a native with the first of the context's `exits` as its arguments; afterwards `leave` says whether compiled code must
/// leave.
pub(super) unsafe extern "C" fn native(ctx: *mut Context, number: u64, count: u64, frame: *const u64) -> u64 {
    // SAFETY: as `yieldpoint`.
    let vm = unsafe { machinery(ctx) };
    let place = vm.context.exit_place;
    vm.position = Position::Compiled(frame, place);
    let invalidations = vm.compiled.statistics.invalidations;
    // On this stack, where the collector sees them.
    let result = if count <= 8 {
        let mut arguments = [0u64; 8];
        arguments.copy_from_slice(&vm.context.exits[..8]);
        natives::dispatch(
            Native::ALL[number as usize],
            vm,
            &NativeCall::of_values(&arguments[..count as usize]),
        )
    } else {
        let mut arguments = [0u64; NATIVE_ARGUMENTS];
        arguments.copy_from_slice(&vm.context.exits[..NATIVE_ARGUMENTS]);
        natives::dispatch(
            Native::ALL[number as usize],
            vm,
            &NativeCall::of_values(&arguments[..count as usize]),
        )
    };
    // SAFETY: as above; a native may have switched threads.
    let vm = unsafe { machinery(ctx) };
    match result {
        Ok(result) => {
            let invalid =
                invalidations != vm.compiled.statistics.invalidations && !super::library::is_valid(vm, place);
            vm.context.leave = invalid as u64;
            result
        }
        Err(failure) => {
            vm.position = Position::Compiled(frame, place);
            stop(vm, failure);
            vm.context.leave = 1;
            0
        }
    }
}

/// The same, with the bits in `result`.
pub(super) unsafe extern "C" fn native_seldom(ctx: *mut Context, number: u64, count: u64, frame: *const u64) {
    // SAFETY: as `native`; the context stays where it is.
    unsafe { (*ctx).result = native(ctx, number, count, frame) }
}

macro_rules! pure_floats {
    ($($native:ident: |$($argument:ident),*| $value:expr;)*) => {
        /// The address of a native that only computes with floats.
        pub fn pure_float(native: Native) -> Option<u64> {
            $(
                #[allow(non_snake_case)]
                extern "C" fn $native($($argument: f64),*) -> f64 {
                    $value
                }
            )*
            Some(match native {
                $(Native::$native => $native as *const () as u64,)*
                _ => return None,
            })
        }
    };
}

pure_floats! {
    Sin: |x| x.sin();
    Cos: |x| x.cos();
    Tan: |x| x.tan();
    Atan: |x| x.atan();
    Atan2: |y, x| y.atan2(x);
    Exp: |x| x.exp();
    Log: |x| x.ln();
    Pow: |x, y| x.powf(y);
    FloatRem: |x, y| x % y;
    Floor: |x| x.floor();
    Ceil: |x| x.ceil();
    Round: |x| x.round();
}

/// A hash of a string.
pub(super) extern "C" fn string_hash(text: *mut Header) -> u64 {
    natives::string_hash(Object(text))
}

/// Compares two strings by bytes: -1, 0 or 1.
pub(super) extern "C" fn string_compare(a: *mut Header, b: *mut Header) -> u64 {
    natives::string_compare(Object(a), Object(b)) as u64
}

/// Where a string contains another, from a position on; -1 if nowhere.
pub(super) extern "C" fn string_index_of(text: *mut Header, part: *mut Header, from: i64) -> u64 {
    natives::string_index_of(Object(text), Object(part), from) as u64
}

/// The address of a native that only computes with texts.
pub fn pure_text(native: Native) -> Option<u64> {
    Some(match native {
        Native::StringHash => string_hash as *const () as u64,
        Native::StringCompare => string_compare as *const () as u64,
        Native::StringIndexOf => string_index_of as *const () as u64,
        _ => return None,
    })
}
