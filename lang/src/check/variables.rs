//! What happens to each local variable, found before its body is checked: is it captured by a closure, and where
//! is it assigned? Narrowing and cells depend on both, and both may lie behind the place where the answer is
//! needed, so a pass over the syntax goes first. It knows the same scopes as the checker; names that are no locals
//! do not concern it.

use hashbrown::HashMap;

use crate::ast::*;
use crate::span::Span;
use crate::typed::FixedHasher;

/// What happens to one variable.
#[derive(Clone, Default, Debug)]
pub(super) struct Facts {
    /// A closure inside its scope mentions it.
    pub captured: bool,
    /// Where it is assigned after its declaration (starts of the assignments).
    pub assigned: Vec<u32>,
}

/// The facts of all variables of a body, by the start of their declaring name.
#[derive(Default, Debug)]
pub(super) struct VariableFacts {
    facts: HashMap<u32, Facts, FixedHasher>,
}

impl VariableFacts {
    /// Of a function and everything inside it.
    pub fn of_function(function: &Function) -> VariableFacts {
        let mut pass = Pass::default();
        pass.scoped(|pass| {
            function.params.iter().for_each(|param| pass.declare(&param.name));
            if let Some(body) = &function.body {
                pass.block(body);
            }
        });
        pass.found
    }

    /// Of an initialiser.
    pub fn of_expression(expr: &Expr) -> VariableFacts {
        let mut pass = Pass::default();
        pass.scoped(|pass| pass.expr(expr));
        pass.found
    }

    /// Adds those of another part of the same file.
    pub fn add(&mut self, other: VariableFacts) {
        self.facts.extend(other.facts);
    }

    /// The facts of the variable that `name` declares.
    pub fn of(&self, name: &Name) -> Facts {
        self.facts.get(&name.span.start).cloned().unwrap_or_default()
    }
}

/// Is `super(…)` written in the block, outside of closures.
pub(super) fn mentions_super_init(block: &Block) -> bool {
    let mut pass = Pass::default();
    pass.block(block);
    pass.super_init
}

#[derive(Default)]
struct Pass {
    found: VariableFacts,
    super_init: bool,
    /// The names of the variables in scope, inner ones last.
    scope: Vec<Box<str>>,
    /// For each of them the variables of that name, inner ones last: start of the declaration, depth of closures there.
    meanings: HashMap<Box<str>, Vec<(u32, u32)>, FixedHasher>,
    closures: u32,
}

impl Pass {
    fn scoped(&mut self, inside: impl FnOnce(&mut Pass)) {
        let mark = self.scope.len();
        inside(self);
        for name in self.scope.drain(mark..) {
            self.meanings.get_mut(&name).and_then(Vec::pop);
        }
    }

    fn declare(&mut self, name: &Name) {
        self.scope.push(name.text.clone());
        self.meanings.entry(name.text.clone()).or_default().push((name.span.start, self.closures));
    }

    fn mention(&mut self, name: &Name, assignment: Option<Span>) {
        if let Some((start, depth)) = self.meanings.get(&name.text).and_then(|meanings| meanings.last()) {
            let facts = self.found.facts.entry(*start).or_default();
            facts.captured |= *depth != self.closures;
            facts.assigned.extend(assignment.map(|span| span.start));
        }
    }

    fn block(&mut self, block: &Block) {
        self.scoped(|pass| block.stmts.iter().for_each(|stmt| pass.stmt(stmt)));
    }

    fn loop_body(&mut self, variable: &Name, body: &Block) {
        self.scoped(|pass| {
            pass.declare(variable);
            pass.block(body);
        });
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Let { name, init, .. } => {
                self.expr(init);
                self.declare(name);
            }
            StmtKind::Expr(expr) => self.expr(expr),
            StmtKind::Assign { target, value, .. } => {
                if let ExprKind::Name(name, _) = &target.kind {
                    self.mention(name, Some(stmt.span));
                }
                self.expr(target);
                self.expr(value);
            }
            StmtKind::While { cond, body, .. } => self.scoped(|pass| {
                pass.condition(cond);
                pass.block(body);
            }),
            StmtKind::ForRange { var, from, to, body, .. } => {
                self.expr(from);
                self.expr(to);
                self.loop_body(var, body);
            }
            StmtKind::ForEach { var, iterable, body, .. } => {
                self.expr(iterable);
                self.loop_body(var, body);
            }
            StmtKind::Error => {}
        }
    }

    fn condition(&mut self, cond: &Cond) {
        match cond {
            Cond::Expr(expr) => self.expr(expr),
            Cond::Let(name, expr) => {
                self.expr(expr);
                self.declare(name);
            }
        }
    }

    fn pattern(&mut self, pattern: &Pattern) {
        match &pattern.kind {
            PatternKind::Bind(name) | PatternKind::Typed(Some(name), _) => self.declare(name),
            PatternKind::Variant { fields: Some(patterns), .. } | PatternKind::Or(patterns) => {
                patterns.iter().for_each(|pattern| self.pattern(pattern));
            }
            _ => {}
        }
    }

    fn exprs(&mut self, exprs: &[Expr]) {
        exprs.iter().for_each(|expr| self.expr(expr));
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Name(name, _) => self.mention(name, None),
            ExprKind::Interpolated(parts) => parts.iter().for_each(|part| match part {
                StrPart::Text(_) => {}
                StrPart::Expr(expr) => self.expr(expr),
            }),
            ExprKind::Array(elements) => self.exprs(elements),
            ExprKind::Call { callee, args } => {
                self.expr(callee);
                self.exprs(args);
            }
            ExprKind::SuperInit(args) => {
                self.super_init |= self.closures == 0;
                self.exprs(args);
            }
            ExprKind::SuperCall { args, .. } => self.exprs(args),
            ExprKind::Member { object, .. } => self.expr(object),
            ExprKind::Index(a, b) | ExprKind::Binary(_, _, a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::NonNull(inner)
            | ExprKind::Unary(_, inner)
            | ExprKind::Is(inner, _)
            | ExprKind::As(inner, _)
            | ExprKind::AsNullable(inner, _)
            | ExprKind::Throw(inner) => self.expr(inner),
            ExprKind::Closure { params, body, .. } => {
                self.closures += 1;
                self.scoped(|pass| {
                    params.iter().for_each(|param| pass.declare(&param.name));
                    pass.expr(body);
                });
                self.closures -= 1;
            }
            ExprKind::Block(block) | ExprKind::Loop { body: block, .. } => self.block(block),
            ExprKind::If { cond, then, otherwise } => {
                self.scoped(|pass| {
                    pass.condition(cond);
                    pass.block(then);
                });
                if let Some(otherwise) = otherwise {
                    self.expr(otherwise);
                }
            }
            ExprKind::Match { scrutinee, arms } => {
                self.expr(scrutinee);
                for arm in arms {
                    self.scoped(|pass| {
                        pass.pattern(&arm.pattern);
                        if let Some(guard) = &arm.guard {
                            pass.expr(guard);
                        }
                        pass.expr(&arm.body);
                    });
                }
            }
            ExprKind::Try { body, catches } => {
                self.block(body);
                for catch in catches {
                    self.scoped(|pass| {
                        pass.declare(&catch.name);
                        pass.block(&catch.body);
                    });
                }
            }
            ExprKind::Return(value) | ExprKind::Break { value, .. } => {
                if let Some(value) = value {
                    self.expr(value);
                }
            }
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Bool(_)
            | ExprKind::Null
            | ExprKind::Unit
            | ExprKind::Str(_)
            | ExprKind::This
            | ExprKind::Continue { .. }
            | ExprKind::Error => {}
        }
    }
}
