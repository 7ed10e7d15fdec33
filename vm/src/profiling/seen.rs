//! In which activations a sampled number of a path can be relied on.
//!
//! While samples are taken, all yieldpoints are, and those of loops set the path register for the next round. Otherwise nothing does in some loops (see
//! `register` of the compiler), and at the first end of a path that an activation sees, the register may be that of an earlier
//! round. So it must be known which activations have seen an end since all yieldpoints are taken, or are younger than that.
//! Of a thread's activations these are the inner ones: what is further in was entered later. One frame pointer says from where on.

/// The activations of compiled code that a thread has from a frame on inwards.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// In which stretch of time without a gap.
    stretch: u64,
    /// The frame of the outermost, at the highest address; 0: there is none.
    outermost: usize,
}

impl Seen {
    /// Not even compiled code that is still to be entered is further out.
    pub const ALL: usize = usize::MAX;

    /// Something was seen in a stretch of time in which all yieldpoints are taken: the activations from a frame on inwards are
    /// seen from now on. Was that of the frame before?
    pub fn from(&mut self, stretch: u64, frame: usize) -> bool {
        if self.stretch != stretch {
            *self = Seen { stretch, outermost: 0 };
        }
        let before = frame <= self.outermost;
        self.outermost = self.outermost.max(frame);
        before
    }
}

#[cfg(test)]
mod tests {
    use super::Seen;

    #[test]
    fn who_calls_is_seen_later_than_who_is_called() {
        let mut seen = Seen::default();
        let (caller, callee) = (0x2000, 0x1000);
        assert!(!seen.from(1, callee) && seen.from(1, callee));
        assert!(!seen.from(1, caller) && seen.from(1, callee) && seen.from(1, caller));
        // After a gap all of them may have gone on without being seen.
        assert!(!seen.from(2, caller));
        seen.from(2, Seen::ALL);
        assert!(seen.from(2, caller) && seen.from(2, 0x3000));
    }
}
