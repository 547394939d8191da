//! Resets, clocks, UART and ports of the RP2040. Sections are those of the RP2040 data sheet.

use super::{Host, Peripheral, Registers, mask, part, report_edge};
use crate::PeripheralConfig;

/// The copies of a block whose writes flip, set and clear bits are 4 KiB each (2.1.2).
const BLOCK: u32 = 0x4000;

pub(super) fn resets(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    const ALL: u32 = 0x01FF_FFFF; // 2.14.3: RESET_DONE is what is not in RESET
    (BLOCK, Atomic::of(Ready { at: 8, of: 0, from: |reset| !reset & ALL, kept: 0 }, &[(0, ALL)]))
}

pub(super) fn xosc(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    // 2.16.7: CTRL enables it by 0xFAB, STATUS says that it is enabled and stable
    let stable = |control: u32| if control >> 12 & 0xFFF == 0xFAB { 1 << 31 | 1 << 12 } else { 0 };
    (BLOCK, Atomic::of(Ready { at: 4, of: 0, from: stable, kept: 0 }, &[]))
}

pub(super) fn pll(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    // 2.18.4: CS is locked when PWR has neither PD nor VCOPD; all is off after reset
    // BYPASS and REFDIV, which is 1 after reset, are as written
    let lock = |power: u32| if power & 0x21 == 0 { 1 << 31 } else { 0 };
    (BLOCK, Atomic::of(Ready { at: 0, of: 4, from: lock, kept: 0x13F }, &[(0, 1), (4, 0x2D)]))
}

pub(super) fn clocks(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (BLOCK, Box::new(Clocks { inner: Atomic::plain() }))
}

/// Pads, and the matrix of their functions.
pub(super) fn pads(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (BLOCK, Box::new(Atomic::plain()))
}

pub(super) fn uart(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (0x4C, Box::new(Uart { regs: [0; 19] }))
}

pub(super) fn sio(config: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (0x30, Box::new(Sio { trigger: config.trigger_bit, level: 0, enabled: 0 }))
}

/// A register that follows from another one, but for bits that are `kept` as they are written.
#[derive(Debug)]
struct Ready {
    at: u32,
    of: u32,
    from: fn(u32) -> u32,
    kept: u32,
}

/// Registers with copies that flip, set and clear bits.
#[derive(Debug)]
struct Atomic {
    regs: Registers,
    ready: Option<Ready>,
}

impl Atomic {
    fn plain() -> Self {
        Self { regs: Registers::new(BLOCK / 4, &[], &[]), ready: None }
    }

    fn of(ready: Ready, reset: &[(usize, u32)]) -> Box<dyn Peripheral> {
        Box::new(Self { regs: Registers::new(BLOCK / 4, reset, &[]), ready: Some(ready) })
    }
}

/// The value after a write to a copy: itself, flipped, set, cleared.
fn change(old: u32, copy: u32, value: u32) -> u32 {
    match copy {
        0 => value,
        1 => old ^ value,
        2 => old | value,
        _ => old & !value,
    }
}

impl Peripheral for Atomic {
    fn read(&mut self, offset: u32, size: u8, host: &mut Host) -> Option<u32> {
        let at = offset & 0xFFC;
        let own = self.regs.read(at, 4, host)?;
        let word = match &self.ready {
            Some(r) if r.at == at => (r.from)(self.regs.read(r.of, 4, host)?) | own & r.kept,
            _ => own,
        };
        Some(part(word, offset, size))
    }

    fn write(&mut self, offset: u32, size: u8, value: u32, host: &mut Host) -> Option<()> {
        let at = offset & 0xFFC;
        let old = self.regs.read(at, 4, host)?;
        // a byte or a half-word is on all lanes of the bus (2.1.4)
        let value = (value & mask(size)) * (u32::MAX / mask(size));
        self.regs.write(at, 4, change(old, offset >> 12, value), host)
    }
}

/// CLK_x_CTRL, CLK_x_DIV and CLK_x_SELECTED in turn, of which the last has a bit for the source that the first chose at once
/// (2.15.7). The reference's has two bits, the system's one.
#[derive(Debug)]
struct Clocks {
    inner: Atomic,
}

