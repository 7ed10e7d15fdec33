//! `holloway profile`: the flags of the commands that look at profiles.

use crate::pattern::Pattern;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::str::FromStr;

/// What to do with profiles.
#[derive(Subcommand, Debug)]
pub enum ProfileCommand {
    /// Show the hottest paths and branches of a profile
    Show(ShowArguments),
    /// Show what became hotter or colder from one profile to another of the same program
    Diff(DiffArguments),
    /// Look whether a profile is well-formed and its counts agree with each other
    Check(CheckProfileArguments),
    /// Say how good an estimate is: every metric of the papers, against exact counts
    Accuracy(AccuracyArguments),
    /// Add up the profiles of several runs of a program
    Merge(MergeArguments),
    /// Write a profile in a form that other tools draw
    Export(ExportArguments),
}

/// `holloway profile show`.
#[derive(Args, Debug)]
#[command(after_help = "\
A branch on a path is written as taken or not taken, as the bytecode has it; a switch by the number of its case.
In the forest, a node has its count, its share of its parent and, in brackets, of its root.

Examples:
  holloway run --profile blpp --profile edges --profile-out a.json a.hol
  holloway profile show a.json
  holloway profile show a.json --kind source --method 'Lane.*'
  holloway profile show a.json --kind forest --prune 0,10
  holloway profile show a.json --thread 2             if `run --profile-threads` has written it")]
pub struct ShowArguments {
    /// The profile
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// How many paths, branches and methods with a forest to show
    #[arg(long, value_name = "N", default_value = "10")]
    pub top: usize,
    /// Only methods whose name contains this, or matches it as a whole if it has a *
    #[arg(long, value_name = "PATTERN")]
    pub method: Option<Pattern>,
    /// What to show [default: a summary, the paths, the edges, and calls, branch traces and subpaths if there are any]
    #[arg(long, value_name = "KIND")]
    pub kind: Option<Topic>,
    /// Only what this thread counted (`rest`: those that could not count by themselves); see `run --profile-threads`
    #[arg(long, value_name = "N")]
    pub thread: Option<ThreadChoice>,
    /// Leave out what has less than this share of its parent, and of its root, in a forest
    #[arg(long, value_name = "PERCENT,PERCENT", value_delimiter = ',', num_args = 1, default_value = "1,1")]
    pub prune: Vec<Percent>,
}

/// What of a profile to look at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Topic {
    /// Paths by their share of the flow
    Paths,
    /// Branches by how often they were executed
    Edges,
    /// Source lines that have branches, with their counts
    Source,
    /// Paths over several iterations, as trees
    Forest,
    /// Threads, if each counted by itself
    Threads,
    /// Calls by how often they were made
    Calls,
    /// Paths by their weight in branch traces
    Traces,
    /// Subpaths by how often they were executed
    Subpaths,
}

/// `holloway profile diff`.
#[derive(Args, Debug)]
#[command(after_help = "\
Exact counts are compared where a profile has them, samples otherwise. Profiles of different programs are refused.

Example:
  holloway profile diff before.json after.json --top 5")]
pub struct DiffArguments {
    /// The earlier profile
    #[arg(value_name = "A")]
    pub before: PathBuf,
    /// The later one
    #[arg(value_name = "B")]
    pub after: PathBuf,
    /// How many paths and branches to show
    #[arg(long, value_name = "N", default_value = "10")]
    pub top: usize,
    /// Only methods whose name contains this, or matches it as a whole if it has a *
    #[arg(long, value_name = "PATTERN")]
    pub method: Option<Pattern>,
    /// Only what this thread counted, in both (`rest`: those that could not count by themselves); see `run --profile-threads`
    #[arg(long, value_name = "N")]
    pub thread: Option<ThreadChoice>,
}

/// `holloway profile check`.
#[derive(Args, Debug)]
#[command(after_help = "\
Exits with 1 if a check fails and with 2 if the file cannot be read.

Example:
  holloway profile check a.json")]
