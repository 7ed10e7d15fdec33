//! One function while it is being lowered: its frame, its code, and the vocabulary in which the files beside this one
//! speak of values and where they should go.

use super::buffer::{Buffer, Label};
use super::constants::{Constant, ConstantPool};
use super::instances::Environment;
use super::locals::{Home, Known, Narrowed};
use super::registers::{MAX_REGISTERS, Registers};
use super::walk::LocalSet;
use super::{Lowering, Work};
use crate::span::Span;
use crate::typed::{Body, Expr, Local, LoopIndex, Ty};
use holloway_bytecode::verify::{MAX_CODE, MAX_PARAMS};
use holloway_bytecode::{Function, FunctionId, Op, RefType, Register, Type};
use std::rc::Rc;

/// What is to be done with the value of an expression.
#[derive(Clone, Copy, Debug)]
pub(super) enum Goal {
    /// It is not needed.
    Discard,
    /// It is needed, in any register.
    Anywhere,
    /// It is needed in this register.
    At(Target),
    /// It is the result of the function.
    Return,
}

/// A register that a value should be put into.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) register: Register,
    /// Nothing can read the register before the expression is evaluated, so that it may be written early. Otherwise it is
    /// written by the very last instruction only: it may belong to a variable that the expression reads, or that an error
    /// handler reads after the expression failed.
    pub(super) fresh: bool,
}

/// A register that holds a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    pub(super) register: Register,
    /// Nobody else needs the register: who uses the value gives it back.
    pub(super) temporary: bool,
}

impl Operand {
    /// The value where no value is needed or none will ever be; its register does not exist.
    pub(super) const NONE: Operand = Operand { register: Register(u16::MAX), temporary: false };

    /// A value in a register that belongs to something else.
    pub(super) fn kept(register: Register) -> Operand {
        Operand { register, temporary: false }
    }

    /// A value in a register of its own.
    pub(super) fn temporary(register: Register) -> Operand {
        Operand { register, temporary: true }
    }
}

/// A loop that `break` and `continue` can name.
#[derive(Clone, Copy)]
pub(super) struct LoopContext {
    pub(super) break_to: Label,
    pub(super) continue_to: Label,
    /// What `break value` does with the value.
    pub(super) goal: Goal,
}

/// The state of one function being lowered.
pub(super) struct FunctionLowering<'l, 'p> {
    pub(super) lowering: &'l mut Lowering<'p>,
    pub(super) environment: Rc<Environment<'p>>,
    pub(super) name: Rc<str>,
    pub(super) buffer: Buffer,
    pub(super) registers: Registers,
    /// Type of the result; `None` for nothing.
    pub(super) result: Option<Type>,
    pub(super) source_locals: &'p [Local],
    /// Where each local is.
    pub(super) homes: Vec<Home>,
    /// What is known of each local's value.
    pub(super) known: Vec<Known>,
    /// Locals that are assigned after their declaration.
    pub(super) assigned: LocalSet,
    /// Registers that the open scopes give back at their ends.
    pub(super) owned: Vec<Register>,
    /// Narrowed copies of locals.
    pub(super) narrowed: Vec<Narrowed>,
    /// Constants that are in registers at the present place.
    pub(super) loaded: Vec<(Constant, Register)>,
    pub(super) loops: Vec<Option<LoopContext>>,
    /// Constants loaded in front of the outermost loop around the present place.
    pub(super) pool: Option<ConstantPool>,
    /// The present code runs at most once for each time the loop is entered.
    pub(super) leaving: u32,
    /// How many `try` bodies of this function are around the present place.
    pub(super) protected: u32,
}

