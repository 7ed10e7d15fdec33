//! `holloway run`: compiles a program and runs it.

use crate::compile::compile_file;
use crate::interrupt::Interrupt;
use crate::options::RunArguments;
use crate::output::{OutputFailure, standard_output};
use crate::report::{EXIT_PROGRAM, Stop, error_label, error_word, harmless, say, trace_text};
use crate::statistics::run_statistics;
use holloway_vm::errors::{StopReason, UncaughtError};
use holloway_vm::{Outcome, Vm};
use std::io::ErrorKind;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

/// Compiles and runs.
pub fn run(arguments: RunArguments) -> Result<ExitCode, Stop> {
    let start = Instant::now();
    let mut machine = arguments.machine;
    machine.open()?;
    let program = compile_file(&arguments.file)?;
    let compiled = Instant::now();
    let failure = OutputFailure::default();
    let interrupt = Interrupt::new();
    let output = standard_output(failure.clone(), interrupt.clone())
        .map_err(|error| Stop::usage(format_args!("cannot open standard output: {error}")))?;
    let options = machine.vm_options(arguments.arguments, output);
    let mut vm = Vm::new(Arc::new(program), options).map_err(Stop::usage)?;
    interrupt.watch(vm.interrupt_handle());
    interrupt.listen();
    let outcome = vm.run();
    let failure = failure.take();
    // When output fails the program is interrupted, which is then not the news.
    let quiet = failure.is_some() && !interrupt.was_pressed();
    let mut good = report(&outcome, quiet);
    if let Some(error) = failure {
        good = false;
        if error.kind() != ErrorKind::BrokenPipe {
            say(format_args!("{} cannot write the output of the program: {error}\n", error_word()));
        }
    }
    if let Some(format) = machine.stats {
        let text = run_statistics(compiled - start, compiled.elapsed(), &vm.statistics(), format);
        say(format_args!("{text}"));
    }
    // What one file lacks is no reason not to write the other. The program ran: no flag is wrong any more.
    let advice = machine.learned.write_advice(&vm);
    let profile = machine.profile.write(&vm, &arguments.file, ending(&outcome));
    for stop in [advice.err(), profile.err()].into_iter().flatten() {
        good = false;
        stop.print();
    }
    // The process ends: nobody needs to wait for what is being compiled, or to give memory back.
    std::mem::forget(vm);
    Ok(if good { ExitCode::SUCCESS } else { EXIT_PROGRAM.into() })
}

/// How a run ended, in the words of profiles.
pub(super) fn ending(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Finished(_) => "finished",
        Outcome::Failed(..) => "failed with an error",
        Outcome::Stopped(StopReason::Interrupted, _) => "interrupted",
        Outcome::Stopped(..) => "stopped by a limit",
    }
}

/// Tells how the run ended; true if it ended well. With `quiet`, an interrupt goes without saying.
pub(super) fn report(outcome: &Outcome, quiet: bool) -> bool {
    match outcome {
        Outcome::Finished(errors) => {
            for error in errors {
                say(format_args!("{}", uncaught(error)));
            }
            errors.is_empty()
        }
        Outcome::Failed(error, others) => {
            for error in std::iter::once(error).chain(others) {
                say(format_args!("{}", uncaught(error)));
            }
            false
        }
        Outcome::Stopped(StopReason::Interrupted, _) if quiet => false,
        Outcome::Stopped(reason, trace) => {
            say(format_args!("{} {reason}\n{}", error_word(), harmless(&trace_text(trace))));
            false
        }
    }
}

/// An error that nobody caught, as the user sees it.
fn uncaught(error: &UncaughtError) -> String {
    let label = match error.thread {
        0 => error_word(),
        thread => error_label(&format!("error in thread {thread}")),
    };
    let message = match error.message.is_empty() {
        true => error.class.clone(),
        false => format!("{}: {}", error.class, error.message),
    };
    format!("{label} {}\n{}", harmless(&message), harmless(&trace_text(&error.trace)))
}
