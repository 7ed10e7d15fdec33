//! Expressions of type `String`, and what integers can be made of them. Texts are ASCII except for some literals that
//! are looked at but never cut, because cutting a character is an error. All that is kept is clipped, so that nothing
//! grows without bounds.

use super::feature::Feature;
use super::generator::{Generator, expression};
use super::tree::Expression;
use super::types::Type::{Bool, Float, Int, String as Text};

const WORDS: &[&str] =
    &["", "a", "b", "ab", "hollow", "way", "lane", "0", "-1", " x ", "Zz", "worn deep", "aaaaaaa", "\\n"];

impl Generator {
    /// A literal of type `String`.
    pub fn text_literal(&mut self) -> Expression {
        Expression::text(&Text, format!("\"{}\"", self.choice.pick(WORDS)))
    }

    /// An expression of type `String`.
    pub fn text(&mut self, depth: usize) -> Option<Expression> {
        self.charge(3);
        let made = match self.choice.below(16) {
            0..=4 => {
                self.mark(Feature::Concatenation);
                expression(&Text, "(@ + @)", [self.value(&Text, depth), self.value(&Text, depth)])
            }
            5 | 6 => {
                self.mark(Feature::Interpolation);
                let parts = [self.value(&Int, depth), self.value(&Bool, depth)];
                expression(&Text, "\"<${@}|${@}>\"", parts)
            }
            7 => {
                self.mark(Feature::Interpolation);
                self.charge(20);
                expression(&Text, "\"${@}\"", [self.value(&Float, depth)])
            }
            8 => {
                let method = *self.choice.pick(&["toString", "toHex"]);
                expression(&Text, &format!("(@).{method}()"), [self.value(&Int, depth)])
            }
            9 => {
                self.charge(20);
                let method = *self.choice.pick(&["toUpper", "toLower", "trim"]);
                expression(&Text, &format!("(@).{method}()"), [self.value(&Text, depth)])
            }
            10 => {
                self.charge(10);
                let count = self.choice.between(0, 3);
                expression(&Text, &format!("(@).repeat({count})"), [self.value(&Text, 0)])
            }
            11 => {
                self.charge(30);
                let parts = [self.value(&Text, depth), self.text_literal(), self.text_literal()];
                // Replacing the empty string is a matter of its own.
                expression(&Text, "(@).replace(\"x\" + @, @)", parts)
            }
            12 => expression(&Text, "(65 + (@ & 15)).toChar()", [self.value(&Int, depth)]),
            13 if self.dares(80) => {
                self.mark(Feature::Substring);
                self.mark(Feature::BadIndex);
                let bounds = [self.value(&Text, depth), self.int_literal(), self.value(&Int, depth)];
                expression(&Text, "(@).substring(@, @ & 7)", bounds)
            }
            _ => {
                let variable = self.variable_of(&Text)?;
                self.mark(Feature::Substring);
                let name = variable.name;
                let template = *self.choice.pick(&[
                    "V.substring(V.length / 2, V.length)",
                    "V.substring(0, V.length - V.length / 3)",
                    "V.substring(V.length.min(2), V.length)",
                ]);
                Expression::text(&Text, template.replace('V', &name))
            }
        };
        Some(made)
    }

    /// A text that is short enough to be kept.
    pub fn clipped(&mut self, depth: usize) -> Expression {
        self.charge(6);
        expression(&Text, "clip(@)", [self.value(&Text, depth)])
    }

    /// An integer that a text has.
    pub fn int_of_text(&mut self, depth: usize) -> Option<Expression> {
        self.charge(4);
        let made = match self.choice.below(8) {
            0 | 1 => expression(&Int, "(@).length", [self.value(&Text, depth)]),
            2 => {
                self.charge(10);
                expression(&Int, "(@).hash()", [self.value(&Text, depth)])
            }
            3 => {
                self.mark(Feature::StringSearch);
                self.charge(10);
                expression(&Int, "(@).indexOf(@)", [self.value(&Text, depth), self.text_literal()])
            }
            4 => {
                self.mark(Feature::StringComparison);
                expression(&Int, "(@).compareTo(@)", [self.value(&Text, depth), self.value(&Text, depth)])
            }
            5 => {
                let hidden = *self.choice.pick(&["\"größer\"", "\"λ→∞\"", "\"🜚\""]);
                self.mark(Feature::StringByte);
                let index = self.choice.below(4);
                Expression::text(&Int, format!("{hidden}[{index}]"))
            }
            6 => {
                self.charge(20);
                expression(&Int, "(Int.parse(@) ?? 5)", [self.value(&Text, depth)])
            }
            _ => {
                let variable = self.variable_of(&Text)?.name;
                self.mark(Feature::StringByte);
                if self.dares(50) {
                    self.mark(Feature::BadIndex);
                    return Some(expression(&Int, &format!("{variable}[@]"), [self.value(&Int, depth)]));
                }
                let condition =
                    expression(&Bool, &format!("({variable}.length > @ & 15)"), [self.int_literal()]);
                let template = format!("(if @ {{ {variable}[0] }} else {{ 3 }})");
                expression(&Int, &template, [condition])
            }
        };
        Some(made)
    }
}
