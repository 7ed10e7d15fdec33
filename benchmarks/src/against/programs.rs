//! The programs that exist on both sides: what the originals call them, and sizes whose results all sides know.

use crate::registry::{Benchmark, Suite, find};

/// A program of the suite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Program {
    /// Our name for it.
    pub name: &'static str,
    /// What the originals call it.
    pub original: &'static str,
    /// The size to compare at: long enough for clocks that count microseconds, also in C++.
    pub size: u64,
    /// The smallest size that all sides know and none finishes within a microsecond, to see whether everything works.
    pub quick_size: u64,
}

macro_rules! programs {
    ($($name:literal $original:literal size $size:literal quick $quick:literal;)*) => {
        /// All of them, in the order of the registry.
        pub const PROGRAMS: &[Program] = &[$(Program {
            name: $name,
            original: $original,
            size: $size,
            quick_size: $quick,
        }),*];
    };
}

programs! {
    "bounce" "Bounce" size 1500 quick 5;
    "cd" "CD" size 100 quick 2;
    "deltablue" "DeltaBlue" size 12000 quick 100;
    "havlak" "Havlak" size 15 quick 1;
    "json" "Json" size 50 quick 1;
    "list" "List" size 1500 quick 5;
    "mandelbrot" "Mandelbrot" size 500 quick 500;
    "nbody" "NBody" size 250000 quick 250000;
    "permute" "Permute" size 1000 quick 5;
    "queens" "Queens" size 2000 quick 5;
    "richards" "Richards" size 20 quick 1;
    "sieve" "Sieve" size 3000 quick 5;
    "storage" "Storage" size 300 quick 5;
    "towers" "Towers" size 600 quick 5;
}

/// The programs of these names, in this order; all if none is named. Otherwise a message that says which there are.
pub fn select(names: &[String]) -> Result<Vec<&'static Program>, String> {
    if names.is_empty() {
        return Ok(PROGRAMS.iter().collect());
    }
    names.iter().map(|name| of(find(name)?)).collect()
}

fn of(benchmark: &Benchmark) -> Result<&'static Program, String> {
    PROGRAMS.iter().find(|program| program.name == benchmark.name).ok_or_else(|| {
        let names: Vec<&str> = PROGRAMS.iter().map(|program| program.name).collect();
        format!(
            "'{}' is from {}, not from {}, and cannot be compared\nthe programs are: {}",
            benchmark.name,
            benchmark.suite,
            Suite::AreWeFastYet,
            names.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_suite_is_here() {
        let registered = Suite::AreWeFastYet.benchmarks().map(|b| b.name);
        assert!(registered.eq(PROGRAMS.iter().map(|program| program.name)));
        for program in PROGRAMS {
            assert_eq!(program.original.to_lowercase(), program.name);
            assert!(program.quick_size <= program.size);
        }
    }

    #[test]
    fn only_programs_of_the_suite_are_selected() {
        let names = |names: &[&str]| select(&names.iter().map(|name| name.to_string()).collect::<Vec<_>>());
        assert_eq!(names(&[]).map(|all| all.len()), Ok(14));
        assert_eq!(names(&["towers", "cd"]).map(|two| [two[0].size, two[1].size]), Ok([600, 100]));
        assert!(names(&["seive"]).is_err_and(|message| message.contains("did you mean sieve?")));
        let message = names(&["fft"]).expect_err("it is a kernel of Java Grande");
        assert!(message.contains("Java Grande") && message.contains("bounce, cd"), "{message}");
    }
}
