//! Elements of a page. What is written is well-formed by construction: an element closes itself, and all text is escaped here and
//! nowhere else.

use std::fmt::Write;

/// Elements that HTML closes by itself, and those of SVG that are always empty here.
const EMPTY: &[&str] =
    &["meta", "br", "hr", "wbr", "rect", "line", "path", "circle", "polyline", "polygon", "use"];

/// A part of a page.
#[derive(Clone, Debug)]
pub enum Node {
    /// An element.
    Element(Element),
    /// Text, escaped when it is written.
    Text(String),
    /// Our own style sheet or script, which HTML does not let be escaped.
    Verbatim(&'static str),
}

/// An element with its attributes and what is in it.
#[derive(Clone, Debug)]
pub struct Element {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    children: Vec<Node>,
}

/// An empty element.
pub fn element(name: &'static str) -> Element {
    Element { name, attributes: Vec::new(), children: Vec::new() }
}

/// An element of a class.
pub fn classed(name: &'static str, class: &str) -> Element {
    element(name).set("class", class)
}

impl Element {
    /// With an attribute.
    pub fn set(mut self, name: &'static str, value: impl Into<String>) -> Element {
        self.attributes.push((name, value.into()));
        self
    }

    /// With a coordinate: two decimals are finer than any screen.
    pub fn at(self, name: &'static str, value: f64) -> Element {
        let text = coordinate(value);
        self.set(name, text)
    }

    /// With text at its end.
    pub fn text(mut self, text: impl Into<String>) -> Element {
        self.children.push(Node::Text(text.into()));
        self
    }

    /// With one more child.
    pub fn child(mut self, child: impl Into<Node>) -> Element {
        self.children.push(child.into());
        self
    }

    /// With more children.
    pub fn all<N: Into<Node>>(mut self, children: impl IntoIterator<Item = N>) -> Element {
        self.children.extend(children.into_iter().map(Into::into));
        self
    }

    /// As text.
    pub fn write(&self, out: &mut String) {
        out.push('<');
        out.push_str(self.name);
        for (name, value) in &self.attributes {
            // Writing to a String cannot fail.
            let _ = write!(out, " {name}=\"");
            escape(value, true, out);
            out.push('"');
        }
        if EMPTY.contains(&self.name) && self.children.is_empty() {
            out.push_str("/>");
            return;
        }
        out.push('>');
        for child in &self.children {
            match child {
                Node::Element(element) => element.write(out),
                Node::Text(text) => escape(text, false, out),
                Node::Verbatim(text) => out.push_str(text),
            }
        }
        let _ = write!(out, "</{}>", self.name);
        if matches!(self.name, "p" | "tr" | "section" | "figure" | "li" | "details" | "head" | "nav") {
            out.push('\n');
        }
    }
}

impl From<Element> for Node {
    fn from(element: Element) -> Node {
        Node::Element(element)
    }
}

/// A coordinate as short as it can be. What is not finite would break the drawing and is put at the origin.
pub fn coordinate(value: f64) -> String {
    let rounded = if value.is_finite() { (value * 100.0).round() / 100.0 } else { 0.0 };
    // Not "-0".
    format!("{}", rounded + 0.0)
}

/// Escapes text for an element or an attribute. Characters that neither HTML nor XML may have become a mark.
fn escape(text: &str, attribute: bool, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' if attribute => out.push_str("&#10;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            // They would turn the rest of the line around.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(element: Element) -> String {
        let mut out = String::new();
        element.write(&mut out);
        out
    }

    #[test]
    fn text_cannot_leave_its_place() {
        let hostile = "\"><script>alert('1')</script>&amp;\u{0}\u{202e}\n";
        let shown = written(element("b").set("title", hostile).text(hostile));
        assert_eq!(shown.matches('<').count(), 2, "{shown}");
        assert_eq!(shown.matches('"').count(), 2, "{shown}");
        assert!(!shown.contains('\u{0}') && !shown.contains('\u{202e}'));
        assert!(shown.contains("&amp;amp;"), "{shown}");
    }

    #[test]
    fn coordinates_are_short_and_finite() {
        assert_eq!(coordinate(-0.001), "0");
        assert_eq!(coordinate(12.3456), "12.35");
        assert_eq!(coordinate(f64::NAN), "0");
        assert_eq!(written(element("rect").at("x", 1.0)), "<rect x=\"1\"/>");
    }
}
