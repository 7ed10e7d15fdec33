//! What all charts with axes have in common: the drawing with its names, the axes with their ticks, marks of series, error bars.

use super::super::markup::{Element, classed, element};
use super::scale::Scale;
use crate::report::model::{Axis, Unit};
use crate::report::numbers;

/// A drawing of a size, with a name and a description for those who do not see it.
pub fn drawing(id: &str, width: f64, height: f64, title: &str, description: &str) -> Element {
    let (title_id, description_id) = (format!("{id}--title"), format!("{id}--desc"));
    element("svg")
        .set("class", "chart")
        .set("viewBox", format!("0 0 {} {}", width.round(), height.round()))
        .set("style", format!("--w:{}px", width.round()))
        .set("role", "img")
        .set("aria-labelledby", format!("{title_id} {description_id}"))
        .child(element("title").set("id", title_id).text(title))
        .child(element("desc").set("id", description_id).text(description))
}

/// Text at a place; `anchor` is `start`, `middle` or `end`.
pub fn words(x: f64, y: f64, anchor: &'static str, class: &str, text: impl Into<String>) -> Element {
    classed("text", class).at("x", x).at("y", y).set("text-anchor", anchor).text(text)
}

/// A line of a class.
pub fn line(class: &str, from: (f64, f64), to: (f64, f64)) -> Element {
    classed("line", class).at("x1", from.0).at("y1", from.1).at("x2", to.0).at("y2", to.1)
}

/// About how wide text is, in pixels of the drawing: digits and small letters of a system font.
pub fn width_of(text: &str, size: f64) -> f64 {
    let wide = |c: char| match c {
        'i' | 'l' | 'j' | 'I' | '.' | ',' | '\'' | '|' | ' ' | '(' | ')' | ':' | '\u{202f}' => 0.34,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.9,
        c if c.is_uppercase() => 0.68,
        c if c.is_ascii() => 0.57,
        c if (c as u32) >= 0x2e80 => 1.0,
        _ => 0.62,
    };
    text.chars().map(wide).sum::<f64>() * size
}

