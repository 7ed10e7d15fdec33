//! Programs that are not there: random control flow with biased branches, and the blocks that a run of it executes.

use holloway_profilers::osp::Random;
use holloway_profilers::{BlockId, ControlFlow, Graph};

/// A number in `0..below`.
pub fn below(random: &mut Random, below: u64) -> u64 {
    ((u128::from(random.bits()) * u128::from(below)) >> 64) as u64
}

/// A connected random graph: each block goes on to the next and perhaps to others; the last returns to the first.
pub fn graph(blocks: u32, random: &mut Random) -> Graph {
    let successors: Vec<Vec<u32>> = (0..blocks)
        .map(|block| {
            let others = below(random, 4) as u32 / 2;
            let mut list = vec![(block + 1) % blocks];
            list.extend((0..others).map(|_| below(random, u64::from(blocks)) as u32));
            list
        })
        .collect();
    Graph::new(&successors.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// The blocks of a run: each block prefers one arm, which it takes in seven of eight cases.
pub fn run(graph: &Graph, length: usize, random: &mut Random) -> Vec<BlockId> {
    let salt = random.bits();
    let mut block = graph.entry();
    let mut blocks = Vec::with_capacity(length);
    while blocks.len() < length {
        blocks.push(block);
        let successors = graph.successors(block);
        let arms = successors.len() as u64;
        let preferred = Random::new(salt ^ u64::from(block.0)).bits() % arms;
        let arm = if below(random, 8) == 0 { below(random, arms) } else { preferred };
        block = successors[arm as usize];
    }
    blocks
}

/// The stream of `vectors/verify_examples2.py`: seven of ten rounds are 1 2 3 4, the others 1 5 6.
pub fn two_bodies(length: usize, random: &mut Random) -> Vec<BlockId> {
    let mut blocks = Vec::with_capacity(length + 4);
    while blocks.len() < length {
        blocks.extend(ids(if below(random, 10) < 7 { &[1, 2, 3, 4] } else { &[1, 5, 6] }));
    }
    blocks.truncate(length);
    blocks
}

/// Numbers as blocks.
pub fn ids(numbers: &[u32]) -> Vec<BlockId> {
    numbers.iter().map(|&number| BlockId(number)).collect()
}
