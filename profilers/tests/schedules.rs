//! Which opportunities the schedules take: figure 5 of the PEP paper, the control word's state machine, the overrun
//! policies, the adversary of the CBS paper with its exact sample counts, and a naive twin that computes positions
//! instead of counting down.

use holloway_profilers::schedule::{
    Client, Kinds, Overrun, Parameters, Schedule, Shape, Skip, Verdict, Window, Word, YieldKind,
};
use rand::{RngExt, SeedableRng, rngs::SmallRng};

/// Which of the opportunities 1..=last are sampled, one list per tick; a tick comes just before the opportunity.
fn sampled(window: &mut Window, ticks: &[u32], last: u32) -> Vec<Vec<u32>> {
    let mut lists = Vec::new();
    for opportunity in 1..=last {
        if ticks.contains(&opportunity) {
            window.tick();
            lists.push(Vec::new());
        }
        if window.opportunity() == Verdict::Take {
            lists.last_mut().expect("no sample without a tick").push(opportunity);
        }
    }
    lists
}

fn window(shape: Shape, samples: u32, stride: u32) -> Parameters {
    Parameters::new(shape, samples, stride).unwrap()
}

/// SCH-1: Bond & McKinley 2005, figure 5.
#[test]
fn figure_5() {
    let ticks = [1, 21, 41, 61];
    let of = |parameters| sampled(&mut Window::new(parameters), &ticks, 80);
    assert_eq!(of(window(Shape::Timer, 4, 3)), [[1], [21], [41], [61]]);
    assert_eq!(of(Parameters::timer()), [[1], [21], [41], [61]]);
    let full = [[1, 4, 7, 10], [22, 25, 28, 31], [43, 46, 49, 52], [61, 64, 67, 70]];
    assert_eq!(of(window(Shape::ArnoldGrove, 4, 3)), full);
    let simplified = [[1, 2, 3, 4], [22, 23, 24, 25], [43, 44, 45, 46], [61, 62, 63, 64]];
    assert_eq!(of(window(Shape::Simplified, 4, 3)), simplified);
}

/// The published code of Jikes RVM differs at the third tick: it never waits STRIDE opportunities.
#[test]
fn initial_skips_of_the_published_code() {
    let parameters = window(Shape::ArnoldGrove, 4, 3).with_skip(Skip::Jikes, 0);
    let lists = sampled(&mut Window::new(parameters), &[1, 21, 41, 61], 80);
    assert_eq!(lists, [[1, 4, 7, 10], [22, 25, 28, 31], [41, 44, 47, 50], [61, 64, 67, 70]]);
    let parameters = window(Shape::ArnoldGrove, 2, 1).with_skip(Skip::Jikes, 0);
    assert_eq!(sampled(&mut Window::new(parameters), &[1, 5], 9), [[1, 2], [5, 6]]);
}

/// Random initial skips stay in 1..=STRIDE, reach both ends, and are repeated by the same seed.
#[test]
fn random_initial_skips() {
    let parameters = window(Shape::Simplified, 1, 5).with_skip(Skip::Random, 7);
    let ticks: Vec<u32> = (0..200).map(|tick| tick * 10 + 1).collect();
    let firsts: Vec<u32> = sampled(&mut Window::new(parameters), &ticks, 2000)
        .iter()
        .zip(&ticks)
        .map(|(list, tick)| list[0] - tick + 1)
        .collect();
    for first in 1..=5 {
        let times = firsts.iter().filter(|&&skip| skip == first).count();
        assert!((20..=60).contains(&times), "{first} came {times} times");
    }
    assert!(firsts.iter().all(|first| (1..=5).contains(first)));
    let again = sampled(&mut Window::new(parameters), &ticks, 2000);
    assert_eq!(again, sampled(&mut Window::new(parameters), &ticks, 2000));
}

/// A tick inside a window: ignored, or a new window, or the end of the window; each is counted.
#[test]
fn overruns() {
    let of = |overrun| {
        let mut window = Window::new(window(Shape::ArnoldGrove, 4, 3).with_overrun(overrun));
        let lists = sampled(&mut window, &[1, 6, 20], 40);
        let counts = *window.counts();
        assert_eq!((counts.ticks, counts.overruns()), (3, 1));
        (lists.concat(), counts.ignored, counts.restarted, counts.cancelled)
    };
    assert_eq!(of(Overrun::Ignore), (vec![1, 4, 7, 10, 21, 24, 27, 30], 1, 0, 0));
    assert_eq!(of(Overrun::Restart), (vec![1, 4, 7, 10, 13, 16, 22, 25, 28, 31], 0, 1, 0));
    assert_eq!(of(Overrun::Cancel), (vec![1, 4, 21, 24, 27, 30], 0, 0, 1));
}

