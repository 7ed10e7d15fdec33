//! The members of classes, interfaces and enums get their numbers and names. A class without a written constructor
//! gets a function for one here, so that every class has one.

use std::rc::Rc;

use super::Checker;
use super::declare::class_place;
use super::tables::*;
use crate::ast::MemberKind;
use crate::diagnostics::Diagnostic;
use crate::typed::{ClassIndex, EnumIndex, FunctionIndex, InterfaceIndex, Ty};

impl<'a> Checker<'a> {
    /// Enters the members of classes, interfaces and enums; their types are resolved later.
    pub(super) fn declare_members(&mut self) {
        for i in 0..self.interfaces.len() {
            let owner = Owner::Interface(InterfaceIndex(i as u32));
            let (ast, scope) = (self.interfaces[i].ast, self.interfaces[i].scope.clone());
            for method in &ast.methods {
                let full_name = format!("{}.{}", self.interfaces[i].name, method.name.text);
                let function = self.new_function(method, owner, &scope, &full_name);
                self.functions[function.index()].is_abstract = true;
                self.interfaces[i].methods.push(function);
            }
        }
        for i in 0..self.classes.len() {
            self.declare_class_members(ClassIndex(i as u32));
        }
        for i in 0..self.enums.len() {
            let owner = Owner::Enum(EnumIndex(i as u32));
            let (ast, scope) = (self.enums[i].ast, self.enums[i].scope.clone());
            for member in &ast.methods {
                let MemberKind::Method(method) = &member.kind else { continue };
                let full_name = format!("{}.{}", self.enums[i].name, method.name.text);
                let function = self.new_function(method, owner, &scope, &full_name);
                self.functions[function.index()].is_static = member.is_static;
                self.functions[function.index()].private = member.private;
                if member.is_static {
                    self.enums[i].statics.push(StaticInfo {
                        name: method.name.text.clone(),
                        kind: StaticKind::Function(function),
                        private: member.private,
                        span: method.name.span,
                    });
                } else {
                    self.enums[i].methods.push(function);
                }
            }
        }
    }

    fn declare_class_members(&mut self, class: ClassIndex) {
        let i = class.index();
        let owner = Owner::Class(class);
        let (ast, scope) = (self.classes[i].ast, self.classes[i].scope.clone());
        for field in ast.header_fields.iter().flatten() {
            self.classes[i].fields.push(FieldInfo {
                name: &field.name,
                mutable: field.mutable,
                private: false,
                written: Some(&field.ty),
                init: None,
                ty: Lazy::Pending,
            });
        }
        for member in &ast.members {
            match &member.kind {
                MemberKind::Field(field) if member.is_static => {
                    let global = self.new_global(field, &scope, Some(class));
                    self.classes[i].statics.push(StaticInfo {
                        name: field.name.text.clone(),
                        kind: StaticKind::Global(global),
                        private: member.private,
                        span: field.name.span,
                    });
                }
                MemberKind::Field(field) => self.classes[i].fields.push(FieldInfo {
                    name: &field.name,
                    mutable: field.mutable,
                    private: member.private,
                    written: field.ty.as_ref(),
                    init: field.init.as_ref(),
                    ty: Lazy::Pending,
                }),
                MemberKind::Init(init) => {
                    if let Some(first) = self.classes[i].init_ast {
                        let message = format!("`{}` has two constructors", ast.name.text);
                        self.report(
                            Diagnostic::new(init.name.span, message, "the second `init`")
                                .related(first.name.span, "the first `init`")
                                .help("overloading does not exist; write a `static fn` for other ways to make one"),
                        );
                        continue;
                    }
                    let full_name = format!("{}.init", self.classes[i].name);
                    let function = self.new_function(init, owner, &scope, &full_name);
                    self.functions[function.index()].private = member.private;
                    self.classes[i].init = function;
                    self.classes[i].init_ast = Some(init);
                }
                MemberKind::Method(method) => {
                    let full_name = format!("{}.{}", self.classes[i].name, method.name.text);
                    let function = self.new_function(method, owner, &scope, &full_name);
                    let info = &mut self.functions[function.index()];
                    info.is_static = member.is_static;
                    info.is_abstract = member.is_abstract;
                    info.is_final = member.is_final;
                    info.private = member.private;
                    if member.is_static {
                        self.classes[i].statics.push(StaticInfo {
                            name: method.name.text.clone(),
                            kind: StaticKind::Function(function),
                            private: member.private,
                            span: method.name.span,
                        });
                    } else {
                        let direct = member.private || !method.type_params.is_empty() || member.is_final;
                        self.classes[i].methods.push(MethodInfo {
                            name: method.name.text.clone(),
                            function,
                            overrides: member.is_override,
                            direct: direct && !member.is_override && !member.is_abstract,
                        });
                    }
                }
            }
        }
        if self.classes[i].init_ast.is_none() {
            self.classes[i].init = FunctionIndex(self.functions.len() as u32);
            self.functions.push(FunctionInfo {
                name: "init".into(),
                full_name: format!("{}.init", self.classes[i].name).into(),
                ast: None,
                owner,
                scope,
                is_static: false,
                is_abstract: false,
                is_final: false,
                private: false,
                params: Rc::from([]),
                own_params: 0,
                receiver: None,
                param_types: Rc::from([]),
                result: Ty::UNIT,
                body: None,
                span: class_place(ast),
            });
        }
    }
}
