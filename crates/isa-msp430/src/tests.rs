//! Properties of single instructions against definitions in plain integers.

use isa::{Core as _, Exec, Insn};
use mcu::{Chip, Memory, Site};

use crate::exec::{Location, Locations};
use crate::handler::handler;
use crate::op::Op;
use crate::state::{Msp430, SP, SR};
use crate::status::{ALL, C, N, Status, V, Z};
use crate::step::Class;
use crate::table::TABLE;

fn core() -> Msp430 {
    let chip = Chip::of_memories((0x4000, 0xC000), (0x1100, 0x2800));
    Msp430::new(Memory::new(&chip).expect("the chip is valid"))
}

fn insn(exec: Exec<Msp430>, a: u8, b: u8, imm: u32, form: Locations) -> [Insn<Msp430>; 2] {
    let (c, d) = form.pack();
    let site = Site { pc: 0x4000, cycles: 0 };
    let i = Insn { exec, site, imm, a, b, c, d, taken: 0, skips: 0, refund: 0 };
    [i, Insn { exec: handler(Op::Seam, form, ALL), ..i }]
}

fn execute(core: &mut Msp430, code: &[Insn<Msp430>; 2]) {
    // SAFETY: the last instruction of `code` does not go on.
    unsafe { (code[0].exec)(core, code.as_ptr()) };
}

fn bit(flag: u16, on: bool) -> u16 {
    if on { flag } else { 0 }
}

/// Result, flags and which of them are set, of `x` and `y` with `bits` bits.
fn expected(name: &str, x: u32, y: u32, carry: u32, bits: u32) -> (u32, u16, u16) {
    let mask = (1 << bits) - 1;
    let int = |v: u32| (v as i32) << (32 - bits) >> (32 - bits);
    let nz = |r: u32| bit(N, r >> (bits - 1) == 1) | bit(Z, r == 0);
    let range = -(1 << (bits - 1))..1 << (bits - 1);
    let sum = |c: u32| {
        let r = (x + y + c) & mask;
        let overflow = !range.contains(&(int(x) + int(y) + c as i32));
        (r, nz(r) | bit(C, x + y + c > mask) | bit(V, overflow), ALL)
    };
    // `c` is the complement of the borrow
    let difference = |c: u32| {
        let r = y.wrapping_sub(x).wrapping_sub(1 - c) & mask;
        let overflow = !range.contains(&(int(y) - int(x) - (1 - c as i32)));
        (r, nz(r) | bit(C, y >= x + (1 - c)) | bit(V, overflow), ALL)
    };
    let logic = |r: u32, overflow: bool| (r, nz(r) | bit(C, r != 0) | bit(V, overflow), ALL);
    match name {
        "mov" => (x, 0, 0),
        "add" => sum(0),
        "addc" => sum(carry),
        "sub" => difference(1),
        "subc" => difference(carry),
        "cmp" => (y, difference(1).1, ALL),
        "and" => logic(x & y, false),
        "bit" => (y, logic(x & y, false).1, ALL),
        "xor" => logic(x ^ y, int(x) < 0 && int(y) < 0),
        "bic" => (y & !x, 0, 0),
        "bis" => (y | x, 0, 0),
        "dadd" => {
            let digits = |v: u32| (0..bits / 4).map(|k| (v >> (4 * k) & 15) * 10u32.pow(k)).sum::<u32>();
            let total = digits(x) + digits(y) + carry;
            let r = (0..bits / 4).map(|k| (total / 10u32.pow(k) % 10) << (4 * k)).sum();
            (r, nz(r) | bit(C, total >= 10u32.pow(bits / 4)), C | N | Z)
        }
        _ => unreachable!("{name} has no definition"),
    }
}

