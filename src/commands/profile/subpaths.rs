//! Subpaths: the most executed sequences of blocks, across loops and calls, how good the estimates of a sample are (Oren, Matias
//! & Sagiv 2002), and what must hold.
//!
//! A sample is ranked by its estimates where they are sure up to a factor, and otherwise by how often subpaths were executed surely. Of a length that is seldom sampled a single sample stands for many executions,
//! and of thousands of rare subpaths some have one: by their estimates these would be the hottest.
//!
//! Counts of subpaths that an encoding takes for the same are added up, for that is what the sample counted. Estimates are
//! compared as shares of all subpaths of their length: with samples that ticks start nobody knows how many these were.

use super::diff::{change, listed, ranked};
use super::hottest::{Drawn, Hottest, Seen};
use super::model::Profile;
use super::scores::SubpathScore;
use super::text::{counted, percent, place, score, table};
use crate::source_lines::SourceLines;
use holloway_bytecode::Position;
use holloway_profilers::BlockId;
use holloway_profilers::osp::{Encoder, Keeping, period};
use holloway_vm::profiling::file::{
    EstimateRecord, ExactSubpathRecord, PlaceRecord, SubpathRecords, SubpathSampleRecord,
};
use std::collections::BTreeMap;

/// So many blocks of a subpath are shown.
const MOST_BLOCKS: usize = 24;

/// Of how many of the most executed subpaths a sample is judged.
const TOPS: [usize; 4] = [5, 10, 20, 50];

/// An estimate may be ranked by that is at most so many times what is sure.
const SURE: f64 = 2.0;

/// What a subpath is for an encoding: its length and its identity.
type Class = (u32, u64);

/// The round that a subpath repeats, and how often it does.
fn round(blocks: &[u32]) -> (&[u32], usize) {
    let length = period(blocks).max(1);
    (&blocks[..length.min(blocks.len())], blocks.len() / length)
}

/// A subpath in one line: methods are named where they change; what repeats is there once.
pub fn name(profile: &Profile, subpaths: &SubpathRecords, blocks: &[u32]) -> String {
    let (round, rounds) = round(blocks);
    let mut words = Vec::new();
    let mut method = None;
    for &block in round.iter().take(MOST_BLOCKS) {
        let at = &subpaths.blocks[block as usize].place;
        let word = if method == Some(at.method) { at.line.to_string() } else { place(profile, at) };
        method = Some(at.method);
        words.push(word);
    }
    if round.len() > MOST_BLOCKS {
        words.push(format!("... {} more", round.len() - MOST_BLOCKS));
    }
    match rounds {
        0 | 1 => words.join(" "),
        _ => format!("{rounds} x ({})", words.join(" ")),
    }
}

/// The lines of a subpath's round, each with the words at which its blocks begin and with what is there in the source. Blocks of
/// one line that follow each other are one.
fn lines(profile: &Profile, subpaths: &SubpathRecords, blocks: &[u32], sources: &SourceLines) -> String {
    let (round, _) = round(blocks);
    let mut groups: Vec<(PlaceRecord, Vec<String>)> = Vec::new();
    for &block in round {
        let at = subpaths.blocks[block as usize].place;
        let spot = |place: &PlaceRecord| (place.method, place.file, place.line);
        match groups.last_mut().filter(|group| spot(&group.0) == spot(&at)) {
            Some(group) => group.1.push(at.position.to_string()),
            None => groups.push((at, vec![at.position.to_string()])),
        }
    }
    let mut text = String::new();
    for (at, words) in groups.iter().take(MOST_BLOCKS) {
        let position = Position { file: at.file, line: at.line, ..Position::default() };
        let words = words.join(" ");
        let source = sources.line(position).unwrap_or_default();
        let line = format!("       {} @{words:<8}  {source}", place(profile, at));
        text += line.trim_end();
        text.push('\n');
    }
    if groups.len() > MOST_BLOCKS {
        text += &format!("       and {} more lines\n", groups.len() - MOST_BLOCKS);
    }
    text
}

