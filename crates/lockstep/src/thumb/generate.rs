//! Random sequences of Thumb instructions.

use isa::{Core as _, Pattern};
use isa_thumb::{Class, Step, Thumb, table};
use mcu::{Chip, Memory};

use super::{Board, RAM, WORDS};
use crate::{Random, Sequence};

/// The generator's knowledge about registers, one bit each.
#[derive(Clone, Copy, Default)]
struct Contents {
    /// Word addresses inside the window.
    aligned: u16,
    /// Addresses inside the window.
    pointer: u16,
    /// Numbers below 256.
    small: u16,
}

impl Contents {
    fn clobber(&mut self, registers: u16) {
        self.aligned &= !registers;
        self.pointer &= !registers;
        self.small &= !registers;
    }
}

/// Generates sequences.
pub(super) struct Generator<'a> {
    board: Board,
    random: &'a mut Random,
    patterns: Vec<Pattern>,
    scratch: Thumb,
}

impl<'a> Generator<'a> {
    pub(super) fn new(board: Board, random: &'a mut Random) -> Self {
        let patterns: Vec<_> = table::patterns(board.features()).collect();
        let memory = Memory::new(&Chip::of_memories((0, 16), (RAM, 16))).expect("the chip is possible");
        Self { board, random, patterns, scratch: Thumb::with_features(memory, board.features()) }
    }

    /// A sequence of up to 20 units.
    pub(super) fn sequence(&mut self) -> Sequence {
        let small = self.board == Board::M0;
        let mut start = vec![0; WORDS];
        start[0] = u64::from(self.random.word() & self.board.flags());
        let mut known = Contents::default();
        for n in 0..14 {
            // position 13 is lr
            let bit = if n == 13 { 1 << 14 } else { 1 << n };
            start[1 + n] = match self.random.below(6) {
                0..=1 => {
                    known.aligned |= bit;
                    known.pointer |= bit;
                    self.board.pointer(self.random).into()
                }
                // unaligned accesses are not faults on ARMv7-M
                2 if n % 2 == 0 && !small => {
                    known.pointer |= bit;
                    u64::from(self.board.pointer(self.random) + self.random.below(4))
                }
                3 => {
                    known.small |= bit;
                    u64::from(self.random.below(0x100) & if small { !3 } else { !0 })
                }
                _ => self.random.value(32),
            };
        }
        let units = 1 + self.random.below(20);
        let units = (0..units).map(|_| self.unit(&mut known)).collect::<Vec<_>>();
        let units = units.iter().map(|u| u.iter().flat_map(|h| h.to_le_bytes()).collect()).collect();
        Sequence { start, units, timed: true }
    }

    fn unit(&mut self, known: &mut Contents) -> Vec<u16> {
        let small = self.board == Board::M0;
        match self.random.below(12) {
            0..=1 if !small => self.guarded(known),
            2 => self.jumped_over(known),
            3 if !small && self.random.below(4) == 0 => self.exclusive(known),
            4 => self.control(known),
            5 => self.indexed(known),
            _ => self.plain(known, false),
        }
    }

    /// IT and its block.
    fn guarded(&mut self, known: &mut Contents) -> Vec<u16> {
        let cond = self.random.below(14) as u16;
        let mask = 1 + self.random.below(15) as u16;
        let mut code = vec![0xBF00 | cond << 4 | mask];
        for _ in 0..4 - mask.trailing_zeros() {
            code.extend(self.plain(known, true));
        }
        code
    }

    /// A branch with a condition over one to three instructions.
    fn jumped_over(&mut self, known: &mut Contents) -> Vec<u16> {
        let body: Vec<u16> = (0..1 + self.random.below(3)).flat_map(|_| self.plain(known, false)).collect();
        let over = body.len() as u16 - 1; // the offset counts from two halfwords after the branch
        let mut code = match if self.board == Board::M0 { 1 } else { self.random.below(3) } {
            0 => vec![0xB100 | (self.random.below(2) << 11) as u16 | over << 3 | self.random.below(8) as u16],
            1 => vec![0xD000 | (self.random.below(14) << 8) as u16 | over],
            _ => {
                // the 32-bit form is one halfword longer, and its offset counts from its own end
                let cond = self.random.below(14) as u16;
                vec![0xF000 | cond << 6, 0x8000 | (over + 1)]
            }
        };
        code.extend(body);
        code
    }

