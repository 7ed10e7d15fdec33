//! What a path number costs: the k-slab forest against plain Ball-Larus tables over the same stream.
//!
//! `cargo run --release -p holloway-profilers --example kblpp_load [MILLIONS [ROUNDS [STREAM [CONSUMER]]]]`
//!
//! For each stream (see `streams`) and each consumer: nanoseconds per path number, the minimum and the median of the
//! rounds, which interleave the consumers; then what is deterministic, the hash operations, the siblings passed, the
//! nodes and the bytes. Every consumer is called through a function that is not inlined, once per path end with its
//! state in memory, as code that has run into a path end would call it. The paper's comparison (D'Elia & Demetrescu
//! 2013, figure 14) is `forest k=16` against a hash table: `open` is our own (open addressing, a table for each
//! version), `hashbrown` one general-purpose table for all.

use hashbrown::HashMap;
use holloway_profilers::kblpp::{Activation, Forest, K};
use holloway_profilers::schedule::SplitMix;
use holloway_profilers::stream::{PathTable, Storage};
use holloway_profilers::{PathNumber, VersionId};
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::hint::black_box;
use std::time::Instant;

/// Invocations one after the other: version and how many path numbers it has.
struct Stream {
    name: &'static str,
    invocations: Vec<(VersionId, u32)>,
    paths: Vec<PathNumber>,
}

impl Stream {
    /// A stream of about `length` numbers; `invocation` appends the numbers of one and says its version.
    fn of(
        name: &'static str,
        length: usize,
        mut invocation: impl FnMut(&mut Vec<PathNumber>) -> u32,
    ) -> Self {
        let (mut invocations, mut paths) = (Vec::new(), Vec::with_capacity(length));
        while paths.len() < length {
            let before = paths.len();
            let version = VersionId(invocation(&mut paths));
            invocations.push((version, (paths.len() - before) as u32));
        }
        Self { name, invocations, paths }
    }

    fn each(&self, mut invocation: impl FnMut(VersionId, &[PathNumber])) {
        let mut from = 0;
        for &(version, length) in &self.invocations {
            invocation(version, &self.paths[from..from + length as usize]);
            from += length as usize;
        }
    }
}

fn streams(length: usize) -> Vec<Stream> {
    let mut random = SplitMix::new(1);
    let mut below = move |n: u64| ((u128::from(random.bits()) * u128::from(n)) >> 64) as u64;
    let (mut below2, mut below3, mut below4, mut below5) = (below, below, below, below);
    vec![
        // The paper's masked convolution: long runs of one path, then of another.
        Stream::of("runs", length, move |paths| {
            let mut path = 1;
            for _ in 0..100_000 {
                if below(100) == 0 {
                    path = 3 - path;
                }
                paths.push(path);
            }
            0
        }),
        // A loop whose iterations repeat with period 5, as in the paper's checkTaskTag.
        Stream::of("periodic", length, |paths| {
            paths.extend([38, 86, 86, 86, 755].into_iter().cycle().take(5000));
            0
        }),
        // A loop of five paths, the hot one 70 %.
        Stream::of("biased", length, move |paths| {
            paths.extend((0..5000).map(|_| [0, 0, 0, 0, 0, 0, 0, 1, 2, 4][below2(10) as usize]));
            0
        }),
        // 200 methods, invocations of 1 to 60 iterations, each of them one of eight fixed courses.
        Stream::of("methods", length, move |paths| {
            let (method, course) = (below3(200), below3(8));
            let iterations = 1 + below3(60);
            let mut state = SplitMix::new(method * 8 + course);
            paths.extend((0..iterations).map(|_| state.bits() >> 61));
            method as u32
        }),
        // 2000 methods that loop little.
        Stream::of("short", length, move |paths| {
            let method = below4(2000);
            let iterations = 1 + below4(4);
            paths.extend((0..iterations).map(|iteration| method % 7 + iteration % 2));
            method as u32
        }),
        // The paper's outlier eclipse: many different paths at each node.
        Stream::of("scattered", length, move |paths| {
            paths.extend((0..2000).map(|_| below5(60) * below5(60) / 60));
            0
        }),
    ]
}

type Table = HashMap<(VersionId, PathNumber), u64, BuildHasherDefault<DefaultHasher>>;
type FastTable = HashMap<(VersionId, PathNumber), u64>;

#[inline(never)]
fn into_table(table: &mut PathTable, version: VersionId, path: PathNumber) {
    table.count(version, path);
}

