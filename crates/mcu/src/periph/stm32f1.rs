//! Ports, USART, clocks and flash registers of the STM32F1.

use super::{Follow, Host, Peripheral, Registers, report_edge};
use crate::PeripheralConfig;

pub(super) fn gpio(config: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    let regs = [0x4444_4444, 0x4444_4444, 0, 0, 0, 0, 0];
    (0x1C, Box::new(Stm32F1Gpio { trigger: config.trigger_bit, regs }))
}

pub(super) fn usart(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (0x1C, Box::new(Stm32F1Usart::default()))
}

pub(super) fn rcc(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    // oscillators are ready as soon as they are on, SWS follows SW (RM0008 rev 21, 7.3); CR, AHBENR, CSR
    let ready = &[Follow { offset: 0, from: 0x0101_0001, by: 1 }, Follow { offset: 4, from: 3, by: 2 }];
    Registers::block(0x28, &[(0x00, 0x83), (0x14, 0x14), (0x24, 0x0C00_0000)], ready)
}

pub(super) fn flash(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (0x24, Box::new(Stm32F1Flash { acr: 0x30 }))
}

/// CRL CRH IDR ODR BSRR BRR LCKR (RM0008 rev 21, 9.2).
#[derive(Debug)]
struct Stm32F1Gpio {
    trigger: Option<u8>,
    regs: [u32; 7],
}

impl Peripheral for Stm32F1Gpio {
    fn read(&mut self, offset: u32, _: u8, _: &mut Host) -> Option<u32> {
        match offset {
            8 => Some(self.regs[3]),
            0x10 | 0x14 => Some(0),
            o => self.regs.get(o as usize / 4).copied(),
        }
    }

    fn write(&mut self, offset: u32, size: u8, value: u32, host: &mut Host) -> Option<()> {
        if size != 4 || offset % 4 != 0 {
            return None; // RM0008 9: registers are accessed as words
        }
        let before = self.regs[3];
        match offset {
            0x0C => self.regs[3] = value & 0xFFFF,
            0x10 => self.regs[3] = before & !(value >> 16) | value & 0xFFFF,
            0x14 => self.regs[3] = before & !value,
            o => *self.regs.get_mut(o as usize / 4)? = value,
        }
        report_edge(self.trigger, before, self.regs[3], host);
        Some(())
    }
}

/// SR DR BRR CR1 CR2 CR3 GTPR (RM0008 rev 21, 27.6).
#[derive(Debug, Default)]
struct Stm32F1Usart {
    regs: [u32; 7],
}

impl Peripheral for Stm32F1Usart {
    fn read(&mut self, offset: u32, _: u8, host: &mut Host) -> Option<u32> {
        const TXE_TC: u32 = 0xC0;
        const RXNE: u32 = 0x20;
        match offset {
            0 => Some(TXE_TC | if host.look() { RXNE } else { 0 }),
            4 => Some(host.receive()),
            o => self.regs.get(o as usize / 4).copied(),
        }
    }

    fn write(&mut self, offset: u32, _: u8, value: u32, host: &mut Host) -> Option<()> {
        match offset {
            4 => host.send(value),
            o => *self.regs.get_mut(o as usize / 4)? = value,
        }
        Some(())
    }

    fn bit(&self) -> Option<f64> {
        Some(self.regs[2].into())
    }
}

/// FLASH_ACR and the programming registers, which firmware must not use (PM0075 rev 2, 3).
#[derive(Debug)]
struct Stm32F1Flash {
    acr: u32,
}

impl Peripheral for Stm32F1Flash {
    fn read(&mut self, offset: u32, _: u8, _: &mut Host) -> Option<u32> {
        // PRFTBS (bit 5) follows PRFTBE (bit 4)
        (offset == 0).then_some(self.acr & !0x20 | (self.acr & 0x10) << 1)
    }

    fn write(&mut self, offset: u32, _: u8, value: u32, _: &mut Host) -> Option<()> {
        (offset == 0).then(|| self.acr = value & 0x1F)
    }
}
