//! Who chooses which calls are inlined, and by which call graph, from the command line (`--inline`, `--inline-profile`,
//! `--guard`, `--guard-else`).

use crate::commands::profile::load::{named, taken};
use crate::report::Stop;
use clap::{Args, ValueEnum};
use holloway_profilers::calls::{Limits, Policy, Share};
use holloway_vm::compiled::{CallSource, Counted, Fallback, GivenCalls, GuardTest, InlineBy, InlineOptions};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

/// The flags.
#[derive(Args, Clone, Default, Debug)]
pub struct InlineArguments {
    /// Who chooses which calls are inlined at O2: frequency (how often a call runs in the compiled method), static[:words=35] (by
    /// size alone), or by the call graph old[:base=20,max=120,hot=1%], new[:base=35,max=180,control=2%,guard=40%,trusted=1],
    /// j9[:base=23,max=75,control=0.3%,cold=0.03%,guard=60%], or j9-plain[:base=23,max=75,control=0.3%,cold=0.03%] (J9's as in the
    /// paper, without what was added to it here)
    #[arg(long, value_name = "POLICY", default_value = "frequency", help_heading = "Execution")]
    pub inline: Chooser,
    /// The call graph for --inline old, new, j9 or j9-plain: one-time (what the interpreter counted), cbs (what it samples; adds
    /// --profile cbs), pep (the same with inlined calls credited by the paths that PEP samples; adds --profile pep, too), exact=FILE (of
    /// --profile calls --profile-out), cbs=FILE, pep=FILE, flipped or flipped=FILE (the worst), none
    #[arg(long, value_name = "PROFILE", default_value = "one-time", help_heading = "Execution")]
    pub inline_profile: GraphSource,
    /// How the receiver of an inlined call is tested, if it has to be
    #[arg(long, value_name = "TEST", default_value = "class", help_heading = "Execution")]
    pub guard: Guard,
    /// What happens to other receivers
    #[arg(long, value_name = "WHAT", default_value = "profile", help_heading = "Execution")]
    pub guard_else: GuardElse,
}

/// The value of `--inline`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Chooser(pub InlineBy);

/// The value of `--inline-profile`.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum GraphSource {
    /// No call was ever seen.
    None,
    /// What the interpreter counted.
    #[default]
    OneTime,
    /// What `cbs` samples.
    Cbs,
    /// What it sampled in another run.
    CbsOf(PathBuf),
    /// What `cbs` samples, with credit for inlined calls by the paths that `pep` samples.
    Pep,
    /// What they sampled in another run.
    PepOf(PathBuf),
    /// The exact calls of another run.
    ExactOf(PathBuf),
    /// What the interpreter counted, flipped.
    Flipped,
    /// The exact calls of another run, flipped.
    FlippedOf(PathBuf),
}

/// The value of `--guard`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
pub enum Guard {
    /// By its class
    #[default]
    Class,
    /// By the method in its table
    Method,
}

/// The value of `--guard-else`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
pub enum GuardElse {
    /// They are called; where the profile saw none, compiled code is left
    #[default]
    Profile,
    /// They are called
    Call,
    /// Compiled code is left
    Leave,
}

/// How the profiles are written, for messages.
const SOURCES: &str = "one-time, cbs, cbs=FILE, pep, pep=FILE, exact=FILE, flipped, flipped=FILE, none";
/// Words that a callee may have by static heuristics alone.
const STATIC_WORDS: u32 = 35;

/// The parameters of a policy as they are written.
struct Parameters<'a> {
    policy: &'a str,
    given: Vec<(&'a str, &'a str)>,
}

impl<'a> Parameters<'a> {
    fn read(text: &'a str) -> Result<Parameters<'a>, String> {
        let (policy, rest) = text.split_once(':').unwrap_or((text, ""));
        let pair = |part: &'a str| {
            part.split_once('=').ok_or_else(|| format!("`{part}` is no parameter: it is written name=value"))
        };
        let given: Vec<(&str, &str)> =
            rest.split(',').filter(|part| !part.is_empty()).map(pair).collect::<Result<_, _>>()?;
        let is_again = |at: usize| given[..at].iter().any(|(name, _)| *name == given[at].0);
        match (0..given.len()).find(|&at| is_again(at)) {
            Some(at) => Err(format!("`{}` is given twice", given[at].0)),
            None => Ok(Parameters { policy, given }),
        }
    }

