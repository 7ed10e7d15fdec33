//! What passes between the virtual machine and a compiler: a [`Request`] goes in, a [`Compiled`] comes out. Both are plain
//! values, so that compiling can happen on any thread, and machine code becomes executable here only.

use super::area::Piece;
use super::inlining::CallDecision;
use super::profile::Profile;
use crate::adaptive::watcher::{Bias, SiteBias};
use crate::fingerprint::Fingerprint;
use crate::profiling::Instrumented;
use holloway_bytecode::{ClassId, FunctionId};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How much a compilation does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Only trivial methods are inlined, nothing is assumed.
    O0,
    /// Static inlining and all passes.
    O1,
    /// As `O1`, directed by the profile.
    O2,
}

impl Level {
    /// All of them, the least first.
    pub const ALL: [Level; 3] = [Level::O0, Level::O1, Level::O2];

    /// The name on the command line and in logs.
    pub fn name(self) -> &'static str {
        match self {
            Level::O0 => "o0",
            Level::O1 => "o1",
            Level::O2 => "o2",
        }
    }
}

/// Where compiled code is entered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Entry {
    /// By a call.
    Method,
    /// From a frame of the interpreter that stands at the loop header at this place.
    Loop(u32),
}

/// What is to be compiled.
#[derive(Clone, PartialEq, Debug)]
pub struct Request {
    /// Its number: code knows it by this number, which is part of the code.
    pub code: CodeId,
    /// The function.
    pub function: FunctionId,
    /// Where it is entered.
    pub entry: Entry,
    /// How much to do.
    pub level: Level,
    /// The version that tells of blocks, of the two that there are ([`super::Model::marked`]).
    pub marked: bool,
}

/// Makes machine code. The virtual machine knows no more of the optimizing tier.
pub trait Compiler: Send + Sync {
    /// Compiles; `Err` says why the function stays interpreted.
    fn compile(&self, request: &Request, profile: &dyn Profile) -> Result<Compiled, String>;
}

/// A piece of compiled code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CodeId(pub u32);

/// Where the value of a register is when compiled code is left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Location {
    /// In this place of the context's `exits`.
    Exit(u16),
    /// It is these bits.
    Constant(u64),
    /// The object of this recipe of the site.
    Virtual(u16),
}

/// An object that exists in frames only until they are rebuilt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VirtualObject {
    /// Its class.
    pub class: ClassId,
    /// Its fields. A recipe only refers to earlier ones.
    pub fields: Vec<Location>,
}

/// A frame of the interpreter, as compiled code leaves it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SiteFrame {
    /// Whose.
    pub function: FunctionId,
    /// Its instruction.
    pub pc: u32,
    /// True if it is in the call at `pc`, false if it stands before the instruction.
    pub calling: bool,
    /// The live registers.
    pub registers: Vec<(u16, Location)>,
}

/// A place at which compiled code can be left, or be seen by who walks the stack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Site {
    /// The frames, the innermost first; the last is that of the compiled method.
    pub frames: Vec<SiteFrame>,
    /// The objects to make.
    pub objects: Vec<VirtualObject>,
    /// Why it is left here, by name, for logs and counts; `call` for calls.
    pub reason: &'static str,
    /// The block of the region that an activation ends in which leaves here.
    pub block: u32,
    /// Who wants to be told of blocks was told that the one in which the innermost frame stands was entered.
    pub told: bool,
    /// Leaving here means that an assumption was wrong, about the instruction at this place: the code is to be made again
    /// without it.
    pub speculation: Option<(FunctionId, u32)>,
    /// The path that ends here, at a yieldpoint, if paths are sampled.
    pub path: Option<PathEnd>,
}

/// A path ends at a yieldpoint. What is to be known of it only if the yieldpoint is taken is said here, not in machine code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathEnd {
    /// The number of the path.
    pub number: EndNumber,
    /// What the path register is for the next path, if that is left to the yieldpoint.
    pub next: Option<u32>,
}

/// The number of a path where it ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EndNumber {
    /// It is this.
    Known(u64),
    /// It is what the path register holds and so much more, in 32 bits.
    Register(u32),
}

/// A call of another method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallSite {
    /// Offset of the instruction after the call.
    pub returns: u32,
    /// Offset at which to go on instead if an error comes out of the callee, or this code has become invalid.
    pub landing: u32,
    /// The site.
    pub site: u32,
}

/// What a compilation gives.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Compiled {
    /// The machine code; it may be placed anywhere and is entered at its beginning.
    pub bytes: Vec<u8>,
    /// It has constants that instructions read as a whole from a multiple of 16 bytes, and has to begin at one, too.
    pub aligned: bool,
    /// Places to leave.
    pub sites: Vec<Site>,
    /// Calls, by ascending `returns`.
    pub calls: Vec<CallSite>,
    /// The code is right only while these classes have no instances.
    pub uninstantiated: Vec<ClassId>,
    /// Classes of which the code makes instances.
    pub instantiates: Vec<ClassId>,
    /// Machine code ranges with the bytecode that they come from: offset, function, pc; each holds up to the next.
    pub positions: Vec<(u32, FunctionId, u32)>,
    /// Large constants in the code: those that may be addresses, ascending.
    pub addresses: Vec<u64>,
    /// What was decided about its calls.
    pub decisions: Vec<CallDecision>,
    /// How many more calls must be allowed to nest where it is entered.
    pub depth: u64,
    /// How many bytes below the frame pointer the path register is, if there is one.
    pub path_register: Option<u32>,
    /// Bytecode words that went in, inlined methods included.
    pub words: usize,
    /// The branches that it was made for, if somebody watches these.
    pub biases: Vec<Bias>,
    /// The receivers that it was made for, likewise.
    pub site_biases: Vec<SiteBias>,
    /// What it counts, if it counts.
    pub instrumented: Option<Box<Instrumented>>,
    /// Names and times of the steps.
    pub steps: Vec<(&'static str, Duration)>,
}

impl Compiled {
    /// What has to be placed of it.
    pub(super) fn piece(&self) -> Piece {
        Piece { length: self.bytes.len(), aligned: self.aligned }
    }

    /// A number that stands for the code, whatever the addresses in it, and for what `before` and `identity` stand for.
    pub fn digest(&self, before: u64, identity: &[u8]) -> u64 {
        let mut hash = Fingerprint::from(before);
        hash.bytes(identity);
        let mut from = 0;
        for at in self.address_offsets() {
            hash.bytes(&self.bytes[from..at]);
            hash.bytes(b"address");
            from = at + 8;
        }
        hash.bytes(&self.bytes[from..]);
        hash.value()
    }

    /// Where in the code an address begins, ascending.
    pub(super) fn address_offsets(&self) -> impl Iterator<Item = usize> + '_ {
        let mut from = 0;
        std::iter::from_fn(move || {
            while let Some(&bytes) = self.bytes[from..].first_chunk() {
                let at = from;
                let is_address = self.addresses.binary_search(&u64::from_le_bytes(bytes)).is_ok();
                from += if is_address { 8 } else { 1 };
                if is_address {
                    return Some(at);
                }
            }
            None
        })
    }
}
