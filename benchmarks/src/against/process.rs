//! Running one process to its end, but not for ever: it is killed when its time is over or the user has had enough. What
//! it prints is read meanwhile by threads, so that it never waits for a full pipe.

use std::io::Read;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often the process is looked at.
const LOOK: Duration = Duration::from_millis(5);
/// How long after the end of a process its output may take to arrive. It is waited for only if somebody else, such as a
/// process that it left behind, holds the pipe open.
const STRAGGLERS: Duration = Duration::from_secs(1);
/// Ctrl-C reaches the process and us at the same time; it may be dead before we know why.
const NEWS: Duration = Duration::from_millis(100);
/// The longest reason for a failure that is shown.
const LONGEST_REASON: usize = 200;

/// Why there is no result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// Something is wrong, in one line.
    Failed(String),
    /// The user does not want it any more.
    Stopped,
}

/// What bounds a process.
#[derive(Clone, Copy)]
pub struct Bounds<'a> {
    /// The longest that it may take.
    pub limit: Duration,
    /// Has the user had enough.
    pub stop: &'a dyn Fn() -> bool,
}

/// What a process that ended by itself has printed.
#[derive(Debug)]
pub struct Printed {
    /// How it ended.
    pub status: ExitStatus,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

/// Runs a process to its end, however that is.
pub fn run(command: &mut Command, bounds: Bounds<'_>) -> Result<Printed, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let failed = |error: std::io::Error| Failure::Failed(format!("cannot run {name}: {error}"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let (out, err) = (child.stdout.take().map(read), child.stderr.take().map(read));
    let start = Instant::now();
    let ended = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Ok(status),
            Ok(None) if (bounds.stop)() => break Err(Failure::Stopped),
            Ok(None) if start.elapsed() > bounds.limit => {
                break Err(Failure::Failed(format!("it took longer than the limit of {:?}", bounds.limit)));
            }
            Ok(None) => sleep(LOOK),
            Err(error) => break Err(failed(error)),
        }
    };
    if ended.is_err() {
        // Fails only if it has ended meanwhile, which is as good.
        let _ = child.kill();
        let _ = child.wait();
    }
    let status = ended?;
    Ok(Printed { status, out: text(out), err: text(err) })
}

/// Runs a process that has to succeed.
pub fn succeed(command: &mut Command, bounds: Bounds<'_>) -> Result<Printed, Failure> {
    let printed = run(command, bounds)?;
    if printed.status.success() {
        return Ok(printed);
    }
    if !(bounds.stop)() {
        sleep(NEWS);
    }
    if (bounds.stop)() {
        return Err(Failure::Stopped);
    }
    Err(Failure::Failed(reason(&printed)))
}

fn read(mut stream: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What came before an error is all there is; and if nobody waits for it any more, so be it.
        let _ = stream.read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    receiver
}

fn text(receiver: Option<Receiver<Vec<u8>>>) -> String {
    let bytes = receiver.and_then(|receiver| receiver.recv_timeout(STRAGGLERS).ok()).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The line that most likely says what went wrong: one that speaks of an error, else the first on standard error, else the
/// last on standard output.
fn reason(printed: &Printed) -> String {
    let mut complaints = printed.err.lines().filter(|line| !line.trim().is_empty());
    let telling = |line: &&str| ["error", "exception"].iter().any(|word| line.to_lowercase().contains(word));
    let line = complaints
        .clone()
        .find(telling)
        .or_else(|| complaints.next())
        .or_else(|| printed.out.lines().rev().find(|line| !line.trim().is_empty()));
    let said: String = line.unwrap_or_default().trim().chars().filter(|c| !c.is_control()).collect();
    let said: String = said.chars().take(LONGEST_REASON).collect();
    match said.is_empty() {
        true => printed.status.to_string(),
        false => format!("{}: {said}", printed.status),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    const PATIENT: Bounds<'static> = Bounds { limit: Duration::from_secs(60), stop: &|| false };

    #[test]
    fn much_output_is_no_obstacle() {
        let script =
            "i=0; while [ $i -lt 4000 ]; do echo 0123456789012345678901234567890123456789; i=$((i+1)); done";
        let printed = succeed(&mut shell(script), PATIENT).expect("it succeeds");
        assert_eq!(printed.out.lines().count(), 4000);
    }

    #[test]
    fn failures_say_why() {
        let failure = |script| match succeed(&mut shell(script), PATIENT) {
            Err(Failure::Failed(reason)) => reason,
            other => panic!("{other:?}"),
        };
        let reason = failure("echo at work >&2; echo 'Error: wrong result' >&2; exit 3");
        assert!(reason.ends_with("3: Error: wrong result"), "{reason}");
        assert!(failure("echo first; echo incorrect result; exit 1").ends_with("1: incorrect result"));
        assert!(failure("exit 1").ends_with('1'));
        let nothing = run(&mut Command::new("/no/such/program"), PATIENT).map(|_| ());
        assert!(matches!(nothing, Err(Failure::Failed(reason)) if reason.contains("/no/such/program")));
    }

    #[test]
    fn nobody_waits_for_ever() {
        let short = Bounds { limit: Duration::from_millis(20), ..PATIENT };
        let late = run(&mut shell("sleep 60"), short).map(|_| ());
        assert_eq!(late, Err(Failure::Failed("it took longer than the limit of 20ms".to_string())));
        let stopped = run(&mut shell("sleep 60"), Bounds { stop: &|| true, ..PATIENT }).map(|_| ());
        assert_eq!(stopped, Err(Failure::Stopped));
    }
}
