//! A compilation from beginning to end, and the list of its passes.

use crate::build;
use crate::hierarchy::Hierarchy;
use crate::instrument;
use crate::ir::{self, Op, Region, RegionEntry, Shape, Terminator};
use crate::lower::{self, Layout, Lowered, Target};
use crate::options::Options;
use crate::passes::{self, Input, Notes};
use holloway_bytecode::verify::VerifiedProgram;
use holloway_profilers::BranchId;
use holloway_vm::adaptive::watcher::Bias;
use holloway_vm::compiled::{Compiled, Compiler, Entry, Model, Profile, Request};
use holloway_vm::profiling::Instrumented;
use holloway_vm::timer::thread_time;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// The optimizing tier for one program.
pub struct Jit {
    program: Arc<VerifiedProgram>,
    hierarchy: Hierarchy,
    model: Model,
    /// For the versions of code that tell of blocks, if there are two.
    marked: Option<Model>,
    target: Target,
    options: fn(crate::options::Level) -> Options,
}

/// Looks on while a region is compiled.
pub trait Watch {
    /// A step (the building of the region, or a pass) took so long; this is its result.
    fn step(&mut self, name: &'static str, region: &Region, time: Duration);

    /// All passes are done.
    fn finished(&mut self, region: &Region);

    /// The region became a function of Cranelift's.
    fn lowered(&mut self, region: &Region, lowered: &Lowered);

    /// Is [`Watch::code`] of interest.
    fn wants_code(&self) -> bool;

    /// The function became machine code.
    fn code(&mut self, region: &Region, compiled: &Compiled, layout: &Layout);
}

/// Nobody.
impl Watch for () {
    fn step(&mut self, _: &'static str, _: &Region, _: Duration) {}

    fn finished(&mut self, _: &Region) {}

    fn lowered(&mut self, _: &Region, _: &Lowered) {}

    fn wants_code(&self) -> bool {
        false
    }

    fn code(&mut self, _: &Region, _: &Compiled, _: &Layout) {}
}

/// The step before the first pass.
const BUILD: &str = "build";
/// The step after the last, if something is to be counted.
const INSTRUMENT: &str = "instrument";

/// The names of the steps of which a region comes, each once, in the order in which they run first.
pub fn steps() -> Vec<&'static str> {
    let mut names = vec![BUILD];
    for pass in SEQUENCE.iter().filter_map(|name| passes::by_name(name)) {
        if !names.contains(&pass.name) {
            names.push(pass.name);
        }
    }
    names
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
    "escape",
    "params",
    "simplify",
    "inversion",
    "memory",
    "gvn",
    "memory",
    "conditions",
    "simplify",
    "predication",
    "neighbours",
    "licm",
    "gvn",
    "peeling",
    "params",
    "simplify",
    "blocks",
    "select",
    "params",
    "simplify",
    "blocks",
    "dead",
];

/// What runs after a pass that changed something: passes that few regions need, which leave work to others.
const AFTER: &[(&str, &[&str])] = &[
    ("inversion", &["params", "gvn", "memory", "params"]),
    ("neighbours", &["gvn", "conditions", "simplify"]),
    (
        "peeling",
        &[
            "params",
            "simplify",
            "blocks",
            "memory",
            "gvn",
            "params",
            "conditions",
            "simplify",
            "blocks",
            "predication",
            "licm",
            "gvn",
        ],
    ),
];

impl Jit {
    /// A compiler for a program in the virtual machine that the model describes. `Err` if there is none for this machine.
    pub fn new(program: Arc<VerifiedProgram>, model: Model, verify: bool) -> Result<Jit, String> {
        let hierarchy = Hierarchy::of(&program);
        let (marked, target) = (model.marked(), Target::native(verify)?);
        Ok(Jit { hierarchy, model, marked, target, options: Options::of, program })
    }

