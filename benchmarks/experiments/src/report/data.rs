//! The numbers of a figure: as tables to read, and as comma-separated values to go on with.
//!
//! The tables are what Markdown shows, and what the page has below each chart for those who cannot see it. The values have all
//! digits and one row for each number, or for each category of bars.

use super::model::{Axis, Cell, Chart, Line, Measured, Series, SourcePath, TreeNode, Unit};
use super::numbers;

/// A table to read.
#[derive(Clone, PartialEq, Debug)]
pub struct Grid {
    /// What it is, if a figure has several.
    pub title: String,
    /// Heads of the columns.
    pub columns: Vec<String>,
    /// Rows; an empty text is a missing value.
    pub rows: Vec<Vec<Cell>>,
}

/// The lines of a path in pieces that are one behind another: `12-15, 18`.
pub fn line_ranges(path: &SourcePath) -> String {
    let mut lines: Vec<u64> =
        path.on_path.iter().map(|offset| u64::from(path.first) + u64::from(*offset)).collect();
    lines.sort_unstable();
    lines.dedup();
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for line in lines {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == line => *last = line,
            _ => ranges.push((line, line)),
        }
    }
    let texts = ranges.iter().map(|(from, to)| match from == to {
        true => from.to_string(),
        false => format!("{from}-{to}"),
    });
    texts.collect::<Vec<_>>().join(", ")
}

/// A node of a forest with what is above it.
pub struct Place<'a> {
    /// How far down, from 0.
    pub depth: usize,
    /// The names from the root to the node.
    pub names: Vec<&'a str>,
    /// The node.
    pub node: &'a TreeNode,
    /// Its share of its parent's count; of a root, nothing.
    pub of_parent: Option<f64>,
    /// Its share of its root's count.
    pub of_root: f64,
}

/// The nodes of a forest, parents before children.
pub fn places(roots: &[TreeNode]) -> Vec<Place<'_>> {
    let mut found: Vec<Place<'_>> = Vec::new();
    // Not by recursion: a forest may be deeper than a stack is.
    let mut waiting: Vec<(&TreeNode, Vec<&str>, Option<u64>, u64)> =
        roots.iter().rev().map(|root| (root, Vec::new(), None, root.count)).collect();
    while let Some((node, above, parent, root)) = waiting.pop() {
        let names: Vec<&str> = above.iter().copied().chain([node.name.as_str()]).collect();
        waiting
            .extend(node.children.iter().rev().map(|child| (child, names.clone(), Some(node.count), root)));
        let of_parent = parent.map(|count| share(node.count, count));
        found.push(Place { depth: above.len(), names, node, of_parent, of_root: share(node.count, root) });
    }
    found
}

