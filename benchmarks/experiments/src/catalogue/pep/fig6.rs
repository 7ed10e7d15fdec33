//! Bond and McKinley 2005, figure 6: execution overhead of PEP.

use super::pep;
use crate::catalogue::overheads::{
    Costs, bars, categories, compiling, in_a_line, noise, of_seconds, paper_mean, usual,
};
use crate::catalogue::tables::{entry, table, text};
use crate::catalogue::{Experiment, Findings, programs};
use crate::cell::Cell;
use crate::papers;
use crate::plan::Plan;
use crate::report::model::{self, Figure, Measured, Unit};
use crate::results::{Results, above_one, exactly};
use crate::verdict::{Bound, shown};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "pep-fig6",
    place: "Figure 6",
    title: "Execution overhead of PEP",
    says: &[
        "The paper compares the second iteration under replay compilation, the fastest of ten runs, with and without PEP: instrumentation alone \
         costs 1.1 % on average and 5.4 % at most; sampling with PEP(64,17) makes it 1.2 % and 4.3 %, so its maxima are known to a point at best.",
        "Here machines with and without PEP replay the same compilations in one process and take turns after each millisecond; the number is the \
         mean ratio of such turns, over rounds that put code and objects elsewhere, with a bootstrap interval. A third machine, which is the base \
         again, shows what is noise. PEP(64,17) takes up to 64 samples at every tick of 20 ms, one at each yieldpoint, after up to 16 skipped ones.",
        "What is executed for a path is seldom an addition, and a store where its number is not known and no yieldpoint sets the register: compiled code executes 1.1 % more instructions in list, 2.2 in queens, 1.8 in deltablue (callgrind). \
         A yieldpoint of a loop sets it only while samples are taken, which the paper's does in each round: then it was 8.6, 5.2 and 2.4 %, and the times were in the same order.",
        "The rest is where code lies: deltablue, from which all that PEP executes was left out in a trial, still took 3 % longer, with the blocks for samples beside its code; and single programs are faster with PEP than without. Work cannot make a program faster, so single programs are known to some points at best.",
    ],
    cells: |plan| {
        let names = programs(plan);
        let large = large(plan);
        let of_large = large.iter().flat_map(|name| [0, 1].map(|at| configurations()[at].cell(plan, name)));
        let each = configurations();
        let each = each.iter().flat_map(|of| names.iter().map(|name| of.cell(plan, name)));
        each.chain(of_large).collect()
    },
    conclude,
};

/// The programs of figures 6 and 7.
pub(super) fn programs(plan: &Plan) -> Vec<&'static str> {
    plan.programs(programs::QUICK, programs::CLASSIC)
}

/// Large programs, of a full run: with PEP(64,17) and the register alone.
pub(super) fn large(plan: &Plan) -> Vec<&'static str> {
    plan.programs(&[], programs::LARGE)
}

/// A group of bars.
pub(super) struct Configuration {
    name: String,
    flags: String,
}

impl Configuration {
    pub(super) fn cell(&self, plan: &Plan, program: &str) -> Cell {
        // Where iterations are long, only two rounds fit into the time, whose interval says nothing.
        let size = programs::enough(program).map_or(String::new(), |size| format!(" --size {size}"));
        of_seconds(plan, program, &format!("{}{size}", self.flags), usual(plan, &self.flags))
    }

    pub(super) fn compiling(&self, plan: &Plan, program: &str) -> Cell {
        compiling(plan, program, &self.flags)
    }
}

/// PEP with so many samples for each tick.
pub(super) fn sampling(samples: u32, stride: u32) -> Configuration {
    Configuration {
        name: format!("PEP({samples},{stride})"),
        flags: format!("--profile {}", pep(samples, stride)),
    }
}

/// The path register is kept, and nobody looks at it.
pub(super) fn instrumentation() -> Configuration {
    Configuration {
        name: "instrumentation only".into(),
        // With no ticks there are no samples, in any of the machines.
        flags: format!("--profile {} --timer wall:1h", pep(64, 17)),
    }
}

