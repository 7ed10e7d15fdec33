//! Bond and McKinley 2005, figure 11: PEP collects profiles and drives optimization in adaptive runs.

use super::{pep, sec6_5};
use crate::catalogue::overheads::{Costs, bars, categories, paper_mean};
use crate::catalogue::{Experiment, Findings, programs};
use crate::cell::{Cell, RESULT};
use crate::papers;
use crate::plan::{Mode, Plan};
use crate::reduce::Reduction;
use crate::report::model::Unit;
use crate::results::{Results, above_one, mean_above_one};
use crate::verdict::{Bound, shown};
use holloway_benchmarks::against::statistics::LogRatio;

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "pep-fig11",
    place: "Figure 11",
    title: "PEP collects and drives",
    says: &[
        "In adaptive runs, whose compiler knows but the one-time profile, PEP(64,17) is switched on and what it collects is used. The paper's programs become 1.3 % slower on average and 3.2 % at most \
         (median of 25 runs): the costs are more than the benefit, because the programs begin as they go on.",
        "Here a run is a process, from the first instruction on: interpreter, background compilation, all iterations. `--continuous` compares PEP's samples with what code was made for and makes it \
         again when branches go other ways. Runs with it and without it take turns, and so does a third one that is without again; a trial is the ratio of neighbours, and the intervals are over trials. \
         Single processes differ by several percent, however alike they are: memory and code lie elsewhere in each.",
        "The programs with phases are what the paper lacks: five whose branches change. Their runs are long beside the time that it takes to notice.",
    ],
    cells: |plan| {
        let trials = |name| {
            (1..=trials(plan)).flat_map(move |trial| arms(name).iter().map(move |arm| (name, trial, *arm)))
        };
        let all = steady(plan).into_iter().chain(phased(plan)).flat_map(trials);
        all.map(|(name, trial, arm)| cell(plan, name, trial, arm)).collect()
    },
    conclude,
};

/// What a run is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Arm {
    /// An adaptive run.
    Base,
    /// With PEP.
    Pep,
    /// An adaptive run once more.
    Again,
}

/// Where branches change, effects are larger than noise.
fn arms(program: &str) -> &'static [Arm] {
    if sec6_5::CHANGING.contains(&program) {
        &[Arm::Base, Arm::Pep]
    } else {
        &[Arm::Base, Arm::Pep, Arm::Again]
    }
}

fn steady(plan: &Plan) -> Vec<&'static str> {
    plan.programs(&["richards", "json", "queens"], programs::CLASSIC)
}

fn phased(plan: &Plan) -> Vec<&'static str> {
    plan.programs(&["post", "depot", "guests", "tokenizer"], sec6_5::CHANGING)
}

fn trials(plan: &Plan) -> u32 {
    plan.trials.unwrap_or(plan.pick(3, 25)).max(1)
}

/// Size, iterations and seconds of a run.
fn length(plan: &Plan, program: &str) -> (&'static str, u32, f64) {
    if sec6_5::CHANGING.contains(&program) {
        let size = match (plan.mode, program) {
            (Mode::Quick, "post" | "depot") => "150000",
            (Mode::Quick, _) => "40000",
            (Mode::Full, "post" | "depot") => "1000000",
            (Mode::Full, _) => "400000",
        };
        return (size, 1, plan.pick(0.65, 6.0));
    }
    match (plan.mode, program) {
        (Mode::Quick, "json") => ("default", 60, 0.4),
        (Mode::Quick, _) => ("default", 100, 0.4),
        (Mode::Full, "deltablue" | "havlak" | "cd" | "sieve" | "bounce" | "raytracer") => {
            ("default", 100, 6.0)
        }
        (Mode::Full, _) => ("default", 500, 4.0),
    }
}

/// A run; the seed, for which no program asks, tells trials apart.
fn cell(plan: &Plan, program: &str, trial: u32, arm: Arm) -> Cell {
    let (size, iterations, seconds) = length(plan, program);
    let profile = format!(" --continuous --profile {}", pep(64, 17));
    // A cell of the same command would not be run again.
    let (flags, seed) = match arm {
        Arm::Base => ("", trial),
        Arm::Pep => (&*profile, trial),
        Arm::Again => ("", 1000 + trial),
    };
    let line = format!(
        "bench {program} --size {size} --iterations {iterations} --seed {seed}{flags} --timer wall:20ms --json {RESULT}"
    );
    Cell::timed(Reduction::Times, &[&line], seconds)
}

