//! One window: a countdown over opportunities.
//!
//! Notation: a tick opens the window, `first` opportunities later the first sample is taken, until SAMPLES are taken.
//!
//! | shape | samples at opportunities (from 1) | window ends at opportunity |
//! |---|---|---|
//! | timer only | 1 | 1 |
//! | Arnold-Grove (full) | first, first + STRIDE, first + 2 STRIDE ... | first + (SAMPLES - 1) STRIDE |
//! | simplified | first, first + 1, first + 2 ... | first + SAMPLES - 1 |
//!
//! Arnold & Grove 2005, sec. 4 (their figure 3 is the loop in [`Window::opportunity`]); Bond & McKinley 2005,
//! sec. 4.4 and figure 5. `first` rotates through 1..=STRIDE from tick to tick, or is random; [`Skip::Jikes`] is what
//! the published code of Jikes RVM does instead, which never waits STRIDE opportunities.
//!
//! The papers are silent about a tick that comes while the window is still open, the *overrun*: [`Overrun`] has the
//! three answers, and each is counted. With large SAMPLES x STRIDE the window never closes and the profiler is always
//! on.
//!
//! Invariant: the window is open iff `remaining > 0`, and then `countdown >= 1`. Every operation is O(1), without
//! memory.

use super::SplitMix;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Choices with a name for the command line, declared once.
macro_rules! choices {
    ($(#[$meta:meta])* $name:ident $what:literal { $($(#[$doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// Every choice, in the order in which help lists them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name on the command line.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }

        impl FromStr for $name {
            type Err = ParameterError;

            fn from_str(text: &str) -> Result<Self, ParameterError> {
                match text {
                    $($text => Ok(Self::$variant),)*
                    _ => Err(ParameterError(format!(
                        concat!("no ", $what, " is called `{}`: there are ", $("`", $text, "` "),*), text
                    ).trim_end().to_owned())),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

choices! {
    /// How the samples of a window lie.
    Shape "schedule" {
        /// One sample at the first opportunity after the tick.
        Timer = "timer",
        /// The first sample after the initial skip, then one every STRIDE opportunities.
        ArnoldGrove = "arnold-grove",
        /// The first sample after the initial skip, then one at every opportunity.
        Simplified = "simplified",
    }
}

choices! {
    /// How long the initial skip is.
    Skip "initial skip" {
        /// 1, 2, ... STRIDE, 1, 2, ... from tick to tick, as in the papers.
        RoundRobin = "round-robin",
        /// Uniform in 1..=STRIDE, from the seed.
        Random = "random",
        /// As in the published code of Jikes RVM: first = (first + 1) mod STRIDE, and the sample is taken when the
        /// countdown is at or below 0. For STRIDE 3 this skips 1, 2, 1, 1, 2, 1 ... opportunities.
        Jikes = "jikes",
    }
}

choices! {
    /// What a tick does while the window of an earlier one is open.
    Overrun "overrun policy" {
        /// The tick is lost for sampling, the window goes on.
        Ignore = "ignore",
        /// A new window takes the place of the old one.
        Restart = "restart",
        /// The window ends and none is opened: the tick's thread switch ends it.
        Cancel = "cancel",
    }
}

/// A parameter that is out of its range; the message names the range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterError(pub(super) String);

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ParameterError {}

/// What a window looks like. PEP(64,17) is `Parameters::new(Shape::Simplified, 64, 17)`: samples first, stride second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameters {
    shape: Shape,
    samples: u32,
    stride: u32,
    skip: Skip,
    overrun: Overrun,
    seed: u64,
}

impl Parameters {
    /// A window of this shape with SAMPLES samples and the given STRIDE, initial skips by round robin, overruns
    /// ignored.
    ///
    /// # Errors
    ///
    /// If SAMPLES or STRIDE is 0.
    pub fn new(shape: Shape, samples: u32, stride: u32) -> Result<Self, ParameterError> {
        for (what, value) in [("samples", samples), ("stride", stride)] {
            if value == 0 {
                return Err(ParameterError(format!("{what} is 0: it must be in 1..={}", u32::MAX)));
            }
        }
        Ok(Self { shape, samples, stride, skip: Skip::RoundRobin, overrun: Overrun::Ignore, seed: 0 })
    }

    /// One sample at the first opportunity after each tick.
    #[must_use]
    pub fn timer() -> Self {
        let (skip, overrun) = (Skip::RoundRobin, Overrun::Ignore);
        Self { shape: Shape::Timer, samples: 1, stride: 1, skip, overrun, seed: 0 }
    }

    /// How the samples lie.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// SAMPLES.
    #[must_use]
    pub fn samples(&self) -> u32 {
        self.samples
    }

    /// STRIDE.
    #[must_use]
    pub fn stride(&self) -> u32 {
        self.stride
    }

    /// The rule for the initial skip.
    #[must_use]
    pub fn skip(&self) -> Skip {
        self.skip
    }

    /// What overruns do.
    #[must_use]
    pub fn overrun(&self) -> Overrun {
        self.overrun
    }

    /// The seed of random skips.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The same with another rule for the initial skip; the seed matters to [`Skip::Random`] only.
    #[must_use]
    pub fn with_skip(self, skip: Skip, seed: u64) -> Self {
        Self { skip, seed, ..self }
    }

    /// The same with another answer to overruns.
    #[must_use]
    pub fn with_overrun(self, overrun: Overrun) -> Self {
        Self { overrun, ..self }
    }
}

impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shape, samples, stride, skip, overrun, .. } = self;
        match shape {
            Shape::Timer => write!(f, "{shape}"),
            _ => write!(f, "{shape}({samples},{stride}) skip={skip} overrun={overrun}"),
        }
    }
}

/// What to do at an opportunity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Take a sample.
    Take,
    /// Take none.
    Skip,
}

/// What happened so far, in events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Ticks that the window has seen.
    pub ticks: u64,
    /// Windows that were opened.
    pub windows: u64,
    /// Samples that were taken.
    pub taken: u64,
    /// Opportunities in an open window that were skipped.
    pub skipped: u64,
    /// Ticks that found the window open and were ignored.
    pub ignored: u64,
    /// Ticks that found the window open and opened another instead.
    pub restarted: u64,
    /// Ticks that found the window open and closed it.
    pub cancelled: u64,
}

