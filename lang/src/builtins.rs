//! Operations of built-in types and of the system, as the typed program names them.

use crate::typed::Ty;
use holloway_bytecode::Native;

/// An operation that lowering turns into an instruction or a native call. Arguments are in the order of the
/// source, the receiver first.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Builtin {
    /// `Int` to `Float`.
    IntToFloat,
    /// `Float` to `Int`: truncates, saturates, NaN is 0.
    FloatToInt,
    /// `Float.sqrt`.
    Sqrt,
    /// `Float.abs`.
    FloatAbs,
    /// Length of `Array`, `Bytes` or `String`.
    Length,
    /// `Array<T>(n)`; the node's type is the array type.
    NewArray,
    /// `Array<T>(n, value)`.
    NewArrayFilled,
    /// `Bytes(n)`.
    NewBytes,
    /// `a.fill(v)` on `Array` and `Bytes`.
    Fill,
    /// `a.unset(i)`.
    Unset,
    /// A value as a string, as `${x}` does: `Int`, `Float`, `Bool`, `String`, an enum, nullable ones, type parameters (after
    /// substitution: as their argument) and types with `toString`. The type is that of the one argument.
    ToString,
    /// `e.name` of an enum.
    EnumName,
    /// `x.hash()` on `Int`, `Float`, `Bool`, `String`.
    Hash(Ty),
    /// `x.compareTo(y)` on `Int`, `Float`, `Bool`, `String`.
    Compare(Ty),
    /// Any native, with its arguments. The result has the node's type, which is narrower than the native's where that says `Object`.
    Native(Native),
}
