//! Charts as drawings in the page: made here, without a script.
//!
//! * [`scale`]: from numbers to places, with round ticks
//! * [`frame`]: drawings, axes, marks, error bars
//! * one module for each kind of chart
//!
//! A chart knows its numbers and nothing of where they come from. What it draws names classes; colours are the style sheet's.

pub mod bars;
pub mod frame;
pub mod heat;
pub mod lines;
pub mod listing;
pub mod scale;
pub mod scatter;
pub mod tree;

use super::markup::{Element, classed, element};
use super::tables;
use super::theme::STEPS;
use crate::report::model::{Chart, Figure, Unit};
use crate::report::{data, numbers};

/// Draws a figure's chart with its legend. `id` is that of the figure in the page.
pub fn draw(id: &str, figure: &Figure) -> Vec<Element> {
    if is_empty(&figure.chart) {
        return vec![classed("p", "soft").text("No data.")];
    }
    let title = &figure.title;
    match &figure.chart {
        Chart::Bars { unit, categories, series } => {
            let entries = series.iter().map(|series| (series.name.as_str(), series.is_paper));
            let chart = bars::draw(id, title, *unit, categories, series);
            vec![legend(entries, Swatch::Box), plot(chart)]
        }
        Chart::Lines { x, y, lines } => {
            let entries = lines.iter().map(|line| (line.name.as_str(), line.is_paper));
            vec![legend(entries, Swatch::Line), plot(self::lines::draw(id, title, x, y, lines))]
        }
        Chart::Scatter { x, y, points } => {
            let groups = scatter::groups(points);
            let entries = groups.iter().map(|group| (*group, false));
            vec![legend(entries, Swatch::Mark), plot(scatter::draw(id, title, x, y, points))]
        }
        Chart::Heat { unit, row_title, column_title, rows, columns, measured, paper, less_is_better } => {
            let grid = heat::Grid { unit: *unit, row_title, column_title, rows, columns };
            let colours = heat::Colours::of([measured, paper], *less_is_better);
            let one = |id: &str, source: &str, values| {
                let chart = heat::draw(id, title, source, &grid, values, &colours);
                classed("div", "half").child(classed("h5", "half-title").text(source)).child(plot(chart))
            };
            let mut halves = classed("div", "halves").child(one(id, "measured", measured));
            if !paper.is_empty() {
                halves = halves.child(one(&format!("{id}--paper"), "paper", paper));
            }
            vec![ramp(&colours, *unit), halves]
        }
        Chart::Table { columns, rows } => vec![tables::grid(columns, rows)],
        Chart::Forest { roots } => {
            let (chart, left_out) = tree::draw(id, title, roots);
            let note = left_out.map(|left| {
                let text = format!(
                    "{} rarer nodes, seen less than {} times or below such a one, are not drawn; the data have them.",
                    left.nodes,
                    numbers::count(left.below)
                );
                classed("p", "note").text(text)
            });
            [classed("div", "forest").child(plot(chart))].into_iter().chain(note).collect()
        }
        Chart::Paths { paths } => vec![listing::draw(paths)],
    }
}

/// Is there nothing to draw.
fn is_empty(chart: &Chart) -> bool {
    match chart {
        Chart::Bars { categories, series, .. } => categories.is_empty() || series.is_empty(),
        Chart::Lines { lines, .. } => lines.iter().all(|line| line.points.is_empty()),
        Chart::Heat { rows, columns, .. } => rows.is_empty() || columns.is_empty(),
        Chart::Scatter { points, .. } => points.is_empty(),
        Chart::Table { columns, rows } => columns.is_empty() && rows.is_empty(),
        Chart::Forest { roots } => roots.is_empty(),
        Chart::Paths { paths } => paths.is_empty(),
    }
}

/// A box that scrolls by itself if the chart is wider than the screen.
fn plot(chart: Element) -> Element {
    classed("div", "plot scroll").child(chart)
}

/// What stands beside a name in a legend.
#[derive(Clone, Copy)]
enum Swatch {
    Box,
    Line,
    Mark,
}

fn legend<'a>(entries: impl Iterator<Item = (&'a str, bool)>, swatch: Swatch) -> Element {
    let entries: Vec<(&str, bool)> = entries.collect();
    let tints = frame::colours(entries.iter().copied());
    let items = entries.iter().zip(tints).enumerate().map(|(index, ((name, is_paper), tint))| {
        let kind = if *is_paper { "hollow" } else { "full" };
        let mut picture = element("svg")
            .set("class", format!("swatch {kind} {}", frame::colour(tint)))
            .set("viewBox", "0 0 26 14")
            .set("aria-hidden", "true");
        picture = match swatch {
            Swatch::Box => picture
                .child(classed("rect", "bar").at("x", 6.0).at("y", 1.0).at("width", 14.0).at("height", 12.0)),
            Swatch::Line => picture
                .child(classed("path", "stroke").set("d", "M0 7L26 7"))
                .child(frame::mark(tint.unwrap_or(index), 13.0, 7.0, 3.6, "dot")),
            Swatch::Mark => picture.child(frame::mark(tint.unwrap_or(index), 13.0, 7.0, 5.0, "dot")),
        };
        element("li").set("data-of", index.to_string()).child(picture).text(data::label(name, *is_paper))
    });
    classed("ul", "legend").all(items)
}

/// The colours of a heat map, from the weak end to the better one.
fn ramp(colours: &heat::Colours, unit: Unit) -> Element {
    let Some((weak, strong)) = colours.ends() else {
        return classed("p", "soft").text("Nothing was measured.");
    };
    let mut steps =
        element("svg").set("class", "ramp").set("viewBox", "0 0 144 12").set("aria-hidden", "true");
    for step in 0..STEPS {
        let rect = classed("rect", &format!("h{step}")).at("x", step as f64 * 16.0).at("y", 0.0);
        steps = steps.child(rect.at("width", 15.0).at("height", 12.0));
    }
    classed("p", "legend")
        .child(element("span").text(format!("{} worse", numbers::show(weak, unit))))
        .child(steps)
        .child(element("span").text(format!("better {}", numbers::show(strong, unit))))
}
