//! Random programs on our cores and in QEMU; the states that they log are compared.
//!
//! QEMU's `sim` machine has the LX106 itself. It has no LX6: the `de212` core stands in for it, which has
//! the windowed registers (32 of them), hardware loops and most of the arithmetic.

mod common;

use std::fmt::Write as _;
use std::process::{Command, Stdio};

use common::{CODE, Code, One, RAM, RAM_BYTES, Random, core, with_field};
use isa::{Core as _, Machine, Pattern};
use isa_xtensa::{Class, Features, Xtensa, table};
use mcu::{FaultKind, Stop};

/// L32R reaches this far back: random bytes that it can read.
const PAD: u32 = 0x4_0000;
/// Loads and stores stay near the middle of this many bytes from the start of RAM.
const WINDOW: u32 = 0x1_0000;
/// Where the log starts.
const LOG: u32 = RAM + WINDOW;
/// Words that one sequence logs: a0 to a15, SAR.
const WORDS: u32 = 17;
const EXCSAVE1: u32 = 209;
const EXCSAVE2: u32 = 210;
const SAR: u32 = 3;
const VECBASE: u32 = 231;
const PS: u32 = 230;
const WINDOWBASE: u32 = 72;
const WINDOWSTART: u32 = 73;

/// A core of QEMU's and ours that it is held against.
struct Pair {
    qemu: &'static str,
    ours: Features,
    /// Instructions that only ours has.
    without: &'static [&'static str],
}

const LX106: Pair = Pair { qemu: "lx106", ours: Features::LX106, without: &[] };
const DE212: Pair =
    Pair { qemu: "de212", ours: Features::LX6.with_registers(32), without: &["muluh", "mulsh", "s32c1i"] };

/// A program: its image, which starts at [`CODE`], and the bytes of log that it writes.
struct Program {
    image: Vec<u8>,
    log: u32,
}

/// An executable ELF file: the image, and at the reset vector a jump to it.
fn elf(image: &[u8]) -> Vec<u8> {
    const RESET: u32 = 0x5000_0000;
    let mut hop = Code { base: RESET, bytes: Vec::new() };
    hop.jump(RESET + 8);
    hop.align(4);
    hop.word(CODE);
    hop.literal(0, RESET + 4);
    hop.op("jx", &[('s', 0)]);
    let mut f = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    let half = |f: &mut Vec<u8>, v: u16| f.extend(v.to_le_bytes());
    let word = |f: &mut Vec<u8>, v: u32| f.extend(v.to_le_bytes());
    half(&mut f, 2); // executable
    half(&mut f, 94); // Xtensa
    [1, CODE, 52, 0, 0].iter().for_each(|&v| word(&mut f, v));
    [52, 32, 2, 40, 0, 0].iter().for_each(|&v| half(&mut f, v));
    for (at, base, bytes) in [(0x800, RESET, &hop.bytes[..]), (0x1000, CODE, image)] {
        let size = bytes.len() as u32;
        [1, at, base, base, size, size, 7, 4].iter().for_each(|&v| word(&mut f, v));
    }
    f.resize(0x800, 0);
    f.extend(&hop.bytes);
    f.resize(0x1000, 0);
    f.extend(image);
    f
}

/// RAM up to the end of the log after the program in QEMU; none when it is not installed.
fn theirs(pair: &Pair, program: &Program, name: &str) -> Option<Vec<u8>> {
    let path = std::env::temp_dir().join(format!("steelyard-xtensa-{name}-{}.elf", std::process::id()));
    std::fs::write(&path, elf(&program.image)).expect("the temporary directory is writable");
    let out = Command::new("timeout")
        .args(["10", "qemu-system-xtensa", "-M", "sim", "-m", "64M", "-cpu", pair.qemu, "-display", "none"])
        .args(["-serial", "none", "-monitor", "none", "-semihosting", "-kernel"])
        .arg(&path)
        .stdin(Stdio::null())
        .output();
    let _ = std::fs::remove_file(&path);
    let out = out.ok().filter(|o| o.status.code() != Some(127));
    if out.is_none() {
        eprintln!("skipped: qemu-system-xtensa is not installed");
    }
    out.map(|o| {
        assert!(!o.stdout.is_empty(), "no output: {}", String::from_utf8_lossy(&o.stderr));
        o.stdout
    })
}

