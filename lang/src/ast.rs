//! The syntax tree: what the parser saw, names unresolved, types unchecked. Sugar stays visible here (so that
//! `dump ast` shows the program as written) except where noted; the checker removes it on the way to
//! [`crate::typed`].
//!
//! Depth is bounded: the parser refuses nesting beyond [`MAX_NESTING`], left-leaning chains included, so that
//! every later pass may recurse.

use crate::span::Span;

/// Deepest nesting of syntax nodes that the parser accepts.
pub const MAX_NESTING: u32 = 1_000;

/// An identifier and where it stands.
#[derive(Clone, PartialEq, Debug)]
pub struct Name {
    /// The text.
    pub text: Box<str>,
    /// The place.
    pub span: Span,
}

/// One file.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// `import a.b`, in order.
    pub imports: Vec<Import>,
    /// Declarations, in order.
    pub items: Vec<Item>,
}

/// `import a.b.c`.
#[derive(Clone, Debug)]
pub struct Import {
    /// The parts of the path.
    pub path: Vec<Name>,
    /// The whole declaration.
    pub span: Span,
}

/// A top-level declaration.
#[derive(Clone, Debug)]
pub struct Item {
    /// `private`.
    pub private: bool,
    /// What is declared.
    pub kind: ItemKind,
}

/// The kinds of top-level declaration.
#[derive(Clone, Debug)]
pub enum ItemKind {
    /// `fn f(…) {…}`
    Function(Function),
    /// `class C {…}`
    Class(Class),
    /// `interface I {…}`
    Interface(Interface),
    /// `enum E {…}`
    Enum(Enum),
    /// `let x = e` or `var x = e`
    Global(Global),
}

/// A type parameter with its bounds: `T: A & B`.
#[derive(Clone, Debug)]
pub struct TypeParam {
    /// The parameter.
    pub name: Name,
    /// The bounds; empty for none.
    pub bounds: Vec<TypeExpr>,
}

/// A value parameter. In closures the type may be missing.
#[derive(Clone, Debug)]
pub struct Param {
    /// The parameter.
    pub name: Name,
    /// Its type, if written.
    pub ty: Option<TypeExpr>,
}

/// A function, method or `init`.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name (`init` for constructors).
    pub name: Name,
    /// `<T, …>`.
    pub type_params: Vec<TypeParam>,
    /// `(a: A, …)`.
    pub params: Vec<Param>,
    /// `-> R`; `None` means `Unit`.
    pub result: Option<TypeExpr>,
    /// The body; `None` for abstract and interface methods.
    pub body: Option<Block>,
    /// From the first keyword to the end of the header.
    pub span: Span,
}

/// A class.
#[derive(Clone, Debug)]
pub struct Class {
    /// Its name.
    pub name: Name,
    /// `<T, …>`.
    pub type_params: Vec<TypeParam>,
    /// `class P(let x: A, var y: B)`: declared fields with the `init` that sets them; `None` without parentheses.
    pub header_fields: Option<Vec<HeaderField>>,
    /// After the colon: superclass and interfaces in any order (the checker sorts them).
    pub supers: Vec<TypeExpr>,
    /// `abstract class`.
    pub is_abstract: bool,
    /// `final class`.
    pub is_final: bool,
    /// The members in order.
    pub members: Vec<Member>,
    /// The header.
    pub span: Span,
}

/// A field declared in the class header.
#[derive(Clone, Debug)]
pub struct HeaderField {
    /// `var` rather than `let`.
    pub mutable: bool,
    /// Name.
    pub name: Name,
    /// Type.
    pub ty: TypeExpr,
}

/// A member of a class with its modifiers.
#[derive(Clone, Debug)]
pub struct Member {
    /// `private`.
    pub private: bool,
    /// `static`.
    pub is_static: bool,
    /// `abstract`.
    pub is_abstract: bool,
    /// `final`.
    pub is_final: bool,
    /// `override`.
    pub is_override: bool,
    /// What it is.
    pub kind: MemberKind,
    /// The header of the member.
    pub span: Span,
}

/// The kinds of class member.
#[derive(Clone, Debug)]
pub enum MemberKind {
    /// A field, or a static variable.
    Field(Global),
    /// The constructor.
    Init(Function),
    /// A method or static function.
    Method(Function),
}

/// An interface.
#[derive(Clone, Debug)]
pub struct Interface {
    /// Its name.
    pub name: Name,
    /// `<T, …>`.
    pub type_params: Vec<TypeParam>,
    /// Interfaces it extends.
    pub supers: Vec<TypeExpr>,
    /// Its methods, without bodies (a body is reported by the checker).
    pub methods: Vec<Function>,
    /// The header.
    pub span: Span,
}