/// The one that decides, the register alone, and the others in the order of their samples.
fn configurations() -> Vec<Configuration> {
    let mut all = vec![sampling(64, 17), instrumentation()];
    all.extend([(1, 1), (256, 17), (1024, 17)].map(|of| sampling(of.0, of.1)));
    all
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = programs(plan);
    let all: Vec<(Configuration, Costs)> = configurations()
        .into_iter()
        .map(|of| {
            let costs = Costs::of(results, &names, |name| of.cell(plan, name));
            (of, costs)
        })
        .collect();
    let everything: Vec<&str> = names.iter().copied().chain(large(plan)).collect();
    // What is compared with the paper is of all programs, what configurations are to each other of those that have all of them.
    let of_all = [0, 1].map(|at| Costs::of(results, &everything, |name| all[at].0.cell(plan, name)));
    let (costs, only) = (&of_all[0], &of_all[1]);
    let paper = |key: &str| papers::number(&format!("pep.fig6.{key}"));
    let (average, most) = (paper("pep_64_17.avg"), paper("pep_64_17.max"));
    found.checks.cost(
        "average overhead of PEP(64,17)",
        &shown(average, Unit::Percent),
        Bound::at_most(average).stretch(0.8).resolution(1.0),
        costs.mean,
        costs.band(),
    );
    found.checks.number(
        "overhead of PEP(64,17) for the dearest program",
        &shown(most, Unit::Percent),
        Bound::at_most(most).stretch(3.0),
        costs.worst().map(|(_, measured)| *measured),
    );
    let limit = 2.0 * paper("instr_only.max");
    found.checks.shape(
        "no program is far off",
        &format!("at most {}", shown(paper("instr_only.max"), Unit::Percent)),
        &format!(
            "at most {}, in every configuration but those that sample most",
            shown(limit, Unit::Percent)
        ),
        costs.worst().zip(only.worst()).map(|(one, other)| one.1.value.max(other.1.value) <= limit),
        costs.worst().map_or("not measured".into(), |(name, measured)| {
            format!("{name}, {}", shown(measured.value, Unit::Percent))
        }),
    );
    // By what they sample: the register alone, (1,1), (64,17), (256,17), (1024,17).
    let by_samples: Option<Vec<Measured>> = [1, 2, 0, 3, 4].iter().map(|&at| all[at].1.mean).collect();
    let ordered = by_samples.map(|means| {
        let keeps = |of: &[Measured]| of[0].value <= of[1].value + noise(&of[0], &of[1]);
        // That 16 times as many samples cost more is to be seen.
        means.windows(2).all(keeps) && means[2].value < means[4].value
    });
    found.checks.shape(
        "more samples cost more",
        "instrumentation only and PEP(1,1) alike, PEP(64,17), then (256,17), (1024,17)",
        "none costs more than the next but for noise, and PEP(64,17) less than PEP(1024,17)",
        ordered,
        in_a_line([1, 2, 0, 3, 4].iter().map(|&at| (&*all[at].0.name, all[at].1.mean)), "-"),
    );
    found.checks.told("the same machine twice", "not measured", costs.again_mean);
    if everything.len() > names.len() {
        let groups = categories(&everything);
        let both = [("PEP(64,17)", costs), ("instrumentation only", only)];
        let mut series: Vec<_> = both.map(|(name, of)| of.series(name, &groups)).into();
        series.push(paper_mean(&groups, "paper, PEP(64,17)", average));
        let caption = "The same with large programs, of two configurations.";
        found.figures.push(bars(
            "large",
            "Execution overhead, large programs",
            caption,
            Unit::Percent,
            groups,
            series,
        ));
    }
    let groups = categories(&names);
    let mut series: Vec<_> = all.iter().map(|(of, costs)| costs.series(&of.name, &groups)).collect();
    series.push(paper_mean(&groups, "paper, PEP(64,17)", average));
    series.push(costs.again_series(&groups));
    found.figures.push(bars(
        "overhead",
        "Execution overhead",
        "Time with PEP over time without it, with 95 % intervals. What is no larger than the bars of the same machine measured twice is noise.",
        Unit::Percent,
        groups,
        series,
    ));
    found.figures.extend(beside(plan, results));
}

/// The paper's statistic beside ours, and how often something happens.
fn beside(plan: &Plan, results: &Results<'_>) -> Option<Figure> {
    let names = programs(plan);
    let usual = sampling(64, 17);
    let rows = names.iter().zip(1..).map(|(name, stream)| {
        let cell = usual.cell(plan, name);
        let [ours, again] = ["overhead", "again"].map(|what| results.ratio(&cell, what, stream));
        let outcome = results.outcome(&cell)?;
        let times = |arm: &str| outcome.samples.get(&format!("{arm}.cpu_ns"));
        let least = |arm: &str| times(arm)?.iter().copied().min_by(f64::total_cmp);
        let seconds = times("profiled")?.iter().sum::<f64>() / 1e9;
        let rate = |what: &str| Some(outcome.numbers.get(&format!("profiled.{what}"))? / seconds);
        let percent = |ratio: f64| exactly(100.0 * (ratio - 1.0), Unit::Percent);
        Some(vec![
            text(name),
            model::Cell::Number(above_one(ours?.interval())),
            model::Cell::Number(percent(least("profiled")? / least("base")?)),
            model::Cell::Number(above_one(again?.interval())),
            entry(rate("ticks"), Unit::Count),
            entry(rate("yieldpoints_taken"), Unit::Count),
            entry(rate("path_samples"), Unit::Count),
        ])
    });
    let rows: Option<Vec<_>> = rows.collect();
    Some(table(
        "statistics",
        "PEP(64,17) by two statistics, and what it does in a second",
        "The mean ratio of turns with its interval; the fastest turn with PEP over the fastest without, as the paper has it of ten runs; the same machine twice (A/A). Ticks, yieldpoints that were taken and samples, in a second of processor time.",
        &[
            "program",
            "mean of pairs",
            "fastest over fastest",
            "A/A",
            "ticks/s",
            "yieldpoints taken/s",
            "samples/s",
        ],
        rows?,
    ))
}
