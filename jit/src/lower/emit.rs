//! From Cranelift's function to bytes and tables.

use super::function::Lowered;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::isa::{OwnedTargetIsa, TargetFrontendConfig};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{Context, FinalizedMachExceptionHandler};
use holloway_vm::compiled::{CallSite, Compiled};

/// The machine for which code is made: this one.
pub struct Target {
    isa: OwnedTargetIsa,
}

impl Target {
    /// This machine, with Cranelift's verifier or without. `Err` if it is of a kind for which there are no crossings.
    pub fn native(verify: bool) -> Result<Target, String> {
        let mut flags = settings::builder();
        let settings = [
            ("opt_level", "speed"),
            ("preserve_frame_pointers", "true"),
            ("unwind_info", "false"),
            ("enable_verifier", if verify { "true" } else { "false" }),
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
        let isa = builder.finish(settings::Flags::new(flags)).map_err(|error| error.to_string())?;
        Ok(Target { isa })
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

/// Machine code of a function, with its tables. `listing` also makes a readable form.
pub fn emit(lowered: Lowered, target: &Target, listing: bool) -> Result<(Compiled, Option<String>), String> {
    let mut context = Context::for_function(lowered.function);
    context.want_disasm = listing;
    let mut control = ControlPlane::default();
    let code =
        context.compile(&*target.isa, &mut control).map_err(|error| format!("Cranelift: {}", error.inner))?;
    let text = code.vcode.clone();
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
    let mut positions: Vec<(u32, _, u32)> = Vec::new();
    for range in buffer.get_srclocs_sorted() {
        if let Some(&(function, pc)) = lowered.locations.get(range.loc.bits() as usize) {
            positions.push((range.start, function, pc));
        }
    }
    let compiled = Compiled {
        bytes: code.code_buffer().to_vec(),
        sites: lowered.sites,
        calls,
        positions,
        depth: lowered.depth,
        addresses: lowered.addresses,
        ..Compiled::default()
    };
    Ok((compiled, text))
}
