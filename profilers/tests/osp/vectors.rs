//! Worked examples: those of the paper and OSP-1 to OSP-4.

use crate::streams::ids;
use holloway_profilers::osp::{
    Config, Encoder, Encoding, Lengths, Profiler, Random, Ratio, least_rotation, period, rate_for,
    subpaths_of,
};

/// OSP-1: the block that exhausts the skip is not part of the sample, and what follows is sampled to its length.
#[test]
fn osp_1_the_sample_begins_after_the_skip() {
    for seed in 0..50 {
        let lengths = Lengths::weighted(&[(4, 1)]).unwrap();
        let mut profiler = Profiler::new(Config { lengths, rate: 3, seed, ..Config::default() }).unwrap();
        let skip = profiler.plan().skip;
        for block in 1..=u32::try_from(skip).unwrap() + 4 {
            assert!(profiler.sample().rows.is_empty(), "the sample is not complete before block {block}");
            profiler.enter_block(holloway_profilers::BlockId(block));
        }
        let first = u32::try_from(skip).unwrap() + 1;
        let rows = profiler.sample().rows;
        assert_eq!(rows[0].blocks, Some(ids(&[first, first + 1, first + 2, first + 3])));
        assert_eq!((rows.len(), rows[0].count, profiler.total()), (1, 1, skip + 4));
    }
}

/// OSP-2: from rate 1000 to 1250, a count of 100 becomes 80 on average, and a count of 1 survives in four of five cases.
#[test]
fn osp_2_thinning_keeps_four_of_five() {
    let ratio = Ratio::new(1000, 1250).unwrap();
    let rounds = 20_000;
    let (mut hundred, mut one) = (0, 0);
    let mut random = Random::new(7);
    for _ in 0..rounds {
        hundred += random.binomial(100, ratio);
        one += random.binomial(1, ratio);
    }
    // Five standard errors: sqrt(100 * 0.8 * 0.2 / rounds) and sqrt(0.8 * 0.2 / rounds).
    assert!((hundred as f64 / f64::from(rounds) - 80.0).abs() < 5.0 * 0.0283);
    assert!((one as f64 / f64::from(rounds) - 0.8).abs() < 5.0 * 0.00283);
}

/// OSP-3: what the exclusive-or takes for the same.
#[test]
fn osp_3_the_exclusive_or_collides() {
    let xor = |blocks: &[u32]| (blocks.len(), Encoder::new(Encoding::Xor, 1).encode(&ids(blocks)));
    assert_eq!(xor(&[3, 4, 5, 6]), (4, 4));
    assert_eq!(xor(&[6, 5, 4, 3]), (4, 4));
    assert_eq!(xor(&[7, 7, 1, 2]), (4, 3));
    assert_eq!(xor(&[9, 9, 1, 2]), (4, 3));
    assert_eq!(xor(&[1, 2, 1, 2]), (4, 0));
    assert_eq!(xor(&[5, 6, 5, 6]), (4, 0));
    // Random numbers do not help where blocks cancel each other, nor against permutations.
    let random = |blocks: &[u32]| Encoder::new(Encoding::RandomXor, 1).encode(&ids(blocks));
    assert_eq!(random(&[1, 2, 1, 2]), random(&[5, 6, 5, 6]));
    assert_eq!(random(&[3, 4, 5, 6]), random(&[6, 5, 4, 3]));
    // They do help against accidents: 1 ^ 2 = 3 ^ 0.
    assert_eq!(xor(&[1, 2]), xor(&[3, 0]));
    assert_ne!(random(&[1, 2]), random(&[3, 0]));
}

/// OSP-4: the least rotation, and what follows for the encodings.
#[test]
fn osp_4_rotations_are_the_same() {
    let canonical = |blocks: &[u32]| {
        let (end, start) = blocks.split_at(least_rotation(blocks));
        [start, end].concat()
    };
    assert_eq!(canonical(&[4, 5, 6, 3]), [3, 4, 5, 6]);
    assert_eq!(canonical(&[3, 4, 5, 6]), [3, 4, 5, 6]);
    assert_eq!(canonical(&[6, 5, 4, 3]), [3, 6, 5, 4]);
    assert_eq!(canonical(&[1, 2, 1, 1]), [1, 1, 1, 2]);
    let rotation = |blocks: &[u32]| Encoder::new(Encoding::Rotation, 1).encode(&ids(blocks));
    let rolling = |blocks: &[u32]| Encoder::new(Encoding::Rolling, 1).encode(&ids(blocks));
    assert_eq!(rotation(&[4, 5, 6, 3]), rotation(&[3, 4, 5, 6]));
    assert_ne!(rotation(&[6, 5, 4, 3]), rotation(&[3, 4, 5, 6]));
    assert_ne!(rotation(&[1, 2, 1, 2]), rotation(&[5, 6, 5, 6]));
    assert_ne!(rolling(&[4, 5, 6, 3]), rolling(&[3, 4, 5, 6]));
}

