//! Arnold and Grove 2005, section 3.2: code patching, where a listener hears the first calls of a method and is then removed.

use crate::catalogue::overheads::{bars, categories, series};
use crate::catalogue::{Experiment, Findings, programs};
use crate::cell::{Cell, RESULT};
use crate::plan::Plan;
use crate::reduce::Reduction;
use crate::report::model::Unit;
use crate::results::{Results, exactly, mean};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "cbs-patching",
    place: "Section 3.2",
    title: "Bursts at the beginning of compiled code",
    says: &[
        "Code patching listens to the entries of a method from when it is compiled until it has heard so many of them. The paper expects two weaknesses and \
         measures neither: a burst may be of a phase that is not like the rest, and a short run hardly has code to listen to.",
        "Here `oneshot` is such a listener. Programs with phases are run at the lowest level, as all experiments about accuracy; short runs, of 50 ticks, \
         are adaptive, since what a listener waits for is that somebody compiles: where all is compiled at once at the lowest level, it need not wait, and finds more in short runs than CBS. Both are compared with CBS(3,16).",
    ],
    cells: |plan| {
        let phased = phased(plan).into_iter().map(|name| with_phases(plan, name));
        phased.chain(short(plan).into_iter().map(short_run)).collect()
    },
    conclude,
};

const PHASED: &[&str] = &["dispatcher", "guests", "orders", "shapes", "sparse", "tokenizer"];
const CBS: &str = "cbs:samples=16,stride=3,schedule=arnold-grove,at=prologue";
const ONE_SHOT: &str = "oneshot:burst=100,level=o0";

fn phased(plan: &Plan) -> Vec<&'static str> {
    plan.programs(PHASED, PHASED)
}

fn short(plan: &Plan) -> Vec<&'static str> {
    plan.programs(programs::QUICK, programs::CLASSIC)
}

fn cell(program: &str, flags: &str, seconds: f64) -> Cell {
    let line = format!(
        "accuracy {program} {flags} --profile cbs:samples=16,stride=3 --profile oneshot --json {RESULT}"
    );
    Cell::counting(Reduction::Calls, &[&line], seconds)
}

fn with_phases(plan: &Plan, program: &str) -> Cell {
    let size = plan.pick("quick", "default");
    cell(program, &format!("--tier o0 --size {size} --ticks 500"), plan.pick(0.4, 12.0))
}

fn short_run(program: &str) -> Cell {
    cell(program, "--sync-compile --size quick --ticks 50", 0.8)
}

/// A name for links, what it is about, the programs, and their cells.
type Group<'a> = (&'a str, &'a str, Vec<&'a str>, &'a dyn Fn(&str) -> Cell);

/// The overlap of each program, in percent; nothing of those that were not measured.
type Overlaps = Vec<(String, f64)>;

fn overlaps(results: &Results<'_>, names: &[&str], of: &str, cell: impl Fn(&str) -> Cell) -> Overlaps {
    let of = format!("{of}.overlap");
    let one = |name: &&str| Some((name.to_string(), results.number(&cell(name), &of)?));
    names.iter().filter_map(one).collect()
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let groups: [Group<'_>; 2] = [
        ("phased", "programs with phases", phased(plan), &|name| with_phases(plan, name)),
        ("short", "short runs", short(plan), &short_run),
    ];
    for (id, what, names, cell) in groups {
        let [cbs, bursts] = [CBS, ONE_SHOT].map(|of| overlaps(results, &names, of, cell));
        let average = |of: &Overlaps| {
            let values: Vec<f64> = of.iter().map(|of| of.1).collect();
            if values.len() == names.len() { mean(&values) } else { None }
        };
        let both = average(&cbs).zip(average(&bursts));
        found.checks.shape(
            &format!("bursts are less accurate: {what}"),
            "expected, not measured",
            "mean overlap below that of CBS(3,16)",
            both.map(|(cbs, bursts)| bursts < cbs),
            both.map_or("not measured".into(), |(cbs, bursts)| {
                format!("bursts {bursts:.1} %, CBS {cbs:.1} %")
            }),
        );
        let groups = categories(&names);
        let bar = |name: &str, of: &Overlaps| {
            let all = average(of);
            series(name, &groups, |group| {
                let one = of.iter().find(|(name, _)| name == group).map(|of| of.1);
                one.or(all).map(|value| exactly(value, Unit::Percent))
            })
        };
        let bars = bars(
            id,
            &format!("Accuracy of bursts and of CBS: {what}"),
            "Overlap with the exact calls of the code. Bursts are the first hundred entries of each compiled method, weighted by how fast they came.",
            Unit::Percent,
            groups.clone(),
            vec![bar("CBS(3,16)", &cbs), bar("bursts", &bursts)],
        );
        found.figures.push(bars);
    }
}
