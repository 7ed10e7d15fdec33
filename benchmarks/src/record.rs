//! What is kept of a measurement: every sample, the machine, the options, in one JSON file. The file is opened for
//! writing beside its final place before anything is measured, so that a path that cannot be written is an error at once,
//! and moved there when it is complete, so that nobody ever finds half of it. (A device or a pipe is written to as it is.)

use crate::machine::Machine;
use crate::measure::{Ending, Measurement};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};

/// Changes when a reader of such files would have to.
const FORMAT: u32 = 1;

/// A whole file.
#[derive(Serialize)]
pub struct Record {
    format: u32,
    machine: Machine,
    /// The flags of the measurement, by name.
    options: BTreeMap<&'static str, String>,
    programs: Vec<ProgramRecord>,
}

/// One program.
#[derive(Serialize)]
struct ProgramRecord {
    name: &'static str,
    suite: String,
    size: u64,
    iterations: u64,
    verified: bool,
    /// Why it is not verified.
    reason: Option<String>,
    samples_ns: Vec<u64>,
    minor_collections: u64,
    full_collections: u64,
    total_pause_ns: u64,
    allocated_bytes: u64,
    maximum_committed_bytes: u64,
    ticks: u64,
    yieldpoints_taken: u64,
}

impl Record {
    /// The record of these measurements.
    pub fn new(
        machine: Machine,
        options: BTreeMap<&'static str, String>,
        measurements: &[Measurement],
    ) -> Record {
        let programs = measurements.iter().map(program).collect();
        Record { format: FORMAT, machine, options, programs }
    }
}

fn program(measurement: &Measurement) -> ProgramRecord {
    let heap = &measurement.statistics.heap;
    ProgramRecord {
        name: measurement.benchmark.name,
        suite: measurement.benchmark.suite.to_string(),
        size: measurement.size,
        iterations: measurement.iterations,
        verified: measurement.ending == Ending::Verified,
        reason: match &measurement.ending {
            Ending::Verified => None,
            Ending::Failed(reason) => Some(reason.clone()),
            Ending::Interrupted => Some("interrupted".to_string()),
        },
        samples_ns: measurement.samples.clone(),
        minor_collections: heap.minor_collections,
        full_collections: heap.full_collections,
        total_pause_ns: heap.total_pause.as_nanos() as u64,
        allocated_bytes: heap.allocated_bytes,
        maximum_committed_bytes: heap.maximum_committed_bytes as u64,
        ticks: measurement.statistics.ticks,
        yieldpoints_taken: measurement.statistics.yieldpoints_taken,
    }
}

/// A file that is being made. Dropped before it is finished, it leaves nothing behind.
#[derive(Debug)]
pub struct RecordFile {
    path: PathBuf,
    /// Where it is made; `None` if it is written in place.
    temporary: Option<PathBuf>,
    file: Option<File>,
}

impl RecordFile {
    /// Prepares to write `path`.
    pub fn create(path: &Path) -> Result<RecordFile> {
        let name = path.file_name().ok_or_else(|| Error::from(ErrorKind::IsADirectory))?;
        if path.is_dir() {
            return Err(ErrorKind::IsADirectory.into());
        }
        // What exists and is no plain file (a device, a pipe) is written to, not replaced; links are followed.
        let path = &path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let existing = std::fs::metadata(path).ok();
        if existing.as_ref().is_some_and(|metadata| !metadata.is_file()) {
            let file = File::options().write(true).open(path)?;
            return Ok(RecordFile { path: path.clone(), temporary: None, file: Some(file) });
        }
        let name = path.file_name().unwrap_or(name);
        let temporary = path.with_file_name(format!(".{}.{}", name.to_string_lossy(), std::process::id()));
        let file = File::create(&temporary)?;
        if let Some(metadata) = existing {
            file.set_permissions(metadata.permissions())?;
        }
        Ok(RecordFile { path: path.clone(), temporary: Some(temporary), file: Some(file) })
    }

    /// Writes the record and moves the file to its place.
    pub fn finish(self, record: &impl Serialize) -> Result<()> {
        self.finish_with(|file| {
            serde_json::to_writer_pretty(&mut *file, record)?;
            file.write_all(b"\n")
        })
    }

    /// The same for what is not one record.
    pub fn finish_with(mut self, write: impl FnOnce(&mut BufWriter<File>) -> Result<()>) -> Result<()> {
        if let Some(file) = self.file.take() {
            let mut file = BufWriter::new(file);
            let written = (|| {
                write(&mut file)?;
                file.flush()?;
                match &self.temporary {
                    Some(temporary) => {
                        file.get_ref().sync_all()?;
                        std::fs::rename(temporary, &self.path)
                    }
                    None => Ok(()),
                }
            })();
            if let (Err(_), Some(temporary)) = (&written, &self.temporary) {
                let _ = std::fs::remove_file(temporary);
            }
            return written;
        }
        Ok(())
    }
}

impl Drop for RecordFile {
    fn drop(&mut self) {
        if let (Some(_), Some(temporary)) = (self.file.take(), &self.temporary) {
            // If it cannot be removed, it is in nobody's way.
            let _ = std::fs::remove_file(temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::find;

    #[test]
    fn a_record_appears_whole_or_not_at_all() {
        let folder = std::env::temp_dir().join(format!("holloway-record-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        let files = || std::fs::read_dir(&folder).expect("it is there").count();
        let path = folder.join("times.json");
        drop(RecordFile::create(&path).expect("writable"));
        assert_eq!(files(), 0);
        let file = RecordFile::create(&path).expect("writable");
        let measurement =
            Measurement::failed(find("cd").expect("registered"), 10, 2, "it failed".to_string());
        file.finish(&Record::new(Machine::describe(), BTreeMap::new(), &[measurement])).expect("written");
        assert_eq!(files(), 1);
        let text = std::fs::read_to_string(&path).expect("written");
        let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(value["programs"][0]["reason"], "it failed");
        assert_eq!(value["programs"][0]["verified"], false);
        assert!(RecordFile::create(&folder).is_err());
        assert!(RecordFile::create(&folder.join("none/times.json")).is_err());
        std::fs::remove_dir_all(&folder).expect("it is ours");
    }
}
