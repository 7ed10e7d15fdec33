//! The timer: a system thread that raises a tick every so often and the timeout once. Under the virtual timer there is none;
//! yieldpoints are counted instead ([`crate::interpreter::slow`]).

use crate::signals::{Signals, TICK, TIMEOUT};
use holloway_profilers::btb::SplitMix64;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Where ticks come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimerSource {
    /// The wall clock: a tick every so often.
    Wall(Duration),
    /// A tick every so many yieldpoints: the run is repeatable bit for bit.
    Virtual(u64),
    /// The same on average, and as repeatable: each tick comes after half to one and a half of them, each as likely, as those of the clock
    /// do. One run goes on where the last one of the same machine ended. Ticks at equal distances from the beginning of each run fall on the same places in
    /// every run: what ten runs of a program then show are the few windows of one.
    Drawn {
        /// Yieldpoints from tick to tick, on average.
        every: u64,
        /// Another number, other distances.
        seed: u64,
    },
}

impl TimerSource {
    /// Yieldpoints from tick to tick, on average; nothing for ticks of the clock.
    pub fn yieldpoints(self) -> Option<u64> {
        match self {
            TimerSource::Wall(_) => None,
            TimerSource::Virtual(every) | TimerSource::Drawn { every, .. } => Some(every.max(1)),
        }
    }
}

/// How far the next virtual tick is, one after the other.
#[derive(Debug)]
pub(crate) struct Distances {
    source: TimerSource,
    random: SplitMix64,
    /// What the last run left of a distance that was drawn.
    left: Option<u64>,
}

impl Distances {
    /// Those of a source of ticks.
    pub fn new(source: TimerSource) -> Distances {
        let seed = if let TimerSource::Drawn { seed, .. } = source { seed } else { 0 };
        Distances { source, random: SplitMix64(seed), left: None }
    }

    /// Yieldpoints from the last tick to the next: at least 1, more than there ever are for ticks of the clock.
    pub fn next(&mut self) -> u64 {
        match self.source {
            TimerSource::Wall(_) => u64::MAX,
            TimerSource::Virtual(every) => every.max(1),
            TimerSource::Drawn { every, .. } => {
                let half = every / 2;
                (every - half).saturating_add(self.random.below((2 * half).saturating_add(1))).max(1)
            }
        }
    }

    /// The same from the beginning of a run.
    pub fn first(&mut self) -> u64 {
        self.left.take().unwrap_or_else(|| self.next())
    }

    /// A run is over, so many yieldpoints before a tick.
    pub fn end(&mut self, left: u64) {
        self.left = matches!(self.source, TimerSource::Drawn { .. }).then_some(left.max(1));
    }
}

impl Default for TimerSource {
    fn default() -> Self {
        // The period of Jikes RVM's timer, which the papers build on.
        TimerSource::Wall(Duration::from_millis(20))
    }
}

/// Nanoseconds of virtual time that a yieldpoint takes.
pub const VIRTUAL_NANOSECONDS: u64 = 10;

/// The processor time that the calling system thread has taken so far.
pub fn thread_time() -> Duration {
    clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// What a clock of the system says, nothing if there is none. Handlers of signals may ask for it, too.
pub(crate) fn clock(id: libc::clockid_t) -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the system writes into a live value of its own type.
    match unsafe { libc::clock_gettime(id, &raw mut time) } {
        0 => Duration::new(time.tv_sec as u64, time.tv_nsec as u32),
        _ => Duration::ZERO,
    }
}

