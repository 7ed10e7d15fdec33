//! What a program prints while it is measured: read, not shown. The harness of the suite says how many iterations it did
//! and that their results are right; of other programs it is known only whether they print the same in every run.

use std::hash::{DefaultHasher, Hasher};
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a run printed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Printed {
    /// How many iterations it told of.
    pub iterations: u64,
    /// Did it say that all results are right.
    pub verified: bool,
    /// A number that stands for the text. The times that the harness prints do not count.
    pub digest: u64,
}

#[derive(Default)]
struct Reader {
    /// The line that is not over yet.
    line: Vec<u8>,
    iterations: u64,
    verified: bool,
    hasher: DefaultHasher,
}

impl Reader {
    fn end_of_line(&mut self) {
        let iteration = self.line.starts_with(b"iteration ") && self.line.ends_with(b" ns");
        self.iterations += u64::from(iteration);
        self.verified |= self.line.ends_with(b": verified");
        if !iteration {
            self.hasher.write(&self.line);
            self.hasher.write_u8(b'\n');
        }
        self.line.clear();
    }
}

/// Reads what a machine prints.
#[derive(Clone, Default)]
pub struct Output(Arc<Mutex<Reader>>);

impl Output {
    /// What was printed since this was asked last.
    pub fn take(&self) -> Printed {
        let mut reader = self.lock();
        if !reader.line.is_empty() {
            reader.end_of_line();
        }
        let Reader { iterations, verified, hasher, .. } = std::mem::take(&mut *reader);
        Printed { iterations, verified, digest: hasher.finish() }
    }

    fn lock(&self) -> MutexGuard<'_, Reader> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut reader = self.lock();
        for &byte in bytes {
            match byte {
                b'\n' => reader.end_of_line(),
                _ => reader.line.push(byte),
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> Printed {
        let mut output = Output::default();
        output.write_all(text.as_bytes()).expect("a buffer");
        output.take()
    }

    #[test]
    fn times_are_no_part_of_what_is_printed() {
        let once = printed("iteration 1: 250 ns\nSieve: verified\n");
        assert_eq!((once.iterations, once.verified), (1, true));
        assert_eq!(once.digest, printed("iteration 1: 99 ns\nSieve: verified\n").digest);
        assert_ne!(printed("a\nb\n").digest, printed("ab\n").digest);
        assert_ne!(printed("1").digest, printed("2").digest);
    }

    #[test]
    fn every_run_is_read_for_itself() {
        let mut output = Output::default();
        output.write_all(b"half a line").expect("a buffer");
        let first = output.take();
        output.write_all(b"half a line").expect("a buffer");
        assert_eq!((first, Printed::default().iterations), (output.take(), 0));
    }
}
