//! What a node can do, and what passes may assume of it.

use holloway_bytecode::{ClassId, Element, FunctionId, GlobalId, InterfaceId, Native, StringId};
use holloway_vm::profiling::{Roots, Windows};

/// Wrapping arithmetic and bit operations on integers. Shift counts are taken modulo 64.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Arith {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Ushr,
}

/// Arithmetic on floats.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum FloatArith {
    Add,
    Sub,
    Mul,
    Div,
}

/// Functions of one float.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum FloatUnary {
    Neg,
    Abs,
    Sqrt,
    Floor,
    Ceil,
}

/// Comparisons of integers; `U…` are of the unsigned values. Booleans are compared with `Eq` and `Ne`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Cond {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    ULt,
    ULe,
    UGt,
    UGe,
}

/// Comparisons of floats. `Nlt` and `Nle` are also true if one is not a number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum FloatCond {
    Eq,
    Ne,
    Lt,
    Le,
    Nlt,
    Nle,
}

/// How an element lies in memory and what it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ElementKind {
    /// One byte, read as 0 to 255 (bytes and strings).
    Byte,
    /// One byte, 0 or 1.
    Bool,
    /// Eight bytes.
    Int,
    /// Eight bytes.
    Float,
    /// Eight bytes, a reference or null.
    Ref,
    /// Eight bytes of an array of bytes, from an index on, read as one integer whose lowest is the first.
    Word,
}

impl ElementKind {
    /// That of the elements of a bytecode's array.
    pub fn of(element: Element) -> ElementKind {
        match element {
            Element::Byte => ElementKind::Byte,
            Element::Bool => ElementKind::Bool,
            Element::Int => ElementKind::Int,
            Element::Float => ElementKind::Float,
            Element::Ref(_) => ElementKind::Ref,
        }
    }
}

/// Which yieldpoint.
///
/// That of a loop is on its back edges, before the branch back: so what a loop tests and what its body does with the answer are not
/// separated. Where a loop begins there is a mark without code, for its frame state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum YieldKind {
    /// A method was entered.
    Prologue,
    /// A loop begins: no code, only the state with which the interpreter would begin it.
    Header,
    /// A loop is about to go back.
    Loop,
    /// A method is about to return.
    Epilogue,
}

/// Why compiled code is left for the interpreter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Reason {
    /// An index is outside: the interpreter raises the error. Likewise the next ones.
    Index,
    /// `nonnull` of null.
    Null,
    /// A cast fails.
    Cast,
    /// Division by zero.
    Division,
    /// An unset element or global.
    Unset,
    /// A negative array length.
    Length,
    /// `throw`.
    Throw,
    /// Memory is exhausted.
    Memory,
    /// The depth limit or the native stack is near.
    Depth,
    /// An error came out of a call.
    Exception,
    /// The code became invalid while it waited in a call.
    Invalid,
    /// A yieldpoint's slow path asks for it.
    Yieldpoint,
    /// So does that of a return's yieldpoint: all that the method had to do is done.
    Return,
    /// A receiver is of a class not seen before.
    Receiver,
    /// A branch goes where it never went.
    Untaken,
    /// Code that was never executed when this was compiled.
    Unreached,
    /// A condition hoisted out of a loop does not hold: the loop must make its checks itself.
    Predicate,
    /// `--deopt-every`.
    Stress,
}

