//! The standard library: modules written in the language itself, built into the compiler.
//!
//! `std.prelude` is imported everywhere. It is one module of several files, so that what belongs together can
//! stand together although its parts need each other (strings split into lists, lists throw errors). To add a
//! file to it, or another module, add a line here.

/// The name of the module that is imported everywhere.
pub const PRELUDE: &str = "std.prelude";

/// A module of the standard library: its name and its files, as (path shown to the user, text).
pub type LibraryModule = (&'static str, &'static [LibraryFile]);

/// A file of the library: the path shown to the user, and the text.
pub type LibraryFile = (&'static str, &'static str);

macro_rules! files {
    ($($path:literal),* $(,)?) => {
        &[$((concat!("std/", $path), include_str!(concat!("../../library/std/", $path)))),*]
    };
}

/// All modules, the prelude first.
pub const LIBRARY: &[LibraryModule] = &[
    (
        PRELUDE,
        files![
            "prelude/errors.hol",
            "prelude/interfaces.hol",
            "prelude/system.hol",
            "prelude/numbers.hol",
            "prelude/strings.hol",
            "prelude/builder.hol",
            "prelude/options.hol",
            "prelude/lists.hol",
            "prelude/sorting.hol",
            "prelude/maps.hol",
            "prelude/sets.hol",
            "prelude/threads.hol",
            "prelude/channels.hol",
        ],
    ),
    ("std.random", files!["random.hol"]),
    ("std.heap", files!["heap.hol"]),
    ("std.deque", files!["deque.hol"]),
    ("std.math", files!["math.hol"]),
    ("std.memory", files!["memory.hol"]),
];

/// The text of a file of the library, by the path that is shown to the user.
pub fn library_text(path: &str) -> Option<&'static str> {
    let mut files = LIBRARY.iter().flat_map(|(_, files)| *files);
    files.find(|(shown, _)| *shown == path).map(|&(_, text)| text)
}

/// The files of a module of the library.
pub fn library_module(name: &str) -> Option<&'static LibraryModule> {
    LIBRARY.iter().find(|(module, _)| *module == name)
}
