//! The k-slab forest and the k-iteration path forest: the running example of the paper node by node, its sizes for
//! several k, alternating against phased loops, and random streams against counting n-grams one by one.

use holloway_profilers::kblpp::{Activation, Forest, Gram, K, PathForest, Pruning, count_ngrams};
use holloway_profilers::{PathNumber, VersionId};
use rand::{RngExt, SeedableRng, rngs::SmallRng};
use std::collections::BTreeMap;

/// The stream of figure 3 of D'Elia & Demetrescu 2013.
const STREAM: [PathNumber; 14] = [6, 2, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 3];
const METHOD: VersionId = VersionId(0);

fn forest(k: u32, stream: &[PathNumber]) -> Forest {
    let mut forest = Forest::new(K::new(k).unwrap());
    forest.extend(&mut Activation::default(), METHOD, stream);
    forest
}

/// Lines like `620:1`, one for each gram.
fn lines(grams: &[holloway_profilers::kblpp::Gram]) -> Vec<String> {
    let digits = |paths: &[PathNumber]| paths.iter().map(ToString::to_string).collect::<String>();
    grams.iter().map(|gram| format!("{}:{}", digits(&gram.paths), gram.count)).collect()
}

fn counts(paths: &PathForest) -> BTreeMap<(VersionId, Vec<PathNumber>), u64> {
    paths.grams().into_iter().map(|gram| ((gram.version, gram.paths), gram.count)).collect()
}

/// KB-1: figure 10, with the node that the streaming algorithm adds to it (23, counter 0).
#[test]
fn slabs_of_the_running_example() {
    let forest = forest(4, &STREAM);
    let expected = "0:0 02:0 022:0 0220:1 02200:1 022002:1 00:0 002:0 0022:1 00220:1 002200:1 \
        2:0 20:0 200:0 2002:1 20023:1 23:0 6:1 62:1 620:1 6200:1 62002:1 620022:1";
    let mut expected: Vec<&str> = expected.split_whitespace().collect();
    let mut slabs = lines(&forest.slabs());
    expected.sort_unstable();
    slabs.sort_unstable();
    assert_eq!(slabs, expected);
    let statistics = forest.statistics();
    assert_eq!((statistics.nodes, statistics.roots, statistics.chunks), (23, 3, 5));
    assert_eq!((statistics.items, statistics.uncounted), (14, 0));
    let pairs: Vec<u64> =
        forest.slabs().iter().filter(|gram| gram.paths.ends_with(&[0, 0])).map(|gram| gram.count).collect();
    assert_eq!((pairs.len(), pairs.iter().filter(|&&count| count > 0).count()), (5, 3));
}

/// KB-1: figure 3.
#[test]
fn paths_of_the_running_example() {
    let paths = forest(4, &STREAM).paths();
    let expected = "0:6 2:6 3:1 6:1 00:3 02:3 20:3 22:2 23:1 62:1 002:3 022:2 023:1 200:3 220:2 620:1 \
        0022:2 0023:1 0220:2 2002:3 2200:2 6200:1";
    let mut grams = paths.grams();
    grams.sort_by_key(|gram| (gram.paths.len(), gram.paths.clone()));
    assert_eq!(lines(&grams), expected.split_whitespace().collect::<Vec<_>>());
    assert_eq!(paths.shape().levels, [4, 6, 6, 6]);
    assert_eq!(paths.count(METHOD, &[2, 0, 0, 2]), 3);
    assert_eq!(paths.count(METHOD, &[3, 0]), 0);
    assert_eq!(paths.count(VersionId(1), &[2]), 0);
}

