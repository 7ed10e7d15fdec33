//! When the version of compiled code runs that has PEP's instrumentation, where there are two (`pep:code=turns`; the two copies of
//! Arnold and Ryder 2001).
//!
//! ```text
//!      for up to [`LOOK`] ticks                       a part of the time for which nothing changed
//!   Looks ─────────────────────────► Pauses ──────────────────────────────────────────────────────► Looks
//!     ▲                                │   something changed
//!     └────────────────────────────────┘
//! ```
//!
//! As long as a program was what it is, so long it will be: whoever looks again after a part of that time notices a change late by
//! that part of a phase at most, and what looking costs becomes less and less. After a change there are no pauses; whoever never
//! changed has long ones from the first look on. A look in which nothing is new after the first of the watcher's windows ends there. The
//! beginning belongs to the interpreter, which counts by itself, and to code that finds its form: looks that every piece of code that was thrown
//! away began there took up to a third of the first seconds.

/// Ticks of a look: two windows of the watcher ([`crate::adaptive::watcher`]).
pub(crate) const LOOK: u64 = 8;

/// The first look comes when nothing has changed for so many ticks, a fifth of a second,
const FIRST: u64 = 10;

/// or after so many at the latest, a second.
const LATEST: u64 = 50;

/// A pause is this part of the time for which nothing changed.
const PART: u64 = 8;

/// Changing versions for less is not worth it.
const SHORTEST: u64 = 4;

/// As long as nothing has ever changed, no pause is shorter than this. Whoever begins with short ones looks half of the first three
/// seconds: where phases are too short to be followed, what that costs is lost.
const UNMOVED: u64 = 3 * LOOK;

/// With the usual 20 ms: five seconds.
const LONGEST: u64 = 250;

/// Looks and pauses.
#[derive(Clone, Debug)]
pub(super) struct Looks {
    is_on: bool,
    /// Ticks so far, if the first one was not yet.
    beginning: Option<u64>,
    /// Ticks until it ends, or the pause does.
    left: u64,
    /// Ticks since something changed.
    quiet: u64,
    /// Nothing has changed since the first look.
    is_unmoved: bool,
}

impl Looks {
    /// The program begins.
    pub fn new() -> Looks {
        Looks { is_on: false, beginning: Some(0), left: FIRST, quiet: 0, is_unmoved: true }
    }

    /// Is there a look.
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// A tick.
    pub fn tick(&mut self) {
        self.quiet += 1;
        self.left = self.left.saturating_sub(1);
        if let Some(ticks) = &mut self.beginning {
            *ticks += 1;
            if *ticks >= LATEST {
                self.left = 0;
            }
        }
        if self.left == 0 {
            self.turn();
        }
    }

    /// The look or the pause ends.
    fn turn(&mut self) {
        let least = if self.is_unmoved { UNMOVED } else { 0 };
        let pause = (self.quiet / PART).clamp(least, LONGEST);
        self.is_on = !self.is_on || pause < SHORTEST;
        self.beginning = None;
        self.left = if self.is_on { LOOK } else { pause };
    }

    /// All is as it was: there is nothing to be seen in what is left of a look.
    pub fn seen_enough(&mut self) {
        if self.is_on {
            self.turn();
        }
    }

    /// The program does something else, or may do so. In the beginning it does so all the time.
    pub fn changed(&mut self) {
        self.quiet = 0;
        if self.beginning.is_some() {
            self.left = FIRST;
        } else {
            self.is_unmoved = false;
            if !self.is_on {
                // The next tick begins a look.
                self.left = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(looks: &mut Looks, ticks: u64) -> usize {
        (0..ticks)
            .filter(|_| {
                looks.tick();
                looks.is_on()
            })
            .count()
    }

    #[test]
    fn pauses_grow_with_the_time_for_which_nothing_changes() {
        let mut looks = Looks::new();
        assert_eq!(on(&mut looks, FIRST - 1), 0, "the beginning");
        assert_eq!(on(&mut looks, LOOK), LOOK as usize);
        let early = on(&mut looks, 500);
        assert!((64..=120).contains(&early), "{early}");
        let late = on(&mut looks, 20_000);
        assert!((400..700).contains(&late), "{late}");
    }

    #[test]
    fn who_never_changed_is_looked_at_a_quarter_of_the_time() {
        let mut looks = Looks::new();
        on(&mut looks, FIRST + LOOK - 1);
        assert_eq!(on(&mut looks, UNMOVED), 0);
        assert_eq!(on(&mut looks, LOOK), LOOK as usize);
        looks.changed();
        on(&mut looks, PART * SHORTEST);
        let busy = on(&mut looks, LOOK + UNMOVED);
        assert!(busy >= 2 * LOOK as usize, "{busy}: who changed once is looked at more often");
    }

    #[test]
    fn a_look_ends_when_enough_is_seen() {
        let mut looks = Looks::new();
        on(&mut looks, FIRST);
        assert!(looks.is_on());
        looks.seen_enough();
        assert!(!looks.is_on());
        looks.seen_enough();
        assert_eq!(on(&mut looks, UNMOVED), 1, "in a pause it means nothing");
        looks.changed();
        looks.seen_enough();
        assert!(looks.is_on(), "after a change there are no pauses");
    }

    #[test]
    fn the_beginning_is_left_alone() {
        let mut looks = Looks::new();
        for _ in 0..LATEST / 5 - 1 {
            assert_eq!(on(&mut looks, 5), 0);
            looks.changed();
        }
        assert_eq!(on(&mut looks, 5), 1, "but not for ever");
    }

    #[test]
    fn a_change_is_looked_at() {
        let mut looks = Looks::new();
        on(&mut looks, 5000);
        while looks.is_on() {
            looks.tick();
        }
        looks.changed();
        assert_eq!(on(&mut looks, 20), 20);
    }
}
