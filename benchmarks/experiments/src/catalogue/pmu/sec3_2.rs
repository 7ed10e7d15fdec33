//! Shye et al. 2005, section 3.2: traces that are discarded because their records are inexact.

use super::traces;
use crate::catalogue::{Experiment, Findings};
use crate::cell::Cell;
use crate::plan::Plan;
use crate::report::model::{Axis, Chart, Figure, Line, Unit};
use crate::results::{Results, exactly, mean};
use std::time::Duration;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "pmu-sec3.2-discards",
    place: "Section 3.2",
    title: "Traces that are discarded",
    says: &[
        "The processor's addresses are inexact, and sometimes it forgets a target. The paper guesses where it can; in \"rare situations where we cannot safely guess\" the trace is discarded. It \
         has no numbers.",
        "Here the interpreter's records are exact, and so many of a hundred are disturbed on purpose: half of them get the block before or behind their source, half lose their target. A place is only replaced where \
         the code leaves exactly one, and a trace that contradicts the code is discarded as a whole. So of traces of four branches with 10 % of noise, a third has a disturbed record.",
    ],
    cells: |plan| {
        let names = programs(plan);
        NOISES
            .iter()
            .flat_map(|&noise| names.iter().flat_map(move |name| [cell(name, noise), accuracy(name, noise)]))
            .collect()
    },
    conclude,
};

/// These programs are soon done.
const SHORT: Duration = Duration::from_millis(250);

/// Of a hundred records so many are disturbed.
const NOISES: [u32; 5] = [0, 1, 5, 10, 20];

fn programs(plan: &Plan) -> Vec<&'static str> {
    plan.programs(
        &["richards", "json", "queens"],
        &["richards", "json", "queens", "deltablue", "list", "storage", "bounce", "cd"],
    )
}

fn profiler(noise: u32) -> String {
    format!("btb:depth=4,period=997,noise={noise}")
}

fn cell(program: &str, noise: u32) -> Cell {
    let cell = traces::statistics(program, "quick", &profiler(noise));
    Cell { estimate: SHORT, ..cell }
}

fn accuracy(program: &str, noise: u32) -> Cell {
    let cell = traces::accuracy(program, &format!("{},exact=yes", profiler(noise)));
    Cell { estimate: SHORT, ..cell }
}

/// Of all samples, the part that was discarded, and the part in which something was replaced.
fn shares(results: &Results<'_>, program: &str, noise: u32) -> Option<(f64, f64)> {
    let outcome = results.outcome(&cell(program, noise))?;
    let of_a_reason = outcome.numbers.iter().filter(|of| of.0.starts_with("discarded."));
    // A sum of nothing would be -0.
    let discarded = of_a_reason.fold(0.0, |sum, of| sum + of.1);
    let samples = outcome.numbers.get("samples")?;
    let all = Some(samples + discarded).filter(|&all| all > 0.0)?;
    Some((100.0 * discarded / all, 100.0 * outcome.numbers.get("repaired")? / all))
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = programs(plan);
    let over = |of: &dyn Fn(&str, u32) -> Option<f64>| {
        let point = |&noise: &u32| {
            let each: Option<Vec<f64>> = names.iter().map(|name| of(name, noise)).collect();
            Some((f64::from(noise), mean(&each?)?))
        };
        NOISES.iter().map(point).collect::<Option<Vec<(f64, f64)>>>()
    };
    let discarded = over(&|name, noise| Some(shares(results, name, noise)?.0));
    let repaired = over(&|name, noise| Some(shares(results, name, noise)?.1));
    let accurate =
        over(&|name, noise| Some(100.0 * results.number(&accuracy(name, noise), "traces.count.accuracy")?));
    found.checks.shape(
        "exact records are never discarded",
        "rare",
        "none without noise",
        discarded.as_ref().map(|of| of[0].1 == 0.0),
        discarded.as_ref().map_or("not measured".into(), |of| format!("{:.2} %", of[0].1)),
    );
    found.checks.shape(
        "more noise, more discarded",
        "not said",
        "the share rises with each step, and stays below that of traces with a disturbed record",
        discarded.as_ref().map(|of| {
            let most = |noise: f64| 100.0 * (1.0 - (1.0 - noise / 100.0).powi(4));
            of.windows(2).all(|of| of[1].1 > of[0].1) && of.iter().all(|of| of.1 <= most(of.0) + 1.0)
        }),
        discarded.as_ref().map_or("not measured".into(), |of| {
            of.iter().map(|of| format!("{} %: {:.1} %", of.0, of.1)).collect::<Vec<_>>().join(", ")
        }),
    );
    // At 5 % of noise.
    let at = NOISES.iter().position(|&noise| noise == 5).unwrap_or(0);
    let told = |line: &Option<Vec<(f64, f64)>>, at: usize| {
        line.as_ref().map(|line| exactly(line[at].1, Unit::Percent))
    };
    found.checks.told("samples discarded at 5 % of noise", "rare", told(&discarded, at));
    found.checks.told(
        "samples in which a place was replaced, at 5 %",
        "a bit of guesswork",
        told(&repaired, at),
    );
    found.checks.told("accuracy without noise, by count flow", "not said", told(&accurate, 0));
    found.checks.told("accuracy at 5 % of noise", "not said", told(&accurate, at));
    let lines = [("discarded", discarded), ("with a place replaced", repaired), ("accuracy", accurate)];
    let lines: Vec<Line> = lines
        .into_iter()
        .filter_map(|(name, points)| Some(Line { name: name.into(), is_paper: false, points: points? }))
        .collect();
    if !lines.is_empty() {
        found.figures.push(Figure {
            id: "discards".into(),
            title: "Discarded traces over noise".into(),
            caption: "Means over programs: of samples, and of hot flow.".into(),
            chart: Chart::Lines {
                x: Axis { title: "records disturbed".into(), unit: Unit::Percent, log: false },
                y: Axis { title: "share".into(), unit: Unit::Percent, log: false },
                lines,
            },
        });
    }
}
