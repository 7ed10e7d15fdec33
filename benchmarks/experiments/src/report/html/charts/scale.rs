//! From numbers to places: linear and logarithmic scales with ticks at round numbers.
//!
//! A scale reaches from a tick to a tick and holds all values. On a logarithmic axis zero has no place; if some value is not positive,
//! the axis gets a stretch of its own for it at its lower end, with its own tick.
//!
//! Invariants, tested with random ranges: ticks rise strictly, lie within the scale, are evenly spaced (on a logarithmic axis: powers of
//! ten, or 1, 2 and 5 of each), and are never more than asked for by more than two.

/// Values are cut off here, so that a difference of two never overflows.
const LIMIT: f64 = 1e300;

/// The share of a logarithmic axis that is set aside for what is not positive.
const ASIDE: f64 = 0.07;

/// Where numbers lie on an axis of length 1.
#[derive(Clone, Debug)]
pub struct Scale {
    log: bool,
    low: f64,
    high: f64,
    /// Is there a stretch for what is not positive.
    aside: bool,
    /// The numbers that are written at the axis.
    pub ticks: Vec<f64>,
    /// The distance of ticks; on a logarithmic axis nothing.
    pub step: Option<f64>,
}

impl Scale {
    /// A scale for these values, with about `most` ticks. What is not finite is left out.
    pub fn of(values: impl IntoIterator<Item = f64>, log: bool, with_zero: bool, most: usize) -> Scale {
        let finite = values.into_iter().filter(|value| value.is_finite());
        let values: Vec<f64> = finite.map(|value| value.clamp(-LIMIT, LIMIT)).collect();
        match log {
            true => Scale::logarithmic(&values, most),
            false => Scale::linear(&values, with_zero, most),
        }
    }

    fn linear(values: &[f64], with_zero: bool, most: usize) -> Scale {
        let zero = if with_zero { Some(0.0) } else { None };
        let all = || values.iter().copied().chain(zero);
        let (mut low, mut high) =
            (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        // A range narrower than a double can be cut into has none of its own.
        if high - low <= low.abs().max(high.abs()) * 1e-9 {
            let around = if low == 0.0 { 1.0 } else { low.abs() * 0.1 };
            if low != 0.0 || !with_zero {
                low -= around;
            }
            high += around;
        }
        let (step, first, last) = steps(low, high, most);
        let ticks: Vec<f64> = (first..=last).map(|index| index as f64 * step).collect();
        let ends = [ticks[0], ticks[ticks.len() - 1]];
        Scale {
            log: false,
            low: ends[0].min(low),
            high: ends[1].max(high),
            aside: false,
            ticks,
            step: Some(step),
        }
    }

    fn logarithmic(values: &[f64], most: usize) -> Scale {
        let positive = || values.iter().copied().filter(|value| *value > 0.0);
        let aside = values.iter().any(|value| *value <= 0.0);
        let (mut low, mut high) = (positive().fold(f64::INFINITY, f64::min), positive().fold(0.0, f64::max));
        if low > high {
            (low, high) = (1.0, 10.0);
        }
        let (from, mut to) = (low.log10().floor() as i32, high.log10().ceil() as i32);
        if from == to {
            to += 1;
        }
        let decades = (to - from) as usize;
        let power = |exponent: i32| 10f64.powi(exponent);
        // 1, 2 and 5 of each power, from the last at or below the lowest value to the first at or above the highest: if that is not
        // too many, else powers alone.
        let fine: Vec<f64> = if decades <= most {
            let all: Vec<f64> = (from..=to)
                .flat_map(|exponent| [1.0, 2.0, 5.0].map(|digit| digit * power(exponent)))
                .collect();
            let begin = all.iter().rposition(|tick| *tick <= low).unwrap_or(0);
            let end = all.iter().position(|tick| *tick >= high).unwrap_or(all.len() - 1);
            all[begin..=end.max(begin + 1).min(all.len() - 1)].to_vec()
        } else {
            Vec::new()
        };
        let ticks: Vec<f64> = if fine.len() >= 2 && fine.len() <= most + 3 {
            fine
        } else {
            let stride = decades.div_ceil(most.max(2)).max(1) as i32;
            let last = from + (to - from + stride - 1) / stride * stride;
            let powers = (from..=last).step_by(stride as usize).map(power);
            powers.filter(|tick| tick.is_finite() && *tick > 0.0).collect()
        };
        let low = ticks.first().copied().unwrap_or(low).min(low);
        let high = ticks.last().copied().unwrap_or(high).max(high);
        Scale { log: true, low, high, aside, ticks, step: None }
    }

    /// Where a number lies, from 0 to 1; nothing for what is not finite.
    pub fn place(&self, value: f64) -> Option<f64> {
        if !value.is_finite() {
            return None;
        }
        let value = value.clamp(-LIMIT, LIMIT);
        if !self.log {
            // Halves, because the whole range may overflow.
            return Some(
                ((value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)).clamp(0.0, 1.0),
            );
        }
        let begin = if self.aside { ASIDE } else { 0.0 };
        if value <= 0.0 {
            return Some(0.0);
        }
        let along = (value.log10() - self.low.log10()) / (self.high.log10() - self.low.log10());
        Some(begin + along.clamp(0.0, 1.0) * (1.0 - begin))
    }

    /// Where bars stand: at zero, or at the lower end.
    pub fn foot(&self) -> f64 {
        self.place(0.0).unwrap_or(0.0)
    }

    /// Is there a stretch for what is not positive, to be marked with its own tick.
    pub fn has_aside(&self) -> bool {
        self.aside
    }

    /// The distance to the next tick around a value, which decides on the decimals of its label.
    pub fn step_at(&self, value: f64) -> f64 {
        self.step.unwrap_or_else(|| 10f64.powf(value.abs().max(f64::MIN_POSITIVE).log10().floor()))
    }
}

/// A round step, and the multiples of it that hold the range.
fn steps(low: f64, high: f64, most: usize) -> (f64, i64, i64) {
    let rough = (high / most.max(1) as f64 - low / most.max(1) as f64).max(f64::MIN_POSITIVE);
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|digit| digit * power)
        .into_iter()
        .find(|step| *step >= rough * (1.0 - 1e-9))
        .unwrap_or(rough);
    // A hair is allowed at both ends, so that 0.3 is not beyond 3 * 0.1.
    let first = (low / step + 1e-9).floor() as i64;
    let last = (high / step - 1e-9).ceil() as i64;
    (step, first, last.max(first + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look random and are the same everywhere: a generator small enough to be seen through.
    fn random(state: &mut u64) -> f64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 11) as f64 / (1u64 << 53) as f64
    }

