//! Arnold and Grove 2005, figure 5: what inlining by samples is worth in the steady state; and from the same code, section 6.3's time of
//! compilation.

use super::inlining::{
    self, CBS, COMPILER, Choice, J9, J9_STATIC, Losses, MUST_SEE, NEW, STATIC, TIMER, noise, of,
};
use super::sec5_1::cbs_over_timer;
use crate::catalogue::overheads::{Costs, bars, categories, series};
use crate::catalogue::{Experiment, Findings};
use crate::cell::Cell;
use crate::loss::is_gain;
use crate::papers;
use crate::plan::Plan;
use crate::report::model::{Measured, Unit};
use crate::results::{Results, above_one, exactly, mean, mean_above_one};
use crate::verdict::{Bound, shown};
use holloway_benchmarks::against::statistics::LogRatio;

pub(in crate::catalogue) const LEFT: Experiment = Experiment {
    id: "cbs-fig5-left",
    place: "Figure 5, left",
    title: "Speed-up by inlining in the manner of Jikes RVM",
    says: &[
        "Programs run for two minutes, the second of which counts. Profile-directed inlining matters most for mtrt, jess and compress; CBS over the timer matters for \
         javac, 4 %, and nothing is slower.",
        "Here code that the new inliner makes by samples is measured against code of static heuristics, and CBS against the timer, paired in \
         one process, in the steady state. Calls are sampled in a run at the lowest level, several times, with ticks at other moments: intervals say how far other samples may be. \
         The timer against static heuristics is only shown, and only in a full run.",
    ],
    cells: |plan| {
        let pairs = [of_new(CBS), cbs_over_timer(NEW)].into_iter().chain(only_shown(plan));
        let pairs: Vec<(Choice, Choice)> = pairs.collect();
        inlining::cells(plan, &pairs)
    },
    conclude: left,
};

pub(in crate::catalogue) const RIGHT: Experiment = Experiment {
    id: "cbs-fig5-right",
    place: "Figure 5, right",
    title: "Speed-up by inlining in the manner of J9",
    says: &[
        "J9 does not inline calls that the profile knows as cold, whatever static heuristics say. By CBS mtrt is 8.7 % faster, five others about 1 %, the worst \
         loses less than 1 %; by the timer's samples six of eight programs lose. (The paper says both \"other 8\" and \"6 of the 8\".)",
        "Here `j9` is such an inliner, measured against static heuristics that inline up to 60 words; above 23 words it asks for the more calls the larger the callee is. Tiny methods with one target it inlines nevertheless: code of the \
         lowest level has them inlined, so that samples of its calls know nothing of them.",
        "What such a policy cannot see is time: a method that is called seldom and works long looks cold. In Havlak the phases of its loop finder are such methods, which static heuristics inline and \
         optimize together; so a small callee that makes many calls itself is not cold here, and of at most three possible targets each is judged as if all calls of the site were its own. Nor is a large method inlined into itself, however hot its calls are.",
    ],
    cells: |plan| inlining::cells(plan, &[of_j9(TIMER), of_j9(CBS)]),
    conclude: right,
};

pub(in crate::catalogue) const COMPILE_TIME: Experiment = Experiment {
    id: "cbs-sec6.3-compile-time",
    place: "Section 6.3",
    title: "Time of compilation with cold calls left out",
    says: &[
        "Since cold calls are not inlined, J9 compiles 9 % faster on average.",
        "Here it is the processor time of all compilations that the code of figure 5, right, needs, by CBS and by static heuristics; and how much code it is. \
         Everything is compiled anew in each of several rounds, in a full run by calls that were sampled at three different times: the interval says how far other rounds and other samples of the same programs may be.",
    ],
    cells: |plan| {
        let (choice, base) = of_j9(CBS);
        inlining::names(plan)
            .into_iter()
            .flat_map(|name| inlining::compiling(plan, name, choice, base))
            .collect()
    },
    conclude: compile_time,
};

/// The new inliner against static heuristics.
pub fn of_new(profiler: &'static str) -> (Choice, Choice) {
    (Choice::by_calls(NEW, profiler), Choice::by_size(STATIC))
}

/// What no check of the left figure asks for, when there is time for it.
fn only_shown(plan: &Plan) -> Option<(Choice, Choice)> {
    plan.pick(None, Some(of_new(TIMER)))
}

