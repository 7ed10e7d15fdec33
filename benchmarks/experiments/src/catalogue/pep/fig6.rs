//! Bond and McKinley 2005, figure 6: execution overhead of PEP.

use super::pep;
use crate::catalogue::overheads::{Costs, bars, categories, cell, compiling, in_a_line, paper_mean};
use crate::catalogue::{Experiment, Findings, programs};
use crate::cell::Cell;
use crate::papers;
use crate::plan::Plan;
use crate::report::model::Unit;
use crate::results::Results;
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
         again, shows what is noise. PEP(64,17) takes up to 64 samples, 17 yieldpoints apart at first, at every tick of 20 ms.",
        "What is executed for a path is seldom an addition, and a store where its number is not known and no yieldpoint sets the register: compiled code executes 1.1 % more instructions in list, 2.2 in queens, 1.8 in deltablue (callgrind). \
         A yieldpoint of a loop sets it only while samples are taken, which the paper's does in each round: then it was 8.6, 5.2 and 2.4 %, and the times were in the same order.",
        "The rest is where code lies: deltablue, from which all that PEP executes was left out in a trial, still took 3 % longer, with the blocks for samples beside its code; and single programs are faster with PEP than without. Work cannot make a program faster, so single programs are known to some points at best.",
    ],
    cells: |plan| {
        let names = programs(plan);
        configurations(plan).iter().flat_map(|of| names.iter().map(|name| of.cell(plan, name))).collect()
    },
    conclude,
};

/// The programs of figures 6 and 7.
pub(super) fn programs(plan: &Plan) -> Vec<&'static str> {
    plan.programs(programs::QUICK, programs::CLASSIC)
}

/// A group of bars.
pub(super) struct Configuration {
    name: String,
    flags: String,
}

impl Configuration {
    pub(super) fn cell(&self, plan: &Plan, program: &str) -> Cell {
        cell(plan, program, &self.flags)
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

fn configurations(plan: &Plan) -> Vec<Configuration> {
    let mut all = vec![sampling(64, 17), instrumentation()];
    all.extend(
        plan.pick(vec![(1024, 17)], vec![(1, 1), (256, 17), (1024, 17)])
            .iter()
            .map(|of| sampling(of.0, of.1)),
    );
    all
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = programs(plan);
    let all: Vec<(Configuration, Costs)> = configurations(plan)
        .into_iter()
        .map(|of| {
            let costs = Costs::of(results, &names, |name| of.cell(plan, name));
            (of, costs)
        })
        .collect();
    let (costs, only) = (&all[0].1, &all[1].1);
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
    let ordered = all.iter().all(|(_, costs)| costs.mean.is_some()).then(|| {
        let band = costs.band().unwrap_or_default().max(only.band().unwrap_or_default());
        let means: Vec<f64> = std::iter::once(only)
            .chain([costs])
            .chain(all[2..].iter().map(|of| &of.1))
            .filter_map(|of| Some(of.mean?.value))
            .collect();
        // (1,1) comes before (64,17), but that it costs less is not to be seen.
        let last = means.len() - 1;
        means[0] <= means[1] + band && means[1] <= means[last] + band
    });
    found.checks.shape(
        "more samples cost more",
        "instrumentation only, PEP(64,17), higher rates",
        "in this order, but for noise",
        ordered,
        in_a_line(all.iter().map(|(of, costs)| (&*of.name, costs.mean)), "-"),
    );
    found.checks.told("the same machine twice", "not measured", costs.again_mean);
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
}
