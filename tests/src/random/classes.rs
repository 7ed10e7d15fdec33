//! Families of classes: a base class with virtual methods, subclasses that override some, often an interface that the base
//! and a class outside the family implement. Every family has a method `digest`, so that any object can become part of a
//! checksum.

use super::calls::METHOD_COST;
use super::feature::Feature;
use super::generator::{
    Callable, Class, Field, Generator, Surroundings, Variable, block_with_value, expression, statement,
};
use super::tree::{Block, Expression, Statement};
use super::types::Type::{self, Bool, Float, Int, String as Text};

/// What the body of a method may cost: less than a call of one, so that methods do not call methods.
const METHOD_BUDGET: i64 = 20;

/// A class that is being made.
struct Draft {
    name: String,
    superclass: Option<Class>,
    /// Those of its own.
    fields: Vec<Field>,
    members: Vec<Statement>,
    isolated: bool,
}

impl Generator {
    /// A base class, its subclasses, maybe an interface.
    pub fn declare_family(&mut self, letter: &str) {
        let base = format!("{letter}0");
        let isolated = self.globals.is_empty() || self.choice.percent(60);
        let methods: Vec<Callable> =
            (0..self.choice.between(2, 3)).map(|_| self.signature(isolated)).collect();
        let interface = self.choice.percent(55).then(|| format!("Like{letter}"));
        if let Some(interface) = &interface {
            self.declare_interface(interface, &methods);
        }
        let is_abstract = self.choice.percent(45);
        let base_class = self.declare_base(&base, &methods, interface.as_deref(), is_abstract, isolated);
        let mut family = vec![base_class];
        let count = self.choice.between(1, 4);
        for index in 1..=count {
            let above = match self.choice.percent(70) {
                true => 0,
                false => self.choice.below(family.len()),
            };
            let class = self.declare_subclass(&format!("{letter}{index}"), &family[above].clone(), isolated);
            family.push(class);
        }
        if let Some(interface) = &interface
            && self.choice.percent(60)
        {
            let outsider = format!("Other{letter}");
            self.declare_base(&outsider, &methods, Some(interface), false, isolated);
        }
    }

    /// The name and type of a virtual method.
    fn signature(&mut self, isolated: bool) -> Callable {
        let parameters =
            (0..self.choice.between(0, 2)).map(|_| [Int, Int, Float, Bool][self.choice.below(4)].clone());
        let parameters: Vec<Type> = parameters.collect();
        let result = [Int, Int, Int, Float, Bool, Text][self.choice.below(6)].clone();
        let throws = self.choice.percent(15);
        Callable { name: self.fresh("m"), parameters, result, cost: METHOD_COST, throws, effects: !isolated }
    }

    fn digest_signature() -> Callable {
        Callable {
            name: "digest".into(),
            parameters: Vec::new(),
            result: Int,
            cost: METHOD_COST,
            throws: false,
            effects: false,
        }
    }

    fn declare_interface(&mut self, name: &str, methods: &[Callable]) {
        let mut methods: Vec<Callable> = methods.to_vec();
        methods.push(Self::digest_signature());
        let members = methods.iter().map(|method| Statement::text(head(method, &names(method)))).collect();
        self.add(Statement::new(&format!("interface {name} @"), [Block::new(members).into()]));
        self.classes.push(Class {
            name: name.to_string(),
            ancestors: vec![name.to_string()],
            constructor: None,
            fields: Vec::new(),
            methods,
            interface: true,
        });
    }

    /// Fields of a class, all but those in `required` of random types.
    fn some_fields(&mut self, class: &str, count: usize) -> Vec<Field> {
        let mut fields = vec![Field { name: self.fresh("x"), kind: Int, mutable: true }];
        let enums: Vec<String> = self.enums.iter().map(|e| e.name.clone()).collect();
        for _ in 1..count {
            let kind = match self.choice.below(12) {
                0..=2 => Int,
                3 | 4 => Float,
                5 => Bool,
                6 => Text,
                7 => Type::array(Int),
                8 | 9 => Type::nullable(Type::named(class)),
                10 => Type::int_function(),
                _ => self.choice.pick_any(&enums).map_or(Float, |name| Type::named(name)),
            };
            fields.push(Field { name: self.fresh("x"), kind, mutable: self.choice.percent(60) });
        }
        fields
    }

