//! Ways to fail, and what is counted before.

use isa::{Core as _, Machine, OneCycle};
use isa_thumb::{Features, Thumb};
use mcu::{Chip, FaultKind, Memory, Stop};

const FLASH: u32 = 0x0800_0000;
const RAM: u32 = 0x2000_0000;

/// Runs `code` at flash + 8 with r0 to r3 set.
fn run(code: &[u16], registers: [u32; 4]) -> (Machine<Thumb, OneCycle>, Stop) {
    run_on(Features::CORTEX_M3, code, registers)
}

fn run_on(features: Features, code: &[u16], registers: [u32; 4]) -> (Machine<Thumb, OneCycle>, Stop) {
    let chip = Chip::of_memories((FLASH, 0x100), (RAM, 0x1000));
    let mut memory = Memory::new(&chip).expect("the chip is possible");
    memory.flash[..4].copy_from_slice(&(RAM + 0x1000).to_le_bytes());
    memory.flash[4..8].copy_from_slice(&(FLASH + 9).to_le_bytes());
    for (k, half) in code.iter().enumerate() {
        memory.flash[8 + 2 * k..10 + 2 * k].copy_from_slice(&half.to_le_bytes());
    }
    let mut machine = Machine::new(Thumb::with_features(memory, features), OneCycle);
    for (n, value) in registers.into_iter().enumerate() {
        machine.core.set_register(n, value);
    }
    let stop = machine.run(1000);
    (machine, stop)
}

fn fault(code: &[u16], registers: [u32; 4]) -> (FaultKind, u32) {
    let fault = run(code, registers).1.fault().expect("it fails");
    (fault.kind, fault.pc - FLASH - 8)
}

#[test]
fn each_failure_has_its_name_and_place() {
    let even = [FLASH + 8, RAM + 2, 0, 0];
    assert_eq!(fault(&[0xBF00, 0xBE00], even), (FaultKind::Trap, 2));
    assert_eq!(fault(&[0xDF01], even), (FaultKind::Unsupported { word: 0xDF01 }, 0));
    // wfi, wfe: nothing would ever wake the chip
    assert_eq!(fault(&[0xBF30], even), (FaultKind::Unsupported { word: 0xBF30 }, 0));
    assert_eq!(fault(&[0xF3AF, 0x8002], even), (FaultKind::Unsupported { word: 0xF3AF_8002 }, 0));
    assert_eq!(fault(&[0xDE01], even), (FaultKind::BadOpcode { word: 0xDE01 }, 0));
    assert_eq!(fault(&[0xEE00, 0x0000], even), (FaultKind::BadOpcode { word: 0xEE00_0000 }, 0));
    assert_eq!(fault(&[0x4700], even), (FaultKind::ArmState, 0)); // bx r0
    assert_eq!(fault(&[0xC90C], even), (FaultKind::Unaligned { address: RAM + 2 }, 0)); // ldmia r1!, {r2, r3}
    assert_eq!(fault(&[0xE9C1, 0x2300], even), (FaultKind::Unaligned { address: RAM + 2 }, 0)); // strd
    assert_eq!(fault(&[0xE851, 0x2F00], even), (FaultKind::Unaligned { address: RAM + 2 }, 0)); // ldrex
    assert_eq!(fault(&[0x6002], even), (FaultKind::FlashWrite { address: FLASH + 8 }, 0)); // str r2, [r0]
    assert_eq!(fault(&[0x6810], even), (FaultKind::OutOfRange { address: 0, write: false }, 0)); // ldr r0, [r2]
}

