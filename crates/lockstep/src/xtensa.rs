//! Xtensa against QEMU's sim machine.
//!
//! QEMU has the LX106 itself. It has no LX6: the `de212` core replaces it, which has the windowed registers (32 of
//! them), hardware loops and most of the arithmetic. Besides the sequences there are programs of functions whose calls
//! nest deeper than there are registers.

mod windows;

use isa::{Core as _, Machine, OneCycle, Pattern, TableRow};
use isa_xtensa::op::{Amount, Op, Shift};
use isa_xtensa::{Class, Features, Xtensa, table};
use mcu::{Chip, Memory};

pub use self::windows::{compare_windows, window_handlers};
use crate::qemu::{Session, oracle, words};
use crate::{Ground, LeftOut, Log, Oracle, Program, Random, Sequence, Trace, Way, run};

/// Code memory and RAM are in the oracle's system RAM.
const CODE: u32 = 0x6000_0000;
const CODE_BYTES: u32 = 1 << 20;
const RAM: u32 = 0x6100_0000;
const RAM_BYTES: u32 = 0x4_0000;
/// Random bytes that L32R can read: it reaches this far back.
const PAD: u32 = 0x4_0000;
/// Loads and stores stay near the middle of this many bytes from the start of RAM.
const WINDOW: u32 = 0x1000;
/// The stack of the programs with windows ends there.
const STACK: u32 = 0x8000;
/// Where the log starts.
const LOG: u32 = RAM + STACK;
/// Words that one sequence logs: a0 to a15, SAR.
const WORDS: u32 = 17;
/// Sequences in one program.
const BATCH: usize = 1000;
const EXCSAVE1: u32 = 209;
const EXCSAVE2: u32 = 210;
const SAR: u32 = 3;
const VECBASE: u32 = 231;
const PS: u32 = 230;
const WINDOWBASE: u32 = 72;
const WINDOWSTART: u32 = 73;

/// A core of QEMU, and ours that is compared with it.
pub struct Pair {
    qemu: &'static str,
    ours: Features,
    /// Instructions that only ours has.
    without: &'static [&'static str],
}

/// The core of the ESP8266.
pub const LX106: Pair = Pair { qemu: "lx106", ours: Features::LX106, without: &[] };
/// Most of the core of the ESP32.
pub const DE212: Pair =
    Pair { qemu: "de212", ours: Features::LX6.with_registers(32), without: &["muluh", "mulsh", "s32c1i"] };

/// Instructions that sequences do not have. Jumps, calls and special registers are in every program around the
/// sequences, and `crates/translate/tests/same.rs` has all of them; windows are in programs of their own, see
/// [`compare_windows`].
const LEFT_OUT: LeftOut = &[
    ("around the sequences", &["j {to}", "rsil", "rsr", "wsr", "xsr", "rur", "wur"]),
    ("no function in a sequence", &["call", "jx", "ret", "entry", "movsp", "rotw", "rfwo", "rfwu"]),
    ("no other effect than that a run ends", &["isync"]),
    ("ends the program", &["break", "ill", "rfe", "rfde", "rfi", "syscall", "simcall", "waiti"]),
    ("the oracle has none", &["muluh", "mulsh", "s32c1i"]),
    ("not modelled", &["lscx", "lsci", "fp", "movf/movt", "andb", "xorb", "any/all", "bf/bt", "mac16"]),
];

impl Pair {
    fn core(&self, image: &[u8]) -> Xtensa {
        let chip = Chip::of_memories((CODE, CODE_BYTES), (RAM, RAM_BYTES));
        let mut core = Xtensa::new(Memory::new(&chip).expect("the chip is possible"), self.ours, CODE);
        core.memory_mut().flash[..image.len()].copy_from_slice(image);
        core
    }
}

/// Code at an address.
pub struct Code {
    /// Its first byte's address.
    pub base: u32,
    /// Its bytes so far.
    pub bytes: Vec<u8>,
}

impl Code {
    /// The address after it.
    pub fn here(&self) -> u32 {
        self.base + self.bytes.len() as u32
    }

    /// Adds an instruction of so many bits.
    pub fn put(&mut self, word: u32, bits: u32) {
        self.bytes.extend(&word.to_le_bytes()[..bits as usize / 8]);
    }

    fn word(&mut self, word: u32) {
        self.put(word, 32);
    }

    fn align(&mut self, to: usize) {
        while self.bytes.len() % to != 0 {
            self.bytes.push(0);
        }
    }

