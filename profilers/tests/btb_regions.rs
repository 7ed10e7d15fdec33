//! Regions and full paths on random graphs, against the rules as the paper states them and against naive enumeration.

mod btb_support;

use btb_support::{Rng, random_graph, random_layout, rng};
use holloway_profilers::btb::{
    Exits, FullPath, Layout, MethodCode, PathIndex, Piece, RegionId, RegionOptions, RegionPaths, Regions,
    innermost_loops, pieces,
};
use holloway_profilers::{BlockId, Graph};
use rand::RngExt;
use std::collections::{BTreeMap, BTreeSet};

fn random_code(random: &mut Rng, most: usize) -> MethodCode {
    let graph = random_graph(random, most);
    random_layout(random, &graph).0
}

fn options(random: &mut Rng) -> RegionOptions {
    RegionOptions {
        cap: [2, 3, 5, 16, 1024][random.random_range(0..5usize)],
        exits: if random.random_bool(0.5) { Exits::Merged } else { Exits::Kept },
    }
}

fn ids(code: &MethodCode) -> impl Iterator<Item = BlockId> {
    (0..code.len()).map(BlockId::new)
}

/// Full paths by depth-first search: the order in which they are numbered.
fn enumerate(code: &MethodCode, regions: &Regions, region: RegionId, most: usize) -> Vec<FullPath> {
    fn search(
        code: &MethodCode,
        regions: &Regions,
        path: &mut Vec<BlockId>,
        most: usize,
        found: &mut Vec<FullPath>,
    ) {
        let last = *path.last().expect("an entry");
        let members: BTreeSet<BlockId> =
            regions.blocks(regions.of(last).expect("a region")).iter().copied().collect();
        let entry = path[0];
        let inside = |to: &BlockId| members.contains(to) && *to != entry;
        let exits: Vec<BlockId> = code.successors(last).iter().copied().filter(|to| !inside(to)).collect();
        if code.successors(last).is_empty() || (!exits.is_empty() && regions.options().exits == Exits::Merged)
        {
            found.push(FullPath { blocks: path.clone(), exit: None });
        } else {
            found.extend(exits.iter().map(|&exit| FullPath { blocks: path.clone(), exit: Some(exit) }));
        }
        for &to in code.successors(last).iter().filter(|to| inside(to)) {
            assert!(found.len() <= most, "more paths than {most}");
            path.push(to);
            search(code, regions, path, most, found);
            path.pop();
        }
    }
    let mut found = Vec::new();
    search(code, regions, &mut vec![regions.entry(region)], most, &mut found);
    found
}

#[test]
fn regions_obey_the_rules() {
    let mut large = 0;
    for seed in 0..1500 {
        let mut random = rng(seed);
        let code = random_code(&mut random, 40);
        let options = options(&mut random);
        let regions = Regions::new(&code, options).expect("a cap");
        let loops = innermost_loops(&code);
        let mut times = vec![0; code.len()];
        for region in (0..regions.len() as u32).map(RegionId) {
            let blocks = regions.blocks(region);
            let entry = regions.entry(region);
            large += usize::from(blocks.len() > 4);
            for (index, &block) in blocks.iter().enumerate() {
                times[block.index()] += 1;
                assert_eq!(regions.of(block), Some(region));
                // Rule 2.
                assert_eq!(loops[block.index()], loops[entry.index()]);
                if block == entry {
                    continue;
                }
                // Rule 1, and the order of the blocks.
                assert!(!code.landing(block));
                for from in code.predecessors(block) {
                    assert!(blocks[..index].contains(from), "seed {seed}: {from} -> {block}");
                    assert!(regions.inside(*from, block));
                }
            }
            // Rule 3.
            let paths = enumerate(&code, &regions, region, 2000);
            assert!(paths.len() < options.cap as usize || blocks.len() == 1, "seed {seed}");
            // Rule 4: no further block could be admitted alone.
            let admissible = ids(&code).filter(|block| {
                regions.of(*block).is_some_and(|other| other != region)
                    && !code.landing(*block)
                    && loops[block.index()] == loops[entry.index()]
                    && code.predecessors(*block).iter().all(|from| blocks.contains(from))
            });
            for block in admissible {
                let mut more: BTreeSet<BlockId> = blocks.iter().copied().collect();
                more.insert(block);
                let with = count_naively(&code, &more, entry, entry, options.exits);
                assert!(with >= u64::from(options.cap), "seed {seed}: {block} would fit");
            }
        }
        // Each reachable block once, no other.
        for block in ids(&code) {
            assert_eq!(times[block.index()], u32::from(code.reachable(block)), "seed {seed}: {block}");
        }
    }
    assert!(large > 300, "{large} large regions");
}

