//! Clocks of the GD32VF103. Its ports and USART have the registers of the STM32F1 under other names
//! (GD32VF103 user manual rev 1.x, chapters 7 and 16), so the kinds `stm32f1-gpio` and `stm32f1-usart` do.

use super::{Follow, Peripheral, Registers};
use crate::PeripheralConfig;

/// RCU: oscillators and all three PLLs are stable as soon as they are on, SCSS follows SCS (user manual, 5.3).
pub(super) fn rcu(_: &PeripheralConfig<'_>) -> (u32, Box<dyn Peripheral>) {
    // CTL, AHBEN, BDCTL, RSTSCK
    let reset = [(0x00, 0x83), (0x14, 0x14), (0x20, 0x18), (0x24, 0x0C00_0000)];
    let ready = &[Follow { offset: 0, from: 0x1501_0001, by: 1 }, Follow { offset: 4, from: 3, by: 2 }];
    Registers::block(0x38, &reset, ready)
}
