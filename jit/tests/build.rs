//! The builder, each program with the regions that it becomes: the files in `tests/build`.
//!
//! A file has a section `program`; perhaps `options` (if not those of `O1`: the line `level O2`) and `profile`, in the
//! form of `tests/README.md`; and `build`, which names one function a line, or a loop of it by its place: `f loop 12`.
//! For each of these, `BLESS=1` writes a section `region …` with what is built.

mod support;

use holloway_bytecode::code::instructions;
use holloway_bytecode::{FunctionId, Op, Program};
use holloway_jit::build;
use holloway_jit::ir::{self, RegionEntry};
use holloway_jit::options::{Level, Options};
use std::collections::BTreeSet;
use support::profile::TextProfile;
use support::{Sections, check_files, files, lines, program};

/// Builds what each file names, and compares the regions.
#[test]
fn regions_are_what_is_expected() {
    check_files("build", |sections| {
        for (name, region) in regions(sections)? {
            sections.set(&format!("region {name}"), Some(&region));
        }
        Ok(())
    });
}

/// The functions and loops that a file names, each with its region.
fn regions(sections: &Sections) -> Result<Vec<(String, String)>, String> {
    let program = program(sections)?;
    let profile = TextProfile::read(sections.get("profile").unwrap_or(""), &program)?;
    let options = match sections.get("options").map(str::trim) {
        None => Options::of(Level::O1),
        Some("level O2") => Options::of(Level::O2),
        Some(other) => return Err(format!("options: cannot read `{other}`")),
    };
    let names = sections.get("build").ok_or("there is no section `build`")?;
    let mut regions = Vec::new();
    for name in names.lines().map(str::trim).filter(|name| !name.is_empty()) {
        let (function, entry) =
            entry(name, &program).ok_or_else(|| format!("build: cannot read `{name}`"))?;
        let text = match build::region(&program, &profile, &options, function, entry) {
            Ok(region) => {
                let text = ir::print(&region, &program);
                ir::verify(&region, &program)
                    .map_err(|errors| format!("{}\n{text}", lines(name, &errors)))?;
                text
            }
            Err(error) => format!("{error}\n"),
        };
        regions.push((name.to_string(), text));
    }
    Ok(regions)
}

/// A function, or `loop` and a place in it.
fn entry(name: &str, program: &Program) -> Option<(FunctionId, RegionEntry)> {
    let (function, entry) = match name.split_once(" loop ") {
        Some((function, pc)) => (function, RegionEntry::Loop(pc.parse().ok()?)),
        None => (name, RegionEntry::Method),
    };
    let number = program.functions.iter().position(|f| *f.name == *function)?;
    Some((FunctionId(number as u32), entry))
}

/// No instruction is forgotten.
#[test]
fn every_instruction_is_built_somewhere() {
    let mut seen = BTreeSet::new();
    for path in files("build") {
        let sections = Sections::of(&std::fs::read_to_string(&path).expect("test file"));
        let program = program(&sections).unwrap_or_else(|message| panic!("{}: {message}", path.display()));
        let built: Vec<_> =
            sections.get("build").unwrap_or("").lines().filter_map(|l| entry(l, &program)).collect();
        for (function, _) in built {
            let code = &program.functions[function.index()].code;
            seen.extend(instructions(code).map(|(_, instruction)| instruction.op.mnemonic()));
        }
    }
    let missing: Vec<&str> =
        Op::ALL.iter().map(|op| op.mnemonic()).filter(|name| !seen.contains(name)).collect();
    assert!(missing.is_empty(), "not in any file of tests/build: {}", missing.join(" "));
}
