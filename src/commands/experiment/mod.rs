//! `holloway experiment` and `holloway reproduce`: the papers' experiments, run and set beside what the papers report.
//!
//! | file | what it does |
//! |---|---|
//! | [`arguments`] | flags |
//! | `run` | cells that are not in the store yet, one after the other or beside each other |
//! | `child` | a cell as processes of this binary, with an end to their time |
//! | `example` | worked examples, by the profilers' library |
//! | `forest` | a stream of path numbers, and the forests of it |
//! | `nodes` | the memory that a forest touches |
//! | `lookups` | how often a forest's hash table is asked, against a trace |
//! | `report` | what the store says, as files |
//!
//! What experiments are, and what follows from their results, is in `benchmarks/experiments`.

pub mod arguments;
mod child;
mod example;
mod forest;
mod lookups;
mod nodes;
mod report;
mod run;

pub use child::end_with_parent;

use crate::report::{EXIT_PROGRAM, Stop, say};
use arguments::{ExperimentCommand, ListArguments, MeasureArguments, ReproduceArguments};
use holloway_experiments::catalogue::{self, Experiment};
use holloway_experiments::plan::Plan;
use holloway_experiments::store;
use std::path::PathBuf;
use std::process::ExitCode;

/// Does what is asked for.
pub fn experiment(command: ExperimentCommand) -> Result<ExitCode, Stop> {
    match command {
        ExperimentCommand::List(arguments) => super::print(list(&arguments), ExitCode::SUCCESS),
        ExperimentCommand::Run(arguments) => {
            let experiments = selected(&arguments.ids)?;
            let ended = run::run(&experiments, &arguments.measure)?;
            let stored = store::read(&ended.folder).map_err(Stop::failure)?;
            let text = report::text(&experiments, &ended.plan, &stored);
            super::print(text, ended.code())
        }
        ExperimentCommand::Example(arguments) => example::example(&arguments),
        ExperimentCommand::Forest(arguments) => forest::forest(&arguments),
        ExperimentCommand::Nodes(arguments) => nodes::nodes(*arguments),
        ExperimentCommand::Lookups(arguments) => lookups::lookups(*arguments),
        ExperimentCommand::Merge(arguments) => {
            let cells = store::merge(&arguments.out, &arguments.stores).map_err(Stop::usage)?;
            say(format_args!(
                "{} has {cells} results of {} stores\n",
                arguments.out.display(),
                arguments.stores.len()
            ));
            Ok(ExitCode::SUCCESS)
        }
        ExperimentCommand::Report(arguments) => {
            let stored = store::read(&arguments.store).map_err(Stop::usage)?;
            let mut plan = Plan::new(stored.header.mode);
            plan.seed = stored.header.seed;
            plan.programs = arguments.programs.programs();
            plan.trials = arguments.programs.trials;
            let experiments = selected(&arguments.ids)?;
            let out = arguments.out.unwrap_or_else(|| arguments.store.clone());
            let text = report::write(&experiments, &plan, &stored, &out)?;
            super::print(text, ExitCode::SUCCESS)
        }
    }
}

/// Everything, and the report.
pub fn reproduce(arguments: &ReproduceArguments) -> Result<ExitCode, Stop> {
    let experiments = selected(&arguments.papers)?;
    let out = arguments.out.clone().unwrap_or_else(|| arguments.measure.folder());
    // Before hours of measuring.
    report::prepare(&out)?;
    let ended = run::run(&experiments, &arguments.measure)?;
    let stored = store::read(&ended.folder).map_err(Stop::failure)?;
    let text = report::write(&experiments, &ended.plan, &stored, &out)?;
    super::print(text, ended.code())
}

/// Experiments by name, each once, in the order of the catalogue.
fn selected(names: &[String]) -> Result<Vec<&'static Experiment>, Stop> {
    if names.is_empty() {
        return Ok(catalogue::experiments().collect());
    }
    let mut wanted: Vec<&Experiment> = Vec::new();
    for name in names {
        wanted.extend(catalogue::select(name).map_err(Stop::usage)?);
    }
    Ok(catalogue::experiments().filter(|of| wanted.iter().any(|wanted| wanted.id == of.id)).collect())
}

/// A table of all experiments.
fn list(arguments: &ListArguments) -> String {
    let plan = Plan::new(arguments.mode.mode());
    let rows: Vec<[String; 5]> = catalogue::experiments()
        .map(|of| {
            let time = indicatif::HumanDuration(of.estimate(&plan)).to_string();
            [of.id.into(), of.paper().id.into(), of.place.into(), of.title.into(), time]
        })
        .collect();
    let heads = ["experiment", "paper", "place", "what it measures", "time"].map(String::from);
    let width = |at: usize| rows.iter().chain([&heads]).map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths = [0, 1, 2, 3].map(width);
    let line = |row: &[String; 5]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}  "));
        cells.collect::<String>() + &row[4] + "\n"
    };
    std::iter::once(&heads).chain(&rows).map(line).collect()
}

/// How a run of cells ended.
struct Ended {
    folder: PathBuf,
    plan: Plan,
    failed: usize,
    interrupted: bool,
}

impl Ended {
    fn code(&self) -> ExitCode {
        if self.failed > 0 || self.interrupted { EXIT_PROGRAM.into() } else { ExitCode::SUCCESS }
    }
}

impl MeasureArguments {
    /// The plan.
    fn plan(&self) -> Plan {
        Plan {
            seed: self.seed,
            programs: self.programs.programs(),
            trials: self.programs.trials,
            ..Plan::new(self.mode.mode())
        }
    }

    /// Where results are kept.
    fn folder(&self) -> PathBuf {
        let default = || PathBuf::from(format!("reproduction-{}", self.mode.mode()));
        self.store.clone().unwrap_or_else(default)
    }
}
