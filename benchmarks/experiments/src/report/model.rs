//! What a reproduction found. The JSON form of the report is this, and the others are drawn from it: nothing in them comes from
//! anywhere else.

use serde::{Deserialize, Serialize};

/// The version of the form below.
pub const VERSION: u32 = 2;

/// A whole reproduction.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Report {
    /// [`VERSION`].
    pub version: u32,
    /// Where, when and with what it was measured.
    pub provenance: Provenance,
    /// The headline targets that its experiments are about, and whether they are met.
    pub targets: Vec<Target>,
    /// The papers, in the order of the catalogue.
    pub papers: Vec<Paper>,
    /// All profilers on one plane, accuracy against overhead, same programs, same metric: a plane for each metric.
    pub planes: Vec<Figure>,
}

/// A headline target: what the catalogue of experiments asks for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Target {
    /// What it is called there.
    pub id: String,
    /// What the paper says, as text.
    pub paper: String,
    /// What is asked for, as text.
    pub target: String,
    /// What would be better than the paper, as text.
    pub stretch: String,
    /// The checks that say so.
    pub parts: Vec<TargetPart>,
    /// Is the target met; nothing if that is not known.
    pub met: Option<bool>,
    /// Is the stretch target.
    pub stretch_met: Option<bool>,
}

/// A check that a target is about.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TargetPart {
    /// The experiment.
    pub experiment: String,
    /// The words of its check.
    pub what: String,
    /// What it found, as text.
    pub shown: String,
    /// The number, if it is one.
    pub measured: Option<Measured>,
}

/// Where, when and with what something was measured.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Provenance {
    /// Version of the project and commit, if it is known.
    pub build: String,
    /// When it began, in UTC, as `2026-01-31 12:00`.
    pub began: String,
    /// The command that makes it again.
    pub command: String,
    /// `quick` or `full`.
    pub mode: String,
    /// What is known of the machine, by name: processor, memory, system.
    pub machine: Vec<(String, String)>,
    /// Of all experiments together.
    pub seconds: f64,
}

/// A paper and what became of its experiments.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Paper {
    /// As on the command line: `pep`, `cbs`, `osp`, `pmu`, `kblpp`.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Authors, venue, year.
    pub source: String,
    /// What it is known for, a sentence of ours.
    pub says: String,
    /// Its main results: checks of its experiments, by experiment and position among the experiment's checks.
    pub headlines: Vec<(String, usize)>,
    /// Its experiments, in the order of the paper.
    pub experiments: Vec<Experiment>,
}

/// An experiment and what it found.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Experiment {
    /// Its name in the catalogue: `pep-fig6`.
    pub id: String,
    /// Where it is in the paper: `Figure 6`.
    pub place: String,
    /// What it is about.
    pub title: String,
    /// What the paper does and finds, and what is done here; a paragraph or more.
    pub text: Vec<String>,
    /// The verdict of all checks together.
    pub verdict: Verdict,
    /// Why, in a sentence.
    pub because: String,
    /// What was compared with the paper.
    pub checks: Vec<Check>,
    /// What is shown.
    pub figures: Vec<Figure>,
    /// Cells that failed, with the error.
    pub failures: Vec<(String, String)>,
    /// All its cells, as the store calls them: what its checks are made of.
    #[serde(default)]
    pub cells: Vec<String>,
    /// The command that makes it again.
    pub command: String,
    /// How long its cells took.
    pub seconds: f64,
}

/// How a measurement stands to the paper. The order is from best to worst; the worst of several is that of all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Better than what the paper reports, beyond the interval.
    Better,
    /// Shape and number as in the paper.
    Reproduced,
    /// The shape as in the paper, but not the number.
    ShapeOnly,
    /// Neither.
    NotReproduced,
    /// The paper gives nothing that could be compared.
    NotComparable,
    /// It was not measured, or not to the end.
    Missing,
}

/// One thing that was compared with the paper.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Check {
    /// What: `average overhead of PEP(64,17)`.
    pub what: String,
    /// What the paper says, as text: `1.2 %`.
    pub paper: String,
    /// What counts as reproduced: `at most 1.2 %`.
    pub target: String,
    /// What was measured; nothing if it is not a number or is missing. It must be finite: JSON has no other numbers.
    pub measured: Option<Measured>,
    /// What was measured, as text, without the interval, which is written beside it; if empty, the number of `measured` is shown.
    pub shown: String,
    /// How that stands to the paper.
    pub verdict: Verdict,
}

