//! Statements about control: loops of all kinds, leaving them, errors.

use super::feature::Feature;
use super::generator::{Generator, Loop, expression, statement};
use super::tree::{Block, Expression, Part, Statement, fill_all};
use super::types::Type::{self, Bool, Int};

/// What an iteration of a loop costs besides its body.
const ITERATION: i64 = 2;

impl Generator {
    /// A loop with random contents.
    pub fn loop_statement(&mut self) -> Option<Vec<Statement>> {
        let most = (self.around.budget / (self.around.times * 12)).min(40);
        if most < 2 || self.around.loops.len() > 2 {
            return None;
        }
        let times = self.choice.between(2, most as usize);
        let count = self.choice.between(1, 3);
        self.any_loop(times, &mut |g| g.statements(count))
    }

    /// A loop that runs about so many times, at most twice as often, with this body.
    pub fn any_loop(
        &mut self,
        times: usize,
        body: &mut dyn FnMut(&mut Self) -> Vec<Statement>,
    ) -> Option<Vec<Statement>> {
        if !self.around.loops.is_empty() {
            self.mark(Feature::NestedLoop);
        }
        match self.choice.below(12) {
            0..=4 => Some(vec![self.range_loop(times, body)]),
            5 | 6 => Some(vec![self.array_loop(body)?]),
            7..=9 => Some(self.while_loop(times, body)),
            10 => Some(self.value_loop(times, body)),
            _ => Some(vec![self.item_loop(body)?]),
        }
    }

    /// The body of a loop: what `body` makes, with a loop around it.
    pub fn loop_body(
        &mut self,
        times: usize,
        can_continue: bool,
        can_break: bool,
        body: &mut dyn FnMut(&mut Self) -> Vec<Statement>,
    ) -> (Vec<Statement>, String) {
        let label = self.fresh("l");
        self.around.loops.push(Loop { label, labelled: false, can_continue, can_break });
        let made = self.repeated(times, |g| {
            g.charge(ITERATION);
            g.scoped(|g| body(g))
        });
        let prefix = match self.around.loops.pop() {
            Some(left) if left.labelled => format!("'{}: ", left.label),
            _ => String::new(),
        };
        (made, prefix)
    }

    /// `for i in a..b`, up or down, with or without steps.
    pub fn range_loop(
        &mut self,
        times: usize,
        body: &mut dyn FnMut(&mut Self) -> Vec<Statement>,
    ) -> Statement {
        self.mark(Feature::ForRange);
        let counter = self.fresh("i");
        let start = self.choice.below(4) as i64 - 1;
        let range = match self.choice.below(6) {
            0 => {
                self.mark(Feature::DownwardLoop);
                self.mark(Feature::SteppedLoop);
                format!("{}..{} step -1", start + times as i64, start)
            }
            1 => {
                self.mark(Feature::SteppedLoop);
                let step = self.choice.between(2, 7) as i64;
                format!("{start}..{} step {step}", start + times as i64 * step)
            }
            2 => format!("{start}..={}", start + times as i64 - 1),
            _ => format!("{start}..{}", start + times as i64),
        };
        let (statements, label) = self.loop_body(times, true, true, &mut |g| {
            g.declare_index(&counter, &[]);
            body(g)
        });
        Statement::new(&format!("{label}for {counter} in {range} @"), [Block::new(statements).into()])
    }

    /// A loop over the indices of an array in scope.
    fn array_loop(&mut self, body: &mut dyn FnMut(&mut Self) -> Vec<Statement>) -> Option<Statement> {
        let times_left = self.around.budget / (self.around.times * 12);
        let variable = self.variable(|variable| {
            matches!(variable.kind, Type::Array(_) | Type::Bytes)
                && !variable.assignable
                && variable.length.is_some_and(|length| (length as i64) < times_left)
        })?;
        let length = variable.length?;
        Some(self.index_loop(&variable.name, length, body))
    }

