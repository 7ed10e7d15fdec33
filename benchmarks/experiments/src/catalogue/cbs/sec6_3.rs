//! Arnold and Grove 2005, section 6.3: among parameters that cost less than half a percent, it does not matter which.

use super::fig5::of_new;
use super::inlining::{self, CBS, COMPILER, noise, of};
use crate::catalogue::overheads::{Costs, bars};
use crate::catalogue::{Experiment, Findings};
use crate::plan::Plan;
use crate::report::model::{Measured, Unit};
use crate::results::{Results, exactly};
use crate::verdict::{Bound, shown};

pub(in crate::catalogue) const EXPERIMENT: Experiment = Experiment {
    id: "cbs-sec6.3-insensitivity",
    place: "Section 6.3",
    title: "Speed over parameters of CBS",
    says: &[
        "Among samples and strides that cost less than 0.5 %, the choice made no significant difference to the speed of inlined code; on javac 1 to 2 %.",
        "Here the new inliner gets the calls that six such configurations found (three when time is short), and each code is measured against that of static \
         heuristics. What a program's speed-ups differ by is compared with what the same machine differs by.",
    ],
    cells: |plan| points(plan).iter().flat_map(|of| inlining_cells(plan, of.1)).collect(),
    conclude,
};

/// Noise that is wider, in percent, hides what is looked for.
const WIDEST: f64 = 5.0;

/// The first is that of figure 5.
const POINTS: [(&str, &str); 6] = [
    ("CBS(3,16)", CBS),
    ("CBS(7,32)", "cbs:samples=32,stride=7"),
    ("CBS(1,8)", "cbs:samples=8,stride=1"),
    ("CBS(7,16)", "cbs:samples=16,stride=7"),
    ("CBS(3,32)", "cbs:samples=32,stride=3"),
    ("CBS(15,16)", "cbs:samples=16,stride=15"),
];

fn points(plan: &Plan) -> &'static [(&'static str, &'static str)] {
    &POINTS[..plan.pick(3, 6)]
}

fn names(plan: &Plan) -> Vec<&'static str> {
    plan.programs(&["richards", COMPILER], &["richards", "deltablue", "raytracer", COMPILER])
}

fn inlining_cells(plan: &Plan, profiler: &'static str) -> Vec<crate::cell::Cell> {
    let (choice, base) = of_new(profiler);
    names(plan).into_iter().map(|name| inlining::cell(plan, name, choice, base)).collect()
}

fn conclude(plan: &Plan, results: &Results<'_>, found: &mut Findings) {
    let names = names(plan);
    let all: Vec<(&str, Costs)> = points(plan)
        .iter()
        .map(|(point, profiler)| {
            let (choice, base) = of_new(profiler);
            (*point, inlining::speedups(plan, results, &names, choice, base))
        })
        .collect();
    for name in &names {
        let values: Option<Vec<f64>> = all.iter().map(|(_, costs)| Some(of(costs, name)?.value)).collect();
        let spread = values.map(|values| {
            let most = values.iter().copied().fold(f64::MIN, f64::max);
            most - values.iter().copied().fold(f64::MAX, f64::min)
        });
        // Two ends of noise: one measurement may be as far up as the other is down.
        let noises: Option<Vec<f64>> = all.iter().map(|(_, costs)| noise(costs, name)).collect();
        let band = noises.map(|noises| 2.0 * noises.into_iter().fold(0.0, f64::max));
        if *name == COMPILER {
            let spread = spread.zip(band).map(|(spread, band)| Measured {
                interval: Some((spread - band, spread + band)),
                ..exactly(spread, Unit::Percent)
            });
            let what = "between the best and the worst parameters, compiler";
            found.checks.number(what, "1 to 2 % on javac", Bound::at_most(2.0).resolution(WIDEST), spread);
            continue;
        }
        let both = spread.zip(band);
        found.checks.shape(
            &format!("between the best and the worst parameters, {name}"),
            "not significant",
            "within what the same machine differs by, if that is no more than 5 %",
            both.map(|(spread, band)| spread <= band && band <= WIDEST),
            both.map_or("not measured".into(), |(spread, band)| {
                let [spread, band] = [spread, band].map(|of| shown(of, Unit::Percent));
                format!("{spread}, same machine twice up to {band}")
            }),
        );
    }
    let groups: Vec<String> = names.iter().map(|name| name.to_string()).collect();
    found.figures.push(bars(
        "speedup",
        "Speed-up over static heuristics",
        "By the new inliner, from calls that were sampled with different parameters.",
        Unit::Percent,
        groups.clone(),
        all.iter().map(|(point, costs)| costs.series(point, &groups)).collect(),
    ));
}
