//! `holloway profile merge`: the counts of several runs of one program, added up (open question M4 of Shye et al.: several runs, several
//! inputs).
//!
//! What is added: counts and samples of paths, branches and calls, the weights of branch traces, and estimates of subpaths. Numbers of versions and branches
//! mean something in one file only, so tables are joined by what they mean: a version is the same in two files if it is the same
//! piece of code by all that is said of it and no path number means two things. What belongs to one run is left out and named: bursts
//! of `oneshot`, estimates over time, threads. Exact counts of subpaths are refused: a file has only the most executed ones.

mod subpaths;

use super::diff::same_program;
use super::load::load;
use super::model::Profile;
use super::traces::same_sites;
use super::wellformed::problems;
use crate::options::MergeArguments;
use crate::promised::PromisedFile;
use crate::report::Stop;
use holloway_profilers::PathNumber;
use holloway_profilers::btb::{Length, Lengths};
use holloway_vm::profiling::file::{
    CountRecord, PathRecord, PlaceRecord, ProfileFile, RegionPathRecord, RunRecord, SequenceRecord,
    TraceRecords,
};
use holloway_vm::profiling::{CallRecord, ContextRecord, LostRecord};
use std::collections::BTreeMap;

/// Profilers whose counts can be added.
const ADDABLE: &[&str] = &["edges", "blpp", "pep", "kblpp", "kroy", "calls", "cbs", "icache", "btb", "osp"];
/// What specs say only where they have a seed, if it is as usual.
const BESIDE_A_SEED: &[&str] = &["spread=25", "skip=round-robin", "overrun=ignore"];
/// Profilers that are left out.
const LEFT_OUT: &[&str] = &["oneshot"];

/// Writes the sum, and says what was done.
pub fn merge(arguments: &MergeArguments) -> Result<String, Stop> {
    let (sum, notes) = sum(arguments)?;
    let mut text = format!("{} profiles of {}\n", arguments.files.len(), sum.program.main);
    notes.iter().for_each(|note| text += &format!("  left out: {note}\n"));
    PromisedFile::open(Some(&arguments.out))?.write(|| sum)?;
    Ok(text)
}

