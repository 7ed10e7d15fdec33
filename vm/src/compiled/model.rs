//! What a compiler must know of this virtual machine to make code for it: numbers and addresses, as plain values.

use super::{helpers, stubs};
use crate::context::Context;
use crate::heap::{self, LARGEST_CELL};
use crate::layout::ClassRecord;
use crate::loader::Method;
use crate::profiling::{CounterNumbers, Instrumentation};
use crate::vm::Machinery;
use holloway_bytecode::{ClassId, FunctionId, InterfaceId, Native, StringId};
use std::mem::offset_of;
use std::sync::Arc;

/// Values that a frame state may hold at most: the places of the context's `exits`.
pub const EXITS: usize = 512;

/// Where the fields of the context are, in bytes.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct ContextOffsets {
    pub control: i32,
    pub classes: i32,
    pub runs: i32,
    pub globals: i32,
    pub native_limit: i32,
    pub stubs: i32,
    pub counters: i32,
    pub forest_nodes: i32,
    pub forest_steps: i32,
    pub forest_shift: i32,
    pub blocks_left: i32,
    pub exit_place: i32,
    pub exit_depth: i32,
    pub leave: i32,
    pub result: i32,
    pub exits: i32,
}

impl ContextOffsets {
    /// Where the address of a stub is.
    pub fn stub(&self, stub: Stub) -> i32 {
        self.stubs + 8 * stub as i32
    }
}

/// What compiled code calls on its slow paths, with the context as the first argument. Stubs preserve all registers, and want the place in
/// `exit_place` if they can be seen by who walks the stack. Their addresses are in the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stub {
    /// `()`: the yieldpoint of a loop, which is taken; `leave` after.
    Yieldpoint,
    /// `(class offset)`: a new object in `result`, or null.
    Allocate,
    /// `(class offset, length)`: a new array in `result`, or null.
    AllocateArray,
    /// `(object)`: before a store of a reference into an object whose header says so.
    Remember,
    /// `(array, index)`: likewise of an element.
    RememberElement,
    /// `(string or null, string or null)`: 0 or 1 in `result`.
    SameText,
    /// `(place of its [`crate::profiling::PathTableCells`], number)`: a path has ended and is to be counted in the hash table.
    CountPath,
    /// `(place of the counters of an inline cache, class; number of its entries in the high half)`: a call through a table is made.
    CountCached,
    /// `(version, number) -> activation`: the first path of an activation has ended and goes into the k-slab forest. With the C
    /// convention.
    PlantForest,
    /// `(number, version in the high half; address of an activation)`: a path has ended and goes into the k-slab forest, and it
    /// is not the one that usually follows.
    GrowForest,
    /// `(version, number)`: a path has ended where there is no yieldpoint, while yieldpoints are taken.
    SamplePath,
    /// `(number)`: a block of the bytecode is entered of which the profiler of subpaths wants to know.
    Block,
    /// `(step, address of a [`crate::profiling::TraceFrame`])`: with the C convention.
    Trace,
    /// `()`: the yieldpoint of a method's entry, likewise.
    Prologue,
    /// `()`: the yieldpoint of a method's exit, likewise.
    Epilogue,
    /// `(native, count)`: arguments in `exits`; bits in `result` and `leave` after. Where natives are called seldom.
    Native,
}

impl Stub {
    /// All of them, in the order of the context.
    pub const ALL: [Stub; 16] = [
        Stub::Yieldpoint,
        Stub::Allocate,
        Stub::AllocateArray,
        Stub::Remember,
        Stub::RememberElement,
        Stub::SameText,
        Stub::CountPath,
        Stub::CountCached,
        Stub::PlantForest,
        Stub::GrowForest,
        Stub::SamplePath,
        Stub::Block,
        Stub::Trace,
        Stub::Prologue,
        Stub::Epilogue,
        Stub::Native,
    ];

