//! The parameters of `subpaths` and `osp`: how subpaths are counted, all of them or a sample (Oren, Matias & Sagiv 2002).

use super::{Keys, word};
use crate::profiling::instrument::BlockInstrumentation;
use holloway_profilers::osp::{
    Ageing, Bias, Config, Encoding, Estimator, Keeping, Lengths, MAX_LENGTH, MAX_MEMORY, MAX_RATE, MIN_RATE,
    Profiler, Ratio, Starts,
};
use std::fmt::{self, Display};

/// The keys of `subpaths`.
pub(super) const SUBPATH_KEYS: &[(&str, &str)] = &[
    ("max-length", "a power of two from 2 to 8192, in blocks"),
    ("top", "a number of subpaths from 1 to 1000000"),
    ("until", "a number of blocks from 1 to 4611686018427387904"),
    ("census", "`no` or `yes`"),
];

/// The keys of `osp`.
pub(super) const OSP_KEYS: &[(&str, &str)] = &[
    ("memory", "a number of bytes from 1 to 1073741824, also as in 32k or 1m"),
    ("rate", "a number of blocks from 2 to 1099511627776"),
    (
        "max-length",
        "a power of two from 2 to 8192, in blocks; with lengths=arbitrary any number from 2 to 8192",
    ),
    ("lengths", "`powers` (of two) or `arbitrary`"),
    ("bias", "`shorter`, `uniform` or `longer`"),
    ("starts", "`anywhere` or `loops`"),
    ("encoding", "`rotation`, `xor`, `random-xor` or `rolling`"),
    ("estimator", "`post-stratified` or `paper`"),
    ("list", "`counting` or `concise`"),
    ("ageing", "`none`, `decay` or `window`"),
    ("epoch", "a number of blocks from 1 to 4611686018427387904"),
    ("keep", "a number from 1 to 99, in percent of the samples"),
    ("seed", "a number"),
    ("skip", "`decrement`, `call`, `burst` or `versions`"),
    ("stretch", "a number of blocks from 1 to 1099511627776, with skip=versions"),
    ("until", "a number of blocks from 1 to 4611686018427387904, with skip=call"),
];

/// Two to thirty-two blocks: the paper's lengths.
const LONGEST: u32 = 32;
/// Subpaths that a profile keeps of all.
const TOP: u32 = 1000;
/// The most of them.
const MOST_TOP: u32 = 1_000_000;
/// Thirty-two kibibytes, descriptions included.
const MEMORY: usize = 32 << 10;
/// The paper's lower bound of f.
const RATE: u64 = 1000;
/// Blocks of an epoch.
const EPOCH: u64 = 1_000_000;
/// Blocks that are counted at a tick: a few samples at the usual rate.
const STRETCH: u64 = 10_000;
/// What is kept of the samples after an epoch, in percent.
const KEEP: u32 = 50;
/// Every parameter that can be wrong for want of memory is, with so much of it, right.
const ENOUGH: usize = 1 << 20;

/// How all subpaths are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SubpathOptions {
    /// The longest have 2 to the power of this many blocks.
    pub exponent: u32,
    /// The profile keeps so many of the most executed ones.
    pub top: u32,
    /// Of each thread, only so many blocks are looked at.
    pub until: Option<u64>,
    /// The profile tells what each encoding takes for the same. Of millions of long subpaths that takes longer than to count them.
    pub census: bool,
}

/// Which lengths are sampled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LengthLaw {
    /// Powers of two, from two to two to the power of this.
    Powers(u32, Bias),
    /// All from two to this.
    Arbitrary(u32),
}

/// Who counts the blocks between two samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SubpathSkip {
    /// The profiler is called for each block.
    Call,
    /// A decrement for each block; the profiler is called when the skip is over.
    Decrement,
    /// Nobody: ticks start samples, for which compiled code is left.
    Burst,
    /// Nobody, most of the time: ticks start stretches, in which a second version of the code runs, which counts.
    Versions,
}

