//! Whose profile it is, what ran, and what was lost.

use super::super::model::Profile;
use super::super::text::{counted, percent};
use holloway_profilers::schedule::Counts;

/// What a window did.
fn window(window: &Counts) -> String {
    format!(
        "{}, {} opened, {} taken, {} skipped, {} ticks found the window open ({} ignored, {} restarted, {} cancelled)",
        counted(window.ticks, "tick", "ticks"),
        counted(window.windows, "window", "windows"),
        counted(window.taken, "sample", "samples"),
        window.skipped,
        u128::from(window.ignored) + u128::from(window.restarted) + u128::from(window.cancelled),
        window.ignored,
        window.restarted,
        window.cancelled,
    )
}

/// A few lines.
pub fn summary(profile: &Profile) -> String {
    let file = &profile.file;
    let mut text = format!("profile of {} (code {})\n", file.program.main, file.program.fingerprint);
    let mut line = |name: &str, value: String| text += &format!("  {name:<9} {value}\n");
    if let Some(thread) = &profile.thread {
        line("thread", thread.clone());
    }
    line("run", file.ended.clone());
    line("profilers", if file.profilers.is_empty() { "none".into() } else { file.profilers.join(", ") });
    let numbered = file.versions.iter().filter(|version| version.paths > 0).count();
    let mut code = counted(file.versions.len() as u64, "piece of code counted", "pieces of code counted");
    if file.exact.is_some() || file.sampled.is_some() || file.iterated.is_some() || file.windowed.is_some() {
        code += &format!(", {numbered} with numbered paths");
    }
    line("code", code);
    if let Some(sampled) = &file.sampled {
        line("pep", window(&sampled.window));
    }
    if let Some(sampled) = &file.calls.sampled {
        let roots = match sampled.roots {
            0 => String::new(),
            roots => format!("; {} of a method that nobody called", counted(roots, "sample", "samples")),
        };
        line("cbs", window(&sampled.window) + &roots);
    }
    if let Some(heard) = &file.calls.heard {
        let over = heard.bursts.iter().filter(|burst| burst.until.is_some()).count();
        let entries: u64 = heard.bursts.iter().map(|burst| burst.entries).sum();
        let methods = counted(heard.bursts.len() as u64, "method", "methods");
        let entries = counted(entries, "entry", "entries");
        line("oneshot", format!("{methods} listened to, {over} of them to the end, {entries} heard"));
    }
    if let Some(cached) = &file.calls.cached {
        let counts: u128 = cached.calls.iter().map(|of| u128::from(of.count)).sum();
        let lost: u128 = cached.lost.iter().map(|of| u128::from(of.count)).sum();
        let calls = counted(counts, "call", "calls");
        let sites = counted(cached.lost.len() as u64, "site", "sites");
        let lost = if lost == 0 { "none lost".into() } else { format!("{lost} lost at {sites}") };
        line("icache", format!("{calls} counted in caches, {lost}"));
    }
    if let Some(forest) = &file.iterated {
        let of = &forest.statistics;
        line(
            "kblpp",
            format!(
                "k = {}, {} in {} of {} bytes, {}",
                forest.k,
                counted(of.items, "path", "paths"),
                counted(of.nodes, "node", "nodes"),
                of.bytes,
                counted(forest.sequences.len() as u64, "sequence", "sequences"),
            ),
        );
    }
    if let Some(windows) = &file.windowed {
        let of = &windows.statistics;
        let refused = match windows.refused.len() {
            0 => String::new(),
            refused => format!("; {} refused", counted(refused as u64, "piece of code", "pieces of code")),
        };
        line(
            "kroy",
            format!(
                "k = {}, {} in {} of {} bytes, {}{refused}",
                windows.k,
                counted(of.hash_operations, "path", "paths"),
                counted(of.entries, "entry", "entries"),
                of.bytes,
                counted(windows.sequences.len() as u64, "window", "windows"),
            ),
        );
    }
    let dropped: u64 = file.dropped.values().sum();
    let paths = profile.exact().map(|(_, counts)| counts.iter().map(|count| count.count).sum::<u64>());
    let share = paths.map_or(String::new(), |run| {
        let begun = u128::from(run) + u128::from(dropped);
        format!(" ({} of those begun)", percent(u128::from(dropped), begun))
    });
    let reasons: Vec<String> =
        file.dropped.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    match dropped {
        0 => line("dropped", "no path".into()),
        _ => line("dropped", format!("{}{share}: {}", counted(dropped, "path", "paths"), reasons.join(", "))),
    }
    text
}
