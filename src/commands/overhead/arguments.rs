//! The flags of `holloway overhead`, and what of the flags of a machine makes no sense there.

use crate::inline::{Chooser, GraphSource, InlineArguments};
use crate::layout::Layout;
use crate::options::{BenchSize, MachineArguments, Tier};
use crate::profile::together;
use crate::report::Stop;
use crate::values;
use clap::{Args, ValueEnum};
use holloway_benchmarks::overhead::arm::Configuration;
use holloway_benchmarks::overhead::results::Clock;
use holloway_benchmarks::overhead::rounds::Configurations;
use holloway_vm::compiled::InlineBy;
use holloway_vm::profiling::ProfileSpec;
use std::path::PathBuf;
use std::time::Duration;

/// `holloway overhead`.
#[derive(Args, Debug)]
#[command(after_help = "\
Three machines of the same program live in one process and take turns after every sample: one without the profiler, one with it,
and another without it, whose distance from the first (A/A) is the noise. All replay the same compilations, but for --whole-runs. See docs/measuring.md.

Examples:
  holloway overhead richards --profile pep
  holloway overhead awfy --profile edges --profile blpp     both together, all programs of the suite
  holloway overhead cd --profile blpp --vs edges            what paths cost more than edges
  holloway overhead decoder --layout flipped --vs-layout one-time   what the order of blocks is worth
  holloway overhead tokenizer --whole-runs 4s --continuous  what adapting costs and brings, from the first instruction on
  holloway overhead all --profile pep --json pep.json --max-time 2m
  holloway overhead mine.hol --profile blpp -- 1000         a run of main is an iteration")]
pub struct OverheadArguments {
    /// Benchmark programs, suites (`awfy`, `jgf`, `phased`, `probes`, `apps`, `all`), or files
    #[arg(value_name = "NAME|SUITE|FILE", required = true)]
    pub names: Vec<String>,
    /// Arguments of the program, if it is a file
    #[arg(last = true, value_name = "ARGS")]
    pub arguments: Vec<String>,
    /// With which configuration to compare, in the form of --profile (may be given several times) [default: no profiler]
    #[arg(long = "vs", value_name = "SPEC", help_heading = "Profiling")]
    pub versus: Vec<ProfileSpec>,
    /// With which layout to compare, in the form of --layout [default: the same]
    #[arg(long, value_name = "PROFILE", help_heading = "Profiling")]
    pub vs_layout: Option<Layout>,
    /// With which policy of inlining to compare, in the form of --inline [default: the same]
    #[arg(long, value_name = "POLICY", help_heading = "Profiling")]
    pub vs_inline: Option<Chooser>,
    /// With which call graph for it, in the form of --inline-profile [default: the same]
    #[arg(long, value_name = "PROFILE", help_heading = "Profiling")]
    pub vs_inline_profile: Option<GraphSource>,
    /// With which order of methods in memory to compare, in the form of --method-order [default: the same]
    #[arg(long, value_name = "PROFILE", help_heading = "Profiling")]
    pub vs_method_order: Option<GraphSource>,
    /// The size of benchmark programs: `default`, `quick`, or a number that every named program knows
    #[arg(long, value_name = "SIZE", default_value = "default", help_heading = "Measuring")]
    pub size: BenchSize,
    /// A program is done when its interval is so many percent wide, from end to end
    #[arg(long, value_name = "PERCENT", default_value = "0.3", value_parser = percent, help_heading = "Measuring")]
    pub precision: f64,
    /// Or when it was measured for so long, and for two rounds
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = values::duration, help_heading = "Measuring")]
    pub max_time: Duration,
    /// Or after so many rounds, each with new machines; 0 for the counts alone
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(0..=100_000), help_heading = "Measuring")]
    pub rounds: u32,
    /// Only times: do not count what each configuration adds to the code and does in an iteration
    #[arg(long, help_heading = "Measuring")]
    pub no_counts: bool,
    /// How many samples each machine of a round gives [default: as many as take a quarter of a second]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = "Measuring")]
    pub turns: Option<u32>,
    /// Compile everything again in each round, for who wants to know what compiling takes; otherwise all rounds have the code of the
    /// first
    #[arg(long, help_heading = "Measuring")]
    pub fresh: bool,
    /// Whole runs of so long, from the first instruction on, instead of the steady state of machines that replay: each finds out for
    /// itself what to compile, and all of it counts. With --continuous those that are compared with make nothing again
    #[arg(long, value_name = "DURATION", value_parser = values::duration, conflicts_with_all = ["fresh", "turns", "sample"], help_heading = "Measuring")]
    pub whole_runs: Option<Duration>,
    /// How long a sample shall be, at least the least that the program can do
    #[arg(long, value_name = "DURATION", default_value = "1ms", value_parser = values::duration, help_heading = "Measuring")]
    pub sample: Duration,
    /// Which time decides, and is printed
    #[arg(long, value_name = "CLOCK", default_value = "cpu", help_heading = "Measuring")]
    pub clock: ClockArgument,
    /// Another number, another order of everything
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Measuring")]
    pub order: u64,
    /// Write all samples, ratios and counts, and a description of the machine, to this file
    #[arg(long, value_name = "FILE", help_heading = "Measuring")]
    pub json: Option<PathBuf>,
    /// Make the profiled machine slower by so many percent, to see whether it is found
    #[arg(long, value_name = "PERCENT", value_parser = percent, hide = true)]
    pub inject_slowdown: Option<f64>,
    /// Flags of the virtual machine.
    #[command(flatten)]
    pub machine: MachineArguments,
}

