//! Advice: what a run learned of a program, as a value. With it a later run compiles the same methods in the same order with the same
//! profile, before the program begins, so that two replays run the same machine code (Jikes RVM's replay compilation).
//!
//! Advice fits one program only. Its functions carry fingerprints, and [`Advice::check`] says what does not fit.

use crate::compiled::{Branches, Entry, Level, Profile, Receivers};
use crate::fingerprint::{of_function, of_program};
use crate::hash::{FixedHasher, FixedMap};
use hashbrown::HashSet;
use holloway_bytecode::ops::OpShape;
use holloway_bytecode::{ClassId, Function, FunctionId, Program, code};
use serde::{Deserialize, Serialize};

/// What the file says it is.
pub const FORMAT: &str = "holloway-advice";
/// The version of the form below.
pub const VERSION: u32 = 1;

/// Advice for a program. The form of the file, too.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Advice {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// Fingerprint of the whole program.
    pub program: String,
    /// What was compiled, in order.
    pub compilations: Vec<CompilationAdvice>,
    /// Classes that had instances.
    pub instantiated: Vec<ClassAdvice>,
    /// Assumptions that failed and are not to be made again.
    pub failed: Vec<FailedAdvice>,
    /// The profiles of functions that ran or were compiled.
    pub functions: Vec<FunctionAdvice>,
}

/// Something to compile.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompilationAdvice {
    /// The number of its function.
    pub function: u32,
    /// The loop header at which it is entered; by a call if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loop_at: Option<u32>,
    /// How.
    pub level: Level,
}

/// A class.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassAdvice {
    /// Its number.
    pub class: u32,
    /// Its name.
    pub name: String,
}

/// An assumption that failed.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailedAdvice {
    /// The function.
    pub function: u32,
    /// The instruction that it was about.
    pub pc: u32,
    /// The reason for which code was left.
    pub reason: String,
}

/// The profile of a function.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FunctionAdvice {
    /// Its number.
    pub function: u32,
    /// Its name.
    pub name: String,
    /// Fingerprint of its code.
    pub fingerprint: String,
    /// How often the interpreter entered it.
    pub invocations: u32,
    /// Branches: place, how often not taken, how often taken.
    pub branches: Vec<(u32, u32, u32)>,
    /// Switches: place, how often each case was taken, the default last.
    pub switches: Vec<(u32, Vec<u32>)>,
    /// Calls through tables.
    pub receivers: Vec<ReceiversAdvice>,
}

/// The receivers of a call.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReceiversAdvice {
    /// The call.
    pub pc: u32,
    /// Numbers of classes and how often each was seen.
    pub classes: Vec<(u32, u32)>,
    /// How often it was of another class.
    pub others: u32,
}

/// Why advice is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AdviceError(pub String);

impl std::fmt::Display for AdviceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Advice {
    /// What a profile says about a program, for what was compiled.
    pub(crate) fn gather(
        program: &Program,
        profile: &dyn Profile,
        compilations: Vec<CompilationAdvice>,
        failed: Vec<FailedAdvice>,
    ) -> Advice {
        let compiled: HashSet<u32, FixedHasher> = compilations.iter().map(|c| c.function).collect();
        let functions = (0..program.functions.len() as u32)
            .map(|number| FunctionAdvice::gather(program, FunctionId(number), profile))
            .filter(|advice| advice.says_something() || compiled.contains(&advice.function))
            .collect();
        let classes =
            (0..program.classes.len() as u32).filter(|&class| profile.is_instantiated(ClassId(class)));
        Advice {
            format: FORMAT.into(),
            version: VERSION,
            program: of_program(program),
            compilations,
            instantiated: classes
                .map(|class| ClassAdvice { class, name: program.classes[class as usize].name.to_string() })
                .collect(),
            failed,
            functions,
        }
    }

