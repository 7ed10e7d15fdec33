//! Worked examples of paths from branch traces: each stage of the analysis by itself, on graphs in letters.

use super::{arrow, graph, letter, spelled, steps};
use holloway_experiments::vectors::traces::TraceVector;
use holloway_profilers::btb::{
    Analysis, Crossing, EdgeCounts, Estimate, EstimateOptions, Layout, MethodCode, MethodRuns, PathIndex,
    Place, Program, Reconstruction, RegionId, RegionOptions, RegionPaths, Regions, RunCount, RunProfile,
    TakenBranch, Trace, reconstruct,
};
use holloway_profilers::paths::{Options, PathDag, Plan, Simulator};
use holloway_profilers::{Arm, BlockId, ControlFlow, Edge, Graph, MethodId, VersionId};
use std::collections::BTreeMap;

/// Numbers by part and name.
pub type Parts = BTreeMap<&'static str, BTreeMap<String, f64>>;

const METHOD: MethodId = MethodId(0);
const FINGERPRINT: u64 = 1;

/// An example on its graph.
struct Example {
    flow: Graph,
    program: Program,
}

/// Works it: what its parts are depends on what it gives.
pub fn work(vector: &TraceVector) -> Result<Parts, String> {
    let flow = graph(&vector.graph)?;
    let order: Vec<BlockId> = (0..flow.blocks()).map(BlockId::new).collect();
    let code = MethodCode::new(&flow, Layout::Order(&order), FINGERPRINT);
    let mut program = Program::new();
    program.insert(METHOD, code.map_err(|error| error.to_string())?);
    let example = Example { flow, program };
    if !vector.walks.is_empty() {
        example.edges_and_paths(&vector.walks)
    } else if !vector.traces.is_empty() {
        example.partial_paths(&vector.traces)
    } else if !vector.partials.is_empty() {
        example.weights(&vector.partials)
    } else {
        example.regions()
    }
}

impl Example {
    fn code(&self) -> Result<&MethodCode, String> {
        self.program.method(METHOD).ok_or_else(|| "there is no method".into())
    }

    /// Walks seen three ways: by edges, by counted paths, by branch traces.
    fn edges_and_paths(&self, walks: &BTreeMap<String, u64>) -> Result<Parts, String> {
        let code = self.code()?;
        let runs = walks
            .iter()
            .map(|(walk, &count)| Ok(RunCount { blocks: blocks(walk)?, count }))
            .collect::<Result<Vec<_>, String>>()?;
        let counts = EdgeCounts::of_samples(&profile(runs.clone()));
        let count = |edge: Edge| counts.get(METHOD, edge.from, self.flow.target(edge));
        let edges = (0..self.flow.blocks()).map(BlockId::new).flat_map(|from| {
            (0..self.flow.successors(from).len()).map(move |arm| Edge { from, arm: Arm::new(arm) })
        });
        let edges = edges.map(|edge| (arrow(&self.flow, edge), count(edge) as f64)).collect();

        let plan = Plan::new(&self.flow, &Options::default(), |_| 0).map_err(|error| error.to_string())?;
        let dag = PathDag::new(&plan, VersionId(0), |_| None);
        let mut machine = Simulator::new(&plan);
        let mut paths: BTreeMap<String, f64> = BTreeMap::new();
        let mut analysis = Analysis::new(&self.program, Reconstruction::default(), Crossing::Split);
        for (walk, &times) in walks {
            let mut numbers = Vec::new();
            machine.run(&steps(&self.flow, walk)?, |number| numbers.push(number));
            for number in numbers {
                let path = dag.decode(number).ok_or("a number without a path")?;
                *paths.entry(spelled(&path)).or_default() += times as f64;
            }
            let taken = blocks(walk)?;
            let taken = taken.windows(2).filter(|pair| code.fall_through(pair[0]) != Some(pair[1]));
            let branches = taken.map(|pair| TakenBranch::jump(METHOD, pair[0], pair[1])).collect();
            analysis.add(&Trace { branches, pc: None }, times);
        }
        let traces = self.estimate(&analysis.profile())?;
        let traces = traces.paths.iter().map(|of| (letters(&of.full.blocks), of.weight)).collect();
        let greedy = BTreeMap::from([self.greedy(&counts)]);
        Ok(Parts::from([("edges", edges), ("greedy", greedy), ("paths", paths), ("traces", traces)]))
    }

    /// The path that always takes the most frequent edge, as often as its rarest.
    fn greedy(&self, counts: &EdgeCounts) -> (String, f64) {
        let (mut here, mut least) = (self.flow.entry(), u64::MAX);
        let mut path = vec![here];
        // The most frequent edges may lead around a loop.
        while path.len() <= self.flow.blocks() {
            let next = self.flow.successors(here).iter().map(|&to| (counts.get(METHOD, here, to), to));
            let Some((count, to)) = next.max_by_key(|of| of.0) else { break };
            (here, least) = (to, least.min(count));
            path.push(to);
        }
        (letters(&path), least as f64)
    }