    /// The region of a request after all passes. `look` is called with each step's name and result.
    pub fn region(
        &self,
        request: &Request,
        profile: &dyn Profile,
        notes: &mut Notes,
        look: &mut dyn FnMut(&'static str, &Region),
    ) -> Result<Region, String> {
        let model = self.model_for(request);
        let mark_calls = model.instrumentation.marks_calls();
        let mark_blocks = model.blocks.clone();
        let options = Options { mark_calls, mark_blocks, ..(self.options)(request.level) };
        let entry = match request.entry {
            Entry::Method => RegionEntry::Method,
            Entry::Loop(pc) => RegionEntry::Loop(pc),
        };
        let mut region = build::region(&self.program, profile, &options, request.function, entry)
            .map_err(|error| error.to_string())?;
        look(BUILD, &region);
        let input = Input { program: &self.program, hierarchy: &self.hierarchy, profile, options: &options };
        let mut run = |name: &str, region: &mut Region| -> Result<bool, String> {
            let Some(pass) = passes::by_name(name) else { return Ok(false) };
            let changed = (pass.run)(region, &input, notes);
            self.verify(region, &options, name)?;
            look(pass.name, region);
            Ok(changed)
        };
        for name in SEQUENCE {
            if run(name, &mut region)?
                && let Some((_, others)) = AFTER.iter().find(|after| after.0 == *name)
            {
                for other in *others {
                    run(other, &mut region)?;
                }
            }
        }
        Ok(region)
    }
}

impl Jit {
    /// The program.
    pub fn program(&self) -> &Arc<VerifiedProgram> {
        &self.program
    }

    /// Looks for mistakes of a step, if the options ask for it.
    fn verify(&self, region: &Region, options: &Options, step: &str) -> Result<(), String> {
        match options.verify {
            true => ir::verify(region, &self.program)
                .map_err(|errors| format!("after {step}: {}", errors.join("; "))),
            false => Ok(()),
        }
    }

