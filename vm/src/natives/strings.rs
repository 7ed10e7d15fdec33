//! Strings: immutable, UTF-8, indexed by byte.

use super::{NativeCall, Result, pointer};
use crate::errors::Failure;
use crate::interpreter::machine::Object;
use crate::vm::Machinery;
use holloway_bytecode::{ClassId, ErrorKind};
use std::fmt::Display;
use std::io::Write;

/// What a value looks like in text. Numbers fit the buffer, so that nothing is allocated but the string.
pub fn from_display(vm: &mut Machinery, value: impl Display) -> Result {
    let mut buffer = [0u8; 400];
    let mut rest = &mut buffer[..];
    let written = match write!(rest, "{value}") {
        Ok(()) => 400 - rest.len(),
        Err(_) => return pointer(vm.allocate_string(value.to_string().as_bytes())?),
    };
    pointer(vm.allocate_string(&buffer[..written])?)
}

/// A string of one character.
pub fn from_code_point(vm: &mut Machinery, code: i64) -> Result {
    match u32::try_from(code).ok().and_then(char::from_u32) {
        Some(c) => pointer(vm.allocate_string(c.encode_utf8(&mut [0; 4]).as_bytes())?),
        None => Err(Failure::Error(ErrorKind::Value, format!("{code} is not the code of a character"))),
    }
}

/// The arguments, one after the other.
pub fn concat(vm: &mut Machinery, call: &NativeCall<'_>) -> Result {
    let length = (0..call.count()).map(|i| call.object(i).length()).sum();
    let string = vm.allocate_array(ClassId::STRING, length)?;
    let mut at = 0;
    for i in 0..call.count() {
        let part = call.object(i);
        // SAFETY: the new string has room for all parts and overlaps none.
        unsafe { Object(string).byte(at).copy_from_nonoverlapping(part.byte(0), part.length()) };
        at += part.length();
    }
    pointer(string)
}

/// FNV-1a: simple, the same everywhere, good enough for the short keys of programs.
pub fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ b as u64).wrapping_mul(0x0000_0100_0000_01b3))
}

fn range(from: i64, to: i64, length: usize) -> std::result::Result<(usize, usize), Failure> {
    if 0 <= from && from <= to && to as usize <= length {
        return Ok((from as usize, to as usize));
    }
    Err(Failure::Error(ErrorKind::Index, format!("{from} to {to} is out of bounds for length {length}")))
}

/// Part of a string.
pub fn substring(vm: &mut Machinery, call: &NativeCall<'_>) -> Result {
    let text = call.text(0);
    let (from, to) = range(call.int(1), call.int(2), text.len())?;
    match text.get(from..to) {
        Some(part) => pointer(vm.allocate_string(part.as_bytes())?),
        None => Err(Failure::Error(ErrorKind::Value, format!("{from} to {to} cuts a character in two"))),
    }
}

/// First place of `needle` at or after byte `from`, or -1. In linear time.
pub fn index_of(text: &str, needle: &str, from: i64) -> i64 {
    let from = from.max(0) as usize;
    if needle.is_empty() {
        return if from <= text.len() { from as i64 } else { -1 };
    }
    // A character never begins inside another one.
    let Some(start) = (from..=text.len()).find(|&at| text.is_char_boundary(at)) else { return -1 };
    text[start..].find(needle).map_or(-1, |place| (start + place) as i64)
}

/// Bytes as a string.
pub fn from_bytes(vm: &mut Machinery, call: &NativeCall<'_>) -> Result {
    let bytes = call.bytes(0);
    let (from, to) = range(call.int(1), call.int(2), bytes.len())?;
    let part = &bytes[from..to];
    match std::str::from_utf8(part) {
        Ok(_) => pointer(vm.allocate_string(part)?),
        Err(error) => Err(Failure::Error(
            ErrorKind::Value,
            format!("the bytes are not UTF-8 from position {} on", from + error.valid_up_to()),
        )),
    }
}

/// A string's bytes, as `Bytes`.
pub fn to_bytes(vm: &mut Machinery, text: &[u8]) -> Result {
    let bytes = vm.allocate_array(ClassId::BYTES, text.len())?;
    // SAFETY: the new array has room and overlaps nothing.
    unsafe { Object(bytes).byte(0).copy_from_nonoverlapping(text.as_ptr(), text.len()) };
    pointer(bytes)
}
