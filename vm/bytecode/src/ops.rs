//! The opcode table: every instruction, once. The enum, the operand descriptions that drive encoder, decoder, text
//! form and verifier, and (in the virtual machine) the interpreter's handlers are all generated from
//! [`for_each_op!`](crate::for_each_op).
//!
//! # Encoding
//!
//! An instruction is one or more 64-bit words. The first holds, from the low end,
//! `op: u8 | n: u8 | a: u16 | b: u16 | c: u16`; `bc` is `b` and `c` together as one 32-bit number (`b` low).
//!
//! | shape | words after the first |
//! |---|---|
//! | `Plain`, `Jump`, `LoopJump`, `Return`, `Throw` | none |
//! | `Wide` | a 64-bit constant `x` |
//! | `Branch`, `LoopBranch` | counters: `not taken: u32` (low), `taken: u32` |
//! | `Switch` | `x`, the lowest case; then for each of the `c` cases and the default `target: i32` (low), `counter: u32` |
//! | `Call` | a word for the virtual machine's use; then the `n` arguments, four 16-bit registers a word |
//!
//! Targets are relative to the first word of their own instruction, in words. In a program at rest, counters and the
//! machine's words are zero.
//!
//! `Loop…` shapes are the back edges: they hold the yieldpoint of the loop header that they go to, executed when taken.
//! Calls hold the yieldpoint of the callee's prologue, returns that of the epilogue.
//!
//! # Operands
//!
//! Each operand is `role kind field`. `def` and `use` name registers of the given kind of type; `imm` is
//! anything else.

/// What kind of words follow the first one, and where control goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpShape {
    /// One word; control goes on.
    Plain,
    /// One word and a constant; control goes on.
    Wide,
    /// One word and counters; control goes on or to the target in `c`.
    Branch,
    /// As `Branch`, backwards, with a yieldpoint when taken.
    LoopBranch,
    /// One word; control goes to the target in `bc`.
    Jump,
    /// As `Jump`, backwards, with a yieldpoint.
    LoopJump,
    /// A table of targets.
    Switch,
    /// Arguments; control goes on after the callee returns.
    Call,
    /// One word; leaves the function.
    Return,
    /// One word; goes to a handler.
    Throw,
}

/// What an operand does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Writes a register.
    Def,
    /// Reads a register.
    Use,
    /// Not a register.
    Imm,
}

/// What an operand is: a kind of register type, or a kind of constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Register of type `Int`.
    Int,
    /// Register of type `Float`.
    Float,
    /// Register of type `Bool`.
    Bool,
    /// Register of type `Int` or `Bool` (all such operands of an instruction the same).
    Bits,
    /// Register of any reference type.
    Ref,
    /// Register of a non-null reference type.
    NonNull,
    /// Register of type `String`, null or not.
    Text,
    /// Register of any type.
    Any,
    /// Signed 16-bit constant.
    Int16,
    /// Signed 32-bit constant.
    Int32,
    /// 0 or 1.
    Flag,
    /// 64-bit integer constant.
    Int64,
    /// Double constant.
    Double,
    /// Branch target.
    Target,
    /// Number of cases of a switch (they follow).
    Cases,
    /// Class.
    Class,
    /// Interface.
    Interface,
    /// Field number of the class of the object operand.
    Field,
    /// String constant.
    String,
    /// Global variable.
    Global,
    /// Function.
    Function,
    /// Slot of the method table of the receiver's class.
    Slot,
    /// Interface (high half of `bc`, that is `c`) and the number of its method (`b`).
    InterfaceMethod,
    /// Native.
    Native,
    /// The arguments of a call.
    Args,
    /// The result of a call: a register, or nothing if the callee has no result.
    Result,
}

/// Where an operand is encoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Place {
    A,
    B,
    C,
    BC,
    /// The byte beside the opcode; a register here is below 256.
    N,
    X,
    Rest,
}

/// An operand of an opcode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand {
    /// What it does.
    pub role: Role,
    /// What it is.
    pub kind: Kind,
    /// Where it is.
    pub place: Place,
}

