//! Bars: a group for each category, a bar for each series. What was measured is filled, the paper's bars are hollow with broken
//! outlines. Groups that do not fit beside one another go on in a row below with the same scale, so that no page scrolls sideways and
//! paper has room for all.

use super::super::markup::{Element, classed, element};
use super::frame::{self, Area, colour, colours, drawing, error_bar, shortened, width_of, words};
use super::scale::Scale;
use crate::report::model::{Measured, Series, Unit};
use crate::report::{data, numbers};

/// The width that a figure has.
const WIDTH: f64 = 920.0;
/// The height of a row's bars.
const HEIGHT: f64 = 210.0;
/// Bars are between these widths.
const BAR: (f64, f64) = (7.0, 40.0);
/// Names of categories are cut off here; the whole name is in the title of the bars.
const NAME: usize = 22;

/// How the groups are laid out in rows.
struct Layout {
    bar: f64,
    group: f64,
    per_row: usize,
    rows: usize,
    slanted: bool,
    foot: f64,
}

fn layout(categories: &[String], series: usize, room: f64) -> Layout {
    let series = series.max(1) as f64;
    let gap = 12.0;
    let least = (series * BAR.0 + gap).min(room);
    let count = categories.len().max(1);
    let rows = count.div_ceil(((room / least) as usize).max(1));
    let per_row = count.div_ceil(rows);
    let group = (room / per_row as f64).min(series * BAR.1 + gap * 2.0).max(least);
    let bar = ((group - gap) / series).clamp(0.5, BAR.1);
    let widest = categories.iter().map(|name| width_of(&shortened(name, NAME), 11.5)).fold(0.0, f64::max);
    let slanted = widest > group - 4.0;
    let foot = if slanted { widest * 0.72 + 22.0 } else { 26.0 };
    Layout { bar, group, per_row, rows, slanted, foot }
}

/// Draws bars.
pub fn draw(id: &str, title: &str, unit: Unit, categories: &[String], series: &[Series]) -> Element {
    let ends = series
        .iter()
        .flat_map(|series| series.intervals.iter().flatten().flat_map(|(low, high)| [*low, *high]));
    let values = series.iter().flat_map(|series| series.values.iter().flatten().copied());
    let scale = Scale::of(values.chain(ends), false, true, 5);
    let left = frame::left_margin(&scale, unit);
    let layout = layout(categories, series.len(), WIDTH - left - 12.0);
    let slope = if layout.slanted { (layout.foot - 26.0).max(0.0) } else { 0.0 };
    let left = left.max(if layout.slanted { (slope - layout.group / 2.0).min(120.0) } else { 0.0 });
    let used = layout.per_row as f64 * layout.group;
    let width = left + used + 12.0;
    let row_height = HEIGHT + layout.foot + 20.0;
    let description = format!(
        "{} groups of {} bars, from {} to {}.",
        categories.len(),
        series.len(),
        numbers::show(scale.ticks[0], unit),
        numbers::show(scale.ticks[scale.ticks.len() - 1], unit)
    );
    let tints = colours(series.iter().map(|series| (series.name.as_str(), series.is_paper)));
    let mut svg = drawing(id, width, layout.rows as f64 * row_height, title, &description);
    for row in 0..layout.rows {
        let area = Area { left, top: row as f64 * row_height + 16.0, width: used, height: HEIGHT };
        let stand = Row { area, scale: &scale, width: layout.bar };
        svg = svg.child(frame::upright_axis(area, &scale, unit));
        let begin = row * layout.per_row;
        for (slot, category) in categories.iter().skip(begin).take(layout.per_row).enumerate() {
            let centre = area.left + (slot as f64 + 0.5) * layout.group;
            svg = svg.child(name_of(category, centre, area.bottom() + 16.0, layout.slanted));
            let first = centre - layout.bar * series.len() as f64 / 2.0;
            for (index, one) in series.iter().enumerate() {
                let x = first + index as f64 * layout.bar;
                let value = one.values.get(begin + slot).copied().flatten();
                let interval = one.intervals.get(begin + slot).copied().flatten();
                let Some(value) = value else { continue };
                let measured = Measured { value, interval, unit };
                let tip = tip(one, category, measured);
                let class =
                    format!("{} {} m", colour(tints[index]), if one.is_paper { "hollow" } else { "full" });
                svg = svg.child(bar(&stand, x, measured, &class, tip));
            }
        }
    }
    svg
}

/// What hovering over a mark says.
fn tip(series: &Series, category: &str, measured: Measured) -> String {
    format!("{category}\n{}: {}", data::label(&series.name, series.is_paper), numbers::measured(&measured))
}

fn name_of(category: &str, x: f64, y: f64, slanted: bool) -> Element {
    let short = shortened(category, NAME);
    match slanted {
        true => words(x + 4.0, y, "end", "tick", short)
            .set("transform", format!("rotate(-45 {} {})", (x + 4.0).round(), y.round())),
        false => words(x, y, "middle", "tick", short),
    }
}

/// Where bars of a row stand.
struct Row<'a> {
    area: Area,
    scale: &'a Scale,
    /// The width of a bar with the gap to the next.
    width: f64,
}

/// A bar with its error bar, and its number where there is room for it.
fn bar(row: &Row<'_>, x: f64, measured: Measured, class: &str, tip: String) -> Element {
    let Row { area, scale, width } = *row;
    let foot = area.y(scale.foot());
    let group = classed("g", class).child(element("title").text(tip));
    let inner = (width - if width > 12.0 { 3.0 } else { 1.0 }).max(0.5);
    let middle = x + inner / 2.0;
    let Some(up) = scale.place(measured.value) else {
        // Not a number: a cross where the bar would stand.
        return group.child(words(middle, foot - 4.0, "middle", "tick", "×"));
    };
    let y = area.y(up);
    let rect = classed("rect", "bar").at("x", x).at("y", y.min(foot));
    let mut group = group.child(rect.at("width", inner).at("height", (y - foot).abs().max(0.75)));
    let ends = measured.interval.and_then(|(low, high)| scale.place(low).zip(scale.place(high)));
    let mut above = y.min(foot);
    if let Some((low, high)) = ends {
        group = group.child(error_bar((middle, area.y(low)), (middle, area.y(high)), (inner / 4.0).min(4.0)));
        above = above.min(area.y(high));
    }
    let label = numbers::show(measured.value, measured.unit);
    if width_of(&label, 10.5) < width + 2.0 {
        group = group.child(words(middle, above - 4.0, "middle", "value", label));
    }
    group
}