fn numbers(bits: u32, decimal: bool) -> Vec<u32> {
    let mut all: Vec<u32> = if bits == 8 {
        (0..256).collect()
    } else {
        (0..0x1_0000).step_by(521).chain([1, 0x7FFF, 0x8000, 0x8001, 0xFFFE, 0xFFFF, 0x9999, 0x0999]).collect()
    };
    all.retain(|v| !decimal || (0..bits / 4).all(|k| v >> (4 * k) & 15 < 10));
    all
}

#[test]
fn two_operands_match_their_definitions() {
    let mut core = core();
    for row in TABLE.iter().filter(|r| r.class() == Class::Two) {
        for (byte, bits) in [(true, 8), (false, 16)] {
            let form = Locations { byte, src: Location::Reg, dst: Location::Reg };
            let code = insn(handler(row.op, form, ALL), 5, 6, 0, form);
            let operands = numbers(bits, row.name() == "dadd");
            for (&x, &y) in operands.iter().flat_map(|x| operands.iter().map(move |y| (x, y))) {
                for before in [0, C, ALL] {
                    let dirt = if byte { 0xA500 } else { 0 };
                    (core.r[6], core.r[5]) = (x as u16 | dirt, y as u16 | dirt);
                    core.status = Status::unpack(before);
                    execute(&mut core, &code);
                    let (res, flags, set) = expected(row.name(), x, y, (before & C).into(), bits);
                    // CMP and BIT leave the register alone; all others clear the high byte
                    let whole = if matches!(row.name(), "cmp" | "bit") { res as u16 | dirt } else { res as u16 };
                    let got = (core.r[5], core.status.pack() & (set | !ALL));
                    let place = || format!("{} {x:#x} {y:#x} sr {before:#x} byte {byte}", row.name());
                    assert_eq!(got, (whole, flags & set), "{}", place());
                    let kept = core.status.pack() & ALL & !row.op.sets();
                    assert_eq!(kept, before & ALL & !row.op.sets(), "{}", place());
                }
            }
        }
    }
}

#[test]
fn one_operand_matches_its_definition() {
    let mut core = core();
    for row in TABLE.iter().filter(|r| r.class() == Class::One) {
        for byte in [false, true] {
            if byte && matches!(row.name(), "swpb" | "sxt") {
                continue;
            }
            let form = Locations { byte, src: Location::Reg, dst: Location::Reg };
            let code = insn(handler(row.op, form, ALL), 0, 6, 0, form);
            let bits = if byte { 8 } else { 16 };
            let top = 1u16 << (bits - 1);
            for x in if byte { 0..=0xFF } else { 0..=0xFFFFu16 } {
                for before in [0, C, ALL] {
                    core.r[6] = x;
                    core.status = Status::unpack(before);
                    execute(&mut core, &code);
                    let nz = |r: u16| bit(N, r & top != 0) | bit(Z, r == 0);
                    let wanted = match row.name() {
                        "rrc" => {
                            let r = x >> 1 | if before & C != 0 { top } else { 0 };
                            (r, nz(r) | x & 1 | bit(V, x & top == 0 && before & C != 0))
                        }
                        "rra" => {
                            let r = x >> 1 | x & top;
                            (r, nz(r) | x & 1)
                        }
                        "swpb" => (x.rotate_left(8), before),
                        _ => {
                            let r = if x & 0x80 != 0 { x | 0xFF00 } else { x & 0xFF };
                            (r, nz(r) | bit(C, r != 0))
                        }
                    };
                    assert_eq!((core.r[6], core.status.pack()), wanted, "{} {x:#x} sr {before:#x}", row.name());
                }
            }
        }
    }
}