impl Reason {
    /// All of them.
    pub const ALL: &'static [Reason] = &[
        Reason::Index,
        Reason::Null,
        Reason::Cast,
        Reason::Division,
        Reason::Unset,
        Reason::Length,
        Reason::Throw,
        Reason::Memory,
        Reason::Depth,
        Reason::Exception,
        Reason::Invalid,
        Reason::Yieldpoint,
        Reason::Return,
        Reason::Receiver,
        Reason::Untaken,
        Reason::Unreached,
        Reason::Predicate,
        Reason::Stress,
    ];

    /// The name in logs, statistics and dumps.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Index => "index",
            Reason::Null => "null",
            Reason::Cast => "cast",
            Reason::Division => "division",
            Reason::Unset => "unset",
            Reason::Length => "length",
            Reason::Throw => "throw",
            Reason::Memory => "memory",
            Reason::Depth => "depth",
            Reason::Exception => "exception",
            Reason::Invalid => "invalid",
            Reason::Yieldpoint => "yieldpoint",
            Reason::Return => "return",
            Reason::Receiver => "receiver",
            Reason::Untaken => "untaken",
            Reason::Unreached => "unreached",
            Reason::Predicate => "predicate",
            Reason::Stress => "stress",
        }
    }

    /// Was an assumption wrong on which the code was built, so that it should be built again without it.
    pub fn is_speculation(self) -> bool {
        matches!(self, Reason::Receiver | Reason::Untaken | Reason::Unreached | Reason::Predicate)
    }
}

