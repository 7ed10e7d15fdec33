//! Arnold and Grove 2005, table 3: accuracy and overhead for each program, of one sample for each tick and of CBS, in both virtual machines.

use crate::catalogue::accuracies;
use crate::catalogue::overheads::{Costs, MEAN, of_seconds, seconds};
use crate::catalogue::tables::{entry, table, text};
use crate::catalogue::{Experiment, Findings, programs};
use crate::cell::Cell;
use crate::papers;
use crate::plan::{Mode, Plan};
use crate::report::model::{self, Unit};
use crate::results::{Results, exactly, mean};
use crate::verdict::{Bound, shown};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "cbs-tab3",
    place: "Table 3",
    title: "Accuracy and overhead for each program",
    says: &[
        "Thirteen programs with small and large inputs, everything compiled once at the lowest level, where only trivial methods are inlined. One sample \
         for each tick finds 38 % of the call graph in Jikes RVM and 37 % in J9; CBS with 16 samples and a stride of 3 (Jikes) or 7 (J9) finds 62 and 64 %, \
         for 0.2 and 0.3 % of time. In all but three rows it is better.",
        "Here each virtual machine is a configuration of ours, with its base and its stride: Jikes RVM's base is one sample for each tick by the timer, which it had anyway, so that CBS is measured against that; J9's is CBS(1,1), and both are measured against none. \
         A small input is a run of 50 ticks and a large one of 500, as the paper's runs of half a second to a minute had; ticks come by counted \
         yieldpoints, so that accuracies repeat. Overhead is a rate, measured in the steady state: one number for both inputs of a program. In a full run six large programs take part beside the classic ones; an iteration of four of them (machine, scheme, sqldb, xslt) takes so long at the lowest level that there are no pairs of \
         short samples, and their overheads are not measured. When time is short, the two programs that take longest are left out, \
         and of overheads that of CBS(7,16) is measured, for a part of the others.",
        "The text says that CBS is better in all rows but one; its own rows have two more that do not rise. Here each row is counted, for each configuration.",
    ],
    cells: |plan| {
        let names = names(plan);
        let accuracy = TICKS.iter().flat_map(|ticks| names.iter().map(|name| cell(name, *ticks)));
        let costs = CONFIGURATIONS.iter().flat_map(|of| {
            let names = of.costed(plan);
            let all = of.measured(plan).into_iter();
            all.flat_map(move |flags| names.clone().into_iter().map(move |name| cost(plan, name, flags)))
        });
        accuracy.chain(costs).collect()
    },
    conclude,
};

const TICKS: [u64; 2] = [50, 500];

/// A virtual machine of the paper, and what stands for it.
struct Configuration {
    /// Its name.
    name: &'static str,
    /// Who samples in the column of the base, and with CBS.
    profilers: [&'static str; 2],
    /// The same, as results name them.
    keys: [&'static str; 2],
    /// What is measured of the cost of the base; nothing if that is 0 by definition.
    base: Option<&'static str>,
    /// What is measured of the cost of CBS.
    cbs: &'static str,
    /// The first of its four columns among the paper's numbers: overhead and accuracy of the base, and of CBS.
    column: usize,
}

const CONFIGURATIONS: [Configuration; 2] = [
    Configuration {
        name: "Jikes RVM, CBS(3,16)",
        profilers: ["cbs:schedule=timer", "cbs:samples=16,stride=3"],
        keys: ["cbs:schedule=timer,at=prologue", "cbs:samples=16,stride=3,schedule=arnold-grove,at=prologue"],
        base: None,
        cbs: "--profile cbs:samples=16,stride=3 --vs cbs:schedule=timer --tier o0",
        column: 1,
    },
    Configuration {
        name: "J9, CBS(7,16)",
        profilers: ["cbs:samples=1,stride=1", "cbs:samples=16,stride=7"],
        keys: [
            "cbs:samples=1,stride=1,schedule=arnold-grove,at=prologue",
            "cbs:samples=16,stride=7,schedule=arnold-grove,at=prologue",
        ],
        base: Some("--profile cbs:samples=1,stride=1 --tier o0"),
        cbs: "--profile cbs:samples=16,stride=7 --tier o0",
        column: 5,
    },
];

impl Configuration {
    /// What is measured of its cost.
    fn measured(&self, plan: &Plan) -> Vec<&'static str> {
        match plan.mode {
            Mode::Full => self.base.into_iter().chain([self.cbs]).collect(),
            // Two configurations would be more than a quick run has time for.
            Mode::Quick => {
                if self.base.is_some() {
                    vec![self.cbs]
                } else {
                    Vec::new()
                }
            }
        }
    }

    /// The programs whose overhead is measured.
    fn costed(&self, plan: &Plan) -> Vec<&'static str> {
        let short: Vec<&str> =
            programs::LARGE.iter().copied().filter(|name| !LONG_SAMPLES.contains(name)).collect();
        plan.programs(programs::QUICK, &[programs::CLASSIC, &short].concat())
    }

