//! Calls. Arguments are named by register, wherever they are; the result goes directly to where it is needed.
//!
//! Which function a call means is decided as far as possible here: a method that no class overrides is called directly, and
//! a method of a type parameter's bound becomes whatever it is for the type argument.

use super::function::{FunctionLowering, Goal, Operand};
use super::layouts::{Callee, Incomplete, Passing};
use crate::span::Span;
use crate::typed::{Expr, FunctionIndex, Ty, TyKind};
use holloway_bytecode::{ClassId, FunctionId, Op, Type};

/// A receiver and the arguments after it.
#[derive(Clone, Copy)]
pub(super) struct Arguments<'p> {
    pub(super) receiver: &'p Expr,
    pub(super) rest: &'p [Expr],
}

impl<'p> Arguments<'p> {
    fn list(self) -> Vec<&'p Expr> {
        std::iter::once(self.receiver).chain(self.rest).collect()
    }
}

impl<'p> FunctionLowering<'_, 'p> {
    /// Calls a function known by name.
    pub(super) fn call_direct(
        &mut self,
        function: FunctionIndex,
        types: &'p [Ty],
        arguments: &'p [Expr],
        expr: &'p Expr,
        goal: Goal,
    ) -> Operand {
        let values = self.operands(&arguments.iter().collect::<Vec<_>>());
        let types = self.lowering.substitute_all(types, &self.environment);
        self.lowering.place = expr.span;
        let id = self.lowering.instance(function, types);
        let ty = self.ty(expr);
        self.call_function(id, &values, ty, goal, expr.span)
    }

    /// Calls a function with values.
    pub(super) fn call_function(
        &mut self,
        function: FunctionId,
        values: &[Operand],
        ty: Ty,
        goal: Goal,
        span: Span,
    ) -> Operand {
        let result = self.lowering.program.functions[function.index()].result;
        self.call(Op::Call, function.0, values, result, ty, goal, span)
    }

    /// A call of any kind. What is called gives `result`; the expression is of type `ty`, which may be narrower.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn call(
        &mut self,
        op: Op,
        bc: u32,
        values: &[Operand],
        result: Option<Type>,
        ty: Ty,
        goal: Goal,
        span: Span,
    ) -> Operand {
        let Some(own) = result else {
            self.finish_call(op, bc, values, None, goal, span);
            return if ty == Ty::NEVER { Operand::NONE } else { self.unit(goal) };
        };
        let wanted = self.representation(ty);
        if matches!(goal, Goal::Discard) || self.fits(own, wanted) {
            return self.finish_call(op, bc, values, result, goal, span);
        }
        let value = self.finish_call(op, bc, values, result, Goal::Anywhere, span);
        self.narrow(value, ty, goal, span)
    }

    /// Calls a method of an object of class `class`.
    pub(super) fn call_method(
        &mut self,
        callee: Callee<'p>,
        class: ClassId,
        arguments: Arguments<'p>,
        expr: &'p Expr,
        goal: Goal,
    ) -> Operand {
        let values = self.operands(&arguments.list());
        let ty = self.ty(expr);
        self.call_callee(callee, class, &values, ty, goal, expr.span)
    }

    /// Calls a method with values, the receiver first.
    pub(super) fn call_callee(
        &mut self,
        callee: Callee<'p>,
        class: ClassId,
        values: &[Operand],
        ty: Ty,
        goal: Goal,
        span: Span,
    ) -> Operand {
        match callee {
            Callee::Direct(function, environment) => {
                self.lowering.place = span;
                let id = self.lowering.instance(function, environment.arguments.clone());
                self.call_function(id, values, ty, goal, span)
            }
            Callee::Slot(slot) => {
                self.lowering.complete(Incomplete::Class(class));
                let method = &self.lowering.program.classes[class.index()].methods[slot as usize];
                let result = method.signature.result;
                self.call(Op::CallVirtual, slot, values, result, ty, goal, span)
            }
        }
    }

    /// Calls the method of a class by which it keeps the promise of an interface to give a `ty`. What the method gives is of a
    /// subtype, and may be passed in another way.
    pub(super) fn call_promised(
        &mut self,
        class: ClassId,
        name: &str,
        values: &[Operand],
        ty: Ty,
        goal: Goal,
        span: Span,
    ) -> Operand {
        let callee = self.lowering.callee(class, name);
        let own = self.lowering.callee_result(&callee, class);
        let passing = self.lowering.passing(own);
        if passing == Passing::Reference || passing == self.lowering.passing(ty) {
            return self.call_callee(callee, class, values, ty, goal, span);
        }
        let value = self.call_callee(callee, class, values, own, Goal::Anywhere, span);
        if own == Ty::NEVER {
            self.never();
            return Operand::NONE;
        }
        let value = self.as_reference(value, own);
        self.put(value, goal)
    }

    /// Calls method number `method` of an interface.
    pub(super) fn call_interface(
        &mut self,
        interface: Ty,
        method: usize,
        arguments: Arguments<'p>,
        expr: &'p Expr,
        goal: Goal,
    ) -> Operand {
        let values = self.operands(&arguments.list());
        let ty = self.ty(expr);
        self.call_interface_values(interface, method, &values, ty, goal, expr.span)
    }

    /// The same with values.
    pub(super) fn call_interface_values(
        &mut self,
        interface: Ty,
        method: usize,
        values: &[Operand],
        ty: Ty,
        goal: Goal,
        span: Span,
    ) -> Operand {
        let id = self.lowering.interface_of(interface);
        self.lowering.complete(Incomplete::Interface(id));
        let signature = &self.lowering.program.interfaces[id.index()].methods[method].signature;
        let result = signature.result;
        let number = method as u32 | id.0 << 16;
        self.call(Op::CallInterface, number, values, result, ty, goal, span)
    }

    /// The name of a method of a bound.
    pub(super) fn bound_method(&self, interface: Ty, method: usize) -> &'p str {
        match self.lowering.types.kind(interface) {
            TyKind::Interface(index, _) => {
                let declarations = self.lowering.declarations;
                declarations.method_name(declarations.interfaces[index.index()].methods[method])
            }
            _ => "",
        }
    }

    /// Calls a method of a value whose type is a type parameter, now that it is known what that stands for.
    pub(super) fn call_bound(
        &mut self,
        interface: Ty,
        method: usize,
        arguments: Arguments<'p>,
        expr: &'p Expr,
        goal: Goal,
    ) -> Operand {
        let name = self.bound_method(interface, method);
        let ty = self.ty(arguments.receiver);
        match self.lowering.types.kind(ty) {
            TyKind::Class(..) => {
                let class = self.lowering.class_of(ty);
                let values = self.operands(&arguments.list());
                let ty = self.ty(expr);
                self.call_promised(class, name, &values, ty, goal, expr.span)
            }
            TyKind::Interface(..) => {
                let interface = self.concrete(interface);
                self.call_interface(interface, method, arguments, expr, goal)
            }
            _ => match (name, arguments.rest) {
                ("compareTo", [other]) => self.compare(ty, arguments.receiver, other, expr.span, goal),
                ("equals", [other]) => {
                    let equal = self.truth_of_equality(arguments.receiver, other, false, expr.span, goal);
                    equal.unwrap_or(Operand::NONE)
                }
                ("hash", []) => self.hash(ty, arguments.receiver, expr.span, goal),
                _ => self.text_from(arguments.receiver, expr.span, goal),
            },
        }
    }
}
