//! Oren, Matias and Sagiv 2002, section 3, encoding: what different subpaths with the same identity do.

use super::runs::{RUNS, Run, counted};
use crate::catalogue::tables::{entry, table, text};
use crate::catalogue::{Experiment, Findings};
use crate::plan::Plan;
use crate::report::model::Unit;
use crate::results::{Results, exactly, mean};
use crate::verdict::Bound;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "osp-sec3-encoding",
    place: "Section 3, encoding",
    title: "Subpaths that encodings confuse",
    says: &[
        "A subpath's identity is its length and the exclusive or of its blocks: rotations of a loop are the same, but so are all orders, and what occurs twice is lost. The paper ran another encoding, too, \
         which it does not describe, and found the results confirmed.",
        "Here all subpaths are counted, and each encoding says which it takes for the same: the part of all executions that share an identity with another subpath, and with one that is no rotation of theirs, \
         which is false. An acyclic subpath has no rotation that is run.",
    ],
    cells: |plan| RUNS.iter().map(|run| counted(plan, run)).collect(),
    conclude,
};

/// Names in the profile, and what they are.
const ENCODINGS: [(&str, &str); 4] = [
    ("xor", "exclusive or"),
    ("randomxor", "exclusive or of random numbers"),
    ("rotation", "least rotation"),
    ("rolling", "as they are"),
];

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let number = |run: &Run, encoding: &str, what: &str| {
        results.number(&counted(plan, run), &format!("exact.{encoding}.{what}")).map(|share| share * 100.0)
    };
    let falsely = ENCODINGS.map(|(encoding, _)| -> Option<Vec<f64>> {
        RUNS.iter().map(|run| number(run, encoding, "falsely")).collect()
    });
    let worst = |at: usize| falsely[at].as_ref().map(|all| all.iter().copied().fold(0.0, f64::max));
    let percent = |value: Option<f64>| value.map(|value| exactly(value, Unit::Percent));
    found.checks.number(
        "executions that rotation merges falsely, the worst program",
        "not said",
        Bound::at_most(0.0),
        percent(worst(2)),
    );
    found.checks.told(
        "executions that the exclusive or merges falsely, average",
        "\"correct, in spite of its drawback\"",
        percent(falsely[0].as_deref().and_then(mean)),
    );
    let order = worst(0).zip(worst(1)).zip(worst(3));
    found.checks.shape(
        "numbers of blocks are what collides",
        "blocks that occur an even number of times are lost",
        "random numbers merge less than the blocks' own, and nothing is merged as it is",
        falsely[0]
            .as_deref()
            .and_then(mean)
            .zip(falsely[1].as_deref().and_then(mean))
            .zip(worst(3))
            .map(|((xor, random), rolling)| xor >= random && random > 0.0 && rolling == 0.0),
        order.map_or("not measured".into(), |((xor, random), rolling)| {
            format!("at most {xor:.1} %, {random:.1} % and {rolling:.1} %")
        }),
    );
    let row = |run: &Run| {
        let pairs = ENCODINGS.iter().flat_map(|(encoding, _)| {
            ["merged", "falsely"].map(|what| entry(number(run, encoding, what), Unit::Percent))
        });
        [text(run.program)].into_iter().chain(pairs).collect()
    };
    let heads = ENCODINGS.iter().flat_map(|(_, name)| [*name, "falsely"]);
    let columns: Vec<&str> = [""].into_iter().chain(heads).collect();
    found.figures.push(table(
        "collisions",
        "Executions that share an identity",
        "Of all executed subpaths of 2 to 32 blocks.",
        &columns,
        RUNS.iter().map(row).collect(),
    ));
}
