//! What the page has, and what it does not have: nothing from elsewhere, no link that leads nowhere, no number that cannot be had.

use crate::{value, xml};
use holloway_experiments::report::model::*;
use holloway_experiments::report::{data, html, markdown, numbers};
use std::collections::BTreeSet;

/// Checks that hold for every page, whatever it is of. Gives its elements.
pub fn sound(report: &Report) -> Vec<xml::Element> {
    let page = html::render(report);
    let elements = xml::read(&page).unwrap_or_else(|error| panic!("the page is not well-formed: {error}"));
    let ids: Vec<&str> = elements.iter().filter_map(|element| element.get("id")).collect();
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len(), "ids are not unique: {ids:?}");
    for element in &elements {
        nothing_is_loaded(element);
        if let Some(href) = element.get("href") {
            match href.strip_prefix('#') {
                Some(id) => assert!(unique.contains(id), "a link to {id}, which is not there"),
                None => assert!(href.starts_with("data:text/csv;charset=utf-8,"), "a link to {href}"),
            }
        }
        for id in element.get("aria-labelledby").into_iter().flat_map(|ids| ids.split(' ')) {
            assert!(unique.contains(id), "named by {id}, which is not there");
        }
        numbers_are_finite(element);
    }
    assert_eq!(elements.iter().filter(|element| element.name == "script").count(), 1);
    data_can_be_had(report, &elements);
    elements
}

fn nothing_is_loaded(element: &xml::Element) {
    let loading =
        ["img", "link", "iframe", "object", "embed", "audio", "video", "source", "base", "form", "image"];
    assert!(!loading.contains(&element.name.as_str()), "an element {}", element.name);
    for (name, value) in &element.attributes {
        assert!(
            !name.starts_with("on") && name != "src" && name != "srcset" && name != "xlink:href",
            "{name}={value}"
        );
        assert!(name != "style" || !value.contains("url("), "{value}");
    }
    if element.name == "style" {
        assert!(!element.text.contains("url(") && !element.text.contains("@import"));
    }
    if element.name == "script" || element.name == "style" {
        assert!(!element.text.contains("//") || !element.text.contains("http"));
        for word in ["fetch(", "XMLHttpRequest", "import(", "WebSocket", "sendBeacon", "innerHTML", "eval("] {
            assert!(!element.text.contains(word), "the script says {word}");
        }
    }
}

