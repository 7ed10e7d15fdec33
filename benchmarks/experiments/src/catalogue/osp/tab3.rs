//! Oren, Matias and Sagiv 2002, table 3: samples, different ones, and the rate at the end.

use super::runs::{MEMORY, RUNS, Run, as_often, mean_length, paper_number, samples, thinned, thinned_often};
use crate::catalogue::tables::{entry, table, text};
use crate::catalogue::{Experiment, Findings};
use crate::cell::Cell;
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
        "Our runs have other numbers of blocks. So f is chosen such that as many samples are taken as the paper's runs have at their end: 2183 of the lexer generator (of up to 1024 blocks), 168885 of FFT, 10217 of HeapSort, 2530 of MolDyn, 5276 of RayTrace and 281 of the compiler. \
         A sample stands for f blocks and those that are sampled, on average the mean length. The list has 128 KiB, descriptions included, in which nothing is thinned, so that f is constant. Subpaths have the paper's identity, the exclusive or of large numbers, \
         which takes many for the same (`osp-tab1`): with identities that only rotations share, HeapSort has more different ones than RayTrace, and gains less.",
        "Beside it stands the same list with the paper's first f of 1000 in 32 KiB, in which there are about as many subpaths as in the paper's lists (263 to 891): it is full early, and f grows. How many samples are left then is what memory allows. \
         That is chance more than the rest, each thinning draws again: six times with other random numbers (three when time is short), all samples of a program together are held against its rates. The table has the first of them.",
    ],
    cells: |plan| {
        let of_run = |run| std::iter::once(as_often(plan, run)).chain(thinned_often(plan, run));
        RUNS.iter().flat_map(of_run).collect()
    },
    conclude,
};

/// What the paper's programs gain, from the most to the least.
const ORDER: [&str; 6] = ["FFT", "HeapSort", "RayTrace", "MolDyn", "JLex", "javac"];

/// More often than chance has it, and less: so many standard deviations.
const CHANCE: f64 = 3.0;

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let of = |cell: &Cell, name: &str| results.number(cell, &format!("sample.{name}"));
    let gain = |cell: &Cell| Some(of(cell, "left")? / of(cell, "distinct")?.max(1.0));
    // How far samples are from what is expected, in their standard deviations.
    let off = |samples: f64, expected: f64| {
        (samples > 0.0).then(|| (expected / samples - 1.0).abs() * samples.sqrt())
    };
    let worst = |offs: Vec<Option<f64>>| -> Option<f64> {
        offs.into_iter().try_fold(0.0, |worst: f64, off| Some(worst.max(off?)))
    };
    let by_rate = |cells: &[Cell]| -> Option<f64> {
        let (mut samples, mut expected) = (0.0, 0.0);
        for cell in cells {
            samples += of(cell, "left")?;
            expected += of(cell, "blocks")? / (of(cell, "rate")? + of(cell, "mean_length")?);
        }
        off(samples, expected)
    };
    let all = |cells: fn(&Plan, &Run) -> Cell| RUNS.iter().map(move |run| cells(plan, run));
    found.checks.number(
        "blocks for each sample beside the rate, in standard deviations, the worst program",
        "1 % off without thinning, 9 % for javac",
        Bound::at_most(CHANCE).stretch(0.0),
        worst(all(as_often).map(|cell| by_rate(&[cell])).collect()).map(|worst| exactly(worst, Unit::Ratio)),
    );
    found.checks.number(
        "the same where the list is thinned",
        "1 % off for HeapSort, MolDyn and RayTrace",
        Bound::at_most(CHANCE).stretch(0.0),
        worst(RUNS.iter().map(|run| by_rate(&thinned_often(plan, run))).collect())
            .map(|worst| exactly(worst, Unit::Ratio)),
    );
    found.checks.number(
        "samples beside the paper's, in standard deviations, the program farthest off",
        "2183, 168885, 10217, 2530, 5276 and 281 samples",
        Bound::at_most(CHANCE).stretch(0.0),
        worst(RUNS.iter().map(|run| off(of(&as_often(plan, run), "left")?, samples(run))).collect())
            .map(|worst| exactly(worst, Unit::Ratio)),
    );
    let lost: Option<f64> = all(as_often).map(|cell| Some(of(&cell, "taken")? - of(&cell, "left")?)).sum();
    found.checks.shape(
        "each sample that is taken is in the list at the end",
        "the rate did not grow for JLex and FFT",
        "in all programs, so that f is constant",
        lost.map(|lost| lost == 0.0),
        lost.map_or("not measured".into(), |lost| format!("{lost:.0} are not")),
    );
    let run_of = |name: &str| RUNS.iter().find(|run| run.paper == name);
    let gains: Option<Vec<f64>> = ORDER.iter().map(|name| gain(&as_often(plan, run_of(name)?))).collect();
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
    let row = |(run, cell): (&Run, Cell)| {
        let ours = |name: &str| entry(of(&cell, name), Unit::Count);
        let paper = |column| entry(paper_number("table3", run.paper, column), Unit::Count);
        vec![
            text(run.program),
            ours("left"),
            ours("distinct"),
            entry(gain(&cell), Unit::Count),
            ours("rate"),
            ours("thinnings"),
            entry(of(&cell, "bytes"), Unit::Bytes),
            paper(1),
            paper(2),
            paper(3),
            paper(4),
            text(run.paper),
        ]
    };
    let columns = [
        "",
        "samples",
        "different",
        "gain",
        "f",
        "thinnings",
        "memory",
        "paper: samples",
        "different",
        "gain",
        "f",
        "of",
    ];
    let length = mean_length(32);
    for (id, title, caption, cells) in [
        (
            "samples",
            "As many samples as the paper's",
            format!(
                "f is blocks over the paper's samples, less the mean length of a sample ({length:.2} blocks, {:.2} of the lexer generator), in {} KiB.",
                mean_length(1024),
                MEMORY >> 10
            ),
            as_often as fn(&Plan, &Run) -> Cell,
        ),
        (
            "thinned",
            "Samples that are left at the end, from f of 1000 on, in 32 KiB",
            "A program's list is full earlier if it has many subpaths that are run about as often."
                .to_string(),
            thinned,
        ),
    ] {
        let rows = RUNS.iter().map(|run| row((run, cells(plan, run)))).collect();
        found.figures.push(table(id, title, caption, &columns, rows));
    }
}
