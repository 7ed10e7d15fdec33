//! Are the arms of a `match` exhaustive?
//!
//! The classic question of usefulness, after Luc Maranget, "Warnings for pattern matching" (2007): is there a value
//! that no row of a matrix of patterns matches? A row is an arm, a column a part of the value. The first column is
//! split by what its values can be (variants, `true` and `false`, `null`); types with too many values for that are
//! split into the literals written and "anything else". The search makes an example of a missing value on its way,
//! which becomes the message.
//!
//! Notation: `columns` are the types of the parts still to be looked at. A search that takes too many steps gives
//! up with an error of its own, because the problem is exponential in the worst case and the program may be
//! written by nobody.

use super::body::BodyChecker;
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{Expr, Pattern, Ty, TyKind};

/// Steps before the search gives up; each looks at one column of one matrix.
const MAX_STEPS: u32 = 20_000;

/// At most so many missing cases are listed.
const MAX_EXAMPLES: usize = 4;

/// A way in which a value can be made.
#[derive(Clone, PartialEq)]
enum Shape {
    Null,
    Bool(bool),
    /// A variant by number, with the types of its payload.
    Variant(usize, Vec<Ty>),
    /// Any non-null value of a type that is not taken apart.
    Other,
}

type Row<'p> = Vec<&'p Pattern>;

/// Gives up.
struct TooMany;

struct Search<'s, 'c, 'a> {
    checker: &'s mut BodyChecker<'c, 'a>,
    steps: u32,
    examples: Vec<String>,
}

/// Does the pattern take every null.
pub(super) fn takes_null(pattern: &Pattern) -> bool {
    match pattern {
        Pattern::Any | Pattern::Bind(_) | Pattern::Null => true,
        Pattern::Or(patterns) => patterns.iter().any(takes_null),
        _ => false,
    }
}

impl BodyChecker<'_, '_> {
    /// Reports cases that no arm takes. An arm with a guard takes nothing for sure.
    pub(super) fn check_exhaustive(
        &mut self,
        subject: Ty,
        arms: &[(Pattern, Option<Expr>, Span)],
        place: Span,
    ) {
        let sure = arms.iter().filter(|(_, guard, _)| guard.is_none());
        let rows: Vec<Row<'_>> = sure.map(|(pattern, ..)| vec![pattern]).collect();
        let mut search = Search { checker: self, steps: 0, examples: Vec::new() };
        let result = search.missing(&rows, &[subject], &mut |examples, parts| {
            examples.push(parts.first().cloned().unwrap_or_default());
        });
        let mut examples = search.examples;
        if result.is_err() {
            self.report(
                Diagnostic::new(place, "this `match` is too complicated to prove exhaustive", "matched here")
                    .help("add an arm `_ => …` at the end"),
            );
            return;
        }
        if examples.is_empty() {
            return;
        }
        let more = examples.len() > MAX_EXAMPLES;
        examples.truncate(MAX_EXAMPLES);
        let list = match more {
            true => format!("`{}` and more", examples.join("`, `")),
            false => super::show::listed(&examples),
        };
        let guarded = arms.iter().any(|(_, guard, _)| guard.is_some());
        let help = match examples.as_slice() {
            [only] if only == "_" => "add an arm `_ => …` for all other values".to_string(),
            _ if guarded => "arms with a guard do not count; add arms for these, or `_ => …`".to_string(),
            _ => "add arms for these, or `_ => …` for all that is left".to_string(),
        };
        let message = match examples.as_slice() {
            [only] if only == "_" => "the arms of this `match` do not take every value".to_string(),
            _ => {
                format!("the arms of this `match` do not take {list}")
            }
        };
        let ty = self.quote(subject);
        self.report(Diagnostic::new(place, message, format!("this is {ty}")).help(help));
    }
}

/// Told each missing value as the texts of its parts.
type Found<'f> = &'f mut dyn FnMut(&mut Vec<String>, Vec<String>);

