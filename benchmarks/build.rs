//! Embeds the benchmark programs, so that `holloway bench` works in any folder, and notes which compiler and which commit
//! built it, so that results can say so. Whatever of this cannot be found out is left out; it never fails a build.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    embed_programs();
    let version = Command::new(std::env::var("RUSTC").unwrap_or("rustc".into())).arg("--version").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_string());
    println!("cargo::rustc-env=HOLLOWAY_RUSTC={}", version.unwrap_or_default());
    println!("cargo::rustc-env=HOLLOWAY_COMMIT={}", commit().unwrap_or_default());
    println!("cargo::rustc-env=HOLLOWAY_PROFILE={}", std::env::var("PROFILE").unwrap_or_default());
}

/// Writes a table of (path, text) of all files below `programs`, ordered by path.
fn embed_programs() {
    println!("cargo::rerun-if-changed=programs");
    let root = Path::new(&std::env::var("CARGO_MANIFEST_DIR").expect("set by cargo")).join("programs");
    let mut files = Vec::new();
    collect(&root, &mut files);
    let name = |file: &Path| file.strip_prefix(&root).unwrap_or(file).to_string_lossy().replace('\\', "/");
    // By text, as the search for a file compares them; paths would compare folder by folder.
    files.sort_by_key(|file| name(file));
    let mut table = String::from("&[\n");
    for file in files {
        let _ = writeln!(table, "    ({:?}, include_str!({:?})),", name(&file), file.display().to_string());
    }
    table.push(']');
    let target = Path::new(&std::env::var("OUT_DIR").expect("set by cargo")).join("programs.rs");
    std::fs::write(target, table).expect("cargo's folder for generated files can be written");
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "hol") {
            files.push(path);
        }
    }
}

/// The commit that is checked out, read from the repository's own files.
fn commit() -> Option<String> {
    let git = Path::new(&std::env::var("CARGO_MANIFEST_DIR").ok()?).parent()?.join(".git");
    let head = std::fs::read_to_string(git.join("HEAD")).ok()?;
    println!("cargo::rerun-if-changed={}", git.join("HEAD").display());
    let Some(reference) = head.trim().strip_prefix("ref: ") else { return Some(head.trim().to_string()) };
    let loose = git.join(reference);
    if let Ok(commit) = std::fs::read_to_string(&loose) {
        println!("cargo::rerun-if-changed={}", loose.display());
        return Some(commit.trim().to_string());
    }
    let packed = std::fs::read_to_string(git.join("packed-refs")).ok()?;
    packed.lines().find_map(|line| line.strip_suffix(reference)?.split(' ').next().map(str::to_string))
}
