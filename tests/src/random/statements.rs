//! Statements that fit anywhere: they use whatever variables are in scope.

use super::feature::Feature;
use super::generator::{Generator, expression, statement};
use super::tree::{Block, Expression, Statement, fill_all};
use super::types::Type::{self, Bool, Float, Int, String as Text};

impl Generator {
    /// A block of about so many statements, with variables of its own.
    pub fn block(&mut self, count: usize) -> Block {
        Block::new(self.scoped(|g| g.statements(count)))
    }

    /// About so many statements, fewer if the budget is used up.
    pub fn statements(&mut self, count: usize) -> Vec<Statement> {
        let mut statements = Vec::new();
        for _ in 0..count {
            if self.around.budget <= 0 {
                break;
            }
            self.charge(1);
            if let Some(mut made) = (0..4).find_map(|_| self.some_statement()) {
                statements.append(&mut made);
            }
        }
        statements
    }

    fn some_statement(&mut self) -> Option<Vec<Statement>> {
        let one = |statement: Option<Statement>| statement.map(|statement| vec![statement]);
        match self.choice.below(100) {
            0..=14 => one(self.observe()),
            15..=23 => Some(vec![self.declaration()]),
            24..=35 => one(self.assignment()),
            36..=43 => one(self.array_store()),
            44..=51 => one(self.field_store()),
            52..=60 => Some(vec![self.branch()]),
            61..=67 => self.loop_statement(),
            68..=71 => one(self.try_statement()),
            72..=76 => one(self.match_statement()),
            77..=82 => one(self.leave()),
            83 | 84 => one(self.throw()),
            85..=88 => one(self.collection_statement()),
            89..=93 => self.narrowed(),
            94..=96 => one(self.type_match()),
            97 => one(self.print()),
            _ => self.bump_cell(),
        }
    }

    /// Adds something to the checksum.
    pub fn observe(&mut self) -> Option<Statement> {
        let value = match self.choice.percent(35) {
            true => self.digest_of_something()?,
            false => self.value(&Int, 3),
        };
        let checksum = self.variable(|v| v.name == "h")?;
        self.charge(2);
        Some(statement(&format!("{0} = mix({0}, @)", checksum.name), [value]))
    }

    /// A type for a variable.
    pub fn some_type(&mut self) -> Type {
        let classes = self.instantiable();
        let enums: Vec<String> = self.enums.iter().map(|e| e.name.clone()).collect();
        let class = self.choice.pick_any(&classes).cloned();
        let plain = [Int, Float, Bool, Text][self.choice.weighted(&[(5, 0), (3, 1), (1, 2), (1, 3)])].clone();
        match self.choice.below(30) {
            0..=7 => Int,
            8..=11 => Float,
            12 => Bool,
            13 | 14 => Text,
            15 => Type::array(plain),
            16 => Type::nullable(plain),
            17 | 18 => class.map_or(Int, |class| Type::named(&class)),
            19 => class.map_or(Int, |class| Type::nullable(Type::named(&class))),
            20 | 21 => Type::int_function(),
            22 | 23 => self.choice.pick_any(&enums).map_or(Float, |name| Type::named(name)),
            24 => Type::Any,
            25 => Type::Named("Pair".into(), vec![Int, plain]),
            26 => Type::of("Option", plain),
            27 => match self.choice.pick_any(&self.cells) {
                Some(cell) => Type::of(&cell.clone(), plain),
                None => Type::of("List", Int),
            },
            28 => Type::of("List", Int),
            _ => Type::Function(vec![plain.clone()], Box::new(plain)),
        }
    }

    /// `let x: T = …` or `var`.
    fn declaration(&mut self) -> Statement {
        let kind = self.some_type();
        self.declaration_of(&kind, 3)
    }

    /// A variable of a type, which is in scope from then on.
    pub fn declaration_of(&mut self, kind: &Type, depth: usize) -> Statement {
        let value = if *kind == Text { self.clipped(depth) } else { self.value(kind, depth) };
        let mutable = self.choice.percent(60);
        let name = self.fresh("v");
        let keyword = if mutable { "var" } else { "let" };
        self.declare(&name, kind, mutable);
        statement(&format!("{keyword} {name}: {kind} = @"), [value])
    }

