//! The other languages: what each needs on this machine, how it is made ready, and how a program is started. A table, from
//! which names, help and messages derive.

use crate::against::builds::{Build, Places, build};
use crate::against::lines::samples;
use crate::against::process::{Bounds, Failure, run, succeed};
use crate::against::programs::Program;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A language that the suite exists in, with one way to run it.
#[derive(Debug)]
pub struct Peer {
    /// Its name on the command line and in tables.
    pub name: &'static str,
    /// Is it compared with if nobody says otherwise.
    pub default: bool,
    /// The file of the checkout without which there is nothing to run.
    pub harness: &'static str,
    /// The fewest iterations of a process that reaches its steady state: one that compiles while it runs needs more.
    pub fewest_iterations: u64,
    prepare: fn(&Path, &Places, Bounds<'_>) -> Result<Ready, String>,
}

/// All of them.
pub const PEERS: &[Peer] = &[
    Peer {
        name: "java",
        default: true,
        harness: "benchmarks/Java/src/Harness.java",
        fewest_iterations: 5,
        prepare: java,
    },
    Peer {
        name: "node",
        default: true,
        harness: "benchmarks/JavaScript/harness.js",
        fewest_iterations: 5,
        prepare: node,
    },
    Peer {
        name: "lua",
        default: true,
        harness: "benchmarks/Lua/harness.lua",
        fewest_iterations: 1,
        prepare: lua,
    },
    Peer {
        name: "luajit-interp",
        default: false,
        harness: "benchmarks/Lua/harness.lua",
        fewest_iterations: 1,
        prepare: luajit_interpreter,
    },
    Peer {
        name: "cpp",
        default: true,
        harness: "benchmarks/C++/src/harness.cpp",
        fewest_iterations: 2,
        prepare: cpp,
    },
];

/// The peer of this name.
pub fn find(name: &str) -> Option<&'static Peer> {
    PEERS.iter().find(|peer| peer.name == name)
}

/// A folder that can be compared with: the absolute path of a checkout of the suite.
pub fn checkout(folder: &Path) -> Result<PathBuf, String> {
    let shown = folder.display();
    let path = folder.canonicalize().map_err(|error| format!("cannot open {shown}: {error}"))?;
    if PEERS.iter().any(|peer| path.join(peer.harness).is_file()) {
        return Ok(path);
    }
    let harnesses: Vec<&str> = PEERS.iter().map(|peer| peer.harness).collect();
    Err(format!(
        "{shown} is no checkout of Are We Fast Yet: it has no {}\n\
         get one with: git clone https://github.com/smarr/are-we-fast-yet",
        harnesses[0]
    ))
}

/// A peer that can be started.
#[derive(Debug)]
pub struct Ready {
    /// Its version, as it says itself.
    pub version: String,
    executable: OsString,
    /// The arguments before the name of the program.
    arguments: Vec<OsString>,
    folder: PathBuf,
}

impl Peer {
    /// Finds what it needs and compiles what must be compiled; or says what is missing and how to get it.
    pub fn prepare(&self, checkout: &Path, places: &Places, bounds: Bounds<'_>) -> Result<Ready, String> {
        match checkout.join(self.harness).is_file() {
            true => (self.prepare)(checkout, places, bounds),
            false => Err(format!("the checkout has no {}", self.harness)),
        }
    }
}

impl Ready {
    /// Nanoseconds of so many iterations in a fresh process.
    pub fn measure(
        &self,
        program: &Program,
        size: u64,
        iterations: u64,
        bounds: Bounds<'_>,
    ) -> Result<Vec<u64>, Failure> {
        let mut command = Command::new(&self.executable);
        command.current_dir(&self.folder).args(&self.arguments).arg(program.original);
        command.args([iterations.to_string(), size.to_string()]);
        let printed = succeed(&mut command, bounds)?;
        samples(&printed.out, program.original, iterations).map_err(Failure::Failed)
    }
}

fn java(checkout: &Path, places: &Places, bounds: Bounds<'_>) -> Result<Ready, String> {
    let get = "a Java development kit has it (on Debian: apt install default-jdk-headless)";
    let (compiler, _) = tool(&["javac"], "-version", get, bounds)?;
    let (executable, version) = tool(&["java"], "-version", get, bounds)?;
    let classes = build(
        &Build {
            name: "java",
            version: &version,
            compiler,
            options: &["-nowarn", "-encoding", "UTF-8"],
            sources: checkout.join("benchmarks/Java/src"),
            extension: "java",
            output: &|folder| vec!["-d".into(), folder.into()],
        },
        places,
        bounds,
    )?;
    let arguments = vec!["-cp".into(), classes.into(), "Harness".into()];
    // A virtual machine that crashes leaves a file in the current folder, which must not be the checkout.
    Ok(Ready { version, executable: executable.into(), arguments, folder: places.scratch.clone() })
}

