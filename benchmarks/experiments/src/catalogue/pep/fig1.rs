//! Bond and McKinley 2005, figures 1 to 5: how paths are numbered, and which opportunities are sampled.

use crate::catalogue::tables::{entry, table, text};
use crate::catalogue::{Experiment, Findings};
use crate::cell::{Cell, Outcome};
use crate::reduce::Reduction;
use crate::report::model::{Cell as TableCell, Figure, Unit};
use crate::results::{Results, exactly};
use crate::vectors::{self, Expected, Vector};
use std::collections::BTreeMap;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "pep-fig1-2-3-4-5",
    place: "Figures 1 to 5",
    title: "Numbering paths and choosing samples",
    says: &[
        "The figures show a routine whose paths get numbers: cut at its back edge (1), by the algorithm (2), cut at its loop header as PEP does (3), with \
         the value 0 on the edges that are taken most (4); and which of many opportunities three schedules sample (5). The pictures are not in the text \
         of the paper, so the examples here are of the same kind, worked by hand after the paper's algorithms.",
        "`holloway experiment example` works each with the library that the profilers use: it numbers the graph, decodes every number, runs the \
         instrumented method along walks, and lets the schedules take what they take. Each must be exactly as worked by hand.",
    ],
    cells: |_| vectors::all().iter().map(cell).collect(),
    conclude: |_, results, found| conclude(results, found),
};

fn cell(vector: &Vector) -> Cell {
    Cell::counting(Reduction::Numbers, &[&format!("experiment example {} --json", vector.name)], 0.02)
}

fn conclude(results: &Results<'_>, found: &mut Findings) {
    for vector in vectors::all() {
        let outcome = results.outcome(&cell(vector));
        for (variant, expected) in &vector.expected {
            let seen = outcome.and_then(|outcome| Seen::of(vector, variant, outcome));
            let wrong = seen.as_ref().map(|seen| seen.differences(expected));
            let shown = match (&wrong, &seen) {
                (Some(wrong), Some(seen)) if wrong.is_empty() => seen.summary(),
                (Some(wrong), _) => format!("different: {}", wrong.join(", ")),
                (None, _) => "not measured".into(),
            };
            found.checks.shape(
                &format!("{}, {variant}", vector.name),
                &vector.figure,
                "exactly as worked by hand",
                wrong.map(|wrong| wrong.is_empty()),
                shown,
            );
            found.figures.extend(seen.map(|seen| seen.figure(vector, variant)));
        }
    }
}

/// What the library made of a variant, in the form of what is expected.
struct Seen {
    expected: Expected,
    code: Vec<String>,
    /// The ends and beginnings that stand for cuts.
    all_values: BTreeMap<String, f64>,
    ticks: Vec<u32>,
}

impl Seen {
    /// Nothing if the outcome does not have the variant.
    fn of(vector: &Vector, variant: &str, outcome: &Outcome) -> Option<Seen> {
        let below = |part: &str| {
            let prefix = format!("{variant}.{part}.");
            outcome.numbers.iter().filter_map(move |(name, &number)| {
                name.strip_prefix(&prefix).map(|name| (name.to_string(), number))
            })
        };
        let in_order = |part: &str| {
            let mut all: Vec<(String, f64)> = below(part).collect();
            all.sort_by(|a, b| a.1.total_cmp(&b.1));
            all.into_iter().map(|of| of.0).collect::<Vec<_>>()
        };
        if let Some(window) = &vector.window {
            let lists =
                window.ticks.iter().map(|tick| outcome.samples.get(&format!("{variant}.ticks.{tick}")));
            let samples = lists.map(|list| list.cloned()).collect::<Option<_>>()?;
            let expected = Expected { samples, ..Expected::default() };
            return Some(Seen {
                expected,
                code: Vec::new(),
                all_values: BTreeMap::new(),
                ticks: window.ticks.clone(),
            });
        }
        let number = |name: &str| outcome.numbers.get(&format!("{variant}.{name}")).copied();
        let all_values: BTreeMap<String, f64> = below("values").collect();
        let added = all_values.iter().filter(|of| *of.1 != 0.0);
        let paths = in_order("paths");
        let expected = Expected {
            values: added.map(|(name, &value)| (name.clone(), value as u64)).collect(),
            ids: outcome.samples.get(&format!("{variant}.ids"))?.clone(),
            additions: Some(number("additions")? as u64),
            samples: Vec::new(),
            paths: (number("count")? == paths.len() as f64).then_some(paths)?,
        };
        Some(Seen { expected, code: in_order("code"), all_values, ticks: Vec::new() })
    }