    /// Calls and returns of every kind, jumps, table branches, the stack.
    fn control(&mut self, known: &mut Contents) -> Vec<u16> {
        // registers written by the code around the body, or by the body when it is jumped over, are unknown
        known.clobber(0xFF | 1 << 14);
        let body: Vec<u16> = (0..self.random.below(3)).flat_map(|_| self.plain(known, false)).collect();
        let n = body.len() as u16;
        let low = self.random.below(8) as u16;
        let list = 1 + self.random.below(255) as u16;
        // bl over the next branch; b.n over the function; the function
        let call = |enter: &[u16], leave: &[u16]| {
            let f = [enter, &body, leave].concat();
            [&[0xF000, 0xF801, 0xE000 | (f.len() as u16 - 1)], &f[..]].concat()
        };
        // a function that calls none: bl over the next branch; b.n over it
        let leaf = |leave: u16| {
            let keeps_lr = body.len() == 1 && body[0] & 0xF000 < 0x4000;
            let f = [if keeps_lr { body[0] } else { 0x3001 | low << 8 }, leave];
            [&[0xF000, 0xF801, 0xE001], &f[..]].concat()
        };
        let case = self.random.below(18);
        let other = (low + 1) & 7;
        match if self.board == Board::M0 && matches!(case, 1 | 4 | 5 | 9 | 10 | 13..=16) { 3 } else { case } {
            0 => [&[0xF000, 0xF800 | n], &body[..]].concat(),              // bl
            1 => [&[0xF000, 0xB800 | n], &body[..]].concat(),              // b.w
            2 if n > 0 => [&[0xE000 | (n - 1)], &body[..]].concat(),       // b.n
            3 => call(&[0xB500 | list], &[0xBD00 | list]),                 // push, pop with pc
            4 => call(&[0xB500], &[0xF85D, 0xFB04]),                       // push {lr}; ldr pc, [sp], #4
            5 => call(&[0xE92D, 0x4000 | list], &[0xE8BD, 0x8000 | list]), // push.w, pop.w with pc
            6 => leaf(0x4770),                                             // bx lr
            7 => leaf(0x46F7),                                             // mov pc, lr
            8 => leaf(0x47F0),                                             // blx lr
            9 => {
                // movs; tbb [pc, r]; offsets of the body and of its end
                let to = [2, 2 + n][self.random.below(2) as usize];
                let table = [to | 2 << 8, 2 | to << 8];
                [&[0x2000 | low << 8 | self.random.below(4) as u16, 0xE8DF, 0xF000 | low], &table[..], &body[..]]
                    .concat()
            }
            10 => {
                let to = [2, 2 + n][self.random.below(2) as usize];
                [&[0x2000 | low << 8 | self.random.below(2) as u16, 0xE8DF, 0xF010 | low, to, 2 + n], &body[..]]
                    .concat()
            }
            // movs; add pc over a halfword and the body
            12 => [&[0x2000 | low << 8 | (2 * n), 0x4487 | low << 3, 0xBF00], &body[..]].concat(),
            // push {r, lr}; add sp; mov r, sp; ldmdb r, {r, pc}
            13 => call(&[0xB500 | 1 << other], &[0xB002, 0x4668 | low, 0xE910 | low, 0x8000 | 1 << other]),
            // push {lr}; mov r, sp; add sp; ldr pc, [r]
            14 => call(&[0xB500], &[0x4668 | low, 0xB001, 0xF8D0 | low, 0xF000]),
            // push {lr}; add sp; mov r, sp; ldr pc, [r, #-4], which may change r
            15 => {
                let load = [0xFC04, 0xFD04][self.random.below(2) as usize];
                call(&[0xB500], &[0xB001, 0x4668 | low, 0xF850 | low, load])
            }
            // push {lr}; mov r, sp; add sp; movs; ldr pc, [r, r]
            16 => call(&[0xB500], &[0x4668 | low, 0xB001, 0x2000 | other << 8, 0xF850 | low, 0xF000 | other]),
            17 if self.board == Board::M0 => vec![0xB672, 0xB662], // cpsid i; cpsie i
            // cpsid if; cpsie if; cpsid i; cpsie i; movs; msr BASEPRI, mrs
            17 => {
                let base = [0x2000 | low << 8, 0xF380 | low, 0x8811, 0xF3EF, 0x8011 | other << 8];
                [&[0xB673, 0xB663, 0xB672, 0xB662], &base[..]].concat()
            }
            _ => {
                // sub sp; str, ldr relative to sp; add sp; push, pop without pc
                let at = self.random.below(16) as u16;
                let other = self.random.below(8) as u16;
                vec![0xB090, 0x9000 | low << 8 | at, 0x9800 | other << 8 | at, 0xB010, 0xB400 | list, 0xBC00 | list]
            }
        }
    }

