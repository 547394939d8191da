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

use isa::{Core, Invocation, Run, TableRow, Work};
use mcu::Memory;

pub use state::{Events, MulLong, Thumb};
pub use step::{Class, Features, Kind, Step};

use crate::state::{LR, PC, SP};

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

    fn work(step: &Step) -> Work {
        match step.class {
            Class::Alu | Class::It => Work::Compute,
            Class::Mul | Class::MulAdd | Class::MulLong | Class::MulLongAdd => Work::Multiply,
            Class::Div => Work::Divide,
            Class::Load | Class::LoadExclusive => Work::Load,
            Class::Store | Class::StoreExclusive => Work::Store,
            Class::LoadMultiple | Class::StoreMultiple => Work::Several,
            Class::LoadPc | Class::LoadMultiplePc | Class::Branch | Class::BranchCond | Class::TableBranch => {
                Work::Branch
            }
            Class::System | Class::Barrier => Work::System,
            Class::Stop | Class::Pseudo => Work::Nothing,
        }
    }

    fn links(step: &Step) -> bool {
        step.links
    }

    fn continue_at(&mut self, pc: u32) {
        self.set_pc(pc);
    }

    /// AAPCS, 6.5: r0 to r3, then the stack.
    fn invoke(&mut self, call: &Invocation) -> Result<(), String> {
        let (first, rest) = call.words(4);
        let sp = (call.stack & !7).wrapping_sub(4 * rest.len() as u32) & !7;
        for (n, &value) in first.iter().enumerate() {
            self.r[n] = value as u32;
        }
        for (n, &value) in rest.iter().enumerate() {
            if !self.mem.ram_store::<4>(sp + 4 * n as u32, value as u32) {
                return Err("the stack is not in RAM".into());
            }
        }
        (self.r[SP], self.r[LR]) = (sp, call.back | 1);
        self.set_pc(call.entry);
        Ok(())
    }

    fn returns_to(&self) -> u32 {
        self.r[LR] & !1
    }

    fn result(&self) -> u64 {
        u64::from(self.r[0]) | u64::from(self.r[1]) << 32
    }

    fn registers(&self) -> Vec<u32> {
        let mut all = self.r[..PC].to_vec();
        all.extend([self.apsr() | 1 << 24, self.r[PC]]);
        all
    }

    /// r4 to r11 (Procedure Call Standard for the Arm Architecture, 6.1.1).
    fn kept(&self) -> Vec<(&'static str, u64)> {
        (4..12).map(|n| (Self::REGISTERS[n], self.r[n].into())).collect()
    }

    fn hidden(&self) -> Vec<u32> {
        let exclusive = self.exclusive.map_or([0, 0], |at| [1, at]);
        [&self.system[..], &exclusive, &[self.event.into()]].concat()
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
