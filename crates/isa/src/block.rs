//! What a core is, and its decoded code: instructions as threaded handlers, in blocks with known static costs.

use mcu::{Memory, Site};

use crate::cause::{Cause, Work};
use crate::edge::Edge;

/// A row of a core's table of instructions, for programs that must meet each one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableRow {
    /// Its place in the table.
    pub number: usize,
    /// Its assembly text, with places for operands.
    pub text: &'static str,
    /// Why it is always done by its handler and never lowered, if so.
    pub by_handler: Option<&'static str>,
}

/// An instruction set architecture's state and decoder.
pub trait Core: Sized + Send + Sync {
    /// What a timing model sees of one instruction.
    type Step;
    /// The chip around the core.
    fn memory(&self) -> &Memory;
    /// The chip around the core.
    fn memory_mut(&mut self) -> &mut Memory;
    /// Address of the next instruction.
    fn pc(&self) -> u32;
    /// The stack pointer.
    fn stack_pointer(&self) -> u32;
    /// Sets the state after reset, program counter and stack pointer included.
    fn reset(&mut self);
    /// Decodes the straight run at `pc`, at most `max` real instructions. Code that cannot be
    /// decoded becomes an instruction that faults when it is reached.
    fn decode(&self, pc: u32, max: usize) -> Run<Self>;
    /// Assembly text of the instruction at `pc` and its length in bytes.
    fn disassemble(&self, pc: u32) -> (String, u32);
    /// The rows of the table of instructions that this core has.
    fn rows(&self) -> Vec<TableRow> {
        Vec::new()
    }
    /// Number of the row that the instruction at `pc` has.
    fn row(&self, _pc: u32) -> Option<usize> {
        None
    }
    /// What an instruction does, as far as cycles are concerned.
    fn work(step: &Self::Step) -> Work;
    /// Whether an instruction is a call: it leaves the address after it to return to.
    fn links(step: &Self::Step) -> bool;
    /// Continues at `pc`, in the state in which programs begin there.
    fn continue_at(&mut self, pc: u32);
    /// Puts the state where a function begins that was called as `call` says; the reason where this cannot be.
    ///
    /// # Errors
    /// A sentence.
    fn invoke(&mut self, call: &Invocation) -> Result<(), String>;
    /// At the first instruction of a function, the address that it will return to.
    fn returns_to(&self) -> u32;
    /// At the first instruction of a function, whether the instruction at `_at`, which was the last one and ends at `place`,
    /// called it, and did not jump to it.
    fn called_by(&self, _at: u32, place: u32) -> bool {
        self.returns_to() == place
    }
    /// Right after a call that [`Core::invoke`] made, what it returned: the low bits, as many as the function's type has.
    fn result(&self) -> u64;
    /// Where the handlers of a core's own exceptions are, for calls without start-up code.
    fn vectors_at(&mut self, _address: u32) {}
    /// Whether the program allowed interrupts, which are not modelled, since reset.
    fn allowed_interrupts(&self) -> bool {
        self.memory().host.interrupts
    }
    /// General registers, stack pointer, status and program counter, in the order of
    /// [`Core::REGISTERS`].
    fn registers(&self) -> Vec<u32>;
    /// At a function's first instruction, and where it has returned to: the registers that it has to keep, by name.
    fn kept(&self) -> Vec<(&'static str, u64)>;
    /// What instructions depend on besides [`Core::registers`] and the memory.
    fn hidden(&self) -> Vec<u32>;
    /// Sets what [`Core::registers`] returns, in its order; false, and nothing done, where the core has no debug port.
    fn set_registers(&mut self, _values: &[u32]) -> bool {
        false
    }
    /// Another program is in flash: forgets what was known of the one before.
    fn loaded(&mut self) {}
    /// Address that no block may go past since the last call of this: the end of a hardware loop that
    /// was not known when blocks were decoded. A core that returns one set the deadline to 0 before.
    fn split(&mut self) -> Option<u32> {
        None
    }
    /// Registers may be saved below stack pointers and in the frames of callers, by register windows.
    fn windowed(&self) -> bool {
        false
    }
    /// Right after an instruction that ended at `end`, whether the program went back there to begin another round of a
    /// hardware loop.
    fn looped(&self, _end: u32) -> bool {
        false
    }
    /// A measured call begins: notes what it must not change besides RAM, and tells the memory what it may write there.
    fn call_begins(&mut self) {}
    /// It has returned: puts an end to what would bring the program back into it. False where its callers would not go
    /// on as without it.
    fn call_ends(&mut self) -> bool {
        true
    }
    /// Instructions start at multiples of this many bytes.
    const CODE_ALIGN: u32 = 2;
    /// Bytes of a data pointer.
    const POINTER_BYTES: u8;
    /// Bytes from where the stack pointer points up to what was pushed last.
    const STACK_EMPTY: u32 = 0;
    /// Names for [`Core::registers`].
    const REGISTERS: &'static [&'static str];
}

