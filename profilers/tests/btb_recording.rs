//! Recording: periods, the table of traces, the file format, merging profiles of several runs.

mod btb_support;

use btb_support::{Walker, World, rng};
use holloway_profilers::btb::{
    Analysis, BranchKind, Clock, Conflict, CountedTrace, Crossing, Damaged, Estimate, EstimateOptions,
    MethodRuns, Period, Place, Program, Reconstruction, Recorder, Recording, RegionOptions, Ring, RunCount,
    RunProfile, TakenBranch, Trace, TraceTable, parse, print,
};
use holloway_profilers::{BlockId, MethodId};
use rand::RngExt;
use std::collections::BTreeMap;

fn due(clock: &mut Clock, branches: usize) -> Vec<usize> {
    (1..=branches).filter(|_| clock.branch()).collect()
}

#[test]
fn fixed_periods_are_exact() {
    let mut clock = Clock::new(Period::Branches(7), 0, 1).expect("a period");
    assert_eq!(due(&mut clock, 30), [7, 14, 21, 28]);
    assert!(!clock.ticks(1_000_000), "no time");
    let mut clock = Clock::new(Period::Ticks(10), 0, 1).expect("a period");
    assert_eq!(due(&mut clock, 1000), [0usize; 0]);
    assert_eq!(
        [4, 5, 1, 9, 100, 9, 1].map(|ticks| clock.ticks(ticks)),
        [false, false, true, false, true, false, true]
    );
    let mut clock = Clock::new(Period::Either { branches: 3, ticks: 10 }, 0, 1).expect("a period");
    assert_eq!(due(&mut clock, 5), [3]);
    assert!(clock.ticks(10), "time is up first");
    assert_eq!(due(&mut clock, 5), [3], "both start anew");
    assert!(!clock.ticks(9));
}

/// Intervals stay within the spread, reach both ends, have the period as mean, differ by seed and repeat by seed.
#[test]
fn random_periods_are_spread_around_the_period() {
    for (period, spread, low, high) in [(100, 20, 80, 120), (64, 100, 1, 127), (1, 100, 1, 1), (3, 50, 2, 4)]
    {
        let intervals = |seed| {
            let mut clock = Clock::new(Period::Branches(period), spread, seed).expect("a period");
            let mut last = 0;
            let mut intervals = Vec::new();
            for at in due(&mut clock, 2_000 * period as usize) {
                intervals.push((at - last) as u64);
                last = at;
            }
            intervals
        };
        let found = intervals(42);
        assert_eq!((found.iter().min(), found.iter().max()), (Some(&low), Some(&high)));
        let mean = found.iter().sum::<u64>() as f64 / found.len() as f64;
        assert!((mean / period as f64 - 1.0).abs() < 0.05, "{mean} for {period}");
        assert_eq!(found, intervals(42));
        assert!(period == 1 || found != intervals(43));
    }
}

/// A loop of 10 taken branches, sampled every 10: a fixed period always sees the same one, a random one sees all of
/// them equally.
#[test]
fn a_random_period_does_not_fall_into_step_with_a_loop() {
    let seen = |spread| {
        let mut clock = Clock::new(Period::Branches(10), spread, 5).expect("a period");
        let mut seen = [0u32; 10];
        for branch in 0..200_000 {
            seen[branch % 10] += u32::from(clock.branch());
        }
        seen
    };
    assert_eq!(seen(0).iter().filter(|&&count| count > 0).count(), 1);
    assert!(seen(50).iter().all(|&count| (1800..2200).contains(&count)), "{:?}", seen(50));
}

#[test]
fn parameters_outside_of_their_range_are_named() {
    let message =
        |result: Result<(), holloway_profilers::btb::OutOfRange>| result.expect_err("invalid").to_string();
    assert_eq!(message(Ring::new(0).map(drop)), "depth is 0, but must be 1 to 65536");
    assert_eq!(message(Ring::new(65_537).map(drop)), "depth is 65537, but must be 1 to 65536");
    let clock = |period, spread| Clock::new(period, spread, 0).map(drop);
    let most = 1u64 << 62;
    assert_eq!(
        message(clock(Period::Branches(0), 0)),
        format!("period in branches is 0, but must be 1 to {most}")
    );
    assert_eq!(
        message(clock(Period::Either { branches: 1, ticks: 0 }, 0)),
        format!("period in ticks is 0, but must be 1 to {most}")
    );
    assert_eq!(
        message(clock(Period::Ticks(most + 1), 0)),
        format!("period in ticks is {}, but must be 1 to {most}", most + 1)
    );
    assert_eq!(message(clock(Period::Ticks(1), 101)), "spread in percent is 101, but must be 0 to 100");
    assert_eq!(message(TraceTable::new(0).map(drop)), "capacity in traces is 0, but must be 1 to 16777216");
    assert_eq!(message(RunProfile::default().decay(101)), "percent to keep is 101, but must be 0 to 100");
    // The longest period with the widest spread works.
    assert_eq!(due(&mut Clock::new(Period::Branches(most), 100, 9).expect("a period"), 1000), [0usize; 0]);
}

