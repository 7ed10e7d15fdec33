//! The recording copy of the interpreter: the plain loop, which tells the recorder of each move of control
//! ([`crate::profiling::Event`]). It runs instead of the handlers while the context's `recording` is set; these are
//! the same machine code as without it, for they look at that word on slow paths only.
//!
//! What a move is follows from the instruction that was executed ([`Class`]) and the flow that its body returns. Slow paths
//! move control, too: a return does its work there when its yieldpoint is taken, calls when they are counted, errors go to
//! handlers, compiled code may run and come back elsewhere. After each of them the loop finds out which it was.

use super::dispatch::{number, resume, step};
use super::machine::{Flow, Machine, Slow};
use super::quick::Quick;
use super::slow::slow_path;
use crate::compiled::frames::Position;
use crate::compiled::hot;
use crate::context::Context;
use crate::loader::STUB_WORDS;
use crate::profiling::{Event, Recorder, Surprise};
use crate::vm::Machinery;
use holloway_bytecode::Op;
use holloway_bytecode::ops::OpShape;

/// Where control goes after an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// On to the next one.
    Straight,
    /// To its target or on.
    Branch,
    /// To its target.
    Jump,
    /// Into a method.
    Call,
    /// Out of its method.
    Return,
}

impl Class {
    const fn of(shape: OpShape) -> Class {
        match shape {
            OpShape::Plain | OpShape::Wide | OpShape::Throw => Class::Straight,
            OpShape::Branch | OpShape::LoopBranch => Class::Branch,
            OpShape::Jump | OpShape::LoopJump | OpShape::Switch => Class::Jump,
            OpShape::Call => Class::Call,
            OpShape::Return => Class::Return,
        }
    }
}

macro_rules! classes_of_ops {
    ($([$variant:ident $mnemonic:literal $shape:ident ($($operand:tt)*)] $doc:literal;)*) => {
        /// By opcode.
        static CLASSES: [Class; 256] = {
            let mut classes = [Class::Straight; 256];
            $(classes[number::$variant as usize] = Class::of(OpShape::$shape);)*
            let mut quick = Quick::Call0.number() as usize;
            while quick <= Quick::CallVirtual4.number() as usize {
                classes[quick] = Class::Call;
                quick += 1;
            }
            // Natives have no frame.
            classes[number::CallNative as usize] = Class::Straight;
            classes
        };
    };
}

holloway_bytecode::for_each_op!(classes_of_ops);

const _: () = assert!(Quick::CallVirtual4 as usize - Quick::Call0 as usize == 8);

/// The opcode of the instruction at the machine's place.
fn opcode(m: &Machine) -> u8 {
    // SAFETY: `pc` points at loaded code.
    unsafe { *m.pc.cast::<u8>() }
}

/// How many more calls may nest in the machine's frame.
fn depth(m: &Machine) -> u64 {
    // SAFETY: a frame has a header.
    unsafe { *m.base.sub(2) }
}

/// The machinery, told where the thread stands: who asks for code may install some, and looks at the stack for what is in use.
///
/// # Safety
/// The context belongs to a live machinery, to which nobody refers while the reference is used.
unsafe fn standing<'a>(m: &Machine) -> &'a mut Machinery {
    // SAFETY: by the caller's promise.
    let vm = unsafe { &mut *(*m.ctx).machine };
    vm.position = Position::Interpreted(m.pc, m.base);
    vm
}

/// The recorder and where the code begins.
struct Tape {
    recorder: *mut Recorder,
    ctx: *mut Context,
    code: usize,
}

impl Tape {
    fn of(m: &Machine) -> Option<Tape> {
        // SAFETY: the context belongs to a live machinery; the reference ends here. The recorder is boxed and lives as long.
        let vm = unsafe { &mut *(*m.ctx).machine };
        let code = vm.code.stub() as usize;
        vm.profiling.recorder.as_deref_mut().map(|recorder| Tape { recorder, ctx: m.ctx, code })
    }

