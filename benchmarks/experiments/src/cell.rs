//! A cell: the smallest piece of work that is done, kept and not repeated. It is a few commands of `holloway`, one after the
//! other, and what is made of their output. Experiments share cells: what two of them need is done once.

use crate::reduce::Reduction;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Where the last command may put its result; else it is what it prints.
pub const RESULT: &str = "@result.json";

/// The number of a cell that the host does not permit: it has no other.
pub const UNAVAILABLE: &str = "unavailable";

/// A cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cell {
    /// Arguments of `holloway`. A word `@name`, or `key=@name`, is a file of this name in a folder that is the cell's own.
    pub commands: Vec<Vec<String>>,
    /// What is made of the output.
    pub reduction: Reduction,
    /// Does it measure time, so that nothing else of ours may run beside it.
    pub is_timed: bool,
    /// After this time it has failed.
    pub limit: Duration,
    /// How long it will probably take.
    pub estimate: Duration,
    /// If a command fails with these words, the host does not permit it: that is what the cell came to, [`UNAVAILABLE`].
    pub refusal: Option<&'static str>,
    /// What cells with the same name here measure is compared with each other: one shard does them all. Else a cell is a group of its own.
    pub group: Option<String>,
}

impl Cell {
    /// A cell that counts: what it comes to does not depend on time.
    pub fn counting(reduction: Reduction, commands: &[&str], seconds: f64) -> Cell {
        let commands = commands.iter().map(|line| line.split_whitespace().map(str::to_string).collect());
        let estimate = Duration::from_secs_f64(seconds);
        let limit = Duration::from_secs(60) + estimate * 20;
        let commands = commands.collect();
        Cell { commands, reduction, is_timed: false, limit, estimate, refusal: None, group: None }
    }

    /// A cell that measures time. All of a program are a group: overheads of several configurations are set beside each other, divided by each other and
    /// fitted together, and then they are to be of one machine. Means over programs have the same machines in all configurations.
    pub fn timed(reduction: Reduction, commands: &[&str], seconds: f64) -> Cell {
        // The first command is about the program; those after it may be about what it left behind.
        let program = commands.first().and_then(|line| line.split_whitespace().nth(1));
        let group = program.map(|program| format!("time of {program}"));
        Cell { is_timed: true, group, ..Cell::counting(reduction, commands, seconds) }
    }

    /// The same, for what not every host permits: its error has these words then.
    pub fn unless_refused(self, words: &'static str) -> Cell {
        Cell { refusal: Some(words), ..self }
    }

    /// The same, of another group than that of its program: its time is compared with that of the others, which may be other programs.
    pub fn beside(self, group: String) -> Cell {
        Cell { group: Some(group), ..self }
    }

    /// What tells it from all others, and what is kept in a store: how to do it again.
    pub fn key(&self) -> String {
        let lines: Vec<String> = self.commands.iter().map(|words| words.join(" ")).collect();
        format!("{}: {}", self.reduction, lines.join(" && "))
    }

    /// Does the shard with this number, of so many, do it. By its name, or that of its group, so that all shards agree whatever they are
    /// asked to do.
    pub fn is_of(&self, shard: Shard) -> bool {
        let name = self.group.clone().unwrap_or_else(|| self.key());
        let digest = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |digest, byte| {
            (digest ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        // The low bits of this digest follow the last letters too closely.
        (digest >> 24) % u64::from(shard.of) == u64::from(shard.number - 1)
    }
}

/// A part of all cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    /// From 1.
    pub number: u32,
    /// How many there are.
    pub of: u32,
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let parts =
            text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Shard { number, of }),
            _ => Err("a shard is I/N with I from 1 to N, such as 2/4".into()),
        }
    }
}

/// What a cell came to.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// Numbers by name.
    pub numbers: BTreeMap<String, f64>,
    /// Lists of numbers by name: what intervals are computed from.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub samples: BTreeMap<String, Vec<f64>>,
}

impl Outcome {
    /// Is each of its numbers one that can be kept.
    pub fn is_finite(&self) -> bool {
        self.numbers.values().chain(self.samples.values().flatten()).all(|number| number.is_finite())
    }

    /// Of what the host does not permit.
    pub fn unavailable() -> Outcome {
        let numbers = BTreeMap::from([(UNAVAILABLE.to_string(), 1.0)]);
        Outcome { numbers, samples: BTreeMap::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_is_of_one_shard() {
        let cells: Vec<Cell> = (0..200)
            .map(|at| Cell::counting(Reduction::Numbers, &[&format!("run --seed {at} a.hol")], 1.0))
            .collect();
        for of in [1, 2, 3, 7] {
            let sizes: Vec<usize> = (1..=of)
                .map(|number| cells.iter().filter(|cell| cell.is_of(Shard { number, of })).count())
                .collect();
            assert_eq!(sizes.iter().sum::<usize>(), cells.len());
            assert!(sizes.iter().all(|&size| size > cells.len() / of as usize / 3), "{sizes:?}");
        }
    }

    #[test]
    fn times_of_a_program_are_of_one_shard() {
        let timed = |lines: &[&str]| Cell::timed(Reduction::Overhead, lines, 1.0);
        let all = [
            timed(&["overhead richards --profile pep"]),
            timed(&["overhead richards --profile edges --tier o0"]),
            timed(&["bench richards --profile-out @calls.json", "overhead richards --inline new"]),
            timed(&["bench richards --profile-out @profile.json", "profile accuracy @profile.json"]),
        ];
        for shard in (1..=7).map(|number| Shard { number, of: 7 }) {
            assert!(all.iter().all(|cell| cell.is_of(shard) == all[0].is_of(shard)));
        }
        assert_eq!(all[0].group.as_deref(), Some("time of richards"));
        assert_eq!(Cell::counting(Reduction::Calls, &["accuracy richards"], 1.0).group, None);
    }

    #[test]
    fn cells_of_a_group_are_of_one_shard() {
        for at in 0..50 {
            let [one, other] = ["", "--profile pep"].map(|flags| {
                let line = format!("bench richards --seed {at} {flags}");
                Cell::timed(Reduction::Times, &[&line], 1.0).beside(format!("richards {at}"))
            });
            assert_ne!(one.key(), other.key());
            for shard in (1..=4).map(|number| Shard { number, of: 4 }) {
                assert_eq!(one.is_of(shard), other.is_of(shard), "{at}");
            }
        }
    }

    #[test]
    fn an_outcome_with_a_number_that_is_not_finite_is_known() {
        let mut outcome = Outcome::unavailable();
        assert!(outcome.is_finite());
        outcome.samples.insert("times".into(), vec![1.0, f64::NAN]);
        assert!(!outcome.is_finite());
    }

    #[test]
    fn a_refusal_does_not_make_another_cell() {
        let cell = Cell::counting(Reduction::Traces, &["run a.hol"], 1.0);
        let refusable = cell.clone().unless_refused("not here");
        assert_eq!((cell.key(), refusable.refusal), (refusable.key(), Some("not here")));
        assert_eq!(Outcome::unavailable().numbers.get(UNAVAILABLE), Some(&1.0));
    }

    #[test]
    fn shards_are_numbered_from_one() {
        assert_eq!("2/4".parse(), Ok(Shard { number: 2, of: 4 }));
        for wrong in ["0/4", "5/4", "1", "1/0", "a/b", "", "/"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