fn count_naively(
    code: &MethodCode,
    members: &BTreeSet<BlockId>,
    entry: BlockId,
    at: BlockId,
    exits: Exits,
) -> u64 {
    let inside = |to: &&BlockId| members.contains(to) && **to != entry;
    let out = code.successors(at).iter().filter(|to| !inside(to)).count() as u64;
    let here = match exits {
        Exits::Kept if out > 0 => out,
        _ => u64::from(out > 0 || code.successors(at).is_empty()),
    };
    here + code
        .successors(at)
        .iter()
        .filter(inside)
        .map(|&to| count_naively(code, members, entry, to, exits))
        .sum::<u64>()
}

/// Without a cap in the way, a region is the one largest set that rules 1 and 2 allow, whatever the order.
#[test]
fn without_a_cap_regions_are_the_closure_of_the_rules() {
    for seed in 0..500 {
        let mut random = rng(seed);
        let code = random_code(&mut random, 20);
        let options = RegionOptions { cap: RegionOptions::MAX_CAP, exits: Exits::Merged };
        let regions = Regions::new(&code, options).expect("a cap");
        let loops = innermost_loops(&code);
        for region in (0..regions.len() as u32).map(RegionId) {
            let entry = regions.entry(region);
            let mut naive = BTreeSet::from([entry]);
            loop {
                let next = ids(&code).find(|block| {
                    !naive.contains(block)
                        && code.reachable(*block)
                        && !code.landing(*block)
                        && loops[block.index()] == loops[entry.index()]
                        && code.predecessors(*block).iter().all(|from| naive.contains(from))
                });
                match next {
                    Some(block) => naive.insert(block),
                    None => break,
                };
            }
            assert_eq!(regions.blocks(region).iter().copied().collect::<BTreeSet<_>>(), naive);
        }
    }
}

#[test]
fn paths_are_numbered_in_the_order_of_a_naive_search() {
    let mut compared = 0;
    for seed in 0..800 {
        let mut random = rng(seed);
        let code = random_code(&mut random, 30);
        let regions = Regions::new(&code, options(&mut random)).expect("a cap");
        for region in (0..regions.len() as u32).map(RegionId) {
            let naive = enumerate(&code, &regions, region, 2000);
            let paths = RegionPaths::new(&code, &regions, region);
            assert_eq!(paths.count(), naive.len());
            assert_eq!(paths.path(PathIndex(naive.len() as u32)), None);
            for (number, full) in naive.iter().enumerate() {
                let number = PathIndex(number as u32);
                assert_eq!(paths.path(number).as_ref(), Some(full));
                assert_eq!(paths.number(&full.blocks, full.exit), Some(number));
                compared += 1;
            }
            // P(e) of every edge.
            for &from in regions.blocks(region) {
                for &to in code.successors(from) {
                    let has = |full: &FullPath| {
                        full.blocks.windows(2).any(|pair| pair == [from, to])
                            || (full.blocks.last() == Some(&from) && full.exit == Some(to))
                    };
                    let expected: Vec<usize> = (0..naive.len()).filter(|&path| has(&naive[path])).collect();
                    let known = regions.inside(from, to) || regions.options().exits == Exits::Kept;
                    let set = paths.with_edge(from, to).map(|set| set.iter().collect::<Vec<_>>());
                    assert_eq!(set, known.then_some(expected), "seed {seed}: {from} -> {to}");
                }
            }
            // A path is obvious if one of its edges has no other.
            for path in (0..naive.len() as u32).map(PathIndex) {
                let full = &naive[path.0 as usize];
                let mut edges: Vec<(BlockId, BlockId)> =
                    full.blocks.windows(2).map(|pair| (pair[0], pair[1])).collect();
                edges.extend(full.exit.map(|exit| (full.blocks[full.blocks.len() - 1], exit)));
                let alone = |&(from, to): &(BlockId, BlockId)| {
                    paths.with_edge(from, to).is_some_and(|set| set.count() == 1)
                };
                assert_eq!(paths.obvious(path), edges.iter().any(alone));
            }
        }
    }
    assert!(compared > 5000, "{compared} paths");
}

