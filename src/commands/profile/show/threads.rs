//! Which threads counted: how much of the whole each did, and how many samples it got.

use super::super::load::thread_name;
use super::super::model::Profile;
use super::super::text::{percent, table};
use holloway_vm::profiling::file::{SequenceRecord, ThreadRecord};
use std::cmp::Reverse;

/// The `top` threads that did most, or that nobody asked for it.
pub fn threads(profile: &Profile, top: usize) -> String {
    match &profile.file.threads {
        Some(threads) => table_of(profile, threads, top),
        None => {
            "no threads: the profile is of all together (`--profile-threads` has each thread's)\n".to_string()
        }
    }
}

/// How much of something a thread did, if that was counted.
type Measure = fn(&ThreadRecord) -> Option<u128>;

fn table_of(profile: &Profile, threads: &[ThreadRecord], top: usize) -> String {
    let mut text = format!("threads: {}\n", in_words(threads));
    let columns: [(&str, Measure); 3] =
        [("paths run", paths_run), ("branches", branches), ("samples", samples)];
    let is_there = |&(_, of): &(&str, Measure)| threads.iter().any(|thread| of(thread).is_some());
    let columns: Vec<(&str, Measure)> = columns.into_iter().filter(is_there).collect();
    let Some(&(_, measure)) = columns.first() else { return text };
    let measure = |thread: &ThreadRecord| measure(thread).unwrap_or_default();
    let total: u128 = threads.iter().map(measure).sum();
    let mut ranked: Vec<&ThreadRecord> = threads.iter().collect();
    ranked.sort_by_key(|thread| (Reverse(measure(thread)), thread.thread.is_none(), thread.thread));
    let row = |thread: &&ThreadRecord| {
        let mut row = vec![percent(measure(thread), total)];
        row.extend(columns.iter().map(|(_, of)| of(thread).unwrap_or_default().to_string()));
        row.push(dropped(thread).to_string());
        row.push(thread_name(profile, thread));
        row
    };
    let rows: Vec<Vec<String>> = ranked.iter().take(top).map(row).collect();
    let mut headings = vec!["share"];
    headings.extend(columns.iter().map(|&(heading, _)| heading));
    headings.extend(["dropped", "thread"]);
    if !rows.is_empty() {
        text += &table(&headings, &rows);
    }
    if ranked.len() > top {
        text += &format!("  {} more\n", ranked.len() - top);
    }
    text
}

/// Paths that were run, by whichever profiler counts them all.
fn paths_run(thread: &ThreadRecord) -> Option<u128> {
    let single = |of: &&SequenceRecord| of.numbers.len() == 1;
    match (&thread.exact, &thread.iterated) {
        (Some(exact), _) => Some(exact.iter().map(|count| u128::from(count.count)).sum()),
        (None, Some(forest)) => {
            Some(forest.sequences.iter().filter(single).map(|of| u128::from(of.count)).sum())
        }
        (None, None) => None,
    }
}

fn branches(thread: &ThreadRecord) -> Option<u128> {
    let edges = thread.edges.as_ref()?;
    Some(edges.iter().flat_map(|(_, arms)| arms).map(|&count| u128::from(count)).sum())
}

fn samples(thread: &ThreadRecord) -> Option<u128> {
    Some(thread.sampled.as_ref()?.iter().map(|count| u128::from(count.count)).sum())
}

fn dropped(thread: &ThreadRecord) -> u128 {
    thread.dropped.values().map(|&count| u128::from(count)).sum()
}

/// How many there are.
fn in_words(threads: &[ThreadRecord]) -> String {
    let many: u128 = threads.iter().map(|thread| u128::from(thread.threads)).sum();
    let rest = threads.iter().find(|thread| thread.thread.is_none()).map_or(0, |rest| rest.threads);
    match rest {
        0 => format!("{many}, each counted by itself"),
        rest => {
            format!("{many}, each counted by itself but for {rest}, for which there was no address space")
        }
    }
}