    /// A loop over the indices of an array.
    pub fn index_loop(
        &mut self,
        array: &str,
        length: usize,
        body: &mut dyn FnMut(&mut Self) -> Vec<Statement>,
    ) -> Statement {
        self.mark(Feature::ForRange);
        let counter = self.fresh("i");
        let (statements, label) = self.loop_body(length, true, true, &mut |g| {
            g.declare_index(&counter, &[array.to_string()]);
            body(g)
        });
        let range = match self.choice.below(5) {
            0 => {
                self.mark(Feature::DownwardLoop);
                format!("{array}.length - 1..=0 step -1")
            }
            1 => {
                self.mark(Feature::SteppedLoop);
                format!("{}..{array}.length step {}", self.choice.below(3), self.choice.between(2, 3))
            }
            _ => format!("0..{array}.length"),
        };
        Statement::new(&format!("{label}for {counter} in {range} @"), [Block::new(statements).into()])
    }

    /// `while` with a counter of its own.
    fn while_loop(
        &mut self,
        times: usize,
        body: &mut dyn FnMut(&mut Self) -> Vec<Statement>,
    ) -> Vec<Statement> {
        self.mark(Feature::WhileLoop);
        let counter = self.fresh("w");
        let downward = self.choice.percent(35);
        let (start, test, step) = match downward {
            true => (times.to_string(), format!("{counter} > 0"), format!("{counter} -= 1")),
            false => ("0".to_string(), format!("{counter} < {times}"), format!("{counter} += 1")),
        };
        if downward {
            self.mark(Feature::DownwardLoop);
        }
        let step_first = self.choice.percent(50);
        let (mut statements, label) = self.loop_body(times, step_first, true, &mut |g| {
            g.declare(&counter, &Int, false);
            body(g)
        });
        let step = Statement::text(step);
        if step_first {
            statements.insert(0, step);
        } else {
            statements.push(step);
        }
        let first = Statement::text(format!("var {counter} = {start}"));
        if self.choice.percent(30) {
            let more = self.repeated(times, |g| g.value(&Bool, 1));
            let template = format!("{label}while {test} && (@ || {counter} % 2 == 0) @");
            return vec![first, Statement::new(&template, [more.into(), Block::new(statements).into()])];
        }
        vec![first, Statement::new(&format!("{label}while {test} @"), [Block::new(statements).into()])]
    }

    /// `loop` whose value is that of its `break`.
    fn value_loop(
        &mut self,
        times: usize,
        body: &mut dyn FnMut(&mut Self) -> Vec<Statement>,
    ) -> Vec<Statement> {
        self.mark(Feature::LoopValue);
        let (counter, result) = (self.fresh("w"), self.fresh("r"));
        let value = self.value(&Int, 2);
        let (mut statements, label) = self.loop_body(times, true, false, &mut |g| {
            g.declare(&counter, &Int, false);
            body(g)
        });
        statements.insert(0, Statement::text(format!("{counter} += 1")));
        statements.insert(1, statement(&format!("if {counter} > {times} {{ break @ }}"), [value]));
        let whole =
            Statement::new(&format!("let {result}: Int = {label}loop @"), [Block::new(statements).into()]);
        self.declare(&result, &Int, false);
        vec![Statement::text(format!("var {counter} = 0")), whole]
    }

    /// `for x in e` over an array or a collection in scope.
    fn item_loop(&mut self, body: &mut dyn FnMut(&mut Self) -> Vec<Statement>) -> Option<Statement> {
        let times_left = self.around.budget / (self.around.times * 20);
        let variable = self.variable(|variable| match &variable.kind {
            Type::Array(_) | Type::Bytes => {
                variable.length.is_some_and(|length| (length as i64) < times_left)
            }
            Type::Named(name, arguments) => {
                (name == "Set" || (name == "List" && variable.length.is_some()))
                    && arguments.len() == 1
                    && times_left > 40
            }
            _ => false,
        })?;
        self.mark(Feature::Iteration);
        let element = match &variable.kind {
            Type::Array(element) => (**element).clone(),
            Type::Named(_, arguments) => arguments[0].clone(),
            _ => Int,
        };
        let times = variable.length.unwrap_or(32);
        let item = self.fresh("item");
        // The body must not change what it walks through.
        if matches!(variable.kind, Type::Named(..)) {
            self.change_kind(&variable.name, &Type::Unit);
        }
        let (statements, label) = self.loop_body(times, true, true, &mut |g| {
            g.declare(&item, &element, false);
            body(g)
        });
        self.change_kind(&variable.name, &variable.kind);
        let template = format!("{label}for {item} in {} @", variable.name);
        Some(Statement::new(&template, [Block::new(statements).into()]))
    }

