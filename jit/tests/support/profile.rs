//! A profile from text, for passes that ask for one. The form is in `tests/README.md`.

use holloway_bytecode::{ClassId, FunctionId, Program};
use holloway_profilers::MethodId;
use holloway_profilers::calls::{CallEdge, CallGraph, Policy};
use holloway_vm::compiled::{
    Branches, CallWeights, Fallback, GuardTest, InlineBy, Inlining, Profile, Receivers,
};
use std::collections::{BTreeMap, BTreeSet};

/// What a test says about the past; nothing is known of the rest.
#[derive(Default)]
pub struct TextProfile {
    branches: BTreeMap<(FunctionId, u32), [u32; 2]>,
    switches: BTreeMap<(FunctionId, u32), Vec<u32>>,
    receivers: BTreeMap<(FunctionId, u32), Receivers>,
    invocations: BTreeMap<FunctionId, u32>,
    own_code: BTreeMap<FunctionId, usize>,
    uninstantiated: BTreeSet<ClassId>,
    failed: BTreeSet<(FunctionId, u32, String)>,
    by: InlineBy,
    test: GuardTest,
    fallback: Fallback,
    calls: CallGraph,
    weights: CallWeights,
}

impl TextProfile {
    /// Reads it, one fact a line.
    pub fn read(text: &str, program: &Program) -> Result<TextProfile, String> {
        let mut profile = TextProfile::default();
        for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with(';')) {
            let words = words(line);
            profile.line(&words, program).ok_or_else(|| format!("profile: cannot read `{line}`"))?;
        }
        profile.weights = CallWeights::of(&profile.calls);
        Ok(profile)
    }

    fn line(&mut self, words: &[String], program: &Program) -> Option<()> {
        let (kind, rest) = words.split_first()?;
        let rest_words: Vec<&str> = rest.iter().map(String::as_str).collect();
        match (&**kind, &rest_words[..]) {
            ("inline", ["frequency"]) => self.by = InlineBy::Frequency,
            ("inline", ["static", words]) => self.by = InlineBy::Size(words.parse().ok()?),
            ("inline", ["old"]) => self.by = InlineBy::Calls(Policy::OLD),
            ("inline", ["new"]) => self.by = InlineBy::Calls(Policy::NEW),
            ("inline", ["j9"]) => self.by = InlineBy::Calls(Policy::J9),
            ("inline", ["j9-plain"]) => self.by = InlineBy::Calls(Policy::J9_PLAIN),
            ("test", ["method"]) => self.test = GuardTest::Method,
            ("fallback", ["call"]) => self.fallback = Fallback::Call,
            ("fallback", ["leave"]) => self.fallback = Fallback::Deopt,
            _ => return self.fact(kind, rest, program),
        }
        Some(())
    }

    /// A line about the past.
    fn fact(&mut self, kind: &str, rest: &[String], program: &Program) -> Option<()> {
        if kind == "uninstantiated" {
            for name in rest {
                self.uninstantiated.insert(class(program, name)?);
            }
            return Some(());
        }
        let (name, rest) = rest.split_first()?;
        let named = |name: &str| {
            let place = program.functions.iter().position(|f| *f.name == *name.trim_start_matches('@'))?;
            Some(FunctionId(place as u32))
        };
        let function = named(name)?;
        let (number, rest) = rest.split_first()?;
        let number: u32 = number.parse().ok()?;
        match kind {
            "invocations" => {
                self.invocations.insert(function, number);
            }
            "own-code" => {
                self.own_code.insert(function, number as usize);
            }
            "branch" => {
                let counts = numbers(rest)?;
                self.branches.insert((function, number), counts.try_into().ok()?);
            }
            "switch" => {
                self.switches.insert((function, number), numbers(rest)?);
            }
            "receivers" => {
                let mut receivers = Receivers::default();
                for word in rest {
                    let (name, count) = word.rsplit_once('=')?;
                    let count = count.parse().ok()?;
                    match name {
                        "others" => receivers.others = count,
                        name => receivers.classes.push((class(program, name)?, count)),
                    }
                }
                self.receivers.insert((function, number), receivers);
            }
            "calls" => {
                for word in rest {
                    let (callee, weight) = word.rsplit_once('=')?;
                    let callee = MethodId(named(callee)?.0);
                    let edge = CallEdge::new(MethodId(function.0), number, callee);
                    self.calls.add(edge, weight.parse().ok()?);
                }
            }
            "failed" => {
                for reason in rest {
                    self.failed.insert((function, number, reason.clone()));
                }
            }
            _ => return None,
        }
        Some(())
    }
}

impl Branches for TextProfile {
    fn branch(&self, function: FunctionId, pc: u32) -> [u32; 2] {
        self.branches.get(&(function, pc)).copied().unwrap_or_default()
    }

    fn switch(&self, function: FunctionId, pc: u32, cases: usize) -> Vec<u32> {
        let mut counts = self.switches.get(&(function, pc)).cloned().unwrap_or_default();
        counts.resize(cases, 0);
        counts
    }
}

impl Profile for TextProfile {
    fn inlining(&self) -> Inlining<'_> {
        Inlining { by: self.by, calls: &self.weights, test: self.test, fallback: self.fallback }
    }

    fn receivers(&self, function: FunctionId, pc: u32) -> Receivers {
        self.receivers.get(&(function, pc)).cloned().unwrap_or_default()
    }

    fn invocations(&self, function: FunctionId) -> u32 {
        self.invocations.get(&function).copied().unwrap_or_default()
    }

    fn own_code(&self, function: FunctionId) -> usize {
        self.own_code.get(&function).copied().unwrap_or_default()
    }

    fn is_instantiated(&self, class: ClassId) -> bool {
        !self.uninstantiated.contains(&class)
    }

    fn has_failed(&self, function: FunctionId, pc: u32, reason: &str) -> bool {
        self.failed.contains(&(function, pc, reason.to_string()))
    }
}

fn class(program: &Program, name: &str) -> Option<ClassId> {
    let place = program.classes.iter().position(|class| *class.name == *name)?;
    Some(ClassId(place as u32))
}

fn numbers(words: &[String]) -> Option<Vec<u32>> {
    words.iter().map(|word| word.parse().ok()).collect()
}

/// The words of a line; in quotes, blanks are part of a word.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut in_quotes) = (Vec::new(), String::new(), false);
    for c in line.chars().chain([' ']) {
        match c {
            '"' => in_quotes = !in_quotes,
            c if c.is_whitespace() && !in_quotes => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            c => word.push(c),
        }
    }
    words
}
