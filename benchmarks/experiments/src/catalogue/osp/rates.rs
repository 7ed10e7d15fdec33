//! FFT at several rates: what two experiments of section 3.1 and section 2.2 look at.

use super::runs::mean_length;
use crate::catalogue::overheads::cell;
use crate::cell::Cell;
use crate::papers;
use crate::plan::Plan;
use crate::report::model::Measured;
use crate::results::{Results, above_one};

/// Mean blocks between samples at which nearly all of the cost is that of counting blocks.
pub(super) const SELDOM: u64 = 1_000_000;

/// Mean blocks between samples for which time is measured.
pub(super) fn timed(plan: &Plan) -> Vec<u64> {
    plan.pick(vec![40, 1000, SELDOM], vec![10, 40, 100, 1000, 10_000, SELDOM])
}

/// What FFT costs with a counter in compiled code, at this rate.
pub(super) fn cost(plan: &Plan, rate: u64) -> Cell {
    cell(plan, "fft", &format!("--tier o2 --profile osp:rate={rate}"))
}

/// The cost at a rate.
pub(super) fn costs(plan: &Plan, results: &Results<'_>, rate: u64) -> Option<Measured> {
    Some(above_one(results.ratio(&cost(plan, rate), "overhead", rate)?.interval()))
}

/// What sampling costs beyond counting blocks, in percent.
pub(super) fn sampling(plan: &Plan, results: &Results<'_>, rate: u64) -> Option<f64> {
    Some(costs(plan, results, rate)?.value - costs(plan, results, SELDOM)?.value)
}

/// How many times as many samples one rate gives as another: a sample stands for the blocks between, and for its own.
pub(super) fn times_as_many(often: u64, seldom: u64) -> f64 {
    let blocks = |rate: u64| rate as f64 + mean_length(32);
    blocks(seldom) / blocks(often)
}

/// What sampling cost the paper at 40, over that at 1000.
pub(super) fn paper_ratio() -> f64 {
    let cost = |key: &str| papers::number(&format!("osp.table2.{key}.sampling_overhead"));
    cost("fft_f40") / cost("fft_f1000")
}
