//! The typed program: what the checker hands to lowering. Names are resolved, every expression has its type,
//! implicit conversions are explicit, sugar is gone. Generic code appears once, with its type parameters as
//! [`TyKind::Param`]; lowering instantiates it for each use.
//!
//! Numbering: every declaration lives in a dense table of [`TypedProgram`] and is named by its index. Locals are
//! numbered per *function body*; a closure has a body of its own and lists what it captures.

use crate::span::Span;

macro_rules! index {
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

index! {
    /// An interned type: an index into [`Types`].
    Ty;
    /// A class.
    ClassIndex;
    /// An interface.
    InterfaceIndex;
    /// An enum.
    EnumIndex;
    /// A function, method, static function or `init`.
    FunctionIndex;
    /// A global or static variable.
    GlobalIndex;
    /// A type parameter; numbered over the whole program.
    ParamIndex;
    /// A local variable of one body.
    LocalIndex;
    /// A loop of one body that `break` and `continue` can name.
    LoopIndex;
}

/// The structure of a type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TyKind {
    /// `Int`
    Int,
    /// `Float`
    Float,
    /// `Bool`
    Bool,
    /// `Unit`
    Unit,
    /// `Never`
    Never,
    /// The type of `null` alone.
    Null,
    /// `String`
    String,
    /// `Bytes`
    Bytes,
    /// `Any`
    Any,
    /// `Array<T>`
    Array(Ty),
    /// `T?`; `T` is never itself nullable, `Null`, `Never` or `Unit`. For a type parameter whose argument is nullable,
    /// substitution collapses `T??` to `T?`.
    Nullable(Ty),
    /// `fn(A, B) -> R`
    Function(Vec<Ty>, Ty),
    /// A class with its type arguments.
    Class(ClassIndex, Vec<Ty>),
    /// An interface with its type arguments.
    Interface(InterfaceIndex, Vec<Ty>),
    /// An enum with its type arguments.
    Enum(EnumIndex, Vec<Ty>),
    /// A type parameter.
    Param(ParamIndex),
    /// The type of something that was already reported; compatible with everything. Never reaches lowering.
    Error,
}

/// All types of a program, each stored once, so that equal types have equal [`Ty`].
pub struct Types {
    kinds: Vec<TyKind>,
    ids: hashbrown::HashMap<TyKind, Ty, FixedHasher>,
}

/// A hasher without a random seed: no run differs from another.
pub type FixedHasher = std::hash::BuildHasherDefault<std::hash::DefaultHasher>;

impl Ty {
    /// `Int`
    pub const INT: Ty = Ty(0);
    /// `Float`
    pub const FLOAT: Ty = Ty(1);
    /// `Bool`
    pub const BOOL: Ty = Ty(2);
    /// `Unit`
    pub const UNIT: Ty = Ty(3);
    /// `Never`
    pub const NEVER: Ty = Ty(4);
    /// The type of `null`.
    pub const NULL: Ty = Ty(5);
    /// `String`
    pub const STRING: Ty = Ty(6);
    /// `Bytes`
    pub const BYTES: Ty = Ty(7);
    /// `Any`
    pub const ANY: Ty = Ty(8);
    /// Already reported.
    pub const ERROR: Ty = Ty(9);
}

impl Default for Types {
    fn default() -> Self {
        let mut types = Types { kinds: Vec::new(), ids: hashbrown::HashMap::default() };
        use TyKind::*;
        for kind in [Int, Float, Bool, Unit, Never, Null, String, Bytes, Any, Error] {
            types.intern(kind);
        }
        types
    }
}

impl Types {
    /// The type with this structure.
    pub fn intern(&mut self, kind: TyKind) -> Ty {
        if let Some(&ty) = self.ids.get(&kind) {
            return ty;
        }
        let ty = Ty(self.kinds.len() as u32);
        self.kinds.push(kind.clone());
        self.ids.insert(kind, ty);
        ty
    }

    /// The structure of a type.
    pub fn kind(&self, ty: Ty) -> &TyKind {
        &self.kinds[ty.index()]
    }

    /// `ty?`, collapsing what is nullable already (and `Never?` to `Null`).
    pub fn nullable(&mut self, ty: Ty) -> Ty {
        match self.kind(ty) {
            TyKind::Nullable(_) | TyKind::Null | TyKind::Error => ty,
            TyKind::Never => Ty::NULL,
            _ => self.intern(TyKind::Nullable(ty)),
        }
    }

