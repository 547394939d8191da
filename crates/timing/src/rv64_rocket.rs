//! Cycle model of a Rocket-class core (Kendryte K210).
//!
//! The K210 data sheet names two 64-bit cores with 32 KiB of instruction and data cache each and no more;
//! they are known to be made with the Rocket generator. Latencies are those that SiFive published for cores
//! of the same pipeline: FE310-G000 manual (v2p3), 3.2 "Instruction Fetch Unit" and 3.3 "Execution Pipeline",
//! from memory. Every figure is an assumption for this chip; none was compared with silicon.
//! One instruction per cycle, in order. Results are forwarded; an instruction waits until its operands are there, and until
//! what still comes for its destination has come. Division and these waits are those of the generated core, simulated
//! (`docs/validation/rv64-rocket.md`). A correctly predicted branch or jump costs nothing more, a wrong prediction three cycles. Both caches are assumed to
//! be warm: code and data of one call are far below 32 KiB.

use isa::{Costs, Timing};
use isa_riscv::{Class, Division, Events, Riscv, Step};

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

/// Cycles of a division beyond [`DIVIDE`]: one for each place from the divisor's highest bit to the dividend's, as leading
/// zeros are skipped, one where an operand is negative, and one where the result is.
fn div(x: u64, y: u64, division: Division) -> u32 {
    let signed = division.is_signed();
    let (x_negative, y_negative) = (signed && (x as i64) < 0, signed && (y as i64) < 0);
    let result_negative = match division {
        Division::Div => x_negative != y_negative && y != 0,
        _ => x_negative,
    };
    let top = |v: u64, negative: bool| (if negative { v.wrapping_neg() } else { v }).checked_ilog2();
    let from = top(x, x_negative).unwrap_or(0);
    // the places to skip wrap around where the divisor is larger
    let steps = top(y, y_negative).map_or(ALL, |to| ((64 + from - to) % 64).min(ALL));
    steps + u32::from(x_negative || y_negative) + u32::from(result_negative)
}

/// Cycles of a division without its iterations.
const DIVIDE: u32 = 5;
/// The most iterations.
const ALL: u32 = 62;

impl Timing<Riscv<u64>> for Rocket {
    fn id(&self) -> &'static str {
        "rv64-rocket/4"
    }

    fn costs(&self, steps: &[Step]) -> Costs {
        let mut ready = [0u32; 33]; // cycle from which each register can be used
        let mut multiplier = 0; // cycle from which the multiplier, which divides too, is free
        let mut now = 0;
        let mut each = Vec::with_capacity(steps.len());
        for s in steps {
            let before = now;
            let (issue, result) = cycles(s.class);
            let operands = ready[usize::from(s.rs1)].max(ready[usize::from(s.rs2)]);
            now = now.max(if issue == 0 { 0 } else { operands });
            now = now.max(ready[usize::from(s.rd)]); // a result that still comes is not overtaken; x0 is always there
            if matches!(s.class, Class::Multiply | Class::MultiplyHigh | Class::MultiplyWord | Class::Divide) {
                now = now.max(multiplier);
                multiplier = now + result;
            }
            if s.rd != 0 {
                ready[usize::from(s.rd)] = now + result;
            }
            now += issue;
            each.push(now - before);
        }
        Costs { each, taken: vec![0; steps.len()], skipped: 0, ..Costs::default() }
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
        Class::Divide => (DIVIDE, DIVIDE), // and what `div` says; what follows waits, also where it does not need to
        Class::Atomic => (2, 4),           // assumed
    }
}

#[cfg(test)]
mod tests {
    use isa::{Core as _, Timing as _};
    use isa_riscv::{Division, Riscv};
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
        // lbu a3, (a1); mul a3, a4, a4; mul a5, a4, a4: the product waits for its register, and the next for the product
        assert_eq!(cycles(&[0x0005_C683, 0x02E7_06B3, 0x02E7_07B3]), 3 + 10 + 1);
        assert_eq!(cycles(&[0x0004_2503, 0x0004_2503]), 3); // lw a0, (s0), twice
        assert_eq!(cycles(&[0x02B5_0533, 0x02B5_5633]), 10 + super::DIVIDE); // mul a0, a0, a1; divu a2, a0, a1
    }

    /// Cycles until the result can be used, of the generated core (docs/validation/rv64-rocket.md).
    #[test]
    fn division_takes_what_the_generated_core_takes() {
        let took = |x: i64, y: i64, division| super::DIVIDE + div(x as u64, y as u64, division);
        let min = i64::MIN;
        for (x, y, unsigned, quotient, remainder) in [
            (1, 2, 67, 67, 67),
            (2, 1, 6, 6, 6),
            (7, 0, 67, 67, 67),
            (100, 7, 9, 9, 9),
            (3, 3, 5, 5, 5),
            (1_000_000, 3, 23, 23, 23),
            (-1, 1, 67, 7, 7),
            (-1, -1, 5, 6, 7),
            (1, -1, 6, 7, 6),
            (5, min, 8, 10, 9),
            (0, 5, 67, 67, 67),
            (-100, 7, 66, 11, 11),
            (100, -7, 12, 11, 10),
            (-100, -7, 5, 10, 11),
            (12345, 54321, 67, 67, 67),
            (1 << 62, 3, 66, 66, 66),
        ] {
            assert_eq!(took(x, y, Division::Divu), unsigned, "{x} / {y}");
            assert_eq!(took(x, y, Division::Remu), unsigned, "{x} % {y}");
            assert_eq!(took(x, y, Division::Div), quotient, "{x} / {y}, signed");
            assert_eq!(took(x, y, Division::Rem), remainder, "{x} % {y}, signed");
        }
    }
}
