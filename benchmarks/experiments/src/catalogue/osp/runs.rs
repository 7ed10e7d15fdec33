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
    /// Flags of `bench`, and seconds to count all subpaths: in little time,
    quick: (&'static str, f64),
    /// and in a night.
    full: (&'static str, f64),
}

/// In the order of the paper. In the four kernels more than 10^8 blocks are executed.
pub(super) const RUNS: [Run; 6] = [
    Run {
        program: "lexgen",
        paper: "JLex",
        quick: ("--size 9 --iterations 1", 1.5),
        full: ("--iterations 1", 10.0),
    },
    Run {
        program: "fft",
        paper: "FFT",
        quick: ("--size 2097152 --iterations 1", 4.5),
        full: ("--size 8388608 --iterations 1", 35.0),
    },
    Run {
        program: "heapsort",
        paper: "HeapSort",
        quick: ("--size 1000000 --iterations 1", 5.5),
        full: ("--size 1000000 --iterations 1", 8.0),
    },
    Run {
        program: "moldyn",
        paper: "MolDyn",
        quick: ("--iterations 7", 4.0),
        full: ("--iterations 70", 60.0),
    },
    Run {
        program: "raytracer",
        paper: "RayTrace",
        quick: ("--iterations 5", 3.5),
        full: ("--size 150 --iterations 2", 80.0),
    },
    Run {
        program: "compiler",
        paper: "javac",
        quick: ("--size 140 --iterations 1", 1.0),
        full: ("--iterations 1", 7.0),
    },
];

/// All subpaths are counted, and sampled in 32 KiB.
pub(super) fn counted(plan: &Plan, run: &Run) -> Cell {
    let (flags, seconds) = plan.pick(run.quick, run.full);
    cell(run, flags, "--profile subpaths --profile osp:memory=32k,rate=1000", seconds)
}

/// They are sampled in the paper's way: a list that is thinned, from its rate on, and subpaths named by the exclusive or of their blocks, which have large
/// numbers. In 32 KiB are about as many subpaths as its lists had.
pub(super) fn thinned(plan: &Plan, run: &Run) -> Cell {
    let (flags, seconds) = plan.pick(run.quick, run.full);
    cell(
        run,
        flags,
        "--profile osp:memory=32k,rate=1000,list=concise,encoding=random-xor",
        seconds / 6.0 + 0.3,
    )
}

fn cell(run: &Run, flags: &str, profilers: &str, seconds: f64) -> Cell {
    let program = run.program;
    let line = format!("bench {program} {flags} --tier o2 {profilers} --profile-out {RESULT}");
    Cell::counting(Reduction::Subpaths, &[&line], seconds)
}

/// A number of a program in one of the paper's tables; nothing if the table does not have the program or leaves it open.
pub(super) fn paper_number(table: &str, program: &str, column: usize) -> Option<f64> {
    let rows = papers::at(&format!("osp.{table}.rows")).as_array()?;
    rows.iter().find(|row| row[0] == program)?[column].as_f64()
}
