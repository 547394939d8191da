//! A chip as data: the `[chip]` table of a target's TOML. This is its only definition; Python asks for the checked table.

use serde::{Deserialize, Serialize};

/// A span of addresses.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// First address (flash: in the program space, bytes).
    pub base: u32,
    /// Bytes.
    pub size: u32,
}

/// Flash timing as the chip's manual gives it; the model that uses it is in crate `timing`.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Flash {
    /// Extra cycles of a fetch that no buffer holds.
    pub wait_states: u32,
    /// Bytes that one flash access brings; 0 where fetches never wait.
    pub line_bytes: u32,
    /// Prefetch buffers of one line each that follow sequential fetches.
    pub prefetch_lines: u32,
    /// Extra cycles of a data read from flash.
    pub data_wait_states: u32,
    /// Lines of a cache of fetches, a power of two; 0 where there is none.
    pub cache_lines: u32,
    /// Words of code that the core holds at most, with the one that it executes: while it works on these, it fetches the
    /// next line of a cache; 0 where it waits for the whole of a miss.
    pub queue_words: u32,
}

impl Flash {
    /// What no flash has; an empty text where all is possible.
    fn impossible(&self) -> &'static str {
        let cycles = [self.wait_states, self.data_wait_states];
        if cycles.iter().any(|c| *c > 255) {
            "flash_timing: more than 255 cycles of waiting"
        } else if self.line_bytes > 4096 || !(self.line_bytes == 0 || self.line_bytes.is_power_of_two()) {
            "flash_timing.line_bytes: not a power of two up to 4096"
        } else if self.cache_lines > 4096 || !(self.cache_lines == 0 || self.cache_lines.is_power_of_two()) {
            "flash_timing.cache_lines: not a power of two up to 4096"
        } else if self.line_bytes == 0 && (self.cache_lines != 0 || self.prefetch_lines != 0) {
            "flash_timing.line_bytes: missing, and its lines are counted"
        } else if self.prefetch_lines > 255 || self.queue_words == 1 || self.queue_words > 16 {
            "flash_timing: more prefetched than any flash does"
        } else {
            ""
        }
    }
}

/// One peripheral: its kind names the model in `periph`, the rest are that model's parameters.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PeripheralConfig<'a> {
    /// Model name, such as `avr-usart`.
    pub kind: &'a str,
    /// First address of its registers.
    pub base: u32,
    /// The trigger's bit number, for the port that drives the trigger pin.
    #[serde(default)]
    pub trigger_bit: Option<u8>,
}

/// Everything about a chip that simulation needs.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Chip<'a> {
    /// Core name, such as `avr5` or `cortex-m3`: selects instruction set and timing model.
    pub core: &'a str,
    /// Core clock in Hz.
    pub clock_hz: u32,
    /// Program memory.
    pub flash: Region,
    /// Where flash appears in the data space; absent where only special instructions read it.
    #[serde(default)]
    pub flash_in_data: Option<u32>,
    /// Static RAM.
    pub ram: Region,
    /// Flash timing.
    #[serde(default)]
    pub flash_timing: Flash,
    /// Whether each bit of the first MiB of RAM's and of the peripherals' addresses has an address of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bit_band: bool,
    /// Peripherals that firmware touches.
    #[serde(borrow)]
    pub peripherals: Vec<PeripheralConfig<'a>>,
}

impl Chip<'_> {
    /// A chip of memories alone, for tests and oracles: base and size of flash, which loads read too, and of RAM.
    pub fn of_memories(flash: (u32, u32), ram: (u32, u32)) -> Self {
        let region = |(base, size)| Region { base, size };
        Self {
            core: "",
            clock_hz: 1_000_000,
            flash: region(flash),
            flash_in_data: Some(flash.0),
            ram: region(ram),
            flash_timing: Flash::default(),
            bit_band: false,
            peripherals: Vec::new(),
        }
    }

    /// Whether such a chip is possible; its core and peripherals are looked up where they are made.
    ///
    /// # Errors
    /// The key and a sentence.
    pub(crate) fn possible(&self) -> Result<(), String> {
        if self.clock_hz == 0 {
            return Err("clock_hz: 0 Hz".to_owned());
        }
        for (name, r) in [("flash", self.flash), ("ram", self.ram)] {
            if r.size == 0 || r.size > 64 << 20 || r.base.checked_add(r.size).is_none() {
                return Err(format!("{name}: a region of {} bytes at {:#x} is impossible", r.size, r.base));
            }
        }
        match self.flash_timing.impossible() {
            "" => Ok(()),
            said => Err(said.to_owned()),
        }
    }
}
