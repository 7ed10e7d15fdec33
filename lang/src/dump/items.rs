//! Declarations, types and patterns: words that look as in the language.

use super::expressions::{block, expr};
use super::layout::Tree;
use crate::ast::{
    Function, Global, Item, ItemKind, Member, MemberKind, Param, Pattern, PatternKind, TypeExpr,
    TypeExprKind, TypeParam,
};

pub(super) fn item(item: &Item) -> Tree {
    let private = if item.private { "private " } else { "" };
    match &item.kind {
        ItemKind::Function(function) => self::function(private, function),
        ItemKind::Global(global) => self::global(private, global),
        ItemKind::Class(class) => {
            let is_abstract = if class.is_abstract { "abstract " } else { "" };
            let is_final = if class.is_final { "final " } else { "" };
            let fields = class.header_fields.as_ref().map(|fields| {
                let written = fields.iter().map(|field| {
                    format!("{} {}: {}", keyword(field.mutable), field.name.text, type_text(&field.ty))
                });
                format!("({})", written.collect::<Vec<_>>().join(", "))
            });
            let head = format!(
                "{private}{is_abstract}{is_final}class {}{}{}{}",
                class.name.text,
                type_params(&class.type_params),
                fields.unwrap_or_default(),
                supers(&class.supers),
            );
            Tree::list(head, class.members.iter().map(member))
        }
        ItemKind::Interface(interface) => {
            let params = type_params(&interface.type_params);
            let head =
                format!("{private}interface {}{params}{}", interface.name.text, supers(&interface.supers));
            Tree::list(head, interface.methods.iter().map(|method| function("", method)))
        }
        ItemKind::Enum(enumeration) => {
            let params = type_params(&enumeration.type_params);
            let head = format!("{private}enum {}{params}", enumeration.name.text);
            let variants = enumeration.variants.iter().map(|variant| match &variant.fields {
                Some(fields) => Tree::list(
                    "variant",
                    [Tree::word(format!("{}({})", variant.name.text, self::params(fields)))],
                ),
                None => Tree::list("variant", [Tree::word(&*variant.name.text)]),
            });
            Tree::list(head, variants.chain(enumeration.methods.iter().map(member)))
        }
    }
}

fn member(member: &Member) -> Tree {
    let modifiers = [
        (member.private, "private "),
        (member.is_static, "static "),
        (member.is_abstract, "abstract "),
        (member.is_final, "final "),
        (member.is_override, "override "),
    ];
    let modifiers: String = modifiers.iter().filter(|(set, _)| *set).map(|(_, word)| *word).collect();
    match &member.kind {
        MemberKind::Field(field) => global(&modifiers, field),
        MemberKind::Init(init) => {
            let head = format!("{modifiers}init({}){}", params(&init.params), result(init.result.as_ref()));
            Tree::list(head, init.body.iter().map(block))
        }
        MemberKind::Method(method) => function(&modifiers, method),
    }
}

fn function(modifiers: &str, function: &Function) -> Tree {
    let head = format!(
        "{modifiers}fn {}{}({}){}",
        function.name.text,
        type_params(&function.type_params),
        params(&function.params),
        result(function.result.as_ref()),
    );
    Tree::list(head, function.body.iter().map(block))
}

fn global(modifiers: &str, global: &Global) -> Tree {
    let name = typed(&global.name.text, global.ty.as_ref());
    Tree::list(format!("{modifiers}{} {name}", keyword(global.mutable)), global.init.iter().map(expr))
}

/// `let` or `var`.
pub(super) fn keyword(mutable: bool) -> &'static str {
    if mutable { "var" } else { "let" }
}

/// `name: Type`, or only the name.
pub(super) fn typed(name: &str, ty: Option<&TypeExpr>) -> String {
    ty.map_or(name.to_string(), |ty| format!("{name}: {}", type_text(ty)))
}

/// `a: A, b`.
pub(super) fn params(params: &[Param]) -> String {
    let written = params.iter().map(|param| typed(&param.name.text, param.ty.as_ref()));
    written.collect::<Vec<_>>().join(", ")
}

/// ` -> R`, or nothing.
pub(super) fn result(ty: Option<&TypeExpr>) -> String {
    ty.map(|ty| format!(" -> {}", type_text(ty))).unwrap_or_default()
}

fn supers(supers: &[TypeExpr]) -> String {
    if supers.is_empty() { String::new() } else { format!(" : {}", types(supers)) }
}

fn type_params(params: &[TypeParam]) -> String {
    if params.is_empty() {
        return String::new();
    }
    let written = params.iter().map(|param| {
        let bounds: Vec<String> = param.bounds.iter().map(type_text).collect();
        let separator = if bounds.is_empty() { "" } else { ": " };
        format!("{}{separator}{}", param.name.text, bounds.join(" & "))
    });
    format!("<{}>", written.collect::<Vec<_>>().join(", "))
}

fn types(types: &[TypeExpr]) -> String {
    types.iter().map(type_text).collect::<Vec<_>>().join(", ")
}

/// `<A, B>`, or nothing.
pub(super) fn type_args(args: &[TypeExpr]) -> String {
    if args.is_empty() { String::new() } else { format!("<{}>", types(args)) }
}

/// A type as written.
pub(super) fn type_text(ty: &TypeExpr) -> String {
    match &ty.kind {
        TypeExprKind::Named { module, name, args } => {
            let module = module.as_ref().map(|module| format!("{}.", module.text)).unwrap_or_default();
            format!("{module}{}{}", name.text, type_args(args))
        }
        TypeExprKind::Nullable(inner) => match inner.kind {
            TypeExprKind::Function { .. } => format!("({})?", type_text(inner)),
            _ => format!("{}?", type_text(inner)),
        },
        TypeExprKind::Function { params, result } => {
            format!("fn({}){}", types(params), self::result(result.as_deref()))
        }
        TypeExprKind::Error => "(error)".to_string(),
    }
}

/// A pattern as written.
pub(super) fn pattern(pattern: &Pattern) -> String {
    let list = |patterns: &[Pattern], separator: &str| {
        patterns.iter().map(self::pattern).collect::<Vec<_>>().join(separator)
    };
    match &pattern.kind {
        PatternKind::Wildcard => "_".to_string(),
        PatternKind::Bind(name) => name.text.to_string(),
        PatternKind::Typed(name, ty) => {
            format!("{}: {}", name.as_ref().map_or("_", |name| &name.text), type_text(ty))
        }
        PatternKind::Null => "null".to_string(),
        PatternKind::Bool(value) => value.to_string(),
        PatternKind::Int(value) => value.to_string(),
        PatternKind::Float(value) => format!("{value:?}"),
        PatternKind::Str(text) => format!("{text:?}"),
        PatternKind::Range { from, to, inclusive } => {
            format!("{from}..{}{to}", if *inclusive { "=" } else { "" })
        }
        PatternKind::Variant { module, enum_name, name, fields } => {
            let written = module.iter().chain(enum_name).map(|name| format!("{}.", name.text));
            let enum_name: String = written.collect();
            let fields = fields.as_ref().map(|fields| format!("({})", list(fields, ", ")));
            // A variant without payload and a variable look alike: the dot tells them apart.
            let bare = if enum_name.is_empty() { "." } else { "" };
            format!("{bare}{enum_name}{}{}", name.text, fields.unwrap_or_default())
        }
        PatternKind::Or(alternatives) => list(alternatives, " | "),
        PatternKind::Error => "(error)".to_string(),
    }
}
