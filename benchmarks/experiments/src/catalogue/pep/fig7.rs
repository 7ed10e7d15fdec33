//! Bond and McKinley 2005, figure 7: overhead of compilation and execution together.

use super::fig6;
use crate::catalogue::overheads::{Costs, bars, categories, paper_mean, series};
use crate::catalogue::{Experiment, Findings};
use crate::cell::Cell;
use crate::papers;
use crate::plan::Plan;
use crate::reduce::Reduction;
use crate::report::model::{self, Axis, Chart, Figure, Line, Measured, Unit};
use crate::results::{Results, exactly, mean, median};
use crate::verdict::{Bound, shown};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "pep-fig7",
    place: "Figure 7",
    title: "Overhead of PEP with compilation",
    says: &[
        "The first iteration under replay compiles and executes. In the paper PEP(64,17) costs 1.6 % of it on average and 4.6 % at most, with runs of 11 seconds in the middle; \
         jack, which runs for 4 seconds, costs 3.5 %. The compiler builds the graph of paths, numbers it and inserts code in three quick passes.",
        "Here a replay compiles everything before the program begins, so that the time of a first iteration is the sum of two things that are measured one by one: \
         the processor time of all compilations, with and without PEP, in machines that do little else, and that of execution, in the machines of figure 6. From these follows the overhead of a run of any length; the number that is compared is that \
         of the paper's median run of 550 ticks, 11 seconds. These programs are much smaller than the paper's, so compilation is less of such a run; the second figure shows shorter runs.",
        "That compilation grows by at most 5 % is what the catalogue asks for; the paper gives no number. More than half of what it grows by is that more code goes through the back end, \
         most of the rest are PEP's passes, which are timed one by one: the graph of paths (P-DAG), its numbers, and the code that is put in. The time of each for an edge of the graph says whether it is linear. \
         Compilation is synchronous here: the program waits for it. Its time is processor time of the thread that compiles, which is what compiling beside the program takes of another processor.",
    ],
    cells: |plan| {
        let (pep, programs) = (fig6::sampling(64, 17), programs(plan));
        let both = |name| [pep.cell(plan, name), pep.compiling(plan, name)];
        let both = programs.into_iter().flat_map(both);
        both.chain(steps(plan).into_iter().flat_map(|name| [passes(name, false), passes(name, true)]))
            .collect()
    },
    conclude,
};

/// Those of figure 6, large ones among them.
fn programs(plan: &Plan) -> Vec<&'static str> {
    fig6::programs(plan).into_iter().chain(fig6::large(plan)).collect()
}

/// Seconds of the paper's median run, of jack, and of shorter ones.
const LENGTHS: [f64; 7] = [11.0, 4.0, 2.0, 1.0, 0.5, 0.2, 0.1];

/// Programs whose compilation is looked at step by step: small and large.
fn steps(plan: &Plan) -> Vec<&'static str> {
    plan.programs(
        &["list", "richards", "raytracer", "json", "cd", "deltablue"],
        &[
            "list",
            "richards",
            "storage",
            "queens",
            "raytracer",
            "json",
            "cd",
            "deltablue",
            "rules",
            "havlak",
            "compiler",
        ],
    )
}

/// What each step of compiling the same methods takes.
fn passes(program: &str, with_pep: bool) -> Cell {
    let learn = format!("bench {program} --iterations 1 --sync-compile --advice-out @advice.json");
    let profile = if with_pep { format!(" --profile {}", super::pep(64, 17)) } else { String::new() };
    let replay =
        format!("bench {program} --size quick --iterations 1 --replay @advice.json{profile} --stats=json");
    let seconds = match program {
        "compiler" => 1.8,
        "havlak" | "rules" => 1.0,
        _ => 0.4,
    };
    Cell::timed(Reduction::Statistics, &[&learn, &replay], seconds)
}

/// What a program's machines took: seconds of compiling without PEP, of both machines that do, and with it.
fn compiling(plan: &Plan, results: &Results<'_>, program: &str) -> Option<[f64; 2]> {
    let cell = fig6::sampling(64, 17).compiling(plan, program);
    let of = |arm: &str| results.number(&cell, &format!("{arm}.compile_ns")).map(|time| time / 1e9);
    Some([(of("base")? + of("again")?) / 2.0, of("profiled")?]).filter(|of| of[0] > 0.0)
}

/// The overhead, in percent, of a run that executes for so long and compiles before.
fn together(execution: f64, [base, profiled]: [f64; 2], seconds: f64) -> f64 {
    let with = seconds * (1.0 + execution / 100.0) + profiled;
    (with / (seconds + base) - 1.0) * 100.0
}

