//! Converts the fields of an encoding into operands.
//! A form may refuse registers that the architecture makes unpredictable; the encoding then is not an instruction.

use isa::Fields;

use crate::form::{At, Form, Transfer};
use crate::step::Kind;

/// How the address of an access is computed, and how its base changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Base and immediate.
    #[default]
    Offset,
    /// Base and index shifted left by `d`.
    Index,
    /// Base and index.
    Plain,
    /// Base and immediate, the sum goes to the base.
    Pre,
    /// Base; the sum with the immediate goes to the base.
    Post,
    /// Known address.
    Literal,
}

impl Mode {
    /// Whether the base register changes.
    pub(crate) const fn writes_base(self) -> bool {
        matches!(self, Self::Pre | Self::Post)
    }
}

/// Operands of one decoded instruction; see [`crate::exec`] for their positions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Operands {
    pub a: u8,
    pub b: u8,
    pub c: u8,
    pub d: u8,
    pub imm: u32,
    pub kind: Kind,
    pub mode: Mode,
    /// Registers that are written, without those that are loaded.
    pub writes: u16,
    /// Registers from which an address is computed.
    pub address: u16,
    /// Registers transferred by an instruction for several.
    pub count: u8,
}

impl Operands {
    fn write(mut self, register: u32) -> Self {
        self.writes |= 1 << register;
        self
    }

    fn at(mut self, register: u32) -> Self {
        self.address |= 1 << register;
        self
    }

    fn immediate(self) -> Self {
        Self { kind: Kind::Imm, ..self }
    }
}

/// Neither stack pointer nor program counter.
fn general(registers: &[u32]) -> bool {
    registers.iter().all(|&r| r != 13 && r != 15)
}

fn places(a: u32, b: u32, c: u32, imm: u32) -> Operands {
    Operands { a: a as u8, b: b as u8, c: c as u8, imm, ..Operands::default() }
}

/// Kind and amount of an encoded shift (DecodeImmShift).
fn shift(kind: u32, amount: u32) -> (Kind, u8) {
    let n = amount as u8;
    match (kind, n) {
        (0, 0) => (Kind::Reg, 0),
        (0, n) => (Kind::Lsl, n),
        (1, 0) => (Kind::Lsr, 32),
        (1, n) => (Kind::Lsr, n),
        (2, 0) => (Kind::Asr, 32),
        (2, n) => (Kind::Asr, n),
        (_, 0) => (Kind::Rrx, 0),
        (_, n) => (Kind::Ror, n),
    }
}

/// Operands with a register shifted by `i` of the type `y`.
fn shifted(f: &Fields, a: u32, b: u32) -> Operands {
    let (kind, d) = shift(f.get('y'), f.get('i'));
    Operands { kind, d, ..places(a, b, f.get('m'), 0) }
}

/// ThumbExpandImm_C: the value and whether it has a carry of its own.
fn expand(imm12: u32) -> Option<(u32, bool)> {
    let byte = imm12 & 0xFF;
    match imm12 >> 8 {
        0 => Some((byte, false)),
        1 => (byte != 0).then_some((byte << 16 | byte, false)),
        2 => (byte != 0).then_some((byte << 24 | byte << 8, false)),
        3 => (byte != 0).then_some((byte << 24 | byte << 16 | byte << 8 | byte, false)),
        _ => Some(((imm12 & 0x7F | 0x80).rotate_right(imm12 >> 7), true)),
    }
}

/// Operands with a modified immediate.
fn modified(f: &Fields, a: u32, b: u32) -> Option<Operands> {
    let (imm, carry) = expand(f.get('i'))?;
    Some(Operands { kind: if carry { Kind::ImmCarry } else { Kind::Imm }, ..places(a, b, 0, imm) })
}

/// The value of the program counter as a base.
fn base_pc(pc: u32) -> u32 {
    pc.wrapping_add(4) & !3
}

/// The immediate times `scale` with the sign given by `u`.
fn offset(f: &Fields, scale: u32) -> u32 {
    let magnitude = scale * f.get('i');
    if f.get('u') == 1 { magnitude } else { magnitude.wrapping_neg() }
}

/// A register list: `base`, whether it changes, the registers.
fn several(base: u32, change: bool, list: u32) -> Option<Operands> {
    let o = Operands { count: list.count_ones() as u8, ..places(change.into(), base, 0, list) }.at(base);
    (list != 0).then(|| if change { o.write(base) } else { o })
}