#[test]
fn a_cortex_m0plus_has_no_unaligned_access_and_no_thumb_2() {
    let fault = |code: &[u16]| {
        let stop = run_on(Features::CORTEX_M0PLUS, code, [RAM + 1, RAM + 2, RAM + 4, RAM]).1;
        stop.fault().expect("it fails").kind
    };
    let unaligned = |address| FaultKind::Unaligned { address };
    assert_eq!(fault(&[0x680B]), unaligned(RAM + 2)); // ldr r3, [r1]
    assert_eq!(fault(&[0x600B]), unaligned(RAM + 2)); // str r3, [r1]
    assert_eq!(fault(&[0x8803]), unaligned(RAM + 1)); // ldrh r3, [r0]
    assert_eq!(fault(&[0x8003]), unaligned(RAM + 1)); // strh r3, [r0]
    assert_eq!(fault(&[0x880B, 0x7803, 0x6813, 0xBE00]), FaultKind::Trap); // aligned ones
    assert_eq!(fault(&[0xB103]), FaultKind::BadOpcode { word: 0xB103 }); // cbz
    assert_eq!(fault(&[0xBF08]), FaultKind::BadOpcode { word: 0xBF08 }); // it
    assert_eq!(fault(&[0xF04F, 0x0001]), FaultKind::BadOpcode { word: 0xF04F_0001 }); // mov.w
}

#[test]
fn the_dsp_extension_is_not_in_a_cortex_m3() {
    assert_eq!(fault(&[0xFA80, 0xF041], [0; 4]), (FaultKind::BadOpcode { word: 0xFA80_F041 }, 0));
    // uadd8 r0, r0, r1; sel r2, r0, r1; mrs r3, apsr; bkpt
    let code = [0xFA80, 0xF041, 0xFAA0, 0xF281, 0xF3EF, 0x8300, 0xBE00];
    let (machine, _) = run_on(Features::CORTEX_M4, &code, [0xFF01_80FF, 0x0102_8001, 0, 0]);
    let r = machine.core.registers();
    assert_eq!((r[0], r[2], r[3] >> 16 & 15), (0x0003_0000, 0x0002_0000, 0b1011));
}

#[test]
fn a_program_that_runs_off_the_flash_stops() {
    let nops = [0xBF00; 124];
    assert!(matches!(run(&nops, [0; 4]).1, Stop::Fault(f) if f.kind == FaultKind::BadFetch && f.pc == FLASH + 0x100));
}

#[test]
fn unaligned_accesses_are_counted() {
    // ldr r2, [r1]; strh r2, [r1, #2]; ldrh r2, [r1, #1]; bkpt
    let (machine, _) = run(&[0x680A, 0x804A, 0xF8B1, 0x2001, 0xBE00], [0, RAM + 2, 0, 0]);
    assert_eq!(machine.core.memory().unaligned, 2);
}

#[test]
fn the_lowest_stack_pointer_is_seen() {
    // push {r0, r1}; sub sp, #64; add sp, #64; pop {r0, r1}; str r0, [sp, #-128]!; bkpt
    let (machine, _) = run(&[0xB403, 0xB090, 0xB010, 0xBC03, 0xBE00], [0; 4]);
    assert_eq!(machine.core.memory().sp_min, RAM + 0x1000 - 8 - 64);
    let (machine, _) = run(&[0xF84D, 0x0D80, 0xBE00], [0; 4]);
    assert_eq!(machine.core.memory().sp_min, RAM + 0x1000 - 128);
}

#[test]
fn a_skipped_instruction_costs_one_cycle_and_does_nothing() {
    // cmp r0, r1; itte ne; addne r2, #1; addne r2, #1; addeq r3, #1; bkpt
    let (machine, _) = run(&[0x4288, 0xBF1A, 0x3201, 0x3201, 0x3301, 0xBE00], [5, 5, 0, 0]);
    let r = machine.core.registers();
    assert_eq!((r[2], r[3], r[16]), (0, 1, FLASH + 18));
}

#[test]
fn a_special_register_without_flags_leaves_them_to_the_branch_behind() {
    // cmp r0, r1; msr PRIMASK, r2; beq over movs r3, #1; bkpt
    let (machine, _) = run(&[0x4288, 0xF382, 0x8810, 0xD000, 0x2301, 0xBE00], [7, 7, 0, 0]);
    assert_eq!(machine.core.registers()[3], 0);
}
