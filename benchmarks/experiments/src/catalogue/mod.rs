//! The experiments, a file each, by paper. An experiment is a value: its cells follow from a plan, and its checks and figures from the results
//! of these; so it can be listed, split and concluded again without running anything.

pub mod accuracies;
pub mod overheads;
pub mod programs;
pub mod tables;

mod cbs;
mod kblpp;
mod marks;
mod names;
mod osp;
mod pep;
mod plane;
mod pmu;

pub use names::select;
pub use plane::planes;

use crate::cell::Cell;
use crate::plan::Plan;
use crate::report::model::Figure;
use crate::results::Results;
use crate::verdict::Checks;
use std::time::Duration;

/// A paper.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Paper {
    /// As on the command line, and before the hyphen in the names of its experiments.
    pub id: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Authors, venue, year.
    pub source: &'static str,
    /// What it is known for.
    pub says: &'static str,
    /// Its main results: names of experiments and positions among their checks.
    pub headlines: &'static [(&'static str, usize)],
}

/// The papers.
pub const PAPERS: [Paper; 5] = [pep::PAPER, cbs::PAPER, osp::PAPER, pmu::PAPER, kblpp::PAPER];

/// An experiment.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// Its name in the catalogue.
    pub id: &'static str,
    /// Where it is in the paper.
    pub place: &'static str,
    /// What it is about.
    pub title: &'static str,
    /// What the paper does and finds, and what is done here, by paragraphs.
    pub says: &'static [&'static str],
    /// What has to be done for it.
    pub cells: fn(&Plan) -> Vec<Cell>,
    /// What follows.
    pub conclude: fn(&Plan, &Results<'_>, &mut Findings),
}

/// What an experiment finds.
#[derive(Default)]
pub struct Findings {
    /// What is compared with the paper.
    pub checks: Checks,
    /// What is shown.
    pub figures: Vec<Figure>,
}

/// All experiments, in the order of the papers.
pub fn experiments() -> impl Iterator<Item = &'static Experiment> {
    [pep::EXPERIMENTS, cbs::EXPERIMENTS, osp::EXPERIMENTS, pmu::EXPERIMENTS, kblpp::EXPERIMENTS]
        .into_iter()
        .flatten()
        .copied()
}

impl Experiment {
    /// Its paper.
    pub fn paper(&self) -> &'static Paper {
        let paper = PAPERS.iter().find(|paper| self.id.split('-').next() == Some(paper.id));
        paper.expect("a test looks at the names of all experiments")
    }

    /// How long it will probably take by itself.
    pub fn estimate(&self, plan: &Plan) -> Duration {
        (self.cells)(plan).iter().map(|cell| cell.estimate).sum()
    }
}

/// The cells of experiments, each once: those that measure time first, while the machine is as the user left it.
pub fn cells(experiments: &[&Experiment], plan: &Plan) -> Vec<Cell> {
    let mut all: Vec<Cell> = Vec::new();
    let mut known = std::collections::BTreeSet::new();
    for cell in experiments.iter().flat_map(|of| (of.cells)(plan)) {
        if known.insert(cell.key()) {
            all.push(cell);
        }
    }
    all.sort_by_key(|cell| !cell.is_timed);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Mode;
    use crate::report::model::Verdict;
    use crate::store::Cells;

    #[test]
    fn experiments_have_names_of_their_own_and_of_their_papers() {
        let ids: Vec<&str> = experiments().map(|of| of.id).collect();
        let different: std::collections::BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(different.len(), ids.len());
        for of in experiments() {
            assert!(
                of.id.starts_with(of.paper().id) && !of.says.is_empty() && !of.place.is_empty(),
                "{}",
                of.id
            );
        }
        for (id, _) in PAPERS.iter().flat_map(|paper| paper.headlines) {
            assert!(ids.contains(id), "{id} is a headline");
        }
    }

    #[test]
    fn experiments_conclude_from_nothing_that_nothing_was_measured() {
        let (nothing, plan) = (Cells::new(), Plan::new(Mode::Quick));
        for of in experiments() {
            let (results, mut findings) = (Results::new(&nothing), Findings::default());
            (of.conclude)(&plan, &results, &mut findings);
            let (checks, verdict, _) = findings.checks.finish();
            assert!(!checks.is_empty(), "{} compares nothing", of.id);
            assert_eq!(verdict, Verdict::Missing, "{}", of.id);
            for (id, check) in of.paper().headlines {
                assert!(*id != of.id || *check < checks.len(), "{id} has no check {check}");
            }
        }
    }

    /// A ratio of times of two machines would be one of nothing: what is not of a program's own group says why by the name of its group.
    #[test]
    fn shards_do_not_part_what_is_compared() {
        let all: Vec<&Experiment> = experiments().collect();
        for mode in [Mode::Quick, Mode::Full] {
            let cells = cells(&all, &Plan::new(mode));
            for cell in cells.iter().filter(|cell| cell.is_timed) {
                let group = cell.group.as_deref().unwrap_or_default();
                let program = cell.commands[0].get(1).map(String::as_str).unwrap_or_default();
                let is_known = holloway_benchmarks::registry::find(program).is_ok();
                assert!(
                    is_known
                        && (group == format!("time of {program}")
                            || experiments().any(|of| group.starts_with(of.id))),
                    "{}",
                    cell.key()
                );
            }
            // And each has something like its part of the work.
            for of in [2, 4] {
                let time = |number| -> f64 {
                    let shard = crate::cell::Shard { number, of };
                    cells
                        .iter()
                        .filter(|cell| cell.is_of(shard))
                        .map(|cell| cell.estimate.as_secs_f64())
                        .sum()
                };
                let all: f64 = (1..=of).map(time).sum();
                let most = (1..=of).map(time).fold(0.0, f64::max);
                assert!(most < 1.7 * all / f64::from(of), "{mode}, {of}: {most} of {all}");
            }
        }
    }

    #[test]
    fn everything_together_fits_into_a_quarter_of_an_hour_or_a_night() {
        let all: Vec<&Experiment> = experiments().collect();
        for (mode, most) in [(Mode::Quick, 15), (Mode::Full, 8 * 60)] {
            let cells = cells(&all, &Plan::new(mode));
            let timed: Duration = cells.iter().filter(|cell| cell.is_timed).map(|cell| cell.estimate).sum();
            let rest: Duration = cells.iter().filter(|cell| !cell.is_timed).map(|cell| cell.estimate).sum();
            println!("{mode}: {:.1} minutes", (timed + rest / 2).as_secs_f64() / 60.0);
            assert!(timed + rest / 2 < Duration::from_secs(most * 60), "{mode}: {timed:?} and {rest:?}");
        }
    }
}
