//! Control-flow graphs: the analyses agree with their definitions on random graphs, and those of the functions in
//! `tests/cfg` are as expected.

mod support;

use holloway_bytecode::cfg::*;
use holloway_bytecode::text::{PRELUDE, assemble};
use holloway_bytecode::verify::verify;
use holloway_bytecode::{Op, code};
use std::collections::BTreeSet;
use std::fmt::Write;
use support::graphs::{Lists, random};
use support::{expect, files, for_seeds, report, valid};

const GRAPHS: u64 = 3000;

/// A relation between blocks, asked once for each pair.
fn table(count: usize, relation: impl Fn(u32, u32) -> bool) -> impl Fn(BlockId, BlockId) -> bool {
    let rows = 0..count as u32;
    let table: Vec<Vec<bool>> =
        rows.clone().map(|a| rows.clone().map(|b| relation(a, b)).collect()).collect();
    move |a, b| table[a.index()][b.index()]
}

fn numbers<'a>(blocks: impl IntoIterator<Item = &'a BlockId>) -> BTreeSet<u32> {
    blocks.into_iter().map(|b| b.0).collect()
}

#[test]
fn edges_and_order() {
    for_seeds(GRAPHS, |_, rng| {
        let lists = random(rng);
        let graph = lists.flow();
        for block in graph.blocks() {
            let targets: Vec<u32> = graph.out_edges(block).map(|e| graph.target(e).0).collect();
            assert_eq!(targets, lists.successors[block.index()]);
            assert!(graph.out_edges(block).all(|e| graph.source(e) == block));
            let incoming: Vec<EdgeId> = graph.edges().filter(|&e| graph.target(e) == block).collect();
            assert_eq!(graph.in_edges(block), incoming);
        }
        let order = graph.reverse_postorder();
        assert_eq!(numbers(order), lists.reachable());
        assert_eq!(order.len(), lists.reachable().len());
        assert_eq!(order[0].0, lists.entry);
        for (rank, &block) in order.iter().enumerate() {
            assert_eq!(graph.rank(block), Some(rank as u32));
            // Depth-first search reaches each block from one before it.
            let earlier = |p: BlockId| graph.rank(p).is_some_and(|r| (r as usize) < rank);
            assert!(rank == 0 || graph.predecessors(block).any(earlier));
        }
        // Without its retreating edges, a graph has no cycles: they all go up in the order.
        for edge in graph.edges().filter(|&e| graph.is_reachable(graph.source(e)) && !graph.is_retreating(e))
        {
            assert!(graph.rank(graph.source(edge)) < graph.rank(graph.target(edge)));
        }
    });
}

#[test]
fn dominators_are_what_their_definition_says() {
    for_seeds(GRAPHS, |_, rng| {
        let lists = random(rng);
        let graph = lists.flow();
        let dominators = Dominators::of(&graph);
        let dominates = table(graph.block_count(), |a, b| lists.dominates(a, b));
        for b in graph.blocks() {
            let strict: Vec<BlockId> = graph.blocks().filter(|&a| a != b && dominates(a, b)).collect();
            for a in graph.blocks() {
                assert_eq!(dominators.dominates(a, b), dominates(a, b), "{a:?} {b:?} {lists:?}");
                let common: Vec<BlockId> =
                    graph.blocks().filter(|&d| dominates(d, a) && dominates(d, b)).collect();
                let nearest = common.iter().copied().find(|&n| common.iter().all(|&d| dominates(d, n)));
                assert_eq!(dominators.nearest_common(a, b), nearest);
            }
            let immediate = strict.iter().copied().find(|&i| strict.iter().all(|&a| dominates(a, i)));
            assert_eq!(dominators.immediate(b), immediate, "{b:?} {lists:?}");
            assert_eq!(dominators.depth(b) as usize, strict.len());
            let children: BTreeSet<u32> =
                graph.blocks().filter(|&c| dominators.immediate(c) == Some(b)).map(|c| c.0).collect();
            assert_eq!(numbers(dominators.children(b)), children);
        }
        for (b, frontier) in dominators.frontiers(&graph).iter().enumerate() {
            let expected: BTreeSet<u32> = lists
                .reachable()
                .into_iter()
                .filter(|&f| {
                    let strictly = f != b as u32 && dominates(BlockId(b as u32), BlockId(f));
                    !strictly
                        && lists.predecessors(f).iter().any(|&p| dominates(BlockId(b as u32), BlockId(p)))
                })
                .collect();
            assert_eq!(
                (numbers(frontier), frontier.len()),
                (expected.clone(), expected.len()),
                "{b} {lists:?}"
            );
        }
    });
}

