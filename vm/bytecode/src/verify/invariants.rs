//! The list of everything that the verifier establishes. A check names its invariant, an error too, and
//! `tests/verify` has programs that break each.

macro_rules! invariants {
    ($($(#[$group:meta])* $name:ident $statement:literal;)*) => {
        /// Something that holds for every verified program.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Invariant { $($(#[$group])* #[doc = $statement] $name,)* }

        impl Invariant {
            /// All of them, in order.
            pub const ALL: &'static [Invariant] = &[$(Invariant::$name,)*];

            /// Its name: a letter for the part of the program, and a number.
            pub fn name(self) -> &'static str {
                match self { $(Invariant::$name => stringify!($name),)* }
            }

            /// What holds.
            pub fn statement(self) -> &'static str {
                match self { $(Invariant::$name => $statement,)* }
            }
        }
    };
}

invariants! {
    // The tables of the program.
    P1 "The first classes are the built-in ones, with their names and layouts, concrete and without superclass; \
        no class extends one of them.";
    P2 "Every number in a table names something that exists: types of fields, elements, globals, signatures, \
        registers and results; superclasses, interfaces, methods' functions, error classes, the entry.";
    P3 "A superclass precedes its subclasses; both are made of fields (arrays and strings neither extend nor are \
        extended, so a reference to an array class is to exactly that class).";
    P4 "The fields of a class begin with those of its superclass.";
    P5 "The method table of a class begins with that of its superclass: same names and parameters, results that fit.";
    P6 "The function of a method takes the receiver in register 0, whose type accepts every instance of the class, \
        then exactly the parameters of the signature; its result fits that of the signature.";
    P7 "Only abstract classes have methods without function.";
    P8 "An interface lists all that it extends, directly or not, each once; those precede it.";
    P9 "A class lists all interfaces that it implements, each once: those of its superclass, and those that its \
        interfaces extend, included.";
    P10 "An implementation names for each method of the interface a slot of the class with the same parameters and \
         a result that fits.";
    P11 "There is an error root; it is made of fields, of which the first is the message, a `String`, and the second \
         the trace, a nullable array of integers.";
    P12 "There is a concrete subclass of the error root for each kind of error, and zero is a value of all its fields \
         but the message (so that the system can make instances).";
    P13 "The entry, if there is one, has neither parameters nor result.";

    // The form of functions.
    F1 "A function has at most 65,000 registers and at most 255 parameters, which are among the registers.";
    F2 "Code is not empty, has at most 2^24 words, and consists of whole instructions.";
    F3 "Bits that no operand uses, counters, and words of the machine are zero.";
    F4 "Every target is the first word of an instruction of the same function.";
    F5 "Instructions of the loop shapes go back (or to themselves) and all others forward; with F7, every cycle has \
        a yieldpoint.";
    F6 "The last instruction does not fall through.";
    F7 "A handler protects at least one instruction, from the first word of one to the first word of another or the \
        end, and its own code begins at an instruction after what it protects.";
    F8 "A handler catches the error root or a subclass, in a register that accepts it.";
    F9 "Positions are at first words of instructions in ascending order, beginning with that of the first; their files exist, \
        or the line is 0.";

    // The operands of instructions.
    O1 "Every register operand exists.";
    O2 "Every register operand is of the kind that the opcode table says.";
    O3 "Every class, interface, field, method, string, global, function and native that an instruction names exists.";
    O4 "Flags are 0 or 1, constant divisors are not 0, a switch has at least one case.";

    // Types.
    T1 "What an instruction other than a call puts into a register fits its type.";
    T2 "Only registers of nullable types are set to null.";
    T3 "What is stored into a global, a field or an element fits its type; `putf` stores no references and `putr` \
        nothing else.";
    T4 "Fields are accessed through references to classes made of fields; fields of boxes are never written.";
    T5 "`new` makes instances of concrete classes made of fields, `newarr` of array classes.";
    T6 "Instructions for elements are applied to arrays (or bytes, or, to read, strings) whose elements are of the \
        kind that they are for: `getb`/`putb` one byte, `getw` eight bytes that may be zero, `putw` eight bytes that are no references, \
        `gete` non-null references, `pute` references.";
    T7 "A call has as many arguments as the callee has parameters, and they fit; the receiver of a virtual call is a \
        non-null reference to a class, that of an interface call to something that implements the interface.";
    T8 "The result of a call, if there is one, fits the type of its register.";
    T9 "Natives that work on arrays get references to array classes, with elements of the kind that they are for, \
        and values that fit; those that work on two arrays get two of the same class.";
    T10 "A function returns a value that fits its result, or nothing if it has none.";
    T11 "Only instances of the error root are thrown.";

    // Flow.
    A1 "No register is read before it was written, on any path. A handler can be entered before any of the \
        instructions that it protects.";
}
