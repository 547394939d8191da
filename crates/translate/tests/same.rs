//! Random programs in the interpreter and as native code: nothing that can be observed may differ.

#[path = "same/xtensa.rs"]
mod xtensa;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use isa::native::{Lower, Translator};
use isa::{Block, Core as _, Machine, TableRow, Timing};
use isa_avr::table::{Row, TABLE};
use isa_avr::{AVR5, AVR51, AVRXMEGA3, Avr, Class, Variant};
use isa_riscv::{Riscv, Word};
use isa_thumb::{Events, Features, Thumb};
use mcu::{Chip, Flash, Memory, PeripheralConfig, Region, Stop};
use timing::avr::{AvrE, AvrXt};
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

/// Pseudo-random numbers (xorshift64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as u32
    }

    fn below(&mut self, n: u32) -> u32 {
        self.next() % n
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u32) as usize]
    }
}

fn memory(flash_timing: Flash, code: &[u8]) -> Memory {
    let chip = Chip {
        core: "",
        clock_hz: 1_000_000,
        flash: Region { base: FLASH, size: SIZE },
        flash_in_data: Some(FLASH),
        ram: Region { base: RAM, size: SIZE },
        flash_timing,
        // pulses of the trigger are stamped with cycles
        peripherals: vec![PeripheralConfig { kind: "stm32f1-gpio", base: PORT, trigger_bit: Some(0) }],
    };
    let mut memory = Memory::new(&chip).expect("the chip is possible");
    memory.flash[..code.len()].copy_from_slice(code);
    memory.sp_limit = RAM + 0x40;
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
    /// How often native code was entered.
    static ENTERED: Cell<u64> = const { Cell::new(0) };
    /// Rows of the table that native code was made of, and all.
    static ROWS: RefCell<(BTreeSet<usize>, Vec<TableRow>)> = const { RefCell::new((BTreeSet::new(), Vec::new())) };
}

