//! Whole chips: a core, its timing model and its memory behind one interface.

pub use isa::{Profile, Span};

use isa::{Core, Machine, Timing};
use isa_avr::Avr;
use isa_thumb::Thumb;
use mcu::{Chip, Image, Memory, Stop};
use timing::avr::AvrE;
use timing::cortex_m3::CortexM3;

/// A chip that runs firmware.
pub trait Simulator: Send + Sync {
    /// Programs the flash and resets.
    ///
    /// # Errors
    /// A sentence when the image does not fit.
    fn load(&mut self, image: &Image) -> Result<(), String>;
    /// As after power-on, RAM content kept.
    fn reset(&mut self);
    /// Runs at most `budget` cycles.
    fn run(&mut self, budget: u64) -> Stop;
    /// Runs one instruction.
    fn step(&mut self) -> Stop;
    /// Goes instruction by instruction, or in blocks again.
    fn single_step(&mut self, on: bool);
    /// Starts to sum up cycles by function, or stops and gives the tree that there was.
    fn set_profile(&mut self, profile: Option<Profile>) -> Option<Profile>;
    /// Cycles since reset.
    fn cycles(&self) -> u64;
    /// Identity of the timing model.
    fn timing_id(&self) -> &'static str;
    /// Memory and peripherals.
    fn memory(&self) -> &Memory;
    /// Memory and peripherals.
    fn memory_mut(&mut self) -> &mut Memory;
    /// Names and values of the registers.
    fn registers(&self) -> Vec<(&'static str, u32)>;
    /// Assembly text at `pc` and its length in bytes.
    fn disassemble(&self, pc: u32) -> (String, u32);
}

impl<C: Core, T: Timing<C>> Simulator for Machine<C, T> {
    fn load(&mut self, image: &Image) -> Result<(), String> {
        Machine::load(self, image)?;
        let width = C::POINTER_BYTES;
        // avr-gcc puts RAM at 0x800000 in its address space
        let mask = if width == 2 { 0xFFFF } else { u32::MAX };
        self.core.memory_mut().limit_pointer = image.address("sy_stack_limit").map(|a| (a & mask, width));
        Ok(())
    }

    fn reset(&mut self) {
        Machine::reset(self);
    }

    fn run(&mut self, budget: u64) -> Stop {
        Machine::run(self, budget)
    }

    fn step(&mut self) -> Stop {
        Machine::step(self)
    }

    fn single_step(&mut self, on: bool) {
        Machine::single_step(self, on);
    }

    fn set_profile(&mut self, profile: Option<Profile>) -> Option<Profile> {
        std::mem::replace(&mut self.profile, profile)
    }

    fn cycles(&self) -> u64 {
        self.cycles
    }

    fn timing_id(&self) -> &'static str {
        Machine::timing_id(self)
    }

    fn memory(&self) -> &Memory {
        self.core.memory()
    }

    fn memory_mut(&mut self) -> &mut Memory {
        self.core.memory_mut()
    }

    fn registers(&self) -> Vec<(&'static str, u32)> {
        C::REGISTERS.iter().copied().zip(self.core.registers()).collect()
    }

    fn disassemble(&self, pc: u32) -> (String, u32) {
        self.core.disassemble(pc)
    }
}

/// Cores that [`simulator`] knows.
pub const CORES: [&str; 2] = ["avr5", "cortex-m3"];

/// A simulator for `chip`, flash erased.
///
/// # Errors
/// A sentence that names the unknown core or the defect of the description.
pub fn simulator(chip: &Chip<'_>) -> Result<Box<dyn Simulator>, String> {
    let memory = Memory::new(chip)?;
    Ok(match chip.core {
        "avr5" => Box::new(Machine::new(Avr::new(memory), AvrE)),
        "cortex-m3" => {
            let model = CortexM3::new(chip.flash_timing);
            let mut core = Thumb::new(memory);
            core.events = CortexM3::events();
            Box::new(Machine::new(core, model))
        }
        other => return Err(format!("unknown core {other:?}; known: {}", CORES.join(", "))),
    })
}
