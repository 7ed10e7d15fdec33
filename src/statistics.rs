//! What `--stats` prints: one table of names and numbers, from which both forms derive.

use crate::options::StatisticsFormat;
use holloway_vm::Statistics;
use std::fmt::Write;
use std::time::Duration;

/// The statistics of a run of `holloway run`.
pub fn run_statistics(
    compile: Duration,
    run: Duration,
    machine: &Statistics,
    format: StatisticsFormat,
) -> String {
    let mut rows = vec![
        Row { key: "compile_ns", label: "compile time", value: nanoseconds(compile) },
        Row { key: "run_ns", label: "run time", value: nanoseconds(run) },
    ];
    rows.extend(machine_rows(machine));
    show(&rows, format)
}

/// What a virtual machine counted.
pub fn machine_statistics(machine: &Statistics, format: StatisticsFormat) -> String {
    show(&machine_rows(machine), format)
}

/// A number and what it means.
struct Row {
    /// In JSON; ends in the unit, if it has one.
    key: &'static str,
    /// In text.
    label: &'static str,
    value: u64,
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn machine_rows(machine: &Statistics) -> Vec<Row> {
    let heap = &machine.heap;
    let row = |key, label, value| Row { key, label, value };
    vec![
        row("yieldpoints_taken", "yieldpoints taken", machine.yieldpoints_taken),
        row("ticks", "ticks of the timer", machine.ticks),
        row("threads", "threads", machine.threads),
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
    ]
}

fn show(rows: &[Row], format: StatisticsFormat) -> String {
    let mut text = String::new();
    match format {
        StatisticsFormat::Json => {
            let members: Vec<String> = rows.iter().map(|r| format!("\"{}\": {}", r.key, r.value)).collect();
            text = format!("{{{}}}\n", members.join(", "));
        }
        StatisticsFormat::Text => {
            let width = rows.iter().map(|r| r.label.len()).max().unwrap_or(0);
            for r in rows {
                let value = match r.key.rsplit('_').next() {
                    Some("ns") => format!("{:.3} ms", r.value as f64 / 1e6),
                    Some("bytes") => format!("{:.1} KiB", r.value as f64 / 1024.0),
                    _ => r.value.to_string(),
                };
                let _ = writeln!(text, "{:width$}  {value:>14}", r.label);
            }
        }
    }
    text
}