    fn declare_base(
        &mut self,
        name: &str,
        methods: &[Callable],
        interface: Option<&str>,
        is_abstract: bool,
        isolated: bool,
    ) -> Class {
        let count = self.choice.between(2, 4);
        let fields = self.some_fields(name, count);
        let mut draft =
            Draft { name: name.to_string(), superclass: None, fields, members: Vec::new(), isolated };
        let early = methods.iter().find(|m| m.result == Int && !m.throws && !m.effects).cloned();
        let early = early.filter(|_| self.choice.percent(25));
        let constructor = self.constructor(&mut draft, early);
        let mut all = methods.to_vec();
        self.digest_method(&mut draft);
        for method in methods {
            if is_abstract && self.choice.percent(50) {
                self.mark(Feature::AbstractClass);
                draft.members.push(Statement::text(format!("abstract {}", head(method, &names(method)))));
            } else {
                self.method(&mut draft, method, "");
            }
        }
        all.push(Self::digest_signature());
        if self.choice.percent(50) {
            all.extend(self.driver(&mut draft, methods));
        }
        if self.choice.percent(40) {
            self.statics(&mut draft);
        }
        let mut ancestors = vec![name.to_string()];
        ancestors.extend(interface.map(str::to_string));
        let supers = interface.map(|interface| format!(" : {interface}")).unwrap_or_default();
        let keyword = if is_abstract { "abstract class" } else { "class" };
        self.finish(
            draft,
            &format!("{keyword} {name}{supers} @"),
            ancestors,
            all,
            (!is_abstract).then_some(constructor),
        )
    }

    fn declare_subclass(&mut self, name: &str, superclass: &Class, isolated: bool) -> Class {
        self.mark(Feature::Inheritance);
        let count = self.choice.between(1, 2);
        let fields = self.some_fields(&superclass.name, count);
        let mut draft = Draft {
            name: name.to_string(),
            superclass: Some(superclass.clone()),
            fields,
            members: Vec::new(),
            isolated,
        };
        let constructor = self.constructor(&mut draft, None);
        if self.choice.percent(60) {
            self.digest_method(&mut draft);
        }
        let inherited: Vec<Callable> = superclass.methods.clone();
        for method in inherited.iter().filter(|method| method.cost == METHOD_COST && method.name != "digest")
        {
            // An abstract method of the base must be there, and nobody remembers which are: override most.
            if self.choice.percent(75) || self.is_abstract(superclass, method) {
                self.method(&mut draft, method, "override ");
            }
        }
        let mut ancestors = vec![name.to_string()];
        ancestors.extend(superclass.ancestors.iter().cloned());
        let head = format!("class {name} : {} @", superclass.name);
        self.finish(draft, &head, ancestors, superclass.methods.clone(), Some(constructor))
    }

    /// Has nobody above an implementation yet.
    fn is_abstract(&self, superclass: &Class, method: &Callable) -> bool {
        superclass.constructor.is_none()
            && !self.implemented.contains(&(superclass.name.clone(), method.name.clone()))
    }

    fn finish(
        &mut self,
        draft: Draft,
        template: &str,
        ancestors: Vec<String>,
        methods: Vec<Callable>,
        constructor: Option<Vec<Type>>,
    ) -> Class {
        let mut fields = draft.superclass.map(|class| class.fields).unwrap_or_default();
        fields.extend(draft.fields);
        self.add(Statement::new(template, [Block::new(draft.members).into()]));
        let class = Class { name: draft.name, ancestors, constructor, fields, methods, interface: false };
        self.classes.push(class.clone());
        class
    }

