//! Calls of functions, methods and closures, and what they are made of: arguments, elements, fields, closures.

use super::feature::Feature;
use super::generator::{Callable, Generator, Surroundings, expression};
use super::tree::{Block, Expression, Part, fill_all};
use super::types::Type;

/// What a call of a closure costs at most. Closures cannot call closures, because their bodies may cost less than this;
/// so they cannot come to call themselves.
pub const CLOSURE_COST: i64 = 20;
/// What the body of a closure may cost.
const CLOSURE_BUDGET: i64 = 15;
/// What a call of a virtual method costs at most.
pub const METHOD_COST: i64 = 25;

impl Generator {
    /// Arguments of these types.
    pub fn arguments(&mut self, parameters: &[Type], depth: usize) -> Vec<Part> {
        let mut arguments = Vec::new();
        for kind in parameters {
            if matches!(kind, Type::Function(..)) {
                self.mark(Feature::ClosurePassed);
            }
            arguments.push(self.value(kind, depth).into());
        }
        arguments
    }

    /// May this be called here.
    pub fn callable(&self, callable: &Callable) -> bool {
        self.affords(callable.cost)
            && (self.around.risky || !callable.throws)
            && !(self.around.isolated && callable.effects)
    }

    /// Pays for a call and makes it.
    pub fn make_call(&mut self, target: &str, callable: &Callable, depth: usize) -> Expression {
        if matches!(callable.result, Type::Function(..)) {
            self.mark(Feature::ClosureReturned);
        }
        self.charge(callable.cost);
        self.around.effects |= callable.effects;
        if callable.throws {
            self.mark(Feature::ThrownAcross);
        }
        let arguments = self.arguments(&callable.parameters, depth);
        let template = format!("{target}({})", vec!["@"; arguments.len()].join(", "));
        Expression { kind: callable.result.clone(), parts: fill_all(&template, arguments) }
    }

    /// A call of a function of the program.
    pub fn call(&mut self, kind: &Type, depth: usize) -> Option<Expression> {
        if self.choice.percent(15) && kind.is_plain() && self.generic_choice {
            self.mark(Feature::GenericFunction);
            self.charge(5);
            let parts = [self.value(&Type::Bool, depth), self.value(kind, depth), self.value(kind, depth)];
            return Some(expression(kind, "choose(@, @, @)", parts));
        }
        let fitting = |f: &&Callable| f.result == *kind && self.callable(f);
        let candidates: Vec<Callable> = self.functions.iter().filter(fitting).cloned().collect();
        let callable = self.choice.pick_any(&candidates)?.clone();
        Some(self.make_call(&callable.name.clone(), &callable, depth))
    }

    /// A call of a method of some object.
    pub fn method_call(&mut self, kind: &Type, depth: usize) -> Option<Expression> {
        let (variable, class) = self.object()?;
        let fitting = |m: &&Callable| m.result == *kind && self.callable(m);
        let candidates: Vec<Callable> = class.methods.iter().filter(fitting).cloned().collect();
        let method = self.choice.pick_any(&candidates)?.clone();
        self.mark(if class.interface { Feature::InterfaceCall } else { Feature::VirtualCall });
        Some(self.make_call(&format!("{}.{}", variable.name, method.name), &method, depth))
    }

    /// A field of some object.
    pub fn field(&mut self, kind: &Type) -> Option<Expression> {
        let (variable, class) = self.object()?;
        let fields: Vec<String> =
            class.fields.iter().filter(|field| field.kind == *kind).map(|field| field.name.clone()).collect();
        let field = self.choice.pick_any(&fields)?;
        let text = format!("{}.{field}", variable.name);
        self.mark(Feature::Field);
        Some(Expression::text(kind, text))
    }

    /// An element of some array.
    pub fn element(&mut self, kind: &Type, depth: usize) -> Option<Expression> {
        let in_bytes =
            |variable: &super::generator::Variable| *kind == Type::Int && variable.kind == Type::Bytes;
        let array = Type::array(kind.clone());
        let variable = self.variable(|variable| variable.kind == array || in_bytes(variable))?;
        if variable.kind == Type::Bytes {
            self.mark(Feature::ByteArray);
        } else {
            self.mark_array(kind);
        }
        let index = self.index(&variable.name, variable.length, depth);
        Some(expression(kind, &format!("{}[@]", variable.name), [index]))
    }

