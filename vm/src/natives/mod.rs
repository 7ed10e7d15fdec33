//! What bytecode can ask the system to do: one function for each entry of [`holloway_bytecode::natives`].

mod arrays;
mod numbers;
mod strings;
mod system;

use crate::errors::Failure;
use crate::interpreter::machine::{Machine, Object};
use crate::layout::ObjectPointer;
use crate::vm::Machinery;
use holloway_bytecode::Native;

/// A call of a native: its arguments, in registers that the call names or in a row.
pub struct NativeCall<'a> {
    arguments: Arguments<'a>,
}

enum Arguments<'a> {
    Named(&'a Machine),
    Values(&'a [u64]),
}

impl<'a> NativeCall<'a> {
    /// The call at the machine's place.
    fn at(machine: &'a Machine) -> NativeCall<'a> {
        NativeCall { arguments: Arguments::Named(machine) }
    }

    /// A call with these arguments. They must be where the collector sees them: on the native stack.
    pub fn of_values(values: &'a [u64]) -> NativeCall<'a> {
        NativeCall { arguments: Arguments::Values(values) }
    }

    fn bits(&self, index: usize) -> u64 {
        match &self.arguments {
            Arguments::Named(machine) => machine.bits(machine.arg(index)),
            Arguments::Values(values) => values[index],
        }
    }

    fn int(&self, index: usize) -> i64 {
        self.bits(index) as i64
    }

    fn float(&self, index: usize) -> f64 {
        f64::from_bits(self.bits(index))
    }

    fn bool(&self, index: usize) -> bool {
        self.int(index) != 0
    }

    fn object(&self, index: usize) -> Object {
        Object(self.bits(index) as ObjectPointer)
    }

    fn pointer(&self, index: usize) -> ObjectPointer {
        self.object(index).0
    }

    /// How many arguments a variadic native got.
    fn count(&self) -> usize {
        match &self.arguments {
            Arguments::Named(machine) => (machine.word(0) >> 8) as u8 as usize,
            Arguments::Values(values) => values.len(),
        }
    }

    /// A string argument. It stays where it is while the call lasts, collections included: its register keeps it alive.
    fn text<'b>(&self, index: usize) -> &'b str {
        // SAFETY: the argument is a string (verified), strings hold valid UTF-8 and do not move.
        unsafe { std::str::from_utf8_unchecked(self.bytes(index)) }
    }

    /// The bytes of a string or bytes argument, likewise. Natives write to no array while they hold them.
    fn bytes<'b>(&self, index: usize) -> &'b [u8] {
        let object = self.object(index);
        // SAFETY: as `text`; the elements lie in a row.
        unsafe { std::slice::from_raw_parts(object.byte(0), object.length()) }
    }
}

/// Result of a native in register form.
type Result = std::result::Result<u64, Failure>;

fn unit(_: ()) -> Result {
    Ok(0)
}

fn float(value: f64) -> Result {
    Ok(value.to_bits())
}

fn pointer(object: ObjectPointer) -> Result {
    Ok(object as u64)
}

/// Executes the `calln` at the machine's `pc`.
pub fn call(vm: &mut Machinery, machine: &mut Machine) -> std::result::Result<(), Failure> {
    let native = Native::ALL[machine.b()];
    let result = dispatch(native, vm, &NativeCall::at(machine))?;
    if native.result().is_some() {
        machine.set(machine.a(), result);
    }
    machine.next(machine.c());
    Ok(())
}

// One line for each native reads best, those without a result included.
#[allow(clippy::unit_arg)]
pub fn dispatch(native: Native, vm: &mut Machinery, c: &NativeCall<'_>) -> Result {
    use Native::*;
    match native {
        Print => unit(system::print(vm, c.text(0))),
        IntToString => strings::from_display(vm, c.int(0)),
        IntToHex => strings::from_display(vm, format_args!("{:x}", c.int(0))),
        FloatToString => strings::from_display(vm, format_args!("{:?}", c.float(0))),
        CharToString => strings::from_code_point(vm, c.int(0)),
        IntParse => numbers::parse_int(vm, c.text(0)),
        FloatParse => numbers::parse_float(vm, c.text(0)),
        Concat => strings::concat(vm, c),
        StringEquals => Ok((c.bytes(0) == c.bytes(1)) as u64),
        StringCompare => Ok(c.bytes(0).cmp(c.bytes(1)) as i64 as u64),
        StringHash => Ok(strings::hash(c.bytes(0))),
        Substring => strings::substring(vm, c),
        StringIndexOf => Ok(strings::index_of(c.text(0), c.text(1), c.int(2)) as u64),
        StringFromBytes => strings::from_bytes(vm, c),
        StringToBytes => strings::to_bytes(vm, c.bytes(0)),
        BytesWord => arrays::word(c),
        BytesSetWord => arrays::set_word(c),
        ArrayCopy => arrays::copy(vm, c),
        ArrayMove => arrays::copy_into(vm, c),
        FillInt | FillFloat | FillBool => arrays::fill(vm, c),
        FillRef => arrays::fill_references(vm, c),
        Sin => float(c.float(0).sin()),
        Cos => float(c.float(0).cos()),
        Tan => float(c.float(0).tan()),
        Atan => float(c.float(0).atan()),
        Atan2 => float(c.float(0).atan2(c.float(1))),
        Exp => float(c.float(0).exp()),
        Log => float(c.float(0).ln()),
        Pow => float(c.float(0).powf(c.float(1))),
        FloatRem => float(c.float(0) % c.float(1)),
        Floor => float(c.float(0).floor()),
        Ceil => float(c.float(0).ceil()),
        Round => float(c.float(0).round()),
        FloatBits => Ok(numbers::bits(c.float(0))),
        FloatFromBits => Ok(c.int(0) as u64),
        ArgCount => Ok(vm.options.arguments.len() as u64),
        Arg => system::argument(vm, c.int(0)),
        NanoTime => Ok(vm.now()),
        Seed => Ok(vm.options.seed as u64),
        ThreadSpawn => vm.spawn(c.pointer(0)).map(u64::from),
        ThreadCurrent => Ok(vm.threads.current_number() as u64),
        ThreadYield => unit(crate::threads::preempt(vm)),
        ThreadSleep => system::sleep(vm, c),
        ThreadWait => crate::threads::wait(vm, c.pointer(0), c.text(1)).map(|()| 0),
        ThreadWake => unit(crate::threads::wake(vm, c.pointer(0), c.bool(1))),
        ThreadFailed => system::thread_failed(vm, c),
        ThreadJoined => unit(vm.threads.note_joined(c.int(0) as u32)),
        NextNumber => {
            vm.next_number += 1;
            Ok(vm.next_number as u64 - 1)
        }
        CollectGarbage => unit(vm.collect_garbage()),
        HeapUsed => Ok(vm.heap.used_bytes() as u64),
    }
}

/// The hash of a string.
pub fn string_hash(text: Object) -> u64 {
    strings::hash(bytes_of(text))
}

/// Compares two strings by bytes.
pub fn string_compare(a: Object, b: Object) -> i64 {
    bytes_of(a).cmp(bytes_of(b)) as i64
}

/// Where a string contains another, from a position on.
pub fn string_index_of(whole: Object, part: Object, from: i64) -> i64 {
    // SAFETY: strings hold valid UTF-8.
    let text = |object| unsafe { std::str::from_utf8_unchecked(bytes_of(object)) };
    strings::index_of(text(whole), text(part), from)
}

/// The bytes of a live string.
fn bytes_of<'a>(object: Object) -> &'a [u8] {
    // SAFETY: the elements of a live string lie in a row; the callers hold them no longer than the object.
    unsafe { std::slice::from_raw_parts(object.byte(0), object.length()) }
}