    /// Adds the instruction with this mnemonic and these fields.
    pub fn op(&mut self, name: &str, fields: &[(char, u32)]) {
        let first = |text: &'static str| text.split(' ').next().unwrap_or("").replace(".{special}", "");
        let (_, p) = table::encodings(Features::LX6).find(|(t, _)| first(t) == name).expect(name);
        let word = fields.iter().fold(p.value, |w, &(letter, v)| p.with(w, letter, v));
        self.put(word, p.bits);
    }

    /// Adds L32R of an earlier word.
    pub fn literal(&mut self, t: u32, at: u32) {
        let offset = at.wrapping_sub((self.here() + 3) & !3) >> 2;
        self.op("l32r", &[('t', t), ('i', offset & 0xFFFF)]);
    }

    fn read_special(&mut self, t: u32, n: u32) {
        self.op("rsr", &[('t', t), ('i', n)]);
    }

    fn write_special(&mut self, t: u32, n: u32) {
        self.op("wsr", &[('t', t), ('i', n)]);
    }

    /// Adds a jump to an address.
    pub fn jump(&mut self, to: u32) {
        let offset = to.wrapping_sub(self.here() + 4);
        self.op("j", &[('i', offset & 0x3FFFF)]);
    }
}

/// The start of the program: PS, the vectors, random bytes.
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
    random: &'a mut Random,
    rows: Vec<(&'static str, Pattern)>,
    scratch: Xtensa,
    /// Registers that hold an address in the window.
    pointers: u16,
    /// SSL or SSA8B was used. SAR is 32 after it when the amount is 0; a following SRL or SRA then gives 0
    /// or signs here, as with 32 from WSR on both, and the unshifted value in QEMU.
    left: bool,
}

impl<'a> Generator<'a> {
    fn new(pair: &'a Pair, random: &'a mut Random) -> Self {
        let name = |text: &'static str| text.split(' ').next().unwrap_or("");
        let rows: Vec<_> = table::encodings(pair.ours).filter(|(t, _)| !pair.without.contains(&name(t))).collect();
        Self { pair, random, rows, scratch: pair.core(&[]), pointers: 0, left: false }
    }

