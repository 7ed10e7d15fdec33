//! The order of methods in memory: those that call each other lie together (Pettis and Hansen 1990, section 3), so that the
//! code of a program that runs needs fewer pages and cache lines.
//!
//! Code is position independent. When nothing new has been installed for a while, all code that is entered is copied into a row, in
//! the order that the call graph gives now; calls go to the copies from then on, and frames finish where they are. The room of
//! each piece where it lay before is free when no frame is there any more, whatever other places it has been at.
//!
//! Only the calls that are left count: those of an inlined method are calls of the code that it was inlined into, and where a
//! call was inlined there is none. A call that is there several times, inlined at several places, is divided among them equally.
//!
//! Code can be moved for the sake of lying elsewhere, too ([`scatter`]), by who measures.

use super::area::Piece;
use super::call_weights::CallWeights;
use super::free::{Used, free_retired};
use super::inlining::{CallDecision, Verdict};
use super::map::CodeObject;
use super::past::interpreted_profile;
use super::report::{self, LogEvent};
use super::request::{CodeId, Entry};
use crate::vm::Machinery;
use holloway_bytecode::FunctionId;
use holloway_profilers::MethodId;
use holloway_profilers::calls::{CallEdge, CallGraph};
use holloway_profilers::layout::order_methods;
use holloway_profilers::schedule::SplitMix;
use std::collections::{BTreeMap, BTreeSet};

/// So many ticks after something was installed, all is put in order.
const QUIET: u32 = 8;

/// Scattered code begins less than so many bytes behind the first place where there is room: some pages.
const FARTHEST: u64 = 1 << 16;

/// When methods are ordered.
#[derive(Default, Debug)]
pub(crate) struct MethodOrder {
    /// Ticks until it is done, if something was installed since the last time.
    due: Option<u32>,
    /// Pieces that lay elsewhere before, where there may still be frames.
    moved: BTreeSet<CodeId>,
    /// Ticks until it is looked whether there are any, and how many it will be after that.
    look: u32,
    pause: u32,
}

/// The most ticks between two looks at the stacks for frames in code that was moved.
const LONGEST_PAUSE: u32 = 64;

impl MethodOrder {
    /// A piece of code was installed.
    pub fn installed(&mut self) {
        self.due = Some(QUIET);
    }

    /// Are there copies that nobody enters any more.
    pub fn has_moved(&self) -> bool {
        !self.moved.is_empty()
    }

    /// Is it time to look for frames where code was before it was moved: soon after that, and then less and less often, as long stacks take
    /// long to look through.
    fn looks(&mut self) -> bool {
        if !self.has_moved() {
            return false;
        }
        match self.look.checked_sub(1) {
            Some(ticks) => {
                self.look = ticks;
                false
            }
            None => {
                self.look = self.pause;
                self.pause = (2 * self.pause).clamp(1, LONGEST_PAUSE);
                true
            }
        }
    }

    fn is_due(&mut self) -> bool {
        match &mut self.due {
            Some(0) => {
                self.due = None;
                true
            }
            Some(ticks) => {
                *ticks -= 1;
                false
            }
            None => false,
        }
    }
}

/// The timer ticked: orders methods if that is wanted and due.
pub(crate) fn tick(vm: &mut Machinery) {
    if vm.compiled.options.method_order.is_none() {
        return;
    }
    let is_due = vm.compiled.method_order.is_due();
    if is_due || vm.compiled.method_order.looks() {
        free_retired(vm);
    }
    if is_due {
        order(vm);
    }
}

/// Moves all code that is entered into a row.
fn order(vm: &mut Machinery) {
    let Some(source) = &vm.compiled.options.method_order else { return };
    let count = || vm.compiled.one_time_calls.get(&vm.program, &interpreted_profile(vm));
    let sampled = || vm.compiled.sampled_calls.get(&vm.profiling);
    let weights = source.weights(count, sampled);
    let current: Vec<&CodeObject> = vm.compiled.map.iter().filter(|object| object.is_current()).collect();
    let calls = current.iter().map(|object| (object.function, &object.tables.decisions[..]));
    let planned = order_methods(vm.program.functions.len(), &calls_left(calls, &weights));
    let place: BTreeMap<FunctionId, usize> =
        planned.iter().enumerate().map(|(place, method)| (FunctionId(method.0), place)).collect();
    let mut row: Vec<&CodeObject> = current;
    row.sort_by_key(|object| (place[&object.function], object.entry));
    let ids: Vec<CodeId> = row.iter().map(|object| object.id).collect();
    let names: Vec<String> =
        row.iter().map(|object| report::name(&vm.program, object.function, object.entry)).collect();
    let line = match lay(vm, &ids, 0) {
        Err(why) => format!("methods stay where they are: {why}"),
        Ok(bytes) => {
            vm.compiled.statistics.method_orders += 1;
            format!("{} pieces of code ({bytes} bytes) lie in a row now: {}", ids.len(), names.join(", "))
        }
    };
    vm.compiled.log(LogEvent::Compile, &line);
}

