//! Passes on random regions: what a region does before and after is the same.
//!
//! Each region is executed as it was generated, and after passes, with several arguments. The two must return the same, or raise the
//! same error at the same place, leave the same objects behind, and call the same. When the changed region is left for the
//! interpreter, by a check that was moved, because another thread ran in a yieldpoint, because a call made it
//! invalid, the original goes on where the frame state says: where machine code leaves, which has places for several checks together.
//!
//! `RANDOM_REGIONS=n` tries n regions for each list of passes instead of a few; `RANDOM_SEED=n` begins at another seed.

mod common;

use common::eval::{Execution, Outcome, Place};
use common::generate::{structured, unstructured};
use common::machine::{Datum, Events, Machine};
use common::random::Random;
use common::world::World;
use holloway_jit::ir::{self, BlockId, Op, Reason, Region};
use holloway_jit::lower::sharing::Sharing;
use holloway_jit::options::{Level, Options};
use holloway_jit::passes::{self, Input, Notes};
use holloway_vm::compiled::NoProfile;
use std::collections::BTreeMap;

/// More steps than any test takes.
const MOST_STEPS: u64 = 4000;

#[test]
fn gvn() {
    try_passes(&[&["gvn"]]);
}

#[test]
fn memory() {
    try_passes(&[&["memory"], &["gvn", "memory"]]);
}

#[test]
fn conditions() {
    try_passes(&[&["conditions"], &["gvn", "conditions"]]);
}

#[test]
fn licm() {
    try_passes(&[&["licm"], &["gvn", "licm"], &["gvn", "conditions", "licm"]]);
}

#[test]
fn escape() {
    try_passes(&[&["escape"], &["gvn", "escape", "memory"], &["escape", "simplify", "blocks", "escape"]]);
}

#[test]
fn predication() {
    try_passes(&[&["predication"], &["gvn", "licm", "gvn", "predication"]]);
}

#[test]
fn inversion() {
    try_passes(&[
        &["inversion"],
        &["inversion", "params", "memory", "predication", "licm"],
        &["escape", "inversion", "params", "licm"],
        &["inversion", "inversion"],
    ]);
}

#[test]
fn peeling() {
    try_passes(&[
        &["peeling"],
        &["gvn", "licm", "peeling", "params", "memory", "gvn", "conditions", "licm"],
        &["escape", "peeling", "params", "simplify", "blocks", "memory"],
        &["inversion", "peeling"],
        &["peeling", "peeling"],
    ]);
}

#[test]
fn select() {
    try_passes(&[&["select"], &["select", "params", "simplify", "blocks", "select"]]);
}

#[test]
fn together() {
    try_passes(&[
        &["gvn", "memory", "conditions", "licm", "gvn", "memory", "conditions"],
        &["licm", "conditions", "memory", "gvn", "licm"],
    ]);
}

/// Each of the other passes that do not look into callees, by itself, and the whole as in a compilation.
#[test]
fn others() {
    let own =
        ["gvn", "memory", "conditions", "licm", "escape", "predication", "inversion", "peeling", "select"];
    let names: Vec<&str> = passes::ALL.iter().map(|pass| pass.name).collect();
    let others: Vec<[&str; 1]> = names
        .into_iter()
        .filter(|name| !own.contains(name) && !INTO_CALLEES.contains(name))
        .map(|name| [name])
        .collect();
    let lists: Vec<&[&str]> = others.iter().map(|list| list.as_slice()).collect();
    try_passes(&lists);
}

#[test]
fn sequence() {
    let names = "params simplify blocks gvn escape params simplify inversion params memory conditions simplify licm predication gvn \
                 peeling memory gvn params conditions licm select memory params simplify blocks dead";
    let known = names.split_whitespace().filter(|name| passes::by_name(name).is_some());
    try_passes(&[&known.collect::<Vec<_>>()]);
}

/// Passes that look into callees, which here are not what they seem.
const INTO_CALLEES: &[&str] = &["devirtualize", "inline"];

