//! Chance has the distributions that it claims.

use holloway_profilers::osp::{Bias, Lengths, Random, Ratio};

/// Pearson's statistic of observed counts against probabilities, for cells of five and more expected; with its degrees
/// of freedom.
fn chi_square(observed: &[u64], probability: impl Fn(usize) -> f64) -> (f64, f64) {
    let total = observed.iter().sum::<u64>() as f64;
    let (mut sum, mut cells) = (0.0, -1.0);
    for (cell, &count) in observed.iter().enumerate() {
        let expected = total * probability(cell);
        if expected >= 5.0 {
            sum += (count as f64 - expected).powi(2) / expected;
            cells += 1.0;
        }
    }
    (sum, cells)
}

/// Within five standard deviations of its mean, by the normal approximation.
fn plausible((sum, freedom): (f64, f64)) -> bool {
    sum < freedom + 5.0 * (2.0 * freedom).sqrt() + 5.0
}

#[test]
fn binomials_have_the_binomial_distribution() {
    let mut random = Random::new(3);
    for (trials, numerator, denominator) in
        [(1, 1, 3), (10, 4, 5), (64, 1, 2), (65, 63, 64), (200, 9, 10), (300, 1, 100)]
    {
        let p = numerator as f64 / denominator as f64;
        let ratio = Ratio::new(numerator, denominator).unwrap();
        let mut observed = vec![0; trials as usize + 1];
        for _ in 0..40_000 {
            observed[random.binomial(trials, ratio) as usize] += 1;
        }
        // P(k + 1) = P(k) (n - k) / (k + 1) p / (1 - p)
        let mut chances = vec![(1.0 - p).powi(trials as i32)];
        for k in 0..trials {
            chances.push(chances[k as usize] * (trials - k) as f64 / (k + 1) as f64 * p / (1.0 - p));
        }
        let statistic = chi_square(&observed, |k| chances[k]);
        assert!(plausible(statistic), "{trials} trials at {p}: {statistic:?}");
    }
}

/// The digits of all trials at once, against one trial after the other.
#[test]
fn binomials_agree_with_single_trials() {
    let (mut random, mut twin) = (Random::new(1), Random::new(2));
    let (numerator, denominator) = (1_000_003, 1_250_011);
    let ratio = Ratio::new(numerator, denominator).unwrap();
    let (mut fast, mut naive) = (0, 0);
    for _ in 0..2_000 {
        fast += random.binomial(1_000, ratio);
        naive += (0..1_000)
            .filter(|_| (u128::from(twin.bits()) * u128::from(denominator)) >> 64 < u128::from(numerator))
            .count() as u64;
    }
    // The standard deviation of each sum is sqrt(2e6 * 0.8 * 0.2) = 566.
    assert!(fast.abs_diff(naive) < 5 * 800, "{fast} {naive}");
}

#[test]
fn certain_and_impossible_trials() {
    let mut random = Random::new(1);
    let (never, always) = (Ratio::new(0, 9).unwrap(), Ratio::new(9, 9).unwrap());
    assert_eq!((random.binomial(1000, never), random.binomial(1000, always)), (0, 1000));
    assert_eq!(random.binomial(0, Ratio::HALF), 0);
}

#[test]
fn skips_are_geometric() {
    let mut random = Random::new(9);
    for mean in [2, 3, 17] {
        let mut observed = vec![0; 400];
        for _ in 0..40_000 {
            observed[random.geometric(mean).min(399) as usize] += 1;
        }
        let p = 1.0 / mean as f64;
        let statistic =
            chi_square(&observed, |k| if k == 0 { 0.0 } else { p * (1.0 - p).powi(k as i32 - 1) });
        assert!(plausible(statistic), "mean {mean}: {statistic:?}");
        assert_eq!(observed[0], 0);
    }
    assert!((0..100).all(|_| random.geometric(1) == 1));
}

/// Whatever the law, what is drawn has the probabilities that the law states, and they are those that were asked for.
#[test]
fn lengths_follow_their_laws() {
    let mut random = Random::new(4);
    let geometric =
        |max: u32| (1..=max).map(move |n| (1 << n, 0.5f64.powi(n as i32) / (1.0 - 0.5f64.powi(max as i32))));
    let harmonic = |low: u32, high: u32| {
        let total: f64 = (low..=high).map(|n| 1.0 / f64::from(n)).sum();
        (low..=high).map(move |n| (n, 1.0 / f64::from(n) / total))
    };
    let laws: [(Lengths, Vec<(u32, f64)>); 6] = [
        (Lengths::powers_of_two(5).unwrap(), geometric(5).collect()),
        (Lengths::powers_of_two(10).unwrap(), geometric(10).collect()),
        (Lengths::powers(4, Bias::Uniform).unwrap(), (1..=4).map(|n| (1 << n, 0.25)).collect()),
        (Lengths::powers(3, Bias::Longer).unwrap(), vec![(2, 1.0 / 7.0), (4, 2.0 / 7.0), (8, 4.0 / 7.0)]),
        (Lengths::arbitrary(2, 64).unwrap(), harmonic(2, 64).collect()),
        (Lengths::weighted(&[(3, 5), (6, 1), (100, 14)]).unwrap(), vec![(3, 0.25), (6, 0.05), (100, 0.7)]),
    ];
    for (lengths, expected) in laws {
        let stated = lengths.probabilities();
        assert_eq!(stated.len(), expected.len());
        for (&(length, chance), &(expected_length, expected_chance)) in stated.iter().zip(&expected) {
            assert_eq!(length, expected_length);
            assert!((chance - expected_chance).abs() < 1e-6, "{length}: {chance} for {expected_chance}");
        }
        let mean: f64 = expected.iter().map(|&(length, chance)| f64::from(length) * chance).sum();
        assert!((lengths.mean() - mean).abs() < 1e-3 * mean);
        assert_eq!(lengths.longest(), expected.last().unwrap().0);
        let mut observed = vec![0; 1025];
        for _ in 0..40_000 {
            observed[lengths.draw(&mut random) as usize] += 1;
        }
        let of = |length: usize| stated.iter().find(|row| row.0 as usize == length).map_or(0.0, |row| row.1);
        let statistic = chi_square(&observed, of);
        assert!(plausible(statistic), "{statistic:?}");
        assert!((0..1025).all(|length| observed[length] == 0 || of(length) > 0.0));
    }
}

/// The paper's estimator divides by 2^-n, whatever the largest n leaves unassigned.
#[test]
fn the_prior_of_a_power_is_what_the_paper_says() {
    for (n, (length, prior)) in (1..).zip(Lengths::powers_of_two(10).unwrap().priors()) {
        assert_eq!(length, 1 << n);
        assert!((prior - 0.5f64.powi(n)).abs() < 1e-6);
    }
}