    /// `x = …` or `x += …`.
    pub fn assignment(&mut self) -> Option<Statement> {
        let variable = self.variable(|variable| variable.assignable && variable.name != "h")?;
        let name = &variable.name;
        let operator = match variable.kind {
            Int => *self.choice.pick(&["=", "+=", "+=", "-=", "^=", "*=", "|=", "&=", "<<=", ">>="]),
            Float => *self.choice.pick(&["=", "+=", "-=", "*="]),
            _ => "=",
        };
        let value = match &variable.kind {
            Text => self.clipped(2),
            // Functions that get the variable's own value captured would call themselves.
            Type::Function(..) => return None,
            kind => self.value(kind, 3),
        };
        Some(statement(&format!("{name} {operator} @"), [value]))
    }

    /// `a[i] = …`
    pub fn array_store(&mut self) -> Option<Statement> {
        let variable = self.variable(|variable| matches!(variable.kind, Type::Array(_) | Type::Bytes))?;
        let (element, operator) = match &variable.kind {
            Type::Array(element) => ((**element).clone(), *self.choice.pick(&["=", "=", "+="])),
            _ => (Int, "="),
        };
        if variable.kind == Type::Bytes {
            self.mark(Feature::ByteArray);
        } else {
            self.mark_array(&element);
        }
        let operator = if matches!(element, Int | Float) { operator } else { "=" };
        let index = self.index(&variable.name, variable.length, 2);
        let value = if element == Text { self.clipped(1) } else { self.value(&element, 2) };
        Some(statement(&format!("{}[@] {operator} @", variable.name), [index, value]))
    }

    /// `x.f = …`
    pub fn field_store(&mut self) -> Option<Statement> {
        let (variable, class) = self.object()?;
        let fields: Vec<_> = class.fields.iter().filter(|field| field.mutable).collect();
        let field = (*self.choice.pick_any(&fields)?).clone();
        if matches!(field.kind, Type::Function(..)) {
            return None;
        }
        self.mark(Feature::FieldWrite);
        let operator = match field.kind {
            Int | Float => *self.choice.pick(&["=", "+=", "-="]),
            _ => "=",
        };
        let value = if field.kind == Text { self.clipped(1) } else { self.value(&field.kind, 2) };
        Some(statement(&format!("{}.{} {operator} @", variable.name, field.name), [value]))
    }

    /// `if`, with or without `else`.
    pub fn branch(&mut self) -> Statement {
        let condition = self.condition();
        let count = self.choice.between(1, 3);
        let then = self.block(count);
        if self.choice.percent(50) {
            return Statement::new("if @ @", [condition.into(), then.into()]);
        }
        let count = self.choice.between(1, 2);
        let otherwise = self.block(count);
        Statement::new("if @ @ else @", [condition.into(), then.into(), otherwise.into()])
    }

    /// `if let`, and tests that tell the type of a variable.
    fn narrowed(&mut self) -> Option<Vec<Statement>> {
        if self.choice.percent(50)
            && let Some(variable) = self.variable(|variable| matches!(variable.kind, Type::Nullable(_)))
        {
            let Type::Nullable(inner) = &variable.kind else { return None };
            if self.choice.percent(60) {
                let name = self.fresh("n");
                let then = self.block_with(&name, inner);
                self.mark(Feature::IfLet);
                let template = format!("if let {name} = {} @", variable.name);
                return Some(vec![Statement::new(&template, [then.into()])]);
            }
            return Some(self.tested(&variable.name, "!= null", inner));
        }
        let (variable, class) = self.object()?;
        let subclass = self.subclass(&class.name)?;
        self.mark(Feature::TypeTest);
        Some(self.tested(&variable.name, &format!("is {subclass}"), &Type::named(&subclass)))
    }

    /// A test of a variable that tells its type: `let a = x; if a != null { let b: T = a; … }`. The second variable has
    /// that type for good, whatever else is asked about it.
    pub fn tested(&mut self, variable: &str, test: &str, kind: &Type) -> Vec<Statement> {
        self.mark(Feature::Narrowing);
        let (name, known) = (self.fresh("n"), self.fresh("n"));
        let mut then = self.block_with(&known, kind);
        then.statements.insert(0, Statement::text(format!("let {known}: {kind} = {name}")));
        if self.choice.percent(50)
            && let Some(again) = self.tested_again(&name, test, kind)
        {
            then.statements.insert(0, again);
        }
        vec![
            Statement::text(format!("let {name} = {variable}")),
            Statement::new(&format!("if {name} {test} @"), [then.into()]),
        ]
    }

