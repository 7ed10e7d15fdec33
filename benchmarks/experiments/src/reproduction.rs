//! All experiments concluded: the value that the report is.

use crate::catalogue::{self, Experiment, Findings, PAPERS};
use crate::plan::{Mode, Plan};
use crate::report::model::{self, Provenance, Report, VERSION};
use crate::results::Results;
use crate::store::{Header, Stored};
use crate::targets;

/// The report of these experiments, from what a store has. Programs and trials are those that were asked for.
pub fn report(experiments: &[&Experiment], plan: &Plan, stored: &Stored, command: &str) -> Report {
    let results = Results::new(&stored.cells);
    let mut papers = Vec::new();
    for paper in PAPERS {
        let own: Vec<&&Experiment> = experiments.iter().filter(|of| *of.paper() == paper).collect();
        if own.is_empty() {
            continue;
        }
        let is_own = |id: &str| own.iter().any(|of| of.id == id);
        let headlines = paper.headlines.iter().filter(|(id, _)| is_own(id));
        papers.push(model::Paper {
            id: paper.id.into(),
            title: paper.title.into(),
            source: paper.source.into(),
            says: paper.says.into(),
            headlines: headlines.map(|&(id, check)| (id.to_string(), check)).collect(),
            experiments: own.iter().map(|of| conclude(of, plan, &results)).collect(),
        });
    }
    let targets = targets::of(&papers, plan.mode == Mode::Full);
    let planes = catalogue::planes(plan, &results);
    let Header { build, began, mut machine, hosts, .. } = stored.header.clone();
    if hosts.len() > 1 {
        machine
            .push(("machines".into(), format!("{} of this kind, each with a part of the work", hosts.len())));
    }
    let seconds = stored.cells.values().map(|cell| cell.seconds).sum();
    let (mode, command) = (plan.mode.to_string(), command.to_string());
    Report {
        version: VERSION,
        provenance: Provenance { build, began, command, mode, machine, seconds },
        targets,
        papers,
        planes,
    }
}

fn conclude(of: &Experiment, plan: &Plan, results: &Results<'_>) -> model::Experiment {
    let mut findings = Findings::default();
    (of.conclude)(plan, results, &mut findings);
    let Findings { checks, figures } = findings;
    let (checks, verdict, because) = checks.finish();
    let keys: Vec<String> = (of.cells)(plan).iter().map(|cell| cell.key()).collect();
    let failures = keys.iter().filter_map(|key| Some((key.clone(), results.error(key)?.to_string())));
    model::Experiment {
        id: of.id.into(),
        place: of.place.into(),
        title: of.title.into(),
        text: of.says.iter().map(|text| text.to_string()).collect(),
        verdict,
        because,
        checks,
        figures,
        failures: failures.collect(),
        command: format!("holloway experiment run {}{}", of.id, flags(plan)),
        seconds: keys.iter().map(|key| results.seconds(key)).sum(),
        cells: keys,
    }
}

/// The command that makes the report of these experiments.
pub fn command(experiments: &[&Experiment], plan: &Plan) -> String {
    let mut words = vec!["holloway reproduce"];
    let all: Vec<&Experiment> = catalogue::experiments().collect();
    for paper in PAPERS.iter().filter(|_| experiments.len() < all.len()) {
        let of_paper = |of: &&&Experiment| of.paper() == paper;
        let own: Vec<&str> = experiments.iter().filter(of_paper).map(|of| of.id).collect();
        match own.len() == all.iter().filter(of_paper).count() {
            true => words.push(paper.id),
            false => words.extend(own),
        }
    }
    words.join(" ") + &flags(plan)
}

/// The flags of a plan, where they are needed.
fn flags(plan: &Plan) -> String {
    let mut flags = format!(" --{}", plan.mode);
    if plan.seed != 0 {
        flags += &format!(" --seed {}", plan.seed);
    }
    if let Some(programs) = &plan.programs {
        flags += &format!(" --programs {}", programs.join(","));
    }
    if let Some(trials) = plan.trials {
        flags += &format!(" --trials {trials}");
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_how_it_is_made_again() {
        let of = |name: &str, plan: &Plan| command(&catalogue::select(name).expect("it is one"), plan);
        let quick = Plan::new(Mode::Quick);
        assert_eq!(of("all", &quick), "holloway reproduce --quick");
        assert_eq!(of("pmu", &quick), "holloway reproduce pmu --quick");
        let some =
            Plan { seed: 3, programs: Some(vec!["cd".into(), "json".into()]), trials: Some(5), ..quick };
        assert_eq!(
            of("pep-fig6", &some),
            "holloway reproduce pep-fig6 --quick --seed 3 --programs cd,json --trials 5"
        );
    }
}