    /// Of a program, or on average, the overheads of the base and of CBS.
    fn overheads(&self, costs: &Both, name: &str) -> [model::Cell; 2] {
        let base = match (self.base, &costs.base) {
            (Some(_), Some(base)) => base.entry(name),
            (Some(_), None) => text("-"),
            (None, _) => model::Cell::Number(exactly(0.0, Unit::Percent)),
        };
        [base, costs.cbs.entry(name)]
    }
}

/// With all their calls counted, an iteration of these takes longer than a quick run has for them.
const LONG: [&str; 2] = ["havlak", "raytracer"];
/// An iteration of these at the lowest level takes seconds, whatever its size.
const LONG_SAMPLES: [&str; 4] = ["machine", "scheme", "sqldb", "xslt"];

fn names(plan: &Plan) -> Vec<&'static str> {
    let short: Vec<&str> = programs::CLASSIC.iter().copied().filter(|name| !LONG.contains(name)).collect();
    plan.programs(&short, &[programs::CLASSIC, programs::LARGE].concat())
}

fn cell(program: &str, ticks: u64) -> Cell {
    let profilers: Vec<String> =
        CONFIGURATIONS.iter().flat_map(|of| of.profilers).map(String::from).collect();
    let size = programs::enough(program).unwrap_or("default");
    let seconds = if programs::LARGE.contains(&program) { 8.0 } else { 0.8 };
    accuracies::calls(program, size, ticks, &profilers, seconds)
}

/// What a program costs with these flags. What the paper has 0.3 % of is measured for the longest time.
pub(super) fn cost(plan: &Plan, program: &str, flags: &str) -> Cell {
    let own = match (plan.mode, flags) {
        (Mode::Quick, _) => 2,
        (Mode::Full, of) if of == CONFIGURATIONS[1].cbs => 14,
        (Mode::Full, of) if of == CONFIGURATIONS[0].cbs => 7,
        (Mode::Full, _) => 3,
    };
    // Samples of the large programs are to be short, too.
    let size = if programs::LARGE.contains(&program) { " --size quick" } else { "" };
    of_seconds(plan, program, &format!("{flags}{size}"), plan.trials.map_or(own, |_| seconds(plan, own)))
}

/// What was measured of a configuration's costs.
struct Both {
    base: Option<Costs>,
    cbs: Costs,
}