    /// Fields and constructor. Fields without a plain type begin with a constant.
    fn constructor(&mut self, draft: &mut Draft, early: Option<Callable>) -> Vec<Type> {
        let mut parameters: Vec<(String, Type)> = Vec::new();
        let mut body = Vec::new();
        for field in &draft.fields {
            let keyword = if field.mutable { "var" } else { "let" };
            let (name, kind) = (&field.name, &field.kind);
            if kind.is_plain() {
                draft.members.push(Statement::text(format!("{keyword} {name}: {kind}")));
                let parameter = self.fresh("p");
                body.push(Statement::text(format!("this.{name} = {parameter}")));
                parameters.push((parameter, kind.clone()));
            } else {
                let value = match kind {
                    Type::Array(_) => {
                        Expression::text(kind, format!("Array<Int>({}, 1)", self.choice.between(1, 8)))
                    }
                    Type::Function(..) => self.start_function(),
                    Type::Named(name, _) => Expression::text(kind, format!("{name}.{name}None")),
                    _ => Expression::text(kind, "null"),
                };
                draft.members.push(statement(&format!("{keyword} {name}: {kind} = @"), [value]));
            }
        }
        if let Some(superclass) = &draft.superclass {
            let above = self.constructor_of(&superclass.name);
            let mut names = Vec::new();
            for kind in above {
                let parameter = self.fresh("p");
                names.push(parameter.clone());
                parameters.push((parameter, kind));
            }
            body.push(Statement::text(format!("super({})", names.join(", "))));
        }
        if let (Some(method), Some(field)) = (early, draft.fields.first()) {
            self.mark(Feature::VirtualInConstructor);
            let arguments: Vec<String> =
                method.parameters.iter().map(|kind| kind.constants().swap_remove(0)).collect();
            let call = format!("{}({})", method.name, arguments.join(", "));
            body.push(Statement::text(format!("this.{0} = mix(this.{0}, {call})", field.name)));
        }
        let list: Vec<String> = parameters.iter().map(|(name, kind)| format!("{name}: {kind}")).collect();
        draft
            .members
            .push(Statement::new(&format!("init({}) @", list.join(", ")), [Block::new(body).into()]));
        let constructor: Vec<Type> = parameters.into_iter().map(|(_, kind)| kind).collect();
        self.constructors.push((draft.name.clone(), constructor.clone()));
        constructor
    }

    /// What the constructor of a class takes, abstract ones included.
    fn constructor_of(&self, name: &str) -> Vec<Type> {
        self.constructors
            .iter()
            .find(|(class, _)| class == name)
            .map(|(_, kinds)| kinds.clone())
            .unwrap_or_default()
    }

    fn start_function(&mut self) -> Expression {
        let constant = self.choice.between(1, 99);
        let body = *self.choice.pick(&["x + C", "x ^ C", "x * C", "C - x", "x >> 1"]);
        Expression::text(
            &Type::int_function(),
            format!("|x: Int| {}", body.replace('C', &constant.to_string())),
        )
    }

    /// Surroundings of a body, with the fields in scope.
    fn method_body<T>(
        &mut self,
        draft: &Draft,
        risky: bool,
        result: &Type,
        parameters: &[(String, Type)],
        make: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let around = Surroundings {
            risky,
            isolated: draft.isolated,
            result: Some(result.clone()),
            ..Surroundings::new(METHOD_BUDGET)
        };
        let inherited = draft.superclass.iter().flat_map(|class| class.fields.iter());
        let fields: Vec<Variable> = inherited
            .chain(&draft.fields)
            .map(|field| Variable {
                name: field.name.clone(),
                kind: field.kind.clone(),
                assignable: field.mutable,
                below: Vec::new(),
                length: None,
            })
            .collect();
        self.within(around, |g| {
            g.scope.extend(fields);
            for (name, kind) in parameters {
                g.declare(name, kind, true);
            }
            make(g)
        })
        .0
    }

