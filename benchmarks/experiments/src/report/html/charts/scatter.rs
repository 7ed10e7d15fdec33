//! Points with names on a plane. Names stand beside their points where there is room; all are said by hovering.

use super::super::markup::{Element, classed, element};
use super::frame::{self, Area, colour, drawing, error_bar, mark, shortened, width_of, words};
use super::scale::Scale;
use crate::report::model::{Axis, Measured, Point};
use crate::report::numbers;

const WIDTH: f64 = 920.0;
const HEIGHT: f64 = 500.0;

/// A box that text or a mark takes up.
#[derive(Clone, Copy)]
struct Taken {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Taken {
    fn touches(&self, other: &Taken) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

/// The groups in order of first appearance.
pub fn groups(points: &[Point]) -> Vec<&str> {
    let mut groups: Vec<&str> = Vec::new();
    for point in points {
        if !groups.contains(&point.group.as_str()) {
            groups.push(&point.group);
        }
    }
    groups
}

/// Draws points.
pub fn draw(id: &str, title: &str, x: &Axis, y: &Axis, points: &[Point]) -> Element {
    let reach = |value: f64, interval: Option<(f64, f64)>| {
        [Some(value), interval.map(|ends| ends.0), interval.map(|ends| ends.1)].into_iter().flatten()
    };
    let across = Scale::of(points.iter().flat_map(|p| reach(p.x, p.x_interval)), x.log, false, 8);
    let up = Scale::of(points.iter().flat_map(|p| reach(p.y, p.y_interval)), y.log, false, 7);
    let left = frame::left_margin(&up, y.unit);
    let right = frame::right_margin(&across, x.unit).max(40.0);
    let area = Area { left, top: 30.0, width: WIDTH - left - right, height: HEIGHT - 30.0 - 46.0 };
    let groups = groups(points);
    let description =
        format!("{} points in {} groups: {} against {}.", points.len(), groups.len(), y.title, x.title);
    let mut svg = drawing(id, WIDTH, HEIGHT, title, &description)
        .child(frame::upright_axis(area, &up, y.unit))
        .child(frame::level_axis(area, &across, x.unit, true))
        .child(frame::axis_titles(area, x, y));
    let placed: Vec<(&Point, f64, f64)> = points
        .iter()
        .filter_map(|point| Some((point, area.x(across.place(point.x)?), area.y(up.place(point.y)?))))
        .collect();
    let mut taken: Vec<Taken> = placed
        .iter()
        .flat_map(|(point, px, py)| {
            let level = ends(point.x_interval, &across).map(|(low, high)| Taken {
                left: area.x(low) - 2.0,
                top: py - 3.0,
                right: area.x(high) + 2.0,
                bottom: py + 3.0,
            });
            let upright = ends(point.y_interval, &up).map(|(low, high)| Taken {
                left: px - 3.0,
                top: area.y(high) - 2.0,
                right: px + 3.0,
                bottom: area.y(low) + 2.0,
            });
            let own = Taken { left: px - 6.0, top: py - 6.0, right: px + 6.0, bottom: py + 6.0 };
            [Some(own), level, upright].into_iter().flatten()
        })
        .collect();
    for (point, px, py) in placed {
        let group = groups.iter().position(|group| *group == point.group).unwrap_or(0);
        let mut marks = classed("g", &format!("m full {}", colour(Some(group))))
            .set("data-series", group.to_string())
            .child(element("title").text(tip(point, x, y)));
        if let Some((low, high)) = ends(point.x_interval, &across) {
            marks = marks.child(error_bar((area.x(low), py), (area.x(high), py), 3.0));
        }
        if let Some((low, high)) = ends(point.y_interval, &up) {
            marks = marks.child(error_bar((px, area.y(low)), (px, area.y(high)), 3.0));
        }
        marks = marks
            .child(classed("circle", "reach").at("cx", px).at("cy", py).at("r", 11.0))
            .child(mark(group, px, py, 5.0, "dot"));
        let name = shortened(&point.name, 26);
        if let Some((at, anchor, spot)) = room_for(&name, px, py, area, &taken) {
            taken.push(spot);
            marks = marks.child(words(at.0, at.1, anchor, "name", name));
        }
        svg = svg.child(marks);
    }
    svg
}

/// Where an interval begins and ends on its axis.
fn ends(interval: Option<(f64, f64)>, scale: &Scale) -> Option<(f64, f64)> {
    let (low, high) = interval?;
    scale.place(low).zip(scale.place(high))
}

fn tip(point: &Point, x: &Axis, y: &Axis) -> String {
    let show = |value: f64, interval, axis: &Axis| {
        format!("{}: {}", axis.title, numbers::measured(&Measured { value, interval, unit: axis.unit }))
    };
    let head = if point.group == point.name {
        point.name.clone()
    } else {
        format!("{}: {}", point.group, point.name)
    };
    format!("{head}\n{}\n{}", show(point.x, point.x_interval, x), show(point.y, point.y_interval, y))
}

/// A place beside a point where a name touches nothing.
fn room_for(
    name: &str,
    x: f64,
    y: f64,
    area: Area,
    taken: &[Taken],
) -> Option<((f64, f64), &'static str, Taken)> {
    let width = width_of(name, 11.5);
    let places = [
        (9.0, 4.0, "start"),
        (-9.0, 4.0, "end"),
        (6.0, -7.0, "start"),
        (6.0, 15.0, "start"),
        (-6.0, -7.0, "end"),
        (-6.0, 15.0, "end"),
        (0.0, -14.0, "middle"),
        (0.0, 22.0, "middle"),
        (6.0, -20.0, "start"),
        (6.0, 28.0, "start"),
        (-6.0, -20.0, "end"),
        (-6.0, 28.0, "end"),
    ];
    places.into_iter().find_map(|(dx, dy, anchor)| {
        let left = x + dx
            - match anchor {
                "start" => 0.0,
                "end" => width,
                _ => width / 2.0,
            };
        let spot = Taken { left, top: y + dy - 10.0, right: left + width, bottom: y + dy + 3.0 };
        let inside = spot.left > area.left
            && spot.right < area.right() + 36.0
            && spot.top > area.top - 12.0
            && spot.bottom < area.bottom();
        // The point's own mark is among those taken, and the name is beside it.
        (inside && !taken.iter().any(|other| other.touches(&spot))).then_some((
            (x + dx, y + dy),
            anchor,
            spot,
        ))
    })
}
