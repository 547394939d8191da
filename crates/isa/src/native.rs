//! The interface between a translator to native code and a core or timing model.
//!
//! A core describes its instructions to an [`Emit`] as operations on slots, which are places of its state
//! that code may keep in registers. Instructions without a description are left to their handler, and so is every
//! access that is not plain RAM or flash: rare cases have one definition. Crate `translate` has the translator; nothing
//! here knows how code is generated.

use crate::block::{Block, Core, Insn};

pub use crate::edge::{Edge, StatePointer};
pub use crate::values::{One, Op, Test, Values};

/// A place of a core's state that an instruction can read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Bytes from the start of the core's state.
    pub offset: usize,
    /// Bits: 8, 16, 32 or 64.
    pub bits: u32,
}

/// The layout of the core's state that code accesses.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// At most 64; [`Emit`] names them by index.
    pub slots: Vec<Slot>,
    /// Bytes from the start of the core's state to the program counter, of 32 bits.
    pub pc: usize,
    /// Whether slots, of which there are more than a host has registers, are in memory between blocks. A
    /// handler for a rare case then executes the rest of the run too; only [`Emit::handler`] returns.
    pub by_block: bool,
    /// Whether loads and stores need no alignment.
    pub unaligned: bool,
    /// Whether loads of less than 32 bits from flash are left to the handler.
    pub flash_in_words: bool,
}

/// A set of slots, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slots(pub u64);

impl Slots {
    /// All slots.
    pub const ALL: Self = Self(u64::MAX);

    /// With slot `n`.
    pub fn with(self, n: usize) -> Self {
        Self(self.0 | 1 << n)
    }
}

/// The slots that the handler of an instruction reads and may write, for the case that it does the work.
#[derive(Clone, Copy, Debug)]
pub struct ByHandler {
    /// The instruction's index in its run.
    pub at: usize,
    /// Slots that it reads.
    pub reads: Slots,
    /// Slots that it may write.
    pub writes: Slots,
    /// Whether it is the last of its run and sets the program counter; then its replacement ends the run too.
    pub ends: bool,
}

/// Takes a run of instructions as operations. Truth values have 8 bits.
pub trait Emit: Values {
    /// A span: bytes that are known to be RAM.
    type Span: Copy;

    /// Tells that instruction `at` of the run comes next; a skip to it lands here.
    fn start(&mut self, at: usize);
    /// Value of a slot.
    fn get(&mut self, slot: usize) -> Self::V;
    /// New value of a slot, of its width.
    fn set(&mut self, slot: usize, value: Self::V);
    /// New value of a slot, which is computed only where it is needed; `make` reads no slots.
    fn later(&mut self, slot: usize, make: impl Fn(&mut Self) -> Self::V + 'static);
    /// Leaves a whole instruction to its handler.
    fn handler(&mut self, by: ByHandler);
    /// `then` where the condition holds, otherwise the handler.
    fn guard(&mut self, by: ByHandler, condition: Self::V, then: impl FnOnce(&mut Self));
    /// `then` with `bytes` (1, 2, 4, 8) read at an aligned `address` of RAM or flash and extended to `bits`;
    /// otherwise the handler.
    fn load(
        &mut self,
        by: ByHandler,
        address: Self::V,
        bytes: u32,
        extend: (u32, bool),
        then: impl FnOnce(&mut Self, Self::V),
    );
    /// Stores the low `bytes` at an aligned `address` of RAM, then `then`; otherwise the handler.
    fn store(&mut self, by: ByHandler, address: Self::V, bytes: u32, value: Self::V, then: impl FnOnce(&mut Self));
    /// `then` with `count` words of 32 bits read from an aligned address of RAM on; otherwise the handler.
    fn load_words(&mut self, by: ByHandler, address: Self::V, count: usize, then: impl FnOnce(&mut Self, &[Self::V]));
    /// Stores words of 32 bits from an aligned address of RAM on, then `then`; otherwise the handler.
    fn store_words(&mut self, by: ByHandler, address: Self::V, values: &[Self::V], then: impl FnOnce(&mut Self));
    /// Makes sure that `bytes` from `address` (32 bits) plus `from` on are RAM, counted without wrapping; otherwise
    /// the handler does the rest of the run, so this is for [`Layout::by_block`]. The same happens where a stack
    /// pointer of `sp`, if given, is a rare case. The stack pointer does not count unless all the bytes are RAM.
    fn span(&mut self, by: ByHandler, address: Self::V, from: i32, bytes: u32, sp: Option<Self::V>) -> Self::Span;
    /// The `bytes` of a span that begin `at` bytes after its address.
    fn load_in(&mut self, span: Self::Span, at: i32, bytes: u32) -> Self::V;
    /// Stores `bytes` into a span, `at` bytes after its address.
    fn store_in(&mut self, span: Self::Span, at: i32, bytes: u32, value: Self::V);
    /// `then` with the byte of flash at offset `at` (32 bits); otherwise the handler.
    fn program(&mut self, by: ByHandler, at: Self::V, then: impl FnOnce(&mut Self, Self::V));
    /// Tells that the stack pointer is `sp` (32 bits); the handler does rare cases.
    fn stack(&mut self, by: ByHandler, sp: Self::V);

    /// Continues where the condition holds; otherwise the interpreter executes this instruction and the rest of the
    /// run.
    fn rest_unless(&mut self, by: ByHandler, condition: Self::V);
    /// Adds a number of cycles (32 bits).
    fn spend(&mut self, cycles: Self::V);
    /// Continues at instruction `to` of the run unless the condition holds, and then takes `cycles` off.
    fn skip_unless(&mut self, condition: Self::V, to: usize, cycles: i32);
    /// A skip by its handler, which continues at instruction `to` of the run or at the next one and counts cycles.
    fn skip_by_handler(&mut self, by: ByHandler, to: usize);
    /// Ends the run where the condition is `holds`: goes to an address and takes `cycles` off.
    fn leave_if(&mut self, condition: Self::V, holds: bool, to: u32, cycles: i32);
    /// Ends the run: goes to an address.
    fn jump(&mut self, to: u32);
    /// Ends the run: goes to the address in a value of 32 bits.
    fn jump_to(&mut self, to: Self::V);
    /// Ends the run: goes to `yes` with `taken` more cycles where the condition holds, otherwise to `no`.
    fn branch(&mut self, condition: Self::V, yes: u32, taken: i32, no: u32);
}

/// A core whose runs can be described as operations.
pub trait Lower: Core {
    /// Where its state is.
    fn layout() -> Layout;
    /// Describes the run at `pc`, which is decoded in `insns` with at most `max` real instructions.
    fn lower<E: Emit>(&self, pc: u32, insns: &[Insn<Self>], max: usize, e: &mut E);
}

/// Code for the blocks of a machine; crate `translate` has it.
pub trait Translator<C: Core, T>: Send + Sync {
    /// Generates code that starts with the block at index `at` of `blocks`; returns the indexes of all blocks in it.
    fn translate(
        &mut self,
        core: &C,
        timing: &mut T,
        blocks: &[Option<Box<Block<C>>>],
        at: usize,
    ) -> Option<Vec<usize>>;
    /// Runs the code at index `at`, whose block has been entered, from cycle `cycles` on; returns the cycle
    /// at which the machine is at the start of some block, not yet entered.
    fn run(&self, core: &mut C, timing: &mut T, at: usize, cycles: u64) -> u64;
    /// Forgets all code.
    fn clear(&mut self);
}
