//! Last pass: the tables become the typed program.

use super::Checker;
use super::modules::ModuleId;
use super::tables::*;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::span::{FileId, Span};
use crate::typed::{
    Body, Class, ClassIndex, Enum, Expr, ExprKind, Field, Function, FunctionIndex, Global, Interface,
    KnownClasses, Method, Ty, TypedProgram, Variant,
};

impl Checker<'_> {
    /// The class of the prelude with this name.
    pub(super) fn prelude_class(&self, name: &str) -> Option<ClassIndex> {
        match self.names.get(ModuleId::PRELUDE.index())?.get(name)?.entity {
            Entity::Class(class) => Some(class),
            _ => None,
        }
    }

    /// The program, if nothing was wrong.
    pub(super) fn finish(mut self) -> Result<TypedProgram, Diagnostics> {
        let main = self.find_main();
        let error = self.prelude_class("Error");
        if !self.diagnostics.is_empty() {
            return Err(self.diagnostics);
        }
        let (Some(main), Some(error)) = (main, error) else {
            // Both were reported, unless the library itself is broken.
            let place = Span::new(FileId(0), 0, 0);
            let message = "the standard library lacks the class `Error`";
            self.report(Diagnostic::new(place, message, "not found"));
            return Err(self.diagnostics);
        };
        let known = KnownClasses { error, errors: self.error_classes(error) };
        let globals = self.ordered_globals();
        let classes = (0..self.classes.len()).map(|i| self.finish_class(ClassIndex(i as u32))).collect();
        let interfaces = self.interfaces.iter().map(|info| Interface {
            name: info.name.clone(),
            params: info.params.to_vec(),
            supers: info.all_supers.clone(),
            methods: info.methods.clone(),
            span: info.ast.span,
        });
        let interfaces = interfaces.collect();
        let enums = self.enums.iter().map(|info| Enum {
            name: info.name.clone(),
            params: info.params.to_vec(),
            variants: info.ast.variants.iter().zip(&info.variants).map(finish_variant).collect(),
            methods: info.methods.clone(),
            span: info.ast.span,
        });
        let enums = enums.collect();
        let functions = self.functions.into_iter().map(|info| Function {
            name: info.full_name,
            params: info.params.to_vec(),
            receiver: info.receiver,
            param_types: info.param_types.to_vec(),
            result: info.result,
            body: info.body,
            span: info.span,
        });
        Ok(TypedProgram {
            functions: functions.collect(),
            types: self.types,
            classes,
            interfaces,
            enums,
            globals,
            params: self.params.into_iter().map(|info| info.name).collect(),
            main,
            known,
        })
    }

    fn find_main(&mut self) -> Option<FunctionIndex> {
        let module = self.modules.len().checked_sub(1).filter(|last| *last > 0)?;
        let file = self.modules[module].files.first()?.file;
        let found = self.names[module].get("main").copied();
        let help = "a program starts at `fn main() { … }` of its main file";
        match found.map(|declared| (declared.entity, declared.span)) {
            Some((Entity::Function(main), span)) => {
                let info = self.function(main);
                if info.param_types.is_empty() && info.own_params == 0 && info.result == Ty::UNIT {
                    return Some(main);
                }
                let message = "`main` has neither parameters nor a result";
                self.report(
                    Diagnostic::new(span, message, "declared otherwise here")
                        .help("write `fn main() { … }`; the arguments of the program are `args()`"),
                );
            }
            Some((_, span)) => {
                self.report(Diagnostic::new(span, "`main` is not a function", "declared here").help(help));
            }
            None => {
                let place = Span::new(file, 0, 0);
                self.report_missing(
                    Diagnostic::new(place, "the program has no `main`", "not in this file").help(help),
                );
            }
        }
        None
    }

    /// All subclasses of `Error` that the prelude declares.
    fn error_classes(&mut self, error: ClassIndex) -> Vec<(Box<str>, ClassIndex)> {
        let mut found = Vec::new();
        for i in 0..self.classes.len() {
            let class = ClassIndex(i as u32);
            let info = self.class(class);
            let (this, module, name) = (info.this, info.scope.module, info.ast.name.text.clone());
            if module == ModuleId::PRELUDE && class != error && self.as_class(this, error).is_some() {
                found.push((name, class));
            }
        }
        found
    }

    /// The globals with their bodies. They were numbered module by module in the order of import, but the statics
    /// of classes after the globals of all modules; here they are put into the order of the text.
    fn ordered_globals(&mut self) -> Vec<Global> {
        let place =
            |info: &GlobalInfo<'_>| (info.scope.module, info.ast.name.span.file, info.ast.name.span.start);
        let mut order: Vec<usize> = (0..self.globals.len()).collect();
        order.sort_by_key(|i| place(&self.globals[*i]));
        let mut number = vec![crate::typed::GlobalIndex(0); order.len()];
        for (position, old) in order.iter().enumerate() {
            number[*old] = crate::typed::GlobalIndex(position as u32);
        }
        let bodies = self.functions.iter_mut().filter_map(|info| info.body.as_mut());
        let bodies = bodies.chain(self.globals.iter_mut().filter_map(|info| info.body.as_mut()));
        bodies.for_each(|body| super::visit::renumber_globals(&mut body.expr, &number));
        let mut globals: Vec<Option<Global>> = self.globals.drain(..).map(finish_global).map(Some).collect();
        order.iter().filter_map(|old| globals[*old].take()).collect()
    }

    fn finish_class(&mut self, class: ClassIndex) -> Class {
        let info = self.class(class);
        Class {
            name: info.name.clone(),
            params: info.params.to_vec(),
            superclass: info.superclass,
            interfaces: info.all_interfaces.clone(),
            is_abstract: info.ast.is_abstract,
            is_final: info.ast.is_final,
            fields: info
                .fields
                .iter()
                .map(|field| Field {
                    name: field.name.text.clone(),
                    ty: known(field.ty),
                    mutable: field.mutable,
                })
                .collect(),
            methods: info
                .methods
                .iter()
                .map(|method| Method {
                    name: method.name.clone(),
                    function: method.function,
                    overrides: method.overrides,
                    direct: method.direct,
                })
                .collect(),
            init: Some(info.init),
            span: info.ast.span,
        }
    }
}

fn known(ty: Lazy) -> Ty {
    match ty {
        Lazy::Known(ty) => ty,
        _ => Ty::ERROR,
    }
}

fn finish_variant((ast, types): (&crate::ast::Variant, &std::rc::Rc<[Ty]>)) -> Variant {
    let fields = ast.fields.iter().flatten().zip(types.iter()).map(|(field, ty)| Field {
        name: field.name.text.clone(),
        ty: *ty,
        mutable: false,
    });
    Variant { name: ast.name.text.clone(), fields: fields.collect() }
}

fn finish_global(info: GlobalInfo<'_>) -> Global {
    let ty = known(info.ty);
    let span = info.ast.span;
    // Every global has a body when nothing was wrong.
    let init = info.body.unwrap_or_else(|| Body {
        locals: Vec::new(),
        loops: 0,
        expr: Expr { kind: ExprKind::Unit, ty: Ty::UNIT, span },
    });
    Global { name: info.full_name, ty, init, span }
}
