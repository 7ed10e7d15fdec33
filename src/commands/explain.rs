//! `holloway explain METHOD FILE`: runs a program, and says why a method was compiled as it is now, or was not, and of every call of
//! it what was done about it, and why.

use super::print;
use super::run::report;
use crate::compile::compile_file;
use crate::interrupt::Interrupt;
use crate::options::{RunArguments, Tier};
use crate::pattern::Pattern;
use crate::report::Stop;
use crate::source_lines::SourceLines;
use clap::Args;
use holloway_bytecode::{FunctionId, Op, Program};
use holloway_jit::passes::inline::absent::calls;
use holloway_vm::Vm;
use holloway_vm::compiled::{ASKED, CallDecision, CompiledCalls, Entry, Level, Verdict};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::process::ExitCode;
use std::sync::Arc;

/// `holloway explain`.
#[derive(Args, Debug)]
pub struct ExplainArguments {
    /// Of which methods: those whose name contains this, or matches it as a whole if it has a *
    #[arg(value_name = "METHOD")]
    pub method: Pattern,
    /// The program, and how it is run.
    #[command(flatten)]
    pub run: RunArguments,
}

/// Runs, and explains. What the program prints is not shown.
pub fn explain(arguments: ExplainArguments) -> Result<ExitCode, Stop> {
    let RunArguments { file, arguments: given, mut machine } = arguments.run;
    if machine.tier == Tier::Interp {
        return Err(Stop::usage("with --tier interp nothing is compiled, and nothing is inlined"));
    }
    machine.open()?;
    let program = compile_file(&file)?;
    let names = || program.functions.iter().map(|function| &*function.name);
    let wanted: Vec<bool> = names().map(|name| arguments.method.matches(name)).collect();
    if !wanted.contains(&true) {
        return Err(Stop::usage(arguments.method.nothing_found(names())));
    }
    let interrupt = Interrupt::new();
    let mut options = machine.vm_options(given, Box::new(std::io::sink()));
    options.tiers.explains = true;
    let threshold = options.tiers.method_threshold;
    let mut vm = Vm::new(Arc::new(program), options).map_err(Stop::usage)?;
    interrupt.watch(vm.interrupt_handle());
    interrupt.listen();
    let outcome = vm.run();
    // What was learned until then is as good as any.
    report(&outcome, interrupt.was_pressed());
    machine.learned.write_advice(&vm)?;
    machine.profile.write(&vm, &file, super::run::ending(&outcome))?;
    let program = vm.program();
    let lines = SourceLines::read(program);
    let compiled = vm.compiled_calls();
    let mut text = String::new();
    for number in (0..program.functions.len()).filter(|&number| wanted[number]) {
        let versions: Vec<&CompiledCalls> =
            compiled.iter().filter(|code| code.function.index() == number).collect();
        if versions.is_empty() {
            text += &interpreted(&vm, FunctionId(number as u32), &compiled, threshold);
        }
        for code in versions {
            let said = vm.said_of(code.function).into_iter().find(|(entry, _)| *entry == code.entry);
            let later = said.map(|(_, what)| what).filter(|what| !is_asking(what, code));
            // Without samples nothing is compiled again.
            let alone = machine.tier == Tier::Adaptive && code.level < Level::O2;
            let none = || alone.then(|| "no tick met it, which would ask for a higher level".to_string());
            let later = later.or_else(none);
            text += &Version { program, lines: &lines, code }.text(&machine.inline.inline.to_string(), later);
            text.push('\n');
        }
    }
    print(text.trim_end().to_string() + "\n", ExitCode::SUCCESS)
}

/// Is that what was said when this code was asked for.
fn is_asking(what: &str, code: &CompiledCalls) -> bool {
    code.asked.as_ref().is_some_and(|asked| *what == format!("{}{ASKED}{asked}", code.level.name()))
}

/// What there is to say of a method that has no code of its own.
fn interpreted(vm: &Vm, function: FunctionId, compiled: &[CompiledCalls], threshold: u32) -> String {
    let program = vm.program();
    let name = |function: FunctionId| &*program.functions[function.index()].name;
    let inlines =
        |code: &&CompiledCalls| code.decisions.iter().any(|decision| decision.inlined.contains(&function));
    let mut homes: Vec<&str> = compiled.iter().filter(inlines).map(|code| name(code.function)).collect();
    let mut seen = BTreeSet::new();
    homes.retain(|home| seen.insert(*home));
    let homes = match homes.is_empty() {
        true => String::new(),
        false => format!("; inlined in {}", homes.join(", ")),
    };
    let entered = vm.invocations(function);
    let mut text = format!(
        "{}: no code of its own, entered {entered} times in the interpreter{homes}\n",
        name(function)
    );
    let said = vm.said_of(function);
    for (entry, what) in &said {
        let over = if what.contains(ASKED) { "; the program ended before it was there" } else { "" };
        text += &format!("  {}{what}{over}\n", of_entry(program, function, *entry));
    }
    if said.is_empty() {
        text += &format!(
            "  it was never thought about: that is done at {threshold} entries, or in loops that run long\n"
        );
    }
    text + "\n"
}

