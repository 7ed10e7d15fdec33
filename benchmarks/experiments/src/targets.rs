//! The headline targets: of each paper the few numbers that the catalogue of experiments asks for, and whether they are met. They are data
//! (`data/targets.json`): the checks that say so, by experiment and words, with the bound of the target and of the stretch target.
//!
//! A bound is **met** by a value that keeps it, if its check passed, which it does not where it is too uncertain; where the check is held to more than the target, all of
//! the interval must keep it. A stretch target is met with all of the interval. A target is met if all of its bounds are; if one is missed it is not, and else it is not known.

use crate::report::model::{Check, Measured, Paper, Target, TargetPart, Verdict};
use serde::Deserialize;
use std::sync::LazyLock;

#[derive(Deserialize)]
struct Data {
    targets: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    id: String,
    paper: String,
    target: String,
    stretch: String,
    parts: Vec<Part>,
}

#[derive(Deserialize)]
struct Part {
    experiment: String,
    check: String,
    at_least: Option<f64>,
    at_most: Option<f64>,
    stretch_at_least: Option<f64>,
    stretch_at_most: Option<f64>,
    /// There is no such check in a quick run.
    #[serde(default)]
    only_full: bool,
}

static DATA: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let data: Data =
        serde_json::from_str(include_str!("../data/targets.json")).expect("the headline targets are JSON");
    data.targets
});

/// All targets of which a report has an experiment, from what its checks came to. `is_full`: some checks are made in a full run only.
pub fn of(papers: &[Paper], is_full: bool) -> Vec<Target> {
    DATA.iter().filter_map(|row| of_row(row, papers, is_full)).collect()
}

fn of_row(row: &Row, papers: &[Paper], is_full: bool) -> Option<Target> {
    let experiments = || papers.iter().flat_map(|paper| &paper.experiments);
    let wanted = row.parts.iter().filter(|part| is_full || !part.only_full);
    let found: Vec<(&Part, Option<&Check>)> = wanted
        .map(|part| {
            let experiment = experiments().find(|of| of.id == part.experiment);
            (part, experiment.and_then(|of| of.checks.iter().find(|check| check.what == part.check)))
        })
        .collect();
    found.iter().any(|of| of.1.is_some()).then(|| Target {
        id: row.id.clone(),
        paper: row.paper.clone(),
        target: row.target.clone(),
        stretch: row.stretch.clone(),
        met: all(found.iter().filter(|of| of.0.is_of_target()).map(|(part, check)| part.is_met(*check))),
        stretch_met: all(found
            .iter()
            .filter(|of| of.0.is_of_stretch())
            .map(|(part, check)| part.is_stretched(*check))),
        parts: found
            .iter()
            .map(|(part, check)| TargetPart {
                experiment: part.experiment.clone(),
                what: part.check.clone(),
                shown: check.map_or("not in this report".into(), |check| check.shown.clone()),
                measured: check.and_then(|check| check.measured),
            })
            .collect(),
    })
}

/// Missed if one is; unknown if one is unknown, or there is none.
fn all(each: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let each: Vec<Option<bool>> = each.collect();
    match each.contains(&Some(false)) {
        true => Some(false),
        false if each.is_empty() || each.contains(&None) => None,
        false => Some(true),
    }
}

impl Part {
    /// What has only a stretch bound says nothing about the target.
    fn is_of_target(&self) -> bool {
        self.at_least.is_some() || self.at_most.is_some() || !self.is_of_stretch()
    }

    fn is_of_stretch(&self) -> bool {
        self.stretch_at_least.is_some() || self.stretch_at_most.is_some()
    }

    fn is_met(&self, check: Option<&Check>) -> Option<bool> {
        let check = check.filter(|check| check.verdict != Verdict::Missing)?;
        let has_passed = matches!(check.verdict, Verdict::Better | Verdict::Reproduced);
        match &check.measured {
            None => Some(has_passed),
            Some(_) if self.at_least.is_none() && self.at_most.is_none() => Some(has_passed),
            Some(measured) => {
                let keeps = |value: f64| keeps(value, self.at_least, self.at_most);
                let (low, high) = ends(measured);
                Some(keeps(measured.value) && (has_passed || keeps(low) && keeps(high)))
            }
        }
    }

