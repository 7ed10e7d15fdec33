//! Numbers over a number: over k, a period, time. The paper's lines are broken and their marks hollow.

use super::super::markup::{Element, classed, coordinate, element};
use super::frame::{self, Area, colour, colours, drawing, mark};
use super::scale::Scale;
use crate::report::model::{Axis, Line};
use crate::report::{data, numbers};

const WIDTH: f64 = 820.0;
const HEIGHT: f64 = 400.0;
/// Beyond so many points of a line they are not marked one by one.
const MOST_MARKS: usize = 80;

/// A point with its place in the drawing, if it has one.
struct Spot {
    x: f64,
    y: f64,
    place: Option<(f64, f64)>,
}

/// Draws lines.
pub fn draw(id: &str, title: &str, x: &Axis, y: &Axis, lines: &[Line]) -> Element {
    let points = || lines.iter().flat_map(|line| &line.points);
    let across = Scale::of(points().map(|(x, _)| *x), x.log, false, 8);
    // Shares and ratios are seen from where they are; overheads and counts from zero.
    let up = Scale::of(points().map(|(_, y)| *y), y.log, from_zero(points().map(|(_, y)| *y)), 6);
    let left = frame::left_margin(&up, y.unit);
    let right = frame::right_margin(&across, x.unit).max(24.0);
    let area = Area { left, top: 30.0, width: WIDTH - left - right, height: HEIGHT - 30.0 - 46.0 };
    let description = format!("{} lines of {} over {}.", lines.len(), y.title, x.title);
    let tints = colours(lines.iter().map(|line| (line.name.as_str(), line.is_paper)));
    let mut svg = drawing(id, WIDTH, HEIGHT, title, &description)
        .child(frame::upright_axis(area, &up, y.unit))
        .child(frame::level_axis(area, &across, x.unit, false))
        .child(frame::axis_titles(area, x, y));
    for (index, line) in lines.iter().enumerate() {
        let mut sorted: Vec<(f64, f64)> = line.points.clone();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let placed: Vec<Spot> = sorted
            .iter()
            .map(|&(x, y)| {
                let place = across.place(x).zip(up.place(y)).map(|(along, up)| (area.x(along), area.y(up)));
                Spot { x, y, place }
            })
            .collect();
        let tint = tints[index];
        let shape = tint.unwrap_or(index);
        let kind = if line.is_paper { "hollow" } else { "full" };
        let mut group =
            classed("g", &format!("line {} {kind}", colour(tint))).set("data-series", index.to_string());
        group = group.child(classed("path", "stroke").set("d", path(&placed)));
        if placed.len() <= MOST_MARKS {
            for spot in &placed {
                let Some((px, py)) = spot.place else { continue };
                let tip = format!(
                    "{}\n{}: {}\n{}: {}",
                    data::label(&line.name, line.is_paper),
                    x.title,
                    numbers::show(spot.x, x.unit),
                    y.title,
                    numbers::show(spot.y, y.unit)
                );
                group = group.child(
                    classed("g", "m")
                        .child(element("title").text(tip))
                        .child(classed("circle", "reach").at("cx", px).at("cy", py).at("r", 9.0))
                        .child(mark(shape, px, py, 3.6, "dot")),
                );
            }
        }
        svg = svg.child(group);
    }
    svg
}

/// Does the upright axis begin at zero: unless all values lie far from it.
fn from_zero(values: impl Iterator<Item = f64>) -> bool {
    let finite: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    let low = finite.iter().copied().fold(f64::INFINITY, f64::min);
    let high = finite.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    low >= 0.0 && low < high * 0.6
}

/// The stroke; a value that has no place interrupts it.
fn path(points: &[Spot]) -> String {
    let mut out = String::new();
    let mut connected = false;
    for Spot { place, .. } in points {
        if let Some((x, y)) = place {
            out.push(if connected { 'L' } else { 'M' });
            out.push_str(&format!("{} {}", coordinate(*x), coordinate(*y)));
        }
        connected = place.is_some();
    }
    out
}
