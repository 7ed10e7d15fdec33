//! Lowering: from the typed program to bytecode.
//!
//! Everything is driven by what is reached. `lower()` asks for `main` and for the initialisers of globals; to lower a
//! function is to meet the functions, classes and strings that it uses, each of which is given its number at once and
//! put on a list of work. Generic code is instantiated on the way: a function or class together with its type arguments is
//! one entry (`instances`, `layouts`). What nobody reaches costs nothing, so that a small program starts quickly
//! although the standard library is large.
//!
//! Inside a function, code is generated in one pass over the tree, into a buffer that knows labels and reachability
//! (`buffer`). Every expression is told where its value should go (`function::Goal`), so that hardly any value is
//! moved after it was made. The interpreter pays for each instruction that it dispatches, and nearly every decision in
//! these files is about having one less.
//!
//! | file | what it lowers |
//! |---|---|
//! | `instances`, `names` | functions with type arguments; names of instances |
//! | `layouts`, `enums`, `hierarchy` | types: classes, interfaces, enums, closures, cells |
//! | `function`, `registers`, `buffer`, `locals` | one function: frame, code, variables and what is known of them |
//! | `expressions`, `arithmetic`, `constants`, `conditions`, `truth` | values and conditions |
//! | `statements`, `loops`, `errors`, `matching`, `type_tests` | control flow |
//! | `calls`, `closures`, `builtins`, `strings` | calls of all kinds |
//! | `convert`, `equality` | boxing, casts, comparison of values |
//! | `helpers`, `entry` | functions that no source text stands for |
//! | `walk` | questions about a tree, asked before it is lowered |

mod arithmetic;
mod buffer;
mod builtins;
mod calls;
mod closures;
mod conditions;
mod constants;
mod convert;
mod entry;
mod enums;
mod equality;
mod errors;
mod expressions;
mod function;
mod globals;
mod helpers;
mod hierarchy;
mod inits;
mod instances;
mod layouts;
mod locals;
mod loops;
mod matching;
mod names;
mod objects;
mod patterns;
mod registers;
mod statements;
mod strings;
mod truth;
mod type_tests;
mod walk;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::sources::Sources;
use crate::span::{FileId, Span};
use crate::typed::{self, FixedHasher, FunctionIndex, GlobalIndex, Ty, TypedProgram, Types};
use crate::with_deep_stack;
use hashbrown::HashMap;
use holloway_bytecode::{ClassId, FunctionId, GlobalId, Position, Program, StringId, Type};
use std::collections::VecDeque;
use std::rc::Rc;

/// Translates a checked program. The errors that are left to find here are those of generic code without end and of
/// functions that are too large.
pub fn lower(program: TypedProgram, sources: &Sources) -> Result<Program, Diagnostics> {
    with_deep_stack(move || {
        let TypedProgram { types, classes, interfaces, enums, functions, globals, params, main, known } =
            program;
        let declarations =
            Declarations { classes, interfaces, enums, functions, globals, params, main, known };
        Lowering::new(&declarations, types, sources).run()
    })
}

/// The typed program without its types, which go on growing while the rest is only read.
struct Declarations {
    classes: Vec<typed::Class>,
    interfaces: Vec<typed::Interface>,
    enums: Vec<typed::Enum>,
    functions: Vec<typed::Function>,
    globals: Vec<typed::Global>,
    params: Vec<Box<str>>,
    main: FunctionIndex,
    known: typed::KnownClasses,
}