    /// Replaces type parameters: `lookup(p)` gives the argument for `p`, or `None` to leave it.
    pub fn substitute(&mut self, ty: Ty, lookup: &dyn Fn(ParamIndex) -> Option<Ty>) -> Ty {
        let kind = match self.kind(ty).clone() {
            TyKind::Param(p) => return lookup(p).unwrap_or(ty),
            TyKind::Array(t) => TyKind::Array(self.substitute(t, lookup)),
            TyKind::Nullable(t) => {
                let inner = self.substitute(t, lookup);
                return self.nullable(inner);
            }
            TyKind::Function(params, result) => TyKind::Function(
                params.iter().map(|&t| self.substitute(t, lookup)).collect(),
                self.substitute(result, lookup),
            ),
            TyKind::Class(c, args) => {
                TyKind::Class(c, args.iter().map(|&t| self.substitute(t, lookup)).collect())
            }
            TyKind::Interface(i, args) => {
                TyKind::Interface(i, args.iter().map(|&t| self.substitute(t, lookup)).collect())
            }
            TyKind::Enum(e, args) => {
                TyKind::Enum(e, args.iter().map(|&t| self.substitute(t, lookup)).collect())
            }
            _ => return ty,
        };
        self.intern(kind)
    }
}

/// A whole checked program, standard library included.
pub struct TypedProgram {
    /// The types.
    pub types: Types,
    /// The classes, every superclass before its subclasses.
    pub classes: Vec<Class>,
    /// The interfaces.
    pub interfaces: Vec<Interface>,
    /// The enums.
    pub enums: Vec<Enum>,
    /// All functions with bodies, and abstract and interface methods without.
    pub functions: Vec<Function>,
    /// Globals and statics in the order in which they are initialised.
    pub globals: Vec<Global>,
    /// Names of type parameters, for messages and dumps.
    pub params: Vec<Box<str>>,
    /// The program's `main`.
    pub main: FunctionIndex,
    /// Classes of the prelude that the system itself makes instances of.
    pub known: KnownClasses,
}

/// Prelude classes and functions that the virtual machine or lowering must find.
pub struct KnownClasses {
    /// `Error`.
    pub error: ClassIndex,
    /// By name: `IndexError`, `NullError`, … every subclass of `Error` declared by the prelude.
    pub errors: Vec<(Box<str>, ClassIndex)>,
}

/// A class.
pub struct Class {
    /// Its name, qualified by its module where another has the same.
    pub name: Box<str>,
    /// Its type parameters.
    pub params: Vec<ParamIndex>,
    /// Its superclass, a `TyKind::Class` over `params`.
    pub superclass: Option<Ty>,
    /// All interfaces it implements itself or by interface inheritance (not those of its superclass), as
    /// `TyKind::Interface` over `params`.
    pub interfaces: Vec<Ty>,
    /// Cannot be instantiated.
    pub is_abstract: bool,
    /// Cannot be extended.
    pub is_final: bool,
    /// Its own fields, after those of the superclass.
    pub fields: Vec<Field>,
    /// Its own methods (not `init`, not static): what each introduces or overrides.
    pub methods: Vec<Method>,
    /// Its constructor: a function whose first local is `this`, with field initialisers and the implicit `super()`
    /// made explicit in its body; `None` if abstract without one needed.
    pub init: Option<FunctionIndex>,
    /// Where it is declared.
    pub span: Span,
}

/// A field of a class or of an enum variant.
pub struct Field {
    /// Name.
    pub name: Box<str>,
    /// Type over the owner's parameters.
    pub ty: Ty,
    /// `var`.
    pub mutable: bool,
}

/// A method of a class.
pub struct Method {
    /// Its name, unique in the class hierarchy except for overriding.
    pub name: Box<str>,
    /// The function (without body if abstract); its first local is `this`.
    pub function: FunctionIndex,
    /// It overrides a method of a superclass with the same name.
    pub overrides: bool,
    /// It is called directly, never through the table: private, `final` and introduced here, or with type parameters of its own.
    pub direct: bool,
}

/// An interface.
pub struct Interface {
    /// Name.
    pub name: Box<str>,
    /// Type parameters.
    pub params: Vec<ParamIndex>,
    /// All interfaces it extends, transitively, over `params`.
    pub supers: Vec<Ty>,
    /// Its own methods: functions without body.
    pub methods: Vec<FunctionIndex>,
    /// Where it is declared.
    pub span: Span,
}

