//! All experiments concluded: the value that the report is.

use crate::catalogue::{self, Experiment, Findings, PAPERS};
use crate::plan::Plan;
use crate::report::model::{self, Provenance, Report, VERSION};
use crate::results::Results;
use crate::store::{Header, Stored};

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
    let plane = catalogue::plane(plan, &results);
    results.take_missing();
    let Header { build, began, machine, .. } = stored.header.clone();
    let seconds = stored.cells.values().map(|cell| cell.seconds).sum();
    let (mode, command) = (plan.mode.to_string(), command.to_string());
    Report {
        version: VERSION,
        provenance: Provenance { build, began, command, mode, machine, seconds },
        papers,
        plane,
    }
}

fn conclude(of: &Experiment, plan: &Plan, results: &Results<'_>) -> model::Experiment {
    let mut findings = Findings::default();
    results.take_missing();
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
        command: format!("holloway experiment run {} --{}{}", of.id, plan.mode, seed(plan)),
        seconds: keys.iter().map(|key| results.seconds(key)).sum(),
        cells: keys,
    }
}

/// The flag, where it is needed.
pub fn seed(plan: &Plan) -> String {
    if plan.seed == 0 { String::new() } else { format!(" --seed {}", plan.seed) }
}
