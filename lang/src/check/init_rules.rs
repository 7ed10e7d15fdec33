//! The rules of construction, checked on the typed body of `init`:
//!
//! * every field of the class is assigned on every way to the end, `let` fields exactly once;
//! * `super(…)` is called exactly once, after that;
//! * before both, `this` serves only to assign fields and to read those already assigned.
//!
//! A forward flow analysis over the tree. The *state* at a place: which fields are assigned on every way to it
//! (`sure`), which on some way (`maybe`), and the same for `super(…)`. Ways that meet are joined: `sure` by
//! intersection, `maybe` by union. `None` is the state of a place that cannot be reached. `sure` only grows, so a
//! loop's body can be entered with the state before the loop; `maybe` gets what the body assigns in advance, so that
//! one pass over a loop is enough.

use super::body::BodyChecker;
use super::show::listed;
use super::visit::for_own_exprs;
use crate::ast;
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{ClassIndex, Expr, ExprKind, LocalIndex, LoopIndex, Stmt, StmtKind};

/// `this` is the first local of a constructor.
const THIS: LocalIndex = LocalIndex(0);

#[derive(Clone)]
struct State {
    sure: Vec<bool>,
    maybe: Vec<bool>,
    super_sure: bool,
    super_maybe: bool,
}

type Flow = Option<State>;

struct Analysis {
    /// Number of the class's first own field.
    first: usize,
    names: Vec<Box<str>>,
    mutable: Vec<bool>,
    places: Vec<Span>,
    has_super: bool,
    /// What flows out of loops by `break`.
    breaks: Vec<(LoopIndex, Flow)>,
    found: Vec<Diagnostic>,
}

impl BodyChecker<'_, '_> {
    /// Checks the constructor of a class.
    pub(super) fn check_init_rules(
        &mut self,
        class: ClassIndex,
        body: &mut Expr,
        written: Option<&ast::Function>,
        place: Span,
    ) {
        let info = self.class(class);
        let mut analysis = Analysis {
            first: info.inherited_fields,
            names: info.fields.iter().map(|field| field.name.text.clone()).collect(),
            mutable: info.fields.iter().map(|field| field.mutable).collect(),
            places: info.fields.iter().map(|field| field.name.span).collect(),
            has_super: info.superclass.is_some(),
            breaks: Vec::new(),
            found: Vec::new(),
        };
        let fields = analysis.names.len();
        let mut state = Some(State {
            sure: vec![false; fields],
            maybe: vec![false; fields],
            super_sure: false,
            super_maybe: false,
        });
        analysis.expr(body, &mut state);
        analysis.at_end(&state, written.is_some(), place);
        // All of these are about something not done, which may have been done in text that could not be read.
        for diagnostic in analysis.found {
            self.report_missing(diagnostic);
        }
    }
}

