//! Functions that expressions call: leaves of all sizes, functions that make closures or take them, and recursion in shapes
//! that count down.

use super::calls::CLOSURE_COST;
use super::feature::Feature;
use super::generator::{Callable, Generator, Surroundings, block_with_value, expression, statement};
use super::tree::{Block, Expression, Statement};
use super::types::Type::{self, Bool, Float, Int, String as Text};

impl Generator {
    /// A function of random type and contents.
    pub fn declare_function(&mut self) {
        match self.choice.below(10) {
            0 | 1 => self.declare_recursion(),
            2 => self.declare_closure_maker(),
            3 => self.declare_closure_taker(),
            _ => self.declare_plain_function(),
        }
    }

    fn declare_plain_function(&mut self) {
        let parameters: Vec<Type> = (0..self.choice.between(1, 3)).map(|_| self.parameter_type()).collect();
        let result = [Int, Int, Int, Float, Bool, Text][self.choice.below(6)].clone();
        let throws = self.choice.percent(25);
        let budget = *self.choice.pick(&[8, 12, 60, 60, 200]);
        let count = if budget < 20 { 0 } else { self.choice.between(1, 4) };
        let around = Surroundings {
            risky: throws,
            isolated: self.choice.percent(50),
            result: Some(result.clone()),
            ..Surroundings::new(budget)
        };
        let name = self.fresh("f");
        let names: Vec<String> = parameters.iter().map(|_| self.fresh("a")).collect();
        let (body, around) = self.within(around, |g| {
            for (name, kind) in names.iter().zip(&parameters) {
                let assignable = g.choice.percent(50) && !matches!(kind, Type::Array(_));
                g.declare(name, kind, assignable);
            }
            let mut statements = Vec::new();
            if count > 0 {
                let start = g.value(&Int, 1);
                statements.push(statement("var h = @", [start]));
                g.declare("h", &Int, true);
            }
            statements.extend(g.statements(count));
            let value = if result == Text { g.clipped(2) } else { g.value(&result, 3) };
            block_with_value(statements, value)
        });
        let list: Vec<String> =
            names.iter().zip(&parameters).map(|(name, kind)| format!("{name}: {kind}")).collect();
        let head = format!("fn {name}({}) -> {result} @", list.join(", "));
        self.add(Statement::new(&head, [body.into()]));
        let cost = budget - around.budget.min(budget) + 4;
        self.functions.push(Callable { name, parameters, result, cost, throws, effects: around.effects });
    }

    fn parameter_type(&mut self) -> Type {
        match self.choice.below(12) {
            0..=4 => Int,
            5 | 6 => Float,
            7 => Bool,
            8 => Type::array(Int),
            9 | 10 => match self.choice.pick_any(&self.instantiable()) {
                Some(name) => Type::named(name),
                None => Int,
            },
            _ => self.some_type(),
        }
    }

    /// `fn make(a: Int) -> fn(Int) -> Int`
    fn declare_closure_maker(&mut self) {
        let name = self.fresh("make");
        let kind = Type::int_function();
        let around = Surroundings { isolated: true, ..Surroundings::new(40) };
        let (body, _) = self.within(around, |g| {
            g.declare("a", &Int, false);
            let start = g.value(&Int, 1);
            let first = statement("var count = @", [start]);
            g.declare("count", &Int, true);
            g.declare("count", &Int, true);
            let closure = g.function_value(&[Int], &Int);
            block_with_value(vec![first], closure)
        });
        self.add(Statement::new(&format!("fn {name}(a: Int) -> {kind} @"), [body.into()]));
        self.functions.push(Callable {
            name,
            parameters: vec![Int],
            result: kind,
            cost: 20,
            throws: false,
            effects: false,
        });
    }

