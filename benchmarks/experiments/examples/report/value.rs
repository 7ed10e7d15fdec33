//! An invented reproduction with every kind of chart, verdict and mishap. No number in it was measured or is from a paper.

use holloway_experiments::report::model::*;

/// Numbers that look random and are the same everywhere.
struct Dice(u64);

impl Dice {
    /// Between two numbers.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + (high - low) * ((self.0 >> 11) as f64 / (1u64 << 53) as f64)
    }
}

const PROGRAMS: &[&str] = &[
    "apps/compiler",
    "apps/lexgen",
    "apps/lzw",
    "apps/market",
    "apps/masks",
    "apps/rules",
    "apps/tags",
    "apps/tracer",
    "awfy/bounce",
    "awfy/cd",
    "awfy/deltablue",
    "awfy/havlak",
    "awfy/json",
    "awfy/list",
    "awfy/nbody",
    "awfy/richards",
    "jgf/fft",
    "jgf/heapsort",
    "jgf/moldyn",
    "jgf/raytracer",
    "average",
];

fn texts(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

fn axis(title: &str, unit: Unit, log: bool) -> Axis {
    Axis { title: title.into(), unit, log }
}

fn figure(id: &str, title: &str, caption: &str, chart: Chart) -> Figure {
    Figure { id: id.into(), title: title.into(), caption: caption.into(), chart }
}

fn check(
    what: &str,
    paper: &str,
    target: &str,
    value: Option<(f64, f64, f64)>,
    unit: Unit,
    verdict: Verdict,
) -> Check {
    let measured = value.map(|(value, low, high)| Measured { value, interval: Some((low, high)), unit });
    Check {
        what: what.into(),
        paper: paper.into(),
        target: target.into(),
        shown: if measured.is_none() { "not measured".into() } else { String::new() },
        measured,
        verdict,
    }
}

struct Sketch {
    id: &'static str,
    place: &'static str,
    title: &'static str,
    verdict: Verdict,
    because: &'static str,
}

fn experiment(sketch: Sketch, checks: Vec<Check>, figures: Vec<Figure>) -> Experiment {
    let Sketch { id, place, title, verdict, because } = sketch;
    Experiment {
        id: id.into(),
        place: place.into(),
        title: title.into(),
        text: vec![
            "This text is invented, as are all numbers on this page: it shows how a reproduction looks. Here it is said what the \
             paper does and finds, on which machine, and which statistic it uses."
                .into(),
            "A second paragraph says what is done here instead, and how far the two may be compared.".into(),
        ],
        verdict,
        because: because.into(),
        checks,
        figures,
        failures: Vec::new(),
        cells: Vec::new(),
        command: format!("holloway experiment run {id} --quick --seed 1"),
        seconds: 83.0,
    }
}

fn series(name: &str, is_paper: bool, dice: &mut Dice, centre: f64, error: f64) -> Series {
    let mut values: Vec<Option<f64>> =
        PROGRAMS.iter().map(|_| Some(centre * dice.between(-0.2, 2.1))).collect();
    let known: f64 = values.iter().flatten().sum::<f64>() / values.len() as f64;
    if is_paper {
        values.iter_mut().step_by(2).skip(1).for_each(|value| *value = None);
    }
    if let Some(last) = values.last_mut() {
        *last = Some(known);
    }
    let ends =
        |value: &Option<f64>| value.filter(|_| error > 0.0).map(|value| (value - error, value + error));
    Series { name: name.into(), is_paper, intervals: values.iter().map(ends).collect(), values }
}

fn overhead(dice: &mut Dice) -> Figure {
    let series = vec![
        series("instrumentation only", false, dice, 0.8, 0.3),
        series("PEP(64,17)", false, dice, 1.1, 0.35),
        series("PEP(64,17)", true, dice, 1.2, 0.0),
    ];
    figure(
        "overhead",
        "Execution overhead",
        "Time over the base, second iteration, least of ten. The paper's bars are hollow; where it names no program, there is none.",
        Chart::Bars { unit: Unit::Percent, categories: texts(PROGRAMS), series },
    )
}

fn accuracy() -> Figure {
    let one = |name: &str, is_paper, values: &[f64]| Series {
        name: name.into(),
        is_paper,
        values: values.iter().map(|value| Some(*value)).collect(),
        intervals: if is_paper {
            vec![]
        } else {
            values.iter().map(|value| Some((value - 1.4, value + 1.1))).collect()
        },
    };
    let series = vec![
        one("measured", false, &[58.2, 95.1, 96.4, 97.0]),
        one("paper", true, &[53.0, 94.0, 95.0, 95.5]),
    ];
    let categories = texts(&["timer", "PEP(64,17)", "PEP(256,17)", "PEP(1024,17)"]);
    figure(
        "accuracy",
        "Path accuracy on average",
        "Wall's weight matching by branch flow.",
        Chart::Bars { unit: Unit::Percent, categories, series },
    )
}

fn grid(dice: &mut Dice, id: &str, title: &str, less_is_better: bool) -> Figure {
    let columns: Vec<u32> = (1..=13).map(|power| (1 << power) - 1).collect();
    let rows: Vec<u32> = (0..14).map(|power| 1 << power).collect();
    let mut cells = |shift: f64| -> Vec<Vec<Option<f64>>> {
        let cell = |row: u32, column: u32, dice: &mut Dice| {
            if u64::from(row) * u64::from(column + 1) >= 1 << 21 {
                return None;
            }
            let windows = f64::from(row) * (1.0 + f64::from(column) / 40.0);
            Some(match less_is_better {
                true => 0.012 * windows.powf(0.95) * dice.between(0.9, 1.1) * shift,
                false => (38.0 + 5.4 * windows.ln() * shift + dice.between(-1.0, 1.0)).min(99.0),
            })
        };
        rows.iter().map(|row| columns.iter().map(|column| cell(*row, *column, dice)).collect()).collect()
    };
    let (measured, paper) = (cells(1.1), cells(0.9));
    figure(
        id,
        title,
        "Rows are samples per tick, columns strides. The paper left out the cells at the lower right, and so does this run.",
        Chart::Heat {
            unit: Unit::Percent,
            row_title: "samples".into(),
            column_title: "stride".into(),
            rows: rows.iter().map(u32::to_string).collect(),
            columns: columns.iter().map(u32::to_string).collect(),
            measured,
            paper,
            less_is_better,
        },
    )
}

fn over_k(dice: &mut Dice) -> Figure {
    let line = |name: &str, is_paper, start: f64, slope: f64, dice: &mut Dice| Line {
        name: name.into(),
        is_paper,
        points: [2.0, 3.0, 4.0, 6.0, 8.0, 11.0, 16.0]
            .iter()
            .map(|k: &f64| (*k, start + slope * (k.ln() - 0.7) + dice.between(-0.03, 0.03)))
            .collect(),
    };
    let lines = vec![
        line("apps/masks", false, 0.95, -0.17, dice),
        line("apps/tags", false, 1.1, -0.2, dice),
        line("jgf/heapsort", false, 0.9, 0.12, dice),
        line("jgf/moldyn", false, 1.0, 0.2, dice),
        line("awfy/json", false, 1.02, -0.05, dice),
        line("apps/tags", true, 1.3, -0.15, dice),
        line("worst of the paper", true, 1.2, 1.1, dice),
    ];
    let chart = Chart::Lines {
        x: axis("k", Unit::Count, false),
        y: axis("overhead relative to BLPP", Unit::Ratio, false),
        lines,
    };
    figure(
        "over-k",
        "Overhead relative to Ball-Larus profiling",
        "Below 1 the k-slab forest costs less than one table of paths.",
        chart,
    )
}

fn over_period() -> Figure {
    let line = |name: &str, is_paper, points: &[(f64, f64)]| Line {
        name: name.into(),
        is_paper,
        points: points.to_vec(),
    };
    let lines = vec![
        line("recorder", false, &[(5e4, 0.0), (1e5, 0.0), (5e5, 0.01), (1e6, 0.004), (1e7, 0.0)]),
        line(
            "burst",
            false,
            &[(5e4, 41.0), (1e5, 22.0), (5e5, 6.1), (1e6, 3.2), (5e6, 0.9), (1e7, 0.4), (5e7, 0.1)],
        ),
        line("paper", true, &[(5e4, 50.0), (5e5, 10.0), (1e7, 1.0)]),
    ];
    let chart = Chart::Lines {
        x: axis("period in taken branches", Unit::Count, true),
        y: axis("overhead", Unit::Percent, true),
        lines,
    };
    figure(
        "over-period",
        "Overhead over the period",
        "Both axes by powers; what is not above zero stands at the foot.",
        chart,
    )
}

fn forest() -> Figure {
    fn chain(name: &str, count: u64, length: usize, leave: f64, other: &str) -> TreeNode {
        let stays = (count as f64 * (1.0 - leave)) as u64;
        let children = match length {
            0 => vec![],
            _ => vec![
                chain(name, stays, length - 1, leave, other),
                TreeNode { name: other.into(), count: count - stays, children: vec![] },
            ],
        };
        TreeNode { name: name.into(), count, children }
    }
    let roots =
        vec![chain("copy", 817_000, 5, 0.04, "convolve"), chain("convolve", 183_000, 5, 0.09, "copy")];
    figure(
        "forest",
        "The k-iteration forest of the filter loop",
        "Each node is an iteration's path; below it what came next.",
        Chart::Forest { roots },
    )
}

fn hot_paths() -> Figure {
    let lines = texts(&[
        "    fn apply(image: Image, mask: Image): Image {",
        "        let out = Image.blank(image.width, image.height)",
        "        // Where the mask is black the pixel is copied.",
        "        for y in 0..image.height {",
        "            for x in 0..image.width {",
        "                if mask.at(x, y) == 0 {",
        "                    out.set(x, y, image.at(x, y))",
        "                } else {",
        "                    var sum = 0",
        "                    for dy in -1..=1 {",
        "                        for dx in -1..=1 {",
        "                            sum = sum + image.at(x + dx, y + dy) * kernel.at(dx, dy)",
        "                        }",
        "                    }",
        "                    out.set(x, y, sum / kernel.weight)",
        "                }",
        "            }",
        "        }",
        "        return out",
        "    }",
    ]);
    let path = |share, on_path: &[u32]| SourcePath {
        method: "Filter.apply".into(),
        share,
        file: "masks.hol".into(),
        first: 41,
        lines: lines.clone(),
        on_path: on_path.to_vec(),
    };
    figure(
        "paths",
        "The hottest paths in their source",
        "Lines on the path are marked; a number says how often it goes through a line.",
        Chart::Paths { paths: vec![path(0.634, &[4, 5, 6, 4]), path(0.121, &[9, 10, 11, 10, 11, 10])] },
    )
}

fn table() -> Figure {
    let number = |value, interval, unit| Cell::Number(Measured { value, interval, unit });
    let text = |text: &str| Cell::Text(text.into());
    let rows = vec![
        vec![
            text("BLPP"),
            number(31.2, Some((28.1, 34.9)), Unit::Percent),
            number(100.0, None, Unit::Percent),
            number(1.2e6, None, Unit::Bytes),
            text("exact"),
        ],
        vec![
            text("PEP(64,17)"),
            number(1.2, Some((0.9, 1.6)), Unit::Percent),
            number(94.6, Some((93.0, 95.4)), Unit::Percent),
            number(43_304.0, None, Unit::Bytes),
            text("by branch flow"),
        ],
        vec![
            text("OSP"),
            number(4.7, Some((4.1, 5.2)), Unit::Percent),
            text(""),
            number(32_768.0, None, Unit::Bytes),
            text("subpaths, not paths"),
        ],
        vec![text("lbr"), text(""), text(""), text(""), text("unavailable on this machine")],
    ];
    figure(
        "techniques",
        "Techniques on this machine",
        "Metrics that differ are not set side by side.",
        Chart::Table { columns: texts(&["technique", "overhead", "accuracy", "memory", "note"]), rows },
    )
}

fn plane() -> Figure {
    let point = |group: &str, name: &str, x: f64, y: f64| Point {
        name: name.into(),
        group: group.into(),
        x,
        y,
        x_interval: Some((x * 0.8, x * 1.25)),
        y_interval: Some((y - 1.5, (y + 1.2).min(100.0))),
    };
    let points = vec![
        point("PEP", "pep(1,1)", 0.62, 55.0),
        point("PEP", "pep(64,17)", 1.1, 94.6),
        point("PEP", "pep(256,17)", 1.9, 96.2),
        point("PEP", "pep(1024,17)", 3.4, 97.1),
        point("BLPP", "blpp, array", 28.0, 100.0),
        point("BLPP", "blpp, hash", 61.0, 100.0),
        point("k-BLPP", "k=2", 66.0, 100.0),
        point("k-BLPP", "k=16", 37.0, 100.0),
        point("branch traces", "burst, 5 million", 0.9, 84.0),
        point("branch traces", "burst, 500 thousand", 6.3, 90.1),
        point("branch traces", "lbr", 1.0, 86.4),
        point("subpaths", "osp(1000)", 4.7, 88.0),
        point("subpaths", "osp(100)", 9.8, 92.3),
    ];
    let chart = Chart::Scatter {
        x: axis("overhead", Unit::Percent, true),
        y: axis("path accuracy", Unit::Percent, false),
        points,
    };
    figure(
        "all",
        "Accuracy against overhead",
        "The same programs and the same metric for all; up and to the left is better.",
        chart,
    )
}

fn paper(id: &str, title: &str, headlines: &[(&str, usize)], experiments: Vec<Experiment>) -> Paper {
    Paper {
        id: id.into(),
        title: title.into(),
        source: "Invented authors, no venue, no year".into(),
        says: "What the paper is known for would stand here, in a sentence.".into(),
        headlines: headlines.iter().map(|(id, position)| (id.to_string(), *position)).collect(),
        experiments,
    }
}

/// The whole of it.
pub fn invented() -> Report {
    use Verdict::*;
    let mut dice = Dice(11);
    let pep = vec![
        experiment(
            Sketch {
                id: "pep-fig6",
                place: "Figure 6",
                title: "Execution overhead",
                verdict: Reproduced,
                because: "All three checks hold; the interval of the average reaches to the paper's value.",
            },
            vec![
                check(
                    "average overhead of PEP(64,17)",
                    "1.2 %",
                    "at most 1.2 %",
                    Some((1.08, 0.84, 1.31)),
                    Unit::Percent,
                    Reproduced,
                ),
                check(
                    "largest overhead of PEP(64,17)",
                    "4.3 %",
                    "at most 4.3 %",
                    Some((2.4, 1.9, 2.9)),
                    Unit::Percent,
                    Better,
                ),
                check(
                    "order of the configurations",
                    "instrumentation ≤ (64,17) < (256,17)",
                    "the same order",
                    None,
                    Unit::Percent,
                    Missing,
                ),
            ],
            vec![overhead(&mut dice)],
        ),
        experiment(
            Sketch {
                id: "pep-fig8",
                place: "Figure 8",
                title: "Path accuracy",
                verdict: Better,
                because: "The whole interval lies above the paper's average.",
            },
            vec![check(
                "accuracy of PEP(64,17)",
                "94 %",
                "at least 94 %",
                Some((95.1, 94.3, 95.9)),
                Unit::Percent,
                Better,
            )],
            vec![accuracy(), hot_paths()],
        ),
    ];
    let mut failing = experiment(
        Sketch {
            id: "cbs-tab2",
            place: "Table 2",
            title: "Overhead and accuracy over samples and stride",
            verdict: ShapeOnly,
            because: "Accuracy rises with both parameters as in the paper, but stays below it within half a percent of overhead.",
        },
        vec![
            check(
                "accuracy within 0.5 % overhead",
                "67 % (A), 72 % (B)",
                "at least 72 %",
                Some((68.9, 67.5, 70.2)),
                Unit::Percent,
                ShapeOnly,
            ),
            check(
                "violations of the order",
                "2 of 102",
                "at most 3 of 100",
                Some((1.0, 0.0, 3.0)),
                Unit::Count,
                Reproduced,
            ),
        ],
        vec![grid(&mut dice, "accuracy", "Accuracy", false), grid(&mut dice, "overhead", "Overhead", true)],
    );
    failing.failures = vec![
        ("cbs-tab2 stride=511 samples=4096 awfy/cd trial 3".into(), "it ran longer than 120 s and was stopped".into()),
        ("cbs-tab2 stride=1023 samples=4096 awfy/cd trial 1".into(), "error: the program ended with status 101\n  it said: index 17 is beyond the end of an array of length 17".into()),
    ];
    let osp = vec![experiment(
        Sketch {
            id: "osp-tab2",
            place: "Table 2",
            title: "Runtime overhead",
            verdict: NotReproduced,
            because: "Neither the total nor the part of sampling is as in the paper.",
        },
        vec![
            check(
                "sampling part",
                "19.4 %",
                "at most 19.4 %",
                Some((31.0, 28.0, 34.0)),
                Unit::Percent,
                NotReproduced,
            ),
            check(
                "cost of a block",
                "not given",
                "",
                Some((3.4, 3.1, 3.8)),
                Unit::Nanoseconds,
                NotComparable,
            ),
        ],
        vec![table()],
    )];
    let pmu = vec![
        experiment(
            Sketch {
                id: "pmu-fig4",
                place: "Figure 4",
                title: "Period and overhead",
                verdict: Reproduced,
                because: "Overhead falls with the period, and is below 1 % where the paper's is.",
            },
            vec![check(
                "overhead at the longest period",
                "1 %",
                "at most 1 %",
                Some((0.41, 0.2, 0.6)),
                Unit::Percent,
                Reproduced,
            )],
            vec![over_period()],
        ),
        experiment(
            Sketch {
                id: "pmu-sec3.2-discards",
                place: "Section 3.2",
                title: "Discarded traces",
                verdict: NotComparable,
                because: "The paper gives no number.",
            },
            vec![check(
                "share of traces that are discarded",
                "",
                "",
                Some((3.2, 2.9, 3.6)),
                Unit::Percent,
                NotComparable,
            )],
            vec![],
        ),
        experiment(
            Sketch {
                id: "pmu-fig6",
                place: "Figure 6",
                title: "Accuracy over the period",
                verdict: Missing,
                because: "It was stopped before its first cell ended.",
            },
            vec![check("accuracy at 1 % overhead", "88 %", "at least 88 %", None, Unit::Percent, Missing)],
            vec![],
        ),
    ];
    let kblpp = vec![
        experiment(
            Sketch {
                id: "kblpp-fig6",
                place: "Figure 6",
                title: "Masked convolution",
                verdict: Reproduced,
                because: "Shares of the forest are within half a point of what the mask was made with.",
            },
            vec![check(
                "share of copied pixels",
                "81.7 %",
                "81.2 % to 82.2 %",
                Some((81.7, 81.7, 81.7)),
                Unit::Percent,
                Reproduced,
            )],
            vec![forest()],
        ),
        experiment(
            Sketch {
                id: "kblpp-fig14",
                place: "Figure 14",
                title: "Overhead over k",
                verdict: Better,
                because: "No program gets worse than 1.6 times.",
            },
            vec![check(
                "worst ratio",
                "3.76×",
                "at most 3.76×",
                Some((1.52, 1.44, 1.61)),
                Unit::Ratio,
                Better,
            )],
            vec![over_k(&mut dice)],
        ),
    ];
    Report {
        version: VERSION,
        provenance: Provenance {
            build: "0.0.0 (invented)".into(),
            began: "2026-01-31 12:00".into(),
            command: "holloway reproduce all --quick --seed 1".into(),
            mode: "quick".into(),
            machine: vec![
                ("processor".into(), "An invented processor, 2 cores".into()),
                ("memory".into(), "24 GB".into()),
                ("system".into(), "Linux, invented".into()),
                ("A/A band".into(), "±0.4 %".into()),
            ],
            seconds: 811.0,
        },
        papers: vec![
            paper(
                "pep",
                "An invented paper on paths and edges",
                &[("pep-fig6", 0), ("pep-fig6", 1), ("pep-fig8", 0)],
                pep,
            ),
            paper("cbs", "An invented paper on call graphs", &[("cbs-tab2", 0)], vec![failing]),
            paper("osp", "An invented paper on subpaths", &[("osp-tab2", 0)], osp),
            paper("pmu", "An invented paper on branch traces", &[("pmu-fig4", 0), ("pmu-fig6", 0)], pmu),
            paper(
                "kblpp",
                "An invented paper on paths over iterations",
                &[("kblpp-fig6", 0), ("kblpp-fig14", 0)],
                kblpp,
            ),
        ],
        targets: vec![target(Some(true), Some(false)), target(Some(false), None), target(None, None)],
        planes: vec![plane()],
    }
}

fn target(met: Option<bool>, stretch_met: Option<bool>) -> Target {
    let part = |what: &str, measured| TargetPart {
        experiment: "pep-fig6".into(),
        what: what.into(),
        shown: "0.91 %".into(),
        measured,
    };
    let measured = Measured { value: 0.91, interval: Some((0.7, 1.1)), unit: Unit::Percent };
    Target {
        id: "pep-fig6".into(),
        paper: "1.2 % on average".into(),
        target: "the same".into(),
        stretch: "0.8 %".into(),
        parts: vec![part("average overhead", Some(measured)), part("dearest program", None)],
        met,
        stretch_met,
    }
}
