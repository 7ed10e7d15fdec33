//! Several stores become one: those of shards.

use super::{Cells, FILE, Header, cannot, read, sync_folder};
use holloway_benchmarks::record::RecordFile;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes all results of the stores to a new one; how many there are. Stores of different kinds of machine, builds, modes or seeds are refused:
/// their numbers must not stand in one table. Of machines of one kind all are named in the new store.
pub fn merge(out: &Path, stores: &[PathBuf]) -> Result<usize, String> {
    let mut all = Cells::new();
    let mut first = None;
    for folder in stores {
        let stored = read(folder)?;
        let (name, header) = first.get_or_insert_with(|| (folder, stored.header.clone()));
        stored.header.must_be_alike(header).map_err(|why| {
            let (folder, name) = (folder.display(), name.display());
            format!(
                "{folder} cannot be joined with {name}: {why}; `experiment report` makes a report of each"
            )
        })?;
        if stored.header.began < header.began {
            header.began.clone_from(&stored.header.began);
        }
        header.hosts.extend(stored.header.hosts);
        for (key, result) in stored.cells {
            // A good result is not given up for one that failed.
            let is_better =
                all.get(&key).is_none_or(|known| known.outcome.is_none() || result.outcome.is_some());
            if is_better {
                all.insert(key, result);
            }
        }
    }
    let (_, header) = first.ok_or("name the stores that are to be joined")?;
    if out.join(FILE).exists() {
        return Err(format!("{} exists already: name a new folder", out.join(FILE).display()));
    }
    write(out, &header, &all)?;
    Ok(all.len())
}

/// Writes the file when all of it can be there: a part of a store looks like a store.
fn write(out: &Path, header: &Header, all: &Cells) -> Result<(), String> {
    std::fs::create_dir_all(out).map_err(|error| cannot("make the folder", out, &error))?;
    let path = out.join(FILE);
    let lines = |file: &mut BufWriter<File>| {
        serde_json::to_writer(&mut *file, header)?;
        for result in all.values() {
            file.write_all(b"\n")?;
            serde_json::to_writer(&mut *file, result)?;
        }
        file.write_all(b"\n")
    };
    let written = RecordFile::create(&path).and_then(|file| file.finish_with(lines));
    written.map_err(|error| cannot("write", &path, &error))?;
    sync_folder(out);
    Ok(())
}
