//! Straight code takes as long for each instruction, however much of it there is.

use isa::{Machine, Timing};
use isa_thumb::{Features, Thumb};
use mcu::{Chip, Flash, Memory};
use timing::cortex_m3::CortexM3;
use timing::cortex_m3_sam3x::CortexM3Sam3x;
use timing::cortex_m4::CortexM4;

/// Cycles of a program that has `first`, then `n` times `one`.
fn cycles<T: Timing<Thumb>>(timing: T, flash_timing: Flash, first: &[u16], one: &[u16], n: usize) -> u64 {
    let chip = Chip { flash_timing, ..Chip::of_memories((0, 0x8000), (0x2000_0000, 0x1000)) };
    let mut memory = Memory::new(&chip).expect("the chip is possible");
    let mut code = vec![0x1000, 0x2000, 65, 0]; // the program begins at 64
    code.resize(32, 0);
    code.extend([0x2120, 0x0609]); // movs r1, #0x20; lsls r1, r1, #24: RAM
    code.extend(first.iter().copied().chain(one.repeat(n)).chain([0xBE00]));
    for (k, half) in code.into_iter().enumerate() {
        memory.flash[2 * k..2 * k + 2].copy_from_slice(&half.to_le_bytes());
    }
    let mut m = Machine::new(Thumb::with_features(memory, Features::CORTEX_M4), timing);
    m.run(1 << 20);
    m.cycles
}

fn grows_evenly<T: Timing<Thumb>>(timing: impl Fn(Flash) -> T, flash: Flash) {
    let (narrow, odd): (&[u16], &[u16]) = (&[0x46C0, 0x46C0], &[0x46C0]);
    for (what, first, one) in [
        ("adds r2, r2, r3", narrow, &[0x18D2][..]),
        ("add.w r2, r2, r3", narrow, &[0xEB02, 0x0203]),
        ("add.w r2, r2, r3 across words", odd, &[0xEB02, 0x0203]),
        ("ldr r2, [r1]", narrow, &[0x680A]),
        ("ldr.w r2, [r1] across words", odd, &[0xF8D1, 0x2000]),
        ("str.w r2, [r1] across words", odd, &[0xF8C1, 0x2000]),
        ("ldr r2, [r1]; adds r3, r3, r3", narrow, &[0x680A, 0x18DB]),
    ] {
        let of = |n| cycles(timing(flash), flash, first, one, n);
        let (few, many) = (of(96) - of(32), of(1056) - of(32));
        assert_eq!(16 * few, many, "{what}: cycles of 64, 16 times, and of 1024");
    }
}

#[test]
fn straight_code_has_no_seams() {
    let none = Flash::default();
    let stm32f1 = Flash { wait_states: 2, line_bytes: 8, prefetch_lines: 2, data_wait_states: 2, ..none };
    let nrf52 = Flash { wait_states: 3, line_bytes: 16, cache_lines: 128, queue_words: 2, data_wait_states: 1, ..none };
    grows_evenly(CortexM3::new, none);
    grows_evenly(CortexM3::new, stm32f1);
    grows_evenly(|_| CortexM3Sam3x::default(), none);
    grows_evenly(CortexM4::new, none);
    grows_evenly(CortexM4::new, nrf52);
}
