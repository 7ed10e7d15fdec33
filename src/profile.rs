//! Profiling from the command line: which profilers run (`--profile`), and the file that keeps what they found
//! (`--profile-out`).

use crate::report::{Stop, cannot_write};
use clap::Args;
use holloway_benchmarks::record::RecordFile;
use holloway_vm::Vm;
use holloway_vm::profiling::{ProfileOptions, ProfileSpec};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The flags.
#[derive(Args, Clone, Debug, Default)]
pub struct ProfileArguments {
    /// Run a profiler in compiled code (may be given several times): edges, blpp[:storage=array|hash],
    /// pep[:samples=64,stride=17,schedule=simplified|arnold-grove|timer,placement=smart|naive|hot], kblpp[:k=8]
    #[arg(long = "profile", value_name = "SPEC", help_heading = "Profiling")]
    pub specs: Vec<ProfileSpec>,
    /// Write what the profilers found, for `holloway profile`
    #[arg(long = "profile-out", value_name = "FILE", help_heading = "Profiling")]
    pub out: Option<PathBuf>,
    /// The file, opened before anything runs.
    #[arg(skip)]
    file: Arc<Mutex<Option<RecordFile>>>,
}

impl ProfileArguments {
    /// Opens the file, so that one that cannot be written is an error at once.
    pub fn open(&mut self) -> Result<(), Stop> {
        self.options()?;
        if let Some(path) = &self.out {
            let file = RecordFile::create(path).map_err(|error| cannot_write(path, &error))?;
            self.file = Arc::new(Mutex::new(Some(file)));
        }
        Ok(())
    }

    /// What is to be profiled.
    pub fn options(&self) -> Result<ProfileOptions, Stop> {
        let mut options = ProfileOptions::default();
        for &spec in &self.specs {
            options.add(spec).map_err(|why| Stop::usage(format_args!("--profile {spec}: {why}")))?;
        }
        Ok(options)
    }

    /// Writes what the machine found, if that was asked for.
    pub fn write(&self, vm: &Vm, main: &str, ended: &str) -> Result<(), Stop> {
        let Some(path) = &self.out else { return Ok(()) };
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner).take();
        match file {
            Some(file) => {
                file.finish(&vm.profile_file(main, ended)).map_err(|error| cannot_write(path, &error))
            }
            None => Ok(()),
        }
    }
}
