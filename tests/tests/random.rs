//! Random programs, in all modes. `RANDOM_PROGRAMS=20000` runs more of them, `RANDOM_SEED=7` begins elsewhere, and
//! `RANDOM_MODES=tail,gc-stress` runs only some modes, of which the first is the reference.

use holloway_tests::modes::{MODES, Mode};
use holloway_tests::random::campaign::{Campaign, failures_folder};
use holloway_tests::random::feature::Feature;
use holloway_tests::random::generate;
use std::time::Instant;

/// Programs that a plain `cargo test` runs.
const PROGRAMS: usize = 300;

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
            .map(|name| MODES.iter().find(|mode| mode.name == name).unwrap_or_else(|| panic!("no mode {name}")))
            .collect(),
    }
}

#[test]
fn all_modes_agree() {
    let first_seed = number("RANDOM_SEED", 0);
    let count = number("RANDOM_PROGRAMS", PROGRAMS as u64) as usize;
    let modes = modes();
    let started = Instant::now();
    let discarded = Campaign { first_seed, count, modes: &modes, folder: failures_folder() }.run();
    println!(
        "{count} programs from seed {first_seed} on in {} modes, {discarded} ended by a limit, {:.1} s",
        modes.len(),
        started.elapsed().as_secs_f64()
    );
}

#[test]
fn everything_occurs() {
    let mut counts = vec![0; Feature::ALL.len()];
    for seed in 0..PROGRAMS as u64 {
        for feature in generate(seed).features {
            counts[feature as usize] += 1;
        }
    }
    let mut seldom = Vec::new();
    for (&feature, &count) in Feature::ALL.iter().zip(&counts) {
        let (percent, least) = (count * 100 / PROGRAMS, feature.least_percent());
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
