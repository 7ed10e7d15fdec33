//! The benchmark programs: one table, from which names, help, tests and reports derive.
//!
//! A default size is one at which an iteration takes the interpreter between 50 and 200 milliseconds, where the program
//! has such a size: long enough for the clock, short enough for many iterations. Those of the phased programs and of the probes
//! take the optimizing tier 20 to 100 milliseconds instead, those of the applications 100 to 500: it is compiled code that they ask about. A quick size is the
//! smallest with a known result that still runs all of the program.

use std::fmt;

/// Where a program comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Suite {
    /// "Are We Fast Yet" (Marr, Daloze, Mössenböck; DLS 2016).
    AreWeFastYet,
    /// Java Grande Forum, sequential kernels (Bull and others; 2000).
    JavaGrande,
    /// Our own programs whose behaviour changes by phases, in known ways at known times.
    Phased,
    /// Our own programs of which the right profile is known beforehand.
    Probes,
    /// Our own programs of the kinds that the papers on profiling measured with.
    Applications,
}

impl Suite {
    /// All suites.
    pub const ALL: [Suite; 5] =
        [Suite::AreWeFastYet, Suite::JavaGrande, Suite::Phased, Suite::Probes, Suite::Applications];

    /// The suite with this folder.
    pub fn named(folder: &str) -> Option<Suite> {
        Suite::ALL.into_iter().find(|suite| suite.folder() == folder)
    }

    /// Is it made of programs that others chose, and that do the same all the time. What is generally true of programs is
    /// measured with these; the others are made to show something.
    pub const fn is_classic(self) -> bool {
        matches!(self, Suite::AreWeFastYet | Suite::JavaGrande)
    }

    /// Its programs.
    pub fn benchmarks(self) -> impl Iterator<Item = &'static Benchmark> {
        BENCHMARKS.iter().filter(move |benchmark| benchmark.suite == self)
    }

    /// The folder of its programs.
    pub const fn folder(self) -> &'static str {
        match self {
            Suite::AreWeFastYet => "awfy",
            Suite::JavaGrande => "jgf",
            Suite::Phased => "phased",
            Suite::Probes => "probes",
            Suite::Applications => "apps",
        }
    }
}

impl fmt::Display for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Suite::AreWeFastYet => "Are We Fast Yet",
            Suite::JavaGrande => "Java Grande",
            Suite::Phased => "phased programs",
            Suite::Probes => "probes",
            Suite::Applications => "applications",
        })
    }
}

/// A benchmark program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Benchmark {
    /// Its name on the command line, and of its main file.
    pub name: &'static str,
    /// Where it comes from.
    pub suite: Suite,
    /// What `--size default` means.
    pub default_size: u64,
    /// What `--size quick` means.
    pub quick_size: u64,
    /// What a size counts.
    pub size_counts: &'static str,
    /// What is compared with a known result in every iteration.
    pub verifies: &'static str,
}

impl Benchmark {
    /// The path of its main file among the embedded ones.
    pub fn file(&self) -> String {
        format!("{}/{}.hol", self.suite.folder(), self.name)
    }

    /// Do its threads wait for each other, so that what they do depends on where they are switched? Tiers have yieldpoints in other places,
    /// so only where no tick switches them all do the same.
    pub fn depends_on_switches(&self) -> bool {
        matches!(self.name, "market" | "tracer")
    }
}

macro_rules! benchmarks {
    ($($suite:ident $name:literal default $default:literal quick $quick:literal $counts:literal, $verifies:literal;)*) => {
        /// All programs, by suite and name.
        pub const BENCHMARKS: &[Benchmark] = &[$(Benchmark {
            name: $name,
            suite: Suite::$suite,
            default_size: $default,
            quick_size: $quick,
            size_counts: $counts,
            verifies: $verifies,
        }),*];
    };
}

