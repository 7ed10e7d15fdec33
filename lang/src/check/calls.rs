//! Calls: what is called, and the arguments of all of them.
//!
//! [`BodyChecker::arguments`] serves every kind of call. Type arguments that are not written are found in this
//! order: from the result type expected, where that leaves no choice; from the arguments, left to right, closures
//! after the others so that the types of their parameters are known; from the expected type again. Arguments are
//! evaluated in the order written whatever the order in which they are checked.

use std::rc::Rc;

use super::body::BodyChecker;
use super::expected::{Expected, error_expr};
use super::infer::Holes;
use super::names::{Named, Qualifier, TypeName};
use super::show::counted;
use super::tables::*;
use crate::ast::{self, Name, TypeExpr};
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{Expr, ExprKind, FunctionIndex, ParamIndex, Ty, TyKind};

/// What is called, as far as its arguments are concerned.
pub(super) struct Signature<'n> {
    /// Its name, for messages.
    pub name: &'n str,
    /// Type parameters that the call has to find arguments for.
    pub params: Rc<[ParamIndex]>,
    /// Parameter types over these.
    pub types: Vec<Ty>,
    /// Result type over these.
    pub result: Ty,
    /// Type arguments written.
    pub given: Option<Vec<Ty>>,
    /// What takes the type arguments, where it is not the name itself: the enum of a variant.
    pub generic: Option<String>,
    /// The declaration, for messages.
    pub declared: Option<Span>,
}

/// A call whose arguments fit.
pub(super) struct Applied {
    /// The type arguments.
    pub type_args: Vec<Ty>,
    /// The arguments, converted.
    pub args: Vec<Expr>,
    /// The result type.
    pub result: Ty,
}

