//! Arnold and Grove 2005, table 2, the first number of its cells: what samples and strides cost, and how accurate one can be for how much.
//!
//! Overheads of good configurations are too small to be measured one by one. What a sample costs, and what an opportunity that is let pass
//! costs, follow from configurations that take many of either, by least squares over their means of all programs, which are what the paper's
//! grid has; the cost of all others follows from these two numbers.
//!
//! S samples with stride s cost c = S (a + (s - 1) b) nanoseconds for each window, in which the program does nothing. With r opportunities in a nanosecond of
//! the program, a window lasts for w = S s / r + c. Ticks that come meanwhile are lost, so the next window opens at the first tick after it: one
//! for each w / T ticks, rounded up, of T nanoseconds each. That is an overhead of c / (ceil(w / T) T - c): where windows end before the next
//! tick, c / (T - c); where they last for many ticks, nearly r (a + (s - 1) b) / s, however many samples are asked for, which is the plateau at the right of the
//! paper's grids. How many opportunities a program has is counted where a window is open nearly all the time.

use super::grid::{Grid, Numbers, Point};
use crate::catalogue::overheads::cell as cost;
use crate::cell::Cell;
use crate::plan::{Mode, Plan};
use crate::report::model::{Chart, Figure, Measured, Unit};
use crate::results::{Results, above_one, mean};

/// The paper's ticks are so many nanoseconds apart.
const TICK: f64 = 10e6;

/// Windows of this last for many ticks, so that one is open nearly all the time: it says how many opportunities there are, and takes no part in the fit.
const ALWAYS: Point = (1_048_576, 31);

/// From so many opportunities of a window on, what is to be seen is so large that less time is enough.
const LARGE: u32 = 4_000;

