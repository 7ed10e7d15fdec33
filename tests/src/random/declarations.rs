//! What programs declare besides functions and classes: errors, enums, generic classes, globals, and three helpers that
//! the rest of the program uses all the time.

use super::feature::Feature;
use super::generator::{Enum, Generator, Variable, statement};
use super::tree::{Block, Statement};
use super::types::Type::{self, Bool, Float, Int, String as Text};

impl Generator {
    /// Puts a declaration into the program.
    pub fn add(&mut self, declaration: Statement) {
        self.declarations.push(declaration);
    }

    /// Functions without which no program is: a hash, and what keeps texts short.
    pub fn declare_helpers(&mut self) {
        let mix = "(h ^ x) * 1099511628211 + (h >>> 29)";
        self.add(Statement::new(
            "fn mix(h: Int, x: Int) -> Int @",
            [Block::new(vec![Statement::text(mix)]).into()],
        ));
        let clip = "if s.length > 40 { s.substring(s.length - 40, s.length) } else { s }";
        self.add(Statement::new(
            "fn clip(s: String) -> String @",
            [Block::new(vec![Statement::text(clip)]).into()],
        ));
        if self.choice.percent(60) {
            let body = Block::new(vec![Statement::text("if c { a } else { b }")]);
            self.add(Statement::new("fn choose<T>(c: Bool, a: T, b: T) -> T @", [body.into()]));
            self.generic_choice = true;
        }
    }

    /// Classes of errors.
    pub fn declare_errors(&mut self) {
        for _ in 0..self.choice.between(0, 2) {
            let name = self.fresh("Fail");
            let superclass = match self.errors.last() {
                Some(other) if self.choice.percent(40) => format!("{other}(message, code)"),
                _ => "Error(message)".to_string(),
            };
            let (class, arguments) = superclass.split_once('(').unwrap_or_default();
            let derived = class != "Error";
            let mut members = Vec::new();
            let mut init = Vec::new();
            if !derived {
                members.push(Statement::text("let code: Int"));
                init.push(Statement::text("this.code = code"));
            }
            init.push(Statement::text(format!("super({arguments}")));
            members.push(Statement::new("init(message: String, code: Int) @", [Block::new(init).into()]));
            self.add(Statement::new(&format!("class {name} : {class} @"), [Block::new(members).into()]));
            self.errors.push(name);
        }
    }

    /// Enums. Some hold themselves; what looks into those goes only so deep.
    pub fn declare_enums(&mut self) {
        let count = if self.choice.percent(85) { self.choice.between(1, 2) } else { 0 };
        for _ in 0..count {
            self.declare_enum();
        }
    }

