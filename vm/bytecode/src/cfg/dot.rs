//! Pictures of control-flow graphs, in the language of Graphviz.

use super::{BlockId, Cfg, Dominators, EdgeKind, Loops};
use crate::program::{Function, Program};
use crate::text::Printer;
use std::fmt::Write;

/// What to show.
#[derive(Clone, Copy, Debug, Default)]
pub struct DotOptions {
    /// Label edges with how often they were taken.
    pub counters: bool,
}

impl Cfg {
    /// The graph of `function` in the DOT language: instructions in the nodes, back edges bold, edges to handlers
    /// dotted, loop headers with a double frame, unreachable blocks grey.
    pub fn dot(&self, program: &Program, function: &Function, options: &DotOptions) -> String {
        let printer = Printer::new(program);
        let loops = Loops::of(self, &Dominators::of(self));
        let mut out = String::new();
        let _ = writeln!(out, "digraph {} {{", quoted(&function.name));
        out.push_str("    node [shape=box, fontname=monospace, fontsize=10];\n");
        out.push_str("    edge [fontname=monospace, fontsize=9];\n");
        for block in self.blocks() {
            let depth = match loops.depth(block) {
                0 => String::new(),
                depth => format!("  loop depth {depth}"),
            };
            let mut label = format!("{}{depth}\\l", name(block));
            for (pc, i) in self.instructions(function, block) {
                let target = |distance: i32| {
                    let place = pc as i64 + distance as i64;
                    let block = u32::try_from(place).ok().and_then(|place| self.block_at(place));
                    block.map_or_else(|| place.to_string(), name)
                };
                let text = printer.instruction_with(function, &i, &target);
                let _ = write!(label, "{pc:>4}  {}\\l", escaped(&text));
            }
            let mut style = String::new();
            if loops.headed_by(block).is_some() {
                style.push_str(", peripheries=2");
            }
            if !self.is_reachable(block) {
                style.push_str(", color=grey, fontcolor=grey");
            }
            let _ = writeln!(out, "    {} [label=\"{label}\"{style}];", name(block));
        }
        for edge in self.edges() {
            let (mut label, mut style) = match self.kind(edge) {
                EdgeKind::FallThrough => (String::new(), ""),
                EdgeKind::Taken => ("taken".to_string(), ""),
                EdgeKind::Case(i) => (self.case_name(function, edge, i), ""),
                EdgeKind::Default => ("else".to_string(), ""),
                EdgeKind::Exception(handler) => {
                    let class = function.handlers.get(handler as usize).map(|h| h.class.index());
                    let class = class.and_then(|class| program.classes.get(class));
                    (class.map_or(String::new(), |class| escaped(&class.name)), ", style=dotted")
                }
            };
            if loops.is_back_edge(self, edge) {
                style = ", style=bold";
            } else if loops.irreducible_edges().contains(&edge) {
                style = ", style=bold, color=red";
            }
            if options.counters
                && let Some(count) = self.count(&function.code, edge)
            {
                let gap = if label.is_empty() { "" } else { " " };
                let _ = write!(label, "{gap}{count}");
            }
            let (source, target) = (name(self.source(edge)), name(self.target(edge)));
            let _ = writeln!(out, "    {source} -> {target} [label=\"{label}\"{style}];");
        }
        out.push_str("}\n");
        out
    }

    /// The value of case `i` of the switch that `edge` leaves.
    fn case_name(&self, function: &Function, edge: super::EdgeId, i: u32) -> String {
        let last = self.block(self.source(edge)).last as usize;
        let low = crate::code::decode(&function.code, last).map_or(0, |switch| switch.x() as i64);
        low.wrapping_add(i as i64).to_string()
    }
}

fn name(block: BlockId) -> String {
    format!("b{}", block.0)
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\l")
}
