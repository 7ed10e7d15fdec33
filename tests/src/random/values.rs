//! Expressions of any type: what does not depend on the type (variables, calls, fields, elements, conditions), and the
//! types that are not numbers or texts.

use super::feature::Feature;
use super::generator::{Generator, expression};
use super::tree::Expression;
use super::types::Type;

/// What making an object costs, besides its arguments.
const ALLOCATION: i64 = 8;

impl Generator {
    /// An expression of a type, with at most so many levels of operands.
    pub fn value(&mut self, kind: &Type, depth: usize) -> Expression {
        self.charge(1);
        if depth == 0 || self.around.budget <= 0 {
            return self.leaf(kind);
        }
        if self.choice.percent(25)
            && let Some(variable) = self.variable_of(kind)
        {
            return Expression::text(kind, variable.name);
        }
        for _ in 0..4 {
            let made = match self.choice.percent(40) {
                true => self.found(kind, depth - 1),
                false => self.made(kind, depth - 1),
            };
            if let Some(made) = made {
                return made;
            }
        }
        self.leaf(kind)
    }

    /// A variable or something small.
    pub fn leaf(&mut self, kind: &Type) -> Expression {
        if self.choice.percent(75)
            && let Some(variable) = self.variable_of(kind)
        {
            return Expression::text(kind, variable.name);
        }
        match kind {
            Type::Int => self.int_literal(),
            Type::Float => self.float_literal(),
            Type::String => self.text_literal(),
            Type::Bool => Expression::text(kind, if self.choice.percent(50) { "true" } else { "false" }),
            _ => match self.made(kind, 0) {
                Some(made) => made,
                None => Expression::text(kind, kind.constants().first().cloned().unwrap_or_default()),
            },
        }
    }

    /// A value of a type that something in scope has, holds or returns.
    fn found(&mut self, kind: &Type, depth: usize) -> Option<Expression> {
        if self.dares(25) {
            return if self.choice.percent(60) {
                self.coalesced(kind, depth)
            } else {
                self.unboxed(kind, depth)
            };
        }
        match self.choice.below(20) {
            0..=3 => self.call(kind, depth),
            4..=7 => self.method_call(kind, depth),
            8..=10 => self.field(kind),
            11..=13 => self.element(kind, depth),
            14 => self.closure_call(kind, depth),
            15 => {
                let parts =
                    [self.value(&Type::Bool, depth), self.value(kind, depth), self.value(kind, depth)];
                Some(expression(kind, "(if @ { @ } else { @ })", parts))
            }
            16 | 17 => self.coalesced(kind, depth),
            18 => self.attempt(kind, depth),
            _ => self.unboxed(kind, depth),
        }
    }

    /// A value that the operations of its type make.
    fn made(&mut self, kind: &Type, depth: usize) -> Option<Expression> {
        match kind {
            Type::Int => self.integer(depth),
            Type::Float => self.float(depth),
            Type::Bool => self.boolean(depth),
            Type::String => self.text(depth),
            Type::Bytes => Some(self.array_value(kind, depth)),
            Type::Array(_) => Some(self.array_value(kind, depth)),
            Type::Any => Some(self.boxed(depth)),
            Type::Nullable(inner) => {
                self.mark(Feature::Nullable);
                // A class that is being made has fields of its own type before there can be objects of it.
                let nothing = matches!(&**inner, Type::Named(name, arguments) if arguments.is_empty()
                    && self.enumeration(name).is_none() && !self.instantiable().contains(name));
                if nothing || self.choice.percent(35) {
                    return Some(Expression::text(kind, "null"));
                }
                self.charge(ALLOCATION);
                let inner = self.value(inner, depth);
                Some(Expression { kind: kind.clone(), ..inner })
            }
            Type::Function(parameters, result) => {
                Some(self.function_value(&parameters.clone(), &result.clone()))
            }
            Type::Named(name, arguments) => self.object_value(name, &arguments.clone(), depth),
            Type::Unit => None,
        }
    }

    /// Some value in a box.
    fn boxed(&mut self, depth: usize) -> Expression {
        self.mark(Feature::Boxing);
        self.charge(ALLOCATION);
        let mut kinds = vec![Type::Int, Type::Int, Type::Float, Type::Bool, Type::String];
        kinds.extend(self.instantiable().iter().map(|name| Type::named(name)));
        let kind = self.choice.pick(&kinds).clone();
        let inner = self.value(&kind, depth);
        Expression { kind: Type::Any, ..inner }
    }

