//! Reading what the harnesses of the originals print. They verify every iteration and print its time only afterwards, as
//! `Name: iterations=1 runtime: 1234us`, so that the number of such lines says how much went well.

/// Nanoseconds of the iterations of a program; all `iterations` of them must be there.
pub fn samples(out: &str, original: &str, iterations: u64) -> Result<Vec<u64>, String> {
    let samples: Vec<u64> = out.lines().filter_map(|line| time(line, original)).collect();
    if samples.len() as u64 != iterations {
        return Err(format!("it printed the times of {} iterations, not of {iterations}", samples.len()));
    }
    // The clock counts microseconds; less than one is not a time that anything can be compared with.
    if samples.contains(&0) {
        return Err("an iteration took less than the microsecond that its clock counts".to_string());
    }
    Ok(samples)
}

/// The time in a line, if it has one.
fn time(line: &str, original: &str) -> Option<u64> {
    let rest = line.trim_end().strip_prefix(original)?.strip_prefix(": iterations=1 runtime: ")?;
    rest.strip_suffix("us")?.parse::<u64>().ok()?.checked_mul(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\
Starting Json benchmark ...
Json: iterations=1 runtime: 1234us
Json: iterations=1 runtime: 99us\r
Json: iterations=2 average: 666us total: 1333us

Total Runtime: 1333us
";

    #[test]
    fn only_times_of_iterations_count() {
        assert_eq!(samples(PRINTED, "Json", 2), Ok(vec![1_234_000, 99_000]));
        assert!(samples(PRINTED, "Json", 3).is_err_and(|reason| reason.contains("2 iterations, not of 3")));
        assert!(samples(PRINTED, "CD", 2).is_err());
        for line in [
            "Json: iterations=1 runtime: us",
            "Json: iterations=1 runtime: 1.5us",
            "Json: iterations=1 runtime: 1ms",
        ] {
            assert!(samples(line, "Json", 1).is_err(), "{line}");
        }
    }

    #[test]
    fn nothing_is_compared_with_zero() {
        assert!(
            samples("CD: iterations=1 runtime: 0us", "CD", 1)
                .is_err_and(|reason| reason.contains("microsecond"))
        );
        assert!(samples("CD: iterations=1 runtime: 99999999999999999999us", "CD", 1).is_err());
    }
}
