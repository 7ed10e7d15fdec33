//! Which branches of the machine code are which of the program: a table beside code that stays as it is.
//!
//! Where control goes from the machine code's blocks its instructions say: what Cranelift says of edges (`bb_edges`, 0.135) has
//! the wrong beginnings where cold blocks were moved to the end.

use super::flow::source_arms;
use crate::ir::{InlineId, Region, Terminator};
use crate::lower::Layout;
use crate::show::asm::{Piece, disassemble, immediate};
use holloway_profilers::btb::{BlockCode, CallPoint};
use holloway_vm::compiled::Compiled;
use holloway_vm::profiling::native::{NativeBlock, Outcome, VersionBranches};
use std::collections::BTreeSet;

/// The table of a region that became code of this layout. `Err` if it cannot be disassembled.
pub fn table(region: &Region, layout: &Layout, compiled: &Compiled) -> Result<VersionBranches, String> {
    let pieces = disassemble(&compiled.bytes, &layout.blocks)?;
    let is_jump = |piece: &&Piece| piece.mnemonic.starts_with('j') || piece.mnemonic == "case";
    let target = |piece: &Piece| immediate(&piece.operands).and_then(|at| u32::try_from(at).ok());
    // What comes before the first block belongs to it.
    let mut starts: BTreeSet<u32> = layout.blocks.iter().copied().skip(1).collect();
    starts.insert(0);
    starts.extend(pieces.iter().filter(is_jump).filter_map(target).filter(|&at| at >= first(layout)));
    let starts: Vec<u32> = starts.into_iter().collect();
    let block_at = |offset: u32| starts.partition_point(|&start| start <= offset) as u32 - 1;
    let mut edges = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        let here = block_at(piece.start);
        if is_jump(&piece) {
            // A case stands behind the jump through its table.
            let from = if piece.mnemonic == "case" {
                edges_of_table(&pieces, at).map_or(here, block_at)
            } else {
                here
            };
            edges.extend(target(piece).map(|to| (from, block_at(to))));
        }
        let goes_on = !matches!(&*piece.mnemonic, "jmp" | "ret" | "ud2" | "case" | "data");
        if goes_on && starts.get(here as usize + 1) == Some(&piece.end) {
            edges.push((here, here + 1));
        }
    }
    let ends = starts.iter().skip(1).copied().chain([u32::MAX]);
    let blocks = starts.iter().zip(ends).map(|(&start, end)| {
        // Moves between machine registers come from nowhere; they may stand at the beginning.
        let first = layout.owned.partition_point(|owned| owned.end <= start);
        let owned = layout.owned.get(first).filter(|owned| owned.start < end);
        let head = owned.is_some_and(|owned| owned.head && owned.start >= start);
        let begin = pieces.partition_point(|piece| piece.start < start);
        let inside = pieces[begin..].iter().take_while(|piece| piece.start < end);
        NativeBlock { start, owner: owned.map(|owned| owned.block.0), head, code: code(inside) }
    });
    let blocks = blocks.collect();
    let mut outcomes = Vec::new();
    for block in region.block_ids() {
        let inline = match &region.block(block).end {
            Terminator::Branch { source: Some(source), .. } | Terminator::Switch { source, .. } => {
                source.inline
            }
            _ => InlineId::ROOT,
        };
        let arms = (0..).zip(source_arms(region, block));
        outcomes.extend(arms.filter_map(|(arm, branch)| {
            Some(Outcome { from: block.0, arm, inline: inline.0, branch: branch? })
        }));
    }
    outcomes.sort_unstable();
    let targets = |block| region.block(block).end.targets().map(|target| target.block.0).collect();
    Ok(VersionBranches {
        blocks,
        edges,
        landings: compiled.calls.iter().map(|call| call.landing).collect(),
        targets: region.block_ids().map(targets).collect(),
        outcomes,
    })
}

/// What a block consists of.
fn code<'p>(pieces: impl Iterator<Item = &'p Piece>) -> BlockCode {
    let mut code = BlockCode { instructions: 0, calls: Vec::new(), returns: false };
    for piece in pieces.filter(|piece| !matches!(&*piece.mnemonic, "case" | "data")) {
        code.instructions += 1;
        if piece.mnemonic == "call" {
            code.calls.push(CallPoint { before: code.instructions, callee: None });
        }
        code.returns = piece.mnemonic == "ret";
    }
    code
}

/// Where the first block begins.
fn first(layout: &Layout) -> u32 {
    layout.blocks.first().copied().unwrap_or(0)
}

/// Where the jump stands through whose table a case is found.
fn edges_of_table(pieces: &[Piece], case: usize) -> Option<u32> {
    pieces[..case].iter().rev().find(|piece| piece.mnemonic != "case").map(|piece| piece.start)
}
