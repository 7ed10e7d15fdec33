//! Values that no experiment should make, and that must not break the page: hostile names, nothing at all, numbers that are none.

use crate::page::sound;
use crate::value;
use holloway_experiments::report::markdown;
use holloway_experiments::report::model::*;

const HOSTILE: &[&str] = &[
    "</script><script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "a|b`c*d_e[f](g)#h~i\\j\n## k\n| l |",
    "&lt;&#0;\u{0}\u{1b}[31m\u{202e}\u{7f}",
    "]]>--><!--",
    "%00%3Cscript%3E,\";\r\n=1+1",
    "../../summary",
    "summary",
    "sign-better",
    "",
    "   ",
    "a very long name that goes on and on and on and on and on and on and on and on and on and on and on and on and on",
    "字字字 ⟨2,0,0,2⟩ ≤ ∞",
    "```\n````",
];

/// Replaces every text by hostile ones.
fn poison(value: &mut serde_json::Value, key: &str, count: &mut usize) {
    match value {
        serde_json::Value::String(text) if !["kind", "verdict", "unit"].contains(&key) => {
            *text = HOSTILE[*count % HOSTILE.len()].to_string();
            *count += 1;
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(|item| poison(item, key, count)),
        serde_json::Value::Object(fields) => {
            fields.iter_mut().for_each(|(key, value)| poison(value, key, count));
        }
        _ => {}
    }
}

/// Every table has rows of one length, and nothing in a cell or paragraph is more than text.
fn sound_markdown(report: &Report) {
    let text = markdown::render(report);
    let mut fence: Option<String> = None;
    let mut width = None;
    for line in text.lines() {
        let ticks: String = line.chars().take_while(|c| *c == '`').collect();
        match &fence {
            Some(open) if line == open => fence = None,
            Some(_) => {}
            None if ticks.len() >= 3 => fence = Some(ticks),
            None if line.starts_with('|') => {
                let bars = line.replace("\\\\", "").replace("\\|", "").matches('|').count();
                assert_eq!(*width.get_or_insert(bars), bars, "{line}");
            }
            None => {
                width = None;
                assert!(!line.contains('<'), "{line}");
            }
        }
    }
    assert!(fence.is_none(), "a block of code does not end");
    assert!(!text.contains('\u{0}') && !text.contains('\u{1b}'));
}

fn with(charts: Vec<Chart>) -> Report {
    let mut report = value::invented();
    let mut experiment = report.papers[0].experiments[0].clone();
    let figure = |(index, chart): (usize, Chart)| Figure {
        id: format!("f{index}"),
        title: String::new(),
        caption: String::new(),
        chart,
    };
    experiment.figures = charts.into_iter().enumerate().map(figure).collect();
    report.papers[0].experiments = vec![experiment];
    report.papers.truncate(1);
    report.planes.clear();
    report
}

fn axis(unit: Unit, log: bool) -> Axis {
    Axis { title: "axis".into(), unit, log }
}

/// A chart of each kind with these numbers.
fn charts(values: &[Option<f64>], unit: Unit, log: bool) -> Vec<Chart> {
    let names: Vec<String> = (0..values.len()).map(|index| format!("category {index}")).collect();
    let known: Vec<f64> = values.iter().flatten().copied().collect();
    let swapped = |value: &Option<f64>| value.map(|value| (value + 1.0, value - 1.0));
    let series = |is_paper| Series {
        name: "one".into(),
        is_paper,
        values: values.to_vec(),
        intervals: values.iter().map(swapped).collect(),
    };
    let pairs: Vec<(f64, f64)> = known.iter().copied().zip(known.iter().rev().copied()).collect();
    let point = |(x, y): &(f64, f64)| Point {
        name: "p".into(),
        group: format!("{x}"),
        x: *x,
        y: *y,
        x_interval: Some((*y, *x)),
        y_interval: Some((*x, *y)),
    };
    let cell = |value: &Option<f64>| match value {
        Some(value) => {
            Cell::Number(Measured { value: *value, interval: Some((*value, f64::INFINITY)), unit })
        }
        None => Cell::Text(String::new()),
    };
    let heat = |less_is_better| Chart::Heat {
        unit,
        row_title: "r".into(),
        column_title: "c".into(),
        rows: names.clone(),
        columns: names.clone(),
        // Ragged: rows of other lengths than there are columns.
        measured: vec![values.to_vec(), vec![], values.iter().take(1).copied().collect()],
        paper: vec![values.to_vec()],
        less_is_better,
    };
    let node = |value: &f64| TreeNode { name: "n".into(), count: *value as u64, children: vec![] };
    let path = |value: &f64| SourcePath {
        method: "m".into(),
        share: *value,
        file: "f".into(),
        first: u32::MAX,
        lines: vec!["a".into(), "\tb".into()],
        on_path: vec![0, 7, u32::MAX],
    };
    vec![
        Chart::Bars { unit, categories: names.clone(), series: vec![series(false), series(true)] },
        // Fewer values than categories, and none.
        Chart::Bars {
            unit,
            categories: names.clone(),
            series: vec![Series { name: "short".into(), is_paper: false, values: vec![], intervals: vec![] }],
        },
        Chart::Lines {
            x: axis(unit, log),
            y: axis(unit, log),
            lines: vec![
                Line { name: "l".into(), is_paper: false, points: pairs.clone() },
                Line { name: "l".into(), is_paper: true, points: pairs.clone() },
            ],
        },
        heat(true),
        heat(false),
        Chart::Scatter { x: axis(unit, log), y: axis(unit, !log), points: pairs.iter().map(point).collect() },
        Chart::Table { columns: names.clone(), rows: vec![values.iter().map(cell).collect(), vec![]] },
        Chart::Forest { roots: known.iter().map(node).collect() },
        Chart::Paths { paths: known.iter().map(path).collect() },
    ]
}

#[test]
fn hostile_names_stay_names() {
    for start in 0..HOSTILE.len() {
        let mut json = serde_json::to_value(value::invented()).expect("a value");
        let mut count = start;
        poison(&mut json, "", &mut count);
        assert!(count > 300);
        let report: Report = serde_json::from_value(json).expect("a report");
        let elements = sound(&report);
        // They are seen as they are, but for characters that a page may not have.
        assert!(elements[0].text.contains("<script>alert(1)</script>"));
        sound_markdown(&report);
    }
}

#[test]
fn nothing_at_all_is_a_report_too() {
    let mut report = value::invented();
    report.planes.clear();
    for paper in &mut report.papers {
        paper.experiments.clear();
    }
    // Headlines now refer to nothing, and say so.
    let elements = sound(&report);
    assert_eq!(elements[0].text.matches("not in this report").count(), 9);
    assert!(elements[0].text.contains("No experiment of this paper was run."));
    sound_markdown(&report);
    report.papers.clear();
    report.provenance.machine.clear();
    report.provenance.seconds = f64::NAN;
    let elements = sound(&report);
    assert!(elements[0].text.contains("holds no experiments"));
    sound_markdown(&report);

    let mut report = with(charts(&[], Unit::Percent, true));
    let experiment = &mut report.papers[0].experiments[0];
    experiment.checks.clear();
    experiment.text.clear();
    experiment.because.clear();
    assert!(sound(&report)[0].text.matches("No data.").count() >= 6);
    sound_markdown(&report);
}

#[test]
fn numbers_that_are_none_do_not_break_a_chart() {
    let strange: &[&[Option<f64>]] = &[
        &[None],
        &[None, Some(f64::NAN)],
        &[Some(f64::NAN)],
        &[Some(f64::INFINITY), Some(f64::NEG_INFINITY), Some(1.0)],
        &[Some(f64::MAX), Some(f64::MIN), Some(5e-324), Some(0.0)],
        &[Some(-1.0), Some(-20.0), None],
        &[Some(0.0)],
        &[Some(0.0), Some(0.001), Some(1000.0)],
        &[Some(7.0)],
        &[Some(1e15), Some(1e-15), Some(-1e-15)],
    ];
    for values in strange {
        for unit in [Unit::Percent, Unit::Ratio, Unit::Count, Unit::Seconds, Unit::Nanoseconds, Unit::Bytes] {
            for log in [false, true] {
                let report = with(charts(values, unit, log));
                sound(&report);
                sound_markdown(&report);
            }
        }
    }
}

#[test]
fn sixty_categories_and_one() {
    let sixty: Vec<Option<f64>> = (0..60).map(|index| Some(f64::from(index) - 7.5)).collect();
    for values in [&sixty[..], &sixty[..1]] {
        let elements = sound(&with(charts(values, Unit::Percent, false)));
        // Every bar is drawn, and no drawing is wider than a page.
        let bars = elements.iter().filter(|one| one.name == "rect" && one.has_class("bar"));
        let drawn =
            bars.filter(|bar| bar.above.iter().any(|index| elements[*index].has_class("chart"))).count();
        assert_eq!(drawn, 2 * values.len());
        for drawing in elements.iter().filter(|one| one.has_class("chart")).take(2) {
            let view = drawing.get("viewBox").expect("a size");
            let width: f64 = view.split(' ').nth(2).and_then(|width| width.parse().ok()).expect("a width");
            assert!(width <= 1000.0, "{view}");
        }
    }
}

#[test]
fn zeros_have_their_place_on_a_log_axis() {
    let values = [Some(0.0), Some(0.01), Some(10.0)];
    let elements = sound(&with(vec![charts(&values, Unit::Percent, true).swap_remove(2)]));
    let labels = elements.iter().filter(|one| one.name == "text" && one.text == "≤ 0").count();
    assert_eq!(labels, 2, "one for each axis");
    let dots = elements.iter().filter(|one| one.has_class("dot"));
    let in_chart =
        dots.filter(|dot| dot.above.iter().any(|index| elements[*index].has_class("chart"))).count();
    assert_eq!(in_chart, 6);
}
