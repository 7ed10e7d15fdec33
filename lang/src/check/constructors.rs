//! Constructors: the body of every class's `init`, whether it is written or not.
//!
//! It sets the fields of the header, then runs the field initialisers, then the body as written, then the
//! superclass's constructor if that is not called in the body. What makes it right is in [`super::init_rules`].

use super::Checker;
use super::body::{BodyChecker, ResultOf, This, VariableKind};
use super::expected::Expected;
use super::tables::*;
use super::variables::VariableFacts;
use super::visit::for_own_exprs;
use crate::ast;
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{ClassIndex, Expr, ExprKind, FunctionIndex, LocalIndex, Stmt, StmtKind, Ty, TyKind};

impl<'a> Checker<'a> {
    /// Makes the body of a constructor.
    pub(super) fn check_init(&mut self, function: FunctionIndex) {
        let Owner::Class(class) = self.function(function).owner else { return };
        let written = self.class(class).init_ast;
        let block = written.and_then(|init| init.body.as_ref());
        let header = &self.class(class).ast.header_fields;
        if let (Some(init), None) = (written, block) {
            self.report(Diagnostic::new(init.name.span, "`init` has no body", "a body `{ … }` is missing"));
            return;
        }
        if let (Some(init), Some(header)) = (written, header) {
            let place = header.first().map_or(self.class(class).ast.name.span, |field| field.name.span);
            self.report(
                Diagnostic::new(
                    init.name.span,
                    "this class has its constructor in the header",
                    "a second constructor",
                )
                .related(place, "the header declares fields and the `init` that sets them")
                .help("remove the `init`, or declare the fields in the body"),
            );
            return;
        }
        if let Some(init) = written
            && let Some(param) = init.type_params.first()
        {
            let message = "`init` has no type parameters of its own";
            self.report(
                Diagnostic::new(param.name.span, message, "not possible here").help("give them to the class"),
            );
            return;
        }
        let place = self.function(function).span;
        let init_scope = self.function(function).scope.clone();
        let this_type = self.class(class).this;
        let types = self.function(function).param_types.clone();
        let mut checker = BodyChecker::new(self, init_scope, Owner::Class(class), ResultOf::Known(Ty::UNIT));
        checker.init_of = Some(class);
        checker.facts = checker.constructor_facts(class, written);
        let this = checker.declare_this(this_type, place);
        let params = checker.constructor_params(class, written, &types);
        let mut stmts = checker.header_assignments(class, &params, this, this_type);
        checker.field_initialisers(class, this, this_type, &mut stmts);
        let mut ends = false;
        if let Some(block) = block {
            let body = checker.scoped(|checker| {
                for (variable, _) in &params {
                    if let Some(variable) = variable {
                        checker.enter(*variable);
                    }
                }
                checker.block(block, Expected::Discard)
            });
            ends = body.ty == Ty::NEVER;
            let span = body.span;
            stmts.push(Stmt { kind: StmtKind::Expr(body), span });
        }
        let ty = if ends { Ty::NEVER } else { Ty::UNIT };
        let mut expr = Expr { kind: ExprKind::Block(stmts, None), ty, span: place };
        let call = checker.implicit_super(class, &mut expr, place);
        if let Some(call) = call {
            add_super(&mut expr, &call);
        }
        checker.check_init_rules(class, &mut expr, written, place);
        let body = checker.into_body(expr);
        self.functions[function.index()].body = Some(body);
    }
}

/// A parameter: its variable, if a name stands for it, and its local.
type InitParam = (Option<super::body::VarId>, LocalIndex);

