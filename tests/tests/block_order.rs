//! Blocks are emitted in the order that was planned, whatever it is, and the program still does what it should.
//!
//! A compiler that stands before the real one exchanges the counts by which blocks are ordered for random ones, another for
//! each request, and compares what Cranelift says about the machine code with the plan. Besides, benchmark programs compute
//! what they should with these orders.

use holloway_benchmarks::measure::{Ending, Hooks, measure};
use holloway_benchmarks::registry::{BENCHMARKS, Benchmark};
use holloway_bytecode::FunctionId;
use holloway_bytecode::verify::VerifiedProgram;
use holloway_jit::Jit;
use holloway_jit::ir::Region;
use holloway_jit::lower::order::Why;
use holloway_jit::lower::{Layout, Lowered};
use holloway_jit::pipeline::Watch;
use holloway_profilers::schedule::SplitMix;
use holloway_tests::parallel::check_all;
use holloway_tests::past::Past;
use holloway_vm::compiled::{Branches, Compiled, Compiler, Model, OrderBy, Profile, Request, TierOptions};
use holloway_vm::timer::TimerSource;
use holloway_vm::{Vm, VmOptions};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Counts that are anything: the same for the same branch.
struct AnyCounts(u64);

impl AnyCounts {
    fn count(&self, function: FunctionId, pc: u32, arm: u64) -> u32 {
        let key = self.0 ^ u64::from(function.0) << 40 ^ u64::from(pc) << 8 ^ arm;
        let bits = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // From none to many thousands, each size as likely.
        (bits >> 32) as u32 >> (16 + (bits >> 28) % 17)
    }
}

impl Branches for AnyCounts {
    fn branch(&self, function: FunctionId, pc: u32) -> [u32; 2] {
        [0, 1].map(|arm| self.count(function, pc, arm))
    }

    fn switch(&self, function: FunctionId, pc: u32, cases: usize) -> Vec<u32> {
        (0..cases as u64).map(|arm| self.count(function, pc, arm)).collect()
    }
}

/// What was seen of the code of a run.
#[derive(Default)]
struct Seen {
    compilations: usize,
    /// Those whose order is not that of Cranelift.
    reordered: usize,
    /// Blocks that are not cold and of which there is code; all of them.
    emitted: usize,
    planned: usize,
    /// Edges that stand aside.
    aside: usize,
    wrong: Vec<String>,
}

/// Compares code with its plan.
struct Look<'a>(&'a mut Seen);

impl Watch for Look<'_> {
    fn step(&mut self, _: &'static str, _: &Region, _: Duration) {}

    fn finished(&mut self, _: &Region) {}

    fn lowered(&mut self, _: &Region, _: &Lowered) {}

    fn wants_code(&self) -> bool {
        true
    }

    fn code(&mut self, _: &Region, _: &Compiled, layout: &Layout) {
        let seen = &mut *self.0;
        seen.compilations += 1;
        let Some(plan) = &layout.plan else { return seen.wrong.push("there is no plan".into()) };
        seen.reordered += usize::from(!plan.is_default);
        let mut emitted: Vec<_> = layout.emitted.iter().map(|&(_, block)| block).collect();
        emitted.dedup();
        // Blocks of which nothing is left are not emitted; all others come as they were planned, each in one piece. What traps is
        // kept for the end of everything.
        let place = |block| plan.blocks.iter().position(|planned| planned.block == block);
        let places: Vec<_> = emitted.iter().map(|&block| place(block)).collect();
        let kept_for_the_end = |at: usize| places[..at].contains(&places[at]) && emitted.len() - at < 8;
        let turn = (1..places.len()).find(|&at| places[at] <= places[at - 1]);
        if let Some(at) = turn.filter(|&turn| (turn..places.len()).any(|at| !kept_for_the_end(at))) {
            let why = format!("{} comes behind {}, against the plan", emitted[at], emitted[at - 1]);
            seen.wrong.push(format!("{why}, of {} pieces the {at}th", emitted.len()));
        }
        // What stands aside for an edge is there so that nobody has to jump over it: the other way falls through.
        for (block, [from, _]) in
            plan.blocks.iter().filter_map(|planned| planned.edge.map(|edge| (planned.block, edge)))
        {
            seen.aside += 1;
            let behind = plan.blocks.iter().skip_while(|planned| planned.block != from).nth(1);
            if behind.is_none_or(|behind| behind.why != Why::FollowsOn) {
                seen.wrong.push(format!("{block} is aside, but {from} does not fall through"));
            }
        }
        let real = |planned: &&holloway_jit::lower::order::Planned| {
            planned.why != Why::Cold && planned.edge.is_none()
        };
        seen.planned += plan.blocks.iter().filter(real).count();
        seen.emitted +=
            plan.blocks.iter().filter(real).filter(|planned| emitted.contains(&planned.block)).count();
    }
}