/// The table against a tree, full or not.
#[test]
fn the_table_counts_as_a_tree_does() {
    for seed in 0..100 {
        let mut random = rng(seed);
        let capacity = [1, 3, 10, 1000][random.random_range(0..4usize)];
        let mut table = TraceTable::new(capacity).expect("a capacity");
        let mut naive: BTreeMap<Trace, u64> = BTreeMap::new();
        let (mut lost, mut empty) = (0, 0);
        for _ in 0..500 {
            let branches: Vec<TakenBranch> = (0..random.random_range(0..4))
                .map(|_| {
                    let block = |random: &mut btb_support::Rng| BlockId(random.random_range(0..2));
                    TakenBranch::jump(MethodId(0), block(&mut random), block(&mut random))
                })
                .collect();
            let pc = random.random_bool(0.2).then_some(Place::Outside);
            table.record(&branches, pc);
            let trace = Trace { branches, pc };
            if trace.branches.is_empty() {
                empty += 1;
            } else if naive.len() < capacity || naive.contains_key(&trace) {
                *naive.entry(trace).or_insert(0) += 1;
            } else {
                lost += 1;
            }
        }
        let naive: Vec<_> = naive.into_iter().map(|(trace, count)| CountedTrace { trace, count }).collect();
        assert_eq!(table.traces(), naive);
        assert_eq!((table.len(), table.lost(), table.empty()), (naive.len(), lost, empty));
    }
}

fn record(seed: u64) -> (World, Recording) {
    let mut random = rng(seed);
    let world = World::random(&mut random, 3, 20);
    let mut recorder = Recorder::new(
        Ring::new(4).expect("a depth"),
        Clock::new(Period::Either { branches: 5, ticks: 40 }, 50, seed).expect("a period"),
        TraceTable::new(50).expect("a capacity"),
    );
    recorder.sample(None);
    let mut walker = Walker::new(&world);
    let mut seen = 0;
    for _ in 0..2000 {
        walker.step(&mut random);
        let mut due = recorder.ticks(1);
        if walker.records.len() > seen {
            due |= recorder.push(walker.records[seen].branch);
            seen += 1;
        }
        if due {
            recorder.sample(random.random_bool(0.5).then(|| walker.place()));
        }
    }
    (world, recorder.recording())
}

/// The whole way from an executing program through a file to statistics: all samples are accounted for.
#[test]
fn recordings_survive_the_file_and_are_understood() {
    let (mut lost, mut samples) = (0, 0);
    for seed in 0..60 {
        let (world, recording) = record(seed);
        assert_eq!(recording.empty, 1);
        let text = print(&recording);
        assert_eq!(parse(text.as_bytes()).as_ref(), Ok(&recording));
        let mut analysis = Analysis::new(&world.program, Reconstruction::default(), Crossing::Split);
        analysis.add_recording(&recording);
        let statistics = analysis.statistics();
        assert_eq!(statistics.samples, recording.samples());
        assert_eq!(statistics.not_recorded, recording.lost + 1);
        assert_eq!((statistics.all_discards(), statistics.pc_ignored, statistics.repaired), (0, 0, 0));
        assert_eq!(statistics.crossings.values().sum::<u64>(), statistics.traces);
        assert_eq!(statistics.crossing_samples.values().sum::<u64>(), statistics.samples);
        assert!(statistics.extended_length >= statistics.initial_length);
        let lengths = analysis.lengths(RegionOptions::default()).expect("options");
        // Cuts lose nothing.
        for cut in [lengths.calls, lengths.loops, lengths.regions] {
            assert_eq!(cut.instructions, statistics.extended_length);
        }
        assert!(lengths.calls.pieces >= statistics.traces);
        assert!(
            lengths.loops.pieces >= lengths.calls.pieces && lengths.regions.pieces >= lengths.loops.pieces
        );
        assert!(analysis.lengths(RegionOptions { cap: 1, ..RegionOptions::default() }).is_err());
        lost += recording.lost;
        samples += recording.samples();
    }
    assert!(lost > 100 && samples > 1000, "{lost} lost, {samples} samples");
}

const FILE: &str = "holloway-btb 1\ndepth 4\nperiod branches=1000 ticks=50\ntrace 3 t->0.4 j0.4>?\n\
                    trace 17 j0.1>0.5 c0.5>1.0 @1.2\nlost 5\nempty 2\nend 2\n";

