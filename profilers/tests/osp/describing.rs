//! Descriptions are read back as they were written, and are as short as the paper says.

use crate::streams::{below, graph, ids, run};
use holloway_profilers::osp::{BranchBits, Coder, Deltas, Nothing, Random, Writer};
use holloway_profilers::{BlockId, Graph};

/// A subpath's description, or `None` if it does not fit.
fn write(coder: &impl Coder, subpath: &[BlockId], limit: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    coder.encode(subpath, &mut Writer::new(&mut bytes, limit)).then_some(bytes)
}

#[test]
fn what_is_written_is_read() {
    let mut random = Random::new(8);
    for round in 0..500 {
        let blocks = 2 + below(&mut random, 40) as u32;
        let graph = graph(blocks, &mut random);
        let length = 1 + below(&mut random, 100) as usize;
        let mut subpath = run(&graph, length, &mut random);
        if round % 2 == 0 {
            // Calls, returns and throws: transitions that the graph does not have, and blocks that it does not have.
            for _ in 0..below(&mut random, 4) {
                let at = below(&mut random, length as u64) as usize;
                subpath[at] = BlockId((random.bits() >> (32 + below(&mut random, 32))) as u32);
            }
        }
        for (name, bytes, read) in [
            ("deltas", write(&Deltas, &subpath, 10_000), &Deltas as &dyn Coder),
            ("branches", write(&BranchBits::new(&graph), &subpath, 10_000), &BranchBits::new(&graph)),
        ] {
            let bytes = bytes.expect("there is room");
            assert_eq!(read.decode(&bytes, length).as_deref(), Some(&subpath[..]), "{name}");
            assert_eq!(read.decode(&bytes[..bytes.len() - 1], length), None, "{name}: cut off");
        }
        let needed = write(&Deltas, &subpath, 10_000).unwrap().len();
        assert!(write(&Deltas, &subpath, needed).is_some() && write(&Deltas, &subpath, needed - 1).is_none());
        let needed = write(&BranchBits::new(&graph), &subpath, 10_000).unwrap().len();
        assert!(write(&BranchBits::new(&graph), &subpath, needed - 1).is_none());
    }
    assert_eq!(Nothing.decode(&write(&Nothing, &ids(&[1, 2]), 0).unwrap(), 2), None);
}

/// c + (n - 1) bits: one for each two-way branch, none where there is one way only.
#[test]
fn a_branch_costs_a_bit() {
    let two_way = Graph::new(&[&[0, 1], &[1, 0]]);
    let subpath = ids(&[0, 1, 0, 0, 1, 1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1]);
    // One bit for "all known", five and one for the block 0, sixteen for the branches.
    assert_eq!(write(&BranchBits::new(&two_way), &subpath, 99).unwrap().len(), (1 + 6 + 16usize).div_ceil(8));
    let ring = Graph::new(&[&[1], &[2], &[0]]);
    let around = ids(&[0, 1, 2].repeat(100));
    assert_eq!(write(&BranchBits::new(&ring), &around, 99).unwrap().len(), 1);
    assert_eq!(write(&Deltas, &around, 999).unwrap().len(), 300);
}