benchmarks! {
    AreWeFastYet "bounce" default 500 quick 5 "repetitions", "bounces of all balls";
    AreWeFastYet "cd" default 20 quick 2 "aircraft", "number of collisions";
    AreWeFastYet "deltablue" default 5000 quick 10 "constraints in the chain", "values of all variables";
    AreWeFastYet "havlak" default 15 quick 1 "searches of the small graph", "numbers of loops and nodes";
    AreWeFastYet "json" default 10 quick 1 "repetitions", "shape of the parsed document";
    AreWeFastYet "list" default 200 quick 2 "repetitions", "length of the resulting list";
    AreWeFastYet "mandelbrot" default 250 quick 10 "side of the picture", "checksum of the picture";
    AreWeFastYet "nbody" default 10000 quick 10 "time steps", "energy of the system, to the last bit";
    AreWeFastYet "permute" default 200 quick 1 "repetitions", "number of permutations";
    AreWeFastYet "queens" default 200 quick 1 "repetitions", "that all queens could be placed";
    AreWeFastYet "richards" default 5 quick 1 "repetitions", "packets queued and tasks held";
    AreWeFastYet "sieve" default 400 quick 1 "repetitions", "number of primes";
    AreWeFastYet "storage" default 50 quick 1 "repetitions", "number of arrays in the tree";
    AreWeFastYet "towers" default 100 quick 1 "repetitions", "number of moves";
    JavaGrande "fft" default 16384 quick 1024 "complex numbers", "sums of the transform and of its inverse";
    JavaGrande "heapsort" default 10000 quick 10000 "numbers", "that they are sorted, and a hash of them";
    JavaGrande "moldyn" default 4 quick 4 "cubes of four atoms along each side", "kinetic energy and interactions";
    JavaGrande "raytracer" default 25 quick 25 "side of the picture", "checksum of the picture";
    Phased "depot" default 8000 quick 4 "rounds", "what the books of each phase come to";
    Phased "dispatcher" default 3000 quick 2 "rounds", "what all handlers remember and answer";
    Phased "guests" default 2000 quick 4 "rounds", "the result of each guest";
    Phased "orders" default 6000 quick 2 "rounds", "a hash of all prices";
    Phased "post" default 8000 quick 2 "rounds", "a hash of all charges";
    Phased "shapes" default 3000 quick 2 "rounds", "paint that all hits take";
    Phased "sparse" default 6000 quick 2 "rounds", "the weighted product, computed by columns";
    Phased "tokenizer" default 2000 quick 2 "rounds", "a hash of all tokens";
    Probes "addition" default 20000 quick 1 "repetitions", "the numbers after so many additions, by powers of what a turn does";
    Probes "adversary" default 150000 quick 100 "repetitions", "numbers of calls, and the state after so many steps";
    Probes "creation" default 300 quick 1 "repetitions", "the sum of what was stored in the arrays";
    Probes "decoder" default 1000 quick 1 "repetitions", "all readings, and how often each was out of range";
    Probes "division" default 600 quick 1 "repetitions", "that quotients undo products";
    Probes "ledger" default 1000 quick 1 "repetitions", "takings, and the calls of each receiver";
    Probes "oddeven" default 1000 quick 1 "repetitions", "differences of sums: odd and even places, first and second half";
    Probes "sorter" default 200 quick 1 "rounds of 256 batches", "the sum of all charges, from how often each question is answered either way";
    Probes "subpath" default 10000 quick 1 "rounds of 576 visits", "the sum of all visits, from how often each way is taken";
    Applications "black" default 2376 quick 8 "rows", "each pixel, blurred in another way";
    Applications "black8" default 2376 quick 8 "rows", "each pixel, blurred in another way";
    Applications "compiler" default 1400 quick 1 "programs to compile", "what compiled programs print, and why wrong ones are turned down";
    Applications "lexgen" default 90 quick 1 "specifications", "states of the smallest automata, and all tokens of texts";
    Applications "lzw" default 256 quick 1 "blocks of 32 KiB", "that what was compressed comes back, and a digest of its compressed form";
    Applications "machine" default 4 quick 1 "rounds over nine programs of firmware", "results computed in another way, cycles, frames, monitors that agree, and a digest";
    Applications "scheme" default 1 quick 1 "rounds over twenty-five programs in Scheme", "values written beside the programs, three engines that agree, values computed in another way, and a digest";
    Applications "sqldb" default 1 quick 1 "rounds of queries, changes and business", "queries planned in five ways and answered naively, values and errors written beside them, rollbacks, a ledger, and a digest";
    Applications "market" default 10000 quick 20 "transactions of each thread", "what must hold of the tables, and a digest of them";
    Applications "masks" default 9504 quick 8 "rows", "each pixel, blurred in another way, and a digest of the picture";
    Applications "masks8" default 9504 quick 8 "rows", "each pixel, blurred in another way, and a digest of the picture";
    Applications "montecarlo" default 20000 quick 1 "thousands of points", "how many points lie inside, and the first of them in whole numbers";
    Applications "rules" default 200 quick 1 "repetitions", "all facts that follow, and how often each rule is run";
    Applications "tags" default 1000 quick 1 "repetitions", "all tokens and tags of a text made of known ones";
    Applications "tracer" default 384 quick 8 "side of the picture", "a digest of the picture, and some rows made without threads";
    Applications "xslt" default 15 quick 1 "rounds over four documents", "documents read again, answers against walks over the tree, and totals";
}

