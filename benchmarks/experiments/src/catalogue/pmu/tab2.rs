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
        "Here these are instructions of bytecode, which do about as much as one of the paper's each, in different traces that the interpreter records, four branches every 997 \
         on average; instructions of machine code have blocks of their own and are not counted. Nothing is inlined. The mean over programs of the mean of all pieces, as the paper has it, those of one block among them.",
        "A call does not end a block of bytecode, but it is a taken branch: blocks come apart at their calls, and a partial path has the pieces that its branches show. Where blocks counted whole on both sides of a call, \
         initial paths were a quarter longer, and extension added 3 %.",
        "Extension ends at a \"point of uncertainty\" (section 3.2): at joins and branches, at calls of several possible targets and returns to callers that are not known. A call of one target is none: paths \"span function boundaries\" (section 4.3). \
         Whether the paper's tool went through calls it does not say. Where each call ends it, extension adds 2.7 %; where calls are passed over, to the next branch of the same method, 7.1; through calls 15.0 (2026-11). \
         Over the 18 classic programs that is 2.5, 8.1 and 22.7 %: between 0.2 in nbody, whose loops are joins and branches alone, and 111 in the raytracer, whose methods are straight and small.",
        "In programs of many calls most traces cross two calls or more (`pmu-tab3`), for methods are small, and extension crosses some more; so cuts take more from them than the paper's, of which one path gives 1.35 pieces at functions.",
        "The full paths that pieces are matched with begin and end where loops are entered and left, too: the last column is what is left for them. (Matching itself goes by whole blocks, and extends in these.)",
    ],
    cells: |plan| names(plan).into_iter().map(cell).collect(),
    conclude,
};

fn names(plan: &Plan) -> Vec<&'static str> {
    plan.programs(&tab3::all(), programs::CLASSIC)
}

fn cell(program: &str) -> Cell {
    traces::statistics(program, tab3::size(program), "btb:depth=4,period=997,calls=split")
}

/// Columns: what they are, in the paper's order.
const COLUMNS: [&str; 5] = ["initial", "extended", "cut at calls", "and at back edges", "or at regions"];

/// The lengths of a program's partial paths.
fn lengths(results: &Results<'_>, program: &str) -> Option<[f64; 5]> {
    let outcome = results.outcome(&cell(program))?;
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

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = names(plan);
    let rows: Option<Vec<[f64; 5]>> = names.iter().map(|name| lengths(results, name)).collect();
    let rows = rows.filter(|rows| !rows.is_empty());
    let column = |rows: &[[f64; 5]], at: usize| {
        mean(&rows.iter().map(|row| row[at]).collect::<Vec<f64>>()).unwrap_or(f64::NAN)
    };
    let means = rows.as_ref().map(|rows| [0, 1, 2, 3, 4].map(|at| column(rows, at)));
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
    let gain = means.map(|of| exactly(100.0 * (of[1] / of[0] - 1.0), Unit::Percent));
    let loss = means.map(|of| exactly(100.0 * (1.0 - of[3] / of[1]), Unit::Percent));
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
    let groups = categories(&names);
    let mut all: Vec<_> = COLUMNS
        .iter()
        .enumerate()
        .map(|(at, name)| {
            series(name, &groups, |group| {
                let of = names.iter().zip(rows.as_ref()?).find(|of| *of.0 == group).map(|of| of.1[at]);
                Some(exactly(of.or(means.map(|means| means[at]))?, Unit::Count))
            })
        })
        .collect();
    let printed = papers::numbers("pmu.table2.average").into_iter().flatten();
    all.extend(printed.zip(COLUMNS).map(|(mean, name)| paper_mean(&groups, &format!("paper, {name}"), mean)));
    let caption = "Instructions of bytecode; the paper's are of its compiler's low-level form.";
    found.figures.push(bars("lengths", "Lengths of partial paths", caption, Unit::Count, groups, all));
}
