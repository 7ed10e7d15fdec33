//! Looking at values: what becomes of them in checksums and conditions.

use super::feature::Feature;
use super::generator::{Generator, expression};
use super::tree::{Expression, fill_all};
use super::types::Type::{self, Bool, Int};

impl Generator {
    /// An integer that depends on a value. The expression is one that can have members.
    pub fn digest(&mut self, value: Expression) -> Expression {
        self.charge(4);
        match value.kind.clone() {
            Type::Int => value,
            Type::Float => expression(&Int, "(@).bits()", [value]),
            Type::Bool => expression(&Int, "(if @ { 3 } else { 4 })", [value]),
            Type::String => {
                self.charge(10);
                expression(&Int, "(@).hash()", [value])
            }
            Type::Bytes | Type::Array(_) => expression(&Int, "(@).length", [value]),
            Type::Nullable(inner) if inner.is_plain() => {
                let otherwise = self.leaf(&inner);
                let unwrapped = expression(&inner, "((@) ?? @)", [value, otherwise]);
                self.digest(unwrapped)
            }
            Type::Nullable(_) => expression(&Int, "(if (@) == null { 5 } else { 6 })", [value]),
            Type::Any => expression(&Int, "((@ as? Int) ?? 7)", [value]),
            Type::Function(parameters, result) => {
                self.charge(super::calls::CLOSURE_COST);
                let mut parts = vec![value.into()];
                parts.extend(self.arguments(&parameters, 0));
                let template = format!("@({})", vec!["@"; parameters.len()].join(", "));
                let called = Expression { kind: (*result).clone(), parts: fill_all(&template, parts) };
                self.digest(called)
            }
            Type::Named(name, arguments) => match name.as_str() {
                "List" | "Map" | "Set" | "StringBuilder" => expression(&Int, "(@).length()", [value]),
                "Pair" => {
                    let first = expression(&arguments[0], "(@).first", [value]);
                    self.digest(first)
                }
                "Option" => {
                    let otherwise = self.leaf(&arguments[0]);
                    let inner = expression(&arguments[0], "(@).getOr(@)", [value, otherwise]);
                    self.digest(inner)
                }
                _ if self.cells.contains(&name) => {
                    let inner = expression(&arguments[0], "(@).get()", [value]);
                    self.digest(inner)
                }
                _ => {
                    self.charge(super::calls::METHOD_COST);
                    expression(&Int, "(@).digest()", [value])
                }
            },
            Type::Unit => Expression::text(&Int, "8"),
        }
    }

    /// An integer that depends on some variable of another type.
    pub fn digest_of_something(&mut self) -> Option<Expression> {
        if !self.affords(super::calls::METHOD_COST + 10) {
            return None;
        }
        let variable = self.variable(|variable| variable.kind != Int && variable.kind != Type::Unit)?;
        Some(self.digest(Expression::text(&variable.kind, variable.name)))
    }

    /// `x is T`.
    pub fn type_test(&mut self) -> Option<Expression> {
        if self.choice.percent(30)
            && let Some(variable) = self.variable_of(&Type::Any)
        {
            self.mark(Feature::TypeTest);
            let kind = *self.choice.pick(&["Int", "Float", "Bool", "String"]);
            return Some(self.hidden_test(format!("{} is {kind}", variable.name)));
        }
        let (variable, class) = self.object()?;
        let subclass = self.subclass(&class.name)?;
        self.mark(Feature::TypeTest);
        Some(self.hidden_test(format!("{} is {subclass}", variable.name)))
    }

    /// A test that tells the type checker nothing about the variable: where it is known of which class a variable is, tests
    /// for classes that have nothing to do with that one are mistakes, and where it is known that it is not null, a copy of it is
    /// never null. What follows from such tests has statements of its own, with variables of their own.
    fn hidden_test(&mut self, test: String) -> Expression {
        let template =
            *self.choice.pick(&["((#) == true)", "(if # { true } else { false })", "((#) != (1 > 0))"]);
        Expression::text(&Bool, template.replace('#', &test))
    }

