//! All commands and flags, declared once: parsing, help and defaults follow from these types.

mod profile;

use crate::commands::accuracy::AccuracyGridArguments;
use crate::commands::dump::arguments::DumpArguments;
use crate::commands::experiment::arguments::{ExperimentCommand, ReproduceArguments};
use crate::commands::explain::ExplainArguments;
use crate::commands::overhead::arguments::OverheadArguments;
use crate::inline::{GraphSource, InlineArguments};
use crate::inspect::{self, Outputs, ShowRequest};
use crate::layout::Layout;
use crate::learned::Learned;
use crate::profile::ProfileArguments;
use crate::report::{Stop, say};
use crate::values;
use clap::builder::PossibleValuesParser;
use clap::builder::styling::{AnsiColor, Styles};
use clap::parser::ValueSource;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use holloway_benchmarks::against::peers::PEERS;
use holloway_vm::compiled::{
    BlockOrder, CallSource, CompilerFactory, InlineOptions, Level, Log, LogEvent, TierOptions,
};
use holloway_vm::heap::HeapConfig;
use holloway_vm::timer::TimerSource;
use holloway_vm::{DEFAULT_STACK_DEPTH, Dispatch, VmOptions};
use std::ffi::OsString;
use std::io::Write;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

pub use profile::{
    AccuracyArguments, CheckProfileArguments, DiffArguments, ExportArguments, ExportFormat, MergeArguments,
    Percent, ProfileCommand, ShowArguments, ThreadChoice, Topic,
};

/// Colours of the help; clap leaves them out where standard output is no terminal or `NO_COLOR` is set.
const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Yellow.on_default().bold())
    .usage(AnsiColor::Yellow.on_default().bold())
    .literal(AnsiColor::Green.on_default())
    .placeholder(AnsiColor::Cyan.on_default());

/// The most calls that may be allowed to nest.
const DEEPEST_STACK: u64 = 10_000_000;

/// The command line.
#[derive(Parser, Debug)]
#[command(
    name = "holloway",
    version,
    about = "Runs, checks and measures programs in the Holloway language",
    after_help = "\
Programs write to standard output, everything else is written to standard error.
Exit codes: 0 success; 1 the program ended with an error or was ended; 2 it does not compile, or a flag is wrong.

Examples:
  holloway run hello.hol
  holloway check hello.hol
  holloway bench richards sieve
  holloway overhead richards --profile pep",
    styles = STYLES,
    arg_required_else_help = true
)]
pub struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Compile and run a program
    Run(RunArguments),
    /// Look for errors in a program without running it
    Check(CheckArguments),
    /// Measure the benchmark programs, verifying every result
    Bench(BenchArguments),
    /// Measure what profilers cost, paired, in one process
    Overhead(Box<OverheadArguments>),
    /// Measure how near estimates of calls come to exact counts
    Accuracy(Box<AccuracyGridArguments>),
    /// Show what a stage of the compiler makes of a program
    Dump(DumpArguments),
    /// Run a program, and say what was decided about every call of a method, and why
    #[command(after_help = "\
See docs/compiler.md.

Examples:
  holloway explain Lane.walk lane.hol                     as the default chooses, by frequency
  holloway explain 'List*' lane.hol --inline new -- 1000  all methods of lists, by the call graph; 1000 is the program's argument")]
    Explain(Box<ExplainArguments>),
    /// Measure what the adaptive system must know of this machine
    Calibrate(CalibrateArguments),
    /// Say what this machine has for measurements and what it lacks
    Doctor(DoctorArguments),
    /// Run the experiments of the five papers, and report how what they find stands to what the papers report
    Reproduce(Box<ReproduceArguments>),
    /// List and run single experiments, join and report their results
    #[command(subcommand)]
    Experiment(ExperimentCommand),
    /// Look at profiles that `run --profile-out` has written
    #[command(subcommand)]
    Profile(ProfileCommand),
}

/// `holloway doctor`.
#[derive(Args, Debug)]
#[command(after_help = "\
Each finding says what it means for measurements, and what can be done about it. Nothing is changed.

Examples:
  holloway doctor
  holloway doctor --json")]
