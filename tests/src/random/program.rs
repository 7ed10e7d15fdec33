//! The order of things in a program, and its `main`.

use super::Generated;
use super::feature::Feature;
use super::generator::{Callable, Generator, Kernel, Surroundings, expression, statement};
use super::kernels::KERNELS;
use super::tree::{Block, Expression, Statement};
use super::types::Type::{self, Bool, Float, Int, String as Text};

/// What a kernel may cost, called with its largest size.
const KERNEL_BUDGET: i64 = 40_000;
/// What `main` may cost besides its calls of kernels.
const MAIN_BUDGET: i64 = 6_000;
/// Numbers of iterations of hot loops.
const SIZES: &[usize] = &[40, 100, 150, 200, 200, 300, 300, 500, 800, 1500, 3000];

/// How many programs of a hundred have several kernels, a second family of classes and many functions.
const LARGE: usize = 35;

/// The program of a seed.
pub fn generate(seed: u64) -> Generated {
    let mut generator = Generator::new(seed);
    // Declarations are made as if others ran at the same time: only functions decide to use globals.
    generator.around = Surroundings { isolated: true, ..Surroundings::new(60) };
    generator.declare_helpers();
    generator.declare_errors();
    generator.declare_enums();
    generator.declare_cell();
    if generator.choice.percent(50) {
        generator.declare_globals();
    }
    generator.declare_family("A");
    // Most programs are small: a mistake needs few things to show, and of small programs more fit into a test's time.
    // What needs many things together is left to the others.
    let large = generator.choice.percent(LARGE);
    if large && generator.choice.percent(80) {
        generator.declare_family("B");
    }
    let most_functions = if large { 5 } else { 3 };
    for _ in 0..generator.choice.between(1, most_functions) {
        generator.declare_function();
    }
    if generator.choice.percent(60) {
        generator.declare_globals();
    }
    let kernels = if large { generator.choice.between(2, 3) } else { generator.choice.between(1, 2) };
    for _ in 0..kernels {
        generator.declare_kernel();
    }
    generator.declare_main();
    Generated { seed, tree: Block::new(generator.declarations), features: generator.features }
}

impl Generator {
    /// A function with a hot loop: `fn kernel(n: Int, seed: Int) -> Int`.
    fn declare_kernel(&mut self) {
        let make = self.choice.weighted(KERNELS);
        let size = *self.choice.pick(SIZES);
        let name = self.fresh("kernel");
        let throws = self.choice.percent(15);
        let around = Surroundings {
            risky: throws,
            isolated: self.choice.percent(30),
            result: Some(Int),
            ..Surroundings::new(KERNEL_BUDGET)
        };
        let (body, around) = self.within(around, |g| {
            g.declare("seed", &Int, false);
            g.declare("h", &Int, true);
            let mut statements = vec![Statement::text("var h = seed")];
            statements.extend(g.props());
            statements.extend(make(g, size));
            statements.push(Statement::text("h"));
            Block::new(statements)
        });
        self.add(Statement::new(&format!("fn {name}(n: Int, seed: Int) -> Int @"), [body.into()]));
        let cost = KERNEL_BUDGET - around.budget;
        let callable =
            Callable { name, parameters: vec![Int, Int], result: Int, cost, throws, effects: around.effects };
        self.kernels.push(Kernel { callable, size });
    }

