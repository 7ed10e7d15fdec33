//! Bond and McKinley 2005, figure 11: PEP collects profiles and drives optimization in adaptive runs.

use super::{pep, sec6_5};
use crate::catalogue::overheads::{Costs, bars, categories, order, paper_mean};
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
        "Here three machines begin at once, two of them without PEP, and take turns after each iteration until the base has run for two seconds, or a fifth of one when time is short: interpreter, compilation in the background, \
         and whatever `--continuous` makes again, because PEP's samples say that branches go other ways than code was made for (`overhead --whole-runs`). Compared are the sums of all turns, in time of \
         the processor; intervals are over rounds of such runs.",
        "PEP looks now and then, as `--continuous` has it unless it is told otherwise: methods have a second version with its instrumentation, which runs for some ticks, and seldom where nothing \
         changes (`pep:code=turns`). The paper's is in all code, all the time; in a full run that is measured beside it.",
        "The programs with phases are what the paper lacks: five whose branches change, four when time is short. Each of their runs is a process, and long beside the time that it takes to notice. Runs with PEP, in all code, and \
         without it take turns; a trial is the ratio of neighbours.",
    ],
    cells: |plan| {
        let usual = ways(plan)
            .iter()
            .flat_map(|&way| steady(plan).into_iter().map(move |name| whole(plan, name, way)));
        // Who runs first takes turns, too.
        let pair = |trial: u32| if trial.is_multiple_of(2) { [true, false] } else { [false, true] };
        let trials = |name| {
            (1..=trials(plan)).flat_map(move |trial| pair(trial).map(|pep| process(plan, name, trial, pep)))
        };
        usual.chain(phased(plan).into_iter().flat_map(trials)).collect()
    },
    conclude,
};

fn steady(plan: &Plan) -> Vec<&'static str> {
    plan.programs(&["richards", "json", "queens"], programs::CLASSIC)
}

fn phased(plan: &Plan) -> Vec<&'static str> {
    plan.programs(&["post", "depot", "guests", "tokenizer"], sec6_5::CHANGING)
}

fn trials(plan: &Plan) -> u32 {
    plan.trials.unwrap_or(plan.pick(3, 25)).max(1)
}

/// When PEP looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    /// In a second version of the code, now and then.
    InTurns,
    /// In all code, all the time.
    Always,
}

/// Those that are measured; the first decides.
fn ways(plan: &Plan) -> &'static [Way] {
    plan.pick(&[Way::InTurns], &[Way::InTurns, Way::Always])
}

/// A profiler that drives.
fn driving(way: Way) -> String {
    let code = if way == Way::InTurns { ",code=turns" } else { "" };
    format!("--continuous --profile {}{code}", pep(64, 17))
}

/// Whole runs of a program that stays as it is.
fn whole(plan: &Plan, program: &str, way: Way) -> Cell {
    let milliseconds = plan.pick(200, 2000);
    // What is only told need not be known as well.
    let rounds = match way {
        Way::InTurns => plan.trials.unwrap_or(plan.pick(4, 25)).max(1),
        Way::Always => trials(plan).div_ceil(10).max(2),
    };
    let order = order(plan);
    let line = format!(
        "overhead {program} {} --whole-runs {milliseconds}ms --rounds {rounds} --max-time 1h --precision 0.01{order} --json {RESULT}",
        driving(way)
    );
    Cell::timed(Reduction::Overhead, &[&line], f64::from(3 * milliseconds * rounds) / 1e3 + 0.4)
}

/// A run of a program with phases; the seed, for which no program asks, tells trials apart.
fn process(plan: &Plan, program: &str, trial: u32, pep: bool) -> Cell {
    let size = match (plan.mode, program) {
        (Mode::Quick, "post" | "depot") => "150000",
        (Mode::Quick, _) => "40000",
        (Mode::Full, "post" | "depot") => "1000000",
        (Mode::Full, _) => "400000",
    };
    let flags = if pep { format!(" {}", driving(Way::Always)) } else { String::new() };
    let line = format!(
        "bench {program} --size {size} --iterations 1 --seed {trial}{flags} --timer wall:20ms --json {RESULT}"
    );
    Cell::timed(Reduction::Times, &[&line], plan.pick(0.65, 6.0))
        .beside(format!("pep-fig11 {program} {trial}"))
}

/// How much slower programs with phases are: the logarithms of the ratios of neighbours.
fn ratios(plan: &Plan, results: &Results<'_>, program: &str) -> Option<Vec<f64>> {
    let time = |trial: u32, pep: bool| {
        let outcome = results.outcome(&process(plan, program, trial, pep))?;
        outcome.samples.get("samples_ns").map(|all| all.iter().sum::<f64>()).filter(|&time| time > 0.0)
    };
    (1..=trials(plan)).map(|trial| Some((time(trial, true)? / time(trial, false)?).ln())).collect()
}

/// The same with means; none of them was run again.
fn of_processes(plan: &Plan, results: &Results<'_>, names: &[&str]) -> Costs {
    let (mut each, mut all) = (Vec::new(), Vec::new());
    for (stream, name) in (1..).zip(names) {
        let Some(ratios) = ratios(plan, results, name) else { continue };
        let ratio = LogRatio::over_rounds(&ratios, stream);
        each.push((name.to_string(), above_one(ratio.interval())));
        all.push(ratio);
    }
    let mean = if all.len() == names.len() { mean_above_one(&all) } else { None };
    Costs { each, again: Vec::new(), mean, again_mean: None }
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let (steady, phased) = (steady(plan), phased(plan));
    let usual = Costs::of(results, &steady, |name| whole(plan, name, Way::InTurns));
    let always = ways(plan)
        .contains(&Way::Always)
        .then(|| Costs::of(results, &steady, |name| whole(plan, name, Way::Always)));
    let changing = of_processes(plan, results, &phased);
    let paper = |key: &str| papers::number(&format!("pep.fig11.adaptive_overhead.{key}"));
    let percent = |value: f64| shown(value, Unit::Percent);
    found.checks.cost(
        "average overhead, steady programs",
        &percent(paper("avg")),
        Bound::at_most(paper("avg")).stretch(0.5).resolution(1.0),
        usual.mean,
        usual.band(),
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
    if let Some(always) = &always {
        found.checks.told(
            "average overhead, steady programs, PEP in all code",
            &percent(paper("avg")),
            always.mean,
        );
    }
    let groups = categories(&steady);
    let caption = "Time of whole adaptive runs with PEP(64,17) that drives over time of those without, with 95 % intervals; what is no larger than the same twice is noise.";
    let in_all_code = always.iter().map(|always| always.series("PEP(64,17) in all code", &groups));
    let all = [usual.series("PEP(64,17)", &groups)]
        .into_iter()
        .chain(in_all_code)
        .chain([paper_mean(&groups, "paper, PEP(64,17)", paper("avg")), usual.again_series(&groups)]);
    let all = all.collect();
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
