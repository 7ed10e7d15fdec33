//! What the worked examples share: their cells, and how what the library makes of them is held against the vectors.

use crate::catalogue::Findings;
use crate::cell::Cell;
use crate::reduce::Reduction;
use crate::results::Results;
use crate::vectors::traces::TraceVector;
use std::collections::BTreeMap;

/// The example, worked.
pub fn cell(vector: &TraceVector) -> Cell {
    Cell::counting(Reduction::Numbers, &[&format!("experiment example {} --json", vector.name)], 0.02)
}

/// What came of an example.
pub struct Seen {
    parts: BTreeMap<String, BTreeMap<String, f64>>,
}

impl Seen {
    /// Nothing if it was not worked.
    pub fn of(vector: &TraceVector, results: &Results<'_>) -> Option<Seen> {
        let mut parts: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
        for (name, &number) in &results.outcome(&cell(vector))?.numbers {
            let (part, name) = name.split_once('.')?;
            parts.entry(part.into()).or_default().insert(name.into(), number);
        }
        Some(Seen { parts })
    }

    /// Numbers of a part.
    pub fn part(&self, name: &str) -> BTreeMap<String, f64> {
        self.parts.get(name).cloned().unwrap_or_default()
    }
}

/// Holds a part against the vector: all numbers that it must have, and no others.
pub fn check(
    found: &mut Findings,
    vector: &TraceVector,
    part: &str,
    what: &str,
    paper: &str,
    seen: Option<&Seen>,
) {
    let (expected, seen) = (&vector.expected[part], seen.map(|seen| seen.part(part)));
    let shown = seen.as_ref().map_or("not measured".into(), |seen| match seen == expected {
        true => list(seen),
        false => format!("{}, and not {}", list(seen), list(expected)),
    });
    let target = "exactly as in the vector";
    found.checks.shape(what, paper, target, seen.map(|seen| seen == *expected), shown);
}

fn list(numbers: &BTreeMap<String, f64>) -> String {
    let all: Vec<String> = numbers.iter().map(|(name, number)| format!("{name} {number}")).collect();
    if all.is_empty() { "nothing".into() } else { all.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::model::Verdict;
    use crate::vectors::traces;

    #[test]
    fn a_number_that_is_wrong_missing_or_too_many_is_seen() {
        let vector = traces::find("pmu-3").expect("there");
        let verdict = |change: fn(&mut BTreeMap<String, f64>)| {
            let mut parts = vector.expected.clone();
            change(parts.get_mut("weights").expect("there"));
            let mut found = Findings::default();
            check(&mut found, vector, "weights", "weights", "250", Some(&Seen { parts }));
            found.checks.finish().1
        };
        assert_eq!(verdict(|_| ()), Verdict::Reproduced);
        let changes: [fn(&mut BTreeMap<String, f64>); 3] = [
            |all| _ = all.insert("BCE".into(), 49.0),
            |all| _ = all.insert("BDE".into(), 1.0),
            |all| _ = all.remove("BCE"),
        ];
        for wrong in changes {
            assert_eq!(verdict(wrong), Verdict::NotReproduced);
        }
    }
}
