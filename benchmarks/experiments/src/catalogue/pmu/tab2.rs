//! Shye et al. 2005, table 2: how long partial paths are, extended and cut.

use super::{tab3, traces};
use crate::catalogue::overheads::{bars, categories, paper_mean, series};
use crate::catalogue::{Experiment, Findings, programs};
use crate::cell::Cell;
use crate::papers;
use crate::plan::Plan;
use crate::report::model::Unit;
use crate::results::{Results, exactly, mean};
use crate::verdict::Bound;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "pmu-tab2",
    place: "Table 2",
    title: "Lengths of partial paths",
    says: &[
        "Partial paths of four taken branches have 37.7 instructions of the compiler's low-level form on average. Extended to where they are uncertain they have 45.4, a fifth more; cut at \
         function boundaries 33.6; cut at back edges of loops as well, 26.9, two fifths less than extended.",
        "Here these are instructions of machine code, in different traces of four taken branches as the processor takes them, in the code of the optimizing tier; it is stepped through now and then, some 125 times in a program. \
         Methods are inlined, so that a function is what has frames of its own; a call of the runtime system is a call, too. In the paper nothing is inlined that the programmer did not write in one place, but its programs are in C, whose functions are larger and which has macros. \
         The mean over programs of the mean of all pieces, as the paper has it, those of one block among them.",
        "Beside it stands the same of bytecode, of which an instruction does about as much as one of the compiler's low-level form, in traces that the interpreter records, four branches every 997 on average. \
         There nothing is inlined, and most traces of programs of many calls cross two calls or more (`pmu-tab3`), for methods are small: cuts take twice as much from them as from the paper's.",
        "A call does not end a block, but it is a taken branch: blocks come apart at their calls, and a partial path has the pieces that its branches show.",
        "Extension ends at a \"point of uncertainty\" (section 3.2): at joins and branches, at calls of several possible targets and returns to callers that are not known. In bytecode a call of one target is none: paths \"span function boundaries\" (section 4.3). \
         Whether the paper's tool went through calls it does not say. In machine code, where what is called may be replaced, each call is one. In bytecode, where each call ends it, extension adds 2.7 %; where calls are passed over, to the next branch of the same method, 7.1; through calls 15.0 (2026-11).",
        "The full paths that pieces are matched with begin and end where loops are entered and left, too: the last column is what is left for them. (Matching itself goes by whole blocks, and extends in these.)",
    ],
    cells: |plan| {
        let names = names(plan).into_iter();
        names.flat_map(|name| [Code::Machine, Code::Bytes].map(|code| cell(name, code))).collect()
    },
    conclude,
};

/// The classic programs, with the yieldpoints from tick to tick by which ten iterations of each have about 125 ticks.
const TICKS: [(&str, u32); 18] = [
    ("richards", 19_777),
    ("json", 1_931),
    ("deltablue", 577),
    ("list", 3_283),
    ("mandelbrot", 166_813),
    ("sieve", 514_203),
    ("queens", 777),
    ("havlak", 822_773),
    ("bounce", 2_059),
    ("cd", 2_331),
    ("nbody", 16_729),
    ("moldyn", 134_875),
    ("permute", 1_347),
    ("storage", 1_131),
    ("towers", 865),
    ("fft", 1_963),
    ("heapsort", 13_769),
    ("raytracer", 273_751),
];

/// Of those that call much and of those that are loops, for little time.
const QUICK: &[&str] = &["richards", "json", "list", "mandelbrot"];

pub(super) fn names(plan: &Plan) -> Vec<&'static str> {
    plan.programs(QUICK, programs::CLASSIC)
}

/// Whose blocks a path consists of.
#[derive(Clone, Copy)]
enum Code {
    /// Those of the machine code that was compiled.
    Machine,
    /// Those of the bytecode.
    Bytes,
}

fn cell(program: &str, code: Code) -> Cell {
    let size = tab3::size(program);
    match code {
        Code::Machine => {
            let ticks = TICKS.iter().find(|of| of.0 == program);
            let (_, ticks) = *ticks.unwrap_or_else(|| panic!("nobody said how often {program} ticks"));
            traces::compiled(program, size, ticks, "btb:backend=step,depth=4,calls=split")
        }
        Code::Bytes => traces::statistics(program, size, "btb:depth=4,period=997,calls=split"),
    }
}

/// The traces of the machine code of a program.
pub(super) fn machine(program: &str) -> Cell {
    cell(program, Code::Machine)
}

/// Columns: what they are, in the paper's order.
const COLUMNS: [&str; 5] = ["initial", "extended", "cut at calls", "and at back edges", "or at regions"];

