//! Expressions: the way in, literals, and where the other kinds are checked.

use super::body::{BodyChecker, This};
use super::expected::{Expected, convert, error_expr, never_after};
use crate::ast::{self, Name, StrPart, TypeExpr};
use crate::builtins::Builtin;
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{BinaryOp, Expr, ExprKind, Ty, TyKind};

impl BodyChecker<'_, '_> {
    /// Checks an expression and gives it the type that is expected.
    pub(super) fn expr(&mut self, expr: &ast::Expr, expected: Expected) -> Expr {
        let value = self.raw_expr(expr, expected);
        if self.is_too_large(value.ty) {
            self.report_too_large(expr.span);
            return error_expr(expr.span);
        }
        match expected {
            Expected::Type(ty) => self.coerce(value, ty),
            Expected::Free | Expected::Discard => value,
        }
    }

    /// Checks an expression. What is expected helps to find its type, but the result may still have another.
    pub(super) fn raw_expr(&mut self, expr: &ast::Expr, expected: Expected) -> Expr {
        let span = expr.span;
        let node = |kind, ty| Expr { kind, ty, span };
        match &expr.kind {
            ast::ExprKind::Error => error_expr(span),
            ast::ExprKind::Int(value) => node(ExprKind::Int(*value), Ty::INT),
            ast::ExprKind::Float(value) => node(ExprKind::Float(*value), Ty::FLOAT),
            ast::ExprKind::Bool(value) => node(ExprKind::Bool(*value), Ty::BOOL),
            ast::ExprKind::Str(value) => node(ExprKind::Str(value.clone()), Ty::STRING),
            ast::ExprKind::Unit => node(ExprKind::Unit, Ty::UNIT),
            ast::ExprKind::Null => node(ExprKind::Null, Ty::NULL),
            ast::ExprKind::Interpolated(parts) => self.interpolated(parts, span),
            ast::ExprKind::This => self.this_value(span),
            ast::ExprKind::Name(name, args) => self.name_value(name, args, span, expected),
            ast::ExprKind::Array(elements) => self.array_literal(elements, span, expected),
            ast::ExprKind::Call { callee, args } => self.call(callee, args, span, expected),
            ast::ExprKind::SuperInit(args) => self.super_init(args, span),
            ast::ExprKind::SuperCall { name, args } => self.super_call(name, args, span, expected),
            ast::ExprKind::Member { object, name, safe, type_args } => {
                self.member_value(object, name, *safe, type_args, span, expected)
            }
            ast::ExprKind::Index(object, index) => self.index(object, index, span),
            ast::ExprKind::NonNull(inner) => self.non_null(inner, span, expected),
            ast::ExprKind::Unary(ast::UnaryOp::Not, _)
            | ast::ExprKind::Binary(ast::BinaryOp::AndAnd | ast::BinaryOp::OrOr, ..) => {
                self.condition(expr).0
            }
            ast::ExprKind::Unary(op, inner) => self.unary(*op, inner, span),
            ast::ExprKind::Binary(ast::BinaryOp::Coalesce, _, left, right) => {
                self.coalesce(left, right, span, expected)
            }
            ast::ExprKind::Binary(op @ (ast::BinaryOp::Eq | ast::BinaryOp::Ne), place, left, right) => {
                self.equality(*op == ast::BinaryOp::Ne, *place, left, right, span)
            }
            ast::ExprKind::Binary(op, place, left, right) => self.binary(*op, *place, left, right, span),
            ast::ExprKind::Is(value, ty) => {
                let Some((value, ty)) = self.test(value, ty, span, "is") else { return error_expr(span) };
                if value.ty == Ty::NEVER {
                    return value;
                }
                node(ExprKind::Is(Box::new(value), ty), Ty::BOOL)
            }
            ast::ExprKind::As(value, ty) => {
                let Some((value, ty)) = self.test(value, ty, span, "as") else { return error_expr(span) };
                if value.ty == Ty::NEVER {
                    return value;
                }
                node(ExprKind::Cast(Box::new(value)), ty)
            }
            ast::ExprKind::AsNullable(value, ty) => {
                let Some((value, ty)) = self.test(value, ty, span, "as?") else { return error_expr(span) };
                if value.ty == Ty::NEVER {
                    return value;
                }
                let ty = self.types.nullable(ty);
                node(ExprKind::CastNullable(Box::new(value)), ty)
            }
            ast::ExprKind::Closure { params, result, body } => {
                self.closure_expr(params, result.as_ref(), body, span, expected)
            }
            ast::ExprKind::Block(block) => self.block(block, expected),
            ast::ExprKind::If { cond, then, otherwise } => {
                self.if_expr(cond, then, otherwise.as_deref(), span, expected)
            }
            ast::ExprKind::Match { scrutinee, arms } => self.match_expr(scrutinee, arms, span, expected),
            ast::ExprKind::Loop { label, body } => self.endless_loop(label.as_ref(), body, span, expected),
            ast::ExprKind::Try { body, catches } => self.try_expr(body, catches, span, expected),
            ast::ExprKind::Return(value) => self.return_expr(value.as_deref(), span),
            ast::ExprKind::Throw(value) => self.throw(value, span),
            ast::ExprKind::Break { label, value } => self.break_out(label.as_ref(), value.as_deref(), span),
            ast::ExprKind::Continue { label } => self.continue_loop(label.as_ref(), span),
        }
    }

