//! Consumers of the stream of path ends: PEP's vector, tables against a tree map, samples against a naive twin, several
//! consumers over one stream, recursion, unwinding, threads that take turns, and merged threads.

use holloway_profilers::edges::EdgeProfile;
use holloway_profilers::kblpp::{Forest, K, count_ngrams};
use holloway_profilers::schedule::{Parameters, Shape};
use holloway_profilers::stream::{
    Consumer, Decode, Event, Item, List, Losses, Lost, PathCount, PathEnd, PathProfile, PathTable, Pep,
    Recorder, SampledPaths, Shadowed, Storage, ThreadId, Trace,
};
use holloway_profilers::{Arm, BranchArm, BranchId, MethodId, PathNumber, VersionId};
use rand::{RngExt, SeedableRng, rngs::SmallRng};
use std::collections::BTreeMap;

/// Outcome `arm` of the branch at this position of a method.
fn outcome(method: u32, position: u32, arm: u32) -> BranchArm {
    BranchArm { branch: BranchId { method: MethodId(method), position }, arm: Arm(arm) }
}

/// Three diamonds as in BL-1: the bits of the path number say which branches were taken. Versions 2v and 2v + 1 are of
/// method v.
fn three_diamonds(version: VersionId, path: PathNumber, out: &mut Vec<BranchArm>) {
    for (position, bit) in [(0, 4), (1, 2), (2, 1)] {
        out.push(outcome(version.0 / 2, position, u32::from(path & bit == 0)));
    }
}

/// PEP-1: samples of the paths 5, 5, 0.
#[test]
fn edges_of_sampled_paths() {
    let mut samples = SampledPaths::default();
    for path in [5, 5, 0] {
        samples.record(VersionId(0), path, &mut three_diamonds);
    }
    let arms = |position| samples.edges().arms(outcome(0, position, 0).branch).to_vec();
    assert_eq!([arms(0), arms(1), arms(2)], [[2, 1], [0, 3], [2, 1]]);
    assert_eq!((samples.distinct(), samples.paths().count(VersionId(0), 5)), (2, 2));
}

/// PEP goes on with the profile of the baseline tier.
#[test]
fn continued_profile() {
    let mut baseline = EdgeProfile::default();
    baseline.add(outcome(0, 0, 1), 100);
    let mut samples = SampledPaths::continuing(&baseline);
    samples.record(VersionId(1), 4, &mut three_diamonds);
    assert_eq!(samples.edges().arms(outcome(0, 0, 0).branch), [1, 100]);
}

/// A random execution of several threads with recursion, lost paths and unwinding, and its invocations as strings: a
/// lost path cuts an invocation in two.
struct Execution {
    trace: Trace,
    pieces: Vec<(VersionId, Vec<PathNumber>)>,
    events: Vec<Event>,
    losses: Losses,
}

fn execution(rng: &mut SmallRng, items: usize, paths: u64) -> Execution {
    let mut recorder = Recorder::new(usize::MAX);
    let (mut pieces, mut events, mut losses) = (Vec::new(), Vec::new(), Losses::default());
    // Each thread's invocations: version and number of its latest piece.
    let mut threads: [Vec<(VersionId, usize)>; 3] = Default::default();
    let mut running = 0;
    for _ in 0..items {
        let frames = &mut threads[running];
        let choice = rng.random_range(0..20);
        if choice == 0 {
            running = rng.random_range(0..3);
            recorder.switch(ThreadId(running as u32));
        } else if frames.is_empty() || choice <= 2 && frames.len() < 6 {
            let version = VersionId(rng.random_range(0..4));
            frames.push((version, pieces.len()));
            pieces.push((version, Vec::new()));
            recorder.enter(version);
        } else if choice == 3 {
            let (version, _) = frames.pop().unwrap();
            recorder.leave(&mut (), version);
        } else if choice == 4 {
            let (version, piece) = frames.last_mut().unwrap();
            let reason = Lost::ALL[rng.random_range(0..4)];
            recorder.lost(&mut (), *version, reason);
            losses.add(reason);
            *piece = pieces.len();
            pieces.push((*version, Vec::new()));
        } else {
            let (version, piece) = *frames.last().unwrap();
            let end =
                [PathEnd::Header, PathEnd::Header, PathEnd::Exit, PathEnd::Silent][rng.random_range(0..4)];
            let event = Event { version, path: rng.random_range(0..paths), end };
            recorder.path(&mut (), event);
            pieces[piece].1.push(event.path);
            events.push(event);
        }
    }
    Execution { trace: recorder.into_trace(), pieces, events, losses }
}

