//! Pictures for Graphviz: the path forest, the branches, or the calls. A profile has no control-flow graph; which branch comes after which is seen
//! on the paths. Without paths, each branch has only its ways.

use super::super::calls;
use super::super::model::{Profile, id_of};
use super::super::text::{outcome, outcome_record, path, place};
use crate::options::Topic;
use crate::report::Stop;
use holloway_profilers::kblpp::Pruning;
use holloway_profilers::{BranchArm, VersionId};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Nodes with less than this share of their root, in percent, are not drawn.
const LEAST_PERCENT: f64 = 1.0;

/// One graph.
pub fn dot(profile: &Profile, kind: Option<Topic>, wanted: &impl Fn(u32) -> bool) -> Result<String, Stop> {
    let only_calls = || profile.best().is_none() && calls::best(profile).is_some();
    let usual = match profile.file.iterated {
        Some(_) => Topic::Forest,
        None if only_calls() => Topic::Calls,
        None => Topic::Edges,
    };
    match kind.unwrap_or(usual) {
        Topic::Forest => forest(profile, wanted),
        Topic::Calls => call_graph(profile, wanted),
        _ => Ok(edges(profile, wanted)),
    }
}

/// Text in quotes.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// How thick an edge is, by its share of all.
fn thickness(count: u64, most: u64) -> f64 {
    1.0 + 4.0 * count as f64 / most.max(1) as f64
}

fn forest(profile: &Profile, wanted: &impl Fn(u32) -> bool) -> Result<String, Stop> {
    let Some(forest) = profile.forest() else {
        return Err(Stop::usage("the profile has no forest: kblpp did not run"));
    };
    let pruning = Pruning::new(0.0, LEAST_PERCENT).map_err(Stop::usage)?;
    let forest = forest.pruned(pruning);
    let mut text = String::from("digraph forest {\n  node [shape=box fontname=monospace]\n");
    let (mut nodes, mut methods) = (0usize, BTreeSet::new());
    // The number and the count of the node at each level on the way here.
    let mut above: Vec<(usize, u64)> = Vec::new();
    forest.for_each(|method: VersionId, paths, count| {
        let Some((&last, _)) = paths.split_last().filter(|_| wanted(method.0)) else { return };
        if methods.insert(method) {
            let _ =
                writeln!(text, "  m{} [shape=ellipse label={}]", method.0, quoted(profile.method(method.0)));
        }
        above.truncate(paths.len() - 1);
        let what = path(profile, &profile.paths[last as usize]);
        let _ =
            write!(text, "  n{nodes} [label={}]", quoted(&format!("{what}\n{count}")).replace('\n', "\\n"));
        let _ = match above.last() {
            None => writeln!(text, "\n  m{} -> n{nodes}", method.0),
            Some(&(parent, whole)) => {
                let share = count as f64 * 100.0 / whole.max(1) as f64;
                let width = thickness(count, whole);
                writeln!(text, "\n  n{parent} -> n{nodes} [label=\"{share:.2} %\" penwidth={width:.2}]")
            }
        };
        above.push((nodes, count));
        nodes += 1;
    });
    text.push_str("}\n");
    Ok(text)
}

/// Methods and the calls between them, those from the same site to the same method as one arrow.
fn call_graph(profile: &Profile, wanted: &impl Fn(u32) -> bool) -> Result<String, Stop> {
    let Some((_, graph)) = calls::best(profile) else {
        return Err(Stop::usage("the profile has no calls: neither calls nor cbs, oneshot or icache ran"));
    };
    let places = calls::places(profile);
    let mut edges = graph.by_weight();
    edges.retain(|(edge, _)| wanted(edge.site.caller.0) || wanted(edge.callee.0));
    let most = edges.first().map_or(0, |&(_, count)| count);
    let methods: BTreeSet<u32> =
        edges.iter().flat_map(|(edge, _)| [edge.site.caller.0, edge.callee.0]).collect();
    let mut text = String::from("digraph calls {\n  node [shape=box fontname=monospace]\n");
    for method in methods {
        let _ = writeln!(text, "  m{method} [label={}]", quoted(profile.method(method)));
    }
    for (edge, count) in edges {
        let (from, to) = (edge.site.caller.0, edge.callee.0);
        let line = places.get(&(from, edge.site.position)).map_or(0, |place| place.line);
        let share = count as f64 * 100.0 / graph.total().max(1) as f64;
        let (label, width) =
            (quoted(&format!("line {line}: {count} ({share:.2} %)")), thickness(count, most));
        let _ = writeln!(text, "  m{from} -> m{to} [label={label} penwidth={width:.2}]");
    }
    text.push_str("}\n");
    Ok(text)
}

