//! Measurements as a table for people.

use crate::measure::{Ending, Measurement};
use crate::summary::summarize;

/// The columns: title, and whether its cells are numbers, which stand to the right.
const COLUMNS: &[(&str, bool)] = &[
    ("program", false),
    ("size", true),
    ("iterations", true),
    ("median ms", true),
    ("min ms", true),
    ("spread", true),
    ("result", false),
];

/// The time of every iteration in milliseconds, a line for each program.
pub fn samples(measurements: &[Measurement]) -> String {
    let measured = measurements.iter().filter(|m| !m.samples.is_empty());
    let line = |m: &Measurement| {
        let times: Vec<String> = m.samples.iter().map(|&ns| format!("{:.3}", ns as f64 / 1e6)).collect();
        format!("{} {} ms: {}\n", m.benchmark.name, m.size, times.join(" "))
    };
    measured.map(line).collect()
}

/// The table. Reasons of failures follow it, one a line. With `color`, failures are red.
pub fn show(measurements: &[Measurement], color: bool) -> String {
    let rows: Vec<Vec<String>> = measurements.iter().map(cells).collect();
    let widths: Vec<usize> = COLUMNS
        .iter()
        .enumerate()
        .map(|(i, (title, _))| rows.iter().map(|row| row[i].len()).max().unwrap_or(0).max(title.len()))
        .collect();
    let titles: Vec<String> = COLUMNS.iter().map(|(title, _)| title.to_string()).collect();
    let mut text = line(&titles, &widths);
    for (row, measurement) in rows.iter().zip(measurements) {
        let shown = line(row, &widths);
        text += &match measurement.ending {
            Ending::Failed(_) if color => shown.replace("FAILED", "\x1b[1;31mFAILED\x1b[0m"),
            _ => shown,
        };
    }
    for measurement in measurements {
        if let Ending::Failed(reason) = &measurement.ending {
            text += &format!("{}: {}\n", measurement.benchmark.name, reason.trim_end());
        }
    }
    text
}

fn cells(measurement: &Measurement) -> Vec<String> {
    let milliseconds = |nanoseconds: f64| format!("{:.3}", nanoseconds / 1e6);
    let [median, minimum, spread] = match summarize(&measurement.samples) {
        Some(s) => {
            [milliseconds(s.median), milliseconds(s.minimum as f64), format!("{:.1} %", s.spread * 100.0)]
        }
        None => std::array::from_fn(|_| "-".to_string()),
    };
    let (done, result) = match measurement.ending {
        Ending::Verified => (measurement.iterations.to_string(), "verified"),
        Ending::Failed(_) => ("-".to_string(), "FAILED"),
        Ending::Interrupted => {
            (format!("{} of {}", measurement.samples.len(), measurement.iterations), "interrupted")
        }
    };
    let name = measurement.benchmark.name.to_string();
    vec![name, measurement.size.to_string(), done, median, minimum, spread, result.to_string()]
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let padded = cells.iter().zip(widths).zip(COLUMNS).map(|((cell, width), (_, number))| match number {
        true => format!("{cell:>width$}"),
        false => format!("{cell:<width$}"),
    });
    let line: Vec<String> = padded.collect();
    format!("{}\n", line.join("  ").trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::find;

    #[test]
    fn wrong_results_have_no_times() {
        let sieve = find("sieve").expect("registered");
        let verified = Measurement {
            samples: vec![1_500_000, 2_500_000],
            ending: Ending::Verified,
            ..Measurement::failed(sieve, 10, 2, String::new())
        };
        let failed = Measurement::failed(find("cd").expect("registered"), 3, 2, "ValueError: no".to_string());
        let interrupted = Measurement {
            samples: vec![1_000_000],
            ending: Ending::Interrupted,
            ..Measurement::failed(sieve, 10, 2, String::new())
        };
        let expected = "\
program  size  iterations  median ms  min ms  spread  result
sieve      10           2      2.000   1.500  25.0 %  verified
cd          3           -          -       -       -  FAILED
sieve      10      1 of 2      1.000   1.000   0.0 %  interrupted
cd: ValueError: no
";
        assert_eq!(show(&[verified, failed, interrupted], false), expected);
    }
}
