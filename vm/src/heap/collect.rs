//! One collection, from the first root to the last counter.
//!
//! ```text
//!  runs away -> look up roots -> [full: forget marks and remembered objects | minor: look at remembered objects]
//!            -> mark -> free blocks, list holes -> give memory back, adjust thresholds -> report
//! ```

use std::time::Instant;

use super::mark::Marker;
use super::space::BlockKind;
use super::{CollectionCause, CollectionKind, CollectionReport, Heap, RootVisitor, Roots};

impl Heap {
    /// Collects now.
    pub fn collect(&mut self, kind: CollectionKind, roots: &mut dyn Roots) {
        self.collect_because(kind, CollectionCause::Request, roots);
    }

    /// Collects. The kind done may be a full one where a minor one was asked for. None if nothing was done because
    /// there was no memory to list the roots.
    #[cold]
    #[inline(never)]
    pub(super) fn collect_because(
        &mut self,
        kind: CollectionKind,
        cause: CollectionCause,
        roots: &mut dyn Roots,
    ) -> Option<CollectionKind> {
        let begin = Instant::now();
        self.retire_runs();
        self.roots.clear();
        let mut visitor = RootVisitor::new(&self.space, &mut self.roots);
        roots.scan(&mut visitor);
        if visitor.failed() {
            return None;
        }
        let kind = if self.remembered.incomplete { CollectionKind::Full } else { kind };
        let root_count = self.roots.len();
        let remembered = self.remembered.count();
        self.mark(kind);
        self.live_bytes = self.prepare_sweep();
        self.after_collection(kind);
        self.mark_stack.shrink();
        self.roots.shrink_to(1 << 16);
        let report = CollectionReport {
            number: self.statistics.minor_collections + self.statistics.full_collections + 1,
            kind,
            cause,
            pause: begin.elapsed(),
            allocated: std::mem::take(&mut self.allocated_since_collection) as u64,
            live: self.live_bytes,
            committed: self.committed_bytes(),
            remembered,
            roots: root_count,
        };
        match kind {
            CollectionKind::Minor => self.statistics.minor_collections += 1,
            CollectionKind::Full => self.statistics.full_collections += 1,
        }
        self.statistics.total_pause += report.pause;
        self.statistics.maximum_pause = self.statistics.maximum_pause.max(report.pause);
        if let Some(observer) = &mut self.observer {
            observer(&report);
        }
        if self.config.verify
            && let Err(defect) = self.verify()
        {
            panic!("the heap is damaged after collection {}: {defect}", report.number);
        }
        Some(kind)
    }

    fn mark(&mut self, kind: CollectionKind) {
        if kind == CollectionKind::Full {
            self.remembered.forget(&mut self.space);
            let mut end = self.space.blocks;
            while let Some(index) = self.space.used_below(end) {
                end = index;
                if matches!(self.space.block(index).kind, BlockKind::Small | BlockKind::Large) {
                    self.space.clear_marks(index);
                }
            }
        }
        let mut marker = Marker::new(&mut self.space, &mut self.mark_stack, self.classes);
        for &object in &self.roots {
            // SAFETY: the visitor found them to be objects of this heap, or was told so.
            unsafe { marker.visit(object) };
        }
        if kind == CollectionKind::Minor {
            self.remembered.look(&mut marker);
        }
        marker.finish();
    }
}
