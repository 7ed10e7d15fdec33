//! The headline targets as a table, right after the first screen.

use super::markup::{Element, classed, element};
use super::tables::{cell, or_dash};
use crate::report::model::{Report, Target};
use crate::report::{numbers, verdicts};

/// The section; nothing if the report is about no target.
pub fn section(report: &Report) -> Option<Element> {
    if report.targets.is_empty() {
        return None;
    }
    let heads = ["target", "paper", "met by", "measured", "met", "stretch", "stretch met"];
    let head = element("tr").all(heads.map(|name| element("th").set("scope", "col").text(name)));
    let rows = report.targets.iter().map(|target| {
        element("tr")
            .child(cell(heads[0], "what").text(target.id.clone()))
            .child(cell(heads[1], "").text(or_dash(&target.paper)))
            .child(cell(heads[2], "").text(or_dash(&target.target)))
            .child(cell(heads[3], "measured").all(measured(target)))
            .child(cell(heads[4], "").text(verdicts::met(target.met)))
            .child(cell(heads[5], "").text(or_dash(&target.stretch)))
            .child(cell(heads[6], "").text(verdicts::met(target.stretch_met)))
    });
    let table = classed("table", "checks stack")
        .child(element("thead").child(head))
        .child(element("tbody").all(rows));
    Some(
        classed("section", "paper")
            .set("id", "targets")
            .child(element("h2").text("Headline targets"))
            .child(classed("p", "soft").text(verdicts::targets_met(report)))
            .child(table),
    )
}

/// What each check found, a line each.
fn measured(target: &Target) -> Vec<Element> {
    let line = |part: &crate::report::model::TargetPart| {
        let interval = part.measured.as_ref().and_then(numbers::interval);
        let line = element("div")
            .set("title", part.experiment.clone())
            .child(classed("span", "soft").text(format!("{}: ", part.what)))
            .child(classed("span", "estimate").text(or_dash(&part.shown)));
        match interval {
            Some(interval) => line.child(classed("span", "interval").text(format!(" ({interval})"))),
            None => line,
        }
    };
    target.parts.iter().map(line).collect()
}
