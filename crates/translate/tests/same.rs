//! Runs random programs in the interpreter and as native code: no observation may differ.

#[path = "same/avr.rs"]
mod avr;
#[path = "same/xtensa.rs"]
mod xtensa;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use isa::native::Lower;
use isa::{Machine, TableRow, Timing};
use isa_riscv::{Riscv, Word};
use isa_thumb::{Events, Features, Thumb};
use lockstep::native::{self, translator};
use mcu::{Chip, Flash, Memory, PeripheralConfig, Stop};
use random::Random;
use timing::cortex_m0plus::CortexM0Plus;
use timing::cortex_m3::CortexM3;
use timing::cortex_m3_sam3x::CortexM3Sam3x;
use timing::cortex_m4::CortexM4;
use timing::cortex_m7::CortexM7;
use timing::rv32_bumblebee::Bumblebee;
use timing::rv64_rocket::Rocket;

const FLASH: u32 = 0x0800_0000;
const RAM: u32 = 0x2000_0000;
const SIZE: u32 = 0x800;
const PORT: u32 = 0x4001_0800;
/// Programs for each core, and in long tests.
const FEW: u64 = 100;
const MANY: u64 = 4000;

/// Numbers of programs.
type Programs = std::ops::Range<u64>;

fn memory(flash_timing: Flash, code: &[u8]) -> Memory {
    let chip = Chip {
        flash_timing,
        // pulses of the trigger are stamped with cycles
        peripherals: vec![PeripheralConfig { kind: "stm32f1-gpio", base: PORT, trigger_bit: Some(0) }],
        ..Chip::of_memories((FLASH, SIZE), (RAM, SIZE))
    };
    let mut memory = Memory::new(&chip).expect("the chip is possible");
    memory.flash[..code.len()].copy_from_slice(code);
    (memory.sp_limit, memory.sp_top) = (RAM + 0x40, RAM + SIZE - 0x20);
    memory
}

/// Everything that can be observed.
fn observe<C: Lower, T: Timing<C>>(m: &Machine<C, T>, stop: Stop) -> (impl PartialEq + std::fmt::Debug, [Vec<u8>; 2]) {
    let memory = m.core.memory();
    let calls: Vec<_> = memory.calls.iter().map(|c| (c.rise, c.fall, c.sp, c.sp_min, c.unaligned)).collect();
    let state = (m.cycles, m.core.registers(), stop, memory.sp_min, memory.unaligned, calls);
    (state, [memory.ram.to_vec(), memory.written().to_vec()])
}

thread_local! {
    /// Definitions of the table that became native code, and all definitions.
    static ROWS: RefCell<(BTreeSet<usize>, Vec<TableRow>)> = const { RefCell::new((BTreeSet::new(), Vec::new())) };
}

