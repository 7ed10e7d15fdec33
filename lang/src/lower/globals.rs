//! Globals that are constants: an immutable global whose initialiser is a number or truth value needs no reading.
//!
//! Only one thing tells it from a constant: code that runs before its initialiser reads zero. So it must be shown that nothing
//! does. Code of other modules cannot see it then, because a module is initialised before its importers; what remains are
//! the initialisers before it in its own file, and what they call.

use super::constants::Constant;
use super::walk::{Part, for_each_part};
use super::{Declarations, Lowering};
use crate::builtins::Builtin;
use crate::span::FileId;
use crate::typed::{Body, Expr, ExprKind, FunctionIndex, GlobalIndex, StmtKind, UnaryOp};
use holloway_bytecode::Type;

/// What is known of globals.
#[derive(Default)]
pub(super) struct ConstantGlobals {
    /// The constant of each global that is one; nothing before the first question.
    values: Option<Vec<Option<Constant>>>,
}

impl<'p> Lowering<'p> {
    /// The constant that a global holds throughout.
    pub(super) fn global_constant(&mut self, index: GlobalIndex) -> Option<Constant> {
        let declarations = self.declarations;
        let values = self.constants.values.get_or_insert_with(|| find(declarations));
        let constant = values.get(index.index()).copied().flatten()?;
        // Only if the global is of the constant's type as it stands.
        let ty = self.representation(declarations.globals[index.index()].ty);
        let own = match constant {
            Constant::Int(_) => Type::Int,
            Constant::Float(_) => Type::Float,
            _ => Type::Bool,
        };
        (ty == own).then_some(constant)
    }
}

/// Finds all constants.
fn find(declarations: &Declarations) -> Vec<Option<Constant>> {
    let globals = &declarations.globals;
    let mut values: Vec<Option<Constant>> = globals.iter().map(|global| literal(&global.init.expr)).collect();
    let mut files: Vec<FileId> =
        globals.iter().zip(&values).filter(|(_, value)| value.is_some()).map(|(g, _)| g.span.file).collect();
    files.sort_unstable();
    files.dedup();
    for &file in &files {
        forbid_early_reads(declarations, file, &mut values);
    }
    if !files.is_empty() {
        forbid_assigned(declarations, &mut values);
    }
    values
}

/// Takes out the globals that some code assigns.
fn forbid_assigned(declarations: &Declarations, values: &mut [Option<Constant>]) {
    let mut all = Scan::new(declarations, false);
    declarations
        .functions
        .iter()
        .filter_map(|function| function.body.as_ref())
        .for_each(|body| all.body(body));
    declarations.globals.iter().for_each(|global| all.body(&global.init));
    for (value, assigned) in values.iter_mut().zip(all.assigned) {
        if assigned {
            *value = None;
        }
    }
}

/// Takes out the globals that an initialiser before them may read.
fn forbid_early_reads(declarations: &Declarations, file: FileId, values: &mut [Option<Constant>]) {
    let mut early = Scan::new(declarations, true);
    for (at, global) in declarations.globals.iter().enumerate() {
        if global.span.file != file {
            continue;
        }
        if early.anything || early.read[at] {
            values[at] = None;
        }
        if values[at].is_none() {
            early.body(&global.init);
        }
    }
}

/// What code does to globals.
struct Scan<'d> {
    declarations: &'d Declarations,
    read: Vec<bool>,
    assigned: Vec<bool>,
    /// Look into the functions that are called, too.
    follow: bool,
    followed: Vec<bool>,
    /// Something is called of which it is not known what it is.
    anything: bool,
}

impl<'d> Scan<'d> {
    fn new(declarations: &'d Declarations, follow: bool) -> Scan<'d> {
        let (globals, functions) = (declarations.globals.len(), declarations.functions.len());
        Scan {
            declarations,
            read: vec![false; globals],
            assigned: vec![false; globals],
            follow,
            followed: vec![false; if follow { functions } else { 0 }],
            anything: false,
        }
    }

    fn body(&mut self, body: &'d Body) {
        self.expr(&body.expr);
    }

    fn expr(&mut self, expr: &'d Expr) {
        match &expr.kind {
            ExprKind::Global(index) => self.read[index.index()] = true,
            ExprKind::Closure(closure) => self.body(&closure.body),
            ExprKind::Call(function, ..) | ExprKind::FunctionValue(function, _) => self.function(*function),
            ExprKind::New(class, _) => {
                self.declarations.classes[class.index()]
                    .init
                    .into_iter()
                    .for_each(|init| self.function(init));
            }
            ExprKind::SuperInit(..)
            | ExprKind::CallVirtual { .. }
            | ExprKind::CallInterface { .. }
            | ExprKind::CallBound { .. }
            | ExprKind::CallClosure(..) => self.anything = true,
            ExprKind::Builtin(Builtin::ToString, _) => self.anything = true,
            ExprKind::Block(statements, _) => {
                for statement in statements {
                    if let StmtKind::SetGlobal(index, _) = statement.kind {
                        self.assigned[index.index()] = true;
                    }
                }
            }
            _ => {}
        }
        for_each_part(expr, &mut |part| {
            if let Part::Expr(expr) = part {
                self.expr(expr);
            }
        });
    }

    fn function(&mut self, function: FunctionIndex) {
        let at = function.index();
        if self.follow && !std::mem::replace(&mut self.followed[at], true) {
            self.declarations.functions[at].body.iter().for_each(|body| self.body(body));
        }
    }
}

/// The literal that an initialiser is.
fn literal(expr: &Expr) -> Option<Constant> {
    match &expr.kind {
        ExprKind::Int(value) => Some(Constant::Int(*value)),
        ExprKind::Float(value) => Some(Constant::Float(value.to_bits())),
        ExprKind::Bool(value) => Some(Constant::Bool(*value)),
        ExprKind::Unary(UnaryOp::NegInt, inner) => match literal(inner)? {
            Constant::Int(value) => Some(Constant::Int(value.wrapping_neg())),
            _ => None,
        },
        ExprKind::Unary(UnaryOp::NegFloat, inner) => match literal(inner)? {
            Constant::Float(bits) => Some(Constant::Float((-f64::from_bits(bits)).to_bits())),
            _ => None,
        },
        _ => None,
    }
}
