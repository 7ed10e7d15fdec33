//! Paths in their source: the lines of a method, those that the path goes through marked with a bar and a sign, those far from it folded.

use super::super::markup::{Element, classed, element};
use crate::report::model::{SourcePath, Unit};
use crate::report::{data, numbers};
use std::collections::BTreeMap;

/// Lines before and behind those of the path that are still shown.
const CONTEXT: usize = 2;

/// Draws all paths.
pub fn draw(paths: &[SourcePath]) -> Element {
    let largest = paths.iter().map(|path| path.share).filter(|share| share.is_finite()).fold(0.0, f64::max);
    classed("div", "paths").all(paths.iter().enumerate().map(|(index, path)| one(index, path, largest)))
}

fn one(index: usize, path: &SourcePath, largest: f64) -> Element {
    let long = if largest > 0.0 && path.share.is_finite() {
        (path.share / largest).clamp(0.0, 1.0) * 100.0
    } else {
        0.0
    };
    let head = classed("div", "path-head")
        .child(classed("span", "path-rank").text(format!("{}.", index + 1)))
        .child(classed("span", "path-share").text(numbers::show(path.share * 100.0, Unit::Percent)))
        .child(classed("span", "path-bar").child(element("i").set("style", format!("width:{long:.1}%"))))
        .child(element("code").text(path.method.clone()))
        .child(classed("span", "soft").text(format!("{}, lines {}", path.file, data::line_ranges(path))));
    classed("div", "path").child(head).child(lines(path))
}

fn lines(path: &SourcePath) -> Element {
    // How often the path goes through each line.
    let mut on: BTreeMap<usize, usize> = BTreeMap::new();
    for line in &path.on_path {
        *on.entry(*line as usize).or_default() += 1;
    }
    let near =
        |line: usize| on.range(line.saturating_sub(CONTEXT)..=line.saturating_add(CONTEXT)).next().is_some();
    let indent = path
        .lines
        .iter()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start_matches(' ').len())
        .min()
        .unwrap_or(0);
    let mut body = element("tbody");
    let mut folded = 0;
    for (index, text) in path.lines.iter().enumerate() {
        if !near(index) {
            folded += 1;
            continue;
        }
        if folded > 0 {
            body = body.child(gap(folded));
            folded = 0;
        }
        let times = on.get(&index).copied().unwrap_or(0);
        let sign = match times {
            0 => String::new(),
            1 => "▸".to_string(),
            times => format!("▸ {times}×"),
        };
        body = body.child(
            classed("tr", if times > 0 { "on" } else { "off" })
                .child(classed("td", "line-number").text((u64::from(path.first) + index as u64).to_string()))
                .child(classed("td", "line-sign").text(sign))
                .child(element("td").child(element("code").text(text.get(indent..).unwrap_or(text)))),
        );
    }
    if folded > 0 {
        body = body.child(gap(folded));
    }
    let table = classed("table", "listing").child(body);
    classed("div", "scroll").set("tabindex", "0").child(table)
}

fn gap(lines: usize) -> Element {
    let text = if lines == 1 { "1 line".to_string() } else { format!("{lines} lines") };
    classed("tr", "gap")
        .child(element("td"))
        .child(element("td"))
        .child(element("td").text(format!("⋯ {text} off the path")))
}
