//! `native.name(args)`: how the standard library calls the system. Only modules of the library may.

use super::body::BodyChecker;
use super::expected::{Expected, error_expr};
use super::show::counted;
use super::suggest::closest;
use crate::ast::{self, Name};
use crate::builtins::Builtin;
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{Expr, ExprKind, Ty, TyKind};
use holloway_bytecode::Native;
use holloway_bytecode::natives::NativeType;

impl BodyChecker<'_, '_> {
    /// Is the object of this call the word `native`, here where it has its meaning.
    pub(super) fn is_native_call(&self, object: &ast::Expr) -> bool {
        match &object.kind {
            ast::ExprKind::Name(name, args) => {
                &*name.text == "native"
                    && args.is_empty()
                    && self.modules[self.scope.module.index()].is_library
                    && self.variable(&name.text).is_none()
            }
            _ => false,
        }
    }

    pub(super) fn call_native(&mut self, name: &Name, args: &[ast::Expr], span: Span) -> Expr {
        let Some(native) = Native::from_name(&name.text) else {
            let mut diagnostic =
                Diagnostic::new(name.span, format!("there is no native `{}`", name.text), "unknown name");
            if let Some(close) = closest(&name.text, Native::ALL.iter().map(|native| native.name())) {
                diagnostic = diagnostic.help(format!("did you mean `{close}`?"));
            }
            self.report(diagnostic);
            return self.after_error(args, span);
        };
        let params = native.params();
        if !native.is_variadic() && args.len() != params.len() {
            let message =
                format!("`{}` takes {}, not {}", name.text, counted(params.len(), "argument"), args.len());
            self.report(Diagnostic::new(span, message, "wrong number of arguments"));
            return self.after_error(args, span);
        }
        let mut values = Vec::new();
        for (i, arg) in args.iter().enumerate() {
            let wanted = if native.is_variadic() { params[0] } else { params[i] };
            let value = match self.native_type(wanted) {
                Some(ty) => self.expr(arg, Expected::Type(ty)),
                None => self.native_object(arg, wanted == NativeType::Nullable),
            };
            if value.ty == Ty::ERROR {
                return error_expr(span);
            }
            values.push(value);
        }
        let ty = match native.result() {
            None => Ty::UNIT,
            Some(NativeType::Object) => values.first().map_or(Ty::ERROR, |first| first.ty),
            Some(result) => self.native_type(result).unwrap_or(Ty::ERROR),
        };
        Expr { kind: ExprKind::Builtin(Builtin::Native(native), values), ty, span }
    }

    /// The type of a native's parameter or result, if it is a single one.
    fn native_type(&mut self, ty: NativeType) -> Option<Ty> {
        Some(match ty {
            NativeType::Int => Ty::INT,
            NativeType::Float => Ty::FLOAT,
            NativeType::Bool => Ty::BOOL,
            NativeType::Str => Ty::STRING,
            NativeType::Bytes => Ty::BYTES,
            NativeType::IntOrNull => self.types.nullable(Ty::INT),
            NativeType::FloatOrNull => self.types.nullable(Ty::FLOAT),
            NativeType::Object | NativeType::Nullable => return None,
        })
    }

    /// Any object, for natives that take whatever there is.
    fn native_object(&mut self, arg: &ast::Expr, nullable: bool) -> Expr {
        let value = self.expr(arg, Expected::Free);
        let fits = match self.types.kind(value.ty) {
            TyKind::Int | TyKind::Float | TyKind::Bool | TyKind::Unit | TyKind::Param(_) => false,
            TyKind::Nullable(_) | TyKind::Null => nullable,
            _ => true,
        };
        if !fits {
            let ty = self.quote(value.ty);
            let message = format!("this native takes an object, not {ty}");
            self.report(Diagnostic::new(arg.span, message, format!("this is {ty}")));
            return error_expr(arg.span);
        }
        value
    }
}
