//! What `--stats` prints: one table of names and numbers, from which both forms derive.

use crate::options::StatisticsFormat;
use holloway_vm::Statistics;
use holloway_vm::compiled::{Level, LevelStatistics, TierStatistics};
use std::time::Duration;

/// The statistics of a run of `holloway run`.
pub fn run_statistics(
    compile: Duration,
    run: Duration,
    machine: &Statistics,
    format: StatisticsFormat,
) -> String {
    let mut rows = vec![
        row("compile_ns", "compile time", nanoseconds(compile)),
        row("run_ns", "run time", nanoseconds(run)),
    ];
    rows.extend(machine_rows(machine));
    show(&rows, format)
}

/// What a virtual machine counted.
pub fn machine_statistics(machine: &Statistics, format: StatisticsFormat) -> String {
    show(&machine_rows(machine), format)
}

/// Something counted, and what it means.
struct Row {
    /// In JSON; ends in the unit, if it has one.
    key: &'static str,
    /// In text.
    label: &'static str,
    value: Value,
}

/// What was counted.
enum Value {
    Number(u64),
    /// A number that only identifies something.
    Digest(u64),
    /// A number for each of several names.
    Each(Vec<(&'static str, u64)>),
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn row(key: &'static str, label: &'static str, value: u64) -> Row {
    Row { key, label, value: Value::Number(value) }
}

fn machine_rows(machine: &Statistics) -> Vec<Row> {
    let heap = &machine.heap;
    let mut rows = vec![
        row("yieldpoints_taken", "yieldpoints taken", machine.yieldpoints_taken),
        row("ticks", "ticks of the timer", machine.ticks),
        row("threads", "threads", machine.threads),
        row("methods_entered", "methods interpreted", machine.methods_entered),
        row("entered_words", "words of their bytecode", machine.entered_words),
        row("thread_switches", "thread switches", machine.thread_switches),
        row("minor_collections", "minor collections", heap.minor_collections),
        row("full_collections", "full collections", heap.full_collections),
        row("total_pause_ns", "total pause", nanoseconds(heap.total_pause)),
        row("maximum_pause_ns", "longest pause", nanoseconds(heap.maximum_pause)),
        row("allocated_bytes", "allocated", heap.allocated_bytes),
        row("live_bytes", "live after the last collection", heap.live_bytes as u64),
        row("committed_bytes", "committed", heap.committed_bytes as u64),
        row("maximum_committed_bytes", "most committed", heap.maximum_committed_bytes as u64),
        row("returned_bytes", "returned to the system", heap.returned_bytes),
        row("remembered_objects", "objects remembered", heap.remembered_objects),
        row("marked_cards", "cards marked", heap.marked_cards),
    ];
    rows.extend(tier_rows(&machine.tiers));
    rows
}

/// What the optimizing tier did.
fn tier_rows(tiers: &TierStatistics) -> Vec<Row> {
    let each =
        |key, label, numbers: Vec<(&'static str, u64)>| Row { key, label, value: Value::Each(numbers) };
    let of = |level: Level| tiers.levels[level as usize];
    let by_level = |number: fn(&LevelStatistics) -> u64| {
        Level::ALL.map(|level| (level.name(), number(&of(level)))).to_vec()
    };
    let passes = tiers.passes.iter().map(|(&name, &time)| (name, nanoseconds(time)));
    vec![
        each("compilations", "compiled", by_level(|level| level.compilations)),
        row("refused_compilations", "compilations refused", tiers.refused),
        row("optimizing_ns", "optimizing compiler", nanoseconds(tiers.compile_time)),
        each("optimizing_by_level_ns", "optimizing compiler at", by_level(|level| nanoseconds(level.time))),
        each("passes_ns", "optimizing compiler:", passes.collect()),
        row("compiled_words", "words of bytecode compiled", tiers.words()),
        each("compiled_words_by_level", "words of bytecode compiled at", by_level(|level| level.words)),
        row("path_edges", "edges whose paths were numbered", tiers.path_edges),
        row("machine_code_bytes", "machine code made", tiers.bytes()),
        row("samples", "samples of compiled methods", tiers.adaptive.samples),
        row("decisions", "decisions of the controller", tiers.adaptive.decisions),
        row("waits", "to wait, of these", tiers.adaptive.waits),
        row("promotions", "promotions to a higher level", tiers.adaptive.promotions),
        row("sample_windows", "windows of samples that code was compared with", tiers.adaptive.windows),
        row("remade", "made again because the program behaved otherwise", tiers.adaptive.remade),
        row("dropped_requests", "requests given up", tiers.adaptive.dropped),
        row("longest_queue", "most requests waiting", tiers.adaptive.longest_queue as u64),
        Row { key: "code_digest", label: "digest of the machine code", value: Value::Digest(tiers.digest) },
        Row {
            key: "path_digest",
            label: "digest of the numbers of paths",
            value: Value::Digest(tiers.path_digest),
        },
        row("code_in_use_bytes", "machine code in use", tiers.code_in_use as u64),
        row("method_orders", "times that methods were put in order in memory", tiers.method_orders),
        row("loop_entries", "compiled loops entered", tiers.loop_entries),
        row("invalidations", "compiled code thrown away", tiers.invalidations),
        row("evictions", "evicted of these", tiers.evictions),
        each("exits", "left compiled code:", tiers.exits.iter().map(|(&reason, &n)| (reason, n)).collect()),
    ]
}

fn show(rows: &[Row], format: StatisticsFormat) -> String {
    match format {
        StatisticsFormat::Json => {
            let member = |name: &str, value: &dyn std::fmt::Display| format!("\"{name}\": {value}");
            let object = |members: Vec<String>| format!("{{{}}}", members.join(", "));
            let members = rows.iter().map(|row| match &row.value {
                Value::Number(value) => member(row.key, value),
                Value::Digest(value) => member(row.key, &format!("\"{value:016x}\"")),
                Value::Each(each) => {
                    let inner = each.iter().map(|(name, value)| member(name, value)).collect();
                    member(row.key, &object(inner))
                }
            });
            object(members.collect()) + "\n"
        }
        StatisticsFormat::Text => {
            let lines: Vec<(String, String)> = rows.iter().flat_map(text_lines).collect();
            let width = lines.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
            let line = |(label, value): (String, String)| format!("{label:width$}  {value:>14}\n");
            lines.into_iter().map(line).collect()
        }
    }
}

/// The lines of a row: label and value.
fn text_lines(row: &Row) -> Vec<(String, String)> {
    let text = |value: u64| match row.key.rsplit('_').next() {
        Some("ns") => format!("{:.3} ms", value as f64 / 1e6),
        Some("bytes") => format!("{:.1} KiB", value as f64 / 1024.0),
        _ => value.to_string(),
    };
    match &row.value {
        Value::Number(value) => vec![(row.label.to_string(), text(*value))],
        Value::Digest(value) => vec![(row.label.to_string(), format!("{value:016x}"))],
        Value::Each(each) => {
            let some = each.iter().filter(|(_, value)| *value > 0);
            some.map(|&(name, value)| (format!("{} {name}", row.label), text(value))).collect()
        }
    }
}
