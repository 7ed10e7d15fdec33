//! `try`: the protected code, a jump over the handlers, the handlers. A register that is written only inside the
//! protected code cannot be read by a handler, and none is: handlers see variables declared before.

use super::function::{FunctionLowering, Goal, Operand};
use crate::typed::{Catch, Expr};
use holloway_bytecode::Type;

impl<'p> FunctionLowering<'_, 'p> {
    /// `try { … } catch …`.
    pub(super) fn attempt(&mut self, body: &'p Expr, catches: &'p [Catch], goal: Goal) {
        let scope = self.open_scope();
        let end = self.buffer.label();
        self.protected += 1;
        let start = self.buffer.here();
        self.evaluate(body, goal);
        let stop = self.buffer.here();
        self.protected -= 1;
        self.buffer.jump(end);
        self.forget_since(scope);
        let mut handlers = Vec::new();
        for catch in catches {
            let ty = self.concrete(catch.ty);
            let class = self.lowering.class_of(ty);
            let error = self.registers.allocate(Type::class(class));
            let target = self.buffer.label();
            self.buffer.handler(start, stop, target, class, error);
            handlers.push((catch, target, error));
        }
        for (catch, target, error) in handlers {
            self.buffer.bind(target);
            let inner = self.open_scope();
            self.define(catch.local, Operand::temporary(error), &|_| true);
            self.evaluate(&catch.body, goal);
            self.buffer.jump(end);
            self.close_scope(inner, Operand::NONE);
        }
        self.close_scope(scope, Operand::NONE);
        self.buffer.bind(end);
    }
}
