//! The state of the generator: what is declared so far, which variables are in scope, and how much work the code that is
//! being made may still do.
//!
//! # How programs are sure to end
//!
//! Every piece of code has a *budget*, about the number of tree nodes that are evaluated when it runs. Inside a loop of
//! `n` iterations each node costs `n`. A function knows from its own generation what a call costs at most, and can be
//! called only where that is affordable. It can call only what was declared before it; recursion has shapes of its own
//! that count down. So no counter of fuel is needed in the programs, which would hide what optimizers do with clean loops.
//!
//! # How errors and threads are kept apart
//!
//! An operation that may fail is generated only where an error is expected: inside a `try` that catches everything, or in
//! a function known to throw. Whether a function touches globals or prints is known too, and threads run only those
//! that do not, so that no schedule can be observed.

use super::choice::Choice;
use super::feature::Feature;
use super::tree::{Block, Expression, Part, Statement};
use super::types::Type;
use std::collections::BTreeSet;

/// A variable, parameter, or field of `this`, in scope.
#[derive(Clone, Debug)]
pub struct Variable {
    /// What it is called.
    pub name: String,
    /// Its type.
    pub kind: Type,
    /// May statements assign to it. Not so for the counters of loops, although some are `var`.
    pub assignable: bool,
    /// Arrays that it is a valid index of.
    pub below: Vec<String>,
    /// The length of the array, where the generator knows it.
    pub length: Option<usize>,
}

/// Something that can be called.
#[derive(Clone, Debug)]
pub struct Callable {
    /// What it is called.
    pub name: String,
    /// What it takes.
    pub parameters: Vec<Type>,
    /// What it returns.
    pub result: Type,
    /// What a call costs at most.
    pub cost: i64,
    /// May it throw.
    pub throws: bool,
    /// Does it touch globals, or print.
    pub effects: bool,
}

/// A field.
#[derive(Clone, Debug)]
pub struct Field {
    /// What it is called.
    pub name: String,
    /// Its type.
    pub kind: Type,
    /// Is it a `var`.
    pub mutable: bool,
}

/// A class or interface, with all that it has, inherited members included.
#[derive(Clone, Debug)]
pub struct Class {
    /// What it is called.
    pub name: String,
    /// Itself, and all types that it is a subtype of.
    pub ancestors: Vec<String>,
    /// What its constructor takes; `None` if there can be no objects of just this class.
    pub constructor: Option<Vec<Type>>,
    /// Its fields.
    pub fields: Vec<Field>,
    /// Its methods.
    pub methods: Vec<Callable>,
    /// Is it an interface.
    pub interface: bool,
}

/// An enum whose payloads are plain or the enum itself.
#[derive(Clone, Debug)]
pub struct Enum {
    /// What it is called.
    pub name: String,
    /// Names of variants, and what is in them.
    pub variants: Vec<(String, Vec<Type>)>,
}

/// A loop around the code that is being made.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Its label, should one be needed.
    pub label: String,
    /// Is one needed.
    pub labelled: bool,
    /// May the rest of an iteration be left out.
    pub can_continue: bool,
    /// Can it be left by a plain `break`.
    pub can_break: bool,
}

/// What is around the code that is being made, within its function.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// What may still be spent.
    pub budget: i64,
    /// How often the code runs.
    pub times: i64,
    /// What `return` takes, where it may stand.
    pub result: Option<Type>,
    /// The loops, outermost first.
    pub loops: Vec<Loop>,
    /// Is an error expected here.
    pub risky: bool,
    /// May nothing be touched that others see.
    pub isolated: bool,
    /// Was something touched that others see.
    pub effects: bool,
}

impl Surroundings {
    /// Those of the body of a function.
    pub fn new(budget: i64) -> Surroundings {
        Surroundings {
            budget,
            times: 1,
            result: None,
            loops: Vec::new(),
            risky: false,
            isolated: false,
            effects: false,
        }
    }
}

