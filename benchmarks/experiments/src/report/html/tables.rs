//! Tables of the page: data of figures, and checks.

use super::markup::{Element, Node, classed, element};
use crate::report::model::{Cell, Check, Verdict};
use crate::report::{data, numbers};

/// A verdict: its mark and its words, coloured besides.
pub fn verdict(verdict: Verdict) -> Element {
    classed("span", &format!("verdict v-{}", verdict.key())).child(sign(verdict)).text(verdict.words())
}

/// The mark of a verdict alone, for lists. Its words are its title.
pub fn sign(verdict: Verdict) -> Element {
    element("svg")
        .set("class", format!("sign v-{}", verdict.key()))
        .set("viewBox", "0 0 16 16")
        .set("aria-hidden", "true")
        .child(element("use").set("href", format!("#sign-{}", verdict.key())))
}

/// What [`sign`] refers to: once in the page.
pub fn signs() -> Element {
    let path = |class: &str, d: &str| classed("path", class).set("d", d);
    let circle = |class: &str| classed("circle", class).at("cx", 8.0).at("cy", 8.0).at("r", 5.6);
    let symbol = |verdict: Verdict| {
        let symbol =
            element("symbol").set("id", format!("sign-{}", verdict.key())).set("viewBox", "0 0 16 16");
        match verdict {
            Verdict::Better => symbol.child(path("solid", "M8 1.5L14.5 13.5H1.5Z")),
            Verdict::Reproduced => symbol.child(path("stroked", "M2.5 8.6L6.4 12.6L13.6 3.8")),
            Verdict::ShapeOnly => {
                symbol.child(circle("stroked")).child(path("solid", "M8 2.4A5.6 5.6 0 0 0 8 13.6Z"))
            }
            Verdict::NotReproduced => symbol.child(path("stroked", "M3.2 3.2L12.8 12.8M12.8 3.2L3.2 12.8")),
            Verdict::NotComparable => symbol.child(path("stroked", "M2.5 8H13.5")),
            Verdict::Missing => symbol.child(circle("stroked dotted")),
        }
    };
    element("svg").set("class", "signs").set("aria-hidden", "true").all(Verdict::ALL.map(symbol))
}

/// What a check found: as text, with the interval beside it.
pub fn found(check: &Check) -> Vec<Node> {
    let shown = match (check.shown.trim(), &check.measured) {
        ("", Some(measured)) => numbers::estimate(measured),
        ("", None) => "–".to_string(),
        (shown, _) => shown.to_string(),
    };
    let class = if check.verdict == Verdict::Missing { "soft" } else { "estimate" };
    let mut nodes: Vec<Node> = vec![classed("span", class).text(shown).into()];
    if let Some(interval) = check.measured.as_ref().and_then(numbers::interval) {
        nodes.push(Node::Text(" ".into()));
        nodes.push(classed("span", "interval").text(format!("({interval})")).into());
    }
    nodes
}

/// A cell with the name of its column, for screens on which rows become cards.
pub fn cell(column: &str, class: &str) -> Element {
    let cell = element("td").set("data-label", column);
    if class.is_empty() { cell } else { cell.set("class", class) }
}

/// The checks of an experiment.
pub fn checks(checks: &[Check]) -> Element {
    let heads = ["check", "paper", "reproduced if", "measured", "verdict"];
    let rows = checks.iter().map(|check| {
        element("tr")
            .child(cell(heads[0], "what").text(check.what.clone()))
            .child(cell(heads[1], "").text(or_dash(&check.paper)))
            .child(cell(heads[2], "").text(or_dash(&check.target)))
            .child(cell(heads[3], "measured").all(found(check)))
            .child(cell(heads[4], "").child(verdict(check.verdict)))
    });
    let head = element("tr").all(heads.map(|name| element("th").set("scope", "col").text(name)));
    classed("table", "checks stack").child(element("thead").child(head)).child(element("tbody").all(rows))
}

/// Text, or a dash where there is none.
pub fn or_dash(text: &str) -> String {
    if text.trim().is_empty() { "–".to_string() } else { text.to_string() }
}

/// A table of numbers and text, in a box that scrolls by itself.
pub fn grid(columns: &[String], rows: &[Vec<Cell>]) -> Element {
    let width = rows.iter().map(Vec::len).chain([columns.len()]).max().unwrap_or(0);
    // A column is one of numbers if more of its cells are numbers than text.
    let numeric: Vec<bool> = (0..width)
        .map(|column| {
            let cells = || rows.iter().filter_map(|row| row.get(column));
            let numbers = cells().filter(|cell| matches!(cell, Cell::Number(_))).count();
            let texts = cells().filter(|cell| matches!(cell, Cell::Text(text) if !text.is_empty())).count();
            numbers > texts
        })
        .collect();
    let class = |column: usize| if numeric[column] { "number" } else { "text" };
    let heads = (0..width).map(|column| {
        let name = columns.get(column).cloned().unwrap_or_default();
        let head = if name.is_empty() { element("td") } else { element("th").set("scope", "col") };
        head.set("class", class(column)).text(name)
    });
    let body = rows.iter().map(|row| {
        element("tr").all((0..width).map(|column| {
            let cell = element("td").set("class", class(column));
            match row.get(column) {
                Some(Cell::Number(number)) => {
                    let cell = cell.text(numbers::estimate(number));
                    match numbers::interval(number) {
                        Some(interval) => {
                            cell.child(classed("span", "interval").text(format!(" ({interval})")))
                        }
                        None => cell,
                    }
                }
                Some(Cell::Text(text)) if !text.is_empty() => cell.text(text.clone()),
                _ => cell.child(classed("span", "soft").text("–")),
            }
        }))
    });
    let table = classed("table", "data")
        .child(element("thead").child(element("tr").all(heads)))
        .child(element("tbody").all(body));
    classed("div", "scroll").set("tabindex", "0").child(table)
}

/// All data of a chart, to be opened below it.
pub fn data_of(chart: &crate::report::model::Chart) -> Element {
    let grids = data::grids(chart).into_iter().flat_map(|one| {
        let title = (!one.title.is_empty()).then(|| classed("p", "soft").text(one.title.clone()));
        title.into_iter().chain([grid(&one.columns, &one.rows)])
    });
    classed("details", "numbers").child(element("summary").text("Data as a table")).all(grids)
}
