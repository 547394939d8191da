//! MSP430 (16-bit, of the F1xx family): one instruction table from which decoder, executor and disassembler are
//! derived.
//! Code is fetched from flash in the single address space of 64 KiB. Interrupts are not modelled: GIE is stored without
//! effect; a low-power mode that stops the core is a named fault. So is a word access at an odd address, where the chip
//! silently ignores the lowest bit.
//!
//! Modules use only those before them: `status`, `op`, `step`, `state`, `exec`, `handler`, `table`, `decode`.
#![warn(missing_docs)]

mod decode;
mod exec;
mod handler;
pub mod op;
mod state;
pub mod status;
mod step;
pub mod table;
#[cfg(test)]
mod tests;

use isa::{Core, Invocation, Run, TableRow, Work};
use mcu::Memory;

pub use state::Msp430;
pub use step::{Class, Mode, Step};

use state::{PC, SP, SR};

impl Core for Msp430 {
    type Step = Step;
    const POINTER_BYTES: u8 = 2;
    const REGISTERS: &'static [&'static str] =
        &["pc", "sp", "sr", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"];

    fn memory(&self) -> &Memory {
        &self.mem
    }

    fn memory_mut(&mut self) -> &mut Memory {
        &mut self.mem
    }

    #[inline(always)]
    fn pc(&self) -> u32 {
        self.r[PC].into()
    }

    fn reset(&mut self) {
        self.start_over();
    }

    fn decode(&self, pc: u32, max: usize) -> Run<Self> {
        decode::run(self, pc, max)
    }

    fn disassemble(&self, pc: u32) -> (String, u32) {
        decode::disassemble(self, pc)
    }

    fn rows(&self) -> Vec<TableRow> {
        let reason = Some("this core is not translated");
        let rows = table::TABLE.iter().enumerate();
        rows.map(|(number, r)| TableRow { number, text: r.text.0, by_handler: reason }).collect()
    }

    fn row(&self, pc: u32) -> Option<usize> {
        table::number(self.fetch(pc)?)
    }

    fn stack_pointer(&self) -> u32 {
        self.r[SP].into()
    }

    fn work(step: &Step) -> Work {
        let reads = matches!(step.src, Mode::Indexed | Mode::Indirect | Mode::Increment);
        match (step.class, step.dst) {
            (Class::Seam, _) => Work::Nothing,
            (Class::Call | Class::Return | Class::Jump, _) => Work::Branch,
            (Class::Two, Mode::Indexed) if step.compares => Work::Load,
            (Class::Two, Mode::ProgramCounter) if !step.compares => Work::Branch,
            // also where what is changed in memory was read there
            (Class::Push, _) | (Class::Two, Mode::Indexed) => Work::Store,
            (Class::One, _) if reads => Work::Store,
            _ if reads => Work::Load,
            _ => Work::Compute,
        }
    }

    fn links(step: &Step) -> bool {
        step.class == Class::Call
    }

    fn continue_at(&mut self, pc: u32) {
        self.r[PC] = pc as u16 & !1;
    }

    /// MSP430 EABI (SLAA534), 3.3: r12 to r15, and the stack for what does not fit.
    fn invoke(&mut self, call: &Invocation) -> Result<(), String> {
        let (mut next, mut rest) = (12, Vec::new());
        for &(value, bytes) in &call.arguments {
            let words = (0..usize::from(bytes).div_ceil(2)).map(|k| (value >> (16 * k)) as u16);
            // what does not fit is on the stack, and what follows may still fit; 32 bits are split once
            let split = words.len() == 2 && next == 15 && rest.is_empty();
            let fits = next + words.len() <= 16;
            for word in words {
                if next < 16 && (fits || split) {
                    self.r[next] = word;
                    next += 1;
                } else {
                    rest.push(word);
                }
            }
        }
        let sp = (call.stack & !1).wrapping_sub(2 * rest.len() as u32 + 2);
        let above = (sp + 2..).step_by(2).zip(&rest);
        if !self.mem.ram_store::<2>(sp, call.back)
            || !above.fold(true, |all, (at, &w)| self.mem.ram_store::<2>(at, w.into()) && all)
        {
            return Err("the stack is not in RAM".into());
        }
        (self.r[SP], self.r[PC]) = (sp as u16, call.entry as u16 & !1);
        Ok(())
    }

    fn returns_to(&self) -> u32 {
        self.mem.ram_load::<2>(self.r[SP].into()).unwrap_or(0)
    }

    fn result(&self) -> u64 {
        (12..16).rev().fold(0, |value, n| value << 16 | u64::from(self.r[n]))
    }

    fn registers(&self) -> Vec<u32> {
        let mut all: Vec<u32> = self.r[..16].iter().map(|&r| r.into()).collect();
        all[SR] = self.status.pack().into();
        all
    }

    /// r4 to r10 (MSP430 Embedded Application Binary Interface, SLAA534, 3.2).
    fn kept(&self) -> Vec<(&'static str, u64)> {
        (4..11).map(|n| (Self::REGISTERS[n], self.r[n].into())).collect()
    }

    fn hidden(&self) -> Vec<u32> {
        Vec::new()
    }
}