/// How subpaths are sampled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OspOptions {
    /// The cap on the memory of one thread's profiler, in bytes.
    pub memory: usize,
    /// The mean number of blocks between samples. With bursts: what a tick is taken for.
    pub rate: u64,
    /// How long subpaths are.
    pub lengths: LengthLaw,
    /// Samples start at headers of loops only.
    pub at_loops: bool,
    /// Which subpaths count as the same.
    pub encoding: Encoding,
    /// How counts of samples become estimates.
    pub estimator: Estimator,
    /// What a full list does.
    pub list: Keeping,
    /// How the profile forgets.
    pub ageing: OspAgeing,
    /// For skips and lengths; each thread's is another.
    pub seed: u64,
    /// Who counts blocks.
    pub skip: SubpathSkip,
    /// How many are counted at a tick, with two versions of the code.
    pub stretch: u64,
    /// Of each thread, only so many blocks are looked at.
    pub until: Option<u64>,
}

/// How the profile forgets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OspAgeing {
    /// Never.
    None,
    /// After so many blocks, so many percent of the samples are kept.
    Decay(u64, u32),
    /// After so many blocks, the epoch before the last is forgotten.
    Window(u64),
}

impl OspOptions {
    /// Do ticks say when blocks are looked at, so that nobody knows how many were executed.
    pub fn is_by_ticks(&self) -> bool {
        matches!(self.skip, SubpathSkip::Burst | SubpathSkip::Versions)
    }

    /// The configuration of one thread's profiler.
    pub fn config(&self, thread: u32) -> Result<Config, String> {
        let wrong = |error: holloway_profilers::osp::Invalid| error.to_string();
        Ok(Config {
            memory: self.memory,
            rate: self.rate,
            lengths: match self.lengths {
                LengthLaw::Powers(exponent, bias) => Lengths::powers(exponent, bias),
                LengthLaw::Arbitrary(longest) => Lengths::arbitrary(2, longest),
            }
            .map_err(wrong)?,
            encoding: self.encoding,
            starts: match (self.skip, self.at_loops) {
                (SubpathSkip::Burst, _) => Starts::Timer,
                (_, true) => Starts::Weights,
                (_, false) => Starts::Skips,
            },
            ageing: match self.ageing {
                OspAgeing::None => Ageing::None,
                OspAgeing::Decay(epoch, keep) => {
                    let keep = Ratio::new(u64::from(keep), 100).map_err(wrong)?;
                    Ageing::Decay { epoch, keep }
                }
                OspAgeing::Window(epoch) => Ageing::Window { epoch },
            },
            keeping: self.list,
            seed: self.seed.wrapping_add(u64::from(thread).wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            encoding_seed: 1,
        })
    }
}

const LAWS: &[(&str, bool)] = &[("powers", false), ("arbitrary", true)];
const BIASES: &[(&str, Bias)] =
    &[("shorter", Bias::Shorter), ("uniform", Bias::Uniform), ("longer", Bias::Longer)];
const STARTS: &[(&str, bool)] = &[("anywhere", false), ("loops", true)];
const ESTIMATORS: &[(&str, Estimator)] =
    &[("post-stratified", Estimator::PostStratified), ("paper", Estimator::Paper)];
const LISTS: &[(&str, Keeping)] = &[("counting", Keeping::Counting), ("concise", Keeping::Concise)];
const SKIPS: &[(&str, SubpathSkip)] = &[
    ("decrement", SubpathSkip::Decrement),
    ("call", SubpathSkip::Call),
    ("burst", SubpathSkip::Burst),
    ("versions", SubpathSkip::Versions),
];
const AGEINGS: &[(&str, u8)] = &[("none", 0), ("decay", 1), ("window", 2)];

/// The exponent of a length that must be a power of two.
fn power(keys: &Keys<'_>) -> Result<u32, String> {
    let length: u32 = keys.value("max-length", LONGEST)?;
    match (2..=MAX_LENGTH).contains(&length) && length.is_power_of_two() {
        true => Ok(length.ilog2()),
        false => Err(keys.wrong("max-length", &length.to_string())),
    }
}

/// Reads the keys of `subpaths`.
pub(super) fn subpaths(keys: &Keys<'_>) -> Result<SubpathOptions, String> {
    let top = keys.value("top", TOP)?;
    if !(1..=MOST_TOP).contains(&top) {
        return Err(keys.wrong("top", &top.to_string()));
    }
    let census = keys.one_of("census", super::ANSWERS, true)?;
    Ok(SubpathOptions { exponent: power(keys)?, top, until: until(keys)?, census })
}

/// Reads after how many blocks nothing is looked at any more.
fn until(keys: &Keys<'_>) -> Result<Option<u64>, String> {
    if keys.text("until").is_none() {
        return Ok(None);
    }
    let until: u64 = keys.value("until", 0)?;
    match (1..=1 << 62).contains(&until) {
        true => Ok(Some(until)),
        false => Err(keys.wrong("until", &until.to_string())),
    }
}

/// What all compiled code does for each block. A decrement counts for one profiler: where all subpaths are counted, too, both are called.
pub(crate) fn blocks_told(
    exact: Option<SubpathOptions>,
    osp: Option<OspOptions>,
) -> Option<BlockInstrumentation> {
    match osp.map(|osp| osp.skip) {
        Some(SubpathSkip::Burst | SubpathSkip::Versions) => None,
        Some(SubpathSkip::Decrement) if exact.is_none() => Some(BlockInstrumentation::Decrement),
        Some(_) => Some(BlockInstrumentation::Call),
        None => exact.map(|_| BlockInstrumentation::Call),
    }
}

/// What a full list does if nothing is said: the paper's estimates are those of the paper's samples, and what decays is thinned
/// anyway.
fn usual_list(estimator: Estimator, decays: bool) -> Keeping {
    match estimator {
        Estimator::PostStratified if !decays => Keeping::Counting,
        _ => Keeping::Concise,
    }
}

/// Reads a number of bytes.
fn memory(keys: &Keys<'_>) -> Result<usize, String> {
    let Some(text) = keys.text("memory") else { return Ok(MEMORY) };
    let (digits, shift) = match text.strip_suffix('k') {
        Some(digits) => (digits, 10),
        None => text.strip_suffix('m').map_or((text, 0), |digits| (digits, 20)),
    };
    let bytes = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(1 << shift));
    bytes.filter(|bytes| (1..=MAX_MEMORY).contains(bytes)).ok_or_else(|| keys.wrong("memory", text))
}

