//! Questions about a tree that is still to be lowered: does it assign a variable, may it be written twice.
//!
//! All of them look at a limited number of nodes and then give the cautious answer, so that no source makes lowering slow.

use crate::typed::{Body, Expr, ExprKind, LocalIndex, Stmt, StmtKind};

/// Questions look at no more nodes than this.
const BUDGET: usize = 400;

/// A set of locals of one body.
#[derive(Default)]
pub(super) struct LocalSet {
    members: Vec<bool>,
}

impl LocalSet {
    /// The locals that a body assigns after their declaration. Those in cells are not meant: they have no register.
    pub(super) fn assigned_in(body: &Body) -> LocalSet {
        let mut set = LocalSet { members: vec![false; body.locals.len()] };
        set.collect(&body.expr);
        set
    }

    fn collect(&mut self, expr: &Expr) {
        for_each_part(expr, &mut |part| match part {
            Part::Expr(expr) => self.collect(expr),
            Part::Assignment(local) => self.members[local.index()] = true,
        });
    }

    /// Is the local in the set.
    pub(super) fn contains(&self, local: LocalIndex) -> bool {
        self.members.get(local.index()).copied().unwrap_or(false)
    }
}

/// What an expression consists of.
pub(super) enum Part<'e> {
    /// Another expression of the same body.
    Expr(&'e Expr),
    /// An assignment to a local.
    Assignment(LocalIndex),
}

/// May one of the expressions assign the local. Closures cannot: a variable that they assign lives in a cell.
pub(super) fn assigns_any(code: &[&Expr], local: LocalIndex) -> bool {
    let mut budget = BUDGET;
    code.iter().any(|expr| assigns(expr, local, &mut budget))
}

/// May the rest of a block, from `statements` on, assign the local.
pub(super) fn rest_assigns(statements: &[Stmt], value: Option<&Expr>, local: LocalIndex) -> bool {
    let mut budget = BUDGET;
    let mut found = false;
    for statement in statements {
        for_each_part_of_statement(statement, &mut |part| {
            found = found || part_assigns(part, local, &mut budget);
        });
        if found {
            return true;
        }
    }
    value.is_some_and(|value| assigns(value, local, &mut budget))
}

fn assigns(expr: &Expr, local: LocalIndex, budget: &mut usize) -> bool {
    if *budget == 0 {
        return true;
    }
    *budget -= 1;
    let mut found = false;
    for_each_part(expr, &mut |part| found = found || part_assigns(part, local, budget));
    found
}

fn part_assigns(part: Part<'_>, local: LocalIndex, budget: &mut usize) -> bool {
    match part {
        Part::Expr(expr) => assigns(expr, local, budget),
        Part::Assignment(assigned) => assigned == local,
    }
}

/// The local that an expression reads, if it does nothing else.
pub(super) fn plain_local(expr: &Expr) -> Option<LocalIndex> {
    match &expr.kind {
        ExprKind::Local(local) => Some(*local),
        ExprKind::Convert(inner) => plain_local(inner),
        _ => None,
    }
}

/// Roughly how many instructions an expression is; `None` if it should not be written twice: it is longer than `limit`, or has
/// parts (closures, statements, choices between many) that are.
pub(super) fn short(expr: &Expr, limit: usize) -> Option<usize> {
    let own = match &expr.kind {
        ExprKind::Closure(_)
        | ExprKind::Match { .. }
        | ExprKind::Block(..)
        | ExprKind::Loop(..)
        | ExprKind::Try(..)
        | ExprKind::If(..)
        | ExprKind::IfNonNull { .. }
        | ExprKind::ArrayLiteral(_) => return None,
        ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::Null | ExprKind::Unit | ExprKind::Local(_) => 0,
        ExprKind::And(..) | ExprKind::Or(..) | ExprKind::Convert(_) => 0,
        _ => 1,
    };
    let mut total = Some(own);
    for_each_part(expr, &mut |part| {
        total = match (total, part) {
            (Some(total), Part::Expr(expr)) if total <= limit => short(expr, limit).map(|size| size + total),
            _ => None,
        };
    });
    total.filter(|&total| total <= limit)
}

