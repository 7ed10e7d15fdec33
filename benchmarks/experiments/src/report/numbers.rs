//! Numbers as they are read: sensible digits, a unit, and one rule for all forms of the report.
//!
//! * Three digits count; with an interval, as many as the interval leaves standing.
//! * A number and the ends of its interval share unit and decimals.
//! * What is not finite is said in words. Nothing here can fail.

use super::model::{Measured, Unit};

/// Decimals beyond these are noise in every experiment.
const MOST_DECIMALS: usize = 4;

/// From here on counts are no longer written out.
const WRITTEN_OUT: f64 = 1e7;

/// Larger and smaller numbers are written with a power of ten.
const LARGEST: f64 = 1e15;

/// A number with its unit.
pub fn show(value: f64, unit: Unit) -> String {
    if !value.is_finite() {
        return not_finite(value).to_string();
    }
    let (factor, suffix) = scale(value.abs(), unit);
    format!("{}{suffix}", digits(value * factor))
}

/// A number with its unit and its interval: `1.2 % (0.9 to 1.5)`.
pub fn measured(measured: &Measured) -> String {
    match interval(measured) {
        Some(interval) => format!("{} ({interval})", estimate(measured)),
        None => estimate(measured),
    }
}

/// The number of [`measured`] alone, with the decimals that its interval leaves standing.
pub fn estimate(measured: &Measured) -> String {
    match finite_interval(measured) {
        None => show(measured.value, measured.unit),
        Some((low, high)) => {
            let (factor, suffix) = scale(largest(measured.value, low, high), measured.unit);
            let decimals = decimals(measured, low, high, factor);
            format!("{}{suffix}", fixed(measured.value * factor, decimals))
        }
    }
}

/// The interval of [`measured`] alone, without the unit: `0.9 to 1.5`.
pub fn interval(measured: &Measured) -> Option<String> {
    let (low, high) = finite_interval(measured)?;
    let (factor, _) = scale(largest(measured.value, low, high), measured.unit);
    let decimals = decimals(measured, low, high, factor);
    Some(format!("{} to {}", fixed(low * factor, decimals), fixed(high * factor, decimals)))
}

/// The label of a tick: no more decimals than the distance to the next one needs.
pub fn tick(value: f64, step: f64, unit: Unit) -> String {
    if !value.is_finite() || !step.is_finite() || step <= 0.0 {
        return show(value, unit);
    }
    let (factor, suffix) = match unit {
        // Shorter than elsewhere: ticks are round.
        Unit::Count if (1e6..WRITTEN_OUT).contains(&value.abs()) => (1e-6, " million"),
        _ => scale(value.abs(), unit),
    };
    let (value, step) = (value * factor, step * factor);
    if value != 0.0 && (value.abs() >= LARGEST || value.abs() < 1e-6) {
        return format!("{}{suffix}", digits(value));
    }
    let decimals = (-step.log10().floor()).clamp(0.0, 8.0) as usize;
    format!("{}{suffix}", trimmed(&fixed(value, decimals)))
}

/// For programs: all digits, a full stop, no unit.
pub fn raw(value: f64) -> String {
    if value.is_nan() {
        "NaN".to_string()
    } else if value != 0.0 && (value.abs() >= LARGEST || value.abs() < 1e-6) {
        format!("{value:e}")
    } else {
        format!("{value}")
    }
}

/// Things, in groups of three digits.
pub fn count(count: u64) -> String {
    grouped(&count.to_string())
}

/// A length of time as one says it: `12 min 30 s`.
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 60.0 {
        return show(seconds, Unit::Seconds);
    }
    let whole = seconds.min(LARGEST).round() as u64;
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60);
    match hours {
        0 => format!("{minutes} min {rest} s"),
        _ => format!("{} h {minutes} min", count(hours)),
    }
}

/// The unit in the head of a column of raw numbers.
pub fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Percent => "percent",
        Unit::Ratio => "ratio",
        Unit::Count => "count",
        Unit::Seconds => "seconds",
        Unit::Nanoseconds => "nanoseconds",
        Unit::Bytes => "bytes",
    }
}

