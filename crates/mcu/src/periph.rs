//! Peripherals that firmware of a benchmark touches: serial port, trigger pin, clock set-up.
//!
//! Each model answers register reads and writes by offset and returns `None` where the chip has no
//! register that we model, which becomes a named fault. Timing of the serial line is not modelled:
//! a byte arrives when the firmware looks for it and leaves at once, so a campaign does not wait for
//! bit times. The measured window between trigger edges holds no serial access.

use std::collections::VecDeque;

use crate::PeripheralConfig;

/// The world outside the chip.
#[derive(Default)]
pub struct Host {
    /// Bytes on their way to the chip.
    pub to_chip: VecDeque<u8>,
    /// Bytes that the chip sent.
    pub from_chip: Vec<u8>,
    /// Cycle of the current access.
    pub(crate) now: u64,
    /// Stack pointer at the current access.
    pub(crate) sp: u32,
    /// The firmware waits for a byte and there is none.
    pub(crate) idle: bool,
    /// Looks at the serial port's status since a byte came or went.
    looks: u8,
    /// New level of the trigger pin.
    pub(crate) edge: Option<bool>,
}

impl Host {
    /// The firmware looks at the serial port's status; answers whether a byte is there. A first look
    /// may be for room to send; a second one without sending is waiting.
    fn look(&mut self) -> bool {
        let empty = self.to_chip.is_empty();
        self.looks = self.looks.saturating_add(1);
        self.idle = empty && self.looks > 1;
        !empty
    }

    fn receive(&mut self) -> u32 {
        self.looks = 0;
        self.to_chip.pop_front().unwrap_or(0).into()
    }

    fn send(&mut self, byte: u32) {
        self.looks = 0;
        self.from_chip.push(byte as u8);
    }
}

/// A register block.
pub trait Peripheral: Send + Sync {
    /// Reads `size` bytes at `offset`; `None` where there is no register.
    fn read(&mut self, offset: u32, size: u8, host: &mut Host) -> Option<u32>;
    /// Writes `size` bytes at `offset`; `None` where there is no register.
    fn write(&mut self, offset: u32, size: u8, value: u32, host: &mut Host) -> Option<()>;
}

/// Size in bytes and model of a configured peripheral.
///
/// # Errors
/// A sentence that lists the known kinds when `config.kind` is none of them.
pub fn build(config: &PeripheralConfig<'_>) -> Result<(u32, Box<dyn Peripheral>), String> {
    let trigger = config.trigger_bit;
    if trigger.is_some_and(|b| b > 15) {
        return Err(format!("trigger bit {} of {} is above 15", trigger.unwrap_or(0), config.kind));
    }
    Ok(match config.kind {
        "avr-port" => (3, Box::new(AvrPort { trigger, ..AvrPort::default() })),
        "avr-usart" => (7, Box::new(AvrUsart::default())),
        "stm32f1-gpio" => (0x1C, Box::new(Stm32F1Gpio { trigger, regs: [0x4444_4444, 0x4444_4444, 0, 0, 0, 0, 0] })),
        "stm32f1-usart" => (0x1C, Box::new(Stm32F1Usart::default())),
        "stm32f1-rcc" => (0x28, Box::new(Stm32F1Rcc { regs: RCC_RESET })),
        "stm32f1-flash" => (0x24, Box::new(Stm32F1Flash { acr: 0x30 })),
        other => {
            return Err(format!(
                "unknown peripheral kind {other:?}; known: avr-port avr-usart stm32f1-gpio stm32f1-usart stm32f1-rcc stm32f1-flash"
            ));
        }
    })
}

fn report_edge(trigger: Option<u8>, old: u32, new: u32, host: &mut Host) {
    if let Some(bit) = trigger
        && (old ^ new) >> bit & 1 == 1
    {
        host.edge = Some(new >> bit & 1 == 1);
    }
}

/// PINx, DDRx, PORTx (ATmega328P datasheet DS40002061B, 14.4).
#[derive(Default)]
struct AvrPort {
    trigger: Option<u8>,
    ddr: u32,
    port: u32,
}

impl Peripheral for AvrPort {
    fn read(&mut self, offset: u32, _: u8, _: &mut Host) -> Option<u32> {
        Some(match offset {
            0 => self.port & self.ddr,
            1 => self.ddr,
            _ => self.port,
        })
    }

    fn write(&mut self, offset: u32, _: u8, value: u32, host: &mut Host) -> Option<()> {
        let before = self.port & self.ddr;
        match offset {
            0 => self.port ^= value & 0xFF, // writing ones to PINx toggles, 14.2.2
            1 => self.ddr = value & 0xFF,
            _ => self.port = value & 0xFF,
        }
        report_edge(self.trigger, before, self.port & self.ddr, host);
        Some(())
    }
}

/// UCSRnA, UCSRnB, UCSRnC, -, UBRRnL, UBRRnH, UDRn (DS40002061B, 20.11).
#[derive(Default)]
struct AvrUsart {
    regs: [u8; 6],
}

impl Peripheral for AvrUsart {
    fn read(&mut self, offset: u32, _: u8, host: &mut Host) -> Option<u32> {
        const RXC: u32 = 0x80;
        const TXC_UDRE: u32 = 0x60;
        Some(match offset {
            0 => u32::from(self.regs[0] & 0x02) | TXC_UDRE | if host.look() { RXC } else { 0 },
            6 => host.receive(),
            o => self.regs[o as usize].into(),
        })
    }

    fn write(&mut self, offset: u32, _: u8, value: u32, host: &mut Host) -> Option<()> {
        match offset {
            6 => host.send(value),
            o => self.regs[o as usize] = value as u8,
        }
        Some(())
    }
}

/// CRL CRH IDR ODR BSRR BRR LCKR (RM0008 rev 21, 9.2).
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
#[derive(Default)]
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
}

/// Reset values of CR .. CSR (RM0008 rev 21, 7.3).
const RCC_RESET: [u32; 10] = [0x83, 0, 0, 0, 0, 0x14, 0, 0, 0, 0x0C00_0000];

/// RCC: oscillators are ready as soon as they are on, SWS follows SW.
struct Stm32F1Rcc {
    regs: [u32; 10],
}

impl Peripheral for Stm32F1Rcc {
    fn read(&mut self, offset: u32, _: u8, _: &mut Host) -> Option<u32> {
        let v = *self.regs.get(offset as usize / 4)?;
        Some(match offset {
            0 => v & !0x0202_0002 | (v & 0x0101_0001) << 1,
            4 => v & !0xC | (v & 3) << 2,
            _ => v,
        })
    }

    fn write(&mut self, offset: u32, _: u8, value: u32, _: &mut Host) -> Option<()> {
        *self.regs.get_mut(offset as usize / 4)? = value;
        Some(())
    }
}

/// FLASH_ACR and the programming registers, which firmware must not use (PM0075 rev 2, 3).
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