thread_local! {
    /// Text of the definition that programs are about.
    static ABOUT: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// Whether programs are about the definition with this text.
fn about(text: &str) -> bool {
    ABOUT.get() == Some(text)
}

/// Tells a process of this test that it must not generate code.
const REFUSED: &str = "STEELYARD_TEST_REFUSES_CODE";

/// Whether memory cannot be made executable in this process.
fn refused() -> bool {
    std::env::var_os(REFUSED).is_some()
}

/// Runs a program both ways, in slices; returns whether it ran to the end without a fault.
fn same<C, T>(what: &str, seed: u64, make: impl Fn() -> Machine<C, T>) -> bool
where
    C: Lower + 'static,
    T: Timing<C> + 'static,
{
    let mut random = Random::new(seed | 1);
    let mut plain = make();
    let mut native = make().with_translator(translator(!refused()), Some(1 + random.below(3)));
    let rows = native.core.rows();
    for slice in 0..12 {
        let budget = u64::from(1 + random.below(if slice % 3 == 0 { 10 } else { 400 }));
        let (a, b) = (plain.run(budget), native.run(budget));
        let (a, b) = (observe(&plain, a), observe(&native, b));
        assert!(a.0 == b.0, "{what}, program {seed}, slice {slice}:\n{:?}\n{:?}", a.0, b.0);
        assert!(a.1 == b.1, "{what}, program {seed}, slice {slice}: other bytes in RAM");
        if plain.core.memory().stop.is_some() {
            break;
        }
    }
    ROWS.with_borrow_mut(|(seen, all)| (seen.append(&mut native::rows()), *all = rows));
    plain.core.memory().stop.is_none()
}

/// Runs programs; enough of them must loop until the end for the comparison to mean something.
fn all(what: &str, programs: Programs, one: impl Fn(u64) -> bool) {
    let (lasting, programs) = (programs.clone().filter(|&seed| one(seed)).count() as u64, programs.count() as u64);
    let entered = native::entered();
    println!("{what}: {lasting} of {programs} programs do not fault, native code was entered {entered} times");
    assert!(if refused() { entered == 0 } else { entered > programs }, "{what}: native code ran {entered} times");
    assert!(lasting * 4 > programs, "{what}: only {lasting} of {programs} programs go on");
}

/// Every definition of the table that does not say why it is never lowered became native code; those that random
/// programs left out get programs of their own.
fn every_row(what: &str, one: impl Fn(u64) -> bool) {
    let missing = || -> Vec<_> {
        let lowered = |(seen, all): &(BTreeSet<_>, Vec<TableRow>)| {
            all.iter().filter(|r| r.by_handler.is_none() && !seen.contains(&r.number)).map(|r| r.text).collect()
        };
        ROWS.with_borrow(lowered)
    };
    for text in missing() {
        ABOUT.set(Some(text));
        (1..60).take_while(|_| missing().contains(&text)).for_each(|seed| _ = one(seed));
    }
    ABOUT.set(None);
    assert!(missing().is_empty(), "{what}: no native code was made of {:?}", missing());
    ROWS.take();
}

/// A program that starts over again and again: `head`, then instructions that `one` makes, then jumps to the
/// head that `back` makes. Instructions that fault are left out, with a few exceptions.
fn program(
    random: &mut Random,
    head: Vec<u8>,
    back: impl Fn(usize) -> Vec<u8>,
    one: impl Fn(&mut Random) -> Vec<u8>,
    faults: impl Fn(&[u8]) -> bool,
) -> Vec<u8> {
    let filled = |mut code: Vec<u8>| {
        while code.len() < SIZE as usize - 8 {
            code.extend(back(code.len()));
        }
        code
    };
    let mut body = head;
    let wanted = body.len() + 4 + random.below(60) as usize;
    while body.len() < wanted {
        let longer = [body.clone(), one(random)].concat();
        if !faults(&filled(longer.clone())) || random.below(200) == 0 {
            body = longer;
        }
    }
    filled(body)
}

fn faults<C: Lower, T: Timing<C>>(mut machine: Machine<C, T>) -> bool {
    matches!(machine.run(150), Stop::Fault(_))
}

fn thumb_code(features: Features, seed: u64, make: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let patterns: Vec<_> = isa_thumb::table::patterns(features).collect();
    let mut random = Random::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    // vectors, then what r1 to r6 are loaded with
    let words = [RAM + 0x400, FLASH + 33, RAM + 0x100, RAM + 0x201, FLASH + 0x100, PORT + 12, RAM + SIZE - 8, 5];
    let mut head: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let start = head.len();
    // MOVS r0, #8; LSLS r0, r0, #24: the start of flash; LDR rn, [r0, #4 + 4n]
    let loads = (1..=6u16).map(|n| 0x6800 | (n + 1) << 6 | n);
    // ADDS r7, #1 counts rounds
    head.extend([0x2008, 0x0600, 0x3701].into_iter().chain(loads).flat_map(u16::to_le_bytes));
    let back = |at: usize| (0xE000 | ((start as i32 - at as i32 - 4) / 2) as u16 & 0x7FF).to_le_bytes().to_vec();
    let one = |random: &mut Random| {
        if random.below(12) == 0 {
            // LSLS r0, r7, #29 to 31; BEQ or BNE over ADDS r7, #1: taken now and then
            let test = [0x0038 | (29 + random.below(3) as u16) << 6, 0xD000 | (random.below(2) as u16) << 8, 0x3701];
            return test.into_iter().flat_map(u16::to_le_bytes).collect();
        }
        let p = random.pick(&patterns);
        let mut word = p.value | random.word() & !p.mask;
        if p.bits == 32 && random.below(2) == 0 {
            word &= !0x00F0 | p.value; // small offsets
        }
        let high = (p.bits == 32).then_some((word >> 16) as u16);
        high.into_iter().chain([word as u16]).flat_map(u16::to_le_bytes).collect()
    };
    program(&mut random, head, back, one, make)
}

fn thumb<T: Timing<Thumb> + 'static>(
    programs: &Programs,
    what: &str,
    features: Features,
    events: Events,
    flash: Flash,
    timing: impl Fn(Flash) -> T,
) {
    all(what, programs.clone(), |seed| {
        let make = |code: &[u8]| {
            let mut core = Thumb::with_features(memory(flash, code), features);
            core.events = events;
            Machine::new(core, timing(flash))
        };
        let code = thumb_code(features, seed, |code| faults(make(code)));
        same(what, seed, || make(&code))
    });
}