/// Calls `$callback!` with the opcode table: `[Variant "mnemonic" Shape (role Kind Place, …)] "what it does";`.
#[macro_export]
macro_rules! for_each_op {
    ($callback:ident) => { $callback! {
        // Moves and constants.
        [Mov "mov" Plain (def Any A, use Any B)] "a = b; the type of b fits that of a";
        [LoadInt "ldi" Plain (def Int A, imm Int32 BC)] "a = the constant";
        [LoadBool "ldb" Plain (def Bool A, imm Flag BC)] "a = the constant";
        [LoadInt64 "ldi64" Wide (def Int A, imm Int64 X)] "a = the constant";
        [LoadFloat "ldf" Wide (def Float A, imm Double X)] "a = the constant";
        [LoadNull "ldnull" Plain (def Ref A)] "a = null; a's type is nullable";
        [LoadString "ldstr" Plain (def NonNull A, imm String BC)] "a = the string constant";
        [LoadGlobal "ldg" Plain (def Any A, imm Global BC)] "a = the global; `Unset` error if its type is a non-null reference and it is null";
        [StoreGlobal "stg" Plain (use Any A, imm Global BC)] "the global = a";

        // Integers.
        [Add "add" Plain (def Int A, use Int B, use Int C)] "a = b + c, wrapping";
        [Sub "sub" Plain (def Int A, use Int B, use Int C)] "a = b - c, wrapping";
        [Mul "mul" Plain (def Int A, use Int B, use Int C)] "a = b * c, wrapping";
        [Div "div" Plain (def Int A, use Int B, use Int C)] "a = b / c toward zero; `Division` error if c is 0";
        [Rem "rem" Plain (def Int A, use Int B, use Int C)] "a = b - b / c * c; `Division` error if c is 0";
        [And "and" Plain (def Int A, use Int B, use Int C)] "a = b & c";
        [Or "or" Plain (def Int A, use Int B, use Int C)] "a = b | c";
        [Xor "xor" Plain (def Int A, use Int B, use Int C)] "a = b ^ c";
        [Shl "shl" Plain (def Int A, use Int B, use Int C)] "a = b << (c mod 64)";
        [Shr "shr" Plain (def Int A, use Int B, use Int C)] "a = b >> (c mod 64), arithmetic";
        [Ushr "ushr" Plain (def Int A, use Int B, use Int C)] "a = b >>> (c mod 64), logical";
        [AddI "addi" Plain (def Int A, use Int B, imm Int16 C)] "a = b + constant";
        [RSubI "rsubi" Plain (def Int A, use Int B, imm Int16 C)] "a = constant - b";
        [MulI "muli" Plain (def Int A, use Int B, imm Int16 C)] "a = b * constant";
        [DivI "divi" Plain (def Int A, use Int B, imm Int16 C)] "a = b / constant; the constant is not 0";
        [RemI "remi" Plain (def Int A, use Int B, imm Int16 C)] "a = b mod constant; the constant is not 0";
        [AndI "andi" Plain (def Int A, use Int B, imm Int16 C)] "a = b & constant";
        [OrI "ori" Plain (def Int A, use Int B, imm Int16 C)] "a = b | constant";
        [XorI "xori" Plain (def Int A, use Int B, imm Int16 C)] "a = b ^ constant";
        [ShlI "shli" Plain (def Int A, use Int B, imm Int16 C)] "a = b << (constant mod 64)";
        [ShrI "shri" Plain (def Int A, use Int B, imm Int16 C)] "a = b >> (constant mod 64), arithmetic";
        [UshrI "ushri" Plain (def Int A, use Int B, imm Int16 C)] "a = b >>> (constant mod 64), logical";

        // Doubles.
        [FAdd "fadd" Plain (def Float A, use Float B, use Float C)] "a = b + c";
        [FSub "fsub" Plain (def Float A, use Float B, use Float C)] "a = b - c";
        [FMul "fmul" Plain (def Float A, use Float B, use Float C)] "a = b * c";
        [FDiv "fdiv" Plain (def Float A, use Float B, use Float C)] "a = b / c";
        // Two operations in one, each rounded. Arithmetic comes in chains, and each link costs a dispatch and a trip through memory.
        [FAddAdd "faddadd" Plain (def Float A, use Float B, use Float C, use Float N)] "a = (b + c) + d";
        [FAddSub "faddsub" Plain (def Float A, use Float B, use Float C, use Float N)] "a = (b + c) - d";
        [FAddMul "faddmul" Plain (def Float A, use Float B, use Float C, use Float N)] "a = (b + c) * d";
        [FSubAdd "fsubadd" Plain (def Float A, use Float B, use Float C, use Float N)] "a = (b - c) + d";
        [FSubSub "fsubsub" Plain (def Float A, use Float B, use Float C, use Float N)] "a = (b - c) - d";
        [FSubMul "fsubmul" Plain (def Float A, use Float B, use Float C, use Float N)] "a = (b - c) * d";
        [FMulAdd "fmuladd" Plain (def Float A, use Float B, use Float C, use Float N)] "a = (b * c) + d, rounded twice";
        [FMulSub "fmulsub" Plain (def Float A, use Float B, use Float C, use Float N)] "a = (b * c) - d, rounded twice";
        [FMulMul "fmulmul" Plain (def Float A, use Float B, use Float C, use Float N)] "a = (b * c) * d";
        [FMulRSub "fmulrsub" Plain (def Float A, use Float B, use Float C, use Float N)] "a = d - (b * c), rounded twice";
        [FNeg "fneg" Plain (def Float A, use Float B)] "a = -b";
        [FAbs "fabs" Plain (def Float A, use Float B)] "a = |b|";
        [FSqrt "fsqrt" Plain (def Float A, use Float B)] "a = square root of b";
        [IntToFloat "itof" Plain (def Float A, use Int B)] "a = b, rounded to nearest";
        [FloatToInt "ftoi" Plain (def Int A, use Float B)] "a = b toward zero, saturated; NaN is 0";

        // Booleans.
        [Not "not" Plain (def Bool A, use Bool B)] "a = !b";
        [SetEq "seteq" Plain (def Bool A, use Bits B, use Bits C)] "a = b == c";
        [SetNe "setne" Plain (def Bool A, use Bits B, use Bits C)] "a = b != c";
        [SetLt "setlt" Plain (def Bool A, use Int B, use Int C)] "a = b < c";
        [SetLe "setle" Plain (def Bool A, use Int B, use Int C)] "a = b <= c";
        [FSetEq "fseteq" Plain (def Bool A, use Float B, use Float C)] "a = b == c";
        [FSetNe "fsetne" Plain (def Bool A, use Float B, use Float C)] "a = b != c";
        [FSetLt "fsetlt" Plain (def Bool A, use Float B, use Float C)] "a = b < c";
        [FSetLe "fsetle" Plain (def Bool A, use Float B, use Float C)] "a = b <= c";
        [RSetEq "rseteq" Plain (def Bool A, use Ref B, use Ref C)] "a = b and c are the same object";
        [RSetNe "rsetne" Plain (def Bool A, use Ref B, use Ref C)] "a = b and c are not the same object";
        [SSetEq "sseteq" Plain (def Bool A, use Text B, use Text C)] "a = the same text, or both null";
        [SSetNe "ssetne" Plain (def Bool A, use Text B, use Text C)] "a = not the same text";
        [SetNull "setnull" Plain (def Bool A, use Ref B)] "a = b is null";
        [SetNonNull "setnonnull" Plain (def Bool A, use Ref B)] "a = b is not null";

        // Branches forward.
        [BrTrue "brt" Branch (use Bool A, imm Target C)] "branch if a";
        [BrFalse "brf" Branch (use Bool A, imm Target C)] "branch if not a";
        [BrEq "breq" Branch (use Bits A, use Bits B, imm Target C)] "branch if a == b";
        [BrNe "brne" Branch (use Bits A, use Bits B, imm Target C)] "branch if a != b";
        [BrLt "brlt" Branch (use Int A, use Int B, imm Target C)] "branch if a < b";
        [BrLe "brle" Branch (use Int A, use Int B, imm Target C)] "branch if a <= b";
        [BrEqI "breqi" Branch (use Int A, imm Int16 B, imm Target C)] "branch if a == constant";
        [BrNeI "brnei" Branch (use Int A, imm Int16 B, imm Target C)] "branch if a != constant";
        [BrLtI "brlti" Branch (use Int A, imm Int16 B, imm Target C)] "branch if a < constant";
        [BrLeI "brlei" Branch (use Int A, imm Int16 B, imm Target C)] "branch if a <= constant";
        [BrGtI "brgti" Branch (use Int A, imm Int16 B, imm Target C)] "branch if a > constant";
        [BrGeI "brgei" Branch (use Int A, imm Int16 B, imm Target C)] "branch if a >= constant";
        [FBrEq "fbreq" Branch (use Float A, use Float B, imm Target C)] "branch if a == b";
        [FBrNe "fbrne" Branch (use Float A, use Float B, imm Target C)] "branch if a != b";
        [FBrLt "fbrlt" Branch (use Float A, use Float B, imm Target C)] "branch if a < b";
        [FBrLe "fbrle" Branch (use Float A, use Float B, imm Target C)] "branch if a <= b";
        [FBrNlt "fbrnlt" Branch (use Float A, use Float B, imm Target C)] "branch if not a < b";
        [FBrNle "fbrnle" Branch (use Float A, use Float B, imm Target C)] "branch if not a <= b";
        [RBrEq "rbreq" Branch (use Ref A, use Ref B, imm Target C)] "branch if the same object";
        [RBrNe "rbrne" Branch (use Ref A, use Ref B, imm Target C)] "branch if not the same object";
        [SBrEq "sbreq" Branch (use Text A, use Text B, imm Target C)] "branch if the same text, or both null";
        [SBrNe "sbrne" Branch (use Text A, use Text B, imm Target C)] "branch if not the same text";
        [BrNull "brnull" Branch (use Ref A, imm Target C)] "branch if a is null";
        [BrNonNull "brnonnull" Branch (use Ref A, imm Target C)] "branch if a is not null";

        // The same, backwards.
        [LoopTrue "loopt" LoopBranch (use Bool A, imm Target C)] "loop if a";
        [LoopFalse "loopf" LoopBranch (use Bool A, imm Target C)] "loop if not a";
        [LoopEq "loopeq" LoopBranch (use Bits A, use Bits B, imm Target C)] "loop if a == b";
        [LoopNe "loopne" LoopBranch (use Bits A, use Bits B, imm Target C)] "loop if a != b";
        [LoopLt "looplt" LoopBranch (use Int A, use Int B, imm Target C)] "loop if a < b";
        [LoopLe "loople" LoopBranch (use Int A, use Int B, imm Target C)] "loop if a <= b";
        [LoopEqI "loopeqi" LoopBranch (use Int A, imm Int16 B, imm Target C)] "loop if a == constant";
        [LoopNeI "loopnei" LoopBranch (use Int A, imm Int16 B, imm Target C)] "loop if a != constant";
        [LoopLtI "looplti" LoopBranch (use Int A, imm Int16 B, imm Target C)] "loop if a < constant";
        [LoopLeI "looplei" LoopBranch (use Int A, imm Int16 B, imm Target C)] "loop if a <= constant";
        [LoopGtI "loopgti" LoopBranch (use Int A, imm Int16 B, imm Target C)] "loop if a > constant";
        [LoopGeI "loopgei" LoopBranch (use Int A, imm Int16 B, imm Target C)] "loop if a >= constant";
        [FLoopEq "floopeq" LoopBranch (use Float A, use Float B, imm Target C)] "loop if a == b";
        [FLoopNe "floopne" LoopBranch (use Float A, use Float B, imm Target C)] "loop if a != b";
        [FLoopLt "flooplt" LoopBranch (use Float A, use Float B, imm Target C)] "loop if a < b";
        [FLoopLe "floople" LoopBranch (use Float A, use Float B, imm Target C)] "loop if a <= b";
        [FLoopNlt "floopnlt" LoopBranch (use Float A, use Float B, imm Target C)] "loop if not a < b";
        [FLoopNle "floopnle" LoopBranch (use Float A, use Float B, imm Target C)] "loop if not a <= b";
        [RLoopEq "rloopeq" LoopBranch (use Ref A, use Ref B, imm Target C)] "loop if the same object";
        [RLoopNe "rloopne" LoopBranch (use Ref A, use Ref B, imm Target C)] "loop if not the same object";
        [SLoopEq "sloopeq" LoopBranch (use Text A, use Text B, imm Target C)] "loop if the same text, or both null";
        [SLoopNe "sloopne" LoopBranch (use Text A, use Text B, imm Target C)] "loop if not the same text";
        [LoopNull "loopnull" LoopBranch (use Ref A, imm Target C)] "loop if a is null";
        [LoopNonNull "loopnonnull" LoopBranch (use Ref A, imm Target C)] "loop if a is not null";

        // Counted loops: step, compare and branch in one.
        [ForLt "forlt" LoopBranch (def Int A, use Int B, imm Target C)] "a = a + 1; loop if a < b (a is read, too)";
        [ForLe "forle" LoopBranch (def Int A, use Int B, imm Target C)] "if a < b: a = a + 1 and loop (a is read, too)";
        [ForLtI "forlti" LoopBranch (def Int A, imm Int16 B, imm Target C)] "a = a + 1; loop if a < constant (a is read, too)";
        [ForLeI "forlei" LoopBranch (def Int A, imm Int16 B, imm Target C)] "if a < constant: a = a + 1 and loop (a is read, too)";

        [Jump "jump" Jump (imm Target BC)] "go to the target";
        [LoopJump "loop" LoopJump (imm Target BC)] "go back to the target";
        [Switch "switch" Switch (use Int A, imm Cases C, imm Int64 X)] "go to the case a - x, or to the default";

        // Objects.
        [New "new" Wide (def NonNull A, imm Class BC)] "a = a new instance, all fields zero (x is the machine's)";
        [GetField "getf" Plain (def Any A, use NonNull B, imm Field C)] "a = b.field";
        [PutField "putf" Plain (use Any A, use NonNull B, imm Field C)] "b.field = a; not a reference";
        [PutRef "putr" Plain (use Ref A, use NonNull B, imm Field C)] "b.field = a, a reference, with write barrier";
        [NonNull "nonnull" Plain (def NonNull A, use Ref B)] "a = b; `Null` error if b is null";
        [Is "is" Wide (def Bool A, use Ref B, imm Class X)] "a = b is an instance of the class (null is not)";
        [IsInterface "isi" Wide (def Bool A, use Ref B, imm Interface X)] "a = b implements the interface (null does not)";
        [Cast "cast" Wide (def NonNull A, use Ref B, imm Class X)] "a = b; `Cast` error if it is not an instance of the class";
        [CastInterface "casti" Wide (def NonNull A, use Ref B, imm Interface X)] "a = b; `Cast` error if it does not implement the interface";
        [BoxInt "boxint" Plain (def NonNull A, use Int B)] "a = b in a box";
        [BoxFloat "boxfloat" Plain (def NonNull A, use Float B)] "a = b in a box";
        [BoxBool "boxbool" Plain (def NonNull A, use Bool B)] "a = b in a box";

        // Arrays, bytes and strings.
        [NewArray "newarr" Wide (def NonNull A, use Int B, imm Class X)] "a = a new array of b elements, all zero; `Value` error if b is negative";
        [Length "len" Plain (def Int A, use NonNull B)] "a = number of elements";
        [GetByte "getb" Plain (def Bits A, use NonNull B, use Int C)] "a = b[c] of one byte: bytes, strings, arrays of Bool; `Index` error outside";
        [PutByte "putb" Plain (use Bits A, use NonNull B, use Int C)] "b[c] = a of one byte: bytes, arrays of Bool; `Index` error outside";
        [GetWord "getw" Plain (def Any A, use NonNull B, use Int C)] "a = b[c] of Int, Float or nullable references; `Index` error outside";
        [PutWord "putw" Plain (use Any A, use NonNull B, use Int C)] "b[c] = a of Int or Float; `Index` error outside";
        [GetElem "gete" Plain (def NonNull A, use NonNull B, use Int C)] "a = b[c] of non-null references; `Index` error outside, `Unset` error if null";
        [PutElem "pute" Plain (use Ref A, use NonNull B, use Int C)] "b[c] = a of references, with write barrier; `Index` error outside";
        [Unset "unset" Plain (use NonNull A, use Int B)] "a[b] = zero or null; `Index` error outside";

        // Calls.
        [Call "call" Call (imm Result A, imm Function BC, imm Args Rest)] "calls a function";
        [CallVirtual "callv" Call (imm Result A, imm Slot BC, imm Args Rest)] "calls through the method table of the class of the first argument";
        [CallInterface "calli" Call (imm Result A, imm InterfaceMethod BC, imm Args Rest)] "calls a method of an interface on the first argument";
        [CallNative "calln" Call (imm Result A, imm Native BC, imm Args Rest)] "calls the system";
        [Return "ret" Return (use Any A)] "returns a";
        [ReturnUnit "retu" Return ()] "returns nothing";
        [Throw "throw" Throw (use NonNull A)] "raises the error a";
    } };
}

