//! Arnold and Grove 2005, table 1: the programs, how long they run, and how much code they execute.

use crate::catalogue::{Experiment, Findings};
use crate::cell::{Cell, RESULT};
use crate::papers;
use crate::plan::Plan;
use crate::reduce::Reduction;
use crate::report::model::{self, Chart, Figure, Unit};
use crate::results::{Results, exactly};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "cbs-tab1",
    place: "Table 1",
    title: "The programs",
    says: &[
        "Thirteen programs with small and large inputs: 0.5 to 82 seconds, 243 to 3496 methods executed, 22 to 161 KB of bytecode.",
        "Here an input is a number of iterations of a program that checks each result. Times are those of the adaptive machine; when time is short, a third of the short run \
         is made, and its time for each iteration tells that of both. Methods and bytecode (words of eight bytes) are those that the \
         interpreter entered: in the first iteration with the small size of the program, and with its default one when there is more time.",
    ],
    cells: |plan| {
        let of = |&(name, small, large): &(&'static str, u32, u32)| {
            let times = [small, large].map(|iterations| time(plan, name, made(plan, small, iterations)));
            times.into_iter().chain(sizes(plan).map(|size| code(name, size)))
        };
        programs(plan).iter().flat_map(of).collect()
    },
    conclude,
};

/// Programs, and how many iterations the short and the long run have: about one and eight seconds on a fast processor of 2023, so that one of half the
/// speed is within the paper's range as well.
const PROGRAMS: [(&str, u32, u32); 18] = [
    ("compiler", 9, 120),
    ("lexgen", 7, 70),
    ("lzw", 7, 57),
    ("machine", 4, 31),
    ("market", 11, 98),
    ("masks", 9, 105),
    ("rules", 5, 47),
    ("scheme", 4, 34),
    ("sqldb", 4, 60),
    ("tags", 8, 86),
    ("tracer", 20, 235),
    ("xslt", 4, 55),
    ("havlak", 11, 120),
    ("cd", 300, 3100),
    ("deltablue", 150, 1800),
    ("json", 210, 2200),
    ("raytracer", 70, 600),
    ("orders", 22, 240),
];

fn programs(plan: &Plan) -> Vec<(&'static str, u32, u32)> {
    let names = PROGRAMS.map(|of| of.0);
    let wanted = plan.programs(&names, &names);
    PROGRAMS.into_iter().filter(|of| wanted.contains(&of.0)).collect()
}

fn sizes(plan: &Plan) -> impl Iterator<Item = &'static str> {
    ["quick", "default"].into_iter().take(plan.pick(1, 2))
}

/// How many iterations are made for a run that has so many.
fn made(plan: &Plan, small: u32, iterations: u32) -> u32 {
    plan.pick((small / 3).max(2), iterations)
}

fn time(plan: &Plan, program: &str, iterations: u32) -> Cell {
    let line = format!("bench {program} --iterations {iterations} --json {RESULT}");
    Cell::timed(Reduction::Times, &[&line], plan.pick(1.0, 9.0))
}

/// Everything is interpreted, so that no method is missed because it was inlined.
fn code(program: &str, size: &str) -> Cell {
    let line = format!("bench {program} --iterations 1 --size {size} --tier interp --stats=json");
    Cell::counting(Reduction::Statistics, &[&line], if size == "quick" { 0.3 } else { 8.0 })
}

struct Row {
    name: &'static str,
    small: Option<f64>,
    large: Option<f64>,
    methods: Option<f64>,
    kilobytes: Option<f64>,
}

fn row(plan: &Plan, results: &Results<'_>, &(name, small, large): &(&'static str, u32, u32)) -> Row {
    let seconds = |iterations: u32| {
        let made = made(plan, small, iterations);
        let samples = results.outcome(&time(plan, name, made))?.samples.get("samples_ns")?;
        Some(samples.iter().sum::<f64>() / 1e9 * f64::from(iterations) / f64::from(made))
    };
    let most = |what: &str| {
        let all: Option<Vec<f64>> = sizes(plan).map(|size| results.number(&code(name, size), what)).collect();
        all.map(|all| all.into_iter().fold(0.0, f64::max))
    };
    let kilobytes = most("entered_words").map(|words| words * 8.0 / 1024.0);
    Row { name, small: seconds(small), large: seconds(large), methods: most("methods_entered"), kilobytes }
}

/// How many of them are so; nothing if one is not known.
fn count(of: impl Iterator<Item = Option<f64>>, holds: impl Fn(f64) -> bool) -> Option<usize> {
    let all: Option<Vec<f64>> = of.collect();
    all.map(|all| all.into_iter().filter(|of| holds(*of)).count())
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let rows: Vec<Row> = programs(plan).iter().map(|of| row(plan, results, of)).collect();
    let small = count(rows.iter().map(|row| row.small), |seconds| (0.5..=5.0).contains(&seconds));
    let large = count(rows.iter().map(|row| row.large), |seconds| (5.0..=30.0).contains(&seconds));
    let many = count(rows.iter().map(|row| row.methods), |methods| methods > 500.0);
    // As many as the paper has: some of them say nothing about all.
    let is_enough = rows.len() >= 13;
    let of_all = |of: Option<usize>| {
        of.map_or("not measured".into(), |some| format!("{some} of {} programs", rows.len()))
    };
    found.checks.shape(
        "small inputs",
        "0.46 to 4.5 s",
        "0.5 to 5 s for at least 13 programs",
        small.filter(|_| is_enough).map(|some| some >= 13),
        of_all(small),
    );
    found.checks.shape(
        "large inputs",
        "5 to 82 s",
        "5 to 30 s for at least 13 programs",
        large.filter(|_| is_enough).map(|some| some >= 13),
        of_all(large),
    );
    found.checks.shape(
        "programs of many methods",
        "7 of 13 above 500",
        "at least 4 above 500",
        many.filter(|_| is_enough).map(|some| some >= 4),
        of_all(many),
    );
    let cell = |value: Option<f64>, unit: Unit| match value {
        Some(value) => model::Cell::Number(exactly(value, unit)),
        None => model::Cell::Text("not measured".into()),
    };
    let text = |text: &str| model::Cell::Text(text.into());
    let mut table: Vec<Vec<model::Cell>> = rows
        .iter()
        .map(|row| {
            vec![
                text(row.name),
                cell(row.small, Unit::Seconds),
                cell(row.large, Unit::Seconds),
                cell(row.methods, Unit::Count),
                cell(row.kilobytes.map(f64::round), Unit::Count),
            ]
        })
        .collect();
    // Of the paper, the columns of the large input.
    for row in papers::at("cbs.table1.rows").as_array().into_iter().flatten() {
        let number = |at: usize| row[at].as_f64();
        table.push(vec![
            text(&format!("{} (paper)", row[0].as_str().unwrap_or_default())),
            cell(number(1), Unit::Seconds),
            cell(number(4), Unit::Seconds),
            cell(number(5), Unit::Count),
            cell(number(6), Unit::Count),
        ]);
    }
    found.figures.push(Figure {
        id: "programs".into(),
        title: "Programs, here and in the paper".into(),
        caption: "Methods and bytecode are those that were executed.".into(),
        chart: Chart::Table {
            columns: ["program", "small", "large", "methods", "KB of bytecode"].map(String::from).into(),
            rows: table,
        },
    });
}
