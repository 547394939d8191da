//! RV32IMAC and RV64IMAC against QEMU's virt board.
//! One register of each sequence, any but `x0`, has the address for its state and is left alone. Encodings are written
//! here a second time, from the manual's instruction set listings (20191213, chapters 16 and 24), so that an
//! instruction missing in our decoder would be a fault. Compressed instructions are all 16-bit words that are not
//! faults.

mod encode;

use std::marker::PhantomData;

use isa::{Core as _, Machine, OneCycle, TableRow};
use isa_riscv::{Class, Riscv, Step, Word};
use mcu::{Chip, Memory, Unmodelled};

use self::encode::{
    AMO, AUIPC, EBREAK, JALR, LOAD, LUI, OP, OP_32, OP_IMM, OP_IMM_32, STORE, b_type, cb_type, cj_type, i_type, j_type,
    r_type, s_type,
};
use crate::qemu::{Session, oracle, words};
use crate::{Ground, LeftOut, Log, Oracle, Program, Random, Sequence, Way, run};

const CODE: u32 = 0x8000_0000;
const CODE_BYTES: u32 = 0x10_0000;
const RAM: u32 = 0x8020_0000;
const RAM_BYTES: u32 = 0x10_0000;
/// Loads and stores stay in this many bytes from the start of RAM.
const WINDOW: u32 = 0x3000;
/// Where the log starts.
const LOG: u32 = RAM + WINDOW;
/// Where the routine that loads all registers is.
const RESTORE: u32 = CODE + 0x10;
/// Sequences in one program.
const BATCH: usize = 1000;

/// A core with registers of the type `X`.
#[derive(Default)]
pub struct Risc<X>(PhantomData<X>);

fn core<X: Word>(image: &[u8]) -> Riscv<X> {
    let chip = Chip::of_memories((CODE, CODE_BYTES), (RAM, RAM_BYTES));
    let mut core = Riscv::new(Memory::new(&chip).expect("the chip is possible"));
    core.memory_mut().flash[..image.len()].copy_from_slice(image);
    core.events.unaligned = Some(|_, _| 0); // as QEMU does it
    core.memory_mut().unmodelled = Some(Unmodelled::new(Vec::new(), Vec::new())); // for mscratch
    core
}

/// Machine code of one unit.
#[derive(Default)]
struct Code(Vec<u8>);

impl Code {
    fn word(&mut self, word: u32) {
        self.0.extend(word.to_le_bytes());
    }

    fn half(&mut self, half: u16) {
        self.0.extend(half.to_le_bytes());
    }

    fn len(&self) -> i32 {
        self.0.len() as i32
    }
}

struct Generator<'a, X: Word> {
    random: &'a mut Random,
    scratch: Riscv<X>,
    /// Registers that hold an address inside the window.
    pointers: u32,
    /// Registers that must not change.
    kept: u32,
}

