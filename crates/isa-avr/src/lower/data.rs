//! Lowers pointers, the stack, and accesses to data and program memory to operations for the translator.

use isa::Insn;
use isa::native::{ByHandler, Emit, Op as Do, Slots};

use super::{Lowering, RAMPZ, SP, Word, high, sum};
use crate::op::{Change, Pointer};
use crate::spans::{self, Access, Span};
use crate::state::{self, Avr};

impl<E: Emit> Lowering<'_, '_, E> {
    /// A pair of registers.
    pub(super) fn word(&mut self, low: u8) -> Word<E::V> {
        if let Some(known) = self.pairs[usize::from(low / 2)] {
            return known;
        }
        let (low_byte, high) = (self.reg(low), self.reg(low + 1));
        let (low_byte, high) = (self.e.widen(low_byte, 16, false), self.e.widen(high, 16, false));
        let high = self.with(Do::Shl, high, 16, 8);
        let word = (self.e.op(Do::Or, low_byte, high), 0);
        self.pairs[usize::from(low / 2)] = Some(word);
        word
    }

    pub(super) fn pair(&mut self, low: u8) -> E::V {
        let word = self.word(low);
        let word = sum(self.e, word);
        self.pairs[usize::from(low / 2)] = Some((word, 0));
        word
    }

    pub(super) fn set_word(&mut self, low: u8, word: Word<E::V>) {
        self.e.later(low.into(), move |e| {
            let word = sum(e, word);
            e.narrow(word, 8)
        });
        self.e.later(usize::from(low) + 1, move |e| {
            let word = sum(e, word);
            high(e, word)
        });
        self.pairs[usize::from(low / 2)] = Some(word);
    }

    pub(super) fn set_pair(&mut self, low: u8, word: E::V) {
        self.set_word(low, (word, 0));
    }

    /// The stack pointer.
    pub(super) fn sp(&mut self) -> Word<E::V> {
        *self.stack.get_or_insert_with(|| (self.e.get(SP), 0))
    }

    pub(super) fn set_sp(&mut self, word: Word<E::V>) {
        self.e.later(SP, move |e| sum(e, word));
        self.stack = Some(word);
    }

    /// The position in a span where the instruction reads or writes; the first access begins the span. `pointer` is its
    /// base.
    pub(super) fn place(&mut self, access: Access, pointer: Word<E::V>, by: ByHandler) -> E::Span {
        if let Some(open) = self.open[access.span] {
            return open;
        }
        let Span { bounds: (from, to), loads, .. } = self.spans.spans[access.span];
        let pointer = sum(self.e, pointer);
        let address = self.address(pointer);
        // this does not wrap if everything pushed is in the span
        let depth = self.spans.depths[by.at].take();
        let least = depth.map(|depth| self.with(Do::Sub, address, 32, depth as u32));
        // registers and SREG have addresses too
        let reads = if loads { Slots::ALL } else { by.reads };
        let span = self.e.span(ByHandler { reads, ..by }, address, from, (to - from) as u32, least);
        self.open[access.span] = Some(span);
        span
    }

    /// IN, OUT, LDS, STS: the address is known.
    pub(super) fn direct(&mut self, i: &Insn<Avr>, store: bool, by: ByHandler) {
        let (core, a) = (self.core, i.a);
        let io = i.imm.wrapping_sub(core.variant.io);
        let inside = |base: u32, size: usize| (i.imm.wrapping_sub(base) as usize) < size;
        match io {
            state::SPL | state::SPH if store => {
                self.e.handler(ByHandler { reads: by.reads.with(SP).with(a.into()), writes: by.writes.with(SP), ..by });
                self.stack = None;
            }
            state::SPL | state::SPH => {
                let sp = self.e.get(SP);
                let v = if io == state::SPL { self.e.narrow(sp, 8) } else { high(self.e, sp) };
                self.set(a, v);
            }
            state::SREG if store => {
                let v = self.reg(a);
                self.unpack(v);
            }
            state::SREG => {
                let v = self.pack();
                self.set(a, v);
            }
            state::RAMPZ if core.variant.rampz != 0 && store => {
                let v = self.reg(a);
                let v = self.with(Do::And, v, 8, core.variant.rampz.into());
                self.e.set(RAMPZ, v);
            }
            state::RAMPZ if core.variant.rampz != 0 => {
                let v = self.e.get(RAMPZ);
                self.set(a, v);
            }
            _ if i.imm < core.variant.io => {
                self.e.handler(ByHandler { reads: Slots::ALL, writes: Slots::ALL, ..by });
                self.forget();
            }
            _ if inside(core.mem.ram_base, core.mem.ram.len()) => {
                let at = self.e.int(32, i.imm.into());
                if store {
                    let v = self.reg(a);
                    self.e.store(by, at, 1, v, |_| {});
                } else {
                    self.load(a, at, None, by);
                }
            }
            _ => {
                let (reads, writes) = (by.reads.with(a.into()), by.writes.with(a.into()));
                self.e.handler(ByHandler { reads, writes, ..by });
                self.pairs[usize::from(a / 2)] = None;
            }
        }
    }

