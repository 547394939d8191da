//! What each instruction does, as plain functions.
//!
//! `F` is the set of flags that somebody can still read: an instruction leaves the others alone, and
//! what they then hold is never seen. A function that touches memory has `FULL`: without it, it does
//! ordinary RAM only and returns `None`, without effect, for everything else.

use isa::Insn;
use mcu::{FaultKind, Site};

use crate::Avr;
use crate::sreg::{C, N, S, Sreg, V, Z};

/// An instruction of this core.
pub(crate) type I = Insn<Avr>;

/// I/O address of the upper bits of ELPM's address.
pub(crate) const RAMPZ: u32 = 0x3B;
/// I/O address of the stack pointer's low byte.
pub(crate) const SPL: u32 = 0x3D;
/// I/O address of the stack pointer's high byte.
pub(crate) const SPH: u32 = 0x3E;
/// I/O address of the status register.
pub(crate) const SREG: u32 = 0x3F;

/// Number of the first register of a pointer.
pub(crate) const X: u8 = 26;
pub(crate) const Y: u8 = 28;
pub(crate) const ZP: u8 = 30;

/// How a pointer changes.
pub(crate) const PLAIN: u8 = 0;
pub(crate) const POST: u8 = 1;
pub(crate) const PRE: u8 = 2;
/// Not at all, but a displacement is added.
pub(crate) const DISP: u8 = 3;

impl Avr {
    /// Two registers as a word.
    ///
    /// They are mostly written one by one, and a word read behind two byte writes waits in the host's
    /// store buffer. Volatile reads are not merged into a word.
    #[inline(always)]
    fn pair(&self, low: u8) -> u16 {
        // SAFETY: both are references to initialised bytes.
        let byte = |n: usize| unsafe { std::ptr::read_volatile(&self.r[n]) };
        u16::from_le_bytes([byte(low.into()), byte(usize::from(low) + 1)])
    }

    #[inline(always)]
    fn set_pair(&mut self, low: u8, value: u16) {
        [self.r[low as usize], self.r[low as usize + 1]] = value.to_le_bytes();
    }

    #[inline(always)]
    fn a(&self, i: &I) -> u8 {
        self.r[i.a as usize]
    }

    #[inline(always)]
    fn b(&self, i: &I) -> u8 {
        self.r[i.b as usize]
    }

    #[inline(always)]
    fn set(&mut self, i: &I, value: u8) {
        self.r[i.a as usize] = value;
    }

    #[inline(always)]
    fn read<const FULL: bool>(&mut self, address: u32, site: Site) -> Option<u8> {
        if FULL { Some(self.read_any(address, site)) } else { self.mem.ram_load::<1>(address).map(|v| v as u8) }
    }

    #[inline(always)]
    fn write<const FULL: bool>(&mut self, address: u32, value: u8, site: Site) -> Option<()> {
        if FULL {
            self.write_any(address, value, site);
            Some(())
        } else {
            self.mem.ram_store::<1>(address, value.into()).then_some(())
        }
    }

    fn read_any(&mut self, address: u32, site: Site) -> u8 {
        let (io, rampz) = (self.variant.io, self.variant.rampz);
        match address.wrapping_sub(io) {
            SPL => self.sp as u8,
            SPH => (self.sp >> 8) as u8,
            SREG => self.sreg.pack(),
            RAMPZ if rampz != 0 => self.rampz,
            _ if address < io => self.r[address as usize],
            _ => self.mem.load::<1>(address, self.sp.into(), site) as u8,
        }
    }

    fn write_any(&mut self, address: u32, value: u8, site: Site) {
        let (io, rampz) = (self.variant.io, self.variant.rampz);
        match address.wrapping_sub(io) {
            SPL => {
                self.sp = self.sp & 0xFF00 | u16::from(value);
                self.stack_written(SPL, site);
            }
            SPH => {
                self.sp = self.sp & 0xFF | u16::from(value) << 8;
                self.stack_written(SPH, site);
            }
            SREG => self.sreg = Sreg::unpack(value),
            RAMPZ if rampz != 0 => self.rampz = value & rampz,
            _ if address < io => self.r[address as usize] = value,
            _ => self.mem.store::<1>(address, value.into(), self.sp.into(), site),
        }
    }

