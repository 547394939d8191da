//! `mips-arm ELF`: runs a Cortex-M3 program until its breakpoint and tells the speed.

use isa::{Core as _, Machine};
use isa_thumb::Thumb;
use mcu::{Chip, FaultKind, Flash, Image, Memory, Region, Stop};
use timing::cortex_m3::CortexM3;

fn main() -> Result<(), String> {
    let path = std::env::args().nth(1).ok_or("mips-arm ELF [instructions]")?;
    let instructions: Option<f64> = std::env::args().nth(2).and_then(|n| n.parse().ok());
    let data = std::fs::read(&path).map_err(|e| format!("{path}: {e}"))?;
    let image = Image::parse(&data)?;
    let waits = Flash { wait_states: 2, line_bytes: 8, prefetch_lines: 2, data_wait_states: 2 };
    for (name, flash_timing) in [("no wait states", Flash::default()), ("two wait states", waits)] {
        let chip = Chip {
            core: "cortex-m3",
            clock_hz: 72_000_000,
            flash: Region { base: 0x0800_0000, size: 128 << 10 },
            flash_in_data: Some(0x0800_0000),
            ram: Region { base: 0x2000_0000, size: 64 << 10 },
            flash_timing,
            peripherals: Vec::new(),
        };
        let mut core = Thumb::new(Memory::new(&chip)?);
        core.events = CortexM3::events();
        let mut machine = Machine::new(core, CortexM3::new(flash_timing));
        machine.load(&image)?;
        let start = std::time::Instant::now();
        let stop = machine.run(u64::MAX / 2);
        let seconds = start.elapsed().as_secs_f64();
        if !matches!(stop, Stop::Fault(f) if f.kind == FaultKind::Trap) {
            return Err(format!("{stop:?}"));
        }
        let sum = u32::from_le_bytes(machine.core.memory().ram[..4].try_into().expect("four bytes"));
        print!(
            "{name}: {sum:08x}, {} cycles, {seconds:.3} s, {:.0} million cycles/s",
            machine.cycles,
            machine.cycles as f64 / seconds / 1e6
        );
        match instructions {
            Some(n) => println!(", {:.0} million instructions/s", n / seconds / 1e6),
            None => println!(),
        }
    }
    Ok(())
}
