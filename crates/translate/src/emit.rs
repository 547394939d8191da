//! From operations to Cranelift's: what is known while the code of one region is made.

mod flow;
mod handlers;
mod memory;
mod operations;
mod slots;
mod values;

use std::collections::HashMap;
use std::mem::offset_of;

use cranelift_codegen::ir::immediates::Offset32;
use cranelift_codegen::ir::{self, AbiParam, InstBuilder, SigRef, Signature, Type, Value, ValueDef, types};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, Variable};
use isa::native::{Layout, Lower, Op, Test};
use isa::{Insn, Timing};

use self::slots::{Loop, Now};
use crate::region::{Plan, Region};
use crate::{Context, FLAGS, Fixed};

/// How a value is computed, from others or from a number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum How {
    Int(u32, u64),
    Op(Op, Value, Value),
    Test(Test, Value, Value),
    Narrow(Value, u32),
    Widen(Value, u32, bool),
}

/// Where skips go, and where one comes from if it still has to write slots back.
struct Label<'a, C, T> {
    block: ir::Block,
    skip: Option<(ir::Block, Now<'a, C, T>, i32)>,
}

/// Makes the code of one region.
pub(crate) struct Emitter<'a, C, T> {
    b: FunctionBuilder<'a>,
    core: &'a C,
    timing: &'a mut T,
    region: &'a Region<'a, C>,
    kept: &'a mut Vec<Fixed<[Insn<C>]>>,
    layout: &'a Layout,
    /// Bytes from the core's state to its memory, and from the model to where it keeps the last block's end.
    memory: usize,
    last_end: Option<usize>,
    variables: Vec<Option<Variable>>,
    /// Cycle at the start of the current block and what was added since.
    cycle: Variable,
    blocks: Vec<ir::Block>,
    /// The inside of the current block if it is a loop.
    inside: Option<Loop>,
    /// Signatures of a region, of `by_handler` and of `enter`.
    signatures: [SigRef; 3],
    core_at: Value,
    context: Value,
    ram: Value,
    written: Value,
    flash: Value,
    plan: &'a Plan<'a, C>,
    now: Now<'a, C, T>,
    /// What the current block of code has computed.
    computed: HashMap<How, Value>,
    /// Instructions that end skips.
    labels: HashMap<usize, Label<'a, C, T>>,
    /// Where the interpreter takes over, with its instructions.
    rest: Option<(ir::Block, *const Insn<C>)>,
    /// Where the current end of a block leaves for the run loop, if it does.
    exit: Option<ir::Block>,
    /// All of those, and where slots are there.
    exits: Vec<(ir::Block, Now<'a, C, T>)>,
    /// The current instruction.
    at: usize,
    /// The current block has ended.
    ended: bool,
}

fn int(bits: u32) -> Type {
    match bits {
        8 => types::I8,
        16 => types::I16,
        32 => types::I32,
        _ => types::I64,
    }
}

fn offset(bytes: usize) -> Offset32 {
    Offset32::new(bytes as i32)
}

