//! Running a program in this process, and what it did as text, in the form that case files have.

use crate::case::{Case, Expected};
use crate::difference::difference;
use crate::modes::{MODES, Mode};
use holloway::options::MachineArguments;
use holloway::report::trace_text;
use holloway_bytecode::verify::VerifiedProgram;
use holloway_lang::pipeline::SourceLoader;
use holloway_vm::compiled::TierOptions;
use holloway_vm::errors::{Trace, UncaughtError};
use holloway_vm::{Outcome, Vm};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A program that runs longer hangs.
const PATIENCE: Duration = Duration::from_secs(120);
/// More output than this is a mistake.
const MOST_OUTPUT: usize = 16 << 20;

/// Files in a folder. The text of the main file was read already.
pub struct Folder {
    folder: PathBuf,
    main: String,
    text: String,
}

impl SourceLoader for Folder {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        if path == self.main {
            return Ok(self.text.clone().into_bytes());
        }
        std::fs::read(self.folder.join(path)).map_err(|error| error.to_string())
    }
}

/// Compiles a program as if its folder were the current one, so that no message depends on where the tests are.
pub fn compile(path: &Path, text: &str) -> Result<Arc<VerifiedProgram>, String> {
    let main = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    let loader = Folder { folder, main: main.clone(), text: text.to_string() };
    holloway::compile::compile(&main, &loader, false).map(Arc::new)
}

/// Output that is kept.
#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut kept = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if kept.len() + bytes.len() > MOST_OUTPUT {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        kept.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Runs a program in a mode. What it printed, and how it ended.
pub fn run(
    program: &Arc<VerifiedProgram>,
    flags: &[String],
    arguments: &[String],
    mode: &Mode,
) -> Result<(String, Outcome), String> {
    let machine = MachineArguments::from_flags(flags.iter().map(String::as_str))?;
    let output = Captured::default();
    let mut options = machine.vm_options(arguments.to_vec(), Box::new(output.clone()));
    options.time_limit = options.time_limit.or(Some(PATIENCE));
    (mode.apply)(&mut options);
    let has_room = options.tiers.code_cache >= TierOptions::default().code_cache;
    let mut vm = Vm::new(program.clone(), options)?;
    let outcome = vm.run();
    // What is given up stays in the interpreter, and does the same there: nobody would see it.
    let refused = vm.statistics().tiers.refused;
    if has_room && refused > 0 {
        return Err(format!("{refused} compilations were given up"));
    }
    let bytes = std::mem::take(&mut *output.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
    let text = String::from_utf8(bytes).map_err(|error| format!("the output is not UTF-8: {error}"))?;
    Ok((text, outcome))
}

/// What a program did, in the lines that a case file would have for it.
pub fn describe(output: &str, outcome: &Outcome, with_trace: bool) -> Vec<String> {
    let mut lines = Vec::new();
    if !output.is_empty() || matches!(outcome, Outcome::Finished(errors) if errors.is_empty()) {
        lines.push("expect:".to_string());
        lines.extend(output.lines().map(|line| line.trim_end().to_string()));
        if !output.is_empty() && !output.ends_with('\n') {
            lines.push("(no line end)".to_string());
        }
    }
    let trace = |lines: &mut Vec<String>, trace: &Trace| {
        if with_trace {
            lines.push("trace:".to_string());
            lines.extend(trace_text(trace).lines().map(str::to_string));
        }
    };
    let error = |lines: &mut Vec<String>, head: &str, error: &UncaughtError| {
        let message = format!("{head}: {}: {}", error.class, error.message);
        lines.extend(message.lines().map(|line| line.trim_end().to_string()));
        trace(lines, &error.trace);
    };
    let of_threads = |lines: &mut Vec<String>, errors: &[UncaughtError]| {
        for e in errors {
            error(lines, &format!("expect-thread-error {}", e.thread), e);
        }
    };
    match outcome {
        Outcome::Finished(others) => of_threads(&mut lines, others),
        Outcome::Failed(e, others) => {
            error(&mut lines, "expect-error", e);
            of_threads(&mut lines, others);
        }
        Outcome::Stopped(reason, place) => {
            lines.push(format!("expect-stop: {reason}"));
            trace(&mut lines, place);
        }
    }
    lines
}

/// Runs a case in every mode. The error says what is different, and in which mode.
pub fn check(case: &Case) -> Result<(), String> {
    let compiled = guarded(|| compile(&case.path, &case.program));
    let program = match (&compiled, &case.expected) {
        (Err(panic), _) => return Err(format!("the compiler panicked: {panic}")),
        (Ok(_), Expected::Nothing) => return Err("it says nowhere what is expected".to_string()),
        (Ok(Ok(program)), Expected::Run(_)) => program,
        (Ok(Ok(_)), Expected::CompileError(_)) => return Err("it compiles, but should not".to_string()),
        (Ok(Err(errors)), Expected::Run(_)) => return Err(format!("it does not compile:\n{errors}")),
        (Ok(Err(errors)), Expected::CompileError(parts)) => {
            return match parts.iter().find(|part| !errors.contains(&***part)) {
                None => Ok(()),
                Some(part) => Err(format!("no error message contains:\n{part}\nThe messages are:\n{errors}")),
            };
        }
    };
    let Expected::Run(expected) = &case.expected else { return Ok(()) };
    for mode in MODES.iter().filter(|mode| !case.skipped.iter().any(|skipped| mode.is_skipped(skipped))) {
        let failed = |what: String| format!("mode {}: {what}", mode.name);
        let ran = guarded(|| run(program, &case.flags, &case.arguments, mode));
        let (output, outcome) = ran.map_err(|panic| failed(format!("panicked: {panic}")))?.map_err(failed)?;
        let actual = describe(&output, &outcome, case.wants_trace());
        if *expected != actual {
            return Err(failed(difference(expected, &actual)));
        }
    }
    Ok(())
}

/// The expectations that would make the case pass, as the first mode sees it.
pub fn bless(case: &Case) -> Result<Vec<String>, String> {
    match compile(&case.path, &case.program) {
        Err(errors) => Ok(compile_errors(&errors)),
        Ok(program) => {
            let (output, outcome) = run(&program, &case.flags, &case.arguments, &MODES[0])?;
            Ok(describe(&output, &outcome, case.wants_trace()))
        }
    }
}

/// The messages and places out of rendered errors.
fn compile_errors(errors: &str) -> Vec<String> {
    let mut lines = vec!["expect-compile-error:".to_string()];
    for line in errors.lines() {
        if line.starts_with("Error: ") {
            lines.push(line.to_string());
        } else if let Some(place) = line.split_once("─[ ").and_then(|(_, rest)| rest.strip_suffix(" ]")) {
            lines.push(place.to_string());
        }
    }
    lines
}

/// The result, or the message of a panic.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(|text| text.to_string());
        text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default()
    })
}
