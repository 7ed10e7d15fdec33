//! The class table: the records of [`crate::layout`] for all classes of a program, in one block.

use crate::layout::{ClassRecord, FIELDS, METHODS, ObjectKind};
use crate::loader::LoadedCode;
use holloway_bytecode::{ClassId, Element, Layout, Program};

/// The class records of a program. Its address does not change.
pub struct ClassTable {
    /// The block: for each class in preorder its interface methods (downwards), its record, its method table.
    block: Box<[u64]>,
    /// Offset of each class's record from the beginning of the block.
    offsets: Vec<u32>,
    /// The class at each record, by offset, ascending.
    by_offset: Vec<(u32, ClassId)>,
    /// For each interface, the number of its first method's place below a record.
    interface_bases: Vec<u32>,
    /// What the records point to.
    _references: Vec<Box<[u32]>>,
    _interfaces: Vec<Box<[u64]>>,
}

impl ClassTable {
    /// Builds the table; methods are those of `code`.
    pub fn build(program: &Program, code: &LoadedCode) -> ClassTable {
        let order = preorder(program);
        let interface_bases = place_interfaces(program);
        let below: Vec<usize> =
            program.classes.iter().map(|c| interface_words(program, c, &interface_bases)).collect();

        let mut offsets = vec![0u32; program.classes.len()];
        // An offset of zero would make an empty header: begin with a word that is nobody's.
        let mut at = 1;
        for &class in &order {
            at += below[class.index()];
            offsets[class.index()] = at as u32 * 8;
            at += METHODS / 8 + program.classes[class.index()].methods.len();
        }
        let mut table = ClassTable {
            block: vec![0u64; at].into_boxed_slice(),
            offsets,
            by_offset: Vec::with_capacity(order.len()),
            interface_bases,
            _references: Vec::new(),
            _interfaces: Vec::new(),
        };
        table.by_offset = order.iter().map(|&c| (table.offset(c), c)).collect();
        let last = last_descendants(program, &order);
        for &class in &order {
            table.write_record(program, class, last[class.index()]);
            table.write_methods(program, class, code);
        }
        table
    }

    /// The address that headers count from.
    pub fn base(&self) -> *const u8 {
        self.block.as_ptr().cast()
    }

    /// Offset of a class's record.
    pub fn offset(&self, class: ClassId) -> u32 {
        self.offsets[class.index()]
    }

    /// The record of a class.
    pub fn record(&self, class: ClassId) -> &ClassRecord {
        // SAFETY: each class has its record at its offset, inside the block, written by `build`.
        unsafe { &*self.base().add(self.offset(class) as usize).cast() }
    }

    /// The class whose record is exactly at `offset`.
    pub fn class_of_record(&self, offset: u32) -> ClassId {
        // SAFETY: callers pass the offset of a record, as in the headers of objects.
        ClassId(unsafe { (*self.base().add(offset as usize).cast::<ClassRecord>()).id })
    }

    /// The class whose record is at `offset`.
    pub fn class_at(&self, offset: u32) -> ClassId {
        let index = self.by_offset.partition_point(|&(o, _)| o <= offset);
        self.by_offset[index - 1].1
    }

    /// Displacement of a virtual method from its record.
    pub fn virtual_displacement(&self, slot: u32) -> i32 {
        (METHODS + slot as usize * 8) as i32
    }

    /// For each interface, the number of its first method's place below a record.
    pub fn interface_bases(&self) -> &[u32] {
        &self.interface_bases
    }

    /// Displacement of an interface's method from any record that implements it.
    pub fn interface_displacement(&self, interface: u32, method: u32) -> i32 {
        -8 * (self.interface_bases[interface as usize] + method + 1) as i32
    }

