//! A reader of pages that accepts only what is well-formed both as HTML and as XML: every element closed in its order, every attribute
//! quoted, nothing unescaped.

use std::collections::BTreeMap;

/// An element of a page.
#[derive(Debug)]
pub struct Element {
    /// Its name.
    pub name: String,
    /// Its attributes, with entities decoded.
    pub attributes: BTreeMap<String, String>,
    /// Its own text and that of all in it.
    pub text: String,
    /// The elements that it is in, outermost first, by position in the page.
    pub above: Vec<usize>,
}

impl Element {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.attributes.get(name).map(String::as_str)
    }

    pub fn has_class(&self, class: &str) -> bool {
        self.get("class").is_some_and(|classes| classes.split(' ').any(|one| one == class))
    }
}

/// Reads a page. What is wrong is said with its surroundings.
pub fn read(page: &str) -> Result<Vec<Element>, String> {
    let mut rest = page.strip_prefix("<!DOCTYPE html>\n").ok_or("no document type")?;
    let mut elements: Vec<Element> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    while let Some(at) = rest.find('<') {
        let text = decode(&rest[..at])?;
        open.iter().for_each(|index| elements[*index].text.push_str(&text));
        if open.is_empty() && !text.trim().is_empty() {
            return Err(format!("text outside of all elements: {text:?}"));
        }
        rest = &rest[at + 1..];
        if let Some(closing) = rest.strip_prefix('/') {
            let end = closing.find('>').ok_or("a closing tag without an end")?;
            let last = open.pop().ok_or_else(|| format!("</{}> closes nothing", &closing[..end]))?;
            if elements[last].name != closing[..end] {
                return Err(format!("</{}> closes <{}>", &closing[..end], elements[last].name));
            }
            rest = &closing[end + 1..];
            continue;
        }
        let (mut element, closed, behind) = tag(rest)?;
        rest = behind;
        element.above = open.clone();
        let name = element.name.clone();
        elements.push(element);
        if closed {
            continue;
        }
        if name == "script" || name == "style" {
            let end = rest.find(&format!("</{name}>")).ok_or_else(|| format!("<{name}> without an end"))?;
            if rest[..end].contains("</") || rest[..end].contains("<!--") {
                return Err(format!("<{name}> holds what could end it"));
            }
            let index = elements.len() - 1;
            elements[index].text.push_str(&rest[..end]);
            rest = &rest[end + name.len() + 3..];
            continue;
        }
        open.push(elements.len() - 1);
    }
    match (open.last(), rest.trim()) {
        (Some(index), _) => Err(format!("<{}> is not closed", elements[*index].name)),
        (None, "") => Ok(elements),
        (None, rest) => Err(format!("text behind the page: {rest:?}")),
    }
}

/// A tag behind its `<`: the element, whether it closed itself, and what follows.
fn tag(text: &str) -> Result<(Element, bool, &str), String> {
    let around = || text.chars().take(80).collect::<String>();
    let end = text.find(|c: char| !c.is_ascii_alphanumeric()).ok_or_else(around)?;
    let mut element = Element {
        name: text[..end].to_string(),
        attributes: BTreeMap::new(),
        text: String::new(),
        above: Vec::new(),
    };
    if end == 0 {
        return Err(format!("an unescaped `<` before {}", around()));
    }
    let mut rest = &text[end..];
    loop {
        if let Some(behind) = rest.strip_prefix("/>") {
            return Ok((element, true, behind));
        }
        if let Some(behind) = rest.strip_prefix('>') {
            return Ok((element, false, behind));
        }
        let named =
            rest.strip_prefix(' ').ok_or_else(|| format!("no blank before an attribute: {}", around()))?;
        let (name, value) =
            named.split_once("=\"").ok_or_else(|| format!("an attribute without quotes: {}", around()))?;
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == ':') {
            return Err(format!("an attribute called {name:?}: {}", around()));
        }
        let (value, behind) = value.split_once('"').ok_or_else(|| format!("an open quote: {}", around()))?;
        if value.contains('<') {
            return Err(format!("an unescaped `<` in {name}: {}", around()));
        }
        if element.attributes.insert(name.to_string(), decode(value)?).is_some() {
            return Err(format!("{name} twice: {}", around()));
        }
        rest = behind;
    }
}

/// Text without entities. All characters must be allowed in a page.
fn decode(text: &str) -> Result<String, String> {
    if let Some(c) = text.chars().find(|c| c.is_control() && *c != '\n' && *c != '\t') {
        return Err(format!("the character {c:?} in {text:?}"));
    }
    let mut out = String::new();
    let mut pieces = text.split('&');
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let (entity, rest) =
            piece.split_once(';').ok_or_else(|| format!("an unescaped `&` before {piece:?}"))?;
        out.push(match entity {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "#10" => '\n',
            other => return Err(format!("the entity {other:?}")),
        });
        out.push_str(rest);
    }
    Ok(out)
}

/// Bytes of an address that were written by number.
pub fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        rest = behind;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let digits = std::str::from_utf8(&rest[..2]).expect("two digits");
        bytes.push(u8::from_str_radix(digits, 16).expect("a number in base 16"));
        rest = &rest[2..];
    }
    String::from_utf8(bytes).expect("text")
}

#[test]
fn the_reader_refuses_what_is_not_well_formed() {
    let page = |body: &str| format!("<!DOCTYPE html>\n<html>{body}</html>");
    assert_eq!(read(&page("<p a=\"1\">x &amp; y<br/></p>")).expect("well-formed").len(), 3);
    let broken = [
        "<p>",
        "</p>",
        "<p></b>",
        "<p a=1></p>",
        "<p a=\"<\"></p>",
        "x & y",
        "x < y",
        "&nbsp;",
        "\u{1}",
        "<p a=\"1\" a=\"2\"></p>",
        "<script></b></script>",
    ];
    for body in broken {
        assert!(read(&page(body)).is_err(), "{body}");
    }
    assert_eq!(percent_decoded("a%2C%C3%A4%0Ab"), "a,ä\nb");
}
