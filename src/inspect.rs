//! Looking into the optimizing tier: `dump ir|clif|plan|asm`, which compiles without a run, and `--show`, which shows what is compiled
//! while a program runs.

use crate::pattern::Pattern;
use crate::report::{Stop, cannot_write, error_word, say};
use crate::source_lines::SourceLines;
use holloway_bytecode::code::instructions;
use holloway_bytecode::ops::OpShape;
use holloway_bytecode::verify::VerifiedProgram;
use holloway_bytecode::{Function, FunctionId};
use holloway_jit::Jit;
use holloway_jit::show::{LOOKED_AT, Looker, Showing, Source, Stage, View};
use holloway_lang::with_deep_stack;
use holloway_vm::compiled::{Compiler, Entry, Level, Model, NoProfile, PerfMap, Request};
use holloway_vm::{Vm, VmOptions};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::str::FromStr;
use std::sync::{Arc, Mutex};

/// A request of `--show`: `STAGE`, or `STAGE=PATTERN`.
#[derive(Clone, Debug)]
pub struct ShowRequest {
    stage: Stage,
    pattern: Option<Pattern>,
}

impl FromStr for ShowRequest {
    type Err = String;

    fn from_str(text: &str) -> Result<ShowRequest, String> {
        let (stage, pattern) = match text.split_once('=') {
            Some((stage, pattern)) => (stage, Some(pattern.parse()?)),
            None => (text, None),
        };
        Ok(ShowRequest { stage: stage.parse()?, pattern })
    }
}

/// Where what is to be seen of a run goes. Opened before the run, so that one need not run in vain.
#[derive(Clone, Default, Debug)]
pub struct Outputs {
    show_to: Option<Arc<Mutex<File>>>,
    /// Names for `perf`.
    pub perf_map: Option<PerfMap>,
}

impl Outputs {
    /// Opens what was asked for.
    pub fn open(show_to: Option<&Path>, perf_map: bool) -> Result<Outputs, Stop> {
        let show_to = match show_to {
            Some(path) => {
                Some(Arc::new(Mutex::new(File::create(path).map_err(|error| cannot_write(path, &error))?)))
            }
            None => None,
        };
        let perf_map = match perf_map {
            true => Some(PerfMap::create().map_err(|error| cannot_write(&PerfMap::path(), &error))?),
            false => None,
        };
        Ok(Outputs { show_to, perf_map })
    }

    /// What writes the texts of `--show`. That they cannot be written is said once.
    fn show(&self) -> Box<dyn Fn(&str) + Send + Sync> {
        let Some(file) = self.show_to.clone() else { return Box::new(|text| say(format_args!("{text}"))) };
        let failed = Mutex::new(false);
        Box::new(move |text| {
            let mut file = file.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let mut failed = failed.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            if let Err(error) = file.write_all(text.as_bytes())
                && !std::mem::replace(&mut *failed, true)
            {
                say(format_args!("{} cannot write what --show asks for: {error}\n", error_word()));
            }
        })
    }
}

fn source(program: &VerifiedProgram) -> Source {
    let lines = SourceLines::read(program);
    Arc::new(move |position| lines.line(position))
}

/// The compiler of a run; it shows what was asked for.
pub fn compiler(
    program: Arc<VerifiedProgram>,
    model: Model,
    requests: &[ShowRequest],
    outputs: &Outputs,
) -> Result<Arc<dyn Compiler>, String> {
    let jit = Jit::new(program.clone(), model, cfg!(debug_assertions))?;
    if requests.is_empty() {
        return Ok(Arc::new(jit));
    }
    let source = source(&program);
    let view = |request: &ShowRequest| {
        let pattern = request.pattern.clone();
        let wanted = move |name: &str| pattern.as_ref().is_none_or(|pattern| pattern.matches(name));
        View { stage: request.stage, wanted: Box::new(wanted) }
    };
    let views = requests.iter().map(view).collect();
    Ok(Arc::new(Showing::new(Looker::new(jit, source), views, outputs.show())))
}

/// What `dump` is to compile.
pub struct DumpRequest<'a> {
    /// What is looked at.
    pub stage: Stage,
    /// Which methods.
    pub functions: &'a [FunctionId],
    /// How they are compiled.
    pub level: Level,
    /// The loop at whose header the code is entered, if not the method's beginning.
    pub header: Option<u32>,
}

/// Compiles without a run, and without what is known from one. The texts of all methods.
pub fn dump(program: Arc<VerifiedProgram>, dump: &DumpRequest<'_>) -> Result<String, Stop> {
    let entry = match dump.header {
        Some(pc) => Entry::Loop(loop_header(&program, dump.functions, pc)?),
        None => Entry::Method,
    };
    // Code depends on where classes and methods lie in a machine, so that there has to be one.
    let options = VmOptions { output: Box::new(std::io::sink()), ..VmOptions::default() };
    let vm = Vm::new(program.clone(), options).map_err(Stop::failure)?;
    let source = source(&program);
    let jit = Jit::new(program, vm.model(), cfg!(debug_assertions)).map_err(Stop::failure)?;
    let looker = Looker::new(jit, source);
    // Cranelift recurses on large functions.
    Ok(with_deep_stack(|| {
        let look = |&function: &FunctionId| {
            let request = Request { code: LOOKED_AT, function, entry, level: dump.level, marked: false };
            looker.look(&request, &NoProfile, &[&dump.stage]).1
        };
        dump.functions.iter().map(look).collect::<Vec<_>>().join("\n")
    }))
}

/// The place of a loop's header in the one function that is chosen.
fn loop_header(program: &VerifiedProgram, functions: &[FunctionId], pc: u32) -> Result<u32, Stop> {
    let &[function] = functions else {
        return Err(Stop::usage(format_args!(
            "--loop is about one method, and --function chooses {}",
            functions.len()
        )));
    };
    let function = &program.functions[function.index()];
    let headers = headers(function);
    if headers.contains(&pc) {
        return Ok(pc);
    }
    let there_are = match headers.is_empty() {
        true => format!("{} has no loops", function.name),
        false => {
            let place = |&pc: &u32| format!("{pc} (line {})", function.position(pc).line);
            format!(
                "{} has loops at {}",
                function.name,
                headers.iter().map(place).collect::<Vec<_>>().join(", ")
            )
        }
    };
    Err(Stop::usage(format_args!("there is no loop at {pc}: {there_are}")))
}

/// Where back edges go to.
fn headers(function: &Function) -> BTreeSet<u32> {
    instructions(&function.code)
        .filter(|(_, instruction)| matches!(instruction.op.shape(), OpShape::LoopBranch | OpShape::LoopJump))
        .filter_map(|(pc, instruction)| u32::try_from(pc as i64 + instruction.target()? as i64).ok())
        .collect()
}