/// KB-1: nodes of the k-slab forest, of the k-iteration path forest, and hash operations.
#[test]
fn sizes_for_several_k() {
    let table = [
        (2, 10, 10, 14),
        (3, 14, 16, 7),
        (4, 23, 22, 5),
        (6, 23, 34, 3),
        (8, 21, 46, 2),
        (11, 18, 61, 2),
        (16, 14, 67, 1),
    ];
    for (k, slabs, paths, hash_operations) in table {
        let forest = forest(k, &STREAM);
        let statistics = forest.statistics();
        assert_eq!((statistics.nodes, statistics.chunks), (slabs, hash_operations), "k = {k}");
        assert_eq!(forest.paths().len(), paths, "k = {k}");
    }
}

/// KB-2: the same single paths, told apart by pairs.
#[test]
fn alternating_and_phased_loops() {
    let alternating: Vec<PathNumber> = (0..200).map(|item| if item % 2 == 0 { 2 } else { 0 }).collect();
    let phased: Vec<PathNumber> = (0..200).map(|item| if item < 100 { 2 } else { 0 }).collect();
    let [alternating, phased] = [alternating, phased].map(|stream| forest(2, &stream).paths());
    let count = |paths: &PathForest, gram: &[PathNumber]| paths.count(METHOD, gram);
    for paths in [&alternating, &phased] {
        assert_eq!((count(paths, &[2]), count(paths, &[0])), (100, 100));
    }
    let pairs = |paths| [[2, 0], [0, 2], [2, 2], [0, 0]].map(|pair| count(paths, &pair));
    assert_eq!(pairs(&alternating), [100, 99, 0, 0]);
    assert_eq!(pairs(&phased), [1, 0, 99, 99]);
}

/// An invocation of the random program: its version, the numbers of its paths so far, its state in each forest.
struct Frame {
    number: usize,
    activations: Vec<Activation>,
}

struct Run {
    invocations: Vec<(VersionId, Vec<PathNumber>)>,
    items: u64,
}

/// A random program that calls itself: several invocations are in progress at once and their path ends interleave.
fn run(rng: &mut SmallRng, forests: &mut [Forest], items: usize, alphabet: u64, scale: u64) -> Run {
    let mut frames: Vec<Frame> = Vec::new();
    let mut invocations: Vec<(VersionId, Vec<PathNumber>)> = Vec::new();
    for _ in 0..items {
        let choice = rng.random_range(0..10);
        if frames.is_empty() || choice == 0 && frames.len() < 5 {
            invocations.push((VersionId(rng.random_range(0..3)), Vec::new()));
            let activations = vec![Activation::default(); forests.len()];
            frames.push(Frame { number: invocations.len() - 1, activations });
        } else if choice == 1 {
            frames.pop();
        } else {
            let frame = frames.last_mut().unwrap();
            let (version, paths) = &mut invocations[frame.number];
            let path = rng.random_range(0..alphabet) * scale;
            paths.push(path);
            for (forest, activation) in forests.iter_mut().zip(&mut frame.activations) {
                // As it would be in a frame of compiled code.
                let mut state = Activation::from_bits(activation.bits());
                forest.path(&mut state, *version, path);
                *activation = state;
            }
        }
    }
    let items = invocations.iter().map(|(_, paths)| paths.len() as u64).sum();
    Run { invocations, items }
}

impl Run {
    fn ngrams(&self, k: u32) -> BTreeMap<(VersionId, Vec<PathNumber>), u64> {
        count_ngrams(k as usize, self.invocations.iter().map(|(version, paths)| (*version, &paths[..])))
    }
}

