//! `holloway experiment example`: a worked example of the papers, worked by the profilers' library.
//!
//! Blocks are letters. The papers have no ENTRY before the first block, so what the path register starts with is part of the values of the edges out
//! of that block.

mod traces;

use crate::report::Stop;
use holloway_experiments::vectors::traces::TraceVector;
use holloway_experiments::vectors::{self, Vector, Window};
use holloway_profilers::paths::{
    Action, Cut, End, Options, Path, PathBreak, PathDag, Placement, Plan, Simulator, Step, headers,
};
use holloway_profilers::schedule::{self, Parameters, Shape};
use holloway_profilers::{Arm, BlockId, ControlFlow, Edge, Graph, VersionId};
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::process::ExitCode;

use super::arguments::ExampleArguments;

/// Works it and prints what came of it.
pub fn example(arguments: &ExampleArguments) -> Result<ExitCode, Stop> {
    if let Some(vector) = vectors::traces::find(&arguments.name) {
        return trace_example(vector, arguments.json);
    }
    let vector = vectors::find(&arguments.name).expect("the flags were checked");
    let wrong = |error: String| Stop::failure(format_args!("the example {}: {error}", vector.name));
    let variants = vector.expected.keys();
    let worked: Result<Vec<(&String, Worked)>, String> =
        variants.map(|variant| Ok((variant, work(vector, variant)?))).collect();
    let worked = worked.map_err(wrong)?;
    let text = if arguments.json {
        let all: Map<String, Value> =
            worked.iter().map(|(variant, of)| (variant.to_string(), of.json())).collect();
        Value::from(all).to_string() + "\n"
    } else {
        let head = format!("{} ({}): {}\n", vector.name, vector.figure, vector.title);
        worked.iter().fold(head, |text, (variant, of)| text + "\n" + variant + ":\n" + &of.text())
    };
    super::super::print(text, ExitCode::SUCCESS)
}

fn trace_example(vector: &TraceVector, is_json: bool) -> Result<ExitCode, Stop> {
    let wrong = |error: String| Stop::failure(format_args!("the example {}: {error}", vector.name));
    let parts = traces::work(vector).map_err(wrong)?;
    if is_json {
        return super::super::print(json!(parts).to_string() + "\n", ExitCode::SUCCESS);
    }
    let mut text = format!("{} ({}): {}\n", vector.name, vector.figure, vector.title);
    for (part, numbers) in parts {
        let width = numbers.keys().map(|name| name.chars().count()).max().unwrap_or(0);
        let _ = writeln!(text, "\n{part}:");
        for (name, number) in numbers {
            let _ = writeln!(text, "  {name:<width$}  {number}");
        }
    }
    super::super::print(text, ExitCode::SUCCESS)
}

/// What came of a variant.
enum Worked {
    Paths(Paths),
    /// For each tick, which opportunities are sampled.
    Samples(Vec<(u32, Vec<u32>)>),
}

/// A graph with numbers.
struct Paths {
    count: u64,
    /// Edges, and the ends and beginnings that take the place of cut ones.
    values: Vec<(String, u64)>,
    /// Lines of code where they stand.
    code: Vec<(String, String)>,
    /// By number.
    paths: Vec<String>,
    /// What the walks gave.
    ids: Vec<u64>,
    /// Executed when edges are taken as often as it says.
    additions: u64,
}

fn work(vector: &Vector, variant: &str) -> Result<Worked, String> {
    match &vector.window {
        Some(window) => sample(window, variant).map(Worked::Samples),
        None => number(vector, variant).map(Worked::Paths),
    }
}

fn sample(window: &Window, shape: &str) -> Result<Vec<(u32, Vec<u32>)>, String> {
    let shape: Shape = shape.parse().map_err(|error: schedule::ParameterError| error.to_string())?;
    let parameters =
        Parameters::new(shape, window.samples, window.stride).map_err(|error| error.to_string())?;
    let mut machine = schedule::Window::new(parameters);
    let mut lists: Vec<(u32, Vec<u32>)> = Vec::new();
    for opportunity in 1..=window.opportunities {
        if window.ticks.contains(&opportunity) {
            machine.tick();
            lists.push((opportunity, Vec::new()));
        }
        if machine.opportunity() == schedule::Verdict::Take {
            lists.last_mut().ok_or("a sample before the first tick")?.1.push(opportunity);
        }
    }
    Ok(lists)
}

