//! Which bits of an instruction its operands use. All others are zero, so that every instruction has exactly one
//! encoding, and a loader may use the free ones.

use crate::code::Instruction;
use crate::ops::{Kind, Op, OpShape, Place};

/// The bits of the first word that mean something.
pub(crate) fn first_word_mask(op: Op) -> u64 {
    let n = if op.shape() == OpShape::Call { 0xff00 } else { 0 };
    op.operands().iter().fold(0xff | n, |mask, operand| {
        mask | match operand.place {
            Place::A => 0xffff << 16,
            Place::B => 0xffff << 32,
            Place::C => 0xffff << 48,
            Place::BC => 0xffff_ffff << 32,
            Place::N => 0xff << 8,
            Place::X | Place::Rest => 0,
        }
    })
}

/// The lowest bit of an operand in the first word.
pub(crate) fn shift(place: Place) -> u32 {
    match place {
        Place::A => 16,
        Place::B | Place::BC => 32,
        Place::C => 48,
        Place::N => 8,
        Place::X | Place::Rest => 0,
    }
}

/// The instruction always has a second word.
pub(crate) fn has_second_word(op: Op) -> bool {
    match op.shape() {
        OpShape::Wide | OpShape::Branch | OpShape::LoopBranch | OpShape::Switch | OpShape::Call => true,
        OpShape::Plain | OpShape::Jump | OpShape::LoopJump | OpShape::Return | OpShape::Throw => false,
    }
}

/// The second word is not an operand but counters or the machine's.
pub(crate) fn has_machine_word(op: Op) -> bool {
    match op.shape() {
        OpShape::Branch | OpShape::LoopBranch | OpShape::Call => true,
        OpShape::Wide => !op.operands().iter().any(|o| o.place == Place::X),
        _ => false,
    }
}

/// The bits after the last argument of a call.
pub(crate) fn stray_arguments(words: &[u64]) -> u64 {
    match (words[0] >> 8) as u8 % 4 {
        0 => 0,
        used => words.last().map_or(0, |word| word >> (used * 16)),
    }
}

/// All bits that no operand uses are zero, counters and the machine's words aside.
pub(crate) fn is_canonical(i: &Instruction<'_>) -> bool {
    let wide_number =
        i.op.operands().iter().any(|o| {
            o.place == Place::X && matches!(o.kind, Kind::Class | Kind::Interface) && i.x() >> 32 != 0
        });
    i.words[0] & !first_word_mask(i.op) == 0
        && !wide_number
        && (i.op.shape() != OpShape::Call || stray_arguments(i.words) == 0)
}