/// The same here; with `stepping`, one instruction for each block.
fn ours(pair: &Pair, program: &Program, stepping: bool) -> Vec<u8> {
    let mut core = core(pair.ours);
    core.memory_mut().flash[..program.image.len()].copy_from_slice(&program.image);
    let mut machine = Machine::new(core, One);
    let stop = loop {
        let stop = if stepping { machine.step() } else { machine.run(1 << 40) };
        if !(stepping && stop == Stop::Budget) {
            break stop;
        }
    };
    match stop {
        Stop::Fault(f) if f.kind == FaultKind::Trap => {}
        other => eprintln!("our core ended with {other:?}"),
    }
    machine.core.memory().ram[..(WINDOW + program.log) as usize].to_vec()
}

/// Code of the end: writes RAM up to `end` to the standard output and exits. Our core stops at the first
/// semihosting call.
fn finish(code: &mut Code, end: u32) {
    code.align(4);
    let literals = code.here();
    code.word(RAM);
    code.word(end);
    code.literal(6, literals);
    code.literal(7, literals + 4);
    let again = code.here();
    code.op("movi", &[('t', 2), ('i', 4)]); // write
    code.op("movi", &[('t', 3), ('i', 1)]);
    code.op("mov.n", &[('t', 4), ('s', 6)]);
    code.op("sub", &[('r', 5), ('s', 7), ('t', 6)]);
    code.op("movi", &[('t', 8), ('I', 4)]);
    code.op("bltu", &[('s', 5), ('t', 8), ('i', 1)]); // over the next one
    code.op("mov.n", &[('t', 5), ('s', 8)]);
    code.op("simcall", &[]);
    code.op("add", &[('r', 6), ('s', 6), ('t', 2)]);
    let offset = again.wrapping_sub(code.here() + 4);
    code.op("bltu", &[('s', 6), ('t', 7), ('i', offset & 0xFF)]);
    code.op("movi", &[('t', 2), ('i', 1)]); // exit
    code.op("movi", &[('t', 3), ('i', 0)]);
    code.op("simcall", &[]);
}

/// What the program starts with: PS, the vectors, random bytes.
fn begin(random: &mut Random, ps: u32, vectors: impl Fn(&mut Code)) -> Code {
    let mut code = Code { base: CODE, bytes: Vec::new() };
    let first = CODE + 0x400 + PAD;
    code.jump(CODE + 16);
    code.align(8);
    code.word(CODE + 0x400);
    code.word(ps);
    code.literal(2, CODE + 8);
    code.write_special(2, VECBASE);
    code.literal(2, CODE + 12);
    code.write_special(2, PS);
    code.op("rsync", &[]);
    // J reaches half as far as the pad is long
    code.jump(CODE + 0x400 + 0x1_0000);
    code.bytes.resize(0x400, 0);
    vectors(&mut code);
    code.align(4);
    while code.here() < first {
        let word = random.word();
        code.word(word);
    }
    let mut hop = Code { base: CODE + 0x400 + 0x1_0000, bytes: Vec::new() };
    hop.jump(CODE + 0x400 + 0x2_8000);
    let mut hop2 = Code { base: CODE + 0x400 + 0x2_8000, bytes: Vec::new() };
    hop2.jump(first);
    for h in [hop, hop2] {
        let at = (h.base - CODE) as usize;
        code.bytes[at..at + 3].copy_from_slice(&h.bytes);
    }
    code
}

