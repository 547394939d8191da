//! RISC-V: RV32IMAC and RV64IMAC from one table, from which decoder, executor, translator and disassembler are derived,
//! and the cores that lack some of it ([`Features`]). [`Riscv<u32>`] and [`Riscv<u64>`] are the same code for different
//! register widths. Addresses have 32 bits: an access or a jump beyond is a fault. There is one hart in machine mode.
//! ECALL and EBREAK are faults, and so is every access to a control and status register except those that count cycles
//! ([`Counter`]) and reads of `mhartid`, where registers without a model are (`Memory::unmodelled`). Interrupts are not
//! modelled; WFI and MRET are faults.

mod compressed;
mod decode;
mod disasm;
mod exec;
mod lower;
mod op;
mod state;
mod step;
mod table;
mod word;

use isa::{Core, Invocation, Run, TableRow, Work};
use mcu::Memory;

use crate::decode::Found;
use crate::state::SP;

pub use disasm::csr_name;
pub use op::Division;
pub use state::{Counter, Events, Features, Riscv};
pub use step::{Class, Step};
pub use word::Word;

impl<X: Word> Core for Riscv<X> {
    type Step = Step;
    /// Pointers of RV64 have eight bytes, of which the address is in the lower four.
    const POINTER_BYTES: u8 = 4;
    const REGISTERS: &'static [&'static str] = X::NAMES;

    fn memory(&self) -> &Memory {
        &self.mem
    }

    fn memory_mut(&mut self) -> &mut Memory {
        &mut self.mem
    }

    #[inline(always)]
    fn pc(&self) -> u32 {
        self.pc
    }

    fn stack_pointer(&self) -> u32 {
        self.r[SP].low()
    }

    /// Execution starts at the start of flash; registers are undefined there, and 0 here.
    fn reset(&mut self) {
        self.r = [X::default(); 256];
        self.reserved = None;
        self.mcycle = 0;
        self.pc = self.mem.flash_base;
    }

    fn decode(&self, pc: u32, max: usize) -> Run<Self> {
        decode::run(self, pc, max)
    }

    fn disassemble(&self, pc: u32) -> (String, u32) {
        disasm::disassemble(self, pc)
    }

    fn rows(&self) -> Vec<TableRow> {
        disasm::rows::<X>(&self.features)
    }

    fn row(&self, pc: u32) -> Option<usize> {
        match decode::find(self, pc) {
            Found::Definition(n, ..) => Some(n),
            Found::Undefined(..) | Found::Outside => None,
        }
    }

    fn work(step: &Step) -> Work {
        match step.class {
            Class::Alu => Work::Compute,
            Class::Multiply | Class::MultiplyHigh | Class::MultiplyWord => Work::Multiply,
            Class::Divide => Work::Divide,
            Class::Load | Class::LoadNarrow => Work::Load,
            Class::Store => Work::Store,
            Class::Branch | Class::Jump | Class::JumpRegister => Work::Branch,
            Class::Atomic | Class::Csr | Class::Fence => Work::System,
            Class::Stop | Class::Pseudo => Work::Nothing,
        }
    }

    fn links(step: &Step) -> bool {
        matches!(step.class, Class::Jump | Class::JumpRegister) && step.rd != 0
    }

    fn continue_at(&mut self, pc: u32) {
        self.set_pc(pc);
    }

    /// RISC-V ELF psABI, integer calling convention: a0 to a7 (a5 with 16 registers), then the stack. What is wider
    /// than a register may be in both, and begins on the stack at a multiple of its size (of a word in ILP32E). 32 bits
    /// are sign-extended to 64, whatever their type.
    fn invoke(&mut self, call: &Invocation) -> Result<(), String> {
        let word = X::BITS as usize / 8;
        let registers = if self.features.registers < 32 { 6 } else { 8 };
        let mut words: Vec<u64> = Vec::new();
        for &(value, bytes) in &call.arguments {
            let count = usize::from(bytes).div_ceil(word);
            if count == 2 && registers == 8 && words.len() > registers && words.len() % 2 == 1 {
                words.push(0);
            }
            let value = if bytes == 4 { i64::from(value as i32) as u64 } else { value };
            words.extend((0..count).map(|k| value >> (8 * k * word)));
        }
        let (first, rest) = words.split_at(words.len().min(registers));
        let sp = (call.stack & !15).wrapping_sub((word * rest.len()) as u32) & !15;
        for (n, &value) in first.iter().enumerate() {
            self.set_register(10 + n, X::cut(value));
        }
        for (n, &value) in rest.iter().enumerate() {
            for (half, part) in [value as u32, (value >> 32) as u32].into_iter().take(word / 4).enumerate() {
                if !self.mem.ram_store::<4>(sp + (word * n + 4 * half) as u32, part) {
                    return Err("the stack is not in RAM".into());
                }
            }
        }
        self.set_register(1, X::cut(call.back.into()));
        self.set_register(SP, X::cut(sp.into()));
        self.set_pc(call.entry);
        Ok(())
    }

    fn returns_to(&self) -> u32 {
        self.r[1].low()
    }

    /// Any register may get the link: -msave-restore has it in t0. What registers have by chance is none.
    fn called_by(&self, at: u32, place: u32) -> bool {
        let Some(first) = self.half(at) else { return false };
        let (low, bytes) = if first & 3 == 3 { (Some(first), 4) } else { (compressed::expand::<X>(first), 2) };
        // JAL or JALR, and not with x0 as its destination
        low.is_some_and(|w| w & 0x77 == 0x67 && w & 0xF80 != 0) && at.wrapping_add(bytes) == place
    }

    fn result(&self) -> u64 {
        let second = if X::BITS == 64 { self.r[10].high() } else { self.r[11].low() };
        u64::from(self.r[10].low()) | u64::from(second) << 32
    }

    fn registers(&self) -> Vec<u32> {
        let high = if X::BITS == 64 { 32 } else { 0 };
        let (low, high) = (self.r[..32].iter().map(|r| r.low()), self.r[..high].iter().map(|r| r.high()));
        low.chain(high).chain([self.pc]).collect()
    }

    /// gp, tp and s0 to s11 (RISC-V ABIs, "Integer Register Convention"); RV32E has two of the latter.
    fn kept(&self) -> Vec<(&'static str, u64)> {
        let saved = [3, 4, 8, 9].into_iter().chain(18..28);
        saved.map(|n| (Self::REGISTERS[n], self.r[n].wide())).collect()
    }

    fn hidden(&self) -> Vec<u32> {
        let reserved = self.reserved.map_or([0, 0], |at| [1, at]);
        [reserved, [self.mcycle as u32, (self.mcycle >> 32) as u32]].concat()
    }

    fn set_registers(&mut self, values: &[u32]) -> bool {
        let [general @ .., pc] = values else { return false };
        if general.len() != Self::REGISTERS.len() - 1 {
            return false;
        }
        let (low, high) = general.split_at(32);
        for (n, &value) in low.iter().enumerate() {
            self.set_register(n, X::cut(u64::from(value) | u64::from(*high.get(n).unwrap_or(&0)) << 32));
        }
        self.reserved = None;
        self.set_pc(*pc);
        true
    }
}
