//! `match`: which arm a value goes to.
//!
//! Null is asked for first, so that everything after works on the value inside. Then either one `switch` finds the arm (four or
//! more variants, or integers that lie close together), or the arms are tried in order; the last one needs no test,
//! because the checker has made sure that one matches. Payload is read where a pattern looks at it.

use super::buffer::Label;
use super::function::{FunctionLowering, Goal, Operand};
use super::locals::Home;
use super::walk;
use crate::typed::{Arm, Expr, LocalIndex, Pattern, Ty, TyKind};
use holloway_bytecode::{Op, Register, Type};

/// A switch has at most so many cases.
pub(super) const MAX_CASES: usize = 65_535;

/// With fewer keys than this, comparing one after another is as good as a switch.
const MIN_KEYS: usize = 4;

/// A table may be this many times as long as there are keys.
const SPARSE: usize = 4;

/// No table for integers is longer than this.
const MAX_TABLE: usize = 1024;

/// A value that patterns are tried on.
#[derive(Clone, Copy)]
pub(super) struct Subject {
    pub(super) register: Register,
    pub(super) ty: Ty,
    /// The position of its variant, if that was loaded.
    pub(super) ordinal: Option<Register>,
}

impl Subject {
    /// A value of which nothing is known.
    pub(super) fn new(register: Register, ty: Ty) -> Subject {
        Subject { register, ty, ordinal: None }
    }
}

/// The state of a match.
struct Matching<'p> {
    arms: &'p [Arm],
    /// The value as it came.
    whole: Subject,
    /// The value once it is known not to be null.
    inside: Subject,
    /// Where the code of each arm begins, its pattern having been recognised.
    found: Vec<Label>,
    goal: Goal,
    end: Label,
}

/// Which keys (variants or integers) an arm is for.
enum Keys {
    All,
    Ranges(Vec<(i64, i64)>),
}

