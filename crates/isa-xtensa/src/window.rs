//! Windowed registers (4.7.1): rotation, overflow and underflow.

use isa::Insn;
use mcu::{FaultKind, Site};

use crate::state::{Caller, SP, Xtensa, ps, special};

/// Frames that are looked at, at most: the harness has three.
const DEPTH: usize = 8;

/// Bits of PS on which windows depend.
const MODE: u32 = ps::WOE | ps::EXCM | ps::UM;

impl Xtensa {
    fn groups(&self) -> u32 {
        self.features.registers() / 4
    }

    /// Number of the lowest of the window's groups `n` groups from it.
    fn group(&self, n: u32) -> u32 {
        self.window_base.wrapping_add(n) & (self.groups() - 1)
    }

    fn started(&self, n: u32) -> bool {
        self.window_start >> self.group(n) & 1 != 0
    }

    /// Moves the window to `base`.
    pub(crate) fn rotate(&mut self, base: u32) {
        for n in 0..4 {
            let at = self.group(n as u32) as usize;
            self.ar[at & 15].copy_from_slice(&self.a[4 * n..4 * n + 4]);
        }
        self.window_base = base & (self.groups() - 1);
        for n in 0..4 {
            let at = self.group(n as u32) as usize;
            self.a[4 * n..4 * n + 4].copy_from_slice(&self.ar[at & 15]);
        }
        self.look();
    }

    /// Finds out which registers must not be used.
    pub(crate) fn look(&mut self) {
        let mut bad = 0;
        if self.ps & (ps::WOE | ps::EXCM) == ps::WOE {
            for n in (1..4).rev() {
                if self.started(n) {
                    bad = 0xFF << n;
                }
            }
        }
        self.guard = bad;
    }

    /// Sets PS; fields that the core does not have stay 0.
    pub(crate) fn set_ps(&mut self, value: u32) {
        let windowed = if self.features.windowed() { ps::OWB | ps::CALLINC | ps::WOE } else { 0 };
        self.ps = value & (ps::INTLEVEL | ps::EXCM | ps::UM | windowed);
        self.look();
    }

    /// WindowStart with the bits that exist.
    pub(crate) fn set_window_start(&mut self, value: u32) {
        self.window_start = value & ((1u64 << self.groups()) - 1) as u32;
        self.look();
    }

    /// Four registers, from where they are or from RAM.
    fn four(&self, group: u32, saved: Option<u32>) -> [u32; 4] {
        if let Some(at) = saved {
            return [0, 4, 8, 12].map(|n| self.mem.ram_load::<4>(at.wrapping_add(n)).unwrap_or(0));
        }
        match group.wrapping_sub(self.window_base) as usize & (self.groups() as usize - 1) {
            n @ 0..4 => std::array::from_fn(|k| self.a[4 * n + k]),
            _ => self.ar[group as usize & 15],
        }
    }

    /// The callers of the function with the window `base`, return address `a0` and stack pointer `sp`, innermost first.
    fn callers_of(&self, mut base: u32, mut a0: u32, mut sp: u32) -> Vec<Caller> {
        let mut found = Vec::new();
        while a0 >> 30 != 0 && found.len() < DEPTH {
            let n = a0 >> 30;
            base = base.wrapping_sub(n) & (self.groups() - 1);
            let live = self.window_start >> base & 1 != 0;
            let mut registers = self.four(base, (!live).then(|| sp.wrapping_sub(16))).to_vec();
            (a0, sp) = (registers[0], registers[1]);
            // of one in RAM, the others are below its caller's frame (4.7.1.5)
            let above = self.mem.ram_load::<4>(sp.wrapping_sub(12)).unwrap_or(0);
            for k in 1..n {
                let saved = above.wrapping_sub(16 * n).wrapping_add(16 * (k - 1));
                let group = base.wrapping_add(k) & (self.groups() - 1);
                registers.extend(self.four(group, (!live).then_some(saved)));
            }
            found.push(Caller { base, registers });
        }
        found
    }

    /// Where the program's window handlers are: at a multiple of 1024 (VECBASE, 4.4.3), with those of overflows of four
    /// and eight registers 128 bytes apart, which begin by saving a0 below the stack of whom they were called by (8.1).
    pub(crate) fn handlers(&self) -> Option<u32> {
        let saves = |at: usize, caller: u8| self.mem.flash.get(at..at + 3) == Some(&[0x00, 0xC0 | caller, 0x49][..]);
        let first = (self.mem.flash_base.wrapping_neg() & 0x3FF) as usize;
        let mut places = (first..self.mem.flash.len()).step_by(0x400);
        places.find(|&at| saves(at, 5) && saves(at + 0x80, 9)).map(|at| self.mem.flash_base + at as u32)
    }