impl<X: Word> Generator<'_, X> {
    const WIDE: bool = X::BITS == 64;

    fn any(&mut self) -> u32 {
        if self.random.one_in(2) { 8 + self.random.below(8) } else { self.random.below(32) }
    }

    /// A register that may change and is not among `but`.
    fn free(&mut self, but: u32) -> u32 {
        loop {
            let r = self.any();
            if r != 0 && (self.kept | but) >> r & 1 == 0 {
                return r;
            }
        }
    }

    fn writes(&mut self, r: u32) -> bool {
        if self.kept >> r & 1 == 1 {
            return false;
        }
        self.pointers &= !(1 << r);
        true
    }

    fn imm(&mut self) -> i32 {
        if self.random.one_in(2) { self.random.below(4096) as i32 - 2048 } else { self.random.below(64) as i32 - 32 }
    }

    /// A number in a register, by LUI and ADDI; sign-extended from 32 bits.
    fn number(&mut self, code: &mut Code, d: u32, value: u32) {
        let low = (value << 20) as i32 >> 20;
        code.word(value.wrapping_sub(low as u32) & 0xFFFF_F000 | d << 7 | LUI);
        let (op, low) = (if Self::WIDE { OP_IMM_32 } else { OP_IMM }, low);
        code.word(i_type(0, op, d, d, low));
        self.pointers &= !(1 << d);
    }

    fn look(&mut self, bytes: [u8; 4]) -> Step {
        self.scratch.memory_mut().flash[..4].copy_from_slice(&bytes);
        self.scratch.decode(CODE, 1).steps[0]
    }

    /// A compressed instruction after which execution continues.
    fn short(&mut self, code: &mut Code) {
        loop {
            let half = self.random.word() as u16;
            if half & 3 == 3 {
                continue;
            }
            let [a, b] = half.to_le_bytes();
            let s = self.look([a, b, 0, 0]);
            let fits = match s.class {
                Class::Load | Class::LoadNarrow | Class::Store => self.pointers >> s.rs1 & 1 == 1,
                Class::Branch | Class::Jump | Class::JumpRegister | Class::Stop | Class::Pseudo => false,
                _ => true,
            };
            if fits && s.bytes == 2 && self.writes(s.rd.into()) {
                return code.half(half);
            }
        }
    }

    /// A 32-bit instruction after which execution continues.
    fn long(&mut self, code: &mut Code) {
        const ALU: [(u32, u32); 10] =
            [(0, 0), (0x20, 0), (0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (0x20, 5), (0, 6), (0, 7)];
        const ALU_32: [(u32, u32); 5] = [(0, 0), (0x20, 0), (0, 1), (0, 5), (0x20, 5)];
        const DIV_32: [u32; 5] = [0, 4, 5, 6, 7];
        let (d, s, t, imm) = (self.any(), self.any(), self.any(), self.imm());
        if !self.writes(d) {
            return self.long(code);
        }
        let amount = self.random.below(X::BITS) as i32;
        let word = match self.random.below(if Self::WIDE { 13 } else { 9 }) {
            0..=1 => {
                let (f7, f3) = self.random.pick(&ALU);
                r_type(f7, f3, OP, d, s, t)
            }
            2..=3 => r_type(1, self.random.below(8), OP, d, s, t),
            4..=5 => i_type(self.random.pick(&[0, 2, 3, 4, 6, 7]), OP_IMM, d, s, imm),
            6 => {
                let (f3, up) = self.random.pick(&[(1, 0), (5, 0), (5, 0x400)]);
                i_type(f3, OP_IMM, d, s, amount | up)
            }
            7 => self.random.word() & 0xFFFF_F000 | d << 7 | self.random.pick(&[LUI, AUIPC]),
            8 => match self.random.below(6) {
                0 => 0x0FF0_000F,                                                          // fence
                1 => 0x0000_100F,                                                          // fence.i
                2 => i_type(self.random.pick(&[2, 3, 6, 7]), 0x73, d, 0, 0xF14), // csrr d, mhartid and its kin
                3..=4 => i_type(self.random.pick(&[1, 2, 3, 5, 6, 7]), 0x73, d, s, 0x340), // any of mscratch
                _ => i_type(0, OP_IMM, d, 0, imm),
            },
            9 => {
                let (f7, f3) = self.random.pick(&ALU_32);
                r_type(f7, f3, OP_32, d, s, t)
            }
            10 => r_type(1, self.random.pick(&DIV_32), OP_32, d, s, t),
            11 => i_type(0, OP_IMM_32, d, s, imm),
            _ => {
                let (f3, up) = self.random.pick(&[(1, 0), (5, 0), (5, 0x400)]);
                i_type(f3, OP_IMM_32, d, s, amount & 31 | up)
            }
        };
        assert!(self.look(word.to_le_bytes()).class != Class::Stop, "{word:#010x} is an instruction");
        code.word(word);
    }

    fn simple(&mut self, code: &mut Code) {
        if self.random.one_in(2) { self.short(code) } else { self.long(code) }
    }

    /// A register that is a pointer into the window, made one if need be.
    fn pointer(&mut self, code: &mut Code) -> u32 {
        let there: Vec<u32> = (1..32).filter(|r| self.pointers >> r & 1 == 1).collect();
        if !there.is_empty() && !self.random.one_in(4) {
            return self.random.pick(&there);
        }
        let p = self.free(0);
        let at = RAM + 0x1000 + self.random.below(0x1000);
        self.number(code, p, at);
        if Self::WIDE {
            // without the sign: slli p, p, 32; srli p, p, 32
            code.word(i_type(1, OP_IMM, p, p, 32));
            code.word(i_type(5, OP_IMM, p, p, 32));
        }
        self.pointers |= 1 << p;
        p
    }

    fn memory(&mut self, code: &mut Code) {
        let p = self.pointer(code);
        let imm = self.imm();
        if self.random.one_in(2) {
            let f3: &[u32] = if Self::WIDE { &[0, 1, 2, 3, 4, 5, 6] } else { &[0, 1, 2, 4, 5] };
            let d = self.free(1 << p);
            code.word(i_type(self.random.pick(f3), LOAD, d, p, imm));
            self.pointers &= !(1 << d);
        } else {
            let t = self.any();
            code.word(s_type(self.random.below(if Self::WIDE { 4 } else { 3 }), STORE, p, t, imm));
        }
    }

    fn atomic(&mut self, code: &mut Code) {
        let p = self.pointer(code);
        code.word(i_type(7, OP_IMM, p, p, -8)); // andi: aligned
        let size = if Self::WIDE { 2 + self.random.below(2) } else { 2 };
        let order = self.random.below(4);
        let amo = |f5: u32, d, t| r_type(f5 << 2 | order, size, AMO, d, p, t);
        let (d, t) = (self.free(1 << p), self.any());
        self.pointers &= !(1 << d);
        if self.random.one_in(3) {
            code.word(amo(2, d, 0)); // lr
            let (status, t) = (self.free(1 << p), self.any());
            self.pointers &= !(1 << status);
            code.word(amo(3, status, t)); // sc
        } else {
            code.word(amo(self.random.pick(&[1, 0, 4, 12, 8, 16, 20, 24, 28]), d, t));
        }
    }

    /// Up to three instructions without branches.
    fn body(&mut self, least: u32) -> Code {
        let mut body = Code::default();
        (0..least + self.random.below(3)).for_each(|_| self.simple(&mut body));
        body
    }

    fn control(&mut self, code: &mut Code) {
        match self.random.below(6) {
            0..=1 => {
                // a branch over the body
                let (s, t) = (self.any(), if self.random.one_in(3) { 0 } else { self.any() });
                let (f3, short) = (self.random.pick(&[0, 1, 4, 5, 6, 7]), self.random.one_in(2));
                let before = self.pointers;
                let body = self.body(0);
                self.pointers &= before;
                if short {
                    code.half(cb_type(6 + (f3 & 1), s, body.len() + 2));
                } else {
                    code.word(b_type(f3, s, t, body.len() + 4));
                }
                code.0.extend(body.0);
            }
            2 => {
                // a loop over the body
                let (counter, kept) = (self.free(0), self.kept);
                code.word(i_type(0, OP_IMM, counter, 0, 1 + self.random.below(5) as i32));
                self.pointers &= !(1 << counter);
                self.kept |= 1 << counter;
                // a pointer in the first round must be one in all rounds
                self.kept |= self.pointers;
                let body = self.body(0);
                self.kept = kept;
                code.0.extend(&body.0);
                code.word(i_type(0, OP_IMM, counter, counter, -1));
                if self.random.one_in(2) && counter & !7 == 8 {
                    code.half(cb_type(7, counter, -4 - body.len()));
                } else {
                    code.word(b_type(1, counter, 0, -4 - body.len()));
                }
            }
            3 => {
                // a jump over the body
                let before = self.pointers;
                let body = self.body(0);
                self.pointers &= before;
                let n = body.len();
                match self.random.below(3) {
                    0 => code.half(cj_type(5, n + 2)),                                  // c.j
                    1 if !Self::WIDE && self.writes(1) => code.half(cj_type(1, n + 2)), // c.jal
                    _ => {
                        let d = if self.random.one_in(2) { 0 } else { self.free(0) };
                        self.writes(d);
                        code.word(j_type(d, n + 4));
                    }
                }
                code.0.extend(body.0);
            }
            _ => {
                // a jump over the body through a register
                let p = self.free(0);
                self.writes(p);
                let before = self.pointers;
                let body = self.body(0);
                self.pointers &= before;
                let n = body.len();
                let off = self.random.pick(&[0, 0, 1, 4, -6]);
                code.word(p << 7 | AUIPC);
                match self.random.below(3) {
                    0 => {
                        code.word(i_type(0, OP_IMM, p, p, n + 10));
                        code.half((4 << 13 | p << 7 | 2) as u16); // c.jr
                    }
                    1 if self.writes(1) => {
                        code.word(i_type(0, OP_IMM, p, p, n + 10));
                        code.half((4 << 13 | 1 << 12 | p << 7 | 2) as u16); // c.jalr
                    }
                    _ => {
                        let d = self.random.pick(&[0, 0, p, 5, 7]);
                        let d = if self.writes(d) { d } else { 0 };
                        code.word(i_type(0, OP_IMM, p, p, n + 12 - off));
                        code.word(i_type(0, JALR, d, p, off));
                    }
                }
                code.0.extend(body.0);
            }
        }
    }

    fn sequence(&mut self, k: usize) -> Sequence {
        let log = 1 + self.random.below(31);
        (self.pointers, self.kept) = (0, 1 << log);
        let mut start: Vec<u64> = (0..32).map(|_| self.random.value(X::BITS)).collect();
        for r in [2, 8, 9, 10, 11, 12, 13, 14, 15, self.random.below(32) as usize] {
            if r != 0 && self.random.one_in(if r == 2 { 2 } else { 4 }) {
                start[r] = (RAM + 0x1000 + self.random.below(0x1000)).into();
                self.pointers |= 1 << r;
            }
        }
        start[0] = log.into();
        start[log as usize] = u64::from(LOG) + (k * 32 * X::BITS as usize / 8) as u64;
        self.pointers &= !(1 << log);
        let units = (0..1 + self.random.below(20))
            .map(|_| {
                let mut code = Code::default();
                match self.random.below(12) {
                    0..=1 => self.memory(&mut code),
                    2 if self.random.one_in(2) => self.atomic(&mut code),
                    3..=4 => self.control(&mut code),
                    _ => self.simple(&mut code),
                }
                code.0
            })
            .collect();
        Sequence { start, units, timed: true }
    }
}

