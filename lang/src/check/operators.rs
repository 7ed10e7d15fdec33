//! Arithmetic, comparison, `!`, `??` and `a[i]`.

use super::body::BodyChecker;
use super::expected::{Expected, convert, error_expr, never_after};
use crate::ast::{self, BinaryOp as Op};
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{BinaryOp, Expr, ExprKind, Ty, TyKind, UnaryOp};

impl BodyChecker<'_, '_> {
    pub(super) fn unary(&mut self, op: ast::UnaryOp, inner: &ast::Expr, span: Span) -> Expr {
        let inner = self.expr(inner, Expected::Free);
        let (kind, ty) = match (op, inner.ty) {
            (_, Ty::ERROR | Ty::NEVER) => return inner,
            (ast::UnaryOp::Neg, Ty::INT) => (UnaryOp::NegInt, Ty::INT),
            (ast::UnaryOp::Neg, Ty::FLOAT) => (UnaryOp::NegFloat, Ty::FLOAT),
            (ast::UnaryOp::BitNot, Ty::INT) => (UnaryOp::BitNot, Ty::INT),
            (ast::UnaryOp::Not, Ty::BOOL) => (UnaryOp::Not, Ty::BOOL),
            _ => {
                let (text, wants) = match op {
                    ast::UnaryOp::Neg => ("-", "an `Int` or a `Float`"),
                    ast::UnaryOp::Not => ("!", "a `Bool`"),
                    ast::UnaryOp::BitNot => ("~", "an `Int`"),
                };
                let ty = self.quote(inner.ty);
                let message = format!("`{text}` wants {wants}, not {ty}");
                let diagnostic = Diagnostic::new(inner.span, message, format!("this is {ty}"));
                let diagnostic = self.with_null_help(diagnostic, inner.ty);
                self.report(diagnostic);
                return error_expr(span);
            }
        };
        Expr { kind: ExprKind::Unary(kind, Box::new(inner)), ty, span }
    }

    pub(super) fn binary(
        &mut self,
        op: Op,
        place: Span,
        left: &ast::Expr,
        right: &ast::Expr,
        span: Span,
    ) -> Expr {
        let left = self.expr(left, Expected::Free);
        let right = self.expr(right, Expected::Free);
        self.combine(op, place, left, right, span)
    }

    /// `left op right` on checked operands.
    pub(super) fn combine(&mut self, op: Op, place: Span, left: Expr, right: Expr, span: Span) -> Expr {
        for operand in [&left, &right] {
            if operand.ty == Ty::ERROR {
                return error_expr(span);
            }
        }
        if left.ty == Ty::NEVER {
            return left;
        }
        if right.ty == Ty::NEVER {
            return never_after(vec![left], right);
        }
        let Some((kind, ty)) = operation(op, left.ty, right.ty) else {
            self.report_operands(op, place, &left, &right);
            return error_expr(span);
        };
        Expr { kind: ExprKind::Binary(kind, Box::new(left), Box::new(right)), ty, span }
    }

    fn report_operands(&mut self, op: Op, place: Span, left: &Expr, right: &Expr) {
        let text = operator_text(op);
        let (one, two) = (self.quote(left.ty), self.quote(right.ty));
        let message = format!("`{text}` cannot be applied to {one} and {two}");
        let diagnostic = Diagnostic::new(place, message, "no such operation")
            .related(left.span, format!("this is {one}"))
            .related(right.span, format!("this is {two}"));
        let numbers = [Ty::INT, Ty::FLOAT];
        let diagnostic = if let TyKind::Nullable(_) = self.types.kind(left.ty) {
            self.with_null_help(diagnostic, left.ty)
        } else if let TyKind::Nullable(_) = self.types.kind(right.ty) {
            self.with_null_help(diagnostic, right.ty)
        } else if numbers.contains(&left.ty) && numbers.contains(&right.ty) {
            diagnostic.help(match op {
                Op::And | Op::Or | Op::Xor | Op::Shl | Op::Shr | Op::Ushr => "bit operations work on `Int`s",
                _ => "numbers do not convert by themselves: write `.toFloat()` or `.toInt()`",
            })
        } else if op == Op::Add && (left.ty == Ty::STRING || right.ty == Ty::STRING) {
            diagnostic.help("`+` joins two strings; put other values into a string: `\"… ${value}\"`")
        } else if left.ty == Ty::BOOL && right.ty == Ty::BOOL {
            diagnostic.help("`Bool`s have `&&`, `||`, `!`, `==` and `!=`")
        } else if let TyKind::Param(_) = self.types.kind(left.ty) {
            diagnostic.help("values of a type parameter have the methods of its bounds, such as `compareTo`")
        } else {
            diagnostic
        };
        self.report(diagnostic);
    }

