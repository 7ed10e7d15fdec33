//! The verifier: what interpreter, compiler and collector may rely on.
//!
//! A [`VerifiedProgram`] can only be made by [`verify`]. For it, every [`Invariant`] holds: P about the program's
//! tables, F about the form of functions, O about operands, T about types, A about assignment. The list in
//! [`invariants`] is complete; who relies on something else must add it there, with a check and a test.
//!
//! # How
//!
//! Each register has one type in the whole function, so types need no data flow: one pass looks at each instruction
//! by itself (`code` form and targets, `operands` kinds, `rules` what else the opcode asks). Only definite
//! assignment follows paths (`assignment`). The tables come first (`tables`), since all type questions look
//! things up in them. The work is linear in the size of the program but for the states of the flow analysis
//! (blocks times registers, in bits), and nothing is allocated per instruction.
//!
//! # What is not verified
//!
//! * That fields of non-null reference types are written before they are read. New objects are zero; the source
//!   language's rules for `init` guarantee that nobody sees it, hand-written code can. Elements and globals, in
//!   contrast, are checked when they are read.
//! * That a thread is started with an object that can be called, and other demands of natives that no static type
//!   expresses; the natives check them when they run.
//! * That code can be reached. Unreachable code obeys all invariants but A1, which is about paths.

mod assignment;
mod code;
pub(crate) mod encoding;
pub mod invariants;
mod opcodes;
mod operands;
mod rules;
mod tables;

pub use invariants::Invariant;

use crate::program::{Function, Program};
use crate::types::{FunctionId, Type};
use std::fmt;
use std::ops::Deref;

/// Registers a function may have. The interpreter needs some room above them in its 16-bit frame distances.
pub const MAX_REGISTERS: usize = 65_000;
/// Parameters a function may have: as many as a call can pass.
pub const MAX_PARAMS: usize = 255;
/// Words the code of a function may have.
pub const MAX_CODE: usize = 1 << 24;

/// After so many errors the verifier looks no further.
const MAX_ERRORS: usize = 100;

/// A program for which every [`Invariant`] holds.
#[derive(Clone, Debug)]
pub struct VerifiedProgram(Program);

impl VerifiedProgram {
    /// The program, for changing it; the result has to be verified again.
    pub fn into_program(self) -> Program {
        self.0
    }
}

impl Deref for VerifiedProgram {
    type Target = Program;

    fn deref(&self) -> &Program {
        &self.0
    }
}

/// What is wrong with a program, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct VerifyError {
    /// What does not hold.
    pub invariant: Invariant,
    /// The function, unless it is about the tables.
    pub function: Option<FunctionId>,
    /// Name of the function.
    pub name: Box<str>,
    /// The instruction, if it is about one.
    pub pc: Option<u32>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.invariant.name())?;
        if self.function.is_some() {
            write!(f, "function {}", self.name)?;
            if let Some(pc) = self.pc {
                write!(f, " at {pc}")?;
            }
            write!(f, ": ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for VerifyError {}

/// Checks a program; gives it back with the proof, or says what is wrong.
pub fn verify(program: Program) -> Result<VerifiedProgram, Vec<VerifyError>> {
    let errors = check(&program);
    if errors.is_empty() { Ok(VerifiedProgram(program)) } else { Err(errors) }
}

/// What is wrong with a program; nothing if it could be verified.
pub fn check(program: &Program) -> Vec<VerifyError> {
    let mut verifier = Verifier::new(program);
    tables::check(&mut verifier);
    // Type questions are only safe to ask with sound tables.
    if verifier.errors.is_empty() {
        for (i, function) in program.functions.iter().enumerate() {
            verifier.function = Some(FunctionId(i as u32));
            code::check(&mut verifier, function);
            if verifier.errors.len() >= MAX_ERRORS {
                break;
            }
        }
    }
    verifier.errors.truncate(MAX_ERRORS);
    verifier.errors
}

/// The verifier at work.
struct Verifier<'a> {
    program: &'a Program,
    /// The function being checked.
    function: Option<FunctionId>,
    errors: Vec<VerifyError>,
    opcodes: &'static [opcodes::OpInfo],
    scratch: code::Scratch,
    flow: assignment::Flow,
}

impl<'a> Verifier<'a> {
    fn new(program: &'a Program) -> Verifier<'a> {
        Verifier {
            program,
            function: None,
            errors: Vec::new(),
            opcodes: opcodes::table(),
            scratch: code::Scratch::default(),
            flow: assignment::Flow::default(),
        }
    }

    /// Notes an error of the function being checked, or of the tables.
    #[cold]
    #[inline(never)]
    fn error(&mut self, invariant: Invariant, pc: impl Into<Option<usize>>, message: impl Into<String>) {
        let function = self.function.and_then(|id| self.program.functions.get(id.index()));
        self.errors.push(VerifyError {
            invariant,
            function: self.function,
            name: function.map_or_else(Box::default, |f: &Function| f.name.clone()),
            pc: pc.into().map(|pc| pc as u32),
            message: message.into(),
        });
    }

    /// A type for messages.
    fn name(&self, ty: Type) -> String {
        crate::text::type_name(self.program, ty)
    }

    fn fits(&self, ty: Type, target: Type) -> bool {
        ty == target || ty.fits(target, self.program)
    }
}