/// What a node does. Operands are in [`super::Node::args`]; the comments name them in order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    // Values from outside.
    /// A parameter of a block.
    Param,
    /// Argument number n of the method. In the entry block.
    Argument(u16),
    /// The interpreter's register n at the loop where this region begins. In the entry block.
    Local(u16),

    // Constants.
    /// An integer.
    Int(i64),
    /// A float, as bits.
    Float(u64),
    /// A Boolean.
    Bool(bool),
    /// Null.
    Null,
    /// A string constant.
    Str(StringId),

    // Pure.
    /// `(int, int)`.
    Arith(Arith),
    /// `(int, int that is not zero)`: quotient toward zero, wrapping.
    Div,
    /// `(int, int that is not zero)`: remainder of the same.
    Rem,
    /// `(float, float)`.
    FloatArith(FloatArith),
    /// `(float)`.
    FloatUnary(FloatUnary),
    /// `(int)`: rounded to nearest.
    IntToFloat,
    /// `(float)`: toward zero, saturated, 0 for what is not a number.
    FloatToInt,
    /// `(float)`: the bits, one pattern for all that are not numbers.
    FloatBits,
    /// `(int)`: the float with these bits.
    FloatFromBits,
    /// `(int, int)` or `(bool, bool)`.
    Compare(Cond),
    /// `(float, float)`.
    FloatCompare(FloatCond),
    /// `(ref, ref)`: the same object, or both null.
    Same,
    /// `(string or null, string or null)`: the same text, or both null. Texts do not change.
    SameText,
    /// `(ref)`.
    IsNull,
    /// `(bool)`.
    Not,
    /// `(bool, a, b)`: a if true, else b; no branch.
    Select,
    /// `(ref)`: an instance of the class or a subclass; false for null. The class of an object never changes.
    IsInstance(ClassId),
    /// `(ref)`: of a class that implements the interface; false for null.
    Implements(InterfaceId),
    /// `(non-null ref)`: of exactly this class.
    IsExactly(ClassId),
    /// `(non-null ref)`: of a class that has this method at a place of its table.
    Reaches(MethodTable, FunctionId),
    /// `(non-null array, bytes or string)`: number of elements, which never changes.
    Length,
    /// `(…)`: a native that only computes, and raises nothing.
    PureNative(Native),

    // Values with a guarantee. The result is the first operand.
    /// `(ref)`: of the node's type, because of a branch that dominates. Stays in its block.
    Assume,
    /// `(ref)`: not null. `Reason::Null`.
    CheckNull,
    /// `(ref)`: not null, but an unset element or global: `Reason::Unset`.
    CheckSet,
    /// `(int index, int length)`: 0 <= index < length.
    CheckBounds,
    /// `(int)`: not zero.
    CheckDivisor,
    /// `(int)`: not negative.
    CheckLength,
    /// `(ref)`: an instance of the class or a subclass, not null.
    CheckCast(ClassId),
    /// `(ref)`: implements the interface, not null.
    CheckInterface(InterfaceId),
    /// `(non-null ref)`: of exactly this class; a speculation, `Reason::Receiver`.
    CheckExactly(ClassId),
    /// `(bool)`: is what the node says; no result. A speculation with its reason.
    Guard(bool, Reason),

    // Memory.
    /// `(non-null object)`: a field, by the class that declares it first and its number.
    LoadField(ClassId, u16),
    /// `(non-null object, value)`: not a reference, or a barrier is not needed.
    StoreField(ClassId, u16),
    /// `(non-null object, ref)`: with write barrier.
    StoreRefField(ClassId, u16),
    /// `(non-null array, index inside)`.
    LoadElement(ElementKind),
    /// `(non-null array, index inside, value)`: references with write barrier.
    StoreElement(ElementKind),
    /// A global.
    LoadGlobal(GlobalId),
    /// `(value)`: a global.
    StoreGlobal(GlobalId),
    /// A new object, all fields zero.
    New(ClassId),
    /// `(int that is not negative)`: a new array, all elements zero.
    NewArray(ClassId),
    /// `(fields …)`: an object that only frame states mention: made if the interpreter needs it. No code.
    Virtual(ClassId),

    // Everything can happen.
    /// `(args …)`.
    Call(FunctionId),
    /// `(receiver, args …)`: slot of the method table of the class that the receiver is known to be of.
    CallVirtual(ClassId, u32),
    /// `(receiver, args …)`: interface and number of its method.
    CallInterface(InterfaceId, u32),
    /// `(args …)`.
    CallNative(Native),
    /// A yieldpoint: `()`, or `(number)` where a path ends that is sampled, or `(number, next)` where it sets the path register if it is taken.
    Yieldpoint(YieldKind),

    /// `()`: an inlined method is entered here, which is counted. Only there if calls are; nothing of the program sees it.
    Entered,
    /// `()`: a block of the bytecode is entered here, by its number in the whole program. Only there if somebody wants to be told;
    /// nothing of the program sees it.
    Block(u32),

    // Profiling: what `crate::instrument` puts into a finished region. Nothing of the program sees it.
    /// Increments a counter.
    Count(u32),
    /// Increments what the activation keeps of a counter, until it is added to it.
    CountKept(u32),
    /// Adds to a counter what the activation keeps of it, which is nothing then.
    AddKept(u32),
    /// Sets the path register, which is memory of the activation.
    SetPath(i64),
    /// Adds to the path register.
    AddPath(i64),
    /// The path register and so much more: read where it is used, as constants are made where they are used.
    Path(i64),
    /// `(number)`: a path has ended; increments the counter that comes so many after this one.
    CountPath(u32),
    /// `(number)`: a path has ended and is counted in the hash table that these counters name.
    HashPath(u32),
    /// `(number)`: the first path of an activation has ended and goes into the k-slab forest. Where roots are remembered.
    PlantForest(Roots),
    /// `(number)`: a path has ended and goes into the k-slab forest, below those that ended before in this activation.
    GrowForest,
    /// `(number)`: a path has ended; the window of the last paths of this activation is counted in a hash table. `first`: it has none in front.
    HashWindow {
        /// The table, and how windows are numbered.
        windows: Windows,
        /// Is it the first path of its activation.
        first: bool,
    },
    /// `(number)`: a sampled path ends where there is no yieldpoint.
    SamplePath,
    /// `(receiver)`: a call through a table is made on it, from the site with this number; counted in the hash table that these counters
    /// name.
    CountReceiver {
        /// The first of the counters.
        cells: u32,
        /// The site.
        site: u32,
    },
    /// `(receiver)`: a call through a table is made on it; counted in the inline cache that these counters are.
    CountCached {
        /// The first of the counters.
        cells: u32,
        /// How many entries it has.
        entries: u32,
    },
    /// A step that is traced, packed: see [`holloway_vm::profiling::Step`].
    Trace(u64),
}

/// A place in the tables of methods that classes have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MethodTable {
    /// A slot of the classes that extend this one.
    Class(ClassId, u32),
    /// A method of an interface.
    Interface(InterfaceId, u32),
}

