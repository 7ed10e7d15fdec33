//! The report as Markdown: the same as the page, in plain tables, for reading in a repository.

use super::data::{self, Grid};
use super::model::{
    Cell, Chart, Check, Experiment, Figure, Paper, Provenance, Report, SourcePath, TargetPart, TreeNode,
    Verdict,
};
use super::numbers;
use super::verdicts::{self, Headline, headlines};
use std::fmt::Write;

/// Nodes of a forest that are written out, by count; the rest is in the JSON form.
const MOST_NODES: usize = 120;

/// Lines between lines of a path that are still shown.
const CONTEXT: usize = 2;

/// Writes a whole report.
pub fn render(report: &Report) -> String {
    let mut out = String::from("# The papers' experiments, measured again\n\n");
    provenance(&mut out, &report.provenance);
    let tally: Vec<String> =
        report.tally().iter().map(|(verdict, count)| format!("{count} {}", verdict.words())).collect();
    if report.papers.is_empty() {
        out.push_str("The report holds no experiments.\n\n");
    } else {
        let _ = writeln!(
            out,
            "Experiments: {}.\n",
            if tally.is_empty() { "none".into() } else { tally.join(", ") }
        );
        summary(&mut out, report);
    }
    targets(&mut out, report);
    if !report.planes.is_empty() {
        out.push_str("## All profilers on one plane\n\n");
        report.planes.iter().for_each(|plane| figure(&mut out, plane));
    }
    for paper in &report.papers {
        of_paper(&mut out, paper);
    }
    let trimmed = out.trim_end().len();
    out.truncate(trimmed);
    out.push('\n');
    out
}

/// Text in a paragraph or a cell: nothing in it means anything to Markdown or HTML.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            c if c.is_control() => out.push('\u{fffd}'),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' | '$' => {
                // Between letters and digits, as in a name, an underscore means nothing.
                let inside = c == '_' && out.ends_with(char::is_alphanumeric);
                if !inside {
                    out.push('\\');
                }
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out.trim().to_string()
}

/// A block of code whose fence is longer than any in it.
fn fenced(out: &mut String, text: &str) {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let clean: String =
        text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c }).collect();
    let _ = writeln!(out, "{fence}text\n{}\n{fence}\n", clean.trim_end());
}

fn table<'a>(out: &mut String, columns: &[&str], rows: impl IntoIterator<Item = Vec<String>> + 'a) {
    let width = columns.len().max(1);
    let _ = writeln!(out, "| {} |", columns.iter().map(|name| plain(name)).collect::<Vec<_>>().join(" | "));
    let _ = writeln!(out, "|{}", "---|".repeat(width));
    for mut row in rows {
        row.resize(width.max(row.len()), String::new());
        let _ = writeln!(out, "| {} |", row.join(" | "));
    }
    out.push('\n');
}

fn provenance(out: &mut String, provenance: &Provenance) {
    let facts = [
        ("build", plain(&provenance.build)),
        ("began (UTC)", plain(&provenance.began)),
        ("mode", plain(&provenance.mode)),
        ("took", numbers::duration(provenance.seconds)),
    ];
    let facts = facts.into_iter().map(|(name, value)| vec![name.to_string(), value]);
    let machine = provenance.machine.iter().map(|(name, value)| vec![plain(name), plain(value)]);
    table(out, &["", ""], facts.chain(machine));
    out.push_str("Made again by:\n\n");
    fenced(out, &provenance.command);
}

fn verdict(verdict: Verdict) -> String {
    format!("{} {}", verdict.sign(), verdict.words())
}

/// What was measured, with its interval.
fn found(check: &Check) -> String {
    let shown = match (check.shown.trim(), &check.measured) {
        ("", Some(measured)) => numbers::estimate(measured),
        ("", None) => String::new(),
        (shown, _) => plain(shown),
    };
    match check.measured.as_ref().and_then(numbers::interval) {
        Some(interval) => format!("{shown} ({interval})"),
        None => shown,
    }
}

fn summary(out: &mut String, report: &Report) {
    let mut rows = Vec::new();
    for paper in &report.papers {
        for headline in headlines(paper) {
            rows.push(match headline {
                Headline::Found(_, experiment, check) => vec![
                    plain(&paper.id),
                    format!("{} ({})", plain(&check.what), plain(&experiment.id)),
                    plain(&check.paper),
                    found(check),
                    verdict(check.verdict),
                ],
                Headline::Absent(id, position) => vec![
                    plain(&paper.id),
                    format!("check {} of {}", position.saturating_add(1), plain(id)),
                    String::new(),
                    "not in this report".into(),
                    verdict(Verdict::Missing),
                ],
            });
        }
    }
    if !rows.is_empty() {
        table(out, &["paper", "headline", "paper says", "measured", "verdict"], rows);
    }
}

fn targets(out: &mut String, report: &Report) {
    if report.targets.is_empty() {
        return;
    }
    let _ = writeln!(out, "## Headline targets\n\n{}\n", plain(&verdicts::targets_met(report)));
    let part = |part: &TargetPart| match part.measured.as_ref().and_then(numbers::interval) {
        Some(interval) => format!("{}: {} ({interval})", plain(&part.what), plain(&part.shown)),
        None => format!("{}: {}", plain(&part.what), plain(&part.shown)),
    };
    let rows = report.targets.iter().map(|target| {
        vec![
            plain(&target.id),
            plain(&target.paper),
            plain(&target.target),
            target.parts.iter().map(part).collect::<Vec<_>>().join("; "),
            verdicts::met(target.met).to_string(),
            plain(&target.stretch),
            verdicts::met(target.stretch_met).to_string(),
        ]
    });
    table(out, &["target", "paper", "met by", "measured", "met", "stretch", "stretch met"], rows);
}

