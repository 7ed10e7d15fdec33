//! The assembler: parts of declarations and instructions that occur in many places: lists, references, types, signatures.

use super::cursor::{Cursor, Failure, Read, Reference};
use super::lexemes;
use super::names::{Lookup, NameTable, Names, TYPE_WORDS};
use crate::program::Signature;
use crate::types::*;

/// One or more things with commas between them; after a comma, the line may end.
pub(super) fn comma_separated<'t, T>(
    cursor: &mut Cursor<'t>,
    mut item: impl FnMut(&mut Cursor<'t>) -> Read<T>,
) -> Read<Vec<T>> {
    let mut items = vec![item(cursor)?];
    while cursor.eat(",") {
        cursor.lines();
        items.push(item(cursor)?);
    }
    Ok(items)
}

/// A reference to an entry of a table, as a number.
pub(super) fn read_reference(cursor: &mut Cursor<'_>, what: &str, table: &NameTable<'_>) -> Read<u32> {
    let reference = cursor.reference()?;
    resolve(&reference, what, table)
}

/// The number that a reference means.
pub(super) fn resolve(reference: &Reference<'_>, what: &str, table: &NameTable<'_>) -> Read<u32> {
    let fail = |message| Err(Failure { at: reference.at, message });
    let Some(name) = reference.name.as_ref().map(|n| &*n.text) else {
        return Ok(reference.number.unwrap_or(0));
    };
    if let Some(number) = reference.number {
        return match table.get(number) {
            Some(actual) if actual == name => Ok(number),
            Some(actual) => fail(format!("{what} #{number} is called {}", lexemes::name(actual))),
            None => fail(format!("there is no {what} #{number}: there are {}", table.len())),
        };
    }
    match table.lookup(name) {
        Lookup::Unique(number) => Ok(number),
        Lookup::Ambiguous(first) => {
            let name = lexemes::name(name);
            fail(format!(
                "`{name}` is the name of more than one {what}; add the number, as in `{name}#{first}`"
            ))
        }
        Lookup::Missing => {
            let help = lexemes::similar(name, table.names())
                .map(|n| format!("; did you mean `{}`?", lexemes::name(n)));
            fail(format!("there is no {what} `{}`{}", lexemes::name(name), help.unwrap_or_default()))
        }
    }
}

/// The type of a register.
pub(super) fn read_type(cursor: &mut Cursor<'_>, names: &Names<'_>) -> Read<Type> {
    let reference = cursor.reference()?;
    let word = match &reference.name {
        Some(name) if !name.quoted && reference.number.is_none() && TYPE_WORDS.contains(&&*name.text) => {
            &*name.text
        }
        _ => "",
    };
    let shape = match word {
        "int" => return Ok(Type::Int),
        "float" => return Ok(Type::Float),
        "bool" => return Ok(Type::Bool),
        "byte" => {
            return Err(Failure {
                at: reference.at,
                message: "only elements of arrays are bytes".to_string(),
            });
        }
        "any" => Shape::Any,
        "class" => Shape::Class(ClassId(read_reference(cursor, "class", &names.classes)?)),
        "interface" => Shape::Interface(InterfaceId(read_reference(cursor, "interface", &names.interfaces)?)),
        _ => named_shape(&reference, names)?,
    };
    Ok(Type::Ref(RefType { shape, nullable: cursor.eat("?") }))
}

/// The class or interface that a name without `class` or `interface` before it means.
fn named_shape(reference: &Reference<'_>, names: &Names<'_>) -> Read<Shape> {
    let fail = |message: String| Err(Failure { at: reference.at, message });
    let Some(name) = reference.name.as_ref().map(|n| &*n.text) else {
        return fail("write `class` or `interface` before the number".to_string());
    };
    let among = |table: &NameTable<'_>| !matches!(table.lookup(name), Lookup::Missing);
    match (among(&names.classes), among(&names.interfaces)) {
        (true, true) => {
            fail(format!("`{name}` is a class and an interface; write `class` or `interface` before it"))
        }
        (false, true) => {
            Ok(Shape::Interface(InterfaceId(resolve(reference, "interface", &names.interfaces)?)))
        }
        (true, false) => Ok(Shape::Class(ClassId(resolve(reference, "class", &names.classes)?))),
        (false, false) => {
            let known = names.classes.names().chain(names.interfaces.names()).chain(TYPE_WORDS);
            let help =
                lexemes::similar(name, known).map(|n| format!("; did you mean `{}`?", lexemes::name(n)));
            fail(format!("there is no type `{}`{}", lexemes::name(name), help.unwrap_or_default()))
        }
    }
}

/// What an array is made of.
pub(super) fn read_element(cursor: &mut Cursor<'_>, names: &Names<'_>) -> Read<Element> {
    if cursor.eat_word("byte") {
        return Ok(Element::Byte);
    }
    Ok(match read_type(cursor, names)? {
        Type::Int => Element::Int,
        Type::Float => Element::Float,
        Type::Bool => Element::Bool,
        Type::Ref(r) => Element::Ref(r),
    })
}

/// `(types) -> type`
pub(super) fn read_signature(cursor: &mut Cursor<'_>, names: &Names<'_>) -> Read<Signature> {
    cursor.expect("(")?;
    let params = match cursor.eat(")") {
        true => Vec::new(),
        false => {
            let params = comma_separated(cursor, |c| read_type(c, names))?;
            cursor.expect(")")?;
            params
        }
    };
    Ok(Signature { params, result: read_result(cursor, names)? })
}

/// `-> type`, or nothing.
pub(super) fn read_result(cursor: &mut Cursor<'_>, names: &Names<'_>) -> Read<Option<Type>> {
    if cursor.eat("->") { Ok(Some(read_type(cursor, names)?)) } else { Ok(None) }
}
