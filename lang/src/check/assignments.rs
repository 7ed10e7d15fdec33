//! Assignments: `place = e`, `place op= e`, `place ??= e`.
//!
//! A compound assignment evaluates the object and the index of its place once: they are kept in hidden locals, unless
//! they are locals already.

use super::body::{BodyChecker, VarId, VariableKind};
use super::expected::{Expected, never_after};
use super::members::Member;
use super::names::{Named, Qualifier, TypeName};
use super::tables::*;
use crate::ast::{self, AssignOp, Name};
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{Expr, ExprKind, GlobalIndex, LocalIndex, Stmt, StmtKind, Ty, TyKind};

/// Something that can be assigned.
#[derive(Clone)]
enum Place {
    Local(LocalIndex, VarId),
    Global(GlobalIndex),
    Field(Expr, usize),
    Index(Expr, Expr),
    /// None: finding the place never ends.
    Never(Expr),
}

impl BodyChecker<'_, '_> {
    /// Checks an assignment and adds what it becomes. True if nothing behind it can run.
    pub(super) fn assignment(
        &mut self,
        op: Option<AssignOp>,
        target: &ast::Expr,
        value: &ast::Expr,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> bool {
        let (place, ty) = match self.place(target) {
            Some((Place::Never(never), _)) => {
                self.expr(value, Expected::Free);
                out.push(Stmt { kind: StmtKind::Expr(never), span });
                return true;
            }
            Some(found) => found,
            None => {
                self.expr(value, Expected::Free);
                if let ast::ExprKind::Name(name, _) = &target.kind
                    && let Some(variable) = self.variable(&name.text)
                {
                    self.forget(variable);
                }
                return false;
            }
        };
        match op {
            None => {
                let value = self.expr(value, Expected::Type(ty));
                let ends = value.ty == Ty::NEVER;
                self.forget_place(&place);
                out.push(Stmt { kind: set(place, value), span });
                ends
            }
            Some(AssignOp::Binary(op)) => {
                let (place, mut stmts) = self.evaluate_once(place, span);
                let current = self.read_place(&place, ty, target.span);
                let value = self.expr(value, Expected::Free);
                let ends = value.ty == Ty::NEVER;
                let result = self.combine(op, span, current, value, span);
                let result = if result.ty == Ty::ERROR { result } else { self.coerce(result, ty) };
                self.forget_place(&place);
                stmts.push(Stmt { kind: set(place, result), span });
                out.push(together(stmts, span));
                ends
            }
            Some(AssignOp::Coalesce) => {
                let TyKind::Nullable(inner) = *self.types.kind(ty) else {
                    let shown = self.quote(ty);
                    let message = format!("`??=` is not needed: {shown} is never null");
                    self.report(
                        Diagnostic::new(target.span, message, format!("this is {shown}")).help("write `=`"),
                    );
                    self.expr(value, Expected::Free);
                    return false;
                };
                let (place, mut stmts) = self.evaluate_once(place, span);
                let mut current = self.read_place(&place, ty, target.span);
                current.ty = ty;
                let before = self.narrowed.clone();
                let value = self.expr(value, Expected::Type(ty));
                // A value that is certainly there leaves the variable certainly set.
                let certain = value.ty != Ty::ERROR && self.is_surely(&value, inner);
                let after = std::mem::replace(&mut self.narrowed, before);
                self.narrowed.retain(|fact| after.contains(fact));
                let null = Expr { kind: ExprKind::Null, ty, span };
                let test = Expr {
                    kind: ExprKind::Equals { negated: false, left: Box::new(current), right: Box::new(null) },
                    ty: Ty::BOOL,
                    span,
                };
                self.forget_place(&place);
                if let (Place::Local(_, variable), true) = (&place, certain)
                    && self.can_narrow(*variable)
                {
                    self.apply(&vec![(*variable, inner)]);
                }
                let assign = together(vec![Stmt { kind: set(place, value), span }], span);
                let then = Expr { kind: ExprKind::Block(vec![assign], None), ty: Ty::UNIT, span };
                let choice = ExprKind::If(Box::new(test), Box::new(then), None);
                stmts.push(Stmt { kind: StmtKind::Expr(Expr { kind: choice, ty: Ty::UNIT, span }), span });
                out.push(together(stmts, span));
                false
            }
        }
    }

    /// Was the value of type `inner` before it was made nullable.
    fn is_surely(&mut self, value: &Expr, inner: Ty) -> bool {
        match &value.kind {
            ExprKind::Convert(from) => self.is_subtype(from.ty, inner) && from.ty != Ty::NULL,
            _ => value.ty == Ty::NEVER,
        }
    }

    fn forget_place(&mut self, place: &Place) {
        if let Place::Local(_, variable) = place {
            self.forget(*variable);
        }
    }

    /// What is assigned, and the type that it takes. Reports what cannot be.
    fn place(&mut self, target: &ast::Expr) -> Option<(Place, Ty)> {
        let span = target.span;
        match &target.kind {
            ast::ExprKind::Name(name, args) if args.is_empty() => match self.resolve_name(name) {
                Named::Variable(variable) => self.variable_place(variable, name),
                Named::Member(owner, Member::Field(field)) => {
                    let object = self.implicit_this(owner, name)?;
                    self.field_place(object, Member::Field(field), name, true)
                }
                Named::Global(global) => self.global_place(global, name),
                Named::Unknown => None,
                Named::Member(..) | Named::Function(_) => self.no_place(span, "a function"),
                Named::Type(_) => self.no_place(span, "a type"),
                Named::Module(_) => self.no_place(span, "a module"),
            },
            ast::ExprKind::Member { object, name, safe: false, .. } => {
                match self.qualifier(object) {
                    Some(Qualifier::Type(TypeName::Declared(entity), _, args)) => {
                        return match self.static_of(entity, args, name, span)? {
                            StaticKind::Global(global) => self.global_place(global, name),
                            StaticKind::Function(_) => self.no_place(span, "a function"),
                        };
                    }
                    Some(Qualifier::Type(..)) => return self.no_place(span, "a constant"),
                    Some(Qualifier::Module(module)) => {
                        return match self.declared_in(module, name)? {
                            Entity::Global(global) => self.global_place(global, name),
                            _ => self.no_place(span, "a declaration"),
                        };
                    }
                    Some(Qualifier::Failed) => return None,
                    None => {}
                }
                let own = matches!(object.kind, ast::ExprKind::This);
                let object = self.expr(object, Expected::Free);
                if object.ty == Ty::ERROR || name.text.is_empty() {
                    return None;
                }
                if object.ty == Ty::NEVER {
                    return Some((Place::Never(object), Ty::NEVER));
                }
                let object = self.seen_with(object, name);
                match self.find_member(object.ty, &name.text) {
                    Some(member @ Member::Field(_)) => self.field_place(object, member, name, own),
                    Some(Member::Method(_)) => self.no_place(span, "a method"),
                    None => {
                        if self.built_in_property(&object, name, span).is_some() {
                            return self.no_place(span, "a property that only the system sets");
                        }
                        self.report_no_member(object.ty, name, object.span);
                        None
                    }
                }
            }
            ast::ExprKind::Index(object, index) => {
                let object = self.expr(object, Expected::Free);
                let index = self.expr(index, Expected::Type(Ty::INT));
                let element = self.element_type(&object)?;
                if object.ty == Ty::STRING {
                    self.report(
                        Diagnostic::new(span, "strings do not change", "an element of a `String`")
                            .help("build a new string, or work on `s.toBytes()`"),
                    );
                    return None;
                }
                match (object.ty, index.ty) {
                    (_, Ty::ERROR) => None,
                    (Ty::NEVER, _) => Some((Place::Never(object), Ty::NEVER)),
                    (_, Ty::NEVER) => Some((Place::Never(never_after(vec![object], index)), Ty::NEVER)),
                    _ => Some((Place::Index(object, index), element)),
                }
            }
            ast::ExprKind::Error => None,
            ast::ExprKind::Member { safe: true, .. } => {
                self.report(
                    Diagnostic::new(span, "`?.` cannot be assigned to", "may lead nowhere")
                        .help("test the object first: `if let x = … { x.f = … }`"),
                );
                None
            }
            _ => self.no_place(span, "a value"),
        }
    }

    fn no_place(&mut self, span: Span, what: &str) -> Option<(Place, Ty)> {
        self.report(
            Diagnostic::new(span, "this cannot be assigned to", format!("this is {what}"))
                .help("variables, fields `x.f` and elements `a[i]` can be assigned"),
        );
        None
    }

    fn variable_place(&mut self, variable: VarId, name: &Name) -> Option<(Place, Ty)> {
        let info = &self.variables[variable.0];
        let (declared, ty) = (info.span, info.ty);
        let reason = match info.kind {
            VariableKind::Var | VariableKind::Parameter => {
                let local = self.local_of(variable);
                return (ty != Ty::ERROR).then_some((Place::Local(local, variable), ty));
            }
            VariableKind::Let => ("declared with `let`", "declare it with `var` if it changes"),
            VariableKind::Loop => ("the variable of a loop", "copy it into a `var`, or write a `while`"),
            VariableKind::Bound => ("bound to a value that was tested", "copy it into a `var`"),
            VariableKind::This => ("the object itself", "its fields can be assigned"),
        };
        let message = format!("`{}` cannot be assigned", name.text);
        self.report(
            Diagnostic::new(name.span, message, "assigned here").related(declared, reason.0).help(reason.1),
        );
        None
    }

    fn global_place(&mut self, global: GlobalIndex, name: &Name) -> Option<(Place, Ty)> {
        let ast = self.global(global).ast;
        if !ast.mutable {
            let message = format!("`{}` cannot be assigned", name.text);
            self.report(
                Diagnostic::new(name.span, message, "assigned here")
                    .related(ast.name.span, "declared with `let`")
                    .help("declare it with `var` if it changes"),
            );
            return None;
        }
        let ty = self.global_type(global, name.span);
        (ty != Ty::ERROR).then_some((Place::Global(global), ty))
    }

    fn field_place(&mut self, object: Expr, member: Member, name: &Name, own: bool) -> Option<(Place, Ty)> {
        let Member::Field(field) = member else { return None };
        let info = &self.class(field.class).fields[field.position];
        let (mutable, private, declared) = (info.mutable, info.private, info.name.span);
        let scope = self.scope.clone();
        if !self.may_use(private, declared, name, &scope) {
            return None;
        }
        // The first assignment of a `let` is the business of `init`, and of nobody who might run later.
        let initialises = own && self.init_of == Some(field.class) && self.frames.len() == 1;
        if !mutable && !initialises {
            let message = format!("the field `{}` cannot be assigned", name.text);
            let help = match own && self.init_of.is_some() {
                true => {
                    "a `let` field is assigned in the `init` of its own class, not in a closure or subclass"
                }
                false => "declare it with `var` if it changes",
            };
            self.report(
                Diagnostic::new(name.span, message, "assigned here")
                    .related(declared, "declared with `let`")
                    .help(help),
            );
            return None;
        }
        let (ty, position) = self.field_of(field, name.span);
        (ty != Ty::ERROR).then_some((Place::Field(object, position), ty))
    }

    /// Keeps object and index of a place in locals, so that reading and writing it evaluates them once.
    fn evaluate_once(&mut self, place: Place, span: Span) -> (Place, Vec<Stmt>) {
        let mut stmts = Vec::new();
        let place = match place {
            Place::Field(object, position) => {
                Place::Field(self.keep("$object", object, span, &mut stmts), position)
            }
            Place::Index(object, index) => {
                let object = self.keep("$object", object, span, &mut stmts);
                Place::Index(object, self.keep("$index", index, span, &mut stmts))
            }
            other => other,
        };
        (place, stmts)
    }

    fn keep(&mut self, name: &str, value: Expr, span: Span, stmts: &mut Vec<Stmt>) -> Expr {
        match value.kind {
            ExprKind::Int(_) => return value,
            // Nothing but an assignment on the right side could change it; `this` never changes.
            ExprKind::Local(local) if self.frame().locals[local.index()].name.as_ref() == "this" => {
                return value;
            }
            _ => {}
        }
        let (ty, place) = (value.ty, value.span);
        let local = self.hidden_local(name, ty, place);
        stmts.push(Stmt { kind: StmtKind::Let(local, value), span });
        Expr { kind: ExprKind::Local(local), ty, span: place }
    }

    fn read_place(&mut self, place: &Place, ty: Ty, span: Span) -> Expr {
        let (kind, ty) = match place {
            Place::Local(local, variable) => (ExprKind::Local(*local), self.known_type(*variable)),
            Place::Global(global) => (ExprKind::Global(*global), ty),
            Place::Field(object, position) => (ExprKind::Field(Box::new(object.clone()), *position), ty),
            Place::Index(object, index) => {
                (ExprKind::Index(Box::new(object.clone()), Box::new(index.clone())), ty)
            }
            Place::Never(never) => return never.clone(),
        };
        Expr { kind, ty, span }
    }
}

/// The statement that assigns.
fn set(place: Place, value: Expr) -> StmtKind {
    if value.ty == Ty::NEVER {
        // Nothing is assigned, but what stands on the left is evaluated first.
        let before = match place {
            Place::Local(..) | Place::Global(_) => Vec::new(),
            Place::Field(object, _) => vec![object],
            Place::Index(object, index) => vec![object, index],
            Place::Never(never) => return StmtKind::Expr(never),
        };
        return StmtKind::Expr(never_after(before, value));
    }
    match place {
        Place::Local(local, _) => StmtKind::SetLocal(local, value),
        Place::Global(global) => StmtKind::SetGlobal(global, value),
        Place::Field(object, position) => StmtKind::SetField(object, position, value),
        Place::Index(object, index) => StmtKind::SetIndex(object, index, value),
        Place::Never(never) => StmtKind::Expr(never),
    }
}

/// Several statements as one.
fn together(mut stmts: Vec<Stmt>, span: Span) -> Stmt {
    match (stmts.pop(), stmts.is_empty()) {
        (Some(only), true) => only,
        (last, _) => {
            stmts.extend(last);
            let ends =
                stmts.iter().any(|stmt| matches!(&stmt.kind, StmtKind::Expr(expr) if expr.ty == Ty::NEVER));
            let ty = if ends { Ty::NEVER } else { Ty::UNIT };
            Stmt { kind: StmtKind::Expr(Expr { kind: ExprKind::Block(stmts, None), ty, span }), span }
        }
    }
}
