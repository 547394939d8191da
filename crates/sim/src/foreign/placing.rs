//! Where an image's bytes belong on a chip.

use mcu::{Chip, Image, Segment};

use crate::family::Family;

/// Bytes of a segment in no memory of the chip that are left out, as settings are that only a programmer writes; more
/// would be a program for another chip.
const MOST_APART: usize = 4096;
/// Most bytes before flash that hold the headers of an ELF file: a page of the linkers that have the largest.
const MOST_HEADERS: usize = 1 << 16;

/// avr-gcc's first address of RAM.
const AVR_RAM: u32 = 0x80_0000;
/// Its addresses of what is neither in flash nor RAM: EEPROM, fuses, lock bits, signature.
const AVR_REST: std::ops::Range<u32> = 0x81_0000..0x90_0000;

/// Bytes for RAM: address, content, and whether a loader puts them there rather than start-up code.
type ForRam = (u32, Vec<u8>, bool);

/// The image's segments by where they belong: in flash; in RAM when the program runs; nowhere.
#[allow(clippy::type_complexity)]
pub(super) fn placed(
    chip: &Chip<'_>,
    family: &Family,
    image: &Image,
    memories: &[(String, u32, u32)],
) -> Result<(Vec<Segment>, Vec<ForRam>, Vec<(u32, usize)>), String> {
    let avr = family.avr;
    let data = |at: u32| if avr && (AVR_RAM..AVR_REST.start).contains(&at) { at - AVR_RAM } else { at };
    let inside = |r: mcu::Region, at: u32, size: usize| {
        at.checked_sub(r.base).is_some_and(|from| from as usize + size <= r.size as usize)
    };
    let (mut flash, mut ram, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    let mut apart = None;
    for s in &image.segments {
        let mut s = s.clone();
        // linkers put the file's headers before the code, where the chip may have nothing
        if s.bytes.starts_with(b"\x7fELF") && s.address < chip.flash.base {
            let headers = (chip.flash.base - s.address) as usize;
            if headers < s.bytes.len() && headers <= MOST_HEADERS {
                rest.push((s.address, headers));
                s.bytes.drain(..headers);
                s.address += headers as u32;
                s.runs_at = s.runs_at.wrapping_add(headers as u32);
            }
        }
        let (address, size) = (s.address, s.bytes.len());
        let in_ram = |at: u32| !avr || at >= AVR_RAM; // code and data have the same addresses on AVR
        if inside(chip.flash, address, size) {
            let to = data(s.runs_at);
            if s.runs_at != address && in_ram(s.runs_at) && inside(chip.ram, to, size) {
                ram.push((to, s.bytes.clone(), false));
            }
            flash.push(s);
        } else if in_ram(address) && inside(chip.ram, data(address), size) {
            ram.push((data(address), s.bytes.clone(), true));
        } else if avr && AVR_REST.contains(&address) {
            rest.push((address, size));
        } else {
            let (f, r) = (chip.flash, chip.ram);
            let spans = [f, r].map(|m| format!("{:#x} to {:#x}", m.base, u64::from(m.base) + u64::from(m.size) - 1));
            let [f, r] = &spans;
            let text = match memories.iter().find(|m| address.wrapping_sub(m.1) < m.2) {
                Some((name, ..)) => format!(
                    "{size} bytes at {address:#x} are in {name}, which has no model; link the image for code at {f} and \
                     data at {r}"
                ),
                None => format!(
                    "{size} bytes at {address:#x} are in neither of the chip's memories, flash ({f}) nor RAM ({r})"
                ),
            };
            if size > MOST_APART {
                return Err(text);
            }
            apart.get_or_insert(text);
            rest.push((address, size));
        }
    }
    if flash.is_empty() {
        let text = "the image has nothing in the chip's memory for code; code in RAM is not modelled";
        return Err(apart.unwrap_or_else(|| text.into()));
    }
    flash.sort_by_key(|s| s.address);
    if let Some(twice) = flash.windows(2).find(|s| s[1].address - s[0].address < s[0].bytes.len() as u32) {
        return Err(format!("two segments have the bytes at {:#x}", twice[1].address));
    }
    Ok((flash, ram, rest))
}

/// The highest address in flash that no segment of the image has: what returns there has come from nowhere else.
pub(super) fn nowhere(flash: mcu::Region, image: &Image) -> Option<u32> {
    let free = |at: &u32| image.segments.iter().all(|s| at.wrapping_sub(s.address) as usize >= s.bytes.len());
    (flash.base..flash.base + flash.size).step_by(4).rev().take(1 << 20).find(free)
}
