//! Oren, Matias and Sagiv 2002, table 1: how large the inputs are.

use super::runs::{RUNS, Run, counted, paper_number};
use crate::catalogue::tables::{entry, table, text};
use crate::catalogue::{Experiment, Findings};
use crate::cell::{Cell, RESULT};
use crate::plan::Plan;
use crate::reduce::Reduction;
use crate::report::model::Unit;
use crate::results::{Results, exactly};
use crate::verdict::Bound;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "osp-tab1",
    place: "Table 1",
    title: "Blocks, subpaths, and different subpaths",
    says: &[
        "The table has blocks, subpaths of 2^n blocks and how many of them differ. Subpaths are the sum of B - 2^n + 1 for B blocks, exactly in all rows but one (of javac, \
         which has more threads). The caption says that n begins with 2; its numbers say 1. To count all of them took the paper an hour for the two smaller kernels and almost ten for the others.",
        "Here each subpath is named by the names of its halves, so that a block costs a look-up for each length. The four kernels run more than 10^8 blocks, as there. \
         What the paper calls different are subpaths with different identities: the exclusive or of their blocks, which loses what occurs twice. Counted so, kernels have about as many here; \
         in truth HeapSort, whose branches depend on data, has seventeen times the paper's number.",
        "No subpath goes from a thread to another, so that of several threads the sum is that of each thread's blocks: each more than one costs 57 subpaths of up to 32 blocks, and 1653 are what 29 of them cost, where the table lacks 1655. `tracer` has four beside the first.",
    ],
    cells: |plan| RUNS.iter().map(|run| counted(plan, run)).chain([threaded()]).collect(),
    conclude,
};

/// Kernels, whose inputs are as large as the paper's.
fn is_large(run: &Run) -> bool {
    !matches!(run.paper, "JLex" | "javac")
}

/// A program on several threads.
fn threaded() -> Cell {
    let line =
        format!("bench tracer --size 32 --iterations 1 --tier o2 --profile subpaths --profile-out {RESULT}");
    Cell::counting(Reduction::Subpaths, &[&line], 0.8)
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let number = |run: &Run, name: &str| results.number(&counted(plan, run), &format!("exact.{name}"));
    let all = |name: &str| -> Option<Vec<f64>> { RUNS.iter().map(|run| number(run, name)).collect() };
    let both = all("subpaths").zip(all("formula"));
    let exact = both.as_ref().map(|(subpaths, formula)| {
        subpaths.iter().zip(formula).filter(|(counted, expected)| counted == expected).count()
    });
    found.checks.shape(
        "as many subpaths as the formula says",
        "in all rows but javac's",
        "in all programs, to the last one",
        exact.map(|exact| exact == RUNS.len()),
        exact.map_or("not measured".into(), |exact| format!("in {exact} of {} programs", RUNS.len())),
    );
    let of_threads = |name: &str| results.number(&threaded(), &format!("exact.{name}"));
    let threads = of_threads("threads").zip(of_threads("subpaths")).zip(of_threads("formula"));
    let threads = threads.zip(of_threads("formula.together"));
    found.checks.shape(
        "of each of several threads as many",
        "javac is short by 1655, as by 29 more threads",
        "the sum over threads, to the last one, and less than of one thread with all blocks",
        threads.map(|(((threads, subpaths), formula), together)| {
            threads > 1.0 && subpaths == formula && subpaths < together
        }),
        threads.map_or("not measured".into(), |(((threads, subpaths), formula), together)| {
            format!(
                "{threads} threads: {subpaths}, for {formula}, and {} less than of one",
                together - subpaths
            )
        }),
    );
    let large = || RUNS.iter().filter(|run| is_large(run));
    let blocks: Option<Vec<f64>> = large().map(|run| number(run, "blocks")).collect();
    found.checks.number(
        "blocks of the smallest of four kernels",
        "1.2e8",
        Bound::at_least(1e8).stretch(f64::INFINITY),
        blocks.map(|all| exactly(all.into_iter().fold(f64::INFINITY, f64::min), Unit::Count)),
    );
    let seconds: Vec<f64> = RUNS
        .iter()
        .filter(|run| number(run, "blocks").is_some())
        .map(|run| results.seconds(&counted(plan, run).key()))
        .collect();
    let longest = (seconds.len() == RUNS.len()).then(|| seconds.into_iter().fold(0.0, f64::max));
    found.checks.number(
        "counting all subpaths of the program that takes longest",
        "almost ten hours",
        Bound::at_most(600.0),
        longest.map(|seconds| exactly(seconds, Unit::Seconds)),
    );
    let farthest = |name: &str| -> Option<f64> {
        let times = |run: &Run| Some(number(run, name)? / paper_number("table1", run.paper, 3)?);
        let all: Vec<f64> = large().map(times).collect::<Option<_>>()?;
        all.into_iter().max_by(|a, b| a.ln().abs().total_cmp(&b.ln().abs()))
    };
    for (what, name) in [
        (
            "different subpaths, by the exclusive or of their blocks, of the paper's, the kernel farthest off",
            "randomxor.classes",
        ),
        ("different subpaths, of the paper's, the kernel farthest off", "distinct"),
    ] {
        found.checks.told(what, "as many", farthest(name).map(|times| exactly(times, Unit::Ratio)));
    }
    let row = |run: &Run| {
        let of = |name: &str| entry(number(run, name), Unit::Count);
        let table = if run.paper == "JLex" { "JLex (32)" } else { run.paper };
        let paper = |column| entry(paper_number("table1", table, column), Unit::Count);
        let counts = [
            of("blocks"),
            of("subpaths"),
            of("distinct"),
            of("randomxor.classes"),
            paper(1),
            paper(2),
            paper(3),
        ];
        [text(run.program)].into_iter().chain(counts).chain([text(run.paper)]).collect()
    };
    found.figures.push(table(
        "sizes",
        "How much is run",
        "Subpaths of 2, 4, 8, 16 and 32 blocks. Blocks are those of the bytecode, of which Holloway has shorter ones than Java.",
        &["", "blocks", "subpaths", "different", "by exclusive or", "paper: blocks", "subpaths", "different", "of"],
        RUNS.iter().map(row).collect(),
    ));
}