struct Generator<'a> {
    pair: &'a Pair,
    random: Random,
    rows: Vec<(&'static str, Pattern)>,
    used: Vec<bool>,
    scratch: Xtensa,
    /// Registers that hold an address in the window.
    pointers: u16,
    /// SSL or SSA8B was used. SAR is 32 behind it when the amount is 0; a following SRL or SRA then gives 0
    /// or signs here, as with 32 from WSR on both, and the unshifted value in QEMU.
    left: bool,
}

impl<'a> Generator<'a> {
    fn new(pair: &'a Pair, seed: u64) -> Self {
        let name = |text: &'static str| text.split(' ').next().unwrap_or("");
        let rows: Vec<_> = table::encodings(pair.ours).filter(|(t, _)| !pair.without.contains(&name(t))).collect();
        let used = vec![false; rows.len()];
        Self { pair, random: Random::new(seed), rows, used, scratch: core(pair.ours), pointers: 0, left: false }
    }

    /// A random instruction at `pc` for which `fits` holds, with the registers that it writes.
    fn pick(&mut self, pc: u32, keep: u16, fits: impl Fn(Class) -> bool) -> (u32, u32, Class, Pattern) {
        loop {
            let row = self.random.below(self.rows.len() as u32) as usize;
            let (text, p) = self.rows[row];
            if self.left && (text.starts_with("srl ") || text.starts_with("sra ")) {
                continue;
            }
            let word = p.value | self.random.word() & !p.mask & (u64::MAX >> (64 - p.bits)) as u32;
            let offset = (pc - CODE) as usize;
            let bytes = word.to_le_bytes();
            self.scratch.memory_mut().flash[offset..offset + 4].copy_from_slice(&bytes);
            let run = self.scratch.decode(pc, 1);
            // checks of the window stand before the instruction, the stack's behind it
            let Some(k) = run.steps.iter().position(|s| s.bytes != 0) else { continue };
            let (step, insn) = (run.steps[k], &run.insns[k]);
            if u32::from(step.bytes) * 8 != p.bits || !fits(step.class) || step.writes & keep != 0 {
                continue;
            }
            if matches!(step.class, Class::Load | Class::Store) && self.pointers >> insn.b & 1 == 0 {
                continue;
            }
            if step.writes & step.reads & self.pointers != 0 && self.random.below(4) != 0 {
                continue; // keep some pointers
            }
            self.pointers &= !step.writes;
            self.left |= text.starts_with("ssl ") || text.starts_with("ssa8b ");
            self.used[row] = true;
            return (word, p.bits, step.class, p);
        }
    }

    fn plain(&mut self, pc: u32, keep: u16) -> (u32, u32) {
        let fits = |c| {
            use Class::{Alu, Barrier, Literal, Load, Mul16, Mul32, Store};
            matches!(c, Alu | Mul16 | Mul32 | Load | Store | Literal | Barrier)
        };
        let (word, bits, ..) = self.pick(pc, keep, fits);
        (word, bits)
    }

