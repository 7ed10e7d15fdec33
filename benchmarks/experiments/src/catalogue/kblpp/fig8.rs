//! D'Elia and Demetrescu 2013, figure 8: loops with the same counts of edges, of which one alternates.

use super::places::{Mark, Version};
use super::tree::{Counts, counts, percent};
use crate::catalogue::tables::{table, text};
use crate::catalogue::{Experiment, Findings};
use crate::cell::{Cell, RESULT};
use crate::plan::Plan;
use crate::reduce::Reduction;
use crate::report::model::{Cell as TableCell, Unit};
use crate::results::{Results, exactly};
use crate::verdict::Bound;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "kblpp-fig8",
    place: "Section 3.2, figure 8",
    title: "Phased and alternating loops",
    says: &[
        "A loop goes each of two ways in half of its turns: all of one first, or in turns. Edges and paths of one iteration are the same, but what should be unrolled is not: the one way and then the other, or each way by itself. Paths of two iterations tell.",
        "Both are worked as streams of path numbers by the library that compiled code uses, and as the two loops of the probe `oddeven`, which is compiled and run. The pair of turns that would be unrolled is the most frequent one. \
         Code is not unrolled here.",
    ],
    cells: |_| streams().into_iter().map(|(_, cell)| cell).chain([program()]).collect(),
    conclude,
};

/// Turns of a stream.
const TURNS: usize = 200;
/// Shares of a loop's first and last turns: of 4000, less than these points of percent.
const ENDS: f64 = 0.2;
/// Nearer than near is not better.
const NEVER: f64 = -1.0;
const FILE: &str = "probes/oddeven.hol";
const LOOPS: [(&str, Mark); 2] =
    [("alternating", Mark(FILE, "alternating: each turn")), ("phased", Mark(FILE, "phased: each turn"))];