impl Search<'_, '_, '_> {
    /// Finds values of `columns` that no row takes.
    fn missing(&mut self, rows: &[Row<'_>], columns: &[Ty], found: Found<'_>) -> Result<(), TooMany> {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return Err(TooMany);
        }
        let Some((&first, rest)) = columns.split_first() else {
            if rows.is_empty() {
                found(&mut self.examples, Vec::new());
            }
            return Ok(());
        };
        // A row that takes anything leaves nothing to find.
        if rows.iter().any(|row| row.iter().all(|pattern| matches!(pattern, Pattern::Any | Pattern::Bind(_))))
        {
            return Ok(());
        }
        let rows = &expand_alternatives(rows);
        // Where every row takes anything, the column need not be split.
        if rows.iter().all(|row| matches!(row[0], Pattern::Any | Pattern::Bind(_))) {
            let rows: Vec<Row<'_>> = rows.iter().map(|row| row[1..].to_vec()).collect();
            return self.missing(&rows, rest, &mut |examples, mut parts| {
                parts.insert(0, "_".to_string());
                found(examples, parts);
            });
        }
        for shape in self.shapes(first) {
            if self.examples.len() > MAX_EXAMPLES {
                break;
            }
            let payload: &[Ty] = match &shape {
                Shape::Variant(_, payload) => payload,
                _ => &[],
            };
            let rows: Vec<Row<'_>> =
                rows.iter().filter_map(|row| self.specialise(row, &shape, first)).collect();
            let mut columns = payload.to_vec();
            columns.extend_from_slice(rest);
            let arity = payload.len();
            let name = self.name_of(&shape, first);
            self.missing(&rows, &columns, &mut |examples, mut parts| {
                let behind = parts.split_off(arity.min(parts.len()));
                let inside = parts.join(", ");
                let text = match inside.chars().count() {
                    0 => name.clone(),
                    1..=60 => format!("{name}({inside})"),
                    _ => format!("{name}(…)"),
                };
                let mut parts = vec![text];
                parts.extend(behind);
                found(examples, parts);
            })?;
        }
        Ok(())
    }

    /// All shapes of the values of a type.
    fn shapes(&mut self, ty: Ty) -> Vec<Shape> {
        let mut shapes = Vec::new();
        let inner = self.checker.without_null(ty);
        match self.checker.types.kind(inner).clone() {
            TyKind::Bool => shapes.extend([Shape::Bool(true), Shape::Bool(false)]),
            TyKind::Enum(index, args) => {
                let params = self.checker.enumeration(index).params.clone();
                let variants = self.checker.enumeration(index).variants.clone();
                for (number, payload) in variants.iter().enumerate() {
                    let payload = payload.iter().map(|ty| self.checker.instantiate(*ty, &params, &args));
                    shapes.push(Shape::Variant(number, payload.collect()));
                }
            }
            TyKind::Null => {}
            _ => shapes.push(Shape::Other),
        }
        if self.checker.may_be_null(ty) {
            shapes.push(Shape::Null);
        }
        shapes
    }

    fn name_of(&self, shape: &Shape, ty: Ty) -> String {
        match shape {
            Shape::Null => "null".to_string(),
            Shape::Bool(value) => value.to_string(),
            Shape::Other => "_".to_string(),
            Shape::Variant(number, _) => match self.checker.types.kind(self.checker.without_null(ty)) {
                TyKind::Enum(index, _) => {
                    self.checker.enumeration(*index).ast.variants[*number].name.text.to_string()
                }
                _ => "_".to_string(),
            },
        }
    }

    /// The row for values of this shape, its first pattern taken apart; `None` if it does not take them all.
    fn specialise<'p>(&mut self, row: &Row<'p>, shape: &Shape, ty: Ty) -> Option<Row<'p>> {
        let arity = match shape {
            Shape::Variant(_, payload) => payload.len(),
            _ => 0,
        };
        let mut parts: Row<'p> = match (row[0], shape) {
            (Pattern::Any | Pattern::Bind(_), _) => vec![&Pattern::Any; arity],
            (Pattern::Null, Shape::Null) => Vec::new(),
            (Pattern::Bool(value), Shape::Bool(wanted)) if value == wanted => Vec::new(),
            (Pattern::Variant(number, patterns), Shape::Variant(wanted, _)) if number == wanted => {
                patterns.iter().collect()
            }
            // A type test takes all non-null values if it asks for what they are anyway.
            (Pattern::Is(target, _), shape) if *shape != Shape::Null => {
                let inner = self.checker.without_null(ty);
                if !self.checker.is_subtype(inner, *target) {
                    return None;
                }
                vec![&Pattern::Any; arity]
            }
            _ => return None,
        };
        parts.extend_from_slice(&row[1..]);
        (parts.len() == arity + row.len() - 1).then_some(parts)
    }
}

/// Rows whose first pattern has alternatives become one row for each.
fn expand_alternatives<'p>(rows: &[Row<'p>]) -> Vec<Row<'p>> {
    let mut expanded = Vec::with_capacity(rows.len());
    for row in rows {
        let mut waiting = vec![row[0]];
        while let Some(pattern) = waiting.pop() {
            match pattern {
                Pattern::Or(patterns) => waiting.extend(patterns.iter().rev()),
                _ => {
                    let mut row = row.clone();
                    row[0] = pattern;
                    expanded.push(row);
                }
            }
        }
    }
    expanded
}
