//! Compact descriptions of subpaths: what a hot list keeps so that a subpath can be shown, and not only counted.
//!
//! The paper (section 3, "Path Representation") kept lists of strings, and proposes the start block and one bit for each
//! branch: c + (n - 1) bits. [`BranchBits`] is that, made good for switches, calls and exceptions: a block with one
//! successor costs nothing, one with k successors costs log2(k) bits rounded up, and only a description with a transition
//! that the control flow does not know pays for it: a leading bit says so, then each transition has a bit of its own that
//! says whether the target follows in full. [`Deltas`] needs no control flow: the difference to the block before, in
//! groups of seven bits. [`Nothing`] keeps nothing, for a client to whom the identity is enough.

use crate::{BlockId, ControlFlow};

/// Writes subpaths as bytes and reads them back. Encoding runs on the hot path: it must not allocate.
pub trait Coder {
    /// Appends the description of a subpath. Returns `false` if the writer is full; what was written then is undone by
    /// the caller.
    fn encode(&self, subpath: &[BlockId], writer: &mut Writer<'_>) -> bool;

    /// The subpath of a description, of which the length is known; `None` if there is no description, or it is not one
    /// of this coder's.
    fn decode(&self, bytes: &[u8], length: usize) -> Option<Vec<BlockId>>;

    /// How many bytes a description takes on average, for subpaths of this mean length: by this a memory cap is divided
    /// among counts and descriptions.
    fn expected_bytes(&self, mean_length: f64) -> f64;
}

impl<C: Coder + ?Sized> Coder for &C {
    fn encode(&self, subpath: &[BlockId], writer: &mut Writer<'_>) -> bool {
        (**self).encode(subpath, writer)
    }

    fn decode(&self, bytes: &[u8], length: usize) -> Option<Vec<BlockId>> {
        (**self).decode(bytes, length)
    }

    fn expected_bytes(&self, mean_length: f64) -> f64 {
        (**self).expected_bytes(mean_length)
    }
}

/// Appends bytes to a buffer up to a limit, so that the buffer never grows beyond what was reserved for it.
#[derive(Debug)]
pub struct Writer<'a> {
    bytes: &'a mut Vec<u8>,
    limit: usize,
    partial: u64,
    bits: u32,
}

impl<'a> Writer<'a> {
    /// Appends to `bytes` until it has `limit` bytes.
    pub fn new(bytes: &'a mut Vec<u8>, limit: usize) -> Self {
        Self { bytes, limit, partial: 0, bits: 0 }
    }

    /// Appends a byte; `false` if the limit is reached.
    #[must_use]
    pub fn byte(&mut self, byte: u8) -> bool {
        let room = self.bytes.len() < self.limit;
        if room {
            self.bytes.push(byte);
        }
        room
    }

    /// Appends the low `count` bits of a word, least significant first; at most 32.
    #[must_use]
    pub fn bits(&mut self, word: u32, count: u32) -> bool {
        self.partial |= u64::from(word) << self.bits;
        self.bits += count;
        while self.bits >= 8 {
            if !self.byte(self.partial as u8) {
                return false;
            }
            self.partial >>= 8;
            self.bits -= 8;
        }
        true
    }

    /// Fills the last byte with zeros.
    #[must_use]
    pub fn finish(&mut self) -> bool {
        self.bits == 0 || self.bits(0, 8 - self.bits)
    }
}

/// Reads bits back.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    fn take(&mut self, count: u32) -> Option<u32> {
        let mut word = 0;
        for place in 0..count {
            let byte = self.bytes.get(self.at / 8)?;
            word |= u32::from(byte >> (self.at % 8) & 1) << place;
            self.at += 1;
        }
        Some(word)
    }
}

/// No descriptions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Nothing;

impl Coder for Nothing {
    fn encode(&self, _: &[BlockId], _: &mut Writer<'_>) -> bool {
        true
    }

    fn decode(&self, _: &[u8], _: usize) -> Option<Vec<BlockId>> {
        None
    }

    fn expected_bytes(&self, _: f64) -> f64 {
        0.0
    }
}

/// Differences of block numbers, zigzag, in groups of seven bits: one byte to a near block, two to one in a method
/// nearby, never more than five.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Deltas;

impl Coder for Deltas {
    fn encode(&self, subpath: &[BlockId], writer: &mut Writer<'_>) -> bool {
        let mut before = 0;
        for block in subpath {
            let delta = block.0.wrapping_sub(before).cast_signed();
            let mut rest = ((delta << 1) ^ (delta >> 31)).cast_unsigned();
            while rest >= 128 {
                if !writer.byte(rest as u8 | 128) {
                    return false;
                }
                rest >>= 7;
            }
            if !writer.byte(rest as u8) {
                return false;
            }
            before = block.0;
        }
        true
    }

