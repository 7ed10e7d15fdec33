//! The first screen: each paper's main results beside what was measured, what became of all experiments, where and when.

use super::anchors::Places;
use super::markup::{Element, classed, element};
use super::tables::{self, cell, or_dash};
use crate::report::model::{Paper, Report, Verdict};
use crate::report::numbers;
use crate::report::verdicts::{Headline, headlines};

/// The line below the title.
pub fn lead(report: &Report) -> String {
    let experiments: usize = report.papers.iter().map(|paper| paper.experiments.len()).sum();
    let mode = &report.provenance.mode;
    let took = numbers::duration(report.provenance.seconds);
    match (report.papers.len(), experiments) {
        (_, 0) => "This report holds no experiments.".to_string(),
        (1, 1) => format!("One experiment, in a {mode} run of {took}."),
        (papers, experiments) => {
            let papers = if papers == 1 { "one paper".to_string() } else { format!("{papers} papers") };
            format!("{experiments} experiments of {papers}, in a {mode} run of {took}.")
        }
    }
}

/// The section.
pub fn section(report: &Report, places: &Places) -> Element {
    let mut left = classed("div", "results").child(tally(report));
    if report.papers.is_empty() {
        left = left.child(
            classed("p", "soft").text("No paper was asked for: name one, or all, on the command line."),
        );
    } else {
        left = left.child(headline_table(report, places)).child(meanings());
    }
    classed("section", "first")
        .set("id", "summary")
        .set("aria-label", "Summary")
        .child(left)
        .child(provenance(report))
}

/// How many experiments came to which verdict, as a strip and in words.
fn tally(report: &Report) -> Element {
    let tally = report.tally();
    let strip = tally.iter().map(|(verdict, count)| {
        classed("i", &format!("v-{}", verdict.key())).set("style", format!("flex-grow:{count}"))
    });
    let words = tally.iter().map(|(verdict, count)| {
        element("li")
            .set("title", verdict.meaning())
            .set("class", format!("v-{}", verdict.key()))
            .child(tables::sign(*verdict))
            .child(element("b").text(count.to_string()))
            .text(format!(" {}", verdict.words()))
    });
    classed("div", "tally")
        .child(classed("div", "strip").set("aria-hidden", "true").all(strip))
        .child(element("ul").all(words))
}

fn headline_table(report: &Report, places: &Places) -> Element {
    let heads = ["headline", "paper", "measured", "verdict"];
    let head = element("tr").all(heads.map(|name| element("th").set("scope", "col").text(name)));
    let bodies = report.papers.iter().enumerate().map(|(index, paper)| {
        let group = element("tr").set("class", "group").child(
            element("th")
                .set("colspan", heads.len().to_string())
                .set("scope", "rowgroup")
                .child(
                    classed("a", "paper-id")
                        .set("href", format!("#{}", places.papers[index]))
                        .text(paper.id.clone()),
                )
                .child(classed("span", "paper-title").text(paper.title.clone())),
        );
        element("tbody").child(group).all(rows(paper, &places.experiments[index], heads))
    });
    classed("table", "headlines stack").child(element("thead").child(head)).all(bodies)
}

fn rows(paper: &Paper, names: &[String], heads: [&str; 4]) -> Vec<Element> {
    let mut rows: Vec<Element> = Vec::new();
    for headline in headlines(paper) {
        rows.push(match headline {
            Headline::Found(index, experiment, check) => {
                let link = element("a").set("href", format!("#{}", names[index])).text(check.what.clone());
                let place = classed("span", "place").text(format!(" {}", experiment.place));
                element("tr")
                    .child(cell(heads[0], "what").child(link).child(place))
                    .child(cell(heads[1], "").text(or_dash(&check.paper)))
                    .child(cell(heads[2], "measured").all(tables::found(check)))
                    .child(cell(heads[3], "").child(tables::verdict(check.verdict)))
            }
            Headline::Absent(id, position) => element("tr")
                .child(cell(heads[0], "what").text(format!("check {} of {id}", position.saturating_add(1))))
                .child(cell(heads[1], "").text("–"))
                .child(cell(heads[2], "measured").text("not in this report"))
                .child(cell(heads[3], "").child(tables::verdict(Verdict::Missing))),
        });
    }
    if rows.is_empty() {
        let text = "No headline is known for this paper.";
        rows.push(element("tr").child(element("td").set("colspan", "4").set("class", "soft").text(text)));
    }
    rows
}

fn meanings() -> Element {
    let all = Verdict::ALL.map(|verdict| {
        element("li")
            .child(tables::verdict(verdict))
            .child(classed("span", "soft").text(format!(" {}", verdict.meaning())))
    });
    classed("details", "meanings")
        .child(element("summary").text("What the verdicts mean"))
        .child(element("ul").all(all))
}

fn provenance(report: &Report) -> Element {
    let provenance = &report.provenance;
    let own = [
        ("build", provenance.build.clone()),
        ("began", format!("{} UTC", provenance.began)),
        ("mode", provenance.mode.clone()),
        ("took", numbers::duration(provenance.seconds)),
    ];
    let own = own.iter().map(|(name, value)| (*name, value.as_str()));
    let machine = provenance.machine.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let list =
        own.chain(machine).flat_map(|(name, value)| [element("dt").text(name), element("dd").text(value)]);
    classed("aside", "provenance")
        .set("aria-label", "Machine and provenance")
        .child(element("h2").text("Where and when"))
        .child(element("dl").all(list))
        .child(classed("p", "soft").text("Made again by"))
        .child(
            classed("pre", "command scroll")
                .set("tabindex", "0")
                .child(element("code").text(provenance.command.clone())),
        )
}
