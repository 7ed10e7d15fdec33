//! Functions with type arguments: each pair of a function and concrete arguments is one bytecode function, made when it
//! is first asked for.

use super::{Lowering, Work};
use crate::typed::{FixedHasher, FunctionIndex, ParamIndex, Ty, TyKind};
use hashbrown::HashMap;
use holloway_bytecode::verify::MAX_PARAMS;
use holloway_bytecode::{Function, FunctionId, Type};
use std::cell::RefCell;
use std::rc::Rc;

/// Programs of more functions than this, each with its type arguments, are refused: most likely there would be ever more.
const MAX_INSTANCES: usize = 100_000;

/// Types nested deeper than this are refused: most likely there would be ever deeper ones.
const MAX_NESTING: u16 = 64;

/// Type parameters and what they stand for.
#[derive(Default)]
pub(super) struct Environment<'p> {
    params: &'p [ParamIndex],
    /// One concrete type for each parameter.
    pub(super) arguments: Vec<Ty>,
    /// Types that were substituted before.
    cache: RefCell<HashMap<Ty, Ty, FixedHasher>>,
}

impl<'p> Environment<'p> {
    /// `params` stand for `arguments`.
    pub(super) fn new(params: &'p [ParamIndex], arguments: Vec<Ty>) -> Environment<'p> {
        debug_assert_eq!(params.len(), arguments.len(), "a type argument for each type parameter");
        Environment { params, arguments, cache: RefCell::default() }
    }

    fn lookup(&self, param: ParamIndex) -> Option<Ty> {
        self.params.iter().position(|&p| p == param).map(|at| self.arguments[at])
    }
}

impl<'p> Lowering<'p> {
    /// The concrete type that `ty` stands for in an environment.
    pub(super) fn substitute(&mut self, ty: Ty, environment: &Environment<'p>) -> Ty {
        if environment.params.is_empty() {
            return ty;
        }
        if let Some(&known) = environment.cache.borrow().get(&ty) {
            return known;
        }
        let concrete = self.types.substitute(ty, &|param| environment.lookup(param));
        environment.cache.borrow_mut().insert(ty, concrete);
        concrete
    }

    /// All of them.
    pub(super) fn substitute_all(&mut self, list: &[Ty], environment: &Environment<'p>) -> Vec<Ty> {
        list.iter().map(|&ty| self.substitute(ty, environment)).collect()
    }

    /// The number of a function with concrete type arguments for all its parameters.
    pub(super) fn instance(&mut self, function: FunctionIndex, arguments: Vec<Ty>) -> FunctionId {
        let key = (function, arguments);
        if let Some(&id) = self.instances.get(&key) {
            return id;
        }
        let declaration = &self.declarations.functions[function.index()];
        for &argument in &key.1 {
            self.check_nesting(argument);
        }
        if self.instances.len() == MAX_INSTANCES {
            self.report(
                format!(
                    "more than {MAX_INSTANCES} functions: the program has so many, or generic code needs itself \
                     with ever more type arguments"
                ),
                "one more",
            );
        }
        let environment = Rc::new(Environment::new(&declaration.params, key.1.clone()));
        let mut params = Vec::with_capacity(1 + declaration.param_types.len());
        for &ty in declaration.receiver.iter().chain(&declaration.param_types) {
            let ty = self.substitute(ty, &environment);
            params.push(self.representation(ty));
        }
        let result = self.substitute(declaration.result, &environment);
        let result = self.result_representation(result);
        let name = self.function_name(declaration, &environment);
        let id = self.declare(name, params, result, Work::Source(function, environment));
        self.instances.insert(key, id);
        id
    }

    /// Gives a function its number and notes that its code is to be made.
    pub(super) fn declare(
        &mut self,
        name: String,
        params: Vec<Type>,
        result: Option<Type>,
        work: Work<'p>,
    ) -> FunctionId {
        if params.len() > MAX_PARAMS {
            let message =
                format!("a function cannot have more than {MAX_PARAMS} parameters, `this` included");
            self.report(message, "too many parameters");
        }
        let id = FunctionId(self.program.functions.len() as u32);
        self.program.functions.push(Function {
            name: name.into(),
            params: params.len() as u16,
            registers: params,
            result,
            code: Vec::new(),
            handlers: Vec::new(),
            positions: Vec::new(),
        });
        self.work.push_back((id, work));
        id
    }

    /// Reports a type that is nested so deeply that there are probably ever deeper ones.
    pub(super) fn check_nesting(&mut self, ty: Ty) {
        if self.depth(ty) > MAX_NESTING {
            self.report(
                format!(
                    "a type is nested more than {MAX_NESTING} deep: it is written so, or generic code needs itself \
                     with ever more type arguments"
                ),
                "needed here",
            );
        }
    }

    /// How many types are nested in each other in a concrete type.
    fn depth(&mut self, ty: Ty) -> u16 {
        if let Some(&depth) = self.depths.get(ty.index()).filter(|&&depth| depth > 0) {
            return depth;
        }
        let inner = match self.types.kind(ty) {
            TyKind::Array(t) | TyKind::Nullable(t) => vec![*t],
            TyKind::Function(params, result) => params.iter().copied().chain([*result]).collect(),
            TyKind::Class(_, list) | TyKind::Interface(_, list) | TyKind::Enum(_, list) => list.clone(),
            _ => Vec::new(),
        };
        let depth = 1 + inner.into_iter().map(|t| self.depth(t)).max().unwrap_or(0);
        if self.depths.len() <= ty.index() {
            self.depths.resize(ty.index() + 1, 0);
        }
        self.depths[ty.index()] = depth;
        depth
    }
}
