//! scratch
use holloway_tests::{run, modes::MODES};
use std::time::Instant;
fn main() {
    for p in std::env::args().skip(1) {
        let path = std::path::PathBuf::from(p);
        let text = std::fs::read_to_string(&path).unwrap();
        let t = Instant::now();
        let n = 20;
        let mut program = None;
        for _ in 0..n { program = Some(run::compile(&path, &text).unwrap()); }
        println!("{} lines {} compile {:?}", path.display(), text.lines().count(), t.elapsed() / n);
        let program = program.unwrap();
        for mode in MODES {
            let t = Instant::now();
            for _ in 0..n { let _ = run::run(&program, &[], &[], mode).unwrap(); }
            print!(" {} {:?}", mode.name, t.elapsed() / n);
        }
        println!();
    }
}
