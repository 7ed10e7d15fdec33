//! How the text form of regions spells what it shares with the program: names, types, strings and numbers. Printer and
//! parser both go through here, so that what the one writes is what the other finds.
//!
//! The spelling is that of the bytecode's text form: a name that is not unique in its table has its number added,
//! `draw#12`; a number without entry stands alone, `#12`; what does not look like a name is in quotes.

use super::types::{RefTy, Ty};
use holloway_bytecode::{Native, Program, Shape};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Words with a meaning of their own where a type is expected: a class of such a name is written in quotes.
pub(super) const TYPE_WORDS: [&str; 8] =
    ["int", "float", "bool", "any", "none", "exact", "class", "interface"];

/// Strings up to this length are written out, longer ones by number.
const STRING_LIMIT: usize = 60;

/// The bits of the one NaN that arithmetic gives.
const NAN: u64 = 0x7ff8_0000_0000_0000;

/// The names of one table of a program.
pub(super) struct Table<'a> {
    names: Vec<&'a str>,
    /// For each name the first entry that has it, and how many have it.
    entries: BTreeMap<&'a str, (u32, u32)>,
}

impl<'a> Table<'a> {
    pub fn new(names: impl Iterator<Item = &'a str>) -> Table<'a> {
        let names: Vec<&str> = names.collect();
        let mut entries = BTreeMap::new();
        for (number, &name) in names.iter().enumerate() {
            entries.entry(name).or_insert((number as u32, 0)).1 += 1;
        }
        Table { names, entries }
    }

    /// How many entries have this name.
    pub fn count(&self, name: &str) -> u32 {
        self.entries.get(name).map_or(0, |&(_, count)| count)
    }

    /// How an entry is written so that it is found again.
    pub fn reference(&self, number: u32) -> String {
        match self.names.get(number as usize) {
            None => format!("#{number}"),
            Some(name) if self.count(name) == 1 => spelled(name),
            Some(name) => format!("{}#{number}", spelled(name)),
        }
    }

    /// The entry that a name, a number, or both together mean.
    pub fn find(&self, what: &str, name: Option<&str>, number: Option<u32>) -> Result<u32, String> {
        match (name, number) {
            (None, None) => Err(format!("expected the name of a {what}")),
            (_, Some(number)) if number as usize >= self.names.len() => {
                Err(format!("there is no {what} #{number}: there are {}", self.names.len()))
            }
            (Some(name), Some(number)) if self.names[number as usize] != name => {
                Err(format!("{what} #{number} is called {}", spelled(self.names[number as usize])))
            }
            (_, Some(number)) => Ok(number),
            (Some(name), None) => match self.entries.get(name) {
                Some(&(number, 1)) => Ok(number),
                Some(&(first, count)) => {
                    let name = spelled(name);
                    Err(format!(
                        "{count} {what} entries are called `{name}`: add the number, as in `{name}#{first}`"
                    ))
                }
                None => Err(format!("there is no {what} `{}`", spelled(name))),
            },
        }
    }
}

/// The names of a program.
pub(super) struct Names<'a> {
    pub program: &'a Program,
    pub classes: Table<'a>,
    pub interfaces: Table<'a>,
    pub functions: Table<'a>,
    pub globals: Table<'a>,
    pub strings: Table<'a>,
    pub natives: Table<'a>,
}

impl<'a> Names<'a> {
    pub fn new(program: &'a Program) -> Names<'a> {
        Names {
            program,
            classes: Table::new(program.classes.iter().map(|c| &*c.name)),
            interfaces: Table::new(program.interfaces.iter().map(|i| &*i.name)),
            functions: Table::new(program.functions.iter().map(|f| &*f.name)),
            globals: Table::new(program.globals.iter().map(|g| &*g.name)),
            strings: Table::new(program.strings.iter().map(|s| &**s)),
            natives: Table::new(Native::ALL.iter().map(|n| n.name())),
        }
    }

    /// The fields of a class.
    pub fn fields(&self, class: u32) -> Table<'a> {
        let class = self.program.classes.get(class as usize);
        Table::new(class.into_iter().flat_map(|c| c.fields()).map(|f| &*f.name))
    }

