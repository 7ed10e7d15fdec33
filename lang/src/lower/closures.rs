//! Closures, functions as values, and the cells of variables that closures share.
//!
//! A function type is an abstract class whose method table has one entry. A closure literal is a class below it with the
//! captured values as fields; a call goes through the table. What is captured is loaded once, when the closure is entered. A
//! closure that captures nothing is one object, made at the start, and so is a function used as a value.

use super::entry::SingletonKind;
use super::function::{FunctionLowering, Goal, Operand};
use super::instances::Environment;
use super::layouts::{ClassDetail, Incomplete, Primitive};
use super::locals::Home;
use super::{Lowering, Work};
use crate::typed::{Closure, Expr, FunctionIndex, Ty};
use holloway_bytecode::{Class, ClassId, Field, FunctionId, Layout, Op, RefType, Register, Shape, Type};
use std::rc::Rc;

/// A closure literal whose code is to be made.
pub(super) struct ClosureCode<'p> {
    closure: &'p Closure,
    pub(super) environment: Rc<Environment<'p>>,
    /// The types of the captured values or cells.
    fields: Vec<Type>,
}

impl<'p> Lowering<'p> {
    /// The class of cells that hold a value of a register type.
    pub(super) fn cell_class(&mut self, ty: Type) -> ClassId {
        if let Some(&class) = self.cells.get(&ty) {
            return class;
        }
        let name = format!("Cell<{}>", self.register_type_name(ty));
        let layout = Layout::Object(vec![Field { name: "value".into(), ty }]);
        let class = Class { is_abstract: false, ..Self::bare_class(name, layout) };
        let class = self.add_class(class, ClassDetail::Plain);
        self.cells.insert(ty, class);
        class
    }

    fn register_type_name(&self, ty: Type) -> String {
        match ty {
            Type::Int => "Int".to_string(),
            Type::Float => "Float".to_string(),
            Type::Bool => "Bool".to_string(),
            Type::Ref(RefType { shape, nullable }) => {
                let name = match shape {
                    Shape::Any => "Any",
                    Shape::Class(class) => &self.program.classes[class.index()].name,
                    Shape::Interface(interface) => &self.program.interfaces[interface.index()].name,
                };
                format!("{name}{}", if nullable { "?" } else { "" })
            }
        }
    }

    /// A class below that of a function type, and the function in its table.
    fn closure_class(
        &mut self,
        base: ClassId,
        name: &str,
        fields: Vec<Field>,
        work: Work<'p>,
    ) -> (ClassId, FunctionId) {
        self.complete(Incomplete::Class(base));
        let mut methods = self.program.classes[base.index()].methods.clone();
        let class = Self::bare_class(name.to_string(), Layout::Object(fields));
        let class = Class { superclass: Some(base), is_abstract: false, ..class };
        let class = self.add_class(class, ClassDetail::Plain);
        let signature = &methods[0].signature;
        let mut params = vec![Type::class(class)];
        params.extend(&signature.params);
        let result = signature.result;
        let function = self.declare(name.to_string(), params, result, work);
        methods[0].function = Some(function);
        self.program.classes[class.index()].methods = methods;
        (class, function)
    }
}