/// A part of a full path matches exactly the full paths that contain it.
#[test]
fn matching_sets_are_those_of_a_naive_search() {
    let mut ambiguous = 0;
    for seed in 0..500 {
        let mut random = rng(seed);
        let code = random_code(&mut random, 30);
        let regions = Regions::new(&code, options(&mut random)).expect("a cap");
        for region in (0..regions.len() as u32).map(RegionId) {
            let paths = RegionPaths::new(&code, &regions, region);
            let naive = enumerate(&code, &regions, region, 2000);
            for _ in 0..5 {
                let full = &naive[random.random_range(0..naive.len())];
                let start = random.random_range(0..full.blocks.len());
                let end = random.random_range(start..full.blocks.len());
                let at_end = end + 1 == full.blocks.len();
                let exit = full.exit.filter(|_| at_end && random.random_bool(0.5));
                let piece = Piece { region, blocks: full.blocks[start..=end].to_vec(), exit };
                let contains = |other: &FullPath| {
                    piece.edges() == 0
                        || (other.blocks.windows(piece.blocks.len()).any(|window| window == piece.blocks)
                            && (exit.is_none()
                                || (other.exit == exit && other.blocks.ends_with(&piece.blocks))))
                };
                let expected: Vec<usize> = (0..naive.len()).filter(|&path| contains(&naive[path])).collect();
                let set = paths.matching(&regions, &piece).expect("a piece of the region");
                assert_eq!(set.iter().collect::<Vec<_>>(), expected);
                ambiguous += usize::from(expected.len() > 1);
            }
        }
    }
    assert!(ambiguous > 1000, "{ambiguous} ambiguous pieces");
}

/// A whole activation is cut into full paths.
#[test]
fn a_complete_walk_consists_of_full_paths() {
    let mut found = 0;
    for seed in 0..500 {
        let mut random = rng(seed);
        let code = random_code(&mut random, 30);
        let regions = Regions::new(&code, options(&mut random)).expect("a cap");
        let mut walk = vec![code.entry()];
        while walk.len() < 300 {
            match code.successors(walk[walk.len() - 1]) {
                [] => break,
                successors => walk.push(successors[random.random_range(0..successors.len())]),
            }
        }
        let mut cut = pieces(&code, &regions, &walk).expect("a walk");
        if !code.successors(walk[walk.len() - 1]).is_empty() {
            cut.pop();
        }
        for piece in cut {
            let paths = RegionPaths::new(&code, &regions, piece.region);
            let number = paths.number(&piece.blocks, piece.exit).expect("a full path");
            assert_eq!(paths.path(number).map(|full| full.blocks), Some(piece.blocks));
            found += 1;
        }
    }
    assert!(found > 1000, "{found} full paths");
}

/// Runs that the method does not have are refused, not cut.
#[test]
fn runs_of_other_code_are_refused() {
    let graph = Graph::new(&[&[1], &[2], &[], &[2]]);
    let code = MethodCode::new(&graph, Layout::Arms(&[None; 4]), 1).expect("a layout");
    let regions = Regions::new(&code, RegionOptions::default()).expect("a cap");
    assert!(pieces(&code, &regions, &[BlockId(0), BlockId(1), BlockId(2)]).is_some());
    for run in [&[0u32, 2][..], &[4], &[0, u32::MAX], &[3, 2], &[2, 0]] {
        let run: Vec<BlockId> = run.iter().map(|&block| BlockId(block)).collect();
        assert_eq!(pieces(&code, &regions, &run), None, "{run:?}");
    }
    for cap in [0, 1, RegionOptions::MAX_CAP + 1] {
        let error = Regions::new(&code, RegionOptions { cap, exits: Exits::Merged }).expect_err("no cap");
        assert_eq!(error.to_string(), format!("cap of paths in a region is {cap}, but must be 2 to 65536"));
    }
}