/// The generator.
pub struct Generator {
    /// Its choices.
    pub choice: Choice,
    /// What the program uses so far.
    pub features: BTreeSet<Feature>,
    /// The declarations so far.
    pub declarations: Vec<Statement>,
    /// The functions that expressions may call.
    pub functions: Vec<Callable>,
    /// Functions with larger bodies that only `main` calls, with the argument that makes them most expensive.
    pub kernels: Vec<Kernel>,
    /// The classes.
    pub classes: Vec<Class>,
    /// What the constructors take, also those of abstract classes.
    pub constructors: Vec<(String, Vec<Type>)>,
    /// Classes and those of their methods that have a body.
    pub implemented: BTreeSet<(String, String)>,
    /// The enums.
    pub enums: Vec<Enum>,
    /// Global variables.
    pub globals: Vec<Variable>,
    /// Generic classes of one parameter with `get` and `set`.
    pub cells: Vec<String>,
    /// Subclasses of these, with the names of their superclasses.
    pub subcells: Vec<(String, String)>,
    /// Is there a generic function `choose`.
    pub generic_choice: bool,
    /// Error classes of the program; each is made of a message and a code.
    pub errors: Vec<String>,
    /// The variables in scope, the innermost last.
    pub scope: Vec<Variable>,
    /// What is around.
    pub around: Surroundings,
    names: usize,
}

/// A function for `main`: `fn name(n: Int, h: Int) -> Int`.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The call's target.
    pub callable: Callable,
    /// The largest first argument that its cost was computed for.
    pub size: usize,
}

impl Generator {
    /// A generator of the program of a seed.
    pub fn new(seed: u64) -> Generator {
        Generator {
            choice: Choice::new(seed),
            features: BTreeSet::new(),
            declarations: Vec::new(),
            functions: Vec::new(),
            kernels: Vec::new(),
            classes: Vec::new(),
            constructors: Vec::new(),
            implemented: BTreeSet::new(),
            enums: Vec::new(),
            globals: Vec::new(),
            cells: Vec::new(),
            subcells: Vec::new(),
            generic_choice: false,
            errors: Vec::new(),
            scope: Vec::new(),
            around: Surroundings::new(0),
            names: 0,
        }
    }

    /// Notes that the program uses something.
    pub fn mark(&mut self, feature: Feature) {
        self.features.insert(feature);
    }

    /// A name that nothing has yet.
    pub fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    /// Pays for work done once each time the code runs.
    pub fn charge(&mut self, units: i64) {
        self.around.budget -= units * self.around.times;
    }

    /// Could work be paid for.
    pub fn affords(&self, units: i64) -> bool {
        units * self.around.times <= self.around.budget
    }

    /// Makes code that runs so many times as often.
    pub fn repeated<T>(&mut self, times: usize, make: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.around.times;
        self.around.times *= times.max(1) as i64;
        let made = make(self);
        self.around.times = before;
        made
    }

