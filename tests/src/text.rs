//! Files of the repository, and examples in documents.

use std::path::{Path, PathBuf};

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("..")).to_path_buf()
}

/// All files below the root with one of these endings, ordered by path, with their texts. What is built is left out.
pub fn files(endings: &[&str]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(&root(), endings, &mut found);
    let name = |path: &Path| path.strip_prefix(root()).unwrap_or(path).to_string_lossy().into_owned();
    let mut texts: Vec<(String, String)> =
        found.iter().filter_map(|path| Some((name(path), std::fs::read_to_string(path).ok()?))).collect();
    texts.sort();
    texts
}

fn collect(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "target" && name != ".git" {
                collect(&path, endings, found);
            }
        } else if endings.iter().any(|ending| name.ends_with(ending)) {
            found.push(path);
        }
    }
}

/// A fenced block of a document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// The word behind the fence.
    pub kind: String,
    /// The line of the fence, from 1.
    pub line: usize,
    /// What is inside.
    pub text: String,
}

/// The fenced blocks of a document, in order.
pub fn blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (index, line) in document.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(kind)) => {
                open = Some(Block { kind: kind.trim().to_string(), line: index + 1, text: String::new() });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    blocks
}