    /// The methods of a class by slot.
    pub fn slots(&self, class: u32) -> Table<'a> {
        let class = self.program.classes.get(class as usize);
        Table::new(class.into_iter().flat_map(|c| &c.methods).map(|m| &*m.name))
    }

    /// The methods that an interface declares.
    pub fn methods(&self, interface: u32) -> Table<'a> {
        let interface = self.program.interfaces.get(interface as usize);
        Table::new(interface.into_iter().flat_map(|i| &i.methods).map(|m| &*m.name))
    }

    /// A type as it is written.
    pub fn ty(&self, ty: Ty) -> String {
        match ty {
            Ty::None => "none".to_string(),
            Ty::Int => "int".to_string(),
            Ty::Float => "float".to_string(),
            Ty::Bool => "bool".to_string(),
            Ty::Ref(RefTy { shape, nullable, exact }) => {
                let exact = if exact { "exact " } else { "" };
                let mark = if nullable { "?" } else { "" };
                format!("{exact}{}{mark}", self.shape(shape))
            }
        }
    }

    /// A class or interface in a type. The word is needed where both have the name, or there is none.
    fn shape(&self, shape: Shape) -> String {
        let (word, table, other, number) = match shape {
            Shape::Any => return "any".to_string(),
            Shape::Class(class) => ("class ", &self.classes, &self.interfaces, class.0),
            Shape::Interface(interface) => ("interface ", &self.interfaces, &self.classes, interface.0),
        };
        let clear = table.names.get(number as usize).is_some_and(|name| other.count(name) == 0);
        let name = table.reference(number);
        if clear && TYPE_WORDS.contains(&&*name) {
            return quoted(&name);
        }
        format!("{}{name}", if clear { "" } else { word })
    }

    /// A string constant as it is written.
    pub fn string(&self, number: u32) -> String {
        match self.strings.names.get(number as usize) {
            Some(text) if text.len() <= STRING_LIMIT && self.strings.count(text) == 1 => quoted(text),
            _ => format!("#{number}"),
        }
    }
}

/// How many bytes of the beginning of a text are a name that needs no quotes: letters, digits, `_ $ .`, and type
/// arguments in angle brackets. 0 if it begins otherwise.
pub(super) fn bare_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    if !bytes.first().is_some_and(|b| b.is_ascii_alphabetic() || b"_$".contains(b)) {
        return 0;
    }
    // Where the name ends if an open angle bracket is never closed.
    let (mut depth, mut outside) = (0_usize, 0);
    for (at, &byte) in bytes.iter().enumerate() {
        let arrow = byte == b'>' && at > 0 && bytes[at - 1] == b'-';
        match byte {
            b'<' => depth += 1,
            b'>' if depth > 0 && !arrow => depth -= 1,
            b if b.is_ascii_alphanumeric() || b"_$.".contains(&b) => {}
            b if depth > 0 && b", ?()->&:".contains(&b) => {}
            _ => return outside,
        }
        if depth == 0 {
            outside = at + 1;
        }
    }
    outside
}

/// A name as it is written: bare if it can be, else in quotes.
pub(super) fn spelled(name: &str) -> String {
    if !name.is_empty() && bare_length(name) == name.len() { name.to_string() } else { quoted(name) }
}

/// A text in quotes, on one line.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{{{:x}}}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The text in quotes at the beginning of `rest`, and how many bytes it takes there; `None` if it is malformed.
pub(super) fn unquoted(rest: &str) -> Option<(String, usize)> {
    let mut out = String::new();
    let mut chars = rest.char_indices().skip(1);
    loop {
        match chars.next()? {
            (at, '"') => return Some((out, at + 1)),
            (_, '\\') => match chars.next()?.1 {
                'n' => out.push('\n'),
                'u' => {
                    if chars.next()?.1 != '{' {
                        return None;
                    }
                    let digits: String = chars.by_ref().map(|(_, c)| c).take_while(|&c| c != '}').collect();
                    out.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?);
                }
                c @ ('"' | '\\') => out.push(c),
                _ => return None,
            },
            (_, c) => out.push(c),
        }
    }
}

/// A float from its bits; reads back as the same bits.
pub(super) fn float(bits: u64) -> String {
    match f64::from_bits(bits) {
        value if !value.is_nan() => format!("{value:?}"),
        _ if bits == NAN => "nan".to_string(),
        _ => format!("nan:{bits:#018x}"),
    }
}

/// The bits of a float as [`float`] writes it.
pub(super) fn float_bits(text: &str) -> Option<u64> {
    if text == "nan" {
        return Some(NAN);
    }
    if let Some(digits) = text.strip_prefix("nan:0x") {
        let bits = u64::from_str_radix(digits, 16).ok()?;
        return f64::from_bits(bits).is_nan().then_some(bits);
    }
    let value: f64 = text.parse().ok()?;
    (!value.is_nan()).then_some(value.to_bits())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_bare_where_they_can_be() {
        for bare in ["x", "_1", "Point.length", "List<Int>", "Map<String, List<Int?>>.get", "F<fn(A) -> B>"] {
            assert_eq!(spelled(bare), bare);
        }
        for odd in
            ["", "1", "a b", "List<", "List<Int", "a>", "List<\n>", "fn(Int)", "a#1", "a;b", "é", "a::b"]
        {
            assert_eq!(spelled(odd), quoted(odd));
            assert_eq!(unquoted(&quoted(odd)), Some((odd.to_string(), quoted(odd).len())));
        }
        assert_eq!(bare_length("load<5"), 4);
        assert_eq!(unquoted("\"a\\"), None);
        assert_eq!(unquoted("\"\\u{d800}\""), None);
    }

    #[test]
    fn floats_read_back_the_same() {
        for bits in
            [0, 1 << 63, 1, f64::MAX.to_bits(), f64::NEG_INFINITY.to_bits(), NAN, NAN | 1, 0.1_f64.to_bits()]
        {
            assert_eq!(float_bits(&float(bits)), Some(bits), "{}", float(bits));
        }
        assert_eq!(float_bits("nan:0x0"), None);
    }
}