    /// What traces show, and what that is extended to.
    fn partial_paths(&self, traces: &[String]) -> Result<Parts, String> {
        let (mut initial, mut extended) = (BTreeMap::new(), BTreeMap::new());
        for (number, text) in (1_u32..).zip(traces) {
            let branch = |pair: &str| match blocks(pair)?[..] {
                [from, to] => Ok(TakenBranch::jump(METHOD, from, to)),
                _ => Err(format!("a branch is two letters, not {pair}")),
            };
            let branches = text.split_whitespace().map(branch).collect::<Result<_, String>>()?;
            let path = reconstruct(&self.program, &Trace { branches, pc: None }, Reconstruction::default())
                .map_err(|reason| reason.text().to_string())?;
            let spelled = |steps: &[holloway_profilers::btb::Step]| {
                let block = |step: &holloway_profilers::btb::Step| match step.place {
                    Place::At { block, .. } => letter(block),
                    Place::Outside | Place::Missing => '?',
                };
                steps.iter().map(block).collect::<String>()
            };
            initial.insert(spelled(path.initial()), f64::from(number));
            extended.insert(spelled(&path.steps), f64::from(number));
        }
        Ok(Parts::from([("initial", initial), ("extended", extended)]))
    }

    /// Regions and their full paths, each with the number of the region.
    fn regions(&self) -> Result<Parts, String> {
        let (code, regions) = (self.code()?, self.divided()?);
        let (mut names, mut paths) = (BTreeMap::new(), BTreeMap::new());
        for number in 0..regions.len() as u32 {
            let region = RegionId(number);
            names.insert(members(&regions, region), f64::from(number + 1));
            let all = RegionPaths::new(code, &regions, region);
            for path in (0..all.count() as u32).filter_map(|path| all.path(PathIndex(path))) {
                paths.insert(letters(&path.blocks), f64::from(number + 1));
            }
        }
        Ok(Parts::from([("regions", names), ("paths", paths)]))
    }

    /// Partial paths divided among full paths, one after the other.
    fn weights(&self, partials: &[(String, u64)]) -> Result<Parts, String> {
        let (mut increments, mut totals) = (BTreeMap::new(), BTreeMap::new());
        let mut weights: BTreeMap<String, f64> = BTreeMap::new();
        let mut last = Estimate::default();
        let mut runs = Vec::new();
        for (partial, count) in partials {
            runs.push(RunCount { blocks: blocks(partial)?, count: *count });
            last = self.estimate(&profile(runs.clone()))?;
            for of in &last.paths {
                let path = letters(&of.full.blocks);
                let before = weights.insert(path.clone(), of.weight).unwrap_or_default();
                if of.weight != before {
                    increments.insert(format!("{partial} in {path}"), of.weight - before);
                    totals.insert(format!("{partial} in {path}"), of.weight);
                }
            }
        }
        let regions = self.divided()?;
        let by_region = |number: fn(&holloway_profilers::btb::RegionSummary) -> u64| {
            last.regions.iter().map(|of| (members(&regions, of.region), number(of) as f64)).collect()
        };
        Ok(Parts::from([
            ("increments", increments),
            ("totals", totals),
            ("partials", by_region(|of| of.partials)),
            ("matches", by_region(|of| of.matches)),
            ("weights", weights),
        ]))
    }

    fn divided(&self) -> Result<Regions, String> {
        Regions::new(self.code()?, RegionOptions::default()).map_err(|error| error.to_string())
    }

    fn estimate(&self, profile: &RunProfile) -> Result<Estimate, String> {
        Estimate::new(&self.program, profile, EstimateOptions::default(), None)
            .map_err(|error| error.to_string())
    }
}

/// The blocks of a region in the order of the alphabet.
fn members(regions: &Regions, region: RegionId) -> String {
    let mut blocks = regions.blocks(region).to_vec();
    blocks.sort();
    letters(&blocks)
}

fn profile(runs: Vec<RunCount>) -> RunProfile {
    RunProfile { methods: vec![MethodRuns { method: METHOD, fingerprint: FINGERPRINT, runs }] }
}

fn blocks(text: &str) -> Result<Vec<BlockId>, String> {
    let block = |letter: char| match letter {
        'A'..='Z' => Ok(BlockId(u32::from(letter) - u32::from('A'))),
        _ => Err(format!("a block is a letter from A to Z, not {letter}")),
    };
    text.chars().map(block).collect()
}

fn letters(blocks: &[BlockId]) -> String {
    blocks.iter().copied().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use holloway_experiments::vectors::traces;

    #[test]
    fn examples_come_to_what_was_worked_by_hand() {
        for vector in traces::all() {
            let parts = work(vector).expect("it can be worked");
            let parts: BTreeMap<String, _> =
                parts.into_iter().map(|(name, of)| (name.to_string(), of)).collect();
            assert_eq!(parts, vector.expected, "{}", vector.name);
        }
    }

    #[test]
    fn what_the_graph_does_not_have_is_an_error() {
        let vector = traces::find("pmu-1").expect("there");
        let with = |trace: &str| TraceVector { traces: vec![trace.into()], ..vector.clone() };
        assert!(work(&with("JL AF")).is_err_and(|why| why.contains("fall through")));
        assert!(work(&with("JLM")).is_err_and(|why| why.contains("two letters")));
        assert!(work(&with("jl")).is_err_and(|why| why.contains("A to Z")));
    }
}