/// A call that is not the program's own, by the convention of the core's compilers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// The function.
    pub entry: u32,
    /// The address after the stack.
    pub stack: u32,
    /// Where the function returns to.
    pub back: u32,
    /// Arguments: the value and its bytes, 1 to 8.
    pub arguments: Vec<(u64, u8)>,
}

impl Invocation {
    /// Arguments by register and on the stack, in words of 32 bits: the first `registers` words are in registers. An
    /// argument of two words begins at an even one, and is never in both.
    pub fn words(&self, registers: usize) -> (Vec<u64>, Vec<u64>) {
        let (mut first, mut rest): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
        for &(value, bytes) in &self.arguments {
            let count = usize::from(bytes).div_ceil(4);
            let at = if rest.is_empty() { first.len() } else { rest.len() };
            let gap = usize::from(count > 1 && at % 2 == 1);
            let fits = rest.is_empty() && first.len() + gap + count <= registers;
            if !fits && rest.is_empty() {
                first.resize(registers, 0);
            }
            let gap = if fits || !rest.is_empty() { gap } else { 0 };
            for k in 0..gap + count {
                let part =
                    k.checked_sub(gap).map_or(0, |k| value.checked_shr(32 * k as u32).unwrap_or(0)) & 0xFFFF_FFFF;
                if rest.is_empty() && first.len() < registers { first.push(part) } else { rest.push(part) }
            }
        }
        (first, rest)
    }
}

/// A handler: executes one instruction and continues with the next one of its block.
///
/// # Safety
/// The pointer must be to an [`Insn`] inside a [`Block`]; a handler that continues (see [`next`]) must not be the last
/// of its block.
pub type Exec<C> = unsafe fn(&mut C, *const Insn<C>);

/// One decoded instruction, ready to execute.
pub struct Insn<C> {
    /// The handler that executes it.
    pub exec: Exec<C>,
    /// Its address and the static cycles from the block's start to its end.
    pub site: Site,
    /// Immediate operand, or the address a branch goes to.
    pub imm: u32,
    /// First register operand.
    pub a: u8,
    /// Second register operand.
    pub b: u8,
    /// Third register operand.
    pub c: u8,
    /// Anything else that the operation needs (condition, shift, bit number, register count).
    pub d: u8,
    /// Cycles of a taken branch beyond those of one that is not; set from [`Costs::taken`] and [`Costs::falls`].
    pub taken: i8,
    /// How many of the following instructions this one skips when its condition fails.
    pub skips: u8,
    /// Cycles saved when they are skipped; set by the block builder.
    pub refund: u16,
}

impl<C> Clone for Insn<C> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<C> Copy for Insn<C> {}

/// Continues with the instruction after `i`.
///
/// # Safety
/// `i` must point into a block and not be its last instruction.
#[inline(always)]
pub unsafe fn next<C>(core: &mut C, i: *const Insn<C>) {
    // SAFETY: blocks end with an instruction that does not continue, so there is one after `i`.
    unsafe {
        let n = i.add(1);
        ((*n).exec)(core, n);
    }
}

/// A straight run of code as a core decodes it: one step for each instruction.
/// The last instruction must not continue with a next one: it sets the program counter and returns.
pub struct Run<C: Core> {
    /// Instructions, including pseudo-instructions (skips, a final fall-through).
    pub insns: Vec<Insn<C>>,
    /// The timing model's view of each.
    pub steps: Vec<C::Step>,
    /// Address after the run.
    pub end: u32,
}

/// A timing model's costs of a run.
#[derive(Default)]
pub struct Costs {
    /// Cycles of each step when it is executed in sequence and branches are not taken.
    pub each: Vec<u32>,
    /// Extra cycles of each step when it is a taken branch.
    pub taken: Vec<u8>,
    /// Cycles among [`Costs::each`] that a taken branch does not have: it does not wait for the code after it. Shorter
    /// where no step has any.
    pub falls: Vec<u8>,
    /// Cycles of a conditional instruction whose condition fails.
    pub skipped: u32,
}

impl Costs {
    /// Cycles of a step that it does not have where it is a taken branch.
    pub(crate) fn falls(&self, step: usize) -> u8 {
        self.falls.get(step).copied().unwrap_or(0)
    }
}