/// Name of a special register.
pub(crate) fn special(number: u32) -> Option<&'static str> {
    Some(match number {
        0 => "CPSR",
        1 => "IAPSR",
        2 => "EAPSR",
        3 => "PSR",
        5 => "IPSR",
        6 => "EPSR",
        7 => "IEPSR",
        8 => "MSP",
        9 => "PSP",
        16 => "PRIMASK",
        17 => "BASEPRI",
        18 => "BASEPRI_MAX",
        19 => "FAULTMASK",
        20 => "CONTROL",
        _ => return None,
    })
}

fn special_v6(o: &Operands) -> bool {
    !(17..20).contains(&o.imm)
}

impl At {
    /// The access of register `t`.
    fn operands(self, t: u32, f: &Fields, pc: u32) -> Option<Operands> {
        let (n, m, i) = (f.get('n'), f.get('m'), f.get('i'));
        let with = |mode, imm| Operands { mode, ..places(t, n, 0, imm) }.at(n);
        match self {
            Self::Literal => {
                Some(Operands { mode: Mode::Literal, ..places(t, 15, 0, base_pc(pc).wrapping_add(offset(f, 1))) })
            }
            _ if n == 15 => None,
            Self::Offset => Some(with(Mode::Offset, i)),
            Self::Negative => Some(with(Mode::Offset, i.wrapping_neg())),
            Self::Pre if n != t => Some(with(Mode::Pre, offset(f, 1)).write(n)),
            Self::Post if n != t => Some(with(Mode::Post, offset(f, 1)).write(n)),
            Self::Pre | Self::Post => None,
            Self::Index => {
                let mode = if i == 0 { Mode::Plain } else { Mode::Index };
                let o = Operands { mode, d: i as u8, ..places(t, n, m, 0) };
                general(&[m]).then(|| o.at(n).at(m))
            }
        }
    }

    /// The access of registers `t` and `r`.
    fn dual(self, f: &Fields, pc: u32) -> Option<Operands> {
        let (t, r, n, imm) = (f.get('t'), f.get('r'), f.get('n'), offset(f, 4));
        let with = |mode, b, imm| Operands { mode, d: r as u8, count: 2, ..places(t, b, 0, imm) };
        let change = |mode| (n != t && n != r).then(|| with(mode, n, imm).at(n).write(n));
        let o = match self {
            Self::Literal => Some(with(Mode::Literal, 15, base_pc(pc).wrapping_add(imm))),
            _ if n == 15 => None,
            Self::Offset | Self::Negative | Self::Index => Some(with(Mode::Offset, n, imm).at(n)),
            Self::Pre => change(Mode::Pre),
            Self::Post => change(Mode::Post),
        };
        o.filter(|_| general(&[t, r]))
    }
}