    #[test]
    fn ticks_rise_and_hold_all_values() {
        let mut state = 7;
        for round in 0..20_000 {
            let size = 10f64.powf(random(&mut state) * 40.0 - 20.0);
            let many = 1 + (random(&mut state) * 6.0) as usize;
            let offset = if round % 3 == 0 { size * random(&mut state) * 1e3 } else { 0.0 };
            let values: Vec<f64> = (0..many).map(|_| offset + (random(&mut state) - 0.4) * size).collect();
            let most = 2 + (random(&mut state) * 8.0) as usize;
            let (log, with_zero) = (round % 2 == 0, round % 5 == 0);
            let scale = Scale::of(values.iter().copied(), log, with_zero, most);
            let ticks = &scale.ticks;
            let about = format!("{values:?} log {log} zero {with_zero} most {most}: {scale:?}");
            assert!(ticks.len() >= 2, "{about}");
            assert!(ticks.len() <= most.max(6) + 3, "{about}");
            assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]), "{about}");
            let places: Vec<f64> = ticks.iter().map(|tick| scale.place(*tick).expect("finite")).collect();
            assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "{about} {places:?}");
            for value in values {
                let inside = log && value <= 0.0
                    || value >= ticks[0] - size * 1e-6 && value <= ticks[ticks.len() - 1] + size * 1e-6
                    || log && value >= ticks[0] * 0.999999 && value <= ticks[ticks.len() - 1] * 1.000001;
                assert!(inside, "{value} in {about}");
                let place = scale.place(value).expect("finite");
                assert!((0.0..=1.0).contains(&place), "{about}");
            }
            if let Some(step) = scale.step {
                let even = ticks.windows(2).all(|pair| ((pair[1] - pair[0]) / step - 1.0).abs() < 1e-3);
                assert!(even, "{about}");
            }
        }
    }

    #[test]
    fn order_is_kept() {
        for log in [false, true] {
            let values = [-3.0, 0.0, 0.01, 0.02, 5.0, 400.0];
            let scale = Scale::of(values, log, false, 6);
            let places: Vec<f64> = values.iter().filter_map(|value| scale.place(*value)).collect();
            assert_eq!(places.len(), values.len());
            assert!(places.windows(2).all(|pair| pair[0] <= pair[1]), "{places:?}");
            assert!(places[2] < places[3] && places[3] < places[4], "{places:?}");
        }
        let scale = Scale::of([0.0, 1.0], true, false, 5);
        assert!(scale.has_aside() && scale.place(0.0) < scale.place(scale.ticks[0]));
    }

    #[test]
    fn strange_values_have_a_scale_too() {
        let strange: [&[f64]; 8] = [
            &[],
            &[f64::NAN],
            &[f64::INFINITY, f64::NEG_INFINITY],
            &[f64::MAX, f64::MIN],
            &[f64::MIN_POSITIVE, 5e-324],
            &[3.0, 3.0],
            &[0.0],
            &[-1e-300, 1e300],
        ];
        for values in strange {
            for (log, with_zero) in [(false, false), (false, true), (true, false), (true, true)] {
                let scale = Scale::of(values.iter().copied(), log, with_zero, 5);
                assert!((2..12).contains(&scale.ticks.len()), "{values:?} {scale:?}");
                for value in values {
                    assert!(
                        scale.place(*value).is_none_or(|place| (0.0..=1.0).contains(&place)),
                        "{scale:?}"
                    );
                    assert_eq!(scale.place(*value).is_some(), value.is_finite());
                }
            }
        }
    }

    #[test]
    fn the_steps_are_round() {
        let ticks = |values: [f64; 2], log| Scale::of(values, log, false, 5).ticks;
        assert_eq!(ticks([0.0, 9.7], false), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(ticks([-1.3, 4.3], false), [-2.0, 0.0, 2.0, 4.0, 6.0]);
        assert_eq!(ticks([0.02, 0.9], true), [0.02, 0.05, 0.1, 0.2, 0.5, 1.0]);
        assert_eq!(ticks([50e3, 40e6], true), [1e4, 1e5, 1e6, 1e7, 1e8]);
    }
}
