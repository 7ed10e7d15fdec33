//! The comparison as a table for people, and what they must know to read it.

use crate::against::ratios::Ratios;
use crate::against::rounds::{Arm, Compared, Phase, Plan};
use crate::against::statistics::Interval;

/// What stands in a cell without a number.
const NOTHING: &str = "-";
const FAILED: &str = "FAILED";

/// A peer as the reader is told of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PeerName {
    /// Its name.
    pub name: String,
    /// What it says about its version.
    pub version: String,
}

/// The table, with explanations and reasons of failures below. With `color`, failures are red.
pub fn show(compared: &[Compared], ratios: &Ratios, peers: &[PeerName], plan: Plan, color: bool) -> String {
    let mut titles = ["program", "size", "ours ms", "A/A"].map(str::to_string).to_vec();
    for PeerName { name, .. } in peers {
        titles.extend([format!("{name} ms"), format!("ours/{name}")]);
    }
    let mut rows = vec![titles];
    for (program, numbers) in compared.iter().zip(&ratios.programs) {
        let failed = |arm: &Arm| arm.failure.is_some();
        let empty = |failed: bool| if failed { FAILED } else { NOTHING }.to_string();
        let ours = program.ours.iter().any(failed);
        let mut row = vec![program.program.name.to_string(), program.size.to_string()];
        row.push(numbers.ours.map_or_else(|| empty(ours), milliseconds));
        row.push(numbers.own.as_ref().map_or(NOTHING.to_string(), |own| interval(own.interval())));
        for (arm, numbers) in program.peers.iter().zip(&numbers.peers) {
            row.push(numbers.as_ref().map_or_else(|| empty(failed(arm)), |(time, _)| milliseconds(*time)));
            row.push(numbers.as_ref().map_or(NOTHING.to_string(), |(_, ratio)| interval(ratio.interval())));
        }
        rows.push(row);
    }
    let mut means = ["geometric mean", "", ""].map(str::to_string).to_vec();
    means.push(ratios.own.map_or(NOTHING.to_string(), interval));
    for mean in &ratios.peers {
        means.extend([String::new(), mean.map_or(NOTHING.to_string(), |(mean, _)| interval(mean))]);
    }
    rows.push(means);
    let mut text = aligned(&rows);
    if color {
        text = text.replace(FAILED, "\x1b[1;31mFAILED\x1b[0m");
    }
    text + &explanation(compared, ratios, peers, plan) + &failures(compared, peers)
}

fn explanation(compared: &[Compared], ratios: &Ratios, peers: &[PeerName], plan: Plan) -> String {
    let what = match plan.phase {
        Phase::First => "the first iteration of a fresh process",
        Phase::Steady(_) => "the median of the last half of a process's iterations",
    };
    let rounds = plan.rounds;
    let mut text =
        format!("\nTimes are {what}, over {rounds} {}; ", if rounds == 1 { "round" } else { "rounds" });
    text += "ratios below 1: ours is faster. ";
    text += match rounds {
        1 => "One round has no interval: its ratios may be chance.\n",
        _ => "In brackets: 95 % intervals.\n",
    };
    if let Some((low, high)) = ratios.band() {
        let (low, high) = (ratio(low), ratio(high));
        text += &format!(
            "A/A is ours against itself, from {low} to {high} here: differences of that size are noise.\n"
        );
    }
    for (peer, mean) in peers.iter().zip(&ratios.peers) {
        let programs = mean.map_or(0, |(_, programs)| programs);
        text += &format!("{}: {}", peer.name, peer.version);
        if programs < compared.len() {
            text += &format!(" (mean of {programs} of {} programs)", compared.len());
        }
        text += "\n";
    }
    text
}

fn failures(compared: &[Compared], peers: &[PeerName]) -> String {
    let mut text = String::new();
    for program in compared {
        let names = ["ours", "ours"].into_iter().chain(peers.iter().map(|peer| &*peer.name));
        let arms = program.ours.iter().chain(&program.peers);
        let mut reasons: Vec<String> = names
            .zip(arms)
            .filter_map(|(name, arm)| {
                let reason = arm.failure.as_ref()?;
                Some(format!("{}, {name}: {}\n", program.program.name, reason.trim_end()))
            })
            .collect();
        // Our two arms mostly fail for the same reason.
        reasons.dedup();
        text += &reasons.concat();
    }
    text
}

fn milliseconds(nanoseconds: f64) -> String {
    let milliseconds = nanoseconds / 1e6;
    let decimals = match milliseconds {
        m if m < 10.0 => 3,
        m if m < 100.0 => 2,
        m if m < 1000.0 => 1,
        _ => 0,
    };
    format!("{milliseconds:.decimals$}")
}

/// A ratio with three digits that count, more or less.
fn ratio(ratio: f64) -> String {
    let decimals = match ratio {
        r if r < 0.1 => 3,
        r if r < 10.0 => 2,
        r if r < 100.0 => 1,
        _ => 0,
    };
    format!("{ratio:.decimals$}")
}

fn interval(interval: Interval) -> String {
    let value = ratio(interval.value);
    match interval.ends {
        Some((low, high)) => format!("{value} [{}, {}]", ratio(low), ratio(high)),
        None => value,
    }
}

/// Columns of equal width; the first to the left, the others, which are numbers, to the right.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(String::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        let line: Vec<String> = cells.collect();
        text += line.join("  ").trim_end();
        text += "\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::against::ratios::tests::two_programs;

    #[test]
    fn the_table_says_who_is_faster_and_who_failed() {
        let mut compared = two_programs();
        compared[1].ours[1].rounds[0][0] = 3_000_000;
        let peer = |name: &str| PeerName { name: name.to_string(), version: format!("{name} 1.0") };
        let peers = [peer("a"), peer("b")];
        let plan = Plan { rounds: 2, phase: Phase::First };
        let shown = show(&compared, &Ratios::new(&compared, 2), &peers, plan, false);
        let expected = "\
program         size  ours ms                A/A   a ms             ours/a    b ms  ours/b
bounce          1500    2.000  1.00 [1.00, 1.00]  1.000  2.00 [2.00, 2.00]  FAILED       -
cd               100    3.000               1.00  6.000               0.50   6.000    0.50
geometric mean                              1.00                      1.00            0.50

Times are the first iteration of a fresh process, over 2 rounds; ratios below 1: ours is faster. In brackets: 95 % intervals.
A/A is ours against itself, from 1.00 to 1.00 here: differences of that size are noise.
a: a 1.0
b: b 1.0 (mean of 1 of 2 programs)
bounce, b: wrong result
";
        assert_eq!(shown, expected);
        assert!(
            show(&compared, &Ratios::new(&compared, 2), &peers, plan, true)
                .contains("\x1b[1;31mFAILED\x1b[0m")
        );
    }

    #[test]
    fn numbers_have_about_three_digits() {
        let shown: Vec<String> =
            [1_234.0, 9_999_000.0, 12_345_678.0, 123_456_789.0, 1.2e9].map(milliseconds).into();
        assert_eq!(shown, ["0.001", "9.999", "12.35", "123.5", "1200"]);
        let shown: Vec<String> = [0.01234, 0.5, 1.005, 12.34, 123.4].map(ratio).into();
        assert_eq!(shown, ["0.012", "0.50", "1.00", "12.3", "123"]);
    }
}