impl<'a> BodyChecker<'_, 'a> {
    fn constructor_facts(&self, class: ClassIndex, written: Option<&'a ast::Function>) -> VariableFacts {
        let mut facts = written.map(VariableFacts::of_function).unwrap_or_default();
        for field in &self.class(class).fields {
            if let Some(init) = field.init {
                facts.add(VariableFacts::of_expression(init));
            }
        }
        facts
    }

    /// Makes the parameters; their names are entered when the field initialisers are done.
    fn constructor_params(
        &mut self,
        class: ClassIndex,
        written: Option<&'a ast::Function>,
        types: &[Ty],
    ) -> Vec<InitParam> {
        let class_ast = self.class(class).ast;
        match written {
            Some(init) => {
                let params = init.params.iter().zip(types);
                let params = params.map(|(param, ty)| {
                    let (variable, local) = self.make_variable(&param.name, VariableKind::Parameter, *ty);
                    (Some(variable), local)
                });
                params.collect()
            }
            None => {
                let fields = class_ast.header_fields.iter().flatten().zip(types);
                fields
                    .map(|(field, ty)| (None, self.hidden_local(&field.name.text, *ty, field.name.span)))
                    .collect()
            }
        }
    }

    fn header_assignments(
        &mut self,
        class: ClassIndex,
        params: &[InitParam],
        this: LocalIndex,
        this_type: Ty,
    ) -> Vec<Stmt> {
        let info = self.class(class);
        let (ast, first) = (info.ast, info.inherited_fields);
        let fields = ast.header_fields.iter().flatten().zip(params).enumerate();
        let stmts = fields.map(|(position, (field, (_, local)))| {
            let span = field.name.span;
            let ty = self.frames[0].locals[local.index()].ty;
            let object = Expr { kind: ExprKind::Local(this), ty: this_type, span };
            let value = Expr { kind: ExprKind::Local(*local), ty, span };
            Stmt { kind: StmtKind::SetField(object, first + position, value), span }
        });
        stmts.collect()
    }

    fn field_initialisers(
        &mut self,
        class: ClassIndex,
        this: LocalIndex,
        this_type: Ty,
        stmts: &mut Vec<Stmt>,
    ) {
        let object_of_class = std::mem::replace(&mut self.this, This::Early);
        let result = std::mem::replace(&mut self.frame().result, ResultOf::Initialiser);
        for position in 0..self.class(class).fields.len() {
            let field = &self.class(class).fields[position];
            let (name, init) = (field.name, field.init);
            let ty = self.field_type(class, position, name.span);
            let Some(init) = init else { continue };
            let expected = if ty == Ty::ERROR { Expected::Free } else { Expected::Type(ty) };
            let value = self.scoped(|checker| checker.expr(init, expected));
            let object = Expr { kind: ExprKind::Local(this), ty: this_type, span: name.span };
            let index = self.class(class).inherited_fields + position;
            stmts.push(Stmt { kind: StmtKind::SetField(object, index, value), span: name.span });
        }
        self.this = object_of_class;
        self.frame().result = result;
    }

    /// The call of the superclass's constructor that is not written, if there is one to add.
    fn implicit_super(&mut self, class: ClassIndex, body: &mut Expr, place: Span) -> Option<Expr> {
        let superclass = self.class(class).superclass?;
        let mut called = false;
        for_own_exprs(body, &mut |expr| called |= matches!(expr.kind, ExprKind::SuperInit(..)));
        // A call with wrong arguments was reported and left no trace.
        if called || self.calls_super(class) {
            return None;
        }
        let TyKind::Class(above, _) = *self.types.kind(superclass) else { return None };
        let init = self.class(above).init;
        let (private, declared) = (self.function(init).private, self.function(init).span);
        if private && declared.file != self.scope.file {
            let message = format!("the constructor of {} is private to its file", self.quote(superclass));
            self.report(
                Diagnostic::new(place, message, "cannot call it")
                    .related(declared, "declared here")
                    .help("a class that only its own file may make cannot be extended elsewhere"),
            );
            return None;
        }
        if self.function(init).param_types.is_empty() {
            return Some(Expr {
                kind: ExprKind::SuperInit(superclass, Vec::new()),
                ty: Ty::UNIT,
                span: place,
            });
        }
        let (above, declared) = (self.quote(superclass), self.function(init).span);
        let (message, help) = match self.class(class).init_ast {
            Some(_) => (
                format!("the constructor of {above} takes arguments, but is not called"),
                "write `super(…)` when all fields are assigned",
            ),
            None => (
                format!("the constructor of {above} takes arguments, so this class needs an `init`"),
                "write `init(…) { super(…) }`",
            ),
        };
        self.report_missing(
            Diagnostic::new(place, message, "does not call it").related(declared, "declared here").help(help),
        );
        None
    }

    /// Is `super(…)` written anywhere in the constructor.
    fn calls_super(&self, class: ClassIndex) -> bool {
        let Some(init) = self.class(class).init_ast else { return false };
        let Some(body) = &init.body else { return false };
        super::variables::mentions_super_init(body)
    }
}

/// Adds the call at the end of the body and before every `return`.
fn add_super(body: &mut Expr, call: &Expr) {
    let then = |call: &Expr, last: Option<Expr>, span: Span| {
        let ty = last.as_ref().map_or(Ty::UNIT, |last| last.ty);
        let stmts = [call.clone()].into_iter().chain(last);
        let stmts = stmts.map(|expr| Stmt { span: expr.span, kind: StmtKind::Expr(expr) }).collect();
        Expr { kind: ExprKind::Block(stmts, None), ty, span }
    };
    super::visit::rewrite_own_exprs(body, &mut |expr| {
        if matches!(expr.kind, ExprKind::Return(_)) {
            let span = expr.span;
            let leave = std::mem::replace(expr, super::expected::error_expr(span));
            *expr = then(call, Some(leave), span);
        }
    });
    if let (ExprKind::Block(stmts, None), true) = (&mut body.kind, body.ty != Ty::NEVER) {
        stmts.push(Stmt { kind: StmtKind::Expr(call.clone()), span: call.span });
    }
}