/// 3600 random streams of recursive invocations, k 2..=7: exact counts, exact number of hash operations, and the first
/// property of the paper as an equation.
#[test]
fn random_streams() {
    let mut rng = SmallRng::seed_from_u64(1);
    for case in 0..600 {
        let mut forests: Vec<Forest> = (2..=7).map(|k| Forest::new(K::new(k).unwrap())).collect();
        // Few numbers make deep trees, many make wide ones; large numbers do not fit into a node's label.
        let (alphabet, scale) = [(2, 1), (4, 1), (40, 1), (4, 1 << 40), (30, 1 << 27)][case % 5];
        let items = rng.random_range(0..120);
        let run = run(&mut rng, &mut forests, items, alphabet, scale);
        for forest in &forests {
            let k = forest.k().get();
            let ngrams = run.ngrams(k);
            assert_eq!(counts(&forest.paths()), ngrams, "k = {k}");
            let statistics = forest.statistics();
            assert_eq!(statistics.items, run.items);
            let chunks = run.invocations.iter().map(|(_, paths)| paths.len().div_ceil(k as usize - 1) as u64);
            assert_eq!(statistics.chunks, chunks.sum::<u64>());
            assert!(statistics.nodes <= 2 * run.items && statistics.hash_operations <= statistics.chunks);
            for ((version, gram), &count) in ngrams.iter().filter(|((_, gram), _)| gram.len() < k as usize) {
                let longer = |(other, long): &(VersionId, Vec<PathNumber>)| {
                    other == version && long.len() == gram.len() + 1 && long.starts_with(gram)
                };
                let children: u64 =
                    ngrams.iter().filter(|(key, _)| longer(key)).map(|(_, &count)| count).sum();
                let ends =
                    |(of, paths): &&(VersionId, Vec<PathNumber>)| of == version && paths.ends_with(gram);
                if case % 20 == 0 {
                    assert_eq!(count - children, run.invocations.iter().filter(ends).count() as u64);
                }
            }
        }
    }
}

/// Nodes with hundreds of children, which have hash tables, and siblings that move.
#[test]
fn wide_nodes() {
    let mut rng = SmallRng::seed_from_u64(2);
    let mut forests: Vec<Forest> = [2, 3, 5].map(|k| Forest::new(K::new(k).unwrap())).into();
    let run = run(&mut rng, &mut forests, 12_000, 40, 1);
    for forest in &forests {
        assert_eq!(counts(&forest.paths()), run.ngrams(forest.k().get()));
    }
    let statistics = forests[0].statistics();
    assert!(statistics.wide_nodes > 50 && statistics.wide_lookups > 500, "{statistics:?}");
}

/// The forests of several threads, merged, are the forest of all: the same paths, counters and operations.
#[test]
fn merged_threads() {
    let mut rng = SmallRng::seed_from_u64(3);
    for case in 0..200 {
        let k = K::new(rng.random_range(2..=6)).unwrap();
        let (alphabet, scale) = [(3, 1), (40, 1), (4, 1 << 40)][case % 3];
        let mut merged = Forest::new(k);
        let mut single = Forest::new(k);
        for _ in 0..rng.random_range(1..4) {
            let mut thread = [Forest::new(k)];
            let run = run(&mut rng, &mut thread, 100, alphabet, scale);
            for (version, paths) in &run.invocations {
                single.extend(&mut Activation::default(), *version, paths);
            }
            merged.merge(&thread[0]).unwrap();
        }
        assert_eq!(merged.slabs(), single.slabs());
        assert_eq!(merged.paths(), single.paths());
        let (merged, single) = (merged.statistics(), single.statistics());
        assert_eq!((merged.items, merged.chunks), (single.items, single.chunks));
    }
    let mut forest = Forest::new(K::new(3).unwrap());
    assert!(forest.merge(&Forest::new(K::new(4).unwrap())).is_err());
}

/// A forest that is full goes on: no count is too high, and every item is counted or said not to be.
#[test]
fn limited_memory() {
    let mut rng = SmallRng::seed_from_u64(4);
    for limit in [0, 1, 5, 20, 100, 10_000] {
        let mut forests = [Forest::with_limit(K::new(4).unwrap(), limit)];
        let run = run(&mut rng, &mut forests, 400, 4, 1);
        let statistics = forests[0].statistics();
        assert!(statistics.nodes <= limit as u64);
        assert_eq!(statistics.items + statistics.uncounted, run.items);
        let exact = run.ngrams(4);
        for (gram, count) in counts(&forests[0].paths()) {
            assert!(count <= exact[&gram], "{gram:?}");
        }
        assert_eq!(counts(&forests[0].paths()) == exact, limit == 10_000);
    }
}