    /// Variables of many types for the statements that follow: what is in scope decides what they can do.
    fn props(&mut self) -> Vec<Statement> {
        let mut statements = Vec::new();
        let objects = self.instantiable();
        let interfaces: Vec<String> = self
            .classes
            .iter()
            .filter(|c| c.interface && objects.contains(&c.name))
            .map(|c| c.name.clone())
            .collect();
        let enums: Vec<String> = self.enums.iter().map(|e| e.name.clone()).collect();
        let plain = [Int, Float, Bool, Text][self.choice.below(4)].clone();
        let object = self.choice.pick_any(&objects).map(|name| Type::named(name));
        let candidates = [
            (60, object.clone()),
            (45, self.choice.pick_any(&interfaces).map(|name| Type::named(name))),
            (40, self.choice.pick_any(&enums).map(|name| Type::named(name))),
            (25, Some(Type::Any)),
            (25, object.map(Type::nullable)),
            (15, Some(Type::nullable(plain.clone()))),
            (20, self.choice.pick_any(&self.cells).map(|cell| Type::of(cell, plain.clone()))),
            (20, Some(Type::int_function())),
            (8, Some(Text)),
        ];
        for (percent, kind) in candidates {
            if let Some(kind) = kind
                && self.choice.percent(percent)
            {
                statements.push(self.declaration_of(&kind, 2));
            }
        }
        let key = if self.choice.percent(60) { Int } else { Text };
        let library = [
            (12, Type::of("List", Int), Feature::Lists),
            (8, Type::Named("Map".into(), vec![key.clone(), Int]), Feature::Maps),
            (7, Type::of("Set", key), Feature::Sets),
            (8, Type::named("StringBuilder"), Feature::Builders),
        ];
        for (percent, kind, feature) in library {
            if self.choice.percent(percent) {
                self.mark(feature);
                let name = self.fresh("v");
                statements.push(self.fixed(&name, &kind, None, Expression::text(&kind, format!("{kind}()"))));
            }
        }
        for (percent, element) in [(20, Some(Int)), (12, Some(Float)), (8, Some(Bool)), (8, None)] {
            if !self.choice.percent(percent) {
                continue;
            }
            let length = *self.choice.pick(&[3, 8, 16, 50]);
            let name = self.fresh("v");
            let (kind, value) = match &element {
                Some(element) => {
                    self.mark_array(element);
                    let kind = Type::array(element.clone());
                    let item = self.leaf(element);
                    (kind.clone(), expression(&kind, &format!("Array<{element}>({length}, @)"), [item]))
                }
                None => (Type::Bytes, Expression::text(&Type::Bytes, format!("Bytes({length})"))),
            };
            statements.push(self.fixed(&name, &kind, Some(length), value));
        }
        statements
    }

    /// `fn main()`: calls every kernel some times, then does this and that, and may end with an error.
    fn declare_main(&mut self) {
        let uncaught = self.choice.percent(8);
        let bottomless = self.choice.percent(10).then(|| self.declare_bottomless());
        let (body, _) = self.within(Surroundings::new(MAIN_BUDGET), |g| {
            g.declare("h", &Int, true);
            let mut statements = vec![Statement::text("var h = 1")];
            statements.extend(g.props());
            for kernel in g.kernels.clone() {
                statements.extend(g.kernel_calls(&kernel));
            }
            let count = g.choice.between(1, 4);
            statements.extend(g.statements(count));
            if let Some(bottomless) = bottomless {
                let called = format!("try {{ h = mix(h, {bottomless}(0)) }} catch e: StackOverflowError {{ h = mix(h, e.message.length) }}");
                statements.push(Statement::text(called));
            }
            statements.push(Statement::text("println(\"end ${h}\")"));
            for global in g.globals.clone() {
                g.around.budget = 60;
                let seen = g.digest(Expression::text(&global.kind, global.name.clone()));
                statements.push(statement(&format!("println(\"{} ${{@}}\")", global.name), [seen]));
            }
            if uncaught {
                g.mark(Feature::Uncaught);
                g.around.budget = 500;
                statements.extend(g.last_words());
            }
            Block::new(statements)
        });
        self.add(Statement::new("fn main() @", [body.into()]));
    }

    /// Calls of a kernel: small ones, so that profiles are there early, and its largest size.
    fn kernel_calls(&mut self, kernel: &Kernel) -> Vec<Statement> {
        let small = (kernel.size / 8).max(2);
        let mut sizes = vec![small.to_string(), kernel.size.to_string()];
        if self.choice.percent(30) {
            sizes.insert(0, self.choice.between(1, 2).to_string());
        }
        let mut statements = Vec::new();
        for size in sizes {
            let seed =
                if self.choice.percent(50) { "h".to_string() } else { self.choice.below(1000).to_string() };
            let call = format!("h = mix(h, {}({size}, {seed}))", kernel.callable.name);
            let call = Statement::text(call);
            statements.push(match kernel.callable.throws {
                true => {
                    self.mark(Feature::ThrownAcross);
                    self.catching(Block::new(vec![call]))
                }
                false => call,
            });
            statements.push(Statement::text(format!("println(\"{} ${{h}}\")", kernel.callable.name)));
        }
        statements
    }