fn profile<'a>(events: impl IntoIterator<Item = &'a Event>) -> PathProfile {
    events.into_iter().map(|event| PathCount { version: event.version, path: event.path, count: 1 }).collect()
}

/// One stream, many readers: exact tables of both kinds, the k-slab forest behind a shadow stack, losses, the stream
/// itself, all at once and each on its own.
#[test]
fn consumers_over_one_stream() {
    let mut rng = SmallRng::seed_from_u64(1);
    for _ in 0..200 {
        let Execution { trace, pieces, events, losses } = execution(&mut rng, 300, 8);
        let mut arrays = PathTable::new(Storage::USUAL);
        (0..4).for_each(|version| arrays.define(VersionId(version), 8));
        let hashes = PathTable::new(Storage::Hash).without_silent_ends();
        let mut pair = Shadowed::new((hashes, Forest::new(K::new(3).unwrap())));
        let (mut counted, mut again) = (Losses::default(), Recorder::new(usize::MAX));
        let mut list = List::new();
        list.add(&mut arrays);
        list.add(&mut pair);
        list.add(&mut counted);
        list.add(&mut again);
        trace.replay(&mut list);

        assert_eq!(arrays.profile(), profile(&events));
        assert_eq!((arrays.strays(), arrays.hash_operations(), pair.orphans()), (0, 0, 0));
        assert_eq!(*arrays.losses(), losses);
        let (hashes, forest) = pair.into_inner();
        let seen = || events.iter().filter(|event| event.end != PathEnd::Silent);
        assert_eq!(hashes.profile(), profile(seen()));
        assert_eq!(hashes.hash_operations(), seen().count() as u64);
        assert!(hashes.hash_probes() >= hashes.hash_operations());
        assert_eq!(hashes.hash_entries(), hashes.profile().as_map().len());
        let silent = (events.len() - seen().count()) as u64;
        assert_eq!(counted.of(Lost::Silent), silent);
        assert_eq!(hashes.losses(), &counted);
        assert_eq!(counted.total(), losses.total() + silent);
        assert_eq!(again.into_trace(), trace);
        let grams = forest.paths().grams().into_iter().map(|gram| ((gram.version, gram.paths), gram.count));
        let twin = count_ngrams(3, pieces.iter().map(|(version, paths)| (*version, &paths[..])));
        assert_eq!(grams.collect::<BTreeMap<_, _>>(), twin);
    }
}

/// PEP against a list of positions: simplified windows over the path ends with yieldpoints.
#[test]
fn samples_are_where_the_schedule_says() {
    let mut rng = SmallRng::seed_from_u64(2);
    for _ in 0..300 {
        let execution = execution(&mut rng, 400, 8);
        let (samples, stride) = (rng.random_range(1..8), rng.random_range(1..5));
        let ticks: Vec<usize> = (0..execution.trace.items.len()).filter(|_| rng.random_bool(0.02)).collect();
        let mut pep = Pep::new(Parameters::new(Shape::Simplified, samples, stride).unwrap(), three_diamonds);
        execution.trace.replay_with(&mut pep, |pep, position| {
            if ticks.contains(&position) {
                pep.tick();
            }
        });

        // The twin: after a tick the window is armed by the first yieldpoint, of whatever kind.
        let (mut expected, mut skip, mut left, mut first, mut ticked) = (Vec::new(), 0, 0, 0, false);
        for (position, item) in execution.trace.items.iter().enumerate() {
            ticked |= ticks.contains(&position);
            let end = match item {
                Item::Path(event) if event.end == PathEnd::Silent => continue,
                Item::Path(event) => Some(event),
                Item::Enter(_) => None,
                _ => continue,
            };
            if std::mem::take(&mut ticked) && left == 0 {
                (skip, left) = (first % stride, samples);
                first += 1;
            }
            if let Some(event) = end
                && left > 0
            {
                if skip > 0 {
                    skip -= 1;
                } else {
                    expected.push(*event);
                    left -= 1;
                }
            }
        }
        assert_eq!(pep.samples().paths(), profile(&expected));
        assert_eq!(pep.counts().taken, expected.len() as u64);
        assert_eq!(pep.samples().edges(), profile(&expected).edges(&mut three_diamonds));
        let silent = execution.events.iter().filter(|event| event.end == PathEnd::Silent).count() as u64;
        assert_eq!(pep.losses().total(), execution.losses.total() + silent);
    }
}

