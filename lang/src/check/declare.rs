//! First pass: every declaration gets its number and its name in its module, and nothing is resolved except the
//! order of classes, because the typed program wants superclasses before subclasses.
//!
//! That order needs to know which class a class extends before types can be resolved, so it is found from the
//! names alone. A class that extends itself by a detour is reported here and treated as extending nothing.

use std::rc::Rc;

use super::Checker;
use super::modules::ModuleId;
use super::scopes::Lookup;
use super::tables::*;
use crate::ast::{self, ItemKind, TypeExprKind};
use crate::diagnostics::Diagnostic;
use crate::span::{FileId, Span};
use crate::typed::{ClassIndex, EnumIndex, FunctionIndex, GlobalIndex, InterfaceIndex, Ty};

/// Names of types that the language defines itself.
pub(super) const BUILT_IN_TYPES: &[&str] =
    &["Int", "Float", "Bool", "Unit", "Never", "String", "Bytes", "Array", "Any"];

/// A class before its final number is known.
struct FoundClass<'a> {
    ast: &'a ast::Class,
    scope: TypeScope,
    /// The class that it extends, as an index into the same list.
    superclass: Option<usize>,
}

impl<'a> Checker<'a> {
    /// Enters all declarations.
    pub(super) fn declare(&mut self) {
        let modules = self.modules;
        let mut classes: Vec<FoundClass<'a>> = Vec::new();
        for (number, module) in modules.iter().enumerate() {
            let module_id = ModuleId(number as u32);
            for file in &module.files {
                let scope = empty_scope(module_id, file.file);
                for item in &file.ast.items {
                    let (name, entity) = match &item.kind {
                        ItemKind::Class(ast) => {
                            classes.push(FoundClass { ast, scope: scope.clone(), superclass: None });
                            (&ast.name, Entity::Class(ClassIndex(classes.len() as u32 - 1)))
                        }
                        ItemKind::Interface(ast) => (&ast.name, self.declare_interface(ast, &scope)),
                        ItemKind::Enum(ast) => (&ast.name, self.declare_enum(ast, &scope)),
                        ItemKind::Function(ast) => {
                            let function = self.new_function(ast, Owner::None, &scope, &ast.name.text);
                            self.functions[function.index()].private = item.private;
                            (&ast.name, Entity::Function(function))
                        }
                        ItemKind::Global(ast) => {
                            (&ast.name, Entity::Global(self.new_global(ast, &scope, None)))
                        }
                    };
                    self.enter(module_id, name, Declared { entity, private: item.private, span: name.span });
                }
            }
        }
        self.order_classes(classes);
        self.qualify_names();
        self.declare_members();
    }

    fn enter(&mut self, module: ModuleId, name: &ast::Name, declared: Declared) {
        if name.text.is_empty() {
            return;
        }
        if BUILT_IN_TYPES.contains(&&*name.text) {
            let message = format!("`{}` is the name of a built-in type", name.text);
            self.report(
                Diagnostic::new(name.span, message, "cannot be declared again").help("choose another name"),
            );
            return;
        }
        if let Some(first) = self.names[module.index()].get(&name.text) {
            let first = first.span;
            let message = format!("`{}` is declared twice", name.text);
            self.report(
                Diagnostic::new(name.span, message, "the second declaration")
                    .related(first, "first declared here")
                    .help("a module has one declaration of a name; overloading does not exist"),
            );
            return;
        }
        self.names[module.index()].insert(name.text.clone(), declared);
    }

    fn declare_interface(&mut self, ast: &'a ast::Interface, scope: &TypeScope) -> Entity {
        let index = InterfaceIndex(self.interfaces.len() as u32);
        self.interfaces.push(InterfaceInfo {
            name: ast.name.text.clone(),
            ast,
            scope: scope.clone(),
            params: Rc::from([]),
            this: Ty::ERROR,
            supers: Vec::new(),
            all_supers: Vec::new(),
            methods: Vec::new(),
        });
        Entity::Interface(index)
    }

    fn declare_enum(&mut self, ast: &'a ast::Enum, scope: &TypeScope) -> Entity {
        let index = EnumIndex(self.enums.len() as u32);
        self.enums.push(EnumInfo {
            name: ast.name.text.clone(),
            ast,
            scope: scope.clone(),
            params: Rc::from([]),
            this: Ty::ERROR,
            variants: Vec::new(),
            methods: Vec::new(),
            statics: Vec::new(),
        });
        Entity::Enum(index)
    }

    /// Adds a function to the table.
    pub(super) fn new_function(
        &mut self,
        ast: &'a ast::Function,
        owner: Owner,
        scope: &TypeScope,
        full_name: &str,
    ) -> FunctionIndex {
        let index = FunctionIndex(self.functions.len() as u32);
        self.functions.push(FunctionInfo {
            name: ast.name.text.clone(),
            full_name: full_name.into(),
            ast: Some(ast),
            owner,
            scope: scope.clone(),
            is_static: owner == Owner::None,
            is_abstract: false,
            is_final: false,
            private: false,
            params: Rc::from([]),
            own_params: 0,
            receiver: None,
            param_types: Rc::from([]),
            result: Ty::UNIT,
            body: None,
            span: ast.name.span,
        });
        index
    }

    /// Adds a global or static variable to the table.
    pub(super) fn new_global(
        &mut self,
        ast: &'a ast::Global,
        scope: &TypeScope,
        class: Option<ClassIndex>,
    ) -> GlobalIndex {
        let index = GlobalIndex(self.globals.len() as u32);
        let full_name = match class {
            Some(class) => format!("{}.{}", self.class(class).name, ast.name.text).into(),
            None => ast.name.text.clone(),
        };
        self.globals.push(GlobalInfo {
            full_name,
            ast,
            owner: class.map_or(Owner::None, Owner::Class),
            scope: scope.clone(),
            ty: Lazy::Pending,
            body: None,
        });
        index
    }