/// The compiler that orders blocks by anything.
struct AnyOrder {
    jit: Jit,
    seen: Arc<Mutex<Seen>>,
    random: Mutex<SplitMix>,
}

impl Compiler for AnyOrder {
    fn compile(&self, request: &Request, profile: &dyn Profile) -> Result<Compiled, String> {
        let number = self.random.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).bits();
        let counts = AnyCounts(number);
        let disordered = Past { order: OrderBy::Counts(&counts), ..Past::of(profile) };
        let mut seen = self.seen.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.jit.compile_watched(request, &disordered, &mut Look(&mut seen))
    }
}

/// Runs a program in which everything is compiled, with orders that follow from the seed.
fn run(benchmark: &'static Benchmark, seed: u64) -> Result<Seen, String> {
    let program = holloway::compile::compile_benchmark(benchmark, false)?;
    let seen = Arc::new(Mutex::new(Seen::default()));
    let options = |arguments, output| {
        let seen = seen.clone();
        let compiler = Box::new(move |program: Arc<VerifiedProgram>, model: Model| {
            let (jit, random) = (Jit::new(program, model, true)?, Mutex::new(SplitMix::new(seed)));
            Ok(Arc::new(AnyOrder { jit, seen, random }) as Arc<dyn Compiler>)
        });
        let tiers = TierOptions {
            compiler: Some(compiler),
            synchronous: true,
            method_threshold: 2,
            ..TierOptions::default()
        };
        VmOptions { arguments, output, tiers, timer: TimerSource::Virtual(5_003), ..VmOptions::default() }
    };
    let hooks = Hooks::none().with_ended(|_: &Vm| {});
    let measured = measure(benchmark, program, benchmark.quick_size, 1, options, hooks);
    if measured.ending != Ending::Verified {
        return Err(format!("seed {seed}: {:?}", measured.ending));
    }
    let seen = std::mem::take(&mut *seen.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
    match seen.wrong.first() {
        Some(first) => Err(format!("seed {seed}: {} of {}: {first}", seen.wrong.len(), seen.compilations)),
        None => Ok(seen),
    }
}

/// `RANDOM_ORDERS=n` tries n orders for each program instead of a few.
#[test]
fn blocks_are_emitted_as_planned() {
    let count = std::env::var("RANDOM_ORDERS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let benchmarks: Vec<&'static Benchmark> = BENCHMARKS.iter().collect();
    // In small programs all code may keep its order.
    let (of_all, all_reordered, all_aside) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    check_all(
        &benchmarks,
        |benchmark| benchmark.name.to_string(),
        |&benchmark| {
            for seed in 0..count {
                let Seen { compilations, reordered, emitted, planned, aside, .. } = run(benchmark, seed)?;
                of_all.fetch_add(compilations, Relaxed);
                all_reordered.fetch_add(reordered, Relaxed);
                all_aside.fetch_add(aside, Relaxed);
                if emitted * 3 < planned * 2 {
                    return Err(format!("there is code of only {emitted} of {planned} blocks"));
                }
            }
            Ok(())
        },
    );
    let (compilations, reordered) = (of_all.into_inner(), all_reordered.into_inner());
    assert!(reordered * 20 >= compilations, "only {reordered} of {compilations} have an order of their own");
    assert_ne!(all_aside.into_inner(), 0, "no edge stood aside");
}