/// A row: a program, its ticks, and the accuracies of base and CBS for each configuration.
struct Row {
    program: &'static str,
    ticks: u64,
    each: [[f64; 2]; 2],
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = names(plan);
    let row = |&(ticks, program): &(u64, &'static str)| {
        let cell = cell(program, ticks);
        let of = |key: &str| results.number(&cell, &format!("{key}.overlap"));
        let both = |of_one: &Configuration| Some([of(of_one.keys[0])?, of(of_one.keys[1])?]);
        Some(Row { program, ticks, each: [both(&CONFIGURATIONS[0])?, both(&CONFIGURATIONS[1])?] })
    };
    let wanted: Vec<(u64, &'static str)> =
        TICKS.iter().flat_map(|ticks| names.iter().map(move |name| (*ticks, *name))).collect();
    let rows: Vec<Row> = wanted.iter().filter_map(row).collect();
    let is_complete = rows.len() == wanted.len() && !rows.is_empty();
    let costs = CONFIGURATIONS.map(|of| {
        let costed = of.costed(plan);
        let costs = |flags: &str| Costs::of(results, &costed, |name| cost(plan, name, flags));
        let base = of.base.filter(|_| plan.mode == Mode::Full);
        Both { base: base.map(costs), cbs: costs(of.cbs) }
    });
    // The one whose overhead is always measured is the first, so that headlines find their checks.
    for at in [1, 0] {
        let of = &CONFIGURATIONS[at];
        let is_costed = of.measured(plan).contains(&of.cbs);
        judge(found, at, of, if is_complete { Some(&rows) } else { None }, is_costed.then_some(&costs[at]));
    }
    figure(found, &rows, is_complete, &costs);
}

/// The mean accuracy of the base or of CBS, over the rows with so many ticks, or over all.
fn average(rows: &[Row], at: usize, column: usize, ticks: Option<u64>) -> Option<f64> {
    let own = rows.iter().filter(|row| ticks.is_none_or(|ticks| row.ticks == ticks));
    mean(&own.map(|row| row.each[at][column]).collect::<Vec<f64>>())
}

/// A configuration beside the columns of its virtual machine. Both are held to what the better of these reached.
fn judge(found: &mut Findings, at: usize, of: &Configuration, rows: Option<&Vec<Row>>, costs: Option<&Both>) {
    let printed = papers::grid("cbs.table3.averages");
    let printed = |row: usize, more: usize| printed[row][of.column + more].unwrap_or(f64::NAN);
    let best = |key: &str| {
        let of = |who: &str| papers::number(&format!("cbs.claims.{key}.{who}"));
        of("jikes_cbs").max(of("j9_cbs"))
    };
    let all = papers::grid("cbs.table3.averages")[2][8].unwrap_or(f64::NAN);
    let averages = [
        ("average accuracy of all runs", None, 2, all, 72.0),
        ("average accuracy of small runs", Some(TICKS[0]), 0, best("small_accuracy"), 65.0),
        ("average accuracy of large runs", Some(TICKS[1]), 1, best("large_accuracy"), 80.0),
    ];
    for (what, ticks, row, limit, stretch) in averages {
        found.checks.number(
            &format!("{what}, {}", of.name),
            &format!("{} %", printed(row, 3)),
            Bound::at_least(limit).stretch(stretch),
            rows.and_then(|rows| average(rows, at, 1, ticks)).map(|value| exactly(value, Unit::Percent)),
        );
    }
    if let Some(costs) = costs {
        found.checks.cost(
            &format!("average overhead, {}", of.name),
            &format!("{} %", printed(2, 2)),
            Bound::at_most(papers::number("cbs.claims.overhead_average_bound")).resolution(1.0),
            costs.cbs.mean,
            costs.cbs.band(),
        );
    }
    let worse = rows.map(|rows| rows.iter().filter(|row| row.each[at][1] < row.each[at][0]).count());
    let theirs = papers::grid("cbs.table3.rows");
    let of_theirs = theirs.iter().filter(|row| row[of.column + 3] < row[of.column + 1]).count();
    found.checks.shape(
        &format!("better than its base, {}", of.name),
        &format!("worse in {of_theirs} of {} rows", theirs.len()),
        "worse in at most two rows",
        worse.map(|worse| worse <= 2),
        worse.zip(rows).map_or("not measured".into(), |(worse, rows)| {
            format!("worse in {worse} of {} rows", rows.len())
        }),
    );
    let Some(costs) = costs else { return };
    let dearest = theirs.iter().filter_map(|row| row[of.column + 2]).fold(f64::MIN, f64::max);
    let most = costs.cbs.worst();
    found.checks.shape(
        &format!("no program pays much, {}", of.name),
        &format!("at most {dearest} %"),
        "at most 3 %",
        most.map(|(_, cost)| cost.value <= 3.0),
        most.map_or("not measured".into(), |(name, cost)| {
            format!("{name}, {}", shown(cost.value, Unit::Percent))
        }),
    );
}

/// The paper's table, ours above it.
fn figure(found: &mut Findings, rows: &[Row], is_complete: bool, costs: &[Both; 2]) {
    let size = |ticks: u64| if ticks == TICKS[0] { "small" } else { "large" };
    let number = |value: Option<f64>| entry(value, Unit::Percent);
    let line = |row: &Row| -> Vec<model::Cell> {
        let name = text(&format!("{}-{}, {} ticks", row.program, size(row.ticks), row.ticks));
        let of = |at: usize| {
            let [base, cbs] = CONFIGURATIONS[at].overheads(&costs[at], row.program);
            let [own, more] = row.each[at].map(|of| number(Some(of)));
            [base, own, cbs, more]
        };
        std::iter::once(name).chain([0, 1].into_iter().flat_map(of)).collect()
    };
    let averages =
        [("average small", Some(TICKS[0])), ("average large", Some(TICKS[1])), ("average all", None)];
    let average_line = |&(name, ticks): &(&str, Option<u64>)| -> Vec<model::Cell> {
        let of = |at: usize| {
            let [base, cbs] = CONFIGURATIONS[at].overheads(&costs[at], MEAN);
            let [own, more] = [0, 1].map(|column| number(average(rows, at, column, ticks)));
            [base, own, cbs, more]
        };
        std::iter::once(text(name)).chain([0, 1].into_iter().flat_map(of)).collect()
    };
    let theirs = ["rows", "averages"].into_iter().flat_map(|key| {
        let names = papers::at(&format!("cbs.table3.{key}")).as_array().into_iter().flatten();
        let names: Vec<&str> = names.map(|row| row[0].as_str().unwrap_or_default()).collect();
        let numbers = papers::grid(&format!("cbs.table3.{key}"));
        let line = |(name, row): (&str, &Vec<Option<f64>>)| -> Vec<model::Cell> {
            std::iter::once(text(&format!("{name} (paper)")))
                .chain(row[1..].iter().map(|of| number(*of)))
                .collect()
        };
        names.into_iter().zip(&numbers).map(line).collect::<Vec<_>>()
    });
    let mut all: Vec<Vec<model::Cell>> = rows.iter().map(line).collect();
    if is_complete {
        all.extend(averages.iter().map(average_line));
    }
    all.extend(theirs);
    found.figures.push(table(
        "accuracy",
        "Accuracy and overhead of call graphs",
        "Overlap with the exact call graph of the same program, and time more than without (of Jikes RVM's CBS: than with its base). Below them the paper's programs.",
        &[
            "run",
            "Jikes RVM: base overhead",
            "base accuracy",
            "CBS(3,16) overhead",
            "CBS(3,16) accuracy",
            "J9: base overhead",
            "base accuracy",
            "CBS(7,16) overhead",
            "CBS(7,16) accuracy",
        ],
        all,
    ));
}
