//! The source texts of the benchmark programs, compiled in: what is measured is what this binary was built from, in
//! whatever folder it runs.

use holloway_lang::pipeline::SourceLoader;

/// All files below `benchmarks/programs`, as (path, text), ordered by path.
pub const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// Loads embedded files.
pub struct Embedded;

impl SourceLoader for Embedded {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        let found = FILES.binary_search_by_key(&path, |(name, _)| name);
        found.map(|at| FILES[at].1.as_bytes().to_vec()).map_err(|_| "there is no such file".to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::BENCHMARKS;

    #[test]
    fn every_benchmark_is_embedded() {
        for benchmark in BENCHMARKS {
            assert!(Embedded.load(&benchmark.file()).is_ok(), "{}", benchmark.file());
        }
        assert!(Embedded.load("awfy/none.hol").is_err());
    }

    #[test]
    fn every_main_program_is_registered() {
        let mains = FILES
            .iter()
            .filter(|(path, text)| text.contains("\nfn main()") && path.matches('/').count() == 1);
        for (path, _) in mains {
            assert!(BENCHMARKS.iter().any(|b| b.file() == *path), "{path} is not in the registry");
        }
    }
}
