//! Why methods have the code that they have, or none: kept if somebody will ask (`holloway explain`).
//!
//! The last word counts: of a piece of code, why it was asked for; of what has none, what became of it last. So there is no more to
//! keep than there are methods, loops and pieces of code.

use super::request::{CodeId, Entry, Request};
use holloway_bytecode::FunctionId;
use std::collections::BTreeMap;

/// Between the level and the reason, where code is asked for.
pub const ASKED: &str = " is asked for: ";

/// What was said.
#[derive(Default, Debug)]
pub(crate) struct Reasons {
    code: BTreeMap<CodeId, String>,
    entries: BTreeMap<(FunctionId, Entry), String>,
}

impl Reasons {
    /// Code is asked for.
    pub fn asked(&mut self, request: &Request, why: String) {
        self.say(request.function, request.entry, format!("{}{ASKED}{why}", request.level.name()));
        self.code.insert(request.code, why);
    }

    /// Something else was decided about what would be entered there.
    pub fn say(&mut self, function: FunctionId, entry: Entry, what: String) {
        self.entries.insert((function, entry), what);
    }

    /// The code is gone.
    pub fn forget(&mut self, code: CodeId) {
        self.code.remove(&code);
    }

    /// Why a piece of code was asked for.
    pub fn of_code(&self, code: CodeId) -> Option<&str> {
        self.code.get(&code).map(String::as_str)
    }

    /// What was decided last about the method and its loops.
    pub fn of_method(&self, function: FunctionId) -> impl Iterator<Item = (Entry, &str)> {
        let of_method = self.entries.iter().filter(move |((of, _), _)| *of == function);
        of_method.map(|((_, entry), said)| (*entry, said.as_str()))
    }
}
