//! Grids of numbers as heat maps: what was measured, and the paper's beside it with the same colours. The strong end of the colours is
//! always the better one. Every cell has its number, so that nothing hangs on colour.

use super::super::markup::{Element, classed, element};
use super::super::theme::STEPS;
use super::frame::{drawing, shortened, width_of, words};
use crate::report::data::at;
use crate::report::model::Unit;
use crate::report::numbers;

const CELL_HEIGHT: f64 = 25.0;

/// What colours stand for.
pub struct Colours {
    low: f64,
    high: f64,
    log: bool,
    less_is_better: bool,
}

impl Colours {
    /// For all values of the grids; over a wide range by powers.
    pub fn of(grids: [&[Vec<Option<f64>>]; 2], less_is_better: bool) -> Colours {
        let values = || {
            let cells = grids.into_iter().flatten().flatten().flatten();
            cells.copied().filter(|value| value.is_finite())
        };
        let low = values().fold(f64::INFINITY, f64::min);
        let high = values().fold(f64::NEG_INFINITY, f64::max);
        let positive = values().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
        // Over a wide range a few large values would leave one colour for all others.
        let log = low >= 0.0 && positive.is_finite() && high > positive * 30.0;
        Colours { low: if log { positive } else { low }, high, log, less_is_better }
    }

    /// The step of a value, 0 the weakest.
    pub fn step(&self, value: f64) -> usize {
        let by = |value: f64| if self.log { value.max(self.low).ln() } else { value / 2.0 };
        let range = by(self.high) - by(self.low);
        let along = if range > 0.0 { (by(value) - by(self.low)) / range } else { 0.5 };
        let along = if self.less_is_better { 1.0 - along } else { along };
        ((along.clamp(0.0, 1.0) * STEPS as f64) as usize).min(STEPS - 1)
    }

    /// The values at the weak and the strong end, if there are any.
    pub fn ends(&self) -> Option<(f64, f64)> {
        let ends = if self.less_is_better { (self.high, self.low) } else { (self.low, self.high) };
        (self.low <= self.high).then_some(ends)
    }
}

/// What all grids of a figure share.
pub struct Grid<'a> {
    /// What the cells count.
    pub unit: Unit,
    /// What the rows are.
    pub row_title: &'a str,
    /// What the columns are.
    pub column_title: &'a str,
    /// The rows.
    pub rows: &'a [String],
    /// The columns.
    pub columns: &'a [String],
}

/// The number in a cell: the unit is in the caption. Short, because cells are narrow; with a decimal unless the whole grid has none.
fn short(value: f64, whole: bool) -> String {
    match value.abs() {
        _ if !value.is_finite() => numbers::show(value, Unit::Count).chars().take(3).collect(),
        size if size >= 1e4 => format!("{value:.0e}"),
        size if whole || size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        0.0 => "0".to_string(),
        _ => format!("{value:.2}"),
    }
    .replace('-', "−")
}

/// Draws one grid.
pub fn draw(
    id: &str,
    title: &str,
    source: &str,
    grid: &Grid<'_>,
    values: &[Vec<Option<f64>>],
    colours: &Colours,
) -> Element {
    let names =
        |names: &[String]| names.iter().map(|name| width_of(&shortened(name, 18), 11.5)).fold(0.0, f64::max);
    let whole = values.iter().flatten().flatten().all(|value| value.fract() == 0.0);
    let cell = (0..grid.rows.len())
        .flat_map(|row| (0..grid.columns.len()).filter_map(move |column| at(values, row, column)))
        .map(|value| width_of(&short(value, whole), 11.0) + 8.0)
        .fold(names(grid.columns) + 8.0, f64::max)
        .clamp(32.0, 110.0);
    let left = (names(grid.rows) + 10.0).max(width_of(grid.row_title, 11.5) + 30.0);
    let top = 44.0;
    let width = left + cell * grid.columns.len() as f64 + 4.0;
    let height = top + CELL_HEIGHT * grid.rows.len() as f64 + 4.0;
    let width = width.max(left + width_of(grid.column_title, 11.5) + 24.0).max(140.0);
    let full = format!("{title}: {source}");
    let description =
        format!("{} by row, {} by column; each cell holds its number.", grid.row_title, grid.column_title);
    let mut svg = drawing(id, width, height, &full, &description)
        .child(words(left, 14.0, "start", "axis-title", format!("{} →", grid.column_title)))
        .child(words(left - 8.0, 34.0, "end", "axis-title", format!("{} ↓", grid.row_title)));
    for (column, name) in grid.columns.iter().enumerate() {
        let x = left + cell * (column as f64 + 0.5);
        svg = svg.child(words(x, 34.0, "middle", "tick", shortened(name, 18)));
    }
    for (row, name) in grid.rows.iter().enumerate() {
        let y = top + CELL_HEIGHT * row as f64;
        svg = svg.child(words(left - 8.0, y + 16.5, "end", "tick", shortened(name, 18)));
        for (column, column_name) in grid.columns.iter().enumerate() {
            let value = at(values, row, column);
            let tip = format!(
                "{source}\n{} {name}, {} {column_name}\n{}",
                grid.row_title,
                grid.column_title,
                value.map_or("missing".into(), |value| numbers::show(value, grid.unit))
            );
            let x = left + cell * column as f64;
            svg = svg.child(one((x, y, cell), value.map(|value| (value, short(value, whole))), colours, tip));
        }
    }
    svg
}

/// One cell: where it is and how wide, its value and the text of it.
fn one(
    (x, y, width): (f64, f64, f64),
    value: Option<(f64, String)>,
    colours: &Colours,
    tip: String,
) -> Element {
    let step = value.as_ref().filter(|(value, _)| value.is_finite()).map(|(value, _)| colours.step(*value));
    let (fill, ink) = match step {
        Some(step) => (format!("cell h{step}"), format!("value t{step}")),
        None => ("cell blank".to_string(), "value faint".to_string()),
    };
    let rect = classed("rect", &fill).at("x", x).at("y", y).at("rx", 2.0);
    let text = value.map_or("·".into(), |(_, text)| text);
    classed("g", "m")
        .child(element("title").text(tip))
        .child(rect.at("width", width - 2.0).at("height", CELL_HEIGHT - 2.0))
        .child(words(x + width / 2.0 - 1.0, y + 15.5, "middle", &ink, text))
}
