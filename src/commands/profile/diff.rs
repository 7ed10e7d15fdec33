//! `holloway profile diff`: what became hotter or colder from one profile to another.

use super::calls;
use super::load::load;
use super::metrics::{edge_score, named, path_overlap};
use super::model::{Path, PathKey, Profile};
use super::subpaths;
use super::text::{is_wanted, outcome, path, score, table, wanted};
use super::traces;
use crate::options::DiffArguments;
use crate::report::Stop;
use holloway_profilers::edges::EdgeProfile;
use holloway_profilers::{Arm, BranchArm, BranchId};
use std::collections::{BTreeMap, BTreeSet};

/// Smaller changes are noise of rounding, in shares.
const LEAST: f64 = 1e-9;

/// The differences as text.
pub fn diff(arguments: &DiffArguments) -> Result<String, Stop> {
    let (before, after) =
        (load(&arguments.before, arguments.thread)?, load(&arguments.after, arguments.thread)?);
    same_program(&before, &after)?;
    let in_one = [&before, &after].map(|profile| wanted(profile, arguments.method.as_ref()));
    let (in_before, in_after) = match in_one {
        [Ok(one), Ok(other)] => (Some(one), Some(other)),
        [Ok(one), Err(_)] => (Some(one), None),
        [Err(_), Ok(other)] => (None, Some(other)),
        [Err(stop), Err(_)] => return Err(stop),
    };
    let wanted = |method: u32| {
        in_before.as_ref().is_some_and(|known| known(method))
            || in_after.as_ref().is_some_and(|known| known(method))
    };
    let mut text = String::new();
    text += &paths(&before, &after, arguments.top, &wanted);
    text.push('\n');
    text += &edges(&before, &after, arguments.top, &wanted);
    if let Some(calls) = calls::diff(&before, &after, arguments.top, &wanted) {
        text.push('\n');
        text += &calls;
    }
    if let Some(subpaths) = subpaths::diff(&before, &after, arguments.top, &wanted) {
        text.push('\n');
        text += &subpaths;
    }
    if let Some(traces) = traces::diff(&before, &after, arguments.top, &wanted) {
        text.push('\n');
        text += &traces;
    }
    Ok(text)
}

/// Places in the bytecode of two programs mean the same only if the programs are the same. `Err` says what differs.
pub fn same_program(one: &Profile, other: &Profile) -> Result<(), Stop> {
    let (a, b) = (&one.file.program, &other.file.program);
    if a.fingerprint == b.fingerprint {
        return Ok(());
    }
    let codes: BTreeMap<&str, &str> =
        one.file.methods.iter().map(|of| (&*of.name, &*of.fingerprint)).collect();
    let changed = other
        .file
        .methods
        .iter()
        .filter(|of| codes.get(&*of.name).is_some_and(|code| *code != of.fingerprint));
    let changed: Vec<&str> = changed.map(|method| &*method.name).take(5).collect();
    let which = match changed.is_empty() {
        true => String::new(),
        false => format!("; the code of {} differs", changed.join(", ")),
    };
    Err(Stop::usage(format_args!(
        "the profiles are of different programs: {} has code {}, {} has code {}{which}",
        a.main, a.fingerprint, b.main, b.fingerprint
    )))
}

/// A change of a share, the largest first; then by what `K` is.
pub fn ranked<K: Ord>(mut changes: Vec<(f64, f64, K)>) -> Vec<(f64, f64, K)> {
    changes.retain(|(before, after, _)| (after - before).abs() > LEAST);
    changes.sort_by(|a, b| (b.1 - b.0).abs().total_cmp(&(a.1 - a.0).abs()).then_with(|| a.2.cmp(&b.2)));
    changes
}

/// The columns of a change.
pub fn change(before: f64, after: f64) -> [String; 3] {
    [format!("{:+.2} %", (after - before) * 100.0), score(Some(before)), score(Some(after))]
}