    /// One unit of a sequence: an instruction, a branch over one, a division, a loop.
    fn unit(&mut self, code: &mut Code, keep: u16) {
        let pc = code.here();
        match self.random.below(12) {
            0..=2 => {
                let (word, bits, _, p) = self.pick(pc, keep, |c| c == Class::Branch);
                let (next, next_bits) = self.plain(pc + bits / 8, keep);
                let skip = bits / 8 + next_bits / 8 - 4;
                let far = with_field(&p, with_field(&p, word, 'I', 0), 'i', skip);
                // bit numbers and the constant use the same letters where there is no high part of an offset
                let word = if p.bits == 16 { far } else { with_field(&p, word, 'i', skip) };
                code.put(word, bits);
                code.put(next, next_bits);
            }
            3 if self.pair.ours.windowed() => {
                let t = 2 + self.random.below(14);
                let n = 1 + self.random.below(0x7FF);
                let (word, bits, class, p) = self.pick(pc + 3, keep | 1 << t, |c| matches!(c, Class::Div | Class::Alu));
                if class == Class::Div {
                    self.pointers &= !(1 << t);
                    code.op("movi", &[('t', t), ('i', n & 0xFF), ('I', n >> 8)]);
                    code.put(with_field(&p, word, 't', t), bits);
                } else {
                    code.put(word, bits);
                }
            }
            4 if self.pair.ours.windowed() => {
                let t = 2 + self.random.below(14);
                if keep >> t & 1 == 1 {
                    return;
                }
                self.pointers &= !(1 << t);
                let count = self.random.below(6);
                let name = ["loopnez", "loopgtz", "loop"][self.random.below(if count == 0 { 2 } else { 3 }) as usize];
                code.op("movi", &[('t', t), ('i', count)]);
                while code.here() % 4 != 0 {
                    code.op(if code.here() % 2 == 0 { "nop.n" } else { "nop" }, &[]);
                }
                let body = code.here() + 3;
                let mut inner = Code { base: body, bytes: Vec::new() };
                for _ in 0..1 + self.random.below(4) {
                    if self.random.below(4) == 0 {
                        // a branch to the next instruction or over it, also at the end of the loop
                        let (word, bits, _, p) = self.pick(inner.here(), keep, |c| c == Class::Branch);
                        let skip = (bits / 8).wrapping_sub(4);
                        if p.bits == 24 {
                            inner.put(with_field(&p, word, 'i', skip & 0xFFF), bits);
                            inner.op("nop.n", &[]);
                        }
                    } else {
                        let (word, bits) = self.plain(inner.here(), keep);
                        inner.put(word, bits);
                    }
                }
                if inner.bytes.is_empty() {
                    inner.op("nop.n", &[]);
                }
                code.op(name, &[('s', t), ('i', inner.bytes.len() as u32 - 1)]);
                code.bytes.extend(inner.bytes);
            }
            _ => {
                let (word, bits) = self.plain(pc, keep);
                code.put(word, bits);
            }
        }
    }

    fn start(&mut self) -> [u32; WORDS as usize] {
        let mut start = [0; WORDS as usize];
        (self.pointers, self.left) = (0, false);
        for (n, value) in start[..16].iter_mut().enumerate() {
            *value = if self.random.below(3) == 0 {
                self.pointers |= 1 << n;
                RAM + WINDOW / 2 - 0x400 + (self.random.below(0x400) & !3)
            } else {
                self.random.value()
            };
        }
        start[16] = self.random.below(33);
        start
    }
}

/// A program of `n` sequences, and where each starts.
fn sequences(g: &mut Generator<'_>, n: u32) -> (Program, Vec<u32>) {
    let mut code = begin(&mut g.random, 0x1F, |code| {
        code.bytes.resize(0x800, 0);
    });
    let mut places = Vec::new();
    for k in 0..n {
        let start = g.start();
        let at = code.here() + 3;
        let literals = (at + 3) & !3;
        code.jump(literals + 4 * (WORDS + 1));
        code.align(4);
        start.iter().for_each(|&w| code.word(w));
        code.word(LOG + k * WORDS * 4);
        code.literal(0, literals + 64);
        code.write_special(0, SAR);
        (0..16).for_each(|r| code.literal(r, literals + 4 * r));
        places.push(code.here());
        for _ in 0..1 + g.random.below(10) {
            g.unit(&mut code, 0);
        }
        code.write_special(0, EXCSAVE1);
        code.literal(0, literals + 4 * WORDS);
        (1..16).for_each(|r| code.op("s32i", &[('t', r), ('s', 0), ('i', r)]));
        code.read_special(1, EXCSAVE1);
        code.op("s32i", &[('t', 1), ('s', 0), ('i', 0)]);
        code.read_special(1, SAR);
        code.op("s32i", &[('t', 1), ('s', 0), ('i', 16)]);
    }
    places.push(code.here());
    let log = n * WORDS * 4;
    code.jump(((code.here() + 6) & !3) + 8);
    finish(&mut code, LOG + log);
    (Program { image: code.bytes, log }, places)
}

