//! Properties of single instructions against definitions in plain integers.

use isa::{Core as _, Exec, Insn};
use mcu::{Chip, Memory};

use crate::decode::seam;
use crate::exec::handler;
use crate::sreg::{C, H, N, S, Sreg, V, Z};
use crate::step::{ALL, Flow};
use crate::table::TABLE;
use crate::{AVR5, AVR51, Avr};

fn core() -> Avr {
    let chip = Chip { flash_in_data: None, ..Chip::of_memories((0, 0x8000), (0x100, 0x800)) };
    Avr::new(AVR5, Memory::new(&chip).expect("the chip is valid"))
}

/// The instruction `text`, whose operands are `a`, `b` and `imm`, followed by ends of a run.
fn insns(name: &str, a: u8, b: u8, imm: u32, live: u8) -> [Insn<Avr>; 3] {
    let row = TABLE.iter().find(|r| r.name() == name).expect("a row has this name");
    let end = seam(4).insn;
    [Insn { exec: handler(row.op, live), a, b, imm, ..end }, end, end]
}

fn execute(core: &mut Avr, code: &[Insn<Avr>; 3]) {
    let exec: Exec<Avr> = code[0].exec;
    // SAFETY: the last instruction of `code` does not continue, and a skip has two after it.
    unsafe { exec(core, code.as_ptr()) };
}

fn bit(flag: u8, on: bool) -> u8 {
    if on { flag } else { 0 }
}

/// N, Z, V and S from the result's definition: `value` is what the operation means as a number.
fn signs(res: u8, value: i32) -> u8 {
    let overflow = !(-128..128).contains(&value);
    bit(N, res >= 128) | bit(Z, res == 0) | bit(V, overflow) | bit(S, (res >= 128) != overflow)
}

fn int(x: u8) -> i32 {
    i32::from(x as i8)
}

/// Sum of operands and carry: result and flags.
fn sum(d: u8, r: u8, c: u8) -> (u8, u8) {
    let res = d.wrapping_add(r).wrapping_add(c);
    let carry = u32::from(d) + u32::from(r) + u32::from(c) > 255;
    (res, signs(res, int(d) + int(r) + i32::from(c)) | bit(C, carry) | bit(H, (d & 15) + (r & 15) + c > 15))
}

fn difference(d: u8, r: u8, c: u8) -> (u8, u8) {
    let res = d.wrapping_sub(r).wrapping_sub(c);
    let borrow = i32::from(d) - i32::from(r) - i32::from(c) < 0;
    let half = i32::from(d & 15) - i32::from(r & 15) - i32::from(c) < 0;
    (res, signs(res, int(d) - int(r) - i32::from(c)) | bit(C, borrow) | bit(H, half))
}

/// Difference with the rule that Z is only ever cleared.
fn long_difference(d: u8, r: u8, before: u8) -> (u8, u8) {
    let (res, flags) = difference(d, r, before & C);
    (res, if before & Z == 0 { flags & !Z } else { flags })
}

const ARITH: u8 = H | S | V | N | Z | C;

/// The effect of the instruction `name` on `d`, `r` and SREG: result, flags and which of them it writes.
fn expected(name: &str, d: u8, r: u8, before: u8) -> (u8, u8, u8) {
    let logic = S | V | N | Z;
    let right = |top: bool| {
        let res = d >> 1 | bit(0x80, top);
        let (n, c) = (top, d & 1 == 1);
        let flags = bit(N, n) | bit(Z, res == 0) | bit(C, c) | bit(V, n != c) | bit(S, c);
        (res, flags, S | V | N | Z | C)
    };
    let all = |(res, flags)| (res, flags, ARITH);
    match name {
        "add" => all(sum(d, r, 0)),
        "adc" => all(sum(d, r, before & C)),
        "sub" | "subi" => all(difference(d, r, 0)),
        "cp" | "cpi" => (d, difference(d, r, 0).1, ARITH),
        "sbc" | "sbci" => all(long_difference(d, r, before)),
        "cpc" => (d, long_difference(d, r, before).1, ARITH),
        "neg" => all(difference(0, d, 0)),
        "and" | "andi" => (d & r, signs(d & r, int(d & r)), logic),
        "or" | "ori" => (d | r, signs(d | r, int(d | r)), logic),
        "eor" => (d ^ r, signs(d ^ r, int(d ^ r)), logic),
        "com" => (255 - d, signs(255 - d, int(255 - d)) | C, logic | C),
        "inc" => (d.wrapping_add(1), signs(d.wrapping_add(1), int(d) + 1), logic),
        "dec" => (d.wrapping_sub(1), signs(d.wrapping_sub(1), int(d) - 1), logic),
        "lsr" => right(false),
        "asr" => right(d >= 128),
        "ror" => right(before & C != 0),
        "mov" | "ldi" => (r, 0, 0),
        "swap" => (d % 16 * 16 + d / 16, 0, 0),
        _ => unreachable!("{name} has no definition"),
    }
}

#[test]
fn byte_operations_match_their_definitions_for_all_operands() {
    let mut core = core();
    let two = ["add", "adc", "sub", "sbc", "cp", "cpc", "and", "or", "eor", "mov"];
    let immediate = ["subi", "sbci", "cpi", "andi", "ori", "ldi"];
    let one = ["com", "neg", "inc", "dec", "lsr", "ror", "asr", "swap"];
    for name in two.into_iter().chain(immediate).chain(one) {
        let operands = if one.contains(&name) { 1 } else { 256 };
        for r in 0..operands {
            let code = insns(name, 17, 18, if immediate.contains(&name) { r } else { 0 }, ALL);
            for d in 0..=255u8 {
                for before in [0, C, Z, 0xFF] {
                    (core.r[17], core.r[18]) = (d, r as u8);
                    core.sreg = Sreg::unpack(before);
                    execute(&mut core, &code);
                    let (res, flags, written) = expected(name, d, r as u8, before);
                    let got = (core.r[17], core.sreg.pack());
                    assert_eq!(got, (res, flags | before & !written), "{name} {d:#x} {r:#x} sreg {before:#x}");
                }
            }
        }
    }
}