/// How many blocks a subpath has, in words.
fn extent(blocks: &[u32]) -> String {
    let all = counted(blocks.len() as u64, "block", "blocks");
    match round(blocks) {
        (_, 0 | 1) => all,
        (round, rounds) => format!("{all}, {rounds} rounds of {}", round.len()),
    }
}

/// The subpaths that were surely executed most, or, without a sample, with the largest counts.
pub fn show(profile: &Profile, top: usize, wanted: &impl Fn(u32) -> bool) -> String {
    let Some(subpaths) = &profile.file.subpaths else {
        return "no subpaths: neither subpaths nor osp ran\n".to_string();
    };
    let touches = |blocks: &[u32]| blocks.iter().any(|&at| wanted(subpaths.blocks[at as usize].place.method));
    let sources = SourceLines::of_files(profile.file.program.files.iter().map(String::as_str));
    let mut text = String::new();
    let mut more = 0;
    if let Some(exact) = &subpaths.exact {
        text += &summary_of_exact(exact);
    }
    if let Some(sampled) = &subpaths.sampled {
        text += &summary_of_sample(sampled);
        let truth = subpaths.exact.as_ref().map(|exact| classes(subpaths, exact, sampled, None));
        let known = |path: &&EstimateRecord| path.blocks.as_deref().is_none_or(touches);
        let mut paths: Vec<&EstimateRecord> = sampled.paths.iter().filter(known).collect();
        paths.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
        for (rank, path) in (1..).zip(paths.iter().take(top)) {
            let blocks = path.blocks.as_deref().unwrap_or_default();
            text += &format!("\n{rank:>3}. {}", estimate(path, sampled));
            match path.blocks.is_some() {
                true => text += &format!(", {}", extent(blocks)),
                false => text += &format!(", {} that are not described", path.length),
            }
            text += &format!(", {}", counted(path.count, "sample", "samples"));
            if let Some(count) = truth.as_ref().and_then(|truth| truth.get(&(path.length, path.id))) {
                text += &format!("; run {}", counted(*count, "time", "times"));
            }
            text.push('\n');
            text += &lines(profile, subpaths, blocks, &sources);
        }
        more = paths.len().saturating_sub(top);
    } else if let Some(exact) = &subpaths.exact {
        let paths: Vec<_> = exact.paths.iter().filter(|path| touches(&path.blocks)).collect();
        for (rank, path) in (1..).zip(paths.iter().take(top)) {
            let times = counted(path.count, "time", "times");
            text += &format!("\n{rank:>3}. {times}: {}\n", extent(&path.blocks));
            text += &lines(profile, subpaths, &path.blocks, &sources);
        }
        more = paths.len().saturating_sub(top);
    }
    if more > 0 {
        text += &format!("\n{more} more\n");
    }
    text
}

/// An estimate with its interval: in executions, or as a share of the subpaths of its length.
fn estimate(path: &EstimateRecord, sampled: &SubpathSampleRecord) -> String {
    let windows = windows(sampled, path.length);
    match sampled.by_ticks {
        false => format!("{:.0} times ({:.0} to {:.0})", path.estimate, path.low, path.high),
        true => {
            let share = |value: f64| score((windows > 0.0).then(|| value / windows));
            let length = path.length;
            let (low, high) = (share(path.low), share(path.high));
            format!("{} ({low} to {high}) of the subpaths of {length} blocks", share(path.estimate))
        }
    }
}

/// How many subpaths of a length were executed.
fn windows(sampled: &SubpathSampleRecord, length: u32) -> f64 {
    let stratum = sampled.lengths.iter().find(|stratum| stratum.length == length);
    stratum.map_or(0.0, |stratum| stratum.windows)
}

fn summary_of_exact(exact: &ExactSubpathRecord) -> String {
    let all: u64 = exact.lengths.iter().map(|of| of.1).sum();
    let longest = exact.lengths.last().map_or(0, |of| of.0);
    let distinct = exact.distinct;
    format!(
        "subpaths: {all} executed, of up to {longest} blocks, {distinct} different ones, counted exactly\n"
    )
}