/// Instances of several threads, merged, are one instance of all: tables of any storage, and samplers.
#[test]
fn merged_threads() {
    let mut rng = SmallRng::seed_from_u64(3);
    for case in 0..100 {
        let executions: Vec<Execution> = (0..3).map(|_| execution(&mut rng, 150, 8)).collect();
        let all: Vec<Event> = executions.iter().flat_map(|execution| execution.events.clone()).collect();
        let mut table = PathTable::new(Storage::Hash);
        let mut samples = SampledPaths::default();
        for (thread, execution) in executions.iter().enumerate() {
            let mut own =
                PathTable::new(if (case + thread) % 3 == 0 { Storage::Hash } else { Storage::USUAL });
            (0..3).for_each(|version| own.define(VersionId(version), 8 + thread as u64 % 2));
            execution.trace.replay(&mut own);
            table.merge(&own);
            let mut own = SampledPaths::default();
            for event in &execution.events {
                own.record(event.version, event.path, &mut three_diamonds);
            }
            samples.merge(&own);
        }
        assert_eq!(table.profile(), profile(&all));
        assert_eq!(
            table.losses().total(),
            executions.iter().map(|execution| execution.losses.total()).sum::<u64>()
        );
        assert_eq!(samples.paths(), profile(&all));
        assert_eq!(samples.edges(), profile(&all).edges(&mut three_diamonds));
        let mut decoded = BTreeMap::new();
        for event in &all {
            let mut branches = Vec::new();
            three_diamonds.branches(event.version, event.path, &mut branches);
            *decoded.entry(branches).or_insert(0) += 1;
        }
        assert_eq!(profile(&all).by_branches(&mut three_diamonds), decoded);
    }
}

/// An exception ends the inner invocations and cuts the handler's in two.
#[test]
fn unwinding() {
    let path = |path| Event { version: VersionId(0), path, end: PathEnd::Header };
    let mut forest = Shadowed::new((Forest::new(K::new(2).unwrap()), Losses::default()));
    forest.enter(VersionId(0));
    forest.path(&mut (), path(1));
    forest.enter(VersionId(0));
    forest.path(&mut (), path(2));
    forest.enter(VersionId(0));
    forest.unwind(1);
    assert_eq!(forest.depth(), 1);
    forest.path(&mut (), path(3));
    forest.path(&mut (), path(4));
    forest.leave(&mut (), VersionId(0));
    forest.leave(&mut (), VersionId(0));
    assert_eq!(forest.orphans(), 1);
    let (forest, losses) = forest.into_inner();
    assert_eq!((losses.of(Lost::Unwound), losses.total()), (3, 3));
    let pairs: Vec<_> = forest.paths().grams().into_iter().filter(|gram| gram.paths.len() == 2).collect();
    assert_eq!(pairs.len(), 1);
    assert_eq!((&pairs[0].paths[..], pairs[0].count), (&[3, 4][..], 1));
}

/// A number that no path has is counted apart, not believed; a full recorder says what it dropped.
#[test]
fn nothing_is_silently_wrong() {
    let mut table = PathTable::new(Storage::ArrayUpTo(10));
    table.define(VersionId(0), 4);
    table.define(VersionId(1), 11);
    for path in [3, 4, u64::MAX] {
        table.count(VersionId(0), path);
        table.count(VersionId(1), path);
    }
    assert_eq!((table.strays(), table.profile().total(), table.hash_operations()), (2, 4, 3));
    let mut recorder = Recorder::new(1);
    recorder.enter(VersionId(0));
    recorder.enter(VersionId(1));
    assert_eq!(recorder.dropped(), 1);
    assert_eq!(recorder.into_trace().items, [Item::Enter(VersionId(0))]);
}