    /// `"text ${e} text"`.
    fn interpolated(&mut self, parts: &[StrPart], span: Span) -> Expr {
        let pieces = parts.iter().map(|part| match part {
            StrPart::Text(text) => Expr { kind: ExprKind::Str(text.clone()), ty: Ty::STRING, span },
            StrPart::Expr(expr) => {
                let value = self.expr(expr, Expected::Free);
                self.text_of(value)
            }
        });
        let mut pieces: Vec<Expr> = pieces.collect();
        if pieces.iter().any(|piece| piece.ty == Ty::ERROR) {
            return error_expr(span);
        }
        if let Some(never) = take_never(&mut pieces) {
            return never_after(pieces, never);
        }
        let whole = pieces.into_iter().reduce(|whole, piece| {
            let kind = ExprKind::Binary(BinaryOp::Concat, Box::new(whole), Box::new(piece));
            Expr { kind, ty: Ty::STRING, span }
        });
        whole.unwrap_or(Expr { kind: ExprKind::Str("".into()), ty: Ty::STRING, span })
    }

    /// The text of a value, as in `${value}`.
    pub(super) fn text_of(&mut self, value: Expr) -> Expr {
        let span = value.span;
        if matches!(value.ty, Ty::STRING | Ty::ERROR | Ty::NEVER) {
            return value;
        }
        if value.ty == Ty::NULL {
            return Expr { kind: ExprKind::Str("null".into()), ty: Ty::STRING, span };
        }
        let value = self.seen_as(value, |checker, ty| checker.has_text(ty));
        if !self.has_text(value.ty) {
            let ty = self.quote(value.ty);
            let inner = self.without_null(value.ty);
            let help = match self.types.kind(inner) {
                TyKind::Param(param) => {
                    format!("give it a bound: `{}: Printable`", self.param_name(*param))
                }
                TyKind::Class(..) | TyKind::Interface(..) => {
                    "give it a method `fn toString() -> String`".to_string()
                }
                TyKind::Enum(..) => {
                    "`toString` must be `fn toString() -> String`; without it, the text is the variant's name"
                        .to_string()
                }
                TyKind::Unit => "it gives no value".to_string(),
                _ => "convert it to something that has a text first".to_string(),
            };
            let message = format!("{ty} has no text");
            self.report(Diagnostic::new(span, message, "cannot become a `String`").help(help));
            return error_expr(span);
        }
        let inner = self.without_null(value.ty);
        if let Some(method) = self.text_method(inner) {
            let (private, declared) = (self.function(method).private, self.function(method).span);
            let (name, scope) = (Name { text: "toString".into(), span }, self.scope.clone());
            if !self.may_use(private, declared, &name, &scope) {
                return error_expr(span);
            }
        }
        Expr { kind: ExprKind::Builtin(Builtin::ToString, vec![value]), ty: Ty::STRING, span }
    }

    /// Can values of the type become text.
    fn has_text(&mut self, ty: Ty) -> bool {
        let inner = self.without_null(ty);
        match self.types.kind(inner) {
            TyKind::Int | TyKind::Float | TyKind::Bool | TyKind::String => true,
            // Without a method of that name, it is the name of the variant.
            TyKind::Enum(..) => !self.has_method(inner, "toString") || self.text_method(inner).is_some(),
            TyKind::Class(..) | TyKind::Interface(..) | TyKind::Param(_) => self.text_method(inner).is_some(),
            _ => false,
        }
    }

