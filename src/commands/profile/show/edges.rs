//! The branches that were executed most: how often, which way, and how one-sided they are.

use super::super::model::Profile;
use super::super::text::{counted, outcome, percent, table};
use holloway_profilers::BranchId;
use std::cmp::Reverse;

/// The hottest `top` branches.
pub fn edges(profile: &Profile, top: usize, wanted: &impl Fn(u32) -> bool) -> String {
    let (origin, edges) = profile.best_edges();
    let mut ranked: Vec<(BranchId, &[u64], u64)> =
        edges.iter().map(|(branch, arms)| (branch, arms, arms.iter().sum())).collect();
    ranked.retain(|&(_, _, executions)| executions > 0);
    let total: u128 = ranked.iter().map(|&(_, _, executions)| u128::from(executions)).sum();
    let mut text = format!(
        "branches: {}, executed {}, counted {origin}\n",
        counted(ranked.len() as u64, "different one", "different ones"),
        counted(total, "time", "times"),
    );
    ranked.retain(|(branch, ..)| wanted(branch.method.0));
    ranked.sort_by_key(|&(branch, _, executions)| (Reverse(executions), branch));
    let row = |&(branch, arms, executions): &(BranchId, &[u64], u64)| {
        let (line, known) =
            profile.branch(branch).map_or((0, arms.len() as u32), |record| (record.place.line, record.arms));
        let (hottest, count) = hottest(arms);
        vec![
            percent(u128::from(executions), total),
            executions.to_string(),
            arm_counts(arms, known),
            percent(u128::from(count), u128::from(executions)),
            format!("{}  {}:{line}", outcome(hottest, known), profile.method(branch.method.0)),
        ]
    };
    let rows: Vec<Vec<String>> = ranked.iter().take(top).map(row).collect();
    if !rows.is_empty() {
        text += &table(&["share", "executed", "taken/not taken", "bias", "to"], &rows);
    }
    if ranked.len() > top {
        text += &format!("  {} more\n", ranked.len() - top);
    }
    text
}

/// The arm that was taken most, the first of several, and how often.
pub fn hottest(arms: &[u64]) -> (usize, u64) {
    let best = arms.iter().copied().enumerate().max_by_key(|&(arm, count)| (count, Reverse(arm)));
    best.unwrap_or_default()
}

/// The counts of all arms, if they are few.
fn arm_counts(arms: &[u64], known: u32) -> String {
    match arms {
        [taken, not_taken] if known == 2 => format!("{taken}/{not_taken}"),
        _ => {
            let used = arms.iter().filter(|&&count| count > 0).count();
            format!("{used} of {known} cases")
        }
    }
}
