//! A flame graph of paths or calls, drawn by inferno.

use super::super::model::Profile;
use super::stacks::Stacks;
use crate::report::Stop;
use inferno::flamegraph::{Options, from_lines};

/// The picture as SVG.
pub fn flamegraph(profile: &Profile, stacks: &Stacks) -> Result<Vec<u8>, Stop> {
    let lines: Vec<String> = stacks
        .stacks
        .iter()
        .map(|stack| {
            let frames: Vec<String> = stack.frames.iter().map(|frame| frame.name.replace(';', ",")).collect();
            format!("{} {}", frames.join(";"), stack.count)
        })
        .collect();
    let mut options = Options::default();
    options.title = format!("{} of {}", stacks.what, profile.file.program.main);
    options.subtitle = Some(format!("counted {}", stacks.origin));
    options.count_name = "times".to_string();
    options.no_sort = false;
    let mut svg = Vec::new();
    from_lines(&mut options, lines.iter().map(String::as_str), &mut svg).map_err(Stop::failure)?;
    Ok(svg)
}
