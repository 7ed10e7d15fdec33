//! Constructors do less than they say: a new object is all zeros already, so that setting a field to zero, false or null
//! before anything else was done with it is no work, and an `init` that does nothing else need not be called.

use super::Declarations;
use super::function::{FunctionLowering, Goal, Operand};
use super::walk::{Part, for_each_part};
use crate::typed::{Body, Expr, ExprKind, FunctionIndex, LocalIndex, Stmt, StmtKind, TyKind, Types};

/// An object is made through at most so many inits, for the question whether they do anything.
const MAX_CHAIN: usize = 32;

/// Is the value what a new object or array holds anyway.
pub(super) fn is_zero(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(value) => *value == 0,
        ExprKind::Float(value) => value.to_bits() == 0,
        ExprKind::Bool(value) => !value,
        ExprKind::Null => true,
        ExprKind::Convert(inner) => matches!(inner.kind, ExprKind::Null),
        _ => false,
    }
}

impl Declarations {
    /// Is the function the `init` of a class.
    pub(super) fn is_init(&self, function: FunctionIndex) -> bool {
        self.classes.iter().any(|class| class.init == Some(function))
    }

    /// Does an `init` leave a new object as it is.
    pub(super) fn does_nothing(&self, init: FunctionIndex, types: &Types) -> bool {
        let mut at = init;
        for _ in 0..MAX_CHAIN {
            let Some(Body { expr: Expr { kind: ExprKind::Block(statements, None), .. }, .. }) =
                &self.functions[at.index()].body
            else {
                return false;
            };
            let zeros = zero_stores(statements);
            let rest = statements.iter().zip(zeros).filter(|(_, zero)| !zero).map(|(statement, _)| statement);
            match rest.collect::<Vec<_>>().as_slice() {
                [] => return true,
                [Stmt { kind: StmtKind::Expr(Expr { kind: ExprKind::SuperInit(ty, list), .. }), .. }] => {
                    let TyKind::Class(class, _) = types.kind(*ty) else { return false };
                    let plain =
                        |e: &Expr| matches!(e.kind, ExprKind::Local(_) | ExprKind::Int(_) | ExprKind::Null);
                    if !list.iter().all(plain) {
                        return false;
                    }
                    match self.classes[class.index()].init {
                        Some(next) => at = next,
                        None => return true,
                    }
                }
                _ => return false,
            }
        }
        false
    }
}

/// For each statement of an `init`, whether it sets a field to what it is anyway.
fn zero_stores(statements: &[Stmt]) -> Vec<bool> {
    let mut zeros = vec![false; statements.len()];
    let mut set = Vec::new();
    for (statement, zero) in statements.iter().zip(&mut zeros) {
        let StmtKind::SetField(Expr { kind: ExprKind::Local(LocalIndex(0)), .. }, field, value) =
            &statement.kind
        else {
            break;
        };
        if has_statements(value) {
            break;
        }
        *zero = is_zero(value) && !set.contains(field);
        set.push(*field);
    }
    zeros
}

/// Are there statements inside, which might assign fields.
fn has_statements(expr: &Expr) -> bool {
    let mut found = matches!(expr.kind, ExprKind::Block(..) | ExprKind::Closure(_));
    for_each_part(expr, &mut |part| {
        found = found
            || match part {
                Part::Expr(expr) => has_statements(expr),
                Part::Assignment(_) => true,
            };
    });
    found
}

impl<'p> FunctionLowering<'_, 'p> {
    /// The code of an `init`.
    pub(super) fn init_body(&mut self, body: &'p Body) {
        let ExprKind::Block(statements, None) = &body.expr.kind else { return self.body(body) };
        let zeros = zero_stores(statements);
        let done = zeros.iter().rposition(|&zero| zero).map_or(0, |last| last + 1);
        let (first, rest) = statements.split_at(done);
        let scope = self.open_scope();
        for (statement, zero) in first.iter().zip(zeros) {
            if !zero {
                self.statements(std::slice::from_ref(statement), None);
            }
        }
        self.statements(rest, None);
        self.no_value(Goal::Return);
        self.close_scope(scope, Operand::NONE);
    }
}
