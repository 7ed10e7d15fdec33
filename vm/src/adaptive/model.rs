//! The cost/benefit model (Arnold, Fink, Grove, Hind, Sweeney 2000, section 4.3): a method that took the time T so far will
//! take as much again, if nothing is done. At a level that is S times as fast it takes T/S, and compiling costs C for each word
//! of the method. The controller chooses the level with the least sum of both, if it is less than T.
//!
//! Our deviation: compiling happens on another processor, and the program pays for a share of it only. It is small, because what is
//! hot early is so for much longer than it was so far. Fastest first iterations of five, as a share of those of a build that compiled
//! everything at O2 after 300 entries, measured beside it: with a share of 0.02 CD 0.81, Havlak 1.01, Permute 1.45, Towers 2.0; with
//! the one below CD 0.56, Havlak 0.49, Permute 1.0, Towers 1.3.

use crate::compiled::Level;
use serde::{Deserialize, Serialize};

/// What the model knows of tiers and machine.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constants {
    /// Where the numbers come from: machine, date, how measured.
    pub provenance: String,
    /// Nanoseconds that the interpreter takes for a word.
    pub interpreter_ns_per_word: f64,
    /// How many times as fast as the interpreter code of O0, O1, O2 is.
    pub speed: [f64; 3],
    /// Nanoseconds that compiling takes at O0, O1, O2 for each word of the method itself; what is inlined is in it.
    pub compile_ns_per_word: [f64; 3],
    /// The share of compile time that the program pays.
    pub share: f64,
}

impl Default for Constants {
    fn default() -> Constants {
        Constants {
            provenance: "defaults: `holloway calibrate` on an AMD EPYC (2 cores), 2026-11-22, rounded; the speed of O2 and the share are set"
                .into(),
            interpreter_ns_per_word: 1.8,
            speed: [6.5, 9.0, 10.0],
            compile_ns_per_word: [50_000.0, 100_000.0, 200_000.0],
            share: SHARE,
        }
    }
}

/// The share of compile time that the program pays, as long as nobody says otherwise.
const SHARE: f64 = 3e-6;

/// What the model advises.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Choice {
    /// Nothing pays yet.
    Wait,
    /// To compile.
    Compile {
        /// At this level.
        level: Level,
        /// Nanoseconds that it is expected to save, after its cost.
        saves: f64,
    },
}

impl Constants {
    /// What to do with a method of so many words that took `past` nanoseconds in the code that it has (`None` for the interpreter).
    pub fn choose(&self, now: Option<Level>, past: f64, words: usize) -> Choice {
        let speed_now = now.map_or(1.0, |level| self.speed[level as usize]);
        let higher = Level::ALL.into_iter().filter(|&level| now.is_none_or(|now| level > now));
        let saving = |level: Level| {
            let after = past * speed_now / self.speed[level as usize];
            past - after - self.share * self.compile_ns_per_word[level as usize] * words as f64
        };
        let best = higher.map(|level| (level, saving(level))).max_by(|a, b| a.1.total_cmp(&b.1));
        match best {
            Some((level, saves)) if saves > 0.0 => Choice::Compile { level, saves },
            _ => Choice::Wait,
        }
    }

    /// What [`Self::choose`] compares, in words: times at each level with what the program pays for compiling.
    pub fn weighed(&self, now: Option<Level>, past: f64, words: usize) -> String {
        let speed_now = now.map_or(1.0, |level| self.speed[level as usize]);
        let higher = Level::ALL.into_iter().filter(|&level| now.is_none_or(|now| level > now));
        let at = |level: Level| {
            let runs = past * speed_now / self.speed[level as usize];
            let costs = self.share * self.compile_ns_per_word[level as usize] * words as f64;
            format!("{:.1} at {}", (runs + costs) / 1e3, level.name())
        };
        let levels: Vec<String> = higher.map(at).collect();
        let stays = now.map_or("in the interpreter", |_| "as it is");
        format!("as much again takes {:.1} us {stays}, and with compiling {}", past / 1e3, levels.join(", "))
    }

    /// Why constants make no sense, if they do not.
    pub fn check(&self) -> Result<(), String> {
        let positive = |name: &str, value: f64| match value.is_finite() && value > 0.0 {
            true => Ok(()),
            false => Err(format!("`{name}` must be a positive number, and is {value}")),
        };
        positive("interpreter_ns_per_word", self.interpreter_ns_per_word)?;
        self.speed.iter().try_for_each(|&speed| positive("speed", speed))?;
        self.compile_ns_per_word.iter().try_for_each(|&cost| positive("compile_ns_per_word", cost))?;
        match self.share.is_finite() && (0.0..=1.0).contains(&self.share) {
            true => Ok(()),
            false => Err(format!("`share` must be between 0 and 1, and is {}", self.share)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constants() -> Constants {
        Constants {
            provenance: String::new(),
            interpreter_ns_per_word: 2.0,
            speed: [2.0, 4.0, 8.0],
            compile_ns_per_word: [1_000.0, 4_000.0, 20_000.0],
            share: 1.0,
        }
    }

    #[test]
    fn the_longer_a_method_ran_the_higher_the_level() {
        let level = |past: f64| constants().choose(None, past, 10);
        // O0 saves half of the past and costs 10,000 ns.
        assert_eq!(level(20_000.0), Choice::Wait);
        assert_eq!(level(30_000.0), Choice::Compile { level: Level::O0, saves: 5_000.0 });
        // From O0 to O1 a quarter more is saved for 30,000 ns more, from O1 to O2 an eighth for 160,000.
        assert_eq!(level(200_000.0), Choice::Compile { level: Level::O1, saves: 110_000.0 });
        assert_eq!(level(1_600_000.0), Choice::Compile { level: Level::O2, saves: 1_200_000.0 });
    }

    #[test]
    fn code_goes_up_only() {
        assert_eq!(constants().choose(Some(Level::O2), 1e12, 10), Choice::Wait);
        // Twice as fast from O1 on: half of the past for 200,000 ns.
        assert_eq!(constants().choose(Some(Level::O1), 400_000.0, 10), Choice::Wait);
        let up = constants().choose(Some(Level::O1), 500_000.0, 10);
        assert_eq!(up, Choice::Compile { level: Level::O2, saves: 50_000.0 });
    }

    #[test]
    fn a_choice_can_be_explained() {
        assert_eq!(
            constants().weighed(None, 30_000.0, 10),
            "as much again takes 30.0 us in the interpreter, and with compiling 25.0 at o0, 47.5 at o1, 203.8 at o2"
        );
        assert_eq!(
            constants().weighed(Some(Level::O1), 500_000.0, 10),
            "as much again takes 500.0 us as it is, and with compiling 450.0 at o2"
        );
    }

    #[test]
    fn nonsense_is_refused() {
        assert_eq!(constants().check(), Ok(()));
        assert!(Constants { share: 2.0, ..constants() }.check().is_err());
        assert!(Constants { speed: [1.0, 0.0, 2.0], ..constants() }.check().is_err());
        assert!(Constants { interpreter_ns_per_word: f64::NAN, ..constants() }.check().is_err());
    }
}
