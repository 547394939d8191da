//! AVR: random instructions of every definition, neighbouring accesses, loops that go to their own start.

use isa::{Core as _, Machine, Timing};
use isa_avr::table::{Definition, TABLE};
use isa_avr::{AVR5, AVR51, AVRXMEGA3, Avr, Class, Variant};
use mcu::{Chip, Flash, Memory, PeripheralConfig};
use timing::avr::{AvrE, AvrXt};

use super::{NONE, Programs, Random, SIZE, about, all, every_row, faults, native, observe, program, same, translator};

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
        // an address in the code to Z; IJMP or ICALL
        4 => {
            return bytes(&[pair(30, 0x20 + random.below(0x20)).as_slice(), &[0x9409 | random.below(2) << 8]].concat());
        }
        // a pointer to RAM, to SREG, to registers or to constants
        5 | 6 => {
            let (inside, register) = (ram + 0x20 + random.below(0x100), random.below(40));
            let constant = if variant.io == 0 { IN_DATA + random.below(SIZE) } else { inside };
            let to = random.pick(&[inside, variant.io + 0x3F, register, ram + SIZE - 3, constant]);
            return bytes(&pair(random.pick(&[26, 28, 30]), to));
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
    let fits = |r: &Definition| variant.find((r.pattern.value >> (r.pattern.bits - 16)) as u16).is_some();
    let row = loop {
        if let Some(row) = wanted.filter(|_| random.below(2) == 0) {
            break row;
        }
        let row = &TABLE[random.below(TABLE.len() as u32) as usize];
        // half of the choices are not arithmetic, which dominates programs
        if fits(row) && (random.below(2) == 0 || matches!(row.class(), Class::Alu | Class::Word | Class::Multiply)) {
            break row;
        }
    };
    let p = &row.pattern;
    let near = random.below(6);
    // trigger port and beside it, SP, SREG, RAMPZ
    let port = if variant.io == 0 { 0x11 } else { 5 };
    let io = random.pick(&[port, port - 1, 0x3D, 0x3E, 0x3F, 0x3F, 0x3B]);
    let (inside, register) = (ram + random.below(SIZE), random.below(32));
    let data = random.pick(&[inside, variant.io + io, register, variant.io + port]);
    let mut word = p.value | random.word() & !p.mask;
    match row.class() {
        Class::LoadDirect | Class::StoreDirect => word = word & 0xFFFF_0000 | data,
        Class::Jump | Class::Call => word = p.value | (0x20 + random.below(0x20)),
        Class::JumpShort | Class::CallShort if p.mask == 0xF000 => word = p.value | near,
        Class::Branch => word = word & !0x3F8 | near << 3,
        Class::IoBit | Class::SkipIo => word = word & !0xF8 | port << 3,
        _ if matches!(row.name(), "in" | "out") => word = word & !0x60F | (io & 0x30) << 5 | io & 15,
        // pointers rarely change
        _ if word & 0x1A0 == 0x1A0 && random.below(4) > 0 => word &= !(0x100 & !p.mask),
        // the smaller chips do not have more program memory
        Class::LoadProgram if random.below(2) == 0 => {
            return bytes(&[pair(30, random.below(SIZE)).as_slice(), &[word]].concat());
        }
        _ => {}
    }
    if p.bits == 32 { bytes(&[word >> 16, word]) } else { bytes(&[word]) }
}

/// Where flash is in the data space of chips that have it there.
const IN_DATA: u32 = 0x4000;

/// Addresses in AVR chips.
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
            flash_in_data: self.flash_in_data,
            flash_timing: Flash { data_wait_states: 1, ..NONE },
            peripherals,
            ..Chip::of_memories((0, self.flash), (self.ram, SIZE))
        };
        let mut memory = Memory::new(&chip).expect("the chip is possible");
        memory.flash.iter_mut().zip(0u32..).for_each(|(byte, n)| *byte = (n ^ n >> 8 ^ n >> 16) as u8);
        memory.flash[..code.len()].copy_from_slice(code);
        (memory.sp_limit, memory.sp_top) = (self.ram + 0x40, self.ram + 0x2F0);
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
        let mut random = Random::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
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

pub fn avr5(programs: &Programs) {
    avr(programs, "AVR5", AVR5, &MEGA, || AvrE);
}

pub fn avr51(programs: &Programs) {
    let map = AvrMap { flash: 0x1_0800, flash_in_data: None, ram: 0x200, ports: ("avr-port", 0x23) };
    avr(programs, "AVR51", AVR51, &map, || AvrE);
}

pub fn avrxmega3(programs: &Programs) {
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

/// Accesses that are checked together: at the ends of RAM, where addresses wrap, on one path only, and where the stack
/// gets deeper or leaves RAM.
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
    native::entered();
    let make = || Machine::new(Avr::new(AVR5, MEGA.memory(&code)), AvrE);
    let lasting = (1..40).filter(|&seed| same(what, seed, make)).count();
    let entered = native::entered();
    println!("{what}: {lasting} last, native code was entered {entered} times");
    assert!(entered > 40, "{what}: native code was entered {entered} times");
}

/// A program waits for bytes and sends them back: it stops where it does in the interpreter.
#[test]
fn waits_for_a_peripheral() {
    // SBIS UCSRA, 7; RJMP back; IN r16, UDR; PUSH r16; OUT UDR, r16; POP r17; SBIC UCSRA, 7; INC r4
    let code = rounds(&[], &[0x9B5F, 0xCFFE, 0xB10C, words::push(16), 0xB90C, words::pop(17), 0x995F, 0x9443]);
    for seed in 1..60 {
        let mut random = Random::new(seed);
        let make = || Machine::new(Avr::new(AVR5, MEGA.memory(&code)), AvrE);
        let mut plain = make();
        let mut native = make().with_translator(translator(true), Some(1 + random.below(3)));
        native::entered();
        let mut sent = 0;
        for slice in 0..60 {
            let bytes: Vec<u8> = (0..random.below(4)).map(|_| random.word() as u8).collect();
            let budget = u64::from(1 + random.below(if slice % 3 == 0 { 10 } else { 100 }));
            let [a, b] = [&mut plain, &mut native].map(|m| {
                m.core.memory_mut().host.to_chip.extend(&bytes);
                let stop = m.run(budget);
                (observe(m, stop), m.core.memory().host.from_chip.clone())
            });
            assert!(a == b, "program {seed}, slice {slice}:\n{:?}\n{:?}", a.0.0, b.0.0);
            sent = a.1.len();
        }
        let entered = native::entered();
        assert!(sent > 20 && entered > 0, "{sent} bytes, native code was entered {entered} times");
    }
}