    fn decode(&self, bytes: &[u8], length: usize) -> Option<Vec<BlockId>> {
        let mut blocks = Vec::with_capacity(length);
        let (mut before, mut word, mut shift) = (0u32, 0u32, 0);
        for byte in bytes {
            word |= u32::from(byte & 127).checked_shl(shift)?;
            shift += 7;
            if byte & 128 == 0 {
                let delta = (word >> 1) ^ (word & 1).wrapping_neg();
                before = before.wrapping_add(delta);
                blocks.push(BlockId(before));
                (word, shift) = (0, 0);
            }
        }
        (length > 0 && blocks.len() == length).then_some(blocks)
    }

    fn expected_bytes(&self, mean_length: f64) -> f64 {
        1.25 * mean_length + 2.0
    }
}

/// The start block and the arms of the branches. The control flow is that of the whole program: a call block's successors
/// are entries of methods, as far as they are known; whatever is not known is written in full.
#[derive(Debug, Clone, Copy)]
pub struct BranchBits<'a, F: ?Sized> {
    flow: &'a F,
}

impl<'a, F: ControlFlow + ?Sized> BranchBits<'a, F> {
    /// Describes subpaths by the branches of this control flow, which must not change while descriptions live.
    pub fn new(flow: &'a F) -> Self {
        Self { flow }
    }

    /// How many bits a block's arm takes, and its successors. A block that the flow does not have has none.
    fn arms(&self, from: BlockId) -> (u32, &[BlockId]) {
        let successors = if from.index() < self.flow.blocks() { self.flow.successors(from) } else { &[] };
        let bits = match successors.len() {
            0 | 1 => 0,
            arms => usize::BITS - (arms - 1).leading_zeros(),
        };
        (bits, successors)
    }

    /// The first arm from one block to another.
    fn arm(&self, from: BlockId, to: BlockId) -> Option<(u32, u32)> {
        let (bits, successors) = self.arms(from);
        let arm = successors.iter().position(|&successor| successor == to)?;
        Some((u32::try_from(arm).ok()?, bits))
    }

    /// The description without its last, unfinished byte.
    fn write(&self, subpath: &[BlockId], writer: &mut Writer<'_>) -> Option<()> {
        let ok = |done: bool| done.then_some(());
        let steps = || subpath.iter().zip(subpath.iter().skip(1));
        let known = steps().all(|(&from, &to)| self.arm(from, to).is_some());
        ok(writer.bits(u32::from(!known), 1))?;
        write_block(*subpath.first()?, writer)?;
        for (&from, &to) in steps() {
            let arm = self.arm(from, to);
            if !known {
                ok(writer.bits(u32::from(arm.is_none()), 1))?;
            }
            match arm {
                Some((arm, bits)) => ok(writer.bits(arm, bits))?,
                None => write_block(to, writer)?,
            }
        }
        ok(writer.finish())
    }
}

impl<F: ControlFlow + ?Sized> Coder for BranchBits<'_, F> {
    fn encode(&self, subpath: &[BlockId], writer: &mut Writer<'_>) -> bool {
        self.write(subpath, writer).is_some()
    }

    fn decode(&self, bytes: &[u8], length: usize) -> Option<Vec<BlockId>> {
        let mut bits = Bits { bytes, at: 0 };
        let known = bits.take(1)? == 0;
        let mut block = read_block(&mut bits)?;
        let mut blocks = Vec::with_capacity(length);
        blocks.push(block);
        while blocks.len() < length {
            block = if !known && bits.take(1)? == 1 {
                read_block(&mut bits)?
            } else {
                let (count, successors) = self.arms(block);
                *successors.get(bits.take(count)? as usize)?
            };
            blocks.push(block);
        }
        Some(blocks)
    }

    fn expected_bytes(&self, mean_length: f64) -> f64 {
        mean_length / 8.0 + 3.0
    }
}

/// A block number: five bits say how many bits follow.
fn write_block(block: BlockId, writer: &mut Writer<'_>) -> Option<()> {
    let count = (32 - block.0.leading_zeros()).max(1);
    (writer.bits(count - 1, 5) && writer.bits(block.0, count)).then_some(())
}

fn read_block(bits: &mut Bits<'_>) -> Option<BlockId> {
    let count = bits.take(5)? + 1;
    bits.take(count).map(BlockId)
}
