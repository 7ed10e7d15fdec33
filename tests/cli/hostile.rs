//! Files that are no programs, or are made to do harm: each gets a clear message and exit code 2, quickly.

use crate::process::{Seen, file, folder, holloway};
use holloway_lang::sources::MAX_FILE_BYTES;

/// The file must be refused, with a message that contains `part`.
fn refused(path: &str, part: &str) -> Seen {
    let mut last = None;
    for command in [&["run"][..], &["check"], &["dump", "bytecode"]] {
        let seen = holloway(&[command, &[path]].concat());
        assert_eq!((seen.code, &*seen.out), (Some(2), ""), "{command:?} {path}: {}", seen.err);
        assert!(seen.err.contains(part), "{command:?} {path}: {}", seen.err);
        assert!(seen.err.len() < 200_000, "{command:?} {path}: {} bytes of messages", seen.err.len());
        last = Some(seen);
    }
    last.expect("commands")
}

#[test]
fn files_that_cannot_be_read() {
    let folder = folder("unreadable");
    refused(&folder.join("none.hol").to_string_lossy(), "there is no such file");
    refused(&folder.to_string_lossy(), "it is a directory");
    refused("", "there is no such file");
    if std::path::Path::new("/dev/zero").exists() {
        refused("/dev/zero", "the file is too large");
    }
}

#[test]
fn files_that_are_no_text() {
    let folder = folder("no_text");
    refused(
        &file(&folder, "invalid.hol", b"fn main() {\n  \"\xff\"\n}"),
        "invalid.hol:2:4: the byte 0xff here is not valid UTF-8",
    );
    refused(&file(&folder, "nothing.hol", ""), "main");
    let mut junk = Vec::new();
    let mut state = 1_u64;
    for _ in 0..100_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        junk.push((state >> 57) as u8);
    }
    refused(&file(&folder, "junk.hol", &junk), "junk.hol:");
    junk.iter_mut().for_each(|byte| *byte |= 0x80);
    refused(&file(&folder, "binary.hol", &junk), "is not valid UTF-8");
    refused(&file(&folder, "zeros.hol", vec![0; 100_000]), "zeros.hol:");
}

#[test]
fn files_that_are_too_large() {
    let folder = folder("too_large");
    refused(&file(&folder, "large.hol", vec![b' '; MAX_FILE_BYTES + 1]), "the file is too large");
    let comment = format!("fn main() {{}} // {}", "x".repeat(MAX_FILE_BYTES - 100));
    let seen = holloway(&["run", &file(&folder, "comment.hol", comment)]);
    assert_eq!((seen.code, &*seen.err), (Some(0), ""));
}

#[test]
fn files_that_nest_deeply() {
    let folder = folder("deep");
    let depth = 100_000;
    for (name, open, middle, close) in [
        ("parens", "(", "1", ")"),
        ("blocks", "{", "", "}"),
        ("minus", "-", "1", ""),
        ("arrays", "[", "1", "]"),
        ("closures", "||", "1", ""),
        ("strings", "\"${", "1", "}\""),
        ("ifs", "if true {", "", "}"),
        ("calls", "f(", "1", ")"),
        ("sums", "1+", "1", ""),
        ("members", "", "x", ".x"),
    ] {
        let text = format!("fn main() {{ let x = {}{middle}{} }}", open.repeat(depth), close.repeat(depth));
        refused(&file(&folder, &format!("{name}.hol"), text), &format!("{name}.hol:"));
    }
    let types = format!("fn f(x: {}Int{}) {{}}\nfn main() {{}}", "Array<".repeat(depth), ">".repeat(depth));
    refused(&file(&folder, "types.hol", types), "types.hol:");
    let open = format!("fn main() {{ {}", "(".repeat(depth));
    refused(&file(&folder, "open.hol", open), "open.hol:");
}

#[test]
fn imports_that_lead_nowhere() {
    let folder = folder("imports");
    file(&folder, "a.hol", "import b\nfn f() {}");
    file(&folder, "b.hol", "import a\nfn g() {}");
    refused(
        &file(&folder, "cycle.hol", "import a\nfn main() {}"),
        "modules import each other: `a` -> `b` -> `a`",
    );
    refused(
        &file(&folder, "missing.hol", "import none.such\nfn main() {}"),
        "cannot read the module `none.such`",
    );
    refused(&file(&folder, "own.hol", "import own\nfn main() {}"), "imports itself");
    std::fs::create_dir_all(folder.join("directory.hol")).expect("a folder");
    refused(&file(&folder, "main.hol", "import directory\nfn main() {}"), "it is a directory");
    refused(&file(&folder, "library.hol", "import std.radnom\nfn main() {}"), "std.random");
    file(&folder, "binary.hol", b"\xff\xfe");
    refused(&file(&folder, "importer.hol", "import binary\nfn main() {}"), "not valid UTF-8");
}

#[test]
fn programs_that_grow_without_end() {
    let folder = folder("endless");
    let generics = "class Box<T>(let value: T) {}\n\
                    fn grow<T>(value: T, n: Int) { if n > 0 { grow(Box(value), n - 1) } }\n\
                    fn main() { grow(1, 3) }\n";
    refused(&file(&folder, "generics.hol", generics), "generics.hol:");
}

#[test]
fn messages_do_not_reach_the_terminal_raw() {
    let folder = folder("escapes");
    let seen = refused(&file(&folder, "escape.hol", "fn main() { \x1b[2J\x07 }"), "escape.hol");
    assert!(!seen.err.contains('\x1b') && !seen.err.contains('\x07'));
}
