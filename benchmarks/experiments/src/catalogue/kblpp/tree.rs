//! Forests of sequences of paths as figures: from counts by name to trees.

use crate::cell::Outcome;
use crate::report::model::{Chart, Figure, TreeNode};
use std::collections::BTreeMap;

/// Sequences of path numbers and how often each was executed.
pub type Counts = BTreeMap<Vec<u64>, u64>;

/// Those that an outcome has under names like `prefix.2-0-0-2`. Nothing if it has none.
pub fn counts(outcome: &Outcome, prefix: &str) -> Option<Counts> {
    let numbers =
        |name: &str| name.split('-').map(|number| number.parse().ok()).collect::<Option<Vec<u64>>>();
    let entry = |(name, &count): (&String, &f64)| {
        let name = name.strip_prefix(prefix)?.strip_prefix('.')?;
        Some((numbers(name)?, count as u64))
    };
    let counts: Counts = outcome.numbers.iter().filter_map(entry).collect();
    (!counts.is_empty()).then_some(counts)
}

/// The share that a sequence has of another, in percent; 0 if one of them was never executed.
pub fn percent(counts: &Counts, part: &[u64], whole: &[u64]) -> f64 {
    let count = |of: &[u64]| counts.get(of).copied().unwrap_or(0) as f64;
    if count(whole) == 0.0 { 0.0 } else { count(part) * 100.0 / count(whole) }
}

/// The trees of some roots, the most frequent children first, without what has less than these percentages of its parent or of its root.
pub fn trees(
    counts: &Counts,
    roots: &[u64],
    [of_parent, of_root]: [f64; 2],
    name: &dyn Fn(u64) -> String,
) -> Vec<TreeNode> {
    let kept = |path: &[u64]| {
        path.len() == 1
            || percent(counts, path, &path[..path.len() - 1]) >= of_parent
                && percent(counts, path, &path[..1]) >= of_root
    };
    roots.iter().filter_map(|&root| tree(counts, &[root], &kept, name)).collect()
}

fn tree(
    counts: &Counts,
    path: &[u64],
    kept: &dyn Fn(&[u64]) -> bool,
    name: &dyn Fn(u64) -> String,
) -> Option<TreeNode> {
    let &count = counts.get(path)?;
    let below = counts.range(path.to_vec()..).take_while(|(key, _)| key.starts_with(path));
    let below = below.filter(|(key, _)| key.len() == path.len() + 1 && kept(key));
    let mut children: Vec<TreeNode> = below.filter_map(|(key, _)| tree(counts, key, kept, name)).collect();
    children.sort_by_key(|child| std::cmp::Reverse(child.count));
    Some(TreeNode { name: name(*path.last()?), count, children })
}

/// The trees, drawn.
pub fn figure(id: &str, title: &str, caption: &str, roots: Vec<TreeNode>) -> Figure {
    Figure { id: id.into(), title: title.into(), caption: caption.into(), chart: Chart::Forest { roots } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_pruned_by_shares() {
        let mut outcome = Outcome::default();
        for (name, count) in
            [("a.1", 100.0), ("a.1-2", 50.0), ("a.1-2-1", 4.0), ("a.1-3", 5.0), ("a.2", 9.0), ("b.1", 1.0)]
        {
            outcome.numbers.insert(name.into(), count);
        }
        let counts = counts(&outcome, "a").expect("there are some");
        assert_eq!((counts.len(), percent(&counts, &[1, 2], &[1])), (5, 50.0));
        let all = |least| trees(&counts, &[1, 7], least, &|number| format!("p{number}"));
        let drawn = all([0.0, 0.0]);
        assert_eq!((drawn.len(), drawn[0].children.len(), &*drawn[0].children[0].name), (1, 2, "p2"));
        assert_eq!(all([10.0, 0.0])[0].children.len(), 1);
        assert!(all([0.0, 5.0])[0].children[0].children.is_empty());
        assert_eq!(super::counts(&outcome, "c"), None);
    }
}
