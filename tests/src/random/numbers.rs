//! Expressions of type `Int`, `Float` and `Bool`.

use super::feature::Feature;
use super::generator::{Generator, expression};
use super::tree::Expression;
use super::types::Type::{self, Bool, Float, Int, String as Text};

/// Integers at which something changes.
const EDGES: &[&str] = &[
    "Int.MAX",
    "Int.MIN",
    "(Int.MAX - 1)",
    "(Int.MIN + 1)",
    "4294967296",
    "2147483647",
    "-2147483648",
    "0x8000000000000001",
    "0x5555555555555555",
    "9007199254740993",
];

/// Floats at which something changes.
const SPECIAL: &[&str] = &[
    "Float.NAN",
    "Float.INFINITY",
    "(-Float.INFINITY)",
    "(-0.0)",
    "Float.MAX",
    "Float.MIN_POSITIVE",
    "1e308",
    "9007199254740993.0",
    "1e19",
    "4.9e-324",
];

impl Generator {
    /// A literal of type `Int`.
    pub fn int_literal(&mut self) -> Expression {
        let number = match self.choice.below(20) {
            0..=11 => self.choice.between(0, 10) as i64,
            12..=14 => -(self.choice.between(1, 9) as i64),
            15 | 16 => self.choice.between(11, 1000) as i64,
            17 => 1 << self.choice.between(4, 40),
            18 => self.choice.bits() as i64 >> self.choice.below(50),
            _ => {
                self.mark(Feature::Overflow);
                return Expression::text(&Int, *self.choice.pick(EDGES));
            }
        };
        Expression::text(&Int, parenthesized(number))
    }

    /// A literal of type `Float`.
    pub fn float_literal(&mut self) -> Expression {
        if self.choice.percent(15) {
            self.mark(Feature::FloatSpecial);
            return Expression::text(&Float, *self.choice.pick(SPECIAL));
        }
        let (whole, part) = (self.choice.below(20), *self.choice.pick(&["0", "5", "25", "1", "375"]));
        Expression::text(&Float, format!("{whole}.{part}"))
    }

    /// An expression of type `Int` whose operands are that deep.
    pub fn integer(&mut self, depth: usize) -> Option<Expression> {
        let made = match self.choice.below(40) {
            0..=11 => {
                let operator = *self.choice.pick(&["+", "+", "-", "-", "*"]);
                if operator == "*" {
                    self.mark(Feature::Overflow);
                }
                self.binary(&Int, &Int, operator, depth)
            }
            12..=16 => {
                self.mark(Feature::BitOperation);
                let operator = *self.choice.pick(&["&", "|", "^", "^"]);
                self.binary(&Int, &Int, operator, depth)
            }
            17..=20 => {
                self.mark(Feature::Shift);
                let operator = *self.choice.pick(&["<<", ">>", ">>>"]);
                let count = match self.choice.percent(70) {
                    true => Expression::text(&Int, parenthesized(self.choice.between(0, 66) as i64 - 1)),
                    false => self.value(&Int, depth),
                };
                let value = self.value(&Int, depth);
                expression(&Int, &format!("(@ {operator} @)"), [value, count])
            }
            21..=24 => return Some(self.division(depth)),
            25 => expression(&Int, "(-@)", [self.value(&Int, depth)]),
            26 => {
                self.mark(Feature::BitOperation);
                expression(&Int, "(~@)", [self.value(&Int, depth)])
            }
            27 | 28 => {
                let method = *self.choice.pick(&["min", "max", "compareTo"]);
                expression(
                    &Int,
                    &format!("(@).{method}(@)"),
                    [self.value(&Int, depth), self.value(&Int, depth)],
                )
            }
            29 => expression(&Int, "(@).abs()", [self.value(&Int, depth)]),
            30 | 31 => {
                self.mark(Feature::FloatConversion);
                let method = *self.choice.pick(&["toInt()", "bits()", "floor().toInt()"]);
                expression(&Int, &format!("(@).{method}"), [self.value(&Float, depth)])
            }
            32 => {
                expression(&Int, "(@).compareTo(@)", [self.value(&Float, depth), self.value(&Float, depth)])
            }
            33 => expression(&Int, "(if @ { 1 } else { 0 })", [self.value(&Bool, depth)]),
            34 | 35 => return self.int_of_text(depth),
            36 => return self.int_of_collection(depth),
            37 => return self.int_match(depth),
            38 => return self.digest_of_something(),
            _ => expression(&Int, "mix(@, @)", [self.value(&Int, depth), self.value(&Int, depth)]),
        };
        Some(made)
    }

    /// A quotient or remainder. Where an error is expected, the divisor may be zero.
    fn division(&mut self, depth: usize) -> Expression {
        self.mark(Feature::Division);
        let operator = if self.choice.percent(50) { "/" } else { "%" };
        let value = self.value(&Int, depth);
        if self.dares(40) {
            self.mark(Feature::DivisionByZero);
            let template = *self.choice.pick(&["(@ O @)", "(@ O (@ & 3))", "(@ O (@ % 5))"]);
            return expression(&Int, &template.replace('O', operator), [value, self.value(&Int, depth)]);
        }
        if self.choice.percent(60) {
            let divisor = match self.choice.below(10) {
                0 => -1,
                1 => i64::from(i32::MAX),
                2 => -(self.choice.between(2, 12) as i64),
                3 | 4 => 1 << self.choice.between(0, 12),
                _ => self.choice.between(1, 100) as i64,
            };
            return expression(&Int, &format!("(@ {operator} {})", parenthesized(divisor)), [value]);
        }
        let divisor = self.value(&Int, depth);
        expression(&Int, &format!("(@ {operator} (@ | 1))"), [value, divisor])
    }