pub struct DoctorArguments {
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `holloway calibrate`.
#[derive(Args, Debug)]
#[command(after_help = "\
Runs the classic benchmark programs in every tier (a minute or two) and prints the constants of the cost/benefit model.

Example:
  holloway calibrate --out here.json
  holloway run --calibration here.json hello.hol")]
pub struct CalibrateArguments {
    /// Also write the constants to this file, for --calibration
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Only a look at whether it works: small sizes, and numbers that mean little
    #[arg(long)]
    pub quick: bool,
}

/// `holloway run`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  holloway run hello.hol
  holloway run sort.hol -- 1000 descending       give the program arguments
  holloway run --time-limit 2s --heap 64m a.hol  end it after two seconds or 64 MiB
  holloway run --timer virtual:1000 a.hol        switch threads in a repeatable way
  holloway run --stats a.hol                     say afterwards what the virtual machine did
  holloway run --log compile,deopt a.hol         say what is compiled, and why compiled code is left
  holloway run --show asm=Lane.walk a.hol        show the machine code of a method when it is compiled
  holloway run --profile blpp --profile-threads --profile-out a.json a.hol
                                                 count the paths of each green thread")]
pub struct RunArguments {
    /// The main file of the program
    #[arg(value_name = "FILE")]
    pub file: String,
    /// Arguments of the program
    #[arg(last = true, value_name = "ARGS")]
    pub arguments: Vec<String>,
    /// Flags of the virtual machine.
    #[command(flatten)]
    pub machine: MachineArguments,
}

/// `holloway check`.
#[derive(Args, Debug)]
#[command(after_help = "\
Prints the errors, if there are any, and exits with 2; otherwise prints nothing and exits with 0.

Example:
  holloway check hello.hol")]
pub struct CheckArguments {
    /// The main file of the program
    #[arg(value_name = "FILE")]
    pub file: String,
}

/// `holloway bench`.
#[derive(Args, Debug)]
#[command(after_help = "\
Every iteration's result is verified; a program whose result is wrong gets no time.

Examples:
  holloway bench                                   all programs
  holloway bench richards sieve --iterations 20
  holloway bench --size quick                      a look at whether everything works
  holloway bench nbody --size 250000
  holloway bench --json times.json                 keep all samples
  holloway bench --against ../are-we-fast-yet cd   compare with Java, node, Lua and C++")]
pub struct BenchArguments {
    /// Which programs; all of them if none is named
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// The size: `default`, `quick`, or a number that every named program knows
    #[arg(long, value_name = "SIZE", default_value = "default", help_heading = "Measuring")]
    pub size: BenchSize,
    /// How many iterations of each program [default: 10; with --against, as many as take three seconds]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000), help_heading = "Measuring")]
    pub iterations: Option<u64>,
    /// Show the time of every iteration, too
    #[arg(long, help_heading = "Measuring")]
    pub samples: bool,
    /// Write all samples and a description of the machine to this file
    #[arg(long, value_name = "FILE", help_heading = "Measuring")]
    pub json: Option<PathBuf>,
    /// Flags of the comparison with other languages.
    #[command(flatten)]
    pub comparison: ComparisonArguments,
    /// Flags of the virtual machine.
    #[command(flatten)]
    pub machine: MachineArguments,
}

/// `holloway bench --against`.
#[derive(Args, Debug)]
pub struct ComparisonArguments {
    /// Compare with the originals in this checkout of the suite Are We Fast Yet
    #[arg(long, value_name = "DIR", conflicts_with_all = ["samples", "stats", "log", "show"], help_heading = "Comparing")]
    pub against: Option<PathBuf>,
    /// With whom [default: those of java, node, lua and cpp that this machine has]
    #[arg(long, value_name = "PEERS", value_delimiter = ',', value_parser = PossibleValuesParser::new(PEERS.iter().map(|peer| peer.name)), requires = "against", help_heading = "Comparing")]
    pub peers: Vec<String>,
    /// How many processes of each program and peer [default: 5; with --first, 15]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000), requires = "against", help_heading = "Comparing")]
    pub rounds: Option<u64>,
    /// Compare the first iteration of a process, not the steady state
    #[arg(long, requires = "against", conflicts_with = "iterations", help_heading = "Comparing")]
    pub first: bool,
}

/// Which size of a benchmark program to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BenchSize {
    /// The one from the table, large enough to measure.
    Default,
    /// The one from the table that is over at once.
    Quick,
    /// This one.
    Number(u64),
}

impl std::str::FromStr for BenchSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse()) {
            ("default", _) => Ok(BenchSize::Default),
            ("quick", _) => Ok(BenchSize::Quick),
            (_, Ok(number)) if number > 0 && number <= i64::MAX as u64 => Ok(BenchSize::Number(number)),
            _ => Err("a size is `default`, `quick` or a positive whole number".to_string()),
        }
    }
}

