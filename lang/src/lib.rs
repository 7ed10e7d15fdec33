//! The front end of Holloway: source text to syntax tree to typed program to bytecode.
//!
//! A program flows through [`sources`] (the text), [`lexer`], [`parser`] and [`ast`]. Every stage reports what
//! is wrong to one list of [`diagnostics`], which [`render`] prints; [`dump`] shows what the stages saw. All of
//! it recurses over trees of bounded depth and therefore runs inside [`with_deep_stack`].

#![forbid(unsafe_code)]

pub mod ast;
pub mod builtins;
mod check;
mod deep_stack;
pub mod diagnostics;
pub mod dump;
pub mod lexer;
pub mod lower;
pub mod parser;
pub mod pipeline;
pub mod render;
pub mod sources;
pub mod span;
pub mod typed;

pub use check::library::library_text;
pub use check::suggest::edits as name_distance;
pub use deep_stack::with_deep_stack;
