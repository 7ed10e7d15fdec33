//! What bytecode can ask the system to do: one table of functions with their signatures. The verifier checks calls
//! against it, the compiler maps built-in methods to it, the virtual machine implements each entry.

use crate::types::{ClassId, RefType, Shape, Type};

/// The type of a native's parameter or result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NativeType {
    /// An integer.
    Int,
    /// A double.
    Float,
    /// A Boolean.
    Bool,
    /// A non-null string.
    Str,
    /// Non-null bytes.
    Bytes,
    /// Any non-null object; as a result, of the type of the first argument.
    Object,
    /// Any object or null.
    Nullable,
    /// As a result: a boxed `Int`, or null.
    IntOrNull,
    /// As a result: a boxed `Float`, or null.
    FloatOrNull,
}

impl NativeType {
    /// The register type that it stands for.
    pub fn ty(self) -> Type {
        let boxed = |class| Type::Ref(RefType { shape: Shape::Class(class), nullable: true });
        match self {
            NativeType::Int => Type::Int,
            NativeType::Float => Type::Float,
            NativeType::Bool => Type::Bool,
            NativeType::Str => Type::class(ClassId::STRING),
            NativeType::Bytes => Type::class(ClassId::BYTES),
            NativeType::Object => Type::reference(Shape::Any),
            NativeType::Nullable => Type::reference(Shape::Any).nullable(),
            NativeType::IntOrNull => boxed(ClassId::INT_BOX),
            NativeType::FloatOrNull => boxed(ClassId::FLOAT_BOX),
        }
    }
}

/// Calls `$callback!` with the table: `[Variant name (Param, …) Result] "what it does";` with `-` for no result.
/// `(..Str)` marks the one native that takes any number of strings.
#[macro_export]
macro_rules! for_each_native {
    ($callback:ident) => { $callback! {
        [Print print (Str) -] "Writes a string to standard output.";
        [IntToString intToString (Int) Str] "Decimal digits.";
        [IntToHex intToHex (Int) Str] "Hexadecimal digits of the 64 bits, without prefix.";
        [FloatToString floatToString (Float) Str] "Shortest digits that read back the same.";
        [CharToString charToString (Int) Str] "The character with this code point (`ValueError` if there is none).";
        [IntParse intParse (Str) IntOrNull] "Reads a decimal integer with an optional sign.";
        [FloatParse floatParse (Str) FloatOrNull] "Reads a decimal float.";
        [Concat concat (..Str) Str] "Joins strings.";
        [StringEquals stringEquals (Str, Str) Bool] "Same bytes.";
        [StringCompare stringCompare (Str, Str) Int] "-1, 0 or 1, by bytes.";
        [StringHash stringHash (Str) Int] "A hash of the bytes, the same on every machine.";
        [Substring substring (Str, Int, Int) Str] "Bytes from..to (`IndexError` outside, `ValueError` inside a character).";
        [StringIndexOf stringIndexOf (Str, Str, Int) Int] "First place of the second string at or after a position, or -1.";
        [StringFromBytes stringFromBytes (Bytes, Int, Int) Str] "Bytes from..to as a string (`ValueError` if they are not UTF-8).";
        [StringToBytes stringToBytes (Str) Bytes] "A copy of the bytes.";
        [BytesWord bytesWord (Bytes, Int) Int] "Eight bytes from a position on as one integer, the first as its lowest (`IndexError` unless all are inside).";
        [BytesSetWord bytesSetWord (Bytes, Int, Int) -] "Sets eight bytes from a position on to those of an integer, the first to its lowest (`IndexError` unless all are inside).";
        [ArrayCopy arrayCopy (Object, Int, Int) Object] "A new array with the elements from..to of an array or bytes.";
        [ArrayMove arrayMove (Object, Int, Object, Int, Int) -] "Copies count elements from one array at a position to another of the same type at a position; they may overlap.";
        [FillInt fillInt (Object, Int) -] "Sets all elements of an `Array<Int>` or `Bytes`.";
        [FillFloat fillFloat (Object, Float) -] "Sets all elements of an `Array<Float>`.";
        [FillBool fillBool (Object, Bool) -] "Sets all elements of an `Array<Bool>`.";
        [FillRef fillRef (Object, Nullable) -] "Sets all elements of an array of references.";
        [Sin sin (Float) Float] "Sine.";
        [Cos cos (Float) Float] "Cosine.";
        [Tan tan (Float) Float] "Tangent.";
        [Atan atan (Float) Float] "Arc tangent.";
        [Atan2 atan2 (Float, Float) Float] "Arc tangent of y / x in the right quadrant.";
        [Exp exp (Float) Float] "Exponential.";
        [Log log (Float) Float] "Natural logarithm.";
        [Pow pow (Float, Float) Float] "Power.";
        [FloatRem floatRem (Float, Float) Float] "C's fmod.";
        [Floor floor (Float) Float] "Largest whole number not above.";
        [Ceil ceil (Float) Float] "Smallest whole number not below.";
        [Round round (Float) Float] "Nearest whole number, halves away from zero.";
        [FloatBits floatBits (Float) Int] "The bits; every NaN gives the same.";
        [FloatFromBits floatFromBits (Int) Float] "The double with these bits.";
        [ArgCount argCount () Int] "How many arguments the program was given.";
        [Arg arg (Int) Str] "One of them.";
        [NanoTime nanoTime () Int] "Nanoseconds since the start; under the virtual timer, virtual ones.";
        [Seed seed () Int] "The value of `--seed`.";
        [ThreadSpawn threadSpawn (Object) Int] "Starts a thread that calls a closure without parameters and result; its number.";
        [ThreadCurrent threadCurrent () Int] "The number of this thread; the main thread is 0.";
        [ThreadYield threadYield () -] "Lets the other threads run.";
        [ThreadSleep threadSleep (Int) -] "Waits at least so many milliseconds.";
        [ThreadWait threadWait (Object, Str) -] "Waits until another thread wakes the object; the string says for what, should nobody ever.";
        [ThreadWake threadWake (Object, Bool) -] "Wakes the first thread, or all, that wait for the object.";
        [ThreadFailed threadFailed (Int, Object) -] "Notes that the thread ended with this error, to be reported unless it is joined.";
        [ThreadJoined threadJoined (Int) -] "Takes the note back: the error has been handed over.";
        [NextNumber nextNumber () Int] "1, 2, 3, …: names for things that messages mention.";
        [CollectGarbage collectGarbage () -] "Runs a full collection.";
        [HeapUsed heapUsed () Int] "Bytes that the last collection found alive plus those allocated since.";
    } };
}

