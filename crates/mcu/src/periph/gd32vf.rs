//! Clocks of the GD32VF103. Its ports and USART have the registers of the STM32F1 under other names
//! (GD32VF103 user manual rev 1.x, chapters 7 and 16), so the kinds `stm32f1-gpio` and `stm32f1-usart` do.

use super::{Host, Peripheral};
use crate::PeripheralConfig;

pub(super) fn rcu(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    (0x38, Box::new(Rcu { regs: RESET }))
}

/// Reset values of CTL CFG0 INT APB2RST APB1RST AHBEN APB2EN APB1EN BDCTL RSTSCK AHBRST CFG1 - DSV (user
/// manual, 5.3).
const RESET: [u32; 14] = [0x83, 0, 0, 0, 0, 0x14, 0, 0, 0x18, 0x0C00_0000, 0, 0, 0, 0];

/// RCU: oscillators and all three PLLs are stable as soon as they are on, SCSS follows SCS.
struct Rcu {
    regs: [u32; 14],
}

impl Peripheral for Rcu {
    fn read(&mut self, offset: u32, _: u8, _: &mut Host) -> Option<u32> {
        let v = *self.regs.get(offset as usize / 4)?;
        Some(match offset {
            0 => v & !0x2A02_0002 | (v & 0x1501_0001) << 1,
            4 => v & !0xC | (v & 3) << 2,
            _ => v,
        })
    }

    fn write(&mut self, offset: u32, _: u8, value: u32, _: &mut Host) -> Option<()> {
        *self.regs.get_mut(offset as usize / 4)? = value;
        Some(())
    }
}
