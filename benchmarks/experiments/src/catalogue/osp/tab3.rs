//! Oren, Matias and Sagiv 2002, table 3: samples, different ones, and the rate at the end.

use super::runs::{RUNS, Run, paper_number, thinned};
use crate::catalogue::tables::{entry, table, text};
use crate::catalogue::{Experiment, Findings};
use crate::plan::Plan;
use crate::report::model::Unit;
use crate::results::{Results, exactly};
use crate::verdict::Bound;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "osp-tab3",
    place: "Table 3",
    title: "Sampling and efficiency",
    says: &[
        "A list has an entry for each different subpath that was sampled, with its count; the gain is how many samples an entry stands for. When the list is full, the rate f grows and samples are thinned, \
         so that at any time there is one for about f blocks. The gain is 538 for FFT and 1 for javac: it is what programs have of hot subpaths.",
        "Here the same list has 32 KiB, descriptions included, in which there are as many subpaths as in the paper's: 400 to 600. A sample stands for f blocks and those that are sampled, on average the mean length. \
         Subpaths have the paper's identity, the exclusive or of large numbers, which takes many for the same (`osp-tab1`): with identities that only rotations share, \
         HeapSort has more different ones than RayTrace, and gains less.",
    ],
    cells: |plan| RUNS.iter().map(|run| thinned(plan, run)).collect(),
    conclude,
};

/// What the paper's programs gain, from the most to the least.
const ORDER: [&str; 6] = ["FFT", "HeapSort", "RayTrace", "MolDyn", "JLex", "javac"];

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let number = |run: &Run, name: &str| results.number(&thinned(plan, run), &format!("sample.{name}"));
    let gain = |run: &Run| Some(number(run, "left")? / number(run, "distinct")?.max(1.0));
    // How far samples are from what the rate says, in their standard deviations.
    let off = |run: &Run| -> Option<f64> {
        let samples = number(run, "left").filter(|&samples| samples > 0.0)?;
        let expected = number(run, "blocks")? / (number(run, "rate")? + number(run, "mean_length")?);
        Some((expected / samples - 1.0).abs() * samples.sqrt())
    };
    let offs: Option<Vec<f64>> = RUNS.iter().map(off).collect();
    found.checks.number(
        "blocks for each sample beside the rate, in standard deviations, the worst program",
        "1 % off without thinning, 9 % for javac",
        Bound::at_most(3.0).stretch(0.0),
        offs.map(|all| exactly(all.into_iter().fold(0.0, f64::max), Unit::Ratio)),
    );
    let gains: Option<Vec<f64>> =
        ORDER.iter().map(|name| gain(RUNS.iter().find(|run| run.paper == *name)?)).collect();
    let shown = |gains: &Vec<f64>| {
        ORDER.iter().zip(gains).map(|(name, gain)| format!("{name} {gain:.1}")).collect::<Vec<_>>().join(", ")
    };
    found.checks.shape(
        "which programs gain",
        "FFT 538, HeapSort 21.5, RayTrace 11.9, MolDyn 7.2, JLex 2.5, javac 1.1",
        "in this order, FFT by far",
        gains.as_ref().map(|gains| gains.is_sorted_by(|a, b| a > b) && gains[0] > 3.0 * gains[1]),
        gains.as_ref().map_or("not measured".into(), shown),
    );
    let row = |run: &Run| {
        let of = |name: &str| entry(number(run, name), Unit::Count);
        let paper = |column| entry(paper_number("table3", run.paper, column), Unit::Count);
        vec![
            text(run.program),
            of("left"),
            of("distinct"),
            entry(gain(run), Unit::Count),
            of("rate"),
            of("thinnings"),
            paper(1),
            paper(2),
            paper(3),
            paper(4),
            text(run.paper),
        ]
    };
    found.figures.push(table(
        "samples",
        "Samples that are left at the end",
        "Beside the paper's. A program's list is full earlier if it has many subpaths that are run about as often.",
        &["", "samples", "different", "gain", "f", "thinnings", "paper: samples", "different", "gain", "f", "of"],
        RUNS.iter().map(row).collect(),
    ));
}
