//! Windows of path numbers: against lists of the paths of each activation, and against the k-iteration path forest, which
//! must say the same.

use holloway_profilers::kblpp::{self, Forest, K};
use holloway_profilers::stream::{Consumer, Event, Lost, PathEnd};
use holloway_profilers::windows::{STATIC_LIMIT, WindowNumbers, WindowTable, count_windows, static_paths};
use holloway_profilers::{PathNumber, VersionId};
use rand::{RngExt, SeedableRng, rngs::SmallRng};
use std::collections::BTreeMap;

fn k(k: u32) -> K {
    K::new(k).unwrap()
}

/// The stream of figure 3 of D'Elia & Demetrescu 2013, whose paths are 0 to 6.
#[test]
fn windows_of_the_running_example() {
    let version = VersionId(0);
    let mut table = WindowTable::new(k(2));
    assert!(table.define(version, 7));
    let mut window = 0;
    for path in [6, 2, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 3] {
        table.path(&mut window, Event { version, path, end: PathEnd::Header });
    }
    let profile = table.profile();
    let counts: Vec<(&[PathNumber], u64)> = profile.iter().map(|(_, paths, count)| (paths, count)).collect();
    let expected: [(&[PathNumber], u64); 7] =
        [(&[0, 0], 3), (&[0, 2], 3), (&[2, 0], 3), (&[2, 2], 2), (&[2, 3], 1), (&[6], 1), (&[6, 2], 1)];
    assert_eq!(counts, expected);
    assert_eq!((table.hash_operations(), table.refused(), profile.len()), (14, 0, 7));
}

#[test]
fn numbers_fit_a_word_or_are_refused() {
    // Digits are 0 to the number of paths.
    for (k_, paths, digit) in
        [(2, 1, 1), (2, 7, 3), (2, 8, 4), (2, (1 << 32) - 1, 32), (3, (1 << 21) - 1, 21), (64, 1, 1)]
    {
        let numbers = WindowNumbers::new(k(k_), paths).expect("it fits");
        assert_eq!((numbers.digit(), numbers.k()), (digit, k_));
        assert_eq!(WindowNumbers::of_parts(k_, digit), Some(numbers));
        // The largest window is told apart from all others.
        let full = (0..2 * k_).fold(0, |window, _| numbers.after(window, paths - 1));
        assert_eq!(numbers.paths(full), vec![paths - 1; k_ as usize]);
        assert_eq!(numbers.paths(numbers.after(0, 0)), [0]);
    }
    for (k_, paths) in [(2, 1 << 32), (3, 1 << 21), (64, 2), (1024, 1)] {
        assert_eq!(WindowNumbers::new(k(k_), paths), None, "k = {k_}");
    }
    assert_eq!(WindowNumbers::of_parts(3, 22), None);
    assert!(static_paths(3, 39) <= STATIC_LIMIT && static_paths(3, 40) > STATIC_LIMIT);
    assert_eq!(static_paths(64, 1 << 20), u64::MAX);
}

struct Frame {
    activation: usize,
    window: u64,
    place: kblpp::Activation,
}

/// Random programs that call themselves and lose paths: the windows are those of the lists, and every sequence of up to k paths
/// ran as often as the forest says.
#[test]
fn random_streams() {
    let mut rng = SmallRng::seed_from_u64(1);
    let mut lost_paths = 0;
    for case in 0..600 {
        let k = k([2, 3, 4, 7][case % 4]);
        let alphabet: u64 = [2, 5, 40, 500][case / 4 % 4];
        let (mut table, mut forest) = (WindowTable::new(k), Forest::new(k));
        (0..3).for_each(|version| assert!(table.define(VersionId(version), alphabet)));
        let mut frames: Vec<Frame> = Vec::new();
        let mut activations: Vec<(VersionId, Vec<PathNumber>)> = Vec::new();
        for _ in 0..rng.random_range(0..300) {
            let choice = rng.random_range(0..12);
            if frames.is_empty() || choice == 0 && frames.len() < 5 {
                activations.push((VersionId(rng.random_range(0..3)), Vec::new()));
                let activation = activations.len() - 1;
                frames.push(Frame { activation, window: 0, place: kblpp::Activation::default() });
                continue;
            }
            if choice == 1 {
                frames.pop();
                continue;
            }
            let frame = frames.last_mut().unwrap();
            let version = activations[frame.activation].0;
            if choice == 2 {
                // What comes then is counted like another activation.
                table.lost(&mut frame.window, version, Lost::Unwound);
                forest.lost(&mut frame.place, version, Lost::Unwound);
                activations.push((version, Vec::new()));
                frame.activation = activations.len() - 1;
                lost_paths += 1;
                continue;
            }
            let path = rng.random_range(0..alphabet);
            activations[frame.activation].1.push(path);
            let event = Event { version, path, end: PathEnd::Header };
            table.path(&mut frame.window, event);
            Consumer::path(&mut forest, &mut frame.place, event);
        }
        let lists = || activations.iter().map(|(version, paths)| (*version, &**paths));
        let profile = table.profile();
        let counted: BTreeMap<_, _> =
            profile.iter().map(|(version, paths, count)| ((version, paths.to_vec()), count)).collect();
        assert_eq!(counted, count_windows(k.get() as usize, lists()));
        assert_eq!(profile.sequences(), forest.paths().grams(), "k = {}", k.get());
        // One operation for each path, and one for k-1 of them.
        let paths: usize = lists().map(|(_, paths)| paths.len()).sum();
        let chunks: usize = lists().map(|(_, paths)| paths.len().div_ceil(k.get() as usize - 1)).sum();
        assert_eq!(table.hash_operations(), paths as u64);
        assert_eq!(forest.statistics().chunks, chunks as u64);
    }
    assert!(lost_paths > 1000, "{lost_paths}");
}

/// What is refused is not counted, and said.
#[test]
fn refused_versions_count_nothing() {
    let mut table = WindowTable::new(k(3));
    let (few, many) = (VersionId(0), VersionId(1));
    assert!(table.define(few, 10) && !table.define(many, 1 << 30));
    for version in [few, many, few] {
        table.path(&mut 0, Event { version, path: 4, end: PathEnd::Exit });
    }
    assert_eq!((table.refused(), table.hash_operations()), (1, 2));
    assert_eq!(table.profile().iter().collect::<Vec<_>>(), [(few, &[4][..], 2)]);
}