/// The sum of the profiles, and what was left out.
pub fn sum(arguments: &MergeArguments) -> Result<(ProfileFile, Vec<String>), Stop> {
    let profiles: Vec<Profile> =
        arguments.files.iter().map(|path| load(path, None)).collect::<Result<_, _>>()?;
    let Some((first, others)) = profiles.split_first() else {
        return Err(Stop::usage("there is nothing to merge"));
    };
    let name = |at: usize| arguments.files[at].display();
    let mut notes = prepare(&first.file).map_err(|why| Stop::usage(format_args!("{}: {why}", name(0))))?;
    for (at, other) in (1..).zip(others) {
        same_program(first, other)?;
        same_profilers(&first.file, &other.file)
            .map_err(|why| Stop::usage(format_args!("{} and {} {why}", name(0), name(at))))?;
        for note in prepare(&other.file).map_err(|why| Stop::usage(format_args!("{}: {why}", name(at))))? {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    let sum = merged(&profiles);
    if let Some(problem) = problems(&sum).first() {
        return Err(Stop::failure(format_args!("the sum is no profile: {problem}")));
    }
    Ok((sum, notes))
}

/// What cannot be kept of a profile; `Err` if it cannot be added at all.
fn prepare(file: &ProfileFile) -> Result<Vec<String>, String> {
    let mut notes = Vec::new();
    for spec in &file.profilers {
        let name = spec.split(':').next().unwrap_or_default();
        if LEFT_OUT.contains(&name) {
            notes.push(format!("`{name}`, whose bursts belong to one run"));
        } else if !ADDABLE.contains(&name) {
            return Err(format!("what `{name}` finds cannot be added"));
        }
    }
    if file.calls.over_time.is_some() {
        notes.push("estimates over time, which belong to one run".into());
    }
    if file.threads.is_some() {
        notes.push("threads, whose numbers belong to one run".into());
    }
    Ok(notes)
}

/// Were the same profilers at work, in the same way. The seed of what is left to chance may differ. `Err` is the end of a sentence.
fn same_profilers(one: &ProfileFile, other: &ProfileFile) -> Result<(), String> {
    let specs = |file: &ProfileFile| -> Vec<String> {
        file.profilers.iter().map(|spec| without_seed(spec)).collect()
    };
    let (a, b) = (specs(one), specs(other));
    if a == b {
        return same_sites(one, other);
    }
    let only = |these: &[String], those: &[String]| {
        let only: Vec<&str> = these.iter().filter(|spec| !those.contains(spec)).map(|spec| &**spec).collect();
        if only.is_empty() { "nothing else".to_string() } else { only.join(", ") }
    };
    Err(format!(
        "were not made by the same profilers: {} there, {} here; counts of different kinds are not added",
        only(&a, &b),
        only(&b, &a)
    ))
}

fn without_seed(spec: &str) -> String {
    let (name, keys) = spec.split_once(':').unwrap_or((spec, ""));
    let keys: Vec<&str> =
        keys.split(',').filter(|key| !key.starts_with("seed=") && !BESIDE_A_SEED.contains(key)).collect();
    format!("{name}:{}", keys.join(","))
}

type Spot = (u32, u32);

/// Tables that all files share.
#[derive(Default)]
struct Tables {
    branches: BTreeMap<Spot, u32>,
    paths: BTreeMap<(u32, PathNumber), PathRecord>,
}

/// How one file names what is in the tables.
struct Names {
    branches: Vec<u32>,
    versions: BTreeMap<u32, u32>,
}

/// The sum of well-formed profiles of one program by the same profilers.
fn merged(profiles: &[Profile]) -> ProfileFile {
    let files: Vec<&ProfileFile> = profiles.iter().map(|profile| &profile.file).collect();
    let mut sum = files[0].clone();
    sum.profilers.retain(|spec| !LEFT_OUT.iter().any(|name| spec.split(':').next() == Some(name)));
    let same_end = files.iter().all(|file| file.ended == sum.ended);
    if !same_end {
        sum.ended = "in several ways".into();
    }
    (sum.threads, sum.calls.over_time, sum.calls.heard) = (None, None, None);
    let mut tables = Tables::default();
    sum.branches.clear();
    sum.versions.clear();
    let names: Vec<Names> = files.iter().map(|file| join(&mut sum, &mut tables, file)).collect();
    sum.paths = tables.paths.into_values().collect();
    let all = || files.iter().copied().zip(&names);
    sum.edges.baseline = edges(all().map(|(file, names)| (&file.edges.baseline[..], names)));
    if sum.edges.exact.is_some() {
        sum.edges.exact = Some(edges(all().map(|(file, names)| (rows(file.edges.exact.as_deref()), names))));
    }
    if sum.edges.sampled.is_some() {
        sum.edges.sampled =
            Some(edges(all().map(|(file, names)| (rows(file.edges.sampled.as_deref()), names))));
    }
    if sum.edges.subpaths.is_some() {
        sum.edges.subpaths =
            Some(edges(all().map(|(file, names)| (rows(file.edges.subpaths.as_deref()), names))));
    }
    if sum.exact.is_some() {
        sum.exact = Some(counts(all().map(|(file, names)| (rows(file.exact.as_deref()), names))));
    }
    if let Some(sampled) = &mut sum.sampled {
        let of = |file: &'_ ProfileFile| file.sampled.as_ref().map(|sampled| sampled.paths.clone());
        let paths: Vec<_> = all().map(|(file, names)| (of(file).unwrap_or_default(), names)).collect();
        sampled.paths = counts(paths.iter().map(|(paths, names)| (&paths[..], *names)));
        for other in files.iter().skip(1).filter_map(|file| file.sampled.as_ref()) {
            sampled.window.merge(&other.window);
        }
    }
    forest(&mut sum, &files, &names);
    windows(&mut sum, &files, &names);
    calls(&mut sum, &files);
    traces(&mut sum, &files, &names);
    subpaths::add(&mut sum, &files);
    for other in &files[1..] {
        for (reason, count) in &other.dropped {
            add(sum.dropped.entry(reason.clone()).or_default(), *count);
        }
        add(&mut sum.work.hash_operations, other.work.hash_operations);
        add(&mut sum.work.hash_probes, other.work.hash_probes);
    }
    sum
}

fn rows<T>(rows: Option<&[T]>) -> &[T] {
    rows.unwrap_or_default()
}

/// Joins the tables of a file with those of the sum.
fn join(sum: &mut ProfileFile, tables: &mut Tables, file: &ProfileFile) -> Names {
    for method in &file.methods {
        if !sum.methods.iter().any(|known| known.id == method.id) {
            sum.methods.push(method.clone());
        }
    }
    sum.methods.sort_by_key(|method| method.id);
    let mut branches = Vec::new();
    for branch in &file.branches {
        let next = sum.branches.len() as u32;
        let at = *tables.branches.entry((branch.place.method, branch.place.position)).or_insert(next);
        match sum.branches.get_mut(at as usize) {
            Some(known) => known.arms = known.arms.max(branch.arms),
            None => sum.branches.push(branch.clone()),
        }
        branches.push(at);
    }
    let mut paths_of: BTreeMap<u32, Vec<PathRecord>> = BTreeMap::new();
    for path in &file.paths {
        let of_sum = path.branches.iter().map(|&(at, arm)| (branches[at as usize], arm)).collect();
        paths_of.entry(path.version).or_default().push(PathRecord { branches: of_sum, ..path.clone() });
    }
    let mut versions = BTreeMap::new();
    let mut taken = Vec::new();
    for version in &file.versions {
        let paths = paths_of.remove(&version.id).unwrap_or_default();
        let fits = |id: u32| {
            paths.iter().all(|path| {
                let known = tables.paths.get(&(id, path.number));
                known.is_none_or(|known| *known == PathRecord { version: id, ..path.clone() })
            })
        };
        let same = sum.versions.iter().find(|known| {
            **known == holloway_vm::profiling::file::VersionRecord { id: known.id, ..version.clone() }
                && !taken.contains(&known.id)
                && fits(known.id)
        });
        let id = same.map(|known| known.id).unwrap_or_else(|| {
            // The first file keeps its numbers.
            let is_free = |id: &u32| sum.versions.iter().all(|known| known.id != *id);
            let next = || sum.versions.iter().map(|known| known.id).max()?.checked_add(1);
            let free = || next().or_else(|| (0..u32::MAX).find(is_free));
            // There are never as many versions as numbers.
            Some(version.id).filter(is_free).or_else(free).unwrap_or(version.id)
        });
        if same.is_none() {
            sum.versions.push(holloway_vm::profiling::file::VersionRecord { id, ..version.clone() });
        }
        taken.push(id);
        versions.insert(version.id, id);
        for path in paths {
            tables.paths.insert((id, path.number), PathRecord { version: id, ..path });
        }
    }
    sum.versions.sort_by_key(|version| version.id);
    Names { branches, versions }
}

fn edges<'a>(all: impl Iterator<Item = (&'a [(u32, Vec<u64>)], &'a Names)>) -> Vec<(u32, Vec<u64>)> {
    let mut sum: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for (rows, names) in all {
        for (branch, arms) in rows {
            let known = sum.entry(names.branches[*branch as usize]).or_default();
            known.resize(known.len().max(arms.len()), 0);
            known.iter_mut().zip(arms).for_each(|(sum, count)| add(sum, *count));
        }
    }
    sum.into_iter().collect()
}

fn counts<'a>(all: impl Iterator<Item = (&'a [CountRecord], &'a Names)>) -> Vec<CountRecord> {
    let mut sum: BTreeMap<(u32, PathNumber), u64> = BTreeMap::new();
    for (rows, names) in all {
        for row in rows {
            add(sum.entry((names.versions[&row.version], row.number)).or_default(), row.count);
        }
    }
    sum.into_iter().map(|((version, number), count)| CountRecord { version, number, count }).collect()
}

