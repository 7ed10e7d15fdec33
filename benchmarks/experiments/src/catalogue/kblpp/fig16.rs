//! D'Elia and Demetrescu 2013, figure 16: counters of the hardware.

use super::forest;
use crate::catalogue::tables::{table, text};
use crate::catalogue::{Experiment, Findings};
use crate::cell::Cell;
use crate::plan::Plan;
use crate::reduce::Reduction;
use crate::report::model::{Axis, Cell as TableCell, Chart, Figure, Line, Unit};
use crate::results::{Results, exactly};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "kblpp-fig16",
    place: "Section 6, figure 16",
    title: "Memory that the forest touches",
    says: &[
        "Four programs of the paper became slower with larger k: compress, monte_carlo, heapsort and md. Counters of the hardware show more cycles per instruction and more misses in both caches there; nodes of the forest are scattered in memory.",
        "Few machines let us read such counters, so they are simulated: a program's paths are recorded, and every access to nodes and roots goes through caches of 32 KiB and 1 MiB with eight ways. Once nodes are objects among others, walked as in the paper; once they lie in arrays and are walked as the profiler here does. \
         A test holds the model to the nodes, searches and steps of the real forest. `lzw`, `heapsort` and `moldyn` stand for compress, heapsort and md, and in full mode `montecarlo` for monte_carlo. The caches are the profiler's alone, so misses are more than a program would see.",
        "Lines that follow each other come into the large cache before they are asked for, as processors bring them: a new node in an array is no miss then, and one among other objects is. What is left where \
         directions are random, as in `moldyn` and `montecarlo`, is that the walk comes back to any of the nodes, which are more than the cache has room for. Arrays make misses fewer, but cannot make them stay as they are with small k.",
    ],
    cells: |plan| programs(plan).into_iter().map(|program| cell(plan, program)).collect(),
    conclude,
};

struct Program {
    name: &'static str,
    size: u32,
    /// Does the paper's program of this kind become slower with k.
    is_outlier: bool,
    seconds: f64,
}

const PROGRAMS: [Program; 9] = [
    Program { name: "heapsort", size: 10_000, is_outlier: true, seconds: 1.0 },
    Program { name: "moldyn", size: 4, is_outlier: true, seconds: 6.0 },
    Program { name: "lzw", size: 2, is_outlier: true, seconds: 1.5 },
    Program { name: "montecarlo", size: 100, is_outlier: true, seconds: 2.0 },
    Program { name: "richards", size: 1, is_outlier: false, seconds: 0.7 },
    Program { name: "json", size: 1, is_outlier: false, seconds: 0.5 },
    Program { name: "sieve", size: 50, is_outlier: false, seconds: 1.3 },
    Program { name: "queens", size: 20, is_outlier: false, seconds: 0.6 },
    Program { name: "mandelbrot", size: 100, is_outlier: false, seconds: 0.8 },
];

/// Those that are measured.
fn programs(plan: &Plan) -> Vec<&'static Program> {
    PROGRAMS.iter().filter(|program| plan.pick(program.name != "montecarlo", true)).collect()
}

/// Yieldpoints after which a program is ended.
const FUEL: u32 = 700_000;
/// Misses in the large cache, for each path, by which the largest k may be above the smallest without being called a rise.
const RISE: f64 = 0.1;
/// Misses of the large cache that nobody foresaw.
const MISSES: &str = "unforeseen_misses";

fn cell(plan: &Plan, program: &Program) -> Cell {
    let ks: Vec<String> = forest::ks(plan).iter().map(u32::to_string).collect();
    let Program { name, size, seconds, .. } = program;
    let line =
        format!("experiment nodes {name} --size {size} --tier o2 --fuel {FUEL} --k {} --json", ks.join(","));
    Cell::counting(Reduction::Numbers, &[&line], *seconds)
}

/// A number for each path of a program, by k.
fn line(plan: &Plan, results: &Results<'_>, program: &Program, layout: &str, what: &str) -> Option<Line> {
    let point = |k: u32| {
        let number = |what: &str| results.number(&cell(plan, program), &format!("{layout}.{k}.{what}"));
        Some((f64::from(k), number(what)? / number("paths")?))
    };
    let points: Option<Vec<(f64, f64)>> = forest::ks(plan).into_iter().map(point).collect();
    Some(Line { name: program.name.into(), is_paper: false, points: points? })
}

