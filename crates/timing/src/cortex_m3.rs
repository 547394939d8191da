//! Cortex-M3 cycle model.
//!
//! Core: DDI 0337 (Cortex-M3 TRM), instruction timing table and "Load/store timings". Model assumptions,
//! where the TRM gives only a range, are marked *assumed*; `docs/validation/arm-zero-wait.md` compares them with
//! published figures.
//!
//! P, the pipeline refill of a taken branch, is 1 to 3 by the TRM, "depending on ... whether the processor
//! manages to speculate the address early". *Assumed*: 1 where the address is known early, which is that of
//! direct branches and of BX LR; 2 where it comes from another register or from memory.
//! A wide instruction at an address that is not a multiple of 4 needs two words of code. The third such instruction in
//! a row waits one cycle for them, the fourth where they are stores: measured on a Cortex-M4 with its performance
//! counters (compendium.i-0.nl, "Instruction alignment", rules). What a Cortex-M4 needs besides is in `cortex_m4.rs`.
//! A load that updates its base is pipelined as any other, although the TRM says "not normally": with a cycle more for the
//! next load, code that walks two arrays is 3 % too slow on two boards (`docs/validation/fidelity.md`).
//! With a cache of lines, P is 2 for all branches and wide instructions do not wait: both were fitted together with the
//! cache, to figures of the nRF52840 (`docs/validation/arm.md`).
//!
//! Fetch: a mechanistic flash front end as PM0075 describes that of the STM32F1: lines of
//! [`Flash::line_bytes`], one flash access of `wait_states` + 1 cycles for each, and
//! [`Flash::prefetch_lines`] buffers, one of which holds the line that is executed; see `fetch.rs`.

use isa::{Cause, Costs, Timing};
use isa_thumb::{Class, Events, Step, Thumb};
use mcu::Flash;

use crate::fetch::Front;

/// Pipeline refill of a branch to an address that is known early (DDI 0337: 1 to 3).
pub(crate) const P: u32 = 1;
/// Pipeline refill of a branch to an address from a register or from memory.
pub(crate) const P_LATE: u32 = 2;
/// Longest run of the Cortex-M3's rules and those that they share. What an instruction costs depends on the last one, on
/// wide ones in a row and on lines that are read ahead, so a cut can cost some cycles: fewer than one in 500 this far
/// apart, but for a Cortex-M4's wide instructions, which wait for nothing until one of several cycles comes again.
pub(crate) const MAX_RUN: usize = 4096;
/// The link register in a set of registers.
const LR: u16 = 1 << 14;

/// A Cortex-M3 with its flash.
#[derive(Clone, Debug)]
pub struct CortexM3 {
    front: Front,
}

impl CortexM3 {
    /// A core on `flash`, whose lines are a power of two; without wait states it is the core alone.
    pub fn new(flash: Flash) -> Self {
        Self { front: Front::new(flash) }
    }

    /// Costs that depend on operand values.
    pub fn events() -> Events {
        Events { div, mul_long: Some(mul_long), unaligned, splits: true, ..Events::default() }
    }
}

impl Timing<Thumb> for CortexM3 {
    const MAX_RUN: usize = MAX_RUN;

    fn id(&self) -> &'static str {
        if self.front.reads_ahead() { "cortex-m3/5" } else { "cortex-m3/4" }
    }

    fn costs(&self, steps: &[Step]) -> Costs {
        costs(&self.front, steps, core_cycles, Wide::WHEREVER)
    }

    fn waits(&self, steps: &[Step]) -> Vec<(Cause, Vec<u32>)> {
        self.front.waits(|front| costs(front, steps, core_cycles, Wide::WHEREVER))
    }

    crate::enters_by!(front);
}

/// Static costs of a run with the front end `front`, from the core's cycles where branch targets are known early.
pub(crate) fn costs(front: &Front, steps: &[Step], core: fn(&Step, Option<&Step>) -> u32, mut wide: Wide) -> Costs {
    match front {
        Front::Cache(_) => front.costs(steps, |s, before| core(s, before) + late(s), P_LATE),
        _ => front.costs(
            steps,
            |s, before| {
                let cycles = core(s, before);
                cycles + wide.waits(s, cycles)
            },
            P,
        ),
    }
}

