//! What experiments about cost have in common: their cells, means over programs, and bars.

use crate::cell::{Cell, RESULT};
use crate::plan::{Mode, Plan};
use crate::reduce::Reduction;
use crate::report::model::{self, Chart, Figure, Measured, Series, Unit};
use crate::results::{Results, above_one, mean_above_one};
use crate::verdict::{shown, within_band};
use holloway_benchmarks::against::statistics::LogRatio;

/// What headlines hang on: a quick run measures it for longer.
pub const HEADLINES: [&str; 2] =
    ["--profile pep:samples=64,stride=17", "--tier o2 --profile btb:backend=burst,depth=4"];

/// What costs so much that less time tells it, or only stands beside what decides: in a full run 12 seconds.
const COARSE: [&str; 7] = [
    "--profile edges",
    "--profile blpp:storage=array",
    "--profile blpp:storage=hash",
    "--profile pep:samples=1,stride=1",
    "--profile pep:samples=256,stride=17",
    "--profile pep:samples=1024,stride=17",
    "--tier o2 --profile osp:skip=call",
];

/// For how long a program is measured: so many seconds in a quick run.
pub fn seconds(plan: &Plan, quick: u32) -> u32 {
    plan.trials.map_or(plan.pick(quick, 17), |trials| trials.clamp(1, 600))
}

/// In cells of compilation each round compiles everything again, and hardly executes it.
pub const COMPILING: &str = " --fresh --turns 1";

/// What a program costs with some flags more.
pub fn cell(plan: &Plan, program: &str, flags: &str) -> Cell {
    of_seconds(plan, program, flags, usual(plan, flags))
}

/// For how long what these flags cost is measured.
pub fn usual(plan: &Plan, flags: &str) -> u32 {
    let quick = match (HEADLINES.contains(&flags), COARSE.contains(&flags)) {
        (true, _) => 3,
        (_, true) => 1,
        _ => 2,
    };
    let all = seconds(plan, quick);
    if COARSE.contains(&flags) { all.min(12) } else { all }
}

/// What its compilation takes with some flags more.
pub fn compiling(plan: &Plan, program: &str, flags: &str) -> Cell {
    of_seconds(plan, program, &format!("{flags}{COMPILING}"), seconds(plan, 1))
}

/// The flag by which another seed of the plan draws another order of everything.
pub fn order(plan: &Plan) -> String {
    if plan.seed == 0 { String::new() } else { format!(" --order {}", plan.seed) }
}

/// The same, measured for so many seconds.
pub fn of_seconds(plan: &Plan, program: &str, flags: &str, seconds: u32) -> Cell {
    // Shorter samples, so that a few seconds have more of them.
    let size = match (program, plan.mode) {
        ("mandelbrot", Mode::Quick) => " --size 100",
        ("deltablue", Mode::Quick) => " --size 1000",
        ("compiler", Mode::Quick) => " --size 250",
        _ => "",
    };
    let order = order(plan);
    let line =
        format!("overhead {program} {flags}{size} --no-counts --max-time {seconds}s{order} --json {RESULT}");
    // What comes before the first round takes less than half a second, and the last one goes beyond the time.
    Cell::timed(Reduction::Overhead, &[&line], f64::from(seconds) + 0.4)
}

/// A cell of which only the counts are wanted, which are the same however long is measured.
pub fn counts(program: &str, flags: &str) -> Cell {
    let line = format!("overhead {program} {flags} --rounds 0 --json {RESULT}");
    Cell::counting(Reduction::Overhead, &[&line], 0.9)
}

/// Costs of a configuration over programs.
#[derive(Clone, Debug)]
pub struct Costs {
    /// For each program that was measured.
    pub each: Vec<(String, Measured)>,
    /// The same machine twice.
    pub again: Vec<(String, Measured)>,
    /// Over all programs; nothing if one is missing.
    pub mean: Option<Measured>,
    /// The same for the machine measured twice.
    pub again_mean: Option<Measured>,
}

impl Costs {
    /// What the cells for these programs came to.
    pub fn of(results: &Results<'_>, programs: &[&str], cell: impl Fn(&str) -> Cell) -> Costs {
        Costs::from(programs, |program, name, stream| results.ratio(&cell(program), name, stream))
    }

    /// The same of several cells for each program, which differ by what chance chose: an interval says how far another choice may be.
    pub fn over(results: &Results<'_>, programs: &[&str], cells: impl Fn(&str) -> Vec<Cell>) -> Costs {
        Costs::from(programs, |program, name, stream| results.ratio_over(&cells(program), name, stream))
    }

    fn from(programs: &[&str], ratio: impl Fn(&str, &str, u64) -> Option<LogRatio>) -> Costs {
        let mut all = Costs { each: Vec::new(), again: Vec::new(), mean: None, again_mean: None };
        let (mut ratios, mut agains) = (Vec::new(), Vec::new());
        for (stream, &program) in (1..).zip(programs) {
            let both = ["overhead", "again"].map(|name| ratio(program, name, stream));
            if let [Some(ratio), Some(again)] = both {
                all.each.push((program.into(), above_one(ratio.interval())));
                all.again.push((program.into(), above_one(again.interval())));
                ratios.push(ratio);
                agains.push(again);
            }
        }
        if ratios.len() == programs.len() {
            (all.mean, all.again_mean) = (mean_above_one(&ratios), mean_above_one(&agains));
        }
        all
    }

