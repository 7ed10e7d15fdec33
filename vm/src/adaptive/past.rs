//! How much the interpreter did for a method, from the counters that it keeps anyway: entries, and both ways of each branch.
//!
//! Every entry and every branch begins a straight piece of code, and the pieces of a method are of about the same length: its
//! words over its branches plus one. What the method called is not in it: that has counters of its own.

use crate::compiled::Branches;
use crate::loader::Counters;
use holloway_bytecode::ops::OpShape;
use holloway_bytecode::{Function, FunctionId, code};

/// Words that the interpreter executed for a function, about.
pub fn interpreted_words(function: FunctionId, body: &Function, counters: &Counters) -> f64 {
    let mut pieces = counters.invocations(function) as f64;
    let mut branches = 1.0;
    for (pc, instruction) in code::instructions(&body.code) {
        let pc = pc as u32;
        match instruction.op.shape() {
            OpShape::Branch | OpShape::LoopBranch => {
                pieces += counters.branch(function, pc).iter().map(|&n| n as f64).sum::<f64>();
                branches += 1.0;
            }
            OpShape::Switch => {
                let cases = instruction.cases().len();
                pieces += counters.switch(function, pc, cases).iter().map(|&n| n as f64).sum::<f64>();
                branches += 1.0;
            }
            _ => {}
        }
    }
    pieces * body.code.len() as f64 / branches
}
