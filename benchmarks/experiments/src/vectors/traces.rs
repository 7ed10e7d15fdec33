//! Worked examples of paths from branch traces (Shye et al. 2005, figures 1 to 3 and table 1): `data/pmu-vectors.json`.
//!
//! The pictures are not in the text. The graph of the running example is the one that its prose and its table 1 leave; that of figure 1 has a
//! hot path by its edges with the paper's two counts, 70 and 50.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// An example and what must come of it.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceVector {
    /// As on the command line.
    pub name: String,
    /// Where the paper has it.
    pub figure: String,
    /// What it is.
    pub title: String,
    /// Blocks in letters, each with its successors, the entry first: `A:BC B:D`. They are laid out in the order of the alphabet.
    pub graph: String,
    /// Runs of the method from its entry, and how often.
    #[serde(default)]
    pub walks: BTreeMap<String, u64>,
    /// Traces: taken branches, oldest first.
    #[serde(default)]
    pub traces: Vec<String>,
    /// Partial paths and how often they were sampled.
    #[serde(default)]
    pub partials: Vec<(String, u64)>,
    /// Numbers by part and name.
    pub expected: BTreeMap<String, BTreeMap<String, f64>>,
}

static VECTORS: LazyLock<Vec<TraceVector>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../data/pmu-vectors.json")).expect("the vectors are JSON")
});

/// All of them.
pub fn all() -> &'static [TraceVector] {
    &VECTORS
}

/// The vector of this name.
pub fn find(name: &str) -> Option<&'static TraceVector> {
    VECTORS.iter().find(|vector| vector.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers;

    #[test]
    fn table_1_is_the_papers() {
        let vector = find("pmu-3").expect("there");
        let rows = papers::at("pmu.table1.rows").as_array().expect("rows");
        assert_eq!(rows.len(), vector.expected["increments"].len());
        for row in rows {
            let text = |at: usize| row[at].as_str().expect("a path");
            let name = format!("{} in {}", text(0), text(2));
            assert!(vector.partials.contains(&(text(0).to_string(), row[1].as_u64().expect("a count"))));
            assert_eq!(Some(vector.expected["increments"][&name]), row[3].as_f64(), "{name}");
            assert_eq!(Some(vector.expected["totals"][&name]), row[4].as_f64(), "{name}");
        }
        for (path, weight) in papers::at("pmu.table1.final").as_object().expect("weights") {
            assert_eq!(Some(vector.expected["weights"][path]), weight.as_f64(), "{path}");
        }
    }
}
