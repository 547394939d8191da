//! ARMv6-M, ARMv7-M and its DSP extension, as the Cortex-M0+, M3, M4 and M7 execute them.
//! [`table`] is the only list of instructions; decoding, execution, translation and disassembly are derived from it.
//! Exceptions and interrupts are not modelled: an instruction that raises one ends the run with a named fault. Modules
//! depend on those before them: `step`, `op`, `form`, `operands`, `state`, `exec`, `handlers`, `table`, `decode`, and
//! then `disasm` and `lower`.

mod decode;
mod disasm;
mod exec;
mod form;
mod handlers;
mod lower;
mod op;
mod operands;
mod state;
mod step;
pub mod table;

use isa::{Core, Run, TableRow};
use mcu::Memory;

pub use state::{Events, MulLong, Thumb};
pub use step::{Class, Features, Kind, Step};

use crate::state::PC;

impl Core for Thumb {
    type Step = Step;
    const POINTER_BYTES: u8 = 4;
    const REGISTERS: &'static [&'static str] =
        &["r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "sp", "lr", "xpsr", "pc"];

    fn memory(&self) -> &Memory {
        &self.mem
    }

    fn memory_mut(&mut self) -> &mut Memory {
        &mut self.mem
    }

    #[inline(always)]
    fn pc(&self) -> u32 {
        self.r[PC]
    }

    fn reset(&mut self) {
        self.restart();
    }

    fn decode(&self, pc: u32, max: usize) -> Run<Self> {
        decode::run(self, pc, max)
    }

    fn disassemble(&self, pc: u32) -> (String, u32) {
        disasm::disassemble(self, pc)
    }

    fn rows(&self) -> Vec<TableRow> {
        disasm::rows(self)
    }

    fn row(&self, pc: u32) -> Option<usize> {
        decode::find(self, pc).ok().map(|found| found.number)
    }

    fn stack_pointer(&self) -> u32 {
        self.r[13]
    }

    fn registers(&self) -> Vec<u32> {
        let mut all = self.r[..PC].to_vec();
        all.extend([self.apsr() | 1 << 24, self.r[PC]]);
        all
    }

    fn set_registers(&mut self, values: &[u32]) -> bool {
        let [general @ .., xpsr, pc] = values else { return false };
        for (n, &value) in general.iter().enumerate() {
            self.set_register(n, value);
        }
        self.set_apsr(*xpsr);
        self.set_pc(*pc);
        general.len() == PC
    }
}