/// Between two runs: moves all code that is entered to another place, and to other places in it, as the number decides, in another order too if
/// nobody wants one. The same code is slower in some places than in others; who compares two codes wants the average. Where there is no
/// room, it stays.
pub(crate) fn scatter(vm: &mut Machinery, seed: u64) {
    // No frame is left of the last run.
    free_copies(vm, &Used::default());
    let mut row: Vec<&CodeObject> = vm.compiled.map.iter().filter(|object| object.is_current()).collect();
    row.sort_by_key(|object| object.address);
    let mut ids: Vec<CodeId> = row.iter().map(|object| object.id).collect();
    let mut random = SplitMix::new(seed);
    let behind = random.bits() % FARTHEST;
    if vm.compiled.options.method_order.is_none() {
        for last in (1..ids.len()).rev() {
            ids.swap(last, (random.bits() % (last as u64 + 1)) as usize);
        }
    }
    let _ = lay(vm, &ids, behind as usize);
}

/// Moves pieces into a row, which begins at least so many bytes behind the first place where there is room. How many bytes they are; `Err` says why they
/// stay where they are.
fn lay(vm: &mut Machinery, ids: &[CodeId], behind: usize) -> Result<usize, String> {
    let nothing = Piece { length: 0, aligned: false };
    let piece = |&id: &CodeId| vm.compiled.map.get(id).map_or(nothing, |object| object.tables.piece());
    let pieces: Vec<Piece> = ids.iter().map(piece).collect();
    let bytes: usize = pieces.iter().map(|piece| piece.length).sum();
    let addresses = vm.compiled.area.as_mut().and_then(|area| area.allocate_row(&pieces, behind));
    let Some(addresses) = addresses else {
        let cache = vm.compiled.options.code_cache;
        return Err(format!("{bytes} bytes in a row do not fit into the code cache of {cache}"));
    };
    if let Err(error) = write_row(vm, ids, &addresses) {
        if let Some(area) = &mut vm.compiled.area {
            addresses.iter().zip(&pieces).for_each(|(&address, piece)| area.release(address, piece.length));
        }
        return Err(format!("the row cannot be made executable: {error}"));
    }
    for (&id, &address) in ids.iter().zip(&addresses) {
        move_to(vm, id, address);
    }
    if let Some(area) = &vm.compiled.area {
        vm.compiled.statistics.code_in_use = area.used();
    }
    Ok(bytes)
}

/// Writes all pieces at once: a change of protection takes longer than the bytes.
fn write_row(vm: &mut Machinery, ids: &[CodeId], addresses: &[*const u8]) -> std::io::Result<()> {
    let Some(&first) = addresses.first() else { return Ok(()) };
    let mut row = Vec::new();
    for (&id, &address) in ids.iter().zip(addresses) {
        row.resize(address as usize - first as usize, 0);
        row.extend(vm.compiled.map.get(id).into_iter().flat_map(|object| &object.tables.bytes));
    }
    vm.compiled.area.as_mut().map_or(Ok(()), |area| area.write(first, &row))
}

/// A copy of a piece is entered from now on.
fn move_to(vm: &mut Machinery, id: CodeId, address: *const u8) {
    let Some(object) = vm.compiled.map.get(id) else { return };
    let (function, entry, old) = (object.function, object.entry, object.address);
    vm.compiled.map.moved(id, address);
    let order = &mut vm.compiled.method_order;
    (order.look, order.pause) = (0, 0);
    order.moved.insert(id);
    // A method whose calls are listened to has another entry, from where its code is looked up.
    if entry == Entry::Method && vm.code.compiled(function) == old {
        vm.code.set_compiled(function, Some(address));
    }
    if let Some(object) = vm.compiled.map.get(id) {
        report::map_code(vm, object);
    }
}

/// Frees each place where a piece lay before and where no frame is any more.
pub(super) fn free_copies(vm: &mut Machinery, used: &Used) {
    for id in std::mem::take(&mut vm.compiled.method_order.moved) {
        // What is gone wholly was freed with all its copies.
        let Some(object) = vm.compiled.map.get(id) else { continue };
        let length = object.tables.bytes.len();
        let (kept, free): (Vec<_>, Vec<_>) =
            object.before.iter().copied().partition(|&copy| used.has_copy(id, copy));
        if !kept.is_empty() {
            vm.compiled.method_order.moved.insert(id);
        }
        for copy in free {
            vm.compiled.map.forget_copy(id, copy);
            if let Some(area) = &mut vm.compiled.area {
                area.release(copy, length);
                vm.compiled.statistics.code_in_use = area.used();
            }
        }
    }
}

/// The calls between pieces of code, each of a function with what was decided about its calls.
fn calls_left<'a>(
    pieces: impl Iterator<Item = (FunctionId, &'a [CallDecision])> + Clone,
    weights: &CallWeights,
) -> CallGraph {
    let left = pieces.flat_map(|(function, decisions)| {
        let called = decisions.iter().filter(|decision| {
            matches!(decision.verdict, Verdict::Called | Verdict::GuardedElseCall) && decision.frequency > 0.0
        });
        called.filter_map(move |decision| Some((function, *decision.path.last()?, &decision.inlined)))
    });
    let mut copies: BTreeMap<(FunctionId, u32), u64> = BTreeMap::new();
    for (_, site, _) in left.clone() {
        *copies.entry(site).or_default() += 1;
    }
    let edges = left.flat_map(|(function, site, inlined)| {
        let targets = weights.targets(site.0, site.1).iter();
        let copies = copies[&site];
        targets.filter(|(callee, _)| !inlined.contains(&FunctionId(callee.0))).map(
            move |&(callee, weight)| (CallEdge::new(MethodId(function.0), site.1, callee), weight / copies),
        )
    });
    edges.filter(|&(_, weight)| weight > 0).collect()
}
