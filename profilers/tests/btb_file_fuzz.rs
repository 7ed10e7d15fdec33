//! Recordings that somebody damaged: whatever the bytes, reading ends without a panic, an error names a line of the file, and what was
//! complete before it is kept. `BTB_FUZZ=10000000` changes so many records; a plain `cargo test` changes fewer.

use holloway_profilers::btb::{Damaged, SplitMix64, parse, print};

/// Records that a plain `cargo test` changes.
const RECORDS: u64 = 200_000;
/// Records of a file.
const OF_A_FILE: u64 = 8;

/// A good file with traces drawn by chance.
fn file(random: &mut SplitMix64) -> Vec<u8> {
    let mut text = String::from("holloway-btb 1\ndepth 8\nperiod branches=1000 ticks=50\n");
    for number in 0..OF_A_FILE {
        text += &format!("trace {}", 1 + random.below(1000));
        for _ in 0..1 + random.below(8) {
            let kind = ['j', 'c', 'r', 't'][random.below(4) as usize];
            let mut place = || match random.below(8) {
                0 => "-".to_string(),
                1 => "?".to_string(),
                _ => format!("{}.{}", random.below(9), random.below(90)),
            };
            text += &format!(" {kind}{}>{}", place(), place());
        }
        if number % 2 == 0 {
            text += &format!(" @{}.{}", random.below(9), random.below(90));
        }
        text.push('\n');
    }
    text += &format!("lost 5\nempty 2\nend {OF_A_FILE}\n");
    text.into_bytes()
}

/// Changes bytes: flips, removes, doubles, moves, cuts.
fn mutate(bytes: &mut Vec<u8>, random: &mut SplitMix64) {
    for _ in 0..1 + random.below(3) {
        let at = random.below(bytes.len() as u64) as usize;
        match random.below(7) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = b"0123456789 jcrt.>-?@\n=tx"[random.below(24) as usize],
            2 => drop(bytes.remove(at)),
            3 => bytes.insert(at, bytes[at]),
            4 => {
                let other = random.below(bytes.len() as u64) as usize;
                bytes.swap(at, other);
            }
            5 => {
                let end = (at + random.below(40) as usize).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            _ if random.below(4) == 0 => bytes.truncate(at.max(1)),
            _ => bytes[at] = random.below(256) as u8,
        }
        if bytes.is_empty() {
            bytes.push(b'\n');
        }
    }
}

#[test]
fn damaged_recordings_are_answered() {
    let records = std::env::var("BTB_FUZZ").map_or(RECORDS, |text| text.parse().expect("a number"));
    let mut random = SplitMix64(1);
    let (mut whole, mut damaged, mut kept_traces) = (0u64, 0u64, 0u64);
    for _ in 0..records / OF_A_FILE {
        let good = file(&mut random);
        let mut bytes = good.clone();
        mutate(&mut bytes, &mut random);
        match parse(&bytes) {
            Ok(recording) => {
                whole += 1;
                // What can be read can be written, and is the same.
                assert_eq!(parse(print(&recording).as_bytes()), Ok(recording));
            }
            Err(Damaged { line, message, kept }) => {
                damaged += 1;
                let lines = bytes.iter().filter(|&&byte| byte == b'\n').count();
                assert!((1..=lines + 1).contains(&line), "line {line} of {lines}: {message}");
                assert!(!message.is_empty());
                let kept = kept.map_or(0, |kept| kept.traces.len());
                assert!(kept < line.max(1), "{kept} traces before line {line}");
                kept_traces += kept as u64;
            }
        }
    }
    println!("{whole} files could be read, {damaged} not; of these {kept_traces} traces were kept");
    assert!(whole > 0 && damaged > 0 && kept_traces > 0);
}
