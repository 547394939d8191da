//! Frames between host and harness: with length and CRC, and found again after garbage.
//!
//! Frame: 0xA5, command, length (2 bytes), check, payload, CRC (2 bytes), all little-endian; the check is the
//! complement of command + length bytes, the CRC is CRC-16/CCITT (start 0xFFFF) over command, length and payload.
//! `harness/main.c` is the other end, `device/frame.py` defines the payloads.

/// First byte of a frame.
pub const SYNC: u8 = 0xA5;
/// Bytes of a frame before its payload and after it.
const HEAD: usize = 5;
const TAIL: usize = 2;

/// Remainders of bytes by x^16 + x^12 + x^5 + 1.
const CRC: [u16; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = (byte as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = crc << 1 ^ if crc & 0x8000 == 0 { 0 } else { 0x1021 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

fn crc(start: u16, data: &[u8]) -> u16 {
    data.iter().fold(start, |crc, byte| crc << 8 ^ CRC[usize::from(crc.to_be_bytes()[0] ^ byte)])
}

fn check([command, low, high]: [u8; 3]) -> u8 {
    !command.wrapping_add(low).wrapping_add(high)
}

/// One frame, with the concatenated `parts` as payload. None when that is more than 65535 bytes.
pub fn encode<'a>(command: u8, parts: impl Iterator<Item = &'a [u8]> + Clone) -> Option<Vec<u8>> {
    let size = u16::try_from(parts.clone().map(<[u8]>::len).sum::<usize>()).ok()?;
    let [low, high] = size.to_le_bytes();
    let start = [command, low, high];
    let mut frame = Vec::with_capacity(HEAD + usize::from(size) + TAIL);
    frame.push(SYNC);
    frame.extend(start);
    frame.push(check(start));
    parts.for_each(|part| frame.extend_from_slice(part));
    let crc = crc(crc(0xFFFF, &start), &frame[HEAD..]);
    frame.extend(crc.to_le_bytes());
    Some(frame)
}

/// Bytes of payloads that are looked at in vain, at most, for each byte received; by chance it is less than one. Garbage
/// that is made of headers alone would be looked at thousands of times.
const VAIN: usize = 16;

/// Finds frames in a stream of bytes; garbage between and inside them is skipped and counted.
#[derive(Default)]
pub struct Decoder {
    buffer: Vec<u8>,
    /// Bytes that may still be looked at in vain.
    patience: usize,
    /// Bytes that belonged to no frame.
    pub skipped: usize,
}

impl Decoder {
    /// Bytes of a frame that is not complete: never more than a frame has.
    pub fn held(&self) -> usize {
        self.buffer.len()
    }

    /// Takes received bytes; returns command and payload of the frames that are now complete.
    pub fn feed(&mut self, data: &[u8], mut found: impl FnMut(u8, &[u8])) {
        self.buffer.extend_from_slice(data);
        self.patience += VAIN * data.len();
        let mut rest = &self.buffer[..];
        loop {
            let start = rest.iter().position(|&b| b == SYNC).unwrap_or(rest.len());
            self.skipped += start;
            rest = &rest[start..];
            let &[_, command, low, high, sum, ref behind @ ..] = rest else { break };
            let start = [command, low, high];
            if sum == check(start) {
                let size = usize::from(u16::from_le_bytes([low, high]));
                let Some((payload, &[a, b, ref next @ ..])) = behind.split_at_checked(size) else { break };
                if u16::from_le_bytes([a, b]) == crc(crc(0xFFFF, &start), payload) {
                    found(command, payload);
                    rest = next;
                    continue;
                }
                let Some(left) = self.patience.checked_sub(size) else {
                    self.skipped += rest.len();
                    rest = &[];
                    break;
                };
                self.patience = left;
            }
            self.skipped += 1;
            rest = &rest[1..];
        }
        let left = rest.len();
        self.buffer.drain(..self.buffer.len() - left);
    }
}

#[cfg(test)]
mod tests {
    use super::{Decoder, check, encode};

    /// Each of its headers names a payload of 65535 bytes: 12 GB in all.
    #[test]
    fn garbage_made_of_headers_is_given_up() {
        let start = [0x81, 0xFF, 0xFF];
        let header = [0xA5, start[0], start[1], start[2], check(start)];
        let (mut decoder, mut found) = (Decoder::default(), Vec::new());
        for _ in 0..100 {
            decoder.feed(&header.repeat(2048), |command, _| found.push(command));
        }
        assert!(decoder.held() <= 7 + 0xFFFF);
        // past what may still belong to a frame, the next one is found
        decoder.feed(&[0; 0x1_0010], |command, _| found.push(command));
        let frame = encode(7, [&[1u8, 2, 3][..]].into_iter()).expect("it is short");
        decoder.feed(&frame, |command, payload| found.extend_from_slice(&[&[command], payload].concat()));
        assert_eq!(found, [7, 1, 2, 3]);
    }
}