fn number(vector: &Vector, variant: &str) -> Result<Paths, String> {
    let flow = graph(&vector.graph)?;
    let (cut, placement) = match variant {
        "headers" => (Cut::Blocks(headers(&flow)), Placement::Naive),
        "smart" => (Cut::BackEdges, Placement::Smart),
        "hot" => (Cut::BackEdges, Placement::Hot),
        "back edges" | "naive" => (Cut::BackEdges, Placement::Naive),
        _ => return Err(format!("there is no variant {variant}")),
    };
    let frequency = |edge: Edge| vector.taken.get(&arrow(&flow, edge)).copied().unwrap_or(0);
    let plan = Plan::new(&flow, &Options { cut, placement, ..Options::default() }, frequency)
        .map_err(|error| error.to_string())?;
    let dag = PathDag::new(&plan, VersionId(0), |_| None);
    let paths = (0..plan.paths()).map(|number| dag.decode(number).as_ref().map(spelled));
    let mut ids = Vec::new();
    let mut machine = Simulator::new(&plan);
    for walk in &vector.walks {
        machine.run(&steps(&flow, walk)?, |number| ids.push(number));
    }
    Ok(Paths {
        count: plan.paths(),
        values: values(&flow, &plan),
        code: code(&flow, &plan),
        paths: paths.collect::<Option<_>>().ok_or("a number without a path")?,
        ids,
        additions: plan.expected_additions(frequency),
    })
}

fn values(flow: &Graph, plan: &Plan) -> Vec<(String, u64)> {
    let mut all = Vec::new();
    for (edge, action) in plan.actions() {
        let start = if edge.from == plan.entry() { plan.start() } else { 0 };
        let name = arrow(flow, edge);
        match action {
            Action::Add(value) => all.push((name, start + value)),
            Action::Break(PathBreak { end, begin }) => {
                all.push((format!("{name}, end"), start + end));
                all.push((format!("{name}, begin"), begin));
            }
        }
    }
    all.extend(plan.cut_blocks().iter().map(|cut| (format!("{}, begin", letter(cut.block)), cut.begin)));
    all
}

/// The instrumented method: its blocks, and what is done in them and on the edges out of them.
fn code(flow: &Graph, plan: &Plan) -> Vec<(String, String)> {
    let plus = |value: u64| if value == 0 { String::new() } else { format!(" + {value}") };
    let mut lines = Vec::new();
    for block in (0..flow.blocks()).map(BlockId::new) {
        let mut here = Vec::new();
        if block == plan.entry() {
            here.push(format!("r = {}", plan.start()));
        }
        if let Some(cut) = plan.cut(block) {
            here.push(format!("yieldpoint: count[r]++, or PEP may sample r; r = {}", cut.begin));
        }
        if flow.successors(block).is_empty() {
            here.push("count[r]++, or PEP may sample r".into());
        }
        lines.push((letter(block).to_string(), here.join("; ")));
        for arm in (0..flow.successors(block).len()).map(Arm::new) {
            let edge = Edge { from: block, arm };
            let on_edge = match plan.action(edge) {
                Action::Add(0) => String::new(),
                Action::Add(value) => format!("r += {value}"),
                Action::Break(PathBreak { end, begin }) => format!("count[r{}]++; r = {begin}", plus(end)),
            };
            lines.push((arrow(flow, edge), on_edge));
        }
    }
    lines
}

