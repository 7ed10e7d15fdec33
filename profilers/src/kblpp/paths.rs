//! The k-iteration path forest: every path over up to k iterations with its exact count.
//!
//! D'Elia & Demetrescu 2013, definition 2 and figure 12. A node at level n is an n-gram of path numbers. The conversion
//! merges, for each node of the k-slab forest, the k levels below it, adding counters: an n-gram that crosses from one
//! chunk to the next ends in the lower slab of one tree, and one inside a chunk is counted in the lower slab of the
//! chunk before, so each occurrence is counted once. Upper nodes have count 0 and contribute nothing that is not there
//! anyway.
//!
//! Property 1 of the paper: a node's count is at least the sum of its children's; the difference is how often the
//! invocation ended with this n-gram (for n < k).
//!
//! The result is a value: per version a list of nodes in preorder, children by path number. Each node knows where its
//! subtree ends, so that siblings are found by skipping.

use super::arena::{Arena, Edge, NIL};
use super::{InvalidK, K};
use crate::ids::{PathNumber, VersionId};
use crate::stream::hash::OpenTable;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Write};

/// A path over several iterations: the numbers of its acyclic pieces, all of one version, and how often it was taken.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Gram {
    /// Whose numbers they are.
    pub version: VersionId,
    /// The pieces in the order of execution.
    pub paths: Vec<PathNumber>,
    /// How often they were executed in this order, one right after the other.
    pub count: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Node {
    /// n: 1 for a root.
    level: u32,
    /// Where in the list the subtree ends.
    end: u32,
    path: PathNumber,
    count: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Trees {
    version: VersionId,
    nodes: Vec<Node>,
}

/// All paths over up to k iterations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct PathForest {
    k: K,
    versions: Vec<Trees>,
}

/// How a forest looks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    /// How many n-grams there are, for n from 1.
    pub levels: Vec<u64>,
    /// Children per node that has any.
    pub degree: f64,
    /// Average level of the nodes without children, from 1.
    pub leaf_level: f64,
}

/// What to leave out of a picture: nodes with too small a share of their parent or of their root.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pruning {
    parent_percent: f64,
    root_percent: f64,
}

/// A percentage outside of 0..=100.
#[derive(Debug, Clone, PartialEq)]
pub struct InvalidPruning(f64);

impl fmt::Display for InvalidPruning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a share of {} %: it must be in 0..=100", self.0)
    }
}

impl std::error::Error for InvalidPruning {}

impl Pruning {
    /// Keeps nodes with at least these shares, in percent. The paper's figure 6 uses 0.01 and 0.01, its figure 9 uses 0
    /// and 10.
    ///
    /// # Errors
    ///
    /// If a share is not in 0..=100.
    pub fn new(parent_percent: f64, root_percent: f64) -> Result<Self, InvalidPruning> {
        match [parent_percent, root_percent].into_iter().find(|share| !(0.0..=100.0).contains(share)) {
            Some(share) => Err(InvalidPruning(share)),
            None => Ok(Self { parent_percent, root_percent }),
        }
    }
}

impl PathForest {
    /// Converts a k-slab forest, given by its trees in the order of their versions.
    pub(super) fn of(k: K, slabs: &Arena, trees: &[(VersionId, Edge)]) -> Self {
        let mut versions: Vec<Trees> = Vec::new();
        for same in trees.chunk_by(|a, b| a.0 == b.0) {
            let nodes = join(k, slabs, same.iter().map(|&(_, root)| root));
            versions.push(Trees { version: same[0].0, nodes });
        }
        Self { k, versions }
    }

    /// The forest that has these n-grams, each of which follows the one that it continues and those of smaller numbers: by
    /// version and then in preorder, as [`Self::grams`] gives them.
    ///
    /// # Errors
    ///
    /// If one is out of place.
    pub fn of_grams(k: K, grams: &[Gram]) -> Result<Self, String> {
        let mut versions = Vec::new();
        for same in grams.chunk_by(|a, b| a.version == b.version) {
            let mut rows: Vec<Row> = Vec::with_capacity(same.len());
            let mut last: &[PathNumber] = &[];
            for gram in same {
                let Some((&path, before)) = gram.paths.split_last() else {
                    return Err(format!("{} has a sequence of nothing", gram.version));
                };
                if last.get(..before.len()) != Some(before) {
                    return Err(format!(
                        "{:?} of {} does not follow what it continues",
                        gram.paths, gram.version
                    ));
                }
                rows.push((u32::try_from(gram.paths.len()).unwrap_or(u32::MAX), path, gram.count));
                last = &gram.paths;
            }
            versions.push((same[0].version, rows));
        }
        Self::try_from(Written { k: k.get(), versions })
    }

    /// How many iterations it covers.
    #[must_use]
    pub fn k(&self) -> K {
        self.k
    }