/// The overheads of each program, and the mean, for a run of this length.
fn of_length(
    costs: &Costs,
    compiled: &[(String, [f64; 2])],
    seconds: f64,
) -> Option<(Vec<Measured>, Measured)> {
    costs.mean?;
    let with = |measured: &Measured, times: [f64; 2]| {
        let of = |value: f64| together(value, times, seconds);
        Measured {
            value: of(measured.value),
            interval: measured.interval.map(|(low, high)| (of(low), of(high))),
            ..*measured
        }
    };
    let each = costs.each.iter().map(|(name, measured)| {
        let times = compiled.iter().find(|of| of.0 == *name)?.1;
        Some(with(measured, times))
    });
    let each: Vec<Measured> = each.collect::<Option<_>>()?;
    let total = |pick: fn(&[f64; 2]) -> f64| mean(&compiled.iter().map(|of| pick(&of.1)).collect::<Vec<_>>());
    let times = [total(|of| of[0])?, total(|of| of[1])?];
    Some((each, with(&costs.mean?, times)))
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = programs(plan);
    let costs = Costs::of(results, &names, |name| fig6::sampling(64, 17).cell(plan, name));
    let compiled: Option<Vec<(String, [f64; 2])>> =
        names.iter().map(|name| Some((name.to_string(), compiling(plan, results, name)?))).collect();
    let lengths = LENGTHS.map(|seconds| {
        let compiled = compiled.as_ref()?;
        of_length(&costs, compiled, seconds)
    });
    let paper = |key: &str| papers::number(&format!("pep.fig7.{key}"));
    let percent = |value: f64| shown(value, Unit::Percent);
    let (average, most) = (paper("compile_plus_exec.avg"), paper("compile_plus_exec.max"));
    found.checks.number(
        "average overhead of a run of 11 seconds with its compilation",
        &percent(average),
        Bound::at_most(average).stretch(1.0).resolution(1.0),
        lengths[0].as_ref().map(|of| of.1),
    );
    let worst =
        |of: &(Vec<Measured>, Measured)| of.0.iter().copied().max_by(|a, b| a.value.total_cmp(&b.value));
    found.checks.number(
        "the same for the dearest program",
        &percent(most),
        Bound::at_most(most),
        lengths[0].as_ref().and_then(worst),
    );
    for (at, jack) in [(1, percent(paper("jack"))), (3, "not measured".into())] {
        let what = format!("average overhead of a run of {} s", LENGTHS[at]);
        let who = if at == 1 { format!("{jack} (jack)") } else { jack };
        found.checks.told(&what, &who, lengths[at].as_ref().map(|of| of.1));
    }
    let growth: Option<Vec<f64>> =
        compiled.as_ref().map(|of| of.iter().map(|(_, [base, with])| (with / base - 1.0) * 100.0).collect());
    found.checks.number(
        "average growth of the time of compilation",
        "small, not said",
        Bound::at_most(5.0),
        growth.as_deref().and_then(mean).map(|of| exactly(of, Unit::Percent)),
    );
    let steps = steps(plan);
    let rows: Option<Vec<Row>> = steps.iter().map(|name| Row::of(results, name)).collect();
    for (at, pass) in PASSES.iter().enumerate() {
        let rates = rows.as_ref().and_then(|rows| rates(rows, at));
        found.checks.shape(
            &format!("PEP's passes are linear: {}", pass.1),
            "three quick passes",
            "for each edge, the largest program takes at most 1.5 times what the median program does",
            rates.map(|(usual, largest)| largest <= 1.5 * usual),
            rates.map_or("not measured".into(), |(usual, largest)| {
                format!("{usual:.0} ns for each edge of the median program, {largest:.0} of the largest")
            }),
        );
    }
    let spent = compiled
        .as_ref()
        .map(|of| of.iter().fold([0.0, 0.0], |sum, (_, times)| [sum[0] + times[0], sum[1] + times[1]]));
    for (at, what) in [(0, "without PEP"), (1, "with PEP(64,17)")] {
        let what = format!("processor time of the compiler, all programs once, {what}");
        found.checks.told(&what, "not said", spent.map(|of| exactly(of[at], Unit::Seconds)));
    }
    let groups = categories(&names);
    let mut all = vec![costs.series("execution alone", &groups)];
    if let Some((each, mean)) = &lengths[0] {
        all.push(series("with compilation, 11 s", &groups, |group| {
            names.iter().position(|name| *name == group).map_or(Some(*mean), |at| each.get(at).copied())
        }));
    }
    all.push(paper_mean(&groups, "paper, with compilation", average));
    let caption = "Overhead of PEP(64,17) on execution, and on execution and compilation together in a run of 11 seconds.";
    found.figures.push(bars("overhead", "Compilation and execution", caption, Unit::Percent, groups, all));
    found.figures.extend(by_length(&lengths));
    found.figures.extend(rows.map(|rows| Figure {
        id: "steps".into(),
        title: "What compilation is made of".into(),
        caption: "Milliseconds of compiling the same methods without and with PEP, one run each. PEP's passes build the graph of paths, number it and insert code.".into(),
        chart: table(&steps, &rows),
    }));
}