/// Pruning for display, by shares of parent and root, and the picture.
#[test]
fn pruning_and_picture() {
    let paths = forest(3, &STREAM).paths();
    let pruned = paths.pruned(Pruning::new(40.0, 40.0).unwrap());
    let expected = "\
p0  6
  p0  3  50.00 % (50.00 %)
    p2  3  100.00 % (50.00 %)
  p2  3  50.00 % (50.00 %)
p2  6
  p0  3  50.00 % (50.00 %)
    p0  3  100.00 % (50.00 %)
p3  1
p6  1
  p2  1  100.00 % (100.00 %)
    p0  1  100.00 % (100.00 %)
";
    assert_eq!(pruned.picture(METHOD, |path| format!("p{path}")), expected);
    assert_eq!(paths.pruned(Pruning::new(0.0, 0.0).unwrap()), paths);
    assert_eq!(Pruning::new(0.0, 101.0).unwrap_err().to_string(), "a share of 101 %: it must be in 0..=100");
    let mut rng = SmallRng::seed_from_u64(5);
    for _ in 0..100 {
        let stream: Vec<PathNumber> = (0..60).map(|_| rng.random_range(0..3)).collect();
        let paths = forest(4, &stream).paths();
        let (parent, root) = (rng.random_range(0.0..60.0), rng.random_range(0.0..60.0));
        // An n-gram stays iff it and all its prefixes have their shares.
        let share = |part: &[PathNumber], whole: &[PathNumber]| {
            paths.count(METHOD, part) as f64 * 100.0 / paths.count(METHOD, whole) as f64
        };
        let stays = |gram: &[PathNumber]| {
            (2..=gram.len())
                .all(|n| share(&gram[..n], &gram[..n - 1]) >= parent && share(&gram[..n], &gram[..1]) >= root)
        };
        let mut expected = paths.grams();
        expected.retain(|gram| stays(&gram.paths));
        assert_eq!(paths.pruned(Pruning::new(parent, root).unwrap()).grams(), expected);
    }
}

#[test]
fn k_names_its_range() {
    let error = |k| K::new(k).unwrap_err().to_string();
    assert_eq!(
        error(1),
        "k is 1: it must be in 2..=1024 (one iteration is plain Ball-Larus profiling, `blpp`)"
    );
    assert_eq!(error(0), "k is 0: it must be in 2..=1024");
    assert_eq!(error(2000), "k is 2000: it must be in 2..=1024");
}

#[test]
fn a_path_forest_is_made_of_its_sequences() {
    let version = VersionId(3);
    let mut forest = Forest::new(K::new(3).expect("in range"));
    let mut activation = Activation::default();
    forest.extend(&mut activation, version, &[6, 2, 0, 0, 2, 2]);
    forest.extend(&mut Activation::default(), VersionId(5), &[1, 1]);
    let paths = forest.paths();
    let grams = paths.grams();
    assert_eq!(PathForest::of_grams(paths.k(), &grams), Ok(paths.clone()));
    let refused = |change: &dyn Fn(&mut Vec<Gram>)| {
        let mut grams = grams.clone();
        change(&mut grams);
        PathForest::of_grams(paths.k(), &grams).expect_err("it is out of order")
    };
    assert!(refused(&|grams| grams.reverse()).contains("does not follow"));
    assert!(refused(&|grams| grams[0].paths.clear()).contains("a sequence of nothing"));
    assert!(refused(&|grams| grams.swap(0, 1)).contains("does not follow"));
    assert!(refused(&|grams| grams.insert(1, grams[0].clone())).contains("out of place"));
    let two = K::new(2).expect("in range");
    assert!(PathForest::of_grams(two, &grams).expect_err("too deep").contains("out of place"));
}
