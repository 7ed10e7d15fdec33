//! Globals, statics and fields without a written type: their types follow from their initialisers, which are
//! checked when somebody first asks. Asking for a type while it is being found is a circle.

use super::Checker;
use super::body::{BodyChecker, ResultOf, This};
use super::expected::Expected;
use super::tables::*;
use super::variables::VariableFacts;
use crate::ast::Name;
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{ClassIndex, Expr, GlobalIndex, Ty};

impl Checker<'_> {
    /// The type of a global; `place` asks for it.
    pub(super) fn global_type(&mut self, global: GlobalIndex, place: Span) -> Ty {
        match self.global(global).ty {
            Lazy::Known(ty) => ty,
            Lazy::Pending => {
                self.check_global(global);
                match self.global(global).ty {
                    Lazy::Known(ty) => ty,
                    _ => Ty::ERROR,
                }
            }
            Lazy::Active => {
                let name = &self.global(global).ast.name;
                self.report_circle(name, place);
                Ty::ERROR
            }
        }
    }

    fn report_circle(&mut self, name: &Name, place: Span) {
        let message = format!("the type of `{}` depends on itself", name.text);
        self.report(
            Diagnostic::new(name.span, message, "its type is not written")
                .related(place, "needed here to find it")
                .help(format!("write the type: `{}: T = …`", name.text)),
        );
    }

    /// Checks the initialiser of a global, and finds its type if it is not written.
    pub(super) fn check_global(&mut self, global: GlobalIndex) {
        if self.global(global).body.is_some() {
            return;
        }
        let info = self.global(global);
        let (ast, scope, owner) = (info.ast, info.scope.clone(), info.owner);
        let Some(init) = &ast.init else {
            let message = format!("`{}` has no value", ast.name.text);
            self.report(Diagnostic::new(ast.span, message, "no initialiser").help("write `= value`"));
            if self.global(global).ty == Lazy::Pending {
                self.globals[global.index()].ty = Lazy::Known(Ty::ERROR);
            }
            return;
        };
        let expected = match self.global(global).ty {
            Lazy::Known(ty) => Expected::Type(ty),
            Lazy::Pending => {
                self.globals[global.index()].ty = Lazy::Active;
                Expected::Free
            }
            Lazy::Active => return,
        };
        let mut checker = BodyChecker::new(self, scope, owner, ResultOf::Initialiser);
        checker.facts = VariableFacts::of_expression(init);
        if owner != Owner::None {
            checker.this = This::Static;
        }
        let expr = checker.expr(init, expected);
        let ty = expr.ty;
        let body = checker.into_body(expr);
        if expected == Expected::Free {
            let ty = self.inferred(&ast.name, &body.expr);
            self.globals[global.index()].ty = Lazy::Known(ty);
        } else if ty == Ty::NEVER {
            self.inferred(&ast.name, &body.expr);
        }
        self.globals[global.index()].body = Some(body);
    }

    /// The type of a field over the parameters of its class; `place` asks for it.
    pub(super) fn field_type(&mut self, class: ClassIndex, position: usize, place: Span) -> Ty {
        let field = &self.class(class).fields[position];
        match field.ty {
            Lazy::Known(ty) => return ty,
            Lazy::Active => {
                let name = field.name;
                self.report_circle(name, place);
                return Ty::ERROR;
            }
            Lazy::Pending => {}
        }
        let (name, init) = (field.name, field.init);
        let ty = match init {
            Some(init) => {
                self.classes[class.index()].fields[position].ty = Lazy::Active;
                let scope = self.class(class).scope.clone();
                let mut checker = BodyChecker::new(self, scope, Owner::Class(class), ResultOf::Initialiser);
                checker.facts = VariableFacts::of_expression(init);
                checker.this = This::Early;
                let expr = checker.expr(init, Expected::Free);
                self.inferred(name, &expr)
            }
            None => {
                let message = format!("the field `{}` has neither a type nor a value", name.text);
                self.report(
                    Diagnostic::new(name.span, message, "of which type?")
                        .help(format!("write `{}: T`, or `= value`", name.text)),
                );
                Ty::ERROR
            }
        };
        self.classes[class.index()].fields[position].ty = Lazy::Known(ty);
        ty
    }

    /// The type of a variable that follows from its value.
    fn inferred(&mut self, name: &Name, value: &Expr) -> Ty {
        let (message, label) = match value.ty {
            Ty::NULL => {
                (format!("the type of `{}` cannot be inferred from `null`", name.text), "null of which type?")
            }
            Ty::NEVER => (format!("`{}` never gets a value", name.text), "this never ends"),
            Ty::UNIT => (format!("`{}` has no value to hold", name.text), "this gives no value"),
            ty => return ty,
        };
        let mut diagnostic = Diagnostic::new(value.span, message, label);
        if value.ty == Ty::NULL {
            diagnostic = diagnostic.help(format!("write it: `{}: T? = null`", name.text));
        }
        self.report(diagnostic);
        Ty::ERROR
    }
}