    /// Makes code with variables of its own.
    pub fn scoped<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        let variables = self.scope.len();
        let made = make(self);
        self.scope.truncate(variables);
        made
    }

    /// Makes the body of a function, and says what is left of its surroundings.
    pub fn within<T>(
        &mut self,
        around: Surroundings,
        make: impl FnOnce(&mut Self) -> T,
    ) -> (T, Surroundings) {
        let before = std::mem::replace(&mut self.around, around);
        let made = self.scoped(make);
        let after = std::mem::replace(&mut self.around, before);
        (made, after)
    }

    /// Makes code in which errors are expected.
    pub fn risking<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.around.risky, true);
        let made = make(self);
        self.around.risky = before;
        made
    }

    /// Puts a variable into scope.
    pub fn declare(&mut self, name: &str, kind: &Type, assignable: bool) {
        self.declare_array(name, kind, assignable, None);
    }

    /// Puts a variable into scope whose length is known.
    pub fn declare_array(&mut self, name: &str, kind: &Type, assignable: bool, length: Option<usize>) {
        self.scope.push(Variable {
            name: name.to_string(),
            kind: kind.clone(),
            assignable,
            below: Vec::new(),
            length,
        });
    }

    /// Puts the counter of a loop into scope, a valid index of these arrays.
    pub fn declare_index(&mut self, name: &str, below: &[String]) {
        self.declare(name, &Type::Int, false);
        if let Some(variable) = self.scope.last_mut() {
            variable.below = below.to_vec();
        }
    }

    /// A variable in scope, or a global one, of which this is true. Inner ones come up more often.
    pub fn variable(&mut self, wanted: impl Fn(&Variable) -> bool) -> Option<Variable> {
        let local: Vec<usize> = (0..self.scope.len()).filter(|&at| wanted(&self.scope[at])).collect();
        let global: Vec<usize> = match self.around.isolated {
            true => Vec::new(),
            false => (0..self.globals.len()).filter(|&at| wanted(&self.globals[at])).collect(),
        };
        if !global.is_empty() && (local.is_empty() || self.choice.percent(12)) {
            self.mark(Feature::Global);
            self.around.effects = true;
            let at = *self.choice.pick(&global);
            return Some(self.globals[at].clone());
        }
        let recent = &local[local.len().saturating_sub(5)..];
        let candidates = if self.choice.percent(50) { recent } else { &local };
        self.choice.pick_any(candidates).map(|&at| self.scope[at].clone())
    }

    /// A variable of just this type.
    pub fn variable_of(&mut self, kind: &Type) -> Option<Variable> {
        self.variable(|variable| variable.kind == *kind)
    }

    /// A variable of just this type that statements may assign to.
    pub fn assignable(&mut self, kind: &Type) -> Option<Variable> {
        self.variable(|variable| variable.assignable && variable.kind == *kind)
    }

    /// The class of this name.
    pub fn class(&self, name: &str) -> Option<&Class> {
        self.classes.iter().find(|class| class.name == name)
    }

    /// Classes and interfaces of which there can be objects so far.
    pub fn instantiable(&self) -> Vec<String> {
        let has_objects = |class: &&Class| {
            self.classes
                .iter()
                .any(|other| other.constructor.is_some() && other.ancestors.contains(&class.name))
        };
        self.classes.iter().filter(has_objects).map(|class| class.name.clone()).collect()
    }

    /// The enum of this name.
    pub fn enumeration(&self, name: &str) -> Option<&Enum> {
        self.enums.iter().find(|candidate| candidate.name == name)
    }

    /// Variables that are, or may be, objects of classes and interfaces of the program.
    pub fn object(&mut self) -> Option<(Variable, Class)> {
        let names: Vec<String> = self.classes.iter().map(|class| class.name.clone()).collect();
        let is_object = |kind: &Type| matches!(kind, Type::Named(name, arguments) if arguments.is_empty() && names.contains(name));
        let variable = self.variable(|variable| is_object(&variable.kind))?;
        let Type::Named(name, _) = &variable.kind else { return None };
        let class = self.class(name)?.clone();
        Some((variable, class))
    }

    /// Can an error be expected here, and shall it.
    pub fn dares(&mut self, percent: usize) -> bool {
        self.around.risky && self.choice.percent(percent)
    }
}

/// An expression with holes, shorter.
pub fn expression<const N: usize>(kind: &Type, template: &str, parts: [Expression; N]) -> Expression {
    Expression::new(kind, template, parts.map(Part::from))
}

/// A statement whose holes are values.
pub fn statement<const N: usize>(template: &str, parts: [Expression; N]) -> Statement {
    Statement::new(template, parts.map(Part::from))
}

/// A block whose value is the value of its last statement.
pub fn block_with_value(mut statements: Vec<Statement>, value: Expression) -> Block {
    statements.push(Statement::new("@", [value.into()]));
    Block::new(statements)
}
