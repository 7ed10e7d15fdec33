//! How a measurement stands to the paper.
//!
//! **A number** is compared with a bound. It is the value that must keep it: that the interval reaches over the bound is no excuse, or bad
//! measurements would pass where good ones fail. And a value whose interval is wider than what the check wants to tell apart says nothing if
//! the interval reaches over the bound, so it does not pass either. *Better* is what keeps the stretch bound (or the paper's own, where there is none) with all of its interval.
//!
//! **A shape** is what a person sees in the figure: an order, a trend. It holds or it does not.
//!
//! **An experiment** is as good as the worst of its checks. A number that misses its bound makes it *shape only* if it has shapes and
//! all of them hold, and else *not reproduced*.

use crate::report::model::{Check, Measured, Unit, Verdict};

/// What a number must keep.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bound {
    side: Side,
    /// The paper's, or what the catalogue asks for.
    limit: f64,
    /// Beyond this it is better than the paper.
    stretch: f64,
    /// Half an interval that reaches over the limit may be no longer.
    resolution: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    AtMost,
    AtLeast,
}

impl Bound {
    /// Less is better.
    pub fn at_most(limit: f64) -> Bound {
        Bound { side: Side::AtMost, limit, stretch: limit, resolution: f64::INFINITY }
    }

    /// More is better.
    pub fn at_least(limit: f64) -> Bound {
        Bound { side: Side::AtLeast, ..Bound::at_most(limit) }
    }

    /// Only beyond this is it better than the paper.
    pub fn stretch(self, stretch: f64) -> Bound {
        Bound { stretch, ..self }
    }

    /// What is known less exactly says nothing, unless all of its interval is on one side.
    pub fn resolution(self, resolution: f64) -> Bound {
        Bound { resolution, ..self }
    }

    /// In words: the bound, and half of how long an interval may be. Of what was not measured the unit is not known.
    pub fn text(&self, unit: Option<Unit>) -> String {
        let words = if self.side == Side::AtMost { "at most" } else { "at least" };
        let number = |value: f64| unit.map_or(value.to_string(), |unit| shown(value, unit));
        let bound = format!("{words} {}", number(self.limit));
        match self.resolution.is_finite() {
            true => format!("{bound}, known to ±{}", number(self.resolution)),
            false => bound,
        }
    }

    fn keeps(&self, value: f64, limit: f64) -> bool {
        match self.side {
            Side::AtMost => value <= limit,
            Side::AtLeast => value >= limit,
        }
    }

    /// How the number stands to it.
    pub fn judge(&self, measured: &Measured) -> Standing {
        // Without an interval, of what must be known to a distance, nothing is known: there was but one round.
        let (low, high) = measured.interval.unwrap_or(match self.resolution.is_finite() {
            true => (f64::NEG_INFINITY, f64::INFINITY),
            false => (measured.value, measured.value),
        });
        let (best, worst) = if self.side == Side::AtMost { (low, high) } else { (high, low) };
        let is_open = self.keeps(best, self.limit) != self.keeps(worst, self.limit);
        let is_wide = (high - low) / 2.0 > self.resolution;
        if !(measured.value.is_finite() && low <= high) || is_wide && is_open {
            return Standing::Unclear;
        }
        let is_beyond = self.keeps(worst, self.stretch) && worst != self.limit;
        match self.keeps(measured.value, self.limit) {
            true if is_beyond => Standing::Beyond,
            true => Standing::Kept,
            false => Standing::Missed,
        }
    }
}

/// How a number stands to a bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// With all of its interval beyond the stretch bound.
    Beyond,
    /// It keeps it.
    Kept,
    /// It does not.
    Missed,
    /// It is not known well enough.
    Unclear,
}

/// A number as text, with as many digits as it needs.
pub fn shown(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Percent => format!("{value:.digits$} %", digits = if value.abs() < 10.0 { 2 } else { 1 }),
        Unit::Ratio => format!("{value:.3}"),
        Unit::Count if value.fract() == 0.0 => format!("{value:.0}"),
        Unit::Count => format!("{value:.2}"),
        Unit::Seconds => format!("{value:.3} s"),
        Unit::Nanoseconds => format!("{value:.1} ns"),
        Unit::Bytes => format!("{value:.0} B"),
    }
}

/// A cost that is no larger than what the same machine measured twice differs by, as text; nothing for others.
pub fn within_band(measured: &Measured, band: Option<f64>) -> Option<String> {
    let band = band.filter(|band| measured.value.is_finite() && measured.value.abs() < *band)?;
    Some(format!("≤ {}", shown(band, measured.unit)))
}