    /// Where a test has told that a variable is of a type, something else that asks about it.
    fn tested_again(&mut self, name: &str, test: &str, kind: &Type) -> Option<Statement> {
        self.mark(Feature::NarrowedAgain);
        let known = self.fresh("n");
        let below = match kind {
            Type::Named(class, _) => self.subclass(class),
            _ => None,
        };
        let (question, kind) = match below {
            Some(subclass) if self.choice.percent(70) => (format!("is {subclass}"), Type::named(&subclass)),
            // There may be no other value of a class here.
            _ if test.ends_with("null") && !kind.is_plain() => {
                self.mark(Feature::NullAssertion);
                return Some(Statement::text(format!("let {known}: {kind} = {name}!")));
            }
            _ if test.ends_with("null") => {
                self.mark(Feature::Coalesce);
                let otherwise = self.value(kind, 1);
                return Some(statement(&format!("let {known}: {kind} = {name} ?? @"), [otherwise]));
            }
            _ => (test.to_string(), kind.clone()),
        };
        let mut then = self.block_with(&known, &kind);
        then.statements.insert(0, Statement::text(format!("let {known}: {kind} = {name}")));
        if self.choice.percent(50) {
            return Some(Statement::new(&format!("if {name} {question} @"), [then.into()]));
        }
        let condition = self.condition();
        Some(Statement::new(&format!("if {name} {question} && (@) @"), [condition.into(), then.into()]))
    }

    /// A block with a variable in scope that is declared before.
    fn block_with(&mut self, name: &str, kind: &Type) -> Block {
        let count = self.choice.between(1, 3);
        self.scoped(|g| {
            g.declare(name, kind, false);
            Block::new(g.statements(count))
        })
    }

    /// `match` over the type of a boxed value.
    fn type_match(&mut self) -> Option<Statement> {
        let variable = self.variable_of(&Type::Any)?;
        self.mark(Feature::TypeMatch);
        let mut arms = Vec::new();
        let mut kinds = vec![Int, Float, Text];
        kinds.extend(
            self.choice
                .pick_any(&self.classes.iter().map(|c| c.name.clone()).collect::<Vec<_>>())
                .map(|name| Type::named(name)),
        );
        for kind in kinds {
            let name = self.fresh("n");
            let body = self.scoped(|g| {
                g.declare(&name, &kind, false);
                Block::new(g.statements(1))
            });
            arms.push(Statement::new(&format!("{name}: {kind} => @"), [body.into()]));
        }
        arms.push(Statement::new("_ => @", [self.block(1).into()]));
        Some(Statement::new(&format!("match {} @", variable.name), [Block::new(arms).into()]))
    }

    /// `match` over an enum or an integer.
    fn match_statement(&mut self) -> Option<Statement> {
        let names: Vec<String> = self.enums.iter().map(|e| e.name.clone()).collect();
        let is_enum = |kind: &Type| matches!(kind, Type::Named(name, _) if names.contains(name));
        let chosen = if self.choice.percent(75) { self.variable(|v| is_enum(&v.kind)) } else { None };
        let Some(variable) = chosen else {
            self.mark(Feature::IntMatch);
            let subject = expression(&Int, "@ & 3", [self.value(&Int, 2)]);
            let patterns = ["0", "1 | 2", "_"];
            let arms = patterns.map(|p| Statement::new(&format!("{p} => @"), [self.block(2).into()]));
            return Some(Statement::new("match @ @", [subject.into(), Block::new(arms.into()).into()]));
        };
        self.mark(Feature::EnumMatch);
        let declared = self.enumeration(&variable.kind.to_string())?.clone();
        let mut arms = Vec::new();
        for (name, payload) in &declared.variants {
            let bound: Vec<String> = payload.iter().map(|_| self.fresh("m")).collect();
            let (body, guard) = self.scoped(|g| {
                for (name, kind) in bound.iter().zip(payload) {
                    g.declare(name, kind, false);
                }
                let guard = g.choice.percent(20).then(|| g.value(&Bool, 1));
                (Block::new(g.statements(2)), guard)
            });
            let pattern = match bound.is_empty() {
                true => name.clone(),
                false => format!("{name}({})", bound.join(", ")),
            };
            if let Some(guard) = guard {
                arms.push(Statement::new(
                    &format!("{pattern} if @ => @"),
                    [guard.into(), self.block(1).into()],
                ));
            }
            arms.push(Statement::new(&format!("{pattern} => @"), [body.into()]));
        }
        Some(Statement::new(&format!("match {} @", variable.name), [Block::new(arms).into()]))
    }