/// The lengths of a program's partial paths.
fn lengths(results: &Results<'_>, program: &str, code: Code) -> Option<[f64; 5]> {
    let outcome = results.outcome(&cell(program, code))?;
    let number = |name: &str| outcome.numbers.get(name).copied();
    let by = |sum: &str, count: &str| Some(number(sum)? / number(count).filter(|&count| count > 0.0)?);
    let cut = |name: &str| by(&format!("lengths.{name}.instructions"), &format!("lengths.{name}.pieces"));
    Some([
        by("initial_length", "traces")?,
        by("extended_length", "traces")?,
        cut("calls")?,
        cut("loops")?,
        cut("regions")?,
    ])
}

/// Those of all programs, and their means.
struct Table {
    rows: Vec<[f64; 5]>,
    means: [f64; 5],
}

impl Table {
    fn of(results: &Results<'_>, names: &[&str], code: Code) -> Option<Table> {
        let rows: Option<Vec<[f64; 5]>> = names.iter().map(|name| lengths(results, name, code)).collect();
        let rows = rows.filter(|rows| !rows.is_empty())?;
        let column =
            |at: usize| mean(&rows.iter().map(|row| row[at]).collect::<Vec<f64>>()).unwrap_or(f64::NAN);
        let means = [0, 1, 2, 3, 4].map(column);
        Some(Table { rows, means })
    }

    /// What extension adds, in percent.
    fn gain(&self) -> f64 {
        100.0 * (self.means[1] / self.means[0] - 1.0)
    }

    /// What cuts at calls and back edges take from what is extended, in percent.
    fn loss(&self) -> f64 {
        100.0 * (1.0 - self.means[3] / self.means[1])
    }
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = names(plan);
    let [machine, bytes] = [Code::Machine, Code::Bytes].map(|code| Table::of(results, &names, code));
    let means = machine.as_ref().map(|table| table.means);
    found.checks.shape(
        "the order of the means",
        "extended 45.4, initial 37.7, cut at functions 33.6, and at loops 26.9",
        "in this order",
        means.map(|of| of[1] > of[0] && of[0] > of[2] && of[2] > of[3]),
        means.map_or("not measured".into(), |of| {
            let all = COLUMNS.iter().zip(of).map(|(name, mean)| format!("{name} {mean:.1}"));
            all.collect::<Vec<_>>().join(", ")
        }),
    );
    let paper = |key: &str| format!("{:.1} %", papers::number(&format!("pmu.table2.{key}")));
    let percent = |of: f64| exactly(of, Unit::Percent);
    let gain = machine.as_ref().map(|table| percent(table.gain()));
    let loss = machine.as_ref().map(|table| percent(table.loss()));
    // Between two bounds nothing is better than the paper.
    let (least, most) = (f64::INFINITY, f64::NEG_INFINITY);
    let gained = "what extension adds";
    found.checks.number(gained, &paper("extension_gain"), Bound::at_least(10.0).stretch(least), gain);
    found.checks.number(gained, &paper("extension_gain"), Bound::at_most(40.0).stretch(most), gain);
    let lost = "what cuts at calls and back edges take from that";
    found.checks.number(lost, &paper("split_loss"), Bound::at_least(25.0).stretch(least), loss);
    found.checks.number(lost, &paper("split_loss"), Bound::at_most(55.0).stretch(most), loss);
    found.checks.told(
        "length of pieces of regions, on average",
        "not said",
        means.map(|of| exactly(of[4], Unit::Count)),
    );
    let of_bytes = |of: fn(&Table) -> f64| bytes.as_ref().map(|table| percent(of(table)));
    found.checks.told("what extension adds, in bytecode", &paper("extension_gain"), of_bytes(Table::gain));
    found.checks.told("what cuts take from that, in bytecode", &paper("split_loss"), of_bytes(Table::loss));
    let printed: Vec<f64> = papers::numbers("pmu.table2.average").into_iter().flatten().collect();
    for (table, id, title, caption) in [
        (
            &machine,
            "lengths",
            "Lengths of partial paths",
            "Instructions of machine code; the paper's are of its compiler's low-level form.",
        ),
        (
            &bytes,
            "bytecode",
            "Lengths of partial paths in bytecode",
            "Instructions of bytecode, in which nothing is inlined.",
        ),
    ] {
        let groups = categories(&names);
        let mut all: Vec<_> = COLUMNS
            .iter()
            .enumerate()
            .map(|(at, name)| {
                series(name, &groups, |group| {
                    let table = table.as_ref()?;
                    let of = names.iter().zip(&table.rows).find(|of| *of.0 == group).map(|of| of.1[at]);
                    Some(exactly(of.unwrap_or(table.means[at]), Unit::Count))
                })
            })
            .collect();
        let paper = printed.iter().zip(COLUMNS);
        all.extend(paper.map(|(&mean, name)| paper_mean(&groups, &format!("paper, {name}"), mean)));
        found.figures.push(bars(id, title, caption, Unit::Count, groups, all));
    }
}
