//! `holloway explain METHOD FILE`: runs a program, and says of every call of a method as it was compiled last what was done about
//! it, and why.

use super::print;
use super::run::report;
use crate::compile::compile_file;
use crate::interrupt::Interrupt;
use crate::options::{RunArguments, Tier};
use crate::pattern::Pattern;
use crate::report::Stop;
use crate::source_lines::SourceLines;
use clap::Args;
use holloway_bytecode::code::instructions;
use holloway_bytecode::ops::OpShape;
use holloway_bytecode::{FunctionId, Op, Program};
use holloway_vm::Vm;
use holloway_vm::compiled::{CallDecision, CompiledCalls, Entry, Verdict};
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
    let options = machine.vm_options(given, Box::new(std::io::sink()));
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
            text += &interpreted(&vm, FunctionId(number as u32), &compiled);
        }
        for code in versions {
            text += &Version { program, lines: &lines, code }.text(&machine.inline.inline.to_string());
            text.push('\n');
        }
    }
    print(text.trim_end().to_string() + "\n", ExitCode::SUCCESS)
}

/// What there is to say of a method that has no code of its own.
fn interpreted(vm: &Vm, function: FunctionId, compiled: &[CompiledCalls]) -> String {
    let name = |function: FunctionId| &*vm.program().functions[function.index()].name;
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
    format!("{}: no code of its own, entered {entered} times in the interpreter{homes}\n\n", name(function))
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
    fn text(&self, by: &str) -> String {
        let CompiledCalls { id, function, entry, level, decisions, address: _ } = self.code;
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
        let calls = instructions(&code.code)
            .filter(|(_, call)| call.op.shape() == OpShape::Call && call.op != Op::CallNative);
        for (pc, call) in calls {
            let path = [above, &[(function, pc as u32)]].concat();
            let here: Vec<&CallDecision> = all.iter().filter(|decision| decision.path == path).collect();
            // What is left of a call for the receivers for which nothing is inlined goes without saying.
            let inlined = here.iter().copied().find(|decision| decision.verdict != Verdict::Called);
            let position = code.position(pc as u32);
            let depth = above.len();
            let place = format!("{}{}:{}", "  ".repeat(depth), position.line, position.column);
            let Some(decision) = inlined.or(here.first().copied()) else {
                let callee = match call.op {
                    Op::Call => self.program.functions[call.bc() as usize].name.to_string(),
                    _ => self.lines.line(position).unwrap_or_default(),
                };
                let why = "its way was never taken, or is known not to be".to_string();
                rows.push(Row { place, callee, verdict: "no code".into(), why });
                continue;
            };
            let why = format!("{}; {} for each entry", decision.why, times(decision.frequency));
            let (callee, verdict) = (decision.callee.clone(), decision.verdict.to_string());
            rows.push(Row { place, callee, verdict, why });
            for &target in &decision.inlined {
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
