//! The cores against each other: the same random code gives the same results on all of them, each at
//! the cycles that the instruction set manual gives its core.

mod common;

use random::Random;
use std::collections::BTreeMap;

use common::{Device, MEGA128, MEGA328P, MEGA4809};
use isa::{Core as _, Machine, Timing};
use isa_avr::table::TABLE;
use isa_avr::{AVR25, AVRXMEGA3, Avr};
use mcu::{FaultKind, Stop};
use timing::avr::{AvrE, AvrXt};

/// Cycles as the tables "Cycles" of the AVR Instruction Set Manual (DS40002198, chapter 6) give them to
/// AVRe and AVRxt with a 16-bit program counter and internal RAM. Branches and skips: not taken.
const CYCLES: &[(&str, u32, u32)] = &[
    ("add adc sub subi sbc sbci and andi or ori eor com neg inc dec", 1, 1),
    ("cp cpc cpi lsr ror asr swap bst bld mov movw ldi in out nop wdr", 1, 1),
    ("sec clc sen cln sez clz sei cli ses cls sev clv set clt seh clh", 1, 1),
    ("brcs breq brmi brvs brlt brhs brts brie brcc brne brpl brvc brge brhc brtc brid", 1, 1),
    ("cpse sbrc sbrs sbic sbis", 1, 1),
    ("adiw sbiw mul muls mulsu fmul fmuls fmulsu", 2, 2),
    ("rjmp ijmp pop ld ldd sts", 2, 2),
    ("jmp lpm", 3, 3),
    ("ret reti", 4, 4),
    ("st std push sbi cbi", 2, 1),
    ("rcall icall", 3, 2),
    ("lds", 2, 3),
    ("call", 4, 3),
];

/// A fictitious chip: the core of the ATmega4809 in the memories of the ATmega328P, with its
/// port at the same I/O addresses, so that one program suits both.
const TWIN: Device = Device { core: AVRXMEGA3, port: ("avr-port", 0x03), ..MEGA328P };

fn cycles(name: &str) -> (u32, u32) {
    let mut rows = CYCLES.iter().filter(|(names, ..)| names.split(' ').any(|n| n == name));
    let (_, e, xt) = rows.next().unwrap_or_else(|| panic!("the table has no {name}"));
    assert!(rows.next().is_none(), "{name} is in the table once");
    (*e, *xt)
}

/// Words that are instructions, whose pointers mostly meet RAM and whose jumps mostly stay inside.
fn program(random: &mut Random) -> Vec<u16> {
    const WORDS: u32 = 0x400;
    let mut words = vec![0xE0B2, 0xE0D2, 0xE0F2]; // ldi r27, 2; ldi r29, 2; ldi r31, 2
    while words.len() < WORDS as usize {
        let [high, low] = [random.word() as u16, random.word() as u16];
        match random.below(8) {
            0 => words.push(0xF000 | high & 0x07C7 | (low & 0x38) >> 1), // a short branch
            1 => words.push([0xE0B0, 0xE0D0, 0xE0F0][usize::from(low % 3)] + 2 + high % 3),
            _ => {
                let row = &TABLE[random.below(TABLE.len() as u32) as usize];
                let up = row.pattern.bits - 16;
                match row.name() {
                    "jmp" | "call" => words.extend([(row.pattern.value >> up) as u16, random.below(WORDS) as u16]),
                    "lds" | "sts" => {
                        let first = (row.pattern.value >> up) as u16 | high & !(row.pattern.mask >> up) as u16;
                        words.extend([first, 0x100 + low % 0x800]);
                    }
                    _ => words.push((row.pattern.value | u32::from(high) & !row.pattern.mask) as u16),
                }
            }
        }
    }
    words
}