/// The first difference of two RAM contents.
fn first_difference(pair: &Pair, program: &Program, places: &[u32], mine: &[u8], theirs: &[u8]) -> Option<String> {
    if mine == theirs {
        return None;
    }
    let at = mine.iter().zip(theirs).skip(WINDOW as usize).position(|(a, b)| a != b);
    let Some(at) = at else { return Some(format!("the window, or the size {} and {}", mine.len(), theirs.len())) };
    let k = at / (4 * WORDS as usize);
    let mut text = format!("sequence {k}, register {}\n", at / 4 % WORDS as usize);
    let mut core = core(pair.ours);
    core.memory_mut().flash[..program.image.len()].copy_from_slice(&program.image);
    let mut pc = places[k];
    for _ in 0..40 {
        if pc >= places[k + 1] {
            break;
        }
        let (line, bytes) = core.disassemble(pc);
        let _ = writeln!(text, "  {pc:#x}: {line}");
        pc += bytes;
    }
    let word = |ram: &[u8], n: usize| {
        let o = WINDOW as usize + 4 * (k * WORDS as usize + n);
        u32::from_le_bytes(ram[o..o + 4].try_into().expect("four bytes"))
    };
    for n in 0..WORDS as usize {
        let (a, b) = (word(mine, n), word(theirs, n));
        let _ = writeln!(text, "  {n:>2} {a:#010x} {b:#010x}{}", if a == b { "" } else { " <" });
    }
    Some(text)
}

fn compare(pair: &Pair, seed: u64, n: u32) {
    let mut g = Generator::new(pair, seed);
    let (program, places) = sequences(&mut g, n);
    let mine = ours(pair, &program, false);
    assert!(mine == ours(pair, &program, true), "seed {seed}: stepping makes a difference");
    let Some(theirs) = theirs(pair, &program, &format!("{}-{seed}", pair.qemu)) else { return };
    if let Some(text) = first_difference(pair, &program, &places, &mine, &theirs) {
        panic!("{} seed {seed}: {text}", pair.qemu);
    }
}

/// The window exceptions' handlers (4.7.1.5), and one for MOVSP that does what RETW's underflow would.
fn window_vectors(code: &mut Code) {
    let at = |code: &mut Code, offset: usize| code.bytes.resize(0x400 + offset, 0);
    let move_ = |code: &mut Code, name: &str, t: u32, s: u32, imm: i32| {
        code.op(name, &[('t', t), ('s', s), ('i', ((imm + 64) / 4) as u32)]);
    };
    for (k, base) in [(0, 5), (1, 9), (2, 13)] {
        let more = 4 * k;
        at(code, 0x80 * k as usize);
        move_(code, "s32e", 0, base, -16);
        if k > 0 {
            move_(code, "l32e", 0, 1, -12);
        }
        (1..4).for_each(|r| move_(code, "s32e", r, base, -16 + 4 * r as i32));
        (0..more).for_each(|r| move_(code, "s32e", 4 + r, 0, -16 - 4 * more as i32 + 4 * r as i32));
        code.op("rfwo", &[]);
        at(code, 0x80 * k as usize + 0x40);
        (0..3).for_each(|r| move_(code, "l32e", r, base, -16 + 4 * r as i32));
        let top = 3 + more;
        if k > 0 {
            move_(code, "l32e", top, 1, -12);
        }
        move_(code, "l32e", 3, base, -4);
        (0..more).for_each(|r| move_(code, "l32e", 4 + r, top, -16 - 4 * more as i32 + 4 * r as i32));
        code.op("rfwu", &[]);
    }
    at(code, 0x300);
    code.op("rotw", &[('i', 15)]);
    code.read_special(2, PS);
    code.read_special(0, WINDOWBASE);
    code.op("addi", &[('t', 0), ('s', 0), ('i', 1)]);
    code.op("extui", &[('r', 0), ('t', 0), ('w', 2)]); // eight groups
    code.op("extui", &[('r', 3), ('t', 2), ('i', 8), ('w', 3)]);
    code.op("xor", &[('r', 3), ('s', 3), ('t', 0)]);
    code.op("slli", &[('r', 3), ('s', 3), ('i', 8), ('I', 1)]); // 32 - 8
    code.op("xor", &[('r', 2), ('s', 2), ('t', 3)]);
    code.write_special(2, PS);
    code.op("rsync", &[]);
    let base = CODE + 0x400;
    code.op("bbsi", &[('s', 4), ('b', 15), ('I', 1), ('i', 2)]);
    code.jump(base + 0x40);
    code.op("rotw", &[('i', 15)]);
    code.op("bbsi", &[('s', 8), ('b', 14), ('I', 1), ('i', 2)]);
    code.jump(base + 0xC0);
    code.op("rotw", &[('i', 15)]);
    code.jump(base + 0x140);
}

