//! `holloway doctor`: what this machine has for measurements and what it lacks, each with what that means and a way out.
//!
//! A finding is a value; text and JSON derive from it. Nothing is changed and nothing is sent anywhere: files of the system are read, a
//! counter is opened and closed again, clocks are read for some milliseconds, and the names of other programs are looked for.

use crate::commands::print;
use crate::options::DoctorArguments;
use crate::report::Stop;
use holloway_benchmarks::machine::Machine;
use holloway_vm::profiling::native;
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How long clocks are watched.
const WATCH: Duration = Duration::from_millis(200);
/// A gap between two looks at the clock from which on somebody else had the processor.
const GAP: Duration = Duration::from_micros(50);
/// Looks at the clock from which its resolution follows.
const LOOKS: usize = 10_000;
/// Less free memory than this makes measurements swap.
const LITTLE_MEMORY: u64 = 1 << 30;

/// How good a finding is for measurements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// As it should be.
    Good,
    /// It is good to know.
    Note,
    /// Measurements are worse for it, or something cannot be done.
    Poor,
}

/// Something about the machine.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// What was looked at: a short name that stays.
    pub name: &'static str,
    /// How good it is.
    pub verdict: Verdict,
    /// What was found.
    pub found: String,
    /// What that means for measurements.
    pub means: &'static str,
    /// What can be done about it; nothing if nothing has to be.
    pub remedy: Option<String>,
}

/// All findings.
#[derive(Clone, Debug, Serialize)]
struct Report {
    format: &'static str,
    version: u32,
    machine: Machine,
    findings: Vec<Finding>,
}

/// Looks and tells.
pub fn doctor(arguments: &DoctorArguments) -> Result<ExitCode, Stop> {
    let report =
        Report { format: "holloway-doctor", version: 1, machine: Machine::describe(), findings: findings() };
    let text = match arguments.json {
        true => serde_json::to_string_pretty(&report).map_err(Stop::failure)? + "\n",
        false => listing(&report),
    };
    print(text, ExitCode::SUCCESS)
}

fn listing(report: &Report) -> String {
    let mut text = format!("{}\n", report.machine);
    for finding in &report.findings {
        let mark = match finding.verdict {
            Verdict::Good => "good",
            Verdict::Note => "note",
            Verdict::Poor => "POOR",
        };
        // Writing into a string cannot fail.
        let _ = write!(text, "\n{mark}  {}: {}\n      {}\n", finding.name, finding.found, finding.means);
        if let Some(remedy) = &finding.remedy {
            let _ = writeln!(text, "      way out: {remedy}");
        }
    }
    text
}

fn findings() -> Vec<Finding> {
    let mut all = vec![processor(), cores()];
    all.extend(counters());
    all.extend([paranoid(), frequency(), clock(), noise(), memory(), huge_pages()]);
    let others = [
        ("valgrind", "counts instructions where time is noise", "valgrind"),
        ("perf", "shows what the processor does", "linux-tools or linux-perf"),
        ("java", "`bench --against java`", "a JDK"),
        ("node", "`bench --against node`", "nodejs"),
        ("lua", "`bench --against lua`", "lua"),
    ];
    all.extend(others.map(|(name, means, package)| program(name, means, package)));
    all
}

/// The trimmed text of a file of the system.
fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_string())
}

/// The value behind a key in the first line that has it.
fn value(text: &str, key: &str) -> Option<String> {
    let line = text.lines().find(|line| line.split(':').next().is_some_and(|name| name.trim() == key))?;
    Some(line.split_once(':')?.1.trim().to_string())
}

