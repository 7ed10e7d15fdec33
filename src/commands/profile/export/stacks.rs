//! Paths as stacks, for tools that know stacks only: the method, where the path begins, then each branch with its outcome. So paths
//! with the same beginning share their lower frames, and the width of a frame is the count of all paths through it. Calls are
//! stacks already.

use super::super::calls;
use super::super::model::Profile;
use super::super::text::{is_wanted, outcome, outcome_record};
use crate::report::Stop;
use holloway_profilers::calls::{CallEdge, Frame as CallFrame};

/// A frame.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Frame {
    /// What it says.
    pub name: String,
    /// The number of its file in the program's list.
    pub file: u32,
    /// Its line there.
    pub line: u32,
    /// Where what has this name begins in the file; 0 if that is not known.
    pub begins: u32,
}

impl Frame {
    /// One of a branch or of the beginning of a path, which is a line.
    fn of_line(name: String, file: u32, line: u32) -> Frame {
        Frame { name, file, line, begins: line }
    }

    /// One of a method, which stands at this place if that is known, else where it begins.
    fn of_method(profile: &Profile, method: u32, at: Option<(u32, u32)>) -> Frame {
        let begin = profile.begin(method);
        let (file, line) = at.or(begin).unwrap_or((u32::MAX, 0));
        // Code that was inlined into the method by the language (a default value) may be of another file.
        let begins = begin.filter(|&(of, _)| of == file).map_or(0, |(_, first)| first);
        Frame { name: profile.method(method).to_string(), file, line, begins }
    }
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

/// All paths or calls with the best counts that there are.
pub struct Stacks {
    /// What they are, as the beginning of a title.
    pub what: &'static str,
    /// What the counts are of, and what the flow is measured in.
    pub types: [(&'static str, &'static str); 2],
    /// How they were counted.
    pub origin: &'static str,
    /// Those that were run.
    pub stacks: Vec<Stack>,
}

/// Contexts of calls as stacks, or single calls if no contexts were asked for. Flow is the count times the calls of the stack.
pub fn calls(profile: &Profile, wanted: &impl Fn(u32) -> bool) -> Result<Stacks, Stop> {
    let Some((origin, graph)) = calls::best(profile) else {
        return Err(Stop::usage("the profile has no calls: neither calls nor cbs, oneshot or icache ran"));
    };
    let places = calls::places(profile);
    let contexts = profile.file.calls.sampled.as_ref().and_then(|sampled| sampled.contexts.as_deref());
    let known: Vec<(Vec<CallFrame>, u64)> = match contexts {
        Some(contexts) => calls::tree(contexts).contexts(),
        None => {
            let frames = |edge: CallEdge| {
                let caller = CallFrame { method: edge.site.caller, position: edge.site.position };
                vec![caller, CallFrame { method: edge.callee, position: 0 }]
            };
            graph.edges().into_iter().map(|(edge, count)| (frames(edge), count)).collect()
        }
    };
    let mut stacks = Vec::new();
    for (frames, count) in known {
        if count == 0 || !frames.iter().any(|frame| wanted(frame.method.0)) {
            continue;
        }
        let last = frames.len() - 1;
        let shown = frames.iter().enumerate().map(|(at, frame)| {
            // Of the innermost it is not known where it stands.
            let place = places.get(&(frame.method.0, frame.position)).filter(|_| at < last);
            Frame::of_method(profile, frame.method.0, place.map(|place| (place.file, place.line)))
        });
        stacks.push(Stack { frames: shown.collect(), count, flow: count.saturating_mul(last as u64) });
    }
    let origin = if contexts.is_some() { calls::IN_SAMPLES } else { origin };
    match stacks.is_empty() {
        false => {
            Ok(Stacks { what: "Calls", types: [("calls", "count"), ("frames", "calls")], origin, stacks })
        }
        true => Err(Stop::usage("no call was counted")),
    }
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
            Frame::of_method(profile, begin.method, Some((begin.file, begin.line))),
            Frame::of_line(format!("{method}:{} {}", begin.line, path.ways[0]), begin.file, begin.line),
        ];
        frames.extend(path.key.branches.iter().map(|&at| {
            let (place, arms) = outcome_record(profile, at);
            let way = outcome(at.arm.index(), arms);
            let name = format!("{}:{} {way}", profile.method(place.method), place.line);
            Frame::of_line(name, place.file, place.line)
        }));
        stacks.push(Stack { frames, count, flow: count.saturating_mul(u64::from(path.length)) });
    }
    match stacks.is_empty() {
        false => {
            let types = [("paths", "count"), ("flow", "branches")];
            Ok(Stacks { what: "Paths", types, origin: origin.name(), stacks })
        }
        true => Err(Stop::usage("no path was counted")),
    }
}
