//! `holloway dump`: what the stages of the compiler make of a program, on standard output.

use crate::compile::{compile_file, read_source};
use crate::options::{DumpArguments, Stage};
use crate::report::{EXIT_PROGRAM, EXIT_USAGE, Stop, color, say};
use holloway_bytecode::cfg::{Cfg, DotOptions};
use holloway_bytecode::text::{PrintOptions, Printer};
use holloway_bytecode::{FunctionId, Position, Program};
use holloway_lang::diagnostics::Diagnostics;
use holloway_lang::sources::Sources;
use holloway_lang::{dump, lexer, parser, render, with_deep_stack};
use std::collections::BTreeMap;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

/// Prints the stage.
pub fn dump(arguments: DumpArguments) -> Result<ExitCode, Stop> {
    match arguments.stage {
        Stage::Tokens | Stage::Ast => {
            if arguments.function.is_some() {
                return Err(Stop::usage("--function is for the stages bytecode and cfg"));
            }
            syntax(&arguments)
        }
        Stage::Bytecode | Stage::Cfg => {
            let program = compile_file(&arguments.file)?;
            print(&code(&program, &arguments)?, ExitCode::SUCCESS)
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
    let Some(pattern) = &arguments.function else {
        return Ok(match arguments.stage {
            Stage::Cfg => graphs(program, &functions(program, "")),
            _ => printer.program(&options),
        });
    };
    let found = functions(program, pattern);
    if found.is_empty() {
        return Err(Stop::usage(format_args!(
            "no function's name contains '{pattern}' (functions that the program does not reach have no bytecode)"
        )));
    }
    Ok(match arguments.stage {
        Stage::Cfg => graphs(program, &found),
        _ => found.iter().map(|&f| printer.function(f, &options)).collect::<Vec<_>>().join("\n"),
    })
}

/// The functions whose name contains `pattern`.
fn functions(program: &Program, pattern: &str) -> Vec<FunctionId> {
    let numbered = program.functions.iter().enumerate();
    numbered.filter(|(_, f)| f.name.contains(pattern)).map(|(i, _)| FunctionId(i as u32)).collect()
}

/// One graph for each function: Graphviz draws any number of them from one file.
fn graphs(program: &Program, functions: &[FunctionId]) -> String {
    let graph = |&id: &FunctionId| {
        let function = &program.functions[id.index()];
        Cfg::of_function(function).dot(program, function, &DotOptions::default())
    };
    functions.iter().map(graph).collect()
}

/// The lines of the program's files, for comments in listings. What cannot be read is not shown.
struct SourceLines(BTreeMap<u32, Vec<String>>);

impl SourceLines {
    fn read(program: &Program) -> SourceLines {
        let read = |path: &str| std::fs::read_to_string(path).ok();
        let lines = |text: String| text.lines().map(|line| line.trim().to_string()).collect();
        let files = program.files.iter().enumerate();
        SourceLines(files.filter_map(|(i, path)| Some((i as u32, lines(read(path)?)))).collect())
    }

    fn line(&self, position: Position) -> Option<String> {
        let line = self.0.get(&position.file)?.get((position.line as usize).checked_sub(1)?)?;
        Some(line.clone())
    }
}

/// Writes to standard output; a reader who has seen enough is no error.
fn print(text: &str, code: ExitCode) -> Result<ExitCode, Stop> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            say(format_args!("cannot write the listing: {error}\n"));
            Ok(EXIT_PROGRAM.into())
        }
        _ => Ok(code),
    }
}
