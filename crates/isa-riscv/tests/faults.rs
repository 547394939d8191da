//! Every fault has its name, and an unaligned access follows the core's policy.

mod common;

use common::{CODE, DATA, machine};
use isa::Core as _;
use isa_riscv::Word;
use mcu::{FaultKind, Stop};

/// What stops `code` with a0 = `a0` and sp at the end of memory: the fault and its address.
fn fault<X: Word>(code: &[u32], a0: u64) -> (FaultKind, u32) {
    let mut machine = machine::<X>();
    let memory = machine.core.memory_mut();
    memory.sp_limit = DATA + 0x100;
    for (k, word) in code.iter().enumerate() {
        memory.flash[4 * k..4 * k + 4].copy_from_slice(&word.to_le_bytes());
    }
    machine.core.set_register(10, X::cut(a0));
    machine.core.set_register(2, X::zext(DATA + 0x200));
    let fault = machine.run(1000).fault().expect("it fails");
    (fault.kind, fault.pc)
}

fn both(code: &[u32], a0: u32, kind: FaultKind) {
    assert_eq!(fault::<u32>(code, a0.into()), (kind, CODE));
    assert_eq!(fault::<u64>(code, a0.into()), (kind, CODE));
}

const LW: u32 = 0x0005_2583; // lw a1, (a0)
const SH: u32 = 0x00B5_1023; // sh a1, (a0)
const LR: u32 = 0x1005_25AF; // lr.w a1, (a0)
const LD: u32 = 0x0005_3583; // ld a1, (a0)
const EBREAK: u32 = 0x0010_0073;

#[test]
fn faults_have_names() {
    both(&[EBREAK], 0, FaultKind::Trap);
    both(&[0x0000_0073], 0, FaultKind::Unsupported { word: 0x73 }); // ecall
    both(&[0], 0, FaultKind::BadOpcode { word: 0 });
    both(&[u32::MAX], 0, FaultKind::BadOpcode { word: u32::MAX });
    both(&[0x1050_0073], 0, FaultKind::Unsupported { word: 0x1050_0073 }); // wfi
    both(&[0x3020_0073], 0, FaultKind::Unsupported { word: 0x3020_0073 }); // mret
    both(&[0x3400_1073], 0, FaultKind::Unsupported { word: 0x3400_1073 }); // csrrw zero, mscratch, zero
    both(&[0xB020_2573], 0, FaultKind::Unsupported { word: 0xB020_2573 }); // csrrs a0, minstret, zero
    both(&[LW], 0x1000, FaultKind::OutOfRange { address: 0x1000, write: false });
    both(&[SH], CODE, FaultKind::FlashWrite { address: CODE });
    both(&[LW], DATA + 2, FaultKind::Unaligned { address: DATA + 2 });
    both(&[SH], DATA + 1, FaultKind::Unaligned { address: DATA + 1 });
    both(&[LR], DATA + 1, FaultKind::Unaligned { address: DATA + 1 });
    // addi sp, sp, -0x108
    both(&[0xEF81_0113, EBREAK], 0, FaultKind::StackIntoData { sp: DATA + 0xF8, limit: DATA + 0x100 });
    let outside = FaultKind::BadFetch;
    assert_eq!(fault::<u32>(&[0x0005_0067], 0x100), (outside, 0x100)); // jr a0
    assert_eq!(fault::<u64>(&[0x0005_0067], 0x100), (outside, 0x100));
}

#[test]
fn addresses_have_32_bits() {
    let at = u64::from(DATA) | 1 << 32;
    assert_eq!(fault::<u64>(&[LW], at), (FaultKind::OutOfRange { address: DATA, write: false }, CODE));
    assert_eq!(fault::<u64>(&[SH], at), (FaultKind::OutOfRange { address: DATA, write: true }, CODE));
    assert_eq!(fault::<u64>(&[LD], at), (FaultKind::OutOfRange { address: DATA, write: false }, CODE));
    assert_eq!(fault::<u64>(&[0x0005_0067], u64::from(CODE) | 1 << 32), (FaultKind::BadFetch, CODE));
    assert_eq!(fault::<u32>(&[LD], 0).0, FaultKind::BadOpcode { word: LD });
}

#[test]
fn a_core_can_do_what_is_not_aligned() {
    let mut machine = machine::<u64>();
    let memory = machine.core.memory_mut();
    for (k, word) in [LD, SH, EBREAK].iter().enumerate() {
        memory.flash[4 * k..4 * k + 4].copy_from_slice(&word.to_le_bytes());
    }
    memory.ram[..16].copy_from_slice(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
    machine.core.events.unaligned = Some(|_, bytes| bytes);
    machine.core.set_register(10, u64::from(DATA) + 3);
    assert!(matches!(machine.run(100), Stop::Fault(f) if f.kind == FaultKind::Trap));
    assert_eq!(machine.core.x()[11], 0x0A09_0807_0605_0403);
    assert_eq!(machine.core.memory().unaligned, 2);
    assert_eq!(machine.cycles, 3 + 8 + 2);
}

fn what_was_set_is_there<X: Word>() {
    let mut machine = machine::<X>();
    let count = machine.core.registers().len() as u32;
    let mut values: Vec<u32> = (0..count).map(|n| n << 28 | n).collect();
    assert!(!machine.core.set_registers(&values[1..]));
    values[count as usize - 1] = CODE + 8;
    values[0] = 0;
    if X::BITS == 64 {
        values[32] = 0;
    }
    assert!(machine.core.set_registers(&values));
    assert_eq!(machine.core.registers(), values);
}

#[test]
fn a_debugger_sets_all_registers_but_x0() {
    what_was_set_is_there::<u32>();
    what_was_set_is_there::<u64>();
}