impl<'l, 'p> FunctionLowering<'l, 'p> {
    /// A function with parameters but without source.
    pub(super) fn bare(
        lowering: &'l mut Lowering<'p>,
        environment: Rc<Environment<'p>>,
        params: Vec<Type>,
        result: Option<Type>,
    ) -> FunctionLowering<'l, 'p> {
        let mut registers = Registers::default();
        for ty in params {
            registers.allocate_new(ty);
        }
        FunctionLowering {
            lowering,
            environment,
            name: "".into(),
            buffer: Buffer::new(),
            registers,
            result,
            source_locals: &[],
            homes: Vec::new(),
            known: Vec::new(),
            assigned: LocalSet::default(),
            owned: Vec::new(),
            narrowed: Vec::new(),
            loaded: Vec::new(),
            loops: Vec::new(),
            pool: None,
            leaving: 0,
            protected: 0,
        }
    }

    /// Makes the body's locals known; none has a home yet.
    pub(super) fn enter(&mut self, body: &'p Body) {
        self.source_locals = &body.locals;
        self.homes = vec![Home::None; body.locals.len()];
        self.known = vec![Known::default(); body.locals.len()];
        self.loops = vec![None; body.loops as usize];
        self.assigned = LocalSet::assigned_in(body);
    }

    /// Lowers the code of the body as that of the whole function.
    pub(super) fn body(&mut self, body: &'p Body) {
        self.evaluate(&body.expr, Goal::Return);
    }

    /// The function with all that was written. `params` registers are parameters.
    pub(super) fn finish(mut self, name: Box<str>, params: u16) -> Function {
        // Control never comes here: every way through the body returned or will not end.
        self.never();
        if self.registers.overflowed() {
            self.lowering.report(
                format!("this function needs more than {MAX_REGISTERS} registers"),
                "too many values are alive at once here",
            );
        }
        let registers = self.registers.into_types();
        let code = self.buffer.finish(&registers);
        if code.words.len() > MAX_CODE {
            self.lowering.report("this function is too long", format!("more than {MAX_CODE} words of code"));
        }
        Function {
            name,
            params,
            registers,
            result: self.result,
            code: code.words,
            handlers: code.handlers,
            positions: code.positions,
        }
    }

    /// Can control come to the present place.
    pub(super) fn reachable(&self) -> bool {
        self.buffer.reachable()
    }

    /// Control does not go on here, although the verifier might think so: what was just called never returns.
    pub(super) fn never(&mut self) {
        if self.reachable() {
            if self.result.is_none() {
                self.buffer.op(Op::ReturnUnit, 0, 0, 0);
            } else {
                self.buffer.never();
            }
        }
    }

    /// What is written next comes from the start of `span`.
    pub(super) fn at(&mut self, span: Span) {
        if self.reachable() {
            self.lowering.place = span;
            let position = self.lowering.position(span);
            self.buffer.set_position(position);
        }
    }

    /// The concrete type of an expression.
    pub(super) fn ty(&mut self, expr: &Expr) -> Ty {
        self.concrete(expr.ty)
    }

    /// The concrete type that `ty` stands for here.
    pub(super) fn concrete(&mut self, ty: Ty) -> Ty {
        self.lowering.substitute(ty, &self.environment)
    }

    /// The register type of a concrete type.
    pub(super) fn representation(&mut self, ty: Ty) -> Type {
        self.lowering.representation(ty)
    }

    /// The register that the result of a leaf goes to: the one asked for, or a new one.
    pub(super) fn destination(&mut self, goal: Goal, ty: Type) -> Operand {
        match goal {
            Goal::At(target) => Operand::kept(target.register),
            _ => Operand::temporary(self.registers.allocate(ty)),
        }
    }

    /// As [`Self::destination`], for instructions that give a non-null reference: they write only registers of non-null types.
    /// What is written must be passed through [`Self::put`].
    pub(super) fn non_null_destination(&mut self, goal: Goal, ty: Type) -> Operand {
        match goal {
            Goal::At(Target { register, .. }) if self.is_nullable(register) => {
                Operand::temporary(self.registers.allocate(ty))
            }
            _ => self.destination(goal, ty),
        }
    }

    /// May the register hold null.
    pub(super) fn is_nullable(&self, register: Register) -> bool {
        matches!(self.registers.ty(register), Type::Ref(RefType { nullable: true, .. }))
    }