macro_rules! define_ops {
    ($([$variant:ident $mnemonic:literal $shape:ident ($($role:ident $kind:ident $place:ident),*)] $doc:literal;)*) => {
        /// An opcode.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u8)]
        // The descriptions say `a = b[c]`, which is no link.
        #[allow(rustdoc::broken_intra_doc_links)]
        pub enum Op { $(#[doc = $doc] $variant,)* }

        impl Op {
            /// All opcodes in order of their numbers.
            pub const ALL: &'static [Op] = &[$(Op::$variant,)*];

            /// Name in text form.
            pub fn mnemonic(self) -> &'static str {
                match self { $(Op::$variant => $mnemonic,)* }
            }

            /// What it does, in words.
            pub fn description(self) -> &'static str {
                match self { $(Op::$variant => $doc,)* }
            }

            /// Form and flow.
            pub fn shape(self) -> OpShape {
                match self { $(Op::$variant => OpShape::$shape,)* }
            }

            /// The operands in text order.
            pub fn operands(self) -> &'static [Operand] {
                match self { $(Op::$variant => &[$(Operand {
                    role: define_ops!(@$role), kind: Kind::$kind, place: Place::$place,
                }),*],)* }
            }
        }
    };
    (@def) => { Role::Def };
    (@use) => { Role::Use };
    (@imm) => { Role::Imm };
}