fn summary_of_sample(sampled: &SubpathSampleRecord) -> String {
    let kept: u64 = sampled.paths.iter().map(|path| path.count).sum();
    let mut text = format!(
        "subpaths in samples: {} of {}, one in {}; {} of each of {}\n",
        counted(kept, "sample", "samples"),
        counted(sampled.paths.len() as u64, "subpath", "subpaths"),
        match sampled.by_ticks {
            true => "some ticks".to_string(),
            false => counted(sampled.rate, "block", "blocks"),
        },
        counted(sampled.bytes, "byte", "bytes"),
        counted(sampled.threads, "thread", "threads"),
    );
    if sampled.thinnings > 0 {
        let times = counted(sampled.thinnings, "time", "times");
        let taken = sampled.taken;
        text += &match sampled.list {
            Keeping::Concise => format!("  the list was full {times}: of {taken} samples these are left\n"),
            Keeping::Counting => {
                let threshold = sampled.threshold;
                format!(
                    "  the list was full {times}: of {taken} samples these are counted, and of others one in {threshold} came in at last\n"
                )
            }
        };
    }
    text
}

/// The exact counts of what counts as the same for a sample; of subpaths that start at loops only, if those were sampled.
fn classes(
    subpaths: &SubpathRecords,
    exact: &ExactSubpathRecord,
    sampled: &SubpathSampleRecord,
    lengths: Option<&[u32]>,
) -> BTreeMap<Class, u64> {
    let encoder = Encoder::new(sampled.encoding, sampled.encoding_seed);
    let mut classes = BTreeMap::new();
    for path in &exact.paths {
        let length = path.blocks.len() as u32;
        let records = path.blocks.iter().map(|&at| &subpaths.blocks[at as usize]);
        let numbers: Vec<BlockId> = records.clone().map(|block| BlockId(block.number)).collect();
        let starts = !sampled.at_loops || records.clone().next().is_some_and(|block| block.header);
        if starts && lengths.is_none_or(|lengths| lengths.contains(&length)) {
            *classes.entry((length, encoder.encode(&numbers))).or_default() += path.count;
        }
    }
    classes
}

/// What a sample is ranked by.
fn rank(path: &EstimateRecord) -> f64 {
    if path.surely * SURE >= path.estimate { path.estimate } else { path.surely }
}

/// A sampled subpath beside the truth, in executions of the run that has the truth.
struct Judged {
    class: Class,
    count: u64,
    estimate: f64,
    interval: (f64, f64),
    rank: f64,
    /// How often it was executed.
    run: u64,
}

/// Executed this part of the times that another one is, a subpath is as good.
const AS_GOOD: f64 = 0.99;

/// A score: how the first of the sample stand to the most executed ones, whose counts are `actual`, the largest first.
fn judge(found: &[Judged], actual: &[(u64, Class)], top: usize) -> SubpathScore {
    let least = actual[top - 1].0;
    let first = &found[..top.min(found.len())];
    let right = first.iter().filter(|of| of.run >= least).count();
    let as_good = first.iter().filter(|of| of.run as f64 >= AS_GOOD * least as f64).count();
    // What the interval cannot tell from one of the first is not wrong.
    let cannot_tell = |of: &&Judged| of.interval.0 <= least as f64 && of.run as f64 >= of.interval.0;
    let near = first.iter().filter(|of| of.run >= least || cannot_tell(of)).count();
    let flow: u64 = first.iter().map(|of| of.run).sum();
    let most: u64 = actual[..top].iter().map(|of| of.0).sum();
    let rank = |class| found.iter().position(|of| of.class == class).map_or(0, |at| at + 1);
    let known = first.iter().filter(|of| of.run > 0);
    let errors: Vec<f64> = known.map(|of| (of.estimate / of.run as f64 - 1.0).abs()).collect();
    let within = first.iter().filter(|of| (of.interval.0..=of.interval.1).contains(&(of.run as f64))).count();
    let mean = (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64);
    SubpathScore {
        top,
        recall: right as f64 / top as f64,
        as_good: as_good as f64 / top as f64,
        near: near as f64 / top as f64,
        flow: (flow, most),
        error: mean,
        worst: errors.iter().copied().reduce(f64::max),
        within,
        of: first.len(),
        ranks: actual[..top].iter().map(|of| rank(of.1)).collect(),
    }
}

