//! Passes over random regions: what can be seen from outside does not change, and the verifier finds nothing. `SEED=n`
//! runs one region only and prints it before and after; `SEEDS=n` runs so many.

mod support;

use holloway_jit::hierarchy::Hierarchy;
use holloway_jit::ir::{self, Region};
use holloway_jit::options::{Level, Options};
use holloway_jit::passes::{self, Input, Notes, Pass};
use holloway_vm::compiled::NoProfile;
use support::evaluate::{Event, evaluate};
use support::random::{Rng, arguments, program, region};

/// Nodes that a run may execute before it is given up.
const FUEL: usize = 100_000;

/// Passes that keep every check where it is, or remove it because it cannot fail.
const STEADY: [&str; 7] = ["simplify", "params", "blocks", "dead", "gvn", "conditions", "memory"];

/// Passes that may leave compiled code sooner than it would have been left, if at all.
const EAGER: [&str; 1] = ["licm"];

#[test]
fn passes_change_nothing_that_can_be_seen() {
    let program = program();
    let hierarchy = Hierarchy::of(&program);
    let options = Options::of(Level::O2);
    let input = Input { program: &program, hierarchy: &hierarchy, profile: &NoProfile, options: &options };
    let passes: Vec<&Pass> = STEADY.iter().chain(&EAGER).filter_map(|name| passes::by_name(name)).collect();
    let only: Option<u64> = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok());
    let count = std::env::var("SEEDS").ok().and_then(|count| count.parse().ok()).unwrap_or(2000);
    for seed in only.map_or(0..count, |seed| seed..seed + 1) {
        let mut rng = Rng(seed);
        let before = region(&mut rng, &program);
        if only.is_some() {
            println!("{}", ir::print(&before, &program));
        }
        assert_eq!(ir::verify(&before, &program), Ok(()), "SEED={seed}");
        round_trips(&before, &program, seed);
        let mut after = before.clone();
        let mut done = Vec::new();
        for _ in 0..8 {
            let pass = rng.pick(&passes);
            done.push(pass.name);
            let old = after.clone();
            let changed = (pass.run)(&mut after, &input, &mut Notes::default());
            assert_eq!(ir::verify(&after, &program), Ok(()), "SEED={seed} {done:?}");
            assert!(
                changed || ir::print(&old, &program) == ir::print(&after, &program),
                "SEED={seed} {done:?}"
            );
            same_events(&old, &after, &mut rng, &done[done.len() - 1..], &format!("SEED={seed} {done:?}"));
        }
        if only.is_some() {
            println!("{done:?}\n{}", ir::print(&after, &program));
        }
        round_trips(&after, &program, seed);
        same_events(&before, &after, &mut rng, &done, &format!("SEED={seed} {done:?}"));
    }
}

/// Nothing that can be seen is different after these passes.
fn same_events(before: &Region, after: &Region, rng: &mut Rng, passes: &[&str], context: &str) {
    let may_leave_sooner = passes.iter().any(|pass| EAGER.contains(pass));
    for _ in 0..4 {
        let arguments = arguments(rng);
        let Some(expected) = evaluate(before, &arguments, FUEL) else { continue };
        let actual =
            evaluate(after, &arguments, 2 * FUEL).unwrap_or_else(|| panic!("{context}: does not end"));
        // The interpreter goes on from there.
        if may_leave_sooner
            && let Some((Event::Deopt(..), same)) = actual.split_last()
            && expected.starts_with(same)
        {
            continue;
        }
        assert_eq!(actual, expected, "{context} {arguments:?}");
    }
}

fn round_trips(region: &Region, program: &holloway_bytecode::Program, seed: u64) {
    let text = ir::print(region, program);
    let again = ir::parse(&text, program).unwrap_or_else(|error| panic!("SEED={seed}: {error}"));
    assert_eq!(ir::print(&again, program), text, "SEED={seed}");
}