    fn write_record(&mut self, program: &Program, class: ClassId, last: ClassId) {
        let definition = &program.classes[class.index()];
        let references: Box<[u32]> = definition
            .fields()
            .iter()
            .enumerate()
            .filter(|(_, f)| f.ty.is_ref())
            .map(|(i, _)| (FIELDS + i * 8) as u32)
            .collect();
        let mut interfaces = vec![0u64; program.interfaces.len().div_ceil(64)].into_boxed_slice();
        for implementation in &definition.interfaces {
            let i = implementation.interface.index();
            interfaces[i / 64] |= 1 << (i % 64);
        }
        let kind = match definition.layout {
            Layout::Object(_) => ObjectKind::Fields,
            Layout::String | Layout::Array(Element::Byte | Element::Bool) => ObjectKind::Bytes,
            Layout::Array(Element::Int | Element::Float) => ObjectKind::Words,
            Layout::Array(Element::Ref(_)) => ObjectKind::References,
        };
        let record = ClassRecord {
            instance_size: (FIELDS + definition.fields().len() * 8) as u32,
            kind,
            id: class.0,
            last: self.offset(last),
            references: references.as_ptr(),
            reference_count: references.len() as u32,
            interface_words: interfaces.len() as u32,
            interfaces: interfaces.as_ptr(),
            reserved: [0; 3],
        };
        let at = self.offset(class) as usize / 8;
        // SAFETY: the block has METHODS bytes for a record at each class's offset, 8-byte aligned.
        unsafe { self.block.as_mut_ptr().add(at).cast::<ClassRecord>().write(record) };
        self._references.push(references);
        self._interfaces.push(interfaces);
    }

    fn write_methods(&mut self, program: &Program, class: ClassId, code: &LoadedCode) {
        let definition = &program.classes[class.index()];
        let record = self.offset(class) as usize / 8;
        let address = |slot: usize| match definition.methods[slot].function {
            Some(function) => code.method(function) as u64,
            // Abstract classes have no instances.
            None => 0,
        };
        for slot in 0..definition.methods.len() {
            self.block[record + METHODS / 8 + slot] = address(slot);
        }
        for implementation in &definition.interfaces {
            let base = self.interface_bases[implementation.interface.index()] as usize;
            for (method, &slot) in implementation.slots.iter().enumerate() {
                self.block[record - 1 - base - method] = address(slot as usize);
            }
        }
    }
}

/// All classes, each before its subclasses and these together.
fn preorder(program: &Program) -> Vec<ClassId> {
    let mut children: Vec<Vec<ClassId>> = vec![Vec::new(); program.classes.len()];
    let mut stack: Vec<ClassId> = Vec::new();
    for (i, class) in program.classes.iter().enumerate() {
        match class.superclass {
            Some(parent) => children[parent.index()].push(ClassId(i as u32)),
            None => stack.push(ClassId(i as u32)),
        }
    }
    stack.reverse();
    let mut order = Vec::with_capacity(program.classes.len());
    while let Some(class) = stack.pop() {
        order.push(class);
        stack.extend(children[class.index()].iter().rev());
    }
    order
}

/// For each class, the last one in preorder of its subtree.
fn last_descendants(program: &Program, order: &[ClassId]) -> Vec<ClassId> {
    let mut position = vec![0; order.len()];
    for (i, class) in order.iter().enumerate() {
        position[class.index()] = i;
    }
    let mut last: Vec<ClassId> = (0..order.len() as u32).map(ClassId).collect();
    for &class in order.iter().rev() {
        if let Some(parent) = program.classes[class.index()].superclass
            && position[last[class.index()].index()] > position[last[parent.index()].index()]
        {
            last[parent.index()] = last[class.index()];
        }
    }
    last
}

/// Finds a place for the methods of each interface such that no class has two methods at one place: interfaces in
/// order, each at the lowest place that is free in all classes that implement it.
fn place_interfaces(program: &Program) -> Vec<u32> {
    let mut implementors: Vec<Vec<usize>> = vec![Vec::new(); program.interfaces.len()];
    for (c, class) in program.classes.iter().enumerate() {
        for implementation in &class.interfaces {
            implementors[implementation.interface.index()].push(c);
        }
    }
    // For each class the ranges already taken, as (begin, end).
    let mut taken: Vec<Vec<(u32, u32)>> = vec![Vec::new(); program.classes.len()];
    let mut bases = Vec::with_capacity(program.interfaces.len());
    for (i, interface) in program.interfaces.iter().enumerate() {
        let size = interface.methods.len() as u32;
        let mut base = 0;
        while let Some(end) = implementors[i]
            .iter()
            .flat_map(|&c| &taken[c])
            .filter(|(begin, end)| *begin < base + size && base < *end)
            .map(|(_, end)| *end)
            .max()
        {
            base = end;
        }
        for &c in &implementors[i] {
            taken[c].push((base, base + size));
        }
        bases.push(base);
    }
    bases
}

/// Words that a class needs below its record.
fn interface_words(program: &Program, class: &holloway_bytecode::Class, bases: &[u32]) -> usize {
    class
        .interfaces
        .iter()
        .map(|i| bases[i.interface.index()] as usize + program.interfaces[i.interface.index()].methods.len())
        .max()
        .unwrap_or(0)
}
