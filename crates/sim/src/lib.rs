//! Simulates whole chips: one interface to a core, its timing model and its memory.

mod family;
pub mod foreign;

pub use isa::{Invocation, Profile, Share, Shares, Span};
pub use isa_riscv::csr_name;

use isa::native::Lower;
use isa::{Core, Machine, Timing, Work};
use isa_avr::{AVR5, AVR25, AVR51, AVRXMEGA3, Avr};
use isa_msp430::Msp430;
use isa_riscv::{Features as RiscvFeatures, Riscv};
use isa_thumb::{Events, Features, Thumb};
use isa_xtensa::Xtensa;
use mcu::{Chip, Harness, Image, Memory, Stop};
use timing::avr::{AvrE, AvrXt};
use timing::cortex_m0plus::CortexM0Plus;
use timing::cortex_m3::CortexM3;
use timing::cortex_m3_sam3x::CortexM3Sam3x;
use timing::cortex_m4::CortexM4;
use timing::cortex_m7::CortexM7;
use timing::msp430::Msp430F1;
use timing::rv32_bumblebee::Bumblebee;
use timing::rv32_esp32c3::Esp32C3;
use timing::rv32_qingke_v2::QingKeV2;
use timing::rv64_rocket::Rocket;
use timing::xtensa_lx6::Lx6;
use timing::xtensa_lx106::Lx106;

