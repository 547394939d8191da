//! What looks at memory from outside of the program: a programmer, a debug port, whoever asks for state.

use super::{Memory, Register, Unmodelled};
use crate::Image;

impl Memory {
    /// Copies an image into flash.
    ///
    /// # Errors
    /// A sentence when a segment is outside flash.
    pub fn program(&mut self, image: &Image) -> Result<(), String> {
        self.flash.fill(0xFF);
        for s in &image.segments {
            let slot = s
                .address
                .checked_sub(self.flash_base)
                .map(|o| o as usize)
                .and_then(|o| self.flash.get_mut(o..o.checked_add(s.bytes.len())?));
            let Some(slot) = slot else {
                return Err(format!("segment of {} bytes at {:#x} does not fit the flash", s.bytes.len(), s.address));
            };
            slot.copy_from_slice(&s.bytes);
        }
        Ok(())
    }

    /// The state of all peripherals, as text: two that are equal are the same state.
    pub fn peripherals(&self) -> String {
        self.peripherals.iter().map(|p| format!("{:?}\n", p.model)).collect()
    }

    /// What a debug port reads at `address`: RAM, flash, or a peripheral's register; none where there is nothing.
    pub fn peek(&mut self, address: u32, into: &mut [u8]) -> Option<()> {
        let count = into.len();
        let span = |base: u32| (address.wrapping_sub(base) as usize, address.wrapping_sub(base) as usize + count);
        let (from, to) = span(self.ram_base);
        let (start, end) = span(self.flash_base);
        if let Some(bytes) = self.ram.get(from..to).or_else(|| self.flash.get(start..end)) {
            into.copy_from_slice(bytes);
            return Some(());
        }
        for (at, part) in (address..).step_by(4).zip(into.chunks_mut(4)) {
            let value = self.peripheral(at).and_then(|(m, host, o)| m.read(o, part.len() as u8, host))?;
            part.copy_from_slice(&value.to_le_bytes()[..part.len()]);
        }
        Some(())
    }

    /// What a debug port writes at `address`: RAM or a peripheral's registers; none where there is neither.
    pub fn poke(&mut self, address: u32, from: &[u8]) -> Option<()> {
        let offset = address.wrapping_sub(self.ram_base) as usize;
        if let Some(bytes) = self.ram.get_mut(offset..offset + from.len()) {
            bytes.copy_from_slice(from);
            return Some(());
        }
        for (at, part) in (address..).step_by(4).zip(from.chunks(4)) {
            let mut word = [0; 4];
            word[..part.len()].copy_from_slice(part);
            let value = u32::from_le_bytes(word);
            self.peripheral(at).and_then(|(m, host, o)| m.write(o, part.len() as u8, value, host))?;
        }
        Some(())
    }

    /// What the register of so many bytes at `address` has, for whoever looks from outside; 0 where none was used there.
    /// Not for those that a read changes.
    pub fn register_at(&mut self, address: u32, bytes: u8) -> u32 {
        let value = self.peripheral(address).and_then(|(m, host, o)| m.read(o, bytes, host));
        let kept = |u: &Unmodelled| u.value(Register::At(address)) as u32;
        value.unwrap_or_else(|| self.unmodelled.as_ref().map_or(0, kept))
    }

    /// Gives the register of so many bytes at `address` a value that no program writes, as the chip's reset does.
    pub fn set_register_at(&mut self, address: u32, bytes: u8, value: u32) {
        let modelled = self.peripheral(address).and_then(|(m, host, o)| m.write(o, bytes, value, host)).is_some();
        if let (false, Some(u)) = (modelled, &mut self.unmodelled) {
            u.keep(Register::At(address), value.into());
        }
    }
}
