//! The types of generated programs.

use std::fmt;

/// A type of the language.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Type {
    /// `Unit`
    Unit,
    /// `Int`
    Int,
    /// `Float`
    Float,
    /// `Bool`
    Bool,
    /// `String`
    String,
    /// `Bytes`
    Bytes,
    /// `Any`
    Any,
    /// `Array<T>`
    Array(Box<Type>),
    /// `T?`
    Nullable(Box<Type>),
    /// `fn(A, B) -> R`
    Function(Vec<Type>, Box<Type>),
    /// A class, an interface or an enum, of the program or of the library, with its type arguments.
    Named(String, Vec<Type>),
}

impl Type {
    /// A type without arguments.
    pub fn named(name: &str) -> Type {
        Type::Named(name.to_string(), Vec::new())
    }

    /// A type with one argument.
    pub fn of(name: &str, argument: Type) -> Type {
        Type::Named(name.to_string(), vec![argument])
    }

    /// `Array<T>`
    pub fn array(element: Type) -> Type {
        Type::Array(Box::new(element))
    }

    /// `T?`
    pub fn nullable(inner: Type) -> Type {
        Type::Nullable(Box::new(inner))
    }

    /// `fn(Int) -> Int`, the function type that is used most.
    pub fn int_function() -> Type {
        Type::Function(vec![Type::Int], Box::new(Type::Int))
    }

    /// Is it held without a reference, or does it at least have values without identity that cannot change.
    pub fn is_plain(&self) -> bool {
        matches!(self, Type::Int | Type::Float | Type::Bool | Type::String)
    }

    /// The simplest expressions of the type, simplest first. None for those of which a program must declare one.
    pub fn constants(&self) -> Vec<String> {
        match self {
            Type::Int => vec!["0".into(), "1".into()],
            Type::Float => vec!["0.0".into(), "1.0".into()],
            Type::Bool => vec!["false".into(), "true".into()],
            Type::String => vec!["\"\"".into()],
            Type::Bytes => vec!["Bytes(4)".into()],
            Type::Any => vec!["(0 as Any)".into()],
            Type::Nullable(_) => vec!["null".into()],
            Type::Array(element) if matches!(**element, Type::Int | Type::Float | Type::Bool) => {
                vec![format!("{self}(4)")]
            }
            Type::Array(_) => vec![format!("{self}(0)")],
            Type::Function(parameters, result) => {
                let names: Vec<String> = parameters.iter().map(|kind| format!("_: {kind}")).collect();
                let bodies = result.constants().into_iter();
                bodies.map(|body| format!("(|{}| {body})", names.join(", "))).collect()
            }
            Type::Named(name, arguments) if matches!(name.as_str(), "List" | "Map" | "Set") => {
                vec![format!("{}()", Type::Named(name.clone(), arguments.clone()))]
            }
            Type::Unit | Type::Named(..) => Vec::new(),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, types: &[Type]| {
            types.iter().enumerate().try_for_each(|(index, kind)| match index {
                0 => write!(f, "{kind}"),
                _ => write!(f, ", {kind}"),
            })
        };
        match self {
            Type::Unit => f.write_str("Unit"),
            Type::Int => f.write_str("Int"),
            Type::Float => f.write_str("Float"),
            Type::Bool => f.write_str("Bool"),
            Type::String => f.write_str("String"),
            Type::Bytes => f.write_str("Bytes"),
            Type::Any => f.write_str("Any"),
            Type::Array(element) => write!(f, "Array<{element}>"),
            Type::Nullable(inner) if matches!(**inner, Type::Function(..)) => write!(f, "({inner})?"),
            Type::Nullable(inner) => write!(f, "{inner}?"),
            Type::Function(parameters, result) => {
                f.write_str("fn(")?;
                list(f, parameters)?;
                write!(f, ") -> {result}")
            }
            Type::Named(name, arguments) if arguments.is_empty() => f.write_str(name),
            Type::Named(name, arguments) => {
                write!(f, "{name}<")?;
                list(f, arguments)?;
                f.write_str(">")
            }
        }
    }
}