/// The logarithms of the ratios of neighbours.
fn ratios(plan: &Plan, results: &Results<'_>, program: &str, arm: Arm) -> Option<Vec<f64>> {
    let time = |trial: u32, arm: Arm| {
        let outcome = results.outcome(&cell(plan, program, trial, arm))?;
        outcome.samples.get("samples_ns").map(|all| all.iter().sum::<f64>()).filter(|&time| time > 0.0)
    };
    let ratio = |trial: u32| Some((time(trial, arm)? / time(trial, Arm::Base)?).ln());
    (1..=trials(plan)).map(ratio).collect()
}

/// How much slower the programs are; the same twice only where that was run.
fn costs(plan: &Plan, results: &Results<'_>, names: &[&str]) -> Costs {
    let of = |arm: Arm| {
        let (mut each, mut all) = (Vec::new(), Vec::new());
        for (stream, name) in (1..).zip(names) {
            let Some(ratios) = ratios(plan, results, name, arm) else { continue };
            let ratio = LogRatio::over_rounds(&ratios, stream);
            each.push((name.to_string(), above_one(ratio.interval())));
            all.push(ratio);
        }
        let mean = if all.len() == names.len() { mean_above_one(&all) } else { None };
        (each, mean)
    };
    let has_again = names.iter().all(|name| arms(name).contains(&Arm::Again));
    let ((each, mean), (again, again_mean)) =
        (of(Arm::Pep), if has_again { of(Arm::Again) } else { (Vec::new(), None) });
    Costs { each, again, mean, again_mean }
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let (steady, phased) = (steady(plan), phased(plan));
    let [usual, changing] = [&steady, &phased].map(|names| costs(plan, results, names));
    let paper = |key: &str| papers::number(&format!("pep.fig11.adaptive_overhead.{key}"));
    let percent = |value: f64| shown(value, Unit::Percent);
    found.checks.number(
        "average overhead, steady programs",
        &percent(paper("avg")),
        Bound::at_most(paper("avg")).stretch(0.5).resolution(1.0),
        usual.mean,
    );
    found.checks.number(
        "overhead of the dearest steady program",
        &percent(paper("max")),
        Bound::at_most(paper("max")),
        usual.worst().map(|of| of.1),
    );
    found.checks.number(
        "average overhead, programs whose branches change",
        "not measured",
        Bound::at_most(paper("avg")).stretch(0.0),
        changing.mean,
    );
    let limit = 2.0 * paper("max");
    found.checks.shape(
        "no steady program is far off",
        &format!("at most {}", percent(paper("max"))),
        &format!("at most {}, but for noise", percent(limit)),
        usual.worst().map(|(name, measured)| {
            let low = measured.interval.map_or(measured.value, |of| of.0);
            let noise = usual.again.iter().find(|of| of.0 == *name).map_or(0.0, |of| of.1.value.abs());
            low.min(measured.value - noise) <= limit
        }),
        usual.worst().map_or("not measured".into(), |(name, of)| format!("{name}, {}", percent(of.value))),
    );
    found.checks.told("the same twice, steady programs", "not measured", usual.again_mean);
    let groups = categories(&steady);
    let caption = "Time of adaptive runs with PEP(64,17) that drives over time of those without, with 95 % intervals; what is no larger than the same twice is noise.";
    let all = vec![
        usual.series("PEP(64,17)", &groups),
        paper_mean(&groups, "paper, PEP(64,17)", paper("avg")),
        usual.again_series(&groups),
    ];
    found.figures.push(bars("overhead", "Adaptive runs with PEP", caption, Unit::Percent, groups, all));
    let groups = categories(&phased);
    let caption = "The same for programs whose branches change. Below zero, making code again pays.";
    let all = vec![changing.series("PEP(64,17)", &groups)];
    found.figures.push(bars(
        "phases",
        "Adaptive runs with PEP, programs with phases",
        caption,
        Unit::Percent,
        groups,
        all,
    ));
}
