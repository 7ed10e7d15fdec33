//! Choosing methods by name: a part of the name, or with `*` (anything at all) the whole of it.

use holloway_lang::name_distance;
use std::str::FromStr;

/// Which names are wanted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pattern(String);

/// How many names a message lists.
const LISTED: usize = 5;

impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Pattern, String> {
        match text {
            "" => Err("a pattern is a part of a method's name, or with * the whole of it".to_string()),
            text => Ok(Pattern(text.to_string())),
        }
    }
}

impl Pattern {
    /// Is a name wanted.
    pub fn matches(&self, name: &str) -> bool {
        let mut parts = self.0.split('*');
        let (first, rest) = (parts.next().unwrap_or_default(), parts.collect::<Vec<_>>());
        let Some((last, middle)) = rest.split_last() else { return name.contains(first) };
        let Some(mut name) = name.strip_prefix(first) else { return false };
        for part in middle {
            // The first place is as good as any other: what follows has the more room.
            let Some(at) = name.find(part) else { return false };
            name = &name[at + part.len()..];
        }
        name.ends_with(last)
    }

    /// What to say if none of these names is wanted.
    pub fn nothing_found<'n>(&self, names: impl Iterator<Item = &'n str>) -> String {
        let verb = if self.0.contains('*') { "matches" } else { "contains" };
        let mut text = format!(
            "no function's name {verb} '{}' (functions that the program does not reach have no bytecode)",
            self.0
        );
        let near = self.near(names);
        if !near.is_empty() {
            text.push_str(&format!("; there are {}", near.join(", ")));
        }
        text
    }

    /// The names that may have been meant, the likeliest first.
    fn near<'n>(&self, names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
        let wanted = self.0.replace('*', "").to_lowercase();
        let allowed = (wanted.chars().count() / 3).max(1);
        let distance = |name: &str| {
            let name = name.to_lowercase();
            if !wanted.is_empty() && name.contains(&wanted) {
                return 0;
            }
            let last = name.rsplit('.').next().unwrap_or_default();
            name_distance(&wanted, &name).min(name_distance(&wanted, last))
        };
        let mut near: Vec<(usize, &str)> = names.map(|name| (distance(name), name)).collect();
        near.retain(|&(distance, _)| distance <= allowed);
        near.sort();
        near.dedup();
        near.into_iter().map(|(_, name)| name).take(LISTED).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_or_with_stars_the_whole() {
        let matches =
            |pattern: &str, name: &str| pattern.parse::<Pattern>().expect("a pattern").matches(name);
        for (pattern, name) in [
            ("walk", "Lane.walk"),
            ("Lane.*", "Lane.walk"),
            ("*walk", "Lane.walk"),
            ("L*.w*k", "Lane.walk"),
            ("*", "main"),
            ("a*a", "aa"),
            ("*add*Int*", "List<Int>.addAll(Int)"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("Walk", "Lane.walk"), ("Lane*x", "Lane.walk"), ("a*a", "a"), ("walk*", "Lane.walk")]
        {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
        assert!("".parse::<Pattern>().is_err());
    }

    #[test]
    fn near_names_are_listed() {
        let pattern: Pattern = "Wakl".parse().expect("a pattern");
        let text = pattern.nothing_found(["Lane.walk", "main", "Lane.depth"].into_iter());
        assert!(text.contains("there are Lane.walk") && !text.contains("main"), "{text}");
    }
}