/// What is known of the whole program while it is being lowered.
struct Lowering<'p> {
    declarations: &'p Declarations,
    sources: &'p Sources,
    types: Types,
    /// What has been made so far. Functions have no code until their turn comes.
    program: Program,
    /// The register type of each type that was asked for.
    representations: Vec<Option<Type>>,
    /// How deep each type is nested, where asked for.
    depths: Vec<u16>,
    /// For each class of `program`, where it comes from.
    details: Vec<layouts::ClassDetail<'p>>,
    /// For each interface of `program`, where it comes from.
    interface_details: Vec<layouts::InterfaceDetail<'p>>,
    /// Classes and interfaces that still need fields and signatures.
    incomplete: VecDeque<layouts::Incomplete>,
    /// The classes of cells, by the type of their field.
    cells: HashMap<Type, ClassId, FixedHasher>,
    hierarchy: hierarchy::Hierarchy<'p>,
    instances: HashMap<(FunctionIndex, Vec<Ty>), FunctionId, FixedHasher>,
    /// Functions used as values: the globals that hold their closures, and the classes of these.
    function_values: HashMap<FunctionId, (GlobalId, ClassId), FixedHasher>,
    helpers: HashMap<helpers::Helper, FunctionId, FixedHasher>,
    strings: HashMap<Box<str>, StringId, FixedHasher>,
    /// For each global of the source its number, once it is reached.
    globals: Vec<Option<GlobalId>>,
    /// Globals known to hold one constant from beginning to end.
    constants: globals::ConstantGlobals,
    /// Reached globals with the functions that compute their first values.
    initialisers: Vec<(GlobalIndex, FunctionId)>,
    /// Objects made before anything else runs.
    singletons: Vec<entry::Singleton>,
    /// Functions whose code is still to be made.
    work: VecDeque<(FunctionId, Work<'p>)>,
    diagnostics: Diagnostics,
    /// What is being lowered, for errors.
    place: Span,
    /// The last place whose line and column were looked up.
    last_position: (Span, Position),
}

/// A function whose code is to be made.
enum Work<'p> {
    /// A function of the source with its type arguments.
    Source(FunctionIndex, Rc<instances::Environment<'p>>),
    /// The code of a closure.
    Closure(closures::ClosureCode<'p>),
    /// The method of a closure that stands for a function.
    FunctionValue(FunctionId),
    /// The initialiser of a global.
    Global(GlobalIndex),
    /// A method table entry whose signature differs from the function's, and what the function's source says that it gives.
    Bridge(FunctionId, Ty),
    /// A helper.
    Helper(helpers::Helper),
}

impl<'p> Lowering<'p> {
    fn new(declarations: &'p Declarations, types: Types, sources: &'p Sources) -> Lowering<'p> {
        let files = (0..sources.len()).map(|file| sources.path(FileId(file as u32)).into()).collect();
        let classes = Program::built_in_classes();
        let details = classes.iter().map(|_| layouts::ClassDetail::Plain).collect();
        let hierarchy = hierarchy::Hierarchy::new(declarations, &types);
        Lowering {
            declarations,
            sources,
            types,
            program: Program { files, classes, ..Program::default() },
            representations: Vec::new(),
            depths: Vec::new(),
            details,
            interface_details: Vec::new(),
            incomplete: VecDeque::new(),
            cells: HashMap::default(),
            hierarchy,
            instances: HashMap::default(),
            function_values: HashMap::default(),
            helpers: HashMap::default(),
            strings: HashMap::default(),
            globals: vec![None; declarations.globals.len()],
            constants: globals::ConstantGlobals::default(),
            initialisers: Vec::new(),
            singletons: Vec::new(),
            work: VecDeque::new(),
            diagnostics: Diagnostics::default(),
            place: Span::default(),
            last_position: (Span::default(), Position::default()),
        }
    }

    fn run(mut self) -> Result<Program, Diagnostics> {
        self.known_classes();
        self.reach_globals();
        let main = self.declarations.main;
        self.place = self.declarations.functions[main.index()].span;
        let main = self.instance(main, Vec::new());
        while self.diagnostics.is_empty() {
            if let Some(next) = self.incomplete.pop_front() {
                self.complete(next);
            } else if let Some((id, work)) = self.work.pop_front() {
                self.lower_function(id, work);
            } else {
                self.start_function(main);
                return if self.diagnostics.is_empty() { Ok(self.program) } else { Err(self.diagnostics) };
            }
        }
        Err(self.diagnostics)
    }

    /// Reports an error at what is being lowered.
    fn report(&mut self, message: impl Into<String>, label: impl Into<String>) {
        self.diagnostics.report(Diagnostic::new(self.place, message, label));
    }

    /// The number of a string constant.
    fn string(&mut self, text: &str) -> StringId {
        if let Some(&id) = self.strings.get(text) {
            return id;
        }
        let id = StringId(self.program.strings.len() as u32);
        self.program.strings.push(text.into());
        self.strings.insert(text.into(), id);
        id
    }

    /// File, line and column of the start of `span`.
    fn position(&mut self, span: Span) -> Position {
        if self.last_position.0 != span || self.last_position.1.line == 0 {
            let (line, column) = self.sources.line_column(span);
            let position = Position { file: span.file.0, line: line as u32, column: column as u32 };
            self.last_position = (span, position);
        }
        self.last_position.1
    }
}
