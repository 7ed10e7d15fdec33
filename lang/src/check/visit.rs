//! Walking typed trees.
//!
//! [`children`] is the one place that knows where every node keeps its parts; the other walks are made of it.
//! Those of locals and loops do not enter the bodies of closures, which have their own.

use crate::typed::*;

/// Calls `visit` on each direct part of an expression, in the order of evaluation.
pub(super) fn children(expr: &mut Expr, visit: &mut dyn FnMut(&mut Expr)) {
    match &mut expr.kind {
        ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Bool(_)
        | ExprKind::Str(_)
        | ExprKind::Null
        | ExprKind::Unit
        | ExprKind::Local(_)
        | ExprKind::Global(_)
        | ExprKind::FunctionValue(..)
        | ExprKind::Variant(_)
        | ExprKind::Closure(_)
        | ExprKind::Continue(_) => {}
        ExprKind::NewVariant(_, args)
        | ExprKind::ArrayLiteral(args)
        | ExprKind::New(_, args)
        | ExprKind::SuperInit(_, args)
        | ExprKind::Call(_, _, args)
        | ExprKind::Builtin(_, args) => args.iter_mut().for_each(visit),
        ExprKind::CallVirtual { receiver, args, .. }
        | ExprKind::CallInterface { receiver, args, .. }
        | ExprKind::CallBound { receiver, args, .. }
        | ExprKind::CallClosure(receiver, args) => {
            visit(receiver);
            args.iter_mut().for_each(visit);
        }
        ExprKind::Field(inner, _)
        | ExprKind::VariantOrdinal(inner)
        | ExprKind::NonNull(inner)
        | ExprKind::Unary(_, inner)
        | ExprKind::Is(inner, _)
        | ExprKind::Cast(inner)
        | ExprKind::CastNullable(inner)
        | ExprKind::Convert(inner)
        | ExprKind::Loop(_, inner)
        | ExprKind::Throw(inner) => visit(inner),
        ExprKind::Index(a, b)
        | ExprKind::Binary(_, a, b)
        | ExprKind::Equals { left: a, right: b, .. }
        | ExprKind::And(a, b)
        | ExprKind::Or(a, b) => {
            visit(a);
            visit(b);
        }
        ExprKind::Block(stmts, value) => {
            stmts.iter_mut().for_each(|stmt| stmt_children(stmt, visit));
            value.iter_mut().for_each(|value| visit(value));
        }
        ExprKind::If(cond, then, otherwise) => {
            visit(cond);
            visit(then);
            otherwise.iter_mut().for_each(|otherwise| visit(otherwise));
        }
        ExprKind::IfNonNull { value, then, otherwise, .. } => {
            visit(value);
            visit(then);
            otherwise.iter_mut().for_each(|otherwise| visit(otherwise));
        }
        ExprKind::Match { scrutinee, arms, .. } => {
            visit(scrutinee);
            for arm in arms {
                arm.guard.iter_mut().for_each(&mut *visit);
                visit(&mut arm.body);
            }
        }
        ExprKind::Try(body, catches) => {
            visit(body);
            catches.iter_mut().for_each(|catch| visit(&mut catch.body));
        }
        ExprKind::Return(value) | ExprKind::Break(_, value) => {
            value.iter_mut().for_each(|value| visit(value));
        }
    }
}

/// Calls `visit` on each expression that is a direct part of a statement.
fn stmt_children(stmt: &mut Stmt, visit: &mut dyn FnMut(&mut Expr)) {
    match &mut stmt.kind {
        StmtKind::Let(_, value)
        | StmtKind::Expr(value)
        | StmtKind::SetLocal(_, value)
        | StmtKind::SetGlobal(_, value) => visit(value),
        StmtKind::SetField(object, _, value) => {
            visit(object);
            visit(value);
        }
        StmtKind::SetIndex(object, index, value) => {
            visit(object);
            visit(index);
            visit(value);
        }
        StmtKind::While(_, cond, body) => {
            visit(cond);
            visit(body);
        }
        StmtKind::WhileNonNull { value, body, .. } => {
            visit(value);
            visit(body);
        }
        StmtKind::ForRange { from, to, body, .. } => {
            visit(from);
            visit(to);
            visit(body);
        }
        StmtKind::ForEach { iterable, body, .. } => {
            visit(iterable);
            visit(body);
        }
    }
}

/// Calls `visit` on an expression and everything in it, outer nodes first.
pub(super) fn for_own_exprs(expr: &mut Expr, visit: &mut dyn FnMut(&mut Expr)) {
    visit(expr);
    children(expr, &mut |child| for_own_exprs(child, visit));
}

/// Calls `change` on an expression and everything in it, inner nodes first, so that what `change` puts in is not
/// visited.
pub(super) fn rewrite_own_exprs(expr: &mut Expr, change: &mut dyn FnMut(&mut Expr)) {
    children(expr, &mut |child| rewrite_own_exprs(child, change));
    change(expr);
}

/// Calls `visit` on every mention of a local of this body.
pub(super) fn for_own_locals(expr: &mut Expr, visit: &mut dyn FnMut(&mut LocalIndex)) {
    for_own_exprs(expr, &mut |expr| match &mut expr.kind {
        ExprKind::Local(local) | ExprKind::IfNonNull { local, .. } => visit(local),
        ExprKind::Closure(closure) => closure.captures.iter_mut().for_each(|(outer, _)| visit(outer)),
        ExprKind::Block(stmts, _) => {
            for stmt in stmts {
                match &mut stmt.kind {
                    StmtKind::Let(local, _)
                    | StmtKind::SetLocal(local, _)
                    | StmtKind::WhileNonNull { local, .. }
                    | StmtKind::ForRange { local, .. }
                    | StmtKind::ForEach { local, .. } => visit(local),
                    _ => {}
                }
            }
        }
        ExprKind::Match { local, arms, .. } => {
            visit(local);
            arms.iter_mut().for_each(|arm| pattern_locals(&mut arm.pattern, visit));
        }
        ExprKind::Try(_, catches) => catches.iter_mut().for_each(|catch| visit(&mut catch.local)),
        _ => {}
    });
}

fn pattern_locals(pattern: &mut Pattern, visit: &mut dyn FnMut(&mut LocalIndex)) {
    match pattern {
        Pattern::Bind(local) | Pattern::Is(_, Some(local)) => visit(local),
        Pattern::Variant(_, patterns) | Pattern::Or(patterns) => {
            patterns.iter_mut().for_each(|pattern| pattern_locals(pattern, visit));
        }
        _ => {}
    }
}

/// Gives every mention of a global its final number, closures included.
pub(super) fn renumber_globals(expr: &mut Expr, number: &[GlobalIndex]) {
    for_own_exprs(expr, &mut |expr| match &mut expr.kind {
        ExprKind::Global(global) => *global = number[global.index()],
        ExprKind::Closure(closure) => renumber_globals(&mut closure.body.expr, number),
        ExprKind::Block(stmts, _) => {
            for stmt in stmts {
                if let StmtKind::SetGlobal(global, _) = &mut stmt.kind {
                    *global = number[global.index()];
                }
            }
        }
        _ => {}
    });
}