    /// The name in listings.
    pub fn name(self) -> &'static str {
        match self {
            Stub::Yieldpoint => "yieldpoint",
            Stub::Allocate => "allocate",
            Stub::AllocateArray => "allocate_array",
            Stub::Remember => "remember",
            Stub::RememberElement => "remember_element",
            Stub::SameText => "same_text",
            Stub::CountPath => "count_path",
            Stub::CountCached => "count_cached",
            Stub::PlantForest => "plant_forest",
            Stub::GrowForest => "grow_forest",
            Stub::SamplePath => "sample_path",
            Stub::Block => "block",
            Stub::Trace => "trace",
            Stub::Prologue => "prologue",
            Stub::Epilogue => "epilogue",
            Stub::Native => "native",
        }
    }

    /// Where they are.
    pub(crate) fn addresses() -> [u64; Self::ALL.len()] {
        Self::ALL.map(|stub| match stub {
            Stub::Yieldpoint => stubs::loop_stub as *const () as u64,
            Stub::Allocate => stubs::allocate_stub as *const () as u64,
            Stub::AllocateArray => stubs::allocate_array_stub as *const () as u64,
            Stub::Remember => stubs::remember_stub as *const () as u64,
            Stub::RememberElement => stubs::remember_element_stub as *const () as u64,
            Stub::SameText => stubs::same_text_stub as *const () as u64,
            Stub::CountPath => stubs::count_path_stub as *const () as u64,
            Stub::CountCached => stubs::count_cached_stub as *const () as u64,
            Stub::PlantForest => crate::profiling::plant_forest as *const () as u64,
            Stub::GrowForest => stubs::grow_forest_stub as *const () as u64,
            Stub::SamplePath => stubs::sample_path_stub as *const () as u64,
            Stub::Block => stubs::block_stub as *const () as u64,
            Stub::Trace => crate::profiling::trace_step as *const () as u64,
            Stub::Prologue => stubs::prologue_stub as *const () as u64,
            Stub::Epilogue => stubs::epilogue_stub as *const () as u64,
            Stub::Native => stubs::native_stub as *const () as u64,
        })
    }
}

/// Addresses of what else compiled code calls.
#[derive(Clone, Copy, Debug)]
pub struct Helpers {
    /// `(place, frame pointer) -> context`: leaves; the values are in `exits`, `exit_depth`, `result`.
    pub deoptimize: u64,
    /// `(native, count, frame pointer) -> bits`: arguments in `exits`; `leave` after.
    pub native: u64,
}

/// A class, as machine code needs it.
#[derive(Clone, Copy, Debug)]
pub struct ClassModel {
    /// Offset of its record from the base of the class table; the high half of headers.
    pub offset: u32,
    /// That of the last class below it, in the same order.
    pub last: u32,
    /// Bytes of an instance (of classes with fields).
    pub size: u32,
    /// Size class and bytes of its cells; nothing if instances do not fit any.
    pub cell: Option<(usize, usize)>,
}

/// What machine code for a virtual machine must know.
#[derive(Clone, Debug)]
pub struct Model {
    /// The context.
    pub context: ContextOffsets,
    /// What it calls.
    pub helpers: Helpers,
    /// All classes.
    pub classes: Vec<ClassModel>,
    /// Below a class record: first place of each interface's methods.
    interface_bases: Vec<u32>,
    /// Addresses of the methods.
    methods: Vec<u64>,
    /// Addresses of the string constants.
    strings: Vec<u64>,
    /// Address and length of the table of strings of one character of ASCII.
    characters: (u64, usize),
    /// Where a method holds the address of its machine code.
    pub method_entry: i32,
    /// Is the control word to be tested.
    pub yieldpoints: bool,
    /// Is code to remember the branches that it was made for.
    pub watched: bool,
    /// What is to be counted.
    pub instrumentation: Instrumentation,
    /// Numbers of counters for it.
    pub counters: Option<Arc<CounterNumbers>>,
    /// If blocks are told: the number of the first block of each method.
    pub blocks: Option<Arc<[u32]>>,
    /// What the second version of code counts, if there is one, and the blocks if it tells of them.
    marked: Option<(Instrumentation, Option<Arc<[u32]>>)>,
}