fn paths(before: &Profile, after: &Profile, top: usize, wanted: &impl Fn(u32) -> bool) -> String {
    let (Some((one, old)), Some((other, new))) = (before.best(), after.best()) else {
        return "paths: not in both profiles\n".to_string();
    };
    let (old, new) = (before.counts(&old), after.counts(&new));
    let overlap = path_overlap(&named(before, &old), &named(after, &new));
    let how = if one == other {
        format!("counted {}", one.name())
    } else {
        format!("counted {} before and {} after", one.name(), other.name())
    };
    let text = format!("paths: overlap {}, {how}\n", score(overlap));
    let (old, new) = (flows(before, &old), flows(after, &new));
    let known: BTreeMap<&PathKey, (&Profile, &Path)> = [before, after]
        .into_iter()
        .flat_map(|profile| profile.paths.iter().map(move |path| (&path.key, (profile, path))))
        .collect();
    let keys: BTreeSet<&PathKey> = old.keys().chain(new.keys()).copied().collect();
    let changes = keys
        .into_iter()
        .filter(|key| is_wanted(known[key].1, wanted))
        .map(|key| (share_of(&old, key), share_of(&new, key), key))
        .collect();
    let changes = ranked(changes);
    let row = |&(was, is, key): &(f64, f64, &PathKey)| {
        let (profile, known) = known[key];
        let mut row = Vec::from(change(was, is));
        row.push(path(profile, known));
        row
    };
    text + &listed(
        &changes,
        top,
        &["change", "before", "after", "of the branch flow"],
        "no path has another share of the flow",
        row,
    )
}

/// Shares of the branch flow by path.
fn flows<'p>(profile: &'p Profile, counts: &super::model::PathCounts) -> BTreeMap<&'p PathKey, f64> {
    let flow = |(&path, &count): (&usize, &u64)| u128::from(count) * u128::from(profile.paths[path].length);
    let total: u128 = counts.iter().map(flow).sum();
    let share = |flow: u128| if total == 0 { 0.0 } else { flow as f64 / total as f64 };
    counts.iter().map(|(path, count)| (&profile.paths[*path].key, share(flow((path, count))))).collect()
}

fn share_of(shares: &BTreeMap<&PathKey, f64>, key: &PathKey) -> f64 {
    shares.get(key).copied().unwrap_or_default()
}

/// Branches by how much of the flow goes another way.
fn edges(before: &Profile, after: &Profile, top: usize, wanted: &impl Fn(u32) -> bool) -> String {
    let ((_, old), (_, new)) = (before.best_edges(), after.best_edges());
    let baseline = before.edges(&before.file.edges.baseline);
    let found = edge_score(&new, &old, &baseline);
    let text = format!(
        "branches: relative overlap {}, absolute overlap {}\n",
        score(found.relative),
        score(found.absolute)
    );
    let mut arms: BTreeSet<BranchArm> = BTreeSet::new();
    for (branch, counts) in old.iter().chain(new.iter()).filter(|(branch, _)| wanted(branch.method.0)) {
        arms.extend((0..counts.len()).map(|arm| BranchArm { branch, arm: Arm::new(arm) }));
    }
    let (old_total, new_total) = (total(&old), total(&new));
    let share = |edges: &EdgeProfile, total: u128, arm| match total {
        0 => 0.0,
        _ => edges.count(arm) as f64 / total as f64,
    };
    let changes = arms.into_iter().map(|arm| (share(&old, old_total, arm), share(&new, new_total, arm), arm));
    let changes = ranked(changes.collect());
    let bias = |edges: &EdgeProfile, arm| score(edges.share(arm));
    let row = |&(was, is, arm): &(f64, f64, BranchArm)| {
        let mut row = Vec::from(change(was, is));
        row.extend([bias(&old, arm), bias(&new, arm), name(before, after, arm)]);
        row
    };
    text + &listed(
        &changes,
        top,
        &["change", "before", "after", "bias before", "bias after", "of all ways"],
        "no way of a branch has another share",
        row,
    )
}

/// The first of what changed as a table, and how many more there are; `none` says that nothing did.
pub(super) fn listed<T>(
    changes: &[T],
    top: usize,
    headings: &[&str],
    none: &str,
    row: impl Fn(&T) -> Vec<String>,
) -> String {
    let rows: Vec<Vec<String>> = changes.iter().take(top).map(row).collect();
    let mut text = match rows.is_empty() {
        true => format!("  {none}\n"),
        false => table(headings, &rows),
    };
    if changes.len() > top {
        text += &format!("  {} more\n", changes.len() - top);
    }
    text
}

fn total(edges: &EdgeProfile) -> u128 {
    edges.iter().flat_map(|(_, arms)| arms).map(|&count| u128::from(count)).sum()
}

fn name(before: &Profile, after: &Profile, arm: BranchArm) -> String {
    let BranchId { method, position } = arm.branch;
    let profile = if after.branch(arm.branch).is_some() { after } else { before };
    match profile.branch(arm.branch) {
        Some(record) => {
            let way = outcome(arm.arm.index(), record.arms);
            format!("{}:{} {way}", profile.method(method.0), record.place.line)
        }
        None => format!("{}@{position}", profile.method(method.0)),
    }
}