fn of_paper(out: &mut String, paper: &Paper) {
    let _ = writeln!(
        out,
        "## {}: {}\n\n{}. {}\n",
        plain(&paper.id),
        plain(&paper.title),
        plain(&paper.source),
        plain(&paper.says)
    );
    if paper.experiments.is_empty() {
        out.push_str("No experiment of this paper was run.\n\n");
        return;
    }
    let rows = paper.experiments.iter().map(|experiment| {
        vec![
            plain(&experiment.id),
            plain(&experiment.place),
            plain(&experiment.title),
            verdict(experiment.verdict),
        ]
    });
    table(out, &["experiment", "place", "about", "verdict"], rows);
    for experiment in &paper.experiments {
        of_experiment(out, experiment);
    }
}

fn of_experiment(out: &mut String, experiment: &Experiment) {
    let _ = writeln!(out, "### {}\n", plain(&experiment.id));
    let _ = writeln!(
        out,
        "**{}: {}.** {}. {}\n",
        plain(&experiment.place),
        plain(&experiment.title),
        verdict(experiment.verdict),
        plain(&experiment.because)
    );
    for paragraph in &experiment.text {
        let _ = writeln!(out, "{}\n", plain(paragraph));
    }
    if !experiment.checks.is_empty() {
        let rows = experiment.checks.iter().map(|check| {
            vec![
                plain(&check.what),
                plain(&check.paper),
                plain(&check.target),
                found(check),
                verdict(check.verdict),
            ]
        });
        table(out, &["check", "paper says", "reproduced if", "measured", "verdict"], rows);
    }
    for figure_of in &experiment.figures {
        figure(out, figure_of);
    }
    if !experiment.failures.is_empty() {
        let _ = writeln!(out, "Cells that failed: {}.\n", experiment.failures.len());
        for (cell, error) in &experiment.failures {
            fenced(out, &format!("{cell}: {error}"));
        }
    }
    let _ = writeln!(out, "It took {}. Made again by:\n", numbers::duration(experiment.seconds));
    fenced(out, &experiment.command);
}

fn figure(out: &mut String, figure: &Figure) {
    let _ = writeln!(out, "**{}.** {}\n", plain(&figure.title), plain(&figure.caption));
    match &figure.chart {
        Chart::Forest { roots } => forest(out, roots),
        Chart::Paths { paths } => {
            grids(out, &figure.chart);
            paths.iter().for_each(|path| listing(out, path));
        }
        chart => grids(out, chart),
    }
}

fn grids(out: &mut String, chart: &Chart) {
    for Grid { title, columns, rows } in data::grids(chart) {
        if !title.is_empty() {
            let _ = writeln!(out, "*{}*\n", plain(&title));
        }
        if columns.is_empty() || rows.is_empty() {
            out.push_str("No data.\n\n");
            continue;
        }
        let cell = |cell: &Cell| match cell {
            Cell::Number(number) => numbers::measured(number),
            Cell::Text(text) if text.is_empty() => "–".to_string(),
            Cell::Text(text) => plain(text),
        };
        let names: Vec<&str> = columns.iter().map(String::as_str).collect();
        table(out, &names, rows.iter().map(|row| row.iter().map(cell).collect()));
    }
}

fn forest(out: &mut String, roots: &[TreeNode]) {
    let places = data::places(roots);
    if places.is_empty() {
        out.push_str("No data.\n\n");
        return;
    }
    let least = data::least_shown(&places, MOST_NODES);
    let mut text = String::new();
    for place in places.iter().filter(|place| place.node.count >= least) {
        let of_parent = place.of_parent.map(|share| {
            format!(", {} of the one above", numbers::show(share * 100.0, super::model::Unit::Percent))
        });
        let _ = writeln!(
            text,
            "{}{}  {}{}",
            "  ".repeat(place.depth),
            place.node.name.replace('\n', " "),
            numbers::count(place.node.count),
            of_parent.unwrap_or_default()
        );
    }
    if least > 0 {
        let left = places.iter().filter(|place| place.node.count < least).count();
        let _ = writeln!(text, "({} nodes with less than {} are left out)", left, numbers::count(least));
    }
    fenced(out, &text);
}

/// A path in its source: lines on it are marked, those far from it left out.
fn listing(out: &mut String, path: &SourcePath) {
    let on: std::collections::BTreeSet<usize> = path.on_path.iter().map(|line| *line as usize).collect();
    let near = |line: usize| on.range(line.saturating_sub(CONTEXT)..=line + CONTEXT).next().is_some();
    let mut text = String::new();
    let mut gap = false;
    for (index, line) in path.lines.iter().enumerate() {
        if near(index) {
            let mark = if on.contains(&index) { ">" } else { " " };
            let _ = writeln!(text, "{mark} {:>5}  {line}", u64::from(path.first) + index as u64);
        } else if !gap {
            text.push_str("        ...\n");
        }
        gap = !near(index);
    }
    if !text.is_empty() {
        let _ = writeln!(
            out,
            "{} of {}:\n",
            numbers::show(path.share * 100.0, super::model::Unit::Percent),
            plain(&path.method)
        );
        fenced(out, &text);
    }
}
