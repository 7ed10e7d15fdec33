//! From Cranelift's function to bytes and tables.

use super::function::{Lowered, Origin, Part};
use super::order::{self, Explained};
use crate::ir::BlockId;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{Block, Function, Inst, SourceLoc};
use cranelift_codegen::isa::{OwnedTargetIsa, TargetFrontendConfig};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{CodegenError, Context, FinalizedMachExceptionHandler};
use holloway_vm::compiled::{CallSite, Compiled};

/// Instructions that read so many bytes want them at a multiple of it; shorter constants may lie anywhere.
const WIDE: u32 = 16;

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
    /// The order in which blocks were to be emitted, if it was planned.
    pub plan: Option<Explained>,
    /// Where the code of blocks is: offset, block; each holds up to the next. Blocks without code are not in it.
    pub emitted: Vec<(u32, Block)>,
    /// Pieces that work for blocks of the region, if that is to be known.
    pub owned: Vec<Owned>,
}

/// A piece of code that works for a block of the region.
#[derive(Clone, Copy, Debug)]
pub struct Owned {
    /// Its first byte.
    pub start: u32,
    /// Behind its last.
    pub end: u32,
    /// The block.
    pub block: BlockId,
    /// Is it where the block begins.
    pub head: bool,
}

impl Target {
    /// This machine, with Cranelift's verifier or without. `Err` if it is of a kind for which there are no crossings.
    pub fn native(verify: bool) -> Result<Target, String> {
        Ok(Target { isa: Target::isa(verify, false)?, verify })
    }

    fn isa(verify: bool, layout: bool) -> Result<OwnedTargetIsa, String> {
        let mut flags = settings::builder();
        let settings = [
            // Its optimizer would compute everything as late as it can, but loads where they stand: where many loads go into one sum,
            // all of them wait in the frame. What it is good for beyond that, the passes and the lowering do.
            ("opt_level", "none"),
            ("preserve_frame_pointers", "true"),
            ("unwind_info", "false"),
            ("enable_verifier", if verify { "true" } else { "false" }),
            ("machine_code_cfg_info", if layout { "true" } else { "false" }),
            ("is_pic", "false"),
            ("enable_probestack", "false"),
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
    mut lowered: Lowered,
    target: &Target,
    wants_layout: bool,
) -> Result<(Compiled, Option<Layout>), String> {
    let mut context = Context::for_function(lowered.function);
    let mut control = ControlPlane::default();
    let special = if wants_layout { Some(Target::isa(target.verify, true)?) } else { None };
    let isa = special.as_ref().unwrap_or(&target.isa);
    let mut marks = Marks::default();
    let failed = |error: CodegenError| format!("Cranelift: {error}");
    context.verify_if(&**isa).map_err(failed)?;
    context.optimize(&**isa, &mut control).map_err(failed)?;
    let mut planned = None;
    if let Some(heat) = &mut lowered.heat {
        let blocks = context.domtree.cfg_rpo().copied().collect::<Vec<_>>();
        planned = Some(order::plan(&mut context.func, &context.domtree, &blocks, heat));
    }
    if wants_layout {
        marks = Marks::put(&mut context.func);
    }
    let tree = planned.as_ref().and_then(|(_, tree)| tree.as_ref()).unwrap_or(&context.domtree);
    let mut allocator = regalloc2::Ctx::default();
    let code = isa
        .compile_function(&context.func, tree, &mut allocator, false, &mut control)
        .map_err(failed)?
        .apply_params(&context.func.params);
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
    let ranges = || buffer.get_srclocs_sorted().iter();
    let origins: Vec<(u32, Origin)> = ranges()
        .filter_map(|range| Some((range.start, *lowered.locations.get(marks.location(range.loc))?)))
        .collect();
    let emitted = ranges().filter_map(|range| Some((range.start, marks.block(range.loc)?))).collect();
    let positions = origins.iter().map(|&(start, origin)| (start, origin.function, origin.pc)).collect();
    let below = |slot| {
        let frame = buffer.frame_layout()?;
        frame.frame_to_fp_offset.checked_sub(frame.stackslots[slot].offset)
    };
    let compiled = Compiled {
        bytes: code.code_buffer().to_vec(),
        aligned: buffer.alignment >= WIDE,
        sites: lowered.sites,
        calls,
        positions,
        depth: lowered.depth,
        path_register: lowered.path_slot.and_then(below),
        addresses: lowered.addresses,
        ..Compiled::default()
    };
    let layout = wants_layout.then(|| {
        let planned = planned.as_ref().zip(lowered.heat.as_ref());
        let plan = planned.map(|((plan, _), heat)| plan.explain(&context.func, heat));
        let owned = lowered.owners.iter().flat_map(|owners| {
            ranges().filter_map(|range| {
                let origin = lowered.locations.get(marks.location(range.loc))?;
                let clif = marks.block(range.loc).filter(|_| origin.part == Part::Work)?;
                let block = owners.of.region(clif)?;
                let head = owners.heads.get(block.index()) == Some(&clif);
                Some(Owned { start: range.start, end: range.end, block, head })
            })
        });
        let owned = owned.collect();
        Layout { blocks: code.bb_starts.clone(), origins, plan, emitted, owned }
    });
    Ok((compiled, layout))
}

/// Source locations that also say in which block an instruction stands: numbers of the pairs. None if nobody wants to know.
#[derive(Default)]
struct Marks(Option<Vec<(Block, SourceLoc)>>);

impl Marks {
    /// Marks all instructions.
    fn put(function: &mut Function) -> Marks {
        let mut marks: Vec<(Block, SourceLoc)> = Vec::new();
        let blocks: Vec<Block> = function.layout.blocks().collect();
        for block in blocks {
            let instructions: Vec<Inst> = function.layout.block_insts(block).collect();
            for inst in instructions {
                let mark = (block, function.srcloc(inst));
                if marks.last() != Some(&mark) {
                    marks.push(mark);
                }
                function.set_srcloc(inst, SourceLoc::new(marks.len() as u32 - 1));
            }
        }
        Marks(Some(marks))
    }

    /// The number of the location.
    fn location(&self, mark: SourceLoc) -> usize {
        let marked = self.0.as_ref().map(|marks| marks.get(mark.bits() as usize).map(|mark| mark.1));
        marked.map_or(mark, Option::unwrap_or_default).bits() as usize
    }

    /// The block.
    fn block(&self, mark: SourceLoc) -> Option<Block> {
        self.0.as_ref()?.get(mark.bits() as usize).map(|mark| mark.0)
    }
}