impl Peripheral for Clocks {
    fn read(&mut self, offset: u32, size: u8, host: &mut Host) -> Option<u32> {
        const REF: u32 = 0x30;
        const SYS: u32 = 0x3C;
        let chosen = |source: u32| 1 << source;
        match offset & 0xFFC {
            0x38 => Some(part(chosen(self.inner.read(REF, 4, host)? & 3), offset, size)),
            0x44 => Some(part(chosen(self.inner.read(SYS, 4, host)? & 1), offset, size)),
            _ => self.inner.read(offset, size, host),
        }
    }

    fn write(&mut self, offset: u32, size: u8, value: u32, host: &mut Host) -> Option<()> {
        self.inner.write(offset, size, value, host)
    }
}

/// A PL011: UARTDR 0x00, UARTFR 0x18 (4.2.8); the other registers store what is written.
#[derive(Debug)]
struct Uart {
    regs: [u32; 19],
}

impl Peripheral for Uart {
    fn read(&mut self, offset: u32, _: u8, host: &mut Host) -> Option<u32> {
        const RXFE: u32 = 0x10;
        const TXFE: u32 = 0x80;
        match offset {
            0 => Some(host.receive()),
            0x18 => Some(TXFE | if host.look() { 0 } else { RXFE }),
            o => self.regs.get(o as usize / 4).copied(),
        }
    }

    fn write(&mut self, offset: u32, _: u8, value: u32, host: &mut Host) -> Option<()> {
        match offset {
            0 => host.send(value & 0xFF),
            o => *self.regs.get_mut(o as usize / 4)? = value,
        }
        Some(())
    }

    fn bit(&self) -> Option<f64> {
        Some(16.0 * (f64::from(self.regs[9]) + f64::from(self.regs[10]) / 64.0)) // UARTIBRD, UARTFBRD (4.2.7.1)
    }
}

/// GPIO_IN 0x04, GPIO_OUT from 0x10 and GPIO_OE from 0x20, each with registers that set, clear and flip (2.3.1.7).
#[derive(Debug)]
struct Sio {
    trigger: Option<u8>,
    level: u32,
    enabled: u32,
}

impl Peripheral for Sio {
    fn read(&mut self, offset: u32, _: u8, _: &mut Host) -> Option<u32> {
        match offset {
            4 => Some(self.level & self.enabled),
            0x10 => Some(self.level),
            0x20 => Some(self.enabled),
            _ => None,
        }
    }

    fn write(&mut self, offset: u32, size: u8, value: u32, host: &mut Host) -> Option<()> {
        let before = self.level & self.enabled;
        let register = match offset {
            _ if size != 4 => return None,
            0x10..0x20 => &mut self.level,
            0x20..0x30 => &mut self.enabled,
            _ => return None,
        };
        *register = change(*register, [0, 2, 3, 1][offset as usize >> 2 & 3], value);
        report_edge(self.trigger, before, self.level & self.enabled, host);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Host, PeripheralConfig, build};

    #[test]
    fn what_is_started_is_ready_and_bits_are_set_and_cleared_alone() {
        let host = &mut Host::default();
        let make = |kind| build(&PeripheralConfig { kind, base: 0, trigger_bit: None }).expect("it is known").1;
        let mut resets = make("rp2040-resets");
        assert_eq!(resets.read(8, 4, host), Some(0));
        resets.write(0x3000, 4, 0x40_0020, host);
        assert_eq!((resets.read(8, 4, host), resets.read(0, 4, host)), (Some(0x40_0020), Some(0x1BF_FFDF)));
        resets.write(0x2000, 4, 0x20, host);
        assert_eq!(resets.read(8, 4, host), Some(0x40_0000));
        let mut xosc = make("rp2040-xosc");
        assert_eq!(xosc.read(4, 4, host), Some(0));
        xosc.write(0, 4, 0x00FA_BAA0, host);
        assert_eq!(xosc.read(4, 4, host), Some(0x8000_1000));
        let mut pll = make("rp2040-pll");
        assert_eq!(pll.read(0, 4, host), Some(1));
        pll.write(0x3004, 4, 0x21, host);
        assert_eq!(pll.read(0, 4, host), Some(0x8000_0001));
        let mut clocks = make("rp2040-clocks");
        assert_eq!((clocks.read(0x38, 4, host), clocks.read(0x44, 4, host)), (Some(1), Some(1)));
        clocks.write(0x30, 4, 2, host);
        clocks.write(0x3C, 4, 1, host);
        assert_eq!((clocks.read(0x38, 4, host), clocks.read(0x44, 4, host)), (Some(4), Some(2)));
    }
}
