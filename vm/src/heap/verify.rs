//! Checking the heap, for tests. What must hold between any two operations:
//!
//! 1. The counts of used and committed blocks and of marks agree with the tables.
//! 2. Marks are on starts of cells only, and only where an object is.
//! 3. The blocks of a large object lead to its head.
//! 4. Runs are zero, lie within the swept part of a block of their class, and hold no marks.
//! 5. Every object has a class at a multiple of 8 with a valid kind, fits into its cell, and has no unknown flags.
//! 6. Every reference in an object is null, out of the heap, or the start of an object.
//! 7. Every old object that refers to a young one is remembered: it is in the set, or the card of the element is
//!    marked. An old object with references has the flag UNLOGGED exactly if it is not in the set; a young one never has.
//! 8. Cards are marked only in large arrays that are in the list of such.
//!
//! The cost is linear in the heap (7 has a logarithm), the memory is the list of remembered objects.

use std::collections::BTreeSet;
use std::fmt;
use std::mem::offset_of;

use super::Heap;
use super::objects::{CARDED, elements, length};
use super::places::CARD_SHIFT;
use super::size_classes::{BLOCK, BLOCK_SHIFT, CAPACITY, CLASSES, cell_size};
use super::space::BlockKind;
use crate::layout::{ClassRecord, ELEMENTS, ObjectKind, ObjectPointer, UNLOGGED};

/// What is wrong with a heap.
#[derive(Debug)]
pub struct Defect(String);

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Defect {}

fn check(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), Defect> {
    if holds { Ok(()) } else { Err(Defect(otherwise())) }
}

impl Heap {
    /// Checks all that is said at the head of `verify.rs`.
    ///
    /// # Errors
    /// The first defect that is found.
    pub fn verify(&self) -> Result<(), Defect> {
        self.verify_blocks()?;
        for class in 0..CLASSES {
            self.verify_run(class, self.run(class))?;
            self.verify_run(class, self.hidden[class])?;
        }
        let remembered: BTreeSet<usize> =
            self.remembered.objects.iter().map(|object| *object as usize).collect();
        let mut objects = Vec::new();
        self.for_each_object(|object| objects.push(object));
        for object in objects {
            self.verify_object(object, &remembered)?;
        }
        for &array in &self.remembered.arrays {
            let known = self.is_object(array).is_some();
            check(known, || format!("{array:?} has marked cards and is no object"))?;
            // SAFETY: it is an object.
            let flags = unsafe { (*array).flags };
            check(flags & CARDED != 0, || format!("{array:?} is in the list of arrays without the flag"))?;
        }
        Ok(())
    }

    fn verify_blocks(&self) -> Result<(), Defect> {
        let (mut used, mut committed) = (0, 0);
        let mut next_used = self.space.used_below(self.space.blocks);
        for index in (0..self.space.blocks).rev() {
            let block = self.space.block(index);
            committed += usize::from(block.committed);
            let is_used = next_used == Some(index);
            check(is_used == (block.kind != BlockKind::Free), || {
                format!("block {index}: used bit is wrong")
            })?;
            check(!is_used || block.committed, || format!("block {index} is used but not committed"))?;
            if is_used {
                used += 1;
                next_used = self.space.used_below(index);
            }
            self.verify_marks(index)?;
            match block.kind {
                BlockKind::Large => {
                    for part in index + 1..index + block.link as usize {
                        let part = self.space.block(part);
                        let ours = part.kind == BlockKind::Continuation && part.link as usize == index;
                        check(ours, || format!("block {index}: a part leads elsewhere"))?;
                    }
                }
                BlockKind::Continuation => {
                    let head = block.link as usize;
                    let ours = head < index
                        && self.space.block(head).kind == BlockKind::Large
                        && index - head < self.space.block(head).link as usize;
                    check(ours, || format!("block {index}: no head at {head}"))?;
                }
                BlockKind::Small | BlockKind::Free => {}
            }
        }
        check(used == self.space.used_blocks, || {
            format!("{used} blocks used, not {}", self.space.used_blocks)
        })?;
        check(committed == self.space.committed_blocks, || format!("{committed} blocks committed"))
    }

    fn verify_marks(&self, index: usize) -> Result<(), Defect> {
        let block = self.space.block(index);
        let (start, end) = (index * BLOCK, (index + 1) * BLOCK);
        let mut count = 0;
        let mut at = self.space.next_marked(start, end);
        while at < end {
            let within = at - start;
            let is_start = match block.kind {
                BlockKind::Small => {
                    let class = block.class as usize;
                    within.is_multiple_of(cell_size(class))
                        && within / cell_size(class) < CAPACITY[class] as usize
                }
                BlockKind::Large => within == 0,
                BlockKind::Continuation | BlockKind::Free => false,
            };
            check(is_start, || format!("block {index}: mark at {within}, where no cell starts"))?;
            check(self.space.header_word(at) != 0, || {
                format!("block {index}: mark at {within}, an empty cell")
            })?;
            count += 1;
            at = self.space.next_marked(at + 8, end);
        }
        check(count == block.marked as usize, || {
            format!("block {index}: {count} marks, not {}", block.marked)
        })
    }