    fn is_stretched(&self, check: Option<&Check>) -> Option<bool> {
        let measured = check?.measured?;
        let keeps = |value: f64| keeps(value, self.stretch_at_least, self.stretch_at_most);
        let (low, high) = ends(&measured);
        Some(keeps(low) && keeps(high))
    }
}

fn ends(measured: &Measured) -> (f64, f64) {
    measured.interval.unwrap_or((measured.value, measured.value))
}

fn keeps(value: f64, least: Option<f64>, most: Option<f64>) -> bool {
    least.is_none_or(|least| value >= least) && most.is_none_or(|most| value <= most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{self, Findings};
    use crate::plan::{Mode, Plan};
    use crate::report::model::Unit;
    use crate::results::Results;
    use crate::store::Cells;

    #[test]
    fn targets_are_about_checks_that_there_are() {
        let nothing = Cells::new();
        for mode in [Mode::Quick, Mode::Full] {
            for part in DATA.iter().flat_map(|row| &row.parts) {
                let of = catalogue::experiments().find(|of| of.id == part.experiment);
                let of = of.unwrap_or_else(|| panic!("there is no {}", part.experiment));
                let mut found = Findings::default();
                (of.conclude)(&Plan::new(mode), &Results::new(&nothing), &mut found);
                let is_there = found.checks.finish().0.iter().any(|check| check.what == part.check);
                let is_wanted = mode == Mode::Full || !part.only_full;
                assert_eq!(is_there, is_wanted, "{mode}: {} has '{}'", of.id, part.check);
            }
        }
        assert_eq!(DATA.len(), 17, "as many as the catalogue has");
        for row in DATA.iter() {
            assert!(row.parts.iter().any(Part::is_of_target), "{}", row.id);
        }
    }

    fn part(at_most: Option<f64>, stretch_at_most: Option<f64>) -> Part {
        Part {
            experiment: String::new(),
            check: String::new(),
            at_least: None,
            at_most,
            stretch_at_least: None,
            stretch_at_most,
            only_full: false,
        }
    }

    fn check(value: f64, half: f64, verdict: Verdict) -> Check {
        let interval = (half > 0.0).then_some((value - half, value + half));
        let measured = Some(Measured { value, interval, unit: Unit::Percent });
        let [what, paper, target, shown] = Default::default();
        Check { what, paper, target, measured, shown, verdict }
    }

    #[test]
    fn bounds_are_met_by_values_that_are_known() {
        let met = |value, half, verdict| {
            part(Some(1.2), Some(0.8)).is_met(Some(&check(value, half, verdict))).expect("measured")
        };
        assert!(met(1.2, 0.5, Verdict::Reproduced));
        assert!(!met(1.26, 0.5, Verdict::Reproduced), "five percent worse");
        // Too uncertain, so that the check did not pass; and held to more than the target.
        assert!(!met(0.5, 3.0, Verdict::ShapeOnly));
        assert!(met(0.5, 0.1, Verdict::NotReproduced));
        let missing = check(0.5, 0.1, Verdict::Missing);
        assert_eq!(part(Some(1.2), None).is_met(Some(&missing)), None);
        assert_eq!(part(Some(1.2), None).is_met(None), None);
        let stretched =
            |value, half| part(None, Some(0.8)).is_stretched(Some(&check(value, half, Verdict::Reproduced)));
        assert_eq!([stretched(0.7, 0.05), stretched(0.7, 0.2)], [Some(true), Some(false)]);
        let shape = Check { measured: None, ..check(0.0, 0.0, Verdict::NotReproduced) };
        assert_eq!(part(None, None).is_met(Some(&shape)), Some(false));
    }

    #[test]
    fn one_that_is_missed_decides() {
        assert_eq!(all([Some(true), Some(true)].into_iter()), Some(true));
        assert_eq!(all([Some(true), None].into_iter()), None);
        assert_eq!(all([None, Some(false)].into_iter()), Some(false));
        assert_eq!(all(std::iter::empty()), None);
    }
}
