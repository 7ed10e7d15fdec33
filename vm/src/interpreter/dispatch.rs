//! From one instruction to the next: handlers that jump to each other, or a loop around a `match`. Both are generated
//! from the opcode table and call the same bodies.
//!
//! A handler keeps program counter, frame, context and handler table in argument registers, does its body, and ends in a call
//! with the same arguments, which LLVM turns into a jump. That needs care: no value with a destructor, no address of
//! a local that escapes, the same signature everywhere. `tests/dispatch.rs` watches the native stack while loops run.

use super::bodies;
use super::machine::{Flow, Machine, Slow};
use super::quick::Quick;
use super::{record, slow};
use crate::context::Context;
use holloway_bytecode::Op;

/// How the interpreter gets from one instruction to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dispatch {
    /// Handlers that jump to each other (a loop in builds without optimization).
    Tail,
    /// A loop around a `match`.
    Loop,
}

impl Default for Dispatch {
    fn default() -> Self {
        if cfg!(tail_dispatch) { Dispatch::Tail } else { Dispatch::Loop }
    }
}

/// Runs the machine until its thread's first function returns (true) or an error or a stop leaves it (false; the machinery
/// knows which).
///
/// # Safety
/// `machine` must satisfy what [`super::machine`] states: verified and loaded code, a frame on the running thread's stack.
pub unsafe fn run(mut machine: Machine, dispatch: Dispatch) -> bool {
    if records(machine.ctx) {
        if let Some(returned) = record::run(machine) {
            return returned;
        }
        resume(&mut machine);
    }
    #[cfg(tail_dispatch)]
    if dispatch == Dispatch::Tail {
        return tail::start(machine);
    }
    let _ = dispatch;
    run_loop(machine)
}

/// Is the running thread recorded. Asked where code is entered and after slow paths only.
fn records(ctx: *mut Context) -> bool {
    // SAFETY: the context is live while code runs in it.
    unsafe { (*ctx).recording }
}

/// What a slow path said: go on at the context's `resume_pc`.
pub(super) fn resume(machine: &mut Machine) {
    // SAFETY: the context is live while code runs in it.
    unsafe {
        machine.pc = (*machine.ctx).resume_pc;
        machine.base = (*machine.ctx).resume_base;
    }
}

#[cfg(tail_dispatch)]
mod tail {
    use super::*;

