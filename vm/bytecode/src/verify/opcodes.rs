//! The opcode table in the form in which the verifier reads it fastest: what is the same for every instruction of an
//! opcode is worked out once, so that most instructions pass with a few loads and masks. It follows from
//! [`Op::operands`] and [`Op::shape`] alone.

use super::encoding;
use crate::ops::{Kind, Op, OpShape, Place, Role};
use crate::types::{ClassId, Shape, Type};
use std::sync::LazyLock;

/// The kinds of register types, one bit each.
pub(super) mod kinds {
    pub const INT: u8 = 1;
    pub const FLOAT: u8 = 2;
    pub const BOOL: u8 = 4;
    pub const NON_NULL: u8 = 8;
    pub const NULLABLE: u8 = 16;
    /// `String`, which is one of the two before as well.
    pub const TEXT: u8 = 32;
    pub const ALL: u8 = 63;
}

/// A register operand: where it is in the first word, which kinds of types it may have.
#[derive(Clone, Copy)]
pub(super) struct RegisterOperand {
    pub shift: u8,
    pub mask: u16,
    pub kinds: u8,
}

impl RegisterOperand {
    /// The register that an instruction's first word names here.
    #[inline]
    pub fn register(&self, word: u64) -> u16 {
        (word >> self.shift) as u16 & self.mask
    }
}

/// What the verifier knows of an opcode.
pub(super) struct OpInfo {
    pub op: Op,
    pub shape: OpShape,
    /// Words of an instruction; 0 if they are counted in it.
    words: usize,
    /// Bits of the first word that are zero.
    pub unused: u64,
    /// The register operands, those that are read first.
    registers: Vec<RegisterOperand>,
    uses: usize,
    /// The operands of kind `Bits` have to agree.
    pub bits_agree: bool,
    /// There are operands that are not registers and have to be checked.
    pub immediates: bool,
    /// There are rules about types.
    pub rules: bool,
    /// The written register is read, too.
    pub counted_loop: bool,
}

impl OpInfo {
    /// All register operands.
    #[inline]
    pub fn registers(&self) -> &[RegisterOperand] {
        &self.registers
    }

    /// Those that are read.
    #[inline]
    pub fn uses(&self) -> &[RegisterOperand] {
        &self.registers[..self.uses]
    }

    /// Those that are written: one at most.
    #[inline]
    pub fn defs(&self) -> &[RegisterOperand] {
        &self.registers[self.uses..]
    }

    /// Words of the instruction that begins with `word`.
    #[inline]
    pub fn length(&self, word: u64) -> usize {
        if self.words != 0 { self.words } else { crate::code::length(word).unwrap_or(1) }
    }

    fn new(op: Op) -> OpInfo {
        let operands = op.operands();
        let with_role = |role| {
            operands.iter().filter(move |o| o.role == role).map(|o| RegisterOperand {
                shift: encoding::shift(o.place) as u8,
                mask: if o.place == Place::N { 0xff } else { 0xffff },
                kinds: match o.kind {
                    Kind::Int => kinds::INT,
                    Kind::Float => kinds::FLOAT,
                    Kind::Bool => kinds::BOOL,
                    Kind::Bits => kinds::INT | kinds::BOOL,
                    Kind::Ref => kinds::NON_NULL | kinds::NULLABLE,
                    Kind::NonNull => kinds::NON_NULL,
                    Kind::Text => kinds::TEXT,
                    _ => kinds::ALL,
                },
            })
        };
        let mut registers: Vec<RegisterOperand> = with_role(Role::Use).collect();
        let uses = registers.len();
        registers.extend(with_role(Role::Def));
        let shape = op.shape();
        let has = |wanted: fn(Kind) -> bool| operands.iter().any(|o| wanted(o.kind));
        OpInfo {
            op,
            shape,
            words: match shape {
                OpShape::Switch | OpShape::Call => 0,
                _ => 1 + encoding::has_second_word(op) as usize,
            },
            unused: !encoding::first_word_mask(op),
            registers,
            uses,
            bits_agree: operands.iter().filter(|o| o.kind == Kind::Bits).count() > 1,
            immediates: operands.iter().any(|o| {
                o.role == Role::Imm
                    && !matches!(o.kind, Kind::Int32 | Kind::Int64 | Kind::Double | Kind::Target)
            }),
            rules: shape == OpShape::Return
                || has(|kind| matches!(kind, Kind::Any | Kind::Ref | Kind::NonNull | Kind::Result)),
            counted_loop: op.is_counted_loop(),
        }
    }
}

static TABLE: LazyLock<Vec<OpInfo>> = LazyLock::new(|| Op::ALL.iter().map(|&op| OpInfo::new(op)).collect());

/// The table, by the numbers of the opcodes.
pub(super) fn table() -> &'static [OpInfo] {
    &TABLE
}

impl OpShape {
    /// Control can go on to the next instruction.
    pub(super) fn falls_through(self) -> bool {
        match self {
            OpShape::Plain | OpShape::Wide | OpShape::Call | OpShape::Branch | OpShape::LoopBranch => true,
            OpShape::Jump | OpShape::LoopJump | OpShape::Switch | OpShape::Return | OpShape::Throw => false,
        }
    }

    /// Control can go elsewhere in the function (handlers aside).
    pub(super) fn has_targets(self) -> bool {
        match self {
            OpShape::Branch | OpShape::LoopBranch | OpShape::Jump | OpShape::LoopJump | OpShape::Switch => {
                true
            }
            OpShape::Plain | OpShape::Wide | OpShape::Call | OpShape::Return | OpShape::Throw => false,
        }
    }

    /// The next instruction begins a basic block.
    pub(super) fn ends_block(self) -> bool {
        !matches!(self, OpShape::Plain | OpShape::Wide | OpShape::Call)
    }
}

/// The kind of a type.
pub(super) fn kind(ty: Type) -> u8 {
    match ty {
        Type::Int => kinds::INT,
        Type::Float => kinds::FLOAT,
        Type::Bool => kinds::BOOL,
        Type::Ref(r) => {
            let text = if r.shape == Shape::Class(ClassId::STRING) { kinds::TEXT } else { 0 };
            text | if r.nullable { kinds::NULLABLE } else { kinds::NON_NULL }
        }
    }
}
