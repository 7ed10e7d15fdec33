//! A cache that accesses go through, for [`super::locality`]: two levels, and what brings lines before they are asked for.

use std::collections::HashSet;
use std::ops::Range;

/// What was touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Accesses {
    /// Reads and writes.
    pub all: u64,
    /// Bytes of them all.
    pub bytes: u64,
    /// Different lines of 64 bytes.
    pub lines: u64,
    /// Accesses that were not in 32 KiB.
    pub small_misses: u64,
    /// Accesses that were not in 1 MiB either, where a line only comes when it is asked for.
    pub large_misses: u64,
    /// The same where lines that follow each other are brought before they are asked for, as processors do.
    pub unforeseen_misses: u64,
}

/// Bytes of a line.
const LINE: u64 = 64;
const WAYS: usize = 8;
const SMALL: u64 = 32 << 10;
const LARGE: u64 = 1 << 20;

/// Both levels, and what went through them.
pub(super) struct Memory {
    small: Cache,
    large: Cache,
    /// The large one with lines that come before they are asked for.
    foreseeing: Cache,
    streams: Streams,
    lines: HashSet<u64>,
    accesses: Accesses,
}

impl Memory {
    pub fn new() -> Self {
        Self {
            small: Cache::new(SMALL),
            large: Cache::new(LARGE),
            foreseeing: Cache::new(LARGE),
            streams: Streams::default(),
            lines: HashSet::new(),
            accesses: Accesses::default(),
        }
    }

    /// An access to bytes of one line.
    pub fn touch(&mut self, address: u64, bytes: u64) {
        let line = address / LINE;
        self.lines.insert(line);
        self.accesses.all += 1;
        self.accesses.bytes += bytes;
        if self.small.holds(line) {
            return;
        }
        self.accesses.small_misses += 1;
        self.accesses.large_misses += u64::from(!self.large.holds(line));
        self.accesses.unforeseen_misses += u64::from(!self.foreseeing.holds(line));
        for soon in self.streams.after(line) {
            self.foreseeing.holds(soon);
        }
    }

    /// Accesses to all of these bytes, one after the other.
    pub fn sweep(&mut self, address: u64, bytes: u64) {
        let end = address + bytes;
        let mut at = address;
        while at < end {
            let next = end.min((at / LINE + 1) * LINE);
            self.touch(at, next - at);
            at = next;
        }
    }

    /// What was touched.
    pub fn accesses(&self) -> Accesses {
        Accesses { lines: self.lines.len() as u64, ..self.accesses }
    }
}

/// Lines that were used last, in sets of eight.
struct Cache {
    sets: Vec<Vec<u64>>,
}

impl Cache {
    fn new(bytes: u64) -> Self {
        Self { sets: vec![Vec::with_capacity(WAYS); (bytes / LINE) as usize / WAYS] }
    }

    /// Was it there. It is now.
    fn holds(&mut self, line: u64) -> bool {
        let at = (line % self.sets.len() as u64) as usize;
        let set = &mut self.sets[at];
        let found = set.iter().position(|&other| other == line);
        match found {
            Some(at) => _ = set.remove(at),
            None if set.len() == WAYS => _ = set.pop(),
            None => {}
        }
        set.insert(0, line);
        found.is_some()
    }
}

/// The lines of a page: what brings lines does not know where the next page is.
const PAGE: u64 = 4096 / LINE;
/// How many pages are watched, those that were asked of last.
const WATCHED: usize = 32;
/// How many lines are brought.
const AHEAD: u64 = 2;

/// What a processor's prefetcher of streams knows, in the manner of those that bring lines into the second cache: whoever has asked for two
/// neighbours of a page, one after the other, will go on in that direction.
#[derive(Default)]
struct Streams {
    /// Of each page its line that was asked for last, and of which neighbour it came; the page that was asked of last first.
    last: Vec<(u64, Option<Way>)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Up,
    Down,
}

impl Streams {
    /// The lines that are brought when this one is asked for.
    fn after(&mut self, line: u64) -> Range<u64> {
        let page = line / PAGE;
        let known = self.last.iter().position(|of| of.0 / PAGE == page).map(|at| self.last.remove(at));
        let way = match known {
            Some((last, _)) if line == last + 1 => Some(Way::Up),
            Some((last, _)) if line + 1 == last => Some(Way::Down),
            Some((last, way)) if line == last => way,
            _ => None,
        };
        self.last.truncate(WATCHED - 1);
        self.last.insert(0, (line, way));
        let (first, end) = (page * PAGE, (page + 1) * PAGE);
        match way {
            Some(Way::Up) => line + 1..end.min(line + 1 + AHEAD),
            Some(Way::Down) => first.max(line.saturating_sub(AHEAD))..line,
            None => line..line,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn misses(lines: impl IntoIterator<Item = u64>) -> (u64, u64) {
        let mut memory = Memory::new();
        lines.into_iter().for_each(|line| memory.touch(line * LINE, 8));
        let accesses = memory.accesses();
        (accesses.large_misses, accesses.unforeseen_misses)
    }

    #[test]
    fn a_cache_keeps_what_was_used_last() {
        let mut cache = Cache::new(LINE * WAYS as u64);
        assert!((0..8).all(|line| !cache.holds(line)));
        assert!(cache.holds(0) && !cache.holds(8) && !cache.holds(1) && cache.holds(0));
    }

    #[test]
    fn neighbours_are_foreseen_within_a_page() {
        assert_eq!(misses(0..64), (64, 2));
        assert_eq!(misses((0..64).rev()), (64, 2));
        assert_eq!(misses(0..128), (128, 4));
        assert_eq!(misses((0..64).step_by(2)), (32, 32));
        // What was brought is no more than two lines.
        assert_eq!(misses([0, 1, 2, 6, 4, 3, 5]), (7, 4));
    }

    #[test]
    fn as_many_streams_are_known_as_pages_are_watched() {
        let woven = |pages: u64| (0..64).flat_map(move |at| (0..pages).map(move |page| page * PAGE + at));
        let watched = WATCHED as u64;
        assert_eq!(misses(woven(watched)), (64 * watched, 2 * watched));
        assert_eq!(misses(woven(watched + 1)), (64 * (watched + 1), 64 * (watched + 1)));
    }

    #[test]
    fn a_sweep_touches_each_line_once() {
        let mut memory = Memory::new();
        memory.sweep(60, 72);
        let Accesses { all, bytes, lines, .. } = memory.accesses();
        assert_eq!((all, bytes, lines), (3, 72, 3));
    }
}
