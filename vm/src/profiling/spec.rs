//! What is to be profiled, as it is said on the command line: `NAME[:key=value,...]`, one profiler each.
//!
//! | spec | meaning |
//! |---|---|
//! | `edges` | exact counts of the outcomes of branches in compiled code |
//! | `blpp[:storage=array\|hash]` | exact counts of Ball-Larus paths |
//! | `pep[:samples=64,stride=17,schedule=simplified,placement=smart,code=all,skip=round-robin,overrun=ignore,seed=0]` | PEP: sampled paths and edges |
//! | `kblpp:k=8` | exact counts of paths over k iterations |
//! | `kroy:k=2` | the same by numbers of windows of k paths, counted in a hash table at each end of a path |
//! | `calls` | exact counts of calls, in all tiers |
//! | `cbs[:samples=16,stride=3,schedule=arnold-grove,at=prologue,skip=round-robin,overrun=ignore,seed=0,depth=1,decay=0,credit=none]` | counter-based samples of calls |
//! | `oneshot[:burst=100,level=o0]` | the first calls of methods that have reached a level |
//! | `icache[:entries=8,sites=tables]` | counts of calls in polymorphic inline caches |
//! | `btb[:depth=16,period=4099,ticks=0,spread=25,seed=0,backend=recorder\|burst\|lbr\|step,cap=1024,weights=em,cold=0,calls=rejoin\|split\|hot,hot=1,noise=0,exact=no,analysis=end]` | paths from branch traces |
//! | `subpaths[:max-length=32,top=1000]` | exact counts of all subpaths: sequences of blocks, across loops and calls |
//! | `osp[:memory=32k,rate=1000,max-length=32,lengths=powers,encoding=rotation,skip=call,...]` | samples of them in bounded memory |
//!
//! Each key is a line of a profiler's table below; the error messages are made from these lines.

use super::instrument::{
    BlockInstrumentation, CacheInstrumentation, Instrumentation, PathInstrumentation, Storage,
};
use crate::compiled::Level;
use holloway_profilers::kblpp::K;
use holloway_profilers::paths::Placement;
use holloway_profilers::schedule::{Overrun, Parameters, Shape, Skip};
use std::fmt::{self, Display};
use std::str::FromStr;

mod subpaths;
mod traces;
pub(crate) use subpaths::blocks_told;
pub use subpaths::{LengthLaw, OspAgeing, OspOptions, SubpathOptions, SubpathSkip};
pub use traces::{Backend, BtbOptions, Weights};

/// What is to be profiled; nothing by default.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ProfileOptions {
    /// Exact edges.
    pub edges: bool,
    /// Exact paths, counted in this way.
    pub blpp: Option<Storage>,
    /// Sampled paths and edges.
    pub pep: Option<PepOptions>,
    /// Exact paths over so many iterations.
    pub kblpp: Option<K>,
    /// Exact windows of so many paths.
    pub kroy: Option<K>,
    /// Each green thread counts by itself, too.
    pub per_thread: bool,
    /// Exact calls.
    pub calls: bool,
    /// Sampled calls.
    pub cbs: Option<CbsOptions>,
    /// Calls of methods that were just optimized.
    pub oneshot: Option<OneShotOptions>,
    /// Calls in inline caches.
    pub icache: Option<IcacheOptions>,
    /// Estimates of calls are kept as they are while the program runs.
    pub snapshots: Option<Snapshots>,
    /// Paths from branch traces.
    pub btb: Option<BtbOptions>,
    /// Exact subpaths.
    pub subpaths: Option<SubpathOptions>,
    /// Sampled subpaths.
    pub osp: Option<OspOptions>,
    /// Every step of code whose paths are profiled: for tests and `holloway experiment`, which no spec asks for.
    pub traced: bool,
}

/// How PEP samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PepOptions {
    /// The window after a tick.
    pub window: Parameters,
    /// Where the additions to the path register are.
    pub placement: Placement,
    /// They are in a second version of compiled code, which takes turns with one that has none.
    pub turns: bool,
}

/// How calls are sampled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CbsOptions {
    /// The window after a tick.
    pub window: Parameters,
    /// Which yieldpoints are its opportunities.
    pub at: CallsAt,
    /// How many calls of a stack are looked at, the innermost first; 0 for all.
    pub depth: u32,
    /// After so many samples all weights are halved; 0 for never.
    pub decay: u64,
    /// Inlined calls are credited through the paths that PEP samples.
    pub credit: bool,
}