/// Data address that the instruction `text` starts to access; none when it accesses none.
fn address(text: &str, registers: &[u32]) -> Option<u32> {
    let pair = |low: usize| registers[low] | registers[low + 1] << 8;
    let (name, operands) = text.split_once(' ').unwrap_or((text, ""));
    let place = operands.split(", ").find(|o| o.contains(['X', 'Y', 'Z']));
    Some(match (name, place) {
        ("lds" | "sts", _) => {
            let number = operands.split(", ").find_map(|o| o.strip_prefix("0x")).expect("an address");
            u32::from_str_radix(number, 16).expect("a number")
        }
        ("ld" | "ldd" | "st" | "std", Some(place)) => {
            let base = pair(if place.contains('X') {
                26
            } else if place.contains('Y') {
                28
            } else {
                30
            });
            let displacement = place.split_once('+').and_then(|(_, d)| d.parse().ok()).unwrap_or(0);
            (base + displacement).wrapping_sub(u32::from(place.starts_with('-'))) & 0xFFFF
        }
        ("push" | "call" | "rcall" | "icall", _) => registers[32].wrapping_sub(1) & 0xFFFF,
        ("pop" | "ret" | "reti", _) => (registers[32] + 1) & 0xFFFF,
        _ => return None,
    })
}

/// One step: cycles, and the fault if there was one.
fn step<T: Timing<Avr>>(m: &mut Machine<Avr, T>) -> (u64, Option<FaultKind>) {
    let before = m.cycles;
    let fault = m.step().fault();
    (m.cycles - before, fault.map(|f| f.kind))
}

#[test]
fn random_code_does_the_same_on_all_cores_in_the_manuals_cycles() {
    let mut random = Random::new(0xA7E);
    let mut seen = BTreeMap::<String, u32>::new();
    for round in 0..1500 {
        let image = common::image(&program(&mut random));
        let (mut e, mut xt) = (MEGA328P.machine(AvrE, &image), TWIN.machine(AvrXt, &image));
        for _ in 0..200 {
            let (pc, registers) = (e.core.pc(), e.core.registers());
            let (text, bytes) = e.core.disassemble(pc);
            let behind = e.core.disassemble(pc.wrapping_add(bytes)).1;
            let ((cycles_e, fault_e), (cycles_xt, fault_xt)) = (step(&mut e), step(&mut xt));
            if address(&text, &registers).is_some_and(|a| !(0x60..0x4000).contains(&a)) {
                break; // register file, I/O and flash are elsewhere on the other core
            }
            let io = |fault| matches!(fault, Some(FaultKind::OutOfRange { address, .. }) if address < 0x60);
            if io(fault_e) && io(fault_xt) {
                break; // no register at the same I/O address
            }
            assert_eq!(fault_e, fault_xt, "round {round}: {text} at {pc:#x}");
            assert_eq!(e.core.registers(), xt.core.registers(), "round {round}: {text} at {pc:#x}");
            if fault_e.is_some() {
                break;
            }
            let name = text.split(' ').next().unwrap_or_default();
            if name.starts_with("br") && text.ends_with(&format!(" {:#04x}", pc + bytes)) {
                continue; // taken or not, execution continues after it
            }
            let skip = matches!(name, "cpse" | "sbrc" | "sbrs" | "sbic" | "sbis");
            let taken = match () {
                () if e.core.pc() == pc + bytes => 0,
                () if skip => behind / 2,
                () => u32::from(name.starts_with("br")),
            };
            let of_manual = cycles(name);
            let measured = (cycles_e, cycles_xt);
            let expected = (u64::from(of_manual.0 + taken), u64::from(of_manual.1 + taken));
            assert_eq!(measured, expected, "{text} at {pc:#x}: cycles of AVRe and AVRxt");
            *seen.entry(name.to_owned()).or_default() += 1;
        }
    }
    let missing: Vec<_> = CYCLES.iter().flat_map(|(n, ..)| n.split(' ')).filter(|n| !seen.contains_key(*n)).collect();
    eprintln!("{} instructions, {} mnemonics", seen.values().sum::<u32>(), seen.len());
    assert!(missing.is_empty(), "never executed: {missing:?}");
}

