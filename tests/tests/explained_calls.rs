//! Of every call site of every piece of compiled code it is known what was decided, and why; and a policy by the call graph is asked
//! about each, however seldom it runs.
//!
//! The sites are found a second time here, by walking the bytecode of the method and of all that is inlined.

use holloway_benchmarks::measure::{Ending, Hooks, measure};
use holloway_benchmarks::registry::Benchmark;
use holloway_bytecode::code::instructions;
use holloway_bytecode::verify::VerifiedProgram;
use holloway_bytecode::{FunctionId, Op};
use holloway_profilers::calls::Policy;
use holloway_tests::benchmarks::with_most_programs;
use holloway_tests::modes::compiler;
use holloway_vm::compiled::{CompiledCalls, InlineBy, InlineOptions, Level, TierOptions, Verdict};
use holloway_vm::{Vm, VmOptions};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

fn run(
    benchmark: &'static Benchmark,
    program: &Arc<VerifiedProgram>,
    by: InlineBy,
) -> Result<Vec<CompiledCalls>, String> {
    let options = |arguments, output| {
        let tiers = TierOptions {
            compiler: Some(compiler()),
            level: Some(Level::O2),
            synchronous: true,
            method_threshold: 30,
            explains: true,
            inlining: InlineOptions { by, ..InlineOptions::default() },
            ..TierOptions::default()
        };
        VmOptions { arguments, output, tiers, ..VmOptions::default() }
    };
    let mut ran = None;
    let hooks = Hooks::none().with_ended(|vm: &Vm| ran = Some(vm.compiled_calls()));
    match measure(benchmark, program.clone(), benchmark.quick_size, 1, options, hooks).ending {
        Ending::Verified => ran.ok_or_else(|| "it did not end".to_string()),
        ending => Err(format!("{ending:?}")),
    }
}

/// Looks at the calls of a method that is reached by these inlined calls. How many there are.
fn look(
    program: &VerifiedProgram,
    code: &CompiledCalls,
    function: FunctionId,
    above: &[(FunctionId, u32)],
) -> Result<usize, String> {
    let mut sites = 0;
    let body = &program.functions[function.index()];
    for (pc, instruction) in instructions(&body.code) {
        if !matches!(instruction.op, Op::Call | Op::CallVirtual | Op::CallInterface) {
            continue;
        }
        sites += 1;
        let path = [above, &[(function, pc as u32)]].concat();
        let mut decided = code.decisions.iter().filter(|decision| decision.path == path).peekable();
        if decided.peek().is_none() {
            return Err(format!(
                "nothing about {}:{pc} in {}",
                body.name,
                program.functions[code.function.index()].name
            ));
        }
        let mut inlined = Vec::new();
        for decision in decided {
            if decision.why.is_empty() {
                return Err(format!("no reason for {}:{pc}", body.name));
            }
            inlined.extend(&decision.inlined);
        }
        inlined.sort();
        inlined.dedup();
        for target in inlined {
            sites += look(program, code, target, &path)?;
        }
    }
    Ok(sites)
}

#[test]
fn every_call_site_is_decided_and_has_a_reason() {
    let (sites, absent) = (AtomicUsize::new(0), AtomicUsize::new(0));
    with_most_programs(|benchmark, program| {
        let policies = [Policy::OLD, Policy::NEW, Policy::J9, Policy::J9_PLAIN].map(InlineBy::Calls);
        for by in [InlineBy::Frequency].into_iter().chain(policies) {
            for code in run(benchmark, program, by)? {
                sites.fetch_add(look(program, &code, code.function, &[])?, Relaxed);
                if code.asked.is_none() {
                    return Err(format!("no reason for #{}", code.id.0));
                }
                let none = code.decisions.iter().filter(|decision| decision.verdict == Verdict::NoCode);
                absent.fetch_add(none.count(), Relaxed);
                let unasked = |why: &str| why == "cold" || why == "receivers of many classes";
                let by_policy = matches!(by, InlineBy::Calls(_));
                if let Some(decision) = code.decisions.iter().find(|at| by_policy && unasked(&at.why)) {
                    return Err(format!("{by:?} was not asked: {}", decision.line(program)));
                }
            }
        }
        Ok(())
    });
    let (sites, absent) = (sites.into_inner(), absent.into_inner());
    assert!(sites > 1000 && absent > 100 && absent < sites, "{absent} of {sites} have no code");
}