fn forest(sum: &mut ProfileFile, files: &[&ProfileFile], names: &[Names]) {
    let Some(forest) = &mut sum.iterated else { return };
    forest.sequences = sequences(files, names, |file| Some(&file.iterated.as_ref()?.sequences));
    for file in &files[1..] {
        if let Some(other) = &file.iterated {
            let (s, o) = (&mut forest.statistics, &other.statistics);
            add(&mut s.items, o.items);
            add(&mut s.uncounted, o.uncounted);
            add(&mut s.chunks, o.chunks);
            add(&mut s.hash_operations, o.hash_operations);
            add(&mut s.further_probes, o.further_probes);
            add(&mut s.searches, o.searches);
            add(&mut s.sibling_steps, o.sibling_steps);
            add(&mut s.wide_lookups, o.wide_lookups);
            add(&mut s.roots, o.roots);
            add(&mut s.nodes, o.nodes);
            add(&mut s.wide_nodes, o.wide_nodes);
            add(&mut s.bytes, o.bytes);
        }
    }
}

/// Counts of damaged files may be as large as there are numbers.
fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

/// The sequences of all files added up.
fn sequences(
    files: &[&ProfileFile],
    names: &[Names],
    of: impl Fn(&ProfileFile) -> Option<&Vec<SequenceRecord>>,
) -> Vec<SequenceRecord> {
    let mut sum: BTreeMap<(u32, Vec<PathNumber>), u64> = BTreeMap::new();
    for (file, names) in files.iter().zip(names) {
        for sequence in of(file).into_iter().flatten() {
            let key = (names.versions[&sequence.version], sequence.numbers.clone());
            add(sum.entry(key).or_default(), sequence.count);
        }
    }
    // The order of the keys is the preorder.
    let record = |((version, numbers), count)| SequenceRecord { version, numbers, count };
    sum.into_iter().map(record).collect()
}

