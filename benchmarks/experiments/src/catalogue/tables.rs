//! Tables of the report, and what is in them.

use crate::report::model::{Cell, Chart, Figure, Unit};
use crate::results::exactly;

/// A table.
pub fn table(
    id: impl Into<String>,
    title: impl Into<String>,
    caption: impl Into<String>,
    columns: &[&str],
    rows: Vec<Vec<Cell>>,
) -> Figure {
    let columns = columns.iter().map(|column| column.to_string()).collect();
    let (id, title, caption) = (id.into(), title.into(), caption.into());
    Figure { id, title, caption, chart: Chart::Table { columns, rows } }
}

/// A number that is known exactly; a dash if it is missing.
pub fn entry(value: Option<f64>, unit: Unit) -> Cell {
    value.map_or_else(|| text("-"), |value| Cell::Number(exactly(value, unit)))
}

/// Text.
pub fn text(text: &str) -> Cell {
    Cell::Text(text.into())
}