    /// One half of the stack pointer was written. Nobody looks at it before it is whole.
    fn stack_written(&mut self, half: u32, site: Site) {
        let other = std::mem::replace(&mut self.half, half);
        let whole = match self.variant.stack_low_first {
            false => half == SPL,
            true => other != 0 && other != half,
        };
        if whole {
            self.half = 0;
            self.mem.stack(self.sp.into(), site);
        }
    }

    /// Pushes the low bytes first, so that they end up at the higher addresses.
    #[inline(always)]
    fn push_bytes<const FULL: bool, const K: usize>(&mut self, bytes: [u8; K], site: Site) -> Option<()> {
        let sp = self.sp.wrapping_sub(K as u16);
        if !FULL && u32::from(sp) < self.mem.sp_min {
            return None;
        }
        for (k, b) in bytes.into_iter().enumerate() {
            self.write::<FULL>(self.sp.wrapping_sub(k as u16).into(), b, site)?;
        }
        self.sp = sp;
        if FULL {
            self.mem.stack(sp.into(), site);
        }
        Some(())
    }

    /// Pops what [`Avr::push_bytes`] pushed.
    #[inline(always)]
    fn pop_bytes<const FULL: bool, const K: usize>(&mut self, site: Site) -> Option<[u8; K]> {
        let mut bytes = [0; K];
        for k in 0..K {
            bytes[K - 1 - k] = self.read::<FULL>(self.sp.wrapping_add(k as u16 + 1).into(), site)?;
        }
        self.sp = self.sp.wrapping_add(K as u16);
        Some(bytes)
    }
}

/// Flags of an addition or subtraction except Z.
#[inline(always)]
fn carries<const F: u8>(s: &mut Sreg, d: u8, r: u8, res: u8, carry: bool, overflow: u8) {
    if F & C != 0 {
        s.c = carry.into();
    }
    if F & !(C | Z) != 0 {
        s.h = d ^ r ^ res;
        s.n = res;
        s.v = overflow;
        s.s = res ^ overflow;
    }
}

/// Flags N, V and S of a result, and Z.
#[inline(always)]
fn result<const F: u8>(s: &mut Sreg, res: u8, overflow: u8) {
    if F & Z != 0 {
        s.z = res;
    }
    if F & (N | V | S) != 0 {
        s.n = res;
        s.v = overflow;
        s.s = res ^ overflow;
    }
}

#[inline(always)]
fn plus<const F: u8>(cpu: &mut Avr, i: &I, carry: u8) {
    let (d, r) = (cpu.a(i), cpu.b(i));
    let wide = u32::from(d) + u32::from(r) + u32::from(carry);
    let res = wide as u8;
    carries::<F>(&mut cpu.sreg, d, r, res, wide > 0xFF, (d ^ res) & (r ^ res));
    if F & Z != 0 {
        cpu.sreg.z = res;
    }
    cpu.set(i, res);
}

#[inline(always)]
fn minus<const F: u8>(cpu: &mut Avr, d: u8, r: u8) -> u8 {
    let res = d.wrapping_sub(r);
    carries::<F>(&mut cpu.sreg, d, r, res, d < r, (d ^ r) & (d ^ res));
    if F & Z != 0 {
        cpu.sreg.z = res;
    }
    res
}

