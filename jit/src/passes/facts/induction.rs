//! Facts on the parameters of loop headers, by induction.
//!
//! For each integer parameter of a loop header, relations are guessed that may hold in every round: that it is
//! not below (or above) where it started, that it is not negative, and what is known of the next value where the
//! loop goes back, which is where an inverted loop has its test; also in relation to another parameter. All guesses of the region are then taken for
//! facts at once, and each is tried on every edge into its header: for the first value on entry, for the next value
//! on the way back. Those that fail are dropped, until all that remain hold together (Flanagan and Leino, "Houdini, an Annotation
//! Assistant for ESC/Java", FME 2001). Sound by induction over the length of an execution: whenever a header is
//! entered, the facts held at all earlier times.
//!
//! A counter that starts at 0, is stepped by 1 and stays below a length gets both of its bounds so; the upper
//! one is also why the step does not wrap.
//!
//! Each round costs a proof per guess and edge; a guess is dropped once. Rounds are limited, and with more, nothing is claimed.

use super::relations::{Implied, Kind, Relation};
use super::{Facts, Point, Since};
use crate::ir::{BlockId, Ty, Value};
use holloway_bytecode::cfg::EdgeId;

/// The most guesses for one parameter.
const MOST_GUESSES: usize = 12;

/// The most rounds until nothing fails.
const MOST_ROUNDS: u32 = 12;

/// Something that may hold of a parameter whenever its block is entered.
struct Guess {
    param: Value,
    block: BlockId,
    relation: Relation,
}

/// Finds the facts on the loops whose headers the block dominates, and adds them.
pub fn add(facts: &mut Facts<'_>, within: BlockId) {
    let shape = facts.shape;
    let mut guesses = Vec::new();
    for (id, natural) in shape.loops.iter() {
        let header = natural.header;
        if !shape.dominators.dominates(within, header) {
            continue;
        }
        let entries = shape.loops.entries(&shape.graph, id);
        for &param in &facts.region.block(header).params {
            if facts.region.ty(param) == Ty::Int {
                guess(facts, param, header, &entries, &natural.back_edges, &mut guesses);
            }
        }
    }
    for guess in &guesses {
        note(facts, guess);
    }
    // What an edge implies does not change.
    let mut of_edges: Vec<Option<Vec<Implied>>> = vec![None; shape.graph.edge_count()];
    for round in 0.. {
        let mut failed = false;
        guesses.retain(|guess| {
            let holds = round < MOST_ROUNDS && holds(facts, guess, &mut of_edges);
            if !holds {
                failed = true;
                forget(facts, guess);
            }
            holds
        });
        if !failed {
            break;
        }
    }
}

fn note(facts: &mut Facts<'_>, guess: &Guess) {
    let since = Since { at: Point::start(guess.block), fact: guess.relation };
    facts.relations[guess.param.index()].push(since);
    if let Some((other, mirrored)) = mirrored(guess) {
        facts.relations[other.index()].push(Since { fact: mirrored, ..since });
    }
}

fn forget(facts: &mut Facts<'_>, guess: &Guess) {
    let since = Since { at: Point::start(guess.block), fact: guess.relation };
    facts.relations[guess.param.index()].retain(|known| *known != since);
    if let Some((other, mirrored)) = mirrored(guess) {
        facts.relations[other.index()].retain(|known| *known != Since { fact: mirrored, ..since });
    }
}

/// The same from the other value's side.
fn mirrored(guess: &Guess) -> Option<(Value, Relation)> {
    let Relation { kind, other, offset } = guess.relation;
    let kind = match kind {
        Kind::AtMost => Kind::AtLeast,
        Kind::AtLeast => Kind::AtMost,
        Kind::NotEqual => return None,
    };
    Some((other?, Relation { kind, other: Some(guess.param), offset: offset.checked_neg()? }))
}

/// What may hold of a parameter.
fn guess(
    facts: &Facts<'_>,
    param: Value,
    block: BlockId,
    entries: &[EdgeId],
    back_edges: &[EdgeId],
    guesses: &mut Vec<Guess>,
) {
    let mut found: Vec<Relation> = Vec::new();
    let mut propose = |kind: Kind, other: Option<Value>, offset: i64| {
        let relation = Relation { kind, other, offset };
        // Something from before the loop, or another parameter of the header.
        let is_fixed = other.is_none_or(|other| {
            facts.places.is_above(other, block, &facts.shape.dominators)
                || facts.places.get(other) == Some(Point::start(block))
        });
        let is_new = !facts.relations_at(param, Point::start(block)).any(|known| known == relation);
        if is_fixed
            && is_new
            && kind != Kind::NotEqual
            && found.len() < MOST_GUESSES
            && !found.contains(&relation)
        {
            found.push(relation);
        }
    };
    for &edge in entries.iter().take(2) {
        if let Some((value, add)) = facts.on_edge(edge, param) {
            propose(Kind::AtLeast, value, add);
            propose(Kind::AtMost, value, add);
        }
    }
    propose(Kind::AtLeast, None, 0);
    let params = &facts.region.block(block).params;
    for &edge in back_edges {
        let Some((Some(next), 0)) = facts.on_edge(edge, param) else { continue };
        let latch = Point::end(facts.shape.graph.source(edge));
        let implied = facts.implied_by_edge(edge);
        let on_edge = |value: Value| {
            implied.iter().filter_map(move |implied| match implied {
                Implied::Relation(about, relation) if *about == value => Some(*relation),
                _ => None,
            })
        };
        for relation in on_edge(next).chain(facts.relations_at(next, latch)) {
            propose(relation.kind, relation.other, relation.offset);
            // What it relates to may be the next value of another parameter.
            let Some(other) = relation.other else { continue };
            for &param in params {
                if facts.on_edge(edge, param) == Some((Some(other), 0)) {
                    propose(relation.kind, Some(param), relation.offset);
                }
            }
        }
        // Where the test is before the step, what it says of the present value says something of the next one.
        let Some((from, step)) = facts.sum(next) else { continue };
        for relation in on_edge(from).chain(facts.relations_at(from, latch)) {
            if let Some(offset) = relation.offset.checked_add(step) {
                propose(relation.kind, relation.other, offset);
            }
        }
    }
    guesses.extend(found.into_iter().map(|relation| Guess { param, block, relation }));
}

/// Does a guess hold on all edges into the block, if all the facts and guesses do.
fn holds(facts: &Facts<'_>, guess: &Guess, of_edges: &mut [Option<Vec<Implied>>]) -> bool {
    let graph = &facts.shape.graph;
    graph.in_edges(guess.block).iter().filter(|&&edge| graph.is_reachable(graph.source(edge))).all(|&edge| {
        let Relation { kind, other, offset } = guess.relation;
        let Some((argument, add)) = facts.on_edge(edge, guess.param) else { return false };
        let Some((other, add_other)) = other.map_or(Some((None, 0)), |other| facts.on_edge(edge, other))
        else {
            return false;
        };
        let Some(offset) = offset.checked_add(add_other).and_then(|sum| sum.checked_sub(add)) else {
            return false;
        };
        let relation = Relation { kind, other, offset };
        let implied = of_edges[edge.index()].get_or_insert_with(|| facts.implied_by_edge(edge));
        facts.proves_on_edge(edge, implied, argument, relation)
    })
}