/// Edge profiles: shares, merging, flipping, against the obvious.
#[test]
fn edge_profiles() {
    let mut rng = SmallRng::seed_from_u64(4);
    for _ in 0..200 {
        let mut random = |branches: u32| {
            let mut profile = EdgeProfile::default();
            let mut twin = BTreeMap::<BranchArm, u64>::new();
            for _ in 0..rng.random_range(0..40) {
                let name =
                    outcome(rng.random_range(0..2), rng.random_range(0..branches), rng.random_range(0..4));
                let count = rng.random_range(0..100);
                profile.add(name, count);
                *twin.entry(name).or_default() += count;
            }
            (profile, twin)
        };
        let ((one, one_twin), (two, two_twin)) = (random(3), random(4));
        let mut both = one.clone();
        both.merge(&two);
        for (name, &count) in &one_twin {
            assert_eq!(one.count(*name), count);
            assert_eq!(both.count(*name), count + two_twin.get(name).unwrap_or(&0));
            let executions: u64 =
                one_twin.iter().filter(|(n, _)| n.branch == name.branch).map(|(_, n)| n).sum();
            assert_eq!(one.executions(name.branch), executions);
            assert_eq!(one.share(*name), (executions > 0).then(|| count as f64 / executions as f64));
        }
        assert_eq!(one.total() + two.total(), both.total());
        assert_eq!(one.flipped().flipped(), one);
    }
    let mut profile = EdgeProfile::default();
    profile.add(outcome(0, 0, 0), 90);
    profile.declare(outcome(0, 1, 0).branch, 3);
    profile.add(outcome(0, 1, 0), 7);
    assert_eq!(profile.flipped().arms(outcome(0, 0, 0).branch), [0, 90]);
    assert_eq!(profile.flipped().arms(outcome(0, 1, 0).branch), [0, 0, 7]);
    assert_eq!(profile.share(outcome(0, 0, 0)), Some(1.0));
    assert_eq!(profile.share(outcome(5, 0, 0)), None);
}

/// Versions that go and whose samples go on in another's name, against a map.
#[test]
fn samples_of_what_is_gone_go_on_in_another_name() {
    let mut rng = SmallRng::seed_from_u64(11);
    for _ in 0..100 {
        let (mut samples, mut twin) = (SampledPaths::default(), BTreeMap::new());
        let mut gone = 0;
        for _ in 0..rng.random_range(1..400) {
            let version = VersionId(rng.random_range(gone..gone + 4));
            let path = rng.random_range(0..8);
            samples.record(version, path, &mut three_diamonds);
            *twin.entry((version, path)).or_insert(0) += 1;
            // Even versions have the same branches as the next odd one.
            if gone < 40 && gone % 2 == 0 && rng.random_bool(0.1) {
                let (before, home) = (samples.edges(), |path: PathNumber| {
                    let keeps = path == 3;
                    (VersionId(gone + u32::from(!keeps)), path)
                });
                let of_version = samples.of_version(VersionId(gone)).count();
                assert_eq!(of_version, twin.keys().filter(|(version, _)| version.0 == gone).count());
                samples.fold(VersionId(gone), home);
                for path in (0..8).filter(|&path| path != 3) {
                    if let Some(count) = twin.remove(&(VersionId(gone), path)) {
                        *twin.entry(home(path)).or_insert(0) += count;
                    }
                }
                assert_eq!(samples.edges(), before);
                gone += 2;
            }
        }
        let counts = samples.paths();
        let found: BTreeMap<_, _> =
            counts.iter().map(|count| ((count.version, count.path), count.count)).collect();
        assert_eq!((found, samples.distinct()), (twin.clone(), twin.len()));
        // They are counted on as before.
        let mut edges = EdgeProfile::default();
        for (&(version, path), &count) in &twin {
            let mut branches = Vec::new();
            three_diamonds(version, path, &mut branches);
            branches.into_iter().for_each(|branch| edges.add(branch, count));
        }
        assert_eq!(samples.edges(), edges);
    }
}