    /// Takes a parameter out.
    fn take(&mut self, name: &str) -> Option<&'a str> {
        let place = self.given.iter().position(|(given, _)| *given == name)?;
        Some(self.given.remove(place).1)
    }

    fn number(&mut self, name: &str, default: u32) -> Result<u32, String> {
        self.take(name).map_or(Ok(default), |text| {
            text.parse().map_err(|_| format!("{name}={text}: it is a number of words or samples"))
        })
    }

    fn share(&mut self, name: &str, default: Share) -> Result<Share, String> {
        self.take(name).map_or(Ok(default), |text| {
            let percent = text.strip_suffix('%').and_then(|number| number.trim_end().parse::<f64>().ok());
            let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
            let share =
                percent.and_then(|percent| Share::millionths((percent * 10_000.0).round() as u32).ok());
            share.ok_or_else(|| format!("{name}={text}: it is a share, such as 1.5%"))
        })
    }

    fn limits(&mut self, default: Limits, control: bool) -> Result<Limits, String> {
        let base = self.number("base", default.base)?;
        let maximum = self.number("max", default.maximum)?;
        let point =
            if control { self.share("control", default.control_point)? } else { default.control_point };
        Limits::new(base, maximum, point).map_err(|invalid| invalid.to_string())
    }

    fn end(&self) -> Result<(), String> {
        match self.given.first() {
            Some((name, _)) => Err(format!("{} has no parameter `{name}`", self.policy)),
            None => Ok(()),
        }
    }
}

impl FromStr for Chooser {
    type Err = String;

    fn from_str(text: &str) -> Result<Chooser, String> {
        let mut given = Parameters::read(text)?;
        let by = match given.policy {
            "frequency" => InlineBy::Frequency,
            "static" => InlineBy::Size(given.number("words", STATIC_WORDS)?),
            "old" => InlineBy::Calls(Policy::Old {
                limits: given.limits(Limits::DEFAULT, false)?,
                hot: given.share("hot", Share::percent(1))?,
            }),
            "new" => InlineBy::Calls(Policy::New {
                limits: given.limits(Policy::NEW_LIMITS, true)?,
                guard: given.share("guard", Share::percent(40))?,
                trusted: u64::from(given.number("trusted", 1)?),
            }),
            "j9" => InlineBy::Calls(Policy::J9 {
                limits: given.limits(Policy::J9_LIMITS, true)?,
                cold: given.share("cold", Policy::J9_COLD)?,
                guard: given.share("guard", Policy::J9_GUARD)?,
            }),
            "j9-plain" => InlineBy::Calls(Policy::J9Plain {
                limits: given.limits(Policy::J9_LIMITS, true)?,
                cold: given.share("cold", Policy::J9_COLD)?,
            }),
            _ => return Err("the policies are frequency, static, old, new, j9 and j9-plain".into()),
        };
        given.end()?;
        Ok(Chooser(by))
    }
}

impl fmt::Display for Chooser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: Share| format!("{}%", f64::from(share.as_millionths()) / 10_000.0);
        match self.0 {
            InlineBy::Frequency => f.write_str("frequency"),
            InlineBy::Size(words) => write!(f, "static:words={words}"),
            InlineBy::Calls(Policy::Old { limits, hot }) => {
                write!(f, "old:base={},max={},hot={}", limits.base, limits.maximum, percent(hot))
            }
            InlineBy::Calls(Policy::New { limits, guard, trusted }) => {
                let control = percent(limits.control_point);
                let (base, max, guard) = (limits.base, limits.maximum, percent(guard));
                write!(f, "new:base={base},max={max},control={control},guard={guard},trusted={trusted}")
            }
            InlineBy::Calls(Policy::J9 { limits, cold, guard }) => {
                let control = percent(limits.control_point);
                let (base, max, cold, guard) = (limits.base, limits.maximum, percent(cold), percent(guard));
                write!(f, "j9:base={base},max={max},control={control},cold={cold},guard={guard}")
            }
            InlineBy::Calls(Policy::J9Plain { limits, cold }) => {
                let control = percent(limits.control_point);
                let (base, max, cold) = (limits.base, limits.maximum, percent(cold));
                write!(f, "j9-plain:base={base},max={max},control={control},cold={cold}")
            }
        }
    }
}

impl FromStr for GraphSource {
    type Err = String;

    fn from_str(text: &str) -> Result<GraphSource, String> {
        match named(text)? {
            ("none", None) => Ok(GraphSource::None),
            ("one-time", None) => Ok(GraphSource::OneTime),
            ("cbs", None) => Ok(GraphSource::Cbs),
            ("cbs", Some(file)) => Ok(GraphSource::CbsOf(file)),
            ("pep", None) => Ok(GraphSource::Pep),
            ("pep", Some(file)) => Ok(GraphSource::PepOf(file)),
            ("exact", Some(file)) => Ok(GraphSource::ExactOf(file)),
            ("exact", None) => {
                Err("exact calls are in a profile: exact=FILE, written by --profile calls --profile-out FILE"
                    .into())
            }
            ("flipped", None) => Ok(GraphSource::Flipped),
            ("flipped", Some(file)) => Ok(GraphSource::FlippedOf(file)),
            _ => Err(format!("the profiles are {SOURCES}")),
        }
    }
}