    /// How many different n-grams there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.versions.iter().map(|trees| trees.nodes.len()).sum()
    }

    /// Whether nothing was executed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.versions.is_empty()
    }

    /// The versions that were executed, in order.
    pub fn versions(&self) -> impl Iterator<Item = VersionId> + '_ {
        self.versions.iter().map(|trees| trees.version)
    }

    /// How often this sequence was executed. 0 as well for an empty one and for more than k.
    #[must_use]
    pub fn count(&self, version: VersionId, paths: &[PathNumber]) -> u64 {
        let Ok(position) = self.versions.binary_search_by_key(&version, |trees| trees.version) else {
            return 0;
        };
        let nodes = &self.versions[position].nodes;
        let (mut from, mut to, mut count) = (0, nodes.len(), 0);
        for &path in paths {
            while from < to && nodes[from].path != path {
                from = nodes[from].end as usize;
            }
            if from >= to {
                return 0;
            }
            (count, to) = (nodes[from].count, nodes[from].end as usize);
            from += 1;
        }
        count
    }

    /// Calls `visit` with every n-gram and its count, by version and then in preorder.
    pub fn for_each(&self, mut visit: impl FnMut(VersionId, &[PathNumber], u64)) {
        let mut gram = Vec::new();
        for trees in &self.versions {
            for node in &trees.nodes {
                gram.truncate(node.level as usize - 1);
                gram.push(node.path);
                visit(trees.version, &gram, node.count);
            }
        }
    }

    /// Every n-gram with its count, by version and then in preorder.
    #[must_use]
    pub fn grams(&self) -> Vec<Gram> {
        let mut grams = Vec::with_capacity(self.len());
        self.for_each(|version, paths, count| grams.push(Gram { version, paths: paths.to_vec(), count }));
        grams
    }

    /// What is left when small shares are left out, with all that is below them.
    #[must_use]
    pub fn pruned(&self, pruning: Pruning) -> Self {
        let prune = |trees: &Trees| {
            let mut kept = Vec::new();
            let mut at = 0;
            // The counts on the way from the root to here.
            let mut above = Vec::new();
            while let Some(node) = trees.nodes.get(at) {
                above.truncate(node.level as usize - 1);
                let share = |whole: Option<&u64>| whole.map_or(100.0, |&whole| percent(node.count, whole));
                if share(above.last()) < pruning.parent_percent || share(above.first()) < pruning.root_percent
                {
                    at = node.end as usize;
                    continue;
                }
                above.push(node.count);
                kept.push((node.level, node.path, node.count));
                at += 1;
            }
            Trees { version: trees.version, nodes: with_ends(&kept) }
        };
        Self { k: self.k, versions: self.versions.iter().map(prune).collect() }
    }

    /// How it looks: sizes of the levels, degrees and depths (figures 18 to 20 of the paper).
    #[must_use]
    pub fn shape(&self) -> Shape {
        let (mut levels, mut inner, mut edges, mut leaves, mut depths) = (Vec::new(), 0u64, 0u64, 0u64, 0u64);
        for trees in &self.versions {
            for (at, node) in trees.nodes.iter().enumerate() {
                let level = node.level as usize;
                levels.resize(levels.len().max(level), 0);
                levels[level - 1] += 1;
                edges += u64::from(level > 1);
                if node.end as usize > at + 1 {
                    inner += 1;
                } else {
                    leaves += 1;
                    depths += u64::from(node.level);
                }
            }
        }
        let per = |what: u64, of: u64| if of == 0 { 0.0 } else { what as f64 / of as f64 };
        Shape { levels, degree: per(edges, inner), leaf_level: per(depths, leaves) }
    }

    /// The trees of a version as text: a line for each node with its share of its parent and, in brackets, of its root.
    /// `name` says how a path is called.
    #[must_use]
    pub fn picture(&self, version: VersionId, mut name: impl FnMut(PathNumber) -> String) -> String {
        let mut text = String::new();
        let Ok(position) = self.versions.binary_search_by_key(&version, |trees| trees.version) else {
            return text;
        };
        let mut above: Vec<u64> = Vec::new();
        for node in &self.versions[position].nodes {
            above.truncate(node.level as usize - 1);
            let indent = 2 * above.len();
            let name = name(node.path);
            let _ = write!(text, "{:indent$}{name}  {}", "", node.count);
            if let (Some(&parent), Some(&root)) = (above.last(), above.first()) {
                let _ = write!(
                    text,
                    "  {:.2} % ({:.2} %)",
                    percent(node.count, parent),
                    percent(node.count, root)
                );
            }
            text.push('\n');
            above.push(node.count);
        }
        text
    }
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