/// Subtraction with carry: Z stays clear when it was.
#[inline(always)]
fn minus_carry<const F: u8>(cpu: &mut Avr, d: u8, r: u8) -> u8 {
    let wide = u32::from(d).wrapping_sub(u32::from(r)).wrapping_sub(u32::from(cpu.sreg.c));
    let res = wide as u8;
    carries::<F>(&mut cpu.sreg, d, r, res, wide > 0xFF, (d ^ r) & (d ^ res));
    if F & Z != 0 {
        cpu.sreg.z |= res;
    }
    res
}

#[inline(always)]
pub(crate) fn add<const F: u8>(cpu: &mut Avr, i: &I) {
    plus::<F>(cpu, i, 0);
}

#[inline(always)]
pub(crate) fn adc<const F: u8>(cpu: &mut Avr, i: &I) {
    let c = cpu.sreg.c;
    plus::<F>(cpu, i, c);
}

#[inline(always)]
pub(crate) fn sub<const F: u8>(cpu: &mut Avr, i: &I) {
    let res = minus::<F>(cpu, cpu.a(i), cpu.b(i));
    cpu.set(i, res);
}

#[inline(always)]
pub(crate) fn subi<const F: u8>(cpu: &mut Avr, i: &I) {
    let res = minus::<F>(cpu, cpu.a(i), i.imm as u8);
    cpu.set(i, res);
}

#[inline(always)]
pub(crate) fn sbc<const F: u8>(cpu: &mut Avr, i: &I) {
    let res = minus_carry::<F>(cpu, cpu.a(i), cpu.b(i));
    cpu.set(i, res);
}

#[inline(always)]
pub(crate) fn sbci<const F: u8>(cpu: &mut Avr, i: &I) {
    let res = minus_carry::<F>(cpu, cpu.a(i), i.imm as u8);
    cpu.set(i, res);
}

#[inline(always)]
pub(crate) fn cp<const F: u8>(cpu: &mut Avr, i: &I) {
    minus::<F>(cpu, cpu.a(i), cpu.b(i));
}

#[inline(always)]
pub(crate) fn cpc<const F: u8>(cpu: &mut Avr, i: &I) {
    minus_carry::<F>(cpu, cpu.a(i), cpu.b(i));
}

#[inline(always)]
pub(crate) fn cpi<const F: u8>(cpu: &mut Avr, i: &I) {
    minus::<F>(cpu, cpu.a(i), i.imm as u8);
}

#[inline(always)]
pub(crate) fn neg<const F: u8>(cpu: &mut Avr, i: &I) {
    let res = minus::<F>(cpu, 0, cpu.a(i));
    cpu.set(i, res);
}

#[inline(always)]
fn logic<const F: u8>(cpu: &mut Avr, i: &I, res: u8) {
    result::<F>(&mut cpu.sreg, res, 0);
    cpu.set(i, res);
}

#[inline(always)]
pub(crate) fn and<const F: u8>(cpu: &mut Avr, i: &I) {
    logic::<F>(cpu, i, cpu.a(i) & cpu.b(i));
}

#[inline(always)]
pub(crate) fn andi<const F: u8>(cpu: &mut Avr, i: &I) {
    logic::<F>(cpu, i, cpu.a(i) & i.imm as u8);
}

#[inline(always)]
pub(crate) fn or<const F: u8>(cpu: &mut Avr, i: &I) {
    logic::<F>(cpu, i, cpu.a(i) | cpu.b(i));
}

#[inline(always)]
pub(crate) fn ori<const F: u8>(cpu: &mut Avr, i: &I) {
    logic::<F>(cpu, i, cpu.a(i) | i.imm as u8);
}

#[inline(always)]
pub(crate) fn eor<const F: u8>(cpu: &mut Avr, i: &I) {
    logic::<F>(cpu, i, cpu.a(i) ^ cpu.b(i));
}

#[inline(always)]
pub(crate) fn com<const F: u8>(cpu: &mut Avr, i: &I) {
    if F & C != 0 {
        cpu.sreg.c = 1;
    }
    logic::<F>(cpu, i, !cpu.a(i));
}