/// The flags that `run` and `bench` share.
#[derive(Args, Clone, Debug)]
pub struct MachineArguments {
    /// Which tier runs the program
    #[arg(long, value_name = "TIER", default_value = "adaptive", help_heading = "Execution")]
    pub tier: Tier,
    /// Compile at once, not in the background: repeatable
    #[arg(long, help_heading = "Execution")]
    pub sync_compile: bool,
    /// Compile what this advice says, before the program begins, and later only what else takes long: repeatable
    #[arg(long, value_name = "FILE", help_heading = "Execution")]
    pub replay: Option<PathBuf>,
    /// Write what the run learned of the program, for --replay
    #[arg(long, value_name = "FILE", help_heading = "Execution")]
    pub advice_out: Option<PathBuf>,
    /// Make code again when the program changes its behaviour; adds --profile pep and cbs
    #[arg(long, help_heading = "Execution")]
    pub continuous: bool,
    /// What `holloway calibrate` found on this machine
    #[arg(long, value_name = "FILE", help_heading = "Execution")]
    pub calibration: Option<PathBuf>,
    /// How the blocks of machine code are ordered by a profile: pep (what the interpreter counted, and PEP sampled, if it runs), one-time
    /// (without PEP), exact=FILE (of --profile edges --profile-out), pep=FILE, flipped or flipped=FILE (the worst); or without one:
    /// aside (as in the program, but what runs seldom last), none
    #[arg(long, value_name = "PROFILE", default_value = "pep", help_heading = "Execution")]
    pub layout: Layout,
    /// By which calls methods are ordered in memory, those that call each other together: as --inline-profile; none leaves them in
    /// the order in which they were compiled
    #[arg(long, value_name = "PROFILE", default_value = "none", help_heading = "Execution")]
    pub method_order: GraphSource,
    /// Flags of inlining.
    #[command(flatten)]
    pub inline: InlineArguments,
    /// What the program sees as its seed
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        allow_negative_numbers = true,
        help_heading = "Execution"
    )]
    pub seed: i64,
    /// Place methods at any byte of a cache line, as this number decides, not at its beginning: code is faster in some places than in others,
    /// and who compares processes wants the average over many numbers
    #[arg(long, value_name = "N", help_heading = "Execution")]
    pub scatter: Option<u64>,
    /// Leave yieldpoints out of compiled code, to measure what they cost: it cannot be interrupted then
    #[arg(long, hide = true, help_heading = "Execution")]
    pub no_yieldpoints: bool,
    /// How the interpreter dispatches (for developers of the interpreter)
    #[arg(long, value_name = "HOW", hide = true, help_heading = "Execution")]
    pub dispatch: Option<DispatchArgument>,

    /// The most memory that objects may take, such as 64m or 1g
    #[arg(long, value_name = "SIZE", default_value = "1g", value_parser = values::heap_size, help_heading = "Limits")]
    pub heap: usize,
    /// How many calls may nest
    #[arg(long, value_name = "N", default_value_t = DEFAULT_STACK_DEPTH, value_parser = clap::value_parser!(u64).range(1..=DEEPEST_STACK), help_heading = "Limits")]
    pub stack_depth: u64,
    /// The most memory that machine code may take, such as 4m; beyond it the oldest code is evicted
    #[arg(long, value_name = "SIZE", default_value = "64m", value_parser = values::code_cache_size, help_heading = "Limits")]
    pub code_cache: usize,
    /// End the program after this time, such as 500ms, 2s or 1m
    #[arg(long, value_name = "DURATION", value_parser = values::duration, help_heading = "Limits")]
    pub time_limit: Option<Duration>,
    /// End the program after this many yieldpoints
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub fuel: Option<u64>,

    /// Where ticks come from: wall:DURATION, or virtual:N for one every N yieldpoints, which is repeatable, virtual:N~SEED for drawn distances
    #[arg(long, value_name = "SOURCE", default_value = "wall:20ms", value_parser = values::timer, help_heading = "Timer")]
    pub timer: TimerSource,

    /// Collect garbage at every Nth allocation, and overwrite the dead
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "1", help_heading = "Stress")]
    pub gc_stress: Option<NonZeroU32>,

    /// Leave compiled code at every Nth yieldpoint
    #[arg(long, value_name = "N", help_heading = "Stress")]
    pub deopt_every: Option<NonZeroU32>,
    /// Enter compiled loops at every back edge
    #[arg(long, help_heading = "Stress")]
    pub osr_every_backedge: bool,

    /// Report events while the program runs
    #[arg(long, value_name = "EVENTS", value_delimiter = ',', help_heading = "Output")]
    pub log: Vec<LogTopic>,
    /// Show what is compiled, as for `dump`: ir, ir:PASS, clif, plan or asm, of all methods or with =PATTERN of some
    #[arg(long, value_name = "STAGE[=PATTERN]", help_heading = "Output")]
    pub show: Vec<ShowRequest>,
    /// Where to write what --show asks for [default: standard error]
    #[arg(long, value_name = "FILE", requires = "show", help_heading = "Output")]
    pub show_to: Option<PathBuf>,
    /// Write the names of compiled code for Linux perf, to perf-PID.map in the folder where perf looks
    #[arg(long, help_heading = "Output")]
    pub perf_map: bool,
    /// Say at the end what the virtual machine did
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "text", help_heading = "Output")]
    pub stats: Option<StatisticsFormat>,

    /// The files that these flags ask for, once they are open.
    #[arg(skip)]
    pub outputs: Outputs,
    /// Flags of profiling.
    #[command(flatten)]
    pub profile: ProfileArguments,
    /// The same for what is learned.
    #[arg(skip)]
    pub learned: Learned,
    /// The same for the layout.
    #[arg(skip)]
    pub block_order: BlockOrder,
    /// The same for inlining.
    #[arg(skip)]
    pub inlining: InlineOptions,
    /// The calls by which methods are ordered.
    #[arg(skip)]
    pub methods_by: Option<CallSource>,
}

