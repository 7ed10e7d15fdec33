//! Bodies of hot functions: shapes of code that optimizers care about, filled with random statements. Each takes the
//! largest `n` that the function is called with, finds the parameters `n`, `seed` and the checksum `h` in scope, and makes
//! the statements before the result.

mod arrays;
mod closures;
mod collections;
mod control;
mod errors;
mod objects;
mod receivers;
mod threads;
mod values;

use crate::random::generator::Generator;
use crate::random::tree::Statement;

/// Makes the body of a hot function.
pub type Make = fn(&mut Generator, usize) -> Vec<Statement>;

/// All shapes, with how often each is chosen.
pub const KERNELS: &[(usize, Make)] = &[
    (5, arrays::arrays),
    (3, arrays::last_iteration),
    (2, arrays::matrix),
    (2, arrays::bytes),
    (2, arrays::unset),
    (6, receivers::receivers),
    (3, receivers::casts),
    (6, objects::short_lived),
    (5, objects::invariants),
    (3, objects::chain),
    (2, objects::iterator),
    (5, closures::closures),
    (3, closures::library),
    (4, errors::errors),
    (2, errors::pipeline),
    (5, collections::collections),
    (2, collections::texts),
    (5, control::nest),
    (3, control::floats),
    (3, values::enums),
    (3, values::nullables),
    (2, values::boxes),
    (4, threads::threads),
];