/// Yieldpoints of calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallsAt {
    /// Where methods are entered.
    Prologue,
    /// Where methods are entered and where they are left.
    Both,
}

/// How methods are listened to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OneShotOptions {
    /// How many entries a listener hears.
    pub burst: u32,
    /// A method is listened to when its code has reached this level.
    pub level: Level,
}

/// How calls are counted in inline caches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IcacheOptions {
    /// How many targets each cache has room for.
    pub entries: u32,
    /// Calls that need no table have caches, too.
    pub all: bool,
}

/// When to look at estimates while a program runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Snapshots {
    /// After 1, 2, 4, 8, … ticks.
    Doubling,
    /// After so many ticks, again and again.
    Every(u64),
}

impl FromStr for Snapshots {
    type Err = String;

    fn from_str(text: &str) -> Result<Snapshots, String> {
        match (text, text.parse()) {
            ("doubling", _) => Ok(Snapshots::Doubling),
            (_, Ok(ticks)) if ticks > 0 => Ok(Snapshots::Every(ticks)),
            _ => Err("it is a number of ticks from 1 on, or `doubling`".into()),
        }
    }
}

/// One profiler with its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProfileSpec {
    /// `edges`.
    Edges,
    /// `blpp`.
    Blpp(Storage),
    /// `pep`.
    Pep(PepOptions),
    /// `kblpp`.
    Kblpp(K),
    /// `kroy`.
    Kroy(K),
    /// `calls`.
    Calls,
    /// `cbs`.
    Cbs(CbsOptions),
    /// `oneshot`.
    OneShot(OneShotOptions),
    /// `icache`.
    Icache(IcacheOptions),
    /// `btb`.
    Btb(BtbOptions),
    /// `subpaths`.
    Subpaths(SubpathOptions),
    /// `osp`.
    Osp(OspOptions),
}

/// The profilers by name, with a key and its values for each parameter.
const PROFILERS: &[(&str, &[(&str, &str)])] = &[
    ("edges", &[]),
    ("blpp", &[("storage", "`array` or `hash`")]),
    (
        "pep",
        &[
            ("samples", "a number from 1 to 4294967295"),
            ("stride", "a number from 1 to 4294967295"),
            ("schedule", "`simplified`, `arnold-grove` or `timer`"),
            ("placement", "`smart`, `naive` or `hot`"),
            ("code", "`all` or `turns`"),
            ("skip", "`round-robin`, `random` or `jikes`"),
            ("overrun", "`ignore`, `restart` or `cancel`"),
            ("seed", "a number"),
        ],
    ),
    ("kblpp", &[("k", "a number from 2 to 1024")]),
    ("kroy", &[("k", "a number from 2 to 64")]),
    ("calls", &[]),
    (
        "cbs",
        &[
            ("samples", "a number from 1 to 4294967295"),
            ("stride", "a number from 1 to 4294967295"),
            ("schedule", "`arnold-grove`, `simplified` or `timer`"),
            ("at", "`prologue` or `both`"),
            ("skip", "`round-robin`, `random` or `jikes`"),
            ("overrun", "`ignore`, `restart` or `cancel`"),
            ("seed", "a number"),
            ("depth", "a number from 1 to 1000000, or `all`"),
            ("decay", "a number of samples from 1 to 18446744073709551615, or 0 for no decay"),
            ("credit", "`none` or `paths`"),
        ],
    ),
    ("oneshot", &[("burst", "a number from 1 to 4294967295"), ("level", "`o0`, `o1` or `o2`")]),
    ("icache", &[("entries", "a number from 1 to 1024"), ("sites", "`tables` or `all`")]),
    (
        "btb",
        &[
            ("depth", "a number of branches from 1 to 65536"),
            ("period", "a number of taken branches, or 0 if only ticks count"),
            ("ticks", "a number of ticks, or 0 if only branches count"),
            ("spread", "a number from 0 to 100, in percent of the period"),
            ("seed", "a number"),
            ("backend", "`recorder`, `burst`, `lbr` or `step`"),
            ("cap", "a number of paths from 2 to 65536"),
            ("weights", "`em`, `equal`, `prior`, `prior-em` or `unique`"),
            ("cold", "a number from 0 to 100, in percent of a branch"),
            ("calls", "`rejoin`, `split` or `hot`"),
            ("hot", "a number from 0 to 100, in percent of all calls, for calls=hot"),
            ("noise", "a number from 0 to 100, in percent of the branches"),
            ("exact", "`no` or `yes`"),
            ("analysis", "`end` or `background`"),
        ],
    ),
    ("subpaths", subpaths::SUBPATH_KEYS),
    ("osp", subpaths::OSP_KEYS),
];