/// Functions that call each other deeper than there are registers, with random work between the calls;
/// each logs all registers and the window's state.
fn windows(g: &mut Generator<'_>) -> (Program, Vec<u32>) {
    let mut code = begin(&mut g.random, 0x4_0000, window_vectors);
    let mut functions: Vec<(u32, u32)> = Vec::new(); // address, logs
    code.jump(CODE + 0x400 + PAD + 0xC000);
    for _ in 0..60 {
        code.align(4);
        let start = code.here();
        let mut logs = 1;
        (g.pointers, g.left) = (0, true);
        code.op("entry", &[('s', 1), ('i', 10 + g.random.below(6))]);
        let work = |g: &mut Generator<'_>, code: &mut Code| {
            for _ in 0..g.random.below(6) {
                let (word, bits, ..) = g.pick(code.here(), 3, |c| c == Class::Alu);
                code.put(word, bits);
            }
        };
        for k in 0..2 {
            work(g, &mut code);
            if g.random.below(4) == 0 {
                code.op("addi", &[('t', 3), ('s', 1), ('i', 0xE0)]);
                code.op("movsp", &[('t', 1), ('s', 3)]);
            }
            let callee = match k {
                0 => functions.last(),
                _ if g.random.below(3) == 0 => functions.get(g.random.below(5) as usize),
                _ => None,
            };
            if let Some(&(to, n)) = callee {
                let groups = 1 + g.random.below(3);
                if g.random.below(2) == 0 {
                    let name = ["call4", "call8", "call12"][groups as usize - 1];
                    let offset = (to.wrapping_sub(code.here() & !3).wrapping_sub(4)) >> 2;
                    code.op(name, &[('i', offset & 0x3FFFF)]);
                } else {
                    let name = ["callx4", "callx8", "callx12"][groups as usize - 1];
                    let skip = code.here() + 3;
                    let literal = (skip + 3) & !3;
                    code.jump(literal + 4);
                    code.align(4);
                    code.word(to);
                    code.literal(4, literal);
                    code.op(name, &[('s', 4)]);
                }
                logs += n;
            }
        }
        work(g, &mut code);
        code.write_special(2, EXCSAVE2);
        code.read_special(2, EXCSAVE1);
        (3..16).for_each(|r| code.op("s32i", &[('t', r), ('s', 2), ('i', r - 3)]));
        for (k, n) in [WINDOWSTART, WINDOWBASE, PS, EXCSAVE2].into_iter().enumerate() {
            code.read_special(3, n);
            code.op("s32i", &[('t', 3), ('s', 2), ('i', 13 + k as u32)]);
        }
        code.op("addi", &[('t', 2), ('s', 2), ('i', 68)]);
        code.write_special(2, EXCSAVE1);
        code.read_special(2, EXCSAVE2);
        work(g, &mut code);
        code.op(if g.random.below(2) == 0 { "retw" } else { "retw.n" }, &[]);
        functions.push((start, logs));
    }
    assert!(code.here() < CODE + 0x400 + PAD + 0xC000);
    code.bytes.resize(0x400 + PAD as usize + 0xC000, 0);
    let here = code.here();
    code.jump(here + 16);
    code.align(4);
    code.word(RAM + WINDOW - 64); // the stack
    code.word(LOG);
    code.word(functions[59].0);
    code.op("movi", &[('t', 0)]);
    code.literal(1, here + 4);
    code.literal(2, here + 8);
    code.write_special(2, EXCSAVE1);
    code.op("movi", &[('t', 3), ('i', 1)]);
    code.write_special(3, WINDOWSTART);
    code.op("rsync", &[]);
    code.literal(4, here + 12);
    code.op("callx4", &[('s', 4)]); // the outermost frame has no caller to keep more than four registers for
    let log = functions[59].1 * 4 * WORDS;
    code.jump(((code.here() + 6) & !3) + 8);
    finish(&mut code, LOG + log);
    let places = functions.iter().rev().map(|f| f.0).collect();
    (Program { image: code.bytes, log }, places)
}

