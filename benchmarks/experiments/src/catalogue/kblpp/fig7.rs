//! D'Elia and Demetrescu 2013, figure 7: the masked filter restructured by its profile.

use crate::catalogue::{Experiment, Findings};
use crate::cell::{Cell, RESULT};
use crate::papers;
use crate::plan::Plan;
use crate::reduce::Reduction;
use crate::report::model::{Chart, Figure, Measured, Series, Unit};
use crate::results::{Results, above_one};
use crate::verdict::Bound;
use holloway_benchmarks::against::statistics::LogRatio;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "kblpp-fig7",
    place: "Section 3.1, figure 7",
    title: "Masked convolution: eight pixels at once",
    says: &[
        "By the profile the filter's loop is written anew: where the mask says the same of eight pixels, these are copied as a word, or all convolved. It is up to 21 % faster with the picture of 3114 by 2376 pixels, about 30 % with one of 9265 by 7549, \
         and hardly at all with a black mask.",
        "`apps/masks8` is the filter written so by hand, `black` and `black8` are both with a mask that is black. Eight bytes of an array are one load or store (`word`, `setWord`), as through the paper's pointers. \
         A round runs each in a process of its own; its time is that of the fastest of ten iterations, and the median of the last five is told beside it (of seven, and four, when time is short). \
         Both write to the same memory in each iteration: that of a new array is the system's to give when it is touched first, which took as long as what is measured (a picture of 7.4 MB: 3 of 15 ms) and came by chance. \
         The large picture, as wide as the small one but with as many pixels as the paper's, is measured in full mode only.",
    ],
    cells: |plan| pictures(plan).into_iter().flat_map(|picture| cells(plan, picture)).collect(),
    conclude,
};

/// A pair of programs, the rows, and how many seconds a process takes.
#[derive(Clone, Copy, PartialEq)]
struct Picture {
    name: &'static str,
    programs: [&'static str; 2],
    rows: u32,
    seconds: f64,
}

const SMALL: Picture =
    Picture { name: "3114×2376", programs: ["masks", "masks8"], rows: 2376, seconds: 0.9 };
const LARGE: Picture =
    Picture { name: "as 9265×7549", programs: ["masks", "masks8"], rows: 22460, seconds: 8.0 };
const BLACK: Picture = Picture { name: "black mask", programs: ["black", "black8"], rows: 594, seconds: 0.5 };

fn pictures(plan: &Plan) -> Vec<Picture> {
    plan.pick(vec![SMALL, BLACK], vec![SMALL, LARGE, Picture { rows: SMALL.rows, seconds: 2.0, ..BLACK }])
}

/// Points of percent that hardly count.
const LITTLE: f64 = 5.0;
/// An interval whose half is longer says nothing.
const UNCERTAIN: f64 = 10.0;

fn rounds(plan: &Plan) -> u32 {
    plan.trials.unwrap_or(plan.pick(5, 10))
}

fn cell(plan: &Plan, picture: Picture, which: usize, round: u32) -> Cell {
    let iterations = plan.pick(7, 10);
    let (program, rows) = (picture.programs[which], picture.rows);
    // Of two programs one may have its loop across a border of the processor's caches: in each round code lies elsewhere.
    let line =
        format!("bench {program} --size {rows} --iterations {iterations} --scatter {round} --json {RESULT}");
    Cell::timed(Reduction::Times, &[&line], picture.seconds)
        .beside(format!("kblpp-fig7 {} {round}", picture.name))
}

fn cells(plan: &Plan, picture: Picture) -> Vec<Cell> {
    (0..rounds(plan)).flat_map(|round| [0, 1].map(|which| cell(plan, picture, which, round))).collect()
}

/// From iterations to the time of a process.
type Time = fn(&[f64]) -> Option<f64>;

/// The fastest iteration.
fn fastest(samples: &[f64]) -> Option<f64> {
    samples.iter().copied().reduce(f64::min)
}

/// The median of the last half of the iterations.
fn steady(samples: &[f64]) -> Option<f64> {
    let mut last = samples[samples.len() / 2..].to_vec();
    last.sort_by(f64::total_cmp);
    last.get(last.len() / 2).copied()
}

/// By how much the restructured loop is faster: the time of the one over that of the other.
fn faster(plan: &Plan, results: &Results<'_>, picture: Picture, time: Time) -> Option<Measured> {
    let time = |cell: &Cell| time(results.outcome(cell)?.samples.get("samples_ns")?);
    let round = |round: u32| {
        let [by_one, by_eight] = [0, 1].map(|which| time(&cell(plan, picture, which, round)));
        Some((by_one? / by_eight?).ln())
    };
    let logarithms: Option<Vec<f64>> = (0..rounds(plan)).map(round).collect();
    let logarithms = logarithms.filter(|all| !all.is_empty())?;
    Some(above_one(LogRatio::over_rounds(&logarithms, 0).interval()))
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let paper = |key: &str| papers::number(&format!("kblpp.masked_filter.{key}"));
    let pictures = pictures(plan);
    let black = pictures.iter().copied().find(|picture| picture.programs == BLACK.programs);
    let black = black.and_then(|picture| faster(plan, results, picture, fastest));
    let small = faster(plan, results, SMALL, fastest);
    let bounds = [(SMALL, "speedup_peak_small", "up to about"), (LARGE, "speedup_large", "about")];
    for (picture, key, about) in bounds.into_iter().filter(|(picture, ..)| pictures.contains(picture)) {
        found.checks.number(
            &format!("faster by eights, {}", picture.name),
            &format!("{about} {} %", paper(key)),
            Bound::at_least(paper(key)).resolution(UNCERTAIN),
            faster(plan, results, picture, fastest),
        );
    }
    found.checks.shape(
        "the small picture gains, and a black mask does not",
        "up to about 21 %; hardly noticeable",
        "by more than a twentieth, and by less",
        small.zip(black).map(|(small, black)| small.value > LITTLE && black.value.abs() <= LITTLE),
        small.zip(black).map_or("not measured".into(), |(small, black)| {
            format!("{:.1} %, {:.1} %", small.value, black.value)
        }),
    );
    for picture in &pictures {
        found.checks.told(
            &format!("the same in the steady state, {}", picture.name),
            "not said which",
            faster(plan, results, *picture, steady),
        );
    }
    let all: Vec<Option<Measured>> =
        pictures.iter().map(|&picture| faster(plan, results, picture, fastest)).collect();
    if all.iter().all(Option::is_none) {
        return;
    }
    let theirs = |picture: &Picture| match picture {
        _ if *picture == SMALL => Some(paper("speedup_peak_small")),
        _ if *picture == LARGE => Some(paper("speedup_large")),
        _ => None,
    };
    let series = |name: &str, is_paper: bool, values: Vec<Option<f64>>, intervals| Series {
        name: name.into(),
        is_paper,
        values,
        intervals,
    };
    let measured = all.iter().map(|of| of.map(|of| of.value)).collect();
    let intervals = all.iter().map(|of| of.and_then(|of| of.interval)).collect();
    found.figures.push(Figure {
        id: "speed-up".into(),
        title: "Speed-up by doing eight pixels at once".into(),
        caption: "Time of the loop of figure 4 over that of figure 7, above 1.".into(),
        chart: Chart::Bars {
            unit: Unit::Percent,
            categories: pictures.iter().map(|picture| picture.name.to_string()).collect(),
            series: vec![
                series("measured", false, measured, intervals),
                series("paper", true, pictures.iter().map(theirs).collect(), Vec::new()),
            ],
        },
    });
}
