//! What addresses and offsets in compiled code stand for.

use holloway_bytecode::{FunctionId, Native, Program, StringId};
use holloway_vm::compiled::{EXITS, Model, Stub};
use std::collections::BTreeMap;

/// Longer texts are cut in comments.
const LONGEST_TEXT: usize = 24;

/// Names of what code refers to by address or by its place in the context.
pub struct Names {
    /// Address, bytes after it that belong to it, and name.
    addresses: BTreeMap<u64, (u64, String)>,
    /// Of the context: offset and name, the values of exits aside.
    context: BTreeMap<i32, &'static str>,
    exits: i32,
    methods: BTreeMap<u64, FunctionId>,
    functions: Vec<String>,
    /// Where a method holds the address of its code: of either version, if there are two.
    pub method_entries: Vec<i32>,
}

impl Names {
    /// The names of a program in a virtual machine.
    pub fn new(program: &Program, model: &Model) -> Names {
        let helpers = &model.helpers;
        let mut addresses = BTreeMap::new();
        let mut add_long = |address: u64, length: u64, name: String| {
            addresses.entry(address).or_insert((length, name));
        };
        // Code refers to the inside of this table, too: it adds what it knows of a size.
        let size_classes = model.largest_cell() as u64 / 8 + 1;
        add_long(model.size_classes(), size_classes, "table of size classes".to_string());
        let (characters, count) = model.characters();
        add_long(characters, 8 * count as u64, "table of characters".to_string());
        let mut add = |address: u64, name: String| add_long(address, 1, name);
        for (address, name) in [(helpers.deoptimize, "deoptimize"), (helpers.native, "native")] {
            add(address, format!("helper {name}"));
        }
        add(model.cell_sizes(), "table of cell sizes".to_string());
        for &native in Native::ALL {
            if let Some(address) = model.pure_native(native) {
                add(address, format!("native {}", native.name()));
            }
        }
        let mut methods = BTreeMap::new();
        for (number, function) in program.functions.iter().enumerate() {
            let id = FunctionId(number as u32);
            methods.insert(model.method(id), id);
            add(model.method(id), format!("method {}", function.name));
        }
        for (number, text) in program.strings.iter().enumerate() {
            add(model.string(StringId(number as u32)), format!("string {}", shortened(text)));
        }
        let (offsets, marked) = (&model.context, model.marked());
        let mut context = BTreeMap::from([
            (offsets.control, "control"),
            (offsets.classes, "classes"),
            (offsets.runs, "runs"),
            (offsets.globals, "globals"),
            (offsets.native_limit, "native_limit"),
            (offsets.exit_place, "exit_place"),
            (offsets.exit_depth, "exit_depth"),
            (offsets.leave, "leave"),
            (offsets.result, "result"),
        ]);
        context.extend(Stub::ALL.map(|stub| (offsets.stub(stub), stub.name())));
        let functions = program.functions.iter().map(|function| function.name.to_string()).collect();
        Names {
            addresses,
            context,
            exits: offsets.exits,
            methods,
            functions,
            method_entries: std::iter::once(model).chain(&marked).map(|model| model.method_entry).collect(),
        }
    }

    /// What lies at an address.
    pub fn address(&self, bits: u64) -> Option<String> {
        let (&start, (length, name)) = self.addresses.range(..=bits).next_back()?;
        match bits - start {
            0 => Some(name.clone()),
            distance if distance < *length => Some(format!("{name} + {distance}")),
            _ => None,
        }
    }

    /// The method whose record lies at an address.
    pub fn method(&self, bits: u64) -> Option<&str> {
        Some(&self.functions[self.methods.get(&bits)?.index()])
    }

    /// What the context holds at an offset.
    pub fn context(&self, offset: i32) -> Option<String> {
        if let Some(name) = self.context.get(&offset) {
            return Some(format!("context.{name}"));
        }
        let exit = (offset - self.exits) / 8;
        ((0..EXITS as i32).contains(&exit) && offset >= self.exits).then(|| format!("context.exits[{exit}]"))
    }
}

/// A text constant in quotes, its beginning if it is long.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_TEXT) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}