    /// `fn apply(f: fn(Int) -> Int, a: Int) -> Int`
    fn declare_closure_taker(&mut self) {
        let name = self.fresh("apply");
        let times = self.choice.between(1, 4);
        let combined = *self.choice.pick(&["f(h) ^ i", "f(h + i)", "mix(h, f(i))", "f(f(h))"]);
        let inner = Block::new(vec![Statement::text(format!("h = {combined}"))]);
        let body = Block::new(vec![
            Statement::text("var h = a"),
            Statement::new(&format!("for i in 0..{times} @"), [inner.into()]),
            Statement::text("h"),
        ]);
        self.add(Statement::new(&format!("fn {name}(f: fn(Int) -> Int, a: Int) -> Int @"), [body.into()]));
        self.functions.push(Callable {
            name,
            parameters: vec![Type::int_function(), Int],
            result: Int,
            cost: 2 * CLOSURE_COST * times as i64 + 10,
            throws: false,
            effects: false,
        });
    }

    /// A function that calls itself, or two that call each other, and one that begins it within bounds.
    fn declare_recursion(&mut self) {
        self.mark(Feature::Recursion);
        let mutual = self.choice.percent(30);
        let first = self.fresh("r");
        let second = if mutual { self.fresh("r") } else { first.clone() };
        let twice = self.choice.percent(40);
        let throws = self.choice.percent(20);
        let depth = if twice { 3 } else { *self.choice.pick(&[7, 15]) };
        let (mut work, mut effects) = (0, false);
        let isolated = self.choice.percent(60);
        let targets = match mutual {
            true => {
                self.mark(Feature::MutualRecursion);
                vec![(first.clone(), second.clone()), (second, first.clone())]
            }
            false => vec![(first.clone(), second)],
        };
        for (name, next) in &targets {
            let around = Surroundings { risky: throws, isolated, result: Some(Int), ..Surroundings::new(30) };
            let (body, around) = self.within(around, |g| g.recursive_body(next, twice));
            self.add(Statement::new(&format!("fn {name}(n: Int, a: Int) -> Int @"), [body.into()]));
            work += 34 - around.budget.min(30);
            effects |= around.effects;
        }
        let calls = if twice { 16 } else { depth + 1 };
        let begin = self.fresh("begin");
        let body = Block::new(vec![Statement::text(format!("{first}(n & {depth}, a)"))]);
        self.add(Statement::new(&format!("fn {begin}(n: Int, a: Int) -> Int @"), [body.into()]));
        self.functions.push(Callable {
            name: begin,
            parameters: vec![Int, Int],
            result: Int,
            cost: work * calls,
            throws,
            effects,
        });
    }

    fn recursive_body(&mut self, next: &str, twice: bool) -> Block {
        self.declare("n", &Int, false);
        self.declare("a", &Int, true);
        let end = self.value(&Int, 1);
        let mut statements = vec![statement("if n <= 0 { return @ }", [end])];
        statements.extend(self.statements(1));
        let one = expression(&Int, &format!("{next}(n - 1, @)"), [self.value(&Int, 1)]);
        let value = if twice {
            let other = expression(&Int, &format!("{next}(n - 2, @)"), [self.value(&Int, 1)]);
            let template = *self.choice.pick(&["mix(@, @)", "(@ - @)", "(@ ^ @)"]);
            expression(&Int, template, [one, other])
        } else {
            match self.choice.below(3) {
                // A call whose result is the result.
                0 => one,
                _ => expression(&Int, "mix(@, @)", [one, self.value(&Int, 2)]),
            }
        };
        block_with_value(statements, value)
    }

    /// A function that never stops calling itself.
    pub fn declare_bottomless(&mut self) -> String {
        self.mark(Feature::StackOverflow);
        let name = self.fresh("deep");
        let body =
            *self.choice.pick(&["N(n + 1) + 1", "mix(n, N(n ^ 5))", "if n == -7 { 0 } else { N(n + 1) }"]);
        let value = Expression::text(&Int, body.replace('N', &name));
        let block = block_with_value(Vec::new(), value);
        self.add(Statement::new(&format!("fn {name}(n: Int) -> Int @"), [block.into()]));
        name
    }
}
