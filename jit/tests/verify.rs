//! The verifier: regions as files that break each invariant, and those that no text can express.

mod support;

use holloway_bytecode::Program;
use holloway_jit::ir::verify::Invariant;
use holloway_jit::ir::{self, BlockId, Op, Region, StateId, Target, Terminator, Value};
use std::collections::BTreeSet;
use support::{Sections, expect, files, program, report};

/// Each file in `tests/verify` ends with what the verifier says about it.
#[test]
fn files_are_judged_as_expected() {
    let mut failures = Vec::new();
    for path in files("verify") {
        let text = std::fs::read_to_string(&path).expect("test file");
        let (source, _) = text.split_once(";; ").unwrap_or((&text, ""));
        let verdict = match judge(source) {
            Ok(()) => ";; verified\n".to_string(),
            Err(errors) => errors.iter().map(|error| format!(";; {error}\n")).collect(),
        };
        expect(&path, &format!("{source}{verdict}"), &mut failures);
    }
    report(&failures);
}

fn judge(text: &str) -> Result<(), Vec<String>> {
    let sections = Sections::of(text);
    let program = program(&sections).map_err(|error| vec![error])?;
    let region = sections.get("region").ok_or_else(|| vec!["there is no section `region`".to_string()])?;
    let region = ir::parse(region, &program).map_err(|error| vec![error.to_string()])?;
    let verdict = ir::verify(&region, &program);
    // What is refused can be printed, too. It reads back as the same, unless it uses what is not there.
    let printed = ir::print(&region, &program);
    match ir::parse(&printed, &program) {
        Ok(again) => {
            assert_eq!(ir::print(&again, &program), printed);
            let count = |verdict: &Result<(), Vec<String>>| verdict.as_ref().map_err(Vec::len).err();
            assert_eq!(count(&ir::verify(&again, &program)), count(&verdict));
        }
        Err(error) => assert!(verdict.is_err(), "{error}\n{printed}"),
    }
    verdict
}

/// Every invariant is broken by at least one file that is named after it, but for those that no text can break.
#[test]
fn every_invariant_has_a_file() {
    let mut broken = BTreeSet::from(["R1", "R8"].map(str::to_string));
    for path in files("verify") {
        let text = std::fs::read_to_string(&path).expect("test file");
        let name = path.file_stem().and_then(|n| n.to_str()).expect("name");
        for line in text.lines().filter_map(|l| l.strip_prefix(";; ")) {
            if let Some((invariant, _)) = line.split_once(':')
                && name.split('-').next() == Some(invariant)
            {
                broken.insert(invariant.to_string());
            }
        }
    }
    let missing: Vec<_> = Invariant::ALL.iter().map(|i| i.name()).filter(|n| !broken.contains(*n)).collect();
    assert!(missing.is_empty(), "no file in tests/verify breaks {missing:?}");
}

/// The region that uses every operation as it should be used does use every operation.
#[test]
fn the_tour_is_complete() {
    let (region, program) = tour();
    assert_eq!(ir::verify(&region, &program), Ok(()));
    let order = region.graph();
    let blocks = order.reverse_postorder().iter().map(|&block| region.block(block));
    let used: BTreeSet<&str> = blocks
        .flat_map(|block| block.params.iter().chain(&block.nodes))
        .map(|&value| ir::print::mnemonic(region.op(value)))
        .collect();
    let missing: Vec<&str> =
        ir::print::MNEMONICS.iter().copied().filter(|name| !used.contains(name)).collect();
    // The one that is only in regions of loops is in the file beside it.
    assert_eq!(missing, ["local"]);
}

fn tour() -> (Region, Program) {
    let path = files("verify").into_iter().find(|p| p.ends_with("verified-tour.ir")).expect("the tour");
    let sections = Sections::of(&std::fs::read_to_string(path).expect("test file"));
    let program = program(&sections).expect("a program");
    let text = sections.get("region").expect("a region");
    let text = text.split(";; ").next().expect("a beginning");
    (ir::parse(text, &program).expect("correct text"), program.into_program())
}

/// A change to the tour.
type Change = fn(&mut Region);

/// What the parser refuses is noticed when passes make it.
#[test]
fn what_does_not_exist_is_noticed() {
    const NOWHERE: u32 = 1_000_000;
    let changes: [(&str, Change); 11] = [
        ("R1", |region| {
            region.block_mut(Region::ENTRY).end = Terminator::Jump(Target::plain(BlockId(NOWHERE)))
        }),
        ("R1", |region| region.block_mut(Region::ENTRY).nodes.push(Value(NOWHERE))),
        ("R1", |region| {
            region.nodes.iter_mut().for_each(|node| node.args.iter_mut().for_each(|a| *a = Value(NOWHERE)))
        }),
        ("R1", |region| region.block_mut(Region::ENTRY).end = Terminator::Return(Some(Value(NOWHERE)))),
        ("R1", |region| region.states.clear()),
        ("R1", |region| region.states.iter_mut().for_each(|state| state.caller = Some(StateId(NOWHERE)))),
        ("R1", |region| region.inlines.clear()),
        ("R1", |region| region.blocks.clear()),
        ("R1", |region| {
            let string = Op::Str(holloway_bytecode::StringId(NOWHERE));
            let node = region.nodes.iter_mut().find(|node| matches!(node.op, Op::Str(_)));
            node.expect("a string").op = string;
        }),
        ("R4", |region| {
            let first = region.block(Region::ENTRY).nodes[0];
            region.block_mut(Region::ENTRY).nodes.push(first);
        }),
        ("R8", |region| {
            for block in &mut region.blocks {
                if let Terminator::Switch { counts, .. } = &mut block.end {
                    counts.clear();
                }
            }
        }),
    ];
    for (number, (invariant, change)) in changes.iter().enumerate() {
        let (mut region, program) = tour();
        change(&mut region);
        let errors = ir::verify(&region, &program).expect_err("unsound");
        assert!(errors.iter().any(|error| error.starts_with(invariant)), "change {number}: {errors:?}");
        // It can be looked at all the same.
        if !region.inlines.is_empty() {
            ir::print(&region, &program);
        }
    }
}