    /// The word of the loaded code at which the machine stands. In front of a method that has compiled code: its first.
    fn word(&self, m: &Machine) -> usize {
        let enters = opcode(m) == Quick::EnterCompiled.number();
        (m.pc as usize - self.code) / 8 + usize::from(enters)
    }

    fn begins(&self, word: usize) -> bool {
        // SAFETY: nobody else refers to the recorder while an instruction is looked at.
        unsafe { (*self.recorder).begins(word) }
    }

    fn tell(&self, event: Event) {
        // SAFETY: as above; the context is live, and nobody else refers to it.
        unsafe { (*self.recorder).event(event, &mut (*self.ctx).blocks) }
    }

    /// A return goes to the end of the block of its call; the instruction after the call may begin another one.
    fn returned(&self, from: usize, to: usize) {
        // Below the first frame of a part of the stack lies a stub: the caller is compiled code, or nobody.
        if to < STUB_WORDS {
            // SAFETY: as above.
            let is_told = unsafe { (*self.recorder).returned_to_compiled(from, &mut (*self.ctx).blocks) };
            if is_told {
                return;
            }
        }
        self.tell(Event::Return { from, to: to - 1 });
        if self.begins(to) {
            self.tell(Event::Fall { to });
        }
    }

    fn take_returned(&self) -> Option<usize> {
        // SAFETY: as above.
        unsafe { (*self.recorder).take_returned() }
    }

    /// The burst that records the running thread, if one does.
    fn recording(&self) -> Option<u64> {
        // SAFETY: as above.
        unsafe { (*self.recorder).recording() }
    }

    fn stays_interpreted(&self) -> bool {
        // SAFETY: as above.
        unsafe { (*self.recorder).stays_interpreted() }
    }

    /// The machine stands where a back edge leads: is there code for the loop that may be entered in the middle of a stretch.
    fn enters_loop(&self, m: &Machine) -> bool {
        // SAFETY: as above; the machinery is live, and the reference ends here.
        unsafe { (*self.recorder).enters_marked() && hot::loop_has_marked_code(standing(m), m.pc) }
    }

    /// The handlers go on where the machine stands, unless another burst has begun.
    fn end(&self, m: &Machine) {
        // SAFETY: as above; the context is live.
        unsafe {
            (*self.recorder).end_way_back();
            (*m.ctx).recording = (*self.recorder).is_on();
            (*m.ctx).resume_pc = m.pc;
            (*m.ctx).resume_base = m.base;
        }
    }

    fn surprise(&self) -> Surprise {
        // SAFETY: as above.
        unsafe { (*self.recorder).take_surprise() }
    }
}

/// [`run`] for handlers, which jump to the next one: they must not have a local whose address is known elsewhere, as the address of what is
/// passed in memory is.
#[inline(never)]
pub fn run_from(pc: *const u64, base: *mut u64, ctx: *mut Context) -> Option<bool> {
    run(Machine { pc, base, ctx })
}

/// Runs the machine, as [`super::run`] does, and records. `None` if there is nothing to record any more: whoever called goes on where
/// the context says.
pub fn run(mut m: Machine) -> Option<bool> {
    let tape = Tape::of(&m)?;
    tape.surprise();
    let mut burst = None;
    loop {
        if burst.is_none() || tape.recording() != burst {
            // The first round; or the burst is over, or was given up for another one, perhaps of this thread again.
            burst = tape.recording();
            if burst.is_none() {
                match go_back(&tape, &mut m) {
                    Back::Found(result) => return result,
                    Back::Records => continue,
                }
            }
            match tape.take_returned() {
                Some(from) => tape.returned(from, tape.word(&m)),
                None => tape.tell(Event::Start { at: tape.word(&m) }),
            }
        }
        let (opcode, from) = (opcode(&m), tape.word(&m));
        let class = CLASSES[opcode as usize];
        match step(&mut m) {
            flow @ (Flow::Next | Flow::Taken) => {
                let to = tape.word(&m);
                match class {
                    Class::Straight if !tape.begins(to) => {}
                    Class::Straight => tape.tell(Event::Fall { to }),
                    Class::Branch if flow == Flow::Next => tape.tell(Event::Fall { to }),
                    Class::Branch | Class::Jump => tape.tell(Event::Jump { from, to }),
                    Class::Call => tape.tell(Event::Call { from, to }),
                    Class::Return => tape.returned(from, to),
                }
                if flow == Flow::Taken
                    && is_back_edge(opcode)
                    && tape.enters_loop(&m)
                    && !slow(&tape, burst, &mut m, Slow::HotLoop)
                {
                    return Some(false);
                }
            }
            Flow::Halt => return Some(true),
            Flow::Slow(why) => {
                let to = tape.word(&m);
                match why {
                    Slow::LoopYieldpoint | Slow::HotLoop => tape.tell(Event::Jump { from, to }),
                    Slow::PrologueYieldpoint => tape.tell(Event::Call { from, to }),
                    _ => {}
                }
                // Entering a loop's code takes its yieldpoint, too.
                let enters = why == Slow::LoopYieldpoint && tape.enters_loop(&m);
                if !slow(&tape, burst, &mut m, if enters { Slow::HotLoop } else { why }) {
                    return Some(false);
                }
            }
        }
    }
}