pub struct CheckProfileArguments {
    /// The profile
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// `holloway profile accuracy`.
#[derive(Args, Debug)]
#[command(after_help = "\
Paths are the same if they begin and end at the same places and their branches went the same ways; the code may differ.

Examples:
  holloway profile accuracy sampled.json exact.json
  holloway profile accuracy both.json                 within one file
  holloway profile accuracy both.json --json          for programs")]
pub struct AccuracyArguments {
    /// The profile that is judged: its samples, or its exact counts if it has none
    #[arg(value_name = "SAMPLED")]
    pub sampled: PathBuf,
    /// The profile that has the truth [default: the exact counts of the same file]
    #[arg(value_name = "EXACT")]
    pub exact: Option<PathBuf>,
    /// A path is hot that has more than this share of the flow
    #[arg(long, value_name = "PERCENT", default_value = "0.125")]
    pub hot: Percent,
    /// Only what this thread counted, in both (`rest`: those that could not count by themselves); see `run --profile-threads`
    #[arg(long, value_name = "N")]
    pub thread: Option<ThreadChoice>,
    /// As JSON, with all digits
    #[arg(long)]
    pub json: bool,
}

/// `holloway profile merge`.
#[derive(Args, Debug)]
#[command(after_help = "\
Counts, samples and weights are added. All profiles must be of the same program and by the same profilers.

Example:
  holloway profile merge all.json monday.json tuesday.json")]
pub struct MergeArguments {
    /// Where to write the sum
    #[arg(value_name = "OUT")]
    pub out: PathBuf,
    /// The profiles
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}

/// `holloway profile export`.
#[derive(Args, Debug)]
#[command(after_help = "\
dot draws the forest, or else the branches; the other formats but csv have paths as stacks: the method, where the path
begins, then each branch with its outcome. Calls are drawn with --kind calls, or if there is nothing else: as stacks if
contexts were sampled (cbs:depth=all), else as pairs. csv has all counts.

Examples:
  holloway profile export a.json --format flamegraph --out a.svg
  holloway profile export a.json --format dot --method main | dot -Tsvg > main.svg
  holloway profile export a.json --format flamegraph --kind calls --out calls.svg
  holloway profile export a.json --format pprof --out a.pb && pprof -top a.pb
  holloway profile export a.json --format firefox --out a.firefox.json   for profiler.firefox.com
  holloway profile export a.json --format csv > a.csv")]
pub struct ExportArguments {
    /// The profile
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The form
    #[arg(long, value_name = "FORMAT")]
    pub format: ExportFormat,
    /// Where to write it [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Only methods whose name contains this, or matches it as a whole if it has a *
    #[arg(long, value_name = "PATTERN")]
    pub method: Option<Pattern>,
    /// Only what this thread counted (`rest`: those that could not count by themselves); see `run --profile-threads`
    #[arg(long, value_name = "N")]
    pub thread: Option<ThreadChoice>,
    /// For dot: `forest`, `edges` or `calls` [default: the forest if there is one]; for what has stacks: `paths` or `calls`
    /// [default: the paths if there are any]
    #[arg(long, value_name = "KIND")]
    pub kind: Option<Topic>,
}

/// Forms that other tools read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ExportFormat {
    /// For Graphviz
    Dot,
    /// A flame graph as SVG
    Flamegraph,
    /// For pprof, in its form of Protocol Buffers, not compressed
    Pprof,
    /// For profiler.firefox.com
    Firefox,
    /// All counts as a table
    Csv,
}

/// Which thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThreadChoice {
    /// The one with this number; the main thread is 0.
    Number(u32),
    /// Those together that could not count by themselves.
    Rest,
}

impl FromStr for ThreadChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<ThreadChoice, String> {
        match text {
            "rest" => Ok(ThreadChoice::Rest),
            _ => text
                .parse()
                .map(ThreadChoice::Number)
                .map_err(|_| "it is the number of a thread, or `rest`".to_string()),
        }
    }
}

/// A number from 0 to 100.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Percent(pub f64);

impl FromStr for Percent {
    type Err = String;

    fn from_str(text: &str) -> Result<Percent, String> {
        match text.parse::<f64>() {
            Ok(number) if (0.0..=100.0).contains(&number) => Ok(Percent(number)),
            _ => Err("a percentage is a number from 0 to 100".to_string()),
        }
    }
}