/// The end of an arrow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    Branch(holloway_profilers::BranchId),
    Begin(u32, u32),
    End(u32, u32),
    Way(BranchArm),
}

impl Node {
    fn name(self) -> String {
        match self {
            Node::Branch(branch) => format!("b{}_{}", branch.method.0, branch.position),
            Node::Begin(method, position) => format!("from{method}_{position}"),
            Node::End(method, position) => format!("to{method}_{position}"),
            Node::Way(arm) => format!("w{}_{}_{}", arm.branch.method.0, arm.branch.position, arm.arm.0),
        }
    }
}

fn edges(profile: &Profile, wanted: &impl Fn(u32) -> bool) -> String {
    let mut arrows: BTreeMap<(Node, Option<BranchArm>, Node), u64> = BTreeMap::new();
    let mut labels: BTreeMap<Node, String> = BTreeMap::new();
    for record in profile.file.branches.iter().filter(|record| wanted(record.place.method)) {
        labels.insert(Node::Branch(id_of(record)), place(profile, &record.place));
    }
    match profile.best() {
        Some((_, records)) => {
            for (at, count) in profile.counts(&records) {
                let path = &profile.paths[at];
                if !super::super::text::is_wanted(path, wanted) {
                    continue;
                }
                let (begin, end) = (path.key.begin, path.key.end);
                let (begin, end) = (Node::Begin(begin.0, begin.1), Node::End(end.0, end.1));
                labels.entry(begin).or_insert_with(|| format!("from {}", place(profile, &path.places[0])));
                labels.entry(end).or_insert_with(|| format!("to {}", place(profile, &path.places[1])));
                let (mut from, mut way) = (begin, None);
                for &arm in &path.key.branches {
                    let to = Node::Branch(arm.branch);
                    labels.entry(to).or_insert_with(|| place(profile, &outcome_record(profile, arm).0));
                    *arrows.entry((from, way, to)).or_default() += count;
                    (from, way) = (to, Some(arm));
                }
                *arrows.entry((from, way, end)).or_default() += count;
            }
        }
        None => {
            let (_, edges) = profile.best_edges();
            for (branch, arms) in edges.iter().filter(|(branch, _)| wanted(branch.method.0)) {
                for (arm, &count) in arms.iter().enumerate() {
                    let arm = BranchArm { branch, arm: holloway_profilers::Arm::new(arm) };
                    labels.insert(Node::Way(arm), String::new());
                    *arrows.entry((Node::Branch(branch), Some(arm), Node::Way(arm))).or_default() += count;
                }
            }
        }
    }
    let used: BTreeSet<Node> = arrows.keys().flat_map(|&(from, _, to)| [from, to]).collect();
    let most = arrows.values().copied().max().unwrap_or_default();
    let mut text = String::from("digraph edges {\n  node [shape=box fontname=monospace]\n");
    for (node, label) in labels.iter().filter(|(node, _)| used.contains(node)) {
        let shape = match node {
            Node::Branch(_) => "shape=diamond",
            Node::Begin(..) | Node::End(..) => "shape=ellipse",
            Node::Way(_) => "shape=point",
        };
        let _ = writeln!(text, "  {} [{shape} label={}]", node.name(), quoted(label));
    }
    for ((from, way, to), &count) in &arrows {
        let way = way.map_or(String::new(), |arm| {
            format!("{} ", outcome(arm.arm.index(), outcome_record(profile, arm).1))
        });
        let width = thickness(count, most);
        let label = quoted(&format!("{way}{count}"));
        let _ = writeln!(text, "  {} -> {} [label={label} penwidth={width:.2}]", from.name(), to.name());
    }
    text.push_str("}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::{quoted, thickness};

    #[test]
    fn texts_are_quoted() {
        assert_eq!(quoted("a \"b\" \\"), "\"a \\\"b\\\" \\\\\"");
        assert!(thickness(0, 0) >= 1.0 && thickness(5, 5) <= 5.0);
    }
}