#[test]
fn the_file_format_is_this() {
    let at = |method, block| Place::at(MethodId(method), BlockId(block));
    let branch = |source, target, kind| TakenBranch { source, target, kind };
    let recording = Recording {
        depth: 4,
        period: Period::Either { branches: 1000, ticks: 50 },
        traces: vec![
            CountedTrace {
                trace: Trace {
                    branches: vec![
                        branch(at(0, 1), at(0, 5), BranchKind::Jump),
                        branch(at(0, 5), at(1, 0), BranchKind::Call),
                    ],
                    pc: Some(at(1, 2)),
                },
                count: 17,
            },
            CountedTrace {
                trace: Trace {
                    branches: vec![
                        branch(Place::Outside, at(0, 4), BranchKind::Transfer),
                        branch(at(0, 4), Place::Missing, BranchKind::Jump),
                    ],
                    pc: None,
                },
                count: 3,
            },
        ],
        lost: 5,
        empty: 2,
    };
    assert_eq!(parse(FILE.as_bytes()), Ok(recording));
}

/// Cut at any byte: the error is in the line of the cut, and the complete traces before it are kept.
#[test]
fn a_file_cut_short_says_where_and_keeps_what_was_complete() {
    for length in 0..FILE.len() {
        let cut = &FILE[..length];
        let Damaged { line, message, kept } = parse(cut.as_bytes()).expect_err("cut short");
        let complete = cut.matches('\n').count();
        assert_eq!(line, complete + 1, "at {length}");
        assert!(message.contains("cut short"), "{message}");
        let traces = kept.as_ref().map_or(0, |kept| kept.traces.len());
        assert_eq!(traces, complete.saturating_sub(3).min(2), "at {length}");
        assert_eq!(kept.is_some(), complete >= 3);
        assert_eq!(kept.map_or(0, |kept| kept.lost), if complete >= 6 { 5 } else { 0 });
    }
}

#[test]
fn wrong_lines_say_what_would_be_right() {
    let cases = [
        (
            "holloway-btb 1\n",
            "holloway-btb 2\n",
            "line 1: this is not a recording of this version: the first line should be `holloway-btb 1`; 0 traces before it are complete",
        ),
        ("depth 4", "depth 0", "line 2: depth is 0, but must be 1 to 65536; 0 traces before it are complete"),
        ("depth 4", "depth -4", "line 2: `-4` should be a number; 0 traces before it are complete"),
        (
            "branches=1000 ticks=50",
            "branches=0",
            "line 3: period in branches is 0, but must be 1 to 4611686018427387904; 0 traces before it are complete",
        ),
        (
            "branches=1000 ticks=50",
            "often",
            "line 3: `often` should be `branches=N` or `ticks=N`; 0 traces before it are complete",
        ),
        (
            "trace 17",
            "trace 0",
            "line 5: a trace should have been sampled at least once; 1 traces before it are complete",
        ),
        (
            "j0.1>0.5",
            "k0.1>0.5",
            "line 5: `k0.1>0.5` should be a branch like `j0.1>0.2`; 1 traces before it are complete",
        ),
        (
            "j0.1>0.5",
            "j0.1>05",
            "line 5: `05` should be a place: `method.block`, `-` or `?`; 1 traces before it are complete",
        ),
        (
            "j0.1>0.5",
            "j0.1>0.5 j0.1>0.5 j0.1>0.5 j0.1>0.5",
            "line 5: there are more branches than the depth of 4; 1 traces before it are complete",
        ),
        (
            "@1.2",
            "@1.2 j0.1>0.5",
            "line 5: `j0.1>0.5` should not follow the program's place; 1 traces before it are complete",
        ),
        ("lost 5\n", "gone 5\n", "line 6: this should be `trace` or `lost`; 2 traces before it are complete"),
        (
            "empty 2",
            "empty 99999999999999999999",
            "line 7: `99999999999999999999` should be a number; 2 traces before it are complete",
        ),
        (
            "end 2\n",
            "end 3\n",
            "line 8: there should be 3 traces, but 2 were read; 2 traces before it are complete",
        ),
        ("end 2\n", "end 2\n\n", "line 9: nothing should follow `end`; 2 traces before it are complete"),
    ];
    for (right, wrong, message) in cases {
        let text = FILE.replacen(right, wrong, 1);
        assert_eq!(parse(text.as_bytes()).expect_err("damaged").to_string(), message);
    }
}

/// The blocks of a run and its count.
type Counted<'a> = (&'a [u32], u64);

