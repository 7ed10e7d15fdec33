//! The timer: a system thread that raises a tick every so often and the timeout once. Under the virtual timer there is none;
//! yieldpoints are counted instead ([`crate::interpreter::slow`]).

use crate::signals::{Signals, TICK, TIMEOUT};
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
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the system writes into a live value of its own type.
    match unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) } {
        0 => Duration::new(time.tv_sec as u64, time.tv_nsec as u32),
        _ => Duration::ZERO,
    }
}

/// A running timer thread; it ends when this is dropped.
pub struct Timer {
    stop: Arc<(Mutex<bool>, Condvar)>,
    /// Gives how long it would have been until the next tick.
    thread: Option<JoinHandle<Duration>>,
}

impl Timer {
    /// Starts ticking every `period` (never, if `None`), for the first time after `first` (after a period, if `None`), and raises
    /// the timeout at `deadline`. `Err` if the system gives no thread.
    pub fn start(
        signals: Arc<Signals>,
        period: Option<Duration>,
        first: Option<Duration>,
        deadline: Option<Instant>,
    ) -> std::io::Result<Timer> {
        let stop = Arc::new((Mutex::new(false), Condvar::new()));
        let stop_in_thread = stop.clone();
        let thread = std::thread::Builder::new()
            .name("holloway timer".into())
            .spawn(move || tick(&signals, &stop_in_thread, period, first, deadline))?;
        Ok(Timer { stop, thread: Some(thread) })
    }

    /// Ends it: how long it would have been until the next tick.
    pub fn end(mut self) -> Option<Duration> {
        self.stop()
    }

    fn stop(&mut self) -> Option<Duration> {
        *self.stop.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = true;
        self.stop.1.notify_all();
        // The thread does not panic; if it did, there is nothing left to stop.
        self.thread.take().and_then(|thread| thread.join().ok())
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Shorter periods would keep a processor busy with ticking alone.
const SHORTEST_PERIOD: Duration = Duration::from_micros(10);

fn tick(
    signals: &Signals,
    stop: &(Mutex<bool>, Condvar),
    period: Option<Duration>,
    first: Option<Duration>,
    mut deadline: Option<Instant>,
) -> Duration {
    let far = Duration::from_secs(3600);
    let after =
        |now: Instant| now.checked_add(period.unwrap_or(far).max(SHORTEST_PERIOD)).unwrap_or(now + far);
    let now = Instant::now();
    let mut next = first.and_then(|first| now.checked_add(first)).unwrap_or_else(|| after(now));
    let mut stopped = stop.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    while !*stopped {
        let until = deadline.map_or(next, |d| d.min(next));
        let left = until.saturating_duration_since(Instant::now());
        stopped = match stop.1.wait_timeout(stopped, left) {
            Ok((guard, _)) => guard,
            Err(poisoned) => poisoned.into_inner().0,
        };
        let now = Instant::now();
        if deadline.is_some_and(|d| now >= d) {
            deadline = None;
            signals.raise(TIMEOUT);
        }
        if now >= next {
            if period.is_some() {
                signals.raise(TICK);
            }
            // A tick that comes late is not made up for.
            next = after(now);
        }
    }
    next.saturating_duration_since(Instant::now())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_ticks_goes_on_where_it_stood() {
        let hour = Duration::from_secs(3600);
        let until = |first| {
            let timer = Timer::start(Signals::new(), Some(hour), first, None).expect("a thread");
            timer.end().expect("it ended well")
        };
        let left = until(None);
        assert!(left > hour / 2 && left <= hour, "{left:?}");
        let left = until(Some(hour / 4));
        assert!(left > Duration::ZERO && left <= hour / 4, "{left:?}");
    }
}