    /// A proper subclass of a class or interface, or an interface that one of them has.
    pub fn subclass(&mut self, name: &str) -> Option<String> {
        let is_below = |class: &&super::generator::Class| {
            class.name != name && class.ancestors.iter().any(|ancestor| ancestor == name)
        };
        let below: Vec<String> =
            self.classes.iter().filter(is_below).map(|class| class.name.clone()).collect();
        self.choice.pick_any(&below).cloned()
    }

    /// `x == null` or `x == y`.
    pub fn identity(&mut self) -> Option<Expression> {
        let operator = if self.choice.percent(50) { "==" } else { "!=" };
        if let Some(variable) = self.variable(|variable| matches!(variable.kind, Type::Nullable(_))) {
            self.mark(Feature::Nullable);
            return Some(self.hidden_test(format!("{} {operator} null", variable.name)));
        }
        let (one, _) = self.object()?;
        let other = self.variable_of(&one.kind)?;
        Some(Expression::text(&Bool, format!("({} {operator} {})", one.name, other.name)))
    }

    /// `match` over an integer or a text.
    pub fn int_match(&mut self, depth: usize) -> Option<Expression> {
        if self.choice.percent(15) {
            self.mark(Feature::StringMatch);
            self.charge(6);
            let parts = [
                self.value(&Type::String, depth),
                self.value(&Int, depth),
                self.value(&Int, 0),
                self.value(&Int, 0),
            ];
            let template = "(match @ { \"\" => @, \"a\" | \"ab\" => @, _ => @ })";
            return Some(expression(&Int, template, parts));
        }
        self.mark(Feature::IntMatch);
        let parts = [
            self.value(&Int, depth),
            self.value(&Int, depth),
            self.value(&Int, 0),
            self.value(&Int, depth),
            self.value(&Bool, 1),
            self.value(&Int, 0),
            self.value(&Int, 0),
        ];
        let template = *self.choice.pick(&[
            "(match @ & 7 { 0 => @, 1 | 2 => @, 3..=5 => @, _ if @ => @, _ => @ })",
            "(match @ % 9 { -1 => @, 0 => @, 1 | 4 | 6 => @, _ if @ => @, _ => @ })",
            "(match @ & 1023 { 0..64 => @, 64..=512 => @, 700 => @, _ if @ => @, _ => @ })",
        ]);
        Some(expression(&Int, template, parts))
    }

    /// An integer out of a list, map or set.
    pub fn int_of_collection(&mut self, depth: usize) -> Option<Expression> {
        self.charge(20);
        let is_collection = |kind: &Type| matches!(kind, Type::Named(name, _) if matches!(name.as_str(), "List" | "Map" | "Set"));
        let variable = self.variable(|variable| is_collection(&variable.kind))?;
        let name = &variable.name;
        let Type::Named(class, arguments) = &variable.kind else { return None };
        let made = match (class.as_str(), arguments.as_slice()) {
            ("List", [Int]) => {
                self.mark(Feature::Lists);
                if self.dares(60) {
                    self.mark(Feature::BadIndex);
                    return Some(expression(&Int, &format!("{name}.get(@)"), [self.value(&Int, depth)]));
                }
                let template = format!("(if {name}.isEmpty() {{ @ }} else {{ {name}.last() }})");
                expression(&Int, &template, [self.value(&Int, 0)])
            }
            ("Map", [key, Int]) => {
                self.mark(Feature::Maps);
                let parts = [self.value(key, depth), self.value(&Int, 0)];
                expression(&Int, &format!("{name}.getOr(@, @)"), parts)
            }
            ("Set", [key]) => {
                self.mark(Feature::Sets);
                let template = format!("(if {name}.contains(@) {{ 11 }} else {{ 12 }})");
                expression(&Int, &template, [self.value(key, depth)])
            }
            _ => Expression::text(&Int, format!("{name}.length()")),
        };
        Some(made)
    }
}
