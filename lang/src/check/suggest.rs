//! "Did you mean …?": the known name nearest to a misspelt one, by the number of single-letter changes.

/// The candidate that differs least from `name`, if it differs little enough to be meant. Of equals the first.
pub fn closest<'n>(name: &str, candidates: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let allowed = (name.chars().count() / 3).clamp(1, 3);
    let mut best: Option<(usize, &str)> = None;
    // Each edit changes the length by one at most.
    let near = |candidate: &&str| candidate.len().abs_diff(name.len()) <= 4 * allowed;
    let other = |candidate: &&str| *candidate != name && !candidate.starts_with('$');
    for candidate in candidates.filter(other).filter(near) {
        let distance = if candidate.eq_ignore_ascii_case(name) { 0 } else { edits(name, candidate) };
        if distance <= allowed && distance < candidate.len().max(1) && best.is_none_or(|(d, _)| distance < d)
        {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The edit distance with exchanges of neighbours: insertions, deletions, replacements and swaps count one.
pub fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut cost = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i - 1] == *y && b[j - 1] == *x {
                cost = cost.min(before[j - 1] + 1);
            }
            row.push(cost);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_mistakes_are_recognised_and_large_ones_are_not() {
        let names = ["length", "indexOf", "substring", "x"];
        assert_eq!(closest("lenght", names.into_iter()), Some("length"));
        assert_eq!(closest("indexof", names.into_iter()), Some("indexOf"));
        assert_eq!(closest("subString", names.into_iter()), Some("substring"));
        assert_eq!(closest("size", names.into_iter()), None);
        assert_eq!(closest("y", names.into_iter()), None);
    }
}
