//! Do the counts of the threads agree: with the profile, whose parts they are, and each thread's with each other.

use super::super::load::thread_name;
use super::super::model::Profile;
use super::{RULES, name, outcomes};
use holloway_vm::profiling::file::{
    CountRecord, ForestRecord, ProfileFile, SequenceRecord, ThreadRecord, WindowRecord, WorkRecord,
};
use holloway_vm::profiling::{CallRecord, CallRecords, ProfileSpec};
use std::collections::{BTreeMap, BTreeSet};

/// What a thread counted is a profile.
pub fn each(profile: &Profile, threads: &[ThreadRecord]) -> Vec<String> {
    let mut wrong = Vec::new();
    for thread in threads {
        // Traces and subpaths are those of all threads, and checked as such.
        let part = ProfileFile { traces: None, subpaths: None, ..profile.file.of_thread(thread) };
        let part = Profile::new(part);
        for faults in RULES.iter().filter_map(|(_, rule)| rule(&part).ok()) {
            wrong.extend(faults.iter().map(|fault| format!("{}: {fault}", thread_name(profile, thread))));
        }
    }
    wrong
}

/// Every count of the profile is the sum of the threads' counts.
pub fn sums(profile: &Profile, threads: &[ThreadRecord]) -> Vec<String> {
    let file = &profile.file;
    let mut wrong = Vec::new();
    let mut compare = |all: Counts, of_thread: &dyn Fn(&ThreadRecord) -> Counts| {
        let mut sums = Counts::new();
        for (what, count) in threads.iter().flat_map(of_thread) {
            *sums.entry(what).or_default() += count;
        }
        let of = |counts: &Counts, what: &str| counts.get(what).copied().unwrap_or_default();
        let names: BTreeSet<&String> = all.keys().chain(sums.keys()).collect();
        for what in names {
            let (all, sum) = (of(&all, what), of(&sums, what));
            if all != sum {
                wrong.push(format!("{what}: {all}, and the threads have {sum}"));
            }
        }
    };
    compare(counts_of_edges(profile, file.edges.exact.as_deref()), &|thread| {
        counts_of_edges(profile, thread.edges.as_deref())
    });
    compare(counts_of_paths("run", file.exact.as_deref()), &|thread| {
        counts_of_paths("run", thread.exact.as_deref())
    });
    compare(counts_of_paths("samples", file.sampled.as_ref().map(|of| &*of.paths)), &|thread| {
        counts_of_paths("samples", thread.sampled.as_deref())
    });
    compare(counts_of_forest(file.iterated.as_ref()), &|thread| counts_of_forest(thread.iterated.as_ref()));
    compare(counts_of_windows(file.windowed.as_ref()), &|thread| counts_of_windows(thread.windowed.as_ref()));
    compare(counts_of_calls(profile, &file.calls), &|thread| counts_of_calls(profile, &thread.calls));
    let dropped = |dropped: &BTreeMap<String, u64>| -> Counts {
        dropped.iter().map(|(reason, &count)| (format!("dropped: {reason}"), u128::from(count))).collect()
    };
    compare(dropped(&file.dropped), &|thread| dropped(&thread.dropped));
    let work = |work: &WorkRecord| -> Counts {
        let operations = ("operations on hash tables".to_string(), u128::from(work.hash_operations));
        Counts::from([operations, ("probes of hash tables".to_string(), u128::from(work.hash_probes))])
    };
    compare(work(&file.work), &|thread| work(&thread.work));
    wrong
}

/// Counts by what is counted, in words.
type Counts = BTreeMap<String, u128>;

fn counts_of_edges(profile: &Profile, rows: Option<&[(u32, Vec<u64>)]>) -> Counts {
    let edges = profile.edges(rows.unwrap_or_default());
    let outcomes = outcomes(&edges, &edges).into_iter();
    outcomes.map(|arm| (name(profile, arm), u128::from(edges.count(arm)))).collect()
}

fn counts_of_paths(what: &str, counts: Option<&[CountRecord]>) -> Counts {
    let row = |&CountRecord { version, number, count }: &CountRecord| {
        (format!("path {number} of version {version}, {what}"), u128::from(count))
    };
    counts.unwrap_or_default().iter().map(row).collect()
}

/// Old samples may be forgotten, but not by threads: they are no sums then.
fn counts_of_calls(profile: &Profile, calls: &CallRecords) -> Counts {
    let forgets = |text: &String| match text.parse() {
        Ok(ProfileSpec::Cbs(options)) => options.decay > 0,
        _ => false,
    };
    let sampled = calls.sampled.as_ref().filter(|_| !profile.file.profilers.iter().any(forgets));
    let (heard, cached) = (calls.heard.as_ref(), calls.cached.as_ref());
    let sources = [
        ("made", calls.exact.as_ref()),
        ("sampled", sampled.map(|of| &of.calls)),
        ("heard", heard.map(|of| &of.calls)),
        ("in caches", cached.map(|of| &of.calls)),
    ];
    let row = |how: &'static str, of: &CallRecord| {
        let (caller, callee) = (profile.method(of.site.method), profile.method(of.callee));
        (format!("{caller}@{} -> {callee}, {how}", of.site.position), u128::from(of.count))
    };
    let mut counts = Counts::new();
    let mut add = |(what, count)| *counts.entry(what).or_default() += count;
    for (how, records) in sources {
        records.into_iter().flatten().for_each(|of| add(row(how, of)));
    }
    if let Some(sampled) = sampled {
        add(("samples of what nobody called".into(), u128::from(sampled.roots)));
    }
    for burst in heard.iter().flat_map(|of| &of.bursts) {
        add((format!("{}, entries heard", profile.method(burst.method)), u128::from(burst.entries)));
    }
    for lost in cached.iter().flat_map(|of| &of.lost) {
        let caller = profile.method(lost.site.method);
        add((format!("{caller}@{}, lost", lost.site.position), u128::from(lost.count)));
    }
    counts
}

fn counts_of_windows(windows: Option<&WindowRecord>) -> Counts {
    let Some(windows) = windows else { return Counts::new() };
    let row = |of: &SequenceRecord| {
        (format!("window {:?} of version {}", of.numbers, of.version), u128::from(of.count))
    };
    let operations = ("operations on windows".to_string(), u128::from(windows.statistics.hash_operations));
    windows.sequences.iter().map(row).chain([operations]).collect()
}

fn counts_of_forest(forest: Option<&ForestRecord>) -> Counts {
    let Some(forest) = forest else { return Counts::new() };
    let row = |of: &SequenceRecord| {
        (
            format!("paths {:?} of version {}, one after the other", of.numbers, of.version),
            u128::from(of.count),
        )
    };
    let statistics = [("items", forest.statistics.items), ("chunks", forest.statistics.chunks)];
    let statistics = statistics.map(|(name, count)| (format!("{name} of the forest"), u128::from(count)));
    forest.sequences.iter().map(row).chain(statistics).collect()
}