    /// Adds what to do about a value that may be null.
    pub(super) fn with_null_help(&self, diagnostic: Diagnostic, ty: Ty) -> Diagnostic {
        match self.types.kind(ty) {
            TyKind::Nullable(_) | TyKind::Null => diagnostic.help(
                "it may be null: test it with `!= null`, give a replacement with `?? …`, or assert with `!`",
            ),
            _ => diagnostic,
        }
    }

    /// `a ?? b`.
    pub(super) fn coalesce(
        &mut self,
        left: &ast::Expr,
        right: &ast::Expr,
        span: Span,
        expected: Expected,
    ) -> Expr {
        let wanted = expected.ty();
        let hint = wanted.map(|ty| self.types.nullable(ty)).map_or(Expected::Free, Expected::Type);
        let mut value = self.raw_expr(left, hint);
        if self.was_nullable(left, &value) {
            let ty = self.types.nullable(value.ty);
            value = convert(value, ty);
        }
        let before = self.narrowed.clone();
        let hint = match (expected, wanted) {
            (Expected::Type(ty), Some(_)) => Expected::Type(ty),
            _ => Expected::Free,
        };
        let replacement = self.expr(right, hint);
        // The right side may not have run.
        let after = std::mem::replace(&mut self.narrowed, before);
        self.narrowed.retain(|fact| after.contains(fact));
        if value.ty == Ty::ERROR || replacement.ty == Ty::ERROR {
            return error_expr(span);
        }
        if value.ty == Ty::NEVER {
            return value;
        }
        let TyKind::Nullable(inner) = *self.types.kind(value.ty) else {
            self.report_never_null(&value, "??");
            return error_expr(span);
        };
        let ty = match wanted {
            Some(ty) if self.converts(inner, ty) => ty,
            _ => self.join_all(
                &[(inner, value.span), (replacement.ty, replacement.span)],
                "the two sides of `??`",
            ),
        };
        if ty == Ty::ERROR {
            return error_expr(span);
        }
        let local = self.hidden_local("$value", inner, value.span);
        let read = Expr { kind: ExprKind::Local(local), ty: inner, span: value.span };
        let kind = ExprKind::IfNonNull {
            local,
            value: Box::new(value),
            then: Box::new(convert(read, ty)),
            otherwise: Some(Box::new(convert(replacement, ty))),
        };
        Expr { kind, ty, span }
    }

    /// Reports `!`, `?.` or `??` on something that is not nullable.
    pub(super) fn report_never_null(&mut self, value: &Expr, operator: &str) {
        let ty = self.quote(value.ty);
        let message = match value.ty {
            Ty::NULL => format!("`{operator}` on `null` itself"),
            _ => format!("`{operator}` is not needed: {ty} is never null"),
        };
        let help = match operator {
            "?." => "write `.`".to_string(),
            "??" => "remove the `??` and what follows it".to_string(),
            _ => format!("remove the `{operator}`"),
        };
        self.report(Diagnostic::new(value.span, message, format!("this is {ty}")).help(help));
    }

    /// `e!`.
    pub(super) fn non_null(&mut self, written: &ast::Expr, span: Span, expected: Expected) -> Expr {
        let hint = expected.ty().map(|ty| self.types.nullable(ty)).map_or(Expected::Free, Expected::Type);
        let value = self.raw_expr(written, hint);
        match *self.types.kind(value.ty) {
            TyKind::Nullable(inner) => Expr { kind: ExprKind::NonNull(Box::new(value)), ty: inner, span },
            TyKind::Error | TyKind::Never => value,
            _ if self.was_nullable(written, &value) => value,
            _ => {
                self.report_never_null(&value, "!");
                error_expr(span)
            }
        }
    }

    /// `a[i]`.
    pub(super) fn index(&mut self, object: &ast::Expr, index: &ast::Expr, span: Span) -> Expr {
        let object = self.expr(object, Expected::Free);
        let index = self.expr(index, Expected::Type(Ty::INT));
        match self.element_type(&object) {
            Some(_) if object.ty == Ty::NEVER => object,
            Some(_) if index.ty == Ty::NEVER => never_after(vec![object], index),
            Some(_) if index.ty == Ty::ERROR => error_expr(span),
            Some(element) => {
                Expr { kind: ExprKind::Index(Box::new(object), Box::new(index)), ty: element, span }
            }
            None => error_expr(span),
        }
    }

