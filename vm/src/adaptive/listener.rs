//! The method listener: at a tick of the timer, which method runs, and in which code. It allocates nothing: samples go into a
//! buffer of fixed size, which the organizer empties.

use crate::compiled::Level;
use holloway_bytecode::FunctionId;

/// A method that ran when the timer ticked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// The method; of compiled code the one that was compiled, whatever was inlined.
    pub function: FunctionId,
    /// How it was compiled; `None` for the interpreter.
    pub level: Option<Level>,
}

/// Samples that fit into the buffer.
const CAPACITY: usize = 16;

/// The buffer of samples.
#[derive(Default)]
pub struct MethodListener {
    samples: [Option<Sample>; CAPACITY],
    filled: usize,
}

impl MethodListener {
    /// Notes a sample; true if the organizer should be woken, because the buffer is full.
    pub fn take(&mut self, sample: Sample) -> bool {
        if self.filled < CAPACITY {
            self.samples[self.filled] = Some(sample);
            self.filled += 1;
        }
        self.filled == CAPACITY
    }

    /// Are there samples of compiled code: those that only the organizer can make something of.
    pub fn has_compiled(&self) -> bool {
        self.samples[..self.filled].iter().flatten().any(|sample| sample.level.is_some())
    }

    /// Hands all samples over and is empty.
    pub fn drain(&mut self) -> impl Iterator<Item = Sample> {
        let samples = std::mem::take(&mut self.samples);
        let filled = std::mem::take(&mut self.filled);
        samples.into_iter().take(filled).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_buffer_wakes_the_organizer_and_loses_what_comes_after() {
        let mut listener = MethodListener::default();
        let sample = |n| Sample { function: FunctionId(n), level: None };
        let full: Vec<bool> = (0..CAPACITY as u32 + 2).map(|n| listener.take(sample(n))).collect();
        assert_eq!(full.iter().position(|&full| full), Some(CAPACITY - 1));
        let seen: Vec<u32> = listener.drain().map(|s| s.function.0).collect();
        assert_eq!(seen, (0..CAPACITY as u32).collect::<Vec<_>>());
        assert_eq!(listener.drain().count(), 0);
    }
}
