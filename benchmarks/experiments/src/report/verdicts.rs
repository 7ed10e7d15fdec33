//! Verdicts as words and marks. A verdict is never told by colour alone.

use super::model::{Check, Experiment, Paper, Report, Target, Verdict};

impl Verdict {
    /// All of them, from best to worst.
    pub const ALL: [Verdict; 6] = [
        Verdict::Better,
        Verdict::Reproduced,
        Verdict::ShapeOnly,
        Verdict::NotReproduced,
        Verdict::NotComparable,
        Verdict::Missing,
    ];

    /// As it is read.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Reproduced => "reproduced",
            Verdict::ShapeOnly => "shape only",
            Verdict::NotReproduced => "not reproduced",
            Verdict::NotComparable => "not comparable",
            Verdict::Missing => "missing",
        }
    }

    /// As it is written in the JSON form, and in names of styles.
    pub fn key(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Reproduced => "reproduced",
            Verdict::ShapeOnly => "shape-only",
            Verdict::NotReproduced => "not-reproduced",
            Verdict::NotComparable => "not-comparable",
            Verdict::Missing => "missing",
        }
    }

    /// A sign for plain text.
    pub fn sign(self) -> &'static str {
        match self {
            Verdict::Better => "▲",
            Verdict::Reproduced => "✓",
            Verdict::ShapeOnly => "◐",
            Verdict::NotReproduced => "✗",
            Verdict::NotComparable => "–",
            Verdict::Missing => "○",
        }
    }

    /// What it means, for a legend.
    pub fn meaning(self) -> &'static str {
        match self {
            Verdict::Better => "better than the paper, beyond the interval",
            Verdict::Reproduced => "shape and number as in the paper",
            Verdict::ShapeOnly => "the shape as in the paper, not the number",
            Verdict::NotReproduced => "neither shape nor number",
            Verdict::NotComparable => "the paper gives nothing to compare with",
            Verdict::Missing => "not measured, or not to the end",
        }
    }
}

impl Report {
    /// How many experiments came to each verdict, from best to worst; verdicts that none came to are left out.
    pub fn tally(&self) -> Vec<(Verdict, usize)> {
        let experiments = || self.papers.iter().flat_map(|paper| &paper.experiments);
        let counts = Verdict::ALL.map(|verdict| {
            (verdict, experiments().filter(|experiment| experiment.verdict == verdict).count())
        });
        counts.into_iter().filter(|(_, count)| *count > 0).collect()
    }
}

/// Whether a target is met, in words.
pub fn met(met: Option<bool>) -> &'static str {
    match met {
        Some(true) => "✓ met",
        Some(false) => "✗ missed",
        None => "○ not known",
    }
}

/// How many targets are met, in a sentence.
pub fn targets_met(report: &Report) -> String {
    let count = |of: fn(&Target) -> Option<bool>| {
        report.targets.iter().filter(|target| of(target) == Some(true)).count()
    };
    let all = report.targets.len();
    format!(
        "{} of {all} are met, and {} of their stretch targets. A stretch target is met with all of the interval.",
        count(|target| target.met),
        count(|target| target.stretch_met)
    )
}

/// A main result of a paper, found among its experiments.
pub enum Headline<'a> {
    /// A check of an experiment: which of the paper's, and the check.
    Found(usize, &'a Experiment, &'a Check),
    /// The report does not have it: experiment and position that were asked for.
    Absent(&'a str, usize),
}

/// The main results of a paper. One that is not among its experiments is said to be absent rather than left out.
pub fn headlines(paper: &Paper) -> Vec<Headline<'_>> {
    let find = |(id, position): &'_ (String, usize)| {
        let index = paper.experiments.iter().position(|experiment| experiment.id == *id)?;
        let experiment = &paper.experiments[index];
        Some(Headline::Found(index, experiment, experiment.checks.get(*position)?))
    };
    paper
        .headlines
        .iter()
        .map(|headline| find(headline).unwrap_or(Headline::Absent(&headline.0, headline.1)))
        .collect()
}