/// A long ladder and a long chain: nothing recurses, and the cap is what ends a region.
#[test]
fn large_methods_are_no_trouble() {
    let blocks = 60_000u32;
    let chain: Vec<Vec<u32>> =
        (0..blocks).map(|block| if block + 1 < blocks { vec![block + 1] } else { vec![] }).collect();
    let diamonds: Vec<Vec<u32>> = (0..blocks)
        .map(|block| match block % 3 {
            _ if block + 3 >= blocks => vec![],
            0 => vec![block + 1, block + 2],
            1 => vec![block + 2],
            _ => vec![block + 1],
        })
        .collect();
    for (successors, most_paths) in [(chain, 1), (diamonds, 1023)] {
        let graph = Graph::new(&successors.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let order: Vec<BlockId> = (0..blocks).map(BlockId).collect();
        let code = MethodCode::new(&graph, Layout::Order(&order), 1).expect("a layout");
        let regions = Regions::new(&code, RegionOptions::default()).expect("a cap");
        for region in [0, regions.len() / 2, regions.len() - 1] {
            let paths = RegionPaths::new(&code, &regions, RegionId(region as u32));
            assert!((1..=most_paths).contains(&paths.count()));
        }
    }
}

/// Natural loops by dominators, both by the definition.
fn natural_loops(code: &MethodCode) -> Option<Vec<Option<BlockId>>> {
    let reaches_without = |removed: Option<BlockId>| {
        let mut seen = BTreeSet::new();
        let mut open = vec![code.entry()];
        while let Some(block) = open.pop() {
            if Some(block) != removed && seen.insert(block) {
                open.extend(code.successors(block));
            }
        }
        seen
    };
    let all = reaches_without(None);
    let dominated: BTreeMap<BlockId, BTreeSet<BlockId>> = all
        .iter()
        .map(|&block| (block, all.difference(&reaches_without(Some(block))).copied().collect()))
        .collect();
    let mut bodies: BTreeMap<BlockId, BTreeSet<BlockId>> = BTreeMap::new();
    let mut forward: Vec<(BlockId, BlockId)> = Vec::new();
    for &from in &all {
        for &to in code.successors(from) {
            if !dominated[&to].contains(&from) {
                forward.push((from, to));
                continue;
            }
            let body = bodies.entry(to).or_insert_with(|| BTreeSet::from([to]));
            let mut open = vec![from];
            while let Some(block) = open.pop() {
                if body.insert(block) {
                    open.extend(code.predecessors(block));
                }
            }
        }
    }
    // Reducible: what is left without the back edges has no cycle.
    let mut rest = all.clone();
    while let Some(&sink) =
        rest.iter().find(|block| !forward.iter().any(|(from, to)| from == *block && rest.contains(to)))
    {
        rest.remove(&sink);
    }
    let innermost = |block: BlockId| {
        let around = bodies.iter().filter(|(_, body)| body.contains(&block));
        around.min_by_key(|(_, body)| body.len()).map(|(&header, _)| header)
    };
    rest.is_empty().then(|| ids(code).map(innermost).collect())
}

#[test]
fn innermost_loops_of_reducible_graphs_are_the_natural_ones() {
    let mut nested = 0;
    for seed in 0..3000 {
        let mut random = rng(seed);
        let graph = random_graph(&mut random, 12).with_entries(Vec::new());
        let code = random_layout(&mut random, &graph).0;
        let Some(naive) = natural_loops(&code) else { continue };
        let found = innermost_loops(&code);
        for a in ids(&code).filter(|&block| code.reachable(block)) {
            assert_eq!(found[a.index()].is_some(), naive[a.index()].is_some(), "seed {seed}: {a}");
            for b in ids(&code).filter(|&block| code.reachable(block)) {
                let same = found[a.index()] == found[b.index()];
                assert_eq!(same, naive[a.index()] == naive[b.index()], "seed {seed}: {a}, {b}");
            }
        }
        nested += usize::from(naive.iter().flatten().collect::<BTreeSet<_>>().len() > 2);
    }
    assert!(nested > 100, "{nested} graphs with three loops");
}