impl Worked {
    /// All of it by name: paths with their numbers, lines of code with theirs.
    fn json(&self) -> Value {
        match self {
            Worked::Samples(lists) => {
                let ticks = lists.iter().map(|(tick, list)| (tick.to_string(), json!(list)));
                json!({ "ticks": ticks.collect::<Map<_, _>>() })
            }
            Worked::Paths(of) => {
                let values = of.values.iter().map(|(name, value)| (name.clone(), json!(value)));
                let paths = of.paths.iter().zip(0_u64..).map(|(path, number)| (path.clone(), json!(number)));
                let code = of.code.iter().zip(0_u64..);
                let code = code.map(|((place, what), line)| (format!("{place}: {what}"), json!(line)));
                json!({
                    "count": of.count,
                    "values": values.collect::<Map<_, _>>(),
                    "paths": paths.collect::<Map<_, _>>(),
                    "code": code.collect::<Map<_, _>>(),
                    "ids": of.ids,
                    "additions": of.additions,
                })
            }
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        match self {
            Worked::Samples(lists) => {
                for (tick, list) in lists {
                    let _ = writeln!(text, "  tick before {tick:>2}: samples at {list:?}");
                }
            }
            Worked::Paths(of) => {
                let _ = writeln!(text, "  values");
                of.values.iter().for_each(|(name, value)| {
                    let _ = writeln!(text, "    {name:<12} {value}");
                });
                let _ = writeln!(text, "  instrumented");
                of.code.iter().for_each(|(place, what)| {
                    let _ = writeln!(text, "    {}", format!("{place:<5} {what}").trim_end());
                });
                let _ = writeln!(text, "  {} paths", of.count);
                of.paths.iter().enumerate().for_each(|(number, path)| {
                    let _ = writeln!(text, "    {number:<3} {path}");
                });
                if !of.ids.is_empty() {
                    let _ = writeln!(text, "  numbers of a run: {:?}", of.ids);
                }
                if of.additions > 0 {
                    let _ = writeln!(text, "  additions executed: {}", of.additions);
                }
            }
        }
        text
    }
}

/// A graph from letters: `A:BC B:D` is A with successors B and C, and B with successor D.
fn graph(text: &str) -> Result<Graph, String> {
    let index = |letter: char| {
        letter
            .is_ascii_uppercase()
            .then(|| letter as usize - 'A' as usize)
            .ok_or("a block is a letter from A to Z")
    };
    let mut successors: Vec<Vec<u32>> = Vec::new();
    let mut see = |block: usize| successors.resize_with(successors.len().max(block + 1), Vec::new);
    for letter in text.chars().filter(|letter| !matches!(letter, ' ' | ':')) {
        see(index(letter)?);
    }
    for item in text.split_whitespace() {
        let (from, to) = item.split_once(':').ok_or("a block is followed by a colon")?;
        let from = from.parse().map_err(|_| "a block is one letter")?;
        let to: Result<Vec<u32>, &str> = to.chars().map(|to| index(to).map(|to| to as u32)).collect();
        successors[index(from)?] = to?;
    }
    match successors.is_empty() {
        true => Err("a graph has a block".into()),
        false => Ok(Graph::new(&successors.iter().map(Vec::as_slice).collect::<Vec<_>>())),
    }
}

/// The arms that a walk takes: the first to each block.
fn steps(flow: &Graph, walk: &str) -> Result<Vec<Step>, String> {
    let letters: Vec<char> = walk.chars().collect();
    let step = |pair: &[char]| {
        let from = BlockId(u32::from(pair[0]) - u32::from('A'));
        let arm = flow.successors(from).iter().position(|&to| letter(to) == pair[1]);
        arm.map(|arm| Step::Take(Arm::new(arm))).ok_or(format!("no edge from {} to {}", pair[0], pair[1]))
    };
    letters.windows(2).map(step).collect()
}

fn letter(block: BlockId) -> char {
    char::from(b'A' + block.0 as u8)
}

fn arrow(flow: &Graph, edge: Edge) -> String {
    format!("{}→{}", letter(edge.from), letter(flow.target(edge)))
}

/// A path in letters: `ABDE⟲` ends by taking a back edge, `A[B]` at the yieldpoint of B.
fn spelled(path: &Path) -> String {
    let mut text: String = path.blocks.iter().copied().map(letter).collect();
    match path.end {
        End::BackEdge(_) => text.push('⟲'),
        End::Cut(_) => {
            if let Some(last) = text.pop() {
                text.extend(['[', last, ']']);
            }
        }
        End::Exit(_) | End::Open => {}
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphs_are_read_from_letters() {
        let flow = graph("A:BC B:D").expect("a graph");
        assert_eq!((flow.blocks(), flow.successors(BlockId(0)).len()), (4, 2));
        for wrong in ["", "a:b", "A", "AB:C", "A:b"] {
            assert!(graph(wrong).is_err(), "{wrong}");
        }
        assert!(steps(&flow, "ABC").is_err_and(|why| why.contains("from B to C")));
    }

    #[test]
    fn a_loop_is_numbered_and_listed() {
        let vector = vectors::find("bl-3").expect("there");
        let worked = number(vector, "back edges").expect("it can be numbered");
        assert_eq!(worked.count, 8);
        assert!(worked.code.contains(&("E→B".into(), "count[r]++; r = 0".into())), "{:?}", worked.code);
        assert!(worked.values.contains(&("A→B".into(), 4)), "{:?}", worked.values);
        assert!(number(vector, "sideways").is_err());
    }
}
