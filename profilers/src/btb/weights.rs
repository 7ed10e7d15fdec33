//! From matching sets to weights of full paths (section 3.4).
//!
//! The paper gives each path of a matching set an equal share of the partial path's count. This makes paths hot that
//! were never executed (its section 4.6). Ours, open question M2, all in terms of the same matching sets:
//!
//! * *expectation-maximisation*: the counts are a mixture of full paths with unknown shares θ. In turn, each partial
//!   path is divided among its matches in proportion to θ, and θ becomes what each path got. The likelihood
//!   Σ count · ln Σ_{p in M} θ(p) never decreases (Dempster, Laird, Rubin 1977), and no path outside of every matching
//!   set ever gets weight. Deviation from a full model: how likely a path is to show just this part of itself is taken
//!   to be the same for all paths.
//! * *prior*: the first division is in proportion to what an edge profile makes of each path;
//! * *cold edges*: paths with an edge that an edge profile calls cold leave a matching set, unless nothing would remain;
//! * *a limit on matches*: a partial path with more is no evidence, and is counted as such.
//!
//! The sum of the weights is the sum of the counts. All sums run in the order of matches and path numbers: the same
//! input gives the same bits.

use super::bits::BitSet;
use super::parameter::{OutOfRange, within};

/// How the first division is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FirstGuess {
    /// Equal shares (the paper).
    #[default]
    Equal,
    /// In proportion to the probabilities that an edge profile gives.
    EdgeProfile,
}

/// Expectation-maximisation after the first division.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Em {
    /// At most so many rounds.
    pub iterations: u32,
    /// Done when no path's share of the region changes by more than this.
    pub tolerance: f64,
}

impl Default for Em {
    fn default() -> Self {
        Self { iterations: 100, tolerance: 1e-6 }
    }
}

/// Which edges are cold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColdEdges {
    /// An edge is cold if its share among its block's successors is below this.
    pub fraction: f64,
}

/// How weights are found.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Weighting {
    /// The first division.
    pub first: FirstGuess,
    /// Refinement, if any.
    pub em: Option<Em>,
    /// Elimination of paths with cold edges, if any.
    pub cold: Option<ColdEdges>,
    /// Partial paths with more matches than this are not used.
    pub most_matches: Option<u32>,
}

impl Weighting {
    /// The most rounds there may be.
    pub const MAX_ITERATIONS: u32 = 100_000;

    /// The weighting itself if its parameters are valid.
    ///
    /// # Errors
    ///
    /// If iterations are not in `1..=MAX_ITERATIONS`, tolerance or fraction not in `0..=1`, or the most matches are 0.
    pub fn validated(self) -> Result<Self, OutOfRange> {
        if let Some(em) = self.em {
            within("iterations", em.iterations, 1, Self::MAX_ITERATIONS)?;
            within("tolerance", em.tolerance, 0.0, 1.0)?;
        }
        if let Some(cold) = self.cold {
            within("fraction of a cold edge", cold.fraction, 0.0, 1.0)?;
        }
        if let Some(most) = self.most_matches {
            within("most matches", most, 1, u32::MAX)?;
        }
        Ok(self)
    }
}

/// A partial path as evidence: which full paths it may be part of, and how often it was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// The matching set; an empty one is no evidence.
    pub paths: BitSet,
    /// The count.
    pub count: u64,
}

/// The weights of a region's full paths.
#[derive(Debug, Clone, PartialEq)]
pub struct Weighed {
    /// For each path, in samples.
    pub weights: Vec<f64>,
    /// The logarithm of the likelihood: after the first division, then after each round.
    pub log_likelihood: Vec<f64>,
    /// Whether refinement stopped because nothing changed any more.
    pub converged: bool,
}

/// Divides the counts among `paths` full paths. `prior` has one number for each path, at least 0; `None` stands for
/// equal shares. A match whose paths all have prior 0 is divided equally.
#[must_use]
pub fn weigh(paths: usize, matches: &[Match], prior: Option<&[f64]>, em: Option<Em>) -> Weighed {
    let matches: Vec<(Vec<usize>, f64)> = matches
        .iter()
        .map(|evidence| (evidence.paths.iter().filter(|&path| path < paths).collect(), evidence.count as f64))
        .filter(|(paths, count): &(Vec<usize>, f64)| !paths.is_empty() && *count > 0.0)
        .collect();
    let total: f64 = matches.iter().map(|(_, count)| count).sum();
    let mut weights =
        divide(paths, &matches, |path| prior.map_or(1.0, |p| p.get(path).copied().unwrap_or(0.0)));
    let mut log_likelihood = vec![likelihood(&matches, &weights, total)];
    let mut converged = true;
    if let Some(em) = em {
        converged = total == 0.0;
        for _ in 0..em.iterations {
            if converged {
                break;
            }
            let next = divide(paths, &matches, |path| weights[path]);
            converged = next.iter().zip(&weights).all(|(new, old)| (new - old).abs() <= em.tolerance * total);
            weights = next;
            log_likelihood.push(likelihood(&matches, &weights, total));
        }
    }
    Weighed { weights, log_likelihood, converged }
}

/// Each count divided among its paths in proportion to `share`; equally if none has a share.
fn divide(paths: usize, matches: &[(Vec<usize>, f64)], share: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut weights = vec![0.0; paths];
    for (set, count) in matches {
        let sum: f64 = set.iter().map(|&path| share(path)).sum();
        for &path in set {
            let part = if sum > 0.0 { share(path) / sum } else { 1.0 / set.len() as f64 };
            weights[path] += count * part;
        }
    }
    weights
}

fn likelihood(matches: &[(Vec<usize>, f64)], weights: &[f64], total: f64) -> f64 {
    matches
        .iter()
        .map(|(set, count)| count * (set.iter().map(|&path| weights[path]).sum::<f64>() / total).ln())
        .sum()
}