    fn verify_run(&self, class: usize, run: super::Run) -> Result<(), Defect> {
        if run.cur == run.limit {
            return Ok(());
        }
        let bounds = (self.space.offset(run.cur as usize), self.space.offset(run.limit as usize - 1));
        let (Some(from), Some(last)) = bounds else {
            return Err(Defect(format!("run {class} is out of the heap")));
        };
        let block = self.space.block(from >> BLOCK_SHIFT);
        let within = from % BLOCK;
        let fits = from >> BLOCK_SHIFT == last >> BLOCK_SHIFT
            && block.kind == BlockKind::Small
            && block.class as usize == class
            && within.is_multiple_of(cell_size(class))
            && last % BLOCK < block.swept as usize;
        check(fits, || format!("run {class} is not in a swept part of a block of its class"))?;
        for word in (from..last).step_by(8) {
            check(self.space.header_word(word) == 0, || format!("run {class} is not zero at {word:#x}"))?;
            check(!self.space.is_marked(word), || format!("run {class} has a mark at {word:#x}"))?;
        }
        Ok(())
    }

    /// Calls `visit` with every object, reachable or not, that has not been found dead.
    fn for_each_object(&self, mut visit: impl FnMut(ObjectPointer)) {
        let mut end = self.space.blocks;
        while let Some(index) = self.space.used_below(end) {
            end = index;
            let block = self.space.block(index);
            match block.kind {
                BlockKind::Small => {
                    for number in 0..CAPACITY[block.class as usize] as usize {
                        let object =
                            self.space.address(index * BLOCK + number * cell_size(block.class as usize));
                        if self.space.find(object as u64).is_some() {
                            visit(object.cast());
                        }
                    }
                }
                BlockKind::Large => visit(self.space.address(index * BLOCK).cast()),
                BlockKind::Continuation | BlockKind::Free => {}
            }
        }
    }

    /// The offset of an object, if there is one that starts at this address.
    fn is_object(&self, object: ObjectPointer) -> Option<usize> {
        let found = self.space.find(object as u64)?;
        (found == object).then(|| object as usize - self.space.base as usize)
    }

    fn verify_object(&self, object: ObjectPointer, remembered: &BTreeSet<usize>) -> Result<(), Defect> {
        let offset = object as usize - self.space.base as usize;
        let block = self.space.block(offset >> BLOCK_SHIFT);
        let large = block.kind == BlockKind::Large;
        let room = if large { block.link as usize * BLOCK } else { cell_size(block.class as usize) };
        // SAFETY: it is the start of a cell with a header.
        let (flags, class) = unsafe { ((*object).flags, (*object).class) };
        check(class != 0 && class.is_multiple_of(8), || format!("{object:?} has class {class:#x}"))?;
        check(flags & !(UNLOGGED | CARDED) == 0, || format!("{object:?} has flags {flags:#x}"))?;
        // SAFETY: the class offset was passed to `allocate`, so a record lies there (unless the header was overwritten:
        // then this check is as good as its luck). The kind is read as a plain number.
        let kind = unsafe {
            self.classes.0.add(class as usize + offset_of!(ClassRecord, kind)).cast::<u32>().read()
        };
        check(kind <= ObjectKind::References as u32, || {
            format!("{object:?} has kind {kind} (class {class:#x})")
        })?;
        // SAFETY: the record is valid.
        let (bytes, has_references) =
            unsafe { (self.classes.size(object), self.classes.has_references(object)) };
        check(bytes <= room, || format!("{object:?} of class {class:#x} has {bytes} bytes in {room}"))?;

        let old = self.space.is_marked(offset);
        let logged = remembered.contains(&(object as usize));
        let unlogged = flags & UNLOGGED != 0;
        let complete = !self.remembered.incomplete;
        check(old || !logged, || format!("{object:?} is young and remembered"))?;
        check(unlogged == (old && has_references && !logged) || !complete, || {
            format!("{object:?}: old {old}, remembered {logged}, UNLOGGED {unlogged}")
        })?;
        let mut result = Ok(());
        // SAFETY: as above.
        unsafe {
            self.classes.references(object, |reference| {
                let Some(target) = self.space.offset(reference as usize) else { return };
                let valid = self.is_object(reference).is_some();
                let allowed =
                    !complete || !old || logged || flags & CARDED != 0 || self.space.is_marked(target);
                if result.is_ok() && !valid {
                    result = Err(Defect(format!("{object:?} refers to {reference:?}, where no object is")));
                } else if result.is_ok() && !allowed {
                    result =
                        Err(Defect(format!("old {object:?} refers to young {reference:?}, not remembered")));
                }
            });
        }
        result?;
        // SAFETY: as above.
        let array = large && unsafe { self.classes.of(object) }.kind == ObjectKind::References;
        if array { self.verify_cards(object, offset, old) } else { Ok(()) }
    }

    /// Checks the elements of a large array card by card.
    fn verify_cards(&self, array: ObjectPointer, offset: usize, old: bool) -> Result<(), Defect> {
        // SAFETY: a large array of references.
        let (count, carded) = unsafe { (length(array), (*array).flags & CARDED != 0) };
        let card = 1_usize << CARD_SHIFT;
        for first in (0..ELEMENTS + 8 * count).step_by(card) {
            let marked = self.space.card(offset + first) != 0;
            check(carded || !marked, || format!("{array:?} has a marked card and is not in the list"))?;
            if !old || marked {
                continue;
            }
            let from = first.saturating_sub(ELEMENTS) / 8;
            let end = count.min((first + card - ELEMENTS) / 8);
            let mut young = None;
            // SAFETY: the elements are within the array.
            unsafe {
                elements(array, from, end, |reference| {
                    if let Some(target) = self.space.offset(reference as usize)
                        && !self.space.is_marked(target)
                    {
                        young = Some(reference);
                    }
                });
            }
            if let Some(reference) = young {
                return Err(Defect(format!("old {array:?} refers to young {reference:?}, card not marked")));
            }
        }
        Ok(())
    }
}
