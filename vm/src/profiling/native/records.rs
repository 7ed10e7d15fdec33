//! Records of Linux's `perf_event_open` with branch stacks, as they lie in the buffer that the kernel shares.
//!
//! ```text
//! u32 type, u16 misc, u16 size | sample: u64 address, u64 n, n * (u64 from, u64 to, u64 flags), the newest first
//!                              | lost: u64 event, u64 how many
//! ```
//!
//! What is not of this form is skipped by its size; where even that makes no sense, the rest is given up and counted.

use super::places::NativeSample;

/// The kernel lost records.
const LOST: u32 = 2;
/// A sample.
const SAMPLE: u32 = 9;
/// Bytes of the head of each record.
const HEAD: usize = 8;
/// Bytes of a branch.
const BRANCH: usize = 24;

/// What was read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Records {
    /// Samples in their order.
    pub samples: Vec<NativeSample>,
    /// Samples that the kernel lost.
    pub lost: u64,
    /// Records that make no sense.
    pub damaged: u64,
}

/// Reads records. Of each sample at most the newest `depth` branches are kept.
pub fn parse(bytes: &[u8], depth: usize) -> Records {
    let mut records = Records::default();
    let mut rest = bytes;
    while !rest.is_empty() {
        let size = rest.get(6..HEAD).map_or(0, |size| usize::from(u16::from_le_bytes([size[0], size[1]])));
        let Some(record) = rest.get(..size).filter(|record| record.len() >= HEAD) else {
            records.damaged += 1;
            return records;
        };
        rest = &rest[size..];
        let kind = u32::from_le_bytes([record[0], record[1], record[2], record[3]]);
        match (kind, &record[HEAD..]) {
            (SAMPLE, body) => match sample(body, depth) {
                Some(sample) => records.samples.push(sample),
                None => records.damaged += 1,
            },
            (LOST, body) => match word(body, 1) {
                Some(lost) => records.lost = records.lost.saturating_add(lost),
                None => records.damaged += 1,
            },
            _ => {}
        }
    }
    records
}

fn word(bytes: &[u8], index: usize) -> Option<u64> {
    let bytes = bytes.get(index * 8..index * 8 + 8)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

fn sample(body: &[u8], depth: usize) -> Option<NativeSample> {
    let (at, count) = (word(body, 0)?, usize::try_from(word(body, 1)?).ok()?);
    let stack = body.get(16..)?;
    if count > stack.len() / BRANCH {
        return None;
    }
    let branch = |index: usize| Some((word(stack, 3 * index)?, word(stack, 3 * index + 1)?));
    let branches = (0..count.min(depth)).rev().filter_map(branch).collect();
    Some(NativeSample { branches, at: Some(at) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u32, body: &[u64]) -> Vec<u8> {
        let size = (HEAD + 8 * body.len()) as u16;
        let head = [&kind.to_le_bytes()[..], &[0, 0], &size.to_le_bytes()].concat();
        head.into_iter().chain(body.iter().flat_map(|word| word.to_le_bytes())).collect()
    }

    #[test]
    fn the_newest_branch_comes_first_in_the_buffer() {
        let bytes = [record(SAMPLE, &[7, 2, 30, 40, 0, 10, 20, 0]), record(LOST, &[1, 5])].concat();
        let records = parse(&bytes, 16);
        assert_eq!(records.samples, [NativeSample { branches: vec![(10, 20), (30, 40)], at: Some(7) }]);
        assert_eq!((records.lost, records.damaged), (5, 0));
        assert_eq!(parse(&bytes, 1).samples[0].branches, [(30, 40)]);
    }

    #[test]
    fn damaged_records_are_counted() {
        let whole = [record(3, &[]), record(SAMPLE, &[7, 1, 30, 40, 0])].concat();
        for end in 0..whole.len() {
            let records = parse(&whole[..end], 16);
            assert_eq!(records.samples.len(), 0);
            assert_eq!(records.damaged, u64::from(end != 0 && end != HEAD), "cut at {end}");
        }
        assert_eq!(parse(&record(SAMPLE, &[7, 2, 30, 40, 0]), 16).damaged, 1);
        assert_eq!(parse(&record(SAMPLE, &[7, u64::MAX, 30, 40, 0]), 16).damaged, 1);
        assert_eq!(parse(&[0; 64], 16).damaged, 1);
    }
}
