//! The report as one page that opens without a network: style, script and drawings are in it, and nothing is loaded.
//!
//! The first screen sets the papers' main results beside what was measured; then come the headline targets, the planes of all profilers and each paper's
//! experiments with their checks, figures, failures and commands. Without scripts all of it is there; the script adds numbers beside the
//! pointer, a switch for dark and a mark for where one reads.
//!
//! * [`markup`]: elements, and the escaping of all text
//! * [`theme`]: colours, for light, dark and print
//! * [`anchors`]: names of places in the page
//! * [`charts`]: drawings of figures
//! * `summary`, `targets`, `sections`, `tables`: the parts of the page

pub mod anchors;
pub mod charts;
pub mod markup;
mod sections;
mod summary;
mod tables;
mod targets;
pub mod theme;

use super::model::Report;
use anchors::Places;
use markup::{Element, Node, classed, element};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Writes the page.
pub fn render(report: &Report) -> String {
    let places = Places::of(report);
    let page = element("html").set("lang", "en").child(head(report)).child(body(report, &places));
    let mut out = String::from("<!DOCTYPE html>\n");
    page.write(&mut out);
    out.push('\n');
    out
}

fn head(report: &Report) -> Element {
    let title = format!("Five papers, measured again: {}", report.provenance.mode);
    element("head")
        .child(element("meta").set("charset", "utf-8"))
        .child(element("meta").set("name", "viewport").set("content", "width=device-width, initial-scale=1"))
        // No icon is looked for, and nothing can be loaded even if some text found a way to ask for it.
        .child(element("meta").set("http-equiv", "Content-Security-Policy").set("content", POLICY))
        .child(element("title").text(title))
        .child(style(theme::style()))
        .child(with("style", STYLE))
}

const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// Our own text for a style sheet or script. It must not end the element, which a test sees to.
fn with(name: &'static str, text: &'static str) -> Element {
    let mut element = element(name);
    element = element.child(Node::Verbatim(text));
    element
}

/// Colours hold no character that would be escaped.
fn style(text: String) -> Element {
    element("style").text(text)
}

fn body(report: &Report, places: &Places) -> Element {
    let switch =
        classed("button", "switch").set("type", "button").set("id", "switch").set("hidden", "").text("Dark");
    let header = classed("header", "top")
        .child(
            element("div")
                .child(element("h1").text("Five papers, measured again"))
                .child(classed("p", "lead").text(summary::lead(report))),
        )
        .child(switch);
    element("body")
        .set("id", "top")
        .child(tables::signs())
        .child(classed("a", "skip").set("href", "#summary").text("To the summary"))
        .child(header)
        .child(summary::section(report, places))
        .child(
            classed("div", "layout")
                .child(sections::contents(report, places))
                .child(element("main").all(sections::all(report, places))),
        )
        .child(
            classed("footer", "bottom")
                .text(format!(
                    "Holloway {}, measured {} UTC. ",
                    report.provenance.build, report.provenance.began
                ))
                .child(element("a").set("href", "#top").text("To the top")),
        )
        .child(with("script", SCRIPT))
}
