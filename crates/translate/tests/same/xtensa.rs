//! Xtensa: random instructions of every definition, hardware loops, and functions whose calls nest deeper than there
//! are registers.

use isa::{Machine, Timing};
use isa_xtensa::{Events, Features, Xtensa, table};
use lockstep::xtensa::{Code, window_handlers};
use timing::xtensa_lx6::Lx6;
use timing::xtensa_lx106::Lx106;

use super::{FLASH, NONE, PORT, Programs, RAM, Random, SIZE, about, all, every_row, faults, memory, same};

/// Addresses in code: functions with windows, one without, the vectors of windows.
const FUNCTIONS: [u32; 3] = [0x300, 0x340, 0x380];
const PLAIN: u32 = 0x3C0;
const VECTORS: u32 = 0x400;
/// Random code ends before this.
const BODY_END: usize = 0x2F0;
const VECBASE: u32 = 231;
const PS: u32 = 230;

/// Adds a call to an address that moves the window by so many groups.
fn call(code: &mut Code, groups: u32, to: u32) {
    let offset = to.wrapping_sub((code.here() & !3) + 4) >> 2 & 0x3_FFFF;
    code.op(["call0", "call4", "call8", "call12"][groups as usize], &[('i', offset)]);
}

/// Code that begins with these bytes; addresses are those in flash.
fn code_of(bytes: Vec<u8>) -> Code {
    Code { base: 0, bytes }
}

/// The start of every program; the second part is where its rounds begin.
fn head(windows: bool) -> (Code, u32) {
    let mut code = code_of(Vec::new());
    code.jump(0x28);
    code.bytes.resize(4, 0);
    let words =
        [RAM + 0x600, RAM + 0x100, RAM + 0x201, FLASH + 8, PORT + 12, RAM + SIZE - 8, FLASH + VECTORS, 0x4_0000];
    words.iter().for_each(|&w| code.put(w, 32));
    code.bytes.resize(0x28, 0);
    if windows {
        for (n, special) in [(7, VECBASE), (8, PS)] {
            code.literal(2, 4 * n);
            code.op("wsr", &[('t', 2), ('i', special)]);
        }
        code.op("rsync", &[]);
    }
    let start = code.here();
    (1..=6).for_each(|n| code.literal(n, 4 * n));
    code.op("addi", &[('t', 7), ('s', 7), ('i', 1)]); // counts rounds
    (code, start)
}

/// Functions at their addresses, and vectors that save and restore windows (4.7.1.5).
fn rest(code: &mut Code) {
    let at = |code: &mut Code, place: u32| code.bytes.resize(place as usize, 0);
    for (k, place) in FUNCTIONS.into_iter().enumerate() {
        // each calls the next with one less; the last instructions are those of the shallowest
        let (groups, next) = ((k as u32 + 1) % 3 + 1, FUNCTIONS[(k + 1) % 3]);
        at(code, place);
        code.op("entry", &[('s', 1), ('i', 8)]);
        code.op("extui", &[('r', 3), ('t', 2), ('w', 2)]);
        code.op("beqz", &[('s', 3), ('i', 5)]);
        code.op("addi", &[('t', 4 * groups + 2), ('s', 3), ('i', 0xFF)]);
        call(code, groups, next);
        code.op("xor", &[('r', 2), ('s', 3), ('t', 4 * groups + 2)]);
        code.op("retw", &[]);
    }
    at(code, PLAIN);
    code.op("addi", &[('t', 2), ('s', 2), ('i', 4)]);
    code.op("ret", &[]);
    window_handlers(code, VECTORS as usize);
    code.bytes.resize(SIZE as usize, 0);
}

