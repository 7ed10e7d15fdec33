//! Code that one machine made of its advice, for others that replay the same advice in the same way: they need not compile it again.
//!
//! Two replays ask for the same code in the same order, and know the same of the past. So they get the same machine code and tables, but
//! for addresses of what is a machine's own: methods, string constants, and the table of characters. These are exchanged. What is
//! asked for later, while the program runs, each machine compiles for itself.

use super::request::{Compiled, Location, Request};
use crate::adaptive::queue::Done;
use crate::vm::Machinery;
use hashbrown::HashMap;
use holloway_bytecode::FunctionId;
use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// What a machine made of its advice. The first that replays it fills this in; those after it take what is there. They must run the
/// same program with the same options, but for where code lies ([`super::TierOptions::scatter`]).
#[derive(Debug, Default)]
pub struct ReplayedCode(OnceLock<Made>);

#[derive(Debug)]
struct Made {
    places: Places,
    pieces: Vec<Piece>,
}

/// What came of a request.
#[derive(Debug)]
pub(super) struct Piece {
    request: Request,
    result: Result<Compiled, String>,
    time: Duration,
    /// How many numbers of counters were handed out after it.
    counters: usize,
}

/// The addresses in machine code that are a machine's own.
#[derive(Debug)]
struct Places {
    methods: Vec<u64>,
    strings: Vec<u64>,
    characters: RangeInclusive<u64>,
}

/// What a machine does with code of others while it replays its advice.
#[derive(Default)]
pub(super) enum Replaying {
    /// Nothing: it does not replay, or not any more.
    #[default]
    No,
    /// It makes the code.
    Makes(Vec<Piece>),
    /// It takes what was made, from this piece on.
    Takes { from: Arc<ReplayedCode>, next: usize, moves: Moves },
}

/// Before everything that the advice names is asked for.
pub(crate) fn begin(vm: &mut Machinery) {
    let Some(code) = vm.compiled.options.replayed.clone() else { return };
    vm.compiled.replaying = match code.0.get() {
        None => Replaying::Makes(Vec::new()),
        Some(made) => {
            let moves = Moves::new(&made.places, &Places::of(vm));
            Replaying::Takes { from: code, next: 0, moves }
        }
    };
}

/// After that.
pub(crate) fn end(vm: &mut Machinery) {
    let Replaying::Makes(pieces) = std::mem::take(&mut vm.compiled.replaying) else { return };
    if let Some(code) = &vm.compiled.options.replayed {
        // If another machine was quicker, its code is as good.
        let _ = code.0.set(Made { places: Places::of(vm), pieces });
    }
}

/// What another machine got for this request, if that is known.
pub(super) fn take(vm: &mut Machinery, request: &Request) -> Option<Done> {
    let counters = vm.profiling.counter_numbers();
    let Replaying::Takes { from, next, moves } = &mut vm.compiled.replaying else { return None };
    let piece = from.0.get()?.pieces.get(*next)?;
    *next += 1;
    // Whoever asks for something else than the other machine did goes its own way from here.
    let more = piece.counters.checked_sub(counters.as_ref().map_or(0, |numbers| numbers.handed_out()));
    let (true, Some(more)) = (piece.request == *request, more) else {
        vm.compiled.replaying = Replaying::No;
        return None;
    };
    let result = match &piece.result {
        Ok(compiled) => Ok(Box::new(moves.moved(compiled)?)),
        Err(why) => Err(why.clone()),
    };
    if let Some(numbers) = counters {
        numbers.allocate(more);
    }
    Some(Done::Compiled(request.clone(), result, piece.time))
}

/// Keeps what came of a request for other machines.
pub(super) fn keep(vm: &mut Machinery, done: &Done) {
    let counters = vm.profiling.counter_numbers().map_or(0, |numbers| numbers.handed_out());
    if let (Replaying::Makes(pieces), Done::Compiled(request, result, time)) =
        (&mut vm.compiled.replaying, done)
    {
        let result = result.as_ref().map(|compiled| (**compiled).clone()).map_err(String::clone);
        pieces.push(Piece { request: request.clone(), result, time: *time, counters });
    }
}

impl Places {
    fn of(vm: &Machinery) -> Places {
        let functions = (0..vm.program.functions.len() as u32).map(FunctionId);
        let characters = vm.characters.as_ptr_range();
        Places {
            methods: functions.map(|function| vm.code.method(function) as u64).collect(),
            strings: vm.strings.iter().map(|&string| string as u64).collect(),
            characters: characters.start as u64..=characters.end as u64,
        }
    }
}

