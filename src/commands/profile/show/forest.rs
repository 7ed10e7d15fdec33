//! The k-iteration path forest as trees, as figures 6 and 9 of D'Elia & Demetrescu 2013 draw them: each node with its count, its
//! share of its parent and of its root.

use super::super::model::Profile;
use super::super::text::{counted, path};
use holloway_profilers::VersionId;
use holloway_profilers::kblpp::Pruning;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The trees of the `top` methods that ran most paths.
pub fn forest(profile: &Profile, top: usize, pruning: Pruning, wanted: &impl Fn(u32) -> bool) -> String {
    let Some(forest) = profile.forest() else {
        return "no forest: kblpp did not run\n".to_string();
    };
    let mut run: BTreeMap<VersionId, u64> = BTreeMap::new();
    forest.for_each(|method, paths, count| {
        if paths.len() == 1 {
            *run.entry(method).or_default() += count;
        }
    });
    let k = forest.k().get();
    let mut ranked: Vec<(VersionId, u64)> = run.into_iter().filter(|&(method, _)| wanted(method.0)).collect();
    ranked.sort_by_key(|&(method, count)| (Reverse(count), method));
    let pruned = forest.pruned(pruning);
    let (all, kept) = (forest.len(), pruned.len());
    let mut text = format!(
        "paths over up to {k} iterations: {}, {} shown after pruning\n",
        counted(all as u64, "sequence", "sequences"),
        kept
    );
    for &(method, count) in ranked.iter().take(top) {
        text += &format!("\n{}: {}\n", profile.method(method.0), counted(count, "path run", "paths run"));
        let picture = pruned.picture(method, |number| path(profile, &profile.paths[number as usize]));
        text.extend(picture.lines().flat_map(|line| ["  ", line, "\n"]));
    }
    if ranked.len() > top {
        text += &format!("\n{} more\n", counted((ranked.len() - top) as u64, "method", "methods"));
    }
    text
}
