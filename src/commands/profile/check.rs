//! `holloway profile check`: is a profile well-formed, and do its counts agree with each other? What one profiler counted another has
//! counted, too, and control that came to a place went on from there.
//!
//! Some of it holds in one direction only. A path that was dropped went through branches without being counted, so that branches may
//! be ahead of paths, up to the number of dropped paths. Code that is left at the yieldpoint of a cut has ended a path and begins
//! none, so that a cut may end more paths than begin there, but not fewer, and exits may be fewer than entries.

mod threads;
mod windows;

use super::accuracy::{edges, paths, share};
use super::calls::{self, rules};
use super::load::read;
use super::model::{PathCounts, Profile};
use super::subpaths;
use super::text::counted;
use super::traces;
use super::wellformed::problems;
use crate::options::{CheckProfileArguments, Percent};
use crate::report::{EXIT_PROGRAM, Stop};
use holloway_profilers::edges::EdgeProfile;
use holloway_profilers::{Arm, BranchArm};
use holloway_vm::profiling::file::CountRecord;
use std::collections::BTreeMap;
use std::process::ExitCode;

/// So many failures of a check are listed.
const LISTED: usize = 10;

/// What the papers call hot.
const HOT: Percent = Percent(0.125);

/// The findings, and how to exit.
pub fn check(arguments: &CheckProfileArguments) -> Result<(String, ExitCode), Stop> {
    let file = read(&arguments.file)?;
    let problems = problems(&file);
    let mut report = Report::default();
    report.add("well-formed", Ok(problems));
    if report.failed {
        return Ok((report.text, EXIT_PROGRAM.into()));
    }
    let profile = Profile::new(file);
    for (name, rule) in RULES {
        report.add(name, rule(&profile));
    }
    if let Some(threads) = &profile.file.threads {
        report.add("what the threads counted adds up to the profile", Ok(threads::sums(&profile, threads)));
        report.add("what each thread counted obeys these rules, too", Ok(threads::each(&profile, threads)));
    }
    let mut text = report.text;
    let parts = [
        paths(&profile, &profile, share(HOT)?, HOT),
        (!super::accuracy::edge_rows(&profile, &profile).is_empty()).then(|| edges(&profile, &profile)),
        calls::accuracy(&profile, &profile),
        traces::accuracy(&profile, &profile, share(HOT)?, HOT),
        subpaths::accuracy(&profile, &profile),
    ];
    for part in parts.into_iter().flatten() {
        text.push('\n');
        text += &part;
    }
    Ok((text, if report.failed { EXIT_PROGRAM.into() } else { ExitCode::SUCCESS }))
}

/// What a rule found: what is wrong, or why it does not apply.
type Findings = Result<Vec<String>, &'static str>;

