//! Files that are written when a machine has run, and opened before: a file that cannot be written is an error at once.

use crate::report::{Stop, cannot_write};
use holloway_benchmarks::record::RecordFile;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The file that a flag asks for, if it does. Written once, whoever holds a copy.
#[derive(Clone, Default, Debug)]
pub struct PromisedFile(Option<(PathBuf, Arc<Mutex<Option<RecordFile>>>)>);

impl PromisedFile {
    /// Opens it.
    pub fn open(path: Option<&Path>) -> Result<PromisedFile, Stop> {
        let Some(path) = path else { return Ok(PromisedFile(None)) };
        let file = RecordFile::create(path).map_err(|error| cannot_write(path, &error))?;
        Ok(PromisedFile(Some((path.to_path_buf(), Arc::new(Mutex::new(Some(file)))))))
    }

    /// Was it asked for.
    pub fn is_asked_for(&self) -> bool {
        self.0.is_some()
    }

    /// Writes what `record` gives, if the file was asked for.
    pub fn write<T: Serialize>(&self, record: impl FnOnce() -> T) -> Result<(), Stop> {
        let Some((path, file)) = &self.0 else { return Ok(()) };
        match file.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(file) => file.finish(&record()).map_err(|error| cannot_write(path, &error)),
            None => Ok(()),
        }
    }
}
