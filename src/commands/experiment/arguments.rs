//! The flags of `holloway experiment` and `holloway reproduce`.

use crate::options::MachineArguments;
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use holloway_experiments::cell::Shard;
use holloway_experiments::plan::Mode;
use holloway_experiments::vectors;
use holloway_profilers::PathNumber;
use holloway_profilers::kblpp::K;
use std::path::PathBuf;

/// What to do with experiments.
#[derive(Subcommand, Debug)]
pub enum ExperimentCommand {
    /// List all experiments: paper, table or figure, what is measured, estimated time
    List(ListArguments),
    /// Run experiments, and set what they find beside what the papers report
    Run(RunExperimentArguments),
    /// Work an example of the papers, by the library that the profilers use
    Example(ExampleArguments),
    /// Make forests of k iterations of a stream of path numbers
    Forest(ForestArguments),
    /// Simulate which memory the forest of a program's paths touches, in this layout and in that of the paper
    Nodes(Box<NodesArguments>),
    /// Count how often the forest's hash table must be asked, by the profiler and by a trace of all steps
    Lookups(Box<NodesArguments>),
    /// Join the stores of shards
    Merge(MergeStoresArguments),
    /// Make the report of what a store has
    Report(ReportArguments),
}

/// `holloway experiment list`.
#[derive(Args, Debug)]
pub struct ListArguments {
    /// For which time is estimated.
    #[command(flatten)]
    pub mode: ModeArguments,
}

/// Which mode.
#[derive(Args, Clone, Copy, Debug)]
pub struct ModeArguments {
    /// A quarter of an hour for everything; this is the default
    #[arg(long, conflicts_with = "full", help_heading = "Measuring")]
    quick: bool,
    /// A night for everything: all programs, and as much as the papers measured
    #[arg(long, help_heading = "Measuring")]
    full: bool,
}

impl ModeArguments {
    /// The mode.
    pub fn mode(self) -> Mode {
        if self.full { Mode::Full } else { Mode::Quick }
    }
}

/// Of what.
#[derive(Args, Clone, Debug)]
pub struct ProgramsArguments {
    /// Only these benchmark programs, where an experiment is about several
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = program, help_heading = "Measuring")]
    programs: Vec<String>,
    /// How many trials: seconds of measuring for each program and configuration, or runs where an experiment counts these
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = "Measuring")]
    pub trials: Option<u32>,
}

fn program(name: &str) -> Result<String, String> {
    holloway_benchmarks::registry::find(name).map(|found| found.name.to_string())
}

impl ProgramsArguments {
    /// The programs, if any were named.
    pub fn programs(&self) -> Option<Vec<String>> {
        (!self.programs.is_empty()).then(|| self.programs.clone())
    }
}

/// How to measure, and where to keep it.
#[derive(Args, Debug)]
pub struct MeasureArguments {
    /// How long.
    #[command(flatten)]
    pub mode: ModeArguments,
    /// Of what.
    #[command(flatten)]
    pub programs: ProgramsArguments,
    /// Another number, other orders and places
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Measuring")]
    pub seed: u64,
    /// Where results are kept as they come; the same command goes on from there [default: reproduction-quick or reproduction-full]
    #[arg(long, value_name = "DIR", help_heading = "Results")]
    pub store: Option<PathBuf>,
    /// Only the I-th of N parts, into a store of its own; `experiment merge` joins them
    #[arg(long, value_name = "I/N", help_heading = "Results")]
    pub shard: Option<Shard>,
    /// Do again what failed before
    #[arg(long, help_heading = "Results")]
    pub retry: bool,
}

/// `holloway experiment run`.
#[derive(Args, Debug)]
#[command(after_help = "\
Interrupted in any way, the same command goes on where it was. See docs/experiments.md.

Examples:
  holloway experiment run pep-fig6
  holloway experiment run kblpp-fig15 cbs --quick
  holloway experiment run pep-fig6 --programs richards,json --trials 30 --store mine")]
pub struct RunExperimentArguments {
    /// Names of experiments or papers (`pep`, `cbs`, `osp`, `pmu`, `kblpp`, `all`)
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<String>,
    /// How, and where to.
    #[command(flatten)]
    pub measure: MeasureArguments,
}

/// The names of all worked examples.
fn examples() -> impl Iterator<Item = &'static str> {
    let of_traces = vectors::traces::all().iter().map(|vector| &*vector.name);
    vectors::all().iter().map(|vector| &*vector.name).chain(of_traces)
}

