//! Weights: totals are kept, the likelihood never falls, and each way of weighing agrees with its formula written out
//! naively.

mod btb_support;

use btb_support::{Rng, Walker, World, random_graph, random_layout, rng};
use holloway_profilers::btb::{
    Analysis, BitSet, ColdEdges, Crossing, EdgeCounts, Em, Estimate, EstimateOptions, Exits, FirstGuess,
    Layout, Match, MethodCode, MethodRuns, PathIndex, Program, Reconstruction, RegionId, RegionOptions,
    RegionPaths, Regions, RunCount, RunProfile, Trace, Weighting, weigh,
};
use holloway_profilers::{BlockId, Graph, MethodId};
use rand::RngExt;
use std::collections::BTreeMap;

fn random_matches(random: &mut Rng, paths: usize) -> Vec<Match> {
    (0..random.random_range(0..12))
        .map(|_| {
            let mut set = BitSet::empty(paths);
            for _ in 0..random.random_range(1..=paths) {
                set.insert(random.random_range(0..paths));
            }
            Match { paths: set, count: random.random_range(1..1000) }
        })
        .collect()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

#[test]
fn totals_are_kept_and_the_likelihood_never_falls() {
    let mut rounds = 0;
    for seed in 0..2000 {
        let mut random = rng(seed);
        let paths = random.random_range(1..30);
        let matches = random_matches(&mut random, paths);
        let total: u64 = matches.iter().map(|evidence| evidence.count).sum();
        let prior: Option<Vec<f64>> = random.random_bool(0.5).then(|| {
            (0..paths)
                .map(|_| if random.random_bool(0.2) { 0.0 } else { random.random_range(0.0..1.0) })
                .collect()
        });
        let em =
            random.random_bool(0.7).then(|| Em { iterations: random.random_range(1..60), tolerance: 0.0 });
        let weighed = weigh(paths, &matches, prior.as_deref(), em);
        assert!(close(weighed.weights.iter().sum(), total as f64), "seed {seed}");
        assert!(weighed.weights.iter().all(|&weight| weight >= 0.0));
        for pair in weighed.log_likelihood.windows(2) {
            assert!(pair[1] >= pair[0] - 1e-9 * (1.0 + pair[0].abs()), "seed {seed}: {pair:?}");
            rounds += 1;
        }
        // No path gets weight that no partial path may be part of.
        for (path, &weight) in weighed.weights.iter().enumerate() {
            assert!(weight == 0.0 || matches.iter().any(|evidence| evidence.paths.contains(path)));
        }
        assert_eq!(weighed, weigh(paths, &matches, prior.as_deref(), em), "the same bits");
    }
    assert!(rounds > 10_000, "{rounds} rounds");
}

/// The formulas, over maps.
#[test]
fn rounds_agree_with_the_formula_written_out() {
    for seed in 0..500 {
        let mut random = rng(seed);
        let paths = random.random_range(1..20);
        let matches = random_matches(&mut random, paths);
        let iterations = random.random_range(1..10);
        let total: f64 = matches.iter().map(|evidence| evidence.count as f64).sum();
        let mut theta: BTreeMap<usize, f64> = BTreeMap::new();
        for evidence in &matches {
            for path in evidence.paths.iter() {
                *theta.entry(path).or_default() +=
                    evidence.count as f64 / evidence.paths.count() as f64 / total;
            }
        }
        assert!((0..paths).all(|path| {
            let weight = weigh(paths, &matches, None, None).weights[path];
            close(weight, theta.get(&path).copied().unwrap_or(0.0) * total)
        }));
        for _ in 0..iterations {
            let mut next: BTreeMap<usize, f64> = BTreeMap::new();
            for evidence in &matches {
                let denominator: f64 = evidence.paths.iter().map(|path| theta[&path]).sum();
                for path in evidence.paths.iter() {
                    *next.entry(path).or_default() +=
                        evidence.count as f64 * theta[&path] / denominator / total;
                }
            }
            theta = next;
        }
        // A tolerance below any change: only a fixed point stops early.
        let weighed = weigh(paths, &matches, None, Some(Em { iterations, tolerance: 0.0 }));
        for path in 0..paths {
            let expected = theta.get(&path).copied().unwrap_or(0.0) * total;
            assert!(close(weighed.weights[path], expected), "seed {seed}, path {path}");
        }
    }
}

/// A path that is certain from elsewhere draws what is ambiguous.
#[test]
fn refinement_follows_what_is_certain() {
    let set = |paths: &[usize]| {
        let mut set = BitSet::empty(3);
        paths.iter().for_each(|&path| set.insert(path));
        set
    };
    let matches = [Match { paths: set(&[0]), count: 90 }, Match { paths: set(&[0, 1]), count: 100 }];
    assert_eq!(weigh(3, &matches, None, None).weights, [140.0, 50.0, 0.0]);
    let em = Em { iterations: 10_000, tolerance: 1e-12 };
    let weighed = weigh(3, &matches, None, Some(em));
    assert!(weighed.converged);
    assert!(weighed.weights[0] > 189.9 && weighed.weights[1] < 0.1, "{:?}", weighed.weights);
    // A prior of 0 for all of a set is no opinion.
    let weighed = weigh(3, &matches, Some(&[0.0, 0.0, 1.0]), None);
    assert_eq!(weighed.weights, [140.0, 50.0, 0.0]);
    let weighed = weigh(3, &matches, Some(&[0.1, 0.3, 0.6]), None);
    assert_eq!(weighed.weights, [90.0 + 100.0 * (0.1 / 0.4), 100.0 * (0.3 / 0.4), 0.0]);
}

/// What an edge profile says of a path, by walking the path.
#[test]
fn priors_and_cold_paths_agree_with_walking_each_path() {
    let mut cold_paths = 0;
    for seed in 0..400 {
        let mut random = rng(seed);
        let graph = random_graph(&mut random, 20);
        let code = random_layout(&mut random, &graph).0;
        let exits = if random.random_bool(0.5) { Exits::Merged } else { Exits::Kept };
        let regions = Regions::new(&code, RegionOptions { cap: 200, exits }).expect("a cap");
        let mut edges = EdgeCounts::new();
        let method = MethodId(3);
        for block in (0..code.len()).map(BlockId::new) {
            for &to in code.successors(block) {
                if random.random_bool(0.7) {
                    edges.add(method, block, to, random.random_range(0..100));
                }
            }
        }
        let count = |from, to| edges.get(method, from, to);
        for region in (0..regions.len() as u32).map(RegionId) {
            let paths = RegionPaths::new(&code, &regions, region);
            let prior = paths.prior(&code, count);
            let cold = paths.cold(&code, 0.1, count);
            for (number, &prior) in prior.iter().enumerate() {
                let full = paths.path(PathIndex(number as u32)).expect("a path");
                let (mut expected, mut is_cold) = (1.0, false);
                for (index, &block) in full.blocks.iter().enumerate() {
                    let successors = code.successors(block);
                    if successors.is_empty() {
                        continue;
                    }
                    let next = full.blocks.get(index + 1).copied().or(full.exit);
                    let chosen = |to: &&BlockId| match next {
                        Some(next) => **to == next,
                        None => !regions.inside(block, **to),
                    };
                    let total: u64 = successors.iter().map(|&to| count(block, to)).sum();
                    let share = if total == 0 {
                        successors.iter().filter(chosen).count() as f64 / successors.len() as f64
                    } else {
                        let part: u64 = successors.iter().filter(chosen).map(|&to| count(block, to)).sum();
                        part as f64 / total as f64
                    };
                    expected *= share;
                    is_cold |= total > 0 && share < 0.1;
                }
                assert!(close(prior, expected), "seed {seed}: {prior} {expected}");
                assert_eq!(cold.contains(number), is_cold, "seed {seed}");
                cold_paths += usize::from(is_cold);
            }
        }
    }
    assert!(cold_paths > 500, "{cold_paths} cold paths");
}

fn some_weighting(random: &mut Rng) -> Weighting {
    Weighting {
        first: if random.random_bool(0.5) { FirstGuess::Equal } else { FirstGuess::EdgeProfile },
        em: random.random_bool(0.5).then(Em::default),
        cold: random.random_bool(0.5).then(|| ColdEdges { fraction: random.random_range(0.0..0.7) }),
        most_matches: random.random_bool(0.3).then_some(3),
    }
}

/// From executed programs: every sample ends up as weight or in a named remainder.
#[test]
fn every_piece_is_weight_or_counted_as_unused() {
    let mut flow = 0.0;
    for seed in 0..300 {
        let mut random = rng(seed);
        let world = World::random(&mut random, 3, 20);
        let mut walker = Walker::new(&world);
        for _ in 0..600 {
            walker.step(&mut random);
        }
        let crossing = if random.random_bool(0.5) { Crossing::Split } else { Crossing::Rejoin };
        let mut analysis = Analysis::new(&world.program, Reconstruction::default(), crossing);
        let records: Vec<_> = walker.records.iter().map(|record| record.branch).collect();
        for window in records.windows(4) {
            analysis.add(&Trace { branches: window.to_vec(), pc: None }, random.random_range(1..5));
        }
        assert_eq!(analysis.statistics().all_discards(), 0);
        let profile = analysis.profile();
        let exits = if random.random_bool(0.5) { Exits::Merged } else { Exits::Kept };
        let weighting = some_weighting(&mut random);
        let options = EstimateOptions { regions: RegionOptions { cap: 64, exits }, weighting };
        let estimate = Estimate::new(&world.program, &profile, options, None).expect("options");
        assert_eq!((estimate.invalid, estimate.conflicts.len()), (0, 0));
        let matched = estimate.pieces - estimate.without_edge - estimate.ambiguous;
        assert!(close(estimate.flow(), matched as f64), "seed {seed}");
        assert_eq!(estimate.regions.iter().map(|region| region.flow).sum::<u64>(), matched);
        assert!(estimate.regions.iter().all(|region| region.matching_ratio() >= 1.0));
        assert_eq!(estimate, Estimate::new(&world.program, &profile, options, None).expect("options"));
        let ranked = estimate.ranked();
        assert!(ranked.windows(2).all(|pair| pair[0].weight >= pair[1].weight));
        flow += estimate.flow();
    }
    assert!(flow > 10_000.0, "{flow} samples");
}

/// Section 4.6: two diamonds whose choices agree. Short windows see only one of them, so equal weights make the mixed
/// paths half as hot as the true ones; the longer partial paths that some windows give are enough for the others.
#[test]
fn refinement_removes_false_hot_paths() {
    let graph = Graph::new(&[&[1, 2], &[3], &[3], &[4, 5], &[6], &[6], &[]]);
    let mut program = Program::new();
    program.insert(MethodId(0), MethodCode::new(&graph, Layout::Arms(&[None; 7]), 1).expect("a layout"));
    let run =
        |blocks: &[u32], count| RunCount { blocks: blocks.iter().map(|&b| BlockId(b)).collect(), count };
    let runs = vec![
        run(&[0, 1, 3], 100),
        run(&[0, 2, 3], 10),
        run(&[1, 3, 4], 50),
        run(&[2, 3, 5], 5),
        run(&[3, 4, 6], 100),
        run(&[3, 5, 6], 10),
    ];
    let profile = RunProfile { methods: vec![MethodRuns { method: MethodId(0), fingerprint: 1, runs }] };
    let weights = |weighting| {
        let options = EstimateOptions { weighting, ..EstimateOptions::default() };
        let estimate = Estimate::new(&program, &profile, options, None).expect("options");
        let of = |path: [u32; 5]| {
            let path = path.map(BlockId);
            estimate.paths.iter().filter(|p| p.full.blocks == path).map(|p| p.weight).sum::<f64>()
        };
        // True: 0 1 3 4 6 and 0 2 3 5 6. False: the mixtures.
        (of([0, 1, 3, 4, 6]) + of([0, 2, 3, 5, 6]), of([0, 1, 3, 5, 6]) + of([0, 2, 3, 4, 6]))
    };
    let (equal, false_equal) = weights(Weighting::default());
    let (em, false_em) = weights(Weighting { em: Some(Em::default()), ..Weighting::default() });
    let cold = ColdEdges { fraction: 0.2 };
    let (_, false_cold) = weights(Weighting { cold: Some(cold), ..Weighting::default() });
    assert_eq!((equal, false_equal), (165.0, 110.0));
    assert!(close(em + false_em, 275.0) && false_em < 1.0, "{em} {false_em}");
    assert!(false_cold < 0.5 * false_equal, "{false_cold}");
    let (unambiguous, none) = weights(Weighting { most_matches: Some(1), ..Weighting::default() });
    assert_eq!((unambiguous, none), (55.0, 0.0));
}

#[test]
fn parameters_outside_of_their_range_are_named() {
    let with = |em| Weighting { em: Some(em), ..Weighting::default() };
    let cases = [
        (with(Em { iterations: 0, tolerance: 0.1 }), "iterations is 0, but must be 1 to 100000"),
        (with(Em { iterations: 1, tolerance: -0.5 }), "tolerance is -0.5, but must be 0 to 1"),
        (with(Em { iterations: 1, tolerance: f64::NAN }), "tolerance is NaN, but must be 0 to 1"),
        (
            Weighting { cold: Some(ColdEdges { fraction: 1.5 }), ..Weighting::default() },
            "fraction of a cold edge is 1.5, but must be 0 to 1",
        ),
        (
            Weighting { most_matches: Some(0), ..Weighting::default() },
            "most matches is 0, but must be 1 to 4294967295",
        ),
    ];
    for (weighting, message) in cases {
        let options = EstimateOptions { weighting, ..EstimateOptions::default() };
        let error =
            Estimate::new(&Program::new(), &RunProfile::default(), options, None).expect_err("invalid");
        assert_eq!(error.to_string(), message);
    }
}