impl Form {
    /// The operands of an instruction at `pc`; none where the encoding is not one.
    pub(crate) fn operands(self, f: &Fields, pc: u32) -> Option<Operands> {
        let (d, n, m, i) = (f.get('d'), f.get('n'), f.get('m'), f.get('i'));
        let ahead = pc.wrapping_add(4);
        let branch = |by: i32| ahead.wrapping_add_signed(by);
        match self {
            Self::Three => Some(places(d, n, m, 0).write(d)),
            Self::Two | Self::Movs => Some(places(d, d, m, 0).write(d)),
            Self::Compare => Some(places(0, n, m, 0)),
            Self::CompareHigh => (n != 15 && m != 15 && (n > 7 || m > 7)).then(|| places(0, n, m, 0)),
            Self::Negate => Some(places(d, n, 0, 0).immediate().write(d)),
            Self::ThreeImm => Some(places(d, n, 0, i).immediate().write(d)),
            Self::TwoImm => Some(places(d, d, 0, i).immediate().write(d)),
            Self::CompareImm => Some(places(0, n, 0, i).immediate()),
            Self::ShiftImm => (f.get('y') != 3).then(|| shifted(f, d, 0).write(d)),
            Self::High if m == 15 => Some(places(d, d, m, ahead).immediate().write(d)),
            Self::High => Some(places(d, d, m, ahead).write(d)),
            Self::ToPc => (m != 15).then(|| places(15, 15, m, ahead)),
            Self::Near(scale) => Some(places(f.get('t'), n, 0, i * scale).at(n)),
            Self::NearSp => Some(places(f.get('t'), 13, 0, i * 4).at(13)),
            Self::NearIndex => Some(Operands { mode: Mode::Plain, ..places(f.get('t'), n, m, 0) }.at(n).at(m)),
            Self::NearLiteral => {
                let at = base_pc(pc).wrapping_add(i * 4);
                Some(Operands { mode: Mode::Literal, ..places(f.get('t'), 15, 0, at) })
            }
            Self::NearAdr => Some(places(d, 15, 0, base_pc(pc).wrapping_add(i * 4)).immediate().write(d)),
            Self::SpSum => Some(places(d, 13, 0, i * 4).immediate().write(d)),
            Self::SpMove => Some(places(13, 13, 0, i * 4).immediate().write(13)),
            Self::CompareBranch => Some(Operands { d: 2, ..places(0, n, 0, ahead.wrapping_add(i * 2)) }),
            Self::NearBranchCond => Some(Operands { d: 2, ..places(0, 0, f.get('c'), branch(f.signed('i') * 2)) }),
            Self::NearBranch => Some(places(0, 0, 0, branch(f.signed('i') * 2))),
            Self::Push => several(13, true, i | f.get('l') << 14),
            Self::Pop => several(13, true, i),
            Self::PopPc => several(13, true, i | 1 << 15),
            Self::NearLdm => several(n, i >> n & 1 == 0, i),
            Self::NearStm => several(n, true, i),
            Self::Several => {
                let w = f.get('w') == 1;
                let list = f.get('l') << 14 | i;
                let fine = n != 15 && list.count_ones() > 1 && !(w && list >> n & 1 == 1);
                fine.then(|| several(n, w, list)).flatten()
            }
            Self::SeveralPc => {
                let (w, list) = (f.get('w') == 1, 1 << 15 | i);
                let fine = f.get('l') == 0 && n != 15 && list.count_ones() > 1 && !(w && list >> n & 1 == 1);
                fine.then(|| several(n, w, list)).flatten()
            }
            Self::Number => Some(places(0, 0, 0, i)),
            Self::Encoding => Some(places(0, 0, 0, f.word)),
            Self::State => (i != 0).then(|| Operands { d: d as u8, ..places(0, 0, 0, i) }),
            Self::Interrupts => Some(Operands { d: d as u8, ..places(0, 0, 0, 2) }),
            Self::IfThen => {
                let (cond, mask) = (f.get('c'), f.get('k'));
                let always = cond == 15 || cond == 14 && mask.count_ones() != 1;
                (!always).then(|| Operands { d: mask as u8, ..places(0, 0, cond, 0) })
            }
            Self::Imm => general(&[d, n]).then(|| modified(f, d, n)).flatten().map(|o| o.write(d)),
            Self::ImmSp => {
                let fine = n != 15 && d != 15 && (d != 13 || n == 13);
                fine.then(|| modified(f, d, n)).flatten().map(|o| o.write(d))
            }
            Self::ImmMov => general(&[d]).then(|| modified(f, d, 0)).flatten().map(|o| o.write(d)),
            Self::ImmTest => general(&[n]).then(|| modified(f, 0, n)).flatten(),
            Self::ImmCompare => (n != 15).then(|| modified(f, 0, n)).flatten(),
            Self::Shifted => general(&[d, n, m]).then(|| shifted(f, d, n).write(d)),
            Self::ShiftedSp => {
                let small = f.get('y') == 0 && i < 4;
                let fine = general(&[m]) && n != 15 && d != 15 && (d != 13 || n == 13 && small);
                fine.then(|| shifted(f, d, n).write(d))
            }
            Self::ShiftedMov => general(&[d, m]).then(|| shifted(f, d, 0).write(d)),
            Self::MovRegister => {
                let moves = d != 15 && m != 15 && (d != 13 || m != 13);
                let fine = if f.get('s') == 1 { general(&[d, m]) } else { moves };
                fine.then(|| shifted(f, d, 0).write(d))
            }
            Self::Rrx => general(&[d, m]).then(|| Operands { kind: Kind::Rrx, ..places(d, 0, m, 0) }.write(d)),
            Self::ShiftedTest => general(&[n, m]).then(|| shifted(f, 0, n)),
            Self::ShiftedCompare => (general(&[m]) && n != 15).then(|| shifted(f, 0, n)),
            Self::PlainImm => {
                let fine = n != 15 && d != 15 && (d != 13 || n == 13);
                fine.then(|| places(d, n, 0, i).immediate().write(d))
            }
            Self::WideImm => general(&[d]).then(|| places(d, d, 0, f.get('j') << 12 | i).immediate().write(d)),
            Self::Adr => {
                let imm = match f.get('u') {
                    0 => base_pc(pc).wrapping_add(i),
                    3 => base_pc(pc).wrapping_sub(i),
                    _ => return None,
                };
                general(&[d]).then(|| places(d, 15, 0, imm).immediate().write(d))
            }
            Self::Field => {
                let width = f.get('w') + 1;
                let o = Operands { d: i as u8, ..places(d, n, 0, width) };
                (general(&[d, n]) && i + width <= 32).then(|| o.write(d))
            }
            Self::FieldMask => {
                let top = f.get('w');
                let mask = (u32::MAX >> (31 - top)) & u32::MAX << i;
                let o = Operands { d: i as u8, ..places(d, n, 0, mask) };
                (general(&[d]) && n != 13 && n != 15 && top >= i).then(|| o.write(d))
            }
            Self::Saturation(more) => {
                let (kind, amount) = shift(2 * f.get('y'), i);
                let fine = general(&[d, n]) && !(f.get('y') == 1 && i == 0);
                fine.then(|| Operands { kind, d: amount, ..places(d, 0, n, f.get('w') + more) }.write(d))
            }
            Self::Saturation16(more) => general(&[d, n]).then(|| places(d, 0, n, f.get('w') + more).write(d)),
            Self::Far => {
                let r = f.get('r');
                general(&[d, n, m, r]).then(|| Operands { d: r as u8, ..places(d, n, m, 0) }.write(d))
            }
            Self::Long => {
                let h = f.get('h');
                let o = Operands { d: h as u8, ..places(d, n, m, 0) };
                (general(&[d, h, n, m]) && d != h).then(|| o.write(d).write(h))
            }
            Self::Extend => {
                general(&[d, m]).then(|| Operands { d: 8 * f.get('r') as u8, ..places(d, 0, m, 0) }.write(d))
            }
            Self::ExtendAdd => {
                general(&[d, n, m]).then(|| Operands { d: 8 * f.get('r') as u8, ..places(d, n, m, 0) }.write(d))
            }
            Self::Twice => (general(&[d, m]) && n == m).then(|| places(d, 0, m, 0).write(d)),
            Self::Pack => {
                let (kind, amount) = shift(2 * f.get('y'), i);
                general(&[d, n, m]).then(|| Operands { kind, d: amount, ..places(d, n, m, 0) }.write(d))
            }
            Self::Access(at, transfer) => {
                let t = f.get('t');
                match transfer {
                    Transfer::General => general(&[t]).then(|| at.operands(t, f, pc)).flatten(),
                    Transfer::Any => (t != 15).then(|| at.operands(t, f, pc)).flatten(),
                    Transfer::Pc => at.operands(15, f, pc),
                    Transfer::None => at.operands(0, f, pc).map(|o| Operands { address: 0, ..o }),
                }
            }
            Self::LoadDual(at) => at.dual(f, pc).filter(|o| o.a != o.d),
            Self::StoreDual(at) => at.dual(f, pc),
            Self::ExclusiveLoad => {
                let t = f.get('t');
                (general(&[t]) && n != 15).then(|| places(t, n, 0, 4 * i).at(n))
            }
            Self::ExclusiveStore => {
                let t = f.get('t');
                let fine = general(&[d, t]) && n != 15 && d != n && d != t;
                fine.then(|| Operands { d: t as u8, ..places(d, n, 0, 4 * i) }.at(n).write(d))
            }
            Self::Table => {
                let o = Operands { d: (n == 15).into(), ..places(0, n, m, ahead) };
                (n != 13 && general(&[m])).then(|| o.at(n).at(m))
            }
            Self::BranchCond => {
                let cond = f.get('c');
                let top = (f.get('s') as i32).wrapping_neg();
                let to = top << 20 | (f.get('j') << 19 | f.get('k') << 18 | i << 1) as i32;
                (cond < 14).then(|| Operands { d: 4, ..places(0, 0, cond, branch(to)) })
            }
            Self::Branch => {
                let s = f.get('s');
                let top = (s as i32).wrapping_neg();
                let (one, two) = (f.get('k') ^ s ^ 1, f.get('j') ^ s ^ 1);
                Some(places(0, 0, 0, branch(top << 24 | (one << 23 | two << 22 | i << 1) as i32)))
            }
            Self::SpecialRead => (general(&[d]) && special(i).is_some()).then(|| places(d, 0, 0, i).write(d)),
            Self::SpecialReadV6 => Self::SpecialRead.operands(f, pc).filter(special_v6),
            Self::SpecialWrite => {
                let o = places(0, n, 0, i);
                (general(&[n]) && special(i).is_some()).then(|| if i == 8 { o.write(13) } else { o })
            }
            Self::SpecialWriteV6 => Self::SpecialWrite.operands(f, pc).filter(special_v6),
            Self::SpecialWriteGe => {
                let d = if f.get('g') == 1 { 1 } else { 3 };
                Self::SpecialWrite.operands(f, pc).filter(|o| o.imm < 4).map(|o| Operands { d, ..o })
            }
        }
    }
}