/// SCH-2: the control word; P prologue, E epilogue, B back edge.
#[test]
fn control_word() {
    use YieldKind::{Epilogue as E, Header as B, Prologue as P};
    let client = Client { kinds: Kinds::CALLS, parameters: window(Shape::ArnoldGrove, 2, 2) };
    let mut schedule = Schedule::new(&[client]).unwrap();
    let reach = |schedule: &mut Schedule, kind| {
        let decision = schedule.reach(kind);
        let (sample, switch) = decision.map_or((false, false), |d| (d.takes_any(), d.switch));
        (decision.is_some(), sample, switch, schedule.word().value())
    };
    let (no, yes) = (false, true);
    assert_eq!([P, B].map(|kind| reach(&mut schedule, kind)), [(no, no, no, 0); 2]);
    schedule.tick();
    assert_eq!(reach(&mut schedule, B), (yes, no, no, -1), "arms the window, is no opportunity");
    assert_eq!(reach(&mut schedule, B), (no, no, no, -1));
    assert_eq!(reach(&mut schedule, P), (yes, yes, no, -1));
    assert_eq!(reach(&mut schedule, B), (no, no, no, -1));
    assert_eq!(reach(&mut schedule, E), (yes, no, no, -1));
    assert_eq!(reach(&mut schedule, P), (yes, yes, yes, 0), "the last sample, then the thread switch");
    assert_eq!([E, P, B].map(|kind| reach(&mut schedule, kind)), [(no, no, no, 0); 3]);
    schedule.tick();
    assert_eq!(schedule.word(), Word::All);
    assert_eq!(reach(&mut schedule, P), (yes, no, no, -1), "arms the window, is skipped");
    assert_eq!(reach(&mut schedule, E), (yes, yes, no, -1));
    assert_eq!(reach(&mut schedule, P), (yes, no, no, -1));
    assert_eq!(schedule.window(0).counts().taken, 3);
}

/// PEP and CBS on one timer: the word is 1 as long as PEP needs headers, then -1 for CBS alone, then 0.
#[test]
fn two_clients_share_a_word() {
    use YieldKind::{Epilogue, Header, Prologue};
    let pep = Client { kinds: Kinds::PATH_ENDS, parameters: window(Shape::Simplified, 2, 1) };
    let cbs = Client { kinds: Kinds::PROLOGUES, parameters: window(Shape::ArnoldGrove, 2, 1) };
    let mut schedule = Schedule::new(&[pep, cbs]).unwrap();
    schedule.tick();
    let mut log = Vec::new();
    for kind in [Header, Prologue, Header, Header, Epilogue, Prologue, Prologue] {
        let taken = schedule.reach(kind);
        let verdicts =
            taken.map(|d| (d.verdict(0) == Verdict::Take, d.verdict(1) == Verdict::Take, d.switch));
        log.push((verdicts, schedule.word().value()));
    }
    let expected = [
        (Some((true, false, false)), 1),
        (Some((false, true, false)), 1),
        (Some((true, false, false)), -1),
        (None, -1),
        (Some((false, false, false)), -1),
        (Some((false, true, true)), 0),
        (None, 0),
    ];
    assert_eq!(log, expected);
}

/// A window of calls stays open in a loop that calls nothing; the thread switch comes with the next tick.
#[test]
fn a_thread_that_only_loops_is_switched() {
    let cbs = Client { kinds: Kinds::PROLOGUES, parameters: window(Shape::ArnoldGrove, 2, 3) };
    let mut schedule = Schedule::new(&[cbs]).unwrap();
    schedule.tick();
    let reach = |schedule: &mut Schedule, kind| schedule.reach(kind).map(|decision| decision.switch);
    assert_eq!([0; 3].map(|_| reach(&mut schedule, YieldKind::Header)), [Some(false), None, None]);
    schedule.tick();
    assert_eq!([0; 3].map(|_| reach(&mut schedule, YieldKind::Header)), [Some(true), None, None]);
    schedule.tick();
    assert_eq!(reach(&mut schedule, YieldKind::Header), Some(false), "the switch of this tick waits again");
    assert_eq!(schedule.word(), Word::Calls);
    // What passes without attention is counted all the same.
    assert_eq!(schedule.skippable(), 0);
    assert_eq!(reach(&mut schedule, YieldKind::Prologue), Some(false));
    assert_eq!(schedule.skippable(), 2);
    schedule.skip(2);
    assert_eq!(reach(&mut schedule, YieldKind::Prologue), Some(true));
    let counts = schedule.window(0).counts();
    assert_eq!((counts.taken, counts.skipped, counts.ignored), (2, 2, 2));
}

