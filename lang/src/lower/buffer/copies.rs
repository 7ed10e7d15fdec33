//! Copies that can be saved: `f → b; mov a, b` becomes `f → a` if nobody reads b afterwards, and `mov a, b; ret a` becomes
//! `ret b`.
//!
//! Code generation puts values where they are needed as long as it knows the place in advance. It does not when a
//! variable is declared with a value and then assigned to another for good: `let next = at.next; at = next`.

use super::{Buffer, Item, Kind};
use holloway_bytecode::ops::{self, OpShape, Place, Role};
use holloway_bytecode::{Op, Type};

/// To find out whether a register is read again, so many instructions are looked at.
const MAX_VISITED: usize = 40;

impl Buffer {
    /// Saves the copies that can be saved. `types` are those of the registers.
    pub(super) fn save_copies(&mut self, types: &[Type]) {
        if !self.handlers.is_empty() {
            // An error may go anywhere, and handlers read what they like.
            return;
        }
        for at in 1..self.items.len() {
            let Item { op: Op::Mov, a, b, kind: Kind::Plain, .. } = self.items[at] else { continue };
            if self
                .items
                .get(at + 1)
                .is_some_and(|next| next.op == Op::Return && next.a == a && is_plain(next))
            {
                self.items[at + 1].a = b;
                self.items[at].kind = Kind::Nothing;
                continue;
            }
            let before = &self.items[at - 1];
            let takes = |item: &Item| match definition(item) {
                Some(ops::Kind::NonNull) => {
                    matches!(types.get(a as usize), Some(Type::Ref(r)) if !r.nullable)
                }
                Some(_) => true,
                None => false,
            };
            if before.a == b && takes(before) && !self.is_read(b, at + 1) {
                self.items[at - 1].a = a;
                self.items[at].kind = Kind::Nothing;
            }
        }
    }

    /// May the register be read before it is written again, from the item `from` on.
    fn is_read(&self, register: u16, from: usize) -> bool {
        let mut visited = Vec::new();
        let mut open = vec![from];
        while let Some(start) = open.pop() {
            let mut at = start;
            while let Some(item) = self.items.get(at) {
                if visited.contains(&at) {
                    break;
                }
                if visited.len() == MAX_VISITED || self.reads(item, register) {
                    return true;
                }
                visited.push(at);
                match item.kind {
                    Kind::Branch(target) => open.extend(self.place_of(target)),
                    Kind::Jump(target) => {
                        open.extend(self.place_of(target));
                        break;
                    }
                    Kind::Switch { first, count, .. } => {
                        let targets = &self.cases[first as usize..=(first + count) as usize];
                        open.extend(targets.iter().filter_map(|&target| self.place_of(target)));
                        break;
                    }
                    _ if matches!(item.op.shape(), OpShape::Return | OpShape::Throw)
                        && is_instruction(item) =>
                    {
                        break;
                    }
                    _ => {}
                }
                if item.a == register && definition(item).is_some() {
                    break;
                }
                at += 1;
            }
        }
        false
    }

    fn place_of(&self, label: super::Label) -> Option<usize> {
        self.labels[label.0 as usize].bound.map(|bound| bound as usize)
    }

    fn reads(&self, item: &Item, register: u16) -> bool {
        if !is_instruction(item) {
            return false;
        }
        if let Kind::Call { first, count } = item.kind {
            let arguments = &self.arguments[first as usize..(first + count) as usize];
            return arguments.iter().any(|argument| argument.0 == register);
        }
        let uses = item.op.operands().iter().filter(|operand| operand.role == Role::Use);
        let counted = item.op.is_counted_loop() && item.a == register;
        counted
            || uses.into_iter().any(|operand| match (operand.place, item.kind) {
                (Place::A, _) => item.a == register,
                (Place::B, _) => item.b == register,
                (Place::C, _) => item.c == register,
                (Place::N, Kind::Fourth(n)) => n as u16 == register,
                _ => false,
            })
    }
}

fn is_instruction(item: &Item) -> bool {
    !matches!(item.kind, Kind::Bind(_) | Kind::Gap(_) | Kind::Nothing)
}

fn is_plain(item: &Item) -> bool {
    matches!(item.kind, Kind::Plain)
}

/// What kind of value an instruction writes to its first operand, if it does. Calls are left out: whether they write depends
/// on what is called.
fn definition(item: &Item) -> Option<ops::Kind> {
    if !is_instruction(item) || item.op.is_counted_loop() {
        return None;
    }
    let operand = item.op.operands().iter().find(|operand| operand.role == Role::Def)?;
    (operand.place == Place::A).then_some(operand.kind)
}
