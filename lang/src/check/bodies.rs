//! Fourth pass: every function with a body, every constructor, every initialiser of a global.

use super::Checker;
use super::body::{BodyChecker, ResultOf, VariableKind};
use super::expected::Expected;
use super::tables::*;
use super::variables::VariableFacts;
use crate::ast;
use crate::diagnostics::Diagnostic;
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

    fn function_body(
        &mut self,
        function: FunctionIndex,
        ast: &'a ast::Function,
        block: &'a ast::Block,
    ) -> Body {
        let info = self.function(function);
        let (scope, owner, receiver) = (info.scope.clone(), info.owner, info.receiver);
        let (is_static, types, result) = (info.is_static, info.param_types.clone(), info.result);
        let mut checker = BodyChecker::new(self, scope, owner, ResultOf::Known(result));
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
        let expected = if result == Ty::UNIT { Expected::Discard } else { Expected::Type(result) };
        let expr = checker.block(block, expected);
        checker.into_body(expr)
    }
}