#[test]
fn word_operations_match_their_definitions() {
    let mut core = core();
    for k in 0..64u16 {
        for d in (0..=0xFFFFu16).step_by(7).chain([0x7FFF, 0x8000, 0xFFFF]) {
            for (name, res, value) in [
                ("adiw", d.wrapping_add(k), i32::from(d as i16) + i32::from(k)),
                ("sbiw", d.wrapping_sub(k), i32::from(d as i16) - i32::from(k)),
            ] {
                let carry = if name == "adiw" { res < d } else { res > d };
                let (n, v) = (res >= 0x8000, !(-0x8000..0x8000).contains(&value));
                let flags = bit(C, carry) | bit(Z, res == 0) | bit(N, n) | bit(V, v) | bit(S, n != v);
                [core.r[26], core.r[27]] = d.to_le_bytes();
                core.sreg = Sreg::unpack(H | 0xC0);
                execute(&mut core, &insns(name, 26, 0, k.into(), ALL));
                let got = (u16::from_le_bytes([core.r[26], core.r[27]]), core.sreg.pack());
                assert_eq!(got, (res, flags | H | 0xC0), "{name} {d:#x} {k}");
            }
        }
    }
}

#[test]
fn products_match_their_definitions_for_all_operands() {
    let mut core = core();
    for name in ["mul", "muls", "mulsu", "fmul", "fmuls", "fmulsu"] {
        let code = insns(name, 17, 18, 0, ALL);
        let (left, right) = match name.trim_start_matches('f') {
            "mul" => (false, false),
            "muls" => (true, true),
            _ => (true, false),
        };
        let number = |x: u8, signed: bool| if signed { int(x) } else { i32::from(x) };
        for (d, r) in (0..=255u8).flat_map(|d| (0..=255u8).map(move |r| (d, r))) {
            let product = (number(d, left) * number(r, right)) as u16;
            let res = if name.starts_with('f') { product << 1 } else { product };
            (core.r[17], core.r[18]) = (d, r);
            core.sreg = Sreg::unpack(0xFC);
            execute(&mut core, &code);
            let got = (u16::from_le_bytes([core.r[0], core.r[1]]), core.sreg.pack());
            assert_eq!(got, (res, 0xFC | bit(C, product >= 0x8000) | bit(Z, res == 0)), "{name} {d:#x} {r:#x}");
        }
    }
}

/// Every row's handlers do the same to everything but dead flags, and the right thing to live ones.
#[test]
fn handlers_differ_in_dead_flags_only() {
    let (mut core, mut seed) = (core(), 1u32);
    for row in TABLE.iter().filter(|r| r.op.flow() == Flow::Next) {
        for _ in 0..200 {
            let mut random = || {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (seed >> 24) as u8
            };
            let registers: [u8; 32] = std::array::from_fn(|_| random());
            let (a, b, sreg) = (random() & 30, random() & 7, random());
            let imm = if row.name() == "lds" || row.name() == "sts" { 0x5F } else { u32::from(random()) };
            let mut run = |live: u8| {
                core.r[..32].copy_from_slice(&registers);
                core.sreg = Sreg::unpack(sreg);
                core.sp = 0x400;
                core.mem.ram.fill(0x5A);
                let end = seam(4).insn;
                execute(&mut core, &[Insn { exec: handler(row.op, live), a, b, imm, ..end }, end, end]);
                (core.r, core.sp, core.mem.ram.clone(), core.sreg.pack())
            };
            let whole = run(ALL);
            for live in [0, C, Z, C | Z, N, H | C, S | V] {
                let part = run(live);
                assert!(part.0 == whole.0 && part.1 == whole.1 && part.2 == whole.2, "{}", row.name());
                let wanted = live | !(row.op.writes() as u8);
                assert_eq!(part.3 & wanted, whole.3 & wanted, "{} live {live:#x}", row.name());
            }
            let stores = matches!(row.name(), "st" | "std" | "sts" | "out" | "push" | "sbi" | "cbi"); // perhaps to SREG
            assert!(stores || (sreg ^ whole.3) & !(row.op.writes() as u8) == 0, "{}", row.name());
        }
    }
}

#[test]
fn reset_state_is_the_data_sheets() {
    let core = core();
    let registers = core.registers();
    assert_eq!(registers.len(), Avr::REGISTERS.len());
    assert_eq!(&registers[32..], [0x8FF, 0, 0]);
    let mega128 = Avr::new(AVR51, core.mem);
    assert_eq!(mega128.sp, 0);
}

/// Decoding stops where flash does, and an instruction must not hang over its end.
#[test]
fn runs_end_inside_flash() {
    let mut core = core();
    core.mem.flash.fill(0); // nop
    assert_eq!(core.decode(0x7FF0, 128).insns.len(), 9);
    core.mem.flash[0x7FFE..].copy_from_slice(&[0x0E, 0x94]); // call
    let run = core.decode(0x7FFE, 128);
    assert_eq!(run.insns.len(), 1);
    assert_eq!(core.decode(0x7FFC, 1).insns.len(), 2);
}