/// Reads the keys of `osp`.
pub(super) fn osp(keys: &Keys<'_>) -> Result<OspOptions, String> {
    let within = |key, otherwise, range: std::ops::RangeInclusive<u64>| {
        let value: u64 = keys.value(key, otherwise)?;
        if range.contains(&value) { Ok(value) } else { Err(keys.wrong(key, &value.to_string())) }
    };
    let lengths = match keys.one_of("lengths", LAWS, false)? {
        false => LengthLaw::Powers(power(keys)?, keys.one_of("bias", BIASES, Bias::Shorter)?),
        true if keys.text("bias").is_some() => {
            return Err("lengths=arbitrary has no bias: a length is as likely as its inverse".into());
        }
        true => LengthLaw::Arbitrary(within("max-length", LONGEST.into(), 2..=MAX_LENGTH.into())? as u32),
    };
    let at_loops = keys.one_of("starts", STARTS, false)?;
    let usual = if at_loops { SubpathSkip::Call } else { SubpathSkip::Decrement };
    let skip = keys.one_of("skip", SKIPS, usual)?;
    let usual = if at_loops { Encoding::Rolling } else { Encoding::Rotation };
    let encoding = match keys.text("encoding") {
        None => usual,
        Some(text) => Encoding::ALL
            .into_iter()
            .find(|encoding| encoding.name() == text)
            .ok_or_else(|| keys.wrong("encoding", text))?,
    };
    let estimator = keys.one_of("estimator", ESTIMATORS, Estimator::PostStratified)?;
    if at_loops && encoding != Encoding::Rolling {
        return Err("starts=loops needs encoding=rolling: the others forget where a subpath starts".into());
    }
    if at_loops && skip != SubpathSkip::Call {
        return Err("starts=loops needs skip=call: nobody else looks at each block".into());
    }
    let until = until(keys)?;
    if until.is_some() && skip != SubpathSkip::Call {
        return Err("until needs skip=call: nobody else looks at each block".into());
    }
    if until.is_some() && at_loops {
        return Err("until counts blocks, and with starts=loops only headers are counted".into());
    }
    let by_ticks = matches!(skip, SubpathSkip::Burst | SubpathSkip::Versions);
    if estimator == Estimator::Paper && (at_loops || by_ticks) {
        return Err(
            "estimator=paper needs to know the rate of samples: not with starts=loops, skip=burst or \
                    skip=versions"
                .into(),
        );
    }
    if skip != SubpathSkip::Versions && keys.text("stretch").is_some() {
        return Err(
            "stretch is of skip=versions: how many blocks its second version of the code counts".into()
        );
    }
    let ageing = keys.one_of("ageing", AGEINGS, 0)?;
    let epoch = within("epoch", EPOCH, 1..=1 << 62)?;
    let keep = within("keep", KEEP.into(), 1..=99)? as u32;
    if ageing == 0 && keys.text("epoch").is_some() || ageing != 1 && keys.text("keep").is_some() {
        return Err("epoch is of ageing=decay and ageing=window, keep of ageing=decay".into());
    }
    let list = keys.one_of("list", LISTS, usual_list(estimator, ageing == 1))?;
    let options = OspOptions {
        memory: memory(keys)?,
        rate: within("rate", RATE, MIN_RATE..=MAX_RATE)?,
        lengths,
        at_loops,
        encoding,
        estimator,
        list,
        ageing: match ageing {
            0 => OspAgeing::None,
            1 => OspAgeing::Decay(epoch, keep),
            _ => OspAgeing::Window(epoch),
        },
        seed: keys.value("seed", 0)?,
        skip,
        stretch: within("stretch", STRETCH, 1..=MAX_RATE)?,
        until,
    };
    let config = Config { memory: options.memory.min(ENOUGH), ..options.config(0)? };
    Profiler::new(config).map_err(|error| error.to_string())?;
    Ok(options)
}