    /// An implementation of a method.
    fn method(&mut self, draft: &mut Draft, method: &Callable, modifier: &str) {
        let names = names(method);
        let parameters: Vec<(String, Type)> =
            names.iter().cloned().zip(method.parameters.iter().cloned()).collect();
        let above = draft.superclass.as_ref().is_some_and(|class| !self.is_abstract(class, method));
        let calls_super = above && self.choice.percent(35) && !method.throws;
        let block = self.method_body(draft, method.throws, &method.result, &parameters, |g| {
            let count = g.choice.between(0, 2);
            let statements = g.statements(count);
            let value = g.value(&method.result, 3);
            if calls_super {
                g.mark(Feature::SuperCall);
                let call =
                    Expression::text(&method.result, format!("super.{}({})", method.name, names.join(", ")));
                let value = match method.result {
                    Int => expression(&Int, "mix(@, @)", [call, value]),
                    Float => expression(&Float, "(@ - @)", [call, value]),
                    Bool => expression(&Bool, "(@ != @)", [call, value]),
                    _ => expression(&Text, "clip(@ + @)", [call, value]),
                };
                return block_with_value(statements, value);
            }
            block_with_value(statements, value)
        });
        self.implemented.insert((draft.name.clone(), method.name.clone()));
        let template = format!("{modifier}{} @", head(method, &names));
        draft.members.push(Statement::new(&template, [block.into()]));
    }

    /// `fn digest() -> Int`, of the fields.
    fn digest_method(&mut self, draft: &mut Draft) {
        let mut value = match &draft.superclass {
            Some(_) => Expression::text(&Int, "super.digest()"),
            None => Expression::text(&Int, self.choice.between(1, 99).to_string()),
        };
        for field in draft.fields.clone() {
            if matches!(field.kind, Type::Function(..)) {
                continue;
            }
            let seen = self.digest(Expression::text(&field.kind, field.name));
            value = expression(&Int, "mix(@, @)", [value, seen]);
        }
        let modifier = if draft.superclass.is_some() { "override " } else { "" };
        let body = block_with_value(Vec::new(), value);
        draft.members.push(Statement::new(&format!("{modifier}fn digest() -> Int @"), [body.into()]));
    }

    /// A method that no subclass overrides, and that calls one which they do in a loop.
    fn driver(&mut self, draft: &mut Draft, methods: &[Callable]) -> Option<Callable> {
        let method = methods.iter().find(|method| !method.throws)?.clone();
        let name = self.fresh("drive");
        let call = self.method_body(draft, false, &Int, &[("n".into(), Int), ("i".into(), Int)], |g| {
            let called = g.make_call(&method.name, &method, 1);
            g.digest(called)
        });
        let rounds = self.choice.between(2, 5);
        let loop_body = Block::new(vec![statement("h = mix(h, @)", [call])]);
        let body = Block::new(vec![
            Statement::text("var h = n"),
            Statement::new(&format!("for i in 0..{rounds} @"), [loop_body.into()]),
            Statement::text("h"),
        ]);
        draft.members.push(Statement::new(&format!("final fn {name}(n: Int) -> Int @"), [body.into()]));
        let cost = (rounds as i64 + 1) * (METHOD_COST + 5);
        Some(Callable {
            name,
            parameters: vec![Int],
            result: Int,
            cost,
            throws: false,
            effects: method.effects,
        })
    }

    /// A static variable and a static function.
    fn statics(&mut self, draft: &mut Draft) {
        self.mark(Feature::StaticMember);
        let (variable, function) = (self.fresh("count"), self.fresh("make"));
        draft.members.push(Statement::text(format!("static var {variable}: Int = 0")));
        let body = Block::new(vec![
            Statement::text(format!("{variable} += x & 3")),
            Statement::text(format!("x ^ {variable}")),
        ]);
        draft.members.push(Statement::new(&format!("static fn {function}(x: Int) -> Int @"), [body.into()]));
        self.globals.push(Variable {
            name: format!("{}.{variable}", draft.name),
            kind: Int,
            assignable: true,
            below: Vec::new(),
            length: None,
        });
        self.functions.push(Callable {
            name: format!("{}.{function}", draft.name),
            parameters: vec![Int],
            result: Int,
            cost: 8,
            throws: false,
            effects: true,
        });
    }
}

/// Names of the parameters of a method.
fn names(method: &Callable) -> Vec<String> {
    (0..method.parameters.len()).map(|index| format!("a{index}")).collect()
}

/// `fn name(…) -> R`
fn head(method: &Callable, names: &[String]) -> String {
    let parameters: Vec<String> =
        names.iter().zip(&method.parameters).map(|(name, kind)| format!("{name}: {kind}")).collect();
    format!("fn {}({}) -> {}", method.name, parameters.join(", "), method.result)
}
