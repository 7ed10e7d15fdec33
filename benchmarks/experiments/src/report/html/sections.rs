//! The body of the page: contents at the side, the plane, and each paper with its experiments.

use super::anchors::Places;
use super::charts;
use super::markup::{Element, classed, element};
use super::tables;
use crate::report::model::{Experiment, Figure, Paper, Report};
use crate::report::{data, numbers};

/// The contents, with the verdict of each experiment.
pub fn contents(report: &Report, places: &Places) -> Element {
    let mut list = element("ol");
    if !report.targets.is_empty() {
        list = list.child(
            element("li").child(classed("a", "of-paper").set("href", "#targets").text("Headline targets")),
        );
    }
    if !report.planes.is_empty() {
        list = list.child(
            element("li").child(classed("a", "of-paper").set("href", "#plane").text("All on one plane")),
        );
    }
    for (index, paper) in report.papers.iter().enumerate() {
        let experiments =
            paper.experiments.iter().zip(&places.experiments[index]).map(|(experiment, name)| {
                let link = element("a")
                    .set("href", format!("#{name}"))
                    .set("title", format!("{}: {}", experiment.title, experiment.verdict.words()))
                    .child(tables::sign(experiment.verdict))
                    .child(element("b").text(experiment.place.clone()))
                    .text(format!(" {}", experiment.title));
                element("li").child(link)
            });
        let head =
            classed("a", "of-paper").set("href", format!("#{}", places.papers[index])).text(paper.id.clone());
        list = list.child(element("li").child(head).child(element("ol").all(experiments)));
    }
    let details = element("details").set("open", "").child(element("summary").text("Contents")).child(list);
    classed("nav", "contents").set("id", "contents").set("aria-label", "Contents").child(details)
}

/// The targets, the planes and the papers.
pub fn all(report: &Report, places: &Places) -> Vec<Element> {
    let plane = (!report.planes.is_empty()).then(|| {
        classed("section", "paper")
            .set("id", "plane")
            .child(element("h2").text("All profilers on one plane"))
            .all(report.planes.iter().zip(&places.planes).map(|(figure, name)| one_figure(figure, name)))
    });
    let papers = report.papers.iter().enumerate().map(|(index, paper)| of_paper(paper, index, places));
    super::targets::section(report).into_iter().chain(plane).chain(papers).collect()
}

fn of_paper(paper: &Paper, index: usize, places: &Places) -> Element {
    let head = element("header")
        .child(classed("p", "paper-id").text(paper.id.clone()))
        .child(element("h2").text(paper.title.clone()))
        .child(classed("p", "soft").text(paper.source.clone()))
        .child(classed("p", "says").text(paper.says.clone()));
    let section = classed("section", "paper").set("id", places.papers[index].clone()).child(head);
    if paper.experiments.is_empty() {
        return section.child(classed("p", "soft").text("No experiment of this paper was run."));
    }
    section.all(paper.experiments.iter().enumerate().map(|(position, experiment)| {
        of_experiment(experiment, &places.experiments[index][position], &places.figures[index][position])
    }))
}

fn of_experiment(experiment: &Experiment, name: &str, figures: &[String]) -> Element {
    let head = classed("header", "experiment-head")
        .child(
            element("h3")
                .child(classed("span", "place").text(experiment.place.clone()))
                .text(format!(" {} ", experiment.title))
                .child(
                    classed("a", "here")
                        .set("href", format!("#{name}"))
                        .set("aria-label", "Link to this experiment")
                        .text("#"),
                ),
        )
        .child(tables::verdict(experiment.verdict));
    let mut section = classed("section", "experiment").set("id", name).child(head);
    if !experiment.because.is_empty() {
        section = section.child(
            classed("p", &format!("because v-{}", experiment.verdict.key())).text(experiment.because.clone()),
        );
    }
    section = section.all(experiment.text.iter().map(|text| classed("p", "prose").text(text.clone())));
    if !experiment.checks.is_empty() {
        section = section.child(tables::checks(&experiment.checks));
    }
    section =
        section.all(experiment.figures.iter().zip(figures).map(|(figure, name)| one_figure(figure, name)));
    if !experiment.failures.is_empty() {
        section = section.child(failures(&experiment.failures));
    }
    section.child(
        classed("p", "again").child(classed("code", "command").text(experiment.command.clone())).child(
            classed("span", "soft").text(format!(
                " {}, took {}",
                experiment.id,
                numbers::duration(experiment.seconds)
            )),
        ),
    )
}

fn failures(failures: &[(String, String)]) -> Element {
    let count = match failures.len() {
        1 => "One cell failed".to_string(),
        count => format!("{count} cells failed"),
    };
    let items = failures.iter().flat_map(|(cell, error)| {
        [element("dt").text(cell.clone()), element("dd").child(element("pre").text(error.clone()))]
    });
    classed("details", "failures")
        .set("open", "")
        .child(element("summary").text(count))
        .child(element("dl").all(items))
}

fn one_figure(figure: &Figure, name: &str) -> Element {
    let file = format!("{}.csv", name.replace("--", "-"));
    let link = classed("a", "csv")
        .set("download", file)
        .set("href", format!("data:text/csv;charset=utf-8,{}", percent_encoded(&data::csv(&figure.chart))))
        .text("Download CSV");
    let mut foot = classed("div", "figure-foot").child(link);
    // A table is its own table.
    if !matches!(figure.chart, crate::report::model::Chart::Table { .. }) {
        foot = foot.child(tables::data_of(&figure.chart));
    }
    let caption = element("figcaption")
        .child(element("h4").text(figure.title.clone()))
        .child(classed("p", "caption").text(figure.caption.clone()));
    element("figure").set("id", name).child(caption).all(charts::draw(name, figure)).child(foot)
}

/// For the address of a link: bytes that may stand there as they are, the others by number.
fn percent_encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 3 / 2);
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z'
            | b'A'..=b'Z'
            | b'0'..=b'9'
            | b'-'
            | b'_'
            | b'.'
            | b'~'
            | b','
            | b'('
            | b')'
            | b'/'
            | b':' => {
                out.push(char::from(byte));
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