impl BodyChecker<'_, '_> {
    /// `callee(args)`.
    pub(super) fn call(
        &mut self,
        callee: &ast::Expr,
        args: &[ast::Expr],
        span: Span,
        expected: Expected,
    ) -> Expr {
        match &callee.kind {
            ast::ExprKind::Name(name, type_args) => {
                let found = self.resolve_name(name);
                match found {
                    Named::Function(function) => {
                        self.call_function(function, name, type_args, args, span, expected)
                    }
                    Named::Type(ty) => self.construct(ty, name, type_args, args, span, expected),
                    Named::Member(owner, super::members::Member::Method(method)) => {
                        let Some(object) = self.implicit_this(owner, name) else {
                            return self.after_error(args, span);
                        };
                        self.call_method(object, method, name, type_args, args, span, expected)
                    }
                    Named::Unknown => self.after_error(args, span),
                    _ => {
                        let callee = self.name_value(name, type_args, callee.span, Expected::Free);
                        self.call_value(callee, args, span, expected)
                    }
                }
            }
            ast::ExprKind::Member { object, name, safe, type_args } => {
                self.call_member(object, name, *safe, type_args, args, span, expected)
            }
            _ => {
                let callee = self.expr(callee, Expected::Free);
                self.call_value(callee, args, span, expected)
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn call_member(
        &mut self,
        object: &ast::Expr,
        name: &Name,
        safe: bool,
        type_args: &[TypeExpr],
        args: &[ast::Expr],
        span: Span,
        expected: Expected,
    ) -> Expr {
        if !safe {
            if self.is_native_call(object) {
                return self.call_native(name, args, span);
            }
            match self.qualifier(object) {
                Some(Qualifier::Type(ty, type_name, owner_args)) => {
                    return self
                        .call_static(ty, type_name, owner_args, name, type_args, args, span, expected);
                }
                Some(Qualifier::Module(module)) => {
                    return match self.declared_in(module, name) {
                        Some(Entity::Function(function)) => {
                            self.call_function(function, name, type_args, args, span, expected)
                        }
                        Some(Entity::Global(global)) => {
                            let callee = self.read_global(global, span);
                            self.call_value(callee, args, span, expected)
                        }
                        Some(entity) => {
                            self.construct(TypeName::Declared(entity), name, type_args, args, span, expected)
                        }
                        None => self.after_error(args, span),
                    };
                }
                Some(Qualifier::Failed) => return self.after_error(args, span),
                None => {}
            }
        }
        let written = object;
        let object = self.expr(written, Expected::Free);
        if safe {
            return self.safely(written, object, span, |checker, object| {
                checker.call_on(object, name, type_args, args, span, Expected::Free)
            });
        }
        self.call_on(object, name, type_args, args, span, expected)
    }

    #[allow(clippy::too_many_arguments)]
    fn call_static(
        &mut self,
        ty: TypeName,
        type_name: &Name,
        owner_args: &[TypeExpr],
        name: &Name,
        type_args: &[TypeExpr],
        args: &[ast::Expr],
        span: Span,
        expected: Expected,
    ) -> Expr {
        let entity = match ty {
            TypeName::BuiltIn => return self.call_built_in_static(type_name, name, args, span),
            TypeName::Declared(entity) => entity,
        };
        if let Entity::Enum(index) = entity {
            let variants = &self.enumeration(index).ast.variants;
            if let Some(variant) = variants.iter().position(|variant| variant.name.text == name.text) {
                return self.new_variant(index, variant, owner_args, name, args, span, expected);
            }
        }
        match self.static_of(entity, owner_args, name, span) {
            Some(StaticKind::Function(function)) => {
                self.call_function(function, name, type_args, args, span, expected)
            }
            Some(StaticKind::Global(global)) => {
                let callee = self.read_global(global, span);
                self.call_value(callee, args, span, expected)
            }
            None => self.after_error(args, span),
        }
    }

    /// Checks arguments of something that was reported.
    pub(super) fn after_error(&mut self, args: &[ast::Expr], span: Span) -> Expr {
        for arg in args {
            // A closure without parameter types would only complain about them.
            if !matches!(arg.kind, ast::ExprKind::Closure { .. }) {
                self.expr(arg, Expected::Free);
            }
        }
        error_expr(span)
    }

    /// Calls a function by its number.
    pub(super) fn call_function(
        &mut self,
        function: FunctionIndex,
        name: &Name,
        type_args: &[TypeExpr],
        args: &[ast::Expr],
        span: Span,
        expected: Expected,
    ) -> Expr {
        if let Some(call) = self.special_call(function, args, span) {
            return call;
        }
        let given = match self.written_arguments(type_args) {
            Some(None) => return self.after_error(args, span),
            Some(Some(given)) => Some(given),
            None => None,
        };
        let info = self.function(function);
        let signature = Signature {
            name: &name.text,
            params: info.params.clone(),
            types: info.param_types.to_vec(),
            result: info.result,
            given,
            generic: None,
            declared: Some(info.span),
        };
        match self.arguments(signature, args, span, expected) {
            Some(applied) => {
                self.finish_call(applied, span, |type_args, args| ExprKind::Call(function, type_args, args))
            }
            None => error_expr(span),
        }
    }

    /// `assert(c, message)`: the one function with an optional argument is two functions of the prelude.
    fn special_call(&mut self, function: FunctionIndex, args: &[ast::Expr], span: Span) -> Option<Expr> {
        if args.len() != 2 || self.prelude_function("assert") != Some(function) {
            return None;
        }
        let with_message = self.prelude_function("assertMessage")?;
        let name = Name { text: "assert".into(), span };
        Some(self.call_function(with_message, &name, &[], args, span, Expected::Free))
    }

    /// Calls the value of an expression.
    pub(super) fn call_value(
        &mut self,
        callee: Expr,
        args: &[ast::Expr],
        span: Span,
        expected: Expected,
    ) -> Expr {
        match self.types.kind(callee.ty).clone() {
            TyKind::Function(types, result) => {
                let signature = Signature {
                    name: "this function",
                    params: Rc::from([]),
                    types,
                    result,
                    given: None,
                    generic: None,
                    declared: None,
                };
                match self.arguments(signature, args, span, expected) {
                    Some(applied) => self
                        .finish_call(applied, span, |_, args| ExprKind::CallClosure(Box::new(callee), args)),
                    None => error_expr(span),
                }
            }
            TyKind::Error => self.after_error(args, span),
            TyKind::Never => callee,
            _ => {
                let ty = self.quote(callee.ty);
                let message = format!("{ty} cannot be called");
                let diagnostic =
                    Diagnostic::new(callee.span, message, format!("this is {ty}, not a function"));
                let diagnostic = self.with_null_help(diagnostic, callee.ty);
                self.report(diagnostic);
                self.after_error(args, span)
            }
        }
    }

    /// The node of a call. An argument that never gives a value stays in it, behind those that are evaluated before.
    pub(super) fn finish_call(
        &mut self,
        applied: Applied,
        span: Span,
        kind: impl FnOnce(Vec<Ty>, Vec<Expr>) -> ExprKind,
    ) -> Expr {
        Expr { kind: kind(applied.type_args, applied.args), ty: applied.result, span }
    }

    /// Checks the arguments of a call and finds its type arguments. `None` if something was reported.
    pub(super) fn arguments(
        &mut self,
        signature: Signature<'_>,
        args: &[ast::Expr],
        span: Span,
        expected: Expected,
    ) -> Option<Applied> {
        let Signature { name, params, types, result, given, generic, declared } = signature;
        if args.len() != types.len() {
            self.report_argument_count(name, &types, args, span, declared);
            self.after_error(args, span);
            return None;
        }
        let mut holes = match given {
            Some(given) => {
                let as_name = Name { text: name.into(), span };
                if !self.expect_arguments(&as_name, &given, params.len(), span) {
                    self.after_error(args, span);
                    return None;
                }
                Holes::given(&given)
            }
            None => Holes::new(params.len()),
        };
        let stand_ins = holes.types(self.checker);
        let types: Vec<Ty> = types.iter().map(|ty| self.instantiate(*ty, &params, &stand_ins)).collect();
        let result = self.instantiate(result, &params, &stand_ins);
        if let Some(wanted) = expected.ty() {
            holes.unify_result(self.checker, result, wanted);
        }
        let mut checked: Vec<Option<Expr>> = args.iter().map(|_| None).collect();
        let mut failed = false;
        for closures in [false, true] {
            for (i, arg) in args.iter().enumerate() {
                if matches!(arg.kind, ast::ExprKind::Closure { .. }) == closures {
                    let value = self.argument(arg, types[i], &mut holes);
                    failed |= value.ty == Ty::ERROR;
                    checked[i] = Some(value);
                }
            }
        }
        if failed {
            return None;
        }
        if let Some(wanted) = expected.ty() {
            holes.unify(self.checker, result, wanted);
        }
        let type_args = match holes.finish() {
            Ok(type_args) => type_args,
            Err(position) => {
                self.report_not_inferred(name, generic, &params, position, span);
                return None;
            }
        };
        if type_args.contains(&Ty::ERROR) || !self.check_bounds(&params, &type_args, span) {
            return None;
        }
        let holes = Holes::given(&type_args);
        let mut converted = Vec::new();
        for (value, ty) in checked.into_iter().flatten().zip(&types) {
            let ty = holes.resolve(self.checker, *ty)?;
            let value = self.coerce(value, ty);
            failed |= value.ty == Ty::ERROR;
            converted.push(value);
        }
        let result = holes.resolve(self.checker, result)?;
        (!failed).then_some(Applied { type_args, args: converted, result })
    }

    /// Checks one argument against a parameter type that may have holes.
    fn argument(&mut self, arg: &ast::Expr, ty: Ty, holes: &mut Holes) -> Expr {
        if let Some(ty) = holes.resolve(self.checker, ty) {
            return self.expr(arg, Expected::Type(ty));
        }
        if let ast::ExprKind::Closure { params, result, body } = &arg.kind {
            return self.closure_argument(params, result.as_ref(), body, arg.span, ty, holes);
        }
        let value = self.expr(arg, Expected::Free);
        holes.unify(self.checker, ty, value.ty);
        value
    }

    fn report_argument_count(
        &mut self,
        name: &str,
        types: &[Ty],
        args: &[ast::Expr],
        span: Span,
        declared: Option<Span>,
    ) {
        let quoted = if name == "this function" { name.to_string() } else { format!("`{name}`") };
        let message = format!("{quoted} takes {}, not {}", counted(types.len(), "argument"), args.len());
        let (place, label) = match args.get(types.len()) {
            Some(extra) => (extra.span, "too many".to_string()),
            None => {
                let label = match types[args.len()] {
                    Ty::ERROR => "an argument is missing".to_string(),
                    next => format!("{} is missing", self.quote(next)),
                };
                (Span { start: span.end.saturating_sub(1).max(span.start), ..span }, label)
            }
        };
        let mut diagnostic = Diagnostic::new(place, message, label);
        if let Some(declared) = declared {
            diagnostic = diagnostic.related(declared, "declared here");
        }
        self.report(diagnostic);
    }

    /// Reports a type parameter for which no argument could be found.
    fn report_not_inferred(
        &mut self,
        name: &str,
        written: Option<String>,
        params: &[ParamIndex],
        position: usize,
        span: Span,
    ) {
        let (written, behind) = match written {
            Some(owner) => (owner, format!(".{name}(…)")),
            None => (name.to_string(), "(…)".to_string()),
        };
        let names: Vec<String> = params.iter().map(|param| self.param_name(*param).to_string()).collect();
        let missing = names.get(position).cloned().unwrap_or_default();
        let message = format!("the type parameter `{missing}` of `{name}` cannot be inferred");
        let label = "neither the arguments nor the type expected say what it is";
        let help =
            format!("write it: `{written}<{}>{behind}` with {}", names.join(", "), in_place_of(&names));
        self.report(Diagnostic::new(span, message, label).help(help));
    }

    /// Checks type arguments against the bounds of their parameters.
    pub(super) fn check_bounds(&mut self, params: &[ParamIndex], args: &[Ty], span: Span) -> bool {
        for (param, arg) in params.iter().zip(args) {
            let bounds = self.params.get(param.index()).map_or(Rc::from([]), |info| info.bounds.clone());
            for bound in bounds.iter() {
                let bound = self.instantiate(*bound, params, args);
                if !self.satisfies(*arg, bound) {
                    self.checker.report_bound(*param, *arg, bound, span);
                    return false;
                }
            }
        }
        true
    }
}

/// `a type in place of `T``.
pub(super) fn in_place_of(names: &[String]) -> String {
    let types = if names.len() == 1 { "a type" } else { "types" };
    format!("{types} in place of {}", super::show::listed(names))
}
