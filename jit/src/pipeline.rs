//! A compilation from beginning to end, and the list of its passes.

use crate::build;
use crate::hierarchy::Hierarchy;
use crate::ir::{self, Op, Region, RegionEntry};
use crate::lower::{self, Target};
use crate::options::Options;
use crate::passes::{self, Input, Notes};
use holloway_bytecode::verify::VerifiedProgram;
use holloway_vm::compiled::{Compiled, Compiler, Entry, Model, Profile, Request};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The optimizing tier for one program.
pub struct Jit {
    program: Arc<VerifiedProgram>,
    hierarchy: Hierarchy,
    model: Model,
    target: Target,
    options: fn(crate::options::Level) -> Options,
}

/// Passes by name, in the order in which they run.
const SEQUENCE: &[&str] = &[
    "params",
    "simplify",
    "devirtualize",
    "inline",
    "params",
    "simplify",
    "blocks",
    "gvn",
    "memory",
    "conditions",
    "simplify",
    "licm",
    "gvn",
    "params",
    "simplify",
    "blocks",
    "dead",
];

impl Jit {
    /// A compiler for a program in the virtual machine that the model describes. `Err` if there is none for this machine.
    pub fn new(program: Arc<VerifiedProgram>, model: Model, verify: bool) -> Result<Jit, String> {
        let hierarchy = Hierarchy::of(&program);
        Ok(Jit { hierarchy, model, target: Target::native(verify)?, options: Options::of, program })
    }

    /// The region of a request after all passes. `look` is called with each step's name and result.
    pub fn region(
        &self,
        request: &Request,
        profile: &dyn Profile,
        notes: &mut Notes,
        look: &mut dyn FnMut(&'static str, &Region),
    ) -> Result<Region, String> {
        let options = (self.options)(request.level);
        let entry = match request.entry {
            Entry::Method => RegionEntry::Method,
            Entry::Loop(pc) => RegionEntry::Loop(pc),
        };
        let mut region = build::region(&self.program, profile, &options, request.function, entry)
            .map_err(|error| error.to_string())?;
        look("build", &region);
        let input = Input { program: &self.program, hierarchy: &self.hierarchy, profile, options: &options };
        for name in SEQUENCE {
            let Some(pass) = passes::by_name(name) else { continue };
            (pass.run)(&mut region, &input, notes);
            if options.verify
                && let Err(errors) = ir::verify(&region, &self.program)
            {
                return Err(format!("after {name}: {}", errors.join("; ")));
            }
            look(pass.name, &region);
        }
        Ok(region)
    }
}

impl Compiler for Jit {
    fn compile(&self, request: &Request, profile: &dyn Profile) -> Result<Compiled, String> {
        let mut notes = Notes::default();
        let mut steps: Vec<(&'static str, Duration)> = Vec::new();
        let mut last = Instant::now();
        let mut look = |name: &'static str, _: &Region| {
            steps.push((name, last.elapsed()));
            last = Instant::now();
        };
        let region = self.region(request, profile, &mut notes, &mut look)?;
        let start = Instant::now();
        let lowered =
            lower::lower(&region, &self.program, &self.model, request.code.0, self.target.frontend())?;
        steps.push(("lower", start.elapsed()));
        let start = Instant::now();
        let (mut compiled, _) = lower::emit(lowered, &self.target, false)?;
        steps.push(("cranelift", start.elapsed()));
        let words = |inline: &ir::Inline| self.program.functions[inline.function.index()].code.len();
        compiled.words = region.inlines.iter().map(words).sum();
        // Those that were removed on the way count, too: what was decided about receivers may be about them.
        let made = region.nodes.iter().filter_map(|node| match node.op {
            Op::New(class) | Op::Virtual(class) => Some(class),
            _ => None,
        });
        compiled.instantiates = made.collect::<BTreeSet<_>>().into_iter().collect();
        compiled.uninstantiated = notes.uninstantiated.into_iter().collect();
        compiled.notes = notes.inlining;
        compiled.steps = steps;
        Ok(compiled)
    }
}