fn compare_windows(seed: u64) {
    let mut g = Generator::new(&DE212, seed);
    let (program, _) = windows(&mut g);
    let mine = ours(&DE212, &program, false);
    assert!(mine == ours(&DE212, &program, true), "seed {seed}: stepping makes a difference");
    let logged = mine[WINDOW as usize..].chunks(4 * WORDS as usize).filter(|r| r.iter().any(|&b| b != 0)).count();
    assert_eq!(logged as u32, program.log / (4 * WORDS), "seed {seed}: all functions have run");
    let Some(theirs) = theirs(&DE212, &program, &format!("windows-{seed}")) else { return };
    assert_eq!(mine.len(), theirs.len(), "seed {seed}");
    let words = |ram: &[u8]| -> Vec<u32> {
        ram.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().expect("four bytes"))).collect()
    };
    let (a, b) = (words(&mine), words(&theirs));
    // a3 to a15, WindowStart, WindowBase, PS, a2
    for (k, (x, y)) in a[WINDOW as usize / 4..].chunks(17).zip(b[WINDOW as usize / 4..].chunks(17)).enumerate() {
        assert!(x == y, "seed {seed}: log {k}\n{x:08x?}\n{y:08x?}");
    }
    assert!(a == b, "seed {seed}: the stack");
}

#[test]
fn windows_overflow_and_come_back_as_the_oracles() {
    (0..6).for_each(compare_windows);
}

#[test]
#[ignore = "long"]
fn many_windows_overflow_and_come_back() {
    (100..400).for_each(compare_windows);
}

#[test]
fn lx106_goes_the_oracles_way() {
    compare(&LX106, 1, 800);
}

#[test]
fn lx6_goes_the_oracles_way() {
    compare(&DE212, 2, 800);
}

#[test]
#[ignore = "long"]
fn many_sequences_go_the_oracles_way() {
    for seed in 100..140 {
        compare(&LX106, seed, 10_000);
        compare(&DE212, seed, 10_000);
    }
}

#[test]
fn sequences_use_the_table() {
    for pair in [&LX106, &DE212] {
        let mut g = Generator::new(pair, 3);
        sequences(&mut g, 1_500);
        let unused: Vec<_> = g.rows.iter().zip(&g.used).filter(|(_, used)| !**used).map(|(r, _)| r.0).collect();
        // jumps, calls, traps, special registers and what is not modelled
        assert!(unused.len() <= if pair.ours.windowed() { 60 } else { 25 }, "{unused:?}");
    }
}

const _: () = assert!(WINDOW + 20_000 * WORDS * 4 < RAM_BYTES);