/// Tries lists of passes on many regions.
fn try_passes(lists: &[&[&str]]) {
    let world = World::new();
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let count = number("RANDOM_REGIONS").unwrap_or(300);
    let first = number("RANDOM_SEED").unwrap_or(1);
    let mut changed = 0;
    for seed in first..first + count {
        let size = 20 + (seed % 7) as usize * 20;
        let region =
            if seed % 4 == 0 { unstructured(&world, seed, size) } else { structured(&world, seed, size) };
        ir::verify(&region, &world.program).unwrap_or_else(|errors| {
            panic!("seed {seed}: {}\n{}", errors.join("\n"), ir::print(&region, &world.program))
        });
        for list in lists {
            changed += u32::from(try_region(&world, &region, list, seed));
        }
    }
    assert!(count < 50 || changed > 0, "no region was changed");
}

/// Tries a list of passes on a region; true if they changed it.
fn try_region(world: &World, original: &Region, list: &[&str], seed: u64) -> bool {
    let options = Options { verify: true, ..Options::of(Level::O2) };
    let input = Input {
        program: &world.program,
        hierarchy: &world.hierarchy,
        profile: &NoProfile,
        options: &options,
    };
    let mut region = original.clone();
    let mut changed = false;
    for name in list {
        let Some(pass) = passes::by_name(name) else { panic!("there is no pass {name}") };
        let before = region.clone();
        let has_changed = (pass.run)(&mut region, &input, &mut Notes::default());
        changed |= has_changed;
        let text = || ir::print(&region, &world.program);
        if let Err(errors) = ir::verify(&region, &world.program) {
            let errors = errors.join("\n");
            panic!("seed {seed}, {name}: {errors}\n{}\n{}", ir::print(&before, &world.program), text());
        }
        if !has_changed {
            assert_eq!(ir::print(&before, &world.program), text(), "seed {seed}: {name} changed something");
        }
    }
    if changed {
        for round in 0..8 {
            compare(world, original, &region, list, seed, round);
        }
    }
    changed
}

/// Executes both with the same arguments.
fn compare(world: &World, original: &Region, region: &Region, list: &[&str], seed: u64, round: u64) {
    let mut random = Random(seed * 100 + round);
    let mut machine = Machine::new(world);
    let arguments = arguments(&mut machine, &mut random);
    if round >= 2 {
        let none = Events::default();
        machine.events = match round % 3 {
            0 => Events { switch: Some(1 + random.below(6) as u64), ..none },
            1 => Events { invalid: Some(1 + random.below(4) as u64), ..none },
            _ => Events { full: Some(1 + random.below(4) as u64), ..none },
        };
    }
    let show = |what: &str| {
        format!(
            "seed {seed}, round {round}, {list:?}: {what}\n{arguments:?}\n{}\n{}",
            ir::print(original, &world.program),
            ir::print(region, &world.program)
        )
    };
    let result = std::panic::catch_unwind(|| {
        let mut expected = machine.clone();
        let expected_end = interpret(&mut expected, original, None, &arguments);
        if expected_end == Outcome::Endless {
            return Ok(());
        }
        let mut actual = machine.clone();
        let actual_end = compiled(&mut actual, original, region, round % 2 == 1, &arguments);
        let of_end = |machine: &Machine<'_>, end: &Outcome| {
            let (end, result) = match end {
                Outcome::Returned(result) => ("returned".to_string(), Vec::from_iter(*result)),
                Outcome::Left { reason, place, registers } => {
                    let values = registers.iter().map(|&(_, datum)| datum).collect();
                    (format!("{reason:?} at {}", place.pc), values)
                }
                Outcome::Endless => ("endless".to_string(), Vec::new()),
            };
            format!("{end}: {}\n{:?}", machine.dump(&result), machine.log)
        };
        let (expected, actual) = (of_end(&expected, &expected_end), of_end(&actual, &actual_end));
        if expected == actual { Ok(()) } else { Err(format!("expected {expected}\ngot {actual}")) }
    });
    match result {
        Ok(Ok(())) => {}
        Ok(Err(what)) => panic!("{}", show(&what)),
        Err(error) => {
            let what = error.downcast_ref::<String>().map_or("a panic", |what| what);
            panic!("{}", show(what))
        }
    }
}