fn processor() -> Finding {
    let text = read("/proc/cpuinfo").unwrap_or_default();
    let model = value(&text, "model name").unwrap_or_else(|| "unknown".into());
    let virtualized =
        value(&text, "flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    let compiles = cfg!(target_arch = "x86_64");
    Finding {
        name: "processor",
        verdict: if !compiles {
            Verdict::Poor
        } else if virtualized {
            Verdict::Note
        } else {
            Verdict::Good
        },
        found: format!("{model}{}", if virtualized { ", in a virtual machine" } else { "" }),
        means: match (compiles, virtualized) {
            (false, _) => "the optimizing tier makes code for x86-64 only: programs are interpreted",
            (true, true) => "others may share the processor, and its counters may be hidden",
            (true, false) => "the optimizing tier makes code for it",
        },
        remedy: (!compiles).then(|| "measure on x86-64".into()),
    }
}

fn cores() -> Finding {
    let usable = std::thread::available_parallelism().map_or(1, usize::from);
    let load = read("/proc/loadavg").and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    let busy = load.is_some_and(|load| load > usable as f64 * 0.75);
    let load =
        load.map_or(String::new(), |load| format!(", of which {load:.2} were busy in the last minute"));
    let verdict = if busy || usable < 2 { Verdict::Poor } else { Verdict::Good };
    Finding {
        name: "cores",
        verdict,
        found: format!("{usable}{load}"),
        means: "the program has one, the compiler's thread another one",
        remedy: (verdict == Verdict::Poor).then(|| {
            "end what else runs; compare processor time (`overhead` does) or count instructions (valgrind)".into()
        }),
    }
}

fn counters() -> [Finding; 2] {
    let counter = native::counters();
    let there = counter.is_ok();
    let events = Finding {
        name: "performance counters",
        verdict: if there { Verdict::Good } else { Verdict::Poor },
        found: counter.map_or_else(|why| why.to_string(), |()| "cycles can be counted".into()),
        means: "without them nobody tells how many instructions, misses and cycles something took",
        remedy: (!there).then(|| "`valgrind --tool=callgrind` counts instructions".into()),
    };
    let records = native::BranchRecords::open(1 << 40);
    let depth = read("/sys/bus/event_source/devices/cpu/caps/branches");
    let deep = depth.map_or(String::new(), |depth| format!(", the last {depth}"));
    let recorded = records.is_ok();
    let branches = Finding {
        name: "branch records",
        verdict: if recorded { Verdict::Good } else { Verdict::Poor },
        found: match records {
            Ok(_) => format!("the processor remembers taken branches{deep}"),
            Err(why) => why.to_string(),
        },
        means: "`--profile btb:backend=lbr` needs them",
        remedy: (!recorded).then(|| {
            "btb:backend=step sees the same branches by stepping through the code, btb:backend=burst those of the \
             interpreter"
                .into()
        }),
    };
    [events, branches]
}

fn paranoid() -> Finding {
    let level = read("/proc/sys/kernel/perf_event_paranoid").and_then(|text| text.parse::<i32>().ok());
    let allowed = level.is_some_and(|level| level <= 2);
    Finding {
        name: "perf_event_paranoid",
        verdict: if allowed { Verdict::Good } else { Verdict::Poor },
        found: level.map_or_else(|| "the kernel has no perf_event_open".into(), |level| level.to_string()),
        means: "up to 2 a process may watch itself; above only who is privileged may",
        remedy: (!allowed && level.is_some()).then(|| "sysctl kernel.perf_event_paranoid=2".into()),
    }
}

fn frequency() -> Finding {
    let governor = read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    let turbo = match read("/sys/devices/system/cpu/intel_pstate/no_turbo").as_deref() {
        Some("0") => Some(true),
        Some(_) => Some(false),
        None => read("/sys/devices/system/cpu/cpufreq/boost").map(|boost| boost == "1"),
    };
    let steady = governor.as_deref() == Some("performance") && turbo != Some(true);
    let boost = match turbo {
        Some(true) => ", with turbo",
        Some(false) => ", without turbo",
        None => "",
    };
    Finding {
        name: "frequency scaling",
        verdict: match &governor {
            None => Verdict::Note,
            Some(_) if steady => Verdict::Good,
            Some(_) => Verdict::Poor,
        },
        found: governor.as_ref().map_or("cannot be seen".into(), |governor| format!("{governor}{boost}")),
        means: match &governor {
            None => "the host decides how fast the processor is, perhaps another time than now",
            Some(_) if steady => "the processor stays as fast as it is",
            Some(_) => "the processor becomes faster and slower while something is measured",
        },
        remedy: (!steady).then(|| match &governor {
            None => "compare in one process, in turns, as `overhead` does".into(),
            Some(_) => "cpupower frequency-set --governor performance, and turn turbo off".to_string(),
        }),
    }
}

fn clock() -> Finding {
    let source = read("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    let start = Instant::now();
    let mut least = Duration::MAX;
    for _ in 0..LOOKS {
        let (one, other) = (Instant::now(), Instant::now());
        let step = other - one;
        if !step.is_zero() {
            least = least.min(step);
        }
    }
    let each = start.elapsed() / (2 * LOOKS as u32);
    let slow = each > Duration::from_nanos(200);
    let source = source.unwrap_or_else(|| "unknown".into());
    Finding {
        name: "clock",
        verdict: if slow { Verdict::Poor } else { Verdict::Good },
        found: format!("{source}: resolution {least:?}, a look takes {each:?}"),
        means: "samples of `bench` and `overhead` take a millisecond and more",
        remedy: slow.then(|| "a clock source such as tsc or kvm-clock, if the system has one".into()),
    }
}

fn noise() -> Finding {
    let start = Instant::now();
    let (mut last, mut lost, mut gaps, mut longest) = (start, Duration::ZERO, 0u32, Duration::ZERO);
    while last - start < WATCH {
        let now = Instant::now();
        let gap = now - last;
        if gap > GAP {
            (lost, gaps, longest) = (lost + gap, gaps + 1, longest.max(gap));
        }
        last = now;
    }
    let share = lost.as_secs_f64() * 100.0 / (last - start).as_secs_f64();
    let noisy = share > 1.0;
    Finding {
        name: "noise",
        verdict: if noisy { Verdict::Poor } else { Verdict::Good },
        found: format!(
            "in {WATCH:?} of looking at the clock {gaps} gaps above {GAP:?}, the longest {longest:?}: {share:.1} % of the time"
        ),
        means: "in the gaps somebody else had the processor",
        remedy: noisy.then(|| {
            "processor time instead of the clock's (`overhead` uses it), more samples, an idle machine".into()
        }),
    }
}

fn memory() -> Finding {
    let text = read("/proc/meminfo").unwrap_or_default();
    let bytes = |key| {
        let value = value(&text, key)?;
        Some(value.split(' ').next()?.parse::<u64>().ok()? << 10)
    };
    let gib = |bytes: u64| format!("{:.1} GiB", bytes as f64 / (1u64 << 30) as f64);
    let available = bytes("MemAvailable");
    let little = available.is_some_and(|bytes| bytes < LITTLE_MEMORY);
    let found = match (bytes("MemTotal"), available) {
        (Some(total), Some(available)) => format!("{}, {} available", gib(total), gib(available)),
        _ => "cannot be seen".into(),
    };
    Finding {
        name: "memory",
        verdict: if little { Verdict::Poor } else { Verdict::Good },
        found,
        means: "a heap grows to 1 GiB unless `--heap` says otherwise; who swaps measures the disk",
        remedy: little.then(|| "end what else runs, or `--heap 256m`".into()),
    }
}

fn huge_pages() -> Finding {
    let setting = read("/sys/kernel/mm/transparent_hugepage/enabled");
    let chosen =
        setting.as_deref().and_then(|text| Some(text.split_once('[')?.1.split_once(']')?.0.to_string()));
    Finding {
        name: "huge pages",
        verdict: Verdict::Note,
        found: chosen.clone().unwrap_or_else(|| "cannot be seen".into()),
        means: match chosen.as_deref() {
            Some("always") => "large heaps may get huge pages, in one run and not in the next",
            _ => "heaps have pages of 4 KiB: all runs alike",
        },
        remedy: (chosen.as_deref() == Some("always")).then(|| {
            "for repeatable times: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled".into()
        }),
    }
}

/// Where a program is among those that can be called by their names.
fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

fn program(name: &'static str, means: &'static str, package: &str) -> Finding {
    let found = find(name);
    Finding {
        name,
        verdict: if found.is_some() { Verdict::Good } else { Verdict::Note },
        remedy: found.is_none().then(|| format!("install {package}")),
        found: found.map_or("not found".into(), |file| file.display().to_string()),
        means,
    }
}
