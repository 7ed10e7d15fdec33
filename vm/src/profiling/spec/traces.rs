//! The parameters of `btb`: how branch traces are made, and what is made of them (Shye et al. 2005).

use super::{ANSWERS, Keys, word};
use holloway_profilers::btb::{
    ColdEdges, Crossing, Em, EstimateOptions, FirstGuess, Period, RegionOptions, Ring, Weighting,
};
use std::fmt::{self, Display};

/// How branch traces are made, and what is made of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BtbOptions {
    /// So many taken branches are in a trace.
    pub depth: u32,
    /// Who fills the buffer.
    pub backend: Backend,
    /// When a sample is due.
    pub period: Period,
    /// The distance between samples varies by so many percent of the period.
    pub spread: u32,
    /// For the distances.
    pub seed: u64,
    /// A region has fewer paths.
    pub cap: u32,
    /// How a partial path is divided among the full paths that contain it.
    pub weights: Weights,
    /// Paths with an edge are left out that has less than so many percent of its branch; 0 for none.
    pub cold: u32,
    /// What calls do to a path.
    pub crossing: Crossing,
    /// Regions span calls that are more than so many percent of all calls of an earlier run.
    pub hot: Option<u32>,
    /// Of a hundred recorded branches so many are made inexact, as hardware has them.
    pub noise: u32,
    /// The full paths are counted, too.
    pub exact: bool,
    /// Traces are analysed while the program runs, on a thread of its own.
    pub background: bool,
}

impl BtbOptions {
    /// How regions are formed.
    pub fn regions(&self) -> RegionOptions {
        RegionOptions { cap: self.cap, ..RegionOptions::default() }
    }

    /// How weights are found.
    pub fn estimate(&self) -> EstimateOptions {
        let weighting = Weighting {
            first: match self.weights {
                Weights::Equal | Weights::Em | Weights::Unique => FirstGuess::Equal,
                Weights::Prior | Weights::PriorEm => FirstGuess::EdgeProfile,
            },
            em: matches!(self.weights, Weights::Em | Weights::PriorEm).then(Em::default),
            cold: (self.cold > 0).then(|| ColdEdges { fraction: f64::from(self.cold) / 100.0 }),
            most_matches: (self.weights == Weights::Unique).then_some(1),
        };
        EstimateOptions { regions: self.regions(), weighting }
    }
}

/// Who fills the buffer of branch traces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Backend {
    /// The interpreter, all the time.
    Recorder,
    /// The interpreter, for the branches that come soon after a sample is due; compiled code is left for that long.
    Burst,
    /// The processor.
    Lbr,
    /// The processor, which is stopped after each instruction from when a sample is due until the buffer is full.
    Step,
}

impl Backend {
    /// Does it see addresses of machine code.
    pub fn is_native(self) -> bool {
        matches!(self, Backend::Lbr | Backend::Step)
    }
}

/// How a partial path is divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weights {
    /// Equally, as in the paper.
    Equal,
    /// By expectation-maximisation.
    Em,
    /// By an edge profile: that of the interpreter.
    Prior,
    /// Both, the edge profile first.
    PriorEm,
    /// Only among partial paths that one full path contains: what may be of several is no evidence.
    Unique,
}

/// Branches in a trace: those of a recent processor.
const DEPTH: u32 = 16;
/// Taken branches from sample to sample: a prime number.
const PERIOD: u64 = 4099;
/// The same for the processor, which executes a branch every nanosecond, and to which the kernel needs microseconds for a sample.
const LBR_PERIOD: u64 = 100_003;
/// The most branches that can be stepped through.
const MOST_STEPPED: u32 = 4096;
/// By how many percent that varies.
const SPREAD: u32 = 25;

/// The words for the back ends of branch traces.
const BACKENDS: &[(&str, Backend)] = &[
    ("recorder", Backend::Recorder),
    ("burst", Backend::Burst),
    ("lbr", Backend::Lbr),
    ("step", Backend::Step),
];

/// The words for weights.
const WEIGHTS: &[(&str, Weights)] = &[
    ("em", Weights::Em),
    ("equal", Weights::Equal),
    ("prior", Weights::Prior),
    ("prior-em", Weights::PriorEm),
    ("unique", Weights::Unique),
];

/// The words for what calls do to a path, and whether regions span those that are hot.
const CROSSINGS: &[(&str, (Crossing, bool))] = &[
    ("rejoin", (Crossing::Rejoin, false)),
    ("split", (Crossing::Split, false)),
    ("hot", (Crossing::Rejoin, true)),
];
/// Calls are hot above so many percent of all, as for the inliner that the papers know.
const HOT: u32 = 1;