/// Places and sizes of drawings are finite, and nothing is less than nothing wide.
fn numbers_are_finite(element: &xml::Element) {
    let single = ["x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "rx", "width", "height"];
    for (name, value) in &element.attributes {
        if single.contains(&name.as_str()) {
            let number: f64 = value.parse().unwrap_or_else(|_| panic!("{name}={value}"));
            assert!(number.is_finite() && number.abs() < 1e6, "{name}={value}");
            assert!(number >= 0.0 || !["width", "height", "r"].contains(&name.as_str()), "{name}={value}");
        }
        if ["d", "points", "viewBox", "transform"].contains(&name.as_str()) {
            let words = value
                .split(|c: char| c.is_ascii_alphabetic() || c == ' ' || c == ',' || c == '(' || c == ')');
            for word in words.filter(|word| !word.is_empty()) {
                // A minus separates too, but only within numbers that were written by hand.
                let finite = word.parse::<f64>().is_ok_and(|number| number.is_finite() && number.abs() < 1e6);
                assert!(finite, "{name}={value}");
            }
            assert!(!value.contains("NaN") && !value.contains("inf"), "{name}={value}");
        }
    }
}

fn figures(report: &Report) -> Vec<&Figure> {
    let of_papers = report.papers.iter().flat_map(|paper| &paper.experiments).flat_map(|one| &one.figures);
    report.planes.iter().chain(of_papers).collect()
}

/// Every figure has a link to its data, and the data are all numbers of the figure.
fn data_can_be_had(report: &Report, elements: &[xml::Element]) {
    let links: Vec<&str> =
        elements.iter().filter(|one| one.has_class("csv")).filter_map(|one| one.get("href")).collect();
    let figures = figures(report);
    assert_eq!(links.len(), figures.len());
    for (link, figure) in links.into_iter().zip(figures) {
        let text = xml::percent_decoded(link.strip_prefix("data:text/csv;charset=utf-8,").expect("data"));
        assert_eq!(text, data::csv(&figure.chart));
        let mut reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
        // Rows of another length than the head would be an error here.
        let records: Vec<csv::StringRecord> =
            reader.records().map(|record| record.expect("a record")).collect();
        let cells: Vec<String> =
            records.iter().flat_map(|record| record.iter().map(str::to_string)).collect();
        for number in all_numbers(&figure.chart) {
            assert!(cells.contains(&number), "{number} is not in the data of {}", figure.id);
        }
    }
}

/// Every number of a chart, as its data have it.
fn all_numbers(chart: &Chart) -> Vec<String> {
    let mut found: Vec<f64> = Vec::new();
    let ends = |interval: &Option<(f64, f64)>| interval.map(|(low, high)| [low, high]);
    match chart {
        Chart::Bars { categories, series, .. } => {
            for one in series {
                found.extend(one.values.iter().take(categories.len()).flatten());
                found.extend(one.intervals.iter().take(categories.len()).filter_map(ends).flatten());
            }
        }
        Chart::Lines { lines, .. } => {
            found.extend(lines.iter().flat_map(|line| &line.points).flat_map(|(x, y)| [*x, *y]));
        }
        Chart::Heat { measured, paper, .. } => found.extend(measured.iter().chain(paper).flatten().flatten()),
        Chart::Scatter { points, .. } => {
            for point in points {
                found.extend([point.x, point.y]);
                found.extend([point.x_interval, point.y_interval].iter().filter_map(ends).flatten());
            }
        }
        Chart::Table { rows, .. } => {
            for cell in rows.iter().flatten() {
                if let Cell::Number(number) = cell {
                    found.push(number.value);
                    found.extend(ends(&number.interval).into_iter().flatten());
                }
            }
        }
        Chart::Forest { roots } => {
            return data::places(roots).iter().map(|place| place.node.count.to_string()).collect();
        }
        Chart::Paths { paths } => found.extend(paths.iter().map(|path| path.share)),
    }
    found.into_iter().map(numbers::raw).collect()
}

/// Every text of a value, but for the names of kinds and lines of source, of which those far from a path are folded.
fn all_texts(value: &serde_json::Value, key: &str, found: &mut Vec<String>) {
    match value {
        serde_json::Value::String(text) if !["kind", "verdict", "unit", "lines"].contains(&key) => {
            found.push(text.clone())
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| all_texts(item, key, found)),
        serde_json::Value::Object(fields) => {
            // The name of a figure is only that of a place and a file.
            let seen = |key: &String| !(key == "id" && fields.contains_key("chart"));
            let seen = fields.iter().filter(|(key, _)| seen(key));
            seen.for_each(|(key, value)| all_texts(value, key, found));
        }
        _ => {}
    }
}

#[test]
fn the_page_of_an_example_is_sound() {
    let report = value::invented();
    let elements = sound(&report);
    // Every kind of chart and every verdict is in the example, so that nothing here is tested on nothing.
    let json = serde_json::to_value(&report).expect("a value");
    let text = json.to_string();
    for kind in ["bars", "lines", "heat", "scatter", "table", "forest", "paths"] {
        assert!(text.contains(&format!("\"kind\":\"{kind}\"")), "no chart of kind {kind}");
    }
    assert_eq!(report.tally().len(), Verdict::ALL.len());
    let drawings = elements.iter().filter(|element| element.name == "svg" && element.has_class("chart"));
    for drawing in drawings {
        assert_eq!(drawing.get("role"), Some("img"));
        assert!(drawing.get("aria-labelledby").is_some());
    }
    assert_eq!(elements.iter().filter(|element| element.has_class("chart")).count(), 10);
}

#[test]
fn every_experiment_has_its_anchor_and_its_verdict() {
    let report = value::invented();
    let elements = sound(&report);
    for experiment in report.papers.iter().flat_map(|paper| &paper.experiments) {
        let index = elements.iter().position(|one| one.get("id") == Some(&experiment.id)).expect("an anchor");
        assert!(elements[index].text.contains(&experiment.command));
        let within = |one: &&xml::Element| one.above.contains(&index) && one.has_class("verdict");
        let shown: Vec<&str> = elements.iter().filter(within).map(|one| one.text.as_str()).collect();
        let checks = experiment.checks.iter().map(|check| check.verdict.words());
        let expected: Vec<&str> = [experiment.verdict.words()].into_iter().chain(checks).collect();
        assert_eq!(shown, expected, "{}", experiment.id);
    }
    // The first screen has each headline with the verdict of its check.
    let summary = elements.iter().position(|one| one.get("id") == Some("summary")).expect("a summary");
    let rows = elements.iter().filter(|one| one.name == "tr" && one.above.contains(&summary));
    let texts: Vec<&str> = rows.map(|row| row.text.as_str()).collect();
    for paper in &report.papers {
        for (id, position) in &paper.headlines {
            let check =
                &paper.experiments.iter().find(|one| one.id == *id).expect("an experiment").checks[*position];
            let has = |row: &&str| {
                row.contains(&check.what) && row.contains(check.verdict.words()) && row.contains(&check.paper)
            };
            assert!(texts.iter().any(has), "no row for {}", check.what);
        }
    }
}

#[test]
fn every_text_of_the_value_is_in_both_forms() {
    let report = value::invented();
    let page: String = sound(&report)[0].text.split_whitespace().collect::<Vec<_>>().join(" ");
    let plain = markdown::render(&report).replace(['\\'], "").replace("&lt;", "<").replace("&gt;", ">");
    let plain: String = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut texts = Vec::new();
    all_texts(&serde_json::to_value(&report).expect("a value"), "", &mut texts);
    assert!(texts.len() > 300);
    for text in texts {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains(&text), "{text:?} is not in the page");
        assert!(plain.contains(&text), "{text:?} is not in the Markdown form");
    }
}

#[test]
fn the_page_is_small() {
    let mut report = value::invented();
    assert!(html::render(&report).len() < 700_000);
    // As many experiments as the catalogue has.
    let papers = report.papers.clone();
    for _ in 0..7 {
        report.papers.extend(papers.clone());
    }
    assert!(report.papers.iter().map(|paper| paper.experiments.len()).sum::<usize>() >= 72);
    // Ids are there eight times, and names of places still are unique.
    sound(&report);
    assert!(html::render(&report).len() < 4_000_000);
}

/// Are two values the same, but for the last digits of numbers.
fn same(a: &serde_json::Value, b: &serde_json::Value) -> bool {
    use serde_json::Value;
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap_or(f64::NAN), b.as_f64().unwrap_or(f64::NAN));
            (a - b).abs() <= a.abs() * 1e-12
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}

#[test]
fn the_value_is_read_back_from_its_json() {
    let report = value::invented();
    let text = serde_json::to_string(&report).expect("text");
    let again: Report = serde_json::from_str(&text).expect("a report");
    let [once, twice] = [&report, &again].map(|report| serde_json::to_value(report).expect("a value"));
    assert!(same(&once, &twice));
}
