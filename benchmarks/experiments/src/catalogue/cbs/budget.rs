//! Arnold and Grove 2005, table 2, the first number of its cells: what samples and strides cost, and how accurate one can be for how much.
//!
//! Overheads of good configurations are too small to be measured one by one. What a sample costs, and what an opportunity that is let pass
//! costs, follow from configurations that take many of either, by least squares over their means of all programs, which are what the paper's
//! grid has; the cost of all others follows from these two numbers, as far as windows end before the next tick.

use crate::catalogue::overheads::cell as cost;
use crate::cell::Cell;
use crate::plan::Plan;
use crate::report::model::{Chart, Figure, Measured, Unit};
use crate::results::{Results, above_one, mean};

/// The paper's ticks are so many nanoseconds apart.
const TICK: f64 = 10e6;

/// Samples and strides whose cost is measured: many of one, many of the other, and of both.
pub fn points(plan: &Plan) -> &'static [(u32, u32)] {
    const QUICK: &[(u32, u32)] = &[(1024, 1), (4096, 1), (64, 127), (256, 127), (1024, 31)];
    const FULL: &[(u32, u32)] = &[
        (64, 1),
        (256, 1),
        (1024, 1),
        (4096, 1),
        (16, 127),
        (64, 127),
        (256, 127),
        (1024, 127),
        (64, 31),
        (256, 31),
        (1024, 31),
        (4096, 7),
    ];
    plan.pick(QUICK, FULL)
}

fn programs(plan: &Plan) -> Vec<&'static str> {
    plan.programs(&["richards"], &["richards", "storage", "towers"])
}

fn cell(plan: &Plan, program: &str, (samples, stride): (u32, u32)) -> Cell {
    // A minute for each of them would be too much even for a night.
    let plan = Plan { trials: plan.trials.or(plan.pick(None, Some(20))), ..plan.clone() };
    let flags = format!("--profile cbs:samples={samples},stride={stride} --tier o0 --timer wall:10ms");
    cost(&plan, program, &flags)
}

/// All that is measured.
pub fn cells(plan: &Plan) -> Vec<Cell> {
    let names = programs(plan);
    points(plan).iter().flat_map(|of| names.iter().map(|name| cell(plan, name, *of))).collect()
}

/// What a configuration came to.
struct Observation {
    /// Of a nanosecond of a program: samples taken in it.
    samples: f64,
    /// Opportunities let pass.
    skips: f64,
    /// Time that it took more, as a share.
    overhead: f64,
}

/// What sampling costs, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Prices {
    /// For each sample.
    pub sample: f64,
    /// For each opportunity that an open window lets pass.
    pub skip: f64,
    /// The part of the variation of overheads that these two explain, from 0 to 1.
    pub explained: f64,
}

impl Prices {
    /// From all that was measured; nothing if something is missing.
    pub fn of(plan: &Plan, results: &Results<'_>) -> Option<Prices> {
        let names = programs(plan);
        let of_point = |point: &(u32, u32)| -> Option<Observation> {
            let each: Option<Vec<Observation>> =
                names.iter().map(|name| observation(results, &cell(plan, name, *point))).collect();
            average(&each?)
        };
        let all: Option<Vec<Observation>> = points(plan).iter().map(of_point).collect();
        fit(&all?)
    }

    /// What a configuration costs with the paper's ticks, in percent.
    pub fn overhead(&self, samples: u32, stride: u32) -> f64 {
        let skips = f64::from(samples) * f64::from(stride - 1);
        (f64::from(samples) * self.sample + skips * self.skip) / TICK * 100.0
    }
}

fn observation(results: &Results<'_>, cell: &Cell) -> Option<Observation> {
    let overhead = above_one(results.ratio(cell, "overhead", 1)?.interval()).value / 100.0;
    let outcome = results.outcome(cell)?;
    let base: f64 = outcome.samples.get("base.cpu_ns")?.iter().sum();
    let number = |name: &str| outcome.numbers.get(name).copied();
    let (samples, skips) = (number("profiled.call_samples")?, number("profiled.call_skips")?);
    (base > 0.0).then(|| Observation { samples: samples / base, skips: skips / base, overhead })
}

/// The mean over programs: some pay twice as much for a sample as others, and one of them alone is known to a point or two.
fn average(each: &[Observation]) -> Option<Observation> {
    let over = |of: fn(&Observation) -> f64| mean(&each.iter().map(of).collect::<Vec<f64>>());
    let (samples, skips) = (over(|of| of.samples)?, over(|of| of.skips)?);
    Some(Observation { samples, skips, overhead: over(|of| of.overhead)? })
}