#[inline(always)]
pub(crate) fn inc<const F: u8>(cpu: &mut Avr, i: &I) {
    let d = cpu.a(i);
    let res = d.wrapping_add(1);
    result::<F>(&mut cpu.sreg, res, !d & res);
    cpu.set(i, res);
}

#[inline(always)]
pub(crate) fn dec<const F: u8>(cpu: &mut Avr, i: &I) {
    let d = cpu.a(i);
    let res = d.wrapping_sub(1);
    result::<F>(&mut cpu.sreg, res, d & !res);
    cpu.set(i, res);
}

/// Right shift by one, `top` comes in at bit 7.
#[inline(always)]
fn shift<const F: u8>(cpu: &mut Avr, i: &I, d: u8, top: u8) {
    let res = d >> 1 | top;
    if F & C != 0 {
        cpu.sreg.c = d & 1;
    }
    result::<F>(&mut cpu.sreg, res, res ^ d << 7);
    cpu.set(i, res);
}

#[inline(always)]
pub(crate) fn lsr<const F: u8>(cpu: &mut Avr, i: &I) {
    shift::<F>(cpu, i, cpu.a(i), 0);
}

#[inline(always)]
pub(crate) fn asr<const F: u8>(cpu: &mut Avr, i: &I) {
    let d = cpu.a(i);
    shift::<F>(cpu, i, d, d & 0x80);
}

#[inline(always)]
pub(crate) fn ror<const F: u8>(cpu: &mut Avr, i: &I) {
    shift::<F>(cpu, i, cpu.a(i), cpu.sreg.c << 7);
}

/// Flags of a 16-bit result.
#[inline(always)]
fn word<const F: u8>(s: &mut Sreg, res: u16, carry: u8, overflow: u8) {
    if F & C != 0 {
        s.c = carry;
    }
    if F & Z != 0 {
        s.z = (res >> 8 | res) as u8;
    }
    if F & (N | V | S) != 0 {
        s.n = (res >> 8) as u8;
        s.v = overflow;
        s.s = s.n ^ overflow;
    }
}

#[inline(always)]
pub(crate) fn adiw<const F: u8>(cpu: &mut Avr, i: &I) {
    let d = cpu.pair(i.a);
    let res = d.wrapping_add(i.imm as u16);
    word::<F>(&mut cpu.sreg, res, (res < d).into(), ((!d & res) >> 8) as u8);
    cpu.set_pair(i.a, res);
}

#[inline(always)]
pub(crate) fn sbiw<const F: u8>(cpu: &mut Avr, i: &I) {
    let d = cpu.pair(i.a);
    let res = d.wrapping_sub(i.imm as u16);
    word::<F>(&mut cpu.sreg, res, (res > d).into(), ((d & !res) >> 8) as u8);
    cpu.set_pair(i.a, res);
}

/// Ends a multiplication. `LEFT` is 1 for the fractional ones.
#[inline(always)]
fn product<const F: u8, const LEFT: u8>(cpu: &mut Avr, p: u16) {
    let res = p << LEFT;
    if F & C != 0 {
        cpu.sreg.c = (p >> 15) as u8;
    }
    if F & Z != 0 {
        cpu.sreg.z = (res >> 8 | res) as u8;
    }
    cpu.set_pair(0, res);
}

#[inline(always)]
fn unsigned(cpu: &Avr, i: &I) -> u16 {
    u16::from(cpu.a(i)) * u16::from(cpu.b(i))
}

#[inline(always)]
fn signed(cpu: &Avr, i: &I) -> u16 {
    (i16::from(cpu.a(i) as i8) * i16::from(cpu.b(i) as i8)) as u16
}

#[inline(always)]
fn mixed(cpu: &Avr, i: &I) -> u16 {
    (i16::from(cpu.a(i) as i8).wrapping_mul(i16::from(cpu.b(i)))) as u16
}