/// What PEP's authors found best: PEP(64,17).
const SAMPLES: u32 = 64;
/// See [`SAMPLES`].
const STRIDE: u32 = 17;
/// What Arnold and Grove found a good choice for calls: CBS(16,3).
const CALL_SAMPLES: u32 = 16;
/// See [`CALL_SAMPLES`].
const CALL_STRIDE: u32 = 3;
/// The deepest contexts that can be asked for by a number.
const DEEPEST: u32 = 1_000_000;
/// Enough for the callers of most methods; more only make bursts longer.
const BURST: u32 = 100;
/// What Self's caches had room for was about ten.
const ENTRIES: u32 = 8;
/// Caches are searched one entry after the other.
const MOST_ENTRIES: u32 = 1024;
/// The k of the table in the design: a few iterations, at little cost.
const USUAL_K: u32 = 8;
/// More iterations do not fit the numbers of most methods.
const USUAL_WINDOW: u32 = 2;
/// With more paths in a window, no method is numbered.
const LONGEST_WINDOW: u32 = 64;

/// Yes and no.
const ANSWERS: &[(&str, bool)] = &[("no", false), ("yes", true)];

/// The words for placements.
const PLACEMENTS: &[(&str, Placement)] =
    &[("smart", Placement::Smart), ("naive", Placement::Naive), ("hot", Placement::Hot)];

/// The words for which code has PEP's instrumentation.
const CODE: &[(&str, bool)] = &[("all", false), ("turns", true)];

/// The words for yieldpoints of calls.
const CALLS_AT: &[(&str, CallsAt)] = &[("prologue", CallsAt::Prologue), ("both", CallsAt::Both)];

/// The words for crediting inlined calls.
const CREDITS: &[(&str, bool)] = &[("none", false), ("paths", true)];

/// The words for levels.
const LEVELS: &[(&str, Level)] = &[("o0", Level::O0), ("o1", Level::O1), ("o2", Level::O2)];

/// The words for sites that have inline caches.
const SITES: &[(&str, bool)] = &[("tables", false), ("all", true)];

/// The parameters of a spec, by key.
struct Keys<'a> {
    profiler: &'a str,
    given: Vec<(&'a str, &'a str)>,
}

impl<'a> Keys<'a> {
    fn parse(profiler: &'a str, text: &'a str, known: &[(&str, &str)]) -> Result<Keys<'a>, String> {
        let mut given: Vec<(&str, &str)> = Vec::new();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let Some((key, value)) = part.split_once('=') else {
                return Err(format!("`{part}` is not of the form key=value; {}", keys_of(profiler, known)));
            };
            if !known.iter().any(|&(name, _)| name == key) {
                return Err(format!("`{profiler}` has no key `{key}`; {}", keys_of(profiler, known)));
            }
            if given.iter().any(|&(name, _)| name == key) {
                return Err(format!("`{key}` is given twice"));
            }
            given.push((key, value));
        }
        Ok(Keys { profiler, given })
    }

    fn text(&self, key: &str) -> Option<&'a str> {
        self.given.iter().find(|&&(name, _)| name == key).map(|&(_, value)| value)
    }

    /// The value of a key, or another; the message says what it may be.
    fn value<T: FromStr>(&self, key: &str, otherwise: T) -> Result<T, String> {
        let Some(text) = self.text(key) else { return Ok(otherwise) };
        text.parse().map_err(|_| self.wrong(key, text))
    }

    /// The value of a key among a few words.
    fn one_of<T: Copy>(&self, key: &str, words: &[(&str, T)], otherwise: T) -> Result<T, String> {
        let Some(text) = self.text(key) else { return Ok(otherwise) };
        let found = words.iter().find(|&&(word, _)| word == text);
        found.map(|&(_, value)| value).ok_or_else(|| self.wrong(key, text))
    }

    fn wrong(&self, key: &str, text: &str) -> String {
        let known =
            PROFILERS.iter().find(|&&(name, _)| name == self.profiler).map_or(&[][..], |found| found.1);
        let allowed = known.iter().find(|&&(name, _)| name == key).map_or("", |found| found.1);
        format!("`{key}={text}`: {key} is {allowed}")
    }
}