impl Model {
    /// The model of a machine.
    pub(crate) fn of(vm: &Machinery) -> Model {
        let class = |id: ClassId| {
            let record: &ClassRecord = vm.classes.record(id);
            let size = record.instance_size;
            let small = (size as usize) <= LARGEST_CELL;
            let cell = small.then(|| {
                let class = heap::size_class(size as usize);
                (class, heap::cell_size(class))
            });
            ClassModel { offset: vm.classes.offset(id), last: record.last, size, cell }
        };
        let program = &vm.program;
        let blocks_for = |wanted: Instrumentation| wanted.blocks.and_then(|_| vm.profiling.first_blocks());
        let instrumentation = vm.profiling.instrumentation();
        let marked = vm.profiling.marked_instrumentation();
        Model {
            context: ContextOffsets {
                control: offset_of!(Context, control) as i32,
                classes: offset_of!(Context, classes) as i32,
                runs: offset_of!(Context, runs) as i32,
                globals: offset_of!(Context, globals) as i32,
                native_limit: offset_of!(Context, native_limit) as i32,
                stubs: offset_of!(Context, stubs) as i32,
                counters: offset_of!(Context, counters) as i32,
                forest_nodes: offset_of!(Context, forest.nodes) as i32,
                forest_steps: offset_of!(Context, forest.steps.slots) as i32,
                forest_shift: offset_of!(Context, forest.steps.shift) as i32,
                blocks_left: offset_of!(Context, blocks.left) as i32,
                exit_place: offset_of!(Context, exit_place) as i32,
                exit_depth: offset_of!(Context, exit_depth) as i32,
                leave: offset_of!(Context, leave) as i32,
                result: offset_of!(Context, result) as i32,
                exits: offset_of!(Context, exits) as i32,
            },
            helpers: Helpers {
                deoptimize: super::leave::deoptimize as *const () as u64,
                native: helpers::native as *const () as u64,
            },
            classes: (0..program.classes.len() as u32).map(|id| class(ClassId(id))).collect(),
            interface_bases: vm.classes.interface_bases().to_vec(),
            methods: (0..program.functions.len() as u32)
                .map(|id| vm.code.method(FunctionId(id)) as u64)
                .collect(),
            strings: vm.strings.iter().map(|&string| string as u64).collect(),
            characters: (vm.characters.as_ptr() as u64, vm.characters.len()),
            method_entry: offset_of!(Method, entry) as i32,
            yieldpoints: vm.compiled.options.yieldpoints,
            watched: vm.compiled.watcher.is_some(),
            instrumentation,
            counters: vm.profiling.counter_numbers(),
            blocks: blocks_for(instrumentation),
            marked: marked.map(|marked| (marked, blocks_for(marked))),
        }
    }

    /// The model for the second version of code, which counts what the first does not and calls other code that does; nothing if there
    /// is one version only.
    pub fn marked(&self) -> Option<Model> {
        let (instrumentation, blocks) = self.marked.clone()?;
        let method_entry = offset_of!(Method, marked) as i32;
        Some(Model { instrumentation, blocks, method_entry, ..self.clone() })
    }

    /// A class.
    pub fn class(&self, class: ClassId) -> &ClassModel {
        &self.classes[class.index()]
    }

    /// Address of a method.
    pub fn method(&self, function: FunctionId) -> u64 {
        self.methods[function.index()]
    }

    /// Address of a string constant.
    pub fn string(&self, string: StringId) -> u64 {
        self.strings[string.index()]
    }

    /// Address of the table of strings of one byte, in the order of the bytes, and how many there are. It does not change.
    pub fn characters(&self) -> (u64, usize) {
        self.characters
    }

    /// Displacement of a slot of the method table from the class record.
    pub fn virtual_displacement(&self, slot: u32) -> i32 {
        (crate::layout::METHODS + slot as usize * 8) as i32
    }

    /// Displacement of an interface's method from the record of any class that implements it.
    pub fn interface_displacement(&self, interface: InterfaceId, method: u32) -> i32 {
        -8 * (self.interface_bases[interface.index()] + method + 1) as i32
    }

    /// Bytes from the class record to the table of bits, one for each interface, and the bit's place in it.
    pub fn interface_bit(&self, interface: InterfaceId) -> (i32, u32) {
        (offset_of!(ClassRecord, interfaces) as i32, interface.0)
    }

    /// How many bits that table has, in words, at this displacement from the class record.
    pub fn interface_words(&self) -> i32 {
        offset_of!(ClassRecord, interface_words) as i32
    }

    /// Address of a function for a native that only computes: with floats or with texts.
    pub fn pure_native(&self, native: Native) -> Option<u64> {
        helpers::pure_float(native).or_else(|| helpers::pure_text(native))
    }

    /// Cells of arrays that fit no size class begin here: larger ones are never allocated in line.
    pub fn largest_cell(&self) -> usize {
        LARGEST_CELL
    }

    /// The table from words to size classes, one byte each.
    pub fn size_classes(&self) -> u64 {
        heap::SIZE_CLASS_OF_WORDS.as_ptr() as u64
    }

    /// The table from size classes to the bytes of their cells, four bytes each.
    pub fn cell_sizes(&self) -> u64 {
        heap::CELLS.as_ptr() as u64
    }
}