/// What it says of a profile that obeys it, and how that is seen.
type Rule = (&'static str, fn(&Profile) -> Findings);

/// The rules.
const RULES: &[Rule] = &[
    ("branches of exact paths are the exact edges", exact_edges),
    ("branches of sampled paths are the sampled edges", sampled_edges),
    ("the window took the samples", window),
    ("what was sampled was run", sampled_was_run),
    ("the window of calls took the samples", rules::window),
    ("what was sampled was called", rules::sampled_was_called),
    ("listeners heard the entries of their bursts, and these were calls", rules::heard),
    ("what inline caches counted was called", rules::cached),
    ("the weights of paths are the samples of branch traces", traces::weights),
    ("there are as many subpaths as blocks allow", subpaths::counts),
    (
        "estimates of subpaths are in their intervals, and identities those of their blocks",
        subpaths::estimates,
    ),
    ("the subpaths that were sampled were run", subpaths::sampled_was_run),
    ("no more paths begin at a cut than end there", cuts),
    ("no code is left by an exit more often than it was entered", entries),
    ("the forest's single paths are the exact paths", single_paths),
    ("the forest's sequences are counted as often as what they continue, at most", continuations),
    ("the forest has as many paths as it was given", items),
    ("windows end with each path as often as it was run", windows::paths),
    ("windows end with each sequence as often as the forest has it", windows::sequences),
];

#[derive(Default)]
struct Report {
    text: String,
    failed: bool,
}

impl Report {
    fn add(&mut self, name: &str, findings: Findings) {
        match findings {
            Err(why) => self.text += &format!("skipped  {name}: {why}\n"),
            Ok(wrong) if wrong.is_empty() => self.text += &format!("ok       {name}\n"),
            Ok(wrong) => {
                self.failed = true;
                self.text +=
                    &format!("FAILED   {name}: {}\n", counted(wrong.len() as u64, "fault", "faults"));
                for what in wrong.iter().take(LISTED) {
                    self.text += &format!("           {what}\n");
                }
                if wrong.len() > LISTED {
                    self.text += &format!("           and {} more\n", wrong.len() - LISTED);
                }
            }
        }
    }
}

fn dropped(profile: &Profile) -> u64 {
    profile.file.dropped.values().sum()
}

fn name(profile: &Profile, arm: BranchArm) -> String {
    let line = profile.branch(arm.branch).map_or(0, |record| record.place.line);
    let position = arm.branch.position;
    format!("{}:{line} (word {position}) arm {}", profile.method(arm.branch.method.0), arm.arm.0)
}

/// All outcomes that either profile knows.
fn outcomes(one: &EdgeProfile, other: &EdgeProfile) -> Vec<BranchArm> {
    let of = |edges: &EdgeProfile| -> Vec<BranchArm> {
        let arms = |(branch, arms): (_, &[u64])| {
            (0..arms.len()).map(move |arm| BranchArm { branch, arm: Arm::new(arm) })
        };
        edges.iter().flat_map(arms).collect()
    };
    let mut all = [of(one), of(other)].concat();
    all.sort();
    all.dedup();
    all
}

/// Each branch of a path that was counted was counted as an edge, and others only on paths that were dropped.
fn exact_edges(profile: &Profile) -> Findings {
    let (Some(exact), Some((_, counts))) = (&profile.file.edges.exact, profile.exact()) else {
        return Err("needs `edges`, and `blpp` or `kblpp`");
    };
    let (edges, expanded) = (profile.edges(exact), profile.expanded(&counts));
    // Code without numbers counts edges and no paths.
    let all_numbered = profile.file.versions.iter().all(|version| version.paths > 0);
    let mut most_on_a_path: BTreeMap<BranchArm, u128> = BTreeMap::new();
    for path in &profile.paths {
        let mut here: BTreeMap<BranchArm, u128> = BTreeMap::new();
        path.key.branches.iter().for_each(|&arm| *here.entry(arm).or_default() += 1);
        for (arm, times) in here {
            let most = most_on_a_path.entry(arm).or_default();
            *most = times.max(*most);
        }
    }
    let lost = u128::from(dropped(profile)) + uncounted(profile);
    let mut wrong = Vec::new();
    for arm in outcomes(&edges, &expanded) {
        let (counted, on_paths) = (edges.count(arm), expanded.count(arm));
        let slack = lost * most_on_a_path.get(&arm).copied().unwrap_or(1);
        let missing = u128::from(counted.saturating_sub(on_paths));
        if on_paths > counted || (all_numbered && missing > slack) {
            wrong.push(format!(
                "{}: {counted} as an edge, {on_paths} on paths, {lost} paths dropped",
                name(profile, arm)
            ));
        }
    }
    Ok(wrong)
}

fn uncounted(profile: &Profile) -> u128 {
    profile.file.iterated.as_ref().map_or(0, |forest| u128::from(forest.statistics.uncounted))
}

fn sampled_edges(profile: &Profile) -> Findings {
    let (Some(sampled), Some((_, counts))) = (&profile.file.edges.sampled, profile.sampled()) else {
        return Err("needs `pep`");
    };
    let (edges, expanded) = (profile.edges(sampled), profile.expanded(&counts));
    let differs = |arm: &BranchArm| edges.count(*arm) != expanded.count(*arm);
    let fault = |arm: BranchArm| {
        let (counted, on_paths) = (edges.count(arm), expanded.count(arm));
        format!("{}: {counted} as an edge, {on_paths} on paths", name(profile, arm))
    };
    Ok(outcomes(&edges, &expanded).into_iter().filter(differs).map(fault).collect())
}

fn window(profile: &Profile) -> Findings {
    let Some(sampled) = &profile.file.sampled else { return Err("needs `pep`") };
    let sum: u64 = sampled.paths.iter().map(|count| count.count).sum();
    let mut wrong = Vec::new();
    if sum != sampled.window.taken {
        wrong.push(format!("it took {}, and paths have {sum}", sampled.window.taken));
    }
    if sampled.window.windows > sampled.window.ticks {
        wrong.push(format!("{} windows after {} ticks", sampled.window.windows, sampled.window.ticks));
    }
    Ok(wrong)
}

fn sampled_was_run(profile: &Profile) -> Findings {
    let (Some((_, sampled)), Some((_, exact))) = (profile.sampled(), profile.exact()) else {
        return Err("needs `pep`, and `blpp` or `kblpp`");
    };
    let run: BTreeMap<(u32, u64), u64> =
        exact.iter().map(|count| ((count.version, count.number), count.count)).collect();
    let more = |count: &&CountRecord| {
        run.get(&(count.version, count.number)).copied().unwrap_or_default() < count.count
    };
    let fault = |count: &CountRecord| {
        let CountRecord { version, number, count } = *count;
        let run = run.get(&(version, number)).copied().unwrap_or_default();
        format!("path {number} of version {version}: {count} samples, run {run} times")
    };
    Ok(sampled.iter().filter(more).map(fault).collect())
}

/// How often exact paths begin and end, by version.
fn flows(profile: &Profile, exact: &[CountRecord]) -> Flows {
    let mut flows = Flows::default();
    let records: BTreeMap<(u32, u64), usize> =
        profile.file.paths.iter().enumerate().map(|(at, path)| ((path.version, path.number), at)).collect();
    for &CountRecord { version, number, count } in exact {
        let Some(&at) = records.get(&(version, number)) else { continue };
        let path = &profile.file.paths[at];
        let spot =
            |place: &holloway_vm::profiling::file::PlaceRecord| (version, place.method, place.position);
        match &*path.begins {
            "cut" => flows.cuts.entry(spot(&path.begin)).or_default().1 += u128::from(count),
            _ => flows.entries.entry(version).or_default().0 += u128::from(count),
        }
        match &*path.ends {
            "cut" => flows.cuts.entry(spot(&path.end)).or_default().0 += u128::from(count),
            _ => flows.entries.entry(version).or_default().1 += u128::from(count),
        }
    }
    flows
}

#[derive(Default)]
struct Flows {
    /// By version, method and place: how many ended at the cut, and how many began there.
    cuts: BTreeMap<(u32, u32, u32), (u128, u128)>,
    /// By version: how many began at its entry, and how many ended at an exit.
    entries: BTreeMap<u32, (u128, u128)>,
}

/// What begins at a cut comes from a path that ended there.
fn cuts(profile: &Profile) -> Findings {
    let Some((_, exact)) = profile.exact() else { return Err("needs `blpp` or `kblpp`") };
    let uncounted = uncounted(profile);
    let flows = flows(profile, &exact);
    let wrong = flows.cuts.iter().filter(|&(_, &(ended, began))| began > ended + uncounted);
    let fault = |(&(version, method, position), (ended, began)): (&(u32, u32, u32), &(u128, u128))| {
        let method = profile.method(method);
        format!("word {position} of {method} in version {version}: {ended} ended, {began} began")
    };
    Ok(wrong.map(fault).collect())
}

fn entries(profile: &Profile) -> Findings {
    let Some((_, exact)) = profile.exact() else { return Err("needs `blpp` or `kblpp`") };
    let lost = u128::from(dropped(profile)) + uncounted(profile);
    let flows = flows(profile, &exact);
    // An entry whose first path was dropped is not counted.
    let wrong = flows.entries.iter().filter(|&(_, &(entries, exits))| exits > entries + lost);
    let fault = |(version, (entries, exits)): (&u32, &(u128, u128))| {
        format!("version {version}: {entries} entries, {exits} exits, {lost} paths dropped")
    };
    Ok(wrong.map(fault).collect())
}

/// Counts of the sequences of one path.
fn singles(profile: &Profile) -> Option<PathCounts> {
    let mut counts = PathCounts::new();
    for sequence in &profile.file.iterated.as_ref()?.sequences {
        if let [number] = *sequence.numbers
            && let Some(path) = profile.path_of(sequence.version, number)
        {
            *counts.entry(path).or_default() += sequence.count;
        }
    }
    Some(counts)
}

fn single_paths(profile: &Profile) -> Findings {
    let (Some(singles), Some(exact)) = (singles(profile), &profile.file.exact) else {
        return Err("needs `blpp` and `kblpp`");
    };
    let exact = profile.counts(exact);
    let uncounted = uncounted(profile);
    let all: std::collections::BTreeSet<usize> = exact.keys().chain(singles.keys()).copied().collect();
    let of = |counts: &PathCounts, path: usize| counts.get(&path).copied().unwrap_or_default();
    let wrong = all.into_iter().filter(|&path| {
        let (run, in_forest) = (of(&exact, path), of(&singles, path));
        in_forest > run || u128::from(run - in_forest) > uncounted
    });
    let fault = |path: usize| {
        let what = super::text::path(profile, &profile.paths[path]);
        format!("{what}: run {} times, {} in the forest", of(&exact, path), of(&singles, path))
    };
    Ok(wrong.map(fault).collect())
}

/// Property 1 of D'Elia & Demetrescu: a node's count is at least the sum of its children's.
fn continuations(profile: &Profile) -> Findings {
    let Some(forest) = &profile.file.iterated else { return Err("needs `kblpp`") };
    let mut sums: BTreeMap<(u32, &[u64]), u128> = BTreeMap::new();
    for sequence in &forest.sequences {
        if let Some((_, before)) = sequence.numbers.split_last()
            && !before.is_empty()
        {
            *sums.entry((sequence.version, before)).or_default() += u128::from(sequence.count);
        }
    }
    let more = forest.sequences.iter().filter_map(|sequence| {
        let sum = *sums.get(&(sequence.version, &*sequence.numbers))?;
        (sum > u128::from(sequence.count)).then(|| {
            let (numbers, version, count) = (&sequence.numbers, sequence.version, sequence.count);
            format!("{numbers:?} of version {version}: run {count} times, continued {sum} times")
        })
    });
    Ok(more.collect())
}

fn items(profile: &Profile) -> Findings {
    let Some(forest) = &profile.file.iterated else { return Err("needs `kblpp`") };
    let singles = forest.sequences.iter().filter(|sequence| sequence.numbers.len() == 1);
    let sum: u128 = singles.map(|sequence| u128::from(sequence.count)).sum();
    let (items, uncounted) = (forest.statistics.items, forest.statistics.uncounted);
    Ok(match sum + u128::from(uncounted) == u128::from(items) {
        true => Vec::new(),
        false => vec![format!("{items} paths were run, {sum} are counted and {uncounted} are not")],
    })
}
