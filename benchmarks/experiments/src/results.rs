//! What an experiment asks when it concludes: the outcomes of its cells, as far as there are any.

use crate::cell::{Cell, Outcome};
use crate::report::model::{Measured, Unit};
use crate::store::Cells;
use holloway_benchmarks::against::statistics::{Interval, LogRatio, geometric_mean};

/// The results of a store.
#[derive(Debug)]
pub struct Results<'a> {
    cells: &'a Cells,
}

impl<'a> Results<'a> {
    /// Those of a store.
    pub fn new(cells: &'a Cells) -> Results<'a> {
        Results { cells }
    }

    /// What the cell came to, if it did.
    pub fn outcome(&self, cell: &Cell) -> Option<&'a Outcome> {
        self.cells.get(&cell.key())?.outcome.as_ref()
    }

    /// A number that it came to.
    pub fn number(&self, cell: &Cell, name: &str) -> Option<f64> {
        self.outcome(cell)?.numbers.get(name).copied()
    }

    /// Why a cell failed; nothing if it was not done.
    pub fn error(&self, key: &str) -> Option<&'a str> {
        self.cells.get(key)?.error.as_deref()
    }

    /// How long a cell took.
    pub fn seconds(&self, key: &str) -> f64 {
        self.cells.get(key).map_or(0.0, |result| result.seconds)
    }

    /// The ratio whose logarithm each round of an `overhead` cell gives under this name; `stream` tells programs apart that are to be
    /// averaged.
    pub fn ratio(&self, cell: &Cell, name: &str, stream: u64) -> Option<LogRatio> {
        Some(LogRatio::over_rounds(self.logarithms(cell, name)?, stream))
    }

    /// The same of what was measured several times, each time with another choice that chance made: of each cell the mean counts.
    pub fn ratio_over(&self, cells: &[Cell], name: &str, stream: u64) -> Option<LogRatio> {
        let means: Vec<f64> =
            cells.iter().map(|cell| self.mean_logarithm(cell, name)).collect::<Option<_>>()?;
        (!means.is_empty()).then(|| LogRatio::over_rounds(&means, stream))
    }

    /// The logarithm of such a ratio, without an interval.
    pub fn mean_logarithm(&self, cell: &Cell, name: &str) -> Option<f64> {
        mean(self.logarithms(cell, name)?)
    }

    /// The same of each round; there is at least one.
    pub fn logarithms(&self, cell: &Cell, name: &str) -> Option<&'a [f64]> {
        let rounds = self.outcome(cell)?.samples.get(name)?;
        (!rounds.is_empty()).then_some(rounds.as_slice())
    }
}

/// A ratio as how many percent it is above 1.
pub fn above_one(interval: Interval) -> Measured {
    let percent = |ratio: f64| (ratio - 1.0) * 100.0;
    let interval_of = interval.ends.map(|(low, high)| (percent(low), percent(high)));
    Measured { value: percent(interval.value), interval: interval_of, unit: Unit::Percent }
}

/// The mean over programs, as how many percent it is above 1. Nothing without programs.
pub fn mean_above_one(ratios: &[LogRatio]) -> Option<Measured> {
    let all: Vec<&LogRatio> = ratios.iter().collect();
    Some(above_one(geometric_mean(&all)?.interval()))
}

/// The mean of some numbers; nothing for none.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The median of some numbers; nothing for none.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (&low, &high) = (sorted.get(sorted.len().checked_sub(1)? / 2)?, sorted.get(sorted.len() / 2)?);
    Some((low + high) / 2.0)
}

/// A number without an interval.
pub fn exactly(value: f64, unit: Unit) -> Measured {
    Measured { value, interval: None, unit }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_in_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 9.0, 2.0]), Some(3.0));
    }
}
