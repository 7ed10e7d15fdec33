//! What the user is told: messages on standard error, whether they have colours, and exit codes.
//!
//! Writing to standard error may fail (it may be closed, or a full disk), and then there is nobody left to tell: such
//! failures are ignored here, where `eprintln!` would panic.

use holloway_vm::errors::Trace;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fmt::{Arguments, Display};
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

/// The program ended with an error of its own, or was ended.
pub const EXIT_PROGRAM: u8 = 1;
/// The program was not run: a compile or usage error.
pub const EXIT_USAGE: u8 = 2;

/// Why a command did not do its work: what to print, and how to exit.
#[derive(Debug)]
pub struct Stop {
    /// What to print, complete with its line ends.
    message: String,
    code: u8,
}

impl Stop {
    /// Something is wrong with what the user asked for.
    pub fn usage(message: impl Display) -> Stop {
        Stop { message: format!("{} {message}\n", error_word()), code: EXIT_USAGE }
    }

    /// The program does not compile; the message is rendered already.
    pub fn compile(rendered: String) -> Stop {
        Stop { message: rendered, code: EXIT_USAGE }
    }

    /// Something failed while running.
    pub fn failure(message: impl Display) -> Stop {
        Stop { message: format!("{} {message}\n", error_word()), code: EXIT_PROGRAM }
    }

    /// Tells the user.
    pub fn print(&self) {
        say(format_args!("{}", self.message));
    }

    /// How to exit.
    pub fn code(&self) -> ExitCode {
        self.code.into()
    }
}

/// The message for a file that cannot be written.
pub fn cannot_write(path: &std::path::Path, error: &std::io::Error) -> Stop {
    Stop::usage(format_args!("cannot write {}: {error}", path.display()))
}

/// Writes to standard error.
pub fn say(text: Arguments<'_>) {
    // Nobody is left to be told that telling failed.
    let _ = std::io::stderr().lock().write_fmt(text);
}

/// Should standard error have colours: it is a terminal, and nobody said no (<https://no-color.org>).
pub fn color() -> bool {
    color_for(&std::io::stderr())
}

/// A bar of so many steps on terminals, nothing elsewhere. Behind the numbers stands what `rest` says (a template of indicatif).
pub fn bar(steps: u64, rest: &str) -> ProgressBar {
    if !color() || steps == 0 {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(&format!("{{bar:30}} {{pos}}/{{len}} {rest}"))
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr()).with_style(style)
}

/// Should this stream have colours.
pub fn color_for(stream: &impl IsTerminal) -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
    !refused && !dumb && stream.is_terminal()
}

/// The beginning of a message: `error:`, or `error in thread 2:`, red on terminals.
pub fn error_label(what: &str) -> String {
    if color() { format!("\x1b[1;31m{what}:\x1b[0m") } else { format!("{what}:") }
}

/// `error:`.
pub fn error_word() -> String {
    error_label("error")
}

/// A stack trace as the user sees it: without the functions that no source text stands for, whose names begin with `$`.
pub fn trace_text(trace: &Trace) -> String {
    let mut trace = trace.clone();
    for frames in [&mut trace.inner, &mut trace.outer] {
        frames.retain(|frame| !frame.function.starts_with('$'));
    }
    trace.to_string()
}

/// Text from outside, such as a message of the program, in a form that a terminal does not obey. Where standard error
/// is no terminal it stays as it is.
pub fn harmless(text: &str) -> String {
    if !std::io::stderr().is_terminal() {
        return text.to_string();
    }
    text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c }).collect()
}
