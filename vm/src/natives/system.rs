//! Output, arguments, sleep.

use super::{NativeCall, Result, pointer};
use crate::errors::Failure;
use crate::vm::Machinery;
use holloway_bytecode::ErrorKind;
use std::io::Write;
use std::time::Duration;

/// Writes to standard output. Where nobody reads any more, the program goes on without.
pub fn print(vm: &mut Machinery, text: &str) {
    if !vm.output_failed && vm.options.output.write_all(text.as_bytes()).is_err() {
        vm.output_failed = true;
    }
}

/// A command-line argument of the program.
pub fn argument(vm: &mut Machinery, index: i64) -> Result {
    let count = vm.options.arguments.len();
    match usize::try_from(index).ok().filter(|&i| i < count) {
        Some(i) => {
            let text = vm.options.arguments[i].clone();
            pointer(vm.allocate_string(text.as_bytes())?)
        }
        None => Err(Failure::Error(
            ErrorKind::Index,
            format!("argument {index} does not exist: there are {count}"),
        )),
    }
}

/// Notes an error that ended a thread.
pub fn thread_failed(vm: &mut Machinery, call: &NativeCall<'_>) -> Result {
    let error = call.pointer(1);
    let class = vm.class_of(error);
    if !vm.program.error_root.is_some_and(|root| vm.program.is_subclass(class, root)) {
        return Err(Failure::Error(ErrorKind::Value, "the value is not an error".into()));
    }
    vm.threads.note_failed(call.int(0) as u32, error);
    Ok(0)
}

/// Sleeps, at least until the other threads had their turn.
pub fn sleep(vm: &mut Machinery, call: &NativeCall<'_>) -> Result {
    let duration = Duration::from_millis(call.int(0).max(0) as u64);
    crate::threads::sleep(vm, duration);
    Ok(0)
}
