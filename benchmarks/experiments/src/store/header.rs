//! With what, where and in which mode the cells of a store were measured. Stores in which any of this differs are not mixed.

use crate::plan::Mode;
use holloway_benchmarks::machine::Machine;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

/// How the first line of every store begins.
pub const BEGINNING: &[u8] = b"{\"holloway_store\":";

/// The version of the form.
const VERSION: u32 = 1;

/// The first line of a store.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Header {
    /// The version of the form.
    pub holloway_store: u32,
    /// Version of the project, commit if it is known, compiler.
    pub build: String,
    /// A digest of the binary: builds of the same commit may differ.
    pub binary: String,
    /// The machine: processor, cores, memory, system.
    pub machine: Vec<(String, String)>,
    /// Which machines of this kind: a digest of what the system calls each, if it calls it anything. Several where stores were joined.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub hosts: BTreeSet<String>,
    /// How much was measured.
    pub mode: Mode,
    /// What decided about orders and places.
    pub seed: u64,
    /// When it began, in UTC.
    pub began: String,
}

impl Header {
    /// This build, here and now. `binary` is a digest of the binary.
    pub fn here(binary: u64, mode: Mode, seed: u64) -> Header {
        let machine = Machine::describe();
        let commit = machine.commit.map_or("unknown commit", |commit| &commit[..commit.len().min(12)]);
        let known = [Some(commit), machine.profile, machine.rustc];
        let details: Vec<&str> = known.into_iter().flatten().collect();
        let memory =
            machine.memory_bytes.map(|bytes| format!("{:.0} GiB", bytes as f64 / (1u64 << 30) as f64));
        let facts = [
            ("processor", machine.cpu.clone()),
            ("cores", machine.cores.map(|cores| cores.to_string())),
            ("memory", memory),
            ("system", Some(machine.system.clone())),
            ("kernel", machine.kernel.clone()),
        ];
        Header {
            holloway_store: VERSION,
            build: format!("{} ({})", machine.version, details.join(", ")),
            binary: format!("{binary:016x}"),
            machine: facts.into_iter().filter_map(|(name, fact)| Some((name.to_string(), fact?))).collect(),
            hosts: host().into_iter().collect(),
            mode,
            seed,
            began: machine.date.replace('T', " ").chars().take(16).collect(),
        }
    }

    /// Can this build read it.
    pub fn check_version(&self, path: &Path) -> Result<(), String> {
        if self.holloway_store == VERSION {
            return Ok(());
        }
        let (path, version) = (path.display(), self.holloway_store);
        Err(format!(
            "{path} has form {version}, and this build reads form {VERSION}: use the build that made it"
        ))
    }

    /// Why results of `now` cannot be added to a store with this header.
    pub fn must_be_as(&self, now: &Header) -> Result<(), String> {
        self.must_be_alike(now)?;
        if self.hosts.is_empty() || now.hosts.is_subset(&self.hosts) {
            return Ok(());
        }
        Err("this store was measured on another machine of the same kind: use another --store \
             (each machine has its own, and `experiment merge` joins those of shards)"
            .into())
    }

    /// Why results of `now` cannot stand in a table with those of a store with this header. Machines of one kind may share the work;
    /// how many did is kept, and told.
    pub fn must_be_alike(&self, now: &Header) -> Result<(), String> {
        let way_out = "use another --store, or remove this one to measure anew";
        if self.machine != now.machine {
            return Err(format!(
                "this store was measured on another machine ({}; this is {}): {way_out}",
                facts(&self.machine),
                facts(&now.machine)
            ));
        }
        if (&self.build, &self.binary) != (&now.build, &now.binary) {
            return Err(format!(
                "this store was measured by another build (holloway {}, binary {}; this is {}, binary {}): {way_out}",
                self.build, self.binary, now.build, now.binary
            ));
        }
        if self.mode != now.mode {
            return Err(format!(
                "this store was measured with --{} and not with --{}: {way_out}",
                self.mode, now.mode
            ));
        }
        if self.seed != now.seed {
            return Err(format!("this store was measured with --seed {}: say that, or {way_out}", self.seed));
        }
        Ok(())
    }
}

/// A digest of what the system calls this machine, which is not to be told itself.
fn host() -> Option<String> {
    let name = std::fs::read_to_string("/etc/machine-id").ok()?;
    let mut hasher = DefaultHasher::new();
    ("holloway", name.trim()).hash(&mut hasher);
    (!name.trim().is_empty()).then(|| format!("{:016x}", hasher.finish()))
}

/// Facts in one line.
fn facts(all: &[(String, String)]) -> String {
    all.iter().map(|(_, fact)| fact.as_str()).collect::<Vec<_>>().join(", ")
}