    /// The dearest program, if all were measured.
    pub fn worst(&self) -> Option<&(String, Measured)> {
        self.mean?;
        self.each.iter().max_by(|a, b| a.1.value.total_cmp(&b.1.value))
    }

    /// Half the interval of the same machine measured twice, in points: less is nothing.
    pub fn band(&self) -> Option<f64> {
        let (low, high) = self.again_mean?.interval?;
        Some((high - low) / 2.0)
    }

    /// The cost of a program, or the mean, for a table: what is less than the same machine measured twice differs by is said to be no more than that.
    pub fn entry(&self, name: &str) -> model::Cell {
        let of = if name == MEAN { self.mean } else { find(&self.each, name) };
        let half = |again: Measured| again.interval.map(|(low, high)| (high - low) / 2.0);
        let band = if name == MEAN { self.band() } else { find(&self.again, name).and_then(half) };
        match of {
            Some(measured) => {
                within_band(&measured, band).map_or(model::Cell::Number(measured), model::Cell::Text)
            }
            None => model::Cell::Text("-".into()),
        }
    }

    /// As bars, the mean last.
    pub fn series(&self, name: &str, categories: &[String]) -> Series {
        series(
            name,
            categories,
            |category| {
                if category == MEAN { self.mean } else { find(&self.each, category) }
            },
        )
    }

    /// Of the same machine measured twice.
    pub fn again_series(&self, categories: &[String]) -> Series {
        series("same machine twice (A/A)", categories, |category| {
            if category == MEAN { self.again_mean } else { find(&self.again, category) }
        })
    }
}

/// What of a difference between two means is noise: the root of the sum of the squares of half their intervals.
pub fn noise(one: &Measured, other: &Measured) -> f64 {
    let half = |of: &Measured| of.interval.map_or(0.0, |(low, high)| (high - low) / 2.0);
    half(one).hypot(half(other))
}

/// Means with their names in a line; `missing` stands for one that is not there.
pub fn in_a_line<'a>(means: impl Iterator<Item = (&'a str, Option<Measured>)>, missing: &str) -> String {
    let text = |(name, mean): (&str, Option<Measured>)| {
        format!("{name}: {}", mean.map_or(missing.into(), |mean| shown(mean.value, mean.unit)))
    };
    means.map(text).collect::<Vec<_>>().join("; ")
}

/// The last group of bars.
pub const MEAN: &str = "mean";

fn find(all: &[(String, Measured)], name: &str) -> Option<Measured> {
    all.iter().find(|(of, _)| of == name).map(|(_, measured)| *measured)
}

/// A group for each program, and one for the mean.
pub fn categories(programs: &[&str]) -> Vec<String> {
    programs.iter().chain(&[MEAN]).map(|name| name.to_string()).collect()
}

/// Measured bars.
pub fn series(name: &str, categories: &[String], of: impl Fn(&str) -> Option<Measured>) -> Series {
    let all: Vec<Option<Measured>> = categories.iter().map(|category| of(category)).collect();
    Series {
        name: name.into(),
        is_paper: false,
        values: all.iter().map(|measured| measured.map(|of| of.value)).collect(),
        intervals: all.iter().map(|measured| measured.and_then(|of| of.interval)).collect(),
    }
}

/// The paper's mean, beside the mean that was measured.
pub fn paper_mean(categories: &[String], name: &str, mean: f64) -> Series {
    let values = categories.iter().map(|category| (category == MEAN).then_some(mean)).collect();
    Series { name: name.into(), is_paper: true, values, intervals: Vec::new() }
}

/// A figure of bars.
pub fn bars(
    id: &str,
    title: &str,
    caption: &str,
    unit: Unit,
    categories: Vec<String>,
    series: Vec<Series>,
) -> Figure {
    let (id, title, caption) = (id.to_string(), title.to_string(), caption.to_string());
    Figure { id, title, caption, chart: Chart::Bars { unit, categories, series } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_say_no_more_than_can_be_told() {
        let of = |value: f64, half: f64| Measured {
            value,
            interval: Some((value - half, value + half)),
            unit: Unit::Percent,
        };
        let costs = Costs {
            each: vec![("list".into(), of(0.2, 0.1)), ("json".into(), of(2.0, 0.1))],
            again: vec![("list".into(), of(0.0, 0.5)), ("json".into(), of(0.9, 0.5))],
            mean: Some(of(1.1, 0.1)),
            again_mean: Some(of(0.4, 0.3)),
        };
        assert_eq!(costs.entry("list"), model::Cell::Text("≤ 0.50 %".into()));
        assert_eq!(costs.entry("json"), model::Cell::Number(of(2.0, 0.1)));
        assert_eq!(costs.entry(MEAN), model::Cell::Number(of(1.1, 0.1)));
        assert_eq!(costs.entry("cd"), model::Cell::Text("-".into()));
    }
}