for_each_op!(define_ops);

impl Op {
    /// The opcode with this number.
    pub fn from_number(number: u8) -> Option<Op> {
        Op::ALL.get(number as usize).copied()
    }

    /// The opcode with this mnemonic.
    pub fn from_mnemonic(mnemonic: &str) -> Option<Op> {
        Op::ALL.iter().copied().find(|op| op.mnemonic() == mnemonic)
    }

    /// For a branch of any kind, its pair `(forward, backward)`; a counted loop has no forward form.
    fn branch_pairs() -> &'static [(Op, Op, Op)] {
        use Op::*;
        // Forward, backward, forward with the opposite condition.
        &[
            (BrTrue, LoopTrue, BrFalse),
            (BrFalse, LoopFalse, BrTrue),
            (BrEq, LoopEq, BrNe),
            (BrNe, LoopNe, BrEq),
            (BrEqI, LoopEqI, BrNeI),
            (BrNeI, LoopNeI, BrEqI),
            (BrLtI, LoopLtI, BrGeI),
            (BrLeI, LoopLeI, BrGtI),
            (BrGtI, LoopGtI, BrLeI),
            (BrGeI, LoopGeI, BrLtI),
            (FBrEq, FLoopEq, FBrNe),
            (FBrNe, FLoopNe, FBrEq),
            (FBrLt, FLoopLt, FBrNlt),
            (FBrLe, FLoopLe, FBrNle),
            (FBrNlt, FLoopNlt, FBrLt),
            (FBrNle, FLoopNle, FBrLe),
            (RBrEq, RLoopEq, RBrNe),
            (RBrNe, RLoopNe, RBrEq),
            (SBrEq, SLoopEq, SBrNe),
            (SBrNe, SLoopNe, SBrEq),
            (BrNull, LoopNull, BrNonNull),
            (BrNonNull, LoopNonNull, BrNull),
            // `a < b` and `b <= a` exclude each other: the opposite also swaps the operands, see `inverted`.
            (BrLt, LoopLt, BrLe),
            (BrLe, LoopLe, BrLt),
        ]
    }

    /// The backward form of a forward branch or jump.
    pub fn backward(self) -> Option<Op> {
        if self == Op::Jump {
            return Some(Op::LoopJump);
        }
        Op::branch_pairs().iter().find(|p| p.0 == self).map(|p| p.1)
    }

    /// For a branch in either direction: the forward branch with the opposite condition, and whether its operands
    /// `a` and `b` must be swapped. Counted loops have none.
    pub fn inverted(self) -> Option<(Op, bool)> {
        Op::branch_pairs()
            .iter()
            .find(|p| p.0 == self || p.1 == self)
            .map(|p| (p.2, matches!(p.0, Op::BrLt | Op::BrLe)))
    }

    /// A counted loop: its first operand is read and written.
    pub fn is_counted_loop(self) -> bool {
        matches!(self, Op::ForLt | Op::ForLe | Op::ForLtI | Op::ForLeI)
    }
}
