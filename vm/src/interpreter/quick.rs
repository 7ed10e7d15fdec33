//! Quick opcodes: forms of instructions that only exist in loaded code, where the loader knows more than the program
//! says. They are numbered after [`Op`]s and have the same shapes.

use holloway_bytecode::Op;

/// Calls `$callback!` with the list of quick opcodes.
#[macro_export]
macro_rules! for_each_quick {
    ($callback:ident) => {
        $callback! {
            LoadGlobalSet "`ldg` of a global of a non-null reference type";
            NewFirst "`new` that was never executed: its class may get its first instance";
            EnterCompiled "before the first instruction of a function: goes on in its compiled code";
            NewLarge "`new` of a class whose instances do not fit a size class";
            Call0 "`call` without arguments";
            Call1 "`call` with one argument";
            Call2 "`call` with two arguments";
            Call3 "`call` with three arguments";
            Call4 "`call` with four arguments";
            CallVirtual1 "`callv` or `calli` with the receiver alone";
            CallVirtual2 "`callv` or `calli` with two arguments";
            CallVirtual3 "`callv` or `calli` with three arguments";
            CallVirtual4 "`callv` or `calli` with four arguments";
            Halt "the end of a thread";
        }
    };
}

macro_rules! define_quick {
    ($($name:ident $doc:literal;)*) => {
        /// An opcode of loaded code only.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Quick { $(#[doc = $doc] $name,)* }

        impl Quick {
            /// All of them.
            pub const ALL: &'static [Quick] = &[$(Quick::$name,)*];
        }
    };
}

for_each_quick!(define_quick);

impl Quick {
    /// The opcode byte in loaded code.
    pub const fn number(self) -> u8 {
        Op::ALL.len() as u8 + self as u8
    }
}

const _: () = assert!(Op::ALL.len() + Quick::ALL.len() <= 256);
