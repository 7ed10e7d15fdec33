//! Strings: joining, and values as text. A chain of joins is one call, whatever it is made of.

use super::function::{FunctionLowering, Goal, Operand, Target};
use super::layouts::Primitive;
use crate::builtins::Builtin;
use crate::span::Span;
use crate::typed::{BinaryOp, Expr, ExprKind, InterfaceIndex, Ty, TyKind};
use holloway_bytecode::{ClassId, Native, Op, Type};

/// A call has at most so many arguments.
const MAX_ARGUMENTS: usize = 255;

/// A part of a joined string.
enum Piece<'p> {
    Text(String),
    /// A string.
    Expr(&'p Expr),
}

impl<'p> FunctionLowering<'_, 'p> {
    /// Joins the strings of a chain of `+`.
    pub(super) fn concat(&mut self, expr: &'p Expr, goal: Goal) -> Operand {
        let mut pieces = Vec::new();
        collect(expr, &mut pieces);
        let span = expr.span;
        match pieces.as_slice() {
            [] => return self.text("", goal),
            [Piece::Text(text)] => return self.text(text, goal),
            _ => {}
        }
        let mut later: Vec<&Expr> = pieces
            .iter()
            .filter_map(|piece| match piece {
                Piece::Expr(expr) => Some(*expr),
                Piece::Text(_) => None,
            })
            .collect();
        later.reverse();
        let mut values: Vec<Operand> = Vec::new();
        for piece in &pieces {
            if values.len() == MAX_ARGUMENTS {
                let joined = self.join(&values, Goal::Anywhere, span);
                values = vec![joined];
            }
            let value = match piece {
                Piece::Text(text) => self.text(text, Goal::Anywhere),
                Piece::Expr(expr) => {
                    later.pop();
                    let value = self.operand(expr);
                    self.keep_from(value, &later)
                }
            };
            values.push(value);
        }
        self.join(&values, goal, span)
    }

    fn join(&mut self, values: &[Operand], goal: Goal, span: Span) -> Operand {
        let result = Some(Type::class(ClassId::STRING));
        self.finish_call(Op::CallNative, Native::Concat as u32, values, result, goal, span)
    }

    /// The value of an expression as text.
    pub(super) fn text_from(&mut self, expr: &'p Expr, span: Span, goal: Goal) -> Operand {
        let ty = self.ty(expr);
        if ty == Ty::STRING {
            return self.evaluate(expr, goal);
        }
        let value = self.operand(expr);
        self.text_of(value, ty, span, goal)
    }

    /// A value as text.
    fn text_of(&mut self, value: Operand, ty: Ty, span: Span, goal: Goal) -> Operand {
        if !self.reachable() {
            return Operand::NONE;
        }
        let string = Type::class(ClassId::STRING);
        match self.lowering.types.kind(ty).clone() {
            TyKind::String => self.put(value, goal),
            TyKind::Unit | TyKind::Null => {
                self.release(value);
                self.text(if ty == Ty::NULL { "null" } else { "()" }, goal)
            }
            TyKind::Nullable(inner) => {
                let (null, end) = (self.buffer.label(), self.buffer.label());
                let result = self.destination(goal, string);
                let to = Goal::At(Target { register: result.register, fresh: false });
                self.buffer.branch(Op::BrNull, value.register.0, 0, null);
                let inside = self.narrow(Operand::kept(value.register), inner, Goal::Anywhere, span);
                self.text_of(inside, inner, span, to);
                self.buffer.jump(end);
                self.buffer.bind(null);
                self.text("null", to);
                self.buffer.bind(end);
                self.release(value);
                result
            }
            TyKind::Class(..) => {
                let class = self.lowering.class_of(ty);
                self.call_promised(class, "toString", &[value], Ty::STRING, goal, span)
            }
            TyKind::Interface(index, _) => match self.interface_to_string(index, ty) {
                Some((interface, method)) => {
                    self.call_interface_values(interface, method, &[value], Ty::STRING, goal, span)
                }
                None => self.no_text(value, ty, goal),
            },
            TyKind::Enum(index, types) => {
                let declarations = self.lowering.declarations;
                let methods = &declarations.enums[index.index()].methods;
                let own = methods.iter().find(|&&method| declarations.method_name(method) == "toString");
                match own {
                    Some(&method) => {
                        let method = self.lowering.instance(method, types);
                        self.call_function(method, &[value], Ty::STRING, goal, span)
                    }
                    None => self.name_of_variant(value, ty, span, goal),
                }
            }
            _ => match self.lowering.primitive(ty) {
                Some(Primitive::Bool) => self.text_of_bool(value, goal),
                Some(primitive) => {
                    let native = match primitive {
                        Primitive::Float => Native::FloatToString,
                        _ => Native::IntToString,
                    };
                    self.finish_call(Op::CallNative, native as u32, &[value], Some(string), goal, span)
                }
                None => self.no_text(value, ty, goal),
            },
        }
    }

    fn text_of_bool(&mut self, value: Operand, goal: Goal) -> Operand {
        let (no, end) = (self.buffer.label(), self.buffer.label());
        let result = self.destination(goal, Type::class(ClassId::STRING));
        let to = Goal::At(Target { register: result.register, fresh: false });
        self.branch_if_true(value.register, false, no);
        self.text("true", to);
        self.buffer.jump(end);
        self.buffer.bind(no);
        self.text("false", to);
        self.buffer.bind(end);
        self.release(value);
        result
    }

    /// The checker lets only values through that have a text; for others their type has to do.
    fn no_text(&mut self, value: Operand, ty: Ty, goal: Goal) -> Operand {
        self.release(value);
        let name = self.lowering.type_name(ty);
        self.text(&name, goal)
    }

    /// The interface, the given one or one it extends, that declares `toString`, and the number of the method there.
    fn interface_to_string(&mut self, index: InterfaceIndex, ty: Ty) -> Option<(Ty, usize)> {
        let declarations = self.lowering.declarations;
        let position = |index: InterfaceIndex| {
            let methods = &declarations.interfaces[index.index()].methods;
            methods.iter().position(|&method| declarations.method_name(method) == "toString")
        };
        if let Some(method) = position(index) {
            return Some((ty, method));
        }
        let id = self.lowering.interface_of(ty);
        let environment = self.lowering.interface_environment(id);
        declarations.interfaces[index.index()].supers.iter().find_map(|&wider| {
            let wider = self.lowering.substitute(wider, &environment);
            let TyKind::Interface(index, _) = self.lowering.types.kind(wider) else { return None };
            Some((wider, position(*index)?))
        })
    }
}

/// The pieces of a chain of joins from left to right. Literals that meet become one.
fn collect<'p>(expr: &'p Expr, pieces: &mut Vec<Piece<'p>>) {
    match &expr.kind {
        ExprKind::Binary(BinaryOp::Concat, left, right) => {
            collect(left, pieces);
            collect(right, pieces);
        }
        ExprKind::Builtin(Builtin::ToString, list) if matches!(list.as_slice(), [only] if only.ty == Ty::STRING) =>
        {
            collect(&list[0], pieces);
        }
        ExprKind::Str(text) => match pieces.last_mut() {
            Some(Piece::Text(before)) => before.push_str(text),
            _ if text.is_empty() => {}
            _ => pieces.push(Piece::Text(text.to_string())),
        },
        _ => pieces.push(Piece::Expr(expr)),
    }
}
