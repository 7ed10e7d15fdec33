//! A forest of counted nodes, drawn from the top: each node with its name and count, each line with the share of the parent's count
//! that goes along it, as thick as its share of the root's.
//!
//! Leaves stand side by side and parents over the middle of their children. Of a large forest the most frequent nodes are drawn;
//! the children of a node that is not drawn are rarer than it, so what is drawn is a forest again.

use super::super::markup::{Element, classed, coordinate, element};
use super::frame::{drawing, shortened, width_of, words};
use crate::report::data::{self, Place};
use crate::report::model::{TreeNode, Unit};
use crate::report::numbers;

/// More nodes than these are no longer looked at one by one.
const MOST_NODES: usize = 70;
const DOWN: f64 = 82.0;
const NODE_HEIGHT: f64 = 36.0;

/// A node with its place in the drawing.
struct Drawn {
    depth: usize,
    parent: Option<usize>,
    children: Vec<usize>,
    name: String,
    tip: String,
    count: String,
    of_parent: Option<f64>,
    of_root: f64,
    width: f64,
    x: f64,
}

/// What was left out of a drawing.
pub struct LeftOut {
    /// How many nodes.
    pub nodes: usize,
    /// They were seen less often than this.
    pub below: u64,
}

/// Which nodes are drawn: all of them, or those seen most often.
fn chosen(places: &[Place<'_>]) -> (Vec<bool>, Option<LeftOut>) {
    if places.len() <= MOST_NODES {
        return (vec![true; places.len()], None);
    }
    let least = data::least_shown(places, MOST_NODES);
    let mut kept = Vec::with_capacity(places.len());
    let mut open: Vec<bool> = Vec::new();
    let mut left = MOST_NODES;
    for place in places {
        open.truncate(place.depth);
        // A parent that is not drawn takes its children with it, whatever they count.
        let keep = place.node.count >= least && left > 0 && open.iter().all(|above| *above);
        left -= usize::from(keep);
        open.push(keep);
        kept.push(keep);
    }
    let nodes = kept.iter().filter(|keep| !**keep).count();
    (kept, Some(LeftOut { nodes, below: least }))
}

fn percent(share: f64) -> String {
    numbers::show(share * 100.0, Unit::Percent)
}

/// Draws a forest; also what of it was not drawn.
pub fn draw(id: &str, title: &str, roots: &[TreeNode]) -> (Element, Option<LeftOut>) {
    let places = data::places(roots);
    let (kept, left_out) = chosen(&places);
    let mut nodes: Vec<Drawn> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for (place, _) in places.iter().zip(&kept).filter(|(_, kept)| **kept) {
        open.truncate(place.depth);
        let name = shortened(&place.node.name, 18);
        let count = numbers::show(place.node.count as f64, Unit::Count);
        let width = (width_of(&name, 13.5).max(width_of(&count, 10.5)) + 20.0).max(56.0);
        let mut tip = format!("{}\ncount {}", place.names.join(" › "), numbers::count(place.node.count));
        if let Some(share) = place.of_parent {
            tip.push_str(&format!(
                "\n{} of the one above, {} of the root",
                percent(share),
                percent(place.of_root)
            ));
        }
        let (parent, index) = (open.last().copied(), nodes.len());
        if let Some(parent) = parent {
            nodes[parent].children.push(index);
        }
        open.push(index);
        nodes.push(Drawn {
            depth: place.depth,
            parent,
            children: Vec::new(),
            name,
            tip,
            count,
            of_parent: place.of_parent,
            of_root: place.of_root,
            width,
            x: 0.0,
        });
    }
    let width = spread(&mut nodes);
    let deepest = nodes.iter().map(|node| node.depth).max().unwrap_or(0);
    let height = deepest as f64 * DOWN + NODE_HEIGHT + 8.0;
    let description =
        format!("{} nodes of {} in {} trees, {} deep.", nodes.len(), places.len(), roots.len(), deepest + 1);
    let mut svg = drawing(id, width.max(160.0), height, title, &description);
    svg = svg.all(nodes.iter().filter_map(|node| Some(edge(&nodes[node.parent?], node))));
    (svg.all(nodes.iter().map(shape)), left_out)
}

/// Gives each node its place to the right; the width of all.
fn spread(nodes: &mut [Drawn]) -> f64 {
    // Children come after their parents, so that from the end all children are placed before their parent. Slots go from the left,
    // in the order of the leaves, with room for the widest node that stands over each.
    let gap = 14.0;
    let mut free = 4.0;
    // The least room that the subtree of each node needs, from its leaves up.
    let mut needs: Vec<f64> = nodes.iter().map(|node| node.width).collect();
    for index in (0..nodes.len()).rev() {
        let below: f64 = nodes[index].children.iter().map(|child| needs[*child] + gap).sum();
        needs[index] = needs[index].max(below - gap);
    }
    // Then from the roots down: each subtree in its own stretch, so nothing can overlap.
    let mut begins = vec![0.0; nodes.len()];
    for index in 0..nodes.len() {
        if nodes[index].parent.is_none() {
            begins[index] = free;
            free += needs[index] + gap * 2.0;
        }
        let below: f64 = nodes[index].children.iter().map(|child| needs[*child] + gap).sum();
        let mut at = begins[index] + (needs[index] - (below - gap).max(0.0)) / 2.0;
        for child in nodes[index].children.clone() {
            begins[child] = at;
            at += needs[child] + gap;
        }
    }
    for index in (0..nodes.len()).rev() {
        let children = &nodes[index].children;
        nodes[index].x = match (children.first(), children.last()) {
            (Some(first), Some(last)) => (nodes[*first].x + nodes[*last].x) / 2.0,
            _ => begins[index] + needs[index] / 2.0,
        };
        // Over the middle of its children, but within its stretch.
        let half = nodes[index].width / 2.0;
        let (low, high) = (begins[index] + half, begins[index] + needs[index] - half);
        nodes[index].x = nodes[index].x.clamp(low.min(high), high.max(low));
    }
    nodes.iter().map(|node| node.x + node.width / 2.0).fold(0.0, f64::max) + 4.0
}

fn top(node: &Drawn) -> f64 {
    node.depth as f64 * DOWN + 4.0
}

/// A line from a parent, with the share on its last stretch, which is upright: there it is over the middle of its node and can touch no
/// other share.
fn edge(parent: &Drawn, node: &Drawn) -> Element {
    let (begin, end) = (top(parent) + NODE_HEIGHT, top(node));
    let knee = end - 18.0;
    let [x1, x2, y1, y2, y3, bend] =
        [parent.x, node.x, begin, knee, end, (begin + knee) / 2.0].map(coordinate);
    let thickness = 0.8 + 5.0 * node.of_root.clamp(0.0, 1.0);
    let share = node.of_parent.map(percent).unwrap_or_default();
    let room = width_of(&share, 10.5);
    element("g")
        .child(
            classed("path", "branch")
                .set("d", format!("M{x1} {y1}C{x1} {bend} {x2} {bend} {x2} {y2}L{x2} {y3}"))
                .set("stroke-width", coordinate(thickness)),
        )
        // The line is interrupted for the share.
        .child(
            classed("rect", "gap")
                .at("x", node.x - room / 2.0)
                .at("y", end - 17.0)
                .at("width", room)
                .at("height", 13.0),
        )
        .child(words(node.x, end - 7.0, "middle", "share", share))
}

fn shape(node: &Drawn) -> Element {
    let y = top(node);
    classed("g", "m node")
        .child(element("title").text(node.tip.clone()))
        .child(
            classed("rect", if node.parent.is_none() { "box root" } else { "box" })
                .at("x", node.x - node.width / 2.0)
                .at("y", y)
                .at("width", node.width)
                .at("height", NODE_HEIGHT)
                .at("rx", 6.0),
        )
        .child(words(node.x, y + 15.0, "middle", "node-name", node.name.clone()))
        .child(words(node.x, y + 29.0, "middle", "node-count", node.count.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(name: &str, count: u64) -> TreeNode {
        TreeNode { name: name.into(), count, children: Vec::new() }
    }

    #[test]
    fn of_many_nodes_the_frequent_ones_are_drawn() {
        let children: Vec<TreeNode> = (0..1000).map(|index| leaf(&format!("n{index}"), index)).collect();
        let roots = [TreeNode { name: "root".into(), count: 499_500, children }];
        let (_, left_out) = draw("f", "t", &roots);
        let left_out = left_out.expect("most are left out");
        assert_eq!((left_out.nodes, left_out.below), (1001 - MOST_NODES, 1001 - MOST_NODES as u64));
        // All the same: as many as there is room for.
        let same: Vec<TreeNode> = (0..1000).map(|index| leaf(&format!("n{index}"), 7)).collect();
        let (_, left_out) = draw("f", "t", &same);
        assert_eq!(left_out.expect("most are left out").nodes, 1000 - MOST_NODES);
    }

    #[test]
    fn nodes_of_a_level_do_not_overlap() {
        let deep = (0..6).fold(leaf("a long name at the end", 1), |below, depth| TreeNode {
            name: format!("{depth}"),
            count: 2,
            children: vec![below, leaf("b", 3), leaf("another one", 123_456_789)],
        });
        let roots = [deep, leaf("c", 0)];
        let places = data::places(&roots);
        assert_eq!(places.len(), 6 * 3 + 2);
        let (svg, left_out) = draw("f", "t", &roots);
        assert!(left_out.is_none());
        let mut text = String::new();
        svg.write(&mut text);
        let value = |text: &str, name: &str| {
            let from = text.find(&format!(" {name}=\"")).expect("an attribute") + name.len() + 3;
            text[from..].split('"').next().and_then(|number| number.parse::<f64>().ok()).expect("a number")
        };
        let boxes: Vec<(f64, f64, f64)> = text
            .split("<rect class=\"box")
            .skip(1)
            .map(|rest| {
                let rest = format!(" {rest}");
                (value(&rest, "y"), value(&rest, "x"), value(&rest, "width"))
            })
            .collect();
        assert_eq!(boxes.len(), 20);
        for (index, (y, x, width)) in boxes.iter().enumerate() {
            for (other_y, other_x, other_width) in &boxes[index + 1..] {
                let apart = y != other_y || x + width <= *other_x || other_x + other_width <= *x;
                assert!(apart, "{boxes:?}");
            }
        }
    }
}