const NONE: Flash =
    Flash { wait_states: 0, line_bytes: 0, prefetch_lines: 0, data_wait_states: 0, cache_lines: 0, queue_words: 0 };

fn cortex_m0plus(programs: &Programs) {
    let flash = Flash { wait_states: 1, line_bytes: 8, cache_lines: 8, data_wait_states: 1, ..NONE };
    thumb(programs, "Cortex-M0+", Features::CORTEX_M0PLUS, CortexM0Plus::events(), flash, CortexM0Plus::new);
}

fn cortex_m3(programs: &Programs) {
    let flash = Flash { wait_states: 2, line_bytes: 8, prefetch_lines: 2, data_wait_states: 2, ..NONE };
    thumb(programs, "Cortex-M3", Features::CORTEX_M3, CortexM3::events(), flash, CortexM3::new);
    thumb(programs, "Cortex-M3 of the SAM3X", Features::CORTEX_M3, CortexM3Sam3x::events(), NONE, |_| {
        CortexM3Sam3x::default()
    });
}

fn cortex_m4(programs: &Programs) {
    let flash = Flash { wait_states: 3, line_bytes: 16, cache_lines: 16, queue_words: 2, ..NONE };
    thumb(programs, "Cortex-M4", Features::CORTEX_M4, CortexM4::events(), flash, CortexM4::new);
    thumb(programs, "Cortex-M4 without wait states", Features::CORTEX_M4, CortexM4::events(), NONE, CortexM4::new);
}

fn cortex_m7(programs: &Programs) {
    let flash = Flash { wait_states: 7, line_bytes: 32, cache_lines: 8, prefetch_lines: 1, ..NONE };
    thumb(programs, "Cortex-M7", Features::CORTEX_M4, CortexM7::events(), flash, CortexM7::new);
}

fn riscv_code<X: Word>(seed: u64, make: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut random = Random::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let lui = |d: u32, v: u32| v & 0xFFFF_F000 | d << 7 | 0x37;
    let addi = |d: u32, s: u32, v: u32| v << 20 | s << 15 | d << 7 | 0x13;
    let mut head = vec![lui(8, RAM), addi(2, 8, 0x400), addi(9, 8, 0x7F8), lui(10, FLASH)];
    head.extend([lui(11, PORT), addi(11, 11, 0x7F8), addi(11, 11, 0x14), addi(12, 8, 0x101), addi(13, 12, 7)]);
    head.push(addi(31, 31, 1)); // counts rounds
    let head = head.iter().flat_map(|w| w.to_le_bytes()).collect();
    let back = |at: usize| {
        let to = (at as u32).wrapping_neg();
        let to = (to >> 20 & 1) << 31 | (to >> 1 & 0x3FF) << 21 | (to >> 11 & 1) << 20 | (to >> 12 & 0xFF) << 12;
        (to | 0x6F).to_le_bytes().to_vec()
    };
    program(&mut random, head, back, riscv_one::<X>, make)
}

