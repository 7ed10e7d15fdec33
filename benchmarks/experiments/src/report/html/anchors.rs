//! Names of places in the page, so that links stay what they are from one report to the next: a paper and an experiment are called by
//! their ids, a figure by its experiment's and its own.
//!
//! All names are different, whatever the ids are: `--` stands only between the name of an experiment and that of its figure and before
//! what belongs to a drawing, and a name that is taken gets a number.

use crate::report::model::Report;
use std::collections::BTreeSet;

/// What the page itself has.
const OWN: &[&str] = &["top", "summary", "contents", "targets", "plane", "switch"];

/// The names of all places of a report, by position.
#[derive(Clone, Debug)]
pub struct Places {
    /// Of the papers.
    pub papers: Vec<String>,
    /// Of each paper's experiments.
    pub experiments: Vec<Vec<String>>,
    /// Of the figures of each experiment of each paper.
    pub figures: Vec<Vec<Vec<String>>>,
    /// Of the figures of planes.
    pub planes: Vec<String>,
}

impl Places {
    /// Names everything.
    pub fn of(report: &Report) -> Places {
        let mut taken: BTreeSet<String> = OWN.iter().map(|name| name.to_string()).collect();
        let mut take = |wanted: String| {
            let mut name = wanted.clone();
            let mut number = 2;
            while !taken.insert(name.clone()) {
                name = format!("{wanted}-{number}");
                number += 1;
            }
            name
        };
        // Experiments first: links to them are what others write down.
        let experiments: Vec<Vec<String>> = report
            .papers
            .iter()
            .map(|paper| paper.experiments.iter().map(|experiment| take(plain(&experiment.id))).collect())
            .collect();
        let papers = report.papers.iter().map(|paper| take(plain(&paper.id))).collect();
        let figures = report.papers.iter().zip(&experiments).map(|(paper, names)| {
            let of = paper.experiments.iter().zip(names).map(|(experiment, name)| {
                experiment
                    .figures
                    .iter()
                    .map(|figure| take(format!("{name}--{}", plain(&figure.id))))
                    .collect()
            });
            of.collect()
        });
        let figures = figures.collect();
        let planes =
            report.planes.iter().map(|figure| take(format!("plane--{}", plain(&figure.id)))).collect();
        Places { papers, experiments, figures, planes }
    }
}

/// Letters, digits and single dashes of an id. Names of marks (`sign-`) are the page's own.
fn plain(id: &str) -> String {
    let mut out = String::new();
    for c in id.chars().take(80) {
        if c.is_ascii_alphanumeric() || c == '_' || c == '.' {
            out.push(c);
        } else if !out.ends_with('-') && !out.is_empty() {
            out.push('-');
        }
    }
    let out = out.trim_matches('-');
    match out {
        "" => "x".to_string(),
        out if out.starts_with("sign-") => format!("x-{out}"),
        out => out.to_string(),
    }
}
