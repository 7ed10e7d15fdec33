//! What a store says: a table for the terminal, and the files of the report.

use crate::report::{Stop, cannot_write};
use holloway_benchmarks::record::RecordFile;
use holloway_experiments::catalogue::Experiment;
use holloway_experiments::plan::Plan;
use holloway_experiments::report::model::Report;
use holloway_experiments::report::{html, markdown, numbers};
use holloway_experiments::reproduction::{command, report};
use holloway_experiments::store::Stored;
use std::path::Path;

/// The file of the value, from which all others are made.
const VALUE: &str = "report.json";
/// The page to look at.
const PAGE: &str = "report.html";

/// Makes the folder, and looks whether it can be written to.
pub fn prepare(out: &Path) -> Result<(), Stop> {
    std::fs::create_dir_all(out).map_err(|error| cannot_write(out, &error))?;
    let file = out.join(VALUE);
    RecordFile::create(&file).map(drop).map_err(|error| cannot_write(&file, &error))
}

fn made(experiments: &[&Experiment], plan: &Plan, stored: &Stored) -> Report {
    report(experiments, plan, stored, &command(experiments, plan))
}

/// What was found, for the terminal.
pub fn text(experiments: &[&Experiment], plan: &Plan, stored: &Stored) -> String {
    table(&made(experiments, plan, stored))
}

/// Writes the report; what was found, for the terminal.
pub fn write(experiments: &[&Experiment], plan: &Plan, stored: &Stored, out: &Path) -> Result<String, Stop> {
    prepare(out)?;
    let report = made(experiments, plan, stored);
    let file = out.join(VALUE);
    let written = RecordFile::create(&file).and_then(|record| record.finish(&report));
    written.map_err(|error| cannot_write(&file, &error))?;
    let text = |name: &str, text: String| {
        let file = out.join(name);
        std::fs::write(&file, text).map_err(|error| cannot_write(&file, &error))
    };
    text("report.md", markdown::render(&report))?;
    text(PAGE, html::render(&report))?;
    Ok(format!("{}\nthe report is {}\n", table(&report), out.join(PAGE).display()))
}

/// All checks.
fn table(report: &Report) -> String {
    let mut text = String::new();
    for experiment in report.papers.iter().flat_map(|paper| &paper.experiments) {
        text += &format!(
            "\n{} ({}): {}\n  {}: {}\n",
            experiment.id,
            experiment.place,
            experiment.title,
            experiment.verdict.words(),
            experiment.because
        );
        for check in &experiment.checks {
            let interval = check.measured.as_ref().and_then(numbers::interval);
            let interval = interval.map_or_else(String::new, |interval| format!(" ({interval})"));
            text += &format!(
                "    {:<16} {}: {}{interval} (paper: {}; target: {})\n",
                check.verdict.words(),
                check.what,
                check.shown,
                check.paper,
                check.target
            );
        }
        for (cell, error) in &experiment.failures {
            text += &format!("    failed: {cell}: {error}\n");
        }
    }
    let tally = report.tally();
    let all: usize = tally.iter().map(|of| of.1).sum();
    let counts: Vec<String> =
        tally.into_iter().map(|(verdict, count)| format!("{count} {}", verdict.words())).collect();
    text + &format!("\n{all} experiments: {}\n", counts.join(", "))
}
