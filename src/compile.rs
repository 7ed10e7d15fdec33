//! From the path of a source file to a verified program: checking, lowering, verifying. What is wrong with the
//! source comes back as text that is ready to be printed.

use crate::report::{Stop, color};
use holloway_benchmarks::embedded::Embedded;
use holloway_benchmarks::registry::Benchmark;
use holloway_bytecode::verify::{self, VerifiedProgram};
use holloway_lang::pipeline::{self, SourceLoader};
use holloway_lang::sources::{MAX_FILE_BYTES, Sources};
use holloway_lang::{lower, render};
use std::fs::File;
use std::io::Read;
use std::sync::Arc;

/// Compiles the program whose main file is at `path`.
pub fn compile_file(path: &str) -> Result<VerifiedProgram, Stop> {
    let loader = Disk { main: path, text: read_source(path)? };
    compile(path, &loader, color()).map_err(Stop::compile)
}

/// Compiles the program whose main file `loader` knows as `path`. The errors come rendered.
pub fn compile(path: &str, loader: &dyn SourceLoader, color: bool) -> Result<VerifiedProgram, String> {
    let checked = pipeline::check(path, loader)
        .map_err(|failure| render::render(&failure.sources, &failure.diagnostics, color))?;
    let program = lower::lower(checked.program, &checked.sources)
        .map_err(|diagnostics| render::render(&checked.sources, &diagnostics, color))?;
    verify::verify(program).map_err(|errors| {
        errors.iter().map(|error| format!("error: the compiler made invalid code: {error}\n")).collect()
    })
}

/// Compiles a benchmark program from the text in this binary, for [`holloway_benchmarks::measure`].
pub fn compile_benchmark(benchmark: &Benchmark, color: bool) -> Result<Arc<VerifiedProgram>, String> {
    compile(&benchmark.file(), &Embedded, color).map(Arc::new)
}

/// The bytes of a main file. That it cannot be read, or is no text, is not an error at a place in a source file, and
/// is reported without one.
pub fn read_source(path: &str) -> Result<Vec<u8>, Stop> {
    let bytes = read(path).map_err(|reason| Stop::usage(format_args!("cannot read {path}: {reason}")))?;
    match std::str::from_utf8(&bytes) {
        Ok(_) => Ok(bytes),
        Err(_) => match Sources::new().add_bytes(path, bytes) {
            Ok(_) => unreachable!("what is not UTF-8 is refused"),
            Err(error) => Err(Stop::usage(error)),
        },
    }
}

/// Reads a file, but never more of it than a source file may have: it could be endless.
fn read(path: &str) -> Result<Vec<u8>, String> {
    let describe = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_string(),
        std::io::ErrorKind::IsADirectory => "it is a directory".to_string(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_string(),
        _ => error.to_string(),
    };
    let file = File::open(path).map_err(describe)?;
    let expected = file.metadata().map_or(0, |metadata| metadata.len()).min(MAX_FILE_BYTES as u64);
    let mut bytes = Vec::with_capacity(expected as usize + 1);
    file.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(describe)?;
    if bytes.len() > MAX_FILE_BYTES {
        return Err(format!("the file is too large: at most {MAX_FILE_BYTES} bytes are allowed"));
    }
    Ok(bytes)
}

/// Files on disk, and the main file, which was read already.
struct Disk<'a> {
    main: &'a str,
    text: Vec<u8>,
}

impl SourceLoader for Disk<'_> {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        if path == self.main { Ok(self.text.clone()) } else { read(path) }
    }
}