/// What is multiplied with, and what is written behind, for numbers up to this size.
fn scale(size: f64, unit: Unit) -> (f64, &'static str) {
    let time = |seconds: f64| match seconds {
        _ if size == 0.0 => (1.0, " s"),
        s if s < 1e-6 => (1e9, " ns"),
        s if s < 1e-3 => (1e6, " µs"),
        s if s < 1.0 => (1e3, " ms"),
        s if s < 120.0 => (1.0, " s"),
        s if s < 7200.0 => (1.0 / 60.0, " min"),
        _ => (1.0 / 3600.0, " h"),
    };
    match unit {
        Unit::Percent => (1.0, " %"),
        Unit::Ratio => (1.0, "×"),
        Unit::Count if !(WRITTEN_OUT..LARGEST).contains(&size) => (1.0, ""),
        Unit::Count if size < 1e9 => (1e-6, " million"),
        Unit::Count => (1e-9, " billion"),
        Unit::Seconds => time(size),
        Unit::Nanoseconds if size < 1e3 => (1.0, " ns"),
        Unit::Nanoseconds => {
            let (factor, suffix) = time(size * 1e-9);
            (factor * 1e-9, suffix)
        }
        Unit::Bytes if size < 1e3 => (1.0, " B"),
        Unit::Bytes if size < 1e6 => (1e-3, " kB"),
        Unit::Bytes if size < 1e9 => (1e-6, " MB"),
        Unit::Bytes => (1e-9, " GB"),
    }
}

/// Three digits that count; whole numbers in full.
fn digits(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(0.0005..LARGEST).contains(&size) {
        return format!("{value:.1e}").replace('-', "−");
    }
    if value.fract() == 0.0 && size < WRITTEN_OUT {
        return fixed(value, 0);
    }
    let decimals = match size {
        s if s >= 100.0 => 0,
        s if s >= 10.0 => 1,
        s if s >= 0.1 => 2,
        _ => 3,
    };
    trimmed(&fixed(value, decimals))
}

/// How many decimals the error leaves standing: its first digit, and the second if the first is small. Things are counted whole.
fn decimals(measured: &Measured, low: f64, high: f64, factor: f64) -> usize {
    let whole = [measured.value, low, high].iter().all(|value| value.fract() == 0.0);
    if measured.unit == Unit::Count && factor == 1.0 && whole {
        return 0;
    }
    let width = (high - low) / 2.0 * factor;
    let power = width.log10().floor();
    let first = width / 10f64.powf(power);
    let more = if first < 3.0 - 1e-6 { 1.0 } else { 0.0 };
    (more - power).clamp(0.0, MOST_DECIMALS as f64) as usize
}

/// With this many decimals, groups of three digits and a true minus.
fn fixed(value: f64, decimals: usize) -> String {
    if value.abs() >= LARGEST {
        return format!("{value:.1e}").replace('-', "−");
    }
    let text = format!("{:.decimals$}", value.abs());
    let zero = text.chars().all(|c| c == '0' || c == '.');
    let sign = if value < 0.0 && !zero { "−" } else { "" };
    match text.split_once('.') {
        Some((whole, fraction)) => format!("{sign}{}.{fraction}", grouped(whole)),
        None => format!("{sign}{}", grouped(&text)),
    }
}

/// Without zeros at the end of the decimals.
fn trimmed(text: &str) -> String {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text.to_string(),
    }
}

/// Numbers of five digits and more in groups of three, with a space that does not break.
fn grouped(digits: &str) -> String {
    if digits.len() < 5 {
        return digits.to_string();
    }
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

fn not_finite(value: f64) -> &'static str {
    match value {
        v if v.is_nan() => "not a number",
        v if v > 0.0 => "∞",
        _ => "−∞",
    }
}

fn largest(value: f64, low: f64, high: f64) -> f64 {
    value.abs().max(low.abs()).max(high.abs())
}