    /// As [`Self::destination`], for code that writes the register before its end: only a fresh one will do.
    pub(super) fn early_destination(&mut self, goal: Goal, ty: Type) -> Operand {
        match goal {
            Goal::At(Target { register, fresh: true }) if self.registers.ty(register) == ty => {
                Operand::kept(register)
            }
            _ => Operand::temporary(self.registers.allocate(ty)),
        }
    }

    /// Puts a value that is somewhere already where it is asked for.
    pub(super) fn put(&mut self, value: Operand, goal: Goal) -> Operand {
        match goal {
            Goal::At(target) if target.register != value.register => {
                self.release(value);
                self.buffer.op(Op::Mov, target.register.0, value.register.0, 0);
                Operand::kept(target.register)
            }
            _ => value,
        }
    }

    /// The value is not needed any more.
    pub(super) fn release(&mut self, operand: Operand) {
        if operand.temporary {
            self.registers.free(operand.register);
        }
    }

    /// Writes a call that gives a value of type `result` or nothing, and releases the arguments.
    pub(super) fn finish_call(
        &mut self,
        op: Op,
        bc: u32,
        arguments: &[Operand],
        result: Option<Type>,
        goal: Goal,
        span: Span,
    ) -> Operand {
        if arguments.len() > MAX_PARAMS {
            self.lowering.place = span;
            let message = format!("a call cannot have more than {MAX_PARAMS} arguments");
            self.lowering.report(message, "too many arguments");
            return Operand::NONE;
        }
        for &argument in arguments {
            self.release(argument);
        }
        let registers: Vec<Register> = arguments.iter().map(|argument| argument.register).collect();
        let destination = result.map(|ty| self.destination(goal, ty));
        self.at(span);
        self.buffer.call(op, destination.map_or(0, |operand| operand.register.0), bc, &registers);
        destination.unwrap_or(Operand::NONE)
    }

    /// Gives `Unit` as a value where one is asked for.
    pub(super) fn unit(&mut self, goal: Goal) -> Operand {
        match goal {
            Goal::Discard | Goal::Return => Operand::NONE,
            _ => {
                let destination = self.destination(goal, Type::Int);
                self.buffer.op_bc(Op::LoadInt, destination.register.0, 0);
                destination
            }
        }
    }

    /// The loop that a `break` or `continue` names.
    pub(super) fn enclosing(&self, id: LoopIndex) -> Option<LoopContext> {
        self.loops.get(id.index()).copied().flatten()
    }
}

impl<'p> Lowering<'p> {
    /// Makes the code of a function.
    pub(super) fn lower_function(&mut self, id: FunctionId, work: Work<'p>) {
        let placeholder = &self.program.functions[id.index()];
        let (name, count) = (placeholder.name.clone(), placeholder.params);
        let (params, result) = (placeholder.registers.clone(), placeholder.result);
        let environment = match &work {
            Work::Source(_, environment) => environment.clone(),
            Work::Closure(closure) => closure.environment.clone(),
            _ => Rc::default(),
        };
        let declarations = self.declarations;
        let mut function = FunctionLowering::bare(self, environment, params, result);
        function.name = (&*name).into();
        match work {
            Work::Source(index, _) => {
                let source = &declarations.functions[index.index()];
                // What a prologue reports has the place of the header.
                function.at(source.span);
                if let Some(body) = &source.body {
                    function.enter(body);
                    function.parameters(0, count as usize);
                    if declarations.is_init(index) {
                        function.init_body(body);
                    } else {
                        function.body(body);
                    }
                }
            }
            Work::Global(index) => {
                let source = &declarations.globals[index.index()];
                function.at(source.span);
                function.enter(&source.init);
                function.body(&source.init);
            }
            Work::Closure(closure) => function.closure_code(closure),
            Work::FunctionValue(target) => function.forward(target, 1, Ty::NEVER),
            Work::Bridge(target, gives) => function.forward(target, 0, gives),
            Work::Helper(helper) => function.helper(helper),
        }
        let made = function.finish(name, count);
        self.program.functions[id.index()] = made;
    }
}