/// The last sample of a window is taken where no thread can be switched: the next yieldpoint switches it.
#[test]
fn a_switch_waits_for_a_yieldpoint() {
    let pep = Client { kinds: Kinds::PATH_ENDS, parameters: window(Shape::ArnoldGrove, 1, 1) };
    let mut schedule = Schedule::new(&[pep]).unwrap();
    for _ in 0..3 {
        schedule.tick();
        let decision = schedule.yieldpoint_for(|_, _| false);
        assert!(!decision.switch && schedule.window(0).is_open());
        assert_eq!(schedule.opportunity_of(0), Verdict::Take);
        assert!(!schedule.window(0).is_open());
        assert_eq!(schedule.word(), Word::All, "the next one is taken");
        assert!(schedule.yieldpoint(YieldKind::Header).switch);
        assert_eq!(schedule.word(), Word::None);
    }
}

/// Without a sampler a tick is a thread switch at the first yieldpoint; two ticks before it are one.
#[test]
fn no_client() {
    let mut schedule = Schedule::new(&[]).unwrap();
    schedule.tick();
    schedule.tick();
    let decision = schedule.reach(YieldKind::Header).unwrap();
    assert!(decision.switch && !decision.takes_any());
    assert_eq!((schedule.word(), schedule.coalesced()), (Word::None, 1));
    assert_eq!(schedule.reach(YieldKind::Prologue), None);
}

#[test]
fn parameters_name_their_range() {
    let error =
        |samples, stride| Parameters::new(Shape::Simplified, samples, stride).unwrap_err().to_string();
    assert_eq!(error(0, 3), "samples is 0: it must be in 1..=4294967295");
    assert_eq!(error(3, 0), "stride is 0: it must be in 1..=4294967295");
    let error = "full".parse::<Shape>().unwrap_err().to_string();
    assert_eq!(error, "no schedule is called `full`: there are `timer` `arnold-grove` `simplified`");
    for &shape in Shape::ALL {
        assert_eq!(shape.name().parse(), Ok(shape));
    }
    assert!(Schedule::new(&[Client { kinds: Kinds::CALLS, parameters: Parameters::timer() }; 33]).is_err());
}

/// The countdown against positions computed from the definition, over random ticks.
#[test]
fn countdown_equals_positions() {
    let mut rng = SmallRng::seed_from_u64(1);
    for _ in 0..2000 {
        let (samples, stride) = (rng.random_range(1..6), rng.random_range(1..6));
        let shape = Shape::ALL[rng.random_range(0..3)];
        let last = rng.random_range(1..120);
        let ticks: Vec<u32> = (1..=last).filter(|_| rng.random_bool(0.06)).collect();
        let (mut positions, mut closes, mut windows) = (Vec::new(), 0, 0);
        for &tick in &ticks {
            if tick <= closes {
                continue;
            }
            let first = windows % stride;
            windows += 1;
            let of = |sample| match shape {
                Shape::Timer => tick,
                Shape::ArnoldGrove => tick + first + sample * stride,
                Shape::Simplified => tick + first + sample,
            };
            let count = if shape == Shape::Timer { 1 } else { samples };
            positions.extend((0..count).map(of));
            closes = of(count - 1);
        }
        positions.retain(|&position| position <= last);
        let mut machine = Window::new(window(shape, samples, stride));
        assert_eq!(
            sampled(&mut machine, &ticks, last).concat(),
            positions,
            "{shape} {samples} {stride} {ticks:?}"
        );
        let counts = machine.counts();
        assert_eq!((counts.ticks, counts.windows), (ticks.len() as u64, u64::from(windows)));
        assert_eq!(counts.taken, positions.len() as u64);
        assert_eq!(counts.ignored, ticks.len() as u64 - u64::from(windows));
    }
}

/// The generator that the reference figures of the adversary were made with (MT19937 as Python seeds and reads it).
struct MersenneTwister {
    state: [u32; 624],
    next: usize,
}

impl MersenneTwister {
    fn new(key: u32) -> Self {
        let mut state = [0u32; 624];
        state[0] = 19_650_218;
        for i in 1..624 {
            let before = state[i - 1];
            state[i] = (before ^ (before >> 30)).wrapping_mul(1_812_433_253).wrapping_add(i as u32);
        }
        let mut i = 1;
        let wrap = |state: &mut [u32; 624], i: &mut usize| {
            *i += 1;
            if *i == 624 {
                state[0] = state[623];
                *i = 1;
            }
        };
        for _ in 0..624 {
            let before = state[i - 1];
            state[i] = (state[i] ^ (before ^ (before >> 30)).wrapping_mul(1_664_525)).wrapping_add(key);
            wrap(&mut state, &mut i);
        }
        for _ in 0..623 {
            let before = state[i - 1];
            state[i] =
                (state[i] ^ (before ^ (before >> 30)).wrapping_mul(1_566_083_941)).wrapping_sub(i as u32);
            wrap(&mut state, &mut i);
        }
        state[0] = 1 << 31;
        Self { state, next: 624 }
    }

