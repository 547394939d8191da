//! `mips-arm ELF [instructions]`: runs a program at 0x08000000 until its breakpoint on each core that has
//! its instructions, and tells the speed.

use isa::{Core as _, Machine, Timing};
use isa_thumb::{Events, Features, Thumb};
use mcu::{Chip, FaultKind, Flash, Image, Memory, Region, Stop};
use timing::cortex_m0plus::CortexM0Plus;
use timing::cortex_m3::CortexM3;
use timing::cortex_m4::CortexM4;
use timing::cortex_m7::CortexM7;

fn main() -> Result<(), String> {
    let path = std::env::args().nth(1).ok_or("mips-arm ELF [instructions]")?;
    let instructions: Option<f64> = std::env::args().nth(2).and_then(|n| n.parse().ok());
    let data = std::fs::read(&path).map_err(|e| format!("{path}: {e}"))?;
    let image = Image::parse(&data)?;
    let run = Run { image, instructions };
    let none = Flash::default();
    let prefetch = Flash { wait_states: 2, line_bytes: 8, prefetch_lines: 2, data_wait_states: 2, ..none };
    let small = Flash { wait_states: 1, line_bytes: 8, cache_lines: 8, data_wait_states: 1, ..none };
    let large = Flash { wait_states: 3, line_bytes: 16, cache_lines: 128, branch_overlap: 1, ahead_bytes: 2, ..none };
    let art = Flash { wait_states: 7, line_bytes: 32, cache_lines: 64, prefetch_lines: 1, ..none };
    run.on("M3, no wait states", Features::CORTEX_M3, CortexM3::events(), CortexM3::new(none))?;
    run.on("M3, two wait states", Features::CORTEX_M3, CortexM3::events(), CortexM3::new(prefetch))?;
    run.on("M4, cache of 2 KB", Features::CORTEX_M4, CortexM4::events(), CortexM4::new(large))?;
    run.on("M7, ART", Features::CORTEX_M4, CortexM7::events(), CortexM7::new(art))?;
    run.on("M0+, cache of 64 bytes", Features::CORTEX_M0PLUS, CortexM0Plus::events(), CortexM0Plus::new(small))
}

struct Run {
    image: Image,
    instructions: Option<f64>,
}

impl Run {
    fn on(&self, name: &str, features: Features, events: Events, timing: impl Timing<Thumb>) -> Result<(), String> {
        let chip = Chip {
            core: "cortex-m3",
            clock_hz: 72_000_000,
            flash: Region { base: 0x0800_0000, size: 128 << 10 },
            flash_in_data: Some(0x0800_0000),
            ram: Region { base: 0x2000_0000, size: 64 << 10 },
            flash_timing: Flash::default(),
            peripherals: Vec::new(),
        };
        let mut core = Thumb::with_features(Memory::new(&chip)?, features);
        core.events = events;
        let mut machine = Machine::new(core, timing);
        machine.load(&self.image)?;
        let start = std::time::Instant::now();
        let stop = machine.run(u64::MAX / 2);
        let seconds = start.elapsed().as_secs_f64();
        match stop {
            Stop::Fault(f) if f.kind == FaultKind::Trap => {}
            Stop::Fault(f) if matches!(f.kind, FaultKind::BadOpcode { .. }) => {
                println!("{name}: no such instruction");
                return Ok(());
            }
            other => return Err(format!("{name}: {other:?}")),
        }
        let sum = u32::from_le_bytes(machine.core.memory().ram[..4].try_into().expect("four bytes"));
        let rate = machine.cycles as f64 / seconds / 1e6;
        print!("{name}: {sum:08x}, {} cycles, {seconds:.3} s, {rate:.0} million cycles/s", machine.cycles);
        match self.instructions {
            Some(n) => println!(", {:.0} million instructions/s", n / seconds / 1e6),
            None => println!(),
        }
        Ok(())
    }
}