/// How much more with the largest k than with the smallest.
fn rise(line: &Line) -> f64 {
    line.points.last().map_or(0.0, |last| last.1 - line.points[0].1)
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let lines = |layout: &str, what: &str| -> Option<Vec<Line>> {
        programs(plan).into_iter().map(|program| line(plan, results, program, layout, what)).collect()
    };
    let (linked, arena) = (lines("linked", MISSES), lines("arena", MISSES));
    let of = |lines: &Option<Vec<Line>>, outliers: bool| {
        lines.as_ref().map(|lines| {
            let chosen =
                lines.iter().zip(programs(plan)).filter(|(_, program)| program.is_outlier == outliers);
            chosen.map(|(line, _)| rise(line)).collect::<Vec<f64>>()
        })
    };
    let least = |of: &[f64]| of.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |of: &[f64]| of.iter().copied().fold(0.0, f64::max);
    let both = of(&linked, true).zip(of(&linked, false));
    found.checks.shape(
        "misses rise with k where the paper's programs become slower, nodes being objects",
        "four outliers have more misses in both caches",
        "in the large cache by more than a tenth of a miss for each path, and by more than in any other program",
        both.as_ref().map(|(outliers, others)| least(outliers) > RISE && least(outliers) > most(others)),
        both.as_ref().map_or("not measured".into(), |(outliers, others)| {
            format!("at least {:.3} of the large cache for each path; others at most {:.3}", least(outliers), most(others))
        }),
    );
    let ours = of(&arena, true);
    found.checks.shape(
        "nodes lying in arrays, they do not",
        "not done: no effort was made to improve locality",
        "by no more than a tenth of a miss for each path",
        ours.as_ref().map(|ours| most(ours) <= RISE),
        ours.as_ref()
            .map_or("not measured".into(), |ours| format!("by {:.3} to {:.3}", least(ours), most(ours))),
    );
    let relative = both.zip(ours).map(|((linked, _), ours)| {
        ours.iter().zip(linked).map(|(ours, linked)| ours / linked).fold(0.0, f64::max)
    });
    found.checks.told(
        "the rise in arrays, of that with objects, the worst of these programs",
        "not said",
        relative.map(|relative| exactly(relative, Unit::Ratio)),
    );
    let figures = [
        ("small", "small_misses", "Misses of 32 KiB for each path"),
        ("large", MISSES, "Misses of 1 MiB for each path"),
        (
            "asked",
            "large_misses",
            "Misses of 1 MiB for each path, of lines that come only when they are asked for",
        ),
        ("bytes", "bytes", "Bytes touched for each path"),
    ];
    for (id, what, title) in figures {
        for (layout, how) in [("linked", "objects"), ("arena", "arrays")] {
            let Some(lines) = lines(layout, what) else { continue };
            let axis = |title: &str| Axis { title: title.into(), unit: Unit::Count, log: false };
            found.figures.push(Figure {
                id: format!("{id}-{layout}"),
                title: format!("{title}: {how}"),
                caption:
                    "heapsort, moldyn, lzw and montecarlo are of the kind that becomes slower in the paper."
                        .into(),
                chart: Chart::Lines { x: axis("k"), y: axis("for each path"), lines },
            });
        }
    }
    let rows: Vec<Vec<TableCell>> =
        programs(plan).into_iter().filter_map(|program| row(plan, results, program)).collect();
    if !rows.is_empty() {
        let columns = ["", "nodes", "lines, objects", "lines, arrays", "bytes, objects", "bytes, arrays"];
        found.figures.push(table(
            "lines",
            "Different lines of 64 bytes, and bytes touched, with the largest k",
            "All together; the nodes are the same.",
            &columns,
            rows,
        ));
    }
}

fn row(plan: &Plan, results: &Results<'_>, program: &Program) -> Option<Vec<TableCell>> {
    let k = forest::ks(plan).into_iter().max()?;
    let number = |name: &str, unit: Unit| {
        let number = results.number(&cell(plan, program), &name.replace('K', &k.to_string()))?;
        Some(TableCell::Number(exactly(number, unit)))
    };
    Some(vec![
        text(program.name),
        number("arena.K.nodes", Unit::Count)?,
        number("linked.K.lines", Unit::Count)?,
        number("arena.K.lines", Unit::Count)?,
        number("linked.K.bytes", Unit::Bytes)?,
        number("arena.K.bytes", Unit::Bytes)?,
    ])
}
