//! `perf-PID.map` in the folder for temporary files: where Linux `perf` looks for the names of code that lies in no file. A line for
//! each piece: its first byte and its length in hexadecimal, and its name. Where pieces overlap because memory was used again, the
//! later line counts.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// The map of this process. Several machines may write into one.
#[derive(Clone, Debug)]
pub struct PerfMap(Arc<Mutex<File>>);

impl PerfMap {
    /// Where it lies.
    pub fn path() -> PathBuf {
        // Not where the environment says: `perf` does not ask it either.
        ["/", "tmp", &format!("perf-{}.map", std::process::id())].iter().collect()
    }

    /// An empty map.
    pub fn create() -> std::io::Result<PerfMap> {
        let mut options = OpenOptions::new();
        // Anybody may have put a link there.
        options.write(true).create(true).truncate(true).custom_flags(libc::O_NOFOLLOW);
        Ok(PerfMap(Arc::new(Mutex::new(options.open(PerfMap::path())?))))
    }

    /// Adds pieces: address, bytes, name.
    pub(super) fn lines(&self, pieces: impl IntoIterator<Item = (u64, usize, String)>) {
        let mut text = String::new();
        for (address, bytes, name) in pieces {
            let _ = writeln!(text, "{address:x} {bytes:x} {name}");
        }
        // Without a place to write to there is no map, which is no reason to end a program.
        let _ = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).write_all(text.as_bytes());
    }
}