/// From addresses of one machine to those of another.
#[derive(Debug)]
pub(super) struct Moves {
    exact: HashMap<u64, u64>,
    /// From here to there nothing else may be referred to.
    closed: [Option<RangeInclusive<u64>>; 2],
    characters: RangeInclusive<u64>,
    distance: u64,
}

impl Moves {
    fn new(from: &Places, to: &Places) -> Moves {
        let pairs = from.methods.iter().zip(&to.methods).chain(from.strings.iter().zip(&to.strings));
        let hull = |addresses: &[u64]| Some(*addresses.iter().min()?..=*addresses.iter().max()?);
        Moves {
            exact: pairs.map(|(&from, &to)| (from, to)).collect(),
            closed: [hull(&from.methods), hull(&from.strings)],
            characters: from.characters.clone(),
            distance: to.characters.start().wrapping_sub(*from.characters.start()),
        }
    }

    /// Where that is which lies there in the machine that made the code. `None` if nobody can tell.
    fn address(&self, address: u64) -> Option<u64> {
        if let Some(&to) = self.exact.get(&address) {
            return Some(to);
        }
        if self.characters.contains(&address) {
            return Some(address.wrapping_add(self.distance));
        }
        let is_closed = self.closed.iter().flatten().any(|closed| closed.contains(&address));
        (!is_closed).then_some(address)
    }

    /// The code for the other machine. `None` if there is an address in it of which nobody can tell what it is.
    fn moved(&self, code: &Compiled) -> Option<Compiled> {
        let mut code = code.clone();
        let offsets: Vec<usize> = code.address_offsets().collect();
        for at in offsets {
            let bytes = code.bytes[at..].first_chunk_mut()?;
            *bytes = self.address(u64::from_le_bytes(*bytes))?.to_le_bytes();
        }
        for address in &mut code.addresses {
            *address = self.address(*address)?;
        }
        code.addresses.sort_unstable();
        for site in &mut code.sites {
            let registers = site.frames.iter_mut().flat_map(|frame| &mut frame.registers);
            let fields = site.objects.iter_mut().flat_map(|object| &mut object.fields);
            for location in registers.map(|(_, location)| location).chain(fields) {
                if let Location::Constant(bits) = location {
                    *bits = self.address(*bits)?;
                }
            }
        }
        Some(code)
    }
}

#[cfg(test)]
mod tests {
    use super::super::request::{Site, SiteFrame};
    use super::*;

    fn places(from: u64) -> Places {
        Places {
            methods: vec![from, from + 0x30],
            strings: vec![from + 0x1000, from + 0x1020],
            characters: from + 0x2000..=from + 0x2400,
        }
    }

    const OLD: u64 = 0x7f00_0000_0000;
    const NEW: u64 = 0x7e12_3450_0000;

    fn code(addresses: &[u64], constant: u64) -> Compiled {
        let bytes = addresses.iter().flat_map(|address| [&[0x48, 0xb8][..], &address.to_le_bytes()].concat());
        let frame = SiteFrame {
            function: FunctionId(0),
            pc: 0,
            calling: false,
            registers: vec![(0, Location::Constant(constant)), (1, Location::Exit(3))],
        };
        let site = Site {
            frames: vec![frame],
            objects: vec![],
            reason: "",
            block: 0,
            told: false,
            speculation: None,
            path: None,
        };
        let mut sorted = addresses.to_vec();
        sorted.sort_unstable();
        Compiled { bytes: bytes.collect(), sites: vec![site], addresses: sorted, ..Compiled::default() }
    }

    #[test]
    fn what_is_a_machines_own_is_exchanged_and_nothing_else() {
        let moves = Moves::new(&places(OLD), &places(NEW));
        let other = 0x4045_0000_0000_0000;
        let of = |base: u64| code(&[base + 0x30, other, base + 0x1020, base + 0x2008], base + 0x1000);
        assert_eq!(moves.moved(&of(OLD)), Some(of(NEW)));
        let small = code(&[], 7);
        assert_eq!(moves.moved(&small), Some(small));
    }

    #[test]
    fn what_points_between_is_not_moved() {
        let moves = Moves::new(&places(OLD), &places(NEW));
        assert_eq!(moves.moved(&code(&[OLD + 8], 0)), None, "inside of a method");
        assert_eq!(moves.moved(&code(&[], OLD + 0x1010)), None, "inside of a string");
    }
}