impl MethodTable {
    /// The place that a call through a table looks at.
    pub fn of(call: Op) -> Option<MethodTable> {
        match call {
            Op::CallVirtual(class, slot) => Some(MethodTable::Class(class, slot)),
            Op::CallInterface(interface, method) => Some(MethodTable::Interface(interface, method)),
            _ => None,
        }
    }

    /// The call that looks there.
    pub fn call(self) -> Op {
        match self {
            MethodTable::Class(class, slot) => Op::CallVirtual(class, slot),
            MethodTable::Interface(interface, method) => Op::CallInterface(interface, method),
        }
    }
}

/// A part of memory that loads and stores name. Two different ones never overlap.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Alias {
    /// A field, by the class that declares it first.
    Field(ClassId, u16),
    /// Elements of a kind, which is not [`ElementKind::Word`].
    Element(ElementKind),
    /// A global.
    Global(GlobalId),
}

impl Alias {
    fn of_element(kind: ElementKind) -> Alias {
        Alias::Element(if kind == ElementKind::Word { ElementKind::Byte } else { kind })
    }
}

impl Op {
    /// Depends on nothing but its operands, and does nothing but give a result: equal operands, equal result, at any
    /// place where the operands are.
    pub fn is_pure(self) -> bool {
        use Op::*;
        matches!(
            self,
            Int(_)
                | Float(_)
                | Bool(_)
                | Null
                | Str(_)
                | Arith(_)
                | Div
                | Rem
                | FloatArith(_)
                | FloatUnary(_)
                | IntToFloat
                | FloatToInt
                | FloatBits
                | FloatFromBits
                | Compare(_)
                | FloatCompare(_)
                | Same
                | SameText
                | IsNull
                | Not
                | Select
                | IsInstance(_)
                | Implements(_)
                | IsExactly(_)
                | Reaches(..)
                | Length
                | PureNative(_)
        )
    }

    /// Checks something, and leaves compiled code if it is not so.
    pub fn is_check(self) -> bool {
        use Op::*;
        matches!(
            self,
            CheckNull
                | CheckSet
                | CheckBounds
                | CheckDivisor
                | CheckLength
                | CheckCast(_)
                | CheckInterface(_)
                | CheckExactly(_)
                | Guard(..)
        )
    }

    /// Why compiled code is left when this check fails.
    pub fn reason(self) -> Option<Reason> {
        Some(match self {
            Op::CheckNull => Reason::Null,
            Op::CheckSet => Reason::Unset,
            Op::CheckBounds => Reason::Index,
            Op::CheckDivisor => Reason::Division,
            Op::CheckLength => Reason::Length,
            Op::CheckCast(_) | Op::CheckInterface(_) => Reason::Cast,
            Op::CheckExactly(_) => Reason::Receiver,
            Op::Guard(_, reason) => reason,
            _ => return None,
        })
    }

    /// Other code may run here: all memory may change, threads may switch, this code may become invalid.
    pub fn is_call(self) -> bool {
        use Op::*;
        matches!(self, Call(_) | CallVirtual(..) | CallInterface(..) | CallNative(_) | Yieldpoint(_))
    }

    /// Needs a frame state: it can leave compiled code, or other code can see the frame.
    pub fn needs_state(self) -> bool {
        self.is_check() || self.is_call() || matches!(self, Op::New(_) | Op::NewArray(_))
    }

    /// Must stay even if nobody uses its result.
    pub fn has_effect(self) -> bool {
        use Op::*;
        self.is_check()
            || self.is_call()
            || matches!(
                self,
                Param
                    | Argument(_)
                    | Local(_)
                    | StoreField(..)
                    | StoreRefField(..)
                    | StoreElement(_)
                    | StoreGlobal(_)
            )
            || self.is_of_profiling() && !matches!(self, Path(_))
    }

    /// Is there for profilers only: the program does not see it.
    pub fn is_of_profiling(self) -> bool {
        use Op::*;
        matches!(
            self,
            Count(_)
                | CountKept(_)
                | AddKept(_)
                | SetPath(_)
                | AddPath(_)
                | Path(_)
                | CountPath(_)
                | HashPath(_)
                | PlantForest(_)
                | GrowForest
                | HashWindow { .. }
                | SamplePath
                | Trace(_)
                | Entered
                | Block(_)
                | CountReceiver { .. }
                | CountCached { .. }
        )
    }