/// `holloway experiment example`.
#[derive(Args, Debug)]
#[command(after_help = "\
Graphs in letters get numbers for their paths: values of edges, the instrumented method, all paths, and what a run of it gives. Schedules
say which opportunities are sampled. Branch traces become partial paths, and these are divided among the full paths of regions.

Examples:
  holloway experiment example bl-3
  holloway experiment example pmu-3")]
pub struct ExampleArguments {
    /// Which
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(examples()))]
    pub name: String,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `holloway experiment forest`.
#[derive(Args, Debug)]
#[command(after_help = "\
The k-slab forest as it is grown while paths end, the same by its definition, and the counts of all sequences of up to k paths.

Example:
  holloway experiment forest --k 4 6,2,0,0,2,2,0,0,2,2,0,0,2,3")]
pub struct ForestArguments {
    /// Numbers of the paths of an invocation, with commas between them
    #[arg(value_name = "PATHS", required = true)]
    pub invocations: Vec<PathNumbers>,
    /// Over how many iterations
    #[arg(long, value_name = "K", value_parser = k)]
    pub k: K,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// The paths of an invocation.
#[derive(Clone, Debug)]
pub struct PathNumbers(pub Vec<PathNumber>);

impl std::str::FromStr for PathNumbers {
    type Err = String;

    fn from_str(text: &str) -> Result<PathNumbers, String> {
        let number =
            |word: &str| word.trim().parse().map_err(|_| format!("'{word}' is not the number of a path"));
        text.split(',').map(number).collect::<Result<_, _>>().map(PathNumbers)
    }
}

fn k(text: &str) -> Result<K, String> {
    let number: u32 = text.parse().map_err(|_| format!("'{text}' is not a whole number"))?;
    K::new(number).map_err(|error| error.to_string())
}

/// `holloway experiment nodes`.
#[derive(Args, Debug)]
#[command(after_help = "\
The program runs with its compiled code traced, which is slow and takes memory: --fuel ends it after so many yieldpoints. Misses are those of accesses to the profiler's nodes
alone, in caches of 32 KiB and 1 MiB.

Example:
  holloway experiment nodes heapsort --tier o2 --fuel 300000 --k 2,16")]
pub struct NodesArguments {
    /// The benchmark program
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Over how many iterations, for each of which the same paths are looked at
    #[arg(long, value_name = "K,...", value_delimiter = ',', value_parser = k, default_value = "2,16")]
    pub k: Vec<K>,
    /// The size of the program [default: the quick one]
    #[arg(long, value_name = "SIZE")]
    pub size: Option<u64>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
    /// Flags of the virtual machine.
    #[command(flatten)]
    pub machine: MachineArguments,
}

/// `holloway experiment merge`.
#[derive(Args, Debug)]
#[command(after_help = "\
All stores must be of machines of one kind, and of one build, mode and seed: numbers of different ones are not comparable.

Example:
  holloway experiment merge all shard-1 shard-2")]
pub struct MergeStoresArguments {
    /// The new store
    #[arg(value_name = "OUT")]
    pub out: PathBuf,
    /// The stores
    #[arg(value_name = "STORE", required = true)]
    pub stores: Vec<PathBuf>,
}

/// `holloway experiment report`.
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  holloway experiment report reproduction-quick")]
pub struct ReportArguments {
    /// The store
    #[arg(value_name = "STORE")]
    pub store: PathBuf,
    /// Only these experiments or papers [default: all]
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
    /// Of what.
    #[command(flatten)]
    pub programs: ProgramsArguments,
    /// Where to put the report [default: into the store]
    #[arg(long, value_name = "DIR", help_heading = "Results")]
    pub out: Option<PathBuf>,
}

/// `holloway reproduce`.
#[derive(Args, Debug)]
#[command(after_help = "\
Interrupted in any way, the same command goes on where it was. See docs/experiments.md.

Examples:
  holloway reproduce --quick
  holloway reproduce pep kblpp --full --store mine --out report")]
pub struct ReproduceArguments {
    /// Papers (`pep`, `cbs`, `osp`, `pmu`, `kblpp`, `all`) or experiments [default: all]
    #[arg(value_name = "PAPER")]
    pub papers: Vec<String>,
    /// Where to put the report [default: into the store]
    #[arg(long, value_name = "DIR", help_heading = "Results")]
    pub out: Option<PathBuf>,
    /// How, and where results are kept.
    #[command(flatten)]
    pub measure: MeasureArguments,
}