impl<X: Word> Risc<X> {
    const BYTES: usize = X::BITS as usize / 8;

    fn load(d: u32, s: u32, offset: i32) -> u32 {
        i_type(if X::BITS == 64 { 3 } else { 2 }, LOAD, d, s, offset)
    }

    fn store(t: u32, s: u32, offset: i32) -> u32 {
        s_type(if X::BITS == 64 { 3 } else { 2 }, STORE, s, t, offset)
    }

    /// States from the log. The register with its address is not in it.
    fn states(log: &[u8], program: &Program) -> Vec<Vec<u64>> {
        let state = |row: &[u8]| -> Vec<u64> {
            let words = words(row);
            if X::BITS == 32 { words } else { words.chunks(2).map(|w| w[0] | w[1] << 32).collect() }
        };
        log.chunks(32 * Self::BYTES).take(program.places.len()).map(state).collect()
    }
}

impl<X: Word> Ground for Risc<X> {
    fn name(&self) -> &'static str {
        if X::BITS == 64 { "rv64imac" } else { "rv32imac" }
    }

    fn value_names(&self) -> Vec<String> {
        std::iter::once("log in".into()).chain((1..32).map(|n| format!("x{n}"))).collect()
    }

    fn sequences(&self, random: &mut Random) -> Vec<Sequence> {
        let mut g = Generator::<X> { random, scratch: core(&[]), pointers: 0, kept: 0 };
        (0..BATCH).map(|k| g.sequence(k)).collect()
    }

    fn program(&self, sequences: &[Sequence], random: &mut Random) -> Program {
        let mut code = Code::default();
        let table = 32 * Self::BYTES as i32;
        code.word(0); // a jump to the first sequence, once it is known
        code.0.resize((RESTORE - CODE) as usize, 0);
        // ra is after the call; the table begins 4 bytes after it, x0's slot first
        (2..32).for_each(|r| code.word(Self::load(r, 1, 4 + Self::BYTES as i32 * r as i32)));
        code.word(i_type(1, 0x73, 0, 5, 0x340)); // mscratch is as t0 when a sequence begins
        code.word(i_type(0, JALR, 0, 1, 4 + table));
        code.0.resize(code.0.len().next_multiple_of(0x100), 0);
        let first = code.len();
        code.0[..4].copy_from_slice(&j_type(0, first).to_le_bytes());
        let mut places = Vec::new();
        for s in sequences {
            let here = code.len();
            code.word(j_type(1, (RESTORE - CODE) as i32 - here));
            code.word(0);
            let at = code.len();
            s.start.iter().for_each(|v| code.0.extend(&v.to_le_bytes()[..Self::BYTES]));
            let back = code.len() - at - Self::BYTES as i32; // from here to x1's slot
            code.word(1 << 7 | AUIPC);
            code.word(Self::load(1, 1, -back));
            let start = CODE + code.len() as u32;
            s.units.iter().for_each(|u| code.0.extend(u));
            places.push(start..CODE + code.len() as u32);
            let log = s.start[0] as u32;
            for r in 0..32 {
                // the register with the log's address gets the value that it would have
                code.word(Self::store(if r == log { 0 } else { r }, log, r as i32 * Self::BYTES as i32));
            }
            // to the next one, which is aligned
            let gap = code.0.len().next_multiple_of(8) as i32 - code.len() + 8;
            code.word(j_type(0, gap));
            code.0.resize(code.0.len() + gap as usize - 4, 0);
        }
        let end = CODE + code.len() as u32;
        code.word(EBREAK);
        assert!(code.len() < CODE_BYTES as i32, "too many sequences for one program");
        let window = random.bytes(WINDOW as usize);
        Program { image: code.0, places, end, window, timed: vec![true; sequences.len()] }
    }

    fn ours(&self, program: &Program, way: Way<'_>) -> Result<Log, String> {
        let machine = run(Machine::new(core::<X>(&[]), OneCycle), CODE, program, way)?;
        let (window, log) = machine.core.memory().ram.split_at(WINDOW as usize);
        Ok(Log { states: Self::states(log, program), window: window.to_vec() })
    }

    fn rows(&self) -> Vec<TableRow> {
        core::<X>(&[]).rows()
    }

    fn left_out(&self) -> LeftOut {
        &[("ends the program", &["ecall", "ebreak", "wfi"]), ("leaves the mode that QEMU starts in", &["mret"])]
    }

    fn disassemble(&self, program: &Program, at: u32) -> (String, u32) {
        core::<X>(&program.image).disassemble(at)
    }

    fn oracles(&self) -> Vec<Result<Box<dyn Oracle>, String>> {
        let start = || Session::start(&format!("qemu-system-riscv{}", X::BITS), &["-M", "virt", "-bios", "none"]);
        vec![oracle(format!("QEMU virt, {} bits", X::BITS), start, |q, program| {
            q.write(CODE, &program.image)?;
            q.write(RAM, &program.window)?;
            q.go(CODE, &[program.end])?;
            let window = q.read(RAM, WINDOW as usize)?;
            let log = q.read(LOG, program.places.len() * 32 * Self::BYTES)?;
            Ok(Log { states: Self::states(&log, program), window })
        })]
    }
}