/// The least count of a node that is shown, where so many are: those seen most often. Nodes of the same count stay or go together, if that leaves any.
pub fn least_shown(places: &[Place<'_>], most: usize) -> u64 {
    let mut counts: Vec<u64> = places.iter().map(|place| place.node.count).collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    counts.get(most).map_or(0, |&bound| if counts[0] > bound { bound + 1 } else { bound })
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The tables of a figure.
pub fn grids(chart: &Chart) -> Vec<Grid> {
    match chart {
        Chart::Bars { unit, categories, series } => vec![bars(*unit, categories, series)],
        Chart::Lines { x, y, lines } => vec![line_grid(x, y, lines)],
        Chart::Heat { unit, row_title, column_title, rows, columns, measured, paper, .. } => {
            let head = format!("{row_title} \\ {column_title}");
            let grid = |title: &str, values: &[Vec<Option<f64>>]| Grid {
                title: title.to_string(),
                columns: [head.clone()].into_iter().chain(columns.iter().cloned()).collect(),
                rows: rows
                    .iter()
                    .enumerate()
                    .map(|(row, name)| {
                        let cell = |column| number(at(values, row, column), None, *unit);
                        [Cell::Text(name.clone())].into_iter().chain((0..columns.len()).map(cell)).collect()
                    })
                    .collect(),
            };
            let mut grids = vec![grid("measured", measured)];
            if !paper.is_empty() {
                grids.push(grid("paper", paper));
            }
            grids
        }
        Chart::Scatter { x, y, points } => vec![Grid {
            title: String::new(),
            columns: vec!["group".into(), "name".into(), x.title.clone(), y.title.clone()],
            rows: points
                .iter()
                .map(|point| {
                    vec![
                        Cell::Text(point.group.clone()),
                        Cell::Text(point.name.clone()),
                        number(Some(point.x), point.x_interval, x.unit),
                        number(Some(point.y), point.y_interval, y.unit),
                    ]
                })
                .collect(),
        }],
        Chart::Table { columns, rows } => {
            vec![Grid { title: String::new(), columns: columns.clone(), rows: rows.clone() }]
        }
        Chart::Forest { roots } => vec![Grid {
            title: String::new(),
            columns: ["path", "count", "of parent", "of root"].map(String::from).to_vec(),
            rows: places(roots)
                .iter()
                .map(|place| {
                    let percent = |share: f64| number(Some(share * 100.0), None, Unit::Percent);
                    vec![
                        Cell::Text(place.names.join(" › ")),
                        Cell::Text(numbers::count(place.node.count)),
                        place.of_parent.map_or(Cell::Text(String::new()), percent),
                        percent(place.of_root),
                    ]
                })
                .collect(),
        }],
        Chart::Paths { paths } => vec![Grid {
            title: String::new(),
            columns: ["share", "method", "file", "lines"].map(String::from).to_vec(),
            rows: paths
                .iter()
                .map(|path| {
                    vec![
                        number(Some(path.share * 100.0), None, Unit::Percent),
                        Cell::Text(path.method.clone()),
                        Cell::Text(path.file.clone()),
                        Cell::Text(line_ranges(path)),
                    ]
                })
                .collect(),
        }],
    }
}

/// The numbers of a figure as comma-separated values, with a head.
pub fn csv(chart: &Chart) -> String {
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
    for record in records(chart) {
        // Writing to memory does not fail; a record that did would be seen as a missing row by the tests.
        let _ = writer.write_record(&record);
    }
    writer.into_inner().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// A value of a grid, if it is there: grids may be ragged.
pub fn at(values: &[Vec<Option<f64>>], row: usize, column: usize) -> Option<f64> {
    values.get(row).and_then(|row| row.get(column)).copied().flatten()
}

fn number(value: Option<f64>, interval: Option<(f64, f64)>, unit: Unit) -> Cell {
    value.map_or(Cell::Text(String::new()), |value| Cell::Number(Measured { value, interval, unit }))
}

/// How a series or line is called beside others: the paper's are marked in words.
pub fn label(name: &str, is_paper: bool) -> String {
    match is_paper && !name.to_lowercase().contains("paper") {
        true => format!("{name} (paper)"),
        false => name.to_string(),
    }
}

fn bars(unit: Unit, categories: &[String], series: &[Series]) -> Grid {
    let names = series.iter().map(|series| label(&series.name, series.is_paper));
    let row = |(index, category): (usize, &String)| {
        let cells = series.iter().map(|series| {
            let interval = series.intervals.get(index).copied().flatten();
            number(series.values.get(index).copied().flatten(), interval, unit)
        });
        [Cell::Text(category.clone())].into_iter().chain(cells).collect()
    };
    Grid {
        title: String::new(),
        columns: [String::new()].into_iter().chain(names).collect(),
        rows: categories.iter().enumerate().map(row).collect(),
    }
}

/// One row for each place to the right, one column for each line.
fn line_grid(x: &Axis, y: &Axis, lines: &[Line]) -> Grid {
    let mut places: Vec<f64> = lines.iter().flat_map(|line| &line.points).map(|(x, _)| *x).collect();
    places.sort_by(f64::total_cmp);
    places.dedup_by(|a, b| a.total_cmp(b).is_eq());
    let row = |place: &f64| {
        let cells = lines.iter().map(|line| {
            let point = line.points.iter().find(|(x, _)| x.total_cmp(place).is_eq());
            number(point.map(|(_, y)| *y), None, y.unit)
        });
        [number(Some(*place), None, x.unit)].into_iter().chain(cells).collect()
    };
    let names = lines.iter().map(|line| label(&line.name, line.is_paper));
    Grid {
        title: y.title.clone(),
        columns: [x.title.clone()].into_iter().chain(names).collect(),
        rows: places.iter().map(row).collect(),
    }
}

fn optional(value: Option<f64>) -> String {
    value.map(numbers::raw).unwrap_or_default()
}

fn with_unit(title: &str, unit: Unit) -> String {
    format!("{title} [{}]", numbers::unit_name(unit))
}

fn head(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

fn records(chart: &Chart) -> Vec<Vec<String>> {
    match chart {
        Chart::Bars { unit, categories, series } => bar_records(*unit, categories, series),
        Chart::Lines { x, y, lines } => {
            let heads =
                ["line".into(), "source".into(), with_unit(&x.title, x.unit), with_unit(&y.title, y.unit)];
            let rows = lines.iter().flat_map(|line| {
                line.points.iter().map(|(x, y)| {
                    let source = if line.is_paper { "paper" } else { "measured" };
                    vec![line.name.clone(), source.into(), numbers::raw(*x), numbers::raw(*y)]
                })
            });
            [heads.to_vec()].into_iter().chain(rows).collect()
        }
        Chart::Heat { unit, row_title, column_title, rows, columns, measured, paper, .. } => {
            let heads = [
                row_title.clone(),
                column_title.clone(),
                with_unit("measured", *unit),
                with_unit("paper", *unit),
            ];
            let cells = rows.iter().enumerate().flat_map(|(row, row_name)| {
                columns.iter().enumerate().map(move |(column, column_name)| {
                    let values = [measured, paper].map(|grid| optional(at(grid, row, column)));
                    [row_name.clone(), column_name.clone()].into_iter().chain(values).collect()
                })
            });
            [heads.to_vec()].into_iter().chain(cells).collect()
        }
        Chart::Scatter { x, y, points } => {
            let mut heads = head(&["group", "name"]);
            for axis in [x, y] {
                heads.push(with_unit(&axis.title, axis.unit));
                heads.extend(["low", "high"].map(|end| format!("{} {end}", axis.title)));
            }
            let rows = points.iter().map(|point| {
                let numbers = [(point.x, point.x_interval), (point.y, point.y_interval)];
                let numbers = numbers.into_iter().flat_map(|(value, interval)| {
                    let ends = [interval.map(|ends| ends.0), interval.map(|ends| ends.1)];
                    [numbers::raw(value)].into_iter().chain(ends.map(optional))
                });
                [point.group.clone(), point.name.clone()].into_iter().chain(numbers).collect()
            });
            [heads].into_iter().chain(rows).collect()
        }
        Chart::Table { columns, rows } => table_records(columns, rows),
        Chart::Forest { roots } => {
            let rows = places(roots).into_iter().map(|place| {
                vec![
                    place.names.join(" > "),
                    place.depth.to_string(),
                    place.node.count.to_string(),
                    optional(place.of_parent),
                    numbers::raw(place.of_root),
                ]
            });
            [head(&["path", "depth", "count", "share of parent", "share of root"])]
                .into_iter()
                .chain(rows)
                .collect()
        }
        Chart::Paths { paths } => {
            let rows = paths.iter().map(|path| {
                vec![numbers::raw(path.share), path.method.clone(), path.file.clone(), line_ranges(path)]
            });
            [head(&["share", "method", "file", "lines"])].into_iter().chain(rows).collect()
        }
    }
}

fn bar_records(unit: Unit, categories: &[String], series: &[Series]) -> Vec<Vec<String>> {
    let mut heads = vec!["category".to_string()];
    for series in series {
        let name = label(&series.name, series.is_paper);
        heads.push(with_unit(&name, unit));
        if !series.intervals.is_empty() {
            heads.extend(["low", "high"].map(|end| format!("{name} {end}")));
        }
    }
    let rows = categories.iter().enumerate().map(|(index, category)| {
        let mut row = vec![category.clone()];
        for series in series {
            row.push(optional(series.values.get(index).copied().flatten()));
            if !series.intervals.is_empty() {
                let interval = series.intervals.get(index).copied().flatten();
                row.push(optional(interval.map(|ends| ends.0)));
                row.push(optional(interval.map(|ends| ends.1)));
            }
        }
        row
    });
    [heads].into_iter().chain(rows).collect()
}

/// Columns that hold an interval somewhere have two more for its ends.
fn table_records(columns: &[String], rows: &[Vec<Cell>]) -> Vec<Vec<String>> {
    let width = rows.iter().map(Vec::len).chain([columns.len()]).max().unwrap_or(0);
    let numbers_of = |column: usize| {
        rows.iter().filter_map(move |row| match row.get(column) {
            Some(Cell::Number(measured)) => Some(measured),
            _ => None,
        })
    };
    let intervals: Vec<bool> =
        (0..width).map(|column| numbers_of(column).any(|number| number.interval.is_some())).collect();
    let mut heads = Vec::new();
    for (column, &interval) in intervals.iter().enumerate() {
        let name = columns.get(column).cloned().unwrap_or_default();
        let mut units = numbers_of(column).map(|number| number.unit);
        let first = units.next();
        // Units differ within a column only if its rows are about different things; then the text says so.
        heads.push(match first.filter(|first| units.all(|unit| unit == *first)) {
            Some(unit) => with_unit(&name, unit),
            None => name.clone(),
        });
        if interval {
            heads.extend(["low", "high"].map(|end| format!("{name} {end}")));
        }
    }
    let record = |row: &Vec<Cell>| {
        let mut record = Vec::new();
        for (column, &interval) in intervals.iter().enumerate() {
            let (text, ends) = match row.get(column) {
                Some(Cell::Number(number)) => (numbers::raw(number.value), number.interval),
                Some(Cell::Text(text)) => (text.clone(), None),
                None => (String::new(), None),
            };
            record.push(text);
            if interval {
                record.push(optional(ends.map(|ends| ends.0)));
                record.push(optional(ends.map(|ends| ends.1)));
            }
        }
        record
    };
    [heads].into_iter().chain(rows.iter().map(record)).collect()
}
