//! Every example of the documentation: a block marked `hol` is a program, and the block marked `output` behind it is what
//! it prints.

use holloway_tests::modes::MODES;
use holloway_tests::parallel::check_all;
use holloway_tests::text::{Block, blocks, files};
use holloway_vm::Outcome;
use std::path::Path;

struct Example {
    name: String,
    program: Block,
    output: Block,
}

#[test]
fn examples_do_what_they_say() {
    let mut examples = Vec::new();
    for (path, document) in files(&[".md"]) {
        let found = blocks(&document);
        let programs = found.iter().enumerate().filter(|(_, block)| block.kind == "hol");
        for (index, program) in programs {
            let name = format!("{path}:{}", program.line);
            let output = found.get(index + 1).filter(|next| next.kind == "output");
            let output = output.unwrap_or_else(|| panic!("{name}: no output follows")).clone();
            examples.push(Example { name, program: program.clone(), output });
        }
    }
    assert!(examples.len() >= 6, "the documents were not found");
    check_all(&examples, |example| example.name.clone(), check);
}

fn check(example: &Example) -> Result<(), String> {
    let program = holloway_tests::run::compile(Path::new("example.hol"), &example.program.text)?;
    for mode in MODES {
        let (output, outcome) = holloway_tests::run::run(&program, &[], &[], mode)?;
        match outcome {
            Outcome::Finished(errors) if errors.is_empty() => {}
            other => return Err(format!("mode {}: it ended with {other:?}", mode.name)),
        }
        if output != example.output.text {
            return Err(format!(
                "mode {}: it printed\n{output}instead of\n{}",
                mode.name, example.output.text
            ));
        }
    }
    Ok(())
}