    /// Notes the callers of the measured call, whose caller runs, and where they may be saved (4.7.1.5).
    pub(crate) fn note_callers(&mut self) {
        let frames = self.callers_of(self.window_base, self.a[0], self.a[SP]);
        let mut callee = self.a[SP];
        self.mem.watch.saves.clear();
        for (k, frame) in frames.iter().enumerate() {
            self.mem.watch.saves.push(callee.wrapping_sub(16)..callee);
            callee = frame.registers[SP];
            if let Some(caller) = frames.get(k + 1) {
                let (top, bytes) = (caller.registers[SP], 4 * frame.registers.len() as u32);
                self.mem.watch.saves.push(top.wrapping_sub(bytes)..top.wrapping_sub(16));
            }
        }
        self.callers = (self.ps & MODE, frames);
    }

    /// Whether the callers are what they were, now that the innermost runs again, and nothing else is in the registers.
    pub(crate) fn same_callers(&mut self) -> bool {
        let (mode, before) = std::mem::take(&mut self.callers);
        let Some(first) = before.first() else { return true };
        let registers = self.a[..first.registers.len()].to_vec();
        let mut now = vec![Caller { base: self.window_base, registers }];
        now.extend(self.callers_of(self.window_base, self.a[0], self.a[SP]));
        let known = before.iter().fold(0, |all, c| all | 1 << c.base);
        now == before && self.window_start & !known == 0 && self.ps & MODE == mode
    }

    fn go_to_vector(&mut self, pc: u32, offset: u32) {
        if self.sr[usize::from(special::VECBASE)] == 0 {
            self.mem.fault(FaultKind::NoHandlers, Site { pc, cycles: 0 });
            return;
        }
        self.sr[usize::from(special::EPC1)] = pc;
        self.set_ps(self.ps | ps::EXCM);
        self.pc = self.sr[usize::from(special::VECBASE)].wrapping_add(offset);
        self.mem.stall += i64::from(self.events.exception);
    }

    fn keep_window_base(&mut self) {
        self.ps = self.ps & !ps::OWB | self.window_base << 8;
    }

    /// WindowCheck of 4.7.1.3 has found a live frame in the window, at most `reach` groups from its start.
    #[cold]
    pub(crate) fn overflow(&mut self, pc: u32, reach: u32) {
        let n = (1..=reach).find(|&n| self.started(n)).unwrap_or(1);
        self.keep_window_base();
        self.rotate(self.window_base.wrapping_add(n));
        let offset = match (self.started(1), self.started(2)) {
            (true, _) => 0x00,
            (_, true) => 0x80,
            _ => 0x100,
        };
        self.go_to_vector(pc, offset);
    }

    /// RETW: returns whether the caller's frame is in the registers; otherwise its exception has been entered.
    pub(crate) fn return_window(&mut self, pc: u32) -> bool {
        let n = self.a[0] >> 30;
        let from = self.window_base;
        if self.window_start >> self.group(n.wrapping_neg()) & 1 != 0 {
            let caller = from.wrapping_sub(n);
            self.window_start &= !(1 << from);
            self.rotate(caller);
            return true;
        }
        self.keep_window_base();
        self.rotate(from.wrapping_sub(n));
        self.go_to_vector(pc, 0x40 * (2 * n - 1));
        false
    }

    /// Whether RETW is defined here: its register says how far away the caller is, and nothing nearer may be a frame.
    pub(crate) fn may_return(&self) -> bool {
        let n = self.a[0] >> 30;
        let m = (1..4).find(|&m| self.started(0u32.wrapping_sub(m)));
        n != 0 && m.is_none_or(|m| m == n) && self.ps & (ps::WOE | ps::EXCM) == ps::WOE
    }

    /// ENTRY, after its check.
    pub(crate) fn entry(&mut self, s: usize, bytes: u32, i: &Insn<Self>) {
        let n = self.ps >> 16 & 3;
        let sp = self.a[s].wrapping_sub(bytes);
        self.a[4 * n as usize + (s & 3)] = sp;
        self.window_start |= 1 << self.group(n);
        self.rotate(self.window_base.wrapping_add(n));
        self.mem.stack(self.a[SP], i.site);
    }

    /// MOVSP: whether the caller's frame is in the registers; otherwise its exception has been entered
    /// (AllocaCause, 5).
    pub(crate) fn may_move_stack(&mut self, pc: u32) -> bool {
        if (1..4u32).any(|n| self.started(n.wrapping_neg())) {
            return true;
        }
        self.sr[usize::from(special::EXCCAUSE)] = 5;
        let offset = if self.ps & ps::UM != 0 { 0x340 } else { 0x300 };
        self.go_to_vector(pc, offset);
        false
    }

    /// RFWO and RFWU.
    pub(crate) fn return_from_window(&mut self, overflow: bool) {
        let bit = 1 << self.window_base;
        let start = if overflow { self.window_start & !bit } else { self.window_start | bit };
        self.window_start = start;
        self.ps &= !ps::EXCM;
        self.rotate(self.ps >> 8 & 15);
        self.pc = self.sr[usize::from(special::EPC1)];
    }
}