    /// Does it fit the program: the error says what does not, and what to do.
    pub fn check(&self, program: &Program) -> Result<(), AdviceError> {
        let refuse = |why: String| Err(AdviceError(why));
        if self.format != FORMAT {
            return refuse(format!("its format is `{}`, not `{FORMAT}`", self.format));
        }
        if self.version != VERSION {
            return refuse(format!(
                "it has version {}, and this build reads version {VERSION}",
                self.version
            ));
        }
        for advice in &self.functions {
            let Some(function) = program.functions.get(advice.function as usize) else {
                return refuse(format!("it is about `{}`, which the program does not have", advice.name));
            };
            if *function.name != *advice.name {
                return refuse(format!(
                    "it is about `{}` where the program has `{}`: it was made for another program",
                    advice.name, function.name
                ));
            }
            if of_function(function) != advice.fingerprint {
                return refuse(format!("`{}` has changed since it was made", advice.name));
            }
            advice.check(program, function)?;
        }
        for class in &self.instantiated {
            match program.classes.get(class.class as usize) {
                Some(found) if *found.name == *class.name => {}
                _ => {
                    return refuse(format!(
                        "it is about class `{}`, which the program does not have",
                        class.name
                    ));
                }
            }
        }
        if self.program != of_program(program) {
            return refuse("the program has changed since it was made".into());
        }
        let known = |function: u32| self.functions.iter().any(|advice| advice.function == function);
        for compilation in &self.compilations {
            if !known(compilation.function) {
                return refuse(format!(
                    "it compiles function {}, of which it says nothing",
                    compilation.function
                ));
            }
            let function = &program.functions[compilation.function as usize];
            if let Some(header) = compilation.loop_at
                && !is_loop_header(function, header)
            {
                return refuse(format!("there is no loop at {header} in `{}`", function.name));
            }
        }
        match self.failed.iter().find(|failed| failed.function as usize >= program.functions.len()) {
            Some(failed) => refuse(format!("there is no function {}", failed.function)),
            None => Ok(()),
        }
    }
}

impl FunctionAdvice {
    fn gather(program: &Program, id: FunctionId, profile: &dyn Profile) -> FunctionAdvice {
        let function = &program.functions[id.index()];
        let (mut branches, mut switches, mut receivers) = (Vec::new(), Vec::new(), Vec::new());
        for (pc, instruction) in code::instructions(&function.code) {
            let pc = pc as u32;
            match instruction.op.shape() {
                OpShape::Branch | OpShape::LoopBranch => {
                    let [not_taken, taken] = profile.branch(id, pc);
                    if not_taken != 0 || taken != 0 {
                        branches.push((pc, not_taken, taken));
                    }
                }
                OpShape::Switch => {
                    let counts = profile.switch(id, pc, instruction.cases().len());
                    if counts.iter().any(|&count| count != 0) {
                        switches.push((pc, counts));
                    }
                }
                _ if is_table_call(&instruction) => {
                    let seen = profile.receivers(id, pc);
                    if seen.total() != 0 {
                        let classes = seen.classes.iter().map(|&(class, count)| (class.0, count)).collect();
                        receivers.push(ReceiversAdvice { pc, classes, others: seen.others });
                    }
                }
                _ => {}
            }
        }
        FunctionAdvice {
            function: id.0,
            name: function.name.to_string(),
            fingerprint: of_function(function),
            invocations: profile.invocations(id),
            branches,
            switches,
            receivers,
        }
    }

    fn says_something(&self) -> bool {
        self.invocations != 0
            || !self.branches.is_empty()
            || !self.switches.is_empty()
            || !self.receivers.is_empty()
    }