/// How near the sample of one profile comes to the counts of another: of the most executed subpaths, how many the sample has among
/// as many. Nothing if one side is not there.
pub fn scores<'p>(estimate: &'p Profile, truth: &'p Profile) -> Option<SubpathScores<'p>> {
    let sampled = estimate.file.subpaths.as_ref()?.sampled.as_ref()?;
    let records = truth.file.subpaths.as_ref()?;
    let exact = records.exact.as_ref()?;
    let both: Vec<u32> = sampled
        .lengths
        .iter()
        .map(|of| of.length)
        .filter(|length| exact.lengths.iter().any(|of| of.0 == *length))
        .collect();
    let all = classes(records, exact, sampled, Some(&both));
    let all_of = |length: u32| exact.lengths.iter().find(|of| of.0 == length).map_or(0.0, |of| of.1 as f64);
    // Estimates in executions of the run that has the truth.
    let scale = |length: u32| match (windows(sampled, length), sampled.at_loops) {
        (_, true) => 1.0,
        (windows, _) if windows > 0.0 => all_of(length) / windows,
        _ => 0.0,
    };
    let sampled_too = sampled.paths.iter().filter(|path| both.contains(&path.length));
    let mut found: Vec<Judged> = sampled_too
        .map(|path| {
            let (class, scale) = ((path.length, path.id), scale(path.length));
            Judged {
                class,
                count: path.count,
                estimate: path.estimate * scale,
                interval: (path.low * scale, path.high * scale),
                rank: rank(path) * scale,
                run: all.get(&class).copied().unwrap_or_default(),
            }
        })
        .collect();
    found.sort_by(|a, b| b.rank.total_cmp(&a.rank).then_with(|| a.class.cmp(&b.class)));
    let mut actual: Vec<(u64, Class)> = all.iter().map(|(&class, &count)| (count, class)).collect();
    actual.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let scores =
        TOPS.into_iter().filter(|&top| top <= actual.len()).map(|top| judge(&found, &actual, top)).collect();
    let drawn = |length: u32| {
        let stratum = sampled.lengths.iter().find(|stratum| stratum.length == length)?;
        let blocks = sampled.rate as f64 / stratum.prior * scale(length);
        Some(Drawn { length, samples: stratum.samples as f64, windows: all_of(length), blocks })
    };
    let seen =
        |of: &Judged| Some(Seen { class: of.class, count: of.count, run: of.run, drawn: drawn(of.class.0)? });
    let seen: Option<Vec<Seen<Class>>> = found.iter().map(seen).collect();
    // Of ticks nobody knows how many blocks were between them, and where only loops begin, other subpaths are counted.
    let seen = seen.filter(|_| !sampled.by_ticks && !sampled.at_loops);
    let hottest = seen.map(|seen| Hottest::of(&seen, &actual, |class: Class| drawn(class.0)));
    Some(SubpathScores { sampled, exact, found: found.len(), scores, hottest })
}

/// How good a sample of subpaths is.
pub struct SubpathScores<'p> {
    sampled: &'p SubpathSampleRecord,
    exact: &'p ExactSubpathRecord,
    /// How many subpaths the sample has.
    found: usize,
    /// For the hottest 5, 10 and so on.
    pub scores: Vec<SubpathScore>,
    /// The first ten of the sample, if blocks were counted between samples.
    pub hottest: Option<Hottest>,
}