/// How a program is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Tier {
    /// The interpreter first; what is hot is compiled
    Adaptive,
    /// The interpreter only
    Interp,
    /// Everything is compiled, with trivial inlining only
    O0,
    /// Everything is compiled, with static inlining
    O1,
    /// Everything is compiled, as directed by the profile so far
    O2,
}

/// How the interpreter dispatches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum DispatchArgument {
    /// Handlers that jump to each other
    Tail,
    /// A loop around a match
    Loop,
}

/// What can be logged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum LogTopic {
    /// Every compilation
    Compile,
    /// Every decision about inlining
    Inline,
    /// Every time that compiled code is left
    Deopt,
    /// Every entry into a compiled loop
    Osr,
    /// Every collection of garbage
    Gc,
}

/// How `--stats` prints.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum StatisticsFormat {
    /// One number a line
    Text,
    /// One JSON object
    Json,
}

impl MachineArguments {
    /// Opens the files that these flags ask for. To be done before anything runs.
    pub fn open(&mut self) -> Result<(), Stop> {
        if self.tier == Tier::Interp && !self.show.is_empty() {
            return Err(Stop::usage("--show shows what is compiled, and with --tier interp nothing is"));
        }
        if self.tier != Tier::Adaptive && self.replay.is_some() {
            return Err(Stop::usage(
                "--replay says what is compiled, and so does --tier: leave one of them out",
            ));
        }
        if self.continuous && self.replay.is_some() {
            return Err(Stop::usage(
                "--replay says what is compiled, and --continuous compiles anew: leave one of them out",
            ));
        }
        if self.continuous && self.tier == Tier::Interp {
            return Err(Stop::usage(
                "--continuous is about compiled code, and with --tier interp there is none",
            ));
        }
        if self.tier == Tier::Interp && self.advice_out.is_some() {
            return Err(Stop::usage(
                "--advice-out tells what was compiled, and with --tier interp nothing is",
            ));
        }
        if let (Tier::Interp, Some(spec)) = (self.tier, self.profile.of_compiled_code()) {
            return Err(Stop::usage(format_args!(
                "--profile {spec} counts in compiled code, and with --tier interp there is none"
            )));
        }
        if let (Some(graph), Some(_)) = (self.inline.sampled(), &self.replay) {
            return Err(Stop::usage(format_args!(
                "--inline-profile {graph} samples while the program runs, and with --replay code is compiled before the program \
                 begins: use {graph}=FILE",
            )));
        }
        if self.method_order != GraphSource::None && self.tier == Tier::Interp {
            return Err(Stop::usage(
                "--method-order is about compiled code, and with --tier interp there is none",
            ));
        }
        self.add_profilers()?;
        self.profile.open()?;
        self.inlining = self.inline.open()?;
        self.methods_by = self.method_order.open_order()?;
        self.block_order = self.layout.open()?;
        self.outputs = Outputs::open(self.show_to.as_deref(), self.perf_map)?;
        self.learned =
            Learned::open(self.replay.as_deref(), self.calibration.as_deref(), self.advice_out.as_deref())?;
        Ok(())
    }

