//! When to collect, what to collect, when to give up, and how much memory to keep.
//!
//! * **Nursery.** Once as many bytes were handed out as the nursery holds, the next slow path collects. A minor
//!   collection costs in proportion to what survives, so a larger nursery costs memory and saves time.
//! * **Full collections** come when the old objects have grown to twice what the last full collection left, and at
//!   least to `full_threshold`: then their cost is a constant share of that of the allocation before.
//! * **At the limit** the first remedy is a minor collection, unless the last one at the limit left less than an eighth
//!   free; the second is a full one. If that leaves less than a sixty-fourth free, or no hole that fits, the heap is
//!   full. The margin keeps a program that is about to run out from collecting again and again for a few objects each.
//! * **Beyond the limit** goes what must exist: objects that compiled code had spared and that are made where it is left. The
//!   program made them long ago, when there was room. The margin does not help them, for all of it may be in cells of other
//!   sizes. So there are more blocks than the limit says, in which only such objects lie: one for each size class, since a single object may need one, 1 GiB,
//!   and a sixty-fourth of the limit. That is a practical bound: at the default depth of 20,000 calls it is 52 KiB for each of them. It is address space until it is needed.
//! * **Shrinking.** After each collection, free blocks are kept for the next nursery (every size class may leave a
//!   block half used, so one more for each) or up to a quarter of the used ones, whichever is more; the memory of
//!   further ones is returned to the system. In a steady state nothing is.

use super::size_classes::{BLOCK, CLASSES};
use super::{CollectionCause, CollectionKind, Heap, OutOfMemory, Roots};

/// Thresholds that change with every collection.
#[derive(Default)]
pub(super) struct Policy {
    /// Bytes of old objects from which on the next collection is a full one.
    full_at: usize,
    /// Whether there was too little room after the last minor collection at the limit.
    tight: bool,
    /// Stress mode: allocations until the next collection, and whether that is a full one.
    stress_countdown: u32,
    stress_full: bool,
}

impl Heap {
    /// What a slow path does before it looks for room: collect, if it is time to.
    #[inline]
    pub(super) fn before_slow_path(&mut self, roots: &mut dyn Roots) {
        if let Some(period) = self.config.stress {
            if self.policy.stress_countdown > 1 {
                self.policy.stress_countdown -= 1;
                return;
            }
            self.policy.stress_countdown = period.get();
            self.policy.stress_full = !self.policy.stress_full;
            let kind = if self.policy.stress_full { CollectionKind::Full } else { CollectionKind::Minor };
            self.collect_because(kind, CollectionCause::Stress, roots);
        } else if self.allocated_since_collection >= self.config.nursery {
            let kind = self.due_kind();
            self.collect_because(kind, CollectionCause::Nursery, roots);
        }
    }

    /// Allows allocations to use the margin that is otherwise kept free and blocks beyond the limit, or not any more.
    pub fn allow_beyond_limit(&mut self, allowed: bool) {
        if self.space.beyond_limit && !allowed {
            self.retire_beyond_limit();
        }
        self.space.beyond_limit = allowed;
    }

    /// The kind of the next collection.
    fn due_kind(&self) -> CollectionKind {
        let full_at = self.policy.full_at.max(self.config.full_threshold);
        if self.live_bytes >= full_at { CollectionKind::Full } else { CollectionKind::Minor }
    }

    /// Collects because a request of `bytes` did not fit. `attempt` counts the calls for one request, from 0.
    pub(super) fn make_room(
        &mut self,
        bytes: usize,
        attempt: &mut u32,
        roots: &mut dyn Roots,
    ) -> Result<(), OutOfMemory> {
        let kind = match *attempt {
            0 if !self.policy.tight => self.due_kind(),
            0 | 1 => CollectionKind::Full,
            _ => return Err(OutOfMemory),
        };
        let done = self.collect_because(kind, CollectionCause::Limit, roots);
        let limit = self.space.limit();
        let free = limit.saturating_sub(self.live_bytes);
        self.policy.tight = free < limit / 8;
        if done == Some(CollectionKind::Full) {
            *attempt = 2;
            if !self.space.beyond_limit && free.saturating_sub(bytes) < limit / 64 {
                return Err(OutOfMemory);
            }
        } else {
            *attempt += 1;
        }
        Ok(())
    }

    /// Adjusts thresholds and the amount of memory after a collection.
    pub(super) fn after_collection(&mut self, kind: CollectionKind) {
        if kind == CollectionKind::Full {
            self.policy.full_at = self.live_bytes.saturating_mul(2);
            self.statistics.live_bytes_after_full = self.live_bytes;
        }
        let nursery = self.config.nursery.div_ceil(BLOCK) + CLASSES;
        let keep = nursery.max(self.space.used_blocks / 4);
        let free = self.space.committed_blocks - self.space.used_blocks;
        if free > keep {
            self.statistics.returned_bytes += (self.space.uncommit(free - keep) * BLOCK) as u64;
        }
    }
}