impl Counts {
    /// Ticks that found the window open.
    #[must_use]
    pub fn overruns(&self) -> u64 {
        self.ignored.saturating_add(self.restarted).saturating_add(self.cancelled)
    }

    /// Adds what another thread counted, up to the largest number that there is.
    pub fn merge(&mut self, other: &Self) {
        let Self { ticks, windows, taken, skipped, ignored, restarted, cancelled } = other;
        self.ticks = self.ticks.saturating_add(*ticks);
        self.windows = self.windows.saturating_add(*windows);
        self.taken = self.taken.saturating_add(*taken);
        self.skipped = self.skipped.saturating_add(*skipped);
        self.ignored = self.ignored.saturating_add(*ignored);
        self.restarted = self.restarted.saturating_add(*restarted);
        self.cancelled = self.cancelled.saturating_add(*cancelled);
    }
}

/// A countdown over opportunities, closed at first.
#[derive(Debug, Clone)]
pub struct Window {
    parameters: Parameters,
    /// Opportunities from one sample to the next.
    step: u32,
    /// Samples that this window has still to take; 0 when it is closed.
    remaining: u32,
    /// Opportunities until the next sample, including the one that takes it.
    countdown: u32,
    /// The initial skip of the latest window.
    first: u32,
    random: SplitMix,
    counts: Counts,
}

impl Window {
    /// A closed window.
    #[must_use]
    pub fn new(parameters: Parameters) -> Self {
        let step = if parameters.shape == Shape::ArnoldGrove { parameters.stride } else { 1 };
        let random = SplitMix::new(parameters.seed);
        Self { parameters, step, remaining: 0, countdown: 0, first: 0, random, counts: Counts::default() }
    }

    /// A tick of the timer: opens the window, or does what the overrun policy says if it is open.
    pub fn tick(&mut self) {
        self.counts.ticks += 1;
        if self.is_open() {
            match self.parameters.overrun {
                Overrun::Ignore => {
                    self.counts.ignored += 1;
                    return;
                }
                Overrun::Cancel => {
                    self.counts.cancelled += 1;
                    self.remaining = 0;
                    return;
                }
                Overrun::Restart => self.counts.restarted += 1,
            }
        }
        self.counts.windows += 1;
        (self.remaining, self.countdown) = match self.parameters.shape {
            Shape::Timer => (1, 1),
            Shape::ArnoldGrove | Shape::Simplified => (self.parameters.samples, self.next_skip()),
        };
    }

    /// No more samples of this window.
    pub fn close(&mut self) {
        self.remaining = 0;
    }

    /// An opportunity has come.
    #[inline]
    pub fn opportunity(&mut self) -> Verdict {
        if self.remaining == 0 {
            return Verdict::Skip;
        }
        self.countdown -= 1;
        if self.countdown > 0 {
            self.counts.skipped += 1;
            return Verdict::Skip;
        }
        self.counts.taken += 1;
        self.remaining -= 1;
        self.countdown = self.step;
        Verdict::Take
    }

    /// How many of the next opportunities only count down: who knows that need not ask [`Window::opportunity`] each time.
    #[must_use]
    pub fn skippable(&self) -> u32 {
        if self.is_open() { self.countdown - 1 } else { 0 }
    }

    /// So many opportunities have come, of which none was for a sample: at most [`Window::skippable`].
    pub fn skip(&mut self, opportunities: u32) {
        let skipped = opportunities.min(self.skippable());
        self.countdown -= skipped;
        self.counts.skipped += u64::from(skipped);
    }

    /// Whether samples are still to be taken.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.remaining > 0
    }

    /// What it was made with.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// What happened so far.
    #[must_use]
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// At which opportunity of the new window the first sample is taken.
    fn next_skip(&mut self) -> u32 {
        let stride = self.parameters.stride;
        match self.parameters.skip {
            Skip::RoundRobin => self.first = self.first % stride + 1,
            Skip::Random => self.first = self.random.one_to(stride),
            Skip::Jikes => self.first = (self.first + 1) % stride,
        }
        self.first.max(1)
    }
}