/// A number with what is known of its error.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Measured {
    /// The value, in `unit`.
    pub value: f64,
    /// The ends of the 95 % interval, where there is one.
    pub interval: Option<(f64, f64)>,
    /// What it counts.
    pub unit: Unit,
}

/// What a number counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Hundredths.
    Percent,
    /// A ratio: 1.0 is the same.
    Ratio,
    /// Things.
    Count,
    /// Seconds.
    Seconds,
    /// Nanoseconds.
    Nanoseconds,
    /// Bytes.
    Bytes,
}

/// Something that is shown.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Figure {
    /// Its name within the experiment, for links and files: `overhead`.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// What one should see, and where the paper has it.
    pub caption: String,
    /// The data.
    pub chart: Chart,
}

/// The data of a figure and how it is drawn.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Chart {
    /// A group of bars for each category, one of each series; paper and measured side by side where both are known.
    Bars {
        /// What the bars count.
        unit: Unit,
        /// One group each: the programs.
        categories: Vec<String>,
        /// One bar of each group.
        series: Vec<Series>,
    },
    /// Numbers over a number.
    Lines {
        /// What goes to the right.
        x: Axis,
        /// What goes up.
        y: Axis,
        /// The lines.
        lines: Vec<Line>,
    },
    /// A grid of numbers, with the paper's grid beside it.
    Heat {
        /// What the cells count.
        unit: Unit,
        /// What the rows are: `samples per tick`.
        row_title: String,
        /// What the columns are: `stride`.
        column_title: String,
        /// The rows.
        rows: Vec<String>,
        /// The columns.
        columns: Vec<String>,
        /// What was measured, by row; nothing where it was not.
        measured: Vec<Vec<Option<f64>>>,
        /// What the paper has for the same rows and columns; empty if it has no such grid.
        paper: Vec<Vec<Option<f64>>>,
        /// Less is better.
        less_is_better: bool,
    },
    /// Points with names on a plane.
    Scatter {
        /// What goes to the right.
        x: Axis,
        /// What goes up.
        y: Axis,
        /// The points.
        points: Vec<Point>,
    },
    /// A table.
    Table {
        /// Heads of the columns.
        columns: Vec<String>,
        /// The rows: a number or text in each cell.
        rows: Vec<Vec<Cell>>,
    },
    /// A forest of counted nodes, drawn from the top: the k-iteration forest.
    Forest {
        /// The trees.
        roots: Vec<TreeNode>,
    },
    /// Paths through source code: each with its weight and the lines that it goes through.
    Paths {
        /// The paths, the hottest first.
        paths: Vec<SourcePath>,
    },
}

/// A series of bars.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Series {
    /// What it is: `measured`, `paper`, `PEP(64,17)`.
    pub name: String,
    /// Is it the paper's.
    pub is_paper: bool,
    /// The value for each category; nothing where there is none.
    pub values: Vec<Option<f64>>,
    /// The ends of the interval for each category, where there are any; or empty.
    pub intervals: Vec<Option<(f64, f64)>>,
}

/// An axis.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Axis {
    /// What it is.
    pub title: String,
    /// What it counts.
    pub unit: Unit,
    /// Is it logarithmic.
    pub log: bool,
}

/// A line.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Line {
    /// What it is.
    pub name: String,
    /// Is it the paper's.
    pub is_paper: bool,
    /// Its points, to the right.
    pub points: Vec<(f64, f64)>,
}

/// A point with a name.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Point {
    /// What it is.
    pub name: String,
    /// Points of one group have one colour: the profiler.
    pub group: String,
    /// Where it is.
    pub x: f64,
    /// Where it is.
    pub y: f64,
    /// The ends of the interval of `x`.
    pub x_interval: Option<(f64, f64)>,
    /// The ends of the interval of `y`.
    pub y_interval: Option<(f64, f64)>,
}

/// A cell of a table.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    /// A number, shown with its unit.
    Number(Measured),
    /// Text.
    Text(String),
}

/// A node of a forest.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TreeNode {
    /// What it is: the number of a path, a block.
    pub name: String,
    /// How often it was seen.
    pub count: u64,
    /// What follows it.
    pub children: Vec<TreeNode>,
}

/// A path through source code.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SourcePath {
    /// In which method.
    pub method: String,
    /// Its share of all flow, 0 to 1.
    pub share: f64,
    /// The file that the lines are of.
    pub file: String,
    /// The method's lines from `first` on.
    pub first: u32,
    /// The text of the lines.
    pub lines: Vec<String>,
    /// Which of the lines it goes through: 0 is the first of `lines`. A line that it goes through several times is there as often.
    pub on_path: Vec<u32>,
}
