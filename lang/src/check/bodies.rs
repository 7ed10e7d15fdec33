//! Fourth pass: every function with a body, every constructor, every initialiser of a global.

use super::Checker;
use super::body::{BodyChecker, VariableKind};
use super::expected::Expected;
use super::tables::*;
use super::variables::VariableFacts;
use crate::ast;
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{Body, FunctionIndex, GlobalIndex, Ty};

impl<'a> Checker<'a> {
    /// Checks all bodies.
    pub(super) fn check_bodies(&mut self) {
        for i in 0..self.globals.len() {
            self.check_global(GlobalIndex(i as u32));
        }
        for i in 0..self.functions.len() {
            let function = FunctionIndex(i as u32);
            if self.is_init(function) {
                self.check_init(function);
            } else if let Some(ast) = self.functions[i].ast {
                self.check_function(function, ast);
            }
        }
    }

    fn check_function(&mut self, function: FunctionIndex, ast: &'a ast::Function) {
        let info = self.function(function);
        let in_interface = matches!(info.owner, Owner::Interface(_));
        let (is_abstract, name) = (info.is_abstract, info.name.clone());
        let body = match (&ast.body, is_abstract) {
            (Some(body), false) => body,
            (None, true) => return,
            (Some(body), true) => {
                let (message, help) = if in_interface {
                    (format!("the interface method `{name}` has a body"), "methods of interfaces have none")
                } else {
                    (format!("the abstract method `{name}` has a body"), "remove `abstract`, or the body")
                };
                self.report(Diagnostic::new(body.span, message, "not allowed here").help(help));
                return;
            }
            (None, false) => {
                let message = format!("`{name}` has no body");
                self.report(
                    Diagnostic::new(ast.span, message, "a body `{ … }` is missing")
                        .help("only abstract methods and those of interfaces have none"),
                );
                return;
            }
        };
        let body = self.function_body(function, ast, body);
        self.functions[function.index()].body = Some(body);
    }

    fn function_body(&mut self, function: FunctionIndex, ast: &'a ast::Function, block: &'a ast::Block) -> Body {
        let info = self.function(function);
        let (scope, owner, receiver) = (info.scope.clone(), info.owner, info.receiver);
        let (is_static, types, result) = (info.is_static, info.param_types.clone(), info.result);
        let mut checker = BodyChecker::new(self, scope, owner, result);
        checker.facts = VariableFacts::of_function(ast);
        match receiver {
            Some(this) => {
                checker.declare_this(this, ast.name.span);
            }
            None if is_static && owner != Owner::None => checker.this = super::body::This::Static,
            None => {}
        }
        for (param, ty) in ast.params.iter().zip(types.iter()) {
            checker.declare_variable(&param.name, VariableKind::Parameter, *ty);
        }
        let expr = checker.result_block(block, result, &format!("`{}`", ast.name.text));
        checker.into_body(expr)
    }
}

impl BodyChecker<'_, '_> {
    /// The block that is the body of a function with a known result.
    pub(super) fn result_block(&mut self, block: &ast::Block, result: Ty, what: &str) -> crate::typed::Expr {
        if result == Ty::UNIT {
            return self.block(block, Expected::Discard);
        }
        let before = self.diagnostics_count();
        let expr = self.block(block, Expected::Free.or_type(result));
        let ends_without_value = expr.ty == Ty::UNIT && result != Ty::ERROR;
        if ends_without_value && self.diagnostics_count() == before {
            let wanted = self.quote(result);
            let end = Span { start: block.span.end.saturating_sub(1), ..block.span };
            self.report(
                Diagnostic::new(end, format!("{what} can end without a value"), format!("expected {wanted} here"))
                    .help("end the body with an expression, or `return` a value on every way through it"),
            );
        }
        expr
    }
}
