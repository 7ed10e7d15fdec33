//! The calling-context tree: not only which method calls which, but on whose behalf.
//!
//! Ammons, Ball and Larus, PLDI 1997; Arnold and Grove name it as the extension of their sampling that needs a deeper
//! look at the stack (section 1). A node is a method reached through one call position from the node of its caller. A
//! sample is a stack, and adds its weight to the node of its innermost frame.
//!
//! A tree may be limited in depth: then only so many innermost frames of a stack are looked at, and the outermost of these
//! stands directly below the root, whoever called it. Depth 2 is the call graph with the leaves' own methods.
//!
//! Invariant: a node's parent has a smaller number than the node. [`ContextTree::add`] is O(depth), and allocates only
//! for a context that was never seen.

use super::graph::{CallEdge, CallGraph};
use super::hash::FixedMap;
use super::share::{Invalid, Share};
use crate::MethodId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An activation on a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Frame {
    /// The method.
    pub method: MethodId,
    /// Where in its code it stands: at the call of the next frame. Of the innermost frame it is not looked at.
    pub position: u32,
}

/// A node of a tree, as others see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Context {
    /// The caller's node, by its position; none directly below the root.
    pub parent: Option<u32>,
    /// Where the call is in the caller's method; 0 directly below the root.
    pub position: u32,
    /// The method.
    pub method: MethodId,
    /// Samples of which it is the innermost frame.
    pub weight: u64,
}

/// The number of a node.
type NodeId = u32;

/// A context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Node {
    parent: NodeId,
    /// The position of the call in the parent's method; 0 below the root.
    position: u32,
    method: MethodId,
    weight: u64,
}

/// The root, which is no method's; it is its own parent and not stored among the nodes.
const ROOT: NodeId = NodeId::MAX;

/// A tree of contexts with weights. Trees are equal if their contexts with weights of their own are.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct ContextTree {
    depth: usize,
    nodes: Vec<Node>,
    children: FixedMap<(NodeId, u32, MethodId), NodeId>,
}

/// What is written to files: the index of the children is not.
#[derive(Serialize, Deserialize)]
struct Stored {
    depth: usize,
    nodes: Vec<Node>,
}

impl ContextTree {
    /// A tree of whole stacks.
    #[must_use]
    pub fn new() -> Self {
        Self { depth: usize::MAX, nodes: Vec::new(), children: FixedMap::default() }
    }

    /// A tree of the innermost `depth` frames.
    ///
    /// # Errors
    ///
    /// If `depth` is 0.
    pub fn limited(depth: usize) -> Result<Self, Invalid> {
        if depth == 0 {
            return Err(Invalid::new("depth", depth, "1 frame and more"));
        }
        Ok(Self { depth, ..Self::new() })
    }

    /// Adds the weight of a sampled stack, the outermost frame first. An empty stack is ignored.
    pub fn add(&mut self, stack: &[Frame], weight: u64) {
        let kept = &stack[stack.len().saturating_sub(self.depth)..];
        let (mut node, mut position) = (ROOT, 0);
        for frame in kept {
            node = self.child(node, position, frame.method);
            position = frame.position;
        }
        if let Some(leaf) = self.nodes.get_mut(node as usize) {
            leaf.weight = leaf.weight.saturating_add(weight);
        }
    }

