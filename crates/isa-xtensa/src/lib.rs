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

use isa::{Core, Run, TableRow};
use mcu::Memory;

pub use features::Features;
pub use state::{Events, Xtensa};
pub use step::{Class, Step};

use state::SP;

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

    fn split(&mut self) -> Option<u32> {
        self.new_end.take()
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

    fn registers(&self) -> Vec<u32> {
        let mut all = self.a[..16].to_vec();
        all.extend([self.sar, self.ps, self.pc]);
        all
    }
}
