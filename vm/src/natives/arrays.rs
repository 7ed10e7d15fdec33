//! Copying and filling arrays.

use super::{NativeCall, Result, pointer};
use crate::errors::Failure;
use crate::interpreter::machine::Object;
use crate::interpreter::slow::check_stop;
use crate::layout::ObjectKind;
use crate::vm::Machinery;
use holloway_bytecode::ErrorKind;

fn bounds(what: &str, from: i64, count: i64, length: usize) -> std::result::Result<(), Failure> {
    if from >= 0 && count >= 0 && from.checked_add(count).is_some_and(|end| end as usize <= length) {
        return Ok(());
    }
    Err(Failure::Error(
        ErrorKind::Index,
        format!("{what} {from} to {} is out of bounds for length {length}", from.wrapping_add(count)),
    ))
}

/// What the elements of the array in argument 0 are, if it is one. The library passes nothing else.
fn kind(vm: &Machinery, array: Object) -> ObjectKind {
    vm.classes_record(array.0).kind
}

fn not_an_array() -> Failure {
    Failure::Error(ErrorKind::Value, "the value is not an array".into())
}

/// Where eight bytes lie, if they are inside: bytes in argument 0, the first position in argument 1.
fn eight(call: &NativeCall<'_>) -> std::result::Result<*mut u64, Failure> {
    let (bytes, at) = (call.object(0), call.int(1));
    bounds("range", at, 8, bytes.length())?;
    Ok(bytes.byte(at as usize).cast())
}

/// Eight bytes as a word.
pub fn word(call: &NativeCall<'_>) -> Result {
    let place = eight(call)?;
    // SAFETY: all eight are inside.
    Ok(u64::from_le(unsafe { place.read_unaligned() }))
}

/// Sets eight bytes to those of a word.
pub fn set_word(call: &NativeCall<'_>) -> Result {
    let place = eight(call)?;
    // SAFETY: all eight are inside.
    unsafe { place.write_unaligned(call.bits(2).to_le()) };
    Ok(0)
}

/// A new array with part of another's elements.
pub fn copy(vm: &mut Machinery, call: &NativeCall<'_>) -> Result {
    let array = call.object(0);
    if kind(vm, array) == ObjectKind::Fields {
        return Err(not_an_array());
    }
    let (from, to) = (call.int(1), call.int(2));
    bounds("range", from, to.wrapping_sub(from), array.length())?;
    let count = (to - from) as usize;
    let copy = vm.allocate_array(vm.class_of(array.0), count)?;
    move_elements(vm, array, from as usize, Object(copy), 0, count)?;
    pointer(copy)
}

/// Copies elements from one array into another of the same class, or within one.
pub fn copy_into(vm: &mut Machinery, call: &NativeCall<'_>) -> Result {
    let (from_array, to_array) = (call.object(0), call.object(2));
    if kind(vm, from_array) == ObjectKind::Fields || from_array.class() != to_array.class() {
        return Err(not_an_array());
    }
    let (from, to, count) = (call.int(1), call.int(3), call.int(4));
    bounds("source range", from, count, from_array.length())?;
    bounds("target range", to, count, to_array.length())?;
    move_elements(vm, from_array, from as usize, to_array, to as usize, count as usize)?;
    Ok(0)
}

/// Elements that are written between two looks at whether the program is to end: a few milliseconds' work.
const CHUNK: usize = 1 << 20;

/// Calls `work` with ranges (begin, length) that make up `0..count`, from the end if `backwards`, until the program is to end.
fn in_chunks(
    vm: &Machinery,
    count: usize,
    backwards: bool,
    mut work: impl FnMut(usize, usize),
) -> std::result::Result<(), Failure> {
    let mut done = 0;
    while done < count {
        let length = CHUNK.min(count - done);
        work(if backwards { count - done - length } else { done }, length);
        done += length;
        if vm.signals.wants_stop() {
            check_stop(vm.signals.take())?;
        }
    }
    Ok(())
}

/// Both ranges are inside their arrays, which have the same class.
fn move_elements(
    vm: &mut Machinery,
    from_array: Object,
    from: usize,
    to_array: Object,
    to: usize,
    count: usize,
) -> std::result::Result<(), Failure> {
    let kind = kind(vm, from_array);
    if kind == ObjectKind::References {
        // Before the stores, which may be broken off. SAFETY: the array has these elements.
        unsafe { vm.heap.remember_elements(to_array.0, to, count) };
    }
    // Where the ranges overlap, what is still to be copied must not be overwritten.
    in_chunks(vm, count, to > from, |at, length| {
        // SAFETY: the ranges are inside; `copy_from` allows them to overlap.
        unsafe {
            match kind {
                ObjectKind::Bytes => to_array.byte(to + at).copy_from(from_array.byte(from + at), length),
                _ => to_array.word(to + at).copy_from(from_array.word(from + at), length),
            }
        }
    })?;
    Ok(())
}

/// Sets all elements of an array without references.
pub fn fill(vm: &mut Machinery, call: &NativeCall<'_>) -> Result {
    let array = call.object(0);
    let bits = call.bits(1);
    let kind = kind(vm, array);
    in_chunks(vm, array.length(), false, |at, length| {
        // SAFETY: all indices below the length are inside.
        unsafe {
            match kind {
                ObjectKind::Bytes => array.byte(at).write_bytes(bits as u8, length),
                ObjectKind::Words => std::slice::from_raw_parts_mut(array.word(at), length).fill(bits),
                ObjectKind::Fields | ObjectKind::References => {}
            }
        }
    })?;
    Ok(0)
}

/// Sets all elements of an array of references.
pub fn fill_references(vm: &mut Machinery, call: &NativeCall<'_>) -> Result {
    let array = call.object(0);
    if kind(vm, array) != ObjectKind::References {
        return Ok(0);
    }
    // Before the stores, as above. SAFETY: an array of references has its elements.
    unsafe { vm.heap.remember_elements(array.0, 0, array.length()) };
    let bits = call.bits(1);
    in_chunks(vm, array.length(), false, |at, length| {
        // SAFETY: the range is inside.
        unsafe { std::slice::from_raw_parts_mut(array.word(at), length).fill(bits) };
    })?;
    Ok(0)
}