impl<'p> FunctionLowering<'_, 'p> {
    /// `match`.
    pub(super) fn choose_arm(&mut self, scrutinee: &'p Expr, local: LocalIndex, arms: &'p [Arm], goal: Goal) {
        let scope = self.open_scope();
        let bodies: Vec<&Expr> = arms.iter().flat_map(|arm| arm.guard.iter().chain([&arm.body])).collect();
        self.declare(local, scrutinee, &|other| walk::assigns_any(&bodies, other));
        let ty = self.ty(scrutinee);
        let register = match self.homes[local.index()] {
            Home::Register(register) => register,
            _ => self.read_local(local, ty, Goal::Anywhere, scrutinee.span).register,
        };
        if !self.reachable() {
            self.close_scope(scope, Operand::NONE);
            return;
        }
        // What tells the arms apart cannot fail, but profiles name its line.
        self.at(scrutinee.span);
        let whole = Subject::new(register, ty);
        let found = arms.iter().map(|_| self.buffer.label()).collect();
        let end = self.buffer.label();
        let mut matching = Matching { arms, whole, inside: whole, found, goal, end };
        self.divert_null(&mut matching, scrutinee);
        if !self.switch(&mut matching) {
            self.try_in_order(&mut matching);
        }
        self.close_scope(scope, Operand::NONE);
        self.buffer.bind(end);
    }

    /// Sends null to its arm, if there is a first one without guard, and takes the value out of its box.
    fn divert_null(&mut self, matching: &mut Matching<'p>, scrutinee: &Expr) {
        let TyKind::Nullable(inner) = *self.lowering.types.kind(matching.whole.ty) else { return };
        let takes_null = |arm: &Arm| may_be_null(&arm.pattern);
        let Some(arm) = matching.arms.iter().position(takes_null) else { return };
        if matching.arms[arm].guard.is_some() || matches!(matching.arms[arm].pattern, Pattern::Is(..)) {
            return;
        }
        let whole = matching.whole.register;
        self.buffer.branch(Op::BrNull, whole.0, 0, matching.found[arm]);
        let looks_inside = |arm: &Arm| !matches!(arm.pattern, Pattern::Any | Pattern::Null);
        if !matching.arms.iter().any(looks_inside) {
            matching.inside.ty = inner;
            return;
        }
        let inside = self.narrow(Operand::kept(whole), inner, Goal::Anywhere, scrutinee.span);
        if inside.temporary {
            self.owned.push(inside.register);
        }
        matching.inside = Subject::new(inside.register, inner);
    }

    /// Tries the arms one after another.
    fn try_in_order(&mut self, matching: &mut Matching<'p>) {
        // Null has gone to its arm already, so that arms for nothing else are not tried.
        let diverted = matching.inside.ty != matching.whole.ty;
        let is_tried = |arm: &Arm| !(diverted && matches!(arm.pattern, Pattern::Null));
        let last = matching.arms.iter().rposition(is_tried).unwrap_or(0);
        self.load_once(matching, last);
        for (at, arm) in matching.arms.iter().enumerate() {
            if !is_tried(arm) && !self.reachable() {
                self.arm(at, None, matching);
                continue;
            }
            let is_last = at == last && arm.guard.is_none();
            let next = self.buffer.label();
            let inner = self.open_scope();
            let subject = self.subject_for(&arm.pattern, matching);
            let otherwise = (!is_last).then_some(next);
            self.test_pattern(&arm.pattern, subject, otherwise);
            self.arm(at, Some(next), matching);
            self.close_scope(inner, Operand::NONE);
            self.buffer.bind(next);
        }
        // The last arm took what came here.
        if self.reachable() {
            self.buffer.never();
        }
    }

    /// What a pattern at the top is tried on: a name or `null` may be meant for the value as it came.
    fn subject_for(&mut self, pattern: &Pattern, matching: &Matching<'p>) -> Subject {
        match pattern {
            Pattern::Bind(local) if self.local_type(*local) == matching.whole.ty => matching.whole,
            _ => matching.inside,
        }
    }

    /// The code of an arm whose pattern was recognised: guard and value.
    fn arm(&mut self, at: usize, next: Option<Label>, matching: &Matching<'p>) {
        let arm = &matching.arms[at];
        self.buffer.bind(matching.found[at]);
        if let Pattern::Bind(local) = arm.pattern {
            let subject = self.subject_for(&arm.pattern, matching);
            self.bind_pattern(local, subject, arm);
        }
        if let (Some(guard), Some(next)) = (&arm.guard, next) {
            self.branch_if(guard, false, next);
        }
        self.evaluate(&arm.body, matching.goal);
        self.buffer.jump(matching.end);
    }

    fn bind_pattern(&mut self, local: LocalIndex, subject: Subject, arm: &'p Arm) {
        let wanted = self.local_type(local);
        let value = self.narrow(Operand::kept(subject.register), wanted, Goal::Anywhere, arm.span);
        let code: Vec<&Expr> = arm.guard.iter().chain([&arm.body]).collect();
        self.define(local, value, &|other| walk::assigns_any(&code, other));
    }

    /// Loads what several patterns will ask for: the position of the variant.
    fn load_once(&mut self, matching: &mut Matching<'p>, last: usize) {
        let register = matching.inside.register;
        if !self.registers.ty(register).is_ref() {
            return;
        }
        let is_enum = matches!(self.lowering.types.kind(matching.inside.ty), TyKind::Enum(..));
        let tested = &matching.arms[..last];
        if is_enum && tested.iter().any(|arm| looks_at_variant(&arm.pattern)) {
            let ordinal = self.registers.allocate(Type::Int);
            self.owned.push(ordinal);
            self.buffer.op(Op::GetField, ordinal.0, register.0, super::enums::ORDINAL);
            matching.inside.ordinal = Some(ordinal);
        }
    }

    /// Finds the arm by a table, if that is possible and worth it; false if nothing was done.
    fn switch(&mut self, matching: &mut Matching<'p>) -> bool {
        let ty = matching.inside.ty;
        let variants = match self.lowering.types.kind(ty) {
            TyKind::Enum(index, _) => Some(self.lowering.declarations.enums[index.index()].variants.len()),
            TyKind::Int => None,
            _ => return false,
        };
        let Some(table) = Table::of(matching.arms, variants) else { return false };
        if !self.reachable() {
            return true;
        }
        let key = match variants {
            Some(_) => {
                let subject = Operand::kept(matching.inside.register);
                let ordinal =
                    self.get_field(subject, super::enums::ORDINAL, Type::Int, Goal::Anywhere).register;
                self.owned.push(ordinal);
                ordinal
            }
            None => matching.inside.register,
        };
        let entries: Vec<Label> = matching.arms.iter().map(|_| self.buffer.label()).collect();
        let nowhere = self.buffer.label();
        let entry = |arm: Option<usize>| arm.map_or(nowhere, |arm| entries[arm]);
        let default = entry(table.default.or(table.cases.last().copied().flatten()));
        let cases: Vec<Label> = table.cases.iter().map(|&arm| entry(arm.or(table.default))).collect();
        self.buffer.switch(key, table.low, &cases, default);
        for (at, arm) in matching.arms.iter().enumerate() {
            let inner = self.open_scope();
            self.buffer.bind(entries[at]);
            let next = entry(table.next[at]);
            // All others were recognised as a whole.
            if let Pattern::Variant(variant, payload) = &arm.pattern {
                self.test_payload(*variant, payload, matching.inside, Some(next));
            }
            self.arm(at, Some(next), matching);
            self.close_scope(inner, Operand::NONE);
        }
        self.buffer.bind(nowhere);
        if self.reachable() {
            self.buffer.never();
        }
        true
    }
}