/// Which of a method's entries something is about.
fn of_entry(program: &Program, function: FunctionId, entry: Entry) -> String {
    match entry {
        Entry::Method => String::new(),
        Entry::Loop(pc) => {
            format!("the loop in line {}: ", program.functions[function.index()].position(pc).line)
        }
    }
}

/// A piece of compiled code whose calls are explained.
struct Version<'a> {
    program: &'a Program,
    lines: &'a SourceLines,
    code: &'a CompiledCalls,
}

/// A line of the listing, in columns.
struct Row {
    place: String,
    callee: String,
    verdict: String,
    why: String,
}

impl Version<'_> {
    /// All of it. `later` is what was decided about the method since.
    fn text(&self, by: &str, later: Option<String>) -> String {
        let CompiledCalls { id, function, entry, level, decisions, asked, .. } = self.code;
        let name = &self.program.functions[function.index()].name;
        let entry = match entry {
            Entry::Method => String::new(),
            Entry::Loop(pc) => {
                let position = self.program.functions[function.index()].position(*pc);
                format!(" from the loop in line {}", position.line)
            }
        };
        let mut rows = Vec::new();
        self.calls(*function, &[], decisions, &mut rows);
        let mut text = format!("{name}{entry}: {} #{}, inlining by {by}\n", level.name(), id.0);
        if let Some(asked) = asked {
            text += &format!("  compiled because {asked}\n");
        }
        if let Some(later) = later {
            text += &format!("  since then: {later}\n");
        }
        if rows.is_empty() {
            text += "  it calls nothing\n";
        }
        let width =
            |of: fn(&Row) -> &String| rows.iter().map(|row| of(row).chars().count()).max().unwrap_or(0);
        let widths = [width(|row| &row.place), width(|row| &row.callee), width(|row| &row.verdict)];
        for Row { place, callee, verdict, why } in &rows {
            let [a, b, c] = widths;
            let _ = writeln!(text, "  {place:a$}  {callee:b$}  {verdict:c$}  {why}");
        }
        text
    }

    /// The calls of a method that is reached by inlined calls, each followed by those of what is inlined there.
    fn calls(
        &self,
        function: FunctionId,
        above: &[(FunctionId, u32)],
        all: &[CallDecision],
        rows: &mut Vec<Row>,
    ) {
        let code = &self.program.functions[function.index()];
        for (pc, call) in calls(code) {
            let path = [above, &[(function, pc)]].concat();
            let here = || all.iter().filter(|decision| decision.path == path);
            // What is left of a call for the receivers for which nothing is inlined goes without saying.
            let is_inlined = here().any(|decision| !decision.inlined.is_empty());
            let decisions = here().filter(|decision| !is_inlined || !decision.inlined.is_empty());
            let position = code.position(pc);
            let place = format!("{}{}:{}", "  ".repeat(above.len()), position.line, position.column);
            let mut inlined: Vec<FunctionId> = Vec::new();
            let mut told: Vec<Row> = Vec::new();
            for decision in decisions {
                let (callee, verdict) = (decision.callee.clone(), decision.verdict.to_string());
                let why = match decision.verdict {
                    Verdict::NoCode => decision.why.clone(),
                    _ => format!("{}; {} for each entry", decision.why, times(decision.frequency)),
                };
                // A call of a method that is inlined twice, or of a loop that was peeled, is there twice, mostly for the same reason.
                if !told.iter().any(|row| row.callee == callee && row.verdict == verdict && row.why == why) {
                    told.push(Row { place: place.clone(), callee, verdict, why });
                }
                for &target in &decision.inlined {
                    if !inlined.contains(&target) {
                        inlined.push(target);
                    }
                }
            }
            if told.is_empty() {
                let callee = match call.op {
                    Op::Call => self.program.functions[call.bc() as usize].name.to_string(),
                    _ => self.lines.line(position).unwrap_or_default(),
                };
                let why = "the body that it is in was not built".to_string();
                told.push(Row { place, callee, verdict: Verdict::NoCode.to_string(), why });
            }
            rows.append(&mut told);
            for target in inlined {
                self.calls(target, &path, all, rows);
            }
        }
    }
}

fn times(frequency: f64) -> String {
    match frequency {
        f if f >= 100.0 => format!("{f:.0} times"),
        f if f >= 0.1 => format!("{f:.1} times"),
        f if f > 0.0 => format!("{f:.1e} times"),
        _ => "never".to_string(),
    }
}
