//! Leaving compiled code: the recipe by which the interpreter's frames are found again (a [`Site`]), and the block that stores
//! what the recipe needs into the context. Exits with the same frame state and reason are one.

use super::function::{FixedMap, Lowering, Part};
use crate::ir::{BlockId, Op, Reason, StateId, StateKind, Value};
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, types};
use holloway_bytecode::FunctionId;
use holloway_vm::compiled::{EXITS, Location, Site, SiteFrame, VirtualObject};

/// Exits that are the same: state, reason, and the block that an activation ends in, where that is counted.
pub(super) type ExitKey = (StateId, Reason, Option<BlockId>);

/// An exit whose block exists and is still empty.
pub(super) struct OpenExit {
    block: clif::Block,
    site: u32,
    /// The state whose values it stores.
    stored: StateId,
    /// These values, in their order in the context. They are the same for all exits that store the state.
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
        let stored = self.sharing.of_exit(state, reason);
        // The interpreter does again what was done since a shared place: for the counts of edges it was not done here.
        let ends_in = if stored == state { self.block } else { self.sharing.block_of(stored) };
        let key = (state, reason, self.model.instrumentation.edges.then_some(ends_in));
        if let Some(&block) = self.exits.get(&key) {
            return block;
        }
        let speculation = reason.is_speculation().then(|| {
            let frame = self.region.state(state);
            (self.region.inlines[frame.inline.index()].function, frame.pc)
        });
        let (site, values) = self.site(stored, ends_in, reason.name(), speculation);
        let block = self.new_cold_block();
        self.exits.insert(key, block);
        self.open_exits.push(OpenExit { block, site, stored, values });
        block
    }

    /// A new site for a state in a block; with the values that it needs in the context.
    pub fn site(
        &mut self,
        state: StateId,
        block: BlockId,
        reason: &'static str,
        speculation: Option<(FunctionId, u32)>,
    ) -> (u32, Vec<Value>) {
        let (recipe, frames) = self.recipe(state);
        let told = self.region.state(state).told;
        self.sites.push(Site {
            frames,
            objects: recipe.objects,
            reason,
            block: block.0,
            told,
            speculation,
            path: None,
        });
        (self.sites.len() as u32 - 1, recipe.values)
    }

    fn recipe(&mut self, state: StateId) -> (Recipe, Vec<SiteFrame>) {
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
        (recipe, frames)
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

    /// Fills the blocks of all exits. Those with the same state store its values in the same block.
    pub fn fill_exits(&mut self) {
        let mut places: FixedMap<StateId, usize> = FixedMap::default();
        let mut stores: Vec<Vec<OpenExit>> = Vec::new();
        for exit in std::mem::take(&mut self.open_exits) {
            let place = *places.entry(exit.stored).or_insert(stores.len());
            match stores.get_mut(place) {
                Some(same) => same.push(exit),
                None => stores.push(vec![exit]),
            }
        }
        for exits in stores {
            let values = &exits[0].values;
            let shared = (exits.len() > 1).then(|| self.new_cold_block());
            for exit in &exits {
                self.switch_to(exit.block);
                match shared {
                    Some(shared) => {
                        self.store_site(exit.site);
                        self.builder.ins().jump(shared, &[]);
                    }
                    None => self.leave(exit.site, values),
                }
            }
            if let Some(shared) = shared {
                self.switch_to(shared);
                self.locate_part(Part::Exits);
                self.store_values(values);
            }
        }
        self.fill_last_exit();
    }

    /// Leaves at a site with these values.
    pub fn leave(&mut self, site: u32, values: &[Value]) {
        self.store_site(site);
        self.store_values(values);
    }

    fn store_site(&mut self, site: u32) {
        self.locate_part(Part::Exit(site));
        let site = self.constant(types::I32, site as u64);
        self.builder.ins().store(MemFlagsData::trusted(), site, self.context, self.model.context.exit_place);
    }

    /// Stores values into the context and leaves.
    fn store_values(&mut self, values: &[Value]) {
        for (index, &value) in values.iter().enumerate() {
            let word = self.word(value);
            let offset = self.model.context.exits + 8 * index as i32;
            self.builder.ins().store(MemFlagsData::trusted(), word, self.context, offset);
        }
        let last = self.last_exit();
        self.builder.ins().jump(last, &[]);
    }

    /// Where all exits end.
    fn last_exit(&mut self) -> clif::Block {
        if let Some(block) = self.last_exit {
            return block;
        }
        let block = self.new_cold_block();
        *self.last_exit.insert(block)
    }

    /// Returns to whoever is to go on.
    fn fill_last_exit(&mut self) {
        let Some(block) = self.last_exit else { return };
        self.switch_to(block);
        self.locate_part(Part::Exits);
        self.add_all_kept();
        let flags = MemFlagsData::trusted();
        self.builder.ins().store(flags, self.depth, self.context, self.model.context.exit_depth);
        let first = self.place(0) as i64;
        let site = self.builder.ins().uload32(flags, self.context, self.model.context.exit_place);
        let place = self.builder.ins().bor_imm_u(site, first);
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