/// The same as text.
pub fn accuracy(estimate: &Profile, truth: &Profile) -> Option<String> {
    let SubpathScores { sampled, exact, found, scores, .. } = scores(estimate, truth)?;
    let row = |of: SubpathScore| {
        vec![
            of.top.to_string(),
            format!("{:.2}", of.recall),
            format!("{:.2}", of.near),
            percent(of.flow.0.into(), of.flow.1.into()),
            score(of.error),
            score(of.worst),
            format!("{} of {}", of.within, of.of),
        ]
    };
    let rows: Vec<Vec<String>> = scores.into_iter().map(row).collect();
    let mut text = format!(
        "subpaths: the most executed by osp's sample and in truth, by {}; {} in the sample, {} in truth\n",
        sampled.encoding,
        counted(found as u64, "subpath", "subpaths"),
        exact.distinct
    );
    text += &table(&["top", "recall", "or near", "their flow", "error", "largest", "in the interval"], &rows);
    let of = |flow: u64, all: u64| percent(flow.into(), all.into());
    let encodings: Vec<Vec<String>> = exact
        .encodings
        .iter()
        .map(|census| {
            let merged = of(census.merged_flow, census.flow);
            vec![
                merged,
                of(census.false_flow, census.flow),
                census.classes.to_string(),
                census.encoding.to_string(),
            ]
        })
        .collect();
    if encodings.is_empty() {
        return Some(text);
    }
    text += "encodings: the part of all executed subpaths that share their identity with others, and falsely with no rotation\n";
    text += &table(&["merged", "falsely", "identities", "encoding"], &encodings);
    Some(text)
}

/// Shares by the methods and words of blocks.
type Shares = BTreeMap<Vec<(u32, u32)>, f64>;

/// The shares of what counts as the same in a profile, of all subpaths of their length, with a profile's blocks for it.
fn shares(profile: &Profile) -> Option<(Shares, &'static str)> {
    let subpaths = profile.file.subpaths.as_ref()?;
    let spots = |blocks: &[u32]| {
        let records = blocks.iter().map(|&at| &subpaths.blocks[at as usize].place);
        records.map(|place| (place.method, place.position)).collect::<Vec<_>>()
    };
    if let Some(exact) = &subpaths.exact {
        let all: BTreeMap<u32, u64> = exact.lengths.iter().copied().collect();
        let share = |blocks: &[u32], count: u64| {
            count as f64 / all.get(&(blocks.len() as u32)).copied().unwrap_or(1).max(1) as f64
        };
        let shares =
            exact.paths.iter().map(|path| (spots(&path.blocks), share(&path.blocks, path.count))).collect();
        return Some((shares, "exactly"));
    }
    let sampled = subpaths.sampled.as_ref()?;
    let mut shares = BTreeMap::new();
    for path in &sampled.paths {
        let windows = windows(sampled, path.length);
        if let Some(blocks) = path.blocks.as_deref()
            && windows > 0.0
        {
            *shares.entry(canonical(spots(blocks))).or_default() += path.estimate / windows;
        }
    }
    Some((shares, "in samples"))
}

/// The least rotation: which of several rotations was sampled first is chance.
fn canonical(spots: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    let mut spots = spots;
    let start = holloway_profilers::osp::least_rotation(&spots);
    spots.rotate_left(start);
    spots
}

/// Subpaths that became hotter or colder. Nothing if neither profile has any.
pub fn diff(before: &Profile, after: &Profile, top: usize, wanted: &impl Fn(u32) -> bool) -> Option<String> {
    let (old, new) = (shares(before), shares(after));
    let ((old, one), (new, other)) = match (old, new) {
        (None, None) => return None,
        (Some(old), Some(new)) => (old, new),
        _ => return Some("subpaths: not in both profiles\n".to_string()),
    };
    let how = if one == other { one.to_string() } else { format!("{one} before and {other} after") };
    let fold = |shares: Shares| {
        let mut folded = Shares::new();
        shares.into_iter().for_each(|(path, share)| *folded.entry(canonical(path)).or_default() += share);
        folded
    };
    let (old, new) = (fold(old), fold(new));
    let keys: std::collections::BTreeSet<&Vec<(u32, u32)>> = old.keys().chain(new.keys()).collect();
    let of = |shares: &Shares, key: &Vec<(u32, u32)>| shares.get(key).copied().unwrap_or_default();
    let touched = keys.into_iter().filter(|key| key.iter().any(|spot| wanted(spot.0)));
    let changes = ranked(touched.map(|key| (of(&old, key), of(&new, key), key)).collect());
    let named = |spots: &[(u32, u32)]| {
        let find = |profile: &Profile| {
            let subpaths = profile.file.subpaths.as_ref()?;
            let at = |spot: &(u32, u32)| {
                let mut blocks = (0..).zip(&subpaths.blocks);
                blocks.find(|(_, block)| (block.place.method, block.place.position) == *spot).map(|at| at.0)
            };
            let blocks: Vec<u32> = spots.iter().map(at).collect::<Option<_>>()?;
            Some(name(profile, subpaths, &blocks))
        };
        find(after).or_else(|| find(before)).unwrap_or_default()
    };
    let row = |&(was, is, key): &(f64, f64, &Vec<(u32, u32)>)| {
        let mut row = Vec::from(change(was, is));
        row.push(format!("{}, {}", counted(key.len() as u64, "block", "blocks"), named(key)));
        row
    };
    let headings = ["change", "before", "after", "of the subpaths of as many blocks, up to rotation"];
    let text = format!("subpaths: counted {how}\n");
    Some(text + &listed(&changes, top, &headings, "no subpath has another share", row))
}