/// Merges the k levels below each node of these trees.
fn join(k: K, slabs: &Arena, roots: impl Iterator<Item = Edge>) -> Vec<Node> {
    let mut joined = Arena::new(Arena::MOST);
    let mut tops = OpenTable::new();
    let mut nodes: Vec<Edge> = roots.collect();
    let mut todo = Vec::new();
    while let Some(node) = nodes.pop() {
        nodes.extend(slabs.children(node.to));
        let label = joined.label(slabs.path(node.label));
        let top = tops.slot(u64::from(label));
        if *top == NIL {
            *top = joined.add_root(0);
        }
        todo.push((node.to, *top, k.get()));
        while let Some((from, to, levels)) = todo.pop() {
            joined.add_count(to, slabs.count(from));
            if levels > 1 {
                for child in slabs.children(from) {
                    let label = joined.label(slabs.path(child.label));
                    todo.push((child.to, joined.child(to, label), levels - 1));
                }
            }
        }
    }
    let mut tops: Vec<Edge> = tops.iter().map(|(label, to)| Edge { label: label as u32, to }).collect();
    tops.sort_unstable_by_key(|top| joined.path(top.label));
    let mut rows = Vec::with_capacity(joined.len());
    let mut todo: Vec<(Edge, u32)> = tops.into_iter().rev().map(|top| (top, 1)).collect();
    while let Some((node, level)) = todo.pop() {
        rows.push((level, joined.path(node.label), joined.count(node.to)));
        todo.extend(joined.sorted_children(node.to).into_iter().rev().map(|child| (child, level + 1)));
    }
    with_ends(&rows)
}

/// A node in preorder without its subtree's end: level, path, count.
type Row = (u32, PathNumber, u64);

/// Nodes with the ends of their subtrees.
fn with_ends(rows: &[Row]) -> Vec<Node> {
    let mut nodes: Vec<Node> =
        rows.iter().map(|&(level, path, count)| Node { level, end: 0, path, count }).collect();
    let mut open: Vec<usize> = Vec::new();
    for at in 0..nodes.len() {
        while open.len() >= nodes[at].level as usize {
            nodes[open.pop().expect("levels start at 1")].end = at as u32;
        }
        open.push(at);
    }
    let end = nodes.len() as u32;
    for at in open {
        nodes[at].end = end;
    }
    nodes
}

/// The form in files: nodes in preorder.
#[derive(Clone, Serialize, Deserialize)]
struct Written {
    k: u32,
    versions: Vec<(VersionId, Vec<Row>)>,
}

impl From<PathForest> for Written {
    fn from(forest: PathForest) -> Self {
        let row = |node: &Node| (node.level, node.path, node.count);
        let rows = |trees: &Trees| (trees.version, trees.nodes.iter().map(row).collect());
        Self { k: forest.k.get(), versions: forest.versions.iter().map(rows).collect() }
    }
}

impl TryFrom<Written> for PathForest {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let k = K::new(written.k).map_err(|error: InvalidK| error.to_string())?;
        if !written.versions.is_sorted_by(|a, b| a.0 < b.0) {
            return Err("the versions of a path forest are not in order".to_owned());
        }
        let mut versions = Vec::with_capacity(written.versions.len());
        for (version, rows) in written.versions {
            let mut gram: Vec<PathNumber> = Vec::new();
            for (row, &(level, path, _)) in rows.iter().enumerate() {
                let fits = level >= 1 && level <= k.get() && level as usize <= gram.len() + 1;
                if !fits || gram.get(level as usize - 1).is_some_and(|&sibling| sibling >= path) {
                    return Err(format!("node {row} of {version} is out of place in its path forest"));
                }
                gram.truncate(level as usize - 1);
                gram.push(path);
            }
            versions.push(Trees { version, nodes: with_ends(&rows) });
        }
        Ok(Self { k, versions })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Activation, Forest};
    use super::*;

    /// The form in files: read back it is the same forest, and what is no forest is refused with a reason.
    #[test]
    fn written_and_read() {
        let mut forest = Forest::new(K::new(3).unwrap());
        forest.extend(&mut Activation::default(), VersionId(1), &[6, 2, 0, 0, 2]);
        forest.extend(&mut Activation::default(), VersionId(4), &[1 << 50, 2]);
        let paths = forest.paths();
        let written = Written::from(paths.clone());
        assert_eq!(PathForest::try_from(written.clone()), Ok(paths));
        let refused = |change: fn(&mut Written)| {
            let mut written = written.clone();
            change(&mut written);
            PathForest::try_from(written).unwrap_err()
        };
        assert_eq!(refused(|written| written.k = 1), InvalidK(1).to_string());
        let order = "the versions of a path forest are not in order";
        assert_eq!(refused(|written| written.versions.swap(0, 1)), order);
        let place = |row| format!("node {row} of v1 is out of place in its path forest");
        assert_eq!(refused(|written| written.versions[0].1[0].0 = 0), place(0));
        assert_eq!(refused(|written| written.versions[0].1[1].0 = 3), place(1));
        assert_eq!(refused(|written| written.k = 2), place(2));
        assert_eq!(refused(|written| written.versions[0].1.swap(1, 3)), place(3));
    }
}