    fn word(&mut self) -> u32 {
        if self.next == 624 {
            for i in 0..624 {
                let y = self.state[i] & 1 << 31 | self.state[(i + 1) % 624] & !(1 << 31);
                let odd = if y & 1 == 1 { 0x9908_b0df } else { 0 };
                self.state[i] = self.state[(i + 397) % 624] ^ y >> 1 ^ odd;
            }
            self.next = 0;
        }
        let mut y = self.state[self.next];
        self.next += 1;
        y ^= y >> 11;
        y ^= y << 7 & 0x9d2c_5680;
        y ^= y << 15 & 0xefc6_0000;
        y ^ y >> 18
    }

    /// A number in 0..1 of 53 bits.
    fn unit(&mut self) -> f64 {
        let (high, low) = (self.word() >> 5, self.word() >> 6);
        (f64::from(high) * 67_108_864.0 + f64::from(low)) / 9_007_199_254_740_992.0
    }
}

/// Samples of call_1 and of call_2 in figure 1 of Arnold & Grove 2005: 20,000 iterations of 1000 units of work and two
/// short calls, a tick every 10,000 units +- 50 %.
fn adversary(samples: u32, stride: u32, kinds: Kinds) -> [u32; 2] {
    let client = Client { kinds, parameters: window(Shape::ArnoldGrove, samples, stride) };
    let mut schedule = Schedule::new(&[client]).unwrap();
    let mut random = MersenneTwister::new(1);
    let (mut time, mut next) = (0.0, random.unit() * 10_000.0);
    let mut counts = [0; 2];
    for _ in 0..20_000 {
        time += 1000.0;
        for count in &mut counts {
            for kind in [YieldKind::Prologue, YieldKind::Epilogue] {
                time += 1.0;
                if time >= next {
                    schedule.tick();
                    while next <= time {
                        next += 10_000.0 * (0.5 + random.unit());
                    }
                }
                *count += u32::from(schedule.reach(kind).is_some_and(|decision| decision.takes_any()));
            }
        }
    }
    counts
}

/// SCH-3: one sample per tick sees one call only; a stride or several samples repair it, an even stride aliases again
/// when epilogues are opportunities as well.
#[test]
fn adversary_of_the_cbs_paper() {
    let prologues = [
        ((1, 1), [1997, 6]),
        ((1, 2), [1002, 1001]),
        ((1, 3), [1331, 672]),
        ((16, 1), [12971, 12971]),
        ((16, 2), [7507, 7408]),
        ((16, 3), [5622, 5621]),
        ((16, 7), [2689, 2688]),
        ((64, 17), [1175, 1174]),
    ];
    for ((samples, stride), counts) in prologues {
        assert_eq!(adversary(samples, stride, Kinds::PROLOGUES), counts, "({samples},{stride})");
    }
    let both = [
        ((1, 1), [1998, 5]),
        ((1, 2), [1997, 6]),
        ((1, 3), [1336, 667]),
        ((16, 1), [16022, 16022]),
        ((16, 2), [12971, 12971]),
        ((16, 3), [9586, 9586]),
    ];
    for ((samples, stride), counts) in both {
        assert_eq!(adversary(samples, stride, Kinds::CALLS), counts, "({samples},{stride})");
    }
}

/// A client that rests has no window; others have theirs, and it has one with the first tick after.
#[test]
fn who_rests_has_no_window() {
    let client = |kinds| Client { kinds, parameters: window(Shape::Simplified, 2, 1) };
    let mut schedule = Schedule::new(&[client(Kinds::PATH_ENDS), client(Kinds::PROLOGUES)]).unwrap();
    schedule.tick();
    assert_eq!(schedule.reach(YieldKind::Header).map(|decision| decision.verdict(0)), Some(Verdict::Take));
    schedule.rest(0, true);
    assert!(!schedule.window(0).is_open());
    // The word follows with the next yieldpoint: only the calls' window is open.
    assert_eq!(schedule.reach(YieldKind::Header).map(|decision| decision.verdict(0)), Some(Verdict::Skip));
    assert_eq!(schedule.word(), Word::Calls);
    schedule.tick();
    let decision = schedule.reach(YieldKind::Header).unwrap();
    assert_eq!((decision.verdict(0), schedule.window(0).counts().windows), (Verdict::Skip, 1));
    schedule.rest(0, false);
    schedule.tick();
    assert_eq!(schedule.reach(YieldKind::Header).map(|decision| decision.verdict(0)), Some(Verdict::Take));
    assert_eq!(schedule.window(0).counts().windows, 2);
}