/// A chip that runs firmware.
pub trait Simulator: Send + Sync {
    /// Programs the flash and resets.
    ///
    /// # Errors
    /// A sentence when the image does not fit.
    fn load(&mut self, image: &Image) -> Result<(), String>;
    /// Resets the chip; RAM keeps its content.
    fn reset(&mut self);
    /// Runs at most `budget` cycles.
    fn run(&mut self, budget: u64) -> Stop;
    /// Runs one instruction.
    fn step(&mut self) -> Stop;
    /// From now on, runs instruction by instruction, or in blocks again.
    fn single_step(&mut self, on: bool);
    /// From now on the timing model will forget what runs, or forgets it: later calls take as long as without it.
    fn set_aside(&mut self, on: bool);
    /// Starts to sum up cycles by function, or stops and returns the call tree.
    fn set_profile(&mut self, profile: Option<Profile>) -> Option<Profile>;
    /// Whether the profile is of all cycles, or of those between the trigger's edges.
    fn profile_whole(&mut self, on: bool);
    /// Starts to sum up cycles between the trigger's edges by cause, or stops and returns them.
    fn set_shares(&mut self, on: bool) -> Option<Shares>;
    /// Runs at most `budget` cycles, until the program comes to one of `places`; whether it did.
    fn run_until(&mut self, budget: u64, places: &[u32]) -> (Stop, bool);
    /// See [`isa::Machine::turned`].
    fn turned(&mut self) -> bool;
    /// See [`isa::Core::continue_at`].
    fn continue_at(&mut self, pc: u32);
    /// See [`isa::Core::invoke`].
    ///
    /// # Errors
    /// A sentence.
    fn invoke(&mut self, call: &Invocation) -> Result<(), String>;
    /// See [`isa::Core::vectors_at`].
    fn vectors_at(&mut self, address: u32);
    /// See [`isa::Core::returns_to`].
    fn returns_to(&self) -> u32;
    /// See [`isa::Core::windowed`].
    fn windowed(&self) -> bool;
    /// See [`isa::Core::result`].
    fn result(&self) -> u64;
    /// See [`isa::Core::allowed_interrupts`].
    fn allowed_interrupts(&self) -> bool;
    /// Program counter and stack pointer.
    fn place(&self) -> (u32, u32);
    /// Cycles since reset.
    fn cycles(&self) -> u64;
    /// Identity of the timing model.
    fn timing_id(&self) -> &'static str;
    /// Memory and peripherals.
    fn memory(&self) -> &Memory;
    /// Memory and peripherals.
    fn memory_mut(&mut self) -> &mut Memory;
    /// The instruction that led out of flash, when the program continued outside it.
    fn left_flash(&self) -> Option<u32>;
    /// Names and values of the registers.
    fn registers(&self) -> Vec<(&'static str, u32)>;
    /// See [`isa::Core::hidden`].
    fn hidden(&self) -> Vec<u32>;
    /// Sets the registers, in the order of [`Simulator::registers`], and lets a crashed program go on; false where the
    /// core has no debug port.
    fn set_registers(&mut self, values: &[u32]) -> bool;
    /// Assembly text at `pc` and its length in bytes.
    fn disassemble(&self, pc: u32) -> (String, u32);
    /// The address after the instruction at `pc`, or after its IT block, if one of them may branch, jump or skip.
    fn after_branch(&self, pc: u32) -> Option<u32>;
    /// The address after the instruction at `pc`, if that is a call.
    fn after_call(&self, pc: u32) -> Option<u32>;
}

impl<C: Core, T: Timing<C>> Simulator for Machine<C, T> {
    fn load(&mut self, image: &Image) -> Result<(), String> {
        Machine::load(self, image)?;
        let width = C::POINTER_BYTES;
        // avr-gcc puts RAM at 0x800000 in its address space
        let mask = if width == 2 { 0xFFFF } else { u32::MAX };
        let windowed = self.core.windowed();
        let m = self.core.memory_mut();
        m.limit_pointer = image.address("sy_stack_limit").map(|a| (a & mask, width));
        m.look_after(Harness::find(image, mask, C::STACK_EMPTY, windowed));
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

    fn set_aside(&mut self, on: bool) {
        Machine::set_aside(self, on);
    }

    fn set_profile(&mut self, profile: Option<Profile>) -> Option<Profile> {
        std::mem::replace(&mut self.profile, profile)
    }

    fn profile_whole(&mut self, on: bool) {
        self.whole = on;
    }

    fn set_shares(&mut self, on: bool) -> Option<Shares> {
        Machine::set_shares(self, on)
    }

    fn run_until(&mut self, budget: u64, places: &[u32]) -> (Stop, bool) {
        Machine::run_until(self, budget, places)
    }

    fn turned(&mut self) -> bool {
        Machine::turned(self)
    }

    fn continue_at(&mut self, pc: u32) {
        self.core.memory_mut().stop = None;
        self.core.continue_at(pc);
    }

    fn invoke(&mut self, call: &Invocation) -> Result<(), String> {
        self.core.memory_mut().stop = None;
        self.core.invoke(call)
    }

    fn vectors_at(&mut self, address: u32) {
        self.core.vectors_at(address);
    }

    fn returns_to(&self) -> u32 {
        self.core.returns_to()
    }

    fn windowed(&self) -> bool {
        self.core.windowed()
    }

    fn result(&self) -> u64 {
        self.core.result()
    }

    fn allowed_interrupts(&self) -> bool {
        self.core.allowed_interrupts()
    }

    fn place(&self) -> (u32, u32) {
        (self.core.pc(), self.core.stack_pointer())
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

    fn left_flash(&self) -> Option<u32> {
        Machine::left_flash(self)
    }

    fn registers(&self) -> Vec<(&'static str, u32)> {
        C::REGISTERS.iter().copied().zip(self.core.registers()).collect()
    }

    fn hidden(&self) -> Vec<u32> {
        self.core.hidden()
    }

    fn set_registers(&mut self, values: &[u32]) -> bool {
        self.core.memory_mut().stop = None;
        self.core.set_registers(values)
    }

    fn disassemble(&self, pc: u32) -> (String, u32) {
        self.core.disassemble(pc)
    }

    fn after_call(&self, pc: u32) -> Option<u32> {
        let run = self.core.decode(pc, 1);
        run.steps.iter().any(C::links).then_some(run.end)
    }

    fn after_branch(&self, pc: u32) -> Option<u32> {
        let run = self.core.decode(pc, 1);
        run.steps.iter().any(|s| C::work(s) == Work::Branch).then_some(run.end)
    }
}

/// The cores that [`simulator`] supports.
pub const CORES: [&str; 16] = [
    "avr25",
    "avr5",
    "avr51",
    "avrxmega3",
    "cortex-m0plus",
    "cortex-m3",
    "cortex-m3-sam3x",
    "cortex-m4",
    "cortex-m7",
    "msp430",
    "rv32-bumblebee",
    "rv32-esp32c3",
    "rv32-qingke-v2",
    "rv64-rocket",
    "xtensa-lx106",
    "xtensa-lx6",
];

/// A simulator for `chip`, flash erased.
///
/// # Errors
/// A sentence that names the unknown core or the defect of the description.
pub fn simulator(chip: &Chip<'_>) -> Result<Box<dyn Simulator>, String> {
    let memory = Memory::new(chip)?;
    if let Some(number) = unread(chip) {
        return Err(format!("flash_timing.{number}: not read by the model of {}, so leave it out", chip.core));
    }
    Ok(match chip.core {
        "avr25" => translated(Avr::new(AVR25, memory), AvrE),
        "avr5" => translated(Avr::new(AVR5, memory), AvrE),
        "avr51" => translated(Avr::new(AVR51, memory), AvrE),
        "avrxmega3" => translated(Avr::new(AVRXMEGA3, memory), AvrXt),
        "cortex-m0plus" => {
            thumb(memory, Features::CORTEX_M0PLUS, CortexM0Plus::events(), CortexM0Plus::new(chip.flash_timing))
        }
        "cortex-m3" => thumb(memory, Features::CORTEX_M3, CortexM3::events(), CortexM3::new(chip.flash_timing)),
        "cortex-m3-sam3x" => thumb(memory, Features::CORTEX_M3, CortexM3Sam3x::events(), CortexM3Sam3x::default()),
        "cortex-m4" => thumb(memory, Features::CORTEX_M4, CortexM4::events(), CortexM4::new(chip.flash_timing)),
        "cortex-m7" => thumb(memory, Features::CORTEX_M4, CortexM7::events(), CortexM7::new(chip.flash_timing)),
        "msp430" => Box::new(Machine::new(Msp430::new(memory), Msp430F1)),
        "rv32-bumblebee" => {
            let mut core = Riscv::<u32>::new(memory);
            core.events = Bumblebee::events();
            translated(core, Bumblebee::default())
        }
        "rv32-esp32c3" => {
            let mut core = Riscv::<u32>::with_features(memory, RiscvFeatures::ESP32C3);
            core.events = Esp32C3::events();
            translated(core, Esp32C3)
        }
        "rv32-qingke-v2" => {
            let mut core = Riscv::<u32>::with_features(memory, RiscvFeatures::QINGKE_V2A);
            core.events = QingKeV2::events();
            translated(core, QingKeV2)
        }
        "rv64-rocket" => {
            let mut core = Riscv::<u64>::new(memory);
            core.events = Rocket::events();
            translated(core, Rocket::default())
        }
        "xtensa-lx106" => xtensa(memory, isa_xtensa::Features::LX106, Lx106::events(), Lx106::new(chip.flash_timing)),
        "xtensa-lx6" => xtensa(memory, isa_xtensa::Features::LX6, Lx6::events(), Lx6),
        other => return Err(format!("core: unknown core {other:?}; known: {}", CORES.join(", "))),
    })
}

/// The first number of a chip's flash that is given and that its core's timing model does not read. Data reads wait on
/// every core.
fn unread(chip: &Chip<'_>) -> Option<&'static str> {
    let flash = chip.flash_timing;
    let fronts = ["cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m7"];
    let front = fronts.contains(&chip.core);
    let m7 = chip.core == "cortex-m7";
    let cached = front && flash.cache_lines != 0;
    [
        ("wait_states", flash.wait_states, front && flash.line_bytes != 0),
        ("line_bytes", flash.line_bytes, front),
        ("cache_lines", flash.cache_lines, front),
        ("prefetch_lines", flash.prefetch_lines, front && (m7 || !cached)),
        ("queue_words", flash.queue_words, cached && !m7),
    ]
    .into_iter()
    .find_map(|(name, given, read)| (given != 0 && !read).then_some(name))
}

/// An Arm core with a timing model and its costs that depend on operand values.
fn thumb(
    memory: Memory,
    features: Features,
    events: Events,
    timing: impl Timing<Thumb> + 'static,
) -> Box<dyn Simulator> {
    let mut core = Thumb::with_features(memory, features);
    core.events = events;
    translated(core, timing)
}

/// A machine whose blocks become native code when they run often.
fn translated<C: Lower + 'static, T: Timing<C> + 'static>(core: C, timing: T) -> Box<dyn Simulator> {
    Box::new(Machine::new(core, timing).with_translator(translate::translator(), None))
}

/// An Xtensa core with a timing model; execution starts at the first byte of code memory.
fn xtensa(
    memory: Memory,
    features: isa_xtensa::Features,
    events: isa_xtensa::Events,
    timing: impl Timing<Xtensa> + 'static,
) -> Box<dyn Simulator> {
    let entry = memory.flash_base;
    let mut core = Xtensa::new(memory, features, entry);
    core.events = events;
    translated(core, timing)
}
