//! Walking a stack on which interpreted and compiled frames alternate.
//!
//! A thread's frames lie on two stacks: those of the interpreter on its register stack, those of compiled code on its native
//! stack. Where one kind calls the other there is a [`Crossing`] (on the native stack, linked from the innermost out), so
//! that a walk knows how to go on:
//!
//! ```text
//!   interpreter frames ─ ToCompiled ─► compiled frames ─ ToInterpreter ─► interpreter frames …   (towards the innermost)
//! ```

use super::map::CodeMap;
use super::stubs;
use crate::interpreter::machine::FRAME_HEADER;
use crate::live::Standing;
use crate::loader::LoadedCode;
use holloway_bytecode::FunctionId;

/// Where a thread stands.
#[derive(Clone, Copy, Debug)]
pub enum Position {
    /// In the interpreter: the instruction and the frame.
    Interpreted(*const u64, *mut u64),
    /// In a helper that compiled code called: its frame pointer, and its place ([`place`]).
    Compiled(*const u64, u64),
    /// Between compiled code that calls and the interpreter that is to run the callee: frame pointer of the stub.
    Stub(*const u64),
}

/// A call from one tier into the other.
#[derive(Clone, Copy, Debug)]
pub struct Crossing {
    /// The next one outwards, or null.
    pub previous: *const Crossing,
    /// Which way.
    pub kind: CrossingKind,
}

/// Which way a crossing goes.
#[derive(Clone, Copy, Debug)]
pub enum CrossingKind {
    /// Compiled code runs in the place of an interpreter frame, whose registers are out of date: distances of the frame's base and of the end
    /// of the registers in use from the beginning of the register stack, in words.
    ToCompiled {
        /// Base of the frame.
        base: usize,
        /// Where the next frames may begin.
        top: usize,
    },
    /// The interpreter runs for a caller that is compiled: frame pointer of the stub between them.
    ToInterpreter {
        /// Its `[0]` is the caller's frame pointer, its `[1]` the return address.
        frame: *const u64,
        /// Where the segment of register stack begins, in words.
        start: usize,
    },
}

/// A frame that a walk meets.
#[derive(Clone, Copy, Debug)]
pub enum Frame {
    /// Of the interpreter: instruction, base, and how it stands.
    Interpreted(*const u64, *mut u64, Standing),
    /// Of compiled code, or inlined there: the function and its instruction.
    Compiled(FunctionId, u32),
}

/// A site of a piece of code as one number.
pub fn place(code: u32, site: u32) -> u64 {
    (code as u64) << 32 | site as u64
}

/// Calls `with` for each frame of a thread, from the innermost out, until it says false.
///
/// # Safety
/// `position`, `crossing` and `stack_start` are those of one suspended or running thread.
pub unsafe fn walk(
    code: &LoadedCode,
    map: &CodeMap,
    stack_start: *mut u64,
    position: Position,
    mut crossing: *const Crossing,
    with: &mut dyn FnMut(Frame) -> bool,
) {
    /// Where the walk is.
    enum At {
        Interpreter(*const u64, *mut u64, Standing),
        /// Outside of the native frame with this frame pointer.
        Native(*const u64),
    }
    let site_frames = |place: u64, with: &mut dyn FnMut(Frame) -> bool| {
        let Some(object) = map.at(place) else { return true };
        object.site(place as u32).frames.iter().all(|f| with(Frame::Compiled(f.function, f.pc)))
    };
    let mut at = match position {
        Position::Interpreted(pc, base) => At::Interpreter(pc, base, Standing::Innermost),
        Position::Compiled(frame, place) => {
            if !site_frames(place, with) {
                return;
            }
            At::Native(frame)
        }
        Position::Stub(frame) => At::Native(frame),
    };
    loop {
        at = match at {
            At::Interpreter(pc, base, standing) if pc != code.stub() => {
                if !with(Frame::Interpreted(pc, base, standing)) {
                    return;
                }
                let (pc, base) = code.caller(base);
                At::Interpreter(pc, base, Standing::Calling)
            }
            At::Interpreter(..) => {
                // SAFETY: crossings live on the thread's native stack as long as what they stand for.
                let Some(inner) = (unsafe { crossing.as_ref() }) else { return };
                crossing = inner.previous;
                match inner.kind {
                    CrossingKind::ToInterpreter { frame, .. } => At::Native(frame),
                    CrossingKind::ToCompiled { .. } => return,
                }
            }
            At::Native(frame) => {
                // SAFETY: compiled code keeps frame pointers: below it the caller's, above it the return address.
                let (caller, returns) = unsafe { (*frame as *const u64, *frame.add(1) as *const u8) };
                if returns == stubs::enter_return() {
                    // SAFETY: as above.
                    let Some(inner) = (unsafe { crossing.as_ref() }) else { return };
                    crossing = inner.previous;
                    match inner.kind {
                        CrossingKind::ToCompiled { base, .. } => {
                            let (pc, base) = code.caller(stack_start.wrapping_add(base));
                            At::Interpreter(pc, base, Standing::Calling)
                        }
                        CrossingKind::ToInterpreter { .. } => return,
                    }
                } else {
                    let Some(object) = map.find(returns) else { return };
                    let Some(call) = object.call(returns) else { return };
                    if !site_frames(place(object.id.0, call.site), with) {
                        return;
                    }
                    At::Native(caller)
                }
            }
        };
    }
}

/// Calls `with` for each native frame that returns into compiled code: the place of its return address, and that address.
///
/// # Safety
/// As [`walk`].
pub unsafe fn return_addresses(
    position: Position,
    mut crossing: *const Crossing,
    with: &mut dyn FnMut(*mut u64, *const u8),
) {
    let mut native = match position {
        Position::Interpreted(..) => None,
        Position::Compiled(frame, _) | Position::Stub(frame) => Some(frame),
    };
    loop {
        while let Some(frame) = native {
            // SAFETY: as in `walk`.
            let (caller, returns) = unsafe { (*frame as *const u64, *frame.add(1) as *const u8) };
            if returns == stubs::enter_return() {
                native = None;
            } else {
                with(frame.wrapping_add(1).cast_mut(), returns);
                native = Some(caller);
            }
        }
        // SAFETY: as in `walk`.
        let Some(inner) = (unsafe { crossing.as_ref() }) else { return };
        crossing = inner.previous;
        if let CrossingKind::ToInterpreter { frame, .. } = inner.kind {
            native = Some(frame);
        }
    }
}

/// Words of the register stack in use, given the innermost crossing into compiled code.
pub fn free_words(crossing: *const Crossing) -> usize {
    // SAFETY: as in `walk`.
    match unsafe { crossing.as_ref() }.map(|c| c.kind) {
        Some(CrossingKind::ToCompiled { top, .. }) => top,
        Some(CrossingKind::ToInterpreter { start, .. }) => start + FRAME_HEADER,
        None => 0,
    }
}