#[test]
fn postdominators_are_what_their_definition_says() {
    for_seeds(GRAPHS, |_, rng| {
        let lists = random(rng);
        let graph = lists.flow();
        let postdominators = Postdominators::of(&graph);
        let exits = postdominators.exits();
        let expected = table(graph.block_count(), |a, b| lists.postdominates(a, b, exits));
        // Every end is an exit; every reachable block reaches an exit; none is there without need.
        let reach = |from: u32, exits: &[BlockId]| {
            let found = support::graphs::reachable([from], None, |b| lists.successors[b as usize].clone());
            exits.iter().any(|e| found.contains(&e.0))
        };
        for block in lists.reachable() {
            assert!(reach(block, exits));
            assert!(!lists.successors[block as usize].is_empty() || exits.contains(&BlockId(block)));
        }
        for &exit in exits.iter().filter(|e| !lists.successors[e.index()].is_empty()) {
            let others: Vec<BlockId> = exits.iter().copied().filter(|&e| e != exit).collect();
            assert!(!reach(exit.0, &others), "{exit:?} {lists:?}");
        }
        for b in graph.blocks() {
            let strict: Vec<BlockId> = graph.blocks().filter(|&a| a != b && expected(a, b)).collect();
            for a in graph.blocks() {
                assert_eq!(postdominators.postdominates(a, b), expected(a, b), "{a:?} {b:?} {lists:?}");
            }
            let immediate = strict.iter().copied().find(|&i| strict.iter().all(|&a| expected(a, i)));
            assert_eq!(postdominators.immediate(b), immediate, "{b:?} {lists:?}");
        }
    });
}

#[test]
fn loops_are_what_their_definition_says() {
    let (mut nested, mut irreducible) = (0, 0);
    for_seeds(GRAPHS, |_, rng| {
        let lists = random(rng);
        let graph = lists.flow();
        let loops = Loops::of(&graph, &Dominators::of(&graph));
        let expected: Vec<(u32, BTreeSet<u32>)> = (lists.reachable().into_iter())
            .map(|header| (header, lists.natural_loop(header)))
            .filter(|(_, blocks)| !blocks.is_empty())
            .collect();
        assert_eq!(loops.len(), expected.len(), "{lists:?}");
        for (header, blocks) in &expected {
            let id = loops.headed_by(BlockId(*header)).expect("a loop with this header");
            let found = loops.get(id);
            assert_eq!(numbers(&found.blocks), *blocks, "{lists:?}");
            assert_eq!(found.blocks[0], found.header);
            assert!(found.blocks.is_sorted_by_key(|&b| graph.rank(b)));
            for block in graph.blocks() {
                assert_eq!(loops.contains(id, block), blocks.contains(&block.0));
            }
            // The smallest loop that strictly contains this one, and how many there are.
            let around = || expected.iter().filter(|(h, b)| h != header && b.is_superset(blocks));
            let parent = around().min_by_key(|(_, blocks)| blocks.len()).map(|(h, _)| BlockId(*h));
            assert_eq!(found.parent.map(|p| loops.get(p).header), parent, "{lists:?}");
            assert_eq!(found.depth as usize, 1 + around().count());
            assert!(found.parent.is_none_or(|p| p < id));
            nested += found.parent.is_some() as u32;
            let inside = |b: BlockId| blocks.contains(&b.0);
            let edges = |wanted: &dyn Fn(BlockId, BlockId) -> bool| -> BTreeSet<EdgeId> {
                graph.edges().filter(|&e| wanted(graph.source(e), graph.target(e))).collect()
            };
            let back = edges(&|s, t| t.0 == *header && inside(s));
            assert_eq!(found.back_edges.iter().copied().collect::<BTreeSet<_>>(), back);
            assert!(back.iter().all(|&e| loops.is_back_edge(&graph, e)));
            let exits = edges(&|s, t| inside(s) && !inside(t));
            assert_eq!(loops.exits(&graph, id).into_iter().collect::<BTreeSet<_>>(), exits);
            let entries = edges(&|s, t| graph.is_reachable(s) && !inside(s) && inside(t));
            assert_eq!(loops.entries(&graph, id).into_iter().collect::<BTreeSet<_>>(), entries);
        }
        let back_edges = graph.edges().filter(|&e| loops.is_back_edge(&graph, e)).count();
        let retreating = graph.edges().filter(|&e| graph.is_retreating(e)).count();
        assert_eq!(back_edges + loops.irreducible_edges().len(), retreating);
        assert_eq!(loops.is_reducible(), lists.is_reducible(), "{lists:?}");
        irreducible += !loops.is_reducible() as u32;
    });
    if std::env::var_os("SEED").is_none() {
        assert!(nested > 100 && irreducible > 100, "{nested} nested loops, {irreducible} irreducible graphs");
    }
}

#[test]
fn the_empty_graph_is_a_graph() {
    let graph = Lists { entry: 0, successors: Vec::new() }.flow();
    assert!(Loops::of(&graph, &Dominators::of(&graph)).is_empty());
    assert!(Postdominators::of(&graph).exits().is_empty());
}

/// A graph as deep as code can be: nothing recurses.
#[test]
fn long_chains_are_no_danger() {
    let count = 200_000;
    let successors = (0..count).map(|b| if b + 1 < count { vec![b + 1] } else { vec![0] }).collect();
    let graph = Lists { entry: 0, successors }.flow();
    let loops = Loops::of(&graph, &Dominators::of(&graph));
    assert_eq!(loops.get(LoopId(0)).blocks.len(), count as usize);
    assert_eq!(Postdominators::of(&graph).exits(), [BlockId(count - 1)]);
}

