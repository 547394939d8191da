//! Operand forms: which fields of an encoding are which operands.

use isa::Fields;

/// Where an instruction's operands are in its encoding. Letters are the manual's names of fields, in order of result
/// and operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// No modelled operands.
    None,
    /// `r` from `s` and `t`.
    Rst,
    /// Likewise, and `r` is also an operand: conditional moves.
    RstKeep,
    /// `r` from `t`.
    Rt,
    /// `r` from `s`.
    Rs,
    /// `t` from `s`.
    Ts,
    /// `s`.
    S,
    /// `r` from `s`; the field holds 32 minus the amount.
    Slli,
    /// `r` from `t` and an amount.
    RtAmount,
    /// `r` from `t`, its lowest bit and its width.
    Extui,
    /// `r` from `s` and a number of bits: SEXT, CLAMPS.
    Bits,
    /// An amount.
    Ssai,
    /// A signed number: ROTW.
    Signed,
    /// `t` from memory at `s` plus the immediate times the given number.
    Load(u32),
    /// `t` to memory likewise.
    Store(u32),
    /// Both: S32C1I.
    Swap,
    /// `t` from memory at `s` minus 64 to 4.
    LoadWindow,
    /// `t` to memory likewise.
    StoreWindow,
    /// `t` from a constant before the instruction.
    Literal,
    /// `t` and 12 bits.
    Movi,
    /// `t` from `s` and 8 bits.
    Addi,
    /// Likewise, times 256.
    Addmi,
    /// `s` and -32 to 95.
    MoviN,
    /// `r` from `s` and 1 to 15 or, for 0, -1.
    AddiN,
    /// A branch that compares `s` and `t`.
    BranchSt,
    /// A branch that tests a bit of `s`.
    BranchBit,
    /// A branch that compares `s` with 0.
    BranchS,
    /// A branch that compares `s` with a constant.
    BranchConstant,
    /// Likewise, unsigned.
    BranchUnsigned,
    /// BEQZ.N, BNEZ.N: `s`, forward only.
    BranchN,
    /// LOOP, LOOPGTZ, LOOPNEZ: `s`, forward only.
    LoopTo,
    /// A jump.
    Jump,
    /// A call that moves the window by the given number of groups of four; the return address is in the first of them.
    Call(u32),
    /// Likewise to the address in `s`.
    Callx(u32),
    /// A return: a0.
    Ret,
    /// ENTRY: `s` and the frame's bytes.
    Entry,
    /// `t` and a number: RSR, RSIL.
    Special,
    /// A number from `t`: WSR, WUR.
    Wsr,
    /// A number and `t`, exchanged.
    Xsr,
    /// `r` and a number.
    Rur,
}

/// Operands of one decoded instruction; see [`crate::exec`] for their positions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Operands {
    pub a: u8,
    pub b: u8,
    pub c: u8,
    pub d: u8,
    pub imm: u32,
    /// Registers that are read and written.
    pub reads: u16,
    pub writes: u16,
    /// The register that a store takes from.
    pub data: u16,
}

impl Operands {
    fn write(mut self, n: u32) -> Self {
        self.a = n as u8;
        self.writes |= 1 << n;
        self
    }

    fn first(mut self, n: u32) -> Self {
        self.b = n as u8;
        self.reads |= 1 << n;
        self
    }

    fn second(mut self, n: u32) -> Self {
        self.c = n as u8;
        self.reads |= 1 << n;
        self
    }

    /// A register that is read through operand `a`.
    fn with(mut self, n: u32) -> Self {
        self.a = n as u8;
        self.data |= 1 << n;
        self
    }

    fn imm(mut self, imm: u32) -> Self {
        self.imm = imm;
        self
    }

    fn small(mut self, d: u32) -> Self {
        self.d = d as u8;
        self
    }
}

impl Form {
    /// The operands of an instruction at `pc`; none if there is no such instruction.
    pub(crate) fn operands(self, f: &Fields, pc: u32) -> Option<Operands> {
        let [r, s, t] = ['r', 's', 't'].map(|letter| f.get(letter));
        let (i, amount) = (f.get('i'), f.get('I') << 4 | f.get('i'));
        let near = pc.wrapping_add(4).wrapping_add_signed(f.signed('i'));
        let o = Operands::default();
        Some(match self {
            Self::None => o,
            Self::Rst => o.write(r).first(s).second(t),
            Self::RstKeep => {
                let o = o.write(r).first(s).second(t);
                Operands { reads: o.reads | o.writes, ..o }
            }
            Self::Rt => o.write(r).first(t),
            Self::Rs => o.write(r).first(s),
            Self::Ts => o.write(t).first(s),
            Self::S => o.first(s),
            Self::Slli if amount == 0 => return None,
            Self::Slli => o.write(r).first(s).small(32 - amount),
            Self::RtAmount => o.write(r).first(t).small(amount),
            Self::Extui => o.write(r).first(t).small(amount).imm((2u32 << f.get('w')) - 1),
            Self::Bits => o.write(r).first(s).small(i + 7),
            Self::Ssai => o.imm(amount),
            Self::Signed => o.imm(f.signed('i') as u32),
            Self::Load(size) => o.write(t).first(s).imm(i * size),
            Self::Store(size) => o.with(t).first(s).imm(i * size),
            Self::Swap => o.write(t).with(t).first(s).imm(i * 4),
            Self::LoadWindow => o.write(t).first(s).imm((i * 4).wrapping_sub(64)),
            Self::StoreWindow => o.with(t).first(s).imm((i * 4).wrapping_sub(64)),
            Self::Literal => o.write(t).imm((pc.wrapping_add(3) & !3).wrapping_add(0xFFFC_0000 | i << 2)),
            Self::Movi => o.write(t).imm((((f.get('I') << 8 | i) << 20) as i32 >> 20) as u32),
            Self::Addi => o.write(t).first(s).imm(f.signed('i') as u32),
            Self::Addmi => o.write(t).first(s).imm((f.signed('i') << 8) as u32),
            Self::MoviN => o.write(s).imm(if amount >= 96 { amount.wrapping_sub(128) } else { amount }),
            Self::AddiN => o.write(r).first(s).imm(if i == 0 { u32::MAX } else { i }),
            Self::BranchSt => o.first(s).second(t).imm(near),
            Self::BranchBit => o.first(s).small(f.get('I') << 4 | f.get('b')).imm(near),
            Self::BranchS => o.first(s).imm(near),
            Self::BranchConstant => o.first(s).small(f.get('k')).imm(near),
            Self::BranchUnsigned => o.first(s).small(f.get('k') + 16).imm(near),
            Self::BranchN => o.first(s).imm(pc.wrapping_add(4 + amount)),
            Self::LoopTo => o.first(s).imm(pc.wrapping_add(4 + i)),
            Self::Jump => o.imm(near),
            Self::Call(groups) => {
                let to = (pc & !3).wrapping_add(4).wrapping_add_signed(f.signed('i') << 2);
                o.write(4 * groups).small(groups).imm(to)
            }
            Self::Callx(groups) => o.write(4 * groups).small(groups).first(s),
            Self::Ret => o.first(0),
            Self::Entry => o.first(s).write(1).imm(i << 3),
            Self::Special => o.write(t).imm(i),
            Self::Wsr => Operands { a: t as u8, reads: 1 << t, ..o.imm(i) },
            Self::Xsr => Operands { reads: 1 << t, ..o.write(t).imm(i) },
            Self::Rur => o.write(r).imm(i),
        })
    }
}
