//! The numbers that the papers print: `data/papers.json`, whose tables and keys are named by dots (`pep.fig6.pep_64_17.avg`).
//!
//! A key that the file does not have is a mistake in an experiment, not in anybody's input; a test concludes every experiment.

use serde_json::Value;
use std::sync::LazyLock;

static DATA: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../data/papers.json")).expect("the papers' numbers are JSON")
});

/// What is at this place.
pub fn at(key: &str) -> &'static Value {
    let mut here = &*DATA;
    for name in key.split('.') {
        here = match name.parse::<usize>() {
            Ok(index) => &here[index],
            Err(_) => &here[name],
        };
    }
    assert!(!here.is_null(), "the papers' numbers have no {key}");
    here
}

/// The number at this place.
pub fn number(key: &str) -> f64 {
    at(key).as_f64().unwrap_or_else(|| panic!("{key} is not a number"))
}

/// The list of numbers at this place; none for what the paper leaves open.
pub fn numbers(key: &str) -> Vec<Option<f64>> {
    list(key).iter().map(Value::as_f64).collect()
}

/// The grid of numbers at this place.
pub fn grid(key: &str) -> Vec<Vec<Option<f64>>> {
    list(key).iter().map(|row| row.as_array().into_iter().flatten().map(Value::as_f64).collect()).collect()
}

fn list(key: &str) -> &'static [Value] {
    at(key).as_array().map_or_else(|| panic!("{key} is not a list"), Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_name() {
        assert_eq!(number("pep.fig6.pep_64_17.avg"), 1.2);
        assert_eq!(number("kblpp.k_values.6"), 16.0);
        let (samples, strides) = (numbers("cbs.table2a.samples"), numbers("cbs.table2a.strides"));
        let grid = grid("cbs.table2a.accuracy");
        assert_eq!((grid.len(), grid[0].len()), (samples.len(), strides.len()));
        let missing = grid.iter().flatten().filter(|cell| cell.is_none()).count();
        assert_eq!(missing, list("cbs.table2a.missing").len());
    }
}