/// Cycles by which a branch refills later where knowing its address early is of no use.
pub(crate) fn late(s: &Step) -> u32 {
    if s.class == Class::Branch && early(s) { P_LATE - P } else { 0 }
}

/// Whether the address that an unconditional branch goes to is known early.
fn early(s: &Step) -> bool {
    s.target.is_some() || s.reads & LR != 0
}

/// Cycles of the core without fetch stalls, branches not taken (DDI 0337, instruction and load/store
/// timings).
pub(crate) fn core_cycles(s: &Step, before: Option<&Step>) -> u32 {
    let previous = before.map_or(Class::Stop, |b| b.class);
    let n = u32::from(s.count);
    let needs = |b: &Step| b.writes & s.address != 0;
    // no forwarding from data processing to an address
    let interlock = u32::from(before.is_some_and(|b| computes(b.class) && needs(b)));
    // a load goes through its address phase while the one before it is in its data phase, unless that
    // one changes its base or makes the address
    let pipelined = before.is_some_and(|b| b.class == Class::Load && !needs(b));
    match s.class {
        Class::Pseudo | Class::Stop => 0,
        Class::Alu | Class::Mul | Class::It | Class::BranchCond => 1,
        Class::System => 2,  // DDI 0337: 1 or 2
        Class::Barrier => 1, // DDI 0337: 1 + B; assumed: B is 0 with an idle write buffer
        Class::MulAdd => 2,
        Class::MulLong => 3,    // 3 to 5: the rest comes from `events`
        Class::MulLongAdd => 4, // 4 to 7: likewise
        Class::Div => 2,        // 2 to 12: likewise
        Class::Load if pipelined => 1,
        Class::Load | Class::LoadExclusive | Class::StoreExclusive => 2 + interlock,
        // three registers to read: one cycle more, unless it follows a load (DDI 0337I, page 3-9; *assumed* also where
        // that load makes the address)
        Class::Store if s.address.count_ones() == 2 && previous != Class::Load => 2 + interlock,
        Class::Store => 1 + interlock,
        Class::LoadPc => 2 + P_LATE + interlock,
        Class::LoadMultiple | Class::StoreMultiple => 1 + n + interlock,
        Class::LoadMultiplePc => 1 + n + P_LATE + interlock,
        Class::Branch if early(s) => 1 + P,
        Class::Branch => 1 + P_LATE,
        Class::TableBranch => 2 + P_LATE + interlock,
    }
}

/// Tracks wide instructions at addresses that are not multiples of 4.
#[derive(Clone, Copy)]
pub(crate) struct Wide {
    /// How many in a row, and whether all of them store.
    row: u32,
    stores: bool,
    /// Whether fetching has stopped since the run began, or need not have: it goes on too late for such a row.
    stopped: bool,
}

impl Wide {
    /// A row waits wherever it is.
    pub const WHEREVER: Self = Self { row: 0, stores: false, stopped: true };
    /// A row waits where an instruction of several cycles is before it in its run, in which the buffer becomes full.
    pub const AFTER_SEVERAL_CYCLES: Self = Self { stopped: false, ..Self::WHEREVER };

    /// Cycles that the next instruction of a run waits for its second word; `cycles` are its own.
    pub fn waits(&mut self, s: &Step, cycles: u32) -> u32 {
        if s.class == Class::Pseudo {
            return 0;
        }
        let stopped = self.stopped;
        self.stopped |= cycles > 1;
        if s.bytes != 4 || s.pc & 2 == 0 {
            self.row = 0;
            return 0;
        }
        let stores = self.stores || self.row == 0;
        self.row += 1;
        self.stores = stores && s.class == Class::Store;
        // the fourth is late where the three before it only store
        u32::from(stopped && (self.row == 3 && !self.stores || self.row == 4 && stores))
    }
}

/// Data processing: its result goes through the register bank before it can be an address.
fn computes(class: Class) -> bool {
    use Class::{Alu, Div, Mul, MulAdd, MulLong, MulLongAdd, System};
    matches!(class, Alu | Mul | MulAdd | MulLong | MulLongAdd | Div | System)
}

