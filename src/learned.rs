//! What one run learns for another, as files: advice (`--advice-out`, `--replay`) and the constants of the cost/benefit model
//! (`calibrate`, `--calibration`).

use crate::promised::PromisedFile;
use crate::report::Stop;
use holloway_vm::Vm;
use holloway_vm::adaptive::{Advice, Constants};
use serde::de::DeserializeOwned;
use std::path::Path;
use std::sync::Arc;

/// The files of this kind that flags ask for, read and opened before anything runs.
#[derive(Clone, Default, Debug)]
pub struct Learned {
    /// What to compile.
    pub replay: Option<Arc<Advice>>,
    /// What the adaptive system knows of tiers and machine.
    pub constants: Option<Constants>,
    advice_out: PromisedFile,
}

impl Learned {
    /// Reads and opens.
    pub fn open(
        replay: Option<&Path>,
        calibration: Option<&Path>,
        advice_out: Option<&Path>,
    ) -> Result<Learned, Stop> {
        let replay = replay.map(|path| read::<Advice>(path, "advice")).transpose()?;
        let constants = calibration.map(|path| read::<Constants>(path, "a calibration")).transpose()?;
        if let (Some(constants), Some(path)) = (&constants, calibration) {
            constants.check().map_err(|why| not(path, "a calibration", &why))?;
        }
        let advice_out = PromisedFile::open(advice_out)?;
        Ok(Learned { replay: replay.map(Arc::new), constants, advice_out })
    }

    /// Is machine code to be identified: somebody will compare.
    pub fn wants_digests(&self) -> bool {
        self.replay.is_some() || self.advice_out.is_asked_for()
    }

    /// Writes what the machine has learned, if that was asked for.
    pub fn write_advice(&self, vm: &Vm) -> Result<(), Stop> {
        self.advice_out.write(|| vm.advice())
    }
}

/// A file of JSON that says what it should.
fn read<T: DeserializeOwned>(path: &Path, what: &str) -> Result<T, Stop> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Stop::usage(format_args!("cannot read {}: {error}", path.display())))?;
    serde_json::from_str(&text).map_err(|error| not(path, what, &error))
}

fn not(path: &Path, what: &str, why: &dyn std::fmt::Display) -> Stop {
    Stop::usage(format_args!("{} is not {what}: {why}", path.display()))
}
