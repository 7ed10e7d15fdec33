//! What can be asked for, as one writes it: `ir`, `ir:gvn`, `ir:all`, `clif`, `plan`, `asm`.

use crate::pipeline;
use std::fmt;
use std::str::FromStr;

/// A stage of a compilation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// The intermediate representation.
    Ir(When),
    /// Cranelift's function.
    Clif,
    /// The order in which blocks are emitted, and why.
    Plan,
    /// Machine code.
    Asm,
}

/// When the intermediate representation is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// After all passes.
    Last,
    /// After every run of the step of this name, which is one of [`pipeline::steps`].
    After(&'static str),
    /// After every step.
    All,
}

/// How the stages are written, for messages and help.
pub const STAGES: &str = "ir, ir:PASS, ir:all, clif, plan, asm";

/// Stands for all steps.
const ALL: &str = "all";

impl FromStr for Stage {
    type Err = String;

    fn from_str(text: &str) -> Result<Stage, String> {
        Ok(match text.split_once(':') {
            None if text == "ir" => Stage::Ir(When::Last),
            None if text == "clif" => Stage::Clif,
            None if text == "plan" => Stage::Plan,
            None if text == "asm" => Stage::Asm,
            Some(("ir", ALL)) => Stage::Ir(When::All),
            Some(("ir", name)) => {
                let steps = pipeline::steps();
                match steps.iter().find(|step| **step == name) {
                    Some(step) => Stage::Ir(When::After(step)),
                    None => {
                        return Err(format!(
                            "there is no pass '{name}': after ir: stands one of {}, or {ALL}",
                            steps.join(", ")
                        ));
                    }
                }
            }
            _ => return Err(format!("there is no stage '{text}': the stages are {STAGES}")),
        })
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stage::Ir(When::Last) => f.write_str("ir"),
            Stage::Ir(When::After(step)) => write!(f, "ir:{step}"),
            Stage::Ir(When::All) => write!(f, "ir:{ALL}"),
            Stage::Clif => f.write_str("clif"),
            Stage::Plan => f.write_str("plan"),
            Stage::Asm => f.write_str("asm"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_written_as_they_are_read() {
        let passes = pipeline::steps().into_iter().map(|step| format!("ir:{step}"));
        for text in ["ir", "ir:all", "clif", "plan", "asm"].map(str::to_string).into_iter().chain(passes) {
            assert_eq!(text.parse::<Stage>().map(|stage| stage.to_string()), Ok(text));
        }
    }

    #[test]
    fn what_does_not_exist_is_answered_with_what_does() {
        let refused = "ir:gnv".parse::<Stage>().expect_err("no such pass");
        for step in pipeline::steps() {
            assert!(refused.contains(step), "{refused}");
        }
        for text in ["", "machine", "asm:gvn", "ir:"] {
            assert!(text.parse::<Stage>().is_err(), "{text}");
        }
    }
}
