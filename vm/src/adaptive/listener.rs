//! The method listener: at a tick of the timer, which compiled method runs, and in which code. It allocates nothing.
//!
//! Ticks that find the interpreter say nothing new: its counters know what it did, and have been asked already
//! ([`super::controller`]).

use crate::compiled::frames::Position;
use crate::compiled::{Entry, Level};
use crate::vm::Machinery;
use holloway_bytecode::FunctionId;

/// A method that ran when the timer ticked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// The method that was compiled, whatever was inlined.
    pub function: FunctionId,
    /// Where its code is entered: who is in a loop may never come to the method's own code.
    pub entry: Entry,
    /// How it was compiled.
    pub level: Level,
}

/// The method that the running thread is in, if that is compiled.
pub(crate) fn sample(vm: &Machinery) -> Option<Sample> {
    let Position::Compiled(_, place) = vm.position else { return None };
    let code = vm.compiled.map().at(place)?;
    Some(Sample { function: code.function, entry: code.entry, level: code.level })
}