/// Every row's handlers do the same to everything but dead flags, and the right thing to live ones, in
/// RAM and through the slow path alike.
#[test]
fn handlers_differ_in_dead_flags_only() {
    const EVERY: [Location; 5] = [Location::Reg, Location::Imm, Location::Abs, Location::Idx, Location::Inc];
    let (mut core, mut seed) = (core(), 1u32);
    let mut random = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 16) as u16
    };
    for row in TABLE.iter().filter(|r| matches!(r.class(), Class::Two | Class::One | Class::Push)) {
        for (src, dst) in EVERY.into_iter().flat_map(|s| [Location::Reg, Location::Abs, Location::Idx].map(|d| (s, d)))
        {
            if row.class() == Class::One && src == Location::Imm {
                continue;
            }
            for _ in 0..20 {
                let byte = random() & 1 == 1 && row.text.0.contains("{b}");
                let form = Locations { byte, src, dst };
                let (value, status, ram) = (random(), random() & ALL, random() as u8);
                let extension = |p, low: u16| if p == Location::Abs { 0x2000 + low * 2 } else { low * 2 };
                let imm = u32::from(extension(dst, 3)) << 16 | u32::from(extension(src, 5));
                let mut run = |live: u16| {
                    core.r = [0; 256];
                    core.r[SP] = 0x2400;
                    (core.r[5], core.r[6]) = (0x2100, if src == Location::Reg { value } else { 0x2200 });
                    if dst == Location::Reg {
                        core.r[5] = value.rotate_left(3);
                    }
                    core.status = Status::unpack(status);
                    core.mem.ram.fill(ram);
                    execute(&mut core, &insn(handler(row.op, form, live), 5, 6, imm, form));
                    assert_eq!(core.mem.stop, None, "{} {form:?}", row.name());
                    (core.r, core.mem.ram.clone(), core.status.pack())
                };
                let whole = run(ALL);
                for live in [0, C, Z, C | Z, N, V, N | V] {
                    let part = run(live);
                    assert!(part.0 == whole.0 && part.1 == whole.1, "{} {form:?}", row.name());
                    let wanted = live | !row.op.sets();
                    assert_eq!(part.2 & wanted, whole.2 & wanted, "{} {form:?} live {live:#x}", row.name());
                }
                assert_eq!((status ^ whole.2) & !row.op.sets(), 0, "{} {form:?}", row.name());
            }
        }
    }
}

#[test]
fn reset_takes_the_vector() {
    let mut core = core();
    core.mem.flash[0xBFFE..].copy_from_slice(&[0x34, 0x52]);
    core.status = Status::unpack(0x1FF);
    core.reset();
    let registers = core.registers();
    assert_eq!(registers.len(), Msp430::REGISTERS.len());
    assert_eq!((registers[0], registers[SR]), (0x5234, 0));
}

/// Decoding stops where flash does, and an instruction must not hang over its end.
#[test]
fn runs_end_inside_flash() {
    let mut core = core();
    for word in core.mem.flash.chunks_mut(2) {
        word.copy_from_slice(&[0x03, 0x43]); // nop
    }
    assert_eq!(core.decode(0xFFF0, 128).insns.len(), 9);
    core.mem.flash[0xBFFE..].copy_from_slice(&[0xB0, 0x12]); // call #
    let run = core.decode(0xFFFE, 128);
    assert_eq!(run.insns.len(), 1);
    assert_eq!(core.decode(0xFFFC, 1).insns.len(), 2);
    assert_eq!(core.decode(0x4000, 400).insns.len(), 201);
}

/// What is compared in memory is read; what is changed there is written.
#[test]
fn work_is_that_of_the_operation() {
    let mut core = core();
    // cmp and bit #1, 2(r5); add and mov #1, 2(r5); rra 2(r5), swpb @r5; rra r5; cmp 2(r5), r6
    let code = [0x9395, 2, 0xB395, 2, 0x5395, 2, 0x4395, 2, 0x1115, 2, 0x10A5, 0x1105, 0x9516, 2, 0x4130u16];
    for (to, word) in core.mem.flash.chunks_mut(2).zip(code) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    let work: Vec<_> = core.decode(0x4000, 128).steps.iter().map(Msp430::work).collect();
    use isa::Work::{Branch, Compute, Load, Store};
    assert_eq!(work, [Load, Load, Store, Store, Store, Store, Compute, Load, Branch]);
}
