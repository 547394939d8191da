//! AVR: one instruction table from which decoder, executor and disassembler are derived.
//!
//! Modelled are cores with a program counter of up to 16 bits whose flash starts at address 0:
//! [`AVR25`], [`AVR5`], [`AVR51`] and [`AVRXMEGA3`]. Addresses of code are in bytes. Interrupts are not modelled:
//! SEI sets its flag without further effect. SPM is a fault, and so is SLEEP unless SE is known to be 0.
//!
//! Modules use only those before them: `op`, `sreg`, `step`, `form`, `state`, `table`, `exec`, `decode`, `spans`,
//! `lower`.
#![warn(missing_docs)]

mod decode;
mod exec;
mod form;
mod lower;
pub mod op;
mod spans;
pub mod sreg;
mod state;
mod step;
pub mod table;
#[cfg(test)]
mod tests;

use isa::{Core, Invocation, Run, TableRow, Work};
use mcu::Memory;

use crate::op::Op;

pub use state::{AVR5, AVR25, AVR51, AVRXMEGA3, Avr, Variant};
pub use step::{Class, Step};

impl Core for Avr {
    type Step = Step;
    const POINTER_BYTES: u8 = 2;
    const STACK_EMPTY: u32 = 1;
    const REGISTERS: &'static [&'static str] = &[
        "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "r16",
        "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27", "r28", "r29", "r30", "r31", "sp",
        "sreg", "pc",
    ];

    fn memory(&self) -> &Memory {
        &self.mem
    }

    fn memory_mut(&mut self) -> &mut Memory {
        &mut self.mem
    }

    fn pc(&self) -> u32 {
        self.pc
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
        let rows = table::TABLE.iter().enumerate().filter(|(_, r)| r.is_on(&self.variant));
        rows.map(|(number, r)| TableRow { number, text: r.text.0, by_handler: lower::by_handler(r.op) }).collect()
    }

    fn row(&self, pc: u32) -> Option<usize> {
        table::number(&self.variant, self.fetch(pc)?)
    }

    fn work(step: &Step) -> Work {
        match step.class {
            Class::Alu | Class::Word | Class::IoBit => Work::Compute,
            Class::Multiply => Work::Multiply,
            Class::Load | Class::LoadDirect | Class::LoadProgram | Class::Pop => Work::Load,
            Class::Store | Class::StoreDirect | Class::Push => Work::Store,
            Class::JumpShort | Class::Jump | Class::CallShort | Class::Call | Class::Return => Work::Branch,
            Class::Branch | Class::Skip | Class::SkipIo => Work::Branch,
            Class::Seam => Work::Nothing,
        }
    }

    fn links(step: &Step) -> bool {
        matches!(step.class, Class::CallShort | Class::Call)
    }

    fn continue_at(&mut self, pc: u32) {
        self.pc = pc & !1;
    }

    /// The convention of avr-gcc: from r25 downwards, each argument in an even number of registers down to r8; the first
    /// one that does not fit and all after it are on the stack, byte by byte. r1 is 0.
    fn invoke(&mut self, call: &Invocation) -> Result<(), String> {
        let mut next = 26;
        let mut rest: Vec<u8> = Vec::new();
        self.r[1] = 0;
        for &(value, bytes) in &call.arguments {
            let even = usize::from(bytes).next_multiple_of(2);
            if rest.is_empty() && next >= 8 + even {
                next -= even;
                self.r[next..next + even].copy_from_slice(&value.to_le_bytes()[..even]);
            } else {
                rest.extend(&value.to_le_bytes()[..usize::from(bytes)]); // and all that follow
            }
        }
        let first = call.stack.wrapping_sub(rest.len() as u32);
        let top = first.wrapping_sub(1);
        if !(first..).zip(&rest).all(|(at, &b)| self.mem.ram_store::<1>(at, b.into())) {
            return Err("the stack is not in RAM".into());
        }
        let back = call.back / 2;
        if !(self.mem.ram_store::<1>(top, back & 0xFF) && self.mem.ram_store::<1>(top.wrapping_sub(1), back >> 8)) {
            return Err("the stack is not in RAM".into());
        }
        self.sp = top.wrapping_sub(2) as u16;
        self.pc = call.entry & !1;
        Ok(())
    }

    fn returns_to(&self) -> u32 {
        let byte = |n: u16| self.mem.ram_load::<1>(self.sp.wrapping_add(n).into()).unwrap_or(0);
        2 * (byte(1) << 8 | byte(2))
    }

    /// -mcall-prologues has the link in Z, which it loads right before it jumps. At other times Z may have it by chance.
    fn called_by(&self, at: u32, place: u32) -> bool {
        let jumps = || matches!(self.lookup(at), Some((row, _)) if matches!(row.op, Op::Rjmp | Op::Jmp));
        let loads =
            |back, r| matches!(self.lookup(at.wrapping_sub(back)), Some((row, o)) if row.op == Op::Ldi && o.a == r);
        let linked = || loads(4, 30) && loads(2, 31) || loads(4, 31) && loads(2, 30);
        let z = u16::from_le_bytes([self.r[30], self.r[31]]);
        self.returns_to() == place || 2 * u32::from(z) == place && jumps() && linked()
    }

    fn result(&self) -> u64 {
        (18..26).rev().fold(0, |value, n| value << 8 | u64::from(self.r[n]))
    }

    fn allowed_interrupts(&self) -> bool {
        self.sreg.allowed != 0
    }

    fn stack_pointer(&self) -> u32 {
        self.sp.into()
    }

    fn registers(&self) -> Vec<u32> {
        let special = [self.sp.into(), self.sreg.pack().into(), self.pc];
        self.r[..32].iter().map(|&r| r.into()).chain(special).collect()
    }

    /// r2 to r17, r28 and r29, and the zero in r1 (avr-gcc's wiki, "Call-Saved Registers", "Fixed Registers").
    fn kept(&self) -> Vec<(&'static str, u64)> {
        (1..18).chain(28..30).map(|n| (Self::REGISTERS[n], self.r[n].into())).collect()
    }

    fn hidden(&self) -> Vec<u32> {
        vec![self.rampz.into(), self.half.0]
    }
}
