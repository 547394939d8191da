//! Xtensa as the LX106 (ESP8266) and the LX6 (ESP32) execute it.
//! [`table`] is the only list of instructions: the cores that have them, bit pattern, text, operation, operands. [`op`]
//! lists the operations, `value` defines their results for interpreter and translator alike; `exec` and `lower`
//! implement them. Modules use only those before them: `features`, `op`, `step`, `form`, `value`, `state`, `window`,
//! `exec`, `table`, `decode`, `lower`. Section numbers are those of the Xtensa Instruction Set Architecture Reference
//! Manual.
//!
//! Exceptions of the windowed registers (overflow, underflow, MOVSP) go to the program's own vectors.
//! Interrupts are not modelled, and other exceptions end the run with a named fault.

mod decode;
mod exec;
mod features;
mod form;
mod lower;
pub mod op;
mod state;
mod step;
pub mod table;
mod value;
mod window;

use isa::{Core, Invocation, Run, TableRow, Work};
use mcu::Memory;

pub use features::Features;
pub use state::{Events, Xtensa};
pub use step::{Class, Step};

use state::{SP, ps, special};

impl Core for Xtensa {
    type Step = Step;
    const CODE_ALIGN: u32 = 1;
    const POINTER_BYTES: u8 = 4;
    const REGISTERS: &'static [&'static str] = &[
        "a0", "sp", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "a10", "a11", "a12", "a13", "a14", "a15", "sar",
        "ps", "pc",
    ];

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
        self.a[SP]
    }

    fn reset(&mut self) {
        self.start_over();
    }

    fn decode(&self, pc: u32, max: usize) -> Run<Self> {
        decode::run(self, pc, max)
    }

    fn windowed(&self) -> bool {
        self.features.windowed()
    }

    fn call_begins(&mut self) {
        self.note_callers();
    }

    fn call_ends(&mut self) -> bool {
        self.lcount = 0; // a loop that a call leaves open goes back to its start wherever its end is
        self.same_callers()
    }

    fn loaded(&mut self) {
        self.ends.clear();
    }

    fn split(&mut self) -> Option<u32> {
        self.new_end.take()
    }

    fn looped(&self, end: u32) -> bool {
        (self.lend, self.pc) == (end, self.lbeg)
    }

    fn disassemble(&self, pc: u32) -> (String, u32) {
        decode::disassemble(self, pc)
    }

    fn rows(&self) -> Vec<TableRow> {
        table::rows(self.features)
            .map(|(number, r)| TableRow { number, text: r.text.0, by_handler: lower::by_handler(r.op) })
            .collect()
    }

    fn row(&self, pc: u32) -> Option<usize> {
        decode::row(self, pc)
    }

    fn work(step: &Step) -> Work {
        match step.class {
            Class::Alu => Work::Compute,
            Class::Mul16 | Class::Mul32 => Work::Multiply,
            Class::Div => Work::Divide,
            Class::Load | Class::Literal => Work::Load,
            Class::Store => Work::Store,
            Class::Branch | Class::Jump | Class::JumpRegister | Class::ReturnWindow | Class::Loop => Work::Branch,
            Class::Entry | Class::Special | Class::Barrier | Class::Sync => Work::System,
            Class::ReturnException | Class::Window => Work::System,
            Class::Stop | Class::Pseudo => Work::Nothing,
        }
    }

    fn links(step: &Step) -> bool {
        matches!(step.op, op::Op::Call0 | op::Op::Callx0 | op::Op::Call | op::Op::Callx)
    }

    /// The boot ROM's code calls programs: no exception is under way, and nothing masks interrupts.
    fn continue_at(&mut self, pc: u32) {
        self.set_ps(ps::UM | if self.features.windowed() { ps::WOE } else { 0 });
        self.pc = pc;
    }

    /// ISA manual, 8.1: a2 to a7 of the callee, then the stack. With windows the call is a CALL8, and the program's own
    /// start-up code or [`Core::invoke`]'s caller sets VECBASE; else its handlers are looked for.
    fn invoke(&mut self, call: &Invocation) -> Result<(), String> {
        let (first, rest) = call.words(6);
        // with windows its caller's save area is above arguments: four registers beside the other four (4.7.1.5)
        let (top, area) = (call.stack & !15, if self.features.windowed() { 32 } else { 16 });
        let sp = top.wrapping_sub(4 * rest.len() as u32 + area) & !15;
        for (n, &value) in rest.iter().enumerate() {
            if !self.mem.ram_store::<4>(sp + 4 * n as u32, value as u32) {
                return Err("the stack is not in RAM".into());
            }
        }
        let mut back = call.back;
        let mut by = 0;
        if self.features.windowed() {
            by = 8;
            if !self.mem.ram_store::<4>(sp.wrapping_sub(12), top) {
                return Err("the stack is not in RAM".into());
            }
            back = back & 0x3FFF_FFFF | 2 << 30;
            self.set_window_start(1 << self.window_base);
            self.set_ps(ps::WOE | ps::UM | 2 << 16);
            if self.sr[usize::from(special::VECBASE)] == 0 {
                self.sr[usize::from(special::VECBASE)] = self.handlers().unwrap_or(0);
            }
        } else {
            self.set_ps(ps::UM);
        }
        self.a[SP] = sp;
        self.a[by] = back;
        for (n, &value) in first.iter().enumerate() {
            self.a[by + 2 + n] = value as u32;
        }
        self.pc = call.entry;
        Ok(())
    }

    fn returns_to(&self) -> u32 {
        let by = self.ps >> 16 & 3;
        if self.features.windowed() && by != 0 {
            return self.a[4 * by as usize] & 0x3FFF_FFFF | self.pc & 0xC000_0000;
        }
        self.a[0]
    }

    fn result(&self) -> u64 {
        let by = if self.features.windowed() { 8 } else { 0 };
        u64::from(self.a[by + 2]) | u64::from(self.a[by + 3]) << 32
    }

    fn vectors_at(&mut self, address: u32) {
        self.sr[usize::from(special::VECBASE)] = address;
    }

    fn registers(&self) -> Vec<u32> {
        let mut all = self.a[..16].to_vec();
        all.extend([self.sar, self.ps, self.pc]);
        all
    }

    /// With register windows a0 to a7 of the caller, which calls eight registers on; without, a12 to a15 (Xtensa ISA
    /// Reference Manual, 8.1).
    fn kept(&self) -> Vec<(&'static str, u64)> {
        let saved = if self.features.windowed() { 0..8 } else { 12..16 };
        saved.map(|n| (Self::REGISTERS[n], self.a[n].into())).collect()
    }

    fn hidden(&self) -> Vec<u32> {
        let loops = [self.lcount, self.lbeg, self.lend];
        let window = [self.window_base, self.window_start, self.thread, self.ccount];
        [&loops[..], &window, &self.sr, self.ar.as_flattened()].concat()
    }
}
