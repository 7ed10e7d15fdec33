//! The runs that several experiments look at: the paper's six programs, or what we have of their kind.

use crate::cell::{Cell, RESULT};
use crate::papers;
use crate::plan::Plan;
use crate::reduce::Reduction;

/// A program and how it is run.
pub(super) struct Run {
    /// Its name here.
    pub program: &'static str,
    /// Its name in the paper.
    pub paper: &'static str,
    /// In little time,
    quick: Input,
    /// and in a night.
    full: Input,
    /// The longest subpaths that the paper sampled of it.
    longest: u32,
}

/// How much of it is run.
struct Input {
    /// Flags of `bench`.
    flags: &'static str,
    /// Seconds to count all subpaths.
    seconds: f64,
    /// Blocks that are executed, always the same: from them follows the rate at which as many samples are taken as in the paper.
    blocks: u64,
}

impl Input {
    /// About how many seconds it takes if nothing is counted.
    fn sampled_only(&self) -> f64 {
        self.seconds / 10.0 + 0.5
    }
}

const fn input(flags: &'static str, seconds: f64, blocks: u64) -> Input {
    Input { flags, seconds, blocks }
}

/// In the order of the paper. In the four kernels more than 10^8 blocks are executed.
pub(super) const RUNS: [Run; 6] = [
    Run {
        program: "lexgen",
        paper: "JLex",
        quick: input("--size 9 --iterations 1", 1.5, 13_416_023),
        full: input("--iterations 1", 10.0, 130_889_378),
        longest: 1024,
    },
    Run {
        program: "fft",
        paper: "FFT",
        quick: input("--size 2097152 --iterations 1", 4.5, 102_756_466),
        full: input("--size 8388608 --iterations 1", 35.0, 427_810_936),
        longest: 32,
    },
    Run {
        program: "heapsort",
        paper: "HeapSort",
        quick: input("--size 1000000 --iterations 1", 5.5, 118_539_701),
        full: input("--size 1000000 --iterations 1", 8.0, 118_539_701),
        longest: 32,
    },
    Run {
        program: "moldyn",
        paper: "MolDyn",
        quick: input("--iterations 7", 4.0, 101_558_503),
        full: input("--iterations 70", 60.0, 1_015_584_742),
        longest: 32,
    },
    Run {
        program: "raytracer",
        paper: "RayTrace",
        quick: input("--iterations 5", 3.5, 106_850_794),
        full: input("--size 150 --iterations 2", 80.0, 1_586_620_566),
        longest: 32,
    },
    Run {
        program: "compiler",
        paper: "javac",
        quick: input("--size 140 --iterations 1", 1.0, 7_049_889),
        full: input("--iterations 1", 7.0, 70_496_109),
        longest: 32,
    },
];

/// All subpaths are counted, and sampled in 32 KiB.
pub(super) fn counted(plan: &Plan, run: &Run) -> Cell {
    let input = plan.pick(&run.quick, &run.full);
    cell(run, input, "--profile subpaths --profile osp:memory=32k,rate=1000", input.seconds)
}

/// They are sampled in the paper's way: a list that is thinned, from its rate on, and subpaths named by the exclusive or of their blocks, which have large
/// numbers. In 32 KiB are about as many subpaths as its lists had.
pub(super) fn thinned(plan: &Plan, run: &Run) -> Cell {
    thinned_by(plan, run, "")
}

/// The same with other random numbers each time, [`thinned`] first.
pub(super) fn thinned_often(plan: &Plan, run: &Run) -> Vec<Cell> {
    let others = (1..plan.pick(3, 6)).map(|seed| thinned_by(plan, run, &format!(",seed={seed}")));
    std::iter::once(thinned(plan, run)).chain(others).collect()
}

fn thinned_by(plan: &Plan, run: &Run, seed: &str) -> Cell {
    let input = plan.pick(&run.quick, &run.full);
    let profiler = format!("--profile osp:memory=32k,rate=1000,list=concise,encoding=random-xor{seed}");
    cell(run, input, &profiler, input.sampled_only())
}

/// The memory of [`as_often`]: the paper's, which its descriptions of subpaths add to, and they are within it here.
pub(super) const MEMORY: u64 = 128 << 10;

/// The same with as many samples as the paper's run came to: at the rate from which that follows, and in memory enough for all of them.
pub(super) fn as_often(plan: &Plan, run: &Run) -> Cell {
    let input = plan.pick(&run.quick, &run.full);
    let rate = rate(input.blocks, samples(run), run.longest);
    let profiler = format!(
        "--profile osp:memory={}k,rate={rate},max-length={},list=concise,encoding=random-xor",
        MEMORY >> 10,
        run.longest
    );
    cell(run, input, &profiler, input.sampled_only())
}

/// How many samples the paper's run had at its end.
pub(super) fn samples(run: &Run) -> f64 {
    paper_number("table3", run.paper, 1).unwrap_or(f64::NAN)
}

/// The mean number of blocks between samples with which so many blocks give so many samples of up to so many blocks: a sample stands for those between
/// and its own.
pub(super) fn rate(blocks: u64, samples: f64, longest: u32) -> u64 {
    (blocks as f64 / samples - mean_length(longest)).round() as u64
}

/// The mean length of samples: 2, 4, 8, ... blocks have a probability of a half, a quarter, ..., and those of all sum to 1.
pub(super) fn mean_length(longest: u32) -> f64 {
    f64::from(longest.ilog2()) / (1.0 - 1.0 / f64::from(longest))
}

fn cell(run: &Run, input: &Input, profilers: &str, seconds: f64) -> Cell {
    let (program, flags) = (run.program, input.flags);
    let line = format!("bench {program} {flags} --tier o2 {profilers} --profile-out {RESULT}");
    Cell::counting(Reduction::Subpaths, &[&line], seconds)
}

/// A number of a program in one of the paper's tables; nothing if the table does not have the program or leaves it open.
pub(super) fn paper_number(table: &str, program: &str, column: usize) -> Option<f64> {
    let rows = papers::at(&format!("osp.{table}.rows")).as_array()?;
    rows.iter().find(|row| row[0] == program)?[column].as_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rates that the paper's own rows follow from: it began FFT and JLex at 1000.
    #[test]
    fn rates_are_those_of_the_paper() {
        for (paper, blocks, longest) in [("FFT", 169_867_487, 32), ("JLex", 2_212_208, 1024)] {
            let samples = paper_number("table3", paper, 1).expect("a row");
            let found = rate(blocks, samples, longest);
            assert!((995..=1005).contains(&found), "{paper}: {found}");
        }
        assert!(RUNS.iter().all(|run| samples(run) > 0.0));
    }

    #[test]
    fn lengths_are_as_long_on_average() {
        // Half of two, a quarter of four: two thirds and one third of what is sampled.
        assert!((mean_length(4) - 8.0 / 3.0).abs() < 1e-12);
    }
}
