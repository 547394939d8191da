//! Costs that the pipelines of the Xtensa cores share: one instruction per cycle, in order, and stalls where a result
//! is not ready.
//!
//! Fetch: code and constants are in local instruction memory, which answers in one cycle, and is read in
//! words of four bytes (`XCHAL_INST_FETCH_WIDTH` of both cores' `core-isa.h`). At most three bytes are
//! used in a cycle, so sequential code never waits. The instruction that a jump goes to needs a second
//! fetch when it crosses a word (GNU as manual, "Xtensa Automatic Alignment"); *assumed*: one cycle.

use isa::Costs;
use isa_xtensa::{Class, Events, Step};

/// Figures of one pipeline, in cycles.
pub struct Pipeline {
    /// A use of a loaded value as the next instruction waits this long.
    pub load: u32,
    /// The same for a value loaded by L32R.
    pub literal: u32,
    /// Cycles that L32R itself waits, and one more in every other cycle; 0 where literals are in local memory.
    pub literal_wait: u32,
    /// A use of a 16-bit product as the next instruction waits this long.
    pub mul16: u32,
    /// The same for a 32-bit product.
    pub mul32: u32,
    /// Cycles that a value may come later where a store takes it as data.
    pub store_data: u32,
    /// Extra cycles of a taken branch or a jump.
    pub jump: u32,
    /// Division, without the part that depends on the operands.
    pub div: u32,
}

/// A jump to an instruction of `bytes` at `to` that crosses a fetch word.
pub const fn land(to: u32, bytes: u32) -> u32 {
    ((to & 3) + bytes > 4) as u32
}

impl Pipeline {
    /// Costs that depend on what happens at run time; `div` is that of a division beyond [`Pipeline::div`].
    pub const fn events(&self, div: fn(u32, u32) -> u32) -> Events {
        // an exception empties the pipeline as a jump does; an unaligned access is two accesses
        let (mut costs, mut at) = ([[0; 2]; 4], 0);
        while at < 8 {
            costs[at / 2][at % 2] = land(at as u32 / 2, 2 + at as u32 % 2) as u8;
            at += 1;
        }
        Events { land: costs, exception: 1 + self.jump, unaligned: |_, _| 1, div }
    }

    /// Static costs of a run. Results of the previous run are assumed to be ready: a jump takes longer than any result.
    pub fn costs(&self, steps: &[Step]) -> Costs {
        self.walk(steps).0
    }

    /// Of the static costs of each step, how long it waits for a literal in flash.
    pub fn literal_waits(&self, steps: &[Step]) -> Vec<u32> {
        self.walk(steps).1
    }

    fn walk(&self, steps: &[Step]) -> (Costs, Vec<u32>) {
        let mut ready = [0u32; 16];
        let mut now = 0;
        let mut each = Vec::with_capacity(steps.len());
        let mut taken = Vec::with_capacity(steps.len());
        let mut waits = Vec::with_capacity(steps.len());
        for s in steps {
            let registers = |set: u16| (0..16).filter(move |r| set >> r & 1 == 1);
            let operands = registers(s.reads).map(|r: usize| ready[r]).max().unwrap_or(0);
            let data = registers(s.data).map(|r| ready[r].saturating_sub(self.store_data)).max().unwrap_or(0);
            let issue = now.max(operands).max(data);
            let jump = self.jump + s.target.map_or(0, |(to, bytes)| land(to, bytes));
            let literal = s.class == Class::Literal && self.literal_wait != 0;
            let wait = if literal { self.literal_wait + (issue & 1) } else { 0 };
            let cycles = match s.class {
                Class::Pseudo | Class::Stop => 0,
                Class::Jump => 1 + jump,
                Class::JumpRegister | Class::ReturnWindow | Class::ReturnException | Class::Sync => 1 + self.jump,
                Class::Div => self.div,
                _ => 1 + wait,
            };
            let late = match s.class {
                Class::Load => self.load,
                Class::Literal => self.literal,
                Class::Mul16 => self.mul16,
                Class::Mul32 => self.mul32,
                _ => 0,
            };
            let end = issue + cycles;
            registers(s.writes).for_each(|r| ready[r] = end + late);
            each.push(end - now);
            taken.push(if matches!(s.class, Class::Branch | Class::Loop) { jump as u8 } else { 0 });
            waits.push(wait);
            now = end;
        }
        (Costs { each, taken, skipped: 0, ..Costs::default() }, waits)
    }
}

#[cfg(test)]
mod tests {
    use isa::{Cause, Timing as _};
    use isa_xtensa::op::Op;
    use isa_xtensa::{Class, Step};
    use mcu::Flash;

    use super::land;
    use crate::xtensa_lx6::Lx6;
    use crate::xtensa_lx106::Lx106;

    fn lx106(data_wait_states: u32) -> Lx106 {
        Lx106::new(Flash { data_wait_states, ..Flash::default() })
    }

    fn step(class: Class, writes: u16, reads: u16) -> Step {
        Step { op: Op::Nop, class, pc: 0, bytes: 3, reads, writes, data: 0, target: None }
    }

    #[test]
    fn a_loaded_value_comes_late() {
        let steps = [step(Class::Load, 4, 2), step(Class::Alu, 8, 4), step(Class::Alu, 8, 4)];
        assert_eq!(lx106(0).costs(&steps).each, [1, 2, 1]);
        assert_eq!(Lx6.costs(&steps).each, [1, 3, 1]);
        let apart = [step(Class::Load, 4, 2), step(Class::Alu, 8, 2), step(Class::Alu, 8, 4)];
        assert_eq!(lx106(0).costs(&apart).each, [1, 1, 1]);
        assert_eq!(Lx6.costs(&apart).each, [1, 1, 2]);
        let stored = [step(Class::Load, 4, 2), Step { data: 4, ..step(Class::Store, 0, 2) }];
        assert_eq!(lx106(0).costs(&stored).each, [1, 1]);
    }

    #[test]
    fn a_jump_costs_its_refill_and_a_crossed_word() {
        assert_eq!([land(4, 3), land(5, 3), land(6, 3), land(6, 2), land(7, 2)], [0, 0, 1, 0, 1]);
        let to = |address| Step { target: Some((address, 3)), ..step(Class::Branch, 0, 2) };
        assert_eq!(lx106(0).costs(&[to(4), to(6)]).taken, [2, 3]);
        assert_eq!(Lx6.costs(&[to(4), to(6)]).taken, [3, 4]);
        assert_eq!(lx106(0).costs(&[step(Class::JumpRegister, 0, 1)]).each, [3]);
    }

    #[test]
    fn a_literal_in_flash_waits_for_the_cache_which_answers_every_other_cycle() {
        let literal = step(Class::Literal, 4, 0);
        let alu = step(Class::Alu, 8, 2);
        assert_eq!(lx106(0).costs(&[literal, alu]).each, [1, 1]);
        assert_eq!(lx106(5).costs(&[literal, alu, literal, literal]).each, [6, 1, 7, 6]);
        assert_eq!(lx106(5).costs(&[literal, step(Class::Alu, 8, 4)]).each, [6, 2]);
        assert_eq!(lx106(5).waits(&[literal, alu, literal]), [(Cause::FlashData, vec![5, 0, 6])]);
        assert_ne!(lx106(0).id(), lx106(5).id());
    }
}
