//! Translates hot blocks into native code with Cranelift.
//! The unit of translation is a region: a block and the hot blocks that follow it. Inside it, registers are in host
//! registers; static costs are constants, and so are the transitions between its blocks that the timing model knows in
//! advance ([`isa::native::Edge`]). Each block ends with the interpreter's check of the deadline, so both stop at the
//! same points. Rare cases (peripherals, faults, unaligned accesses, a new lowest stack pointer, unusual instructions)
//! are left to the interpreter's handler of that instruction, called from the code; in a core with more registers than
//! a host, by the interpreter, which then does the rest of the block ([`isa::native::Layout::by_block`]).

mod emit;
mod region;
mod survey;

use std::ffi::c_void;
use std::marker::PhantomData;

use cranelift_codegen::ir::{AbiParam, InstBuilder, MemFlags, Signature, types};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Module as _, default_libcall_names};
use isa::native::{Layout, Lower, Translator};
use isa::{Block, Core, Insn, Timing};

use crate::emit::Emitter;
use crate::region::Region;

/// A translator. On an unsupported machine it generates no code.
pub fn translator<C: Lower + 'static, T: Timing<C> + 'static>() -> Box<dyn Translator<C, T>> {
    let (table, entries, kept) = (Vec::new(), Vec::new(), Vec::new());
    Box::new(Native { jit: None, useless: false, table, entries, kept, layout: C::layout(), timing: PhantomData })
}

/// Code of a region, entered at its first block.
#[repr(C)]
struct Entry {
    code: *const u8,
    /// First address of the block.
    start: u32,
    /// Address after it.
    end: u32,
}

/// State that code needs besides the core's.
#[repr(C)]
struct Context {
    ram: *mut u8,
    written: *mut u8,
    flash: *const u8,
    /// Entries by place.
    table: *const *const Entry,
    timing: *mut c_void,
}

/// From Rust into code: core, context, cycle and code; returns the cycle.
type Start = unsafe extern "C" fn(*mut c_void, *mut Context, u64, *const u8) -> u64;

/// Leaves one instruction to its handler, which must return, or the rest of a run. `cycle` is the cycle without static
/// costs of the current block; it is returned with the cycles that the handler adds.
///
/// # Safety
/// The core must be valid, and the instruction one that is followed by what ends a run, or ends it.
unsafe extern "C" fn by_handler<C: Core>(core: *mut C, i: *const Insn<C>, cycle: u64) -> u64 {
    // SAFETY: as the caller promises.
    let core = unsafe { &mut *core };
    let m = core.memory_mut();
    m.block_start = cycle;
    m.stall = 0;
    // SAFETY: as the caller promises.
    unsafe { ((*i).exec)(core, i) };
    cycle.wrapping_add_signed(core.memory().stall)
}

/// After an instruction that continues.
unsafe fn back<C: Core>(_: &mut C, _: *const Insn<C>) {}

/// The number that [`passed`] adds to the cycle; no cycle is as large.
const PASSED: i64 = i64::MIN;

/// After the instruction that may be skipped: tells that it was.
unsafe fn passed<C: Core>(core: &mut C, _: *const Insn<C>) {
    let m = core.memory_mut();
    m.stall = m.stall.wrapping_add(PASSED);
}

/// Asks the model for the cost of entering a block.
///
/// # Safety
/// The model must be valid.
unsafe extern "C" fn enter<C: Core, T: Timing<C>>(timing: *mut T, start: u64, end: u64) -> u64 {
    // SAFETY: as the caller promises.
    unsafe { (*timing).enter(start as u32, end as u32).into() }
}

/// Memory for code, and the entry into it.
struct Jit {
    module: JITModule,
    builder: FunctionBuilderContext,
    /// State of the translation, kept for the next one.
    context: cranelift_codegen::Context,
    start: Start,
}

impl Jit {
    fn new() -> Option<Self> {
        // without optimisation: most of what it finds the translation does not produce, and it doubles the time
        let check = if cfg!(debug_assertions) { "true" } else { "false" };
        // nor is anything unwound through code: panics end in handlers
        let flags = [
            ("opt_level", "none"),
            ("preserve_frame_pointers", "true"),
            ("unwind_info", "false"),
            ("enable_verifier", check),
        ];
        let module = JITBuilder::with_flags(&flags, default_libcall_names()).ok()?;
        let mut module = JITModule::new(module);
        let mut builder = FunctionBuilderContext::new();
        let mut context = module.make_context();
        let pointer = module.target_config().pointer_type();
        if pointer != types::I64 {
            return None;
        }
        context.func.signature.params = vec![AbiParam::new(types::I64); 4];
        context.func.signature.returns = vec![AbiParam::new(types::I64)];
        let mut b = FunctionBuilder::new(&mut context.func, &mut builder);
        let block = b.create_block();
        b.append_block_params_for_function_params(block);
        b.switch_to_block(block);
        b.seal_block(block);
        let inner = b.import_signature(signature());
        let params = b.block_params(block).to_vec();
        let call = b.ins().call_indirect(inner, params[3], &params[..3]);
        let cycles = b.inst_results(call)[0];
        b.ins().return_(&[cycles]);
        b.finalize();
        let id = module.declare_anonymous_function(&context.func.signature).ok()?;
        module.define_function(id, &mut context).ok()?;
        module.finalize_definitions().ok()?;
        let code = module.get_finalized_function(id);
        // SAFETY: this is the code just made, with this signature.
        let start = unsafe { std::mem::transmute::<*const u8, Start>(code) };
        module.clear_context(&mut context);
        Some(Self { module, builder, context, start })
    }
}

