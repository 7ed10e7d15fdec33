//! D'Elia and Demetrescu 2013, section 5: how many children are passed in search of one, in the text about eclipse.

use super::forest;
use crate::catalogue::{Experiment, Findings};
use crate::papers;
use crate::plan::Plan;
use crate::report::model::{Line, Unit};
use crate::results::{Results, exactly};
use crate::verdict::Bound;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "kblpp-eclipse-scan",
    place: "Section 5, eclipse",
    title: "Children scanned in search of one",
    says: &[
        "In the paper's forest the children of a node are a list. In eclipse 58.8 of them are visited on average with k=2, 10.3 with k=16.",
        "Here a child that was found moves ahead, and a node of very many children has a hash table. Counted are the children that a search looks at, \
         the first included, in searches that did not find the first one at once; those that did would make the mean smaller. Look-ups in \
         hash tables of nodes are not among them, and are told. The worst of all programs stands for eclipse; in full mode `tags`, a scanner like one of its methods, is among them. How many children nodes have on average, 2.6 and 1.3 in the paper, is told beside it.",
        forest::HOW,
    ],
    cells: forest::cells,
    conclude,
};

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let mut lines = forest::divided(plan, results, "sibling_steps", "searches");
    // The steps are those beyond the first child.
    lines.iter_mut().flatten().flat_map(|line| &mut line.points).for_each(|point| point.1 += 1.0);
    let most = |lines: &Vec<Line>| {
        lines.iter().flat_map(|line| &line.points).fold(0.0f64, |most, of| most.max(of.1))
    };
    let paper = |key: &str| papers::number(&format!("kblpp.eclipse.{key}"));
    found.checks.number(
        "children looked at in a search, on average, the worst program and k",
        &format!("{} with k=2, {} with k=16", paper("avg_scans_k2"), paper("avg_scans_k16")),
        Bound::at_most(paper("avg_scans_k16")).stretch(5.0),
        lines.as_ref().map(|lines| exactly(most(lines), Unit::Count)),
    );
    let wide = forest::divided(plan, results, "wide_lookups", "items");
    found.checks.told(
        "look-ups in hash tables of nodes, for each path, the worst program and k",
        "none: lists only",
        wide.as_ref().map(|lines| exactly(most(lines), Unit::Ratio)),
    );
    let degrees = forest::lines(plan, results, "forest.degree");
    let ks = forest::ks(plan);
    for (key, k) in [("avg_degree_k2", ks.first()), ("avg_degree_k16", ks.last())] {
        let Some(k) = k else { continue };
        let at_k = degrees.as_ref().map(|lines| {
            let points = lines.iter().flat_map(|line| &line.points).filter(|point| point.0 == f64::from(*k));
            points.fold(0.0f64, |most, point| most.max(point.1))
        });
        found.checks.told(
            &format!("children of a node that has any, on average, the program with most, k={k}"),
            &format!("{}", paper(key)),
            at_k.map(|most| exactly(most, Unit::Ratio)),
        );
    }
    found.figures.extend(degrees.map(|lines| {
        forest::figure("degree", "Children of a node", "Of nodes that have any, on average.", false, lines)
    }));
    found.figures.extend(lines.map(|lines| {
        let caption = "Children that a search looks at on average if the first is not the one.";
        forest::figure("scans", "Children looked at in a search", caption, false, lines)
    }));
}