/// Samples and strides whose cost is measured: many of one, many of the other, and of both.
pub fn points(plan: &Plan) -> &'static [Point] {
    const QUICK: &[Point] = &[(1024, 1), (4096, 1), (64, 127), (256, 127), (1024, 31)];
    const FULL: &[Point] = &[
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

fn cell(plan: &Plan, program: &str, (samples, stride): Point) -> Cell {
    // A minute for each of them would be too much even for a night.
    let is_large = samples * stride >= LARGE && (plan.mode == Mode::Full || stride <= 31);
    let seconds = plan.pick(if is_large { 1 } else { 2 }, if is_large { 10 } else { 20 });
    let plan = Plan { trials: plan.trials.or(Some(seconds)), ..plan.clone() };
    let flags = format!("--profile cbs:samples={samples},stride={stride} --tier o0 --timer wall:10ms");
    cost(&plan, program, &flags)
}

/// All that is measured.
pub fn cells(plan: &Plan) -> Vec<Cell> {
    let names = programs(plan);
    let all = points(plan).iter().chain([&ALWAYS]);
    all.flat_map(|of| names.iter().map(|name| cell(plan, name, *of))).collect()
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
#[derive(Clone, PartialEq, Debug)]
pub struct Prices {
    /// For each sample.
    pub sample: f64,
    /// For each opportunity that an open window lets pass.
    pub skip: f64,
    /// The part of the variation of overheads that these two explain, from 0 to 1.
    pub explained: f64,
    /// Of each program, its opportunities in a nanosecond; at least one.
    rates: Vec<f64>,
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
        let rate = |name: &&str| {
            let always = observation(results, &cell(plan, name, ALWAYS))?;
            Some(always.samples + always.skips)
        };
        fit(&all?, names.iter().map(rate).collect::<Option<Vec<f64>>>()?)
    }

    /// What a configuration costs with the paper's ticks, in percent: the mean over programs.
    pub fn overhead(&self, samples: u32, stride: u32) -> f64 {
        let (samples, stride) = (f64::from(samples), f64::from(stride));
        let cost = samples * (self.sample + (stride - 1.0) * self.skip);
        let of_program = |rate: &f64| {
            let lasts = samples * stride / rate + cost;
            cost / ((lasts / TICK).ceil() * TICK - cost)
        };
        100.0 * self.rates.iter().map(of_program).sum::<f64>() / self.rates.len() as f64
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
fn fit(all: &[Observation], rates: Vec<f64>) -> Option<Prices> {
    let sum = |of: &dyn Fn(&Observation) -> f64| all.iter().map(of).sum::<f64>();
    let (ss, sk, kk) =
        (sum(&|o| o.samples * o.samples), sum(&|o| o.samples * o.skips), sum(&|o| o.skips * o.skips));
    let (sy, ky) = (sum(&|o| o.samples * o.overhead), sum(&|o| o.skips * o.overhead));
    let determinant = ss * kk - sk * sk;
    if all.len() < 3 || determinant <= 1e-12 * ss * kk || rates.is_empty() {
        return None;
    }
    let sample = (sy * kk - ky * sk) / determinant;
    let skip = (ky * ss - sy * sk) / determinant;
    let middle = sum(&|o| o.overhead) / all.len() as f64;
    let left = sum(&|o| (o.overhead - sample * o.samples - skip * o.skips).powi(2));
    let variation = sum(&|o| (o.overhead - middle).powi(2));
    let is_alive = rates.iter().all(|rate| *rate > 0.0);
    (variation > 0.0 && is_alive).then(|| Prices { sample, skip, explained: 1.0 - left / variation, rates })
}

/// The most accurate cell for a budget.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Best {
    /// Its samples and stride.
    pub point: Point,
    /// In percent.
    pub accuracy: f64,
    /// What it costs, in percent.
    pub overhead: f64,
}

/// The best of a grid that costs no more than so many percent; of several the first.
pub fn best(prices: &Prices, grid: &Grid, accuracy: &Numbers, budget: f64) -> Option<Best> {
    let rows = grid.samples.iter().zip(accuracy);
    let cells = rows.flat_map(|(samples, row)| grid.strides.iter().zip(row).map(move |of| (*samples, of)));
    let all = cells.filter_map(|(samples, (&stride, accuracy))| {
        let overhead = prices.overhead(samples, stride);
        Some(Best { point: (samples, stride), accuracy: (*accuracy)?, overhead })
    });
    let cheap = all.filter(|of| of.overhead <= budget);
    cheap.reduce(|best, of| if of.accuracy > best.accuracy { of } else { best })
}

/// The costs of a grid beside the paper's.
pub fn figure(prices: &Prices, of: &Grid) -> Figure {
    let caption = "From what a sample and a skip cost, with ticks of 10 ms. Where windows do not end before the next tick, from how many calls are made.";
    let measured = of.fill(|(samples, stride)| Some(prices.overhead(samples, stride)));
    grid("overhead", ["Overhead", caption], of, [measured, of.overhead.clone()], true)
}

/// A grid over samples and strides: its title and caption, and what was measured beside the paper's.
pub fn grid(
    id: &str,
    [title, caption]: [&str; 2],
    of: &Grid,
    [measured, paper]: [Numbers; 2],
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
            rows: of.samples.iter().map(u32::to_string).collect(),
            columns: of.strides.iter().map(u32::to_string).collect(),
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
        let prices =
            fit(&all.map(|(samples, skips, off)| observed(samples, skips, off)), vec![0.1]).expect("known");
        assert!((prices.sample - 200.0).abs() < 5.0 && (prices.skip - 5.0).abs() < 0.1, "{prices:?}");
        assert!(prices.explained > 0.99 && prices.explained < 1.0);
        let alike = [(1e-5, 1e-4, 0.0), (2e-5, 2e-4, 0.0), (3e-5, 3e-4, 0.0)];
        assert_eq!(fit(&alike.map(|(samples, skips, off)| observed(samples, skips, off)), vec![0.1]), None);
    }

    #[test]
    fn programs_count_alike() {
        let each = [observed(1e-5, 1e-3, 0.0), observed(3e-5, 3e-3, 0.02)];
        let both = average(&each).expect("two");
        assert!((both.samples - 2e-5).abs() < 1e-12 && (both.skips - 2e-3).abs() < 1e-12);
        assert!((both.overhead - (200.0 * 2e-5 + 5.0 * 2e-3 + 0.01)).abs() < 1e-12);
        assert!(average(&[]).is_none());
    }

    fn prices(rates: &[f64]) -> Prices {
        Prices { sample: 200.0, skip: 5.0, explained: 1.0, rates: rates.to_vec() }
    }

    #[test]
    fn budgets_buy_what_they_can() {
        let prices = prices(&[0.1]);
        // 20 us of a tick, in which the program does not run.
        assert!((prices.overhead(100, 1) - 100.0 * 20.0 / 9980.0).abs() < 1e-9);
        assert!((prices.overhead(100, 41) - 100.0 * 40.0 / 9960.0).abs() < 1e-9);
        let grid = Grid {
            samples: vec![100, 1000],
            strides: vec![1, 41],
            accuracy: vec![vec![Some(0.0); 2]; 2],
            overhead: vec![vec![None; 2]; 2],
        };
        let accuracy = vec![vec![Some(50.0), Some(60.0)], vec![Some(70.0), None]];
        let best = |budget: f64| best(&prices, &grid, &accuracy, budget);
        assert_eq!(best(0.3).map(|of| (of.point, of.accuracy)), Some(((100, 1), 50.0)));
        assert_eq!(best(0.5).map(|of| of.point), Some((100, 41)));
        assert_eq!(best(2.1).map(|of| of.accuracy), Some(70.0));
        assert!(best(2.1).is_some_and(|of| of.overhead <= 2.1));
        assert_eq!(best(0.1), None);
    }

    /// The formula against a machine that is followed tick by tick.
    #[test]
    fn overheads_are_those_of_a_machine_that_ticks() {
        let prices = prices(&[0.1]);
        let simulated = |samples: u64, stride: u64| {
            let (mut clock, mut work, mut left) = (0.0, 0.0, 0u64);
            let (mut next, mut until) = (TICK, stride);
            while clock < 300.0 * TICK {
                clock += 10.0;
                work += 10.0;
                if clock >= next {
                    next = (clock / TICK).floor() * TICK + TICK;
                    if left == 0 {
                        (left, until) = (samples, stride);
                    }
                }
                if left > 0 {
                    until -= 1;
                    clock += if until == 0 { prices.sample } else { prices.skip };
                    if until == 0 {
                        (left, until) = (left - 1, stride);
                    }
                }
            }
            100.0 * (clock - work) / work
        };
        for (samples, stride) in [(1000, 1), (10_000, 1), (1000, 31), (300, 511), (131_072, 31), (8192, 255)]
        {
            let (formula, machine) =
                (prices.overhead(samples, stride), simulated(samples.into(), stride.into()));
            assert!((formula / machine - 1.0).abs() < 0.03, "{samples} {stride}: {formula} and {machine}");
        }
    }

    #[test]
    fn long_windows_cost_by_their_stride_alone() {
        let prices = prices(&[0.1, 0.2]);
        let plateau = 100.0 * 0.15 * (200.0 + 30.0 * 5.0) / 31.0;
        for (samples, off) in [(131_072, 0.2), (ALWAYS.0, 0.02)] {
            let overhead = prices.overhead(samples, ALWAYS.1);
            assert!(overhead <= plateau && overhead >= plateau * (1.0 - off), "{overhead} of {plateau}");
        }
    }
}