fn of_j9(profiler: &'static str) -> (Choice, Choice) {
    (Choice::by_calls(J9, profiler), Choice::by_size(J9_STATIC))
}

fn speedups(plan: &Plan, results: &Results<'_>, names: &[&str], pair: (Choice, Choice)) -> Costs {
    inlining::speedups(plan, results, names, pair.0, pair.1)
}

fn best(costs: &Costs) -> Option<Measured> {
    costs.worst().map(|of| of.1)
}

fn figure(found: &mut Findings, names: &[&str], timer: Option<&Costs>, cbs: &Costs) {
    let groups = categories(names);
    let by_timer = timer.map(|timer| timer.series("by the timer", &groups));
    let by_cbs = [cbs.series("by CBS(3,16)", &groups), cbs.again_series(&groups)];
    let series = by_timer.into_iter().chain(by_cbs).collect();
    found.figures.push(bars(
        "speedup",
        "Speed-up over static heuristics",
        "The paper's figure is not in its text, but for the numbers above.",
        Unit::Percent,
        groups,
        series,
    ));
}

fn left(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = inlining::names(plan);
    let timer = only_shown(plan).map(|pair| speedups(plan, results, &names, pair));
    let cbs = speedups(plan, results, &names, of_new(CBS));
    let over = speedups(plan, results, &names, cbs_over_timer(NEW));
    let gain = papers::number("cbs.claims.jikes_largest_gain");
    found.checks.number(
        "largest speed-up by CBS over the timer",
        &format!("{gain} % (javac)"),
        Bound::at_least(gain).stretch(6.0).resolution(3.0),
        best(&over),
    );
    let slower = Losses::of(&over);
    found.checks.shape(
        "CBS is nowhere worse than the timer",
        "nothing is slower",
        "no program with all of its interval beyond noise, and none whose interval does not exclude a loss of 3 %",
        slower.as_ref().map(|slower| slower.there.is_empty() && slower.unclear.is_empty()),
        slower.map_or("not measured".into(), |slower| slower.text()),
    );
    if names.contains(&COMPILER) {
        let both = of(&over, COMPILER).zip(noise(&over, COMPILER));
        found.checks.shape(
            "CBS helps the compiler",
            &format!("{gain} % on javac"),
            "faster than by the timer, with all of the interval beyond noise",
            both.map(|(gain, noise)| is_gain(&gain, noise)),
            both.map_or("not measured".into(), |(gain, noise)| {
                let [gain, noise] = [gain.value, noise].map(|of| shown(of, Unit::Percent));
                format!("{gain}, same machine twice up to {noise}")
            }),
        );
    }
    found.checks.told("average speed-up over static heuristics", "no number", cbs.mean);
    figure(found, &names, timer.as_ref(), &cbs);
}

fn right(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = inlining::names(plan);
    let [timer, cbs] = [TIMER, CBS].map(|profiler| speedups(plan, results, &names, of_j9(profiler)));
    let paper = |key: &str| papers::number(&format!("cbs.claims.j9_{key}"));
    found.checks.number(
        "largest speed-up by CBS",
        &format!("{} % (mtrt)", paper("mtrt_speedup")),
        Bound::at_least(paper("mtrt_speedup")).stretch(10.0).resolution(4.0),
        best(&cbs),
    );
    let least = cbs.mean.and(cbs.each.iter().map(|of| of.1).min_by(|a, b| a.value.total_cmp(&b.value)));
    let limit = paper("largest_degradation_below");
    found.checks.number(
        "the worst program by CBS",
        &format!("less than {limit} % slower (compress)"),
        Bound::at_least(-limit).resolution(MUST_SEE),
        least,
    );
    let hurt = timer.mean.map(|_| timer.each.iter().filter(|of| of.1.value < 0.0).count());
    found.checks.shape(
        "the timer's samples hurt",
        &format!("{} of {} programs", paper("timer_only_hurt"), paper("timer_only_total")),
        "most programs slower than by static heuristics",
        hurt.map(|hurt| hurt * 2 > names.len()),
        hurt.map_or("not measured".into(), |hurt| format!("{hurt} of {}", names.len())),
    );
    found.checks.shape(
        "CBS helps on average",
        "about 1 % on five others",
        "faster on average",
        cbs.mean.map(|mean| mean.value > 0.0),
        cbs.mean.map_or("not measured".into(), |mean| shown(mean.value, mean.unit)),
    );
    figure(found, &names, Some(&timer), &cbs);
}

