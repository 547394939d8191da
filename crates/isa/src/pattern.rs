//! Bit patterns and assembly texts as strings that a reader can compare with the manual.

use std::fmt::Write as _;

/// A bit pattern: `0` and `1` are fixed, a letter names a field, spaces are ignored.
///
/// Patterns of 24 bits describe a little-endian instruction of three bytes. Patterns of 32 bits
/// describe two halfwords, the first in the upper half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: &'static str,
    /// Fixed bits.
    pub mask: u32,
    /// Their values.
    pub value: u32,
    /// Length in bits: 16, 24 or 32.
    pub bits: u32,
}

impl Pattern {
    /// Parses a pattern at compile time.
    ///
    /// # Panics
    /// In constant evaluation when the length is not 16, 24 or 32 bits or a character is not allowed.
    pub const fn new(text: &'static str) -> Self {
        let bytes = text.as_bytes();
        let (mut mask, mut value, mut bits, mut i) = (0u32, 0u32, 0u32, 0);
        while i < bytes.len() {
            let c = bytes[i];
            i += 1;
            if c == b' ' {
                continue;
            }
            assert!(c == b'0' || c == b'1' || c.is_ascii_alphabetic(), "a pattern has 0, 1, letters and spaces");
            bits += 1;
            mask = mask << 1 | (c == b'0' || c == b'1') as u32;
            value = value << 1 | (c == b'1') as u32;
        }
        assert!(bits == 16 || bits == 24 || bits == 32, "a pattern has 16, 24 or 32 bits");
        Self { text, mask, value, bits }
    }

    /// Whether `word` has this encoding.
    pub const fn matches(&self, word: u32) -> bool {
        word & self.mask == self.value
    }

    /// `word` with `value` in the field `letter`, as far as the field has room.
    pub fn with(&self, word: u32, letter: char, value: u32) -> u32 {
        (0..self.bits).fold(word, |word, bit| match self.fields(1 << bit).get(letter) {
            0 => word,
            place if value & place != 0 => word | 1 << bit,
            _ => word & !(1 << bit),
        })
    }

    /// The fields of `word`.
    pub fn fields(&self, word: u32) -> Fields {
        Fields { pattern: *self, word }
    }
}

/// The fields of one encoded instruction.
#[derive(Clone, Copy, Debug)]
pub struct Fields {
    pattern: Pattern,
    /// The encoded word.
    pub word: u32,
}

impl Fields {
    /// Value of the field `letter`: its bits in order of the pattern, most significant first.
    pub fn get(&self, letter: char) -> u32 {
        let places = self.pattern.text.bytes().filter(|&c| c != b' ');
        places
            .enumerate()
            .filter(|&(_, c)| c == letter as u8)
            .fold(0, |v, (i, _)| v << 1 | self.word >> (self.pattern.bits - 1 - i as u32) & 1)
    }

    /// Like [`Fields::get`], sign-extended from the field's own width.
    pub fn signed(&self, letter: char) -> i32 {
        let width = self.pattern.text.bytes().filter(|&c| c == letter as u8).count() as u32;
        if width == 0 { 0 } else { (self.get(letter) << (32 - width)) as i32 >> (32 - width) }
    }
}

/// Assembly text with operands in braces: `{a}` decimal, `{a:x}` hexadecimal, `{imm}` likewise.
#[derive(Clone, Copy, Debug)]
pub struct Template(pub &'static str);

impl Template {
    /// The text with operands filled in; `operand` maps an operand's name and format to its text.
    pub fn render(&self, mut operand: impl FnMut(&str, &str) -> String) -> String {
        let mut out = String::new();
        let mut rest = self.0;
        while let Some((before, after)) = rest.split_once('{') {
            let (place, tail) = after.split_once('}').unwrap_or((after, ""));
            let (name, format) = place.split_once(':').unwrap_or((place, ""));
            let _ = write!(out, "{before}{}", operand(name, format));
            rest = tail;
        }
        out + rest
    }
}

#[cfg(test)]
mod tests {
    use super::{Pattern, Template};

    #[test]
    fn fields_come_out_in_pattern_order() {
        const ADD: Pattern = Pattern::new("0000 11rd dddd rrrr");
        let f = ADD.fields(0x0FEF);
        assert!(ADD.matches(0x0FEF));
        assert_eq!((f.get('d'), f.get('r')), (30, 31));
        assert_eq!(ADD.with(0x0C01, 'd', 30), 0x0DE1);
        assert_eq!(Pattern::new("1100 kkkk kkkk kkkk").fields(0xCFFF).signed('k'), -1);
    }

    #[test]
    fn templates_render_places() {
        let text = Template("add r{a}, {imm:x}").render(|n, f| format!("<{n}{f}>"));
        assert_eq!(text, "add r<a>, <immx>");
    }
}
