//! The result for people: a table of times, and one of counts.

use super::arm::Failure;
use super::results::{Clock, ProgramResult};
use super::rounds::ArmRound;
use super::statistics::{Summary, over_programs};
use crate::against::statistics::{Interval, LogRatio, geometric_mean};

/// The ratios over all programs.
pub struct Overview {
    /// The geometric mean over these programs.
    pub overhead: Option<Interval>,
    /// The same for the second base arm.
    pub again: Option<Interval>,
    /// The first, with the interval for programs like these.
    pub over_programs: Option<Interval>,
}

impl Overview {
    /// Computes them.
    pub fn new(results: &[ProgramResult], clock: Clock) -> Overview {
        let ratios: Vec<_> = (0..)
            .zip(results)
            .filter_map(|(stream, result)| result.ratios(clock, Summary::Turns, stream))
            .collect();
        let overheads: Vec<&LogRatio> = ratios.iter().map(|ratios| &ratios.overhead).collect();
        let agains: Vec<&LogRatio> = ratios.iter().map(|ratios| &ratios.again).collect();
        Overview {
            overhead: geometric_mean(&overheads).map(|mean| mean.interval()),
            again: geometric_mean(&agains).map(|mean| mean.interval()),
            over_programs: over_programs(&overheads),
        }
    }
}

/// The table of times.
pub fn times(results: &[ProgramResult], clock: Clock) -> String {
    let base = match clock {
        Clock::Cpu => "base ms (cpu)",
        Clock::Wall => "base ms (wall)",
    };
    let titles =
        ["program", "size", "rounds", base, "overhead", "[95 %]", "A/A", "[95 %]", "of medians", "of minima"];
    let mut rows = vec![titles.map(str::to_string).to_vec()];
    for (stream, result) in (0..).zip(results) {
        let size = result.size.map_or("-".into(), |size| size.to_string());
        let mut row = vec![result.name.clone(), size, result.rounds.len().to_string()];
        let ratios = |summary| result.ratios(clock, summary, stream);
        match (ratios(Summary::Turns), ratios(Summary::Medians), ratios(Summary::Minima)) {
            (Some(turns), Some(medians), Some(minima)) => {
                row.push(format!("{:.3}", result.base_time(clock).unwrap_or(0.0) / 1e6));
                row.extend(both(turns.overhead.interval()));
                row.extend(both(turns.again.interval()));
                row.extend([medians, minima].map(|ratios| percent(ratios.overhead.interval().value)));
            }
            _ => row.extend(std::iter::repeat_n("-".to_string(), titles.len() - row.len())),
        }
        rows.push(row);
    }
    let overview = Overview::new(results, clock);
    if let (true, Some(overhead), Some(again)) = (results.len() > 1, overview.overhead, overview.again) {
        let mean = |title: &str, overhead, again: Option<Interval>| {
            let mut row: Vec<String> = vec![title.into(), String::new(), String::new(), String::new()];
            row.extend(both(overhead));
            row.extend(again.map_or([String::new(), String::new()], both));
            row
        };
        rows.push(mean("mean", overhead, Some(again)));
        rows.extend(overview.over_programs.map(|over| mean("programs like these", over, None)));
    }
    aligned(&rows)
}

/// What a reader must know about single programs.
pub fn remarks(results: &[ProgramResult]) -> String {
    let mut text = String::new();
    for result in results {
        if let Some(Failure::Failed(reason)) = &result.failure {
            text += &format!("{}: {}\n", result.name, reason.trim_end());
        }
        if result.restless() > 0 {
            text += &format!(
                "{}: in {} rounds something was still compiled while it was measured\n",
                result.name,
                result.restless()
            );
        }
        let compilations = |arm: usize| result.per_round(arm, |arm| arm.compilations);
        if compilations(0) != compilations(1) {
            text += &format!(
                "{}: {:.0} pieces of code were compiled with profiling, {:.0} without\n",
                result.name,
                compilations(1).unwrap_or(0.0),
                compilations(0).unwrap_or(0.0)
            );
        }
    }
    text
}

/// The table of counts, each for an iteration but for those about the code.
pub fn counts(results: &[ProgramResult]) -> String {
    let titles = [
        "program",
        "yieldpoints",
        "taken",
        "additions",
        "executed",
        "path ends",
        "edge counts",
        "path samples",
        "hash operations",
        "probes",
        "code KiB",
        "base",
        "compile ms",
        "base",
    ];
    let mut rows = vec![titles.map(str::to_string).to_vec()];
    for result in results {
        let (Some([profiled, _]), false) = (&result.counts, result.rounds.is_empty()) else { continue };
        let timed = |number: fn(&ArmRound) -> u64| count(result.per_iteration(1, number));
        let code = |arm: usize, number: fn(&ArmRound) -> u64, unit: f64| {
            format!("{:.1}", result.per_round(arm, number).unwrap_or(0.0) / unit)
        };
        let bytes = |arm| code(arm, |arm| arm.code_bytes, 1024.0);
        let time = |arm| code(arm, |arm| arm.compile_time.as_nanos() as u64, 1e6);
        rows.push(vec![
            result.name.clone(),
            count(profiled.yieldpoints_executed),
            timed(|arm| arm.yieldpoints_taken),
            profiled.additions.to_string(),
            count(profiled.additions_executed),
            count(profiled.path_ends),
            count(profiled.edge_counts),
            timed(|arm| arm.path_samples),
            count(profiled.hash_operations),
            count(profiled.hash_probes),
            bytes(1),
            bytes(0),
            time(1),
            time(0),
        ]);
    }
    if rows.len() > 1 { aligned(&rows) } else { String::new() }
}

fn count(number: f64) -> String {
    if number != 0.0 && number < 10.0 { format!("{number:.3}") } else { format!("{number:.0}") }
}

/// How much more than 1, in percent.
fn percent(ratio: f64) -> String {
    format!("{:+.2} %", (ratio - 1.0) * 100.0)
}

fn both(Interval { value, ends }: Interval) -> [String; 2] {
    let part = |ratio: f64| format!("{:+.2}", (ratio - 1.0) * 100.0);
    let ends = ends.map_or("-".into(), |(low, high)| format!("[{}, {}]", part(low), part(high)));
    [percent(value), ends]
}

/// The rows, of which the first has all cells, as a table: the first column to the left, the others to the right.
fn aligned(rows: &[Vec<String>]) -> String {
    let widths: Vec<usize> = (0..rows[0].len())
        .map(|column| {
            rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        let line: Vec<String> = cells.collect();
        format!("{}\n", line.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}
