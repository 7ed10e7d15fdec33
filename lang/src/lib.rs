//! The front end of Holloway: source text to syntax tree to typed program to bytecode.
//!
//! A program flows through [`sources`] (the text), [`lexer`], [`parser`] and [`ast`]. Every stage reports what
//! is wrong to one list of [`diagnostics`], which [`render`] prints; [`dump`] shows what the stages saw. All of
//! it recurses over trees of bounded depth and therefore runs inside [`with_deep_stack`].

#![forbid(unsafe_code)]

pub mod ast;
mod deep_stack;
pub mod diagnostics;
pub mod dump;
pub mod lexer;
pub mod parser;
pub mod render;
pub mod sources;
pub mod span;

pub use deep_stack::with_deep_stack;
