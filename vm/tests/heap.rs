//! Tests of the heap on its own: without a virtual machine, with classes made by hand (`heap/fake.rs`).
//!
//! * `twin`: random programs run on the heap and on plain Rust structures at once, in all modes.
//! * `generations`: what the write barrier and its cards do and leave undone.
//! * `limits`: running out of memory, recovering, shrinking, and sizes that cannot be.
//! * `words`: conservative roots: interior pointers, native stacks, coroutines.
//! * `instances`: several heaps, statistics, stress mode, and that verification finds what is broken on purpose.

#[path = "heap/fake.rs"]
mod fake;
#[path = "heap/generations.rs"]
mod generations;
#[path = "heap/instances.rs"]
mod instances;
#[path = "heap/limits.rs"]
mod limits;
#[path = "heap/twin.rs"]
mod twin;
#[path = "heap/words.rs"]
mod words;
