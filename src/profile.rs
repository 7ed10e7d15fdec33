//! Profiling from the command line: which profilers run (`--profile`), and the file that keeps what they found
//! (`--profile-out`).

use crate::commands::profile::load::{named, taken};
use crate::promised::PromisedFile;
use crate::report::Stop;
use clap::Args;
use holloway_vm::Vm;
use holloway_vm::compiled::{Counted, GivenCalls};
use holloway_vm::profiling::{ProfileOptions, ProfileSpec, Snapshots};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

/// The flags.
#[derive(Args, Clone, Debug, Default)]
pub struct ProfileArguments {
    /// Run a profiler (may be given several times): in compiled code edges, blpp[:storage=array|hash],
    /// pep[:samples=64,stride=17,schedule=simplified|arnold-grove|timer,placement=smart|naive|hot], kblpp[:k=8], kroy[:k=2]; in all
    /// code calls, cbs[:samples=16,stride=3,schedule=arnold-grove|simplified|timer,at=prologue|both,depth=1,decay=0],
    /// oneshot[:burst=100,level=o0|o1|o2], icache[:entries=8,sites=tables|all]; in the interpreter
    /// btb[:depth=16,period=4099,ticks=0,backend=recorder|burst|lbr|step,cap=1024,weights=em|equal|prior|prior-em|unique,
    /// calls=rejoin|split|hot,exact=no|yes,analysis=end|background],
    /// subpaths[:max-length=32], osp[:memory=32k,rate=1000,max-length=32,encoding=rotation|xor|random-xor|rolling,
    /// skip=decrement|call|burst|versions,stretch=10000]. Rarer keys are in docs/profiles.md, and in the message about a wrong one
    #[arg(long = "profile", value_name = "SPEC", help_heading = "Profiling")]
    pub specs: Vec<ProfileSpec>,
    /// Count by green thread, too: the profile has each thread's part
    #[arg(long = "profile-threads", requires = "specs", help_heading = "Profiling")]
    pub threads: bool,
    /// Keep the estimates of calls (of cbs and oneshot) as they are after so many ticks, again and again, or after 1, 2, 4, 8, …
    /// ticks (`doubling`): for `profile accuracy`
    #[arg(long = "profile-snapshots", value_name = "TICKS", requires = "specs", help_heading = "Profiling")]
    pub snapshots: Option<Snapshots>,
    /// The calls of an earlier run, for regions of btb:calls=hot to span the hot ones: exact=FILE (of --profile calls --profile-out)
    /// or cbs=FILE
    #[arg(long = "hot-calls", value_name = "PROFILE", help_heading = "Profiling")]
    pub hot_calls: Option<CallFile>,
    /// Write what the profilers found, for `holloway profile`
    #[arg(long = "profile-out", value_name = "FILE", help_heading = "Profiling")]
    pub out: Option<PathBuf>,
    /// The file, opened before anything runs.
    #[arg(skip)]
    file: PromisedFile,
    /// The calls that were read.
    #[arg(skip)]
    hot: Option<Arc<GivenCalls>>,
    /// Does a configuration with which is compared need them, too.
    #[arg(skip)]
    others_need_calls: bool,
}

/// The value of `--hot-calls`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallFile {
    counted: Counted,
    file: PathBuf,
}

impl FromStr for CallFile {
    type Err = String;

    fn from_str(text: &str) -> Result<CallFile, String> {
        match named(text)? {
            ("cbs", Some(file)) => Ok(CallFile { counted: Counted::Sampled, file }),
            ("exact", Some(file)) => Ok(CallFile { counted: Counted::Exactly, file }),
            _ => Err("calls are in a profile: exact=FILE or cbs=FILE, written by --profile calls or cbs, with --profile-out FILE"
                .into()),
        }
    }
}

impl ProfileArguments {
    /// Opens the file, so that one that cannot be written is an error at once.
    pub fn open(&mut self) -> Result<(), Stop> {
        let options = self.options()?;
        let needs_calls = self.others_need_calls || needs_calls(&options);
        self.hot = match (needs_calls, &self.hot_calls) {
            (false, None) => None,
            (true, Some(CallFile { counted, file })) => {
                Some(Arc::new(taken(file, |file| GivenCalls::of(file, *counted))?))
            }
            (true, None) => {
                return Err(Stop::usage(
                    "--profile btb:calls=hot needs to know which calls are hot: --hot-calls exact=FILE or cbs=FILE, written by \
                     --profile calls or cbs, with --profile-out FILE",
                ));
            }
            (false, Some(_)) => {
                return Err(Stop::usage(
                    "--hot-calls is for --profile btb:calls=hot, which was not asked for",
                ));
            }
        };
        self.file = PromisedFile::open(self.out.as_deref())?;
        Ok(())
    }

    /// What was asked for will be compared with this, which may need hot calls, too.
    pub fn compare_with(&mut self, other: &ProfileOptions) {
        self.others_need_calls |= needs_calls(other);
    }

    /// The calls that regions may span.
    pub fn hot(&self) -> Option<Arc<GivenCalls>> {
        self.hot.clone()
    }

    /// PEP with its usual parameters, unless it is asked for; if it may take `turns`, in a version of code of its own where others let it.
    pub fn add_pep(&mut self, turns: bool) -> Result<(), Stop> {
        let options = self.options()?;
        if options.pep.is_none() {
            let spec = if turns && options.lets_pep_take_turns() { "pep:code=turns" } else { "pep" };
            self.specs.extend(spec.parse::<ProfileSpec>());
        }
        Ok(())
    }

    /// Counter-based sampling with its usual parameters, unless it is asked for.
    pub fn add_cbs(&mut self, credit: bool) -> Result<(), Stop> {
        if self.options()?.cbs.is_none() {
            let spec = if credit { "cbs:credit=paths" } else { "cbs" };
            self.specs.extend(spec.parse::<ProfileSpec>());
        }
        Ok(())
    }

    /// What is to be profiled.
    pub fn options(&self) -> Result<ProfileOptions, Stop> {
        let (per_thread, snapshots) = (self.threads, self.snapshots);
        Ok(ProfileOptions { per_thread, snapshots, ..together("--profile", &self.specs)? })
    }

    /// A profiler that needs compiled code, if one was asked for.
    pub fn of_compiled_code(&self) -> Option<ProfileSpec> {
        let anywhere = |spec: &ProfileSpec| {
            use ProfileSpec::*;
            matches!(spec, Calls | Cbs(_) | Icache(_) | Btb(_) | Subpaths(_) | Osp(_))
        };
        self.specs.iter().copied().find(|spec| !anywhere(spec))
    }

    /// Writes what the machine found, if that was asked for.
    pub fn write(&self, vm: &Vm, main: &str, ended: &str) -> Result<(), Stop> {
        self.file.write(|| vm.profile_file(main, ended))
    }
}

/// Do regions span hot calls.
fn needs_calls(options: &ProfileOptions) -> bool {
    options.btb.is_some_and(|btb| btb.hot.is_some())
}

/// The profilers that a flag asks for, each time one.
pub fn together(flag: &str, specs: &[ProfileSpec]) -> Result<ProfileOptions, Stop> {
    let mut options = ProfileOptions::default();
    for &spec in specs {
        options.add(spec).map_err(|why| Stop::usage(format_args!("{flag} {spec}: {why}")))?;
    }
    Ok(options)
}