/// An enum.
pub struct Enum {
    /// Name.
    pub name: Box<str>,
    /// Type parameters.
    pub params: Vec<ParamIndex>,
    /// The variants.
    pub variants: Vec<Variant>,
    /// Its methods, all called directly.
    pub methods: Vec<FunctionIndex>,
    /// Where it is declared.
    pub span: Span,
}

/// A variant of an enum.
pub struct Variant {
    /// Name.
    pub name: Box<str>,
    /// Payload; empty for a variant that is one object.
    pub fields: Vec<Field>,
}

/// A global or static variable.
pub struct Global {
    /// Name, with its class for statics: `Point.ORIGIN`.
    pub name: Box<str>,
    /// Type.
    pub ty: Ty,
    /// The initialiser as the body of a function without parameters whose value is the global's first value.
    pub init: Body,
    /// Declaration.
    pub span: Span,
}

/// A function of any kind.
pub struct Function {
    /// Its full name for stack traces: `main`, `List.add`, `Point.init`.
    pub name: Box<str>,
    /// Type parameters: those of the class first, then its own.
    pub params: Vec<ParamIndex>,
    /// The type of `this`, for methods and constructors.
    pub receiver: Option<Ty>,
    /// Types of the value parameters (without `this`).
    pub param_types: Vec<Ty>,
    /// Result type (`Unit` for constructors).
    pub result: Ty,
    /// The body; `None` for abstract and interface methods.
    pub body: Option<Body>,
    /// The header.
    pub span: Span,
}

/// Code with its locals. Parameters are the first locals: `this` (where there is a receiver), then the value parameters.
pub struct Body {
    /// The local variables.
    pub locals: Vec<Local>,
    /// How many loops it has.
    pub loops: u32,
    /// The code; its value is the result.
    pub expr: Expr,
}

/// A local variable of a body.
#[derive(Clone)]
pub struct Local {
    /// Name as written; generated ones begin with `$`.
    pub name: Box<str>,
    /// Declared or inferred type.
    pub ty: Ty,
    /// A closure inside this body captures it *and* it is assigned after its declaration, so it must live in a cell
    /// shared with the closure. In the closure's body, the captured local has `celled` too.
    pub celled: bool,
    /// Where declared.
    pub span: Span,
}

/// A typed expression.
#[derive(Clone)]
pub struct Expr {
    /// What it does.
    pub kind: ExprKind,
    /// The type of its value.
    pub ty: Ty,
    /// Where.
    pub span: Span,
}

