//! FFT at several rates: what two experiments of section 3.1 and section 2.2 look at.

use crate::catalogue::overheads::cell;
use crate::cell::Cell;
use crate::plan::Plan;
use crate::report::model::Measured;
use crate::results::{Results, above_one};

/// Mean blocks between samples for which time is measured; of the last, nearly all of the cost is counting blocks.
pub(super) const TIMED: [u64; 3] = [40, 160, 1_000_000];

/// What FFT costs with a counter in compiled code, at this rate.
pub(super) fn cost(plan: &Plan, rate: u64) -> Cell {
    cell(plan, "fft", &format!("--tier o2 --profile osp:rate={rate}"))
}

/// The cost at each rate.
pub(super) fn costs(plan: &Plan, results: &Results<'_>) -> [Option<Measured>; 3] {
    let of = |(stream, rate): (u64, u64)| {
        Some(above_one(results.ratio(&cost(plan, rate), "overhead", stream)?.interval()))
    };
    [(1, TIMED[0]), (2, TIMED[1]), (3, TIMED[2])].map(of)
}

/// What sampling costs beyond counting blocks, in percent, at the first two rates.
pub(super) fn sampling(costs: &[Option<Measured>; 3]) -> Option<[f64; 2]> {
    let counting = costs[2]?.value;
    Some([costs[0]?.value - counting, costs[1]?.value - counting])
}
