//! Oren, Matias and Sagiv 2002, table 5: accuracy on FFT.

use super::runs::{RUNS, rate, samples};
use crate::catalogue::tables::{entry, table, text};
use crate::catalogue::{Experiment, Findings};
use crate::cell::Cell;
use crate::papers;
use crate::plan::Plan;
use crate::reduce::Reduction;
use crate::report::model::{Cell as TableCell, Unit};
use crate::results::{Results, exactly, mean};
use crate::verdict::{Bound, shown};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "osp-tab5",
    place: "Table 5",
    title: "Accuracy of the hottest subpaths of FFT",
    says: &[
        "The paper compares the ten hottest subpaths of its sample with exact counts. The first four have their right ranks, with errors up to 1 %; the fifth is 29 % off, \
         which is no chance at 2372 samples, and two of the ten hottest are missing. Its memory was some 40 KB, without descriptions.",
        "Here FFT transforms as many numbers, in 103 million blocks where the paper's has 170 million, and f is chosen such that as many samples are taken, 168885 (one in 603 blocks instead of 1000); of the lexer generator, with subpaths of up to 64 blocks, as many as the paper has of JLex, 2183. \
         All subpaths are counted in the same run, and ranks are those among classes that an encoding takes for the same. Memory is 64 KB with descriptions, as much as the paper has without.",
        "Of each sample both estimates are made: the paper's, samples times f over the probability of the length, and ours, the share of the samples of a length. How far counts of samples are from what is expected is told in standard deviations, z: of c samples by rate the root of what is expected, as in the paper, and by share that of a binomial number. \
         The paper's estimator neglects the blocks within samples, and that its probabilities do not sum to 1: 2.3 % too much at this f, which with so many samples is more than chance.",
        "A subpath is missing if it is one of the ten most executed, and not one of the first ten of the sample, and chance cannot take it for the eleventh (three standard deviations of the difference of both estimates).",
    ],
    cells: |plan| {
        PROGRAMS.iter().flat_map(|of| encodings(plan).iter().map(|encoding| of.cell(encoding))).collect()
    },
    conclude,
};

/// The first is ours, the second the paper's.
const ENCODINGS: [&str; 4] = ["rotation", "xor", "random-xor", "rolling"];

/// Those that are measured: in little time these two.
fn encodings(plan: &Plan) -> &'static [&'static str] {
    plan.pick(&ENCODINGS[..2], &ENCODINGS)
}

/// Further is no chance.
const CHANCE: f64 = 3.0;

/// A program whose samples are judged.
struct Program {
    name: &'static str,
    paper: &'static str,
    flags: &'static str,
    blocks: u64,
    longest: u32,
    seconds: f64,
}

/// FFT, and the lexer generator.
const PROGRAMS: [Program; 2] = [
    Program {
        name: "fft",
        paper: "FFT",
        flags: "--size 2097152 --iterations 1 --tier o2",
        blocks: 102_756_466,
        longest: 32,
        seconds: 5.0,
    },
    Program {
        name: "lexgen",
        paper: "JLex",
        flags: "--size 3 --iterations 1 --tier o2",
        blocks: 4_714_293,
        longest: 64,
        seconds: 1.3,
    },
];

impl Program {
    fn cell(&self, encoding: &str) -> Cell {
        let Program { name, paper, flags, blocks, longest, seconds } = self;
        let wanted = RUNS.iter().find(|run| run.paper == *paper).map_or(f64::NAN, samples);
        let rate = rate(*blocks, wanted, *longest);
        let run = format!(
            "bench {name} {flags} --profile subpaths:max-length={longest},census=no \
             --profile osp:memory=64k,rate={rate},max-length={longest},encoding={encoding} --profile-out @profile.json"
        );
        Cell::counting(Reduction::Numbers, &[&run, "profile accuracy @profile.json --json"], *seconds)
    }
}

/// The sample of FFT that is ours: also what other experiments tell of it.
pub(in crate::catalogue) fn ours() -> Cell {
    PROGRAMS[0].cell(ENCODINGS[0])
}