/// The vector: 2 and 0 in turns, and all 2 before all 0.
fn streams() -> [(&'static str, Cell); 2] {
    let stream = |way: fn(usize) -> usize| {
        let numbers: Vec<String> = (0..TURNS).map(|turn| way(turn).to_string()).collect();
        let line = format!("experiment forest --k 2 {} --json", numbers.join(","));
        Cell::counting(Reduction::Numbers, &[&line], 0.02)
    };
    let alternating = stream(|turn| 2 - turn % 2 * 2);
    [("alternating", alternating), ("phased", stream(|turn| if turn < TURNS / 2 { 2 } else { 0 }))]
}

fn program() -> Cell {
    let line = format!(
        "bench oddeven --size 20 --iterations 1 --tier o2 --timer virtual:1000000 --profile kblpp:k=4 --profile-out {RESULT}"
    );
    Cell::counting(Reduction::Sequences, &[&line], 0.3)
}

/// Two ways, and how often they and their pairs were gone, with the sequences of a loop.
struct Loop {
    ways: [u64; 2],
    counts: Counts,
}

impl Loop {
    /// Shares in percent of all turns: of each way; of pairs of a way with itself; and with the other.
    fn shares(&self) -> [f64; 4] {
        let [one, other] = self.ways;
        let count = |path: &[u64]| self.counts.get(path).copied().unwrap_or(0) as f64;
        let all = count(&[one]) + count(&[other]);
        let pairs = [[one, one], [other, other], [one, other], [other, one]].map(|pair| count(&pair));
        let whole: f64 = pairs.iter().sum();
        let share = |part: f64, of: f64| if of > 0.0 { part * 100.0 / of } else { 0.0 };
        [
            share(count(&[one]), all),
            share(count(&[other]), all),
            share(pairs[0] + pairs[1], whole),
            share(pairs[2] + pairs[3], whole),
        ]
    }
}

fn of_stream(results: &Results<'_>, cell: &Cell) -> Option<Loop> {
    Some(Loop { ways: [2, 0], counts: counts(results.outcome(cell)?, "sequences")? })
}

fn of_program(results: &Results<'_>, mark: Mark) -> Option<Loop> {
    let versions = Version::all(results.outcome(&program())?).into_iter().filter_map(|version| {
        let turns: Vec<u64> =
            version.paths().into_iter().filter(|&path| version.turns_by(path, mark)).collect();
        let ways = [*turns.first()?, *turns.get(1)?];
        Some(Loop { ways, counts: version.counts })
    });
    versions.max_by_key(|of| {
        of.ways.map(|way| of.counts.get(&[way][..]).copied().unwrap_or(0)).iter().sum::<u64>()
    })
}

fn conclude(_: &Plan, results: &Results<'_>, found: &mut Findings) {
    let streams = streams().map(|(name, cell)| (name, of_stream(results, &cell)));
    let programs = LOOPS.map(|(name, mark)| (name, of_program(results, mark)));
    let exact = |of: &Option<Loop>, pairs: [([u64; 2], u64); 4]| {
        of.as_ref().map(|of| {
            let count = |path: &[u64]| of.counts.get(path).copied().unwrap_or(0);
            let half = TURNS as u64 / 2;
            [[2], [0]].iter().all(|way| count(way) == half)
                && pairs.iter().all(|(pair, right)| count(pair) == *right)
        })
    };
    let half = TURNS as u64 / 2;
    let in_turns = [([2, 0], half), ([0, 2], half - 1), ([2, 2], 0), ([0, 0], 0)];
    let in_phases = [([2, 0], 1), ([0, 2], 0), ([2, 2], half - 1), ([0, 0], half - 1)];
    let right = exact(&streams[0].1, in_turns).zip(exact(&streams[1].1, in_phases));
    found.checks.shape(
        "counts of both streams",
        "⟨2⟩ and ⟨0⟩ as often in both; ⟨2, 0⟩ and ⟨0, 2⟩ in the one, ⟨2, 2⟩ and ⟨0, 0⟩ in the other",
        "exactly",
        right.map(|right| right == (true, true)),
        right.map_or("not measured".into(), |right| match right {
            (true, true) => "all as they must be".into(),
            _ => "different".into(),
        }),
    );
    let [alternating, phased] = programs.each_ref().map(|(_, of)| of.as_ref().map(Loop::shares));
    let both = alternating.zip(phased);
    found.checks.number(
        "how far shares of paths of one iteration are apart in the two loops of the program",
        "the same",
        Bound::at_most(ENDS).stretch(NEVER),
        both.map(|(a, b)| exactly((a[0] - b[0]).abs().max((a[1] - b[1]).abs()), Unit::Percent)),
    );
    found.checks.shape(
        "pairs of iterations",
        "in turns: always the other way next; by phases: always the same, but once",
        "all but the ends of loops",
        both.map(|(a, b)| a[3] >= 100.0 - ENDS && b[2] >= 100.0 - ENDS),
        both.map_or("not measured".into(), |(a, b)| {
            format!("the other way {:.2} % in turns, the same {:.2} % by phases", a[3], b[2])
        }),
    );
    let unrolled = |of: &Option<Loop>| {
        let of = of.as_ref()?;
        let [one, other] = of.ways;
        let most = [[one, one], [other, other], [one, other], [other, one]]
            .into_iter()
            .max_by_key(|pair| of.counts.get(&pair[..]).copied().unwrap_or(0))?;
        Some((most[0] != most[1], percent(&of.counts, &most, &most[..1])))
    };
    let choices = unrolled(&programs[0].1).zip(unrolled(&programs[1].1));
    found.checks.shape(
        "what is unrolled",
        "both ways, one after the other; a way by itself",
        "the same",
        choices.map(|(alternating, phased)| alternating.0 && !phased.0),
        choices.map_or("not measured".into(), |(alternating, phased)| {
            let said = |mixed: bool| if mixed { "one way and the other" } else { "one way twice" };
            format!(
                "in turns: {}, {:.1} % of its first; by phases: {}, {:.1} %",
                said(alternating.0),
                alternating.1,
                said(phased.0),
                phased.1
            )
        }),
    );
    let entries = [("stream", &streams), ("program", &programs)];
    let rows = entries.iter().flat_map(|(kind, loops)| {
        loops.iter().filter_map(move |(name, of)| {
            let shares = of.as_ref()?.shares().map(|share| TableCell::Number(exactly(share, Unit::Percent)));
            Some([text(&format!("{name}, {kind}"))].into_iter().chain(shares).collect())
        })
    });
    let rows: Vec<Vec<TableCell>> = rows.collect();
    if rows.is_empty() {
        return;
    }
    let columns = ["", "one way", "other way", "pairs of the same way", "pairs of different ways"];
    found.figures.push(table(
        "shares",
        "Paths of one iteration and of two",
        "Of all turns, and of all pairs of turns.",
        &columns,
        rows,
    ));
}