/// Which time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ClockArgument {
    /// That of the processor for the thread, which others disturb less
    Cpu,
    /// That of the clock
    Wall,
    /// Both are printed, that of the processor decides
    Both,
}

impl ClockArgument {
    /// Those that are printed; the first decides.
    pub fn clocks(self) -> &'static [Clock] {
        match self {
            ClockArgument::Cpu => &[Clock::Cpu],
            ClockArgument::Wall => &[Clock::Wall],
            ClockArgument::Both => &[Clock::Cpu, Clock::Wall],
        }
    }
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').trim_end().parse::<f64>();
    match number {
        Ok(number) if number > 0.0 && number <= 1000.0 => Ok(number),
        _ => Err("it is a number of percent, such as 0.3".into()),
    }
}

impl OverheadArguments {
    /// Refuses flags that would measure something else, or nothing.
    pub fn check(&self) -> Result<(), Stop> {
        let machine = &self.machine;
        let refused = [
            ("--tier interp", machine.tier == Tier::Interp, "profilers work in compiled code"),
            ("--profile-out", machine.profile.out.is_some(), "use it with `run`"),
            ("--advice-out", machine.advice_out.is_some(), "use it with `run` or `bench`"),
            ("--stats", machine.stats.is_some(), "the numbers are in the file of --json"),
            ("--log", !machine.log.is_empty(), "many machines would talk; use it with `run`"),
            ("--show", !machine.show.is_empty(), "many machines would talk; use it with `run`"),
            ("--scatter", machine.scatter.is_some(), "code is moved before every sample in any case"),
            ("--fuel", machine.fuel.is_some(), "every yieldpoint would be taken"),
            ("--timer virtual", machine.timer.yieldpoints().is_some(), "every yieldpoint would be taken"),
            ("--gc-stress", machine.gc_stress.is_some(), "it would be most of the time"),
            ("--deopt-every", machine.deopt_every.is_some(), "every yieldpoint would be taken"),
            ("--osr-every-backedge", machine.osr_every_backedge, "every yieldpoint would be taken"),
        ];
        if let Some((flag, _, why)) = refused.iter().find(|(_, given, _)| *given) {
            return Err(Stop::usage(format_args!("overhead cannot be measured with {flag}: {why}")));
        }
        if machine.continuous && self.whole_runs.is_none() {
            return Err(Stop::usage(
                "--continuous makes code again while the program runs, and here code is compiled before the program begins: \
                 add --whole-runs 4s",
            ));
        }
        if machine.replay.is_some() && self.whole_runs.is_some() {
            return Err(Stop::usage(
                "--replay says what is compiled, and in --whole-runs each machine finds that out: leave one of them out",
            ));
        }
        if let Some(graph) = machine.inline.sampled().or(self.base_inline().sampled()) {
            return Err(Stop::usage(format_args!(
                "--inline-profile {graph} samples while the program runs, and here code is compiled before the program begins: \
                 use {graph}=FILE",
            )));
        }
        if let Some(graph) = self.vs_method_order.as_ref().filter(|graph| graph.is_sampled()) {
            return Err(Stop::usage(format_args!(
                "--vs-method-order {graph} would sample calls in the machine that others are compared with: use {graph}=FILE",
            )));
        }
        let code = self.vs_layout.is_some()
            || self.vs_inline.is_some()
            || self.vs_inline_profile.is_some()
            || self.vs_method_order.is_some();
        let is_plain = machine.profile.specs.is_empty() && !machine.continuous;
        if is_plain && self.inject_slowdown.is_none() && !code {
            let why = "what is to be measured: add --profile, such as --profile pep, --vs-layout, --vs-inline or \
                       --vs-method-order";
            return Err(Stop::usage(why));
        }
        Ok(())
    }

    /// The layout of the configuration with which is compared.
    pub fn base_layout(&self) -> &Layout {
        self.vs_layout.as_ref().unwrap_or(&self.machine.layout)
    }

    /// The order of methods of the configuration with which is compared.
    pub fn base_method_order(&self) -> &GraphSource {
        self.vs_method_order.as_ref().unwrap_or(&self.machine.method_order)
    }

    /// Who chooses what is inlined in the configuration with which is compared.
    pub fn base_inline(&self) -> InlineArguments {
        let InlineArguments { inline, inline_profile, .. } = self.machine.inline.clone();
        let inline = self.vs_inline.unwrap_or(inline);
        let asks = matches!(inline.0, InlineBy::Calls(_));
        let same = if asks { inline_profile } else { GraphSource::default() };
        let inline_profile = self.vs_inline_profile.clone().unwrap_or(same);
        InlineArguments { inline, inline_profile, ..self.machine.inline.clone() }
    }

    /// What is compared. The files that flags name are open.
    pub fn configurations(&self) -> Result<Configurations, Stop> {
        let machine = &self.machine;
        let order = match &self.vs_layout {
            Some(layout) => layout.open()?,
            None => machine.block_order.clone(),
        };
        let methods = match &self.vs_method_order {
            Some(source) => source.open_order()?,
            None => machine.methods_by.clone(),
        };
        Ok(Configurations {
            profile: Configuration {
                profile: machine.profile.options()?,
                order: machine.block_order.clone(),
                inlining: machine.inlining.clone(),
                methods: machine.methods_by.clone(),
                continuous: machine.continuous,
            },
            base: Configuration {
                profile: together("--vs", &self.versus)?,
                order,
                inlining: self.base_inline().open()?,
                methods,
                continuous: false,
            },
        })
    }
}