/// A timing model: sees which instructions retire, never their values.
pub trait Timing<C: Core>: Send + Sync {
    /// Longest run that is decoded as one block, in instructions. Straight code that is longer is cut, and what follows is
    /// priced as after a branch: a model whose costs depend on what came before it says more than programs have.
    const MAX_RUN: usize = 128;
    /// Identity that records carry, such as `avre+/1`; changes when any figure can change.
    fn id(&self) -> &'static str;
    /// Static costs of a straight run. A model may keep what it learns of the run, by its addresses: a clone shares that, and
    /// it holds until the code changes, not only until [`Timing::reset`].
    fn costs(&self, steps: &[C::Step]) -> Costs;
    /// Extra cycles for entering the block `start..end` after the previous one (fetch front end). It is right only after
    /// [`Timing::costs`] was asked for the same run.
    fn enter(&mut self, _start: u32, _end: u32) -> u32 {
        0
    }
    /// The cost of [`Timing::enter`] after a block that ended at `last`, for code that is generated in advance.
    fn edge(&mut self, _last: u32, _start: u32, _end: u32) -> Edge {
        Edge::Ask
    }
    /// [`Timing::enter`] by cause: waits for code, and wrong predictions.
    fn enter_by_cause(&mut self, start: u32, end: u32) -> (u32, u32) {
        (self.enter(start, end), 0)
    }
    /// The parts of [`Timing::costs`] of each step that are waits for memory, by cause: for reports, nothing else.
    fn waits(&self, _steps: &[C::Step]) -> Vec<(Cause, Vec<u32>)> {
        Vec::new()
    }
    /// Whether entering a block never costs anything and the model has no state.
    fn is_static(&self) -> bool {
        false
    }
    /// Where the model stores the end of the last block, if it does.
    fn last_end(&mut self) -> Option<&mut u32> {
        None
    }
    /// State that earlier calls leave to later ones, besides the end of the last block: a predictor's counters.
    fn history(&mut self) -> &mut [u8] {
        &mut []
    }
    /// All runs are forgotten that [`Timing::costs`] was asked for: what was learnt of them may be, too.
    fn forget(&mut self) {}
    /// Forgets all state, as after reset.
    fn reset(&mut self) {}
}

/// One cycle for each instruction, for tests and oracles that count none.
pub struct OneCycle;

impl<C: Core> Timing<C> for OneCycle {
    fn id(&self) -> &'static str {
        "one"
    }

    fn costs(&self, steps: &[C::Step]) -> Costs {
        Costs { each: vec![1; steps.len()], taken: vec![0; steps.len()], skipped: 1, ..Costs::default() }
    }
}

/// A run with its costs.
pub struct Block<C> {
    /// Instructions; never empty; the last one does not continue.
    pub insns: Box<[Insn<C>]>,
    /// Sum of all static costs.
    pub cycles: u32,
    /// Address of the first instruction.
    pub start: u32,
    /// Address after the last one.
    pub end: u32,
    /// How often it ran in the interpreter.
    pub(crate) runs: u32,
    /// Runs after which it is worth translating; 0 for never.
    pub(crate) hot: u32,
    /// Number of measured calls that had ended when it was decoded.
    pub(crate) calls: u64,
    /// Whether there is native code for it.
    pub(crate) native: bool,
    /// Whether it is of the harness's function with the edges: then there is none, for the run loop looks at it.
    pub(crate) edges: bool,
}

impl<C> Block<C> {
    /// How often it ran in the interpreter.
    pub fn runs(&self) -> u32 {
        self.runs
    }

    /// The address of its last instruction; pseudo-instructions may come after it.
    pub(crate) fn last(&self) -> Option<u32> {
        self.insns.iter().rev().map(|i| i.site.pc).find(|&pc| pc < self.end)
    }

    /// Whether it has to be run by the run loop.
    pub fn edges(&self) -> bool {
        self.edges
    }
}

impl<C: Core> Block<C> {
    /// Joins a run with its costs.
    ///
    /// # Panics
    /// When the run is empty or steps and costs do not match it: a defect of a core or model.
    pub fn new(start: u32, run: Run<C>, timing: &impl Timing<C>) -> Self {
        let costs = timing.costs(&run.steps);
        Self::priced(start, run, &costs)
    }

    /// Joins a run with these costs.
    pub(crate) fn priced(start: u32, run: Run<C>, costs: &Costs) -> Self {
        let Run { mut insns, end, .. } = run;
        assert!(!insns.is_empty() && insns.len() == costs.each.len(), "one cost for each instruction");
        let mut sum = 0;
        for (k, i) in insns.iter_mut().enumerate() {
            sum += costs.each[k];
            i.site.cycles = sum;
            i.taken = costs.taken[k] as i8 - costs.falls(k) as i8;
            let guarded = costs.each.iter().skip(k + 1).take(i.skips.into());
            let refund: u32 = guarded.map(|&c| c.saturating_sub(costs.skipped)).sum();
            i.refund = refund.try_into().expect("skipped instructions cost below 65536 cycles");
        }
        Self { insns: insns.into(), cycles: sum, start, end, runs: 0, hot: 0, calls: 0, native: false, edges: false }
    }
}
