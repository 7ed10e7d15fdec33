//! What the tests share: files with expectations, seeds, and random programs.
#![allow(dead_code)]

pub mod garbage;
pub mod graphs;
pub mod valid;

use rand::SeedableRng;
use std::path::{Path, PathBuf};

/// The generator of all random tests: the same numbers on every machine, in every version.
pub type Rng = rand::rngs::Xoshiro256PlusPlus;

/// Runs `test` for many seeds and says which one failed. `SEED=n` runs only that one.
pub fn for_seeds(count: u64, mut test: impl FnMut(u64, &mut Rng)) {
    /// Says the seed if the test does not come to its end.
    struct Guard(u64);
    impl Drop for Guard {
        fn drop(&mut self) {
            if std::thread::panicking() {
                eprintln!("failed with SEED={}", self.0);
            }
        }
    }
    let only: Option<u64> = std::env::var("SEED").ok().and_then(|s| s.parse().ok());
    for seed in only.map_or(0..count, |seed| seed..seed + 1) {
        let _guard = Guard(seed);
        test(seed, &mut Rng::seed_from_u64(seed));
    }
}

/// The files of a folder of this crate's tests with the ending `.hbc`, in order.
pub fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let entries = std::fs::read_dir(&folder).expect("test folder");
    let mut files: Vec<PathBuf> = entries
        .map(|e| e.expect("entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "hbc"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no tests in {}", folder.display());
    files
}

/// Compares what a test file says with what it should say; `BLESS=1` rewrites the file instead.
pub fn expect(path: &Path, actual: &str, failures: &mut Vec<String>) {
    let expected = std::fs::read_to_string(path).expect("test file");
    if expected == actual {
        return;
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, actual).expect("write test file");
        return;
    }
    let line = expected.lines().zip(actual.lines()).position(|(e, a)| e != a);
    let line = line.unwrap_or(expected.lines().count().min(actual.lines().count()));
    failures.push(format!(
        "{}:{}\n  expected: {}\n  actual:   {}",
        path.display(),
        line + 1,
        expected.lines().nth(line).unwrap_or("(end)"),
        actual.lines().nth(line).unwrap_or("(end)"),
    ));
}

/// Fails if there were failures, listing all of them.
pub fn report(failures: &[String]) {
    assert!(failures.is_empty(), "{}\n(BLESS=1 accepts what is)", failures.join("\n"));
}