/// Blocks tile the code, and edges are the steps that instructions can take.
#[test]
fn graphs_of_functions_are_what_the_code_says() {
    for_seeds(4000, |_, rng| {
        let program = valid::program(rng);
        let function = &program.functions[0];
        let cfg = Cfg::of_function(function);
        let mut end = 0;
        for block in cfg.blocks() {
            let Block { start, end: next, last } = cfg.block(block);
            assert_eq!(start, end);
            end = next;
            let places: Vec<u32> = cfg.instructions(function, block).map(|(pc, _)| pc as u32).collect();
            assert_eq!(places.last(), Some(&last));
            assert!(places.iter().all(|&pc| cfg.block_at(pc) == Some(block)));
            let i = code::decode(&function.code, last as usize).expect("an instruction");
            let steps: Vec<u32> =
                valid::successors(last as usize, &i).into_iter().map(|pc| pc as u32).collect();
            let normal = |e: &EdgeId| !matches!(cfg.kind(*e), EdgeKind::Exception(_));
            let mut targets: Vec<u32> =
                cfg.out_edges(block).filter(normal).map(|e| cfg.block(cfg.target(e)).start).collect();
            if cfg.out_edges(block).next().map(|e| cfg.kind(e)) == Some(EdgeKind::FallThrough) {
                // The helper lists falling through last.
                targets.rotate_left(1);
            }
            assert_eq!(targets, steps);
            let raises = cfg.instructions(function, block).any(|(_, i)| can_raise(i.op));
            let caught: Vec<u32> = valid::handlers(function, start as usize).map(|h| h.target).collect();
            let handlers: Vec<u32> =
                cfg.out_edges(block).filter(|e| !normal(e)).map(|e| cfg.block(cfg.target(e)).start).collect();
            assert_eq!(handlers, if raises { caught } else { Vec::new() });
        }
        assert_eq!(end as usize, function.code.len());
        assert_eq!(cfg.block_at(end), None);
        cfg.dot(&program, function, &DotOptions { counters: true });
    });
}

/// Code without sense has a graph, too.
#[test]
fn graphs_of_garbage_are_no_danger() {
    for_seeds(1000, |_, rng| {
        let program = support::garbage::program(rng);
        for function in &program.functions {
            let cfg = Cfg::of_function(function);
            cfg.dot(&program, function, &DotOptions { counters: true });
            Postdominators::of(&cfg);
        }
    });
}

/// An instruction whose description tells of an error can raise one.
#[test]
fn what_can_raise_is_what_the_table_says() {
    for &op in Op::ALL {
        if op.description().contains("` error") {
            assert!(can_raise(op), "{}", op.mnemonic());
        }
    }
}

/// Each file in `tests/cfg` ends with a summary and the picture of its first function.
#[test]
fn files_have_the_expected_graphs() {
    let mut failures = Vec::new();
    for path in files("cfg") {
        let text = std::fs::read_to_string(&path).expect("test file");
        let (source, _) = text.split_once(";; ").unwrap_or((&text, ""));
        let program = assemble(&format!("{PRELUDE}{source}")).expect("correct text");
        let program = verify(program).unwrap_or_else(|errors| panic!("{}: {}", path.display(), errors[0]));
        let summary = summary(&program);
        let comments: String =
            summary.lines().map(|line| format!("{}\n", format!(";; {line}").trim_end())).collect();
        expect(&path, &format!("{source}{comments}"), &mut failures);
    }
    report(&failures);
}

fn summary(program: &holloway_bytecode::Program) -> String {
    let function = &program.functions[0];
    let cfg = Cfg::of_function(function);
    let dominators = Dominators::of(&cfg);
    let postdominators = Postdominators::of(&cfg);
    let loops = Loops::of(&cfg, &dominators);
    let list = |blocks: &[BlockId]| blocks.iter().map(|b| format!("b{}", b.0)).collect::<Vec<_>>().join(" ");
    let one = |block: Option<BlockId>| block.map_or("-".to_string(), |b| format!("b{}", b.0));
    let mut out = format!("order {}\n", list(cfg.reverse_postorder()));
    for block in cfg.blocks() {
        let (before, after) = (one(dominators.immediate(block)), one(postdominators.immediate(block)));
        let _ = writeln!(out, "b{}: dominated by {before}, postdominated by {after}", block.0);
    }
    for (id, l) in loops.iter() {
        let parent = l.parent.map_or(String::new(), |p| format!(" in loop {}", p.0));
        let _ = writeln!(out, "loop {}{parent}: {}", id.0, list(&l.blocks));
    }
    for &edge in loops.irreducible_edges() {
        let _ = writeln!(out, "irreducible: b{} to b{}", cfg.source(edge).0, cfg.target(edge).0);
    }
    out + &cfg.dot(program, function, &DotOptions { counters: false })
}