fn windows(sum: &mut ProfileFile, files: &[&ProfileFile], names: &[Names]) {
    let Some(windows) = &mut sum.windowed else { return };
    windows.sequences = sequences(files, names, |file| Some(&file.windowed.as_ref()?.sequences));
    let others = files[1..].iter().filter_map(|file| file.windowed.as_ref());
    others.for_each(|other| windows.statistics.merge(other.statistics));
    let refused = files.iter().zip(names).flat_map(|(file, names)| {
        let refused = file.windowed.iter().flat_map(|windows| &windows.refused);
        refused.map(|version| names.versions[version])
    });
    let refused: std::collections::BTreeSet<u32> = refused.collect();
    windows.refused = refused.into_iter().collect();
}

fn add_calls<'a>(all: impl Iterator<Item = &'a [CallRecord]>) -> Vec<CallRecord> {
    let mut sum: BTreeMap<(PlaceRecord, u32), u64> = BTreeMap::new();
    for call in all.flatten() {
        add(sum.entry((call.site, call.callee)).or_default(), call.count);
    }
    sum.into_iter().map(|((site, callee), count)| CallRecord { site, callee, count }).collect()
}

fn calls(sum: &mut ProfileFile, files: &[&ProfileFile]) {
    if sum.calls.exact.is_some() {
        sum.calls.exact = Some(add_calls(files.iter().map(|file| rows(file.calls.exact.as_deref()))));
    }
    if let Some(sampled) = &mut sum.calls.sampled {
        let all = || files.iter().filter_map(|file| file.calls.sampled.as_ref());
        sampled.calls = add_calls(all().map(|of| &of.calls[..]));
        for other in all().skip(1) {
            sampled.window.merge(&other.window);
            add(&mut sampled.roots, other.roots);
        }
        if sampled.contexts.is_some() {
            sampled.contexts = Some(contexts(all().map(|of| rows(of.contexts.as_deref()))));
        }
    }
    if let Some(credited) = &mut sum.calls.credited {
        let all = || files.iter().filter_map(|file| file.calls.credited.as_ref());
        credited.calls = add_calls(all().map(|of| &of.calls[..]));
        for other in all().skip(1) {
            add(&mut credited.weight, other.weight);
            add(&mut credited.scale.0, other.scale.0);
            add(&mut credited.scale.1, other.scale.1);
        }
    }
    if let Some(cached) = &mut sum.calls.cached {
        let all = || files.iter().filter_map(|file| file.calls.cached.as_ref());
        cached.calls = add_calls(all().map(|of| &of.calls[..]));
        let mut lost: BTreeMap<PlaceRecord, u64> = BTreeMap::new();
        all().flat_map(|of| &of.lost).for_each(|of| add(lost.entry(of.site).or_default(), of.count));
        cached.lost = lost.into_iter().map(|(site, count)| LostRecord { site, count }).collect();
    }
}