#[inline(never)]
fn into_forest(forest: &mut Forest, activation: &mut Activation, version: VersionId, path: PathNumber) {
    forest.path(activation, version, path);
}

#[inline(never)]
fn into_siphash(table: &mut Table, version: VersionId, path: PathNumber) {
    *table.entry((version, path)).or_default() += 1;
}

#[inline(never)]
fn into_foldhash(table: &mut FastTable, version: VersionId, path: PathNumber) {
    *table.entry((version, path)).or_default() += 1;
}

/// The consumers that are timed. Each run begins with nothing.
const KS: [u32; 4] = [2, 4, 8, 16];

fn run(which: usize, stream: &Stream) {
    match which {
        0 => {
            let mut table = PathTable::new(Storage::USUAL);
            let versions = stream.invocations.iter().map(|(version, _)| version.0).max().unwrap_or(0);
            (0..=versions).for_each(|version| table.define(VersionId(version), 1024));
            stream
                .each(|version, paths| paths.iter().for_each(|&path| into_table(&mut table, version, path)));
            black_box(&table);
        }
        1 => {
            let mut table = PathTable::new(Storage::Hash);
            stream
                .each(|version, paths| paths.iter().for_each(|&path| into_table(&mut table, version, path)));
            black_box(&table);
        }
        2 => {
            let mut table = FastTable::default();
            stream.each(|version, paths| {
                paths.iter().for_each(|&path| into_foldhash(&mut table, version, path))
            });
            black_box(&table);
        }
        3 => {
            let mut table = Table::default();
            stream.each(|version, paths| {
                paths.iter().for_each(|&path| into_siphash(&mut table, version, path))
            });
            black_box(&table);
        }
        4..8 => {
            let mut forest = Forest::new(K::new(KS[which - 4]).expect("a valid k"));
            stream.each(|version, paths| {
                let mut activation = Activation::default();
                paths.iter().for_each(|&path| into_forest(&mut forest, &mut activation, version, path));
            });
            black_box(&forest);
        }
        _ => {
            let mut forest = Forest::new(K::new(16).expect("a valid k"));
            stream.each(|version, paths| forest.extend(&mut Activation::default(), version, paths));
            black_box(&forest);
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |position: usize, default: usize| {
        arguments
            .get(position)
            .map_or(default, |text| text.parse().expect("the first two arguments are numbers"))
    };
    let (millions, rounds) = (number(0, 10), number(1, 5).max(1));
    let wanted = |position: usize, name: &str| arguments.get(position).is_none_or(|wanted| wanted == name);
    let names = ["array", "open", "foldhash", "siphash", "k=2", "k=4", "k=8", "k=16", "k=16 batch"];
    for stream in streams(millions * 1_000_000).into_iter().filter(|stream| wanted(2, stream.name)) {
        let length = stream.paths.len() as f64;
        println!(
            "{}: {} path numbers, {} invocations",
            stream.name,
            stream.paths.len(),
            stream.invocations.len()
        );
        let mut times = vec![Vec::new(); names.len()];
        for _ in 0..rounds {
            for (which, times) in times.iter_mut().enumerate().filter(|&(which, _)| wanted(3, names[which])) {
                let begin = Instant::now();
                run(which, &stream);
                times.push(begin.elapsed().as_secs_f64() * 1e9 / length);
            }
        }
        for (name, mut times) in names.into_iter().zip(times).filter(|(_, times)| !times.is_empty()) {
            times.sort_unstable_by(f64::total_cmp);
            println!("  {name:<10} {:6.2} ns (median {:6.2})", times[0], times[times.len() / 2]);
        }
        for k in KS.into_iter().filter(|_| arguments.len() < 4) {
            let mut forest = Forest::new(K::new(k).expect("a valid k"));
            stream.each(|version, paths| forest.extend(&mut Activation::default(), version, paths));
            let s = forest.statistics();
            println!(
                "  k={k:<3} {:.4} chunks, {:.4} hash operations, {:.4} searches, {:.4} siblings per number; \
                 {} roots, {} nodes ({} wide), {:.1} MB",
                s.chunks as f64 / length,
                s.hash_operations as f64 / length,
                s.searches as f64 / length,
                s.sibling_steps as f64 / length,
                s.roots,
                s.nodes,
                s.wide_nodes,
                s.bytes as f64 / 1e6,
            );
        }
    }
}