/// A running timer thread; it ends when this is dropped.
pub struct Timer {
    shared: Arc<(Mutex<State>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

/// What a timer and its thread both know.
struct State {
    stopped: bool,
    /// When the next tick is due.
    next: Instant,
}

impl Timer {
    /// Starts ticking every `period` (never, if `None`), for the first time after `first` (after a period, if `None`), and raises
    /// the timeout at `deadline`. `Err` if the system gives no thread.
    ///
    /// The clock begins here, not when the system gets around to the thread; a tick that is due already is raised here.
    pub fn start(
        signals: Arc<Signals>,
        period: Option<Duration>,
        first: Option<Duration>,
        deadline: Option<Instant>,
    ) -> std::io::Result<Timer> {
        let now = Instant::now();
        let due = period.is_some() && first == Some(Duration::ZERO);
        if due {
            signals.raise(TICK);
        }
        let first = if due { None } else { first.and_then(|first| now.checked_add(first)) };
        let state = State { stopped: false, next: first.unwrap_or_else(|| after(now, period)) };
        let shared = Arc::new((Mutex::new(state), Condvar::new()));
        let shared_with_thread = shared.clone();
        let thread = std::thread::Builder::new()
            .name("holloway timer".into())
            .spawn(move || tick(&signals, &shared_with_thread, period, deadline))?;
        Ok(Timer { shared, thread: Some(thread) })
    }

    /// Ends it: how long it would have been until the next tick, nothing if that is due.
    pub fn end(self) -> Duration {
        let state = self.shared.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        state.next.saturating_duration_since(Instant::now())
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.shared.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).stopped = true;
        self.shared.1.notify_all();
        if let Some(thread) = self.thread.take() {
            // The thread does not panic; if it did, there is nothing left to stop.
            let _ = thread.join();
        }
    }
}

/// Shorter periods would keep a processor busy with ticking alone.
const SHORTEST_PERIOD: Duration = Duration::from_micros(10);
/// A year: clocks end somewhere, and programs do not run for so long.
const LONGEST_PERIOD: Duration = Duration::from_secs(365 * 24 * 3600);

/// When the tick after this moment is due: half a period to one and a half later, each as likely, a period on the average. At equal
/// distances ticks would see a program that does the same every few milliseconds at the same place for seconds, and profilers, and
/// whoever acts on them, would take that for all that it does.
fn after(now: Instant, period: Option<Duration>) -> Instant {
    let period = period.unwrap_or(LONGEST_PERIOD).clamp(SHORTEST_PERIOD, LONGEST_PERIOD);
    now + period.mul_f64(rand::random_range(0.5..1.5))
}

fn tick(
    signals: &Signals,
    shared: &(Mutex<State>, Condvar),
    period: Option<Duration>,
    mut deadline: Option<Instant>,
) {
    let mut state = shared.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    while !state.stopped {
        let until = deadline.map_or(state.next, |d| d.min(state.next));
        let left = until.saturating_duration_since(Instant::now());
        state = match shared.1.wait_timeout(state, left) {
            Ok((guard, _)) => guard,
            Err(poisoned) => poisoned.into_inner().0,
        };
        if state.stopped {
            return;
        }
        let now = Instant::now();
        if deadline.is_some_and(|d| now >= d) {
            deadline = None;
            signals.raise(TIMEOUT);
        }
        if now >= state.next {
            if period.is_some() {
                signals.raise(TICK);
            }
            // A tick that comes late is not made up for.
            state.next = after(now, period);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_distances_are_about_as_long_as_asked_for_and_go_on_in_the_next_run() {
        let source = TimerSource::Drawn { every: 1000, seed: 3 };
        let mut ticks = Distances::new(source);
        let all: Vec<u64> = (0..10_000).map(|_| ticks.next()).collect();
        assert!(all.iter().all(|distance| (500..=1500).contains(distance)));
        let mean = all.iter().sum::<u64>() as f64 / all.len() as f64;
        assert!((mean - 1000.0).abs() < 10.0, "{mean}");
        assert!(all.windows(2).any(|of| of[0] != of[1]));
        let mut again = Distances::new(source);
        assert!(all.iter().all(|&distance| again.next() == distance), "they repeat");
        ticks.end(17);
        assert_eq!(ticks.first(), 17);
        assert_ne!(ticks.first(), 17);
        for every in [1, 2, u64::MAX] {
            assert!(Distances::new(TimerSource::Drawn { every, seed: 0 }).next() >= 1);
        }
    }

    #[test]
    fn equal_distances_begin_anew_in_each_run() {
        let mut ticks = Distances::new(TimerSource::Virtual(7));
        assert_eq!((ticks.first(), ticks.next()), (7, 7));
        ticks.end(3);
        assert_eq!(ticks.first(), 7);
        assert_eq!(Distances::new(TimerSource::Wall(Duration::from_millis(1))).first(), u64::MAX);
    }

    #[test]
    fn distances_are_uneven_around_the_period() {
        let now = Instant::now();
        let seconds = |period| (after(now, period) - now).as_secs_f64();
        let of_ten: Vec<f64> = (0..1000).map(|_| seconds(Some(Duration::from_secs(10)))).collect();
        assert!(of_ten.iter().all(|distance| (5.0..15.0).contains(distance)));
        let mean = of_ten.iter().sum::<f64>() / 1000.0;
        assert!((mean - 10.0).abs() < 0.5, "{mean}");
        assert!(
            of_ten.iter().any(|&distance| distance < 7.0) && of_ten.iter().any(|&distance| distance > 13.0)
        );
        assert!(
            seconds(Some(Duration::MAX)) > 1e7 && seconds(Some(Duration::ZERO)) > 0.0 && seconds(None) > 1e7
        );
    }

    #[test]
    fn the_clock_of_ticks_goes_on_where_it_stood() {
        let hour = Duration::from_secs(3600);
        let until = |first| {
            let timer = Timer::start(Signals::new(), Some(hour), first, None).expect("a thread");
            timer.end()
        };
        let left = until(None);
        assert!(left > hour / 4 && left <= hour * 3 / 2, "{left:?}");
        let left = until(Some(hour / 4));
        assert!(left > Duration::ZERO && left <= hour / 4, "{left:?}");
        // A tick that nobody got around to comes with the next start.
        let signals = Signals::new();
        drop(Timer::start(signals.clone(), Some(hour), Some(Duration::ZERO), None));
        assert_eq!(signals.take(), TICK);
    }
}
