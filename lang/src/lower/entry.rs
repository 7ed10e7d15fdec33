//! The function that runs first: it makes the objects that exist once, runs the initialisers of globals in the order of
//! the source, and calls `main`.

use super::function::FunctionLowering;
use super::instances::Environment;
use super::{Lowering, Work};
use crate::check::library::LIBRARY;
use crate::span::FileId;
use crate::typed::{ClassIndex, GlobalIndex, TyKind};
use holloway_bytecode::{ClassId, ErrorKind, FunctionId, Global, GlobalId, Op, Type};
use std::rc::Rc;

/// An object made before anything else runs, and the hidden global that holds it.
pub(super) struct Singleton {
    pub(super) global: GlobalId,
    pub(super) class: ClassId,
    pub(super) kind: SingletonKind,
}

/// What such an object is.
pub(super) enum SingletonKind {
    /// A variant without payload: its position.
    Variant(i32),
    /// A closure without captured variables.
    Closure,
}

impl<'p> Lowering<'p> {
    /// The classes that the system itself makes instances of.
    pub(super) fn known_classes(&mut self) {
        let known = &self.declarations.known;
        self.program.error_root = Some(self.plain_class(known.error));
        for kind in ErrorKind::ALL {
            let found = known.errors.iter().find(|(name, _)| &**name == kind.class_name());
            let index = found.map_or(known.error, |(_, index)| *index);
            let class = self.plain_class(index);
            self.instantiate(class);
            self.program.error_classes.push(class);
        }
    }

    /// A class without type parameters.
    fn plain_class(&mut self, index: ClassIndex) -> ClassId {
        let ty = self.types.intern(TyKind::Class(index, Vec::new()));
        self.class_of(ty)
    }

    /// The number of a global of the source.
    pub(super) fn global(&mut self, index: GlobalIndex) -> GlobalId {
        if let Some(known) = self.globals[index.index()] {
            return known;
        }
        let source = &self.declarations.globals[index.index()];
        let ty = self.representation(source.ty);
        let id = GlobalId(self.program.globals.len() as u32);
        self.program.globals.push(Global { name: source.name.clone(), ty });
        self.globals[index.index()] = Some(id);
        let result = self.result_representation(source.ty);
        let init = self.declare(source.name.to_string(), Vec::new(), result, Work::Global(index));
        self.initialisers.push((index, init));
        id
    }

    /// Initialisers may do anything, so those of the program itself run whether their globals are used or not. Those of
    /// the standard library are known to do nothing else.
    pub(super) fn reach_globals(&mut self) {
        for (at, global) in self.declarations.globals.iter().enumerate() {
            let index = GlobalIndex(at as u32);
            // A constant needs no global: nothing reads it.
            if !self.is_library(global.span.file) && self.global_constant(index).is_none() {
                self.place = global.span;
                self.global(index);
            }
        }
    }

    /// Is the file one of the standard library (and not one of the same name).
    fn is_library(&self, file: FileId) -> bool {
        let (path, text) = (self.sources.path(file), self.sources.text(file));
        LIBRARY.iter().flat_map(|(_, files)| files.iter()).any(|known| *known == (path, text))
    }

    /// Makes the entry function, last of all.
    pub(super) fn start_function(&mut self, main: FunctionId) {
        let id = FunctionId(self.program.functions.len() as u32);
        let mut initialisers = std::mem::take(&mut self.initialisers);
        initialisers.sort_by_key(|(index, _)| *index);
        let singletons = std::mem::take(&mut self.singletons);
        let mut code = FunctionLowering::bare(self, Rc::new(Environment::default()), Vec::new(), None);
        for singleton in singletons {
            code.make_singleton(&singleton);
        }
        for (index, init) in initialisers {
            let source = &code.lowering.declarations.globals[index.index()];
            let Some(global) = code.lowering.globals[index.index()] else { continue };
            let result = code.lowering.program.functions[init.index()].result;
            code.at(source.span);
            let ty = code.lowering.program.globals[global.index()].ty;
            let value = code.registers.allocate(result.unwrap_or(ty));
            code.buffer.call(Op::Call, if result.is_some() { value.0 } else { 0 }, init.0, &[]);
            if result.is_none() {
                code.buffer.op_bc(Op::LoadInt, value.0, 0);
            }
            code.buffer.op_bc(Op::StoreGlobal, value.0, global.0);
            code.registers.free(value);
        }
        code.at(code.lowering.declarations.functions[code.lowering.declarations.main.index()].span);
        let result = code.lowering.program.functions[main.index()].result;
        let result = result.map_or(0, |ty| code.registers.allocate(ty).0);
        code.buffer.call(Op::Call, result, main.0, &[]);
        code.buffer.op(Op::ReturnUnit, 0, 0, 0);
        let function = code.finish("$start".into(), 0);
        self.program.functions.push(function);
        self.program.entry = Some(id);
    }
}

impl<'p> FunctionLowering<'_, 'p> {
    fn make_singleton(&mut self, singleton: &Singleton) {
        let object = self.registers.allocate(Type::class(singleton.class));
        self.buffer.op_bc(Op::New, object.0, singleton.class.0);
        match singleton.kind {
            SingletonKind::Variant(0) | SingletonKind::Closure => {}
            SingletonKind::Variant(ordinal) => {
                let value = self.registers.allocate(Type::Int);
                self.buffer.op_bc(Op::LoadInt, value.0, ordinal as u32);
                self.buffer.op(Op::PutField, value.0, object.0, super::enums::ORDINAL);
                self.registers.free(value);
            }
        }
        self.buffer.op_bc(Op::StoreGlobal, object.0, singleton.global.0);
        self.registers.free(object);
    }
}
