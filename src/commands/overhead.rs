//! `holloway overhead`: what a configuration of profilers costs against another, paired, in one process.

pub mod arguments;

use crate::compile::{compile, compile_file};
use crate::interrupt::Interrupt;
use crate::options::BenchSize;
use crate::profile::together;
use crate::report::{EXIT_PROGRAM, Stop, bar, cannot_write, color, say};
use arguments::OverheadArguments;
use holloway_benchmarks::embedded::Embedded;
use holloway_benchmarks::machine::Machine;
use holloway_benchmarks::overhead::arm::Host;
use holloway_benchmarks::overhead::record::Record;
use holloway_benchmarks::overhead::report;
use holloway_benchmarks::overhead::results::{Limits, ProgramResult, measure};
use holloway_benchmarks::overhead::rounds::Plan;
use holloway_benchmarks::overhead::subject::{Kind, Subject};
use holloway_benchmarks::record::RecordFile;
use holloway_benchmarks::registry::{BENCHMARKS, Benchmark, Suite, find};
use holloway_vm::VmOptions;
use holloway_vm::compiled::InlineBy;
use holloway_vm::profiling::ProfileSpec;
use holloway_vm::signals::InterruptHandle;
use indicatif::ProgressBar;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;
use std::sync::Arc;

/// Measures, and prints the tables on standard output. A program that fails does not keep the others from being measured;
/// after Ctrl-C, what was measured so far is reported.
pub fn overhead(mut arguments: OverheadArguments) -> Result<ExitCode, Stop> {
    arguments.check()?;
    let versus = together("--vs", &arguments.versus)?;
    arguments.machine.profile.compare_with(&versus);
    arguments.machine.open()?;
    let configurations = arguments.configurations()?;
    // Before the programs are compiled, which takes a while if they are many.
    let interrupt = Interrupt::new();
    interrupt.listen();
    let subjects = subjects(&arguments)?;
    if arguments.machine.replay.is_some() && subjects.len() != 1 {
        return Err(Stop::usage("--replay is about one program: name one"));
    }
    if (arguments.no_counts || arguments.whole_runs.is_some()) && arguments.rounds == 0 {
        let leaves = if arguments.no_counts { "--no-counts leaves" } else { "--whole-runs leave" };
        return Err(Stop::usage(format_args!(
            "--rounds 0 is for the counts alone, and {leaves} them out: name one of them"
        )));
    }
    let file = match &arguments.json {
        Some(path) => Some((path, RecordFile::create(path).map_err(|error| cannot_write(path, &error))?)),
        None => None,
    };
    let desk = Desk {
        arguments: &arguments,
        interrupt: interrupt.clone(),
        bar: bar(subjects.len() as u64, "{msg}"),
    };
    let plan = Plan {
        turns: arguments.turns.map(|turns| turns as usize),
        fresh: arguments.fresh,
        seed: arguments.order,
        slowdown: arguments.inject_slowdown.unwrap_or(0.0),
        whole: arguments.whole_runs,
    };
    let clocks = arguments.clock.clocks();
    let limits = Limits {
        precision: arguments.precision / 100.0,
        time: arguments.max_time,
        rounds: arguments.rounds as usize,
        sample: arguments.sample,
        clock: clocks[0],
        counts: !arguments.no_counts,
    };
    let mut results: Vec<ProgramResult> = Vec::new();
    for subject in &subjects {
        if interrupt.was_pressed() {
            break;
        }
        results.push(measure(subject, &desk, &configurations, plan, &limits));
        desk.bar.inc(1);
    }
    desk.bar.finish_and_clear();
    let names = |specs: Vec<ProfileSpec>| specs.iter().map(ToString::to_string).collect::<Vec<String>>();
    let (profile, base) =
        (names(configurations.profile.profile.specs()), names(configurations.base.profile.specs()));
    let machine = Machine::describe();
    let [of_profile, of_base] = code_of(&arguments);
    let mut shown = format!("{} against {}\n", title(&profile, &of_profile), title(&base, &of_base));
    for &clock in clocks {
        shown += &report::times(&results, clock);
    }
    shown += "\n";
    shown += &report::counts(&results);
    shown += &report::remarks(&results);
    shown += &format!("{machine}\n");
    let lost = std::io::stdout().write_all(shown.as_bytes()).and_then(|()| std::io::stdout().flush()).err();
    if let Some((path, file)) = file {
        let record = Record::new(machine, options(&arguments), profile, base, &results);
        file.finish(&record).map_err(|error| cannot_write(path, &error))?;
    }
    if interrupt.was_pressed() {
        say(format_args!("interrupted\n"));
    }
    if let Some(error) = lost.as_ref().filter(|error| error.kind() != ErrorKind::BrokenPipe) {
        say(format_args!("error: cannot write the table: {error}\n"));
    }
    let good = results.len() == subjects.len() && results.iter().all(|result| result.failure.is_none());
    Ok(if good && lost.is_none() { ExitCode::SUCCESS } else { EXIT_PROGRAM.into() })
}

/// What the machinery asks of the command line.
struct Desk<'a> {
    arguments: &'a OverheadArguments,
    interrupt: Arc<Interrupt>,
    bar: ProgressBar,
}

impl Host for Desk<'_> {
    fn options(&self, arguments: Vec<String>, output: Box<dyn Write + Send>) -> VmOptions {
        self.arguments.machine.vm_options(arguments, output)
    }

    fn running(&self, handle: InterruptHandle) {
        self.interrupt.watch(handle);
    }

    fn is_stopped(&self) -> bool {
        self.interrupt.was_pressed()
    }

    fn progress(&self, text: &str) {
        self.bar.set_message(text.to_string());
    }
}