/// Least squares without a constant: who takes no samples pays nothing.
fn fit(all: &[Observation]) -> Option<Prices> {
    let sum = |of: &dyn Fn(&Observation) -> f64| all.iter().map(of).sum::<f64>();
    let (ss, sk, kk) =
        (sum(&|o| o.samples * o.samples), sum(&|o| o.samples * o.skips), sum(&|o| o.skips * o.skips));
    let (sy, ky) = (sum(&|o| o.samples * o.overhead), sum(&|o| o.skips * o.overhead));
    let determinant = ss * kk - sk * sk;
    if all.len() < 3 || determinant <= 1e-12 * ss * kk {
        return None;
    }
    let sample = (sy * kk - ky * sk) / determinant;
    let skip = (ky * ss - sy * sk) / determinant;
    let middle = sum(&|o| o.overhead) / all.len() as f64;
    let left = sum(&|o| (o.overhead - sample * o.samples - skip * o.skips).powi(2));
    let variation = sum(&|o| (o.overhead - middle).powi(2));
    (variation > 0.0).then(|| Prices { sample, skip, explained: 1.0 - left / variation })
}

/// The best accuracy of a grid, by rows of samples and columns of strides, that costs no more than so many percent.
pub fn best(
    prices: &Prices,
    (samples, strides): (&[u32], &[u32]),
    accuracy: &[Vec<Option<f64>>],
    budget: f64,
) -> Option<f64> {
    let rows = samples.iter().zip(accuracy);
    let cells = rows.flat_map(|(samples, row)| strides.iter().zip(row).map(move |of| (*samples, of)));
    let cheap = cells.filter(|(samples, (stride, _))| prices.overhead(*samples, **stride) <= budget);
    cheap.filter_map(|(_, (_, accuracy))| *accuracy).max_by(f64::total_cmp)
}

/// The costs of a grid beside the paper's.
pub fn figure(prices: &Prices, (samples, strides): (&[u32], &[u32]), paper: Vec<Vec<Option<f64>>>) -> Figure {
    let row = |&samples: &u32| strides.iter().map(|&stride| Some(prices.overhead(samples, stride))).collect();
    let caption = "From what a sample and a skip cost, with ticks of 10 ms. Where windows are longer than ticks it is less than that.";
    let measured = samples.iter().map(row).collect();
    grid("overhead", ["Overhead", caption], (samples, strides), [measured, paper], true)
}

/// A grid over samples and strides: its title and caption, and what was measured beside the paper's.
pub fn grid(
    id: &str,
    [title, caption]: [&str; 2],
    (samples, strides): (&[u32], &[u32]),
    [measured, paper]: [Vec<Vec<Option<f64>>>; 2],
    less_is_better: bool,
) -> Figure {
    Figure {
        id: id.into(),
        title: title.into(),
        caption: caption.into(),
        chart: Chart::Heat {
            unit: Unit::Percent,
            row_title: "samples for each tick".into(),
            column_title: "stride".into(),
            rows: samples.iter().map(u32::to_string).collect(),
            columns: strides.iter().map(u32::to_string).collect(),
            measured,
            paper,
            less_is_better,
        },
    }
}

/// A price as a number of the report.
pub fn nanoseconds(value: f64) -> Measured {
    Measured { value, interval: None, unit: Unit::Nanoseconds }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed(samples: f64, skips: f64, off: f64) -> Observation {
        Observation { samples, skips, overhead: 200.0 * samples + 5.0 * skips + off }
    }

    #[test]
    fn prices_are_found_from_what_they_made() {
        let all = [(1e-5, 0.0, 0.0), (1e-4, 0.0, 1e-4), (1e-5, 1e-3, -1e-4), (1e-4, 1e-2, 0.0)];
        let prices = fit(&all.map(|(samples, skips, off)| observed(samples, skips, off))).expect("known");
        assert!((prices.sample - 200.0).abs() < 5.0 && (prices.skip - 5.0).abs() < 0.1, "{prices:?}");
        assert!(prices.explained > 0.99 && prices.explained < 1.0);
        let alike = [(1e-5, 1e-4, 0.0), (2e-5, 2e-4, 0.0), (3e-5, 3e-4, 0.0)];
        assert_eq!(fit(&alike.map(|(samples, skips, off)| observed(samples, skips, off))), None);
    }

    #[test]
    fn programs_count_alike() {
        let each = [observed(1e-5, 1e-3, 0.0), observed(3e-5, 3e-3, 0.02)];
        let both = average(&each).expect("two");
        assert!((both.samples - 2e-5).abs() < 1e-12 && (both.skips - 2e-3).abs() < 1e-12);
        assert!((both.overhead - (200.0 * 2e-5 + 5.0 * 2e-3 + 0.01)).abs() < 1e-12);
        assert!(average(&[]).is_none());
    }

    #[test]
    fn budgets_buy_what_they_can() {
        let prices = Prices { sample: 200.0, skip: 5.0, explained: 1.0 };
        assert!((prices.overhead(100, 1) - 0.2).abs() < 1e-9);
        assert!((prices.overhead(100, 41) - 0.4).abs() < 1e-9);
        let grid = [vec![Some(50.0), Some(60.0)], vec![Some(70.0), None]];
        let axes = (&[100, 1000][..], &[1, 41][..]);
        assert_eq!(best(&prices, axes, &grid, 0.3), Some(50.0));
        assert_eq!(best(&prices, axes, &grid, 0.5), Some(60.0));
        assert_eq!(best(&prices, axes, &grid, 2.0), Some(70.0));
        assert_eq!(best(&prices, axes, &grid, 0.1), None);
    }
}