thread_local! {
    /// Text of the row that programs are about.
    static ABOUT: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// Whether programs are about the row with this text.
fn about(text: &str) -> bool {
    ABOUT.get() == Some(text)
}

/// What tells a process of this test that it must not make new code.
const REFUSED: &str = "STEELYARD_TEST_REFUSES_CODE";

/// Whether memory cannot be made executable in this process.
fn refused() -> bool {
    std::env::var_os(REFUSED).is_some()
}

/// A translator that counts.
struct Counting<C, T>(Box<dyn Translator<C, T>>);

impl<C: Lower, T> Translator<C, T> for Counting<C, T> {
    fn translate(
        &mut self,
        core: &C,
        timing: &mut T,
        blocks: &[Option<Box<Block<C>>>],
        at: usize,
    ) -> Option<Vec<usize>> {
        let made = self.0.translate(core, timing, blocks, at);
        assert_eq!(made.as_ref().is_some_and(|places| places.contains(&at)), !refused(), "there is code");
        let places = made.iter().flatten();
        let insns = places.filter_map(|&place| blocks[place].as_ref()).flat_map(|block| &block.insns);
        let rows: Vec<_> = insns.filter_map(|i| core.row(i.site.pc)).collect();
        ROWS.with_borrow_mut(|(seen, _)| seen.extend(rows));
        made
    }

    fn run(&self, core: &mut C, timing: &mut T, at: usize, cycles: u64) -> u64 {
        ENTERED.set(ENTERED.get() + 1);
        self.0.run(core, timing, at, cycles)
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}

/// Runs a program both ways, in slices; answers whether it ran to the end without a fault.
fn same<C, T>(what: &str, seed: u64, make: impl Fn() -> Machine<C, T>) -> bool
where
    C: Lower + 'static,
    T: Timing<C> + 'static,
{
    let mut random = Random(seed | 1);
    let mut plain = make();
    let translator = Box::new(Counting(translate::translator()));
    let mut native = make().with_translator(translator, Some(1 + random.below(3)));
    ROWS.with_borrow_mut(|(_, all)| *all = native.core.rows());
    for slice in 0..12 {
        let budget = u64::from(1 + random.below(if slice % 3 == 0 { 10 } else { 400 }));
        let (a, b) = (plain.run(budget), native.run(budget));
        let (a, b) = (observe(&plain, a), observe(&native, b));
        assert!(a.0 == b.0, "{what}, program {seed}, slice {slice}:\n{:?}\n{:?}", a.0, b.0);
        assert!(a.1 == b.1, "{what}, program {seed}, slice {slice}: other bytes in RAM");
        if plain.core.memory().stop.is_some() {
            return false;
        }
    }
    true
}

/// Runs programs; enough of them must loop until the end for the comparison to mean something.
fn all(what: &str, programs: Programs, one: impl Fn(u64) -> bool) {
    let (lasting, programs) = (programs.clone().filter(|&seed| one(seed)).count() as u64, programs.count() as u64);
    let entered = ENTERED.take();
    println!("{what}: {lasting} of {programs} programs do not fault, native code was entered {entered} times");
    assert!(if refused() { entered == 0 } else { entered > programs }, "{what}: native code ran {entered} times");
    assert!(lasting * 4 > programs, "{what}: only {lasting} of {programs} programs go on");
}

/// Native code has been made of every row of the table that does not say why it is never lowered; rows that random
/// programs left out have some that are about them.
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
/// head that `back` makes. Instructions that fault are left out, but now and then.
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
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
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
        let p = random.of(&patterns);
        let mut word = p.value | random.next() & !p.mask;
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

const NONE: Flash = Flash {
    wait_states: 0,
    line_bytes: 0,
    prefetch_lines: 0,
    data_wait_states: 0,
    cache_lines: 0,
    branch_overlap: 0,
    ahead_bytes: 0,
};

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
    let flash = Flash { wait_states: 3, line_bytes: 16, cache_lines: 16, branch_overlap: 1, ahead_bytes: 2, ..NONE };
    thumb(programs, "Cortex-M4", Features::CORTEX_M4, CortexM4::events(), flash, CortexM4::new);
    thumb(programs, "Cortex-M4 without wait states", Features::CORTEX_M4, CortexM4::events(), NONE, CortexM4::new);
}

fn cortex_m7(programs: &Programs) {
    let flash = Flash { wait_states: 7, line_bytes: 32, cache_lines: 8, prefetch_lines: 1, ..NONE };
    thumb(programs, "Cortex-M7", Features::CORTEX_M4, CortexM7::events(), flash, CortexM7::new);
}

fn riscv_code<X: Word>(seed: u64, make: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
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
    let target = |r: &mut Random| r.of(&[0, 1, 3, 4, 5, 6, 7, 14, 15, 16, 28, 30, 8, 12]);
    let (d, s, t) = (target(random), register(random), register(random));
    let (f3, f7) = (random.below(8), random.of(&[0, 0, 0x20, 1]));
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
        3 => random.next() & 0xFFF0_0000 | s << 15 | f3 << 12 | d << 7 | 0x13,
        4 => r(0x03, 0) & 0x000F_FFFF | near << 20,
        5 => (near >> 5) << 25 | t << 20 | s << 15 | (f3 & 3) << 12 | (near & 31) << 7 | 0x23,
        6 => (1 + random.below(6)) << 8 | t << 20 | s << 15 | f3 << 12 | 0x63, // a little forward
        7 if random.below(3) == 0 => random.next() & 0xFFFF_F000 | d << 7 | random.of(&[0x37, 0x17]),
        8 if random.below(3) == 0 => random.of(&[0, 1, 4, 8, 12]) << 27 | t << 20 | s << 15 | 2 << 12 | d << 7 | 0x2F,
        9 if random.below(3) == 0 => 0xB000_2073 | d << 7, // csrr d, mcycle
        10 if random.below(6) == 0 => near << 20 | s << 15 | d << 7 | 0x67,
        7..=10 => return (random.next() as u16 & !3 | random.of(&[0, 1, 2])).to_le_bytes().to_vec(),
        11 => r(0x3B, f7),
        12 => short & 0x1F0_0000 | s << 15 | 1 << 12 | d << 7 | 0x1B,
        _ => random.next() & 0xFFF0_0000 | s << 15 | d << 7 | 0x1B,
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

/// A random instruction, or a few that belong together.
fn avr_one(variant: Variant, ram: u32, random: &mut Random) -> Vec<u8> {
    let bytes = |words: &[u32]| words.iter().flat_map(|&w| (w as u16).to_le_bytes()).collect::<Vec<u8>>();
    let ldi = |d: u32, k: u32| 0xE000 | (k & 0xF0) << 4 | (d & 15) << 4 | k & 15;
    let pair = |d: u32, k: u32| [ldi(d, k & 0xFF), ldi(d + 1, k >> 8)];
    match random.below(40) {
        // BST r2, b (r2 counts rounds); BRTS or BRTC over INC r3
        0 | 1 => return bytes(&[0xFA20 | random.below(3), 0xF00E | random.below(2) << 10, 0x9433]),
        // SBRC or SBRS r2, b
        2 | 3 => return bytes(&[0xFC20 | random.below(3) | random.below(2) << 9]),
        // a place in the code to Z; IJMP or ICALL
        4 => {
            return bytes(&[pair(30, 0x20 + random.below(0x20)).as_slice(), &[0x9409 | random.below(2) << 8]].concat());
        }
        // a pointer to RAM, to SREG, to registers or to constants
        5 | 6 => {
            let (inside, register) = (ram + 0x20 + random.below(0x100), random.below(40));
            let constant = if variant.io == 0 { IN_DATA + random.below(SIZE) } else { inside };
            let to = random.of(&[inside, variant.io + 0x3F, register, ram + SIZE - 3, constant]);
            return bytes(&pair(random.of(&[26, 28, 30]), to));
        }
        // ADD r16, r2; RJMP to the next; LD r20, X from SREG; ADD r18, r19, which sets all the same flags
        7 => return bytes(&[pair(26, variant.io + 0x3F).as_slice(), &[0x0D02, 0xC000, 0x914C, 0x0F23]].concat()),
        // CLI; RCALL over RJMP, which is over INC r3 and RET or RETI
        8 => return bytes(&[0x94F8, 0xD001, 0xC002, 0x9433, 0x9508 | random.below(2) << 4]),
        // ELPM r20, Z+ above 64 KiB: RAMPZ from r16, which is 1 and then 0
        9 if variant.rampz != 0 => {
            let (z, out) = (pair(30, random.below(SIZE)), 0xBF0B);
            return bytes(&[&[ldi(16, 1), out], z.as_slice(), &[0x9147, ldi(16, 0), out]].concat());
        }
        _ => {}
    }
    let wanted = TABLE.iter().find(|r| about(r.text.0));
    let fits = |r: &Row| variant.find((r.pattern.value >> (r.pattern.bits - 16)) as u16).is_some();
    let row = loop {
        if let Some(row) = wanted.filter(|_| random.below(2) == 0) {
            break row;
        }
        let row = &TABLE[random.below(TABLE.len() as u32) as usize];
        // half of what is chosen may not be arithmetic, of which there is most in programs
        if fits(row) && (random.below(2) == 0 || matches!(row.class(), Class::Alu | Class::Word | Class::Multiply)) {
            break row;
        }
    };
    let p = &row.pattern;
    let near = random.below(6);
    // trigger port and beside it, SP, SREG, RAMPZ
    let port = if variant.io == 0 { 0x11 } else { 5 };
    let io = random.of(&[port, port - 1, 0x3D, 0x3E, 0x3F, 0x3F, 0x3B]);
    let (inside, register) = (ram + random.below(SIZE), random.below(32));
    let data = random.of(&[inside, variant.io + io, register, variant.io + port]);
    let mut word = p.value | random.next() & !p.mask;
    match row.class() {
        Class::LoadDirect | Class::StoreDirect => word = word & 0xFFFF_0000 | data,
        Class::Jump | Class::Call => word = p.value | (0x20 + random.below(0x20)),
        Class::JumpShort | Class::CallShort if p.mask == 0xF000 => word = p.value | near,
        Class::Branch => word = word & !0x3F8 | near << 3,
        Class::IoBit | Class::SkipIo => word = word & !0xF8 | port << 3,
        _ if matches!(row.name(), "in" | "out") => word = word & !0x60F | (io & 0x30) << 5 | io & 15,
        // pointers seldom change
        _ if word & 0x1A0 == 0x1A0 && random.below(4) > 0 => word &= !(0x100 & !p.mask),
        // there is no more program memory on the smaller chips
        Class::LoadProgram if random.below(2) == 0 => {
            return bytes(&[pair(30, random.below(SIZE)).as_slice(), &[word]].concat());
        }
        _ => {}
    }
    if p.bits == 32 { bytes(&[word >> 16, word]) } else { bytes(&[word]) }
}

/// Where flash is in the data space of chips that have it there.
const IN_DATA: u32 = 0x4000;

/// What AVR chips have where.
struct AvrMap {
    flash: u32,
    flash_in_data: Option<u32>,
    ram: u32,
    ports: (&'static str, u32),
}

impl AvrMap {
    fn memory(&self, code: &[u8]) -> Memory {
        let mut peripherals = vec![PeripheralConfig { kind: self.ports.0, base: self.ports.1, trigger_bit: Some(0) }];
        if self.ports.0 == "avr-port" {
            peripherals.push(PeripheralConfig { kind: "avr-usart-low", base: 0x29, trigger_bit: None });
        }
        let chip = Chip {
            core: "",
            clock_hz: 1_000_000,
            flash: Region { base: 0, size: self.flash },
            flash_in_data: self.flash_in_data,
            ram: Region { base: self.ram, size: SIZE },
            flash_timing: Flash { data_wait_states: 1, ..NONE },
            peripherals,
        };
        let mut memory = Memory::new(&chip).expect("the chip is possible");
        memory.flash.iter_mut().zip(0u32..).for_each(|(byte, n)| *byte = (n ^ n >> 8 ^ n >> 16) as u8);
        memory.flash[..code.len()].copy_from_slice(code);
        memory.sp_limit = self.ram + 0x40;
        memory
    }
}

fn avr<T: Timing<Avr> + 'static>(
    programs: &Programs,
    what: &str,
    variant: Variant,
    map: &AvrMap,
    timing: impl Fn() -> T,
) {
    let words = |words: &[u32]| words.iter().flat_map(|&w| (w as u16).to_le_bytes()).collect::<Vec<u8>>();
    let ldi = |d: u32, k: u32| 0xE000 | (k & 0xF0) << 4 | (d & 15) << 4 | k & 15;
    let one = |seed: u64| {
        let make = |code: &[u8]| Machine::new(Avr::new(variant, map.memory(code)), timing());
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        // the stack pointer in both orders unless it is 0 at first, pointers, a round more in r2
        let stack = map.ram + 0x100 + random.below(0x200);
        let (low, high) = ([0xBFCD], [0xBFDE]); // OUT SPL, r28; OUT SPH, r29
        let halves = if random.below(2) == 0 && variant.stack_at_end { [low, high] } else { [high, low] }.concat();
        let mut head = vec![ldi(28, stack & 0xFF), ldi(29, stack >> 8), 0x19C2]; // SUB r28, r2: often deeper than ever
        head.extend(halves);
        for (d, to) in [(26, map.ram + 0x20), (28, map.ram + 0x300), (30, map.ram + SIZE - 0x50)] {
            head.extend([ldi(d, to & 0xFF), ldi(d + 1, to >> 8)]);
        }
        // INC r2; SBI for the trigger's direction
        head.extend([0x9423, 0x9A00 | if variant.io == 0 { 0x10 } else { 4 } << 3]);
        let back = |at: usize| words(&[0xC000 | (at as u32 / 2 + 1).wrapping_neg() & 0xFFF]);
        let one = |random: &mut Random| avr_one(variant, map.ram, random);
        let code = program(&mut random, words(&head), back, one, |code| faults(make(code)));
        same(what, seed, || make(&code))
    };
    all(what, programs.clone(), one);
    every_row(what, one);
}

const MEGA: AvrMap = AvrMap { flash: SIZE, flash_in_data: None, ram: 0x100, ports: ("avr-port", 0x23) };

fn avr5(programs: &Programs) {
    avr(programs, "AVR5", AVR5, &MEGA, || AvrE);
}

fn avr51(programs: &Programs) {
    let map = AvrMap { flash: 0x1_0800, flash_in_data: None, ram: 0x200, ports: ("avr-port", 0x23) };
    avr(programs, "AVR51", AVR51, &map, || AvrE);
}

fn avrxmega3(programs: &Programs) {
    let map = AvrMap { flash: SIZE, flash_in_data: Some(IN_DATA), ram: 0x2800, ports: ("megaavr0-vport", 0x10) };
    avr(programs, "AVRxmega3", AVRXMEGA3, &map, || AvrXt);
}

/// Instructions of AVR as words.
mod words {
    pub const INC_R2: u32 = 0x9423;
    pub fn ldi(d: u32, k: u32) -> u32 {
        0xE000 | (k & 0xF0) << 4 | (d & 15) << 4 | k & 15
    }
    /// A number to two registers.
    pub fn pair(d: u32, k: u32) -> [u32; 2] {
        [ldi(d, k & 0xFF), ldi(d + 1, k >> 8)]
    }
    /// LDD rd, Z+q.
    pub fn ldd(d: u32, q: u32) -> u32 {
        0x8000 | d << 4 | q & 7 | (q & 0x18) << 7 | (q & 0x20) << 8
    }
    /// STD Z+q, rd.
    pub fn std(q: u32, d: u32) -> u32 {
        ldd(d, q) | 0x200
    }
    pub fn push(r: u32) -> u32 {
        0x920F | r << 4
    }
    pub fn pop(r: u32) -> u32 {
        0x900F | r << 4
    }
    /// ADIW r30, k.
    pub fn adiw(k: u32) -> u32 {
        0x9630 | (k & 0x30) << 2 | k & 15
    }
    /// Skips when bit `b` of r2, which counts rounds, is clear.
    pub fn sbrc(b: u32) -> u32 {
        0xFC20 | b
    }
    /// A place that goes up by one each round to Z, or down.
    pub fn slide(from: u32, up: bool) -> Vec<u32> {
        let step = if up { [0x0DE2, 0x1DF3] } else { [0x19E2, 0x09F3] }; // ADD or SUB r30, r2; with carry r31, r3
        [pair(30, from), step].concat()
    }
    /// One place to a pair in rounds with even numbers, another one in others.
    pub fn either(d: u32, even: u32, odd: u32) -> Vec<u32> {
        [pair(d, even).as_slice(), &[sbrc(0), ldi(d, odd & 0xFF), sbrc(0), ldi(d + 1, odd >> 8)]].concat()
    }
}

/// A program that does `setup` and then `body` again and again.
fn rounds(setup: &[u32], body: &[u32]) -> Vec<u8> {
    let back = 0xC000 | (body.len() as u32 + 2).wrapping_neg() & 0xFFF;
    let all = [setup, body, &[words::INC_R2, back]].concat();
    all.iter().flat_map(|&w| (w as u16).to_le_bytes()).collect()
}

/// Accesses that are looked at together: at the ends of RAM, where addresses wrap, on one way only, and where the
/// stack gets deeper than it was or there is no RAM.
#[test]
fn accesses_near_each_other() {
    use words::{adiw, either, ldd, ldi, pair, pop, push, sbrc, slide, std};
    let (ram, end) = (MEGA.ram, MEGA.ram + SIZE);
    let (ld_z, ld_z_up, ld_z_down, st_z_up, st_z_down) = (0x8100, 0x9101, 0x9102, 0x9321, 0x9322);
    // LD r17, X+; LD r18, X+; LD r19, X; ST X, r19
    let through_x = [0x911D, 0x912D, 0x913C, 0x933C];
    let (sbi, cbi) = (0x9A28, 0x9828); // the trigger
    let stack = |at: u32| [pair(28, at).as_slice(), &[0xBFDE, 0xBFCD, 0x9A20]].concat(); // and its direction
    let near_end = slide(end - 0x20, true);
    let programs: [(&str, Vec<u32>, Vec<u32>); 17] = [
        (
            "end of RAM",
            vec![],
            [&*near_end, &[ldd(16, 0), std(1, 16), adiw(4), st_z_up, ld_z_down, std(3, 16)]].concat(),
        ),
        // MOVW r28, r30; LDD r17, Y+6
        ("copied pointer", vec![], [&*near_end, &[std(0, 2), 0x01EF, 0x811E, adiw(2), std(1, 17)]].concat()),
        ("start of RAM", vec![], [&*slide(ram + 0x20, false), &[st_z_down, ld_z_down, std(5, 16)]].concat()),
        (
            "above 16 bits",
            vec![],
            [&*either(30, 0x2F0, 0xFFF0), &[ldd(16, 20), std(21, 2), adiw(32), ld_z, std(10, 16)]].concat(),
        ),
        ("below 0", vec![], [&*either(30, 0x202, 2), &[ld_z_down, ldd(17, 3), ld_z_down, std(6, 17)]].concat()),
        ("first one skipped", vec![], [&*near_end, &[sbrc(0), ldd(16, 9), ldd(17, 4), std(2, 17)]].concat()),
        (
            "pointer changed on one way",
            vec![],
            [
                &*near_end,
                &[std(0, 2), sbrc(0), ld_z_up, ldd(17, 4), sbrc(1), adiw(8), ld_z, sbrc(2), st_z_up, std(1, 2)],
            ]
            .concat(),
        ),
        ("last one skipped", vec![], [&*near_end, &[ldd(16, 0), sbrc(1), std(12, 2), std(1, 16)]].concat()),
        // BRTC over the rest; BST r2, 1
        ("branch between", vec![], [&*near_end, &[ldd(16, 0), 0xFA21, 0xF416, std(12, 2), std(1, 16)]].concat()),
        ("deeper", stack(ram + 0x60), vec![push(2), push(16), pop(17), push(18), pop(19)]),
        ("deeper on one way", stack(ram + 0x60), vec![push(2), pop(16), sbrc(0), push(16), push(17), pop(18)]),
        // RCALL to the next one but one over RJMP, which is over RET
        ("calls", stack(ram + 0x60), vec![push(2), 0xD001, 0xC002, push(3), 0x9508, pop(16)]),
        ("up to the end", stack(end - 0x18), vec![push(2), pop(16), pop(17)]),
        (
            "trigger between",
            stack(ram + 0x200),
            vec![push(2), push(2), sbi, push(2), push(2), pop(4), cbi, pop(4), pop(4), pop(4)],
        ),
        // OUT PORT, r16; STS PORT, r17
        (
            "trigger between, as a byte",
            stack(ram + 0x200),
            vec![ldi(16, 1), ldi(17, 0), push(2), 0xB905, push(2), push(2), 0x9310, 0x25, pop(4), pop(4), pop(4)],
        ),
        (
            "SREG and the stack pointer",
            stack(ram + 0x200),
            [&*either(26, 0x25D, 0x5D), &[0x0D02], &through_x, &[push(2), pop(4)]].concat(),
        ),
        ("port", stack(ram + 0x200), [&*either(30, 0x225, 0x25), &[std(0, 2), push(2), std(0, 3), pop(4)]].concat()),
    ];
    programs.iter().for_each(|(what, setup, body)| round_and_round(what, setup, body));
}

/// Loops that go to their own start: with exits, skips, handlers, and through the end of RAM, registers and SREG.
#[test]
fn loops() {
    use words::{ldd, ldi, pair, pop, push, sbrc, slide, std};
    let end = MEGA.ram + SIZE;
    let (ld_z_up, st_z_up, ld_x_up, brne) = (0x9101, 0x9301, 0x910D, 0xF401);
    let (add_r4, adc_r5, dec_r18) = (0x0E40, 0x1E50, 0x952A);
    // so many times: r18 counts down
    let times = |n: u32, body: &[u32]| {
        let back = brne | ((body.len() as u32 + 2).wrapping_neg() & 0x7F) << 3;
        [&[ldi(18, n)], body, &[dec_r18, back]].concat()
    };
    let stack = [pair(28, end - 0x80).as_slice(), &[0xBFDE, 0xBFCD, 0x9A20]].concat(); // and the trigger's direction
    let programs: [(&str, Vec<u32>); 9] = [
        ("sum", times(30, &[add_r4, adc_r5])),
        ("copy", [&*slide(end - 0x30, true), &pair(26, 0x300), &times(20, &[ld_x_up, st_z_up])].concat()),
        // LSL r24; ROL r25; BRCC over EOR r24, r18
        ("shift", times(25, &[0x0F88, 0x1F99, 0xF408, 0x2782])),
        ("skip", times(25, &[sbrc(0), 0x9443, add_r4])),
        // the stack pointer and SREG
        ("to SREG", [pair(30, 0x5D).as_slice(), &times(3, &[add_r4, ld_z_up, adc_r5])].concat()),
        ("from registers", [pair(30, 0).as_slice(), &times(30, &[add_r4, adc_r5, ld_z_up])].concat()),
        // over itself: r4 to r17
        ("to registers", [pair(30, 4).as_slice(), &times(14, &[adc_r5, st_z_up])].concat()),
        // OUT PORT, r18; IN r16, PORT
        ("port", times(20, &[push(2), 0xB925, 0xB105, add_r4, pop(17)])),
        ("ends", [&*slide(end - 0x20, true), &times(12, &[ldd(16, 0), std(1, 18), add_r4]), &[0x2E40]].concat()),
    ];
    programs.iter().for_each(|(what, body)| round_and_round(what, &stack, body));
}

/// Does `setup` and then `body` again and again, both ways.
fn round_and_round(what: &str, setup: &[u32], body: &[u32]) {
    let code = rounds(setup, body);
    ENTERED.set(0);
    let make = || Machine::new(Avr::new(AVR5, MEGA.memory(&code)), AvrE);
    let lasting = (1..40).filter(|&seed| same(what, seed, make)).count();
    println!("{what}: {lasting} last, native code was entered {} times", ENTERED.get());
    assert!(ENTERED.get() > 40, "{what}: native code was entered {} times", ENTERED.get());
}

/// A program waits for bytes and sends them back: it stops where it does in the interpreter.
#[test]
fn waits_for_a_peripheral() {
    // SBIS UCSRA, 7; RJMP back; IN r16, UDR; PUSH r16; OUT UDR, r16; POP r17; SBIC UCSRA, 7; INC r4
    let code = rounds(&[], &[0x9B5F, 0xCFFE, 0xB10C, words::push(16), 0xB90C, words::pop(17), 0x995F, 0x9443]);
    for seed in 1..60 {
        let mut random = Random(seed);
        let make = || Machine::new(Avr::new(AVR5, MEGA.memory(&code)), AvrE);
        let mut plain = make();
        let translator = Box::new(Counting(translate::translator()));
        let mut native = make().with_translator(translator, Some(1 + random.below(3)));
        ENTERED.set(0);
        let mut sent = 0;
        for slice in 0..60 {
            let bytes: Vec<u8> = (0..random.below(4)).map(|_| random.next() as u8).collect();
            let budget = u64::from(1 + random.below(if slice % 3 == 0 { 10 } else { 100 }));
            let [a, b] = [&mut plain, &mut native].map(|m| {
                m.core.memory_mut().host.to_chip.extend(&bytes);
                let stop = m.run(budget);
                (observe(m, stop), m.core.memory().host.from_chip.clone())
            });
            assert!(a == b, "program {seed}, slice {slice}:\n{:?}\n{:?}", a.0.0, b.0.0);
            sent = a.1.len();
        }
        assert!(sent > 20 && ENTERED.get() > 0, "{sent} bytes, native code was entered {} times", ENTERED.get());
    }
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
        // in a process of its own: there is no way back
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