#[inline(always)]
pub(crate) fn mul<const F: u8>(cpu: &mut Avr, i: &I) {
    product::<F, 0>(cpu, unsigned(cpu, i));
}

#[inline(always)]
pub(crate) fn muls<const F: u8>(cpu: &mut Avr, i: &I) {
    product::<F, 0>(cpu, signed(cpu, i));
}

#[inline(always)]
pub(crate) fn mulsu<const F: u8>(cpu: &mut Avr, i: &I) {
    product::<F, 0>(cpu, mixed(cpu, i));
}

#[inline(always)]
pub(crate) fn fmul<const F: u8>(cpu: &mut Avr, i: &I) {
    product::<F, 1>(cpu, unsigned(cpu, i));
}

#[inline(always)]
pub(crate) fn fmuls<const F: u8>(cpu: &mut Avr, i: &I) {
    product::<F, 1>(cpu, signed(cpu, i));
}

#[inline(always)]
pub(crate) fn fmulsu<const F: u8>(cpu: &mut Avr, i: &I) {
    product::<F, 1>(cpu, mixed(cpu, i));
}

#[inline(always)]
pub(crate) fn mov(cpu: &mut Avr, i: &I) {
    cpu.set(i, cpu.b(i));
}

#[inline(always)]
pub(crate) fn movw(cpu: &mut Avr, i: &I) {
    cpu.set_pair(i.a, cpu.pair(i.b));
}

#[inline(always)]
pub(crate) fn ldi(cpu: &mut Avr, i: &I) {
    cpu.set(i, i.imm as u8);
}

#[inline(always)]
pub(crate) fn swap(cpu: &mut Avr, i: &I) {
    cpu.set(i, cpu.a(i).rotate_left(4));
}

#[inline(always)]
pub(crate) fn bst(cpu: &mut Avr, i: &I) {
    cpu.sreg.t = cpu.a(i) >> (i.b & 7) & 1;
}

#[inline(always)]
pub(crate) fn bld(cpu: &mut Avr, i: &I) {
    let bit = i.b & 7;
    cpu.set(i, cpu.a(i) & !(1 << bit) | cpu.sreg.t << bit);
}

#[inline(always)]
pub(crate) fn bset<const BIT: u8>(cpu: &mut Avr, _: &I) {
    cpu.sreg.put::<BIT>(true);
}

#[inline(always)]
pub(crate) fn bclr<const BIT: u8>(cpu: &mut Avr, _: &I) {
    cpu.sreg.put::<BIT>(false);
}

#[inline(always)]
pub(crate) fn nop(_: &mut Avr, _: &I) {}

/// IN and LDS: a data address that is known.
#[inline(always)]
pub(crate) fn lds<const FULL: bool>(cpu: &mut Avr, i: &I) -> Option<()> {
    let v = cpu.read::<FULL>(i.imm, i.site)?;
    cpu.set(i, v);
    Some(())
}

/// OUT and STS.
#[inline(always)]
pub(crate) fn sts<const FULL: bool>(cpu: &mut Avr, i: &I) -> Option<()> {
    cpu.write::<FULL>(i.imm, cpu.a(i), i.site)
}

#[inline(always)]
pub(crate) fn sbi(cpu: &mut Avr, i: &I) {
    let v = cpu.read_any(i.imm, i.site);
    cpu.write_any(i.imm, v | 1 << (i.b & 7), i.site);
}

#[inline(always)]
pub(crate) fn cbi(cpu: &mut Avr, i: &I) {
    let v = cpu.read_any(i.imm, i.site);
    cpu.write_any(i.imm, v & !(1 << (i.b & 7)), i.site);
}

/// Address of a pointer access and the pointer's value after it.
#[inline(always)]
fn pointer<const P: u8, const MODE: u8>(cpu: &Avr, i: &I) -> (u32, u16) {
    let p = cpu.pair(P);
    let (at, after) = match MODE {
        POST => (p, p.wrapping_add(1)),
        PRE => (p.wrapping_sub(1), p.wrapping_sub(1)),
        DISP => (p.wrapping_add(i.b.into()), p),
        _ => (p, p),
    };
    (at.into(), after)
}