    /// A random instruction at `pc` for which `fits` holds, with the registers that it writes.
    fn pick(&mut self, pc: u32, keep: u16, fits: impl Fn(Class) -> bool) -> (u32, u32, Class, Pattern) {
        loop {
            let row = self.random.below(self.rows.len() as u32) as usize;
            let (_, p) = self.rows[row];
            let word = p.value | self.random.word() & !p.mask & (u64::MAX >> (64 - p.bits)) as u32;
            let offset = (pc - CODE) as usize;
            let bytes = word.to_le_bytes();
            self.scratch.memory_mut().flash[offset..offset + 4].copy_from_slice(&bytes);
            let run = self.scratch.decode(pc, 1);
            // checks of the window come before the instruction, those of the stack after it
            let Some(k) = run.steps.iter().position(|s| s.bytes != 0) else { continue };
            let (step, insn) = (run.steps[k], &run.insns[k]);
            if self.left && matches!(step.op, Op::Shift(Shift::Srl | Shift::Sra)) {
                continue;
            }
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
            self.left |= matches!(step.op, Op::Amount(Amount::Ssl | Amount::Ssa8b));
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
                let far = p.with(p.with(word, 'I', 0), 'i', skip);
                // bit numbers and the constant use the same letters where there is no high part of an offset
                let word = if p.bits == 16 { far } else { p.with(word, 'i', skip) };
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
                    code.put(p.with(word, 't', t), bits);
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
                            inner.put(p.with(word, 'i', skip & 0xFFF), bits);
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

    /// A sequence of up to 20 units. Its code begins at a multiple of four.
    fn sequence(&mut self) -> Sequence {
        let mut start = vec![0; WORDS as usize];
        (self.pointers, self.left) = (0, false);
        for (n, value) in start[..16].iter_mut().enumerate() {
            *value = if self.random.below(3) == 0 {
                self.pointers |= 1 << n;
                u64::from(RAM + WINDOW / 2 - 0x400 + (self.random.below(0x400) & !3))
            } else {
                self.random.value(32)
            };
        }
        start[16] = self.random.below(33).into();
        let mut code = Code { base: CODE + CODE_BYTES / 2, bytes: Vec::new() };
        let mut units = Vec::new();
        for _ in 0..1 + self.random.below(20) {
            let from = code.bytes.len();
            self.unit(&mut code, 0);
            units.push(code.bytes[from..].to_vec());
        }
        Sequence { start, units, timed: true }
    }
}

impl Ground for Pair {
    fn name(&self) -> &'static str {
        if self.ours.windowed() { "lx6" } else { "lx106" }
    }

    fn value_names(&self) -> Vec<String> {
        (0..16).map(|n| format!("a{n}")).chain(["sar".into()]).collect()
    }

    fn sequences(&self, random: &mut Random) -> Vec<Sequence> {
        let mut g = Generator::new(self, random);
        (0..BATCH).map(|_| g.sequence()).collect()
    }

    fn program(&self, sequences: &[Sequence], random: &mut Random) -> Program {
        let window = random.bytes(WINDOW as usize);
        let mut code = begin(random, 0x1F, |code| code.bytes.resize(0x800, 0));
        let mut places = Vec::new();
        for (k, s) in sequences.iter().enumerate() {
            let literals = (code.here() + 6) & !3;
            code.jump(literals + 4 * (WORDS + 1));
            code.align(4);
            s.start.iter().for_each(|&w| code.word(w as u32));
            code.word(LOG + k as u32 * WORDS * 4);
            code.literal(0, literals + 64);
            code.write_special(0, SAR);
            (0..16).for_each(|r| code.literal(r, literals + 4 * r));
            while code.here() % 4 != 0 {
                code.op(if code.here() % 2 == 0 { "nop.n" } else { "nop" }, &[]);
            }
            let start = code.here();
            s.units.iter().for_each(|u| code.bytes.extend(u));
            places.push(start..code.here());
            code.write_special(0, EXCSAVE1);
            code.literal(0, literals + 4 * WORDS);
            (1..16).for_each(|r| code.op("s32i", &[('t', r), ('s', 0), ('i', r)]));
            code.read_special(1, EXCSAVE1);
            code.op("s32i", &[('t', 1), ('s', 0), ('i', 0)]);
            code.read_special(1, SAR);
            code.op("s32i", &[('t', 1), ('s', 0), ('i', 16)]);
        }
        let end = code.here();
        code.op("simcall", &[]);
        assert!(code.bytes.len() < CODE_BYTES as usize, "too many sequences for one program");
        Program { image: code.bytes, places, end, window, timed: vec![true; sequences.len()] }
    }

    fn ours(&self, program: &Program, way: Way<'_>) -> Result<Log, String> {
        let ram = self.run_here(program, way)?;
        Ok(log(program, &ram))
    }

    fn rows(&self) -> Vec<TableRow> {
        self.core(&[]).rows()
    }

    fn left_out(&self) -> LeftOut {
        LEFT_OUT
    }

    fn disassemble(&self, program: &Program, at: u32) -> (String, u32) {
        self.core(&program.image).disassemble(at)
    }

    fn oracles(&self) -> Vec<Result<Box<dyn Oracle>, String>> {
        let cpu = self.qemu;
        vec![oracle(
            format!("QEMU {cpu}"),
            move || start(cpu),
            |q, program| Ok(log(program, &run_there(q, program, program.places.len() as u32 * 4 * WORDS)?)),
        )]
    }
}

impl Pair {
    /// RAM at the program's end on our core.
    fn run_here(&self, program: &Program, way: Way<'_>) -> Result<Vec<u8>, String> {
        let machine = run(Machine::new(self.core(&[]), OneCycle), CODE, program, way)?;
        Ok(machine.core.memory().ram.to_vec())
    }
}

/// States and window from RAM.
fn log(program: &Program, ram: &[u8]) -> Log {
    let rows = ram[STACK as usize..].chunks(4 * WORDS as usize).take(program.places.len());
    Log { states: rows.map(words).collect(), window: ram[..program.window.len()].to_vec() }
}

fn start(cpu: &str) -> Result<Session, String> {
    Session::start("qemu-system-xtensa", &["-M", "sim", "-m", "64M", "-cpu", cpu])
}

/// RAM up to the end of the log at the program's end.
fn run_there(q: &mut Session, program: &Program, log: u32) -> Result<Vec<u8>, String> {
    q.write(CODE, &program.image)?;
    q.write(RAM, &program.window)?;
    q.go(CODE, &[program.end])?;
    q.read(RAM, (STACK + log) as usize)
}