    type Handler = extern "C" fn(*const u64, *mut u64, *mut Context, &'static Table) -> bool;

    pub struct Table([Handler; 256]);

    pub fn start(machine: Machine) -> bool {
        next(machine, &TABLE)
    }

    /// Jumps to the handler of the instruction at `pc`.
    #[inline(always)]
    fn next(m: Machine, table: &'static Table) -> bool {
        // SAFETY: `pc` points at loaded code.
        let op = unsafe { *m.pc.cast::<u8>() };
        table.0[op as usize](m.pc, m.base, m.ctx, table)
    }

    /// Never inlined: a handler that contains a call that returns saves registers on its fast path, too.
    #[cold]
    #[inline(never)]
    extern "C" fn leave(
        pc: *const u64,
        base: *mut u64,
        ctx: *mut Context,
        table: &'static Table,
        why: Slow,
    ) -> bool {
        if !slow::slow_path(pc, base, ctx, why) {
            return false;
        }
        // No local whose address is taken: the call of the next handler must be a jump.
        // SAFETY: the context is live while code runs.
        let (pc, base) = unsafe { ((*ctx).resume_pc, (*ctx).resume_base) };
        if records(ctx) {
            return recorded(pc, base, ctx, table);
        }
        next(Machine { pc, base, ctx }, table)
    }

    /// Records for as long as that is wanted.
    #[cold]
    #[inline(never)]
    extern "C" fn recorded(pc: *const u64, base: *mut u64, ctx: *mut Context, table: &'static Table) -> bool {
        if let Some(returned) = record::run_from(pc, base, ctx) {
            return returned;
        }
        // SAFETY: as above.
        let (pc, base) = unsafe { ((*ctx).resume_pc, (*ctx).resume_base) };
        next(Machine { pc, base, ctx }, table)
    }

    macro_rules! handler {
        ($name:ident) => {
            #[allow(non_snake_case)]
            pub extern "C" fn $name(
                pc: *const u64,
                base: *mut u64,
                ctx: *mut Context,
                table: &'static Table,
            ) -> bool {
                let mut m = Machine { pc, base, ctx };
                match bodies::$name(&mut m) {
                    Flow::Next => next(m, table),
                    Flow::Taken => next(m, table),
                    Flow::Slow(why) => leave(m.pc, m.base, m.ctx, table, why),
                    Flow::Halt => true,
                }
            }
        };
    }

    mod handlers {
        use super::*;
        macro_rules! handlers {
            ($([$variant:ident $mnemonic:literal $shape:ident ($($operand:tt)*)] $doc:literal;)*) => {
                $(handler!($variant);)*
                pub const OPS: &[Handler] = &[$($variant),*];
            };
        }
        macro_rules! quick_handlers {
            ($($name:ident $doc:literal;)*) => {
                $(handler!($name);)*
                pub const QUICK: &[Handler] = &[$($name),*];
            };
        }
        holloway_bytecode::for_each_op!(handlers);
        crate::for_each_quick!(quick_handlers);

        /// What no loaded code contains.
        pub extern "C" fn missing(_: *const u64, _: *mut u64, _: *mut Context, _: &'static Table) -> bool {
            unreachable!("an opcode that does not exist")
        }
    }

    static TABLE: Table = {
        let mut table: [Handler; 256] = [handlers::missing; 256];
        let mut i = 0;
        while i < handlers::OPS.len() {
            table[i] = handlers::OPS[i];
            i += 1;
        }
        let mut j = 0;
        while j < handlers::QUICK.len() {
            table[i + j] = handlers::QUICK[j];
            j += 1;
        }
        Table(table)
    };
}

/// The numbers of all opcodes under one roof.
#[allow(non_upper_case_globals)]
pub(super) mod number {
    use super::{Op, Quick};
    macro_rules! op_numbers {
        ($([$variant:ident $mnemonic:literal $shape:ident ($($operand:tt)*)] $doc:literal;)*) => {
            $(pub const $variant: u8 = Op::$variant as u8;)*
        };
    }
    macro_rules! quick_numbers {
        ($($name:ident $doc:literal;)*) => { $(pub const $name: u8 = Quick::$name.number();)* };
    }
    holloway_bytecode::for_each_op!(op_numbers);
    crate::for_each_quick!(quick_numbers);
}

macro_rules! step_ops {
    ($([$variant:ident $mnemonic:literal $shape:ident ($($operand:tt)*)] $doc:literal;)*) => {
        /// One instruction by `match`.
        #[inline(always)]
        pub(super) fn step(m: &mut Machine) -> Flow {
            // SAFETY: `pc` points at loaded code.
            match unsafe { *m.pc.cast::<u8>() } {
                $(number::$variant => bodies::$variant(m),)*
                quick => step_quick(quick, m),
            }
        }
    };
}

macro_rules! step_quick {
    ($($name:ident $doc:literal;)*) => {
        #[inline(always)]
        fn step_quick(op: u8, m: &mut Machine) -> Flow {
            match op {
                $(number::$name => bodies::$name(m),)*
                _ => unreachable!("an opcode that does not exist"),
            }
        }
    };
}

holloway_bytecode::for_each_op!(step_ops);
crate::for_each_quick!(step_quick);

fn run_loop(mut m: Machine) -> bool {
    loop {
        match step(&mut m) {
            Flow::Next | Flow::Taken => {}
            Flow::Halt => return true,
            Flow::Slow(why) => {
                if !slow::slow_path(m.pc, m.base, m.ctx, why) {
                    return false;
                }
                resume(&mut m);
                if records(m.ctx) {
                    if let Some(returned) = record::run(m) {
                        return returned;
                    }
                    resume(&mut m);
                }
            }
        }
    }
}