/// A random instruction.
fn riscv_one<X: Word>(random: &mut Random) -> Vec<u8> {
    let register = |r: &mut Random| if r.below(4) == 0 { r.below(32) } else { 8 + r.below(8) };
    let target = |r: &mut Random| r.pick(&[0, 1, 3, 4, 5, 6, 7, 14, 15, 16, 28, 30, 8, 12]);
    let (d, s, t) = (target(random), register(random), register(random));
    let (f3, f7) = (random.below(8), random.pick(&[0, 0, 0x20, 1]));
    let short = random.below(64) << 20 & if X::BITS == 32 { 0x1F0_0000 } else { 0x3F0_0000 };
    let near = random.below(16) * 4 + if random.below(8) == 0 { random.below(4) } else { 0 };
    let r = |op: u32, f7: u32| f7 << 25 | t << 20 | s << 15 | f3 << 12 | d << 7 | op;
    if random.below(8) == 0 {
        // ANDI x5, x31, 1 to 7; BEQ or BNE over what follows: taken now and then
        let test = (1 + random.below(7)) << 20 | 31 << 15 | 7 << 12 | 5 << 7 | 0x13;
        let branch = 4 << 8 | 5 << 15 | random.below(2) << 12 | 0x63;
        let between = 0x0014_0413 + (random.below(2) << 20); // ADDI x8, x8, 1 or 2
        return [test, branch, between].iter().flat_map(|w| w.to_le_bytes()).collect();
    }
    let word = match random.below(if X::BITS == 64 { 14 } else { 11 }) {
        0..=2 => r(0x33, f7),
        3 if f3 & 3 == 1 => short | (f7 & u32::from(f3 == 5) << 5) << 25 | s << 15 | f3 << 12 | d << 7 | 0x13,
        3 => random.word() & 0xFFF0_0000 | s << 15 | f3 << 12 | d << 7 | 0x13,
        4 => r(0x03, 0) & 0x000F_FFFF | near << 20,
        5 => (near >> 5) << 25 | t << 20 | s << 15 | (f3 & 3) << 12 | (near & 31) << 7 | 0x23,
        6 => (1 + random.below(6)) << 8 | t << 20 | s << 15 | f3 << 12 | 0x63, // a little forward
        7 if random.below(3) == 0 => random.word() & 0xFFFF_F000 | d << 7 | random.pick(&[0x37, 0x17]),
        8 if random.below(3) == 0 => random.pick(&[0, 1, 4, 8, 12]) << 27 | t << 20 | s << 15 | 2 << 12 | d << 7 | 0x2F,
        9 if random.below(3) == 0 => 0xB000_2073 | d << 7, // csrr d, mcycle
        10 if random.below(6) == 0 => near << 20 | s << 15 | d << 7 | 0x67,
        7..=10 => return (random.word() as u16 & !3 | random.pick(&[0, 1, 2])).to_le_bytes().to_vec(),
        11 => r(0x3B, f7),
        12 => short & 0x1F0_0000 | s << 15 | 1 << 12 | d << 7 | 0x1B,
        _ => random.word() & 0xFFF0_0000 | s << 15 | d << 7 | 0x1B,
    };
    word.to_le_bytes().to_vec()
}

fn riscv<X: Word, T: Timing<Riscv<X>> + 'static>(
    programs: &Programs,
    what: &str,
    events: isa_riscv::Events,
    timing: impl Fn() -> T,
) {
    all(what, programs.clone(), |seed| {
        let make = |code: &[u8]| {
            let mut core = Riscv::<X>::new(memory(NONE, code));
            core.events = events;
            Machine::new(core, timing())
        };
        let code = riscv_code::<X>(seed, |code| faults(make(code)));
        same(what, seed, || make(&code))
    });
}

fn rv32(programs: &Programs) {
    riscv::<u32, _>(programs, "RV32", Bumblebee::events(), Bumblebee::default);
    let unaligned = isa_riscv::Events { unaligned: Some(|_, bytes| bytes), ..Bumblebee::events() };
    riscv::<u32, _>(programs, "RV32 with unaligned accesses", unaligned, Bumblebee::default);
}

fn rv64(programs: &Programs) {
    riscv::<u64, _>(programs, "RV64", Rocket::events(), Rocket::default);
}

macro_rules! tests {
    ($($core:ident $long:ident)+) => {$(
        #[test]
        fn $core() {
            super::$core(&(1..1 + super::FEW));
        }

        #[test]
        #[ignore = "long"]
        fn $long() {
            super::$core(&(1000..1000 + super::MANY));
        }
    )+};
}

use avr::{avr5, avr51, avrxmega3};
use xtensa::{lx6, lx106};

mod both_ways {
    tests! {
        cortex_m0plus cortex_m0plus_long
        cortex_m3 cortex_m3_long
        cortex_m4 cortex_m4_long
        cortex_m7 cortex_m7_long
        rv32 rv32_long
        rv64 rv64_long
        avr5 avr5_long
        avr51 avr51_long
        avrxmega3 avrxmega3_long
        lx106 lx106_long
        lx6 lx6_long
    }
}

/// Where the system lets no program make code, the interpreter does everything.
#[cfg(target_os = "linux")]
#[test]
fn without_native_code_nothing_changes() {
    unsafe extern "C" {
        fn prctl(option: i32, a: u64, b: u64, c: u64, d: u64) -> i32;
    }
    const SET_MDWE: i32 = 65;
    const REFUSE_EXEC_GAIN: u64 = 1;
    if !refused() {
        // in a process of its own, because it cannot be undone
        let this = std::env::current_exe().expect("the test has a file");
        let run = std::process::Command::new(this)
            .args(["--exact", "without_native_code_nothing_changes", "--nocapture"])
            .env(REFUSED, "1")
            .status();
        assert!(run.expect("it starts").success());
        return;
    }
    // SAFETY: prctl(2) takes these five numbers.
    if unsafe { prctl(SET_MDWE, REFUSE_EXEC_GAIN, 0, 0, 0) } != 0 {
        return println!("skipped: Linux before 6.3 cannot refuse it");
    }
    cortex_m3(&(1..20));
    rv32(&(1..20));
}
