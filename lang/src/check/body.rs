//! The state in which one body is checked: its locals, the closures around the current place, the names in scope,
//! and what is known about variables beyond their types.
//!
//! A *frame* is a body of code with locals of its own: the function, or a closure inside it. A *variable* is what a
//! name stands for; it lives in the frame that declares it, and inner frames reach it by capturing it, frame by
//! frame ([`BodyChecker::local_of`]).
//!
//! What is known about variables beyond their types is [`BodyChecker::narrowed`]; [`super::narrowing`] has its rules.

use std::ops::{Deref, DerefMut};

use super::Checker;
use super::narrowing::Narrowed;
use super::tables::*;
use super::variables::VariableFacts;
use crate::ast::Name;
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{Body, ClassIndex, Expr, FixedHasher, Local, LocalIndex, LoopIndex, Ty};
use hashbrown::HashMap;

/// A variable of the source text, numbered over the function and its closures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct VarId(pub usize);

/// How a variable came to be, which decides whether it may be assigned.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum VariableKind {
    /// `let`
    Let,
    /// `var`
    Var,
    /// A parameter.
    Parameter,
    /// The variable of a `for`.
    Loop,
    /// Bound by a pattern, `if let`, `while let` or `catch`.
    Bound,
    /// `this`
    This,
}

/// A variable.
pub(super) struct Variable {
    pub name: Box<str>,
    pub kind: VariableKind,
    /// Declared or inferred type.
    pub ty: Ty,
    pub span: Span,
    /// The frame that declares it.
    pub frame: usize,
    /// Where it is in that frame.
    pub local: LocalIndex,
    /// A closure mentions it.
    pub captured: bool,
    /// Where it is assigned.
    pub assigned: Vec<u32>,
}

/// What a body gives back.
#[derive(Clone, Debug)]
pub(super) enum ResultOf {
    /// A value of this type.
    Known(Ty),
    /// A closure's result that follows from its body; types of its `return`s so far.
    Inferred(Vec<(Ty, Span)>),
    /// An initialiser gives its value at its end only: there is no function that `return` could leave.
    Initialiser,
}

/// A loop around the current place.
pub(super) struct LoopState {
    pub id: LoopIndex,
    pub label: Option<Box<str>>,
    /// Is it a `loop`, which may give a value; then what is expected of it.
    pub value: Option<super::expected::Expected>,
    /// Types of the values of its `break`s; `Unit` for those without.
    pub breaks: Vec<(Ty, Span)>,
    /// What is known where its `break`s lead.
    pub narrowed_after: Option<Narrowed>,
}

/// A body with locals of its own.
pub(super) struct Frame {
    pub locals: Vec<Local>,
    /// Which of them are variables, in their order.
    pub variables: Vec<(LocalIndex, VarId)>,
    pub loop_count: u32,
    pub loops: Vec<LoopState>,
    pub result: ResultOf,
    /// The variable, its local in the frame outside, its local here.
    pub captures: Vec<(VarId, LocalIndex, LocalIndex)>,
}

/// What `this` is at a place.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum This {
    /// The object.
    Variable(VarId),
    /// There is none: a function at the top level.
    None,
    /// There is none: a static member.
    Static,
    /// There is none yet: the initialiser of a field.
    Early,
}

/// Checks one body.
pub(super) struct BodyChecker<'c, 'a> {
    pub checker: &'c mut Checker<'a>,
    pub scope: TypeScope,
    pub owner: Owner,
    pub this: This,
    /// The class whose `init` this is.
    pub init_of: Option<ClassIndex>,
    pub facts: VariableFacts,
    pub variables: Vec<Variable>,
    /// Names in scope, inner ones last.
    names: Vec<(Box<str>, VarId)>,
    /// For each of them, where it is in `names`, in ascending order.
    places: HashMap<Box<str>, Vec<usize>, FixedHasher>,
    /// Where in `names` the innermost block begins.
    block_start: usize,
    pub frames: Vec<Frame>,
    pub narrowed: Narrowed,
}

impl<'a> Deref for BodyChecker<'_, 'a> {
    type Target = Checker<'a>;

    fn deref(&self) -> &Checker<'a> {
        self.checker
    }
}

impl DerefMut for BodyChecker<'_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.checker
    }
}

impl<'c, 'a> BodyChecker<'c, 'a> {
    /// A body seen from `scope` inside `owner`, which gives `result`.
    pub fn new(
        checker: &'c mut Checker<'a>,
        scope: TypeScope,
        owner: Owner,
        result: ResultOf,
    ) -> BodyChecker<'c, 'a> {
        BodyChecker {
            checker,
            scope,
            owner,
            this: This::None,
            init_of: None,
            facts: VariableFacts::default(),
            variables: Vec::new(),
            names: Vec::new(),
            places: HashMap::default(),
            block_start: 0,
            frames: vec![Frame::new(result)],
            narrowed: Vec::new(),
        }
    }

    /// The frame of the current place.
    pub fn frame(&mut self) -> &mut Frame {
        // There is one from the start, and closures take away only what they added.
        self.frames.last_mut().expect("a body has a frame")
    }

