//! What a store says: a table for the terminal, and the files of the report.

use crate::report::{Stop, cannot_write};
use holloway_benchmarks::record::RecordFile;
use holloway_experiments::catalogue::Experiment;
use holloway_experiments::plan::Plan;
use holloway_experiments::report::model::{Report, Verdict};
use holloway_experiments::report::{html, markdown};
use holloway_experiments::reproduction::{report, seed};
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
    report(experiments, plan, stored, &format!("holloway reproduce --{}{}", plan.mode, seed(plan)))
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
            word(experiment.verdict),
            experiment.because
        );
        for check in &experiment.checks {
            text += &format!(
                "    {:<16} {}: {} (paper: {}; target: {})\n",
                word(check.verdict),
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
    let all: Vec<Verdict> = report
        .papers
        .iter()
        .flat_map(|paper| &paper.experiments)
        .map(|experiment| experiment.verdict)
        .collect();
    let kinds = [
        Verdict::Better,
        Verdict::Reproduced,
        Verdict::ShapeOnly,
        Verdict::NotReproduced,
        Verdict::NotComparable,
        Verdict::Missing,
    ];
    let counts = kinds.iter().map(|kind| (word(*kind), all.iter().filter(|of| *of == kind).count()));
    let counts: Vec<String> =
        counts.filter(|of| of.1 > 0).map(|(word, count)| format!("{count} {word}")).collect();
    text + &format!("\n{} experiments: {}\n", all.len(), counts.join(", "))
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Reproduced => "reproduced",
        Verdict::ShapeOnly => "shape only",
        Verdict::NotReproduced => "not reproduced",
        Verdict::NotComparable => "not comparable",
        Verdict::Missing => "missing",
    }
}