impl Analysis {
    fn report(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    fn missing(&self, state: &State) -> Vec<Box<str>> {
        let fields = self.names.iter().zip(&state.sure);
        fields.filter(|(_, sure)| !**sure).map(|(name, _)| name.clone()).collect()
    }

    /// May `this` be used freely.
    fn is_complete(&self, state: &State) -> bool {
        (state.super_sure || !self.has_super) && state.sure.iter().all(|sure| *sure)
    }

    fn at_end(&mut self, state: &Flow, written: bool, place: Span) {
        let Some(state) = state else { return };
        let missing = self.missing(state);
        if let Some(first) = missing.first() {
            let position = self.names.iter().position(|name| name == first).unwrap_or(0);
            let some_way = state.maybe[position];
            let message = match (written, some_way) {
                (true, true) => format!("`init` does not assign {} on every way", listed(&missing)),
                (true, false) => format!("`init` does not assign {}", listed(&missing)),
                (false, _) => format!("{} never assigned: this class needs an `init`", are(&missing)),
            };
            let diagnostic = Diagnostic::new(place, message, "an object would be made with unset fields")
                .related(self.places[position], format!("`{first}` is declared here"))
                .help(match written {
                    true => {
                        "assign every field before the end of `init`, or give it an initialiser".to_string()
                    }
                    false => {
                        format!("write `init(…) {{ this.{first} = … }}`, or give the field an initialiser")
                    }
                });
            self.report(diagnostic);
        } else if self.has_super && !state.super_sure && state.super_maybe {
            self.report(
                Diagnostic::new(
                    place,
                    "`super(…)` is not called on every way",
                    "the superclass may stay unset",
                )
                .help("call it once, outside of `if` and loops"),
            );
        }
    }

    /// A use of `this` that needs the whole object.
    fn use_this(&mut self, state: &Flow, span: Span, what: &str) {
        let Some(state) = state else { return };
        if self.is_complete(state) {
            return;
        }
        let missing = self.missing(state);
        let (why, help) = match missing.is_empty() {
            false => (format!("{} not assigned yet", are(&missing)), "assign all fields first"),
            true => ("`super(…)` was not called yet".to_string(), "call `super(…)` first"),
        };
        let message = format!("{what} before the object is complete");
        self.report(Diagnostic::new(span, message, why).help(help));
    }

    fn exprs(&mut self, exprs: &mut [Expr], state: &mut Flow) {
        exprs.iter_mut().for_each(|expr| self.expr(expr, state));
    }

    fn expr(&mut self, expr: &mut Expr, state: &mut Flow) {
        let span = expr.span;
        match &mut expr.kind {
            ExprKind::Local(THIS) => self.use_this(state, span, "`this` is used"),
            ExprKind::Closure(closure) => {
                if closure.captures.iter().any(|(outer, _)| *outer == THIS) {
                    self.use_this(state, span, "a closure uses `this`");
                }
            }
            ExprKind::Field(object, field) => {
                if let ExprKind::Local(THIS) = object.kind {
                    self.read_field(*field, state, span);
                } else {
                    self.expr(object, state);
                }
            }
            ExprKind::SuperInit(_, args) => {
                self.exprs(args, state);
                self.call_super(state, span);
            }
            ExprKind::Block(stmts, value) => {
                stmts.iter_mut().for_each(|stmt| self.stmt(stmt, state));
                if let Some(value) = value {
                    self.expr(value, state);
                }
            }
            ExprKind::And(left, right) | ExprKind::Or(left, right) => {
                self.expr(left, state);
                let short = state.clone();
                self.expr(right, state);
                *state = join(short, state.take());
            }
            ExprKind::If(cond, then, otherwise) => {
                self.expr(cond, state);
                self.branches(then, otherwise.as_deref_mut(), state);
            }
            ExprKind::IfNonNull { value, then, otherwise, .. } => {
                self.expr(value, state);
                self.branches(then, otherwise.as_deref_mut(), state);
            }
            ExprKind::Match { scrutinee, arms, .. } => {
                self.expr(scrutinee, state);
                let mut after = None;
                for arm in arms {
                    let mut taken = state.clone();
                    if let Some(guard) = &mut arm.guard {
                        self.expr(guard, &mut taken);
                        *state = join(state.take(), taken.clone());
                    }
                    self.expr(&mut arm.body, &mut taken);
                    after = join(after, taken);
                }
                *state = after;
            }
            ExprKind::Loop(id, body) => {
                self.foresee(body, state);
                self.breaks.push((*id, None));
                self.expr(body, state);
                *state = self.breaks.pop().and_then(|(_, broken)| broken);
            }
            ExprKind::Try(body, catches) => {
                let mut caught = state.clone();
                self.expr(body, state);
                self.foresee(body, &mut caught);
                for catch in catches {
                    let mut taken = caught.clone();
                    self.expr(&mut catch.body, &mut taken);
                    *state = join(state.take(), taken);
                }
            }
            ExprKind::Return(value) => {
                if let Some(value) = value {
                    self.expr(value, state);
                }
                let at = state.take();
                self.at_end(&at, true, span);
            }
            ExprKind::Throw(value) => {
                self.expr(value, state);
                *state = None;
            }
            ExprKind::Break(id, value) => {
                if let Some(value) = value {
                    self.expr(value, state);
                }
                let id = *id;
                let flow = state.take();
                if let Some((_, broken)) = self.breaks.iter_mut().rev().find(|(known, _)| *known == id) {
                    *broken = join(broken.take(), flow);
                }
            }
            ExprKind::Continue(_) => *state = None,
            _ => super::visit::children(expr, &mut |child| self.expr(child, state)),
        }
    }

    fn branches(&mut self, then: &mut Expr, otherwise: Option<&mut Expr>, state: &mut Flow) {
        let mut other = state.clone();
        self.expr(then, state);
        if let Some(otherwise) = otherwise {
            self.expr(otherwise, &mut other);
        }
        *state = join(state.take(), other);
    }

    fn stmt(&mut self, stmt: &mut Stmt, state: &mut Flow) {
        let span = stmt.span;
        match &mut stmt.kind {
            StmtKind::Let(_, value)
            | StmtKind::Expr(value)
            | StmtKind::SetLocal(_, value)
            | StmtKind::SetGlobal(_, value) => self.expr(value, state),
            StmtKind::SetField(object, field, value) => {
                let own = matches!(object.kind, ExprKind::Local(THIS));
                if !own {
                    self.expr(object, state);
                }
                self.expr(value, state);
                if own {
                    self.assign_field(*field, state, span);
                }
            }
            StmtKind::SetIndex(object, index, value) => {
                self.expr(object, state);
                self.expr(index, state);
                self.expr(value, state);
            }
            StmtKind::While(id, cond, body) => {
                self.foresee(cond, state);
                self.foresee(body, state);
                self.expr(cond, state);
                self.repeated(*id, body, state);
            }
            StmtKind::WhileNonNull { id, value, body, .. } => {
                self.foresee(value, state);
                self.foresee(body, state);
                self.expr(value, state);
                self.repeated(*id, body, state);
            }
            StmtKind::ForRange { id, from, to, body, .. } => {
                self.expr(from, state);
                self.expr(to, state);
                self.foresee(body, state);
                self.repeated(*id, body, state);
            }
            StmtKind::ForEach { id, iterable, body, .. } => {
                self.expr(iterable, state);
                self.foresee(body, state);
                self.repeated(*id, body, state);
            }
        }
    }

    /// A body that runs any number of times.
    fn repeated(&mut self, id: LoopIndex, body: &mut Expr, state: &mut Flow) {
        let mut inside = state.clone();
        self.breaks.push((id, None));
        self.expr(body, &mut inside);
        let broken = self.breaks.pop().and_then(|(_, broken)| broken);
        *state = join(state.take(), broken);
    }

    /// Adds what `body` may do to what may have happened, for code that may run after any part of it.
    fn foresee(&mut self, body: &mut Expr, state: &mut Flow) {
        let Some(state) = state else { return };
        let (first, count) = (self.first, self.names.len());
        for_own_exprs(body, &mut |expr| match &expr.kind {
            ExprKind::SuperInit(..) => state.super_maybe = true,
            ExprKind::Block(stmts, _) => {
                for stmt in stmts {
                    if let StmtKind::SetField(object, field, _) = &stmt.kind
                        && matches!(object.kind, ExprKind::Local(THIS))
                        && (first..first + count).contains(field)
                    {
                        state.maybe[*field - first] = true;
                    }
                }
            }
            _ => {}
        });
    }

    fn read_field(&mut self, field: usize, state: &Flow, span: Span) {
        let Some(known) = state else { return };
        match field.checked_sub(self.first) {
            Some(own) if own < self.names.len() => {
                if !known.sure[own] {
                    let message = format!("the field `{}` is read before it is assigned", self.names[own]);
                    let label = if known.maybe[own] {
                        "not assigned on every way to here"
                    } else {
                        "not assigned yet"
                    };
                    self.report(
                        Diagnostic::new(span, message, label).related(self.places[own], "declared here"),
                    );
                }
            }
            _ => self.use_this(state, span, "an inherited field is read"),
        }
    }

    fn assign_field(&mut self, field: usize, state: &mut Flow, span: Span) {
        let own = match field.checked_sub(self.first) {
            Some(own) if own < self.names.len() => own,
            _ => return self.use_this(state, span, "an inherited field is assigned"),
        };
        let Some(known) = state else { return };
        if known.maybe[own] && !self.mutable[own] {
            let message = format!("the field `{}` may be assigned already", self.names[own]);
            let diagnostic = Diagnostic::new(span, message, "a `let` field is assigned once")
                .related(self.places[own], "declared with `let`")
                .help("declare it with `var`, or assign it on one way only, outside of loops");
            known.sure[own] = true;
            return self.report(diagnostic);
        }
        (known.sure[own], known.maybe[own]) = (true, true);
    }

    fn call_super(&mut self, state: &mut Flow, span: Span) {
        let Some(known) = state else { return };
        let missing = self.missing(known);
        let twice = known.super_maybe;
        (known.super_sure, known.super_maybe) = (true, true);
        if twice {
            self.report(
                Diagnostic::new(span, "`super(…)` may be called already", "called again")
                    .help("call it once, outside of `if` and loops"),
            );
        } else if !missing.is_empty() {
            let message = format!("`super(…)` is called before {} assigned", are(&missing));
            self.report(
                Diagnostic::new(span, message, "the superclass could see unset fields")
                    .help("assign the fields of this class first, then call `super(…)`"),
            );
            // The missing fields were named; the end of `init` need not say it again.
            known_all(state);
        }
    }
}

fn known_all(state: &mut Flow) {
    if let Some(state) = state {
        state.sure.iter_mut().for_each(|sure| *sure = true);
    }
}

/// `` `x` is `` or `` `x` and `y` are ``.
fn are(names: &[Box<str>]) -> String {
    format!("{} {}", listed(names), if names.len() == 1 { "is" } else { "are" })
}

/// Where two ways meet.
fn join(a: Flow, b: Flow) -> Flow {
    match (a, b) {
        (None, other) | (other, None) => other,
        (Some(a), Some(b)) => Some(State {
            sure: a.sure.iter().zip(&b.sure).map(|(x, y)| *x && *y).collect(),
            maybe: a.maybe.iter().zip(&b.maybe).map(|(x, y)| *x || *y).collect(),
            super_sure: a.super_sure && b.super_sure,
            super_maybe: a.super_maybe || b.super_maybe,
        }),
    }
}
