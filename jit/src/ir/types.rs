//! What a value can be.

use holloway_bytecode::{ClassId, Program, RefType, Shape, Type};

/// The type of a node's value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ty {
    /// No value.
    None,
    /// 64-bit integer.
    Int,
    /// IEEE double.
    Float,
    /// True or false.
    Bool,
    /// A reference.
    Ref(RefTy),
}

/// What is known of a reference.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RefTy {
    /// What it refers to, if not null.
    pub shape: Shape,
    /// May be null.
    pub nullable: bool,
    /// The class is exactly the one that `shape` names, not a subclass.
    pub exact: bool,
}

impl Ty {
    /// The type of values of a bytecode type. It is never exact: whether anything extends a class is the hierarchy's to say.
    pub fn of(ty: Type) -> Ty {
        match ty {
            Type::Int => Ty::Int,
            Type::Float => Ty::Float,
            Type::Bool => Ty::Bool,
            Type::Ref(RefType { shape, nullable }) => Ty::Ref(RefTy { shape, nullable, exact: false }),
        }
    }

    /// A non-null reference to an instance of exactly this class.
    pub fn exactly(class: ClassId) -> Ty {
        Ty::Ref(RefTy { shape: Shape::Class(class), nullable: false, exact: true })
    }

    /// The same reference type without null.
    pub fn non_null(self) -> Ty {
        match self {
            Ty::Ref(r) => Ty::Ref(RefTy { nullable: false, ..r }),
            other => other,
        }
    }

    /// The reference part.
    pub fn reference(self) -> Option<RefTy> {
        match self {
            Ty::Ref(r) => Some(r),
            _ => None,
        }
    }

    /// Is it a reference.
    pub fn is_ref(self) -> bool {
        matches!(self, Ty::Ref(_))
    }

    /// Held in the same kind of machine register in the same form.
    pub fn same_kind(self, other: Ty) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}

impl RefTy {
    /// The class, if the shape is one.
    pub fn class(self) -> Option<ClassId> {
        match self.shape {
            Shape::Class(class) => Some(class),
            _ => None,
        }
    }

    /// Is everything of this type also of the other.
    pub fn fits(self, other: RefTy, program: &Program) -> bool {
        (other.nullable || !self.nullable)
            && (!other.exact || self.exact && self.shape == other.shape)
            && self.shape.fits(other.shape, program)
    }
}