/// How the way back ended.
enum Back {
    /// It did, with what [`run`] gives.
    Found(Option<bool>),
    /// Another burst has begun.
    Records,
}

/// Nothing is recorded any more: runs the machine until compiled code ran, or none is found.
fn go_back(tape: &Tape, m: &mut Machine) -> Back {
    loop {
        let backwards = is_back_edge(opcode(m));
        let flow = step(m);
        let why = match flow {
            Flow::Halt => {
                tape.end(m);
                return Back::Found(Some(true));
            }
            Flow::Slow(why) => why,
            Flow::Taken if backwards => {
                // SAFETY: as in `Tape::tell`.
                let Some(asks) = (unsafe { (*tape.recorder).tries_back_edge() }) else {
                    tape.end(m);
                    return Back::Found(None);
                };
                // SAFETY: the machinery is live; the reference ends here.
                if !unsafe { hot::loop_has_code(standing(m), m.pc, asks) } {
                    continue;
                }
                Slow::HotLoop
            }
            Flow::Next | Flow::Taken => continue,
        };
        if !slow_path(m.pc, m.base, m.ctx, why) {
            tape.end(m);
            return Back::Found(Some(false));
        }
        resume(m);
        // What it was is old when something is recorded again.
        let surprise = tape.surprise();
        if tape.recording().is_some() {
            return Back::Records;
        }
        if surprise == Surprise::Interrupted {
            tape.end(m);
            return Back::Found(None);
        }
    }
}

/// Is it a branch or a jump back to a loop header.
fn is_back_edge(opcode: u8) -> bool {
    let shape = Op::from_number(opcode).map(Op::shape);
    matches!(shape, Some(OpShape::LoopBranch | OpShape::LoopJump))
}

/// Takes a slow path and tells where it led.
fn slow(tape: &Tape, burst: Option<u64>, m: &mut Machine, why: Slow) -> bool {
    let (from, before) = (tape.word(m), depth(m));
    if why == Slow::Compiled && tape.stays_interpreted() {
        // SAFETY: the method's first instruction is behind the one that enters its compiled code.
        m.pc = unsafe { m.pc.add(1) };
        return true;
    }
    if !slow_path(m.pc, m.base, m.ctx, why) {
        return false;
    }
    resume(m);
    let to = tape.word(m);
    match tape.surprise() {
        // Other threads may have run.
        _ if tape.recording() != burst => {}
        Surprise::Interrupted => tape.tell(Event::Start { at: to }),
        Surprise::Caught => tape.tell(Event::Caught { from, to, frames: depth(m).wrapping_sub(before) }),
        Surprise::None if why == Slow::EpilogueYieldpoint => tape.returned(from, to),
        Surprise::None if why == Slow::GrowStack && depth(m) != before => tape.tell(Event::Call { from, to }),
        Surprise::None if to != from && tape.begins(to) => tape.tell(Event::Fall { to }),
        Surprise::None => {}
    }
    true
}