/// An enum.
#[derive(Clone, Debug)]
pub struct Enum {
    /// Its name.
    pub name: Name,
    /// `<T, …>`.
    pub type_params: Vec<TypeParam>,
    /// The variants in order.
    pub variants: Vec<Variant>,
    /// Its methods.
    pub methods: Vec<Member>,
    /// The header.
    pub span: Span,
}

/// A variant of an enum.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Its name.
    pub name: Name,
    /// The payload; `None` without parentheses.
    pub fields: Option<Vec<Param>>,
}

/// A `let` or `var` outside function bodies: global, static or field.
#[derive(Clone, Debug)]
pub struct Global {
    /// `var` rather than `let`.
    pub mutable: bool,
    /// The name.
    pub name: Name,
    /// The type, if written.
    pub ty: Option<TypeExpr>,
    /// The initialiser, if written.
    pub init: Option<Expr>,
    /// The declaration.
    pub span: Span,
}

/// A type as written.
#[derive(Clone, Debug)]
pub struct TypeExpr {
    /// What it says.
    pub kind: TypeExprKind,
    /// Where.
    pub span: Span,
}

/// The forms of written types.
#[derive(Clone, Debug)]
pub enum TypeExprKind {
    /// `a.Name<T, U>`: an optional module qualifier, a name, type arguments.
    Named {
        /// Module qualifier.
        module: Option<Name>,
        /// The type's name.
        name: Name,
        /// Type arguments.
        args: Vec<TypeExpr>,
    },
    /// `T?`
    Nullable(Box<TypeExpr>),
    /// `fn(A, B) -> R`
    Function {
        /// Parameter types.
        params: Vec<TypeExpr>,
        /// Result type; `None` means `Unit`.
        result: Option<Box<TypeExpr>>,
    },
    /// Something unreadable that was already reported.
    Error,
}

/// `{ statements }`.
#[derive(Clone, Debug)]
pub struct Block {
    /// The statements. If the last one is an expression statement, it is the block's value.
    pub stmts: Vec<Stmt>,
    /// With both braces.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Where.
    pub span: Span,
}

/// The kinds of statement.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `let x: T = e`, `var x = e`.
    Let {
        /// `var`.
        mutable: bool,
        /// The variable.
        name: Name,
        /// Its type, if written.
        ty: Option<TypeExpr>,
        /// The initialiser (a missing one is reported by the parser and replaced by `ExprKind::Error`).
        init: Expr,
    },
    /// An expression for its effect or, last in a block, its value.
    Expr(Expr),
    /// `place = e`, `place += e`, …
    Assign {
        /// `None` for `=`.
        op: Option<AssignOp>,
        /// The left side (the checker refuses what is no place).
        target: Expr,
        /// The right side.
        value: Expr,
    },
    /// `while c {…}` or `while let x = e {…}`.
    While {
        /// `'label:`.
        label: Option<Name>,
        /// The condition.
        cond: Cond,
        /// The body.
        body: Block,
    },
    /// `for i in a..b step k {…}`.
    ForRange {
        /// `'label:`.
        label: Option<Name>,
        /// The loop variable.
        var: Name,
        /// First value.
        from: Expr,
        /// Bound.
        to: Expr,
        /// `..=`.
        inclusive: bool,
        /// `step k`: an integer literal with an optional minus; 1 if not written.
        step: i64,
        /// The body.
        body: Block,
    },
    /// `for x in e {…}`.
    ForEach {
        /// `'label:`.
        label: Option<Name>,
        /// The loop variable.
        var: Name,
        /// What is iterated over.
        iterable: Expr,
        /// The body.
        body: Block,
    },
    /// A function declared inside a block is not part of the language; the parser reports it. This stands for
    /// any statement that could not be read.
    Error,
}

/// A condition of `if` and `while`.
#[derive(Clone, Debug)]
pub enum Cond {
    /// A `Bool` expression.
    Expr(Expr),
    /// `let x = e`: true if `e` is not null, with `x` bound to it.
    Let(Name, Expr),
}

/// The operator of a compound assignment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AssignOp {
    /// `+=` and friends.
    Binary(BinaryOp),
    /// `??=`: assign if null.
    Coalesce,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where.
    pub span: Span,
}

