//! Standard output of the running program: buffered in blocks if it is a file or a pipe, in lines if somebody
//! watches. When the reader goes away, the program is ended, quietly; other failures to write end it with a message.

use crate::interrupt::Interrupt;
use std::fs::File;
use std::io::{BufWriter, ErrorKind, IsTerminal, LineWriter, Result, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex};

/// Bytes of a block.
const BLOCK: usize = 64 << 10;

/// Why output could not be written, once it could not.
#[derive(Clone, Default)]
pub struct OutputFailure(Arc<Mutex<Option<std::io::Error>>>);

impl OutputFailure {
    /// The reason, if output failed.
    pub fn take(&self) -> Option<std::io::Error> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take()
    }
}

/// Opens standard output. When it fails, the reason is put into `failure`, and the program is interrupted.
pub fn standard_output(failure: OutputFailure, interrupt: Arc<Interrupt>) -> Result<Box<dyn Write + Send>> {
    let stdout = std::io::stdout();
    let raw = Watched { inner: File::from(stdout.as_fd().try_clone_to_owned()?), failure, interrupt };
    Ok(match stdout.is_terminal() {
        true => Box::new(LineWriter::new(raw)),
        false => Box::new(BufWriter::with_capacity(BLOCK, raw)),
    })
}

/// A file whose failures have consequences.
struct Watched {
    inner: File,
    failure: OutputFailure,
    interrupt: Arc<Interrupt>,
}

impl Write for Watched {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let result = self.inner.write(bytes);
        if let Err(error) = &result
            && error.kind() != ErrorKind::Interrupted
        {
            let copy =
                error.raw_os_error().map_or_else(|| error.kind().into(), std::io::Error::from_raw_os_error);
            *self.failure.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(copy);
            self.interrupt.interrupt();
        }
        result
    }

    fn flush(&mut self) -> Result<()> {
        self.inner.flush()
    }
}