/// The I/O space of the ATmega4809: registers are not in the data space, the pointer and flags are.
#[test]
fn io_starts_at_zero_where_the_core_has_it_so() {
    let mut m = MEGA4809.machine(
        AvrXt,
        &common::image(&[
            0xE3EF, // ldi r30, 0x3f
            0xE0F0, // ldi r31, 0
            0xEF0F, // ldi r16, 0xff
            0x0F00, // add r16, r16
            0x8110, // ld r17, Z: SREG
            0xE0E6, // ldi r30, 6, where VPORTB.IN is
            0x9A20, // sbi VPORTB.DIR, 0
            0x9A28, // sbi VPORTB.OUT, 0
            0x8120, // ld r18, Z
            0xB73D, // in r19, SPL
            0xB74E, // in r20, SPH
            0x9588, // sleep
        ]),
    );
    m.run(100);
    let r = m.core.registers();
    assert_eq!((r[17], r[18], r[19], r[20]), (0x35, 1, 0xFF, 0x3F));
}

/// Constants of the ATmega4809 are read where they are in flash, at one cycle more.
#[test]
fn loads_from_flash_wait() {
    let words = [
        0xE0E0, // ldi r30, 0
        0xE4F0, // ldi r31, 0x40
        0x8101, // ldd r16, Z+1
        0x9110, 0x4001, // lds r17, 0x4001
        0x9124, // lpm r18, Z
        0x9588, // sleep
    ];
    let mut m = MEGA4809.machine(AvrXt, &common::image(&words));
    let costs: Vec<u64> = (0..5).map(|_| step(&mut m).0).collect();
    assert_eq!(costs, [1, 1, 3, 4, 3]);
    assert_eq!(m.core.registers()[16..18], [0xE0, 0xE0]);
    let mut store = MEGA4809.machine(AvrXt, &common::image(&[0xE4F0, 0x8300])); // ldi r31, 0x40; st Z, r16
    assert!(matches!(store.run(10), Stop::Fault(f) if f.kind == FaultKind::FlashWrite { address: 0x4000 }));
}

/// The stack pointer is whole when its second half is written, whichever comes first here.
#[test]
fn low_water_ignores_half_written_stack_pointers() {
    let (low, high) = (0xBF0D, 0xBF1E);
    for (first, second) in [(low, high), (high, low)] {
        // SP is 0x3010, 0x2ff0 and 0x3010: halves of both give 0x2f10
        let [up, down] = [[0xE100, 0xE310, first, second], [0xEF00, 0xE21F, first, second]];
        let words = [up, down, up, [0x930F, 0x9588, 0, 0]].concat(); // push, sleep
        let mut m = MEGA4809.machine(AvrXt, &common::image(&words));
        m.run(100);
        assert_eq!((m.core.registers()[32], m.core.memory().sp_min), (0x300F, 0x2FF0));
    }
}

/// ELPM carries into RAMPZ, whose only bit is bit 0; avr5 has neither.
#[test]
fn elpm_reaches_the_upper_half() {
    let words = [
        0xEFEF, // ldi r30, 0xff
        0xEFFF, // ldi r31, 0xff
        0xBFFB, // out RAMPZ, r31
        0xB70B, // in r16, RAMPZ
        0x9117, // elpm r17, Z+, the last byte of flash
        0xB72B, // in r18, RAMPZ
        0x95D8, // elpm, the first byte of flash
        0x9588, // sleep
    ];
    let mut m = MEGA128.machine(AvrE, &common::image(&words));
    m.core.memory_mut().flash[0x1_FFFF] = 0x5A;
    let stop = m.run(100);
    assert!(matches!(stop, Stop::Fault(f) if matches!(f.kind, FaultKind::Unsupported { .. })), "{stop:?}");
    let r = m.core.registers();
    assert_eq!((r[16], r[17], r[18], r[0], r[30], r[31]), (1, 0x5A, 0, 0xEF, 0, 0));
    let mut small = MEGA328P.machine(AvrE, &common::image(&words[4..]));
    assert!(matches!(small.run(100), Stop::Fault(f) if f.kind == FaultKind::BadOpcode { word: 0x9117 }));
}