    /// An object of a class, an enum or a class of the library.
    fn object_value(&mut self, name: &str, arguments: &[Type], depth: usize) -> Option<Expression> {
        let kind = Type::Named(name.to_string(), arguments.to_vec());
        self.charge(ALLOCATION);
        if self.enumeration(name).is_some() {
            return Some(self.variant(name, depth));
        }
        if self.cells.iter().any(|cell| cell == name) {
            self.mark(Feature::GenericClass);
            let inner = self.value(&arguments[0], depth);
            let subclass = self.subcells.iter().find(|(_, superclass)| superclass == name).cloned();
            let made = subclass.filter(|_| self.choice.percent(40)).map_or(name.to_string(), |(sub, _)| sub);
            return Some(expression(&kind, &format!("{made}<{}>(@)", arguments[0]), [inner]));
        }
        match name {
            "List" => {
                self.charge(20);
                let items: Vec<Expression> = (0..3).map(|_| self.value(&arguments[0], depth)).collect();
                let items: [Expression; 3] = items.try_into().ok()?;
                Some(expression(&kind, &format!("List.of<{}>([@, @, @])", arguments[0]), items))
            }
            "Pair" => {
                self.mark(Feature::PairOrOption);
                let parts = [self.value(&arguments[0], depth), self.value(&arguments[1], depth)];
                Some(expression(&kind, "Pair(@, @)", parts))
            }
            "Option" => {
                self.mark(Feature::PairOrOption);
                if self.choice.percent(30) {
                    return Some(Expression::text(&kind, "Option.None"));
                }
                Some(expression(&kind, "Option.Some(@)", [self.value(&arguments[0], depth)]))
            }
            _ => self.instance(name, depth),
        }
    }

    /// An object of a class of the program or of a subclass.
    pub fn instance(&mut self, name: &str, depth: usize) -> Option<Expression> {
        let makeable = |class: &&super::generator::Class| {
            class.constructor.is_some() && class.ancestors.iter().any(|ancestor| ancestor == name)
        };
        let candidates: Vec<(String, Vec<Type>)> = self
            .classes
            .iter()
            .filter(makeable)
            .map(|class| (class.name.clone(), class.constructor.clone().unwrap_or_default()))
            .collect();
        let (class, parameters) = self.choice.pick_any(&candidates)?.clone();
        self.charge(ALLOCATION);
        let arguments = self.arguments(&parameters, depth);
        let template = format!("{class}({})", vec!["@"; arguments.len()].join(", "));
        Some(Expression { kind: Type::named(name), parts: super::tree::fill_all(&template, arguments) })
    }

    /// A variant of an enum.
    fn variant(&mut self, name: &str, depth: usize) -> Expression {
        self.mark(Feature::Enum);
        let kind = Type::named(name);
        let variants = self.enumeration(name).map(|e| e.variants.clone()).unwrap_or_default();
        let plain: Vec<_> = variants.iter().filter(|(_, payload)| payload.is_empty()).cloned().collect();
        let (variant, payload) = match depth == 0 {
            true => self.choice.pick(&plain).clone(),
            false => self.choice.pick(&variants).clone(),
        };
        if payload.is_empty() {
            return Expression::text(&kind, format!("{name}.{variant}"));
        }
        let arguments = self.arguments(&payload, depth.saturating_sub(1));
        let template = format!("{name}.{variant}({})", vec!["@"; arguments.len()].join(", "));
        Expression { kind, parts: super::tree::fill_all(&template, arguments) }
    }

    /// A new array.
    fn array_value(&mut self, kind: &Type, depth: usize) -> Expression {
        let length = self.choice.between(1, 8);
        self.charge(ALLOCATION + length as i64);
        let Type::Array(element) = kind else {
            self.mark(Feature::ByteArray);
            return Expression::text(kind, format!("Bytes({length})"));
        };
        self.mark_array(element);
        if self.choice.percent(40) {
            let item = self.value(element, depth);
            return expression(kind, &format!("Array<{element}>({length}, @)"), [item]);
        }
        let items: Vec<_> = (0..length).map(|_| self.value(element, 0).into()).collect();
        let template = format!("[{}]", vec!["@"; length].join(", "));
        Expression { kind: kind.clone(), parts: super::tree::fill_all(&template, items) }
    }

