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
            .filter_map(|(stream, result)| result.ratios(clock, result.summary, stream))
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
    let titles = [
        "program",
        "size",
        "rounds",
        base,
        "overhead",
        "[95 %]",
        "A/A",
        "[95 %]",
        "of medians",
        "of minima",
        "of sums",
    ];
    let mut rows = vec![titles.map(str::to_string).to_vec()];
    for (stream, result) in (0..).zip(results) {
        let size = result.size.map_or("-".into(), |size| size.to_string());
        let mut row = vec![result.name.clone(), size, result.rounds.len().to_string()];
        let ratios = |summary| result.ratios(clock, summary, stream);
        match ratios(result.summary) {
            Some(decides) => {
                row.push(format!("{:.3}", result.base_time(clock).unwrap_or(0.0) / 1e6));
                row.extend(both(decides.overhead.interval()));
                row.extend(both(decides.again.interval()));
                let others =
                    [Summary::Medians, Summary::Minima, Summary::Sums].into_iter().filter_map(ratios);
                row.extend(others.map(|ratios| percent(ratios.overhead.interval().value)));
            }
            None => row.extend(std::iter::repeat_n("-".to_string(), titles.len() - row.len())),
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

/// The titles of the table of counts.
const COUNTS: [&str; 17] = [
    "program",
    "yieldpoints",
    "taken",
    "additions",
    "executed",
    "path ends",
    "edge counts",
    "path samples",
    "call samples",
    "call skips",
    "heard",
    "hash operations",
    "probes",
    "code KiB",
    "base",
    "compile ms",
    "base",
];

/// The table of counts, each for an iteration but for those about the code: the profiled configuration's, and where a column says
/// so, the base's. Columns of nothing but zeros are left out.
pub fn counts(results: &[ProgramResult]) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for result in results {
        let (Some([profiled, _]), false) = (&result.counts, result.rounds.is_empty()) else { continue };
        let timed = |number: fn(&ArmRound) -> u64| {
            let number = result.per_iteration(1, number);
            if number == 0.0 { "0".to_string() } else { format!("{number:.3}") }
        };
        let code = |arm: usize, number: fn(&ArmRound) -> u64, unit: f64| {
            format!("{:.1}", result.per_round(arm, number).unwrap_or(0.0) / unit)
        };
        let bytes = |arm| code(arm, |arm| arm.code_bytes, 1024.0);
        let time = |arm| code(arm, |arm| arm.compile_time.as_nanos() as u64, 1e6);
        rows.push(vec![
            result.name.clone(),
            profiled.yieldpoints_executed.to_string(),
            timed(|arm| arm.yieldpoints_taken),
            profiled.additions.to_string(),
            profiled.additions_executed.to_string(),
            profiled.path_ends.to_string(),
            profiled.edge_counts.to_string(),
            timed(|arm| arm.looks.path_samples),
            timed(|arm| arm.looks.call_samples),
            timed(|arm| arm.looks.call_skips),
            timed(|arm| arm.looks.heard),
            profiled.hash_operations.to_string(),
            profiled.hash_probes.to_string(),
            bytes(1),
            bytes(0),
            time(1),
            time(0),
        ]);
    }
    if rows.is_empty() {
        return String::new();
    }
    rows.insert(0, COUNTS.map(str::to_string).to_vec());
    let says_something = |column: usize| rows[1..].iter().any(|row| row[column] != "0");
    let shown: Vec<usize> = (0..COUNTS.len()).filter(|&column| says_something(column)).collect();
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| shown.iter().map(|&column| row[column].clone()).collect()).collect();
    aligned(&rows)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overhead::counts::Counts;
    use crate::overhead::rounds::Round;

    fn result(name: &str, profiled: u64) -> ProgramResult {
        let arm = |time: u64| ArmRound {
            cpu: vec![time; 3],
            wall: vec![2 * time; 3],
            ticked: vec![false; 3],
            yieldpoints_taken: 6,
            code_bytes: 2048,
            compilations: 1,
            ..ArmRound::default()
        };
        let arms = [arm(10_000_000), arm(profiled), arm(10_000_000)];
        let round = Round { arms, warm_up: 4, restless: false };
        let counts = Counts { yieldpoints_executed: 77, additions: 3, ..Counts::default() };
        ProgramResult {
            name: name.into(),
            size: Some(5),
            iterations: 2.0,
            summary: Summary::Turns,
            rounds: vec![round.clone(), round],
            counts: Some([counts, Counts::default()]),
            failure: None,
        }
    }

    #[test]
    fn wrong_results_have_no_times() {
        let failed = ProgramResult {
            rounds: Vec::new(),
            size: None,
            failure: Some(Failure::Failed("wrong result".into())),
            ..result("mine.hol", 1)
        };
        let results = [result("cd", 10_100_000), result("json", 10_300_000), failed];
        let expected = "\
program              size  rounds  base ms (cpu)  overhead           [95 %]      A/A          [95 %]  of medians  of minima  of sums
cd                      5       2          5.000   +1.00 %   [+1.00, +1.00]  +0.00 %  [+0.00, +0.00]     +1.00 %    +1.00 %  +1.00 %
json                    5       2          5.000   +3.00 %   [+3.00, +3.00]  +0.00 %  [+0.00, +0.00]     +3.00 %    +3.00 %  +3.00 %
mine.hol                -       0              -         -                -        -               -           -          -        -
mean                                              +2.00 %  [+2.00, +2.00]  +0.00 %  [+0.00, +0.00]
programs like these                               +2.00 %
";
        let shown = times(&results, Clock::Cpu);
        let firsts = |text: &str| text.lines().take(4).map(str::to_string).collect::<Vec<_>>();
        assert_eq!(firsts(&shown), firsts(expected));
        assert!(
            shown.lines().nth(4).is_some_and(|line| line.starts_with("mean") && line.contains("+2.00 %"))
        );
        assert!(shown.lines().nth(5).is_some_and(|line| line.starts_with("programs like these")), "{shown}");
        assert_eq!(remarks(&results), "mine.hol: wrong result\n");
    }

    #[test]
    fn columns_of_zeros_are_left_out() {
        let expected = "\
program  yieldpoints  taken  additions  code KiB  base  compile ms  base
cd                77  1.000          3       2.0   2.0         0.0   0.0
";
        assert_eq!(counts(&[result("cd", 10_100_000)]), expected);
        assert_eq!(counts(&[]), "");
    }

    #[test]
    fn what_makes_times_doubtful_is_said() {
        let mut doubtful = result("cd", 1);
        doubtful.rounds[0].restless = true;
        doubtful.rounds.iter_mut().for_each(|round| round.arms[1].compilations = 2);
        let text = remarks(&[doubtful]);
        assert!(text.contains("cd: in 1 rounds") && text.contains("2 pieces of code"), "{text}");
    }
}
