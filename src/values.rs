//! The values of flags that are more than a number: sizes, durations, timers. Each parser says what is wrong and
//! what would be right, because its message is what the user sees.

use holloway_vm::timer::TimerSource;
use std::time::Duration;

/// The smallest heap that the virtual machine makes.
pub const SMALLEST_HEAP: usize = 2 << 20;
/// The largest heap: beyond it, even the address space for the tables is a strain.
pub const LARGEST_HEAP: usize = 1 << 40;
/// The longest time that a flag may name: a year.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// A number and the letters behind it, such as `64` and `m`.
fn split(text: &str) -> Option<(u64, &str)> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number = text[..digits].parse().ok()?;
    Some((number, &text[digits..]))
}

/// Less holds no more than a few methods.
const SMALLEST_CODE_CACHE: usize = 64 << 10;
/// More than any program's code.
const LARGEST_CODE_CACHE: usize = 1 << 30;

/// A heap size: bytes, or with `k`, `m`, `g` in units of 1024, 1024² and 1024³ bytes.
pub fn heap_size(text: &str) -> Result<usize, String> {
    match size(text)? {
        bytes if bytes < SMALLEST_HEAP => Err("the smallest heap is 2m".to_string()),
        bytes if bytes <= LARGEST_HEAP => Ok(bytes),
        _ => Err("the largest heap is 1024g".to_string()),
    }
}

/// The size of the code cache, likewise.
pub fn code_cache_size(text: &str) -> Result<usize, String> {
    match size(text)? {
        bytes if bytes < SMALLEST_CODE_CACHE => Err("the smallest code cache is 64k".to_string()),
        bytes if bytes <= LARGEST_CODE_CACHE => Ok(bytes),
        _ => Err("the largest code cache is 1g".to_string()),
    }
}

/// A number of bytes; all that do not fit are the largest.
fn size(text: &str) -> Result<usize, String> {
    let malformed = || "a size is a whole number followed by k, m or g, such as 64m or 1g".to_string();
    let lower = text.to_ascii_lowercase();
    let (number, unit) = split(&lower).ok_or_else(malformed)?;
    let shift = match unit {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        _ => return Err(malformed()),
    };
    Ok(usize::try_from(number).ok().and_then(|n| n.checked_mul(1 << shift)).unwrap_or(usize::MAX))
}

/// A duration: a whole number with `us`, `ms`, `s`, `m` or `h`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let malformed = || "a duration is a whole number with its unit, such as 500ms, 2s or 1m".to_string();
    let (number, unit) = split(text).ok_or_else(malformed)?;
    let seconds = |each: u64| number.checked_mul(each).map(Duration::from_secs);
    let duration = match unit {
        "us" => Some(Duration::from_micros(number)),
        "ms" => Some(Duration::from_millis(number)),
        "s" => seconds(1),
        "m" => seconds(60),
        "h" => seconds(60 * 60),
        _ => return Err(malformed()),
    };
    match duration {
        Some(Duration::ZERO) => Err("a duration is more than nothing".to_string()),
        Some(duration) if duration <= LONGEST => Ok(duration),
        _ => Err("the longest duration is a year".to_string()),
    }
}

/// A source of ticks: `wall:20ms`, `virtual:1000`, or `virtual:1000~7` for distances drawn by the seed 7.
pub fn timer(text: &str) -> Result<TimerSource, String> {
    match text.split_once(':') {
        Some(("wall", period)) => match duration(period)? {
            period if period < Duration::from_micros(100) => {
                Err("the timer cannot tick more often than every 100us".to_string())
            }
            period => Ok(TimerSource::Wall(period)),
        },
        Some(("virtual", count)) => {
            let (count, seed) = match count.split_once('~') {
                Some((count, seed)) => (count, Some(seed)),
                None => (count, None),
            };
            let wrong = "virtual: is followed by a number of yieldpoints, at least 1";
            let every = count.parse().ok().filter(|&count| count > 0).ok_or(wrong)?;
            let Some(seed) = seed else { return Ok(TimerSource::Virtual(every)) };
            let seed = seed.parse().map_err(|_| "~ is followed by the seed of the distances, a number")?;
            Ok(TimerSource::Drawn { every, seed })
        }
        _ => Err("a timer is wall:DURATION, such as wall:20ms, or virtual:YIELDPOINTS, or virtual:YIELDPOINTS~SEED"
            .to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_and_a_range() {
        assert_eq!(heap_size("64m"), Ok(64 << 20));
        assert_eq!(heap_size("1G"), Ok(1 << 30));
        assert_eq!(heap_size("2048k"), Ok(2 << 20));
        assert_eq!(heap_size("2097152"), Ok(2 << 20));
        assert_eq!(heap_size("1024g"), Ok(1 << 40));
        for (text, message) in [
            ("1m", "the smallest heap is 2m"),
            ("0", "the smallest heap is 2m"),
            ("1025g", "the largest heap is 1024g"),
            ("18446744073709551615g", "the largest heap is 1024g"),
        ] {
            assert_eq!(heap_size(text), Err(message.to_string()), "{text}");
        }
        for text in ["", "m", "-1m", "1.5g", "64 m", "64mb", "64é", "99999999999999999999"] {
            assert!(heap_size(text).is_err_and(|e| e.contains("such as 64m")), "{text}");
        }
    }

    #[test]
    fn durations_have_units_and_a_range() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("2s"), Ok(Duration::from_secs(2)));
        assert_eq!(duration("1m"), Ok(Duration::from_secs(60)));
        assert!(duration("0s").is_err_and(|e| e.contains("more than nothing")));
        for text in ["", "5", "s", "-1s", "1.5s", "1d"] {
            assert!(duration(text).is_err_and(|e| e.contains("such as 500ms")), "{text}");
        }
        for text in ["9000h", "18446744073709551615h", "18446744073709551615ms"] {
            assert_eq!(duration(text), Err("the longest duration is a year".to_string()), "{text}");
        }
    }

    #[test]
    fn timers_tick_by_clock_or_by_count() {
        assert_eq!(timer("wall:20ms"), Ok(TimerSource::Wall(Duration::from_millis(20))));
        assert_eq!(timer("virtual:1000"), Ok(TimerSource::Virtual(1000)));
        assert_eq!(timer("virtual:1000~7"), Ok(TimerSource::Drawn { every: 1000, seed: 7 }));
        for text in [
            "",
            "wall",
            "wall:",
            "wall:0s",
            "wall:99us",
            "virtual:0",
            "virtual:-1",
            "virtual:x",
            "virtual:0~1",
            "virtual:5~",
            "virtual:5~x",
            "virtual:~1",
            "x:1",
        ] {
            assert!(timer(text).is_err(), "{text}");
        }
    }
}