    /// Notes what kind of array is used.
    pub fn mark_array(&mut self, element: &Type) {
        self.mark(match element {
            Type::Int => Feature::IntArray,
            Type::Float => Feature::FloatArray,
            Type::Bool => Feature::BoolArray,
            _ => Feature::ObjectArray,
        });
    }

    /// `x ?? y`, `x?.f ?? y` or `x!`.
    fn coalesced(&mut self, kind: &Type, depth: usize) -> Option<Expression> {
        if self.choice.percent(50)
            && let Some(variable) = self.variable_of(&Type::nullable(kind.clone()))
        {
            let name = variable.name;
            if self.dares(40) {
                self.mark(Feature::NullAssertion);
                return Some(Expression::text(kind, format!("{name}!")));
            }
            self.mark(Feature::Coalesce);
            return Some(expression(kind, &format!("({name} ?? @)"), [self.value(kind, depth)]));
        }
        let objects: Vec<(String, Vec<String>)> = self
            .classes
            .iter()
            .map(|class| {
                let fields = class.fields.iter().filter(|field| field.kind == *kind);
                (class.name.clone(), fields.map(|field| field.name.clone()).collect())
            })
            .collect();
        let is_nullable_with_field = |kind: &Type| {
            let Type::Nullable(inner) = kind else { return false };
            let Type::Named(name, _) = &**inner else { return false };
            objects.iter().any(|(class, fields)| class == name && !fields.is_empty())
        };
        let variable = self.variable(|variable| is_nullable_with_field(&variable.kind))?;
        let Type::Nullable(inner) = &variable.kind else { return None };
        let fields =
            objects.iter().find(|(class, _)| *class == inner.to_string()).map(|(_, fields)| fields)?;
        let field = self.choice.pick_any(fields)?.clone();
        if self.dares(60) {
            self.mark(Feature::NullAssertion);
            return Some(Expression::text(kind, format!("{}!.{field}", variable.name)));
        }
        self.mark(Feature::SafeCall);
        self.mark(Feature::Coalesce);
        let template = format!("({}?.{field} ?? @)", variable.name);
        Some(expression(kind, &template, [self.value(kind, depth)]))
    }

    /// `try { … } catch …` as an expression.
    fn attempt(&mut self, kind: &Type, depth: usize) -> Option<Expression> {
        if !self.affords(30) || depth == 0 {
            return None;
        }
        self.charge(10);
        let tried = self.risking(|g| g.value(kind, depth + 1));
        if self.choice.percent(50) {
            self.mark(Feature::CatchByClass);
            let class = *self.choice.pick(&["IndexError", "DivisionError", "CastError", "NullError"]);
            let template = format!("(try {{ @ }} catch _: {class} {{ @ }} catch _ {{ @ }})");
            let others = [tried, self.value(kind, 1), self.value(kind, 0)];
            return Some(expression(kind, &template, others));
        }
        Some(expression(kind, "(try { @ } catch _ { @ })", [tried, self.value(kind, 1)]))
    }

    /// What is in a cell, a pair, an option or a box.
    fn unboxed(&mut self, kind: &Type, depth: usize) -> Option<Expression> {
        let cells = self.cells.clone();
        let holds = |candidate: &Type| match candidate {
            Type::Any => kind.is_plain(),
            Type::Named(name, arguments) => {
                arguments.contains(kind)
                    && (matches!(name.as_str(), "Pair" | "Option") || cells.contains(name))
            }
            _ => false,
        };
        let variable = self.variable(|variable| holds(&variable.kind))?;
        let name = &variable.name;
        let made = match &variable.kind {
            Type::Any if self.dares(40) => {
                self.mark(Feature::Cast);
                Expression::text(kind, format!("({name} as {kind})"))
            }
            Type::Any => {
                self.mark(Feature::Cast);
                expression(kind, &format!("(({name} as? {kind}) ?? @)"), [self.value(kind, depth)])
            }
            Type::Named(class, arguments) => match class.as_str() {
                "Pair" => {
                    let field = if arguments[0] == *kind { "first" } else { "second" };
                    Expression::text(kind, format!("{name}.{field}"))
                }
                "Option" => {
                    self.charge(10);
                    expression(kind, &format!("{name}.getOr(@)"), [self.value(kind, depth)])
                }
                _ => {
                    self.mark(Feature::GenericClass);
                    self.charge(5);
                    let member = if self.choice.percent(50) { "get()" } else { "value" };
                    Expression::text(kind, format!("{name}.{member}"))
                }
            },
            _ => return None,
        };
        Some(made)
    }
}
