//! Formats and opcodes of the manual (2.2, 2.3, 16.2; chapter 24).

pub(super) fn r_type(f7: u32, f3: u32, op: u32, d: u32, s: u32, t: u32) -> u32 {
    f7 << 25 | t << 20 | s << 15 | f3 << 12 | d << 7 | op
}

pub(super) fn i_type(f3: u32, op: u32, d: u32, s: u32, imm: i32) -> u32 {
    (imm as u32) << 20 | s << 15 | f3 << 12 | d << 7 | op
}

pub(super) fn s_type(f3: u32, op: u32, s: u32, t: u32, imm: i32) -> u32 {
    let imm = imm as u32;
    (imm >> 5 & 0x7F) << 25 | t << 20 | s << 15 | f3 << 12 | (imm & 0x1F) << 7 | op
}

pub(super) fn b_type(f3: u32, s: u32, t: u32, offset: i32) -> u32 {
    let o = offset as u32;
    (o >> 12 & 1) << 31
        | (o >> 5 & 0x3F) << 25
        | t << 20
        | s << 15
        | f3 << 12
        | (o >> 1 & 0xF) << 8
        | (o >> 11 & 1) << 7
        | 0x63
}

pub(super) fn j_type(d: u32, offset: i32) -> u32 {
    let o = offset as u32;
    (o >> 20 & 1) << 31 | (o >> 1 & 0x3FF) << 21 | (o >> 11 & 1) << 20 | (o >> 12 & 0xFF) << 12 | d << 7 | 0x6F
}

pub(super) fn cj_type(f3: u32, offset: i32) -> u16 {
    let o = offset as u16;
    let bits = [(11, 12), (4, 11), (9, 10), (8, 9), (10, 8), (6, 7), (7, 6), (3, 5), (2, 4), (1, 3), (5, 2)];
    bits.iter().fold((f3 << 13 | 1) as u16, |w, &(from, to)| w | (o >> from & 1) << to)
}

pub(super) fn cb_type(f3: u32, s: u32, offset: i32) -> u16 {
    let o = offset as u16;
    let bits = [(8, 12), (4, 11), (3, 10), (7, 6), (6, 5), (2, 4), (1, 3), (5, 2)];
    bits.iter().fold((f3 << 13 | 1 | (s & 7) << 7) as u16, |w, &(from, to)| w | (o >> from & 1) << to)
}

pub(super) const LUI: u32 = 0x37;
pub(super) const AUIPC: u32 = 0x17;
pub(super) const OP: u32 = 0x33;
pub(super) const OP_32: u32 = 0x3B;
pub(super) const OP_IMM: u32 = 0x13;
pub(super) const OP_IMM_32: u32 = 0x1B;
pub(super) const LOAD: u32 = 0x03;
pub(super) const STORE: u32 = 0x23;
pub(super) const JALR: u32 = 0x67;
pub(super) const AMO: u32 = 0x2F;
pub(super) const EBREAK: u32 = 0x0010_0073;