    /// Are its places those of branches, switches and calls.
    fn check(&self, program: &Program, function: &Function) -> Result<(), AdviceError> {
        let at =
            |pc: u32| code::instructions(&function.code).find(|&(at, _)| at == pc as usize).map(|(_, i)| i);
        let wrong = |pc: u32, what: &str| {
            Err(AdviceError(format!("there is no {what} at {pc} in `{}`", function.name)))
        };
        for &(pc, ..) in &self.branches {
            if !at(pc).is_some_and(|i| matches!(i.op.shape(), OpShape::Branch | OpShape::LoopBranch)) {
                return wrong(pc, "branch");
            }
        }
        for (pc, counts) in &self.switches {
            if !at(*pc).is_some_and(|i| i.op.shape() == OpShape::Switch && i.cases().len() == counts.len()) {
                return wrong(*pc, &format!("switch of {} cases", counts.len()));
            }
        }
        for call in &self.receivers {
            if !at(call.pc).is_some_and(|i| is_table_call(&i)) {
                return wrong(call.pc, "call through a table");
            }
            if call.classes.iter().any(|&(class, _)| class as usize >= program.classes.len()) {
                return wrong(call.pc, "call with such receivers");
            }
        }
        Ok(())
    }
}

fn is_table_call(instruction: &code::Instruction<'_>) -> bool {
    use holloway_bytecode::Op;
    matches!(instruction.op, Op::CallVirtual | Op::CallInterface)
}

/// Is it where a backward branch leads.
fn is_loop_header(function: &Function, header: u32) -> bool {
    let mut targets = code::instructions(&function.code).filter_map(|(pc, instruction)| {
        let distance = instruction.target()?;
        (distance <= 0).then_some(pc as i64 + distance as i64)
    });
    targets.any(|target| target == header as i64)
}

/// Advice as the past that a compiler asks.
#[derive(Default)]
pub(crate) struct AdviceProfile {
    branches: FixedMap<(u32, u32), [u32; 2]>,
    switches: FixedMap<(u32, u32), Vec<u32>>,
    receivers: FixedMap<(u32, u32), Receivers>,
    invocations: FixedMap<u32, u32>,
    instantiated: HashSet<u32, FixedHasher>,
    failed: HashSet<(u32, u32, String), FixedHasher>,
}

impl AdviceProfile {
    /// The profile of checked advice.
    pub fn of(advice: &Advice) -> AdviceProfile {
        let mut profile = AdviceProfile::default();
        for function in &advice.functions {
            let id = function.function;
            profile.invocations.insert(id, function.invocations);
            let branches = function.branches.iter();
            profile.branches.extend(branches.map(|&(pc, not_taken, taken)| ((id, pc), [not_taken, taken])));
            let switches = function.switches.iter();
            profile.switches.extend(switches.map(|(pc, counts)| ((id, *pc), counts.clone())));
            profile.receivers.extend(function.receivers.iter().map(|call| {
                let classes = call.classes.iter().map(|&(class, count)| (ClassId(class), count)).collect();
                ((id, call.pc), Receivers { classes, others: call.others })
            }));
        }
        profile.instantiated.extend(advice.instantiated.iter().map(|class| class.class));
        let failed = advice.failed.iter();
        profile.failed.extend(failed.map(|failed| (failed.function, failed.pc, failed.reason.clone())));
        profile
    }
}

impl Branches for AdviceProfile {
    fn branch(&self, function: FunctionId, pc: u32) -> [u32; 2] {
        self.branches.get(&(function.0, pc)).copied().unwrap_or_default()
    }

    fn switch(&self, function: FunctionId, pc: u32, cases: usize) -> Vec<u32> {
        self.switches.get(&(function.0, pc)).cloned().unwrap_or_else(|| vec![0; cases])
    }
}

impl Profile for AdviceProfile {
    fn receivers(&self, function: FunctionId, pc: u32) -> Receivers {
        self.receivers.get(&(function.0, pc)).cloned().unwrap_or_default()
    }

    fn invocations(&self, function: FunctionId) -> u32 {
        self.invocations.get(&function.0).copied().unwrap_or_default()
    }

    fn is_instantiated(&self, class: ClassId) -> bool {
        self.instantiated.contains(&class.0)
    }

    fn has_failed(&self, function: FunctionId, pc: u32, reason: &str) -> bool {
        self.failed.contains(&(function.0, pc, reason.to_owned()))
    }
}

impl CompilationAdvice {
    /// Where the code is entered.
    pub fn entry(&self) -> Entry {
        self.loop_at.map_or(Entry::Method, Entry::Loop)
    }
}