/// Division beyond 2 cycles. DDI 0337 gives 2 to 12 by leading zeros and ones; *assumed*: 2 when the quotient is
/// certainly 0, otherwise 4 plus one for each four bits that the quotient can have.
pub(crate) fn div(x: u32, y: u32, signed: bool) -> u32 {
    let (x, y) = if signed { ((x as i32).unsigned_abs(), (y as i32).unsigned_abs()) } else { (x, y) };
    let bits = (y.leading_zeros() + 1).saturating_sub(x.leading_zeros());
    if bits == 0 || y == 0 { 0 } else { 2 + bits / 4 }
}

/// Long multiplication beyond 3 (accumulating: 4) cycles. DDI 0337 gives 3 to 5 and 4 to 7 by operand
/// size; *assumed*: one more for each operand beyond 16 bits, and one more for two such when accumulating.
pub(crate) fn mul_long(x: u32, y: u32, signed: bool, add: bool) -> u32 {
    let small = |v: u32| if signed { v as i32 == i32::from(v as i16) } else { v <= 0xFFFF };
    let wide = u32::from(!small(x)) + u32::from(!small(y));
    wide + u32::from(add && wide == 2)
}

/// Unaligned access (DDI 0337, load/store timings): a halfword or a word at a halfword address is two
/// accesses, a word at an odd address three.
pub(crate) fn unaligned(address: u32, bytes: u32) -> u32 {
    if bytes == 4 && address & 1 == 1 { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use isa::{Core as _, Machine, Timing as _};
    use isa_thumb::Thumb;
    use mcu::{Chip, Flash, Memory};

    use super::{CortexM3, div, mul_long, unaligned};

    fn chip(flash_timing: Flash) -> Chip<'static> {
        Chip { flash_timing, ..Chip::of_memories((0x0800_0000, 0x400), (0x2000_0000, 0x1000)) }
    }

    /// Static cycles of a run of code that ends with `b .`, without that branch.
    fn cycles(flash: Flash, code: &[u16]) -> u32 {
        let mut memory = Memory::new(&chip(flash)).expect("the chip is possible");
        for (k, half) in code.iter().chain(&[0xE7FE]).enumerate() {
            memory.flash[8 + 2 * k..10 + 2 * k].copy_from_slice(&half.to_le_bytes());
        }
        let run = Thumb::new(memory).decode(0x0800_0008, 128);
        let each = CortexM3::new(flash).costs(&run.steps).each;
        each[..each.len() - 1].iter().sum()
    }

    #[test]
    fn the_core_follows_the_manual() {
        let cycles = |code: &[u16]| cycles(Flash::default(), code);
        assert_eq!(cycles(&[0x1840, 0x1840]), 2); // adds
        assert_eq!(cycles(&[0x6808]), 2); // ldr
        assert_eq!(cycles(&[0x6808, 0x6812, 0x681B]), 4); // three loads: N + 1
        assert_eq!(cycles(&[0x6809, 0x6809]), 4); // the second needs the first
        assert_eq!(cycles(&[0xF852, 0x0B04, 0xF853, 0x1B04]), 3); // ldr r0, [r2], #4; ldr r1, [r3], #4
        assert_eq!(cycles(&[0xF852, 0x0B04, 0xF852, 0x1B04]), 4); // the second needs the updated base
        assert_eq!(cycles(&[0x6808, 0x601A]), 3); // ldr, str
        assert_eq!(cycles(&[0x601A, 0x6808]), 3); // str, ldr
        assert_eq!(cycles(&[0x3104, 0x6808]), 4); // adds r1; ldr r0, [r1]
        assert_eq!(cycles(&[0xB4F0]), 5); // push of four
        assert_eq!(cycles(&[0xFB00, 0x1002]), 2); // mla
        assert_eq!(cycles(&[0xBF08, 0x1840]), 2); // it eq; add
    }

    #[test]
    fn branches_to_early_addresses_refill_faster() {
        let branch = |code: &[u16]| {
            let mut memory = Memory::new(&chip(Flash::default())).expect("the chip is possible");
            for (k, half) in code.iter().enumerate() {
                memory.flash[8 + 2 * k..10 + 2 * k].copy_from_slice(&half.to_le_bytes());
            }
            CortexM3::new(Flash::default()).costs(&Thumb::new(memory).decode(0x0800_0008, 128).steps).each[0]
        };
        assert_eq!(branch(&[0xE7FE]), 2); // b
        assert_eq!(branch(&[0xF000, 0xF800]), 2); // bl
        assert_eq!(branch(&[0x4770]), 2); // bx lr
        assert_eq!(branch(&[0x4718]), 3); // bx r3
        assert_eq!(branch(&[0x4798]), 3); // blx r3
    }

    #[test]
    fn the_third_wide_instruction_across_words_waits() {
        let cycles = |code: &[u16]| cycles(Flash::default(), code);
        let wide = [0xEA4F, 0x0808]; // mov.w r8, r8
        let store = [0xF8C2, 0x1004]; // str.w r1, [r2, #4]
        // the run starts at a multiple of 4, so the narrow one shifts what follows it
        let after = |narrow: &[u16], n: usize, w: &[u16; 2]| cycles(&[narrow, &w.repeat(n)].concat());
        assert_eq!(after(&[], 3, &wide), 3);
        assert_eq!(after(&[0x46C0], 2, &wide), 3);
        assert_eq!(after(&[0x46C0], 3, &wide), 1 + 3 + 1);
        assert_eq!(after(&[0x46C0], 8, &wide), 1 + 8 + 1);
        assert_eq!(after(&[0x46C0], 3, &store), 1 + 3);
        assert_eq!(after(&[0x46C0], 4, &store), 1 + 4 + 1);
        assert_eq!(after(&[0x46C0, 0xF8C2, 0x1004], 3, &wide), 2 + 3 + 1);
    }

    #[test]
    fn dense_code_waits_for_the_flash() {
        let flash = Flash { wait_states: 2, line_bytes: 8, prefetch_lines: 2, data_wait_states: 2, ..Flash::default() };
        // four narrow instructions for each line hide its access, two wide ones leave one cycle
        assert_eq!(cycles(flash, &[0x1840; 16]), 16);
        let wide: Vec<u16> = [0xEB00, 0x0001].repeat(8);
        assert_eq!(cycles(flash, &wide), 8 + 3);
    }

    #[test]
    fn events_stay_within_the_manuals_ranges() {
        let values = [0, 1, 2, 0xFFFF, 0x1_0000, 0x7FFF_FFFF, 0x8000_0000, u32::MAX];
        for x in values {
            for y in values {
                for signed in [false, true] {
                    assert!(div(x, y, signed) <= 10);
                    assert!(mul_long(x, y, signed, false) <= 2 && mul_long(x, y, signed, true) <= 3);
                }
            }
        }
        assert_eq!((div(u32::MAX, 1, false), div(1, 2, false)), (10, 0));
        assert_eq!((unaligned(1, 4), unaligned(2, 4), unaligned(1, 2)), (2, 1, 1));
    }

    #[test]
    fn a_held_line_costs_nothing_to_enter() {
        let mut model = CortexM3::new(Flash {
            wait_states: 2,
            line_bytes: 8,
            prefetch_lines: 2,
            data_wait_states: 2,
            ..Flash::default()
        });
        assert_eq!(model.enter(0x100, 0x10A), 2);
        assert_eq!(model.enter(0x10A, 0x10E), 0); // in sequence
        assert_eq!(model.enter(0x108, 0x10E), 0); // the same line
        assert_eq!(model.enter(0x112, 0x114), 0); // the prefetched line
        assert_eq!(model.enter(0x100, 0x104), 2); // a later line
    }

    #[test]
    fn a_taken_branch_costs_its_refill() {
        let mut memory = Memory::new(&chip(Flash::default())).expect("the chip is possible");
        // movs r0, #3; subs r0, #1; bne .-2; bkpt
        let code = [0x20, 0x20, 0, 0, 9, 0, 0, 8, 3, 0x20, 1, 0x38, 0xFD, 0xD1, 0, 0xBE];
        memory.flash[..16].copy_from_slice(&code);
        let mut machine = Machine::new(Thumb::new(memory), CortexM3::new(Flash::default()));
        machine.run(1000);
        assert_eq!(machine.cycles, 1 + 3 + (2 + 2 + 1));
        assert_eq!(machine.core.registers()[0], 0);
    }
}
