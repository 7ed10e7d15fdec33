//! Results on disk, as they come.
//!
//! A store is a folder with one file, `cells.jsonl`. Its first line is the [`Header`]: with what, where and in which mode it was
//! measured. Each other line is the result of a cell, good or bad; of several results of a cell the last counts. A line is written and
//! flushed to the disk before the next cell begins, so whatever ends the process, all lines but the last are whole. A last line
//! that is torn is recognised by its missing line end or by not being JSON; it is cut off when the store is opened for more.
//!
//! Who adds to a store holds a lock on the file, which the system gives back when the process ends, however it does.

mod header;
mod merge;

pub use header::Header;
pub use merge::merge;

use crate::cell::Outcome;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The file in the folder.
pub const FILE: &str = "cells.jsonl";

/// What became of a cell.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CellResult {
    /// The key of the cell.
    pub cell: String,
    /// How long it took.
    pub seconds: f64,
    /// What it came to, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Why it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What is known, by the keys of cells.
pub type Cells = BTreeMap<String, CellResult>;

/// A store that can be read.
#[derive(Clone, PartialEq, Debug)]
pub struct Stored {
    /// The first line.
    pub header: Header,
    /// The others.
    pub cells: Cells,
    /// Bytes of the file that are whole lines.
    whole: u64,
}

/// A store that is being added to.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    file: File,
    /// Bytes of the file that are whole lines.
    whole: u64,
    /// A line could not be written: nothing comes behind it.
    is_broken: bool,
}

fn cannot(what: &str, path: &Path, error: &std::io::Error) -> String {
    format!("cannot {what} {}: {error}", path.display())
}

/// The name of a new file, too, is to be on the disk.
fn sync_folder(folder: &Path) {
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

/// Reads a store.
pub fn read(folder: &Path) -> Result<Stored, String> {
    let path = folder.join(FILE);
    let mut file = File::open(&path).map_err(|error| cannot("read", &path, &error))?;
    read_file(&mut file, &path)?.ok_or_else(|| format!("{} holds no results", path.display()))
}

/// Nothing if there is not even a header.
fn read_file(file: &mut File, path: &Path) -> Result<Option<Stored>, String> {
    let mut text = Vec::new();
    file.read_to_end(&mut text).map_err(|error| cannot("read", path, &error))?;
    let mut lines = text.split_inclusive(|&byte| byte == b'\n');
    let Some(first) = lines.next().filter(|line| line.ends_with(b"\n")) else {
        return match text.starts_with(header::BEGINNING) || header::BEGINNING.starts_with(&text) {
            true => Ok(None),
            false => Err(format!("{} is not a store of results", path.display())),
        };
    };
    let header: Header = serde_json::from_slice(first)
        .map_err(|error| format!("{} is not a store of results: {error}", path.display()))?;
    header.check_version(path)?;
    let (mut cells, mut whole, mut at) = (Cells::new(), first.len() as u64, 1);
    let mut torn: Option<usize> = None;
    for line in lines {
        at += 1;
        if let Some(at) = torn {
            return Err(format!(
                "{}:{at}: this line is no result, and it is not the last; remove it, or use another --store",
                path.display()
            ));
        }
        match serde_json::from_slice::<CellResult>(line) {
            Ok(result) if line.ends_with(b"\n") => {
                whole += line.len() as u64;
                cells.insert(result.cell.clone(), result);
            }
            _ => torn = Some(at),
        }
    }
    Ok(Some(Stored { header, cells, whole }))
}

impl Store {
    /// Opens the store for adding, or makes it. What is known already comes back, too, with the header that the store has; `header` is what is
    /// to be measured now, which must fit.
    pub fn open(folder: &Path, header: &Header) -> Result<(Store, Stored), String> {
        std::fs::create_dir_all(folder).map_err(|error| cannot("make the folder", folder, &error))?;
        let path = folder.join(FILE);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|error| cannot("write", &path, &error))?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => format!(
                "another process writes to {}: wait for it, or use another --store (shards have one each)",
                path.display()
            ),
            TryLockError::Error(error) => cannot("lock", &path, &error),
        })?;
        let stored = read_file(&mut file, &path)?;
        let mut store = Store { path, file, whole: 0, is_broken: false };
        if let Some(stored) = stored {
            stored.header.must_be_as(header).map_err(|why| format!("{}: {why}", store.path.display()))?;
            store.cut(stored.whole)?;
            return Ok((store, stored));
        }
        store.cut(0)?;
        store.append(header)?;
        sync_folder(folder);
        Ok((store, Stored { header: header.clone(), cells: Cells::new(), whole: 0 }))
    }

    /// Takes away what is torn.
    fn cut(&mut self, whole: u64) -> Result<(), String> {
        self.whole = whole;
        let result = self.file.set_len(whole).and_then(|()| self.file.seek(SeekFrom::Start(whole)));
        result.map(drop).map_err(|error| cannot("write", &self.path, &error))
    }

    /// Adds a result. When this returns well, it is on the disk; if not, the lines before it still are.
    pub fn add(&mut self, result: &CellResult) -> Result<(), String> {
        self.append(result)
    }

    fn append(&mut self, line: &impl Serialize) -> Result<(), String> {
        let mut text = serde_json::to_vec(line).map_err(|error| error.to_string())?;
        text.push(b'\n');
        let written = match self.is_broken {
            true => Err(std::io::Error::other("a line before could not be written")),
            false => self.file.write_all(&text).and_then(|()| self.file.sync_data()),
        };
        let Err(error) = written else {
            self.whole += text.len() as u64;
            return Ok(());
        };
        // What others would add must not stand behind a part of a line.
        self.is_broken = true;
        let _ = self.cut(self.whole);
        Err(format!(
            "{}; what was measured before can be read, and the same command goes on from there",
            cannot("write", &self.path, &error)
        ))
    }
}

#[cfg(test)]
mod tests;