impl<'a, C: Lower, T: Timing<C>> Emitter<'a, C, T> {
    pub fn new(
        mut b: FunctionBuilder<'a>,
        conv: CallConv,
        layout: &'a Layout,
        core: &'a C,
        timing: &'a mut T,
        region: &'a Region<'a, C>,
        kept: &'a mut Vec<Fixed<[Insn<C>]>>,
    ) -> Self {
        let memory = std::ptr::from_ref(core.memory()).addr() - std::ptr::from_ref(core).addr();
        let model = std::ptr::from_mut(timing).addr();
        let last_end = timing.last_end().map(|e| std::ptr::from_mut(e).addr() - model);
        let start = b.create_block();
        b.append_block_params_for_function_params(start);
        b.switch_to_block(start);
        b.seal_block(start);
        let sig = |params, returns| {
            let mut s = Signature::new(conv);
            s.params = vec![AbiParam::new(types::I64); params];
            s.returns = vec![AbiParam::new(types::I64); returns];
            s
        };
        let signatures = [crate::signature(), sig(3, 1), sig(3, 1)].map(|s| b.import_signature(s));
        let [core_at, context, cycles] = [0, 1, 2].map(|k| b.block_params(start)[k]);
        let touched = region.plans.iter().fold(0, |all, p| all | p.survey.touches().0);
        let mut variables = Vec::new();
        for (n, slot) in layout.slots.iter().enumerate() {
            let used = touched >> n & 1 == 1 && !layout.by_block;
            variables.push(used.then(|| {
                let variable = Variable::from_u32(n as u32);
                b.declare_var(variable, int(slot.bits));
                let value = b.ins().load(int(slot.bits), FLAGS, core_at, offset(slot.offset));
                b.def_var(variable, value);
                variable
            }));
        }
        let cycle = Variable::from_u32(64);
        b.declare_var(cycle, types::I64);
        b.def_var(cycle, cycles);
        let mut field = |at| b.ins().load(types::I64, FLAGS.with_readonly(), context, offset(at));
        let ram = field(offset_of!(Context, ram));
        let written = field(offset_of!(Context, written));
        let flash = field(offset_of!(Context, flash));
        let blocks: Vec<_> = region.plans.iter().map(|_| b.create_block()).collect();
        b.ins().jump(blocks[0], &[]);
        Self {
            b,
            core,
            timing,
            region,
            kept,
            layout,
            memory,
            last_end,
            variables,
            cycle,
            blocks,
            inside: None,
            signatures,
            core_at,
            context,
            ram,
            written,
            flash,
            plan: &region.plans[0],
            now: Now { dirty: 0, held: Vec::new(), exits: [0; 64] },
            computed: HashMap::new(),
            labels: HashMap::new(),
            rest: None,
            exit: None,
            exits: Vec::new(),
            at: 0,
            ended: false,
        }
    }

    pub fn emit(mut self) {
        let (core, region) = (self.core, self.region);
        for (k, plan) in region.plans.iter().enumerate() {
            self.b.switch_to_block(self.blocks[k]);
            self.computed.clear();
            self.plan = plan;
            self.now = self.fresh();
            self.ended = false;
            self.inside = self.enter_loop();
            core.lower(plan.start, plan.insns, self.region.max_run, &mut self);
            assert!(self.ended && self.labels.is_empty(), "a run ends at its end");
            for (block, now) in std::mem::take(&mut self.exits) {
                self.now = now;
                self.leave_in(block);
            }
            if let Some((block, _)) = self.rest.take() {
                self.interpret(block);
            }
        }
        self.b.seal_all_blocks();
        self.b.finalize();
    }

    /// Code on a way that is left for good.
    fn aside(&mut self, f: impl FnOnce(&mut Self)) {
        let now = self.now.clone();
        f(self);
        self.now = now;
    }

    /// A new block with no way into it yet.
    fn block(&mut self, cold: bool) -> ir::Block {
        let block = self.b.create_block();
        if cold {
            self.b.set_cold_block(block);
        }
        block
    }

    /// A value that the current block may have computed before.
    fn once(&mut self, how: How, make: impl FnOnce(&mut Self) -> Value) -> Value {
        if let Some(&value) = self.computed.get(&how) {
            return value;
        }
        let value = make(self);
        self.computed.insert(how, value);
        value
    }

    /// Continues in a block, all ways into which are there.
    fn go_on(&mut self, block: ir::Block) {
        self.b.switch_to_block(block);
        self.computed.clear();
        self.b.seal_block(block);
        self.ended = false;
    }

    fn constant(&mut self, v: u64) -> Value {
        self.b.ins().iconst(types::I64, v as i64)
    }

    fn state(&self, field: usize) -> Offset32 {
        offset(self.memory + field)
    }

    /// Cycle of what happens now, without static costs of the current block.
    fn cycle(&mut self) -> Value {
        self.b.use_var(self.cycle)
    }

    fn set_cycle(&mut self, v: Value) {
        self.b.def_var(self.cycle, v);
    }

    fn add_cycles(&mut self, n: i64) {
        if n != 0 {
            let c = self.cycle();
            let c = self.b.ins().iadd_imm(c, n);
            self.set_cycle(c);
        }
    }

    /// The value as a constant, if it is one.
    fn known(&self, v: Value) -> Option<u64> {
        let ValueDef::Result(inst, 0) = self.b.func.dfg.value_def(v) else { return None };
        match self.b.func.dfg.insts[inst] {
            ir::InstructionData::UnaryImm { opcode: ir::Opcode::Iconst, imm } => Some(imm.bits() as u64),
            _ => None,
        }
    }
}
