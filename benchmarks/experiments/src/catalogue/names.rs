//! What experiments are called on the command line: their names, and whatever else the catalogue and a reader of the papers would say.
//!
//! * the name of a paper, or `all`
//! * the beginning of names, up to a hyphen or before a letter: `cbs-tab2` is `cbs-tab2a` and `cbs-tab2b`, `cbs-fig5` is both of its halves
//! * another figure or table that an experiment stands for, by [`OTHERS`]
//! * several with slashes between them, and figures with dots: `kblpp-fig6/fig7`, `pep-fig1..5`
//!
//! What is none of these is answered with the names that are nearest to it.

use super::{Experiment, PAPERS, experiments};
use holloway_benchmarks::registry::distance;

/// Names in the catalogue that an experiment of another name stands for.
const OTHERS: [(&str, &str); 8] = [
    ("pep-fig2", "pep-fig1-2-3-4-5"),
    ("pep-fig3", "pep-fig1-2-3-4-5"),
    ("pep-fig4", "pep-fig1-2-3-4-5"),
    ("pep-fig5", "pep-fig1-2-3-4-5"),
    ("pmu-fig3", "pmu-fig2"),
    ("pmu-tab1", "pmu-fig2"),
    ("kblpp-fig10", "kblpp-fig3"),
    ("kblpp-example", "kblpp-fig3"),
];

/// Experiments of this name, or what would be right.
pub fn select(name: &str) -> Result<Vec<&'static Experiment>, String> {
    let mut found = Vec::new();
    let mut paper = "";
    for part in name.split('/').map(str::trim) {
        let known = PAPERS.iter().find(|paper| part.split('-').next() == Some(paper.id));
        let part = match known {
            None if !paper.is_empty() => format!("{paper}-{part}"),
            _ => part.to_string(),
        };
        paper = known.map_or(paper, |known| known.id);
        let each = range(&part).unwrap_or(vec![part]);
        for one in &each {
            match of_one(one) {
                own if own.is_empty() => return Err(unknown(name)),
                own => found.extend(own.into_iter().map(|of| of.id)),
            }
        }
    }
    Ok(experiments().filter(|of| found.contains(&of.id)).collect())
}

/// `pep-fig1..5` as five names; nothing if it is no such thing.
fn range(name: &str) -> Option<Vec<String>> {
    let (first, last) = name.split_once("..")?;
    let stem = first.trim_end_matches(|c: char| c.is_ascii_digit());
    let (from, to) = (first[stem.len()..].parse::<u8>().ok()?, last.parse::<u8>().ok()?);
    (from <= to).then(|| (from..=to).map(|number| format!("{stem}{number}")).collect())
}

fn of_one(name: &str) -> Vec<&'static Experiment> {
    let name = OTHERS.iter().find(|of| of.0 == name).map_or(name, |of| of.1);
    let exactly: Vec<&Experiment> =
        experiments().filter(|of| name == "all" || of.id == name || of.paper().id == name).collect();
    if !exactly.is_empty() {
        return exactly;
    }
    let goes_on = |of: &&Experiment| {
        let rest = of.id.strip_prefix(name).and_then(|rest| rest.chars().next());
        rest.is_some_and(|next| next == '-' || next.is_ascii_alphabetic())
    };
    let is_begun = name.contains('-') && name.ends_with(|c: char| c.is_ascii_alphanumeric());
    experiments().filter(goes_on).filter(|_| is_begun).collect()
}

/// Says what there is instead.
fn unknown(name: &str) -> String {
    let lower = name.to_lowercase();
    let mut near: Vec<&str> =
        experiments().map(|of| of.id).filter(|id| !name.is_empty() && id.contains(&lower)).collect();
    if near.is_empty() && !name.is_empty() {
        let all = || experiments().map(|of| of.id).chain(PAPERS.iter().map(|paper| paper.id));
        let least = all().map(|id| distance(&lower, id)).min().unwrap_or(usize::MAX);
        // Half of it may be wrong; then it is another word.
        let limit = name.chars().count() / 2;
        near = all().filter(|id| least <= limit && distance(&lower, id) == least).take(3).collect();
    }
    let near = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) };
    let papers: Vec<&str> = PAPERS.iter().map(|paper| paper.id).collect();
    format!(
        "there is no experiment '{name}'{near}\n`holloway experiment list` has all; the papers are: {}, all",
        papers.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(name: &str) -> Vec<&'static str> {
        select(name).unwrap_or_else(|why| panic!("{why}")).iter().map(|of| of.id).collect()
    }

    #[test]
    fn experiments_are_chosen_by_name_paper_or_all() {
        assert_eq!(ids("pep-fig6"), ["pep-fig6"]);
        assert!(ids("pep").len() > 2);
        assert_eq!(ids("all").len(), experiments().count());
    }

    /// All headings of the catalogue, as it writes them.
    #[test]
    fn names_of_the_catalogue_are_known() {
        assert_eq!(ids("cbs-tab2"), ["cbs-tab2a", "cbs-tab2b"]);
        assert_eq!(ids("cbs-tab2a / cbs-tab2b"), ["cbs-tab2a", "cbs-tab2b"]);
        assert_eq!(ids("pep-fig1..5"), ["pep-fig1-2-3-4-5"]);
        assert_eq!(ids("pep-fig3"), ["pep-fig1-2-3-4-5"]);
        assert_eq!(ids("kblpp-fig6/fig7"), ["kblpp-fig6", "kblpp-fig7"]);
        assert_eq!(ids("kblpp-fig3/fig10/example"), ["kblpp-fig3"]);
        assert_eq!(ids("pmu-fig2/fig3/tab1"), ["pmu-fig2"]);
        assert_eq!(ids("cbs-fig5"), ["cbs-fig5-left", "cbs-fig5-right"]);
        assert_eq!(ids("cbs-fig1"), ["cbs-fig1"]);
        for (other, id) in OTHERS {
            assert_eq!(ids(other), [id]);
            assert!(experiments().all(|of| of.id != other), "{other} is an experiment itself");
        }
    }

    #[test]
    fn what_is_unknown_is_answered_with_what_is_near() {
        let says = |name: &str, near: &str| {
            let why = select(name).expect_err(name);
            assert!(why.contains(&format!("did you mean {near}?")), "{why}");
        };
        says("fig15", "kblpp-fig15");
        says("cbs-tab4", "cbs-tab1 or cbs-tab3");
        says("pep-fg6", "pep-fig6");
        says("PEP-FIG6", "pep-fig6");
        says("pepp", "pep");
        for strange in [
            "",
            "/",
            "..",
            "pep-fig5..1",
            "pep-fig1..999",
            "pep-",
            "-",
            "x",
            "äöü",
            "pep-fig6/x",
            "kblpp-fig1",
        ] {
            assert!(select(strange).is_err(), "{strange}");
        }
    }
}
