//! What generated programs use: the list that the statistics are about.

/// Declares the features, each with the percentage of programs that must at least have it.
macro_rules! features {
    ($($name:ident $least:literal $what:literal,)*) => {
        /// Something that a program can use.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Feature { $(#[doc = $what] $name,)* }

        impl Feature {
            /// All, in order.
            pub const ALL: &[Feature] = &[$(Feature::$name,)*];

            /// In how many of a hundred programs it must be at least.
            pub fn least_percent(self) -> usize {
                match self { $(Feature::$name => $least,)* }
            }

            /// What it is.
            pub fn description(self) -> &'static str {
                match self { $(Feature::$name => $what,)* }
            }
        }
    };
}

features! {
    Overflow 60 "numbers near the ends of `Int`, and products of anything",
    Division 50 "division and remainder",
    DivisionByZero 20 "a divisor that may be zero, where the error is caught",
    Shift 50 "shifts",
    BitOperation 60 "and, or, exclusive or, complement",
    FloatArithmetic 60 "arithmetic of floats",
    FloatSpecial 30 "NaN, infinity, and bits that become floats",
    FloatConversion 50 "between `Int` and `Float`",
    Logic 60 "and, or, not",
    Concatenation 40 "joined strings",
    Interpolation 30 "values within strings",
    StringComparison 20 "strings compared",
    StringSearch 20 "strings within strings",
    Substring 15 "parts of strings",
    StringByte 15 "bytes of strings",
    Field 60 "fields read",
    FieldWrite 50 "fields written",
    Inheritance 80 "subclasses",
    AbstractClass 30 "classes with methods that only subclasses have",
    VirtualCall 60 "calls whose receiver decides",
    SuperCall 20 "calls of the overridden method",
    InterfaceCall 30 "calls through interfaces",
    VirtualInConstructor 8 "constructors that call virtual methods",
    StaticMember 15 "static fields and functions",
    GenericFunction 20 "functions with type parameters",
    GenericClass 30 "classes with type parameters",
    Closure 60 "closures",
    Cell 30 "variables that closures write",
    ClosurePassed 15 "functions as arguments",
    ClosureReturned 8 "functions as results",
    FunctionValue 10 "names of functions as values",
    Enum 50 "enums",
    EnumMatch 25 "`match` over variants with payloads",
    RecursiveEnum 15 "enums that hold themselves",
    IntMatch 25 "`match` over integers",
    StringMatch 8 "`match` over strings",
    TypeMatch 15 "`match` over types",
    Nullable 50 "values that may be null",
    SafeCall 20 "`?.`",
    Coalesce 30 "`??`",
    NullAssertion 5 "`!`",
    Narrowing 30 "tests that tell more about a variable",
    NarrowedAgain 8 "tests of what was tested before",
    IfLet 20 "`if let` and `while let`",
    LinkedList 6 "chains of objects",
    Boxing 20 "`Any` and nullable numbers",
    Cast 25 "`as` and `as?`",
    TypeTest 30 "`is`",
    IntArray 60 "arrays of `Int`",
    FloatArray 20 "arrays of `Float`",
    BoolArray 15 "arrays of `Bool`",
    ByteArray 15 "`Bytes`",
    ObjectArray 35 "arrays of objects",
    BadIndex 25 "an index that may be outside, where the error is caught",
    LastIterationFails 5 "loops whose last iteration goes too far",
    UnsetElement 4 "elements that were never set",
    Lists 30 "`List`",
    Maps 20 "`Map`",
    Sets 15 "`Set`",
    Builders 15 "`StringBuilder`",
    PairOrOption 15 "`Pair` and `Option`",
    Iteration 25 "`for` over arrays and collections",
    OwnIterator 2 "`for` over a class of the program",
    ForRange 85 "`for` over ranges",
    DownwardLoop 20 "loops that count down",
    SteppedLoop 20 "loops with steps",
    WhileLoop 40 "`while`",
    LoopValue 10 "`loop` with a value",
    NestedLoop 50 "loops in loops",
    Label 8 "`break` and `continue` of outer loops",
    Leaving 40 "`break` and `continue`",
    EarlyReturn 40 "`return` in the middle",
    Recursion 30 "functions that call themselves",
    MutualRecursion 8 "functions that call each other",
    StackOverflow 5 "recursion that goes too deep, where the error is caught",
    Throw 25 "errors thrown",
    ThrownAcross 20 "errors that pass through calls before they are caught",
    CatchByClass 30 "`catch` of some errors only",
    Rethrow 6 "errors caught and thrown again",
    TryInLoop 20 "`try` in loops",
    Uncaught 4 "errors that end the program",
    Global 50 "global variables written and read",
    Threads 6 "threads",
    Channels 3 "channels",
    Phases 12 "call sites whose receivers change as the program goes on",
    ShortLived 10 "objects that do not outlive an iteration",
    Escaping 6 "such objects of which some do",
    LoopInvariant 9 "loads that are the same in each iteration",
    InvariantBroken 5 "loads that seem to be, but are written sometimes",
    Matrix 4 "nested loops over a matrix",
}