/// The kinds of typed expression.
#[derive(Clone)]
pub enum ExprKind {
    /// Integer constant.
    Int(i64),
    /// Float constant.
    Float(f64),
    /// Boolean constant.
    Bool(bool),
    /// String constant.
    Str(Box<str>),
    /// `null`, of type `Null`, or of a nullable type.
    Null,
    /// `()`.
    Unit,
    /// Reads a local. If narrowing applies, the node's type is narrower than the local's; lowering then knows that the value
    /// fits (no check is needed, but unboxing may be: `Int?` narrowed to `Int`, `Any` narrowed to `Float`).
    Local(LocalIndex),
    /// Reads a global; an unset one of a non-null reference type raises `UnsetError`.
    Global(GlobalIndex),
    /// A function as a value: a closure without captures.
    FunctionValue(FunctionIndex, Vec<Ty>),
    /// A variant without payload.
    Variant(usize),
    /// Makes a variant with payload; the enum is the node's type.
    NewVariant(usize, Vec<Expr>),
    /// `[a, b, c]`.
    ArrayLiteral(Vec<Expr>),
    /// `C(args)`: allocate, run `init`; the class is the node's type.
    New(ClassIndex, Vec<Expr>),
    /// Runs a superclass's `init` on `this`. The type is the superclass as `TyKind::Class`.
    SuperInit(Ty, Vec<Expr>),
    /// Calls a function directly: top-level, static, `super.m()`, private, final and enum methods (receiver first in the
    /// arguments). The types are arguments for *all* its type parameters, those of the class first.
    Call(FunctionIndex, Vec<Ty>, Vec<Expr>),
    /// Calls a method through the class's table. The receiver's type is a class type; the method is the one found by
    /// this name from that class upward.
    CallVirtual {
        /// The receiver, of a `TyKind::Class` type.
        receiver: Box<Expr>,
        /// The method's name.
        name: Box<str>,
        /// The arguments.
        args: Vec<Expr>,
    },
    /// Calls a method of an interface. The receiver's type is that interface, or one that extends it.
    CallInterface {
        /// The receiver.
        receiver: Box<Expr>,
        /// The interface that declares the method, over its arguments (`TyKind::Interface`).
        interface: Ty,
        /// Position in the interface's `methods`.
        method: usize,
        /// The arguments.
        args: Vec<Expr>,
    },
    /// Calls a method on a value whose type is a type parameter, through one of its bounds. After substitution lowering
    /// resolves it on the concrete type: a class's method by name, an interface call, or the built-in of `Int` and friends.
    CallBound {
        /// The receiver, of a `TyKind::Param` type.
        receiver: Box<Expr>,
        /// The bound that declares it.
        interface: Ty,
        /// Position in that interface's `methods`.
        method: usize,
        /// The arguments.
        args: Vec<Expr>,
    },
    /// Calls a closure.
    CallClosure(Box<Expr>, Vec<Expr>),
    /// An operation of a built-in type or the system, see [`crate::builtins::Builtin`].
    Builtin(crate::builtins::Builtin, Vec<Expr>),
    /// Makes a closure.
    Closure(Box<Closure>),
    /// Reads field number `usize` (counted from the first field of the root superclass) of an object of a class type.
    Field(Box<Expr>, usize),
    /// The position of the variant of an enum value: an `Int`.
    VariantOrdinal(Box<Expr>),
    /// `a[i]` on `Array`, `Bytes` or `String`.
    Index(Box<Expr>, Box<Expr>),
    /// `e!`: the value, or `NullError`.
    NonNull(Box<Expr>),
    /// `-x`, `!x`, `~x`.
    Unary(UnaryOp, Box<Expr>),
    /// Arithmetic and comparison on two operands of one kind.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `==` (or `!=` if `negated`) on any two values that the checker allows; operand types may differ (one a subtype of the
    /// other, nullable or not, `Null`, or type parameters), lowering picks the comparison after substitution.
    Equals {
        /// `!=`.
        negated: bool,
        /// Left.
        left: Box<Expr>,
        /// Right.
        right: Box<Expr>,
    },
    /// `a && b`.
    And(Box<Expr>, Box<Expr>),
    /// `a || b`.
    Or(Box<Expr>, Box<Expr>),
    /// `e is T`.
    Is(Box<Expr>, Ty),
    /// `e as T`: the node's type is `T`.
    Cast(Box<Expr>),
    /// `e as? T`: the node's type is `T?`.
    CastNullable(Box<Expr>),
    /// A conversion that cannot fail: to a supertype, to `T?`, boxing to `Any`. The node's type is the target.
    Convert(Box<Expr>),
    /// Statements, then a value (`None`: `Unit`, or `Never` if a statement never ends).
    Block(Vec<Stmt>, Option<Box<Expr>>),
    /// `if`; without else the type is `Unit`.
    If(Box<Expr>, Box<Expr>, Option<Box<Expr>>),
    /// Evaluates the value into the local; if it is not null, `then` (in which the local has the non-null type), else `otherwise`.
    /// `if let`, `?.` and `??` all become this.
    IfNonNull {
        /// The variable, of the non-null type.
        local: LocalIndex,
        /// A nullable value.
        value: Box<Expr>,
        /// If not null.
        then: Box<Expr>,
        /// If null.
        otherwise: Option<Box<Expr>>,
    },
    /// A choice over the value of a local, tested in order.
    Match {
        /// Evaluated once, into `local`.
        scrutinee: Box<Expr>,
        /// Where it is kept.
        local: LocalIndex,
        /// The arms; the checker has made sure that one matches.
        arms: Vec<Arm>,
    },
    /// `loop`, with a value by `break` (its type is `Never` if nothing breaks out).
    Loop(LoopIndex, Box<Expr>),
    /// `try`.
    Try(Box<Expr>, Vec<Catch>),
    /// `return`.
    Return(Option<Box<Expr>>),
    /// `throw`.
    Throw(Box<Expr>),
    /// `break`.
    Break(LoopIndex, Option<Box<Expr>>),
    /// `continue`.
    Continue(LoopIndex),
}