impl Display for SubpathOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "subpaths:max-length={},top={}", 1u32 << self.exponent, self.top)?;
        self.until.map_or(Ok(()), |until| write!(f, ",until={until}"))?;
        f.write_str(if self.census { "" } else { ",census=no" })
    }
}

impl Display for OspOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OspOptions { memory, rate, encoding, .. } = self;
        write!(f, "osp:memory={memory},rate={rate}")?;
        match self.lengths {
            LengthLaw::Powers(exponent, bias) => {
                write!(f, ",max-length={}", 1u32 << exponent)?;
                if bias != Bias::Shorter {
                    write!(f, ",bias={}", word(BIASES, bias))?;
                }
            }
            LengthLaw::Arbitrary(longest) => write!(f, ",max-length={longest},lengths=arbitrary")?,
        }
        if self.at_loops {
            f.write_str(",starts=loops")?;
        }
        write!(f, ",encoding={encoding},skip={}", word(SKIPS, self.skip))?;
        if self.skip == SubpathSkip::Versions {
            write!(f, ",stretch={}", self.stretch)?;
        }
        if self.estimator != Estimator::PostStratified {
            write!(f, ",estimator={}", word(ESTIMATORS, self.estimator))?;
        }
        if self.list != usual_list(self.estimator, matches!(self.ageing, OspAgeing::Decay(..))) {
            write!(f, ",list={}", word(LISTS, self.list))?;
        }
        match self.ageing {
            OspAgeing::None => {}
            OspAgeing::Decay(epoch, keep) => write!(f, ",ageing=decay,epoch={epoch},keep={keep}")?,
            OspAgeing::Window(epoch) => write!(f, ",ageing=window,epoch={epoch}")?,
        }
        if self.seed != 0 {
            write!(f, ",seed={}", self.seed)?;
        }
        self.until.map_or(Ok(()), |until| write!(f, ",until={until}"))
    }
}
