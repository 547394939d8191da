//! Ports, USART, clocks and flash registers of the STM32 families after the F1: F4, L0, F7 (RM0090 rev 19, 7.3; RM0367
//! rev 8, 7.3; RM0385 rev 8, 5.3).

use super::{Follow, Host, Peripheral, Registers, report_edge};
use crate::PeripheralConfig;

pub(super) fn gpio(config: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (0x2C, Box::new(Gpio { trigger: config.trigger_bit, regs: [0; 11] }))
}

pub(super) fn usart(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (0x2C, Box::new(Usart { regs: [0; 11] }))
}

pub(super) fn f4_rcc(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    // HSIRDY, HSERDY, PLLRDY follow the bits below them; SWS follows SW
    let ready = &[Follow { offset: 0, from: 0x0101_0001, by: 1 }, Follow { offset: 8, from: 3, by: 2 }];
    Registers::block(0x98, &[(0, 0x83), (4, 0x2400_3010)], ready)
}

pub(super) fn l0_rcc(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    // HSI16RDYF is two bits above HSI16ON; MSIRDY, HSERDY, PLLRDY one; SWS follows SW
    let ready = &[
        Follow { offset: 0, from: 0x0101_0100, by: 1 },
        Follow { offset: 0, from: 1, by: 2 },
        Follow { offset: 12, from: 3, by: 2 },
    ];
    Registers::block(0x54, &[(0, 0x300)], ready)
}

pub(super) fn flash(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    // programming registers come after ACR; firmware must not use them
    Registers::block(4, &[], &[])
}

pub(super) fn l0_pwr(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    // VOSF is clear: the regulator is always at the level that VOS selects
    Registers::block(8, &[(0, 0x1000)], &[])
}

pub(super) fn f7_pwr(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (16, Box::new(F7Power { cr1: 0xC000 }))
}

/// PWR_CR1, PWR_CSR1 of the F7 (RM0385 rev 8, 4.4): over-drive is ready as soon as it is on.
#[derive(Debug)]
struct F7Power {
    cr1: u32,
}

impl Peripheral for F7Power {
    fn read(&mut self, offset: u32, _: u8, _: &mut Host) -> Option<u32> {
        match offset {
            0 => Some(self.cr1),
            // VOSRDY, then ODRDY and ODSWRDY, which follow ODEN and ODSWEN
            4 => Some(1 << 14 | self.cr1 & 0x3_0000),
            _ => Some(0),
        }
    }

    fn write(&mut self, offset: u32, _: u8, value: u32, _: &mut Host) -> Option<()> {
        if offset == 0 {
            self.cr1 = value;
        }
        Some(())
    }
}

/// MODER OTYPER OSPEEDR PUPDR IDR ODR BSRR LCKR AFRL AFRH, BRR (RM0090 rev 19, 8.4; BRR: RM0367 rev 8, 9.4).
#[derive(Debug)]
struct Gpio {
    trigger: Option<u8>,
    regs: [u32; 11],
}

impl Peripheral for Gpio {
    fn read(&mut self, offset: u32, _: u8, _: &mut Host) -> Option<u32> {
        match offset {
            0x10 => Some(self.regs[5]),
            0x18 | 0x28 => Some(0),
            o => self.regs.get(o as usize / 4).copied(),
        }
    }

    fn write(&mut self, offset: u32, size: u8, value: u32, host: &mut Host) -> Option<()> {
        if size != 4 || offset % 4 != 0 {
            return None; // our firmware writes words
        }
        let before = self.regs[5];
        match offset {
            0x14 => self.regs[5] = value & 0xFFFF,
            0x18 => self.regs[5] = before & !(value >> 16) | value & 0xFFFF,
            0x28 => self.regs[5] = before & !value,
            o => *self.regs.get_mut(o as usize / 4)? = value,
        }
        report_edge(self.trigger, before, self.regs[5], host);
        Some(())
    }
}

/// CR1 CR2 CR3 BRR GTPR RTOR RQR ISR ICR RDR TDR (RM0367 rev 8, 27.8; RM0385 rev 8, 31.8).
#[derive(Debug)]
struct Usart {
    regs: [u32; 11],
}

impl Peripheral for Usart {
    fn read(&mut self, offset: u32, _: u8, host: &mut Host) -> Option<u32> {
        const TEACK_REACK: u32 = 0x60_0000;
        const TXE_TC: u32 = 0xC0;
        const RXNE: u32 = 0x20;
        match offset {
            0x1C => Some(TEACK_REACK | TXE_TC | if host.look() { RXNE } else { 0 }),
            0x24 => Some(host.receive()),
            o => self.regs.get(o as usize / 4).copied(),
        }
    }

    fn write(&mut self, offset: u32, _: u8, value: u32, host: &mut Host) -> Option<()> {
        match offset {
            0x28 => host.send(value),
            o => *self.regs.get_mut(o as usize / 4)? = value,
        }
        Some(())
    }

    fn bit(&self) -> Option<f64> {
        Some(self.regs[3].into())
    }
}