fn node(checkout: &Path, _: &Places, bounds: Bounds<'_>) -> Result<Ready, String> {
    let get = "it is on https://nodejs.org (on Debian: apt install nodejs)";
    let (executable, version) = tool(&["node", "nodejs"], "--version", get, bounds)?;
    let version = format!("node {}", version.trim_start_matches("node "));
    let folder = checkout.join("benchmarks/JavaScript");
    Ok(Ready { version, executable: executable.into(), arguments: vec!["harness.js".into()], folder })
}

fn lua(checkout: &Path, _: &Places, bounds: Bounds<'_>) -> Result<Ready, String> {
    let get = "it is on https://www.lua.org (on Debian: apt install lua5.4)";
    let (executable, version) = tool(&["lua5.4", "lua"], "-v", get, bounds)?;
    // Its modules are looked for in the current folder.
    let folder = checkout.join("benchmarks/Lua");
    Ok(Ready { version, executable: executable.into(), arguments: vec!["harness.lua".into()], folder })
}

fn luajit_interpreter(checkout: &Path, _: &Places, bounds: Bounds<'_>) -> Result<Ready, String> {
    let get = "it is on https://luajit.org (on Debian: apt install luajit)";
    let (executable, version) = tool(&["luajit"], "-v", get, bounds)?;
    let folder = checkout.join("benchmarks/Lua");
    let version = format!("{version}, with -joff");
    let arguments = vec!["-joff".into(), "harness.lua".into()];
    Ok(Ready { version, executable: executable.into(), arguments, folder })
}

fn cpp(checkout: &Path, places: &Places, bounds: Bounds<'_>) -> Result<Ready, String> {
    let get = "a C++ compiler is needed (on Debian: apt install g++)";
    let (compiler, version) = tool(&["g++", "clang++"], "--version", get, bounds)?;
    // The options of the suite's own build script, without its warnings.
    let options = ["-O3", "-flto", "-march=native", "-ffp-contract=off", "-std=c++17", "-w"];
    let folder = build(
        &Build {
            name: "cpp",
            version: &version,
            compiler,
            options: &options,
            sources: checkout.join("benchmarks/C++/src"),
            extension: "cpp",
            output: &|folder| vec!["-o".into(), folder.join("harness").into()],
        },
        places,
        bounds,
    )?;
    let version = format!("{version}, {}", options[..3].join(" "));
    let executable = folder.join("harness").into();
    Ok(Ready { version, executable, arguments: Vec::new(), folder: places.scratch.clone() })
}

/// The first of these programs that there is, and what it says about its version.
fn tool(
    names: &[&'static str],
    flag: &str,
    get: &str,
    bounds: Bounds<'_>,
) -> Result<(&'static str, String), String> {
    let mut broken = None;
    for &name in names {
        match run(Command::new(name).arg(flag), bounds) {
            Ok(printed) if printed.status.success() => {
                let mut lines = printed.out.lines().chain(printed.err.lines()).map(str::trim);
                // Java first tells of the options that it has found in the environment.
                let version = lines.find(|line| !line.is_empty() && !line.starts_with("Picked up "));
                return Ok((name, version.unwrap_or(name).to_string()));
            }
            // There may be a placeholder that only says that it is one.
            Ok(printed) => broken = Some(format!("`{name} {flag}` fails with {}; {get}", printed.status)),
            Err(_) => {}
        }
    }
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    Err(broken.unwrap_or_else(|| format!("there is no {}; {get}", names.join(" and no "))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const PATIENT: Bounds<'static> = Bounds { limit: Duration::from_secs(60), stop: &|| false };

    #[test]
    fn a_folder_without_any_harness_is_no_checkout() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let message = checkout(here).expect_err("our own benchmarks");
        assert!(message.contains("no checkout") && message.contains("git clone"), "{message}");
        let message = checkout(&here.join("nowhere")).expect_err("there is nothing");
        assert!(message.contains("cannot open"), "{message}");
    }

    #[test]
    fn missing_tools_are_named_with_a_way_to_get_them() {
        let missing = tool(&["no-such-tool", "nor-this"], "--version", "get it", PATIENT);
        assert_eq!(missing, Err("there is no `no-such-tool` and no `nor-this`; get it".to_string()));
    }

    #[test]
    fn names_are_different_and_some_are_default() {
        for peer in PEERS {
            assert_eq!(PEERS.iter().filter(|other| other.name == peer.name).count(), 1, "{}", peer.name);
            assert!(find(peer.name).is_some_and(|found| found.harness == peer.harness));
        }
        let default: Vec<&str> = PEERS.iter().filter(|peer| peer.default).map(|peer| peer.name).collect();
        assert_eq!(default, ["java", "node", "lua", "cpp"]);
    }
}
