//! Where and with what something was measured. What cannot be found out is left out.

use serde::Serialize;
use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// A description of the machine and of this build.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Machine {
    /// Model of the processor.
    pub cpu: Option<String>,
    /// Processors that this process may use.
    pub cores: Option<usize>,
    /// Physical memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Operating system and architecture.
    pub system: String,
    /// Version of the kernel.
    pub kernel: Option<String>,
    /// Version of this program.
    pub version: &'static str,
    /// The commit that it was built from.
    pub commit: Option<&'static str>,
    /// The compiler that built it.
    pub rustc: Option<&'static str>,
    /// The profile that it was built with.
    pub profile: Option<&'static str>,
    /// Now, in UTC.
    pub date: String,
}

impl Machine {
    /// This machine, now.
    pub fn describe() -> Machine {
        let read = |path| std::fs::read_to_string(path).ok();
        let after = |text: &str, key: &str| {
            let line = text.lines().find(|line| line.starts_with(key))?;
            Some(line.split_once(':')?.1.trim().to_string())
        };
        let built = |value: &'static str| (!value.is_empty()).then_some(value);
        let memory = read("/proc/meminfo").and_then(|text| after(&text, "MemTotal"));
        let kibibytes = memory.and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
        Machine {
            cpu: read("/proc/cpuinfo").and_then(|text| after(&text, "model name")),
            cores: std::thread::available_parallelism().ok().map(usize::from),
            memory_bytes: kibibytes.map(|k| k << 10),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            kernel: read("/proc/sys/kernel/osrelease").map(|text| text.trim().to_string()),
            version: env!("CARGO_PKG_VERSION"),
            commit: built(env!("HOLLOWAY_COMMIT")),
            rustc: built(env!("HOLLOWAY_RUSTC")),
            profile: built(env!("HOLLOWAY_PROFILE")),
            date: date(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs())),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.cpu.as_deref().unwrap_or("unknown processor"))?;
        if let Some(cores) = self.cores {
            write!(f, ", {cores} cores")?;
        }
        if let Some(bytes) = self.memory_bytes {
            write!(f, ", {:.0} GiB", bytes as f64 / (1u64 << 30) as f64)?;
        }
        write!(f, ", {}", self.system)?;
        if let Some(kernel) = &self.kernel {
            write!(f, " {kernel}")?;
        }
        write!(f, "; holloway {}", self.version)?;
        let details: Vec<&str> = [self.commit.map(|c| &c[..c.len().min(12)]), self.profile, self.rustc]
            .into_iter()
            .flatten()
            .collect();
        if !details.is_empty() {
            write!(f, " ({})", details.join(", "))?;
        }
        write!(f, "; {}", self.date)
    }
}

/// The moment so many seconds after 1970 began, such as `2024-02-29T12:00:00Z`.
fn date(seconds: u64) -> String {
    let (mut days, second) = (seconds / 86_400, seconds % 86_400);
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 0;
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z", month + 1, days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_know_leap_years() {
        assert_eq!(date(0), "1970-01-01T00:00:00Z");
        assert_eq!(date(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(date(1_709_251_199), "2024-02-29T23:59:59Z");
        assert_eq!(date(1_735_689_599), "2024-12-31T23:59:59Z");
        assert_eq!(date(4_107_542_400), "2100-03-01T00:00:00Z");
    }

    #[test]
    fn the_machine_says_something_about_itself() {
        let machine = Machine::describe();
        assert!(!machine.system.is_empty() && machine.date.ends_with('Z'));
    }
}
