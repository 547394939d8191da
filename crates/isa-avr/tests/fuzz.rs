//! Random flash content: only named faults come out, and blocks do what single steps do.

mod common;

use common::{Device, MEGA128, MEGA328P, MEGA4809};
use isa::{Core as _, Timing, blocks_agree};
use isa_avr::Avr;
use isa_avr::table::TABLE;
use random::Random;
use timing::avr::{AvrE, AvrXt};

/// Words of which most are instructions, and some of those short branches.
fn program(random: &mut Random) -> Vec<u16> {
    let mut word = || match random.below(8) {
        0 => random.word() as u16,
        1 => 0xF000 | random.word() as u16 & 0x07C7 | (random.word() as u16 & 0x38) >> 1,
        2 => 0xE0F0 | random.word() as u16 & 0x0F0F, // ldi r31, so that pointers meet RAM
        _ => {
            let row = &TABLE[random.below(TABLE.len() as u32) as usize].pattern;
            let up = row.bits - 16;
            (row.value >> up | random.word() & !(row.mask >> up)) as u16
        }
    };
    (0..0x4000).map(|_| word()).collect()
}

#[test]
fn blocks_and_steps_agree_until_the_first_fault() {
    agree(MEGA328P, AvrE, 150);
    agree(MEGA128, AvrE, 60);
    agree(MEGA4809, AvrXt, 60);
}

fn agree<T: Timing<Avr> + Copy>(device: Device, timing: T, rounds: usize) {
    let mut random = Random::new(0x5EED);
    let (mut faults, mut steps) = (0, 0);
    for _ in 0..rounds {
        let image = common::image(&program(&mut random));
        let (mut whole, mut single) = (device.machine(timing, &image), device.machine(timing, &image));
        let start = random.below(0x4000) * 2;
        for m in [&mut whole, &mut single] {
            // a jump somewhere, so that each round runs other code
            m.core.memory_mut().flash[..4].copy_from_slice(&[0x0C, 0x94, (start / 2) as u8, (start / 512) as u8]);
        }
        let (more, fault) = blocks_agree(&mut whole, &mut single, 3000);
        steps += more as usize;
        faults += usize::from(fault.is_some());
    }
    eprintln!("{}: {faults} faults, {steps} steps", device.name);
    assert!(faults > rounds / 3 && steps > 6 * rounds);
}

/// A pointer to SREG sees flags that the next instruction overwrites.
#[test]
fn sreg_is_exact_through_pointers() {
    let mut m = common::words(&[
        0xE5EF, // ldi r30, 0x5f
        0xE0F0, // ldi r31, 0
        0xEF0F, // ldi r16, 0xff
        0x0F00, // add r16, r16
        0x8110, // ld r17, Z
        0x2700, // eor r16, r16
        0x8320, // st Z, r18
        0x9508, // ret
    ]);
    m.run(1);
    let r = m.core.registers();
    assert_eq!((r[17], r[33]), (0x35, 0));
}

/// SP is whole only when its low byte is written.
#[test]
fn low_water_ignores_half_written_stack_pointers() {
    let mut m = common::words(&[
        0xE002, // ldi r16, 2
        0xEF1F, // ldi r17, 0xff
        0x931F, // push r17
        0xBF0E, // out SPH, r16: 0x2fe for a moment
        0xBF1D, // out SPL, r17: 0x2ff
        0x9508, // ret
    ]);
    m.run(1);
    assert_eq!(m.core.memory().sp_min, 0x2FF);
}