/// What the choice needs of a number of the base's, of which cells say that it is profiled: the ratio of both, over rounds of the one sample that was taken, or over samples.
fn ratio(plan: &Plan, results: &Results<'_>, program: &str, stream: u64) -> Option<LogRatio> {
    let (choice, base) = of_j9(CBS);
    let of_cell = |cell: &Cell| -> Option<Vec<f64>> {
        let samples = &results.outcome(cell)?.samples;
        let [dynamic, of_base] = ["base.compile_ns", "profiled.compile_ns"].map(|name| samples.get(name));
        let (dynamic, of_base) = (dynamic?, of_base?);
        let is_known = |times: &[f64]| !times.is_empty() && times.iter().all(|time| *time > 0.0);
        (is_known(dynamic) && is_known(of_base) && dynamic.len() == of_base.len())
            .then(|| dynamic.iter().zip(of_base).map(|(dynamic, of_base)| (dynamic / of_base).ln()).collect())
    };
    let cells = inlining::compiling(plan, program, choice, base);
    let all: Vec<Vec<f64>> = cells.iter().map(of_cell).collect::<Option<_>>()?;
    match &all[..] {
        [rounds] => Some(LogRatio::over_rounds(rounds, stream)),
        samples => {
            let means: Option<Vec<f64>> = samples.iter().map(|rounds| mean(rounds)).collect();
            Some(LogRatio::over_rounds(&means?, stream))
        }
    }
}

/// By how many percent the choice's is less, of what is so many percent above the base's.
fn less(of: Measured) -> Measured {
    Measured { value: -of.value, interval: of.interval.map(|(low, high)| (-high, -low)), ..of }
}

/// By how many percent the machine code of the choice is shorter.
fn shorter(plan: &Plan, results: &Results<'_>, program: &str) -> Option<f64> {
    let (choice, base) = of_j9(CBS);
    let of_cell = |cell: &Cell| {
        let number = |arm: &str| results.number(cell, &format!("{arm}.code_bytes"));
        let (dynamic, of_base) = (number("base")?, number("profiled")?);
        (of_base > 0.0).then(|| (1.0 - dynamic / of_base) * 100.0)
    };
    let all: Option<Vec<f64>> =
        inlining::compiling(plan, program, choice, base).iter().map(of_cell).collect();
    mean(&all?)
}

fn compile_time(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = inlining::names(plan);
    let ratios: Vec<Option<LogRatio>> =
        (1..).zip(&names).map(|(stream, name)| ratio(plan, results, name, stream)).collect();
    let known: Option<Vec<LogRatio>> = ratios.iter().cloned().collect();
    let time = known.and_then(|all| mean_above_one(&all)).map(less);
    let lengths: Vec<Option<f64>> = names.iter().map(|name| shorter(plan, results, name)).collect();
    let bytes: Option<Vec<f64>> = lengths.iter().copied().collect();
    let bytes = bytes.and_then(|all| mean(&all)).map(|value| exactly(value, Unit::Percent));
    let paper = papers::number("cbs.claims.j9_compile_time_reduction");
    found.checks.number(
        "less time of compilation, on average",
        &format!("{paper} %"),
        Bound::at_least(paper).stretch(15.0).resolution(5.0),
        time,
    );
    found.checks.told("less machine code, on average", "no number", bytes);
    let groups = categories(&names);
    let bar = |name: &str, of: &dyn Fn(usize) -> Option<Measured>, mean: Option<Measured>| {
        series(name, &groups, |group| match names.iter().position(|name| *name == group) {
            Some(place) => of(place),
            None => mean,
        })
    };
    let of_time = |place: usize| Some(less(above_one(ratios[place].as_ref()?.interval())));
    let of_bytes = |place: usize| lengths[place].map(|saved| exactly(saved, Unit::Percent));
    let series = vec![bar("time of compilation", &of_time, time), bar("machine code", &of_bytes, bytes)];
    found.figures.push(bars(
        "saved",
        "What is saved by not inlining cold calls",
        "Against static heuristics. Below 0 is more.",
        Unit::Percent,
        groups.clone(),
        series,
    ));
}
