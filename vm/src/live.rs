//! Which registers of a frame the collector must look at: those that hold references and will still be read. So a variable
//! that is out of use does not keep its object, however long its function runs.
//!
//! Found by [`Liveness`], once for each place at which a frame was ever seen. Native stacks are scanned conservatively all the same:
//! natives and compiled code keep references wherever they like.

use crate::hash::FixedMap;
use crate::loader::LoadedCode;
use holloway_bytecode::cfg::Liveness;
use holloway_bytecode::{FunctionId, Program};

/// Where a frame stands in its function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// Before or in the middle of an instruction: it is the innermost frame.
    Innermost,
    /// In a call that made another frame.
    Calling,
}

/// What was found so far.
#[derive(Default)]
pub struct LiveRegisters {
    /// For each function that was analysed: its liveness, or nothing if it is too large.
    functions: FixedMap<FunctionId, Option<Liveness>>,
    /// The registers to look at, by code address; the lowest bit tells frames that call from innermost ones.
    places: FixedMap<usize, Box<[u16]>>,
}

impl LiveRegisters {
    /// The registers that refer to objects and are live in a frame at `pc`.
    pub fn at(&mut self, program: &Program, code: &LoadedCode, pc: *const u64, standing: Standing) -> &[u16] {
        let key = pc as usize | (standing == Standing::Calling) as usize;
        let functions = &mut self.functions;
        self.places.entry(key).or_insert_with(|| find(program, code, functions, pc, standing))
    }
}

fn find(
    program: &Program,
    code: &LoadedCode,
    functions: &mut FixedMap<FunctionId, Option<Liveness>>,
    pc: *const u64,
    standing: Standing,
) -> Box<[u16]> {
    let Some((id, at)) = code.locate(pc) else { return Box::new([]) };
    let function = &program.functions[id.index()];
    let liveness = functions.entry(id).or_insert_with(|| Liveness::of_function(program, function));
    let live = liveness.as_ref().map(|liveness| match standing {
        Standing::Innermost => liveness.before(program, function, at),
        Standing::Calling => liveness.across(program, function, at),
    });
    let references = function.registers.iter().zip(0u16..).filter(|(ty, _)| ty.is_ref());
    references
        .map(|(_, register)| register)
        .filter(|&register| {
            live.as_ref().is_none_or(|live| live.contains(holloway_bytecode::Register(register)))
        })
        .collect()
}