    /// Register `a` from an address; `after` is a pair and its value afterwards.
    pub(super) fn load(&mut self, a: u8, at: E::V, after: Option<(u8, Word<E::V>)>, by: ByHandler) {
        // registers and SREG have addresses too
        let mut value = None;
        self.e.load(ByHandler { reads: Slots::ALL, ..by }, at, 1, (8, false), |_, v| value = Some(v));
        self.loaded(a, value, after);
    }

    pub(super) fn loaded(&mut self, a: u8, value: Option<E::V>, after: Option<(u8, Word<E::V>)>) {
        if let Some((pair, word)) = after {
            self.set_word(pair, word);
        }
        if let Some(value) = value {
            self.set(a, value);
        }
    }

    /// LD, LDD, ST, STD.
    pub(super) fn indirect(&mut self, (to, change): (Pointer, Change), i: &Insn<Avr>, store: bool, by: ByHandler) {
        let (low, (before, after, plus)) = (to.low(), spans::pointer(change, i));
        let Some(access) = self.spans.accesses[by.at] else { return };
        let (word, added) = self.word(low);
        let next = (before + after != 0).then_some((low, (word, added.wrapping_add_signed((before + after) as i16))));
        if self.core.mem.flash_in_data().is_some() && !self.spans.spans[access.span].stores {
            // constants may be there
            let word = sum(self.e, (word, added.wrapping_add_signed(before as i16)));
            let address = self.address(word);
            // there is nothing beyond 16 bits, so the handler does the carry
            let address = if plus == 0 { address } else { self.with(Do::Add, address, 32, plus as u32) };
            return self.load(i.a, address, next, by);
        }
        let span = self.place(access, (word, added), by);
        let value = if store {
            let value = self.reg(i.a);
            self.e.store_in(span, access.at, 1, value);
            None
        } else {
            Some(self.e.load_in(span, access.at, 1))
        };
        self.loaded(i.a, value, next);
    }

    /// LPM and ELPM.
    pub(super) fn program(&mut self, far: bool, change: Change, i: &Insn<Avr>, by: ByHandler) {
        let z = self.pair(Pointer::Z.low());
        let mut at = self.address(z);
        if far {
            let top = self.e.get(RAMPZ);
            let top = self.e.widen(top, 32, false);
            let top = self.with(Do::Shl, top, 32, 16);
            at = self.e.op(Do::Or, at, top);
        }
        let mut value = None;
        self.e.program(by, at, |_, v| value = Some(v));
        let mut after = None;
        if change == Change::Post {
            let next = self.with(Do::Add, at, 32, 1);
            after = Some((Pointer::Z.low(), (self.e.narrow(next, 16), 0)));
            if far {
                let top = self.with(Do::Shr, next, 32, 16);
                let top = self.e.narrow(top, 8);
                let top = self.with(Do::And, top, 8, self.core.variant.rampz.into());
                self.e.set(RAMPZ, top);
            }
        }
        self.loaded(i.a, value, after);
    }

    /// Pushes `count` bytes, the lowest at the lowest address.
    pub(super) fn push(&mut self, value: E::V, count: u32, by: ByHandler) {
        let Some(access) = self.spans.accesses[by.at] else { return };
        let sp = self.sp();
        let span = self.place(access, sp, by);
        if let Some(depth) = self.spans.depths[by.at] {
            let now = sum(self.e, sp);
            let now = self.address(now);
            let least = self.with(Do::Sub, now, 32, depth as u32);
            self.e.stack(by, least);
        }
        self.e.store_in(span, access.at, count, value);
        self.set_sp((sp.0, sp.1.wrapping_sub(count as u16)));
    }

    /// Pops what [`Lowering::push`] pushed.
    pub(super) fn pop(&mut self, count: u32, by: ByHandler) -> Option<E::V> {
        let access = self.spans.accesses[by.at]?;
        let sp = self.sp();
        let span = self.place(access, sp, by);
        let value = self.e.load_in(span, access.at, count);
        self.set_sp((sp.0, sp.1.wrapping_add(count as u16)));
        Some(value)
    }

    /// Pushes the address after a call of the given number of words.
    pub(super) fn push_return(&mut self, i: &Insn<Avr>, words: u32, by: ByHandler) {
        // the low byte is pushed first
        let back = ((i.site.pc / 2).wrapping_add(words) as u16).swap_bytes();
        let back = self.e.int(16, back.into());
        self.push(back, 2, by);
    }
}