macro_rules! define_natives {
    ($([$variant:ident $name:ident ($($params:tt)*) $result:tt] $doc:literal;)*) => {
        /// A function of the system, see the table in [`crate::natives`].
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u16)]
        pub enum Native { $(#[doc = $doc] $variant,)* }

        impl Native {
            /// All natives in order.
            pub const ALL: &'static [Native] = &[$(Native::$variant,)*];

            /// The name in text form and in the standard library.
            pub fn name(self) -> &'static str {
                match self { $(Native::$variant => stringify!($name),)* }
            }

            /// What it does, in words.
            pub fn description(self) -> &'static str {
                match self { $(Native::$variant => $doc,)* }
            }

            /// Types of the parameters. For a variadic native, the type of each argument.
            pub fn params(self) -> &'static [NativeType] {
                match self { $(Native::$variant => define_natives!(@params $($params)*),)* }
            }

            /// Takes any number of arguments of the one type given.
            pub fn is_variadic(self) -> bool {
                match self { $(Native::$variant => define_natives!(@variadic $($params)*),)* }
            }

            /// Type of the result; `None` for nothing.
            pub fn result(self) -> Option<NativeType> {
                match self { $(Native::$variant => define_natives!(@result $result),)* }
            }
        }
    };
    (@params ..$ty:ident) => { &[NativeType::$ty] };
    (@params $($ty:ident),*) => { &[$(NativeType::$ty),*] };
    (@variadic ..$ty:ident) => { true };
    (@variadic $($ty:ident),*) => { false };
    (@result -) => { None };
    (@result $ty:ident) => { Some(NativeType::$ty) };
}

for_each_native!(define_natives);

impl Native {
    /// The native with this number.
    pub fn from_number(number: u32) -> Option<Native> {
        Native::ALL.get(number as usize).copied()
    }

    /// The native with this name.
    pub fn from_name(name: &str) -> Option<Native> {
        Native::ALL.iter().copied().find(|n| n.name() == name)
    }
}
