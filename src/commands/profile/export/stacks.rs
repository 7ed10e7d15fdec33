//! Paths as stacks, for tools that know stacks only: the method, where the path begins, then each branch with its outcome. So paths
//! with the same beginning share their lower frames, and the width of a frame is the count of all paths through it.

use super::super::model::{Origin, Profile};
use super::super::text::{is_wanted, outcome, outcome_record};
use crate::report::Stop;

/// A frame.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Frame {
    /// What it says.
    pub name: String,
    /// The number of its file in the program's list.
    pub file: u32,
    /// Its line there.
    pub line: u32,
}

/// A path.
#[derive(Clone, Debug)]
pub struct Stack {
    /// From the outermost.
    pub frames: Vec<Frame>,
    /// How often it was run, or seen.
    pub count: u64,
    /// The same times the branches on it.
    pub flow: u64,
}

/// All paths with the best counts that there are.
pub struct Stacks {
    /// How they were counted.
    pub origin: Origin,
    /// Those that were run.
    pub stacks: Vec<Stack>,
}

/// The stacks of the methods that are wanted.
pub fn stacks(profile: &Profile, wanted: &impl Fn(u32) -> bool) -> Result<Stacks, Stop> {
    let Some((origin, records)) = profile.best() else {
        return Err(Stop::usage("the profile has no paths: neither blpp nor kblpp nor pep ran"));
    };
    let mut stacks = Vec::new();
    for (at, count) in profile.counts(&records) {
        let path = &profile.paths[at];
        if count == 0 || !is_wanted(path, wanted) {
            continue;
        }
        let begin = &path.places[0];
        let method = profile.method(begin.method);
        let mut frames = vec![
            Frame { name: method.to_string(), file: begin.file, line: begin.line },
            Frame {
                name: format!("{method}:{} {}", begin.line, path.ways[0]),
                file: begin.file,
                line: begin.line,
            },
        ];
        frames.extend(path.key.branches.iter().map(|&at| {
            let (place, arms) = outcome_record(profile, at);
            let way = outcome(at.arm.index(), arms);
            let name = format!("{}:{} {way}", profile.method(place.method), place.line);
            Frame { name, file: place.file, line: place.line }
        }));
        stacks.push(Stack { frames, count, flow: count.saturating_mul(u64::from(path.length)) });
    }
    match stacks.is_empty() {
        false => Ok(Stacks { origin, stacks }),
        true => Err(Stop::usage("no path was counted")),
    }
}