    /// The finished body of the outermost frame.
    pub fn into_body(mut self, expr: Expr) -> Body {
        let frame = self.frame();
        Body { locals: std::mem::take(&mut frame.locals), loops: frame.loop_count, expr }
    }

    /// Checks something in a scope of its own.
    pub fn scoped<R>(&mut self, inside: impl FnOnce(&mut Self) -> R) -> R {
        let (mark, block) = (self.names.len(), self.block_start);
        self.block_start = mark;
        let result = inside(self);
        for (name, _) in self.names.drain(mark..) {
            self.places.get_mut(&name).and_then(Vec::pop);
        }
        self.block_start = block;
        result
    }

    /// A local that no name stands for.
    pub fn hidden_local(&mut self, name: &str, ty: Ty, span: Span) -> LocalIndex {
        let frame = self.frame();
        let local = LocalIndex(frame.locals.len() as u32);
        frame.locals.push(Local { name: name.into(), ty, celled: false, span });
        local
    }

    /// Makes a local for a variable without entering its name; see [`BodyChecker::enter`].
    pub fn make_variable(&mut self, name: &Name, kind: VariableKind, ty: Ty) -> (VarId, LocalIndex) {
        let facts = self.facts.of(name);
        let local = self.hidden_local(&name.text, ty, name.span);
        let celled = facts.captured && !facts.assigned.is_empty();
        let frame = self.frames.len() - 1;
        self.frames[frame].locals[local.index()].celled = celled;
        let variable = VarId(self.variables.len());
        self.frames[frame].variables.push((local, variable));
        self.variables.push(Variable {
            name: name.text.clone(),
            kind,
            ty,
            span: name.span,
            frame,
            local,
            captured: facts.captured,
            assigned: facts.assigned,
        });
        (variable, local)
    }

    /// Makes `this`, the first local of a method.
    pub fn declare_this(&mut self, ty: Ty, span: Span) -> LocalIndex {
        let name = Name { text: "this".into(), span };
        let local = self.hidden_local("this", ty, span);
        let variable = VarId(self.variables.len());
        self.this = This::Variable(variable);
        self.frame().variables.push((local, variable));
        self.variables.push(Variable {
            name: name.text,
            kind: VariableKind::This,
            ty,
            span,
            frame: 0,
            local,
            captured: false,
            assigned: Vec::new(),
        });
        local
    }

    /// Makes a name stand for a variable from here to the end of the block.
    pub fn enter(&mut self, variable: VarId) {
        let name = self.variables[variable.0].name.clone();
        if &*name == "_" || name.is_empty() {
            return;
        }
        let places = self.places.entry(name.clone()).or_default();
        let earlier = places.get(places.partition_point(|place| *place < self.block_start)).copied();
        places.push(self.names.len());
        if let Some(earlier) = earlier {
            let (_, earlier) = self.names[earlier];
            let (first, span) = (self.variables[earlier.0].span, self.variables[variable.0].span);
            self.report(
                Diagnostic::new(
                    span,
                    format!("`{name}` is declared twice in this block"),
                    "the second declaration",
                )
                .related(first, "first declared here")
                .help("assign to the first one, or choose another name; an inner block may reuse a name"),
            );
        }
        self.names.push((name, variable));
    }

    /// Declares a variable.
    pub fn declare_variable(&mut self, name: &Name, kind: VariableKind, ty: Ty) -> LocalIndex {
        let (variable, local) = self.make_variable(name, kind, ty);
        self.enter(variable);
        local
    }

    /// The variable that a name stands for.
    pub fn variable(&self, name: &str) -> Option<VarId> {
        let place = *self.places.get(name)?.last()?;
        Some(self.names[place].1)
    }

    /// The names of the variables in scope, for suggestions.
    pub fn variable_names(&self) -> Vec<Box<str>> {
        self.names.iter().map(|(name, _)| name.clone()).collect()
    }

    /// The local of a variable in the current frame, capturing it through all frames between.
    pub fn local_of(&mut self, variable: VarId) -> LocalIndex {
        let (home, mut local) = (self.variables[variable.0].frame, self.variables[variable.0].local);
        for frame in home + 1..self.frames.len() {
            let captured = self.frames[frame].captures.iter().find(|(known, ..)| *known == variable);
            local = match captured {
                Some((_, _, inner)) => *inner,
                None => {
                    let copy = self.frames[frame - 1].locals[local.index()].clone();
                    let inner = LocalIndex(self.frames[frame].locals.len() as u32);
                    self.frames[frame].locals.push(copy);
                    self.frames[frame].captures.push((variable, local, inner));
                    inner
                }
            };
        }
        local
    }
}

impl Frame {
    /// A frame without locals.
    pub fn new(result: ResultOf) -> Frame {
        Frame {
            locals: Vec::new(),
            variables: Vec::new(),
            loop_count: 0,
            loops: Vec::new(),
            result,
            captures: Vec::new(),
        }
    }
}