/// Two candidates that race find the same rotation as trying them all; a period is the least repetition.
#[test]
fn rotations_and_periods_agree_with_their_twins() {
    let mut random = Random::new(5);
    for _ in 0..20_000 {
        let len = 1 + random.bits() as usize % 12;
        let sequence: Vec<u8> = (0..len).map(|_| (random.bits() % 3) as u8).collect();
        let turned = |start: usize| [&sequence[start..], &sequence[..start]].concat();
        let least = (0..len).map(turned).min().unwrap();
        assert_eq!(turned(least_rotation(&sequence)), least, "{sequence:?}");
        let repeats = |p: usize| len.is_multiple_of(p) && (p..len).all(|at| sequence[at] == sequence[at - p]);
        assert_eq!(period(&sequence), (1..=len).find(|&p| repeats(p)).unwrap(), "{sequence:?}");
    }
    assert_eq!((least_rotation::<u8>(&[]), period::<u8>(&[])), (0, 0));
}

/// Table 1 of the paper: how many subpaths there are. The row of javac is short by 1,655, what thirty threads lose.
#[test]
fn table_1_follows_from_the_number_of_blocks() {
    for (blocks, max, subpaths) in [
        (2_212_208, 10, 22_120_044),
        (2_212_208, 5, 11_060_983),
        (169_867_487, 5, 849_337_378),
        (124_039_672, 5, 620_198_303),
        (1_025_640_629, 5, 5_128_203_088),
        (1_367_934_068, 5, 6_839_670_283),
        (9_838_697, 5, 49_191_773 + 1655),
    ] {
        assert_eq!(subpaths_of(blocks, max), subpaths);
    }
    assert_eq!(subpaths_of(3, 5), 2);
    assert_eq!(subpaths_of(0, 5), 0);
}

/// Equation 1: the paper's rates are reproduced from its own numbers of blocks, entries and gains.
#[test]
fn the_first_rate_follows_from_memory_and_gain() {
    assert_eq!(rate_for(124_039_672, 475, 21.5, 1000), 12_145);
    assert_eq!(rate_for(169_867_487, 314, 537.85, 1000), 1005);
    assert_eq!(rate_for(2_212_208, 1_000_000, 1.0, 1000), 1000);
}

/// Every parameter out of range is answered with the range.
#[test]
fn errors_name_the_range() {
    let error = |config: Config| Profiler::new(config).unwrap_err().to_string();
    let config = Config::default;
    assert_eq!(error(Config { rate: 0, ..config() }), "osp: rate cannot be 0; valid: 2..=1099511627776");
    let small = error(Config { memory: 700, ..config() });
    assert!(small.starts_with("osp: memory cannot be 700; valid: "), "{small}");
    let least = small.rsplit_once(' ').unwrap().0.split("valid: ").nth(1).unwrap();
    let least: usize = least.split("..=").next().unwrap().parse().unwrap();
    assert!(Profiler::new(Config { memory: least, ..config() }).is_ok(), "{least} bytes shall suffice");
    assert!(
        Profiler::new(Config { memory: least - 64, ..config() }).is_err(),
        "{least} bytes shall be needed"
    );
    let lengths = |given: &str| Lengths::powers_of_two(given.parse().unwrap()).unwrap_err().to_string();
    assert_eq!(lengths("0"), "osp: max cannot be 0; valid: 1..=13");
    assert_eq!(lengths("14"), "osp: max cannot be 14; valid: 1..=13");
    let range = Lengths::arbitrary(9, 8).unwrap_err().to_string();
    assert_eq!(range, "osp: lengths cannot be 9..=8; valid: a range within 1..=8192");
    assert!(Lengths::weighted(&[]).is_err());
    assert!(Lengths::weighted(&[(4, 1), (4, 1)]).is_err());
    assert!(Lengths::weighted(&[(4, 0)]).is_err());
    assert_eq!(
        Ratio::new(3, 2).unwrap_err().to_string(),
        "osp: ratio cannot be 3/2; valid: fractions in 0..=1 with a denominator in 1..2^63"
    );
}
