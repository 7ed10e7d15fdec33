//! Passes, each with programs before and after it: the files in `tests/passes`. See `tests/README.md` for their form.

mod support;

use holloway_jit::hierarchy::Hierarchy;
use holloway_jit::ir;
use holloway_jit::options::{Level, Options};
use holloway_jit::passes::{self, Input, Notes};
use support::profile::TextProfile;
use support::{Sections, check_files, lines, program};

/// Runs the passes of each file and compares what becomes of the region.
#[test]
fn regions_become_what_is_expected() {
    check_files("passes", |sections| {
        let (after, notes) = run(sections)?;
        sections.set("after", Some(&after));
        sections.set("notes", Some(&*notes).filter(|notes| !notes.is_empty()));
        Ok(())
    });
}

/// The region after the passes, and what they noted.
fn run(sections: &Sections) -> Result<(String, String), String> {
    let program = program(sections)?;
    let hierarchy = Hierarchy::of(&program);
    let profile = TextProfile::read(sections.get("profile").unwrap_or(""), &program)?;
    let options = options(sections.get("options").unwrap_or(""))?;
    let input = Input { program: &program, hierarchy: &hierarchy, profile: &profile, options: &options };
    let before = sections.get("before").ok_or("there is no section `before`")?;
    let mut region = ir::parse(before, &program).map_err(|error| format!("before: {error}"))?;
    ir::verify(&region, &program).map_err(|errors| lines("before", &errors))?;
    let mut notes = Notes::default();
    let names = sections.get("passes").ok_or("there is no section `passes`")?;
    for name in names.split([',', '\n', ' ']).filter(|name| !name.is_empty()) {
        let pass = passes::by_name(name).ok_or_else(|| format!("there is no pass `{name}`"))?;
        let old = region.clone();
        let changed = (pass.run)(&mut region, &input, &mut notes);
        let text = ir::print(&region, &program);
        ir::verify(&region, &program)
            .map_err(|errors| format!("{}\n{text}", lines(&format!("after {name}"), &errors)))?;
        if !changed && text != ir::print(&old, &program) {
            return Err(format!("{name} says that nothing changed, but it did"));
        }
    }
    let text = ir::print(&region, &program);
    let again = ir::parse(&text, &program).map_err(|error| format!("after: {error}"))?;
    if ir::print(&again, &program) != text {
        return Err("what was printed does not read back as the same".to_string());
    }
    let uninstantiated = notes.uninstantiated.iter();
    let uninstantiated =
        uninstantiated.map(|c| format!("uninstantiated {}", program.classes[c.index()].name));
    let notes: Vec<String> = uninstantiated
        .chain(notes.inlining.iter().map(|decision| decision.line(&program)))
        .map(|note| note + "\n")
        .collect();
    Ok((text, notes.concat()))
}

/// `O2`, and what the lines say.
fn options(text: &str) -> Result<Options, String> {
    let mut options = Options::of(Level::O2);
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["level", "O0"] => options = Options::of(Level::O0),
            ["level", "O1"] => options = Options::of(Level::O1),
            ["level", "O2"] => options = Options::of(Level::O2),
            ["prune_untaken", value @ ("true" | "false")] => options.prune_untaken = value == "true",
            _ => return Err(format!("options: cannot read `{line}`")),
        }
    }
    Ok(options)
}