/// "its keys are ..." for messages.
fn keys_of(profiler: &str, known: &[(&str, &str)]) -> String {
    match known {
        [] => format!("`{profiler}` has no keys"),
        _ => {
            let keys: Vec<String> = known.iter().map(|(key, values)| format!("{key} ({values})")).collect();
            format!("its keys are {}", keys.join(", "))
        }
    }
}

impl FromStr for ProfileSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let Some(&(_, known)) = PROFILERS.iter().find(|&&(profiler, _)| profiler == name) else {
            let names: Vec<&str> = PROFILERS.iter().map(|&(name, _)| name).collect();
            return Err(format!("there is no profiler `{name}`; there are {}", names.join(", ")));
        };
        let keys = Keys::parse(name, rest, known)?;
        Ok(match name {
            "blpp" => {
                let words = [("array", Storage::Array), ("hash", Storage::Hash)];
                ProfileSpec::Blpp(keys.one_of("storage", &words, Storage::Array)?)
            }
            "pep" => ProfileSpec::Pep(pep(&keys)?),
            "kblpp" => {
                let k = keys.value("k", USUAL_K)?;
                let k = K::new(k).map_err(|_| keys.wrong("k", &k.to_string()))?;
                ProfileSpec::Kblpp(k)
            }
            "kroy" => {
                let k = keys.value("k", USUAL_WINDOW)?;
                let fits = K::new(k).ok().filter(|_| k <= LONGEST_WINDOW);
                ProfileSpec::Kroy(fits.ok_or_else(|| keys.wrong("k", &k.to_string()))?)
            }
            "calls" => ProfileSpec::Calls,
            "cbs" => ProfileSpec::Cbs(cbs(&keys)?),
            "oneshot" => {
                let burst = keys.value("burst", BURST)?;
                if burst == 0 {
                    return Err(keys.wrong("burst", "0"));
                }
                ProfileSpec::OneShot(OneShotOptions {
                    burst,
                    level: keys.one_of("level", LEVELS, Level::O0)?,
                })
            }
            "icache" => {
                let entries = keys.value("entries", ENTRIES)?;
                if !(1..=MOST_ENTRIES).contains(&entries) {
                    return Err(keys.wrong("entries", &entries.to_string()));
                }
                ProfileSpec::Icache(IcacheOptions { entries, all: keys.one_of("sites", SITES, false)? })
            }
            "btb" => ProfileSpec::Btb(traces::btb(&keys)?),
            "subpaths" => ProfileSpec::Subpaths(subpaths::subpaths(&keys)?),
            "osp" => ProfileSpec::Osp(subpaths::osp(&keys)?),
            _ => ProfileSpec::Edges,
        })
    }
}

fn pep(keys: &Keys<'_>) -> Result<PepOptions, String> {
    let window = window(keys, Shape::Simplified, SAMPLES, STRIDE)?;
    let placement = keys.one_of("placement", PLACEMENTS, Placement::Smart)?;
    Ok(PepOptions { window, placement, turns: keys.one_of("code", CODE, false)? })
}

fn cbs(keys: &Keys<'_>) -> Result<CbsOptions, String> {
    let window = window(keys, Shape::ArnoldGrove, CALL_SAMPLES, CALL_STRIDE)?;
    let depth = match keys.text("depth") {
        Some("all") => 0,
        _ => keys.value("depth", 1)?,
    };
    if depth > DEEPEST || depth == 0 && keys.text("depth") != Some("all") {
        return Err(keys.wrong("depth", &depth.to_string()));
    }
    let (at, decay) = (keys.one_of("at", CALLS_AT, CallsAt::Prologue)?, keys.value("decay", 0)?);
    let credit = keys.one_of("credit", CREDITS, false)?;
    Ok(CbsOptions { window, at, depth, decay, credit })
}