/// The kinds of expression.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `42`, `'a'`.
    Int(i64),
    /// `1.5`.
    Float(f64),
    /// `true`, `false`.
    Bool(bool),
    /// `null`.
    Null,
    /// `()`: the value of `Unit`.
    Unit,
    /// A string without interpolation, escapes resolved.
    Str(Box<str>),
    /// A string with interpolations.
    Interpolated(Vec<StrPart>),
    /// `this`.
    This,
    /// A bare name, with type arguments if written: `f`, `List<Int>`.
    Name(Name, Vec<TypeExpr>),
    /// `[a, b]`.
    Array(Vec<Expr>),
    /// `f(args)`. Method calls are calls whose callee is a `Member`.
    Call {
        /// What is called.
        callee: Box<Expr>,
        /// The arguments.
        args: Vec<Expr>,
    },
    /// `super(args)` in `init`.
    SuperInit(Vec<Expr>),
    /// `super.m(args)`.
    SuperCall {
        /// The method.
        name: Name,
        /// The arguments.
        args: Vec<Expr>,
    },
    /// `e.m`, `e?.m`, with type arguments if written: `e.m<Int>`.
    Member {
        /// The object (or a class, enum or module name).
        object: Box<Expr>,
        /// The member.
        name: Name,
        /// `?.`.
        safe: bool,
        /// Type arguments.
        type_args: Vec<TypeExpr>,
    },
    /// `a[i]`.
    Index(Box<Expr>, Box<Expr>),
    /// `e!`.
    NonNull(Box<Expr>),
    /// `-e`, `!e`, `~e`.
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`, `a && b`, `a ?? b`, … with the operator's place.
    Binary(BinaryOp, Span, Box<Expr>, Box<Expr>),
    /// `e is T`.
    Is(Box<Expr>, TypeExpr),
    /// `e as T`.
    As(Box<Expr>, TypeExpr),
    /// `e as? T`.
    AsNullable(Box<Expr>, TypeExpr),
    /// `|x, y: T| -> R body`.
    Closure {
        /// Parameters.
        params: Vec<Param>,
        /// Result type, if written.
        result: Option<TypeExpr>,
        /// The body.
        body: Box<Expr>,
    },
    /// `{…}`.
    Block(Block),
    /// `if c {…} else {…}`; `else if` is an `If` inside the else.
    If {
        /// The condition.
        cond: Box<Cond>,
        /// Taken if true.
        then: Block,
        /// Taken if false: a `Block` or `If`.
        otherwise: Option<Box<Expr>>,
    },
    /// `match e { arms }`.
    Match {
        /// The value matched.
        scrutinee: Box<Expr>,
        /// The arms.
        arms: Vec<Arm>,
    },
    /// `loop {…}`.
    Loop {
        /// `'label:`.
        label: Option<Name>,
        /// The body.
        body: Block,
    },
    /// `try {…} catch e: T {…}`.
    Try {
        /// The body.
        body: Block,
        /// The clauses; at least one.
        catches: Vec<Catch>,
    },
    /// `return e`.
    Return(Option<Box<Expr>>),
    /// `throw e`.
    Throw(Box<Expr>),
    /// `break 'label e`.
    Break {
        /// The label.
        label: Option<Name>,
        /// The value (of `loop` only).
        value: Option<Box<Expr>>,
    },
    /// `continue 'label`.
    Continue {
        /// The label.
        label: Option<Name>,
    },
    /// Something unreadable that was already reported.
    Error,
}

/// A piece of an interpolated string.
#[derive(Clone, Debug)]
pub enum StrPart {
    /// Literal text, escapes resolved.
    Text(Box<str>),
    /// `${e}`.
    Expr(Expr),
}

/// An arm of `match`.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The pattern.
    pub pattern: Pattern,
    /// `if guard`.
    pub guard: Option<Expr>,
    /// After `=>`.
    pub body: Expr,
}

/// A pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// What it says.
    pub kind: PatternKind,
    /// Where.
    pub span: Span,
}

/// The kinds of pattern.
#[derive(Clone, Debug)]
pub enum PatternKind {
    /// `_`
    Wildcard,
    /// A name that does not begin with a capital: binds the value.
    Bind(Name),
    /// `name: Type` or `_: Type`: a type test that binds (`None` for `_`).
    Typed(Option<Name>, TypeExpr),
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// `-1`, `'a'`
    Int(i64),
    /// `1.5`, `-1.5`
    Float(f64),
    /// `"x"`
    Str(Box<str>),
    /// `a..b`, `a..=b`
    Range {
        /// First value.
        from: i64,
        /// Bound.
        to: i64,
        /// `..=`.
        inclusive: bool,
    },
    /// `Circle(r)`, `Shape.Circle(r)`, `shapes.Shape.Circle(r)`, `Empty`; `fields` is `None` without parentheses.
    Variant {
        /// The module of the enum, if written.
        module: Option<Name>,
        /// The enum's name, if written.
        enum_name: Option<Name>,
        /// The variant's name.
        name: Name,
        /// The patterns of the payload.
        fields: Option<Vec<Pattern>>,
    },
    /// `p | q`
    Or(Vec<Pattern>),
    /// Something unreadable that was already reported.
    Error,
}

/// A `catch` clause.
#[derive(Clone, Debug)]
pub struct Catch {
    /// The variable.
    pub name: Name,
    /// The type caught; `None` means `Error`.
    pub ty: Option<TypeExpr>,
    /// What to do.
    pub body: Block,
}

/// Prefix operators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnaryOp {
    /// `-`
    Neg,
    /// `!`
    Not,
    /// `~`
    BitNot,
}

/// Infix operators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Ushr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    AndAnd,
    OrOr,
    Coalesce,
}