enum Kind {
    Number(Standing),
    Shape(bool),
    Told,
    Missing,
}

/// The checks of an experiment, as they come.
#[derive(Default)]
pub struct Checks {
    all: Vec<(Check, Kind)>,
}

impl Checks {
    /// A number against the paper's. Nothing was measured if it is not there.
    pub fn number(&mut self, what: &str, paper: &str, bound: Bound, measured: Option<Measured>) {
        let target = bound.text(measured.map(|measured| measured.unit));
        let kind = measured.as_ref().map_or(Kind::Missing, |measured| Kind::Number(bound.judge(measured)));
        let shown = match (&measured, &kind) {
            (Some(measured), Kind::Number(Standing::Unclear)) => {
                format!("{}: too uncertain", shown(measured.value, measured.unit))
            }
            (Some(measured), _) => shown(measured.value, measured.unit),
            (None, _) => "not measured".into(),
        };
        // JSON has no other numbers.
        let measured = measured.filter(|of| of.value.is_finite());
        self.push(what, paper, &target, measured, shown, kind);
    }

    /// A cost against the paper's. `band` is what the same machine measured twice may differ by: less than that is said to be no more than the
    /// band, as nobody knows how much it is. The verdict is that of [`Checks::number`], and the value stays beside it.
    pub fn cost(
        &mut self,
        what: &str,
        paper: &str,
        bound: Bound,
        measured: Option<Measured>,
        band: Option<f64>,
    ) {
        self.number(what, paper, bound, measured);
        if let (Some(measured), Some((check, kind))) = (measured, self.all.last_mut())
            && let Some(hidden) = within_band(&measured, band)
            && !matches!(kind, Kind::Number(Standing::Unclear))
        {
            check.shown = hidden;
        }
    }

    /// A cost that the paper has no number for; see [`Checks::cost`].
    pub fn told_cost(&mut self, what: &str, paper: &str, measured: Option<Measured>, band: Option<f64>) {
        self.told(what, paper, measured);
        if let (Some(measured), Some((check, _))) = (measured, self.all.last_mut())
            && let Some(hidden) = within_band(&measured, band)
        {
            check.shown = hidden;
        }
    }

    /// A number that decides whether the paper's is reproduced, and beside it the same of a variant with its name, which decides only whether that is
    /// better: beyond the stretch bound, where the first keeps its own.
    pub fn number_or_better(
        &mut self,
        what: &str,
        paper: &str,
        bound: Bound,
        measured: Option<Measured>,
        (name, variant): (&str, Option<Measured>),
    ) {
        let (Some(own), Some(variant)) = (measured, variant) else {
            return self.number(what, paper, bound, None);
        };
        let kind = match (bound.judge(&own), bound.judge(&variant)) {
            (Standing::Kept, Standing::Beyond) => Standing::Beyond,
            (standing, _) => standing,
        };
        let words = if kind == Standing::Unclear { ": too uncertain" } else { "" };
        let text =
            format!("{}{words} ({name}: {})", shown(own.value, own.unit), shown(variant.value, variant.unit));
        let target = bound.text(Some(own.unit));
        self.push(what, paper, &target, measured.filter(|of| of.value.is_finite()), text, Kind::Number(kind));
    }

    /// A shape; nothing if what it is about was not measured.
    pub fn shape(&mut self, what: &str, paper: &str, target: &str, holds: Option<bool>, shown: String) {
        let kind = holds.map_or(Kind::Missing, Kind::Shape);
        self.push(what, paper, target, None, shown, kind);
    }

    /// What the paper has no number for.
    pub fn told(&mut self, what: &str, paper: &str, measured: Option<Measured>) {
        let kind = if measured.is_some() { Kind::Told } else { Kind::Missing };
        let shown = measured.map_or("not measured".into(), |of| shown(of.value, of.unit));
        self.push(what, paper, "only told", measured, shown, kind);
    }

    fn push(
        &mut self,
        what: &str,
        paper: &str,
        target: &str,
        measured: Option<Measured>,
        shown: String,
        kind: Kind,
    ) {
        let (what, paper, target) = (what.to_string(), paper.to_string(), target.to_string());
        self.all.push((Check { what, paper, target, measured, shown, verdict: Verdict::Missing }, kind));
    }

