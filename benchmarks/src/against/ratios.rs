//! The numbers of a comparison: for every program the time of each arm, our ratio to each peer and to ourselves; and the
//! geometric means over the programs.

use crate::against::rounds::{Arm, Compared};
use crate::against::statistics::{Interval, LogRatio, geometric_mean, log_ratios, value};

/// The numbers of a program. What failed, or was not measured in any round that all arms finished, has none.
#[derive(Debug)]
pub struct ProgramRatios {
    /// Our time in nanoseconds, the geometric mean over both of our arms.
    pub ours: Option<f64>,
    /// Our second arm to our first.
    pub own: Option<LogRatio>,
    /// The time of each peer, and our ratio to it.
    pub peers: Vec<Option<(f64, LogRatio)>>,
}

/// The numbers of all programs.
#[derive(Debug)]
pub struct Ratios {
    /// In the order of the programs.
    pub programs: Vec<ProgramRatios>,
    /// Our second arm to our first, over all programs.
    pub own: Option<Interval>,
    /// Our ratio to each peer over the programs that have one, and how many those are.
    pub peers: Vec<Option<(Interval, usize)>>,
}

impl Ratios {
    /// Computes them; each program has `peers` arms besides ours.
    pub fn new(compared: &[Compared], peers: usize) -> Ratios {
        let programs: Vec<ProgramRatios> = compared.iter().map(program).collect();
        let own: Vec<&LogRatio> = programs.iter().filter_map(|program| program.own.as_ref()).collect();
        let own = geometric_mean(&own).map(|mean| mean.interval());
        let peers = (0..peers).map(|index| {
            let all = programs.iter().filter_map(|program| program.peers[index].as_ref());
            let all: Vec<&LogRatio> = all.map(|(_, ratio)| ratio).collect();
            geometric_mean(&all).map(|mean| (mean.interval(), all.len()))
        });
        let peers = peers.collect();
        Ratios { programs, own, peers }
    }

    /// The smallest and the largest that our ratio to ourselves is for any program: differences between them are noise.
    pub fn band(&self) -> Option<(f64, f64)> {
        let all = self.programs.iter().filter_map(|program| program.own.as_ref());
        let values = all.map(|own| own.interval().value);
        values.fold(None, |band, value| match band {
            None => Some((value, value)),
            Some((low, high)) => Some((value.min(low), value.max(high))),
        })
    }
}

fn program(compared: &Compared) -> ProgramRatios {
    let arms: Vec<&Arm> = compared.ours.iter().chain(&compared.peers).collect();
    let good: Vec<usize> = (0..arms.len()).filter(|&index| arms[index].failure.is_none()).collect();
    let rounds = good.iter().map(|&index| arms[index].rounds.len()).min().unwrap_or(0);
    if rounds == 0 || !good.starts_with(&[0, 1]) {
        return ProgramRatios { ours: None, own: None, peers: vec![None; compared.peers.len()] };
    }
    let samples: Vec<Vec<&[u64]>> = (0..rounds)
        .map(|round| good.iter().map(|&index| arms[index].rounds[round].as_slice()).collect())
        .collect();
    let mut weights = vec![vec![0.0; good.len()]; good.len() - 1];
    weights[0][..2].copy_from_slice(&[-1.0, 1.0]);
    for (column, weights) in weights.iter_mut().enumerate().skip(1) {
        weights[..2].copy_from_slice(&[0.5, 0.5]);
        weights[column + 1] = -1.0;
    }
    let mut ratios = log_ratios(&samples, &weights).into_iter();
    let time = |index: usize| {
        let logarithms = arms[index].rounds[..rounds].iter().map(|samples| value(samples).ln());
        (logarithms.sum::<f64>() / rounds as f64).exp()
    };
    let own = ratios.next();
    let mut peers = vec![None; compared.peers.len()];
    for (&index, ratio) in good[2..].iter().zip(ratios) {
        peers[index - 2] = Some((time(index), ratio));
    }
    ProgramRatios { ours: Some((time(0) * time(1)).sqrt()), own, peers }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::against::programs::PROGRAMS;

    pub fn arm(rounds: &[&[u64]]) -> Arm {
        let rounds: Vec<Vec<u64>> = rounds.iter().map(|samples| samples.to_vec()).collect();
        Arm { iterations: 1, rounds, failure: None }
    }

    /// Two programs: in the first, one peer is twice as fast as we are and one failed; in the second, both are equal to us,
    /// and the last round was not finished.
    pub fn two_programs() -> Vec<Compared> {
        let failed = Arm { failure: Some("wrong result".to_string()), ..arm(&[&[1]]) };
        let first = Compared {
            program: &PROGRAMS[0],
            size: 1500,
            ours: [arm(&[&[2_000_000], &[2_000_000]]), arm(&[&[2_000_000], &[2_000_000]])],
            peers: vec![arm(&[&[1_000_000], &[1_000_000]]), failed],
        };
        let second = Compared {
            program: &PROGRAMS[1],
            size: 100,
            ours: [arm(&[&[3_000_000], &[9_000_000]]), arm(&[&[12_000_000]])],
            peers: vec![arm(&[&[6_000_000]]), arm(&[&[6_000_000]])],
        };
        vec![first, second]
    }

    #[test]
    fn ratios_are_ours_to_theirs_within_finished_rounds() {
        let ratios = Ratios::new(&two_programs(), 2);
        let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
        let [first, second] = &ratios.programs[..] else { panic!("two programs") };
        close(first.ours.expect("measured"), 2e6);
        close(second.ours.expect("measured"), 6e6);
        close(first.peers[0].as_ref().expect("measured").1.interval().value, 2.0);
        close(second.peers[1].as_ref().expect("measured").1.interval().value, 1.0);
        assert!(first.peers[1].is_none());
        let (mean, programs) = ratios.peers[0].expect("measured");
        close(mean.value, 2f64.sqrt());
        assert_eq!((programs, ratios.peers[1].expect("once").1), (2, 1));
        let (low, high) = ratios.band().expect("measured");
        close(low, 1.0);
        close(high, 4.0);
        close(ratios.own.expect("measured").value, 2.0);
    }

    #[test]
    fn without_our_own_side_there_is_nothing() {
        let mut compared = two_programs();
        compared[0].ours[1].failure = Some("it crashed".to_string());
        compared[1].ours[1].rounds.clear();
        let ratios = Ratios::new(&compared, 2);
        assert!(ratios.programs.iter().all(|program| program.ours.is_none() && program.own.is_none()));
        assert!(ratios.own.is_none() && ratios.band().is_none() && ratios.peers.iter().all(Option::is_none));
    }
}
