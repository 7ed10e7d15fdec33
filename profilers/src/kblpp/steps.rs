//! Steps of walks in the forest that were taken of late: from where, by which label, and to which node.
//!
//! Where paths follow each other in no order, the next node is now this child and now that one, and to look at one child after the
//! other costs a mispredicted branch, or several. To look a step up costs the same each time. So compiled code that does not
//! find the first child asks here, and only what is not here goes to the forest, which tells where it led.
//!
//! A step is in one cell or nowhere; one that takes the place of another one pushes it out. A table in which that happens often
//! becomes larger, up to a limit: what is beyond would not be in the processor's caches, either.

use super::arena::{Edge, Link, NIL};
use crate::ids::VersionId;
use crate::stream::hash::TableAddress;
use std::mem::offset_of;

/// The logarithm of how many cells there are at first.
const LEAST: u32 = 8;
/// The same at most: a megabyte.
const MOST: u32 = 16;

#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
struct Cell {
    /// The label in the high half, and from where in the low one, which is never nobody.
    key: u64,
    /// Nobody if the cell is empty.
    to: Link,
}

/// Where in memory the parts of a step are, for compiled code. With the label in the high half of a word and from where the step is in the
/// low one, its cell is `word * TableAddress::GOLDEN >> shift`; it is the right one if this word is its key.
#[derive(Debug, Clone, Copy)]
pub struct StepLayout;

impl StepLayout {
    /// The logarithm of the bytes of a cell.
    pub const SHIFT: u32 = size_of::<Cell>().trailing_zeros();
    /// 64 bits: the label, and the node from where; for the first step of an activation [`StepLayout::FIRST`] and the version.
    pub const KEY: usize = offset_of!(Cell, key);
    /// 32 bits: the node to where.
    pub const TO: usize = offset_of!(Cell, to);
    /// Marks a version in the place of a node.
    pub const FIRST: u32 = 1 << 31;
}

const _: () = assert!(size_of::<Cell>().is_power_of_two());

/// The steps.
#[derive(Debug, Clone)]
pub(super) struct Steps {
    cells: Box<[Cell]>,
    /// 64 minus the logarithm of how many.
    shift: u32,
    /// Steps that were pushed out since the table has grown last.
    replaced: usize,
}

impl Steps {
    pub fn new() -> Self {
        Self::of_size(LEAST)
    }

    fn of_size(logarithm: u32) -> Self {
        let cells = vec![Cell::default(); 1 << logarithm].into_boxed_slice();
        Self { cells, shift: 64 - logarithm, replaced: 0 }
    }

    fn cell(&mut self, key: u64) -> &mut Cell {
        &mut self.cells[(key.wrapping_mul(TableAddress::GOLDEN) >> self.shift) as usize]
    }

    /// A step was taken.
    pub fn remember(&mut self, from: Link, version: VersionId, Edge { label, to }: Edge) {
        let key = key(from, version, label);
        let before = std::mem::replace(self.cell(key), Cell { key, to });
        if before.to != NIL && before.key != key {
            self.replaced += 1;
            if self.replaced > self.cells.len() && self.shift > 64 - MOST {
                self.grow();
            }
        }
    }

    #[cold]
    fn grow(&mut self) {
        let mut larger = Self::of_size(64 - self.shift + 1);
        for &step in self.cells.iter().filter(|step| step.to != NIL) {
            *larger.cell(step.key) = step;
        }
        *self = larger;
    }

    /// Where they are, until one is remembered.
    pub fn address(&mut self) -> TableAddress {
        TableAddress { slots: self.cells.as_mut_ptr().cast(), shift: self.shift }
    }
}

fn key(from: Link, version: VersionId, label: u32) -> u64 {
    let from = if from == NIL { StepLayout::FIRST | version.0 } else { from };
    u64::from(label) << 32 | u64::from(from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// What compiled code does.
    fn find(steps: &mut Steps, key: u64) -> Option<Link> {
        let cell = *steps.cell(key);
        (cell.key == key).then_some(cell.to)
    }

    /// A step is found where it was remembered, or not at all; of few that are taken again and again hardly any are lost.
    #[test]
    fn what_is_found_is_what_was_remembered() {
        for (nodes, rounds, most_lost) in [(100, 200, 0.1), (10_000, 10, 0.2), (200_000, 1, 0.9)] {
            let mut steps = Steps::new();
            let mut known = BTreeMap::new();
            for round in 0..rounds {
                for node in 1..=nodes {
                    let from = if node % 5 == 0 { NIL } else { node % 97 + 1 };
                    let version = VersionId(node % 5);
                    // No two children of a node share a label.
                    let label = node / 5;
                    steps.remember(from, version, Edge { label, to: node });
                    let key = key(from, version, label);
                    known.insert(key, node);
                    assert_eq!(find(&mut steps, key), Some(node), "round {round}");
                }
            }
            let mut lost = 0;
            for (&key, &node) in &known {
                match find(&mut steps, key) {
                    Some(found) => assert_eq!(found, node),
                    None => lost += 1,
                }
            }
            let lost = f64::from(lost) / known.len() as f64;
            assert!(lost <= most_lost, "{nodes}: {lost}");
            assert!(find(&mut steps, key(98, VersionId(0), 0)).is_none(), "nobody came from there");
        }
    }

    /// Steps that push each other out make the table larger, up to a megabyte.
    #[test]
    fn it_grows_to_a_limit() {
        let mut steps = Steps::new();
        assert_eq!(steps.cells.len(), 1 << LEAST);
        for node in 1..1_000_000u32 {
            steps.remember(node, VersionId(0), Edge { label: node / 3, to: node });
        }
        assert_eq!(size_of_val(&*steps.cells), 1 << 20);
    }
}
