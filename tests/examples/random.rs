//! scratch
use holloway_tests::{run, modes::MODES, random::{generate, differ}};
use std::time::{Instant, Duration};
fn main() {
    let a: Vec<String> = std::env::args().skip(1).collect();
    match a[0].as_str() {
        "print" => print!("{}", generate(a[1].parse().unwrap()).tree.program_text()),
        "compile" => {
            let mut bad = 0;
            for seed in 0..a[1].parse().unwrap() {
                let text = generate(seed).tree.program_text();
                if let Err(e) = run::compile(std::path::Path::new("random.hol"), &text) { bad += 1; if bad <= 8 { println!("seed {seed}\n{e}"); } }
            }
            println!("{bad} bad");
        }
        "time" => {
            let n: u32 = a[1].parse().unwrap();
            let mut t = [Duration::ZERO; 8];
            let mut lines = 0;
            let mut fuel = vec![];
            let mut worst = vec![];
            for seed in 0..n as u64 {
                let s = Instant::now();
                let text = generate(seed).tree.program_text();
                t[0] += s.elapsed();
                lines += text.lines().count();
                let s = Instant::now();
                let program = run::compile(std::path::Path::new("random.hol"), &text).unwrap();
                t[1] += s.elapsed();
                for (i, m) in MODES.iter().enumerate() {
                    let s = Instant::now();
                    let _ = differ::run_in(&program, m, i == 0).unwrap();
                    let e = s.elapsed();
                    t[2 + i] += e;
                    if i == 0 { fuel.push(e); }
                    worst.push((e, seed, m.name));
                }
            }
            println!("lines {} generate {:?} compile {:?} modes {:?}", lines / n as usize, t[0] / n, t[1] / n, t[2..6].iter().map(|x| *x / n).collect::<Vec<_>>());
            fuel.sort();
            println!("median {:?} 90% {:?} max {:?}", fuel[fuel.len()/2], fuel[fuel.len()*9/10], fuel[fuel.len()-1]);
            worst.sort(); worst.reverse();
            println!("{:?}", &worst[..12]);
        }
        _ => {}
    }
    let _ = MODES;
}
