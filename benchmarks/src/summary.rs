//! The few numbers that stand for many samples.

/// A summary of the times of one program, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Summary {
    /// Half of the samples are at most this.
    pub median: f64,
    /// The shortest.
    pub minimum: u64,
    /// Distance between the quartiles, as a part of the median: how far the middle half of the samples is spread.
    pub spread: f64,
}

/// Summarises samples; nothing comes of none.
pub fn summarize(samples: &[u64]) -> Option<Summary> {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    let minimum = *sorted.first()?;
    let median = quantile(&sorted, 0.5);
    let between = quantile(&sorted, 0.75) - quantile(&sorted, 0.25);
    Some(Summary { median, minimum, spread: if median > 0.0 { between / median } else { 0.0 } })
}

/// The value below which the given part of the sorted, non-empty samples lies, interpolated between neighbours.
fn quantile(sorted: &[u64], part: f64) -> f64 {
    let place = part * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize] as f64, sorted[place.ceil() as usize] as f64);
    below + (above - below) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_quartiles_lie_between_samples() {
        assert_eq!(summarize(&[]), None);
        assert_eq!(summarize(&[7]), Some(Summary { median: 7.0, minimum: 7, spread: 0.0 }));
        assert_eq!(summarize(&[0, 0]), Some(Summary { median: 0.0, minimum: 0, spread: 0.0 }));
        let summary = summarize(&[40, 10, 30, 20]).expect("samples");
        assert_eq!((summary.median, summary.minimum), (25.0, 10));
        assert_eq!(summary.spread, (32.5 - 17.5) / 25.0);
    }
}