    /// An expression of type `Float`.
    pub fn float(&mut self, depth: usize) -> Option<Expression> {
        let made = match self.choice.below(20) {
            0..=9 => {
                self.mark(Feature::FloatArithmetic);
                let operator = *self.choice.pick(&["+", "+", "-", "-", "*", "*", "/", "%"]);
                self.binary(&Float, &Float, operator, depth)
            }
            10 => {
                self.mark(Feature::FloatArithmetic);
                let template = *self.choice.pick(&["(@ * @ + @)", "(@ - @ * @)", "(@ * @ - @)"]);
                let parts = [self.value(&Float, depth), self.value(&Float, depth), self.value(&Float, depth)];
                expression(&Float, template, parts)
            }
            11 | 12 => {
                self.mark(Feature::FloatConversion);
                expression(&Float, "(@).toFloat()", [self.value(&Int, depth)])
            }
            13 => expression(&Float, "(-@)", [self.value(&Float, depth)]),
            14..=16 => {
                let method = *self.choice.pick(&[
                    "sqrt", "abs", "floor", "ceil", "round", "sqrt", "abs", "sin", "cos", "exp", "log",
                    "atan",
                ]);
                expression(&Float, &format!("(@).{method}()"), [self.value(&Float, depth)])
            }
            17 | 18 => {
                let method = *self.choice.pick(&["min", "max", "pow"]);
                let operands = [self.value(&Float, depth), self.value(&Float, depth)];
                expression(&Float, &format!("(@).{method}(@)"), operands)
            }
            _ => {
                self.mark(Feature::FloatSpecial);
                expression(&Float, "Float.fromBits(@)", [self.value(&Int, depth)])
            }
        };
        Some(made)
    }

    /// An expression of type `Bool`.
    pub fn boolean(&mut self, depth: usize) -> Option<Expression> {
        let comparison = *self.choice.pick(&["<", "<=", ">", ">=", "==", "!="]);
        let made = match self.choice.below(24) {
            0..=8 => self.binary(&Bool, &Int, comparison, depth),
            9..=11 => self.binary(&Bool, &Float, comparison, depth),
            12 => {
                self.mark(Feature::StringComparison);
                self.binary(&Bool, &Text, comparison, depth)
            }
            13..=16 => {
                self.mark(Feature::Logic);
                let operator = if self.choice.percent(50) { "&&" } else { "||" };
                self.binary(&Bool, &Bool, operator, depth)
            }
            17 => {
                self.mark(Feature::Logic);
                expression(&Bool, "(!@)", [self.value(&Bool, depth)])
            }
            18 => {
                let operator = if self.choice.percent(50) { "==" } else { "!=" };
                self.binary(&Bool, &Bool, operator, depth)
            }
            19 => expression(&Bool, "(@).isNaN()", [self.value(&Float, depth)]),
            20 => return self.type_test(),
            21 => return self.identity(),
            22 => {
                self.mark(Feature::StringSearch);
                let method = *self.choice.pick(&["contains", "startsWith", "endsWith"]);
                let operands = [self.value(&Text, depth), self.value(&Text, 0)];
                expression(&Bool, &format!("(@).{method}(@)"), operands)
            }
            _ => expression(&Bool, "((@ & @) == 0)", [self.value(&Int, depth), self.int_literal()]),
        };
        Some(made)
    }

    /// A condition that holds now and then, but not always: mostly about something that changes.
    pub fn condition(&mut self) -> Expression {
        if self.choice.percent(45)
            && let Some(counter) = self.variable(|v| v.kind == Int && !v.below.is_empty())
        {
            let divisor = *self.choice.pick(&[2, 3, 4, 5, 7, 8, 16, 31, 64, 97]);
            let rest = self.choice.below(divisor.min(5));
            let operator = *self.choice.pick(&["==", "==", "!=", "<"]);
            return Expression::text(&Bool, format!("{} % {divisor} {operator} {rest}", counter.name));
        }
        self.value(&Bool, 2)
    }

    /// A condition that holds seldom.
    pub fn rare_condition(&mut self) -> Expression {
        let mask = *self.choice.pick(&[15, 63, 127, 255, 1023]);
        let rest = self.choice.below(mask + 1);
        expression(&Bool, &format!("((@ & {mask}) == {rest})"), [self.value(&Int, 1)])
    }

    fn binary(&mut self, kind: &Type, operand: &Type, operator: &str, depth: usize) -> Expression {
        let operands = [self.value(operand, depth), self.value(operand, depth)];
        expression(kind, &format!("(@ {operator} @)"), operands)
    }
}

/// A number that can be an operand anywhere.
fn parenthesized(number: i64) -> String {
    if number < 0 { format!("({number})") } else { number.to_string() }
}
