//! Which of the benchmark programs experiments are about.

/// The classic programs, which do the same all the time: "Are We Fast Yet" and Java Grande.
pub const CLASSIC: &[&str] = STEADY.split_at(18).0;

/// These, and larger ones that do the same all the time, too.
pub const STEADY: &[&str] = &[
    "bounce",
    "cd",
    "deltablue",
    "havlak",
    "json",
    "list",
    "mandelbrot",
    "nbody",
    "permute",
    "queens",
    "richards",
    "sieve",
    "storage",
    "towers",
    "fft",
    "heapsort",
    "moldyn",
    "raytracer",
    "compiler",
    "lexgen",
    "rules",
];

/// Applications, much larger than these, for full runs: a market of orders, a database, a transformer of documents, an interpreter of Scheme, a simulated
/// processor, a compressor.
pub const LARGE: &[&str] = &["market", "sqldb", "xslt", "scheme", "machine", "lzw"];

/// Of the large programs, the size that is enough of one: about as much work for an iteration as of the classic ones with the most.
pub fn enough(program: &str) -> Option<&'static str> {
    match program {
        "lzw" => Some("64"),
        "machine" => Some("1"),
        "xslt" => Some("4"),
        _ => None,
    }
}

/// Of the steady ones, for little time, those that differ most: few methods and many, with objects and without, and short samples.
pub const QUICK: &[&str] = &["richards", "json", "list", "storage", "queens", "mandelbrot"];

/// Of the classic ones, those that call less than once for each tick: of a handful of calls in a run no graph can be more or less accurate.
pub const WITHOUT_CALLS: &[&str] = &["mandelbrot", "nbody", "sieve"];

/// Of the classic ones, those whose loops are single blocks: next to nothing of what they execute is a path with an edge (33 executions in an iteration of
/// nbody), of which a trace could tell by which way they went.
const WITHOUT_PATHS: &[&str] = &["nbody"];

/// Those of whose traces a path can be told.
pub fn with_paths(mut names: Vec<&'static str>) -> Vec<&'static str> {
    names.retain(|name| !WITHOUT_PATHS.contains(name));
    names
}