    /// An index into an array, valid unless an error is expected.
    pub fn index(&mut self, array: &str, length: Option<usize>, depth: usize) -> Expression {
        if self.dares(25) {
            self.mark(Feature::BadIndex);
            return self.value(&Type::Int, depth);
        }
        let array_name = array.to_string();
        if self.choice.percent(70)
            && let Some(counter) = self.variable(|variable| variable.below.contains(&array_name))
        {
            return Expression::text(&Type::Int, counter.name);
        }
        match length {
            Some(length) if length.is_power_of_two() && self.choice.percent(70) => {
                expression(&Type::Int, &format!("(@ & {})", length - 1), [self.value(&Type::Int, depth)])
            }
            Some(length) if self.choice.percent(30) => {
                Expression::text(&Type::Int, self.choice.below(length).to_string())
            }
            _ => {
                let value = self.value(&Type::Int, depth);
                expression(&Type::Int, &format!("((@ & 4095) % {array}.length)"), [value])
            }
        }
    }

    /// A call of a function value in scope.
    pub fn closure_call(&mut self, kind: &Type, depth: usize) -> Option<Expression> {
        if !self.affords(CLOSURE_COST) {
            return None;
        }
        let gives = |candidate: &Type| matches!(candidate, Type::Function(_, result) if **result == *kind);
        let variable = self.variable(|variable| gives(&variable.kind))?;
        let Type::Function(parameters, _) = &variable.kind else { return None };
        self.charge(CLOSURE_COST);
        let arguments = self.arguments(&parameters.clone(), depth.min(1));
        let template = format!("{}({})", variable.name, vec!["@"; arguments.len()].join(", "));
        Some(Expression { kind: kind.clone(), parts: fill_all(&template, arguments) })
    }

    /// A closure, or the name of a function.
    pub fn function_value(&mut self, parameters: &[Type], result: &Type) -> Expression {
        let kind = Type::Function(parameters.to_vec(), Box::new(result.clone()));
        self.charge(8);
        let fitting = |f: &&Callable| {
            f.parameters == parameters && f.result == *result && !f.throws && f.cost <= CLOSURE_BUDGET
        };
        let candidates: Vec<Callable> =
            self.functions.iter().filter(fitting).filter(|f| self.callable(f)).cloned().collect();
        let returning = |f: &&Callable| f.result == kind && self.callable(f);
        let makers: Vec<Callable> = self.functions.iter().filter(returning).cloned().collect();
        if self.choice.percent(40)
            && let Some(maker) = self.choice.pick_any(&makers)
        {
            return self.make_call(&maker.name, maker, 0);
        }
        if self.choice.percent(30)
            && let Some(function) = self.choice.pick_any(&candidates)
        {
            let function = function.clone();
            self.around.effects |= function.effects;
            self.mark(Feature::FunctionValue);
            return Expression::text(&kind, function.name);
        }
        let names: Vec<String> = parameters.iter().map(|_| self.fresh("p")).collect();
        let typed: Vec<String> =
            names.iter().zip(parameters).map(|(name, kind)| format!("{name}: {kind}")).collect();
        let body = self.closure_body(&names, parameters, result);
        let template = format!("(|{}| -> {result} @)", typed.join(", "));
        Expression { kind, parts: fill_all(&template, vec![body.into()]) }
    }

    /// The body of a closure. Often it writes a variable that it captures.
    fn closure_body(&mut self, names: &[String], parameters: &[Type], result: &Type) -> Block {
        self.mark(Feature::Closure);
        let around = Surroundings {
            isolated: self.around.isolated,
            result: Some(result.clone()),
            ..Surroundings::new(CLOSURE_BUDGET)
        };
        let (block, around) = self.within(around, |g| {
            let mut statements = Vec::new();
            if g.choice.percent(50)
                && let Some(captured) = g.variable(|v| v.assignable && v.kind == Type::Int)
            {
                g.mark(Feature::Cell);
                for (name, kind) in names.iter().zip(parameters) {
                    g.declare(name, kind, false);
                }
                let operator = *g.choice.pick(&["+=", "-=", "^=", "="]);
                let value = g.value(&Type::Int, 2);
                let template = format!("{} {operator} @", captured.name);
                statements.push(super::generator::statement(&template, [value]));
            } else {
                for (name, kind) in names.iter().zip(parameters) {
                    g.declare(name, kind, false);
                }
            }
            let value = g.value(result, 2);
            super::generator::block_with_value(statements, value)
        });
        self.around.effects |= around.effects;
        block
    }
}