fn by_length(lengths: &[Option<(Vec<Measured>, Measured)>]) -> Option<Figure> {
    let points: Vec<(f64, f64)> = LENGTHS
        .iter()
        .zip(lengths)
        .rev()
        .filter_map(|(&of, mean)| Some((of, mean.as_ref()?.1.value)))
        .collect();
    let line = |name: &str, is_paper: bool, points| Line { name: name.into(), is_paper, points };
    let paper = vec![
        (papers::number("pep.fig7.jack_seconds"), papers::number("pep.fig7.jack")),
        (papers::number("pep.fig7.median_seconds"), papers::number("pep.fig7.compile_plus_exec.avg")),
    ];
    (!points.is_empty()).then(|| Figure {
        id: "length".into(),
        title: "Overhead over the length of the run".into(),
        caption:
            "The shorter a run, the more of it is compilation. The paper's points are jack and the average."
                .into(),
        chart: Chart::Lines {
            x: Axis { title: "seconds of execution".into(), unit: Unit::Seconds, log: true },
            y: Axis { title: "overhead".into(), unit: Unit::Percent, log: false },
            lines: vec![line("mean", false, points), line("paper", true, paper)],
        },
    })
}

/// PEP's passes, as `--stats` calls them, and in words.
const PASSES: [(&str, &str); 3] = [
    ("path-graph", "the graph of paths (P-DAG)"),
    ("path-numbering", "numbering"),
    ("path-insertion", "putting code in"),
];

/// What a pass takes for each edge: the median over programs, and that of the program with most edges.
fn rates(rows: &[Row], pass: usize) -> Option<(f64, f64)> {
    let rate = |row: &Row| row.passes[pass] / row.edges;
    let largest = rows.iter().max_by(|a, b| a.edges.total_cmp(&b.edges))?;
    Some((median(&rows.iter().map(rate).collect::<Vec<f64>>())?, rate(largest)))
}

/// Where the time of a program's compilation goes, in nanoseconds.
struct Row {
    words: f64,
    edges: f64,
    /// Each of [`PASSES`].
    passes: [f64; 3],
    /// Without and with PEP.
    all: [f64; 2],
    lowering: [f64; 2],
}

impl Row {
    fn of(results: &Results<'_>, program: &str) -> Option<Row> {
        let [base, with] = [false, true].map(|with_pep| passes(program, with_pep));
        let number = |cell: &Cell, name: &str| results.number(cell, name);
        let lowering =
            |cell: &Cell| Some(number(cell, "passes_ns.lower")? + number(cell, "passes_ns.cranelift")?);
        Some(Row {
            words: number(&with, "compiled_words").filter(|&words| words > 0.0)?,
            edges: number(&with, "path_edges").filter(|&edges| edges > 0.0)?,
            passes: {
                let all = PASSES.map(|of| number(&with, &format!("passes_ns.{}", of.0)));
                [all[0]?, all[1]?, all[2]?]
            },
            all: [number(&base, "optimizing_ns")?, number(&with, "optimizing_ns")?],
            lowering: [lowering(&base)?, lowering(&with)?],
        })
    }
}

fn table(names: &[&str], rows: &[Row]) -> Chart {
    let heads = [
        "program",
        "words",
        "edges",
        "all",
        "with PEP",
        "back end",
        "with PEP",
        "P-DAG",
        "numbering",
        "insertion",
        "ns for each edge",
    ];
    let cells = |(name, row): (&&str, &Row)| {
        let text = |value: String| model::Cell::Text(value);
        let ms = |time: f64| text(format!("{:.2}", time / 1e6));
        vec![
            text(name.to_string()),
            text(format!("{:.0}", row.words)),
            text(format!("{:.0}", row.edges)),
            ms(row.all[0]),
            ms(row.all[1]),
            ms(row.lowering[0]),
            ms(row.lowering[1]),
            ms(row.passes[0]),
            ms(row.passes[1]),
            ms(row.passes[2]),
            text(format!("{:.0}", row.passes.iter().sum::<f64>() / row.edges)),
        ]
    };
    Chart::Table {
        columns: heads.map(String::from).into(),
        rows: names.iter().zip(rows).map(cells).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_that_is_not_linear_is_seen() {
        let row = |edges: f64, time: f64| Row {
            words: 1.0,
            edges,
            passes: [time; 3],
            all: [0.0; 2],
            lowering: [0.0; 2],
        };
        let linear = [row(10.0, 100.0), row(100.0, 1000.0), row(1000.0, 11_000.0)];
        assert_eq!(rates(&linear, 0), Some((10.0, 11.0)));
        let square = [row(10.0, 100.0), row(100.0, 10_000.0), row(1000.0, 1_000_000.0)];
        assert!(rates(&square, 2).is_some_and(|(usual, largest)| largest > 1.5 * usual));
        assert_eq!(rates(&[], 0), None);
    }

    #[test]
    fn compilation_is_part_of_the_run() {
        // Nine seconds with 1 % more, and one of compiling that becomes 1.1.
        assert!((together(1.0, [1.0, 1.1], 9.0) - 1.9).abs() < 1e-9);
        assert!((together(1.0, [0.0, 0.0], 9.0) - 1.0).abs() < 1e-9);
    }
}