impl<'p> FunctionLowering<'_, 'p> {
    /// A function as a value.
    pub(super) fn function_value(
        &mut self,
        function: FunctionIndex,
        types: &'p [Ty],
        expr: &'p Expr,
        goal: Goal,
    ) -> Operand {
        if matches!(goal, Goal::Discard) {
            return Operand::NONE;
        }
        let types = self.lowering.substitute_all(types, &self.environment);
        self.lowering.place = expr.span;
        let target = self.lowering.instance(function, types);
        let ty = self.ty(expr);
        let base = self.lowering.class_of(ty);
        let known = self.lowering.function_values.get(&target).copied();
        let (global, class) = known.unwrap_or_else(|| {
            let name = self.lowering.program.functions[target.index()].name.clone();
            let work = Work::FunctionValue(target);
            let (class, _) = self.lowering.closure_class(base, &name, Vec::new(), work);
            let global = self.lowering.singleton(name.to_string(), class, SingletonKind::Closure);
            self.lowering.function_values.insert(target, (global, class));
            (global, class)
        });
        self.singleton(global, class, goal)
    }

    /// A closure literal.
    pub(super) fn closure(&mut self, closure: &'p Closure, expr: &'p Expr, goal: Goal) -> Operand {
        if matches!(goal, Goal::Discard) {
            return Operand::NONE;
        }
        let ty = self.ty(expr);
        let base = self.lowering.class_of(ty);
        let mut values = Vec::new();
        let mut fields = Vec::new();
        for &(outer, inner) in &closure.captures {
            let local = &closure.body.locals[inner.index()];
            let inner_type = self.concrete(local.ty);
            let mut ty = self.representation(inner_type);
            let value = match self.homes[outer.index()] {
                Home::Cell(cell) => {
                    ty = self.registers.ty(cell);
                    Operand::kept(cell)
                }
                _ => self.read_local(outer, inner_type, Goal::Anywhere, expr.span),
            };
            values.push(value);
            fields.push(Field { name: local.name.clone(), ty });
        }
        let types: Vec<Type> = fields.iter().map(|field| field.ty).collect();
        let environment = self.environment.clone();
        let work = Work::Closure(ClosureCode { closure, environment, fields: types.clone() });
        let name = format!("{}.closure", self.name);
        let (class, _) = self.lowering.closure_class(base, &name, fields, work);
        if values.is_empty() {
            let global = self.lowering.singleton(name, class, SingletonKind::Closure);
            return self.singleton(global, class, goal);
        }
        let object = Operand::temporary(self.registers.allocate(Type::class(class)));
        self.at(expr.span);
        self.buffer.op_bc(Op::New, object.register.0, class.0);
        for (at, (value, ty)) in values.into_iter().zip(types).enumerate() {
            self.put_field(value.register, object.register, at as u16, ty);
            self.release(value);
        }
        self.put(object, goal)
    }

    /// Writes the code of a closure: its object is in register 0.
    pub(super) fn closure_code(&mut self, code: ClosureCode<'p>) {
        let closure = code.closure;
        self.enter(&closure.body);
        self.parameters(1, closure.params.len());
        for (at, (&(_, inner), ty)) in closure.captures.iter().zip(code.fields).enumerate() {
            let register = self.registers.allocate(ty);
            self.buffer.op(Op::GetField, register.0, 0, at as u16);
            self.homes[inner.index()] = match closure.body.locals[inner.index()].celled {
                true => Home::Cell(register),
                false => Home::Register(register),
            };
        }
        self.body(&closure.body);
    }

    /// Writes a function that calls another with its own parameters from `skip` on, and passes on the result. If the other
    /// one has none, its source says `gives`: `Unit`, which may be wanted as a value, or `Never`.
    pub(super) fn forward(&mut self, target: FunctionId, skip: u16, gives: Ty) {
        let function = &self.lowering.program.functions[target.index()];
        let (count, result) = (function.params, function.result);
        let arguments: Vec<Register> = (skip..count + skip).map(Register).collect();
        let value = result.map(|ty| self.registers.allocate(ty));
        self.buffer.call(Op::Call, value.map_or(0, |register| register.0), target.0, &arguments);
        match (value, self.result) {
            (Some(value), Some(wanted)) => {
                let own = self.registers.ty(value);
                let boxed = match own {
                    Type::Int => Some(Primitive::Int),
                    Type::Float => Some(Primitive::Float),
                    Type::Bool => Some(Primitive::Bool),
                    Type::Ref(_) => None,
                };
                let value = match boxed.filter(|_| wanted.is_ref()) {
                    Some(primitive) => {
                        self.box_value(Operand::kept(value), primitive, Goal::Anywhere).register
                    }
                    None => value,
                };
                self.buffer.op(Op::Return, value.0, 0, 0);
            }
            (_, None) => self.buffer.op(Op::ReturnUnit, 0, 0, 0),
            (None, Some(_)) if gives == Ty::UNIT => {
                let unit = self.unit(Goal::Anywhere);
                let value = self.as_reference(unit, Ty::UNIT);
                self.buffer.op(Op::Return, value.register.0, 0, 0);
            }
            // What was called never returns.
            (None, Some(_)) => self.never(),
        }
    }
}