    fn declare_enum(&mut self) {
        let name = self.fresh("E");
        let this = Type::named(&name);
        let recursive = self.choice.percent(50);
        let mut variants = vec![(format!("{name}None"), Vec::new())];
        for letter in ["A", "B", "C", "D"].iter().take(self.choice.between(2, 4)) {
            let length = self.choice.between(0, 3);
            let kinds = [Int, Int, Float, Text, Bool, this.clone()];
            let last = if recursive { 5 } else { 4 };
            let payload = (0..length).map(|_| kinds[self.choice.between(0, last)].clone()).collect();
            variants.push((format!("{name}{letter}"), payload));
        }
        self.enums.push(Enum { name: name.clone(), variants: variants.clone() });
        let mut members = Vec::new();
        let mut arms = Vec::new();
        let mut deep = Vec::new();
        for (index, (variant, payload)) in variants.iter().enumerate() {
            let fields: Vec<String> =
                payload.iter().enumerate().map(|(at, kind)| format!("f{at}: {kind}")).collect();
            let separator = if index + 1 < variants.len() { "," } else { "" };
            members.push(Statement::text(match fields.is_empty() {
                true => format!("{variant}{separator}"),
                false => format!("{variant}({}){separator}", fields.join(", ")),
            }));
            let pattern = match fields.is_empty() {
                true => variant.clone(),
                false => {
                    let names: Vec<String> = (0..fields.len()).map(|at| format!("f{at}")).collect();
                    format!("{variant}({})", names.join(", "))
                }
            };
            let sum = |inner: &str| {
                let parts = payload.iter().enumerate().map(|(at, kind)| match kind {
                    Int => format!("f{at}"),
                    Float => format!("f{at}.bits()"),
                    Bool => format!("(if f{at} {{ 1 }} else {{ 0 }})"),
                    Text => format!("f{at}.length"),
                    _ => format!("f{at}.{inner}"),
                });
                parts.fold(format!("{}", index * 7 + 1), |sum, part| format!("mix({sum}, {part})"))
            };
            arms.push(Statement::text(format!("{pattern} => {},", sum("ordinal"))));
            deep.push(Statement::text(format!("{pattern} => {},", sum("measure(depth - 1)"))));
        }
        let body = Block::new(vec![Statement::new("match this @", [Block::new(arms).into()])]);
        members.push(Statement::new("fn digest() -> Int @", [body.into()]));
        if recursive {
            self.mark(Feature::RecursiveEnum);
            let stop = Statement::text("if depth <= 0 { return 0 }");
            let body = Block::new(vec![stop, Statement::new("match this @", [Block::new(deep).into()])]);
            members.push(Statement::new("fn measure(depth: Int) -> Int @", [body.into()]));
            self.functions.push(super::generator::Callable {
                name: format!("measure{name}"),
                parameters: vec![this],
                result: Int,
                cost: 300,
                throws: false,
                effects: false,
            });
        }
        self.add(Statement::new(&format!("enum {name} @"), [Block::new(members).into()]));
        if recursive {
            let body = Block::new(vec![Statement::text("e.measure(4)")]);
            self.add(Statement::new(&format!("fn measure{name}(e: {name}) -> Int @"), [body.into()]));
        }
    }

    /// A generic class, and maybe one below it.
    pub fn declare_cell(&mut self) {
        if self.choice.percent(35) {
            return;
        }
        let name = self.fresh("Cell");
        let get = match self.choice.percent(50) {
            true => vec![Statement::text("reads += 1"), Statement::text("value")],
            false => vec![Statement::text("value")],
        };
        let members = vec![
            Statement::text("var reads: Int = 0"),
            Statement::new("fn get() -> T @", [Block::new(get).into()]),
            Statement::text("fn set(v: T) { value = v }"),
        ];
        self.add(Statement::new(&format!("class {name}<T>(var value: T) @"), [Block::new(members).into()]));
        if self.choice.percent(50) {
            let below = format!("Sub{name}");
            let members = vec![
                Statement::text("var last: T"),
                Statement::text("init(v: T) { this.last = v; super(v) }"),
                Statement::text("override fn set(v: T) { last = value; value = v }"),
                Statement::text(
                    "override fn get() -> T { if reads % 2 == 1 { reads += 1; last } else { super.get() } }",
                ),
            ];
            self.add(Statement::new(
                &format!("class {below}<T> : {name}<T> @"),
                [Block::new(members).into()],
            ));
            self.subcells.push((below, name.clone()));
        }
        self.cells.push(name);
    }

    /// Global variables.
    pub fn declare_globals(&mut self) {
        for _ in 0..self.choice.between(1, 4) {
            let kind = match self.choice.below(8) {
                0..=3 => Int,
                4 => Float,
                5 => Type::array(Int),
                6 => Type::array(Float),
                _ => self.some_type(),
            };
            if matches!(kind, Type::Function(..)) {
                continue;
            }
            self.declare_global(&kind);
        }
    }

    /// A global variable of a type.
    pub fn declare_global(&mut self, kind: &Type) {
        let name = self.fresh("global");
        self.around.budget = 60;
        let (value, length) = match kind {
            Type::Array(element) if element.is_plain() => {
                let length = *self.choice.pick(&[4, 7, 16, 64]);
                let item = self.leaf(element);
                let template = format!("Array<{element}>({length}, @)");
                (super::generator::expression(kind, &template, [item]), Some(length))
            }
            _ => (self.value(kind, 1), None),
        };
        let mutable = length.is_none() && self.choice.percent(80);
        let keyword = if mutable { "var" } else { "let" };
        self.add(statement(&format!("{keyword} {name}: {kind} = @"), [value]));
        self.globals.push(Variable {
            name,
            kind: kind.clone(),
            assignable: mutable,
            below: Vec::new(),
            length,
        });
    }
}
