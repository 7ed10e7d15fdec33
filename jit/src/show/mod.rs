//! Looking into compilations: what a method is after a pass, as Cranelift's function, as machine code.
//!
//! A [`Viewer`] watches one compilation and gathers the text of the stages that are wanted. [`look`] compiles for the sake of
//! looking; [`Showing`] is a compiler that shows what it compiles for a running machine, so that one sees the very code that
//! runs, made with the profile of that run.
//!
//! Texts hold no addresses: what code refers to is shown by name. So the same program gives the same text.
//!
//! | file | what it shows |
//! |---|---|
//! | [`stage`] | what can be asked for, and how that is written |
//! | `names` | addresses and offsets by name |
//! | `places` | source lines beside code |
//! | `clif` | Cranelift's function |
//! | `plan` | the order of blocks |
//! | `asm` | machine code |

pub(crate) mod asm;
mod clif;
mod names;
mod places;
mod plan;
pub mod stage;

pub use stage::{Stage, When};

use crate::ir::{self, Region};
use crate::lower::{Layout, Lowered};
use crate::pipeline::{Jit, Watch};
use holloway_bytecode::Position;
use holloway_vm::compiled::{CodeId, Compiled, Compiler, Entry, Profile, Request, Site};
use names::Names;
use places::Places;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

/// Gives the text of a source line.
pub type Source = Arc<dyn Fn(Position) -> Option<String> + Send + Sync>;

/// The number of code that is compiled to be looked at only. It is part of the code; this one is recognized easily.
pub const LOOKED_AT: CodeId = CodeId(0xc0de);

/// A compiler with what is needed to show what it does.
pub struct Looker {
    jit: Jit,
    names: Names,
    source: Source,
}

impl Looker {
    /// A compiler that can be watched.
    pub fn new(jit: Jit, source: Source) -> Looker {
        Looker { names: Names::new(jit.program(), jit.model()), jit, source }
    }

    /// Compiles, and shows these stages. Where compiling fails, the text says why and ends with the last stage before.
    pub fn look(
        &self,
        request: &Request,
        profile: &dyn Profile,
        stages: &[&Stage],
    ) -> (Result<Compiled, String>, String) {
        let mut viewer = Viewer { looker: self, request, stages, out: String::new(), runs: BTreeMap::new() };
        let result = self.jit.compile_watched(request, profile, &mut viewer);
        let mut out = viewer.out;
        if let Err(why) = &result {
            let _ = writeln!(out, "; {} stays interpreted: {why}", self.title(request));
        }
        (result, out)
    }

    /// What is compiled: method, entry, level, which version, number.
    fn title(&self, request: &Request) -> String {
        let mut title = self.jit.program().functions[request.function.index()].name.to_string();
        if let Entry::Loop(pc) = request.entry {
            let _ = write!(title, " loop@{pc}");
        }
        let marked = if request.marked { " marked" } else { "" };
        let _ = write!(title, " [{}{marked}", request.level.name());
        if request.code != LOOKED_AT {
            let _ = write!(title, " #{}", request.code.0);
        }
        title + "]"
    }
}

/// Gathers text while one compilation goes on.
struct Viewer<'a> {
    looker: &'a Looker,
    request: &'a Request,
    stages: &'a [&'a Stage],
    out: String,
    /// How often each step was taken.
    runs: BTreeMap<&'static str, u32>,
}

impl Viewer<'_> {
    /// A piece of text under its title.
    fn show(&mut self, what: std::fmt::Arguments<'_>, text: &str) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        let _ = writeln!(self.out, "; {}, {what}", self.looker.title(self.request));
        self.out.push_str(text);
    }

    fn wants(&self, wanted: impl Fn(&Stage) -> bool) -> bool {
        self.stages.iter().any(|&stage| wanted(stage))
    }

    fn places<'r>(&'r self, region: &'r Region, sites: &'r [Site]) -> Places<'r> {
        Places::new(self.looker.jit.program(), region, &self.looker.source, sites)
    }

    fn region(&self, region: &Region) -> String {
        ir::print(region, self.looker.jit.program())
    }
}

impl Watch for Viewer<'_> {
    fn step(&mut self, name: &'static str, region: &Region, time: Duration) {
        let runs = self.runs.entry(name).or_default();
        *runs += 1;
        let run = if *runs == 1 { String::new() } else { format!(" (run {runs})") };
        let all = self.wants(|stage| matches!(stage, Stage::Ir(When::All)));
        if all {
            let text = self.region(region);
            self.show(format_args!("after {name}{run}, {:.3} ms", time.as_secs_f64() * 1e3), &text);
        } else if self.wants(|stage| matches!(stage, Stage::Ir(When::After(step)) if *step == name)) {
            let text = self.region(region);
            self.show(format_args!("after {name}{run}"), &text);
        }
    }

    fn finished(&mut self, region: &Region) {
        if self.wants(|stage| matches!(stage, Stage::Ir(When::Last))) {
            let text = self.region(region);
            self.show(format_args!("after all passes"), &text);
        }
    }

    fn lowered(&mut self, region: &Region, lowered: &Lowered) {
        if self.wants(|stage| *stage == Stage::Clif) {
            let text = clif::print(lowered, &self.looker.names, self.places(region, &lowered.sites));
            self.show(format_args!("as Cranelift gets it"), &text);
        }
    }

    fn wants_code(&self) -> bool {
        self.wants(|stage| matches!(stage, Stage::Plan | Stage::Asm))
    }

    fn code(&mut self, region: &Region, compiled: &Compiled, layout: &Layout) {
        if self.wants(|stage| *stage == Stage::Plan) {
            self.show(format_args!("the order of its blocks"), &plan::print(layout.plan.as_ref()));
        }
        if !self.wants(|stage| *stage == Stage::Asm) {
            return;
        }
        let places = self.places(region, &compiled.sites);
        let text = asm::print(compiled, layout, self.request.code, &self.looker.names, places)
            .unwrap_or_else(|why| format!("; cannot be disassembled: {why}\n"));
        let calls = compiled.calls.len();
        let exits = compiled.sites.iter().filter(|site| site.reason != "call").count();
        let bytes = compiled.bytes.len();
        self.show(format_args!("{bytes} bytes, calls: {calls}, places to leave: {exits}"), &text);
    }
}

/// Something that is to be shown while a program runs: a stage of the methods whose name is wanted.
pub struct View {
    /// The stage.
    pub stage: Stage,
    /// Decides by the name of the method that is compiled.
    pub wanted: Box<dyn Fn(&str) -> bool + Send + Sync>,
}

/// A compiler that shows what it compiles.
pub struct Showing {
    looker: Looker,
    views: Vec<View>,
    show: Box<dyn Fn(&str) + Send + Sync>,
}

impl Showing {
    /// Compiles with `looker`; what the views ask for is given to `show`, a whole compilation at a time.
    pub fn new(looker: Looker, views: Vec<View>, show: Box<dyn Fn(&str) + Send + Sync>) -> Showing {
        Showing { looker, views, show }
    }
}

impl Compiler for Showing {
    fn compile(&self, request: &Request, profile: &dyn Profile) -> Result<Compiled, String> {
        let name = &self.looker.jit.program().functions[request.function.index()].name;
        let wanted = self.views.iter().filter(|view| (view.wanted)(name));
        let stages: Vec<&Stage> = wanted.map(|view| &view.stage).collect();
        if stages.is_empty() {
            return self.looker.jit.compile(request, profile);
        }
        let (result, mut text) = self.looker.look(request, profile, &stages);
        text.push('\n');
        (self.show)(&text);
        result
    }
}
