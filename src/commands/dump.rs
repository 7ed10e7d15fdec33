//! `holloway dump`: what the stages of the compiler make of a program, on standard output.

pub mod arguments;

use super::print;
use crate::compile::{compile_file, read_source};
use crate::inspect::{self, DumpRequest};
use crate::report::{EXIT_USAGE, Stop, color, say};
use crate::source_lines::SourceLines;
use arguments::{DumpArguments, Stage};
use holloway_bytecode::cfg::{Cfg, DotOptions};
use holloway_bytecode::text::{PrintOptions, Printer};
use holloway_bytecode::{FunctionId, Position, Program};
use holloway_lang::diagnostics::Diagnostics;
use holloway_lang::sources::Sources;
use holloway_lang::{dump, lexer, parser, render, with_deep_stack};
use std::process::ExitCode;
use std::sync::Arc;

/// Prints the stage.
pub fn dump(arguments: DumpArguments) -> Result<ExitCode, Stop> {
    if arguments.r#loop.is_some() && !matches!(arguments.stage, Stage::Compiled(_)) {
        return Err(Stop::usage("--loop is for the stages ir, clif, plan and asm"));
    }
    match arguments.stage {
        Stage::Tokens | Stage::Ast => {
            if arguments.function.is_some() {
                return Err(Stop::usage(
                    "--function is for the stages bytecode, cfg, ir, clif, plan and asm",
                ));
            }
            syntax(&arguments)
        }
        Stage::Bytecode | Stage::Cfg => {
            let program = compile_file(&arguments.file)?;
            print(&code(&program, &arguments)?, ExitCode::SUCCESS)
        }
        Stage::Compiled(stage) => {
            let program = Arc::new(compile_file(&arguments.file)?);
            let functions = functions(&program, &arguments)?;
            let (level, header) = (arguments.level.into(), arguments.r#loop);
            let request = DumpRequest { stage, functions: &functions, level, header };
            print(&inspect::dump(program, &request)?, ExitCode::SUCCESS)
        }
    }
}

/// Tokens and trees are shown of files with errors, too: of what could be read.
fn syntax(arguments: &DumpArguments) -> Result<ExitCode, Stop> {
    let bytes = read_source(&arguments.file)?;
    let mut sources = Sources::new();
    let file = sources.add_bytes(&*arguments.file, bytes).map_err(Stop::usage)?;
    let mut diagnostics = Diagnostics::default();
    let text = with_deep_stack(|| match arguments.stage {
        Stage::Tokens => dump::dump_tokens(&sources, file, &lexer::lex(&sources, file, &mut diagnostics)),
        _ => dump::dump_ast(&parser::parse(&sources, file, &mut diagnostics)),
    });
    say(format_args!("{}", render::render(&sources, &diagnostics, color())));
    print(&text, if diagnostics.is_empty() { ExitCode::SUCCESS } else { EXIT_USAGE.into() })
}

/// Bytecode or control-flow graphs.
fn code(program: &Program, arguments: &DumpArguments) -> Result<String, Stop> {
    let lines = SourceLines::read(program);
    let source = |position: Position| lines.line(position);
    let options = PrintOptions { source: Some(&source), places: false };
    let printer = Printer::new(program);
    let found = functions(program, arguments)?;
    Ok(match arguments.stage {
        Stage::Cfg => graphs(program, &found),
        _ if arguments.function.is_none() => printer.program(&options),
        _ => found.iter().map(|&f| printer.function(f, &options)).collect::<Vec<_>>().join("\n"),
    })
}

/// The functions that are asked for.
fn functions(program: &Program, arguments: &DumpArguments) -> Result<Vec<FunctionId>, Stop> {
    let all =
        program.functions.iter().enumerate().map(|(i, function)| (FunctionId(i as u32), &*function.name));
    let Some(pattern) = &arguments.function else { return Ok(all.map(|(id, _)| id).collect()) };
    let found: Vec<FunctionId> =
        all.clone().filter(|(_, name)| pattern.matches(name)).map(|(id, _)| id).collect();
    match found.is_empty() {
        true => Err(Stop::usage(pattern.nothing_found(all.map(|(_, name)| name)))),
        false => Ok(found),
    }
}

/// One graph for each function: Graphviz draws any number of them from one file.
fn graphs(program: &Program, functions: &[FunctionId]) -> String {
    let graph = |&id: &FunctionId| {
        let function = &program.functions[id.index()];
        Cfg::of_function(function).dot(program, function, &DotOptions::default())
    };
    functions.iter().map(graph).collect()
}