    /// All checks with their verdicts, the verdict of them together, and why.
    pub fn finish(self) -> (Vec<Check>, Verdict, String) {
        let shapes: Vec<bool> = self
            .all
            .iter()
            .filter_map(|(_, kind)| if let Kind::Shape(holds) = kind { Some(*holds) } else { None })
            .collect();
        let is_shape_right = !shapes.is_empty() && shapes.iter().all(|&holds| holds);
        let missed = if is_shape_right { Verdict::ShapeOnly } else { Verdict::NotReproduced };
        let verdict = |kind: &Kind| match kind {
            Kind::Number(Standing::Beyond) => Verdict::Better,
            Kind::Number(Standing::Kept) | Kind::Shape(true) => Verdict::Reproduced,
            Kind::Number(Standing::Missed | Standing::Unclear) => missed,
            Kind::Shape(false) => Verdict::NotReproduced,
            Kind::Told => Verdict::NotComparable,
            Kind::Missing => Verdict::Missing,
        };
        let checks: Vec<Check> =
            self.all.iter().map(|(check, kind)| Check { verdict: verdict(kind), ..check.clone() }).collect();
        let numbers = self.all.iter().any(|(_, kind)| matches!(kind, Kind::Number(_)));
        // A shape that holds is no reason not to call a number better.
        let counted = self.all.iter().zip(&checks).filter(|((_, kind), _)| match kind {
            Kind::Told => false,
            Kind::Shape(true) => !numbers,
            _ => true,
        });
        let worst = counted.map(|(_, check)| check).max_by_key(|check| check.verdict);
        let Some(worst) = worst else {
            let why = "the paper gives nothing that could be compared".to_string();
            return (checks, Verdict::NotComparable, why);
        };
        let (verdict, what) = (worst.verdict, &worst.what);
        let why = match verdict {
            Verdict::Better => {
                "all numbers are better than the paper's, with all of their intervals".to_string()
            }
            Verdict::Reproduced => "all that was compared is as in the paper, or better".to_string(),
            Verdict::ShapeOnly => format!("the shape is as in the paper, but not this: {what}"),
            Verdict::NotReproduced => format!("not as in the paper: {what}"),
            Verdict::NotComparable | Verdict::Missing => format!("not measured to the end: {what}"),
        };
        (checks, verdict, why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(value: f64, half: f64) -> Option<Measured> {
        let interval = (half > 0.0).then_some((value - half, value + half));
        Some(Measured { value, interval, unit: Unit::Percent })
    }

    fn verdict(bound: Bound, measured: Option<Measured>, shape: Option<bool>) -> Verdict {
        let mut checks = Checks::default();
        checks.number("cost", "1.2 %", bound, measured);
        if shape.is_some() {
            checks.shape("order", "falling", "falling", shape, String::new());
        }
        checks.finish().1
    }

    #[test]
    fn five_percent_worse_does_not_pass() {
        for (bound, limit, worse) in [(Bound::at_most(1.2), 1.2, 1.05), (Bound::at_least(94.0), 94.0, 0.95)] {
            // However uncertain it is.
            for half in [0.0, 0.01, 0.1, 1.0, 20.0] {
                let seen = verdict(bound, measured(limit * worse, half), Some(true));
                assert_eq!(seen, Verdict::ShapeOnly, "{limit} {half}");
                assert_eq!(verdict(bound, measured(limit * worse, half), None), Verdict::NotReproduced);
            }
        }
        // The same program made slower by five points.
        assert_eq!(verdict(Bound::at_most(1.2), measured(1.0 + 5.0, 0.5), None), Verdict::NotReproduced);
    }

    #[test]
    fn a_value_passes_and_its_interval_makes_it_better() {
        let bound = Bound::at_most(1.2).stretch(0.8);
        assert_eq!(verdict(bound, measured(1.2, 0.0), Some(true)), Verdict::Reproduced);
        assert_eq!(verdict(bound, measured(1.1, 0.5), Some(true)), Verdict::Reproduced);
        assert_eq!(verdict(bound, measured(0.7, 0.2), Some(true)), Verdict::Reproduced);
        assert_eq!(verdict(bound, measured(0.5, 0.2), Some(true)), Verdict::Better);
        assert_eq!(verdict(Bound::at_least(94.0), measured(97.0, 1.0), None), Verdict::Better);
        assert_eq!(verdict(Bound::at_least(94.0), measured(94.0, 0.0), None), Verdict::Reproduced);
    }

    #[test]
    fn what_is_not_known_well_enough_does_not_pass() {
        let bound = Bound::at_most(1.2).resolution(1.0);
        assert_eq!(verdict(bound, measured(0.5, 1.1), Some(true)), Verdict::ShapeOnly);
        assert_eq!(verdict(bound, measured(-20.0, 21.3), Some(true)), Verdict::ShapeOnly);
        assert_eq!(verdict(bound, measured(0.5, 0.9), Some(true)), Verdict::Reproduced);
        // That it is on this side is known, however wide it is; and that it is on the other.
        assert_eq!(verdict(bound, measured(-3.0, 1.1), Some(true)), Verdict::Better);
        let least = Bound::at_least(8.7).resolution(4.0);
        assert_eq!(verdict(least, measured(22.0, 5.0), Some(true)), Verdict::Better);
        assert_eq!(verdict(least, measured(12.0, 5.0), Some(true)), Verdict::ShapeOnly);
        assert_eq!(bound.judge(&measured(5.0, 1.1).unwrap()), Standing::Missed);
        assert_eq!(bound.judge(&measured(0.5, 1.1).unwrap()), Standing::Unclear);
        assert_eq!(verdict(bound, measured(f64::NAN, 0.0), None), Verdict::NotReproduced);
        assert_eq!(verdict(bound, None, Some(true)), Verdict::Missing);
        // One round: no interval.
        assert_eq!(verdict(bound, measured(0.5, 0.0), Some(true)), Verdict::ShapeOnly);
        assert_eq!(bound.text(Some(Unit::Percent)), "at most 1.20 %, known to ±1.00 %");
        assert_eq!(bound.text(None), "at most 1.2, known to ±1");
    }

    #[test]
    fn costs_within_the_band_are_said_to_be_no_more() {
        let said = |value: f64, half: f64, band: Option<f64>| {
            let mut checks = Checks::default();
            checks.cost("cost", "1.2 %", Bound::at_most(1.2).resolution(1.0), measured(value, half), band);
            let (all, verdict, _) = checks.finish();
            assert_eq!(all[0].measured, measured(value, half));
            (all[0].shown.clone(), verdict)
        };
        assert_eq!(said(0.1, 0.2, Some(0.25)), ("≤ 0.25 %".into(), Verdict::Better));
        assert_eq!(said(-0.1, 0.2, Some(0.25)).0, "≤ 0.25 %");
        assert_eq!(said(0.3, 0.2, Some(0.25)).0, "0.30 %");
        assert_eq!(said(-0.3, 0.2, Some(0.25)).0, "-0.30 %");
        assert_eq!(said(0.3, 0.2, None).0, "0.30 %");
        // A band as wide as the bound is no excuse, and what is not known well enough is still said to be so.
        assert_eq!(said(1.3, 0.2, Some(2.0)), ("≤ 2.00 %".into(), Verdict::NotReproduced));
        assert_eq!(said(0.1, 1.5, Some(0.25)).0, "0.10 %: too uncertain");
        let mut checks = Checks::default();
        checks.told_cost("cost", "not said", measured(0.1, 0.2), Some(0.2));
        assert_eq!(checks.finish().0[0].shown, "≤ 0.20 %");
    }

    #[test]
    fn a_variant_decides_only_whether_it_is_better() {
        let bound = Bound::at_least(88.0).stretch(93.0);
        let verdict = |own: Option<Measured>, variant: Option<Measured>| {
            let mut checks = Checks::default();
            checks.number_or_better("accuracy", "88 %", bound, own, ("sixteen", variant));
            checks.finish().1
        };
        assert_eq!(verdict(measured(90.0, 0.0), measured(95.0, 0.0)), Verdict::Better);
        assert_eq!(verdict(measured(90.0, 0.0), measured(92.0, 0.0)), Verdict::Reproduced);
        assert_eq!(verdict(measured(90.0, 0.0), measured(80.0, 0.0)), Verdict::Reproduced);
        assert_eq!(verdict(measured(95.0, 0.0), measured(80.0, 0.0)), Verdict::Better);
        // However good the variant is.
        assert_eq!(verdict(measured(83.6, 0.0), measured(99.0, 0.0)), Verdict::NotReproduced);
        assert_eq!(verdict(measured(90.0, 0.0), None), Verdict::Missing);
        assert_eq!(verdict(None, measured(95.0, 0.0)), Verdict::Missing);
    }

    #[test]
    fn the_worst_check_decides() {
        let bound = Bound::at_most(1.2);
        assert_eq!(verdict(bound, measured(0.5, 0.1), Some(false)), Verdict::NotReproduced);
        let mut checks = Checks::default();
        checks.shape("order", "", "", Some(true), String::new());
        checks.told("how many", "", measured(3.0, 0.0));
        assert_eq!(checks.finish().1, Verdict::Reproduced);
        let mut checks = Checks::default();
        checks.told("how many", "", measured(3.0, 0.0));
        assert_eq!(checks.finish().1, Verdict::NotComparable);
        let mut checks = Checks::default();
        checks.number("one", "", bound, measured(0.5, 0.1));
        checks.number("other", "", bound, measured(1.2, 0.1));
        assert_eq!(checks.finish().1, Verdict::Reproduced);
    }
}
