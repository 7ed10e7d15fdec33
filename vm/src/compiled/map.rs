//! The pieces of installed code, and the way from an address in one to the bytecode that it stands for.

use super::request::{CallSite, CodeId, Compiled, Entry, Level, Site};
use holloway_bytecode::FunctionId;
use std::collections::BTreeMap;

/// A piece of installed code.
#[derive(Debug)]
pub struct CodeObject {
    /// Its number.
    pub id: CodeId,
    /// What was compiled.
    pub function: FunctionId,
    /// Where it is entered.
    pub entry: Entry,
    /// How.
    pub level: Level,
    /// It is the second version, which is entered only while it is wanted: in stretches of blocks, or in looks of PEP.
    pub marked: bool,
    /// Its first byte.
    pub address: *const u8,
    /// Where it lay before it was moved: frames finish there.
    pub before: Vec<*const u8>,
    /// False once an assumption broke or it was replaced: it is not entered any more, and frames leave it as soon as control comes back to them.
    pub valid: bool,
    /// Code at a higher level took its place: it is not entered any more, but frames may finish in it.
    pub superseded: bool,
    /// How often it was left because an assumption was wrong.
    pub failures: u32,
    /// What the compiler said.
    pub tables: Compiled,
}

impl CodeObject {
    /// Is it the code that is entered, unless blocks are counted.
    pub fn is_current(&self) -> bool {
        self.valid && !self.superseded && !self.marked
    }

    /// The call that returns to this address.
    pub fn call(&self, returns: *const u8) -> Option<&CallSite> {
        let offset = self.offset(returns)?;
        match self.tables.calls.binary_search_by_key(&offset, |call| call.returns) {
            Ok(index) => Some(&self.tables.calls[index]),
            // A frame that is to leave this code returns to the landing pad instead.
            Err(_) => self.tables.calls.iter().find(|call| call.landing == offset),
        }
    }

    /// Where a frame that returns to this address is to go on instead, to leave the code.
    pub fn landing(&self, returns: *const u8) -> Option<*const u8> {
        let copy = self.copy_with(returns)?;
        self.call(returns).map(|call| copy.wrapping_add(call.landing as usize))
    }

    /// How far behind the beginning of the code an address is.
    pub fn offset(&self, address: *const u8) -> Option<u32> {
        self.copy_with(address).map(|copy| (address as usize - copy as usize) as u32)
    }

    /// Where the copy of the code begins that contains an address (its end counts: a call may be its last instruction).
    pub fn copy_with(&self, address: *const u8) -> Option<*const u8> {
        let length = self.tables.bytes.len();
        let contains = |copy: *const u8| copy <= address && address <= copy.wrapping_add(length);
        self.copies().find(|&copy| contains(copy))
    }

    /// Where copies of it begin: the one that is entered, and those in which frames may finish.
    pub fn copies(&self) -> impl Iterator<Item = *const u8> {
        [self.address].into_iter().chain(self.before.iter().copied())
    }

    /// A site by its number.
    pub fn site(&self, number: u32) -> &Site {
        &self.tables.sites[number as usize]
    }
}

/// All installed code.
#[derive(Default)]
pub struct CodeMap {
    /// By number: a yieldpoint that is taken asks for its piece several times, and PEP takes a thousand of them at each tick.
    objects: Vec<Option<Box<CodeObject>>>,
    by_address: BTreeMap<usize, CodeId>,
}

impl CodeMap {
    /// Adds a piece.
    pub fn insert(&mut self, object: CodeObject) {
        self.by_address.extend(object.copies().map(|copy| (copy as usize, object.id)));
        let number = object.id.0 as usize;
        if self.objects.len() <= number {
            self.objects.resize_with(number + 1, || None);
        }
        self.objects[number] = Some(Box::new(object));
    }

    /// Takes a piece out.
    pub fn remove(&mut self, id: CodeId) -> Option<CodeObject> {
        let object = *self.objects.get_mut(id.0 as usize)?.take()?;
        for copy in object.copies() {
            self.by_address.remove(&(copy as usize));
        }
        Some(object)
    }

    /// A copy of a piece is what is entered from now on.
    pub fn moved(&mut self, id: CodeId, address: *const u8) {
        if let Some(object) = self.get_mut(id) {
            object.before.push(std::mem::replace(&mut object.address, address));
            self.by_address.insert(address as usize, id);
        }
    }

    /// Forgets a place where a piece lay before: no frame is there any more.
    pub fn forget_copy(&mut self, id: CodeId, copy: *const u8) {
        if let Some(object) = self.get_mut(id) {
            object.before.retain(|&before| before != copy);
        }
        self.by_address.remove(&(copy as usize));
    }

    /// All pieces, in the order in which they were asked for.
    pub fn iter(&self) -> impl Iterator<Item = &CodeObject> {
        self.objects.iter().flatten().map(|object| &**object)
    }

    /// A piece by its number.
    pub fn get(&self, id: CodeId) -> Option<&CodeObject> {
        self.objects.get(id.0 as usize)?.as_deref()
    }

    /// The piece of a place in code: a number of the piece in the high half, and that of a site in the low one.
    pub fn at(&self, place: u64) -> Option<&CodeObject> {
        self.get(CodeId((place >> 32) as u32))
    }

    /// A piece by its number, to be changed.
    pub fn get_mut(&mut self, id: CodeId) -> Option<&mut CodeObject> {
        self.objects.get_mut(id.0 as usize)?.as_deref_mut()
    }

    /// The piece with the lowest number that is still entered.
    pub fn oldest_valid(&self) -> Option<CodeId> {
        self.iter().find(|object| object.valid).map(|object| object.id)
    }

    /// The piece that contains an address (its end counts: a call may be its last instruction).
    pub fn find(&self, address: *const u8) -> Option<&CodeObject> {
        let (&start, id) = self.by_address.range(..=address as usize).next_back()?;
        let object = self.get(*id)?;
        (address as usize <= start + object.tables.bytes.len()).then_some(object)
    }
}