/// The keys that every sampler has.
fn window(keys: &Keys<'_>, shape: Shape, samples: u32, stride: u32) -> Result<Parameters, String> {
    let shape = keys.value("schedule", shape)?;
    let (samples, stride) = (keys.value("samples", samples)?, keys.value("stride", stride)?);
    let window = match shape {
        Shape::Timer => match keys.text("samples").or(keys.text("stride")) {
            Some(_) => {
                return Err(
                    "schedule=timer takes one sample at a tick: it has no samples and no stride".into()
                );
            }
            None => Parameters::timer(),
        },
        _ => Parameters::new(shape, samples, stride).map_err(|error| error.to_string())?,
    };
    Ok(window
        .with_skip(keys.value("skip", Skip::RoundRobin)?, keys.value("seed", 0u64)?)
        .with_overrun(keys.value("overrun", Overrun::Ignore)?))
}

/// The word for a value among a few.
fn word<T: PartialEq>(words: &[(&'static str, T)], value: T) -> &'static str {
    words.iter().find(|known| known.1 == value).map_or("", |known| known.0)
}

/// What all samplers have, with `between` in front of the rarer keys.
fn write_window(f: &mut fmt::Formatter<'_>, window: &Parameters, between: &str) -> fmt::Result {
    if window.shape() != Shape::Timer {
        write!(f, "samples={},stride={},", window.samples(), window.stride())?;
    }
    write!(f, "schedule={},{between}", window.shape())?;
    if (window.skip(), window.overrun(), window.seed()) != (Skip::RoundRobin, Overrun::Ignore, 0) {
        write!(f, ",skip={},overrun={},seed={}", window.skip(), window.overrun(), window.seed())?;
    }
    Ok(())
}

impl Display for ProfileSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProfileSpec::Edges => f.write_str("edges"),
            ProfileSpec::Blpp(Storage::Array) => f.write_str("blpp:storage=array"),
            ProfileSpec::Blpp(Storage::Hash) => f.write_str("blpp:storage=hash"),
            ProfileSpec::Pep(PepOptions { window, placement, turns }) => {
                f.write_str("pep:")?;
                write_window(f, window, &format!("placement={}", word(PLACEMENTS, *placement)))?;
                f.write_str(if *turns { ",code=turns" } else { "" })
            }
            ProfileSpec::Kblpp(k) => write!(f, "kblpp:k={}", k.get()),
            ProfileSpec::Kroy(k) => write!(f, "kroy:k={}", k.get()),
            ProfileSpec::Calls => f.write_str("calls"),
            ProfileSpec::Cbs(CbsOptions { window, at, depth, decay, credit }) => {
                f.write_str("cbs:")?;
                write_window(f, window, &format!("at={}", word(CALLS_AT, *at)))?;
                match depth {
                    0 => f.write_str(",depth=all")?,
                    1 => {}
                    depth => write!(f, ",depth={depth}")?,
                }
                if *decay > 0 {
                    write!(f, ",decay={decay}")?;
                }
                f.write_str(if *credit { ",credit=paths" } else { "" })
            }
            ProfileSpec::OneShot(OneShotOptions { burst, level }) => {
                write!(f, "oneshot:burst={burst},level={}", word(LEVELS, *level))
            }
            ProfileSpec::Icache(IcacheOptions { entries, all }) => {
                write!(f, "icache:entries={entries},sites={}", word(SITES, *all))
            }
            ProfileSpec::Btb(btb) => btb.fmt(f),
            ProfileSpec::Subpaths(subpaths) => subpaths.fmt(f),
            ProfileSpec::Osp(osp) => osp.fmt(f),
        }
    }
}