/// The hottest ten of a sample, beside the truth.
struct Hottest<'a> {
    results: &'a Results<'a>,
    cell: Cell,
}

impl Hottest<'_> {
    fn list(&self, name: &str) -> Option<&[f64]> {
        let samples = &self.results.outcome(&self.cell)?.samples;
        samples.get(&format!("hottest_subpaths.{name}")).map(Vec::as_slice)
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.results.number(&self.cell, name)
    }

    /// How far estimates are off, in percent. What was never executed is infinitely far off.
    fn errors(&self, estimator: &str) -> Option<Vec<f64>> {
        let both = self.list(estimator)?.iter().zip(self.list("run")?);
        Some(both.map(|(estimate, run)| (estimate / run - 1.0).abs() * 100.0).collect())
    }

    fn mean_error(&self, estimator: &str) -> Option<f64> {
        mean(&self.errors(estimator)?)
    }

    /// The largest distance of a count from what is expected.
    fn farthest(&self, estimator: &str) -> Option<f64> {
        Some(self.list(&format!("off_{estimator}"))?.iter().fold(0.0, |most: f64, off| most.max(off.abs())))
    }

    /// The largest error over what it may be: the paper's largest, or what chance allows.
    fn over_allowed(&self, largest: f64) -> Option<f64> {
        let (errors, offs) = (self.errors("by_share")?, self.list("off_by_share")?);
        let over = |(error, off): (&f64, &f64)| {
            // So much is a standard deviation.
            let chance = if *off == 0.0 { 0.0 } else { error / off.abs() };
            error / largest.max(CHANCE * chance)
        };
        Some(errors.iter().zip(offs).map(over).fold(0.0, f64::max))
    }

    /// How many of the first have their right rank, before one has not.
    fn in_order(&self) -> Option<usize> {
        let ranks = self.list("rank")?;
        Some((1..).zip(ranks).take_while(|&(at, &rank)| f64::from(at) == rank).count())
    }
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let of = |program: &Program, encoding: &str| Hottest { results, cell: program.cell(encoding) };
    let [fft, lexgen] = &PROGRAMS;
    let (ours, theirs) = (of(fft, ENCODINGS[0]), of(fft, ENCODINGS[1]));
    let rows = papers::grid("osp.table5.rows");
    let column = |at: usize| -> Vec<f64> { rows.iter().filter_map(|row| *row.get(at)?).collect() };
    let paper = |key: &str| papers::number(&format!("osp.table5.{key}"));
    let percent = |value: Option<f64>| value.map(|value| exactly(value, Unit::Percent));
    found.checks.number(
        "mean error of the first ten",
        &format!(
            "{} ({} without rank 5)",
            shown(paper("mean_error"), Unit::Percent),
            shown(paper("mean_error_without_rank5"), Unit::Percent)
        ),
        Bound::at_most(1.3).stretch(0.8),
        percent(ours.mean_error("by_share")),
    );
    found.checks.number(
        "of the five hottest, found",
        "80 %",
        Bound::at_least(80.0).stretch(99.0),
        percent(ours.number("subpaths.top5.recall").map(|recall| recall * 100.0)),
    );
    // The largest of the paper's but for its fifth.
    let largest = column(5).into_iter().filter(|&error| error < 10.0).fold(0.0, f64::max);
    found.checks.number(
        "the largest error, of what it may be: the paper's largest, or three standard deviations",
        &format!("{}, and 29.3 % at rank 5", shown(largest, Unit::Percent)),
        Bound::at_most(1.0).stretch(0.0),
        ours.over_allowed(largest).map(|part| exactly(part, Unit::Ratio)),
    );
    let z = |what: &str, of: &Hottest<'_>, found: &mut Findings| {
        found.checks.number(
            what,
            "12.5 at rank 5, 2.7 without it",
            Bound::at_most(CHANCE).stretch(0.0),
            of.farthest("by_share").map(|off| exactly(off, Unit::Ratio)),
        );
    };
    z("counts of samples beside what is expected, in standard deviations, the worst of ten", &ours, found);
    let order = ours.in_order();
    found.checks.shape(
        "the first four have their right ranks",
        "ranks 1 to 4",
        "the same",
        order.map(|right| right >= 4),
        order.map_or("not measured".into(), |right| format!("the first {right} have")),
    );
    let lost = |of: &Hottest<'_>| {
        let number = |name: &str| of.number(&format!("hottest_subpaths.{name}"));
        number("lost").zip(number("apart"))
    };
    let missing = |what: &str, of: &Hottest<'_>, found: &mut Findings| {
        found.checks.shape(
            what,
            "two are missing, ranks 5 and 7",
            "none that chance cannot take for the eleventh",
            lost(of).map(|(lost, _)| lost == 0.0),
            lost(of).map_or("not measured".into(), |(lost, apart)| format!("{lost:.0} of {apart:.0}")),
        );
    };
    missing("of the ten hottest, missing", &ours, found);
    let generator = of(lexgen, ENCODINGS[0]);
    z("the same of the lexer generator", &generator, found);
    missing("of its ten hottest, missing", &generator, found);
    found.checks.told(
        "the paper's way: mean error by rate, with the exclusive or",
        &shown(paper("mean_error"), Unit::Percent),
        percent(theirs.mean_error("by_rate")),
    );
    let rank = |at: usize| -> Vec<TableCell> {
        let of = |name: &str, unit| entry(ours.list(name).and_then(|all| all.get(at).copied()), unit);
        let error = |estimator: &str| {
            entry(ours.errors(estimator).and_then(|all| all.get(at).copied()), Unit::Percent)
        };
        let paper = |at_column, unit| entry(rows[at].get(at_column).copied().flatten(), unit);
        let z = papers::numbers("osp.table5.z_scores").get(at).copied().flatten();
        vec![
            text(&(at + 1).to_string()),
            of("rank", Unit::Count),
            of("length", Unit::Count),
            of("samples", Unit::Count),
            of("run", Unit::Count),
            error("by_share"),
            of("off_by_share", Unit::Ratio),
            error("by_rate"),
            of("off_by_rate", Unit::Ratio),
            paper(1, Unit::Count),
            paper(5, Unit::Percent),
            entry(z, Unit::Ratio),
        ]
    };
    let columns = [
        "rank",
        "in truth",
        "blocks",
        "samples",
        "executions",
        "error by share",
        "z",
        "error by rate",
        "z",
        "paper: in truth",
        "error",
        "z",
    ];
    let caption = "Of the sample with rotations: errors of both estimates, and how many standard deviations the samples are off what is expected by each.";
    let ranks = (0..rows.len()).map(rank).collect();
    found.figures.push(table("ranks", "The ten hottest subpaths of FFT", caption, &columns, ranks));
    let row = |program: &Program, encoding: &str| {
        let of = of(program, encoding);
        let (share, rate) = ("by_share", "by_rate");
        let recall = of.number("subpaths.top10.recall").map(|recall| recall * 100.0);
        vec![
            text(program.name),
            text(encoding),
            entry(of.in_order().map(|right| right as f64), Unit::Count),
            entry(recall, Unit::Percent),
            entry(lost(&of).map(|of| of.0), Unit::Count),
            entry(of.mean_error(share), Unit::Percent),
            entry(of.farthest(share), Unit::Ratio),
            entry(of.mean_error(rate), Unit::Percent),
            entry(of.farthest(rate), Unit::Ratio),
        ]
    };
    let of_program =
        |program: &Program| encodings(plan).iter().map(|encoding| row(program, encoding)).collect::<Vec<_>>();
    let all = PROGRAMS.iter().flat_map(of_program);
    found.figures.push(table(
        "accuracy",
        "Encodings and estimators",
        "Subpaths that an encoding confuses count as one, in the sample and in truth. In order: how many of the first have their right rank, before one has not.",
        &["", "encoding", "in order", "recall of 10", "missing", "mean error by share", "worst z", "mean error by rate", "worst z"],
        all.collect(),
    ));
}
