//! Source lines beside code: a heading wherever code comes from another instruction than the code before.

use super::Source;
use crate::ir::{InlineId, Region};
use crate::lower::{Origin, Part};
use holloway_bytecode::Program;
use holloway_vm::compiled::Site;
use std::fmt::Write;

/// Makes the headings of one listing.
pub struct Places<'a> {
    program: &'a Program,
    region: &'a Region,
    source: &'a Source,
    sites: &'a [Site],
    last: Option<(InlineId, u32, Part)>,
    last_line: Option<(u32, u32)>,
    cold: bool,
}

impl<'a> Places<'a> {
    /// For the code of a region, which can be left at these sites.
    pub fn new(
        program: &'a Program,
        region: &'a Region,
        source: &'a Source,
        sites: &'a [Site],
    ) -> Places<'a> {
        Places { program, region, source, sites, last: None, last_line: None, cold: false }
    }

    /// The heading of code that comes from here, if it differs from what came before. The line is shown where it changes.
    pub fn heading(&mut self, origin: Origin) -> Option<String> {
        let (inline, pc) = (origin.inline, origin.pc);
        if self.last.replace((inline, pc, origin.part)) == Some((inline, pc, origin.part)) {
            return None;
        }
        if origin.part == Part::Exits {
            return Some("; what several exits have in common".to_string());
        }
        let function = &self.program.functions[origin.function.index()];
        let mut text = format!("; {}:{pc}", function.name);
        let mut at = inline;
        while let Some((caller, call)) = self.region.inlines[at.index()].caller {
            let name = &self.program.functions[self.region.inlines[caller.index()].function.index()].name;
            let _ = write!(text, " in {name}:{call}");
            at = caller;
        }
        if let Part::Exit(number) = origin.part
            && let Some(site) = self.sites.get(number as usize)
        {
            let _ = write!(text, ": leaves at {number} ({})", site.reason);
        }
        let position = function.position(pc);
        if position.line > 0
            && self.last_line.replace((position.file, position.line)) != Some((position.file, position.line))
        {
            let _ = write!(text, "  line {}", position.line);
            if let Some(line) = (self.source)(position) {
                let _ = write!(text, " | {}", line.trim().replace(['\n', '\r'], " "));
            }
        }
        Some(text)
    }

    /// A mark where rarely executed code begins. It lies at the end, all of it.
    pub fn cold(&mut self, origin: Origin) -> Option<&'static str> {
        if !origin.cold || std::mem::replace(&mut self.cold, true) {
            return None;
        }
        self.last = None;
        self.last_line = None;
        Some("; ---- cold: rarely executed, at the end ----")
    }
}