fn profile(methods: &[(u32, u64, &[Counted<'_>])]) -> RunProfile {
    let run = |&(blocks, count): &Counted<'_>| RunCount {
        blocks: blocks.iter().map(|&block| BlockId(block)).collect(),
        count,
    };
    let method = |&(method, fingerprint, runs): &(u32, u64, &[Counted<'_>])| MethodRuns {
        method: MethodId(method),
        fingerprint,
        runs: runs.iter().map(run).collect(),
    };
    RunProfile { methods: methods.iter().map(method).collect() }
}

#[test]
fn profiles_of_the_same_code_add_up_and_those_of_other_code_are_named() {
    let mut merged = profile(&[(1, 0xa, &[(&[0, 1], 5)]), (2, 0xb, &[(&[0, 2], 7)])]);
    let other = profile(&[
        (0, 0xc, &[(&[0], 1)]),
        (1, 0xa, &[(&[0, 1], 10), (&[0, 3], 2)]),
        (2, 0xdead, &[(&[0, 2], 100), (&[5], 3)]),
    ]);
    let report = merged.merge(&other);
    assert_eq!(report.added, 13);
    let conflict = Conflict { method: MethodId(2), kept: Some(0xb), refused: 0xdead, count: 103 };
    assert_eq!(
        conflict.to_string(),
        "103 samples of m2 are of code 000000000000dead, but m2 is 000000000000000b: not used"
    );
    assert_eq!(report.conflicts, [conflict]);
    let expected = profile(&[
        (0, 0xc, &[(&[0], 1)]),
        (1, 0xa, &[(&[0, 1], 15), (&[0, 3], 2)]),
        (2, 0xb, &[(&[0, 2], 7)]),
    ]);
    assert_eq!(merged, expected);
    merged.decay(50).expect("percent");
    assert_eq!(merged, profile(&[(1, 0xa, &[(&[0, 1], 7), (&[0, 3], 1)]), (2, 0xb, &[(&[0, 2], 3)])]));
    merged.decay(0).expect("percent");
    assert_eq!(merged, RunProfile::default());
}

/// The order of runs does not matter, and what was recorded together is what was recorded apart and merged.
#[test]
fn merging_is_adding() {
    for seed in 0..40 {
        let (world, recording) = record(seed);
        let part = |from: usize, to: usize| {
            let mut analysis = Analysis::new(&world.program, Reconstruction::default(), Crossing::Split);
            recording.traces[from..to].iter().for_each(|trace| analysis.add(&trace.trace, trace.count));
            analysis.profile()
        };
        let (middle, end) = (recording.traces.len() / 2, recording.traces.len());
        let (a, b) = (part(0, middle), part(middle, end));
        let (mut ab, mut ba) = (a.clone(), b.clone());
        let (report, back) = (ab.merge(&b), ba.merge(&a));
        assert_eq!((report.added, back.added), (b.count(), a.count()));
        assert_eq!((&ab, &ba), (&part(0, end), &part(0, end)));
        let estimate = |profile| {
            Estimate::new(&world.program, profile, EstimateOptions::default(), None).expect("options")
        };
        assert_eq!(estimate(&ab), estimate(&ba));
    }
}

/// A profile of code that has changed is not used.
#[test]
fn estimates_refuse_other_code() {
    let (world, recording) = record(3);
    let mut analysis = Analysis::new(&world.program, Reconstruction::default(), Crossing::Split);
    analysis.add_recording(&recording);
    let mut profile = analysis.profile();
    let count = profile.methods[0].count();
    let method = profile.methods[0].method;
    profile.methods[0].fingerprint = 99;
    let estimate =
        Estimate::new(&world.program, &profile, EstimateOptions::default(), None).expect("options");
    assert_eq!(estimate.conflicts, [Conflict { method, kept: Some(7), refused: 99, count }]);
    assert!(estimate.paths.iter().all(|path| path.method != method));
    let estimate =
        Estimate::new(&Program::new(), &profile, EstimateOptions::default(), None).expect("options");
    assert_eq!(estimate.conflicts.len(), profile.methods.len());
    assert!(estimate.paths.is_empty());
    // A run that the code does not have is no evidence, but counted.
    let mut profile = analysis.profile();
    let before = Estimate::new(&world.program, &profile, EstimateOptions::default(), None).expect("options");
    profile.methods[0].runs.push(RunCount { blocks: vec![BlockId(0), BlockId(12_345)], count: 11 });
    let after = Estimate::new(&world.program, &profile, EstimateOptions::default(), None).expect("options");
    assert_eq!((after.invalid, &after.paths), (11, &before.paths));
}

/// What goes to files can be written and read by any form that serde knows.
#[test]
fn recordings_and_profiles_are_serde_values() {
    fn is_value<T: serde::Serialize + for<'de> serde::Deserialize<'de>>(_: &T) -> bool {
        true
    }
    let (_, recording) = record(1);
    assert!(is_value(&recording) && is_value(&recording.period) && is_value(&RunProfile::default()));
}