    /// Something that probably ends with an error.
    fn last_words(&mut self) -> Vec<Statement> {
        let throwing: Vec<Callable> = self.functions.iter().filter(|f| f.throws).cloned().collect();
        let kernels: Vec<Kernel> =
            self.kernels.iter().filter(|kernel| kernel.callable.throws).cloned().collect();
        let mut statements = Vec::new();
        if let Some(function) = self.choice.pick_any(&throwing).cloned() {
            let call = self.risking(|g| g.make_call(&function.name, &function, 1));
            statements.push(statement("let last = @", [call]));
        } else if let Some(kernel) = self.choice.pick_any(&kernels) {
            let call = format!("h = {}({}, 3)", kernel.callable.name, kernel.size);
            statements.push(Statement::text(call));
        }
        let lines = [
            "println(\"${[1, 2, 3][h & 3 | 3]}\")",
            "println(\"${h / (h - h)}\")",
            "throw ValueError(\"the end of ${h}\")",
            "let boxed: Any = \"text\"; println(\"${boxed as Int}\")",
            "let missing: Int? = if h == 0 { 1 } else { null }; println(\"${missing! + 1}\")",
        ];
        statements.push(Statement::text(*self.choice.pick(&lines)));
        statements
    }

    /// A loop that is hot: `n` iterations, of which there are at most `size`. The counter is a valid index of `below`.
    pub fn hot_loop(
        &mut self,
        size: usize,
        below: &[String],
        body: &mut dyn FnMut(&mut Self) -> Vec<Statement>,
    ) -> Vec<Statement> {
        let counter = self.fresh("i");
        let shape = self.choice.below(8);
        let stepped_last = matches!(shape, 4 | 7);
        let (mut statements, label) = self.loop_body(size, !stepped_last, true, &mut |g| {
            g.declare_index(&counter, below);
            body(g)
        });
        match shape {
            0..=3 => {
                self.mark(Feature::ForRange);
                let head =
                    *self.choice.pick(&["0..n", "0..n", "0..=n - 1", "n - 1..=0 step -1", "0..n step 2"]);
                if head.contains("-1") && head.contains("step") {
                    self.mark(Feature::DownwardLoop);
                }
                if head.contains("step") {
                    self.mark(Feature::SteppedLoop);
                }
                let template = format!("{label}for {counter} in {head} @");
                vec![Statement::new(&template, [Block::new(statements).into()])]
            }
            4 => {
                self.mark(Feature::WhileLoop);
                statements.push(Statement::text(format!("{counter} += 1")));
                let template = format!("{label}while {counter} < n @");
                vec![
                    Statement::text(format!("var {counter} = 0")),
                    Statement::new(&template, [Block::new(statements).into()]),
                ]
            }
            5 | 6 => {
                self.mark(Feature::WhileLoop);
                self.mark(Feature::DownwardLoop);
                statements.insert(0, Statement::text(format!("{counter} -= 1")));
                let template = format!("{label}while {counter} > 0 @");
                vec![
                    Statement::text(format!("var {counter} = n")),
                    Statement::new(&template, [Block::new(statements).into()]),
                ]
            }
            _ => {
                statements.insert(0, Statement::text(format!("if {counter} >= n {{ break }}")));
                statements.push(Statement::text(format!("{counter} += 1")));
                let template = format!("{label}loop @");
                vec![
                    Statement::text(format!("var {counter} = 0")),
                    Statement::new(&template, [Block::new(statements).into()]),
                ]
            }
        }
    }

    /// A local variable that is not assigned to again: `let name: T = …`.
    pub fn fixed(&mut self, name: &str, kind: &Type, length: Option<usize>, value: Expression) -> Statement {
        self.declare_array(name, kind, false, length);
        statement(&format!("let {name}: {kind} = @"), [value])
    }

    /// A local array of `n` elements.
    pub fn array_of_n(&mut self, element: &Type) -> (String, Statement) {
        let name = self.fresh("v");
        let kind = Type::array(element.clone());
        self.mark_array(element);
        let item = self.leaf(element);
        let made = expression(&kind, &format!("Array<{element}>(n, @)"), [item]);
        (name.clone(), self.fixed(&name, &kind, None, made))
    }
}