    /// Adds the profilers that other flags need.
    fn add_profilers(&mut self) -> Result<(), Stop> {
        let orders = Some(&self.method_order).filter(|graph| graph.is_sampled());
        let sampled: Vec<GraphSource> = self.inline.sampled().into_iter().chain(orders).cloned().collect();
        let by_paths = sampled.contains(&GraphSource::Pep);
        // First of all PEP: whether it runs decides about credit.
        if self.continuous || by_paths {
            self.profile.add_pep(self.continuous)?;
        }
        if self.continuous || !sampled.is_empty() {
            let credit = !sampled.is_empty() && self.profile.options()?.pep.is_some();
            self.profile.add_cbs(credit)?;
        }
        if by_paths && !self.profile.options()?.cbs.is_some_and(|cbs| cbs.credit) {
            return Err(Stop::usage(
                "a call graph by pep has credit for inlined calls, and the --profile cbs that was asked for gives none: add \
                 credit=paths to it",
            ));
        }
        Ok(())
    }

    /// The options of a virtual machine whose program sees `arguments` and writes to `output`.
    pub fn vm_options(&self, arguments: Vec<String>, output: Box<dyn Write + Send>) -> VmOptions {
        let gc_log: Option<holloway_vm::heap::Observer> = match self.log.contains(&LogTopic::Gc) {
            true => Some(Box::new(|report| say(format_args!("{report}\n")))),
            false => None,
        };
        VmOptions {
            heap: HeapConfig { limit: self.heap, stress: self.gc_stress, ..HeapConfig::default() },
            stack_depth: self.stack_depth,
            time_limit: self.time_limit,
            fuel: self.fuel,
            timer: self.timer,
            seed: self.seed,
            arguments,
            dispatch: match self.dispatch {
                None => Dispatch::default(),
                Some(DispatchArgument::Tail) => Dispatch::Tail,
                Some(DispatchArgument::Loop) => Dispatch::Loop,
            },
            output,
            gc_log,
            tiers: self.tier_options(),
            // What is wrong with them was said when the files were opened.
            profile: self.profile.options().unwrap_or_default(),
            hot_calls: self.profile.hot(),
        }
    }

    fn tier_options(&self) -> TierOptions {
        let compiler: Option<CompilerFactory> = match self.tier {
            Tier::Interp => None,
            _ => {
                let (show, outputs) = (self.show.clone(), self.outputs.clone());
                Some(Box::new(move |program, model| inspect::compiler(program, model, &show, &outputs)))
            }
        };
        let level = match self.tier {
            Tier::Adaptive | Tier::Interp => None,
            Tier::O0 => Some(Level::O0),
            Tier::O1 => Some(Level::O1),
            Tier::O2 => Some(Level::O2),
        };
        let topics = self.log.clone();
        let log = topics.iter().any(|topic| *topic != LogTopic::Gc).then(|| {
            Box::new(move |event: LogEvent, line: &str| {
                let (topic, name) = match event {
                    LogEvent::Compile => (LogTopic::Compile, "compile"),
                    LogEvent::Inline => (LogTopic::Inline, "inline"),
                    LogEvent::Deopt => (LogTopic::Deopt, "deopt"),
                    LogEvent::Osr => (LogTopic::Osr, "osr"),
                };
                if topics.contains(&topic) {
                    say(format_args!("{name}: {line}\n"));
                }
            }) as Log
        });
        let defaults = TierOptions::default();
        TierOptions {
            compiler,
            level,
            // Where a level is forced, what runs must not depend on when a thread finishes its work.
            synchronous: self.sync_compile || level.is_some(),
            method_threshold: if level.is_some() { 1 } else { defaults.method_threshold },
            loop_steps: if level.is_some() { 1 } else { defaults.loop_steps },
            code_cache: self.code_cache,
            block_order: self.block_order.clone(),
            inlining: self.inlining.clone(),
            method_order: self.methods_by.clone(),
            scatter: self.scatter,
            constants: self.learned.constants.clone().unwrap_or(defaults.constants),
            replay: self.learned.replay.clone(),
            replayed: None,
            continuous: self.continuous,
            digests: self.sync_compile || self.learned.wants_digests(),
            explains: false,
            yieldpoints: !self.no_yieldpoints,
            osr_every_backedge: self.osr_every_backedge,
            deopt_every: self.deopt_every.map(NonZeroU32::get),
            log,
            perf_map: self.outputs.perf_map.clone(),
        }
    }