    /// What is not as expected.
    fn differences(&self, expected: &Expected) -> Vec<&'static str> {
        let is_free = expected.additions.is_none();
        let all = [
            ("values", self.expected.values == expected.values),
            ("paths", self.expected.paths == expected.paths),
            ("numbers of a run", self.expected.ids == expected.ids),
            ("additions", is_free || self.expected.additions == expected.additions),
            ("samples", self.expected.samples == expected.samples),
        ];
        all.into_iter().filter(|of| !of.1).map(|of| of.0).collect()
    }

    fn summary(&self) -> String {
        let Expected { paths, ids, additions, samples, .. } = &self.expected;
        if paths.is_empty() {
            return samples.iter().map(|list| listed(list)).collect::<Vec<_>>().join("; ");
        }
        let mut text = format!("{} paths", paths.len());
        if !ids.is_empty() {
            text += &format!("; runs give {}", listed(ids));
        } else if let Some(additions) = additions {
            text += &format!("; {additions} additions");
        }
        text
    }

    /// The instrumented method, the values and the paths beside each other; or the samples.
    fn figure(&self, vector: &Vector, variant: &str) -> Figure {
        let (columns, rows): (&[&str], Vec<Vec<TableCell>>) = if self.ticks.is_empty() {
            let paths = &self.expected.paths;
            let value = |line: &str| {
                let place = line.split(':').next().unwrap_or_default();
                let of = |end: &str| self.all_values.get(&format!("{place}{end}"));
                match (of(""), of(", end"), of(", begin")) {
                    (Some(value), ..) => format!("{value}"),
                    (None, Some(end), Some(begin)) => format!("{end}, then {begin}"),
                    (None, None, Some(begin)) => format!("then {begin}"),
                    _ => String::new(),
                }
            };
            let row = |at: usize| {
                let (place, what) =
                    self.code.get(at).and_then(|line| line.split_once(": ")).unwrap_or_default();
                let number = if at < paths.len() {
                    TableCell::Number(exactly(at as f64, Unit::Count))
                } else {
                    text("")
                };
                vec![
                    text(place),
                    text(&value(self.code.get(at).map_or("", |line| line))),
                    text(what),
                    number,
                    text(paths.get(at).map_or("", |path| path)),
                ]
            };
            let rows = (0..self.code.len().max(paths.len())).map(row).collect();
            (&["block or edge", "value", "code", "number", "path"], rows)
        } else {
            let row = |(tick, list): (&u32, &Vec<f64>)| {
                vec![entry(Some(f64::from(*tick)), Unit::Count), text(&listed(list))]
            };
            (
                &["tick just before", "sampled"],
                self.ticks.iter().zip(&self.expected.samples).map(row).collect(),
            )
        };
        let caption = match (&vector.window, self.expected.ids.is_empty()) {
            (Some(window), _) => format!("SAMPLES is {}, STRIDE is {}.", window.samples, window.stride),
            (None, true) => {
                format!(
                    "{} additions when edges are taken as often as given.",
                    self.expected.additions.unwrap_or(0)
                )
            }
            (None, false) => {
                format!(
                    "Run along {}, the method gives {}.",
                    vector.walks.join(", "),
                    listed(&self.expected.ids)
                )
            }
        };
        table(
            format!("{}-{}", vector.name, variant.replace(' ', "-")),
            format!("{}: {}; {variant}", vector.name, vector.title),
            caption,
            columns,
            rows,
        )
    }
}

fn listed(numbers: &[f64]) -> String {
    numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_more_or_another_path_is_seen() {
        let vector = vectors::find("bl-5").expect("there");
        let text = r#"{"back edges": {"count": 4, "values": {"A→B": 2, "B→C": 1, "B→B, end": 0}, "additions": 0, "ids": [2, 0, 1],
            "paths": {"B⟲": 0, "BC": 1, "AB⟲": 2, "ABC": 3}, "code": {"A: r = 2": 0}}}"#;
        let differences = |text: &str| {
            let output = crate::reduce::Output { result: text.into(), errors: String::new() };
            let outcome = Reduction::Numbers.reduce(&output).expect("JSON");
            let seen = Seen::of(vector, "back edges", &outcome)?;
            Some(seen.differences(&vector.expected["back edges"]))
        };
        assert_eq!(differences(text), Some(vec![]));
        assert_eq!(differences(&text.replace("[2, 0, 1]", "[2, 1]")), Some(vec!["numbers of a run"]));
        assert_eq!(
            differences(&text.replace("\"BC\": 1, \"AB⟲\": 2", "\"BC\": 2, \"AB⟲\": 1")),
            Some(vec!["paths"])
        );
        assert_eq!(differences(&text.replace("\"B→C\": 1", "\"B→C\": 2")), Some(vec!["values"]));
        assert_eq!(differences(&text.replace("\"count\": 4", "\"count\": 5")), None);
    }
}
