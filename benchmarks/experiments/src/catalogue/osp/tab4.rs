//! Oren, Matias and Sagiv 2002, table 4: memory.

use super::runs::{RUNS, Run, counted, paper_number};
use crate::catalogue::tables::{entry, table, text};
use crate::catalogue::{Experiment, Findings};
use crate::plan::Plan;
use crate::report::model::Unit;
use crate::results::{Results, exactly};
use crate::verdict::Bound;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "osp-tab4",
    place: "Table 4",
    title: "Memory of the profiler",
    says: &[
        "The paper measures the memory of programs at their end, with and without the profiler: 40 to 66 KB more, without the descriptions of the subpaths.",
        "Here a profiler counts its bytes: its state, its table, its list, and which blocks each subpath has. What it may have is given, 32 KiB, and is allocated at the beginning.",
    ],
    cells: |plan| RUNS.iter().map(|run| counted(plan, run)).collect(),
    conclude,
};

/// What was asked for.
const CAP: f64 = 32.0 * 1024.0;

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let number = |run: &Run, name: &str| results.number(&counted(plan, run), &format!("sample.{name}"));
    let all = |name: &str| -> Option<Vec<f64>> { RUNS.iter().map(|run| number(run, name)).collect() };
    let bytes = all("bytes");
    let most = bytes.as_ref().map(|all| all.iter().copied().fold(0.0, f64::max));
    found.checks.number(
        "bytes of the profiler, the program with most",
        "65800 B, without descriptions",
        Bound::at_most(65_800.0).stretch(CAP),
        most.map(|most| exactly(most, Unit::Bytes)),
    );
    found.checks.shape(
        "what was asked for is kept",
        "an input parameter",
        "at most 32768 bytes in each program, and less by an entry at most",
        bytes.map(|all| all.iter().all(|&bytes| (CAP - 64.0..=CAP).contains(&bytes))),
        most.map_or("not measured".into(), |most| format!("at most {most:.0} bytes")),
    );
    let undescribed = all("distinct").zip(all("described")).map(|(distinct, described)| {
        distinct.iter().zip(&described).map(|(all, some)| all - some).sum::<f64>()
    });
    found.checks.shape(
        "descriptions are in these bytes",
        "they are kept elsewhere",
        "each subpath in the list is described",
        undescribed.map(|undescribed| undescribed == 0.0),
        undescribed.map_or("not measured".into(), |undescribed| format!("{undescribed:.0} are not")),
    );
    let row = |run: &Run| {
        vec![
            text(run.program),
            entry(number(run, "bytes"), Unit::Bytes),
            entry(number(run, "distinct"), Unit::Count),
            entry(paper_number("table4", run.paper, 3), Unit::Bytes),
            text(run.paper),
        ]
    };
    found.figures.push(table(
        "memory",
        "Bytes of a thread's profiler",
        "All that it has, beside the paper's difference of two footprints, which leaves descriptions out. The paper prints 39742 for FFT, where its columns differ by 39752.",
        &["", "bytes", "subpaths described", "paper", "of"],
        RUNS.iter().map(row).collect(),
    ));
}
