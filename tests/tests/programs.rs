//! The benchmark programs: each computes its known result, in every mode, at its quick size; large ones in some modes of each tier.

use holloway::options::MachineArguments;
use holloway_benchmarks::measure::{Ending, Hooks, measure};
use holloway_tests::benchmarks::{is_large, with_every_program};
use holloway_tests::modes::{MODES, Mode};
use std::num::NonZeroU32;

#[test]
fn results_are_right_in_every_mode() {
    with_every_program(|benchmark, program| {
        for mode in MODES.iter().filter(|mode| !is_large(program) || OF_LARGE.contains(&mode.name)) {
            let flags = MachineArguments::from_flags([])?;
            let options = |arguments, output| {
                let mut options = flags.vm_options(arguments, output);
                (mode.apply)(&mut options);
                relax(mode, &mut options);
                options
            };
            let (size, hooks) = (benchmark.quick_size, Hooks::none());
            let measured = measure(benchmark, program.clone(), size, 1, options, hooks);
            if measured.ending != Ending::Verified {
                return Err(format!("mode {}: {:?}", mode.name, measured.ending));
            }
        }
        Ok(())
    });
}

/// The modes in which large programs run: those of all tiers that do not compile everything at the highest level.
const OF_LARGE: &[&str] = &["tail", "loop", "virtual-timer", "o0", "o1", "adaptive"];

/// These programs allocate millions of objects: collecting after each few of them would take hours.
fn relax(mode: &Mode, options: &mut holloway_vm::VmOptions) {
    if mode.name.ends_with("gc-stress") {
        options.heap.stress = NonZeroU32::new(4999);
    }
}
