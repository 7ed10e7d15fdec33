//! Starting the binary and seeing what it does.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The binary with these arguments, in an environment that says nothing about colours.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_holloway"));
    command.args(arguments).stdin(Stdio::null());
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR"] {
        command.env_remove(variable);
    }
    command
}

/// What a run of the binary came to.
#[derive(Debug)]
pub struct Seen {
    /// Exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl From<Output> for Seen {
    fn from(output: Output) -> Seen {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("everything printed is UTF-8");
        Seen { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// Runs the binary to its end.
pub fn holloway(arguments: &[&str]) -> Seen {
    command(arguments).output().expect("the binary starts").into()
}

/// Starts the binary with its output caught.
pub fn start(arguments: &[&str]) -> Child {
    command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts")
}

/// What `holloway profile` answers to these arguments, which it has to.
pub fn shown(arguments: &[&str]) -> String {
    let seen = holloway(&[&["profile"], arguments].concat());
    assert_eq!((seen.code, &*seen.err), (Some(0), ""), "{arguments:?}: {}{}", seen.out, seen.err);
    seen.out
}

/// Sends a signal, such as `INT`; if it can be handled, once the process does: on a busy machine it takes a while to start.
pub fn signal(child: &Child, name: &str) {
    let number = [("INT", 2), ("TERM", 15)].iter().find(|(handled, _)| *handled == name);
    let handles = |number: u32| {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        mask.is_some_and(|mask| {
            u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask >> (number - 1) & 1 == 1)
        })
    };
    if let Some(&(_, number)) = number {
        let start = Instant::now();
        while !handles(number) && start.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    let sent = Command::new("sh").arg("-c").arg(format!("kill -{name} {}", child.id())).status();
    assert!(sent.expect("there is a shell").success());
}

/// Waits for the end, but not for ever, reading meanwhile what it prints. How long it took.
pub fn end(mut child: Child, patience: Duration) -> (Seen, Duration) {
    let start = Instant::now();
    let out = child.stdout.take().map(read_all);
    let err = child.stderr.take().map(read_all);
    while child.try_wait().expect("it is ours").is_none() {
        if start.elapsed() > patience {
            child.kill().expect("it runs");
            panic!("it did not end within {patience:?}");
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let took = start.elapsed();
    let text = |reader: Option<JoinHandle<Vec<u8>>>| {
        let bytes = reader.map(|reader| reader.join().expect("it does not panic")).unwrap_or_default();
        String::from_utf8(bytes).expect("everything printed is UTF-8")
    };
    let code = child.wait().expect("it ended").code();
    (Seen { code, out: text(out), err: text(err) }, took)
}

fn read_all(mut stream: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What came before an error is all there is.
        let _ = stream.read_to_end(&mut bytes);
        bytes
    })
}

/// The path of a program in `tests/cases/cli`.
pub fn case(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/cli").join(name);
    path.to_str().expect("a readable path").to_string()
}

/// An empty folder for one test.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("cargo's folder for temporary files");
    folder
}

/// A file with these bytes; its path.
pub fn file(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) -> String {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder");
    std::fs::write(&path, bytes).expect("a file");
    path.to_str().expect("a readable path").to_string()
}
