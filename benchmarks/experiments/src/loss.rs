//! Whether something lost, when what is hoped for is that nothing did.
//!
//! That an interval reaches over 0 is no proof of anything: a measurement that is bad enough never finds a loss. So there are three answers. A loss
//! is **there** if the whole interval lies beyond the band, which is what the same machine measured twice may differ by. There is **none** if the
//! interval excludes a loss of the size that the check must see. Else nobody knows, and a check that asks for no loss does not pass. (That an interval is narrow enough for such a loss
//! to be found most of the time is not enough for none: of what loses by two deviations more than the band, a quarter would pass.)

use crate::report::model::Measured;

/// What became of something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loss {
    /// It lost.
    There,
    /// It lost nothing that had to be seen.
    None,
    /// It is not known well enough.
    Unclear,
}

/// Of a gain, which is below 0 for a loss, beside the band and the loss that must be seen, all in the same unit. Without an interval nothing is known.
pub fn loss(gain: &Measured, band: f64, must_see: f64) -> Loss {
    let Some((low, high)) = gain.interval else { return Loss::Unclear };
    if !(low.is_finite() && high.is_finite() && gain.value.is_finite() && band >= 0.0) {
        Loss::Unclear
    } else if high < -band {
        Loss::There
    } else if low >= -must_see {
        Loss::None
    } else {
        Loss::Unclear
    }
}

/// Is it a gain with all of its interval beyond the band.
pub fn is_gain(gain: &Measured, band: f64) -> bool {
    gain.interval.is_some_and(|(low, _)| low > band)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::model::Unit;
    use rand::rngs::Xoshiro256PlusPlus;
    use rand::{RngExt, SeedableRng};

    fn of(value: f64, half: f64) -> Measured {
        Measured { value, interval: Some((value - half, value + half)), unit: Unit::Percent }
    }

    #[test]
    fn a_loss_is_there_if_all_of_it_is_beyond_the_band() {
        assert_eq!(loss(&of(-4.0, 1.0), 1.0, 3.0), Loss::There);
        assert_eq!(loss(&of(-4.0, 3.5), 1.0, 3.0), Loss::Unclear);
        assert_eq!(loss(&of(-0.8, 0.1), 1.0, 3.0), Loss::None);
        assert_eq!(loss(&of(-1.5, 1.8), 0.2, 3.0), Loss::Unclear);
        assert_eq!(loss(&of(-1.2, 0.1), 1.0, 3.0), Loss::There);
    }

    #[test]
    fn width_is_no_excuse() {
        for value in [-2.0, 0.0, 2.0] {
            assert_eq!(loss(&of(value, 20.0), 0.1, 3.0), Loss::Unclear, "{value}");
        }
        // Nor is a band that hides everything, but where the interval itself excludes a loss.
        let hidden = [-2.0, 0.0, 2.0].map(|value| loss(&of(value, 1.0), 20.0, 0.5));
        assert_eq!(hidden, [Loss::Unclear, Loss::Unclear, Loss::None]);
        // However wide, this one cannot have lost so much.
        assert_eq!(loss(&of(18.0, 20.0), 0.1, 3.0), Loss::None);
        let unknown = Measured { interval: None, ..of(1.0, 0.0) };
        assert_eq!(loss(&unknown, 0.1, 3.0), Loss::Unclear);
        assert_eq!(loss(&of(f64::NAN, 1.0), 0.1, 3.0), Loss::Unclear);
        assert_eq!(loss(&of(0.0, 0.1), f64::NAN, 3.0), Loss::Unclear);
        assert!(is_gain(&of(3.0, 1.0), 1.5) && !is_gain(&of(3.0, 2.0), 1.5) && !is_gain(&unknown, 0.0));
    }

    /// Of programs that lose as much as must be seen, next to none is said to have lost nothing, however badly they are measured.
    #[test]
    fn what_loses_does_not_pass() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        for deviation in [0.1, 0.5, 1.0, 2.0, 8.0] {
            let passed = (0..4000).filter(|_| {
                let noise: f64 = (0..12).map(|_| random.random_range(-0.5..0.5)).sum();
                loss(&of(-3.0 + deviation * noise, 1.96 * deviation), 0.3, 3.0) == Loss::None
            });
            let passed = passed.count();
            assert!(passed < 4000 * 4 / 100, "{deviation}: {passed} of 4000");
        }
    }
}