/// Trees of contexts, joined from their roots on.
fn contexts<'a>(all: impl Iterator<Item = &'a [ContextRecord]>) -> Vec<ContextRecord> {
    let mut known: BTreeMap<(Option<u32>, Option<PlaceRecord>, u32), u32> = BTreeMap::new();
    let mut sum: Vec<ContextRecord> = Vec::new();
    for tree in all {
        let mut names: Vec<u32> = Vec::new();
        for context in tree {
            let parent = context.parent.map(|at| names[at as usize]);
            let next = sum.len() as u32;
            let at = *known.entry((parent, context.site, context.method)).or_insert(next);
            match sum.get_mut(at as usize) {
                Some(known) => add(&mut known.count, context.count),
                None => sum.push(ContextRecord { parent, ..*context }),
            }
            names.push(at);
        }
    }
    sum
}

fn traces(sum: &mut ProfileFile, files: &[&ProfileFile], names: &[Names]) {
    let Some(traces) = &mut sum.traces else { return };
    let mut runs: BTreeMap<(u32, Vec<u32>), u64> = BTreeMap::new();
    let mut paths: BTreeMap<(u32, Vec<u32>), RegionPathRecord> = BTreeMap::new();
    for (at, (file, names)) in files.iter().zip(names).enumerate() {
        let Some(other) = &file.traces else { continue };
        if at > 0 {
            add_numbers(traces, other);
        }
        for run in &other.runs {
            add(runs.entry((run.method, run.blocks.clone())).or_default(), run.count);
        }
        for path in &other.paths {
            let key = (path.owner(), path.blocks.clone());
            let new = || RegionPathRecord {
                branches: path.branches.iter().map(|&(at, arm)| (names.branches[at as usize], arm)).collect(),
                weight: 0.0,
                count: path.count.map(|_| 0),
                ..path.clone()
            };
            let known = paths.entry(key).or_insert_with(new);
            known.weight += path.weight;
            known.count = known.count.zip(path.count).map(|(a, b)| a.saturating_add(b));
        }
    }
    traces.runs =
        runs.into_iter().map(|((method, blocks), count)| RunRecord { method, blocks, count }).collect();
    traces.paths = paths.into_values().collect();
}

fn added(one: Lengths, other: Lengths) -> Lengths {
    let add = |a: Length, b: Length| Length {
        pieces: a.pieces.saturating_add(b.pieces),
        instructions: a.instructions.saturating_add(b.instructions),
    };
    Lengths {
        calls: add(one.calls, other.calls),
        loops: add(one.loops, other.loops),
        regions: add(one.regions, other.regions),
    }
}

/// Numbers of traces. Different ones of two runs may be the same.
fn add_numbers(sum: &mut TraceRecords, other: &TraceRecords) {
    add(&mut sum.traces, other.traces);
    add(&mut sum.samples, other.samples);
    add(&mut sum.lost, other.lost);
    add(&mut sum.empty, other.empty);
    add(&mut sum.initial_length, other.initial_length);
    add(&mut sum.extended_length, other.extended_length);
    add(&mut sum.repaired, other.repaired);
    sum.lengths = sum.lengths.zip(other.lengths).map(|(a, b)| added(a, b));
    add(&mut sum.without_edge, other.without_edge);
    add(&mut sum.flow, other.flow);
    add(&mut sum.partials, other.partials);
    add(&mut sum.matches, other.matches);
    for (reason, count) in &other.discarded {
        add(sum.discarded.entry(reason.clone()).or_default(), *count);
    }
    for (crossings, count) in &other.crossings {
        add(sum.crossings.entry(*crossings).or_default(), *count);
    }
    for (crossings, count) in &other.crossing_samples {
        add(sum.crossing_samples.entry(*crossings).or_default(), *count);
    }
}
