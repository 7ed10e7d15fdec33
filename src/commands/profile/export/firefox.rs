//! Paths for profiler.firefox.com. It knows samples in time, and their weights have 32 bits: each path is one sample, a millisecond
//! after the one before, and large counts are scaled down.

use super::super::model::Profile;
use super::stacks::Stacks;
use crate::report::Stop;
use fxprof_processed_profile::{
    CategoryHandle, CpuDelta, Frame, FrameFlags, FrameInfo, Profile as Processed, ReferenceTimestamp,
    SamplingInterval, Timestamp, WeightType,
};

/// The profile as JSON.
pub fn firefox(profile: &Profile, stacks: &Stacks) -> Result<Vec<u8>, Stop> {
    // No time of the day: the same profile is exported as the same bytes.
    let reference = ReferenceTimestamp::from_millis_since_unix_epoch(0.0);
    let main = &profile.file.program.main;
    let mut processed = Processed::new(main, reference, SamplingInterval::from_millis(1));
    let start = Timestamp::from_nanos_since_reference(0);
    let process = processed.add_process(main, 1, start);
    let thread = processed.add_thread(process, 1, start, true);
    let divisor = divisor(stacks.stacks.iter().map(|stack| u128::from(stack.count)).sum());
    let unit = if divisor == 1 { String::new() } else { format!(", in units of {divisor}") };
    processed
        .set_thread_name(thread, &format!("{}, counted {}{unit}", stacks.what.to_lowercase(), stacks.origin));
    processed.set_thread_samples_weight_type(thread, WeightType::Samples);
    for (nth, stack) in stacks.stacks.iter().enumerate() {
        let frames: Vec<FrameInfo> = stack
            .frames
            .iter()
            .map(|frame| FrameInfo {
                frame: Frame::Label(processed.intern_string(&frame.name)),
                category_pair: CategoryHandle::OTHER.into(),
                flags: FrameFlags::empty(),
            })
            .collect();
        let weight = i32::try_from(u128::from(stack.count).div_ceil(divisor)).unwrap_or(i32::MAX);
        let handle = processed.intern_stack_frames(thread, frames.into_iter());
        let time = Timestamp::from_nanos_since_reference(nth as u64 * 1_000_000);
        processed.add_sample(thread, time, handle, CpuDelta::ZERO, weight);
    }
    serde_json::to_vec(&processed).map_err(Stop::failure)
}

/// By what to divide, so that the sum fits.
fn divisor(total: u128) -> u128 {
    let mut divisor = 1;
    while total / divisor > i32::MAX as u128 / 2 {
        divisor *= 10;
    }
    divisor
}

#[cfg(test)]
mod tests {
    use super::divisor;

    #[test]
    fn large_sums_are_scaled() {
        assert_eq!(divisor(0), 1);
        assert_eq!(divisor(1_000_000_000), 1);
        assert_eq!(divisor(20_000_000_000), 100);
        assert!((1u128 << 62) / divisor(1 << 62) < i32::MAX as u128 / 2);
    }
}
