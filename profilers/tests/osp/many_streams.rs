//! Many random programs: no estimate is further off than chance allows, and nothing that is reported did not happen.

use crate::streams::{below, graph, run};
use holloway_profilers::osp::{
    Bias, BranchBits, Config, Encoding, Estimator, Exhaustive, Keeping, Lengths, Profiler, Random,
};

/// How many programs, unless `OSP_STREAMS` says otherwise; 100,000 take a minute.
const STREAMS: u64 = 2_000;

/// ln(2/δ) with δ = 10^-10: an estimate is beyond its bound with probability δ, about a million estimates are looked at.
const LOG: f64 = 23.7;

#[test]
fn errors_stay_within_bounds() {
    let streams = std::env::var("OSP_STREAMS").map_or(STREAMS, |number| number.parse().expect("a number"));
    for stream in 0..streams {
        let mut random = Random::new(stream);
        let graph = graph(2 + below(&mut random, 60) as u32, &mut random);
        let blocks = run(&graph, 500 + below(&mut random, 4_000) as usize, &mut random);
        let max = 1 + below(&mut random, 6) as u32;
        let bias = [Bias::Shorter, Bias::Uniform, Bias::Longer][below(&mut random, 3) as usize];
        let keeping = [Keeping::Concise, Keeping::Counting][below(&mut random, 2) as usize];
        let config = Config {
            keeping,
            memory: 2_500 + below(&mut random, 10_000) as usize,
            rate: 2 + below(&mut random, 20),
            lengths: Lengths::powers(max, bias).unwrap(),
            encoding: Encoding::Rolling,
            seed: random.bits(),
            ..Config::default()
        };
        let memory = config.memory;
        let mut profiler = Profiler::with_coder(config, BranchBits::new(&graph)).unwrap();
        let mut exact = Exhaustive::new(max).unwrap();
        for &block in &blocks {
            profiler.enter_block(block);
            exact.enter_block(block);
        }
        assert!(profiler.bytes() <= memory);
        assert_eq!(profiler.total(), blocks.len() as u64);
        let sample = profiler.sample();
        for path in &sample.report(20, Estimator::PostStratified).unwrap().paths {
            let stratum =
                sample.strata.iter().find(|stratum| stratum.length == path.length).expect("sampled");
            let samples = stratum.samples as f64;
            let windows = (blocks.len() + 1 - path.length as usize) as f64;
            let truth = exact.count(path.blocks.as_deref().expect("described"));
            assert!(truth >= path.count, "{path:?} was executed {truth} times");
            // Bernstein's bound for the mean of `samples` draws.
            let share = truth as f64 / windows;
            let bound = (2.0 * share * (1.0 - share) * LOG / samples).sqrt() + 2.0 * LOG / (3.0 * samples);
            // And of a geometric distribution, for what was missed before the subpath was let in.
            let bound = bound + (sample.threshold - 1) as f64 * LOG / samples;
            let off = (path.estimate / windows - share).abs();
            assert!(off <= bound, "stream {stream}: {off} is beyond {bound}, {path:?}, truth {truth}");
        }
    }
}