/// A call from the last words of 128 KiB pushes a 16-bit word address.
#[test]
fn calls_return_in_all_of_128_kib() {
    let mut m = MEGA128.machine(AvrE, &common::image(&[0x940C, 0xFFF0])); // jmp 0x1ffe0
    let code = [0xE00F, 0xBF0E, 0x940E, 0xFFF8, 0x9588]; // SPH = 0x0f; call 0x1fff0; sleep
    for (k, word) in code.into_iter().chain([0; 3]).chain([0x9508]).enumerate() {
        let at = 0x1_FFE0 + 2 * k; // ret is at 0x1fff0
        m.core.memory_mut().flash[at..at + 2].copy_from_slice(&u16::to_le_bytes(word));
    }
    let stop = m.run(100);
    assert!(matches!(stop, Stop::Fault(f) if f.pc == 0x1_FFE8), "{stop:?}");
    assert_eq!(m.core.registers()[32], 0xF00);
}

/// A fictitious chip: the core of the ATtiny85 in the memories of the ATmega328P.
const SMALL: Device = Device { core: AVR25, ..MEGA328P };

/// The core of the ATtiny85 does what that of the ATmega328P does, in the same cycles, but for what it lacks.
#[test]
fn a_core_without_products_and_long_jumps_refuses_them_and_no_other() {
    let mut random = Random::new(0x85);
    let mut refused = BTreeMap::<String, u32>::new();
    for round in 0..600 {
        let image = common::image(&program(&mut random));
        let (mut e, mut small) = (MEGA328P.machine(AvrE, &image), SMALL.machine(AvrE, &image));
        for _ in 0..200 {
            let pc = e.core.pc();
            let text = e.core.disassemble(pc).0;
            let name = text.split(' ').next().unwrap_or_default().to_owned();
            let ((cycles_e, fault_e), (cycles, fault)) = (step(&mut e), step(&mut small));
            if matches!(&*name, "mul" | "muls" | "mulsu" | "fmul" | "fmuls" | "fmulsu" | "jmp" | "call") {
                assert!(matches!(fault, Some(FaultKind::BadOpcode { .. })), "round {round}: {text}: {fault:?}");
                *refused.entry(name).or_default() += 1;
                break;
            }
            let skips = matches!(&*name, "cpse" | "sbrc" | "sbrs" | "sbic" | "sbis");
            if skips && e.core.pc() != small.core.pc() {
                break; // over two words, of which the second is one here
            }
            if e.core.pc() >= MEGA328P.flash {
                break; // out of flash, or round its end
            }
            assert_eq!((fault, cycles), (fault_e, cycles_e), "round {round}: {text} at {pc:#x}");
            assert_eq!(small.core.registers(), e.core.registers(), "round {round}: {text} at {pc:#x}");
            if fault.is_some() {
                break;
            }
        }
    }
    assert_eq!(refused.len(), 8, "{refused:?}");
}

/// The program counter of a chip with 8 KiB goes round, so that RJMP and RCALL reach all of it.
#[test]
fn short_jumps_go_round_the_end_of_8_kib() {
    let chip = Device { flash: 0x2000, ram: (0x60, 0x200), ..SMALL };
    // rcall -2 words: from address 0 to the last word but one; sleep
    let mut m = chip.machine(AvrE, &common::image(&[0xDFFD, 0x9588]));
    for (at, word) in [(0x1FFC, 0xC000u16), (0x1FFE, 0x9508)] {
        m.core.memory_mut().flash[at..at + 2].copy_from_slice(&word.to_le_bytes()); // rjmp .+0; ret
    }
    let stop = m.run(100);
    assert!(matches!(stop, Stop::Fault(f) if f.pc == 2), "{stop:?}");
    assert_eq!(m.cycles, 3 + 2 + 4 + 1);
    // rjmp from the last word forward to address 2
    let mut m = chip.machine(AvrE, &common::image(&[0xCFFE, 0x9588]));
    m.core.memory_mut().flash[0x1FFE..0x2000].copy_from_slice(&0xC001u16.to_le_bytes());
    let stop = m.run(100);
    assert!(matches!(stop, Stop::Fault(f) if f.pc == 2), "{stop:?}");
    let mut large = MEGA328P.machine(AvrE, &common::image(&[0xCFFE, 0x9588]));
    assert!(matches!(large.run(100), Stop::Fault(f) if f.kind == FaultKind::BadFetch), "the larger one is left");
}