#[inline(always)]
pub(crate) fn ld<const FULL: bool, const P: u8, const MODE: u8>(cpu: &mut Avr, i: &I) -> Option<()> {
    let (at, after) = pointer::<P, MODE>(cpu, i);
    let v = cpu.read::<FULL>(at, i.site)?;
    if MODE == POST || MODE == PRE {
        cpu.set_pair(P, after);
    }
    cpu.set(i, v);
    Some(())
}

#[inline(always)]
pub(crate) fn st<const FULL: bool, const P: u8, const MODE: u8>(cpu: &mut Avr, i: &I) -> Option<()> {
    let (at, after) = pointer::<P, MODE>(cpu, i);
    cpu.write::<FULL>(at, cpu.a(i), i.site)?;
    if MODE == POST || MODE == PRE {
        cpu.set_pair(P, after);
    }
    Some(())
}

/// A byte of program memory.
#[inline(always)]
fn program<const FULL: bool>(cpu: &mut Avr, i: &I, at: u32) -> Option<u8> {
    match cpu.mem.flash.get(at as usize) {
        Some(&v) => Some(v),
        None if FULL => {
            cpu.mem.fault(FaultKind::OutOfRange { address: at, write: false }, i.site);
            Some(0)
        }
        None => None,
    }
}

#[inline(always)]
pub(crate) fn lpm<const FULL: bool, const MODE: u8>(cpu: &mut Avr, i: &I) -> Option<()> {
    let (at, after) = pointer::<ZP, MODE>(cpu, i);
    let v = program::<FULL>(cpu, i, at)?;
    if MODE == POST {
        cpu.set_pair(ZP, after);
    }
    cpu.set(i, v);
    Some(())
}

/// ELPM: RAMPZ holds the address's bits above Z.
#[inline(always)]
pub(crate) fn elpm<const FULL: bool, const MODE: u8>(cpu: &mut Avr, i: &I) -> Option<()> {
    let at = u32::from(cpu.rampz) << 16 | u32::from(cpu.pair(ZP));
    let v = program::<FULL>(cpu, i, at)?;
    if MODE == POST {
        let after = at + 1;
        cpu.set_pair(ZP, after as u16);
        cpu.rampz = (after >> 16) as u8 & cpu.variant.rampz;
    }
    cpu.set(i, v);
    Some(())
}

#[inline(always)]
pub(crate) fn push<const FULL: bool>(cpu: &mut Avr, i: &I) -> Option<()> {
    cpu.push_bytes::<FULL, 1>([cpu.a(i)], i.site)
}

#[inline(always)]
pub(crate) fn pop<const FULL: bool>(cpu: &mut Avr, i: &I) -> Option<()> {
    let [v] = cpu.pop_bytes::<FULL, 1>(i.site)?;
    cpu.set(i, v);
    Some(())
}

/// CPSE. The condition functions say whether the next instruction is skipped.
#[inline(always)]
pub(crate) fn cpse(cpu: &mut Avr, i: &I) -> bool {
    cpu.a(i) == cpu.b(i)
}

#[inline(always)]
pub(crate) fn sbrc(cpu: &mut Avr, i: &I) -> bool {
    cpu.a(i) >> (i.b & 7) & 1 == 0
}

#[inline(always)]
pub(crate) fn sbrs(cpu: &mut Avr, i: &I) -> bool {
    cpu.a(i) >> (i.b & 7) & 1 == 1
}

#[inline(always)]
pub(crate) fn sbic(cpu: &mut Avr, i: &I) -> bool {
    cpu.read_any(i.imm, i.site) >> (i.b & 7) & 1 == 0
}