/// Signature of a region: core, context, cycle; returns the cycle.
fn signature() -> Signature {
    let mut s = Signature::new(CallConv::Tail);
    s.params = vec![AbiParam::new(types::I64); 3];
    s.returns = vec![AbiParam::new(types::I64)];
    s
}

/// Data that code points to: it does not move when its list grows.
type Fixed<T> = Box<T>;

/// Flags for accesses that always succeed.
const FLAGS: MemFlags = MemFlags::new().with_notrap();

struct Native<C: Core, T> {
    /// None until it is needed.
    jit: Option<Jit>,
    /// Code cannot be generated or run here.
    useless: bool,
    table: Vec<*const Entry>,
    entries: Vec<Fixed<Entry>>,
    /// Instructions that code passes to handlers: one followed by others that return, or a run.
    kept: Vec<Fixed<[Insn<C>]>>,
    layout: Layout,
    timing: PhantomData<fn(T)>,
}

// SAFETY: the pointers are to the translator's own entries, to its code and into the model that it is used
// with; nothing is changed without `&mut self` or `&mut T`.
unsafe impl<C: Core, T> Send for Native<C, T> {}
// SAFETY: likewise.
unsafe impl<C: Core, T> Sync for Native<C, T> {}

impl<C: Lower, T: Timing<C>> Translator<C, T> for Native<C, T> {
    fn translate(
        &mut self,
        core: &C,
        timing: &mut T,
        blocks: &[Option<Box<Block<C>>>],
        at: usize,
    ) -> Option<Vec<usize>> {
        if self.useless {
            return None;
        }
        let made = self.make(core, timing, blocks, at);
        self.useless = made.is_none();
        made
    }

    fn run(&self, core: &mut C, timing: &mut T, at: usize, cycles: u64) -> u64 {
        let (Some(&entry), Some(jit)) = (self.table.get(at), &self.jit) else { return cycles };
        let (ram, written, flash) = core.memory_mut().raw();
        let timing = (&raw mut *timing).cast();
        let mut context = Context { ram, written, flash, table: self.table.as_ptr(), timing };
        // SAFETY: entries in the table live as long as it does; their code was made for this type of core.
        unsafe { (jit.start)((&raw mut *core).cast(), &mut context, cycles, (*entry).code) }
    }

    fn clear(&mut self) {
        self.table = Vec::new();
        self.entries.clear();
        self.kept.clear();
        self.free();
    }
}

impl<C: Lower, T: Timing<C>> Native<C, T> {
    fn make(&mut self, core: &C, timing: &mut T, blocks: &[Option<Box<Block<C>>>], at: usize) -> Option<Vec<usize>> {
        if self.jit.is_none() {
            self.jit = Some(Jit::new()?);
        }
        let jit = self.jit.as_mut()?;
        if self.table.is_empty() {
            self.table = vec![std::ptr::null(); blocks.len()];
        }
        let region = Region::new(core, blocks, T::MAX_RUN, at, |place| !self.table[place].is_null());
        let context = &mut jit.context;
        context.func.signature = signature();
        let conv = jit.module.target_config().default_call_conv;
        let b = FunctionBuilder::new(&mut context.func, &mut jit.builder);
        Emitter::new(b, conv, &self.layout, core, timing, &region, &mut self.kept).emit();
        let id = jit.module.declare_anonymous_function(&context.func.signature).ok()?;
        jit.module.define_function(id, context).ok()?;
        jit.module.clear_context(context);
        jit.module.finalize_definitions().ok()?;
        let code = jit.module.get_finalized_function(id);
        let head = &region.plans[0];
        let entry = Box::new(Entry { code, start: head.start, end: head.end });
        self.table[at] = &raw const *entry;
        self.entries.push(entry);
        Some(region.plans.iter().filter_map(|p| region.place(p.start)).collect())
    }
}

impl<C: Core, T> Native<C, T> {
    fn free(&mut self) {
        if let Some(jit) = self.jit.take() {
            // SAFETY: no code runs, and all ways to it are forgotten.
            unsafe { jit.module.free_memory() };
        }
    }
}

impl<C: Core, T> Drop for Native<C, T> {
    fn drop(&mut self) {
        self.free();
    }
}
