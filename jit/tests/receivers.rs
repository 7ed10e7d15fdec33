//! What finished regions tell of the receivers of their calls: the files in `tests/receivers`. Section `told` has a line for each part of
//! a path that tells what a call reaches (of a block, on which side of the yieldpoint at which paths end there), and for each call what its code was made for.

mod support;

use holloway_bytecode::{FunctionId, Program};
use holloway_jit::instrument::receivers::{biases, outcomes};
use holloway_jit::ir;
use holloway_profilers::MethodId;
use holloway_profilers::calls::CallSite;
use holloway_profilers::paths::Side;
use holloway_vm::profiling::Through;
use support::{Sections, check_files, lines, program};

#[test]
fn regions_tell_what_their_calls_reach() {
    check_files("receivers", |sections| {
        let told = told(sections)?;
        sections.set("told", Some(&told));
        Ok(())
    });
}

fn told(sections: &Sections) -> Result<String, String> {
    let program = program(sections)?;
    let text = sections.get("region").ok_or("there is no section `region`")?;
    let region = ir::parse(text, &program).map_err(|error| format!("region: {error}"))?;
    ir::verify(&region, &program).map_err(|errors| lines("region", &errors))?;
    let mut text = String::new();
    for outcome in outcomes(&region, &program) {
        let through = match outcome.through {
            Through::Block(block, Side::Before) => format!("b{} before the yieldpoint", block.0),
            Through::Block(block, Side::Behind) => format!("b{} behind the yieldpoint", block.0),
            Through::Edge(edge) => {
                format!("b{} {}", edge.from.0, if edge.arm.0 == 0 { "then" } else { "else" })
            }
        };
        let (site, method) = outcome.reached;
        let method = method.map_or("others", |method| name(&program, method));
        text += &format!("{through}: {} reaches {method}\n", place(&program, site));
    }
    for bias in biases(&region, &program) {
        let counts: Vec<String> = bias
            .callees
            .iter()
            .map(|&(callee, count)| format!("{}={count}", name(&program, callee)))
            .chain([format!("others={}", bias.others)])
            .collect();
        text += &format!("{} was made for {}\n", place(&program, bias.site), counts.join(" "));
    }
    Ok(text)
}

fn name(program: &Program, method: MethodId) -> &str {
    &program.functions[FunctionId(method.0).index()].name
}

fn place(program: &Program, site: CallSite) -> String {
    format!("{}@{}", name(program, site.caller), site.position)
}