    /// How many contexts there are, those included that were only passed through.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no context.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// All nodes, each behind its parent.
    pub fn nodes(&self) -> impl Iterator<Item = Context> + '_ {
        self.nodes.iter().map(|&Node { parent, position, method, weight }| Context {
            parent: (parent != ROOT).then_some(parent),
            position,
            method,
            weight,
        })
    }

    /// The weight of all samples.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.nodes.iter().fold(0, |sum, node| sum.saturating_add(node.weight))
    }

    /// Adds all weights of another tree; contexts deeper than this tree's limit do not become shorter.
    pub fn merge(&mut self, other: &Self) {
        let mut names: Vec<NodeId> = Vec::with_capacity(other.nodes.len());
        for node in &other.nodes {
            let parent = names.get(node.parent as usize).copied().unwrap_or(ROOT);
            let name = self.child(parent, node.position, node.method);
            let weight = &mut self.nodes[name as usize].weight;
            *weight = weight.saturating_add(node.weight);
            names.push(name);
        }
    }

    /// Keeps a share of each weight, rounded down. Contexts that reach zero stay, as those do that are only passed through.
    pub fn decay(&mut self, keep: Share) {
        self.nodes.iter_mut().for_each(|node| node.weight = keep.of(node.weight));
    }

    /// The call graph of the innermost calls: that which sampling two frames of each stack would have yielded. Stacks of
    /// one frame contribute nothing.
    #[must_use]
    pub fn call_graph(&self) -> CallGraph {
        let mut graph = CallGraph::new();
        for node in &self.nodes {
            if let Some(parent) = self.nodes.get(node.parent as usize) {
                graph.add(CallEdge::new(parent.method, node.position, node.method), node.weight);
            }
        }
        graph
    }

    /// All contexts with a weight of their own, the outermost frame first and the innermost at position 0; sorted.
    #[must_use]
    pub fn contexts(&self) -> Vec<(Vec<Frame>, u64)> {
        let weighted = self.nodes.iter().enumerate().filter(|(_, node)| node.weight > 0);
        let mut contexts: Vec<_> = weighted.map(|(at, node)| (self.stack(at), node.weight)).collect();
        contexts.sort_unstable();
        contexts
    }

    /// The contexts in the folded form that flame graph tools read: names from the outermost method on, with semicolons
    /// between them, and the weight. Sorted; contexts that differ only in positions are one line. Semicolons and white
    /// space in names become `_`.
    #[must_use]
    pub fn folded(&self, mut name: impl FnMut(MethodId) -> String) -> String {
        let clean = |name: String| name.replace(|c: char| c == ';' || c.is_whitespace(), "_");
        let mut lines: BTreeMap<Vec<String>, u64> = BTreeMap::new();
        for (stack, weight) in self.contexts() {
            let names = stack.iter().map(|frame| clean(name(frame.method))).collect();
            let sum: &mut u64 = lines.entry(names).or_default();
            *sum = sum.saturating_add(weight);
        }
        lines.into_iter().map(|(names, weight)| format!("{} {weight}\n", names.join(";"))).collect()
    }

    /// The weights of each pair of equal contexts in the two trees, in the order of this one's first samples.
    pub(super) fn common(&self, other: &Self) -> Vec<(u64, u64)> {
        let mut names: Vec<Option<NodeId>> = Vec::with_capacity(self.nodes.len());
        let mut pairs = Vec::new();
        for node in &self.nodes {
            let parent = if node.parent == ROOT { Some(ROOT) } else { names[node.parent as usize] };
            let name =
                parent.and_then(|parent| other.children.get(&(parent, node.position, node.method)).copied());
            pairs.extend(name.map(|name| (node.weight, other.nodes[name as usize].weight)));
            names.push(name);
        }
        pairs
    }

    fn child(&mut self, parent: NodeId, position: u32, method: MethodId) -> NodeId {
        let next = NodeId::try_from(self.nodes.len()).ok().filter(|&next| next != ROOT);
        let nodes = &mut self.nodes;
        *self.children.entry((parent, position, method)).or_insert_with(|| {
            nodes.push(Node { parent, position, method, weight: 0 });
            next.expect("fewer than 2^32 contexts")
        })
    }

    fn stack(&self, leaf: usize) -> Vec<Frame> {
        let mut frames = Vec::new();
        let (mut at, mut position) = (leaf, 0);
        while let Some(node) = self.nodes.get(at) {
            frames.push(Frame { method: node.method, position });
            (at, position) = (node.parent as usize, node.position);
        }
        frames.reverse();
        frames
    }
}

impl PartialEq for ContextTree {
    fn eq(&self, other: &Self) -> bool {
        self.contexts() == other.contexts()
    }
}

impl Eq for ContextTree {}

impl Default for ContextTree {
    fn default() -> Self {
        Self::new()
    }
}

impl TryFrom<Stored> for ContextTree {
    type Error = Invalid;

    fn try_from(Stored { depth, nodes }: Stored) -> Result<Self, Invalid> {
        let mut tree = Self { depth, ..Self::new() };
        for node in nodes {
            let at = tree.nodes.len();
            let known = node.parent == ROOT || (node.parent as usize) < at;
            if !known || tree.child(node.parent, node.position, node.method) as usize != at {
                return Err(Invalid::new("context", at, "contexts that differ, behind that of their caller"));
            }
            tree.nodes[at].weight = node.weight;
        }
        Ok(tree)
    }
}

impl From<ContextTree> for Stored {
    fn from(tree: ContextTree) -> Self {
        Self { depth: tree.depth, nodes: tree.nodes }
    }
}