#[inline(always)]
pub(crate) fn sbis(cpu: &mut Avr, i: &I) -> bool {
    cpu.read_any(i.imm, i.site) >> (i.b & 7) & 1 == 1
}

#[inline(always)]
pub(crate) fn when_set<const BIT: u8>(cpu: &mut Avr, _: &I) -> bool {
    cpu.sreg.get::<BIT>()
}

#[inline(always)]
pub(crate) fn when_clear<const BIT: u8>(cpu: &mut Avr, _: &I) -> bool {
    !cpu.sreg.get::<BIT>()
}

/// RJMP, JMP and the end of a run that falls through.
#[inline(always)]
pub(crate) fn jmp<const FULL: bool>(cpu: &mut Avr, i: &I) -> Option<()> {
    cpu.pc = i.imm;
    Some(())
}

#[inline(always)]
pub(crate) fn ijmp<const FULL: bool>(cpu: &mut Avr, _: &I) -> Option<()> {
    cpu.pc = u32::from(cpu.pair(ZP)) * 2;
    Some(())
}

/// Pushes the word address `words` behind the call.
#[inline(always)]
fn push_return<const FULL: bool>(cpu: &mut Avr, i: &I, words: u32) -> Option<()> {
    let back = (i.site.pc / 2).wrapping_add(words) as u16;
    cpu.push_bytes::<FULL, 2>(back.to_le_bytes(), i.site)
}

#[inline(always)]
pub(crate) fn call<const FULL: bool, const WORDS: u32>(cpu: &mut Avr, i: &I) -> Option<()> {
    push_return::<FULL>(cpu, i, WORDS)?;
    cpu.pc = i.imm;
    Some(())
}

#[inline(always)]
pub(crate) fn icall<const FULL: bool>(cpu: &mut Avr, i: &I) -> Option<()> {
    push_return::<FULL>(cpu, i, 1)?;
    cpu.pc = u32::from(cpu.pair(ZP)) * 2;
    Some(())
}

#[inline(always)]
pub(crate) fn ret<const FULL: bool>(cpu: &mut Avr, i: &I) -> Option<()> {
    let word = u16::from_le_bytes(cpu.pop_bytes::<FULL, 2>(i.site)?);
    cpu.pc = u32::from(word) * 2;
    Some(())
}

#[inline(always)]
pub(crate) fn reti<const FULL: bool>(cpu: &mut Avr, i: &I) -> Option<()> {
    ret::<FULL>(cpu, i)?;
    cpu.sreg.i = 1;
    Some(())
}

fn fault(cpu: &mut Avr, i: &I, kind: FaultKind) -> Option<()> {
    cpu.pc = i.site.pc;
    cpu.mem.fault(kind, i.site);
    Some(())
}

#[inline(always)]
pub(crate) fn brk<const FULL: bool>(cpu: &mut Avr, i: &I) -> Option<()> {
    fault(cpu, i, FaultKind::Trap)
}

#[inline(always)]
pub(crate) fn spm<const FULL: bool>(cpu: &mut Avr, i: &I) -> Option<()> {
    let address = cpu.pair(ZP).into();
    fault(cpu, i, FaultKind::FlashWrite { address })
}

/// SLEEP: nothing could wake the core.
#[inline(always)]
pub(crate) fn sleep<const FULL: bool>(cpu: &mut Avr, i: &I) -> Option<()> {
    fault(cpu, i, FaultKind::Unsupported { word: i.imm })
}

/// A word that is no instruction.
#[inline(always)]
pub(crate) fn undefined<const FULL: bool>(cpu: &mut Avr, i: &I) -> Option<()> {
    fault(cpu, i, FaultKind::BadOpcode { word: i.imm })
}

/// An instruction whose second word lies outside flash.
#[inline(always)]
pub(crate) fn truncated<const FULL: bool>(cpu: &mut Avr, i: &I) -> Option<()> {
    fault(cpu, i, FaultKind::BadFetch)
}