/// The program of this name, or a message that helps: names like it, and all names.
pub fn find(name: &str) -> Result<&'static Benchmark, String> {
    if let Some(found) = BENCHMARKS.iter().find(|b| b.name == name) {
        return Ok(found);
    }
    let close: Vec<&str> =
        BENCHMARKS.iter().map(|b| b.name).filter(|known| is_close(&name.to_lowercase(), known)).collect();
    let suggestion = match close.is_empty() {
        true => String::new(),
        false => format!("; did you mean {}?", close.join(" or ")),
    };
    let all: Vec<&str> = BENCHMARKS.iter().map(|b| b.name).collect();
    Err(format!("there is no benchmark program '{name}'{suggestion}\nthe programs are: {}", all.join(", ")))
}

/// Is it likely that `written` was meant to be `known`: its beginning, or at most two letters away (one for short names).
fn is_close(written: &str, known: &str) -> bool {
    let allowed = if known.len() <= 4 { 1 } else { 2 };
    (written.len() >= 2 && known.starts_with(written)) || distance(written, known) <= allowed
}

/// How many letters must be inserted, removed or replaced to make one text the other.
pub fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_different_and_suites_complete() {
        let mut names: Vec<&str> = BENCHMARKS.iter().map(|b| b.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), BENCHMARKS.len());
        assert_eq!(Suite::ALL.map(|suite| suite.benchmarks().count()), [14, 4, 8, 9, 16]);
        assert!(BENCHMARKS.iter().all(|b| b.quick_size <= b.default_size));
        assert!(Suite::ALL.iter().all(|&suite| Suite::named(suite.folder()) == Some(suite)));
    }

    #[test]
    fn unknown_names_are_met_with_suggestions() {
        assert_eq!(find("sieve").map(|b| b.file()), Ok("awfy/sieve.hol".to_string()));
        assert_eq!(find("fft").map(|b| b.file()), Ok("jgf/fft.hol".to_string()));
        for (written, meant) in
            [("Richard", "richards"), ("seive", "sieve"), ("heap", "heapsort"), ("ftt", "fft")]
        {
            let message = find(written).expect_err("no such program");
            assert!(message.contains(&format!("did you mean {meant}?")), "{message}");
        }
        let message = find("quicksort").expect_err("no such program");
        assert!(!message.contains("did you mean") && message.contains("bounce, cd,"), "{message}");
    }
}
