//! Enums as classes. Field 0 is the position of the variant, the payload follows.
//!
//! Where the payloads of all variants fit into little more room than the largest, one class holds them all: fields of the
//! same type share a place, and reading a payload needs no cast. Otherwise each variant with payload is a subclass, and
//! reading goes through a cast that cannot fail. A variant without payload is one object, made at the start.

use super::Lowering;
use super::entry::{Singleton, SingletonKind};
use super::instances::Environment;
use super::layouts::ClassDetail;
use crate::typed::{Ty, TyKind};
use holloway_bytecode::{Class, ClassId, Field, Global, GlobalId, Layout, Type};
use std::rc::Rc;

/// The field that holds the position of the variant.
pub(super) const ORDINAL: u16 = 0;

/// So many fields more than the largest variant needs are accepted for doing without casts.
const MERGE_SLACK: usize = 1;

/// An enum with its type arguments.
pub(super) struct EnumDetail {
    ty: Ty,
    layout: Option<Rc<EnumLayout>>,
    /// For each variant without payload that was reached, the global that holds it.
    singletons: Vec<Option<GlobalId>>,
}

/// Where the payloads of an enum lie.
pub(super) struct EnumLayout {
    pub(super) variants: Vec<VariantLayout>,
}

/// Where the payload of a variant lies.
pub(super) struct VariantLayout {
    /// The class of its objects.
    pub(super) class: ClassId,
    /// The field number of each payload field.
    pub(super) fields: Vec<u16>,
}

impl<'p> Lowering<'p> {
    /// The class that all variants of an enum are of.
    pub(super) fn new_enum_class(&mut self, ty: Ty) -> ClassId {
        self.check_nesting(ty);
        let class = Self::bare_class(self.type_name(ty), Layout::Object(Vec::new()));
        self.add_class(class, ClassDetail::Enum(EnumDetail { ty, layout: None, singletons: Vec::new() }))
    }

    /// Gives an enum its layout.
    pub(super) fn complete_enum(&mut self, class: ClassId) {
        self.enum_layout(class);
    }

    fn enum_detail(&mut self, class: ClassId) -> &mut EnumDetail {
        match &mut self.details[class.index()] {
            ClassDetail::Enum(detail) => detail,
            _ => unreachable!("class {} is not an enum", class.0),
        }
    }

    /// The layout of the enum whose class is `class`.
    pub(super) fn enum_layout(&mut self, class: ClassId) -> Rc<EnumLayout> {
        if let Some(layout) = &self.enum_detail(class).layout {
            return layout.clone();
        }
        let ty = self.enum_detail(class).ty;
        let TyKind::Enum(index, arguments) = self.types.kind(ty).clone() else {
            unreachable!("an enum's class has an enum type")
        };
        let source = &self.declarations.enums[index.index()];
        self.place = source.span;
        let environment = Environment::new(&source.params, arguments);
        let mut payloads = Vec::new();
        for variant in &source.variants {
            let mut payload = Vec::new();
            for field in &variant.fields {
                let ty = self.substitute(field.ty, &environment);
                payload.push(Field { name: field.name.clone(), ty: self.representation(ty) });
            }
            payloads.push(payload);
        }
        let (fields, places) = merged(&payloads);
        self.check_fields(fields.len());
        let largest = payloads.iter().map(Vec::len).max().unwrap_or(0);
        let layout = if fields.len() - 1 <= largest + MERGE_SLACK {
            let made = &mut self.program.classes[class.index()];
            (made.layout, made.is_abstract) = (Layout::Object(fields), false);
            let variants = places.into_iter().map(|fields| VariantLayout { class, fields });
            EnumLayout { variants: variants.collect() }
        } else {
            let names: Vec<&str> = source.variants.iter().map(|variant| &*variant.name).collect();
            self.separate(class, &names, payloads)
        };
        let layout = Rc::new(layout);
        let detail = self.enum_detail(class);
        detail.singletons = vec![None; layout.variants.len()];
        detail.layout = Some(layout.clone());
        layout
    }

    /// A class for each variant with payload.
    fn separate(&mut self, class: ClassId, names: &[&str], payloads: Vec<Vec<Field>>) -> EnumLayout {
        let base = &mut self.program.classes[class.index()];
        base.layout = Layout::Object(vec![ordinal()]);
        base.is_abstract = payloads.iter().all(|payload| !payload.is_empty());
        let prefix = base.name.clone();
        let mut variants = Vec::new();
        for (name, payload) in names.iter().zip(payloads) {
            if payload.is_empty() {
                variants.push(VariantLayout { class, fields: Vec::new() });
                continue;
            }
            let places = (1..=payload.len() as u16).collect();
            let fields = [ordinal()].into_iter().chain(payload).collect();
            let made = Self::bare_class(format!("{prefix}.{name}"), Layout::Object(fields));
            let made = Class { superclass: Some(class), is_abstract: false, ..made };
            let variant = self.add_class(made, ClassDetail::Plain);
            variants.push(VariantLayout { class: variant, fields: places });
        }
        EnumLayout { variants }
    }

    /// The global that holds the one object of a variant without payload.
    pub(super) fn variant_global(&mut self, class: ClassId, variant: usize) -> GlobalId {
        self.enum_layout(class);
        if let Some(known) = self.enum_detail(class).singletons[variant] {
            return known;
        }
        let ty = self.enum_detail(class).ty;
        let name = match self.types.kind(ty) {
            TyKind::Enum(index, _) => &*self.declarations.enums[index.index()].variants[variant].name,
            _ => "",
        };
        let name = format!("{}.{name}", self.type_name(ty));
        let kind = SingletonKind::Variant(variant as i32);
        let global = self.singleton(name, class, kind);
        self.enum_detail(class).singletons[variant] = Some(global);
        global
    }

    /// A hidden global for an object that is made before anything else runs.
    pub(super) fn singleton(&mut self, name: String, class: ClassId, kind: SingletonKind) -> GlobalId {
        let global = GlobalId(self.program.globals.len() as u32);
        self.program.globals.push(Global { name: name.into(), ty: Type::class(class) });
        self.singletons.push(Singleton { global, class, kind });
        global
    }
}

fn ordinal() -> Field {
    Field { name: "ordinal".into(), ty: Type::Int }
}

/// Fields for all payloads together, and for each payload which of them are its own.
fn merged(payloads: &[Vec<Field>]) -> (Vec<Field>, Vec<Vec<u16>>) {
    let mut fields = vec![ordinal()];
    let mut places = Vec::new();
    for payload in payloads {
        let mut own: Vec<u16> = Vec::new();
        for field in payload {
            let shared =
                (1..fields.len()).find(|&at| fields[at].ty == field.ty && !own.contains(&(at as u16)));
            let at = shared.unwrap_or_else(|| {
                fields.push(field.clone());
                fields.len() - 1
            });
            own.push(at as u16);
        }
        places.push(own);
    }
    (fields, places)
}