    /// Changes what a variable seems to be. Nothing is done with variables of type `Unit`.
    fn change_kind(&mut self, name: &str, kind: &Type) {
        for variable in
            self.scope.iter_mut().chain(&mut self.globals).filter(|variable| variable.name == name)
        {
            variable.kind = kind.clone();
        }
    }

    /// `break`, `continue` or `return` under a condition.
    pub fn leave(&mut self) -> Option<Statement> {
        let depth = self.around.loops.len();
        if depth == 0 || self.choice.percent(15) {
            let result = self.around.result.clone()?;
            self.mark(Feature::EarlyReturn);
            let condition = self.rare_condition();
            let value = self.value(&result, 2);
            return Some(statement("if @ { return @ }", [condition, value]));
        }
        let condition = if self.choice.percent(60) { self.rare_condition() } else { self.condition() };
        let outer = depth > 1 && self.choice.percent(45);
        let target = if outer { self.choice.below(depth - 1) } else { depth - 1 };
        let crossed = &mut self.around.loops[target];
        let word = match (crossed.can_break, crossed.can_continue) {
            (false, false) => return None,
            (true, false) => "break",
            (false, true) => "continue",
            (true, true) => *self.choice.pick(&["break", "continue", "continue"]),
        };
        crossed.labelled |= outer;
        let label = if outer { format!(" '{}", crossed.label) } else { String::new() };
        self.mark(if outer { Feature::Label } else { Feature::Leaving });
        Some(statement(&format!("if @ {{ {word}{label} }}"), [condition]))
    }

    /// `try` around statements in which errors are expected.
    pub fn try_statement(&mut self) -> Option<Statement> {
        if !self.affords(40) {
            return None;
        }
        self.charge(15);
        if !self.around.loops.is_empty() {
            self.mark(Feature::TryInLoop);
        }
        let count = self.choice.between(1, 3);
        let body = self.risking(|g| g.block(count));
        Some(self.catching(body))
    }

    /// `catch` clauses for a block, of which the last catches everything.
    pub fn catching(&mut self, body: Block) -> Statement {
        let mut template = "try @".to_string();
        let mut parts: Vec<Part> = vec![body.into()];
        if self.choice.percent(60) {
            self.mark(Feature::CatchByClass);
            let mut classes: Vec<String> =
                ["IndexError", "DivisionError", "CastError", "ValueError"].map(str::to_string).into();
            classes.extend(self.errors.iter().cloned());
            let class = self.choice.pick(&classes).clone();
            template += &format!(" catch e: {class} @");
            parts.push(self.handler(self.errors.contains(&class)).into());
        }
        template += " catch e @";
        parts.push(self.handler(false).into());
        Statement { parts: fill_all(&template, parts) }
    }

    /// What is done with a caught `e`.
    fn handler(&mut self, has_code: bool) -> Block {
        let mut statements = Vec::new();
        if let Some(checksum) = self.variable(|v| v.name == "h") {
            let seen = if has_code { "e.code" } else { "e.message.hash()" };
            statements.push(Statement::text(format!("{0} = mix({0}, {seen})", checksum.name)));
        }
        statements.extend(self.scoped(|g| g.statements(1)));
        if self.dares(25) {
            self.mark(Feature::Rethrow);
            let condition = self.condition();
            statements.push(statement("if @ { throw e }", [condition]));
        }
        Block::new(statements)
    }

    /// `throw` under a condition, where an error is expected.
    pub fn throw(&mut self) -> Option<Statement> {
        if !self.around.risky {
            return None;
        }
        self.mark(Feature::Throw);
        let condition = self.condition();
        let thrown = self.error();
        Some(statement("if @ { throw @ }", [condition, thrown]))
    }

    /// A new error.
    pub fn error(&mut self) -> Expression {
        let kind = Type::named("Error");
        self.charge(20);
        if self.choice.percent(60)
            && let Some(class) = self.choice.pick_any(&self.errors).cloned()
        {
            let parts = [self.value(&Type::String, 1), self.value(&Int, 2)];
            return expression(&kind, &format!("{class}(@, @)"), parts);
        }
        let class = *self.choice.pick(&["ValueError", "IndexError", "Error", "AssertionError"]);
        expression(&kind, &format!("{class}(@)"), [self.value(&Type::String, 1)])
    }
}