/// Calls `visit` for the direct parts of an expression, in the order of evaluation.
pub(super) fn for_each_part<'e>(expr: &'e Expr, visit: &mut dyn FnMut(Part<'e>)) {
    match &expr.kind {
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
        ExprKind::NewVariant(_, list)
        | ExprKind::ArrayLiteral(list)
        | ExprKind::New(_, list)
        | ExprKind::SuperInit(_, list)
        | ExprKind::Call(_, _, list)
        | ExprKind::Builtin(_, list) => list.iter().for_each(|e| visit(Part::Expr(e))),
        ExprKind::CallVirtual { receiver, args, .. }
        | ExprKind::CallInterface { receiver, args, .. }
        | ExprKind::CallBound { receiver, args, .. }
        | ExprKind::CallClosure(receiver, args) => {
            visit(Part::Expr(receiver));
            args.iter().for_each(|e| visit(Part::Expr(e)));
        }
        ExprKind::Field(e, _)
        | ExprKind::VariantOrdinal(e)
        | ExprKind::NonNull(e)
        | ExprKind::Unary(_, e)
        | ExprKind::Is(e, _)
        | ExprKind::Cast(e)
        | ExprKind::CastNullable(e)
        | ExprKind::Convert(e)
        | ExprKind::Loop(_, e)
        | ExprKind::Throw(e) => visit(Part::Expr(e)),
        ExprKind::Index(a, b)
        | ExprKind::Binary(_, a, b)
        | ExprKind::Equals { left: a, right: b, .. }
        | ExprKind::And(a, b)
        | ExprKind::Or(a, b) => {
            visit(Part::Expr(a));
            visit(Part::Expr(b));
        }
        ExprKind::Block(statements, value) => {
            statements.iter().for_each(|statement| for_each_part_of_statement(statement, visit));
            value.iter().for_each(|value| visit(Part::Expr(value)));
        }
        ExprKind::If(first, then, otherwise) | ExprKind::IfNonNull { value: first, then, otherwise, .. } => {
            visit(Part::Expr(first));
            visit(Part::Expr(then));
            otherwise.iter().for_each(|e| visit(Part::Expr(e)));
        }
        ExprKind::Match { scrutinee, arms, .. } => {
            visit(Part::Expr(scrutinee));
            for arm in arms {
                arm.guard.iter().for_each(|guard| visit(Part::Expr(guard)));
                visit(Part::Expr(&arm.body));
            }
        }
        ExprKind::Try(body, catches) => {
            visit(Part::Expr(body));
            catches.iter().for_each(|catch| visit(Part::Expr(&catch.body)));
        }
        ExprKind::Return(value) | ExprKind::Break(_, value) => {
            value.iter().for_each(|value| visit(Part::Expr(value)));
        }
    }
}

/// Calls `visit` for the direct parts of a statement.
pub(super) fn for_each_part_of_statement<'e>(statement: &'e Stmt, visit: &mut dyn FnMut(Part<'e>)) {
    match &statement.kind {
        StmtKind::Let(_, e) | StmtKind::Expr(e) | StmtKind::SetGlobal(_, e) => visit(Part::Expr(e)),
        StmtKind::SetLocal(local, e) => {
            visit(Part::Expr(e));
            visit(Part::Assignment(*local));
        }
        StmtKind::SetField(a, _, b)
        | StmtKind::While(_, a, b)
        | StmtKind::WhileNonNull { value: a, body: b, .. }
        | StmtKind::ForEach { iterable: a, body: b, .. } => {
            visit(Part::Expr(a));
            visit(Part::Expr(b));
        }
        StmtKind::SetIndex(a, b, c) | StmtKind::ForRange { from: a, to: b, body: c, .. } => {
            visit(Part::Expr(a));
            visit(Part::Expr(b));
            visit(Part::Expr(c));
        }
    }
}