/// A statement.
#[derive(Clone)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Where.
    pub span: Span,
}

/// The kinds of typed statement.
#[derive(Clone)]
pub enum StmtKind {
    /// Declares a local.
    Let(LocalIndex, Expr),
    /// Evaluates and drops the value.
    Expr(Expr),
    /// `x = e`.
    SetLocal(LocalIndex, Expr),
    /// `g = e`.
    SetGlobal(GlobalIndex, Expr),
    /// `o.f = e`; `o` is evaluated first. Compound assignments keep `o` in a local first.
    SetField(Expr, usize, Expr),
    /// `a[i] = e`.
    SetIndex(Expr, Expr, Expr),
    /// `while`.
    While(LoopIndex, Expr, Expr),
    /// `while let`: as [`ExprKind::IfNonNull`], repeated.
    WhileNonNull {
        /// The loop.
        id: LoopIndex,
        /// The variable.
        local: LocalIndex,
        /// The nullable value.
        value: Expr,
        /// The body.
        body: Expr,
    },
    /// `for i in a..b step k`: `i` is a fresh value each time; `continue` goes to the step.
    ForRange {
        /// The loop.
        id: LoopIndex,
        /// The loop variable.
        local: LocalIndex,
        /// First value.
        from: Expr,
        /// Bound.
        to: Expr,
        /// `..=`.
        inclusive: bool,
        /// Not zero.
        step: i64,
        /// The body.
        body: Expr,
    },
    /// `for x in e` over `Array`, `Bytes` or `String`; the sequence and the position live in hidden locals made by lowering.
    /// (Over other types the checker writes a `While` with calls of `iterator`, `hasNext`, `next`.)
    ForEach {
        /// The loop.
        id: LoopIndex,
        /// The loop variable.
        local: LocalIndex,
        /// The sequence.
        iterable: Expr,
        /// The body.
        body: Expr,
    },
}

/// An arm of a match: conditions on the scrutinee's local, bindings, guard, value.
#[derive(Clone)]
pub struct Arm {
    /// When it applies.
    pub pattern: Pattern,
    /// The guard.
    pub guard: Option<Expr>,
    /// The value.
    pub body: Expr,
    /// Where.
    pub span: Span,
}

/// A checked pattern.
#[derive(Clone)]
pub enum Pattern {
    /// Matches everything.
    Any,
    /// Matches everything and binds. The local has the scrutinee's type (or its non-null form where the arms before took `null`).
    Bind(LocalIndex),
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A string.
    Str(Box<str>),
    /// Integers from..=to.
    Range(i64, i64),
    /// A type test that binds.
    Is(Ty, Option<LocalIndex>),
    /// A variant; one pattern for each payload field. The value is known to be of the enum, possibly null.
    Variant(usize, Vec<Pattern>),
    /// Alternatives.
    Or(Vec<Pattern>),
}

/// A `catch` clause.
#[derive(Clone)]
pub struct Catch {
    /// The class caught (a `TyKind::Class`).
    pub ty: Ty,
    /// The variable.
    pub local: LocalIndex,
    /// What to do.
    pub body: Expr,
}

/// A closure literal.
#[derive(Clone)]
pub struct Closure {
    /// Captured locals: in the enclosing body, and in the closure's body. `this` is captured like any local.
    pub captures: Vec<(LocalIndex, LocalIndex)>,
    /// The closure's parameters, locals of its body, in order. They come first in `body.locals`, then the captured ones.
    pub params: Vec<LocalIndex>,
    /// Its code.
    pub body: Body,
}

impl Clone for Body {
    fn clone(&self) -> Self {
        Body { locals: self.locals.clone(), loops: self.loops, expr: self.expr.clone() }
    }
}

/// Prefix operators, resolved by operand type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum UnaryOp {
    NegInt,
    NegFloat,
    Not,
    BitNot,
}

/// Infix operators, resolved by operand type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum BinaryOp {
    AddInt,
    SubInt,
    MulInt,
    DivInt,
    RemInt,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Ushr,
    AddFloat,
    SubFloat,
    MulFloat,
    DivFloat,
    RemFloat,
    /// Joins two strings. A chain of joins is flattened by lowering.
    Concat,
    LtInt,
    LeInt,
    GtInt,
    GeInt,
    LtFloat,
    LeFloat,
    GtFloat,
    GeFloat,
    LtString,
    LeString,
    GtString,
    GeString,
}