/// Which arm each key goes to.
struct Table {
    low: i64,
    /// For `low` and the keys after it, the first arm.
    cases: Vec<Option<usize>>,
    /// The arm for all other keys.
    default: Option<usize>,
    /// For each arm, where a value goes that its payload patterns or guard refuse.
    next: Vec<Option<usize>>,
}

impl Table {
    /// The table for a match over an enum of so many variants, or over integers; `None` if there is none or it is not
    /// worth it.
    fn of(arms: &[Arm], variants: Option<usize>) -> Option<Table> {
        let keys: Vec<Keys> = arms.iter().map(|arm| keys(&arm.pattern)).collect::<Option<_>>()?;
        let ranges = keys.iter().flat_map(|keys| match keys {
            Keys::All => &[][..],
            Keys::Ranges(ranges) => ranges,
        });
        let (mut low, mut high, mut count) = (i64::MAX, i64::MIN, 0_usize);
        for &(from, to) in ranges {
            let size = usize::try_from((to as i128 - from as i128 + 1).max(0)).ok()?;
            (low, high) = (low.min(from), high.max(to));
            count = count.saturating_add(size);
        }
        if count < MIN_KEYS {
            return None;
        }
        let length = match variants {
            Some(variants) => {
                low = 0;
                variants
            }
            None => {
                let length = usize::try_from(high as i128 - low as i128 + 1).ok()?;
                (length <= SPARSE * count && length <= MAX_TABLE).then_some(length)?
            }
        };
        if length > MAX_CASES {
            return None;
        }
        let is_for = |arm: usize, key: i64| match &keys[arm] {
            Keys::All => true,
            Keys::Ranges(ranges) => ranges.iter().any(|&(from, to)| from <= key && key <= to),
        };
        let all_keys = || (0..length as i64).map(|at| low.wrapping_add(at));
        // Arms after `arm`, for a key or (without one) for those outside of the table.
        let first = |from: usize, key: Option<i64>| {
            (from..arms.len()).find(|&arm| match key {
                Some(key) => is_for(arm, key),
                None => matches!(keys[arm], Keys::All),
            })
        };
        let mut next = vec![None; arms.len()];
        for (at, arm) in arms.iter().enumerate() {
            if arm.guard.is_none() && !may_refuse(&arm.pattern) {
                continue;
            }
            let mut after = all_keys().filter(|&key| is_for(at, key)).map(|key| first(at + 1, Some(key)));
            let to = after.next().flatten();
            if after.any(|other| other != to) {
                return None;
            }
            if matches!(keys[at], Keys::All) && variants.is_none() && first(at + 1, None) != to {
                return None;
            }
            next[at] = to;
        }
        let default = if variants.is_some() { None } else { first(0, None) };
        Some(Table { low, cases: all_keys().map(|key| first(0, Some(key))).collect(), default, next })
    }
}

/// The keys that a pattern is for; `None` if it is not about keys.
fn keys(pattern: &Pattern) -> Option<Keys> {
    Some(match pattern {
        Pattern::Any | Pattern::Bind(_) => Keys::All,
        Pattern::Null => Keys::Ranges(Vec::new()),
        Pattern::Int(value) => Keys::Ranges(vec![(*value, *value)]),
        Pattern::Range(from, to) => Keys::Ranges(vec![(*from, *to)]),
        Pattern::Variant(variant, _) => Keys::Ranges(vec![(*variant as i64, *variant as i64)]),
        Pattern::Or(list) => {
            let mut all = Vec::new();
            for pattern in list {
                if may_refuse(pattern) {
                    return None;
                }
                match keys(pattern)? {
                    Keys::All => return Some(Keys::All),
                    Keys::Ranges(ranges) => all.extend(ranges),
                }
            }
            Keys::Ranges(all)
        }
        _ => return None,
    })
}

/// Can the pattern refuse a value although its key is right.
fn may_refuse(pattern: &Pattern) -> bool {
    match pattern {
        Pattern::Variant(_, payload) => {
            payload.iter().any(|inner| !matches!(inner, Pattern::Any | Pattern::Bind(_)))
        }
        Pattern::Or(list) => list.iter().any(may_refuse),
        _ => false,
    }
}

/// Can the pattern match null.
fn may_be_null(pattern: &Pattern) -> bool {
    match pattern {
        Pattern::Any | Pattern::Bind(_) | Pattern::Null | Pattern::Is(..) => true,
        Pattern::Or(list) => list.iter().any(may_be_null),
        _ => false,
    }
}

fn looks_at_variant(pattern: &Pattern) -> bool {
    match pattern {
        Pattern::Variant(..) => true,
        Pattern::Or(list) => list.iter().any(looks_at_variant),
        _ => false,
    }
}
