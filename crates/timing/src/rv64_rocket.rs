//! Cycle model of a Rocket-class core (Kendryte K210).
//!
//! The K210 data sheet names two 64-bit cores with 32 KiB of instruction and data cache each and no more;
//! they are known to be made with the Rocket generator. Latencies are those that SiFive published for cores
//! of the same pipeline: FE310-G000 manual (v2p3), 3.2 "Instruction Fetch Unit" and 3.3 "Execution Pipeline",
//! from memory. Every figure is an assumption for this chip; none was compared with silicon.
//! One instruction per cycle, in order. Results are forwarded; an instruction waits until its operands are there. A
//! correctly predicted branch or jump costs nothing more, a wrong prediction three cycles. Both caches are assumed to
//! be warm: code and data of one call are far below 32 KiB.

use isa::{Costs, Timing};
use isa_riscv::{Class, Events, Riscv, Step};

use crate::branch_history::BranchHistory;

/// A wrong prediction (FE310-G000 manual, 3.2).
const MISS: u32 = 3;

/// A Rocket core with warm caches.
#[derive(Clone, Debug)]
pub struct Rocket {
    history: BranchHistory<MISS>,
}

impl Default for Rocket {
    fn default() -> Self {
        Self { history: BranchHistory::new() }
    }
}

impl Rocket {
    /// Costs that depend on operand values. Unaligned accesses trap (Rocket leaves them to software).
    pub fn events() -> Events {
        Events { div, unaligned: None }
    }
}

/// Cycles of a division beyond [`DIVIDE`]: one for each bit that the quotient can have (*assumed*: one bit a
/// cycle, leading zeros skipped).
fn div(x: u64, y: u64, signed: bool) -> u32 {
    // 32-bit operands come sign-extended from 32 bits on RV32 only; this core has 64
    let (x, y) = if signed { ((x as i64).unsigned_abs(), (y as i64).unsigned_abs()) } else { (x, y) };
    if y == 0 { 64 } else { (y.leading_zeros() + 1).saturating_sub(x.leading_zeros()) }
}

/// Cycles of a division without its iterations (*assumed*).
const DIVIDE: u32 = 4;

impl Timing<Riscv<u64>> for Rocket {
    fn id(&self) -> &'static str {
        "rv64-rocket/2"
    }

    fn costs(&self, steps: &[Step]) -> Costs {
        let mut ready = [0u32; 33]; // cycle from which each register can be used
        let mut multiplier = 0; // cycle from which the multiplier is free
        let mut now = 0;
        let mut each = Vec::with_capacity(steps.len());
        for s in steps {
            let before = now;
            let (issue, result) = cycles(s.class);
            let operands = ready[usize::from(s.rs1)].max(ready[usize::from(s.rs2)]);
            now = now.max(if issue == 0 { 0 } else { operands });
            if matches!(s.class, Class::Multiply | Class::MultiplyHigh | Class::MultiplyWord) {
                now = now.max(multiplier);
                multiplier = now + result;
            }
            if s.rd != 0 {
                now = now.max(ready[usize::from(s.rd)].saturating_sub(1)); // results are written in order
                ready[usize::from(s.rd)] = now + result;
            }
            now += issue;
            each.push(now - before);
        }
        Costs { each, taken: vec![0; steps.len()], skipped: 0 }
    }

    crate::enters_by!(history);

    fn history(&mut self) -> &mut [u8] {
        self.history.history()
    }
}

/// Cycles until the next instruction can start, and until the result can be used.
fn cycles(class: Class) -> (u32, u32) {
    match class {
        Class::Pseudo | Class::Stop => (0, 0),
        Class::Alu | Class::Branch | Class::Jump | Class::JumpRegister | Class::Store | Class::Fence => (1, 1),
        Class::Load => (1, 2),       // 3.3: LW, with a cache hit
        Class::LoadNarrow => (1, 3), // 3.3: LH, LHU, LB, LBU
        Class::Csr => (1, 3),        // 3.3: CSR reads
        // assumed: the generator's larger core, whose multiplier takes 8 bits a cycle; a result without its
        // early end, which depends on the operands
        Class::Multiply | Class::MultiplyHigh => (1, 10),
        Class::MultiplyWord => (1, 6),
        Class::Divide => (DIVIDE, DIVIDE), // and what `div` says; taken to block what follows
        Class::Atomic => (2, 4),           // assumed
    }
}

#[cfg(test)]
mod tests {
    use isa::{Core as _, Timing as _};
    use isa_riscv::Riscv;
    use mcu::{Chip, Memory};

    use super::{Rocket, div};

    /// Static cycles of `code` before an EBREAK.
    fn cycles(code: &[u32]) -> u32 {
        let chip = Chip::of_memories((0x8000_0000, 0x400), (0x8010_0000, 0x1000));
        let mut memory = Memory::new(&chip).expect("the chip is possible");
        for (k, word) in code.iter().chain(&[0x0010_0073]).enumerate() {
            memory.flash[4 * k..4 * k + 4].copy_from_slice(&word.to_le_bytes());
        }
        let run = Riscv::<u64>::new(memory).decode(0x8000_0000, 128);
        Rocket::default().costs(&run.steps).each.iter().sum()
    }

    #[test]
    fn operands_are_waited_for() {
        assert_eq!(cycles(&[0x0015_0513, 0x0015_0513]), 2); // addi a0, a0, 1 twice
        assert_eq!(cycles(&[0x0004_3503, 0x0015_0593]), 3); // ld a0, (s0); addi a1, a0, 1
        assert_eq!(cycles(&[0x0004_4503, 0x0015_0593]), 4); // lbu a0, (s0); addi a1, a0, 1
        assert_eq!(cycles(&[0x0004_3503, 0x0016_0613, 0x0015_0593]), 3); // one instruction between
        assert_eq!(cycles(&[0x02B5_0533, 0x0015_0593]), 11); // mul a0, a0, a1; addi a1, a0, 1
        assert_eq!(cycles(&[0x02B5_0533, 0x02B5_8633]), 11); // mul; mul
    }

    #[test]
    fn division_ends_with_its_quotient() {
        assert_eq!((div(1, 2, false), div(u64::MAX, 1, false), div(7, 0, false)), (0, 64, 64));
        assert_eq!((div(u64::MAX, 1, true), div(100, 7, true)), (1, 5));
    }
}
