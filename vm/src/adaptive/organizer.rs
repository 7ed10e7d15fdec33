//! The hot-method organizer: how much time each method took lately in the code that it has, from samples. Older samples
//! count less, so that what is over is forgotten.

use super::listener::Sample;
use crate::compiled::Level;
use holloway_bytecode::FunctionId;

/// After so many samples all weights are decayed.
const EPOCH: u32 = 64;
/// By this factor. Jikes RVM divides by 1.1 at each decay of its method samples.
const DECAY: f64 = 1.0 / 1.1;

/// The recent samples of a method.
#[derive(Clone, Copy, Default)]
struct Weight {
    samples: f64,
    /// Of the code that the samples are of.
    level: Option<Level>,
}

/// Decayed samples of all methods.
pub struct Organizer {
    weights: Vec<Weight>,
    since_decay: u32,
}

impl Organizer {
    /// No samples yet.
    pub fn new(functions: usize) -> Organizer {
        Organizer { weights: vec![Weight::default(); functions], since_decay: 0 }
    }

    /// Adds a sample. Gives how many samples count for the method now, in code of the sample's level: those of other code say
    /// nothing about it.
    pub fn add(&mut self, sample: Sample) -> f64 {
        self.since_decay += 1;
        if self.since_decay >= EPOCH {
            self.since_decay = 0;
            self.weights.iter_mut().for_each(|weight| weight.samples *= DECAY);
        }
        let weight = &mut self.weights[sample.function.index()];
        if weight.level != Some(sample.level) {
            *weight = Weight { samples: 0.0, level: Some(sample.level) };
        }
        weight.samples += 1.0;
        weight.samples
    }

    /// How many samples count for a method.
    pub fn samples(&self, function: FunctionId) -> f64 {
        self.weights[function.index()].samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiled::Entry;

    #[test]
    fn samples_decay_and_new_code_starts_from_nothing() {
        let mut organizer = Organizer::new(2);
        let sample = |level| Sample { function: FunctionId(1), entry: Entry::Method, level };
        for n in 1..EPOCH {
            assert_eq!(organizer.add(sample(Level::O0)), n as f64);
        }
        let decayed = (EPOCH - 1) as f64 * DECAY + 1.0;
        assert_eq!(organizer.add(sample(Level::O0)), decayed);
        assert_eq!(organizer.add(sample(Level::O1)), 1.0);
        assert_eq!(organizer.samples(FunctionId(0)), 0.0);
    }
}
