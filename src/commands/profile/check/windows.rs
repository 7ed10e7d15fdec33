//! Windows of paths say the same as other profilers: a sequence of paths ran as often as there are windows that end with it.

use super::super::model::Profile;
use super::Findings;
use holloway_vm::profiling::file::WindowRecord;
use std::collections::BTreeMap;

/// Sequences of a version with counts.
type Sequences<'p> = BTreeMap<(u32, &'p [u64]), u128>;

/// Every sequence of up to so many paths that windows end with.
fn ends(windows: &WindowRecord, most: usize) -> Sequences<'_> {
    let mut counts = Sequences::new();
    for window in &windows.sequences {
        let all = window.numbers.len();
        for from in all.saturating_sub(most)..all {
            *counts.entry((window.version, &window.numbers[from..])).or_default() += u128::from(window.count);
        }
    }
    counts
}

/// The differences.
fn compare<'p>(windows: &Sequences<'p>, others: &Sequences<'p>, whose: &str) -> Vec<String> {
    let all: std::collections::BTreeSet<_> = windows.keys().chain(others.keys()).collect();
    let of = |counts: &Sequences<'p>, key: &(u32, &'p [u64])| counts.get(key).copied().unwrap_or_default();
    let wrong = all.into_iter().filter(|key| of(windows, key) != of(others, key));
    let fault = |key: &(u32, &'p [u64])| {
        let (windows, others) = (of(windows, key), of(others, key));
        format!("{:?} of version {}: {windows} by windows, {others} {whose}", key.1, key.0)
    };
    wrong.map(fault).collect()
}

/// Against the exact paths of `blpp`.
pub fn paths(profile: &Profile) -> Findings {
    let (Some(windows), Some(exact)) = (&profile.file.windowed, &profile.file.exact) else {
        return Err("needs `blpp` and `kroy`");
    };
    let numbered = exact.iter().filter(|of| !windows.refused.contains(&of.version));
    let exact = numbered.map(|of| ((of.version, std::slice::from_ref(&of.number)), u128::from(of.count)));
    Ok(compare(&ends(windows, 1), &exact.collect(), "by blpp"))
}

/// Against the sequences of `kblpp`, up to the smaller k.
pub fn sequences(profile: &Profile) -> Findings {
    let (Some(windows), Some(forest)) = (&profile.file.windowed, &profile.file.iterated) else {
        return Err("needs `kblpp` and `kroy`");
    };
    if forest.statistics.uncounted > 0 {
        return Err("the forest is not complete");
    }
    let most = windows.k.min(forest.k) as usize;
    let numbered = forest.sequences.iter().filter(|of| !windows.refused.contains(&of.version));
    let short = numbered.filter(|of| of.numbers.len() <= most);
    let known = short.map(|of| ((of.version, &*of.numbers), u128::from(of.count)));
    Ok(compare(&ends(windows, most), &known.collect(), "in the forest"))
}
