//! From Cranelift's function to bytes and tables.

use super::function::{Lowered, Origin};
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::isa::{OwnedTargetIsa, TargetFrontendConfig};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{Context, FinalizedMachExceptionHandler};
use holloway_vm::compiled::{CallSite, Compiled};

/// The machine for which code is made: this one.
pub struct Target {
    isa: OwnedTargetIsa,
    /// With Cranelift's verifier.
    verify: bool,
}

/// What a listing of machine code needs besides the code.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Where blocks begin, in ascending order.
    pub blocks: Vec<u32>,
    /// Pieces with what they come from: offset, origin; each holds up to the next.
    pub origins: Vec<(u32, Origin)>,
}

impl Target {
    /// This machine, with Cranelift's verifier or without. `Err` if it is of a kind for which there are no crossings.
    pub fn native(verify: bool) -> Result<Target, String> {
        Ok(Target { isa: Target::isa(verify, false)?, verify })
    }

    fn isa(verify: bool, layout: bool) -> Result<OwnedTargetIsa, String> {
        let mut flags = settings::builder();
        let settings = [
            ("opt_level", "speed"),
            ("preserve_frame_pointers", "true"),
            ("unwind_info", "false"),
            ("enable_verifier", if verify { "true" } else { "false" }),
            ("machine_code_cfg_info", if layout { "true" } else { "false" }),
            ("is_pic", "false"),
            ("enable_probestack", "false"),
            ("log2_min_function_alignment", "6"),
        ];
        for (name, value) in settings {
            flags.set(name, value).map_err(|error| format!("{name}: {error}"))?;
        }
        if cfg!(not(target_arch = "x86_64")) {
            return Err("the optimizing tier makes code for x86-64 only".into());
        }
        let builder = cranelift_native_builder()?;
        builder.finish(settings::Flags::new(flags)).map_err(|error| error.to_string())
    }

    /// What building a function needs to know.
    pub fn frontend(&self) -> TargetFrontendConfig {
        self.isa.frontend_config()
    }
}

/// Cranelift for the processor we run on, with the instructions that it has.
fn cranelift_native_builder() -> Result<cranelift_codegen::isa::Builder, String> {
    cranelift_native::builder().map_err(str::to_owned)
}

/// Machine code of a function, with its tables; also its layout if that is wanted, which does not change the code.
pub fn emit(
    lowered: Lowered,
    target: &Target,
    wants_layout: bool,
) -> Result<(Compiled, Option<Layout>), String> {
    let mut context = Context::for_function(lowered.function);
    let mut control = ControlPlane::default();
    let special = if wants_layout { Some(Target::isa(target.verify, true)?) } else { None };
    let isa = special.as_ref().unwrap_or(&target.isa);
    let code =
        context.compile(&**isa, &mut control).map_err(|error| format!("Cranelift: {}", error.inner))?;
    let buffer = &code.buffer;
    if !buffer.relocs().is_empty() {
        return Err("the code has relocations".into());
    }
    let mut calls: Vec<CallSite> = Vec::new();
    for call in buffer.call_sites() {
        for handler in call.exception_handlers {
            if let FinalizedMachExceptionHandler::Tag(tag, landing) = handler {
                calls.push(CallSite { returns: call.ret_addr, landing: *landing, site: tag.as_u32() });
            }
        }
    }
    calls.sort_by_key(|call| call.returns);
    let origins: Vec<(u32, Origin)> = buffer
        .get_srclocs_sorted()
        .iter()
        .filter_map(|range| Some((range.start, *lowered.locations.get(range.loc.bits() as usize)?)))
        .collect();
    let positions = origins.iter().map(|&(start, origin)| (start, origin.function, origin.pc)).collect();
    let compiled = Compiled {
        bytes: code.code_buffer().to_vec(),
        sites: lowered.sites,
        calls,
        positions,
        depth: lowered.depth,
        addresses: lowered.addresses,
        ..Compiled::default()
    };
    let layout = wants_layout.then(|| Layout { blocks: code.bb_starts.clone(), origins });
    Ok((compiled, layout))
}