    /// The type of the elements of something that is indexed; reports if it cannot be.
    pub(super) fn element_type(&mut self, object: &Expr) -> Option<Ty> {
        match self.types.kind(object.ty) {
            TyKind::Array(element) => return Some(*element),
            TyKind::Bytes | TyKind::String => return Some(Ty::INT),
            TyKind::Never => return Some(Ty::NEVER),
            TyKind::Error => return None,
            _ => {}
        }
        let ty = self.quote(object.ty);
        let mut diagnostic = Diagnostic::new(
            object.span,
            format!("{ty} cannot be indexed with `[…]`"),
            format!("this is {ty}"),
        );
        diagnostic = self.with_null_help(diagnostic, object.ty);
        if self.has_method(object.ty, "get") {
            diagnostic = diagnostic.help("write `.get(…)`, and `.set(…, …)` to assign");
        } else if diagnostic.help.is_none() {
            diagnostic = diagnostic.help("arrays, `Bytes` and strings have elements");
        }
        self.report(diagnostic);
        None
    }
}

/// What an operator does on two types.
fn operation(op: Op, left: Ty, right: Ty) -> Option<(BinaryOp, Ty)> {
    use BinaryOp::*;
    if left != right {
        return None;
    }
    let on_int = match op {
        Op::Add => AddInt,
        Op::Sub => SubInt,
        Op::Mul => MulInt,
        Op::Div => DivInt,
        Op::Rem => RemInt,
        Op::And => And,
        Op::Or => Or,
        Op::Xor => Xor,
        Op::Shl => Shl,
        Op::Shr => Shr,
        Op::Ushr => Ushr,
        Op::Lt => LtInt,
        Op::Le => LeInt,
        Op::Gt => GtInt,
        Op::Ge => GeInt,
        Op::Eq | Op::Ne | Op::AndAnd | Op::OrOr | Op::Coalesce => return None,
    };
    let (found, result) = match (on_int, left) {
        (found, Ty::INT) => (found, Ty::INT),
        (AddInt, Ty::FLOAT) => (AddFloat, Ty::FLOAT),
        (SubInt, Ty::FLOAT) => (SubFloat, Ty::FLOAT),
        (MulInt, Ty::FLOAT) => (MulFloat, Ty::FLOAT),
        (DivInt, Ty::FLOAT) => (DivFloat, Ty::FLOAT),
        (RemInt, Ty::FLOAT) => (RemFloat, Ty::FLOAT),
        (LtInt, Ty::FLOAT) => (LtFloat, Ty::FLOAT),
        (LeInt, Ty::FLOAT) => (LeFloat, Ty::FLOAT),
        (GtInt, Ty::FLOAT) => (GtFloat, Ty::FLOAT),
        (GeInt, Ty::FLOAT) => (GeFloat, Ty::FLOAT),
        (AddInt, Ty::STRING) => (Concat, Ty::STRING),
        (LtInt, Ty::STRING) => (LtString, Ty::STRING),
        (LeInt, Ty::STRING) => (LeString, Ty::STRING),
        (GtInt, Ty::STRING) => (GtString, Ty::STRING),
        (GeInt, Ty::STRING) => (GeString, Ty::STRING),
        _ => return None,
    };
    let compares = matches!(op, Op::Lt | Op::Le | Op::Gt | Op::Ge);
    Some((found, if compares { Ty::BOOL } else { result }))
}

/// The operator as written.
pub(super) fn operator_text(op: Op) -> &'static str {
    match op {
        Op::Add => "+",
        Op::Sub => "-",
        Op::Mul => "*",
        Op::Div => "/",
        Op::Rem => "%",
        Op::And => "&",
        Op::Or => "|",
        Op::Xor => "^",
        Op::Shl => "<<",
        Op::Shr => ">>",
        Op::Ushr => ">>>",
        Op::Eq => "==",
        Op::Ne => "!=",
        Op::Lt => "<",
        Op::Le => "<=",
        Op::Gt => ">",
        Op::Ge => ">=",
        Op::AndAnd => "&&",
        Op::OrOr => "||",
        Op::Coalesce => "??",
    }
}
