//! Statements and expressions: lists that begin with what they are.

use super::items::{keyword, params, pattern, result, type_args, type_text, typed};
use super::layout::Tree;
use crate::ast::{
    Arm, AssignOp, BinaryOp, Block, Cond, Expr, ExprKind, Name, Stmt, StmtKind, StrPart, UnaryOp,
};

/// `(block statements…)`.
pub(super) fn block(block: &Block) -> Tree {
    Tree::list("block", block.stmts.iter().map(statement))
}

fn statement(statement: &Stmt) -> Tree {
    match &statement.kind {
        StmtKind::Let { mutable, name, ty, init } => {
            let head = format!("{} {}", keyword(*mutable), typed(&name.text, ty.as_ref()));
            Tree::list(head, [expr(init)])
        }
        StmtKind::Expr(value) => expr(value),
        StmtKind::Assign { op, target, value } => {
            let op = match op {
                None => "=".to_string(),
                Some(AssignOp::Coalesce) => "??=".to_string(),
                Some(AssignOp::Binary(op)) => format!("{}=", binary_op(*op)),
            };
            Tree::list(op, [expr(target), expr(value)])
        }
        StmtKind::While { label, cond, body } => {
            Tree::list(labelled(label.as_ref(), "while"), [condition(cond), block(body)])
        }
        StmtKind::ForRange { label, var, from, to, inclusive, step, body } => {
            let head = format!("{} {}", labelled(label.as_ref(), "for"), var.text);
            let range = if *inclusive { "..=" } else { ".." };
            let step = (*step != 1).then(|| Tree::list("step", [Tree::word(step.to_string())]));
            let range = Tree::list(range, [expr(from), expr(to)].into_iter().chain(step));
            Tree::list(head, [range, block(body)])
        }
        StmtKind::ForEach { label, var, iterable, body } => {
            let head = format!("{} {}", labelled(label.as_ref(), "for"), var.text);
            Tree::list(head, [Tree::list("in", [expr(iterable)]), block(body)])
        }
        StmtKind::Error => error(),
    }
}

fn error() -> Tree {
    Tree::list("error", [])
}

fn labelled(label: Option<&Name>, word: &str) -> String {
    label.map(|label| format!("'{}: ", label.text)).unwrap_or_default() + word
}

fn jump(word: &str, label: Option<&Name>) -> String {
    label.map_or(word.to_string(), |label| format!("{word} '{}", label.text))
}

fn condition(cond: &Cond) -> Tree {
    match cond {
        Cond::Expr(value) => expr(value),
        Cond::Let(name, value) => Tree::list(format!("let {}", name.text), [expr(value)]),
    }
}

/// An expression.
pub(super) fn expr(expr_: &Expr) -> Tree {
    let expr = self::expr;
    let with = |head: &str, first: Option<&Expr>, rest: &[Expr]| {
        Tree::list(head, first.into_iter().chain(rest).map(expr))
    };
    match &expr_.kind {
        ExprKind::Int(value) => Tree::word(value.to_string()),
        ExprKind::Float(value) => Tree::word(format!("{value:?}")),
        ExprKind::Bool(value) => Tree::word(value.to_string()),
        ExprKind::Null => Tree::word("null"),
        ExprKind::Unit => Tree::word("()"),
        ExprKind::Str(text) => Tree::word(format!("{text:?}")),
        ExprKind::Interpolated(parts) => Tree::list(
            "interpolate",
            parts.iter().map(|part| match part {
                StrPart::Text(text) => Tree::word(format!("{text:?}")),
                StrPart::Expr(value) => expr(value),
            }),
        ),
        ExprKind::This => Tree::word("this"),
        ExprKind::Name(name, args) => Tree::word(format!("{}{}", name.text, type_args(args))),
        ExprKind::Array(elements) => with("array", None, elements),
        ExprKind::Call { callee, args } => with("call", Some(callee), args),
        ExprKind::SuperInit(args) => with("super", None, args),
        ExprKind::SuperCall { name, args } => with(&format!("super.{}", name.text), None, args),
        ExprKind::Member { object, name, safe, type_args: args } => {
            let name = Tree::word(format!("{}{}", name.text, type_args(args)));
            Tree::list(if *safe { "?." } else { "." }, [expr(object), name])
        }
        ExprKind::Index(object, index) => Tree::list("index", [expr(object), expr(index)]),
        ExprKind::NonNull(value) => Tree::list("non-null", [expr(value)]),
        ExprKind::Unary(op, operand) => {
            let op = match op {
                UnaryOp::Neg => "-",
                UnaryOp::Not => "!",
                UnaryOp::BitNot => "~",
            };
            Tree::list(op, [expr(operand)])
        }
        ExprKind::Binary(op, _, left, right) => Tree::list(binary_op(*op), [expr(left), expr(right)]),
        ExprKind::Is(value, ty) => Tree::list("is", [expr(value), Tree::word(type_text(ty))]),
        ExprKind::As(value, ty) => Tree::list("as", [expr(value), Tree::word(type_text(ty))]),
        ExprKind::AsNullable(value, ty) => Tree::list("as?", [expr(value), Tree::word(type_text(ty))]),
        ExprKind::Closure { params: written, result: ty, body } => {
            let head = format!("closure |{}|{}", params(written), result(ty.as_ref()));
            Tree::list(head, [expr(body)])
        }
        ExprKind::Block(body) => block(body),
        ExprKind::If { cond, then, otherwise } => {
            let otherwise = otherwise.iter().map(|otherwise| expr(otherwise));
            Tree::list("if", [condition(cond), block(then)].into_iter().chain(otherwise))
        }
        ExprKind::Match { scrutinee, arms } => {
            Tree::list("match", std::iter::once(expr(scrutinee)).chain(arms.iter().map(arm)))
        }
        ExprKind::Loop { label, body } => Tree::list(labelled(label.as_ref(), "loop"), [block(body)]),
        ExprKind::Try { body, catches } => {
            let catches = catches.iter().map(|clause| {
                let head = format!("catch {}", typed(&clause.name.text, clause.ty.as_ref()));
                Tree::list(head, [block(&clause.body)])
            });
            Tree::list("try", std::iter::once(block(body)).chain(catches))
        }
        ExprKind::Return(value) => with("return", value.as_deref(), &[]),
        ExprKind::Throw(value) => with("throw", Some(value), &[]),
        ExprKind::Break { label, value } => with(&jump("break", label.as_ref()), value.as_deref(), &[]),
        ExprKind::Continue { label } => with(&jump("continue", label.as_ref()), None, &[]),
        ExprKind::Error => error(),
    }
}

fn arm(arm: &Arm) -> Tree {
    let guard = arm.guard.iter().map(|guard| Tree::list("guard", [expr(guard)]));
    Tree::list(format!("=> {}", pattern(&arm.pattern)), guard.chain([expr(&arm.body)]))
}

fn binary_op(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        BinaryOp::And => "&",
        BinaryOp::Or => "|",
        BinaryOp::Xor => "^",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
        BinaryOp::Ushr => ">>>",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
        BinaryOp::AndAnd => "&&",
        BinaryOp::OrOr => "||",
        BinaryOp::Coalesce => "??",
    }
}