    /// A line of output, now and then.
    fn print(&mut self) -> Option<Statement> {
        if self.around.isolated || self.around.times > 20_000 {
            return None;
        }
        self.around.effects = true;
        self.charge(3);
        let condition = self.rare_condition();
        let kind = [Int, Int, Float, Bool, Text][self.choice.below(5)].clone();
        let value = self.value(&kind, 2);
        let checksum = self.variable_of(&Int)?;
        let line = Statement::new(&format!("println(\"at ${{{}}} ${{@}}\")", checksum.name), [value.into()]);
        Some(Statement::new("if @ @", [condition.into(), Block::new(vec![line]).into()]))
    }

    /// A statement about a list, map, set or cell.
    fn collection_statement(&mut self) -> Option<Statement> {
        self.charge(25);
        let cells = self.cells.clone();
        let variable = self.variable(|variable| match &variable.kind {
            Type::Named(name, _) => {
                matches!(name.as_str(), "List" | "Map" | "Set" | "StringBuilder") || cells.contains(name)
            }
            _ => false,
        })?;
        let name = &variable.name;
        let Type::Named(class, arguments) = &variable.kind else { return None };
        let made = match class.as_str() {
            "List" => {
                self.mark(Feature::Lists);
                let item = self.value(&arguments[0], 2);
                match self.choice.below(5) {
                    0 => statement(
                        &format!("if {name}.length() > 20 {{ {name}.clear() }} else {{ {name}.add(@) }}"),
                        [item],
                    ),
                    1 => Statement::text(format!("if !{name}.isEmpty() {{ {name}.removeLast() }}")),
                    2 => Statement::text(format!("{name}.reverse()")),
                    3 => statement(&format!("if !{name}.isEmpty() {{ {name}.set(0, @) }}"), [item]),
                    _ => statement(&format!("if {name}.length() < 40 {{ {name}.add(@) }}"), [item]),
                }
            }
            "Map" => {
                self.mark(Feature::Maps);
                let key = self.map_key(&arguments[0]);
                if self.choice.percent(30) {
                    statement(&format!("{name}.remove(@)"), [key])
                } else {
                    statement(&format!("{name}.put(@, @)"), [key, self.value(&arguments[1], 2)])
                }
            }
            "Set" => {
                self.mark(Feature::Sets);
                let key = self.map_key(&arguments[0]);
                let method = *self.choice.pick(&["add", "add", "remove"]);
                statement(&format!("{name}.{method}(@)"), [key])
            }
            "StringBuilder" => {
                self.mark(Feature::Builders);
                let value = self.value(&Int, 2);
                let template =
                    *self.choice.pick(&["V.addInt(@)", "V.addChar(97 + (@ & 15))", "V.add((@).toHex())"]);
                statement(&template.replace('V', name), [value])
            }
            _ => {
                self.mark(Feature::GenericClass);
                let value = if arguments[0] == Text { self.clipped(1) } else { self.value(&arguments[0], 2) };
                statement(&format!("{name}.set(@)"), [value])
            }
        };
        Some(made)
    }

    /// A key out of not too many.
    pub fn map_key(&mut self, kind: &Type) -> Expression {
        let number = self.value(&Int, 2);
        match kind {
            Int => expression(&Int, "(@ & 31)", [number]),
            _ => expression(&Text, "\"k${@ & 15}\"", [number]),
        }
    }

    /// A counter, and a closure that counts.
    fn bump_cell(&mut self) -> Option<Vec<Statement>> {
        if !self.affords(super::calls::CLOSURE_COST * 2) {
            return None;
        }
        self.mark(Feature::Cell);
        self.mark(Feature::Closure);
        self.charge(super::calls::CLOSURE_COST * 2);
        let (cell, step) = (self.fresh("c"), self.fresh("f"));
        let start = self.value(&Int, 1);
        let first = statement(&format!("var {cell} = @"), [start]);
        let amount = self.value(&Int, 1);
        let second = statement(
            &format!("let {step} = |d: Int| -> Int {{ {cell} = ({cell} ^ d) + @; {cell} }}"),
            [amount],
        );
        self.declare(&cell, &Int, true);
        self.declare(&step, &Type::int_function(), false);
        let arguments = vec![self.value(&Int, 1).into(), self.value(&Int, 1).into()];
        let call = Statement { parts: fill_all(&format!("{cell} += {step}(@) - {step}(@)"), arguments) };
        Some(vec![first, second, call])
    }
}