/// The interval, if it and the value can be written with common decimals.
fn finite_interval(measured: &Measured) -> Option<(f64, f64)> {
    let (low, high) = measured.interval?;
    let writable = |value: f64| value.is_finite() && value.abs() < LARGEST;
    // An interval without width says that the number is exact.
    (writable(measured.value) && writable(low) && writable(high) && low < high).then_some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(value: f64, low: f64, high: f64, unit: Unit) -> Measured {
        Measured { value, interval: Some((low, high)), unit }
    }

    #[test]
    fn three_digits_count() {
        let cases = [
            (1.2, Unit::Percent, "1.2 %"),
            (94.0, Unit::Percent, "94 %"),
            (-0.123456, Unit::Percent, "−0.12 %"),
            (0.0, Unit::Percent, "0 %"),
            (-0.0, Unit::Percent, "0 %"),
            (406.7, Unit::Percent, "407 %"),
            (3.764, Unit::Ratio, "3.76×"),
            (9999.0, Unit::Count, "9999"),
            (65_800.0, Unit::Count, "65\u{202f}800"),
            (22_400_000.0, Unit::Count, "22.4 million"),
            (3.1e10, Unit::Count, "31 billion"),
            (0.0032, Unit::Seconds, "3.2 ms"),
            (90.0, Unit::Seconds, "90 s"),
            (5400.0, Unit::Seconds, "90 min"),
            (12.34, Unit::Nanoseconds, "12.3 ns"),
            (1500.0, Unit::Nanoseconds, "1.5 µs"),
            (43_304.0, Unit::Bytes, "43.3 kB"),
            (2e9, Unit::Bytes, "2 GB"),
            (1e300, Unit::Percent, "1.0e300 %"),
            (1e-9, Unit::Ratio, "1.0e−9×"),
            (f64::NAN, Unit::Bytes, "not a number"),
            (f64::NEG_INFINITY, Unit::Seconds, "−∞"),
        ];
        for (value, unit, expected) in cases {
            assert_eq!(show(value, unit), expected, "{value} {unit:?}");
        }
    }

    #[test]
    fn an_interval_decides_on_the_decimals() {
        assert_eq!(measured(&with(1.234, 0.911, 1.522, Unit::Percent)), "1.2 % (0.9 to 1.5)");
        assert_eq!(measured(&with(1.234, 1.1, 1.35, Unit::Percent)), "1.23 % (1.10 to 1.35)");
        assert_eq!(measured(&with(-0.2, -0.9, 0.5, Unit::Percent)), "−0.2 % (−0.9 to 0.5)");
        assert_eq!(measured(&with(980.0, 900.0, 1100.0, Unit::Nanoseconds)), "0.98 µs (0.90 to 1.10)");
        assert_eq!(measured(&with(5.0, 5.0, 5.0, Unit::Percent)), "5 %");
        assert_eq!(measured(&with(1.0, 0.0, 3.0, Unit::Count)), "1 (0 to 3)");
        assert_eq!(measured(&with(1.5, 0.0, 3.0, Unit::Count)), "1.5 (0.0 to 3.0)");
        assert_eq!(measured(&with(1.0, f64::NAN, 2.0, Unit::Percent)), "1 %");
        assert_eq!(measured(&with(1.0, 0.0, f64::INFINITY, Unit::Percent)), "1 %");
    }

    #[test]
    fn raw_numbers_can_be_read_back() {
        for value in [0.0, -1.5, 1.0 / 3.0, 1e300, -2e-40, 123_456_789.25, f64::INFINITY] {
            assert_eq!(raw(value).parse::<f64>(), Ok(value));
        }
        assert!(raw(f64::NAN).parse::<f64>().is_ok_and(f64::is_nan));
        assert!(raw(1e300).len() < 10);
    }

    #[test]
    fn ticks_have_as_many_decimals_as_their_distance_needs() {
        assert_eq!(tick(0.30000000000000004, 0.1, Unit::Ratio), "0.3×");
        assert_eq!(tick(2.0, 0.5, Unit::Percent), "2 %");
        assert_eq!(tick(0.0, 0.25, Unit::Percent), "0 %");
        assert_eq!(tick(1e12, 1e12, Unit::Count), "1000 billion");
        assert_eq!(duration(750.0), "12 min 30 s");
        assert_eq!(duration(28_800.0), "8 h 0 min");
    }
}