    /// The part of memory that it reads.
    pub fn reads(self) -> Option<Alias> {
        match self {
            Op::LoadField(class, field) => Some(Alias::Field(class, field)),
            Op::LoadElement(kind) => Some(Alias::of_element(kind)),
            Op::LoadGlobal(global) => Some(Alias::Global(global)),
            _ => None,
        }
    }

    /// The part of memory that it writes (calls write everything, see [`Op::is_call`]).
    pub fn writes(self) -> Option<Alias> {
        match self {
            Op::StoreField(class, field) | Op::StoreRefField(class, field) => {
                Some(Alias::Field(class, field))
            }
            Op::StoreElement(kind) => Some(Alias::of_element(kind)),
            Op::StoreGlobal(global) => Some(Alias::Global(global)),
            _ => None,
        }
    }

    /// A constant.
    pub fn is_constant(self) -> bool {
        matches!(self, Op::Int(_) | Op::Float(_) | Op::Bool(_) | Op::Null | Op::Str(_) | Op::Path(_))
    }
}

impl Cond {
    /// The opposite.
    pub fn negated(self) -> Cond {
        match self {
            Cond::Eq => Cond::Ne,
            Cond::Ne => Cond::Eq,
            Cond::Lt => Cond::Ge,
            Cond::Le => Cond::Gt,
            Cond::Gt => Cond::Le,
            Cond::Ge => Cond::Lt,
            Cond::ULt => Cond::UGe,
            Cond::ULe => Cond::UGt,
            Cond::UGt => Cond::ULe,
            Cond::UGe => Cond::ULt,
        }
    }

    /// The same with operands exchanged.
    pub fn swapped(self) -> Cond {
        match self {
            Cond::Eq => Cond::Eq,
            Cond::Ne => Cond::Ne,
            Cond::Lt => Cond::Gt,
            Cond::Le => Cond::Ge,
            Cond::Gt => Cond::Lt,
            Cond::Ge => Cond::Le,
            Cond::ULt => Cond::UGt,
            Cond::ULe => Cond::UGe,
            Cond::UGt => Cond::ULt,
            Cond::UGe => Cond::ULe,
        }
    }

    /// Does it hold of two constants.
    pub fn holds(self, a: i64, b: i64) -> bool {
        let (ua, ub) = (a as u64, b as u64);
        match self {
            Cond::Eq => a == b,
            Cond::Ne => a != b,
            Cond::Lt => a < b,
            Cond::Le => a <= b,
            Cond::Gt => a > b,
            Cond::Ge => a >= b,
            Cond::ULt => ua < ub,
            Cond::ULe => ua <= ub,
            Cond::UGt => ua > ub,
            Cond::UGe => ua >= ub,
        }
    }
}

impl FloatCond {
    /// Does it hold of two constants.
    pub fn holds(self, a: f64, b: f64) -> bool {
        match self {
            FloatCond::Eq => a == b,
            FloatCond::Ne => a != b,
            FloatCond::Lt => a < b,
            FloatCond::Le => a <= b,
            FloatCond::Nlt => !matches!(a.partial_cmp(&b), Some(std::cmp::Ordering::Less)),
            FloatCond::Nle => {
                !matches!(a.partial_cmp(&b), Some(std::cmp::Ordering::Less | std::cmp::Ordering::Equal))
            }
        }
    }

    /// The opposite.
    pub fn negated(self) -> FloatCond {
        match self {
            FloatCond::Eq => FloatCond::Ne,
            FloatCond::Ne => FloatCond::Eq,
            FloatCond::Lt => FloatCond::Nlt,
            FloatCond::Le => FloatCond::Nle,
            FloatCond::Nlt => FloatCond::Lt,
            FloatCond::Nle => FloatCond::Le,
        }
    }
}