    /// Numbers the classes so that a superclass comes before its subclasses, and corrects the names.
    fn order_classes(&mut self, mut found: Vec<FoundClass<'a>>) {
        for class in &mut found {
            let mut supers =
                class.ast.supers.iter().filter_map(|ty| match self.named_entity(&class.scope, ty) {
                    Some(Entity::Class(class)) => Some(class.index()),
                    _ => None,
                });
            class.superclass = supers.next();
        }
        let mut order: Vec<usize> = Vec::new();
        let mut placed = vec![false; found.len()];
        // The last start from which a class was reached.
        let mut reached_from = vec![usize::MAX; found.len()];
        for start in 0..found.len() {
            let mut chain = Vec::new();
            let mut at = Some(start);
            while let Some(class) = at {
                if placed[class] {
                    break;
                }
                if reached_from[class] == start {
                    let from = chain.iter().position(|seen| *seen == class).unwrap_or(0);
                    self.report_cycle(&found, &chain[from..]);
                    for member in &chain[from..] {
                        found[*member].superclass = None;
                    }
                    break;
                }
                reached_from[class] = start;
                chain.push(class);
                at = found[class].superclass;
            }
            for class in chain.into_iter().rev() {
                placed[class] = true;
                order.push(class);
            }
        }
        let mut number = vec![ClassIndex(0); found.len()];
        for (position, class) in order.iter().enumerate() {
            number[*class] = ClassIndex(position as u32);
        }
        for declared in self.names.iter_mut().flat_map(|names| names.values_mut()) {
            if let Entity::Class(class) = &mut declared.entity {
                *class = number[class.index()];
            }
        }
        for class in order {
            let FoundClass { ast, scope, superclass } = &found[class];
            self.classes.push(ClassInfo {
                name: ast.name.text.clone(),
                ast,
                scope: scope.clone(),
                params: Rc::from([]),
                this: Ty::ERROR,
                extends: superclass.map(|superclass| number[superclass]),
                superclass: None,
                interfaces: Vec::new(),
                all_interfaces: Vec::new(),
                fields: Vec::new(),
                inherited_fields: 0,
                methods: Vec::new(),
                statics: Vec::new(),
                init: FunctionIndex(0),
                init_ast: None,
            });
            let inherited = superclass.map_or(0, |superclass| {
                let info = &self.classes[number[superclass].index()];
                info.inherited_fields + field_count(info.ast)
            });
            if let Some(info) = self.classes.last_mut() {
                info.inherited_fields = inherited;
            }
        }
    }

    fn report_cycle(&mut self, found: &[FoundClass<'a>], circle: &[usize]) {
        let names: Vec<&str> =
            circle.iter().chain(circle.first()).map(|c| &*found[*c].ast.name.text).collect();
        let first = found[circle[0]].ast;
        let message = if circle.len() == 1 {
            format!("the class `{}` extends itself", first.name.text)
        } else {
            format!("classes extend each other in a circle: {}", names.join(" -> "))
        };
        let mut diagnostic = Diagnostic::new(first.name.span, message, "cannot be its own ancestor");
        for class in &circle[1..] {
            diagnostic = diagnostic.related(found[*class].ast.name.span, "part of the circle");
        }
        self.report(diagnostic);
    }

    /// What the name of a written type stands for, without any error.
    fn named_entity(&self, scope: &TypeScope, ty: &ast::TypeExpr) -> Option<Entity> {
        let TypeExprKind::Named { module, name, .. } = &ty.kind else { return None };
        let lookup = match module {
            Some(module) => {
                self.lookup_in(self.module_alias(scope.file, &module.text)?, scope.file, &name.text)
            }
            None => self.lookup(scope.module, scope.file, &name.text),
        };
        match lookup {
            Lookup::Found(declared) => Some(declared.entity),
            _ => None,
        }
    }

    /// Gives types of the same name the name of their module as well, so that messages tell them apart.
    fn qualify_names(&mut self) {
        let mut seen: std::collections::BTreeMap<Box<str>, usize> = std::collections::BTreeMap::new();
        let names = self.classes.iter().map(|class| &class.name);
        let names = names.chain(self.interfaces.iter().map(|interface| &interface.name));
        for name in names.chain(self.enums.iter().map(|index| &index.name)) {
            *seen.entry(name.clone()).or_default() += 1;
        }
        let modules = self.modules;
        let qualify = |name: &mut Box<str>, scope: &TypeScope| {
            if seen.get(name).copied().unwrap_or(0) > 1 {
                *name = format!("{}.{name}", modules[scope.module.index()].name).into();
            }
        };
        self.classes.iter_mut().for_each(|info| qualify(&mut info.name, &info.scope));
        self.interfaces.iter_mut().for_each(|info| qualify(&mut info.name, &info.scope));
        self.enums.iter_mut().for_each(|info| qualify(&mut info.name, &info.scope));
    }
}

fn empty_scope(module: ModuleId, file: FileId) -> TypeScope {
    TypeScope { module, file, params: Rc::from([]), hidden: Rc::from([]) }
}

/// How many fields a class declares.
fn field_count(class: &ast::Class) -> usize {
    let header = class.header_fields.as_ref().map_or(0, Vec::len);
    let is_field =
        |member: &&ast::Member| !member.is_static && matches!(member.kind, ast::MemberKind::Field(_));
    header + class.members.iter().filter(is_field).count()
}

/// The place of a class's name, where errors about the class as a whole are shown.
pub(super) fn class_place(class: &ast::Class) -> Span {
    class.name.span
}