impl fmt::Display for GraphSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GraphSource::None => f.write_str("none"),
            GraphSource::OneTime => f.write_str("one-time"),
            GraphSource::Cbs => f.write_str("cbs"),
            GraphSource::CbsOf(file) => write!(f, "cbs={}", file.display()),
            GraphSource::Pep => f.write_str("pep"),
            GraphSource::PepOf(file) => write!(f, "pep={}", file.display()),
            GraphSource::ExactOf(file) => write!(f, "exact={}", file.display()),
            GraphSource::Flipped => f.write_str("flipped"),
            GraphSource::FlippedOf(file) => write!(f, "flipped={}", file.display()),
        }
    }
}

impl GraphSource {
    /// Is it made of samples of this run.
    pub fn is_sampled(&self) -> bool {
        matches!(self, GraphSource::Cbs | GraphSource::Pep)
    }

    /// Reads the profile if there is one to be read.
    pub fn open(&self) -> Result<CallSource, Stop> {
        let given = |path: &Path, counted: Counted| taken(path, |file| GivenCalls::of(file, counted));
        Ok(match self {
            GraphSource::None => CallSource::None,
            GraphSource::OneTime => CallSource::OneTime,
            GraphSource::Cbs | GraphSource::Pep => CallSource::Sampled,
            GraphSource::Flipped => CallSource::Flipped,
            GraphSource::CbsOf(file) => CallSource::Given(Arc::new(given(file, Counted::Sampled)?)),
            GraphSource::PepOf(file) => CallSource::Given(Arc::new(taken(file, GivenCalls::credited)?)),
            GraphSource::ExactOf(file) => CallSource::Given(Arc::new(given(file, Counted::Exactly)?)),
            GraphSource::FlippedOf(file) => {
                CallSource::Given(Arc::new(given(file, Counted::Exactly)?.flipped()))
            }
        })
    }

    /// The same for the order of methods, where none is no order.
    pub fn open_order(&self) -> Result<Option<CallSource>, Stop> {
        match self {
            GraphSource::None => Ok(None),
            source => source.open().map(Some),
        }
    }
}

impl InlineArguments {
    /// The call graph that needs samples of this run, if the choice asks for one.
    pub fn sampled(&self) -> Option<&GraphSource> {
        let asked = matches!(self.inline.0, InlineBy::Calls(_)).then_some(&self.inline_profile);
        asked.filter(|graph| graph.is_sampled())
    }

    /// What is chosen, with the profile if one is to be read.
    pub fn open(&self) -> Result<InlineOptions, Stop> {
        if !matches!(self.inline.0, InlineBy::Calls(_)) && self.inline_profile != GraphSource::default() {
            return Err(Stop::usage(format_args!(
                "--inline-profile {} is for --inline old, new, j9 and j9-plain: --inline {} asks no call graph",
                self.inline_profile, self.inline
            )));
        }
        Ok(InlineOptions {
            by: self.inline.0,
            calls: self.inline_profile.open()?,
            test: match self.guard {
                Guard::Class => GuardTest::Class,
                Guard::Method => GuardTest::Method,
            },
            fallback: match self.guard_else {
                GuardElse::Profile => Fallback::Profile,
                GuardElse::Call => Fallback::Call,
                GuardElse::Leave => Fallback::Deopt,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_written_as_they_are_read() {
        for text in [
            "frequency",
            "static:words=20",
            "old:base=20,max=120,hot=1%",
            "new:base=10,max=90,control=1.5%,guard=40%,trusted=3",
            "j9:base=60,max=120,control=2%,cold=0.02%,guard=50%",
            "j9-plain:base=60,max=120,control=2%,cold=0.02%",
        ] {
            assert_eq!(text.parse::<Chooser>().map(|by| by.to_string()), Ok(text.to_string()));
        }
        assert_eq!("new".parse(), Ok(Chooser(InlineBy::Calls(Policy::NEW))));
        assert_eq!("old".parse(), Ok(Chooser(InlineBy::Calls(Policy::OLD))));
        assert_eq!("j9".parse(), Ok(Chooser(InlineBy::Calls(Policy::J9))));
        assert_eq!("j9-plain".parse(), Ok(Chooser(InlineBy::Calls(Policy::J9_PLAIN))));
        assert_eq!("new:".parse(), Ok(Chooser(InlineBy::Calls(Policy::NEW))));
        for text in [
            "",
            "hot",
            "new:base",
            "new:hot=1%",
            "old:base=120",
            "static:words=-1",
            "j9:cold=2",
            "j9-plain:guard=60%",
        ] {
            let read = text.parse::<Chooser>();
            assert!(read.is_err(), "{text}: {read:?}");
        }
        assert_eq!("new:base=1,base=2".parse::<Chooser>(), Err("`base` is given twice".to_string()));
    }

    #[test]
    fn sources_are_written_as_they_are_read() {
        for text in SOURCES.split(", ") {
            assert_eq!(text.parse::<GraphSource>().map(|source| source.to_string()), Ok(text.to_string()));
        }
        for text in ["", "exact", "exact=", "flipped=", "none=a.json", "pep="] {
            assert!(text.parse::<GraphSource>().is_err(), "{text}");
        }
    }
}
