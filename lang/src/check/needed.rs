//! Which files of the prelude a program needs. The prelude is imported everywhere, but most programs use little of it, and
//! an empty program must start in a few milliseconds: files that declare no name that the program mentions are left out.
//!
//! *Mention* is meant textually: any word outside of comments, whatever it stands for, so that too much may be
//! loaded but never too little. A built-in member that is a function of the prelude counts as a mention of that function. Files of the prelude
//! mention others in turn. If the program has errors, it is checked again with the whole prelude, so that messages can suggest
//! names from all of it ([`crate::pipeline`]).

use super::builtin_members::prelude_members;
use super::library::{LibraryFile, PRELUDE, library_module};
use crate::typed::FixedHasher;
use hashbrown::HashMap;

/// The files of the prelude that the texts mention, directly or not, in the order of the library.
pub fn needed_prelude_files<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'static LibraryFile> {
    let Some((_, files)) = library_module(PRELUDE) else { return Vec::new() };
    let mut declared: HashMap<&str, usize, FixedHasher> = HashMap::default();
    for (index, (_, text)) in files.iter().enumerate() {
        declared.extend(declared_names(text).map(|name| (name, index)));
    }
    for (member, function) in prelude_members() {
        if let Some(&file) = declared.get(function) {
            declared.insert(member, file);
        }
    }
    let mut needed = vec![false; files.len()];
    let mut waiting: Vec<&str> = texts.collect();
    // The errors that the system raises are mentioned by nobody.
    needed[0] = true;
    waiting.push(files[0].1);
    while let Some(text) = waiting.pop() {
        for word in text.lines().flat_map(|line| words(without_comment(line))) {
            if let Some(&file) = declared.get(word)
                && !std::mem::replace(&mut needed[file], true)
            {
                waiting.push(files[file].1);
            }
        }
    }
    files.iter().zip(needed).filter(|(_, needed)| *needed).map(|(file, _)| file).collect()
}

/// The names that a file of the library declares. Its top-level declarations begin at the beginning of a line, and
/// nothing else does (a test compares this with the parser).
pub fn declared_names(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        if !line.bytes().next()?.is_ascii_lowercase() {
            return None;
        }
        let mut words = words(line);
        let keyword = words.find(|w| !matches!(*w, "private" | "abstract" | "final"))?;
        matches!(keyword, "fn" | "class" | "interface" | "enum" | "let" | "var").then(|| words.next())?
    })
}

/// A line up to a `//` that does not stand in a string (one that might stand in a string is kept, with what follows).
fn without_comment(line: &str) -> &str {
    match line.find("//") {
        Some(at) if !line[..at].contains('"') => &line[..at],
        _ => line,
    }
}

/// The words of a text: maximal runs of letters, digits and `_`.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let part_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.as_bytes().iter().position(part_of_word)?;
        let length = rest.as_bytes()[start..].iter().take_while(|byte| part_of_word(byte)).count();
        let word = &rest[start..start + length];
        rest = &rest[start + length..];
        Some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ast::ItemKind;
    use crate::diagnostics::Diagnostics;
    use crate::sources::Sources;

    #[test]
    fn declared_names_are_those_that_the_parser_sees() {
        let (_, files) = library_module(PRELUDE).expect("there is a prelude");
        for (path, text) in files.iter() {
            let mut sources = Sources::new();
            let file = sources.add(*path, *text);
            let module = crate::parser::parse(&sources, file, &mut Diagnostics::default());
            let parsed: Vec<&str> = module
                .items
                .iter()
                .map(|item| match &item.kind {
                    ItemKind::Function(f) => &*f.name.text,
                    ItemKind::Class(c) => &c.name.text,
                    ItemKind::Interface(i) => &i.name.text,
                    ItemKind::Enum(e) => &e.name.text,
                    ItemKind::Global(g) => &g.name.text,
                })
                .collect();
            assert_eq!(declared_names(text).collect::<Vec<_>>(), parsed, "in {path}");
        }
    }

    #[test]
    fn a_small_program_needs_little() {
        let paths =
            |text| needed_prelude_files([text].into_iter()).iter().map(|(path, _)| *path).collect::<Vec<_>>();
        assert!(!paths("fn main() {}").contains(&"std/prelude/lists.hol"));
        assert!(paths("fn main() { List<Int>() }").contains(&"std/prelude/lists.hol"));
        assert!(paths("fn main() { s.split(t) }").contains(&"std/prelude/lists.hol"), "through stringSplit");
    }
}
