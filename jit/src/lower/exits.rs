//! Leaving compiled code: the recipe by which the interpreter's frames are found again (a [`Site`]), and the block that stores
//! what the recipe needs into the context. Exits with the same frame state and reason are one.

use super::function::Lowering;
use crate::ir::{Op, Reason, StateId, StateKind, Value};
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, types};
use holloway_vm::compiled::{EXITS, Location, Site, SiteFrame, VirtualObject};

/// Exits that are the same.
pub(super) type ExitKey = (StateId, Reason);

/// An exit whose block exists.
#[derive(Clone)]
pub(super) struct Exit {
    block: clif::Block,
    site: u32,
    /// The values to store, in the order of the context's exits.
    values: Vec<Value>,
}

/// A site in the making.
#[derive(Default)]
struct Recipe {
    values: Vec<Value>,
    objects: Vec<VirtualObject>,
    object_values: Vec<Value>,
}

impl Lowering<'_, '_> {
    /// The block that leaves with a state, for a reason.
    pub fn exit(&mut self, state: StateId, reason: Reason) -> clif::Block {
        let key = (state, reason);
        if let Some(exit) = self.exits.get(&key) {
            return exit.block;
        }
        let (site, values) = self.site(state, reason.name(), reason.is_speculation());
        let block = self.new_cold_block();
        self.exits.insert(key, Exit { block, site, values });
        self.open_exits.push(key);
        block
    }

    /// A new site for a state; with the values that it needs in the context.
    pub fn site(&mut self, state: StateId, reason: &'static str, speculation: bool) -> (u32, Vec<Value>) {
        let mut recipe = Recipe::default();
        let region = self.region;
        let mut frames = Vec::new();
        for (_, frame) in region.frames(state) {
            let registers = frame.registers.iter();
            frames.push(SiteFrame {
                function: region.inlines[frame.inline.index()].function,
                pc: frame.pc,
                calling: matches!(frame.kind, StateKind::During(_)),
                registers: registers
                    .map(|&(register, value)| (register.0, self.location(value, &mut recipe)))
                    .collect(),
            });
        }
        if recipe.values.len() > EXITS {
            self.refusal = Some(format!("{} values are live at one place", recipe.values.len()));
            recipe.values.truncate(EXITS);
        }
        self.sites.push(Site { frames, objects: recipe.objects, reason, speculation });
        (self.sites.len() as u32 - 1, recipe.values)
    }

    fn location(&self, value: Value, recipe: &mut Recipe) -> Location {
        let node = self.region.node(value);
        match node.op {
            Op::Int(i) => Location::Constant(i as u64),
            Op::Float(bits) => Location::Constant(bits),
            Op::Bool(b) => Location::Constant(b as u64),
            Op::Null => Location::Constant(0),
            Op::Str(string) => Location::Constant(self.model.string(string)),
            Op::Virtual(class) => {
                if let Some(index) = recipe.object_values.iter().position(|&v| v == value) {
                    return Location::Virtual(index as u16);
                }
                let fields = node.args.iter().map(|&field| self.location(field, recipe)).collect();
                recipe.objects.push(VirtualObject { class, fields });
                recipe.object_values.push(value);
                Location::Virtual(recipe.objects.len() as u16 - 1)
            }
            _ => {
                let index = recipe.values.iter().position(|&v| v == value).unwrap_or_else(|| {
                    recipe.values.push(value);
                    recipe.values.len() - 1
                });
                Location::Exit(index as u16)
            }
        }
    }

    /// The number by which the virtual machine knows a site.
    pub fn place(&self, site: u32) -> u64 {
        (self.code as u64) << 32 | site as u64
    }

    /// Fills the blocks of all exits.
    pub fn fill_exits(&mut self) {
        let mut next = 0;
        while next < self.open_exits.len() {
            let exit = self.exits[&self.open_exits[next]].clone();
            self.switch_to(exit.block);
            self.leave(exit.site, &exit.values);
            next += 1;
        }
    }

    /// Leaves at a site: stores its values and returns to whoever is to go on.
    pub fn leave(&mut self, site: u32, values: &[Value]) {
        let flags = MemFlagsData::trusted();
        for (index, &value) in values.iter().enumerate() {
            let word = self.word(value);
            let offset = self.model.context.exits + 8 * index as i32;
            self.builder.ins().store(flags, word, self.context, offset);
        }
        self.builder.ins().store(flags, self.depth, self.context, self.model.context.exit_depth);
        let place = self.constant(types::I64, self.place(site));
        let frame = self.builder.ins().get_frame_pointer(types::I64);
        let signature = self.helper_signature(3, true);
        let callee = self.constant(types::I64, self.model.helpers.deoptimize);
        let call = self.builder.ins().call_indirect(signature, callee, &[self.context, place, frame]);
        let result = self.builder.inst_results(call)[0];
        self.builder.ins().return_(&[result]);
    }

    /// The exit of a check.
    pub fn exit_of(&mut self, value: Value, reason: Reason) -> clif::Block {
        match self.region.node(value).state {
            Some(state) => self.exit(state, reason),
            None => {
                self.refusal = Some(format!("v{} has no frame state", value.0));
                self.new_cold_block()
            }
        }
    }
}
