//! The source files of the program being compiled: their texts, the paths shown to the user, and the way from
//! byte offsets to lines and columns.
//!
//! Spans hold 32-bit byte offsets, so files are bounded ([`MAX_FILE_BYTES`], far below that). Line tables are
//! built when a position is first asked for: a program without errors never needs one.

use std::fmt;
use std::sync::OnceLock;

use crate::span::{FileId, Span};

/// Files larger than this are refused. A file of this size made of nothing but the shortest statements is checked in a few
/// seconds and a gigabyte or two.
pub const MAX_FILE_BYTES: usize = 4 << 20;

/// All source files, in the order they were added.
#[derive(Debug, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

/// One file with its lazily built line table.
#[derive(Debug)]
struct SourceFile {
    path: String,
    text: String,
    /// The byte offset at which each line begins.
    line_starts: OnceLock<Vec<u32>>,
    ascii: OnceLock<bool>,
}

/// Why the bytes of a file cannot be source text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LoadError {
    /// The file is larger than [`MAX_FILE_BYTES`].
    TooLarge {
        /// The path of the file.
        path: String,
        /// Its size.
        bytes: usize,
    },
    /// The file is not UTF-8.
    NotUtf8 {
        /// The path of the file.
        path: String,
        /// The line of the first bad byte, from 1.
        line: usize,
        /// Its column in characters, from 1.
        column: usize,
        /// The bad byte.
        byte: u8,
    },
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::TooLarge { path, bytes } => write!(
                f,
                "{path}: the file is too large: {bytes} bytes, and at most {MAX_FILE_BYTES} are allowed"
            ),
            LoadError::NotUtf8 { path, line, column, byte } => write!(
                f,
                "{path}:{line}:{column}: the byte {byte:#04x} here is not valid UTF-8; source files are UTF-8 text"
            ),
        }
    }
}

impl std::error::Error for LoadError {}

impl Sources {
    /// No files.
    pub fn new() -> Sources {
        Sources::default()
    }

    /// Adds a file whose text is known to be good, such as a module of the standard library. The text must not
    /// be longer than [`MAX_FILE_BYTES`].
    pub fn add(&mut self, path: impl Into<String>, text: impl Into<String>) -> FileId {
        let id = FileId(self.files.len() as u32);
        self.files.push(SourceFile {
            path: path.into(),
            text: text.into(),
            line_starts: OnceLock::new(),
            ascii: OnceLock::new(),
        });
        id
    }

    /// Adds a file read from outside, after checking its size and encoding.
    pub fn add_bytes(&mut self, path: impl Into<String>, bytes: Vec<u8>) -> Result<FileId, LoadError> {
        let path = path.into();
        if bytes.len() > MAX_FILE_BYTES {
            return Err(LoadError::TooLarge { path, bytes: bytes.len() });
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(self.add(path, text)),
            Err(error) => {
                let good = error.utf8_error().valid_up_to();
                let bytes = error.as_bytes();
                let before = String::from_utf8_lossy(&bytes[..good]);
                let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
                Err(LoadError::NotUtf8 {
                    path,
                    line: 1 + before.matches('\n').count(),
                    column: 1 + before[line_start..].chars().count(),
                    byte: bytes[good],
                })
            }
        }
    }

    /// How many files there are; their ids are `0..len`.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// True if there are no files.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The text of a file.
    pub fn text(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].text
    }

    /// The path of a file as shown to the user.
    pub fn path(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].path
    }

    /// The text at `span`.
    pub fn slice(&self, span: Span) -> &str {
        &self.text(span.file)[span.start as usize..span.end as usize]
    }

    /// Line and column of the start of `span`, both from 1; columns count characters.
    pub fn line_column(&self, span: Span) -> (usize, usize) {
        let line = self.line_index(span);
        let start = self.line_starts(span.file)[line] as usize;
        let before = &self.text(span.file)[start..span.start as usize];
        // Counting characters takes time on long lines; most files have nothing to count.
        let columns = if self.is_ascii(span.file) { before.len() } else { before.chars().count() };
        (line + 1, 1 + columns)
    }

    /// The bytes of the line on which `span` starts, without its line end.
    pub fn line_range(&self, span: Span) -> std::ops::Range<usize> {
        let line = self.line_index(span);
        let starts = self.line_starts(span.file);
        let text = self.text(span.file);
        let end = starts.get(line + 1).map_or(text.len(), |next| *next as usize - 1);
        starts[line] as usize..end
    }

    fn line_index(&self, span: Span) -> usize {
        self.line_starts(span.file).partition_point(|start| *start <= span.start) - 1
    }

    fn is_ascii(&self, file: FileId) -> bool {
        let file = &self.files[file.0 as usize];
        *file.ascii.get_or_init(|| file.text.is_ascii())
    }

    fn line_starts(&self, file: FileId) -> &[u32] {
        let file = &self.files[file.0 as usize];
        file.line_starts.get_or_init(|| {
            let newlines = file.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            std::iter::once(0).chain(newlines.map(|(offset, _)| offset as u32 + 1)).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let mut sources = Sources::new();
        let file = sources.add("a.hol", "let é = 1\n\n  äö x");
        let at = |offset: usize| sources.line_column(Span::new(file, offset, offset));
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(6), (1, 6));
        assert_eq!(at(11), (2, 1));
        assert_eq!(at(12), (3, 1));
        assert_eq!(at(19), (3, 6));
        assert_eq!(at(20), (3, 7));
        assert_eq!(sources.slice(Span::new(file, 4, 6)), "é");
        assert_eq!(sources.line_range(Span::new(file, 5, 6)), 0..10);
        assert_eq!(sources.line_range(Span::new(file, 11, 11)), 11..11);
        assert_eq!(sources.line_range(Span::new(file, 20, 20)), 12..20);
    }

    #[test]
    fn an_empty_file_has_one_line() {
        let mut sources = Sources::new();
        let file = sources.add("a.hol", "");
        assert_eq!(sources.line_column(Span::new(file, 0, 0)), (1, 1));
    }

    #[test]
    fn bad_bytes_are_refused_with_their_place() {
        let mut sources = Sources::new();
        let error = sources.add_bytes("a.hol", b"one\nt\xc3\xa9\xffo".to_vec()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a.hol:2:3: the byte 0xff here is not valid UTF-8; source files are UTF-8 text"
        );
        let error = sources.add_bytes("b.hol", vec![b' '; MAX_FILE_BYTES + 1]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "b.hol: the file is too large: 4194305 bytes, and at most 4194304 are allowed"
        );
        assert!(sources.is_empty());
        assert!(sources.add_bytes("c.hol", vec![0; 10]).is_ok());
    }
}