    /// Those of these flags that a command line gives, in a form that another process of this binary understands.
    pub fn given(command_line: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
        let matches = CommandLine::command().try_get_matches_from(command_line).ok();
        let Some((_, matches)) = matches.as_ref().and_then(|matches| matches.subcommand()) else {
            return Vec::new();
        };
        let machine = MachineArguments::augment_args(clap::Command::new("flags"));
        let mut flags = Vec::new();
        for argument in machine.get_arguments() {
            let id = argument.get_id().as_str();
            let Some(long) = argument.get_long() else { continue };
            if matches.value_source(id) != Some(ValueSource::CommandLine) {
                continue;
            }
            match argument.get_action().takes_values() {
                false => flags.push(format!("--{long}").into()),
                true => flags.extend(matches.get_raw(id).into_iter().flatten().map(|value| {
                    let mut flag = OsString::from(format!("--{long}="));
                    flag.push(value);
                    flag
                })),
            }
        }
        flags
    }

    /// Reads these flags alone, as test cases give them.
    pub fn from_flags<'a>(flags: impl IntoIterator<Item = &'a str>) -> Result<MachineArguments, String> {
        /// A command line of nothing but these flags.
        #[derive(Parser)]
        #[command(no_binary_name = true)]
        struct Flags {
            #[command(flatten)]
            machine: MachineArguments,
        }
        Flags::try_parse_from(flags).map(|flags| flags.machine).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_declarations_are_consistent() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn the_defaults_are_those_of_the_virtual_machine() {
        let arguments = MachineArguments::from_flags([]).expect("no flags");
        let options = arguments.vm_options(Vec::new(), Box::new(std::io::sink()));
        let defaults = VmOptions::default();
        assert_eq!(options.heap.limit, defaults.heap.limit);
        assert_eq!(options.stack_depth, defaults.stack_depth);
        assert_eq!(options.timer, defaults.timer);
        assert_eq!(options.dispatch, defaults.dispatch);
        assert_eq!(options.seed, defaults.seed);
        assert!(options.fuel.is_none() && options.time_limit.is_none() && options.gc_log.is_none());
    }

    #[test]
    fn flags_can_be_handed_on() {
        let given = |line: &str| {
            let flags = MachineArguments::given(line.split(' ').map(OsString::from));
            flags.into_iter().map(|flag| flag.into_string().expect("text")).collect::<Vec<String>>()
        };
        assert_eq!(given("holloway bench cd --iterations 3 --json f").len(), 0);
        let line =
            "holloway bench cd --heap 64M --timer=virtual:7 --seed -3 --gc-stress --log gc,gc --tier interp";
        let flags = given(line);
        let read = |flags: &[String]| MachineArguments::from_flags(flags.iter().map(String::as_str));
        let written: Vec<String> = line.split(' ').skip(3).map(str::to_string).collect();
        let (read, expected) = (read(&flags).expect("flags"), read(&written).expect("flags"));
        assert_eq!(format!("{read:?}"), format!("{expected:?}"), "{flags:?}");
        assert!(flags.contains(&"--gc-stress=1".to_string()), "{flags:?}");
    }

    #[test]
    fn flags_with_optional_values() {
        let read = |flags: &[&str]| MachineArguments::from_flags(flags.iter().copied());
        assert_eq!(read(&["--stats"]).expect("stats").stats, Some(StatisticsFormat::Text));
        assert_eq!(read(&["--stats=json"]).expect("stats").stats, Some(StatisticsFormat::Json));
        assert_eq!(read(&["--gc-stress"]).expect("stress").gc_stress, NonZeroU32::new(1));
        assert_eq!(read(&["--gc-stress=7"]).expect("stress").gc_stress, NonZeroU32::new(7));
        assert!(read(&["--gc-stress=0"]).is_err());
        let refused = read(&["--tier", "o3"]).expect_err("no such tier");
        assert!(refused.contains("interp"), "{refused}");
    }
}