/// The counts agree: of each length there are as many subpaths as blocks allow, and no estimate is outside of its interval.
pub fn counts(profile: &Profile) -> Result<Vec<String>, &'static str> {
    let exact = profile.file.subpaths.as_ref().and_then(|of| of.exact.as_ref());
    let Some(exact) = exact else { return Err("needs `subpaths`") };
    let mut wrong = Vec::new();
    let mut before = exact.blocks;
    for &(length, count) in &exact.lengths {
        if count > before {
            wrong.push(format!("{count} subpaths of {length} blocks, and {before} shorter ones or blocks"));
        }
        before = count;
        let kept = exact.paths.iter().filter(|path| path.blocks.len() == length as usize);
        let kept: u128 = kept.map(|path| u128::from(path.count)).sum();
        if kept > count.into() {
            wrong.push(format!("{count} subpaths of {length} blocks, and some of them add up to {kept}"));
        }
    }
    for census in &exact.encodings {
        if census.false_flow > census.merged_flow || census.merged_flow > census.flow {
            wrong.push(format!("{}: more was merged than there is", census.encoding));
        }
    }
    Ok(wrong)
}

/// Estimates are in their intervals, these within what can be, and identities are those of the blocks.
pub fn estimates(profile: &Profile) -> Result<Vec<String>, &'static str> {
    let subpaths = profile.file.subpaths.as_ref();
    let Some((subpaths, sampled)) = subpaths.and_then(|of| Some((of, of.sampled.as_ref()?))) else {
        return Err("needs `osp`");
    };
    let encoder = Encoder::new(sampled.encoding, sampled.encoding_seed);
    let mut wrong = Vec::new();
    let left: u64 = sampled.paths.iter().map(|path| path.count).sum();
    if left > sampled.taken {
        wrong.push(format!("{left} samples, and {} were taken", sampled.taken));
    }
    for path in &sampled.paths {
        let EstimateRecord { length, id, estimate, low, high, .. } = *path;
        if !(low..=high).contains(&estimate) {
            wrong.push(format!("subpath {id}: {estimate} is not from {low} to {high}"));
        }
        let Some(blocks) = &path.blocks else { continue };
        let numbers = blocks.iter().map(|&at| BlockId(subpaths.blocks[at as usize].number));
        let numbers: Vec<BlockId> = numbers.collect();
        if blocks.len() != length as usize || encoder.encode(&numbers) != id {
            wrong.push(format!("subpath {id} has other blocks than its identity says"));
        }
    }
    Ok(wrong)
}

/// What was sampled was executed, as often at least.
pub fn sampled_was_run(profile: &Profile) -> Result<Vec<String>, &'static str> {
    let subpaths = profile.file.subpaths.as_ref();
    let both = subpaths.and_then(|of| Some((of, of.exact.as_ref()?, of.sampled.as_ref()?)));
    let Some((subpaths, exact, sampled)) = both else { return Err("needs `subpaths` and `osp`") };
    let truth = classes(subpaths, exact, sampled, None);
    let counted_too = |length: u32| exact.lengths.iter().any(|of| of.0 == length);
    let wrong = sampled.paths.iter().filter(|path| counted_too(path.length)).filter_map(|path| {
        let run = truth.get(&(path.length, path.id)).copied().unwrap_or_default();
        (run < path.count).then(|| format!("subpath {}: {} samples, run {run} times", path.id, path.count))
    });
    Ok(wrong.collect())
}
