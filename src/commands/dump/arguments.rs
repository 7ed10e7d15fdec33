//! The arguments of `holloway dump`.

use crate::pattern::Pattern;
use clap::{Args, ValueEnum};
use holloway_jit::show;
use holloway_vm::compiled::Level;
use std::str::FromStr;

/// `holloway dump`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  holloway dump tokens hello.hol
  holloway dump bytecode hello.hol --function main
  holloway dump cfg hello.hol --function gcd | dot -Tsvg > gcd.svg
  holloway dump ir hello.hol --function 'Lane.*'
  holloway dump ir:gvn hello.hol --function main   after every run of that pass
  holloway dump asm hello.hol --function main --loop 8

The stages ir, clif, plan and asm are compiled without a run, so that nothing is known of the past: no branch is left out, no
receiver is expected. To see what a run compiles, with its profile, use `holloway run --show`.")]
pub struct DumpArguments {
    /// What to show: tokens, ast, bytecode, cfg (for Graphviz), or of the optimizing tier ir (after all passes), ir:PASS
    /// (after each run of a pass), ir:build, ir:all, clif (as Cranelift gets it), plan (the order of blocks), asm (machine code)
    #[arg(value_name = "STAGE")]
    pub stage: Stage,
    /// The main file of the program
    #[arg(value_name = "FILE")]
    pub file: String,
    /// Only functions whose name contains this, or matches it as a whole if it has a *
    #[arg(long, value_name = "PATTERN")]
    pub function: Option<Pattern>,
    /// How ir, clif, plan and asm are compiled
    #[arg(long, value_name = "LEVEL", default_value = "o2")]
    pub level: LevelArgument,
    /// Show the code that is entered at the loop whose header is at this place of the bytecode
    #[arg(long, value_name = "PC", requires = "function")]
    pub r#loop: Option<u32>,
}

/// What `dump` shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// The tokens of the file.
    Tokens,
    /// The syntax tree of the file.
    Ast,
    /// The bytecode of the whole program.
    Bytecode,
    /// The control-flow graphs of its functions, in the language of Graphviz.
    Cfg,
    /// What the optimizing tier makes of them.
    Compiled(show::Stage),
}

impl FromStr for Stage {
    type Err = String;

    fn from_str(text: &str) -> Result<Stage, String> {
        const OTHERS: &[(&str, Stage)] = &[
            ("tokens", Stage::Tokens),
            ("ast", Stage::Ast),
            ("bytecode", Stage::Bytecode),
            ("cfg", Stage::Cfg),
        ];
        if let Some((_, stage)) = OTHERS.iter().find(|(name, _)| *name == text) {
            return Ok(*stage);
        }
        text.parse().map(Stage::Compiled).map_err(|error: String| match text.contains(':') {
            true => error,
            false => {
                let others: Vec<&str> = OTHERS.iter().map(|(name, _)| *name).collect();
                format!(
                    "there is no such stage: the stages are {}, {}",
                    others.join(", "),
                    show::stage::STAGES
                )
            }
        })
    }
}

/// How much a compilation does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum LevelArgument {
    /// Trivial inlining only
    O0,
    /// Static inlining
    O1,
    /// As a run directs it
    O2,
}

impl From<LevelArgument> for Level {
    fn from(level: LevelArgument) -> Level {
        match level {
            LevelArgument::O0 => Level::O0,
            LevelArgument::O1 => Level::O1,
            LevelArgument::O2 => Level::O2,
        }
    }
}
