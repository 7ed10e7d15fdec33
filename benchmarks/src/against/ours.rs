//! Our side: this very binary, in a process of its own like everybody else. Its samples come by way of the file that
//! `bench --json` writes, which has them in nanoseconds and says whether every result was right.

use crate::against::process::{Bounds, Failure, run};
use crate::against::programs::Program;
use serde_json::Value;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// How our side is run.
#[derive(Debug)]
pub struct Ours {
    /// The binary.
    pub executable: PathBuf,
    /// The flags of the virtual machine that the user gave.
    pub flags: Vec<OsString>,
    /// A folder for the file with the samples.
    pub folder: PathBuf,
}

impl Ours {
    /// Nanoseconds of so many iterations in a fresh process.
    pub fn measure(
        &self,
        program: &Program,
        size: u64,
        iterations: u64,
        bounds: Bounds<'_>,
    ) -> Result<Vec<u64>, Failure> {
        let file = self.folder.join("ours.json");
        // What an earlier process wrote must not be taken for the answer of this one.
        let _ = std::fs::remove_file(&file);
        let mut command = Command::new(&self.executable);
        command.args(["bench", program.name]).args(&self.flags).arg("--json").arg(&file);
        command.arg(format!("--size={size}")).arg(format!("--iterations={iterations}"));
        let printed = run(&mut command, bounds)?;
        if (bounds.stop)() {
            return Err(Failure::Stopped);
        }
        let text = std::fs::read_to_string(&file);
        let record = text.ok().and_then(|text| serde_json::from_str::<Value>(&text).ok());
        match record {
            Some(record) => samples(&record, iterations).map_err(Failure::Failed),
            None => {
                let said = printed.err.lines().next().unwrap_or_default();
                Err(Failure::Failed(format!("{}: {said}", printed.status)))
            }
        }
    }
}

/// The samples in such a file, if the program went well.
fn samples(record: &Value, iterations: u64) -> Result<Vec<u64>, String> {
    let program = &record["programs"][0];
    if program["verified"] != true {
        return Err(program["reason"].as_str().unwrap_or("it was not verified").trim_end().to_string());
    }
    let list = program["samples_ns"].as_array().map(Vec::as_slice).unwrap_or_default();
    // A time of zero can be had only under a virtual clock.
    let samples: Vec<u64> = list.iter().filter_map(Value::as_u64).filter(|&sample| sample > 0).collect();
    match samples.len() as u64 == iterations {
        true => Ok(samples),
        false => Err(format!("there are {} usable times of {iterations} iterations", samples.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_verified_samples_count() {
        let record = |verified: bool, times: &[u64]| json!({"programs": [{"verified": verified, "reason": "ValueError: no\n", "samples_ns": times}]});
        assert_eq!(samples(&record(true, &[5, 6]), 2), Ok(vec![5, 6]));
        assert_eq!(samples(&record(false, &[5, 6]), 2), Err("ValueError: no".to_string()));
        assert!(samples(&record(true, &[5]), 2).is_err());
        assert!(samples(&record(true, &[5, 0]), 2).is_err());
        assert!(samples(&json!({}), 2).is_err());
    }
}
