//! The intermediate representation: typed, in static single assignment form, with block parameters instead of phis.
//!
//! A [`Region`] is one compilation: a method (or a loop of it) with what was inlined into it. It knows, for every node and
//! every branch, the bytecode that it stands for, and for every node that can leave compiled code, the
//! interpreter's frames to go on with ([`FrameState`]).
//!
//! # Checks give values
//!
//! A check does not only test: its *result* is the value that passed. `check_bounds(i, n)` is an index known to be inside,
//! `check_null(x)` an `x` that is not null. What needs the guarantee takes the checked value as operand. So an access
//! depends on its check by data, passes may move both wherever their operands are, and an access whose operands
//! exist is always safe to execute.
//!
//! | file | what it holds |
//! |---|---|
//! | [`types`] | what a value can be |
//! | [`op`] | what a node can do, and what passes may assume of it |
//! | [`region`] | blocks, nodes, branches, frame states, and edits on them |
//! | [`mod@print`], [`mod@parse`] | the text form |
//! | [`mod@verify`] | what holds for every region |

mod cursor;
mod names;
pub mod op;
mod operations;
pub mod parse;
pub mod print;
pub mod region;
pub mod types;
pub mod verify;

pub use op::{
    Alias, Arith, Cond, ElementKind, FloatArith, FloatCond, FloatUnary, MethodTable, Op, Reason, YieldKind,
};
pub use parse::{ParseError, parse};
pub use print::print;
pub use region::{
    Block, BlockId, FrameState, Inline, InlineId, Node, Region, RegionEntry, Shape, Source, StateId,
    StateKind, Target, Terminator, Value,
};
pub use types::{RefTy, Ty};
pub use verify::verify;
