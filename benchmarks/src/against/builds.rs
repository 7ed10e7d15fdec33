//! Compiling the originals that need it, outside of the checkout. What was compiled is kept in the user's folder for caches,
//! under a name that depends on all sources, the options and the version of the compiler: whatever changes, what is found
//! there is what would be built. (A folder that several users share would be wrong: what is found is run.)

use crate::against::process::{Bounds, Failure, succeed};
use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders of ours.
#[derive(Debug)]
pub struct Places {
    /// Where builds are kept.
    pub cache: PathBuf,
    /// For files that nobody needs later; removed in the end.
    pub scratch: PathBuf,
}

impl Places {
    /// Makes the scratch folder. Builds are kept there, too, if the user has no folder for caches.
    pub fn new() -> io::Result<Places> {
        let scratch = scratch()?;
        let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let caches = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
        let cache = caches.map(|caches| caches.join("holloway"));
        let cache =
            cache.filter(|cache| fs::create_dir_all(cache).is_ok()).unwrap_or_else(|| scratch.clone());
        Ok(Places { cache, scratch })
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        // If it cannot be removed, it is in nobody's way.
        let _ = fs::remove_dir_all(&self.scratch);
    }
}

/// A new folder among the temporary files. That it is new is what keeps others from having prepared it.
fn scratch() -> io::Result<PathBuf> {
    let parent = std::env::temp_dir();
    let mut attempt = 0;
    loop {
        let folder = parent.join(format!("holloway-against-{}-{attempt}", std::process::id()));
        match fs::create_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 1000 => attempt += 1,
            made => return made.map(|()| folder),
        }
    }
}

/// What to compile, and how.
pub struct Build<'a> {
    /// Whose build it is.
    pub name: &'static str,
    /// What makes it another build if it changes, besides the sources and options.
    pub version: &'a str,
    /// The compiler.
    pub compiler: &'static str,
    /// Its options.
    pub options: &'a [&'a str],
    /// The folder of the sources.
    pub sources: PathBuf,
    /// How the names of the files to compile end, without a dot. The others may be included.
    pub extension: &'static str,
    /// The options that make it write into a folder.
    pub output: &'a dyn Fn(&Path) -> Vec<OsString>,
}

/// The folder with what comes of it.
pub fn build(build: &Build<'_>, places: &Places, bounds: Bounds<'_>) -> Result<PathBuf, String> {
    let cannot = |error: io::Error| format!("cannot compile the {} originals: {error}", build.name);
    let mut sources = Vec::new();
    files(&build.sources, &mut sources).map_err(cannot)?;
    sources.sort();
    let mut hasher = DefaultHasher::new();
    (build.version, build.compiler, build.options).hash(&mut hasher);
    for source in &sources {
        let name = source.strip_prefix(&build.sources).unwrap_or(source);
        (name, fs::read(source).map_err(cannot)?).hash(&mut hasher);
    }
    let finished = places.cache.join(format!("against-{}-{:016x}", build.name, hasher.finish()));
    if finished.is_dir() {
        return Ok(finished);
    }
    // Built beside its place and moved there, so that nobody ever finds half of it.
    let unfinished = finished.with_extension(std::process::id().to_string());
    fs::create_dir_all(&unfinished).map_err(cannot)?;
    let mut command = Command::new(build.compiler);
    command.args(build.options).args((build.output)(&unfinished));
    command
        .args(sources.iter().filter(|source| source.extension().is_some_and(|end| end == build.extension)));
    let built = succeed(command.current_dir(&places.scratch), bounds).map_err(|failure| match failure {
        Failure::Failed(reason) => format!("`{}` cannot compile the originals: {reason}", build.compiler),
        Failure::Stopped => "interrupted".to_string(),
    });
    let moved = built.and_then(|_| fs::rename(&unfinished, &finished).map_err(cannot));
    if moved.is_err() {
        // Somebody else may have been faster; or it failed, and then there is nothing to keep.
        let _ = fs::remove_dir_all(&unfinished);
    }
    match moved {
        Err(reason) if !finished.is_dir() => Err(reason),
        _ => Ok(finished),
    }
}

/// Collects the files in a folder and in those below it.
fn files(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()? {
            kind if kind.is_dir() => files(&entry.path(), found)?,
            kind if kind.is_file() => found.push(entry.path()),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::time::Duration;

    const PATIENT: Bounds<'static> = Bounds { limit: Duration::from_secs(60), stop: &|| false };

    fn copy<'a>(sources: &Path, options: &'a [&'a str]) -> Build<'a> {
        Build {
            name: "copy",
            version: "1",
            compiler: "cp",
            options,
            sources: sources.to_path_buf(),
            extension: "x",
            output: &|folder| vec!["-t".into(), folder.into()],
        }
    }

    #[test]
    fn builds_are_kept_until_something_changes() {
        let scratch = scratch().expect("a temporary folder");
        let places = Places { cache: scratch.join("cache"), scratch: scratch.clone() };
        let sources = scratch.join("sources");
        fs::create_dir_all(sources.join("below")).expect("a folder");
        fs::write(sources.join("below/a.x"), "one").expect("a file");
        fs::write(sources.join("b.h"), "included").expect("a file");
        let first = build(&copy(&sources, &["-f"]), &places, PATIENT).expect("it can be copied");
        let names: Vec<_> =
            fs::read_dir(&first).expect("it is there").map(|e| e.expect("a file").file_name()).collect();
        assert_eq!(names, ["a.x"]);
        // It is not built again: what was added is still there.
        fs::write(first.join("mark"), "").expect("a file");
        assert_eq!(build(&copy(&sources, &["-f"]), &places, PATIENT), Ok(first.clone()));
        assert!(first.join("mark").exists());
        fs::write(sources.join("b.h"), "changed").expect("a file");
        assert_ne!(build(&copy(&sources, &["-f"]), &places, PATIENT), Ok(first));
        let failure = build(&copy(&sources, &["--no-such-option"]), &places, PATIENT);
        assert!(failure.is_err_and(|reason| reason.starts_with("`cp` cannot compile the originals:")));
        assert_eq!(fs::read_dir(&places.cache).expect("it is there").count(), 2);
        drop(places);
        assert!(!scratch.exists());
    }
}