/// The words for when traces are analysed.
const ANALYSES: &[(&str, bool)] = &[("end", false), ("background", true)];

/// Reads the parameters.
pub(super) fn btb(keys: &Keys<'_>) -> Result<BtbOptions, String> {
    let within = |key, otherwise, range: std::ops::RangeInclusive<u32>| {
        let value: u32 = keys.value(key, otherwise)?;
        if range.contains(&value) { Ok(value) } else { Err(keys.wrong(key, &value.to_string())) }
    };
    let backend = keys.one_of("backend", BACKENDS, Backend::Recorder)?;
    let by_ticks = matches!(backend, Backend::Burst | Backend::Step);
    let ticks = keys.value("ticks", u64::from(by_ticks))?;
    let usual = if backend == Backend::Lbr { LBR_PERIOD } else { PERIOD };
    let period = keys.value("period", if ticks == 0 { usual } else { 0 })?;
    let period = match (period, ticks) {
        (0, 0) => return Err("a sample is due after so many branches (period) or ticks: both are 0".into()),
        (branches, 0) => Period::Branches(branches),
        (0, ticks) => Period::Ticks(ticks),
        (branches, ticks) => Period::Either { branches, ticks },
    };
    let exact = keys.one_of("exact", ANSWERS, false)?;
    let name = word(BACKENDS, backend);
    if by_ticks && period.branches().is_some() {
        return Err(format!("backend={name} has no period: compiled code does not count its branches"));
    }
    if backend == Backend::Lbr && period.ticks().is_some() {
        return Err("backend=lbr has no ticks: the processor counts branches".into());
    }
    if backend != Backend::Recorder && exact {
        return Err(format!("backend={name} has no exact counts: it sees samples only"));
    }
    let background = keys.one_of("analysis", ANALYSES, false)?;
    if background && backend.is_native() {
        return Err(format!(
            "backend={name} has no analysis in the background: it needs the code that there is in the end"
        ));
    }
    let noise = within("noise", 0, 0..=100)?;
    if noise > 0 && backend.is_native() {
        return Err(format!("backend={name} has no noise: the processor has its own"));
    }
    let (crossing, spans) = keys.one_of("calls", CROSSINGS, (Crossing::Rejoin, false))?;
    if spans && backend.is_native() {
        return Err(format!(
            "backend={name} has no calls=hot: what a region is, is up to the code that the compiler made"
        ));
    }
    if !spans && keys.text("hot").is_some() {
        return Err("hot says which calls are hot, for calls=hot".into());
    }
    let hot = within("hot", HOT, 0..=100)?;
    let deepest = if backend == Backend::Step { MOST_STEPPED } else { Ring::MAX_DEPTH as u32 };
    Ok(BtbOptions {
        backend,
        exact,
        depth: within("depth", DEPTH, 1..=deepest)?,
        period: period.validated().map_err(|error| error.to_string())?,
        spread: within("spread", SPREAD, 0..=100)?,
        seed: keys.value("seed", 0)?,
        cap: within("cap", RegionOptions::default().cap, 2..=RegionOptions::MAX_CAP)?,
        weights: keys.one_of("weights", WEIGHTS, Weights::Em)?,
        cold: within("cold", 0, 0..=100)?,
        crossing,
        hot: spans.then_some(hot),
        noise,
        background,
    })
}

impl Display for BtbOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BtbOptions { depth, period, spread, seed, cap, cold, .. } = self;
        write!(f, "btb:depth={depth}")?;
        period.branches().map_or(Ok(()), |branches| write!(f, ",period={branches}"))?;
        period.ticks().map_or(Ok(()), |ticks| write!(f, ",ticks={ticks}"))?;
        let (backend, weights) = (word(BACKENDS, self.backend), word(WEIGHTS, self.weights));
        write!(f, ",backend={backend},cap={cap},weights={weights}")?;
        if *cold > 0 {
            write!(f, ",cold={cold}")?;
        }
        if (*spread, *seed) != (SPREAD, 0) {
            write!(f, ",spread={spread},seed={seed}")?;
        }
        if (self.crossing, self.hot) != (Crossing::Rejoin, None) {
            write!(f, ",calls={}", word(CROSSINGS, (self.crossing, self.hot.is_some())))?;
        }
        if let Some(percent) = self.hot.filter(|&percent| percent != HOT) {
            write!(f, ",hot={percent}")?;
        }
        if self.noise > 0 {
            write!(f, ",noise={}", self.noise)?;
        }
        f.write_str(if self.background { ",analysis=background" } else { "" })?;
        f.write_str(if self.exact { ",exact=yes" } else { "" })
    }
}
