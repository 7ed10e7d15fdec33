//! Types of registers, fields and array elements, and the numbers by which a program names its parts.

use crate::program::Program;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub u32);
        impl $name {
            /// The position in its table.
            pub fn index(self) -> usize { self.0 as usize }
        }
    )*};
}

ids! {
    /// A class of the program.
    ClassId;
    /// An interface of the program.
    InterfaceId;
    /// A function of the program.
    FunctionId;
    /// A global variable of the program.
    GlobalId;
    /// A string constant of the program.
    StringId;
}

impl ClassId {
    /// `String`.
    pub const STRING: ClassId = ClassId(0);
    /// `Bytes`.
    pub const BYTES: ClassId = ClassId(1);
    /// The box of an `Int`: one field of type [`Type::Int`].
    pub const INT_BOX: ClassId = ClassId(2);
    /// The box of a `Float`.
    pub const FLOAT_BOX: ClassId = ClassId(3);
    /// The box of a `Bool`.
    pub const BOOL_BOX: ClassId = ClassId(4);
    /// How many classes every program begins with (those above).
    pub const BUILT_IN: usize = 5;
}

/// A register of a function's frame. Parameters come first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Register(pub u16);

/// The type of a register, field or element. Every value takes 64 bits in a register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// 64-bit integer.
    Int,
    /// IEEE double.
    Float,
    /// 0 or 1.
    Bool,
    /// A reference to an object.
    Ref(RefType),
}

/// A reference type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RefType {
    /// What it may refer to.
    pub shape: Shape,
    /// May it be null.
    pub nullable: bool,
}

/// What a reference may refer to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Shape {
    /// Any object.
    Any,
    /// An instance of the class or a subclass.
    Class(ClassId),
    /// An instance of a class that implements the interface.
    Interface(InterfaceId),
}

/// What the elements of an array are, and how wide.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Element {
    /// One byte, read as `Int` 0 to 255: `Bytes` and `String`.
    Byte,
    /// One byte, 0 or 1.
    Bool,
    /// Eight bytes.
    Int,
    /// Eight bytes.
    Float,
    /// Eight bytes. Elements of a non-null type start out null and are checked when read.
    Ref(RefType),
}

impl Type {
    /// A non-null reference to instances of `class`.
    pub fn class(class: ClassId) -> Type {
        Type::Ref(RefType { shape: Shape::Class(class), nullable: false })
    }

    /// A non-null reference of `shape`.
    pub fn reference(shape: Shape) -> Type {
        Type::Ref(RefType { shape, nullable: false })
    }

    /// The same type, null allowed (references only).
    pub fn nullable(self) -> Type {
        match self {
            Type::Ref(r) => Type::Ref(RefType { nullable: true, ..r }),
            other => other,
        }
    }

    /// The same type without null.
    pub fn non_null(self) -> Type {
        match self {
            Type::Ref(r) => Type::Ref(RefType { nullable: false, ..r }),
            other => other,
        }
    }

    /// Is it a reference.
    pub fn is_ref(self) -> bool {
        matches!(self, Type::Ref(_))
    }

    /// May a value of this type be put where `target` is expected.
    pub fn fits(self, target: Type, program: &Program) -> bool {
        match (self, target) {
            (Type::Ref(a), Type::Ref(b)) => (b.nullable || !a.nullable) && a.shape.fits(b.shape, program),
            (a, b) => a == b,
        }
    }
}

impl Shape {
    /// Is everything of this shape also of shape `target`.
    pub fn fits(self, target: Shape, program: &Program) -> bool {
        match (self, target) {
            (_, Shape::Any) => true,
            (Shape::Class(a), Shape::Class(b)) => program.is_subclass(a, b),
            (Shape::Class(a), Shape::Interface(i)) => {
                program.classes[a.index()].interfaces.iter().any(|x| x.interface == i)
            }
            (Shape::Interface(a), Shape::Interface(b)) => {
                a == b || program.interfaces[a.index()].extends.contains(&b)
            }
            _ => false,
        }
    }
}

impl Element {
    /// The type that a read gives and a write takes.
    pub fn value_type(self) -> Type {
        match self {
            Element::Byte | Element::Int => Type::Int,
            Element::Bool => Type::Bool,
            Element::Float => Type::Float,
            Element::Ref(r) => Type::Ref(r),
        }
    }

    /// Bytes an element takes in memory.
    pub fn size(self) -> usize {
        match self {
            Element::Byte | Element::Bool => 1,
            _ => 8,
        }
    }
}
