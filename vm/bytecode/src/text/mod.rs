//! The text form of programs: an assembler and a disassembler that are each other's inverse.
//!
//! [`print_program`] writes any program at all, also one that the verifier would refuse, and [`assemble`] reads it
//! back bit for bit. What has no pleasant form is written as numbers, so that nothing is lost:
//!
//! * A name that is not unique in its table has its number added, `draw#12`; a number that has no entry stands alone,
//!   `#12`. Names that do not look like names are quoted: `"fn(Int) -> Int"`.
//! * Words that are no instruction, or one with bits where the table says that there are none, are written as
//!   `words 0x…`.
//! * A target inside an instruction is written as a distance, `+3`; a handler's place without label as a number.
//! * Positions that do not lie on instructions, or not in order, are listed after the code: `position 7 @ 3:1`.
//!
//! # Grammar
//!
//! One line is one declaration or instruction; `;` begins a comment. Inside `[…]`, lines may be broken.
//!
//! ```text
//! file "main.hol"
//! string "some text"
//! built-in classes                          ; the five classes that every program begins with
//! abstract class Shape : Base {             ; `: Base` and `{…}` may be missing
//!     field name: String                    ; all fields and methods, inherited ones first
//!     abstract method area() -> float
//!     method draw(int, Pen?) = Shape.draw   ; the function
//!     implements Drawable [draw]            ; for each method of the interface, the method that implements it
//! }
//! class Array<Shape> array Shape            ; elements: byte, bool, int, float or a reference type
//! class String string
//! interface Drawable : Printable {
//!     method draw(int, Pen?)
//! }
//! global counter: int
//! error-root Error
//! error-classes IndexError, NullError, …
//! entry main
//! function Shape.draw(r0: Shape, r1: int, r2: Pen?) {
//!     registers r3..r5: int, r6: any?
//! L1:
//!     addi     r3, r1, 1                    @ 12:5
//!     brlti    r3, 10, L1   taken 3 of 8    @ "other.hol" 12:9
//!     switch   r3, 0 [L2, L3 x7] else L4
//!     callv    -, draw(r0, r3, r2)
//!     catch IndexError in r6 from L1 to L2 at L3
//! }
//! ```
//!
//! Types of registers are written in lower case, `int`, `float`, `bool`, `any`; everything else is a reference to a
//! class or interface of that name (so `Int` is a box), with `?` if it may be null. Where a class and an interface
//! share a name, or it is one of the words above, `class` or `interface` stands before it.
//!
//! The operands of an instruction are those of [`Op::operands`](crate::Op::operands) in that order, and neither
//! direction knows any opcode by name: a new row in the table has its text form at once. A field follows its object
//! as `r2.next`; cases and arguments come last; `-` is the result of a call that has none. `@` gives the source position from here
//! on; the file is that of the position before, at first the program's first.

mod assemble;
mod assemble_code;
mod cursor;
mod lexemes;
mod names;
mod operands;
mod parts;
mod print;
mod print_code;

pub use assemble::{AssemblyError, assemble};
pub use print::{PrintOptions, Printer, print_function, print_program, type_name};

/// A beginning for programs written by hand: the built-in classes, `Array<Int>`, `Error` and the errors of the system.
/// Append to it what is to be tried.
pub const PRELUDE: &str = include_str!("prelude.hbc");
