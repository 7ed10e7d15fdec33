//! Estimates of calls as they were while the program ran: how fast they come to resemble the truth is seen afterwards, when the exact
//! counts are known (Arnold & Grove: they "rapidly converge").

use super::spec::Snapshots;
use super::state::Profiling;
use crate::vm::Machinery;
use holloway_profilers::calls::CallGraph;

/// The estimates at a moment.
#[derive(Clone, Debug)]
pub struct CallMoment {
    /// How many ticks there were before: their windows are over, unless they are longer than a tick.
    pub ticks: u64,
    /// Calls in samples, if `cbs` runs.
    pub sampled: Option<CallGraph>,
    /// The same with credit for inlined calls, if any was asked for and can be given.
    pub credited: Option<CallGraph>,
    /// Calls by rates of bursts, if `oneshot` runs.
    pub heard: Option<CallGraph>,
}

/// The moments so far.
pub(super) struct Moments {
    when: Snapshots,
    ticks: u64,
    next: u64,
    pub taken: Vec<CallMoment>,
}

impl Moments {
    /// Nothing was looked at yet.
    pub fn new(when: Snapshots) -> Moments {
        let next = match when {
            Snapshots::Doubling => 1,
            Snapshots::Every(ticks) => ticks.max(1),
        };
        Moments { when, ticks: 0, next, taken: Vec::new() }
    }

    /// There is a tick. How many there were before, if that is a moment to look.
    fn tick(&mut self) -> Option<u64> {
        let before = self.ticks;
        self.ticks += 1;
        if before != self.next {
            return None;
        }
        self.next = match self.when {
            Snapshots::Doubling => before.saturating_mul(2),
            Snapshots::Every(ticks) => before.saturating_add(ticks.max(1)),
        };
        Some(before)
    }
}

/// There is a tick, of which the profilers know nothing yet.
pub(crate) fn tick(vm: &mut Machinery) {
    let Some(ticks) = vm.profiling.moments.as_mut().and_then(Moments::tick) else { return };
    let now = vm.now();
    let Profiling { sampler, listeners, .. } = &vm.profiling;
    let sampled = sampler.as_ref().map(|sampler| sampler.graph().clone());
    let credited = vm.profiling.credited_calls().map(|credited| credited.graph);
    let heard = listeners.as_ref().map(|listeners| listeners.found(now).rated());
    if let Some(moments) = &mut vm.profiling.moments {
        moments.taken.push(CallMoment { ticks, sampled, credited, heard });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_after_so_many_ticks() {
        let of = |when| {
            let mut moments = Moments::new(when);
            (0..20).filter_map(|_| moments.tick()).collect::<Vec<u64>>()
        };
        assert_eq!(of(Snapshots::Doubling), [1, 2, 4, 8, 16]);
        assert_eq!(of(Snapshots::Every(6)), [6, 12, 18]);
        assert_eq!(of(Snapshots::Every(0)).len(), 19);
    }
}