/// Text that fits; the whole of it belongs in a title.
pub fn shortened(text: &str, most: usize) -> String {
    match text.chars().count() <= most {
        true => text.to_string(),
        false => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// The part of a drawing in which the data are.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    /// The left edge.
    pub left: f64,
    /// The upper edge.
    pub top: f64,
    /// To the right.
    pub width: f64,
    /// Down.
    pub height: f64,
}

impl Area {
    /// Where a share of the way to the right is.
    pub fn x(&self, along: f64) -> f64 {
        self.left + along * self.width
    }

    /// Where a share of the way up is.
    pub fn y(&self, up: f64) -> f64 {
        self.top + (1.0 - up) * self.height
    }

    /// The lower edge.
    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// The right edge.
    pub fn right(&self) -> f64 {
        self.left + self.width
    }
}

/// The labels of a scale with their places; a stretch for what is not positive has one too.
fn labels(scale: &Scale, unit: Unit) -> Vec<(f64, String)> {
    let ticks = scale
        .ticks
        .iter()
        .filter_map(|tick| Some((scale.place(*tick)?, numbers::tick(*tick, scale.step_at(*tick), unit))));
    let aside = scale.has_aside().then(|| (0.0, "≤ 0".to_string()));
    aside.into_iter().chain(ticks).collect()
}

/// The room that the labels of the upright axis need.
pub fn left_margin(scale: &Scale, unit: Unit) -> f64 {
    let widest = labels(scale, unit).iter().map(|(_, label)| width_of(label, 11.5)).fold(0.0, f64::max);
    (widest + 14.0).clamp(34.0, 110.0)
}

/// The room that the last label of the level axis needs beyond the area.
pub fn right_margin(scale: &Scale, unit: Unit) -> f64 {
    labels(scale, unit).last().map_or(0.0, |(_, label)| width_of(label, 12.5) / 2.0 + 4.0).min(60.0)
}

/// The upright axis: lines across the area, labels at its left, and the foot that bars stand on.
pub fn upright_axis(area: Area, scale: &Scale, unit: Unit) -> Element {
    let mut group = classed("g", "axis");
    for (up, label) in labels(scale, unit) {
        let y = area.y(up);
        group = group.child(line("grid", (area.left, y), (area.right(), y))).child(words(
            area.left - 8.0,
            y + 4.0,
            "end",
            "tick",
            label,
        ));
    }
    let foot = area.y(scale.foot());
    group.child(line("foot", (area.left, foot), (area.right(), foot)))
}

/// The axis to the right: short ticks below the area, labels, and lines up if asked for. Labels that would touch are left out.
pub fn level_axis(area: Area, scale: &Scale, unit: Unit, with_grid: bool) -> Element {
    let mut group = classed("g", "axis");
    let mut free = f64::NEG_INFINITY;
    for (along, label) in labels(scale, unit) {
        let x = area.x(along);
        if with_grid {
            group = group.child(line("grid", (x, area.top), (x, area.bottom())));
        }
        group = group.child(line("foot", (x, area.bottom()), (x, area.bottom() + 4.0)));
        let half = width_of(&label, 11.5) / 2.0;
        if x - half > free {
            free = x + half + 6.0;
            group = group.child(words(x, area.bottom() + 18.0, "middle", "tick", label));
        }
    }
    group.child(line("foot", (area.left, area.bottom()), (area.right(), area.bottom())))
}

/// What the axes are, above the upright one and below the level one.
pub fn axis_titles(area: Area, x: &Axis, y: &Axis) -> Element {
    let log = |axis: &Axis| if axis.log { " (log scale)" } else { "" };
    element("g")
        .child(words(4.0, area.top - 14.0, "start", "axis-title", format!("↑ {}{}", y.title, log(y))))
        .child(words(
            area.right(),
            area.bottom() + 38.0,
            "end",
            "axis-title",
            format!("{}{} →", x.title, log(x)),
        ))
}

/// An error bar, upright or level, with caps.
pub fn error_bar(from: (f64, f64), to: (f64, f64), cap: f64) -> Element {
    let (dx, dy) = if from.0 == to.0 { (cap, 0.0) } else { (0.0, cap) };
    let path = [
        (from, to),
        ((from.0 - dx, from.1 - dy), (from.0 + dx, from.1 + dy)),
        ((to.0 - dx, to.1 - dy), (to.0 + dx, to.1 + dy)),
    ];
    let text: Vec<String> = path
        .iter()
        .map(|((x1, y1), (x2, y2))| {
            let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(|value| super::super::markup::coordinate(*value));
            format!("M{x1} {y1}L{x2} {y2}")
        })
        .collect();
    classed("path", "error").set("d", text.concat())
}

/// The mark of a series: shapes differ, so that colour is never all that tells two apart.
pub fn mark(series: usize, x: f64, y: f64, size: f64, class: &str) -> Element {
    let corner = |points: &[(f64, f64)]| {
        let points: Vec<String> = points
            .iter()
            .map(|(dx, dy)| {
                let place = [x + dx * size, y + dy * size].map(super::super::markup::coordinate);
                place.join(",")
            })
            .collect();
        classed("polygon", class).set("points", points.join(" "))
    };
    match series % 6 {
        0 => classed("circle", class).at("cx", x).at("cy", y).at("r", size),
        1 => corner(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        2 => corner(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]),
        3 => corner(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
        4 => corner(&[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)]),
        _ => corner(&[
            (-0.4, -1.2),
            (0.4, -1.2),
            (0.4, -0.4),
            (1.2, -0.4),
            (1.2, 0.4),
            (0.4, 0.4),
            (0.4, 1.2),
            (-0.4, 1.2),
            (-0.4, 0.4),
            (-1.2, 0.4),
            (-1.2, -0.4),
            (-0.4, -0.4),
        ]),
    }
}

/// The class that gives a series its colour.
pub fn colour(series: Option<usize>) -> String {
    match series {
        Some(series) => format!("s{}", series % super::super::theme::SERIES),
        None => "sp".to_string(),
    }
}

/// Which colour each series has: what was measured in order; what the paper has takes that of its namesake, or of its place if the
/// paper has as many as were measured; else that of papers.
pub fn colours<'a>(series: impl IntoIterator<Item = (&'a str, bool)>) -> Vec<Option<usize>> {
    let series: Vec<(&str, bool)> = series.into_iter().collect();
    let ours: Vec<&str> = series.iter().filter(|(_, paper)| !paper).map(|(name, _)| *name).collect();
    let theirs = series.len() - ours.len();
    let (mut our, mut their) = (0, 0);
    let mut colours = Vec::new();
    for (name, is_paper) in series {
        if !is_paper {
            colours.push(Some(our));
            our += 1;
            continue;
        }
        let namesake = ours.iter().position(|ours| *ours == name);
        // One of each are told apart by their form, and grey is calmer.
        let partner = (theirs == ours.len() && theirs > 1).then_some(their);
        colours.push(namesake.or(partner));
        their += 1;
    }
    colours
}