    fn array_literal(&mut self, elements: &[ast::Expr], span: Span, expected: Expected) -> Expr {
        let wanted = expected.ty().map(|ty| self.without_null(ty));
        let element = wanted.and_then(|ty| match self.types.kind(ty) {
            TyKind::Array(element) => Some(*element),
            _ => None,
        });
        let expectation = element.map_or(Expected::Free, Expected::Type);
        let mut values: Vec<Expr> = elements.iter().map(|value| self.expr(value, expectation)).collect();
        if let Some(never) = take_never(&mut values) {
            return never_after(values, never);
        }
        let element = match element {
            Some(element) => element,
            None if values.is_empty() => {
                self.report(
                    Diagnostic::new(span, "the type of this empty array is not known", "no elements to tell")
                        .help("write `Array<T>(0)`, or the type of the variable: `let a: Array<T> = []`"),
                );
                return error_expr(span);
            }
            None => {
                let types: Vec<(Ty, Span)> = values.iter().map(|value| (value.ty, value.span)).collect();
                match self.join_all(&types, "the elements of this array") {
                    Ty::NULL | Ty::UNIT => {
                        self.report(
                            Diagnostic::new(span, "the type of this array is not known", "no values to tell")
                                .help("write the type of the variable: `let a: Array<T?> = …`"),
                        );
                        Ty::ERROR
                    }
                    joined => joined,
                }
            }
        };
        if element == Ty::ERROR || values.iter().any(|value| value.ty == Ty::ERROR) {
            return error_expr(span);
        }
        let values = values.into_iter().map(|value| convert(value, element)).collect();
        let ty = self.types.intern(TyKind::Array(element));
        Expr { kind: ExprKind::ArrayLiteral(values), ty, span }
    }

    /// The value and type of a test or cast.
    fn test(&mut self, value: &ast::Expr, ty: &TypeExpr, span: Span, word: &str) -> Option<(Expr, Ty)> {
        let value = self.expr(value, Expected::Free);
        let scope = self.scope.clone();
        let target = self.resolve_type(ty, &scope);
        if value.ty == Ty::ERROR || target == Ty::ERROR {
            return None;
        }
        let numbers = [Ty::INT, Ty::FLOAT];
        if numbers.contains(&value.ty) && numbers.contains(&target) && value.ty != target {
            let method = if target == Ty::INT { "toInt" } else { "toFloat" };
            self.report(
                Diagnostic::new(span, format!("`{word}` does not convert numbers"), "a test of the type")
                    .help(format!("write `.{method}()`")),
            );
            return None;
        }
        if let Ty::NULL | Ty::UNIT = value.ty {
            let ty = self.quote(value.ty);
            self.report(Diagnostic::new(value.span, format!("the type of {ty} needs no test"), "not a test"));
            return None;
        }
        let target = self.tested_type(value.ty, target, ty.span);
        (target != Ty::ERROR).then_some((value, target))
    }

    pub(super) fn this_value(&mut self, span: Span) -> Expr {
        if let This::Variable(variable) = self.this {
            let local = self.local_of(variable);
            return Expr { kind: ExprKind::Local(local), ty: self.variables[variable.0].ty, span };
        }
        self.report_no_this("`this`", span);
        error_expr(span)
    }

    /// Reports that there is no object here; `what` needs one.
    pub(super) fn report_no_this(&mut self, what: &str, span: Span) {
        let (why, help) = match self.this {
            This::Early => {
                ("field initialisers run before there is an object", "assign the field in `init` instead")
            }
            This::Static => {
                ("static members belong to the class, not to an object", "remove `static`, or pass an object")
            }
            _ => ("functions at the top level belong to no object", "pass the object as a parameter"),
        };
        let message = format!("{what} cannot be used here");
        self.report(Diagnostic::new(span, message, why).help(help));
    }
}

/// The first of the values that never comes, if there is one; what stands before it is left in the list.
fn take_never(values: &mut Vec<Expr>) -> Option<Expr> {
    let never = values.iter().position(|value| value.ty == Ty::NEVER)?;
    values.drain(never..).next()
}