/// The programs that are named, compiled.
fn subjects(arguments: &OverheadArguments) -> Result<Vec<Subject>, Stop> {
    let mut subjects = Vec::new();
    for name in &arguments.names {
        let benchmarks: Vec<&'static Benchmark> = match (name.as_str(), Suite::named(name)) {
            ("all", _) => BENCHMARKS.iter().collect(),
            (_, Some(suite)) => suite.benchmarks().collect(),
            _ if name.ends_with(".hol") => {
                let program = Arc::new(compile_file(name)?);
                let kind = Kind::File(arguments.arguments.clone());
                subjects.push(Subject { name: name.clone(), program, kind, repeats: false });
                continue;
            }
            _ => vec![find(name).map_err(|why| {
                let suites = Suite::ALL.map(Suite::folder).join(", ");
                Stop::usage(format_args!(
                    "{why}\nthe suites are: {suites}, all; the name of a file ends in .hol"
                ))
            })?],
        };
        for benchmark in benchmarks {
            subjects.push(of_suite(benchmark, arguments.size)?);
        }
    }
    let of_suites = subjects.iter().any(|subject| subject.size().is_some());
    if of_suites && !arguments.arguments.is_empty() {
        return Err(Stop::usage("arguments behind -- are for files; benchmark programs have --size"));
    }
    Ok(subjects)
}

fn of_suite(benchmark: &'static Benchmark, size: BenchSize) -> Result<Subject, Stop> {
    let size = match size {
        BenchSize::Default => benchmark.default_size,
        BenchSize::Quick => benchmark.quick_size,
        BenchSize::Number(number) => number,
    };
    let program = compile(&benchmark.file(), &Embedded, color()).map_err(Stop::compile)?;
    let (name, kind) = (benchmark.name.to_string(), Kind::Suite(benchmark, size));
    let repeats = benchmark.size_counts == "repetitions";
    Ok(Subject { name, program: Arc::new(program), kind, repeats })
}

fn title(specs: &[String], code: &[String]) -> String {
    let specs = if specs.is_empty() { "no profiler".into() } else { specs.join(" with ") };
    std::iter::once(&specs).chain(code).map(String::as_str).collect::<Vec<_>>().join(" and ")
}

/// How the code of the two configurations is made, as far as that is compared.
fn code_of(arguments: &OverheadArguments) -> [Vec<String>; 2] {
    let machine = &arguments.machine;
    let mut both = [Vec::new(), Vec::new()];
    let mut add = |words: [String; 2]| both.iter_mut().zip(words).for_each(|(side, words)| side.push(words));
    if arguments.vs_layout.is_some() {
        add([&machine.layout, arguments.base_layout()].map(|layout| format!("layout {layout}")));
    }
    if arguments.vs_inline.is_some() || arguments.vs_inline_profile.is_some() {
        add([&machine.inline, &arguments.base_inline()].map(|inlining| {
            match matches!(inlining.inline.0, InlineBy::Calls(_)) {
                true => format!("inlining {} by {}", inlining.inline, inlining.inline_profile),
                false => format!("inlining {}", inlining.inline),
            }
        }));
    }
    if machine.continuous {
        add(["code made again when the program changes".into(), "code made once".into()]);
    }
    if arguments.vs_method_order.is_some() {
        add([&machine.method_order, arguments.base_method_order()]
            .map(|by| format!("methods ordered by {by}")));
    }
    both
}

/// The flags that may matter to whoever reads the file.
fn options(arguments: &OverheadArguments) -> BTreeMap<&'static str, String> {
    let machine = &arguments.machine;
    let mut options = BTreeMap::from([
        ("precision", arguments.precision.to_string()),
        ("max_time", format!("{:?}", arguments.max_time)),
        ("rounds", arguments.rounds.to_string()),
        ("clock", format!("{:?}", arguments.clock).to_lowercase()),
        ("order", arguments.order.to_string()),
        ("tier", format!("{:?}", machine.tier).to_lowercase()),
        ("heap_bytes", machine.heap.to_string()),
        ("timer", format!("{:?}", machine.timer).to_lowercase()),
        ("seed", machine.seed.to_string()),
        ("layout", machine.layout.to_string()),
        ("vs_layout", arguments.base_layout().to_string()),
        ("method_order", machine.method_order.to_string()),
        ("vs_method_order", arguments.base_method_order().to_string()),
        ("inline", machine.inline.inline.to_string()),
        ("inline_profile", machine.inline.inline_profile.to_string()),
        ("vs_inline", arguments.base_inline().inline.to_string()),
        ("vs_inline_profile", arguments.base_inline().inline_profile.to_string()),
    ]);
    options.extend(arguments.turns.map(|turns| ("turns", turns.to_string())));
    if arguments.whole_runs.is_none() {
        options.insert("sample", format!("{:?}", arguments.sample));
    }
    options.extend(arguments.whole_runs.map(|length| ("whole_runs", format!("{length:?}"))));
    options.extend(machine.continuous.then(|| ("continuous", true.to_string())));
    options.extend(arguments.fresh.then(|| ("fresh", true.to_string())));
    options.extend(arguments.inject_slowdown.map(|percent| ("inject_slowdown", percent.to_string())));
    options
}