    /// A number in a low register, and a load or store with it as an index.
    fn indexed(&mut self, known: &mut Contents) -> Vec<u16> {
        let bases: Vec<u16> = (0..8).filter(|n| known.pointer >> n & 1 == 1).collect();
        if bases.is_empty() {
            return self.plain(known, false);
        }
        let n = bases[self.random.below(bases.len() as u32) as usize];
        let (m, t) = ((n + 1) & 7, self.random.below(8) as u16);
        let mut code = vec![0x2000 | m << 8 | (4 * self.random.below(64) as u16)];
        known.clobber(1 << m | 1 << t);
        if self.board == Board::M0 || self.random.below(2) == 0 {
            code.push(0x5000 | (self.random.below(8) << 9) as u16 | m << 6 | n << 3 | t);
        } else {
            let ops = [0xF800, 0xF810, 0xF820, 0xF830, 0xF840, 0xF850, 0xF910, 0xF930];
            code.extend([ops[self.random.below(8) as usize] | n, t << 12 | (self.random.below(4) << 4) as u16 | m]);
        }
        code
    }

    /// LDREX and STREX to the same address, sometimes with CLREX between them.
    fn exclusive(&mut self, known: &mut Contents) -> Vec<u16> {
        let bases: Vec<u16> = (0..13).filter(|n| known.aligned >> n & 1 == 1).collect();
        let others: Vec<u16> = (0..13).filter(|n| known.aligned >> n & 1 == 0).collect();
        if bases.is_empty() || others.len() < 3 {
            return self.plain(known, false);
        }
        let n = bases[self.random.below(bases.len() as u32) as usize];
        let t = others[0];
        let d = others[1];
        known.clobber(1 << t | 1 << d);
        let (load, store) = [
            ([0xE850 | n, t << 12 | 0xF00], [0xE840 | n, others[2] << 12 | d << 8]),
            ([0xE8D0 | n, t << 12 | 0xF4F], [0xE8C0 | n, others[2] << 12 | 0xF40 | d]),
            ([0xE8D0 | n, t << 12 | 0xF5F], [0xE8C0 | n, others[2] << 12 | 0xF50 | d]),
        ][self.random.below(3) as usize];
        let mut code = load.to_vec();
        if self.random.below(3) == 0 {
            code.extend([0xF3BF, 0x8F2F]);
        }
        code.extend(store);
        code
    }

    /// One instruction that does not branch.
    fn plain(&mut self, known: &mut Contents, guarded: bool) -> Vec<u16> {
        loop {
            let row = self.random.below(self.patterns.len() as u32) as usize;
            let p = self.patterns[row];
            let word = p.value | self.random.word() & !p.mask & (u64::MAX >> (64 - p.bits)) as u32;
            let code = if p.bits == 16 { vec![word as u16] } else { vec![(word >> 16) as u16, word as u16] };
            let (step, base) = self.look(&code);
            if usize::from(step.bytes) != 2 * code.len() || !self.allowed(&step, base, word, known, guarded) {
                continue;
            }
            known.clobber(step.writes);
            return code;
        }
    }

    /// The decoded `code`, and its base register.
    fn look(&mut self, code: &[u16]) -> (Step, u8) {
        for (k, half) in code.iter().enumerate() {
            self.scratch.memory_mut().flash[2 * k..2 * k + 2].copy_from_slice(&half.to_le_bytes());
        }
        let run = self.scratch.decode(0, 1);
        (run.steps[0], run.insns[0].b)
    }

    fn allowed(&mut self, s: &Step, base: u8, word: u32, known: &Contents, guarded: bool) -> bool {
        const SP_PC: u16 = 1 << 13 | 1 << 15;
        // WFE and WFI never end without interrupts; CLREX is in the exclusive sequences
        let waits = [0xBF20, 0xBF30, 0xF3AF_8002, 0xF3AF_8003, 0xF3BF_8F2F].contains(&word);
        if s.writes & SP_PC != 0 || waits {
            return false;
        }
        let indexed = word >> 12 == 5 || word & 0xFE00_0FC0 == 0xF800_0000;
        let index = s.address & !(1 << base);
        let single = s.address != 0 && known.pointer >> base & 1 == 1 && index & !known.small == 0;
        let single = single && (!indexed || index != 0);
        let aligned = s.address.count_ones() == 1 && s.address & !known.aligned == 0;
        match s.class {
            // MOVS of registers is not allowed in IT blocks
            Class::Alu => !(guarded && word >> 6 == 0),
            Class::Mul | Class::MulAdd | Class::MulLong | Class::MulLongAdd | Class::Div => true,
            Class::Load => (s.literal || single) && self.random.below(2) == 0,
            Class::Store => single,
            // a stored base is unknown unless it is the lowest register
            Class::StoreMultiple if word >> 16 == 0 => aligned && word & 0xFF & 1 << (word >> 8 & 7) == 0,
            Class::LoadMultiple | Class::StoreMultiple => aligned || s.literal,
            Class::LoadExclusive => aligned,
            // MRS and MSR of the flags only
            Class::System => word >> 16 != 0 && word & 0xFF <= 3,
            Class::Barrier => self.random.below(8) == 0,
            _ => false,
        }
    }
}