    /// Puts in what profilers want to count, if they want anything; and the region's shape, if that is known afterwards.
    fn instrument(
        &self,
        region: &mut Region,
        request: &Request,
        look: &mut dyn FnMut(&'static str, &Region),
        times: &mut instrument::Times,
    ) -> Result<(Option<Instrumented>, Option<Shape>), String> {
        let model = self.model_for(request);
        let wanted = &model.instrumentation;
        let Some(counters) = model.counters.as_ref().filter(|_| wanted.is_needed()) else {
            return Ok((None, None));
        };
        let receivers =
            if model.watched { instrument::receivers::outcomes(region, &self.program) } else { Vec::new() };
        let (mut instrumented, shape) =
            instrument::run(region, &self.program, wanted, counters, request.code.0, times)?;
        if let Some(paths) = &mut instrumented.paths {
            paths.receivers = receivers;
        }
        self.verify(region, &(self.options)(request.level), INSTRUMENT)?;
        look(INSTRUMENT, region);
        Ok((Some(instrumented), shape))
    }

    /// The virtual machine.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The same for one of the two versions of code.
    pub fn model_for(&self, request: &Request) -> &Model {
        self.marked.as_ref().filter(|_| request.marked).unwrap_or(&self.model)
    }

    /// Compiles while somebody looks on.
    pub fn compile_watched(
        &self,
        request: &Request,
        profile: &dyn Profile,
        watch: &mut dyn Watch,
    ) -> Result<Compiled, String> {
        let mut notes = Notes::default();
        let mut steps: Vec<(&'static str, Duration)> = Vec::new();
        let mut last = thread_time();
        let mut look = |name: &'static str, region: &Region| {
            let time = thread_time().saturating_sub(last);
            steps.push((name, time));
            watch.step(name, region, time);
            last = thread_time();
        };
        let mut region = self.region(request, profile, &mut notes, &mut look)?;
        let mut times = instrument::Times::default();
        let (mut instrumented, shape) = self.instrument(&mut region, request, &mut look, &mut times)?;
        watch.finished(&region);
        let start = thread_time();
        let (code, frontend) = (request.code.0, self.target.frontend());
        let model = self.model_for(request);
        let shape = shape.unwrap_or_else(|| region.shape());
        let lowered = lower::lower(&region, shape, &self.program, model, code, frontend, profile.order())?;
        steps.push(("lower", thread_time().saturating_sub(start)));
        watch.lowered(&region, &lowered);
        let start = thread_time();
        let branches = self.model.instrumentation.branches;
        let (mut compiled, layout) = lower::emit(lowered, &self.target, watch.wants_code() || branches)?;
        steps.push(("cranelift", thread_time().saturating_sub(start)));
        let words = |inline: &ir::Inline| self.program.functions[inline.function.index()].code.len();
        compiled.words = region.inlines.iter().map(words).sum();
        // Those that were removed on the way count, too: what was decided about receivers may be about them.
        let made = region.nodes.iter().filter_map(|node| match node.op {
            Op::New(class) | Op::Virtual(class) => Some(class),
            _ => None,
        });
        compiled.instantiates = made.collect::<BTreeSet<_>>().into_iter().collect();
        compiled.uninstantiated = notes.uninstantiated.into_iter().collect();
        compiled.decisions = notes.inlining;
        compiled.decisions.extend(notes.absent);
        if self.model.watched {
            compiled.biases = biases(&region);
            compiled.site_biases = instrument::receivers::biases(&region, &self.program);
        }
        if let (true, Some(instrumented), Some(layout)) = (branches, &mut instrumented, &layout) {
            instrumented.branches = Some(instrument::branches::table(&region, layout, &compiled)?);
        }
        compiled.instrumented = instrumented.map(Box::new);
        // Parts of the step in which code is put in.
        steps.extend(times.passes);
        compiled.steps = steps;
        if let Some(layout) = layout.filter(|_| watch.wants_code()) {
            watch.code(&region, &compiled, &layout);
        }
        Ok(compiled)
    }
}

impl Compiler for Jit {
    fn compile(&self, request: &Request, profile: &dyn Profile) -> Result<Compiled, String> {
        self.compile_watched(request, profile, &mut ())
    }
}

/// The branches of the source that a region has, with how often each way was taken when last seen.
fn biases(region: &Region) -> Vec<Bias> {
    together(region.blocks.iter().filter_map(|block| match &block.end {
        Terminator::Branch { source: Some(source), counts: [then, otherwise], .. } => {
            let arms = if source.negated { vec![*otherwise, *then] } else { vec![*then, *otherwise] };
            Some((region.branch_of(source), arms))
        }
        Terminator::Switch { source, counts, .. } => Some((region.branch_of(source), counts.clone())),
        _ => None,
    }))
}

/// Each branch once. A method that is inlined in several places may go one way in one of them and another in the next; what is compared
/// with it later tells of all, and so does this.
fn together(branches: impl Iterator<Item = (BranchId, Vec<u32>)>) -> Vec<Bias> {
    let mut sums: BTreeMap<BranchId, Vec<u32>> = BTreeMap::new();
    for (branch, arms) in branches {
        let sum = sums.entry(branch).or_default();
        sum.resize(sum.len().max(arms.len()), 0);
        sum.iter_mut().zip(arms).for_each(|(sum, count)| *sum = sum.saturating_add(count));
    }
    sums.into_iter().map(|(branch, arms)| Bias { branch, arms }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use holloway_profilers::MethodId;

    #[test]
    fn a_branch_in_several_places_counts_once() {
        let branch = |position| BranchId { method: MethodId(13), position };
        let found = together(
            [(branch(4), vec![5, 0]), (branch(0), vec![7, 1, 2]), (branch(4), vec![1, u32::MAX])].into_iter(),
        );
        let expected = [(branch(0), vec![7, 1, 2]), (branch(4), vec![6, u32::MAX])];
        assert_eq!(found, expected.map(|(branch, arms)| Bias { branch, arms }));
    }
}
