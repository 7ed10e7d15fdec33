//! `holloway bench --against`: our programs and the originals in other languages, in turns. What is done, and why so, is in
//! [`holloway_benchmarks::against`]; here are the flags, and what the user sees meanwhile.

use super::{finish, options, prepare, save};
use crate::interrupt::Interrupt;
use crate::options::{BenchArguments, BenchSize, MachineArguments};
use crate::report::{Stop, bar, color_for, say};
use holloway_benchmarks::against::builds::Places;
use holloway_benchmarks::against::ours::Ours;
use holloway_benchmarks::against::peers::{self, PEERS, Peer, Ready};
use holloway_benchmarks::against::process::Bounds;
use holloway_benchmarks::against::programs::{Program, select};
use holloway_benchmarks::against::ratios::Ratios;
use holloway_benchmarks::against::record::Record;
use holloway_benchmarks::against::report::{PeerName, show};
use holloway_benchmarks::against::rounds::{Compared, Phase, Plan, Side, compare};
use holloway_benchmarks::machine::Machine;
use indicatif::ProgressBar;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Rounds if nobody says how many: of whole processes, and of single iterations, which take less time and differ more.
const ROUNDS: u64 = 5;
const FIRST_ROUNDS: u64 = 15;
/// How long a process may take if `--time-limit` does not say it.
const LIMIT: Duration = Duration::from_secs(120);
/// How much longer a process of ours may take, which knows of the limit and says more about its end than we could.
const GRACE: Duration = Duration::from_secs(10);
/// Iterations of a process of ours that are enough for the compiler to be done with the program.
const FEWEST_ITERATIONS: u64 = 5;

/// Compares, and prints the table on standard output. What fails does not keep the others from being compared; after
/// Ctrl-C, what was measured so far is reported.
pub fn against(folder: &Path, arguments: &BenchArguments) -> Result<ExitCode, Stop> {
    let programs = select(&arguments.names).map_err(Stop::usage)?;
    let checkout = peers::checkout(folder).map_err(Stop::usage)?;
    let file = prepare(arguments.json.as_deref())?;
    let interrupt = Interrupt::new();
    interrupt.listen();
    let stop = || interrupt.was_pressed();
    let bounds = Bounds { limit: arguments.machine.time_limit.unwrap_or(LIMIT), stop: &stop };
    let cannot = |what: &str, error| Stop::failure(format_args!("cannot {what}: {error}"));
    let places = Places::new().map_err(|error| cannot("make a temporary folder", error))?;
    let ready = ready(&arguments.comparison.peers, &checkout, &places, bounds)?;
    let ours = Ours {
        executable: std::env::current_exe().map_err(|error| cannot("find this program", error))?,
        flags: MachineArguments::given(std::env::args_os()),
        folder: places.scratch.clone(),
    };
    let plan = plan(arguments);
    let progress = bar(programs.len() as u64 * plan.rounds * (2 + ready.len() as u64), "{msg}");
    let mut compared = Vec::new();
    let mut finished = true;
    for program in programs {
        if !finished || stop() {
            finished = false;
            break;
        }
        let size = size(program, arguments.size);
        let (result, all) = one(program, size, plan, &ours, &ready, bounds, &progress);
        compared.push(result);
        finished = all;
    }
    progress.finish_and_clear();
    let ratios = Ratios::new(&compared, ready.len());
    let names: Vec<PeerName> = ready.iter().map(name).collect();
    let machine = Machine::describe();
    let mut shown = show(&compared, &ratios, &names, plan, color_for(&std::io::stdout()));
    shown.push_str(&format!("{machine}\n"));
    let record = Record::new(machine, options(arguments), plan, &compared, &ratios, &names);
    let good = finished && compared.iter().all(|compared| compared.complete(plan.rounds));
    finish(&shown, || save(file, arguments, |file| file.finish(&record)), good, &interrupt)
}

fn plan(arguments: &BenchArguments) -> Plan {
    let comparison = &arguments.comparison;
    let (phase, rounds) = match comparison.first {
        true => (Phase::First, FIRST_ROUNDS),
        false => (Phase::Steady(arguments.iterations), ROUNDS),
    };
    Plan { phase, rounds: comparison.rounds.unwrap_or(rounds) }
}

fn size(program: &Program, size: BenchSize) -> u64 {
    match size {
        BenchSize::Default => program.size,
        BenchSize::Quick => program.quick_size,
        BenchSize::Number(number) => number,
    }
}

fn name((peer, ready): &(&Peer, Ready)) -> PeerName {
    PeerName { name: peer.name.to_string(), version: ready.version.clone() }
}

/// The peers asked for, all of which must be there; or those that are there, with a word on each of the others.
fn ready(
    names: &[String],
    checkout: &Path,
    places: &Places,
    bounds: Bounds<'_>,
) -> Result<Vec<(&'static Peer, Ready)>, Stop> {
    let wanted = |peer: &&Peer| match names.is_empty() {
        true => peer.default,
        false => names.iter().any(|name| name == peer.name),
    };
    let mut found = Vec::new();
    for peer in PEERS.iter().filter(wanted) {
        let prepared = peer.prepare(checkout, places, bounds);
        if (bounds.stop)() {
            return Err(Stop::failure("interrupted"));
        }
        match prepared {
            Ok(ready) => found.push((peer, ready)),
            Err(reason) if !names.is_empty() => {
                return Err(Stop::failure(format_args!("cannot compare with {}: {reason}", peer.name)));
            }
            Err(reason) => say(format_args!("without {}: {reason}\n", peer.name)),
        }
    }
    match found.is_empty() {
        true => Err(Stop::failure("there is nobody to compare with")),
        false => Ok(found),
    }
}

/// All rounds of one program. False if the user stopped it.
fn one(
    program: &'static Program,
    size: u64,
    plan: Plan,
    ours: &Ours,
    ready: &[(&'static Peer, Ready)],
    bounds: Bounds<'_>,
    progress: &ProgressBar,
) -> (Compared, bool) {
    let sides: Vec<Side> = ready
        .iter()
        .enumerate()
        .map(|(index, (peer, _))| Side { peer: Some(index), fewest_iterations: peer.fewest_iterations })
        .collect();
    let mut announce = |side: Side, round: Option<u64>| {
        let who = side.peer.map_or("ours", |index| ready[index].0.name);
        progress.set_message(match round {
            Some(round) => format!("{}: {who}, round {round} of {}", program.name, plan.rounds),
            None => format!("{}: {who}, trying", program.name),
        });
        progress.inc(u64::from(round.is_some()));
    };
    let mut measure = |side: Side, iterations: u64| match side.peer {
        None => {
            let bounds = Bounds { limit: bounds.limit.saturating_add(GRACE), ..bounds };
            ours.measure(program, size, iterations, bounds)
        }
        Some(index) => ready[index].1.measure(program, size, iterations, bounds),
    };
    let own = Side { peer: None, fewest_iterations: FEWEST_ITERATIONS };
    compare(program, size, plan, own, &sides, &mut announce, &mut measure)
}
