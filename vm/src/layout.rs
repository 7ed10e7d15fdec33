//! How objects and classes lie in memory. Interpreter, collector and machine code all rely on what is written here;
//! nothing else in the system may assume more.
//!
//! # Objects
//!
//! An object is 8-byte aligned and begins with a header of 64 bits:
//!
//! ```text
//!  +0  u32 flags      bit 0 UNLOGGED: old and not yet remembered, a reference store must take the slow path
//!  +4  u32 class      byte offset of the class's record from the base of the class table; never 0
//!  +8  fields of 64 bits each                         (objects)
//!  +8  u64 length, +16 elements                       (arrays, bytes, strings)
//! ```
//!
//! The size of an object is a multiple of 8 bytes; what elements of one byte leave of the last word is zero in strings.
//!
//! A header of zero means that no object is there: the collector finds holes by it.
//!
//! # Class records
//!
//! All records lie in one block, in preorder of the class tree. So *is C or a subclass* is one unsigned comparison of
//! offsets: `class - first <= last - first`. A record has its method table after it and its interface methods
//! *before* it: the slots of an interface lie at one place relative to the record in all classes that implement it
//! (classes that implement two interfaces get disjoint places for them), so that an interface call is as cheap as a virtual one.
//!
//! ```text
//!  … interface methods, 8 bytes each, downwards
//!  +0   ClassRecord
//!  +64  virtual methods, 8 bytes each: *const Method
//! ```

/// Byte offset of the first field of an object.
pub const FIELDS: usize = 8;
/// Byte offset of the length of an array.
pub const LENGTH: usize = 8;
/// Byte offset of the first element of an array.
pub const ELEMENTS: usize = 16;
/// Header flag: a store of a reference into this object must be recorded.
pub const UNLOGGED: u32 = 1;
/// Byte offset of the method table in a class record.
pub const METHODS: usize = 64;

/// The header of every object.
#[repr(C)]
pub struct Header {
    /// See [`UNLOGGED`]; all other bits are the collector's, zero in a new object.
    pub flags: u32,
    /// Offset of the class record.
    pub class: u32,
}

/// What an instance is made of, as far as memory is concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum ObjectKind {
    /// Fixed size; references at `references`.
    Fields = 0,
    /// Length and elements of one byte, no references.
    Bytes = 1,
    /// Length and elements of eight bytes, no references.
    Words = 2,
    /// Length and elements of eight bytes, all references (null possible).
    References = 3,
}

/// What the system knows of a class.
#[repr(C)]
pub struct ClassRecord {
    /// Bytes of an instance with its header (objects only; a multiple of 8).
    pub instance_size: u32,
    /// What its instances are made of.
    pub kind: ObjectKind,
    /// Its number in the program.
    pub id: u32,
    /// Offset of the last class in preorder that extends it (itself if none does).
    pub last: u32,
    /// Byte offsets of the reference fields within an instance (objects only).
    pub references: *const u32,
    /// How many.
    pub reference_count: u32,
    /// Words of `interfaces`.
    pub interface_words: u32,
    /// One bit for each interface that it implements.
    pub interfaces: *const u64,
    /// Room up to the method table.
    pub reserved: [u64; 3],
}

impl ClassRecord {
    /// Does the class implement the interface with this number.
    #[inline(always)]
    pub fn implements(&self, interface: usize) -> bool {
        interface / 64 < self.interface_words as usize
            // SAFETY: the record's table has `interface_words` words and lives as long as the record.
            && unsafe { *self.interfaces.add(interface / 64) } >> (interface % 64) & 1 != 0
    }
}

const _: () = assert!(size_of::<ClassRecord>() == METHODS);

/// A pointer to an object, or null. Objects do not move.
pub type ObjectPointer = *mut Header;
