//! Random programs by hand: printing them, running one, making one smaller, and counting what they cost.
//!
//! ```text
//! cargo run -p holloway-tests --example random -- print SEED
//! cargo run -p holloway-tests --example random -- check FILE-OR-SEED [MODE…]
//! cargo run -p holloway-tests --example random -- minimize SEED [MODE…]
//! cargo run -p holloway-tests --example random -- cost COUNT [SEED]
//! ```
//!
//! `minimize` runs every attempt in a process of its own, so that it also works for programs that bring the process
//! down. Modes are compared with the first one named, or with the first of all.

use holloway_tests::modes::{MODES, Mode};
use holloway_tests::random::campaign::{PATIENCE, failures_folder, with_comments};
use holloway_tests::random::differ::{Difference, Kind, Verdict, check, run_in};
use holloway_tests::random::generate;
use holloway_tests::random::minimize::minimize;
use holloway_tests::{difference, run};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// Exit codes of `check`, beside 0 for "all agree". A process that crashes has none of these.
const DIFFERS: u8 = 10;
const DISCARDED: u8 = 20;
const NO_PROGRAM: u8 = 21;

const USAGE: &str = "print SEED | check FILE-OR-SEED [MODE…] | minimize SEED [MODE…] | cost COUNT [SEED]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["print", seed] => number(seed).map(|seed| {
            print!("{}", generate(seed).tree.program_text());
            ExitCode::SUCCESS
        }),
        ["check", program, modes @ ..] => selected(modes).and_then(|modes| check_one(program, &modes)),
        ["minimize", seed, modes @ ..] => {
            number(seed).and_then(|seed| selected(modes).and_then(|modes| make_smaller(seed, &modes)))
        }
        ["cost", count] => number(count).map(|count| cost(count, 0)),
        ["cost", count, seed] => number(count).and_then(|count| Ok(cost(count, number(seed)?))),
        _ => Err(USAGE.to_string()),
    };
    done.unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::from(2)
    })
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("'{text}' is no number"))
}

/// The modes of these names, or all.
fn selected(names: &[&str]) -> Result<Vec<&'static Mode>, String> {
    if names.is_empty() {
        return Ok(MODES.iter().collect());
    }
    let find = |name: &&str| {
        MODES.iter().find(|mode| mode.name == *name).ok_or(format!("there is no mode '{name}'"))
    };
    names.iter().map(find).collect()
}

/// Runs a program and says what differs.
fn check_one(program: &str, modes: &[&Mode]) -> Result<ExitCode, String> {
    let text = match number(program) {
        Ok(seed) => generate(seed).tree.program_text(),
        Err(_) => std::fs::read_to_string(program).map_err(|error| format!("{program}: {error}"))?,
    };
    Ok(match check(&text, modes) {
        Verdict::Same => {
            println!("all modes agree");
            ExitCode::SUCCESS
        }
        Verdict::Discarded(reason) => {
            println!("ended: {reason}");
            ExitCode::from(DISCARDED)
        }
        Verdict::DoesNotCompile(errors) => {
            println!("{errors}");
            ExitCode::from(NO_PROGRAM)
        }
        Verdict::Different(found) => {
            println!("{} differs ({:?})", found.mode, found.kind);
            print!("{}", difference::difference(&found.expected, &found.actual));
            ExitCode::from(DIFFERS + found.kind as u8)
        }
    })
}

/// Makes the program of a seed smaller, with a process for every attempt.
fn make_smaller(seed: u64, modes: &[&Mode]) -> Result<ExitCode, String> {
    let folder = failures_folder();
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let attempt = folder.join(format!("attempt-{seed}.hol"));
    let names: Vec<&str> = modes.iter().map(|mode| mode.name).collect();
    // How a program fails: the exit code, or none for a process that was killed.
    let failure = |text: &str| -> Option<Option<i32>> {
        std::fs::write(&attempt, text).ok()?;
        let mut command = Command::new(std::env::current_exe().ok()?);
        command.arg("check").arg(&attempt).args(&names).stdout(Stdio::null()).stderr(Stdio::null());
        let code = command.status().ok()?.code();
        let harmless = [0, 2, DISCARDED.into(), NO_PROGRAM.into()];
        (!code.is_some_and(|code| harmless.contains(&code))).then_some(code)
    };
    let tree = generate(seed).tree;
    let Some(wanted) = failure(&tree.program_text()) else {
        println!("the modes agree about {seed}");
        return Ok(ExitCode::SUCCESS);
    };
    let small = minimize(&tree, 5 * PATIENCE, &mut |text| failure(text) == Some(wanted)).program_text();
    let path = folder.join(format!("{seed}.hol"));
    let text = match wanted {
        Some(_) => match check(&small, modes) {
            Verdict::Different(found) => with_comments(seed, &small, &found),
            _ => small,
        },
        None => {
            let actual = vec!["the process was killed".to_string()];
            let found = Difference { mode: "some mode", kind: Kind::Panic, expected: Vec::new(), actual };
            with_comments(seed, &small, &found)
        }
    };
    std::fs::write(&path, &text).map_err(|error| error.to_string())?;
    std::fs::remove_file(&attempt).map_err(|error| error.to_string())?;
    println!("{text}\n{}", path.display());
    Ok(ExitCode::SUCCESS)
}

/// What programs cost on average: generating, compiling, and running in each mode.
fn cost(count: u64, first: u64) -> ExitCode {
    let mut spent = vec![Duration::ZERO; 2 + MODES.len()];
    let mut lines = 0;
    for seed in first..first + count {
        let start = Instant::now();
        let text = generate(seed).tree.program_text();
        spent[0] += start.elapsed();
        lines += text.lines().count();
        let start = Instant::now();
        let Ok(program) = run::compile(Path::new("random.hol"), &text) else {
            println!("{seed} does not compile");
            continue;
        };
        spent[1] += start.elapsed();
        for (number, mode) in MODES.iter().enumerate() {
            let start = Instant::now();
            if let Err(error) = run_in(&program, mode, number == 0) {
                println!("{seed} in {}: {error}", mode.name);
            }
            spent[2 + number] += start.elapsed();
        }
    }
    let count = count.max(1);
    println!("{} lines", lines / count as usize);
    let names = ["generating", "compiling"].into_iter().chain(MODES.iter().map(|mode| mode.name));
    for (name, spent) in names.zip(spent) {
        println!("{:8.3} ms {name}", spent.as_secs_f64() * 1e3 / count as f64);
    }
    ExitCode::SUCCESS
}