/// A random instruction, or a few that belong together.
fn one(features: Features, random: &mut Random, code: &mut Code) {
    let windows = features.windowed();
    let count = 8 + random.below(8);
    match random.below(30) {
        0 if windows => {
            // a hardware loop over a few instructions
            let times = random.below(5);
            code.op("movi", &[('t', count), ('i', times)]);
            let name = random.pick(&["loopnez", "loopgtz", "loop"]);
            let mut body = code_of(vec![0; code.bytes.len() + 3]);
            (0..1 + random.below(3)).for_each(|_| row(features, random, &mut body));
            let name = if times == 0 { "loopnez" } else { name };
            code.op(name, &[('s', count), ('i', body.here() - code.here() - 4)]);
            code.bytes.extend(&body.bytes[code.bytes.len()..]);
        }
        1 | 2 if windows => {
            let (k, groups) = (random.below(3), 1 + random.below(3));
            code.op("movi", &[('t', 4 * groups + 2), ('i', random.below(8))]);
            call(code, groups, FUNCTIONS[k as usize]);
        }
        // branches over one instruction by the bits of the round
        3..=5 => {
            let name = random.pick(&["bbci", "bbsi"]);
            code.op(name, &[('s', 7), ('b', random.below(3)), ('i', 2)]);
            code.op("addi", &[('t', count), ('s', count), ('i', 3)]);
        }
        6 => call(code, 0, PLAIN),
        7 => {
            // jumps and calls to an address in a register, which is where CALL0 comes back to, and a little further
            while code.here() % 4 != 1 {
                code.op(if code.here() % 4 == 3 { "nop.n" } else { "nop" }, &[]);
            }
            let next = code.here() + 3;
            call(code, 0, next);
            let name = random.pick(&["jx", "callx0"]);
            code.op("addi", &[('t', 0), ('s', 0), ('i', 6 + 3 * random.below(2))]);
            code.op(name, &[('s', 0)]);
            code.op("addi", &[('t', count), ('s', count), ('i', 3)]);
        }
        8 if windows => {
            let k = random.below(3);
            code.op("movi", &[('t', 4 * k + 6), ('i', random.below(8))]);
            // the vectors' address and the way to the function from there
            code.literal(4, 4 * 7);
            code.op("addmi", &[('t', 4), ('s', 4), ('i', 0xFF)]);
            code.op("addi", &[('t', 4), ('s', 4), ('i', 0x40 * random.below(2))]);
            code.op(["callx4", "callx8", "callx12"][k as usize], &[('s', 4)]);
        }
        9 => {
            // a shift of each kind after what sets its amount
            let name = random.pick(&["ssr", "ssl", "ssa8l", "ssa8b", "ssai"]);
            code.op(name, &[('s', 7), ('i', random.below(16)), ('I', random.below(2))]);
            let (s, t) = (8 + random.below(8), 8 + random.below(8));
            let t = if random.below(2) == 0 { s } else { t };
            code.op(random.pick(&["src", "sll", "srl", "sra"]), &[('r', count), ('s', s), ('t', t)]);
        }
        _ => row(features, random, code),
    }
}

/// A random instruction of a random definition.
fn row(features: Features, random: &mut Random, code: &mut Code) {
    let rows: Vec<_> = table::encodings(features).collect();
    let about = rows.iter().find(|(text, _)| about(text)).filter(|_| random.below(2) == 0);
    let (text, p) = about.copied().unwrap_or_else(|| random.pick(&rows));
    let mut word = p.value | random.word() & !p.mask & (u64::MAX >> (64 - p.bits)) as u32;
    if text.contains("{to}") {
        // a little forward, or a constant before
        let near = if text.starts_with("l32r") { 0xFFFF - random.below(8) } else { random.below(6) };
        word = p.with(word, 'i', near);
        word = if p.bits == 16 { p.with(word, 'I', 0) } else { word };
    } else if text.contains(", {b}, {imm}") && random.below(8) > 0 {
        word = p.with(word, 'i', random.below(4));
        word = p.with(word, 's', 1 + random.below(6));
    } else if text.starts_with("entry") {
        word = p.with(word, 's', 1);
    } else if text.contains("{special}") {
        word = p.with(word, 'i', random.pick(&[3, 72, 73, 177, 209, 209, 209, 230, 234, 0, 1, 2]));
    } else if text.contains("{user}") && random.below(4) > 0 {
        word = p.with(word, 'i', 231);
    }
    // pointers rarely change
    for letter in ['r', 't'] {
        if random.below(4) > 0 && p.fields(u32::MAX).get(letter) == 15 {
            word = p.with(word, letter, 8 + random.below(8));
        }
    }
    code.put(word, p.bits);
}

fn code(features: Features, seed: u64, faulty: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut random = Random::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let (mut code, start) = head(features.windowed());
    let filled = |code: &Code| {
        let mut code = code_of(code.bytes.clone());
        while code.bytes.len() < BODY_END {
            code.jump(start);
        }
        rest(&mut code);
        code.bytes
    };
    let wanted = code.bytes.len() + 4 + random.below(90) as usize;
    while code.bytes.len() < wanted {
        let mut longer = code_of(code.bytes.clone());
        one(features, &mut random, &mut longer);
        if !faulty(&filled(&longer)) || random.below(200) == 0 {
            code = longer;
        }
    }
    filled(&code)
}

fn xtensa<T: Timing<Xtensa> + 'static>(
    programs: &Programs,
    what: &str,
    features: Features,
    events: Events,
    timing: impl Fn() -> T,
) {
    let one = |seed| {
        let make = |code: &[u8]| {
            let mut core = Xtensa::new(memory(NONE, code), features, FLASH);
            core.events = events;
            Machine::new(core, timing())
        };
        let code = code(features, seed, |code| faults(make(code)));
        same(what, seed, || make(&code))
    };
    all(what, programs.clone(), one);
    every_row(what, one);
}

pub fn lx106(programs: &Programs) {
    xtensa(programs, "LX106", Features::LX106, Lx106::events(), Lx106::default);
}

pub fn lx6(programs: &Programs) {
    xtensa(programs, "LX6", Features::LX6, Lx6::events(), || Lx6);
    xtensa(programs, "LX6 with 32 registers", Features::LX6.with_registers(32), Lx6::events(), || Lx6);
}
