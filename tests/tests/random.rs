//! Random programs, in all modes. `RANDOM_PROGRAMS=20000` runs more of them, `RANDOM_SEED=7` begins elsewhere, and
//! `RANDOM_MODES=tail,gc-stress` runs only some modes, of which the first is the reference.

use holloway_tests::modes::{MODES, Mode};
use holloway_tests::random::campaign::{Campaign, failures_folder};
use holloway_tests::random::differ::{Verdict, check};
use holloway_tests::random::feature::Feature;
use holloway_tests::random::generate;
use std::io::Write;
use std::panic::catch_unwind;
use std::time::{Duration, Instant};

/// Programs that a plain `cargo test` runs.
const PROGRAMS: usize = 20_000;
/// Each in so many modes besides the reference, in turns; with `RANDOM_PROGRAMS`, in all.
const EACH: usize = 1;
/// A plain `cargo test` begins no more of them after this time, for machines that are slow.
const TIME: Duration = Duration::from_secs(80);
/// Of so many programs the features are counted.
const COUNTED: usize = 300;

fn number(variable: &str, otherwise: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")),
        Err(_) => otherwise,
    }
}

/// The modes that `RANDOM_MODES` names, or all.
fn modes() -> Vec<&'static Mode> {
    match std::env::var("RANDOM_MODES") {
        Err(_) => MODES.iter().collect(),
        Ok(names) => names
            .split(',')
            .map(|name| {
                MODES.iter().find(|mode| mode.name == name).unwrap_or_else(|| panic!("no mode {name}"))
            })
            .collect(),
    }
}

#[test]
fn all_modes_agree() {
    let first_seed = number("RANDOM_SEED", 0);
    let asked = std::env::var_os("RANDOM_PROGRAMS").is_some();
    let count = number("RANDOM_PROGRAMS", PROGRAMS as u64) as usize;
    let time = (!asked).then_some(TIME);
    let modes = modes();
    let started = Instant::now();
    let each = if asked { usize::MAX } else { EACH };
    let summary = Campaign { first_seed, count, modes: &modes, each, time, folder: failures_folder() }.run();
    println!(
        "{} programs from seed {first_seed} on in {} modes (each in {} besides the first), {} ended by a limit, {:.1} s",
        summary.ran,
        modes.len(),
        each.min(modes.len() - 1),
        summary.discarded,
        started.elapsed().as_secs_f64()
    );
}

#[test]
fn everything_occurs() {
    let mut counts = vec![0; Feature::ALL.len()];
    for seed in 0..COUNTED as u64 {
        for feature in generate(seed).features {
            counts[feature as usize] += 1;
        }
    }
    let mut seldom = Vec::new();
    for (&feature, &count) in Feature::ALL.iter().zip(&counts) {
        let (percent, least) = (count * 100 / COUNTED, feature.least_percent());
        println!("{percent:3} % (at least {least:2} %) {}", feature.description());
        if percent < least {
            seldom.push(format!("{feature:?}: {percent} % instead of {least} %"));
        }
    }
    assert!(seldom.is_empty(), "too seldom: {}", seldom.join(", "));
}

#[test]
fn a_seed_is_a_program() {
    for seed in 0..20 {
        assert_eq!(generate(seed).tree.program_text(), generate(seed).tree.program_text());
    }
}

/// A mode that is wrong on purpose: whatever prints two sevens in a row prints more than it should. From outside, a
/// mistake in compiled code looks like this.
const WRONG: Mode = Mode {
    name: "wrong",
    apply: |options| {
        let output = std::mem::replace(&mut options.output, Box::new(std::io::sink()));
        options.output = Box::new(Tampering(output));
    },
};

struct Tampering(Box<dyn Write + Send>);

impl Write for Tampering {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if bytes.windows(2).any(|pair| pair == b"77") {
            self.0.write_all(b"tampered ")?;
        }
        self.0.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

#[test]
fn a_wrong_mode_is_found_and_its_program_made_small() {
    let modes = [&MODES[0], &WRONG];
    let differs =
        |text: &str| matches!(check(text, &modes), Verdict::Different(found) if found.mode == "wrong");
    let seed = (0..100).find(|&seed| differs(&generate(seed).tree.program_text())).expect("some print 77");
    let folder = failures_folder().join("wrong-on-purpose");
    let campaign =
        Campaign { first_seed: seed, count: 1, modes: &modes, each: 1, time: None, folder: folder.clone() };
    let report = catch_unwind(|| campaign.run()).expect_err("the campaign must fail");
    let report = report.downcast_ref::<String>().expect("a message");
    assert_eq!(report, "1 of 1 failed");
    let written =
        std::fs::read_to_string(folder.join(format!("{seed}.hol"))).expect("the failure is written down");
    let (program, comments) = written.split_once("\n// the reference:").expect("what the reference did");
    assert!(comments.contains("// wrong:") && comments.contains("tampered"), "{written}");
    // Two sevens come and go with every edit, so that this is no easy case.
    assert!(program.lines().count() < 60, "{written}");
    assert!(differs(&written), "{written}");
    assert!(std::fs::remove_dir_all(&folder).is_ok());
}