/// What the region is given.
fn arguments(machine: &mut Machine<'_>, random: &mut Random) -> Vec<Datum> {
    let world = machine.world;
    let mut int = || Datum::Int(random.pick(&[-1, 0, 1, 2, 3, 5, 8, 256, i64::MAX, i64::MIN]));
    let ints = [int(), int(), int()];
    let points: Vec<Datum> = (0..3).map(|_| machine.new_object(world.point)).collect();
    let class = random.pick(&[world.shape, world.circle, world.disk, world.square]);
    let shape = machine.new_object(class);
    // Words of bytes have room.
    let mut array = |class| {
        let least = if class == world.bytes { 8 } else { 3 };
        machine.new_array(class, if random.once_in(8) { 0 } else { least + random.below(6) })
    };
    let arrays = [array(world.ints), array(world.ints), array(world.points), array(world.bytes)];
    let null = Datum::Ref(None);
    let mut maybe = |datum: Datum| if random.once_in(3) { null } else { datum };
    let (point, shape, ints2) = (maybe(points[0]), maybe(shape), maybe(arrays[1]));
    let ints2 = if random.once_in(3) { arrays[0] } else { ints2 };
    let second = if random.once_in(3) { points[0] } else { points[1] };
    machine.known = [points.as_slice(), &arrays, &[shape]].concat();
    machine.disturb(random.next() % 100);
    let truth = Datum::Bool(random.once_in(2));
    let float = Datum::Float(random.pick(&[0.0, 2.5, f64::NAN]).to_bits());
    let [a, b, c] = ints;
    vec![a, b, c, truth, point, second, shape, arrays[0], ints2, arrays[2], arrays[3], float]
}

/// Executes the original, from the beginning or from where a state says.
fn interpret(
    machine: &mut Machine<'_>,
    original: &Region,
    from: Option<(Place, Vec<(holloway_bytecode::Register, Datum)>)>,
    arguments: &[Datum],
) -> Outcome {
    let world = machine.world;
    let most_steps = machine.steps + MOST_STEPS;
    let mut execution = Execution {
        machine,
        region: original,
        values: vec![None; original.nodes.len()],
        leaves: false,
        sharing: None,
        most_steps,
    };
    let Some((place, registers)) = from else { return execution.run(arguments) };
    let places = places(original);
    let (block, position) = places[&place.pc];
    for (register, datum) in registers.into_iter().chain(place.result.flatten()) {
        execution.values[world.value_in(register).index()] = Some(datum);
    }
    execution.go(block, position + usize::from(place.result.is_some()))
}

/// Executes the changed region as machine code does, with checks that leave at the states of others, and the original when it is left.
fn compiled(
    machine: &mut Machine<'_>,
    original: &Region,
    region: &Region,
    counts_edges: bool,
    arguments: &[Datum],
) -> Outcome {
    let most_steps = 4 * MOST_STEPS;
    let sharing = Some(Sharing::of(region, &region.shape(), counts_edges));
    let values = vec![None; region.nodes.len()];
    let mut execution = Execution { machine, region, values, leaves: true, sharing, most_steps };
    match execution.run(arguments) {
        Outcome::Left { place, registers, reason } => {
            let end = interpret(machine, original, Some((place, registers)), arguments);
            if !matches!(reason, Reason::Predicate | Reason::Yieldpoint | Reason::Invalid | Reason::Memory) {
                assert_ne!(end, Outcome::Endless, "left because of {reason:?} for nothing");
            }
            end
        }
        other => other,
    }
}

/// For each instruction that a state names, the node that has it; behind a call, the node that follows.
fn places(region: &Region) -> BTreeMap<u32, (BlockId, usize)> {
    let nodes = region.block_ids().flat_map(|block| {
        region.block(block).nodes.iter().enumerate().map(move |(position, &node)| (block, position, node))
    });
    let mut places = BTreeMap::new();
    for (block, position, node) in nodes {
        let Some(state) = region.node(node).state else { continue };
        let pc = region.state(state).pc;
        places.insert(pc, (block, position));
        if matches!(region.op(node), Op::Call(_)) {
            places.insert(pc + 1, (block, position + 1));
        }
    }
    places
}
