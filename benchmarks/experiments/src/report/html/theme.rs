//! Colours of the page: each is declared once, for paper-white and for dark. Charts name them and never a colour itself, so that they
//! follow the switch and the printer.
//!
//! The colours of series differ in lightness as well as in hue, and every series also has its own mark; heat maps go along one hue
//! from the ground to its opposite, so that they can be read by everybody, and without colour at all.

use std::fmt::Write;

/// Name, in light, in dark.
const COLOURS: &[(&str, &str, &str)] = &[
    ("ground", "#fcfcfa", "#14171b"),
    ("raised", "#ffffff", "#1b1f24"),
    ("sunken", "#f4f4f0", "#20252b"),
    ("ink", "#1e2329", "#e6e8ea"),
    ("soft", "#5b646e", "#a0a9b3"),
    ("rule", "#e2e3de", "#2f363d"),
    ("strong-rule", "#c3c7c6", "#47505a"),
    ("link", "#1c5d99", "#7db8ee"),
    ("mark", "#fdf3d0", "#3a3320"),
    ("better", "#1c5d99", "#7db8ee"),
    ("reproduced", "#23714f", "#6cc79e"),
    ("shape-only", "#8a6100", "#dcb455"),
    ("not-reproduced", "#b03a2e", "#f0907f"),
    ("not-comparable", "#5b646e", "#a0a9b3"),
    ("missing", "#5b646e", "#a0a9b3"),
    ("paper", "#4d565f", "#b4bcc5"),
    ("series-0", "#2468a8", "#6aaeea"),
    ("series-1", "#d97a20", "#f2a75c"),
    ("series-2", "#1f8a70", "#55c9a8"),
    ("series-3", "#8656a5", "#c6a0e2"),
    ("series-4", "#b23a5e", "#f08aa6"),
    ("series-5", "#9a8300", "#dcc64e"),
    ("series-6", "#4aa3c0", "#9adcf0"),
    ("series-7", "#6e5a48", "#bda793"),
];

/// Colours of series; from there on they are used again, with other marks.
pub const SERIES: usize = 8;

/// Steps of a heat map.
pub const STEPS: usize = 9;

/// From the weakest step to the strongest by way of a middle, in light and in dark.
const HEAT: [[[u8; 3]; 3]; 2] =
    [[[237, 243, 244], [92, 160, 178], [16, 56, 92]], [[30, 42, 50], [40, 112, 138], [186, 232, 228]]];

/// A step of a heat map, and whether what is written on it is light.
fn heat(scheme: usize, step: usize) -> (String, bool) {
    let along = step as f64 / (STEPS - 1) as f64 * 2.0;
    let (from, to, part) = if along < 1.0 { (0, 1, along) } else { (1, 2, along - 1.0) };
    let mix = |channel: usize| {
        let ends = [from, to].map(|stop| f64::from(HEAT[scheme][stop][channel]));
        ends[0] + (ends[1] - ends[0]) * part
    };
    let [red, green, blue] = [0, 1, 2].map(mix);
    let light_ink = contrast([red, green, blue], [255.0; 3]) > contrast([red, green, blue], [16.0; 3]);
    (format!("#{:02x}{:02x}{:02x}", red.round() as u8, green.round() as u8, blue.round() as u8), light_ink)
}

/// How far two colours are apart in lightness, as the guidelines for accessible pages count it.
fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
    let luminance = |colour: [f64; 3]| {
        let linear = colour.map(|channel| {
            let channel = channel / 255.0;
            if channel <= 0.04045 { channel / 12.92 } else { ((channel + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    };
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// The colours as variables of a style sheet: light unless the reader's system or the switch says dark, and light in print.
pub fn style() -> String {
    let variables = |scheme: usize| {
        let mut out = String::new();
        for (name, light, dark) in COLOURS {
            let _ = write!(out, "--{name}:{};", [light, dark][scheme]);
        }
        for step in 0..STEPS {
            let (colour, light_ink) = heat(scheme, step);
            let ink = if light_ink { "#ffffff" } else { "#101010" };
            let _ = write!(out, "--heat-{step}:{colour};--on-heat-{step}:{ink};");
        }
        let _ = write!(out, "color-scheme:{};", ["light", "dark"][scheme]);
        out
    };
    let (light, dark) = (variables(0), variables(1));
    let mut out = format!(
        ":root{{{light}}}\n@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n\
         :root[data-theme=dark]{{{dark}}}\n@media print{{:root,:root[data-theme],:root:not([data-theme=light]){{{light}}}}}\n"
    );
    for step in 0..STEPS {
        let _ = write!(
            out,
            ".h{step}{{fill:var(--heat-{step})}}.chart .value.t{step}{{fill:var(--on-heat-{step})}}"
        );
    }
    for series in 0..SERIES {
        let _ = write!(out, ".s{series}{{--c:var(--series-{series})}}");
    }
    out.push_str(".sp{--c:var(--paper)}\n");
    for verdict in super::super::model::Verdict::ALL {
        let _ = write!(out, ".v-{0}{{--v:var(--{0})}}", verdict.key());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(colour: &str) -> [f64; 3] {
        [1, 3, 5].map(|at| f64::from(u8::from_str_radix(&colour[at..at + 2], 16).expect("two hex digits")))
    }

    fn colour(name: &str, scheme: usize) -> [f64; 3] {
        let (_, light, dark) = COLOURS.iter().find(|(known, ..)| *known == name).expect("a declared colour");
        parsed([light, dark][scheme])
    }

    #[test]
    fn text_stands_out_from_every_ground() {
        let inks = ["ink", "soft", "link", "better", "reproduced", "shape-only", "not-reproduced", "missing"];
        for scheme in [0, 1] {
            for ground in ["ground", "raised", "sunken"] {
                for ink in inks {
                    let contrast = contrast(colour(ink, scheme), colour(ground, scheme));
                    assert!(contrast >= 4.5, "{ink} on {ground}, scheme {scheme}: {contrast:.2}");
                }
            }
            for series in 0..SERIES {
                let contrast =
                    contrast(colour(&format!("series-{series}"), scheme), colour("ground", scheme));
                assert!(contrast >= 2.5, "series {series}, scheme {scheme}: {contrast:.2}");
            }
        }
    }

    #[test]
    fn steps_of_heat_differ_in_lightness_and_can_be_written_on() {
        for scheme in [0, 1] {
            let ground = colour("ground", scheme);
            let steps: Vec<f64> =
                (0..STEPS).map(|step| contrast(parsed(&heat(scheme, step).0), ground)).collect();
            assert!(steps.windows(2).all(|pair| pair[1] > pair[0] * 1.06), "{steps:?}");
            for step in 0..STEPS {
                let (colour, light_ink) = heat(scheme, step);
                let ink = if light_ink { [255.0; 3] } else { [16.0; 3] };
                let contrast = contrast(parsed(&colour), ink);
                assert!(contrast >= 4.0, "step {step}, scheme {scheme}: {contrast:.2}");
            }
        }
    }
}