impl ProfileOptions {
    /// Adds a profiler. `Err` if it is there already.
    pub fn add(&mut self, spec: ProfileSpec) -> Result<(), String> {
        let before = match spec {
            ProfileSpec::Edges => std::mem::replace(&mut self.edges, true),
            ProfileSpec::Blpp(storage) => self.blpp.replace(storage).is_some(),
            ProfileSpec::Pep(pep) => self.pep.replace(pep).is_some(),
            ProfileSpec::Kblpp(k) => self.kblpp.replace(k).is_some(),
            ProfileSpec::Kroy(k) => self.kroy.replace(k).is_some(),
            ProfileSpec::Calls => std::mem::replace(&mut self.calls, true),
            ProfileSpec::Cbs(cbs) => self.cbs.replace(cbs).is_some(),
            ProfileSpec::OneShot(oneshot) => self.oneshot.replace(oneshot).is_some(),
            ProfileSpec::Icache(icache) => self.icache.replace(icache).is_some(),
            ProfileSpec::Btb(btb) => self.btb.replace(btb).is_some(),
            ProfileSpec::Subpaths(subpaths) => self.subpaths.replace(subpaths).is_some(),
            ProfileSpec::Osp(osp) => self.osp.replace(osp).is_some(),
        };
        match before {
            true => Err("each profiler can be asked for once".into()),
            false => Ok(()),
        }
    }

    /// Those that were asked for.
    pub fn specs(&self) -> Vec<ProfileSpec> {
        let edges = self.edges.then_some(ProfileSpec::Edges);
        let blpp = self.blpp.map(ProfileSpec::Blpp);
        let pep = self.pep.map(ProfileSpec::Pep);
        let kblpp = self.kblpp.map(ProfileSpec::Kblpp);
        let kroy = self.kroy.map(ProfileSpec::Kroy);
        let calls = self.calls.then_some(ProfileSpec::Calls);
        let cbs = self.cbs.map(ProfileSpec::Cbs);
        let oneshot = self.oneshot.map(ProfileSpec::OneShot);
        let icache = self.icache.map(ProfileSpec::Icache);
        let btb = self.btb.map(ProfileSpec::Btb);
        let subpaths = self.subpaths.map(ProfileSpec::Subpaths);
        let osp = self.osp.map(ProfileSpec::Osp);
        let all = [edges, blpp, pep, kblpp, kroy, calls, cbs, oneshot, icache, btb, subpaths, osp];
        all.into_iter().flatten().collect()
    }

    /// Does code with PEP's instrumentation take turns with code without.
    pub fn pep_takes_turns(&self) -> bool {
        self.pep.is_some_and(|pep| pep.turns)
    }

    /// Can PEP's instrumentation be in a second version of the code only: nobody else wants to see all paths, or the interpreter.
    pub fn lets_pep_take_turns(&self) -> bool {
        let paths = self.blpp.is_some() || self.kblpp.is_some() || self.kroy.is_some() || self.traced;
        let moves = self.btb.is_some_and(|btb| !btb.backend.is_native());
        !paths && !moves && self.subpaths.is_none() && self.osp.is_none()
    }

    /// What the second version of compiled code counts, if there are two.
    pub fn marked_instrumentation(&self) -> Option<Instrumentation> {
        let plain = self.instrumentation();
        if self.pep_takes_turns() {
            return Some(Instrumentation { paths: self.paths(), ..plain });
        }
        let by_stretches = self.osp.is_some_and(|osp| osp.skip == SubpathSkip::Versions);
        by_stretches.then_some(Instrumentation { blocks: Some(BlockInstrumentation::Decrement), ..plain })
    }

    /// What is done with paths, where anything is.
    fn paths(&self) -> Option<PathInstrumentation> {
        let counted = self.blpp.is_some() || self.kblpp.is_some() || self.kroy.is_some();
        (counted || self.pep.is_some()).then(|| PathInstrumentation {
            placement: self.pep.map_or(Placement::Smart, |pep| pep.placement),
            exact: self.blpp,
            forest: self.kblpp.is_some(),
            windows: self.kroy,
            sampled: self.pep.is_some(),
            traced: self.traced,
        })
    }

    /// What compiled code must count for them. All path profilers share one numbering: PEP's placement is that of all.
    pub fn instrumentation(&self) -> Instrumentation {
        Instrumentation {
            edges: self.edges,
            paths: self.paths().filter(|_| !self.pep_takes_turns()),
            calls: self.calls,
            caches: self.icache.map(|IcacheOptions { entries, all }| CacheInstrumentation { entries, all }),
            calls_on_paths: self.cbs.is_some_and(|cbs| cbs.credit),
            blocks: blocks_told(self.subpaths, self.osp),
            branches: self.btb.is_some_and(|btb| btb.backend.is_native()),
        }
    }
}

#[cfg(test)]
mod tests;
