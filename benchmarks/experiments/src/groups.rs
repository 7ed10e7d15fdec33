//! Whether groups of numbers differ by more than chance: analysis of variance, with chance found by exchanging the numbers.

use crate::results::mean;
use holloway_benchmarks::against::statistics::student;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;

/// How often the numbers are dealt out anew.
const DEALS: usize = 2000;

/// What several groups of as many numbers each say.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spread {
    /// Between the least mean of a group and the greatest.
    pub between: f64,
    /// What the means of two groups may differ by if the groups do not: two of them are beyond it once in twenty times.
    pub chance: f64,
    /// The part of all ways to deal the numbers out to the groups by which means differ as much as they do, or more.
    pub share: f64,
}

impl Spread {
    /// Of at least two groups, each of as many numbers, and of at least two; nothing for others.
    pub fn of(groups: &[Vec<f64>]) -> Option<Spread> {
        let (all, size) = (groups.len(), groups.first()?.len());
        if all < 2 || size < 2 || groups.iter().any(|group| group.len() != size) {
            return None;
        }
        let means: Vec<f64> = groups.iter().filter_map(|group| mean(group)).collect();
        let greatest = means.iter().copied().fold(f64::MIN, f64::max);
        let least = means.iter().copied().fold(f64::MAX, f64::min);
        let within: f64 = groups.iter().zip(&means).map(|(group, mean)| squares(group, *mean)).sum();
        let freedom = (all * (size - 1)) as f64;
        let deviation = (within / freedom).sqrt();
        Some(Spread {
            between: greatest - least,
            chance: student(freedom) * deviation * (2.0 / size as f64).sqrt(),
            share: share(groups.concat(), size),
        })
    }

    /// Do the groups differ, if this is asked of so many sets of groups: none of them is found to differ by chance in 19 of 20 times.
    pub fn is_significant(&self, sets: usize) -> bool {
        self.share < 0.05 / sets as f64
    }
}

/// Are numbers of the same programs less in the second place, by more than what programs differ by: is all of the 95 % interval of the
/// mean difference below zero.
pub fn is_surely_less(here: &[f64], next: &[f64]) -> bool {
    let differences: Vec<f64> = here.iter().zip(next).map(|(here, next)| next - here).collect();
    let Some(mean) = mean(&differences) else { return false };
    let freedom = differences.len() as f64 - 1.0;
    if freedom < 1.0 {
        return mean < 0.0;
    }
    let error = (squares(&differences, mean) / freedom / differences.len() as f64).sqrt();
    mean + student(freedom) * error < 0.0
}

fn squares(values: &[f64], from: f64) -> f64 {
    values.iter().map(|value| (value - from).powi(2)).sum()
}

/// How far the means of groups are from the mean of all.
fn far_apart(values: &[f64], size: usize) -> f64 {
    let means: Vec<f64> = values.chunks(size).filter_map(mean).collect();
    squares(&means, mean(&means).unwrap_or(0.0))
}

fn share(mut values: Vec<f64>, size: usize) -> f64 {
    let found = far_apart(&values, size);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(values.len() as u64);
    let as_far = (0..DEALS).filter(|_| {
        values.shuffle(&mut random);
        // The same numbers in another order have another sum in the last digit.
        far_apart(&values, size) >= found * (1.0 - 1e-9)
    });
    // As they were found is one way, too.
    (as_far.count() + 1) as f64 / (DEALS + 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    #[test]
    fn groups_that_lie_apart_differ() {
        let found =
            Spread::of(&[vec![1.0, 2.0, 1.5, 1.2], vec![5.0, 5.5, 6.0, 5.2], vec![1.1, 1.9, 1.4, 1.3]]);
        let found = found.expect("three groups");
        assert!(found.is_significant(1) && found.between > found.chance, "{found:?}");
        assert!((found.between - 4.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn groups_that_are_alike_do_not() {
        let found = Spread::of(&[vec![1.0, 5.0, 3.0], vec![2.0, 4.0, 3.5]]).expect("two groups");
        assert!(!found.is_significant(1) && found.between < found.chance, "{found:?}");
        // Of the 70 ways to deal out eight, 2 are as far apart as these.
        let found = Spread::of(&[vec![1.0, 2.0, 3.0, 4.0], vec![5.0, 6.0, 7.0, 8.0]]).expect("two groups");
        assert!((found.share - 2.0 / 70.0).abs() < 0.015, "{found:?}");
    }

    #[test]
    fn what_has_no_groups_has_no_spread() {
        assert_eq!(Spread::of(&[]), None);
        assert_eq!(Spread::of(&[vec![1.0, 2.0]]), None);
        assert_eq!(Spread::of(&[vec![1.0], vec![2.0]]), None);
        assert_eq!(Spread::of(&[vec![1.0, 2.0], vec![2.0]]), None);
    }

    /// Groups that do not differ are found to differ once in twenty times.
    #[test]
    fn chance_is_found_to_be_chance() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
        let mut group = || (0..4).map(|_| random.random_range(-1.0..1.0)).collect::<Vec<f64>>();
        let differ = (0..400)
            .filter(|_| {
                let groups = [group(), group(), group()];
                Spread::of(&groups).is_some_and(|found| found.is_significant(1))
            })
            .count();
        assert!((8..=36).contains(&differ), "{differ} of 400");
    }

    #[test]
    fn a_fall_that_programs_do_not_agree_on_may_be_chance() {
        assert!(is_surely_less(&[90.0, 80.0, 70.0, 60.0], &[89.0, 78.9, 69.2, 59.0]));
        assert!(!is_surely_less(&[90.0, 80.0, 70.0, 60.0], &[92.0, 74.0, 71.0, 58.0]));
        assert!(!is_surely_less(&[90.0, 80.0], &[92.0, 81.0]));
        // All by as much: there is no chance in it.
        assert!(is_surely_less(&[90.0, 80.0], &[89.0, 79.0]));
        // Of a single program nothing is known but its own numbers.
        assert!(is_surely_less(&[90.0], &[89.0]));
    }
}
