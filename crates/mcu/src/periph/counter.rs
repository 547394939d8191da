//! Counters of the core's cycles, which the harness sets to 0 before a call and reads after it. None can interrupt.

use super::{Host, Peripheral};
use crate::PeripheralConfig;

type Made = (u32, Box<dyn Peripheral>);

pub(super) fn avr_timer1(_: &PeripheralConfig<'_>) -> Made {
    made(6, Timer { control: 1, count: 4, mode: AVR_MODE, ..Timer::default() })
}

pub(super) fn atmega128_timer1(_: &PeripheralConfig<'_>) -> Made {
    made(4, Timer { control: 2, count: 0, mode: AVR_MODE, ..Timer::default() })
}

pub(super) fn megaavr0_tca(_: &PeripheralConfig<'_>) -> Made {
    let mode = Mode { bits: 15, counts: 1, starts: 1 };
    made(0x26, Timer { control: 0, count: 0x20, mode, high_ends: true, ..Timer::default() })
}

pub(super) fn msp430_timer_a(_: &PeripheralConfig<'_>) -> Made {
    let mode = Mode { bits: 0x3F0, counts: 0x220, starts: 0x30 };
    made(0x12, Timer { control: 0, count: 0x10, mode, clears: 4, ..Timer::default() })
}

pub(super) fn systick(_: &PeripheralConfig<'_>) -> Made {
    made(16, SysTick { told: 1, ..SysTick::default() })
}

pub(super) fn qingke_systick(_: &PeripheralConfig<'_>) -> Made {
    made(0x14, QingKeSysTick::default())
}

pub(super) fn dwt(_: &PeripheralConfig<'_>) -> Made {
    made(DEMCR + 4, Dwt::default())
}

pub(super) fn m7_dwt(_: &PeripheralConfig<'_>) -> Made {
    made(DEMCR + 4, Dwt { locked: true, ..Dwt::default() })
}

/// TCCR1B: WGM13:12, the top of the count, and CS12:0, its clock (DS40002061B, 16.11.2).
const AVR_MODE: Mode = Mode { bits: 0x1F, counts: 1, starts: 7 };

fn made(size: u32, model: impl Counter + 'static) -> Made {
    (size, Box::new(Set { model, unknown: false }))
}

/// A counter of cycles.
trait Counter: Peripheral {
    /// Whether a write of `value` at `offset` sets it up as the model knows it, where it sets it up at all.
    fn knows(&self, _offset: u32, _value: u32) -> Option<bool> {
        None
    }

    /// Whether it goes on.
    fn goes(&self) -> bool;
}

/// A counter as programs use it. One that goes on in a way that has no model, such as at a divided clock, answers for none
/// of its registers, rather than with a number that is wrong.
#[derive(Debug)]
struct Set<M> {
    model: M,
    unknown: bool,
}

impl<M: Counter> Peripheral for Set<M> {
    fn read(&mut self, offset: u32, size: u8, host: &mut Host) -> Option<u32> {
        host.clocked += u64::from(self.model.goes());
        (!self.unknown).then(|| self.model.read(offset, size, host))?
    }

    fn write(&mut self, offset: u32, size: u8, value: u32, host: &mut Host) -> Option<()> {
        self.unknown = self.model.knows(offset, value).map_or(self.unknown, |knows| !knows);
        (!self.unknown).then(|| self.model.write(offset, size, value, host))?
    }
}

/// A number that rises by one in each cycle while it goes on.
#[derive(Debug, Default)]
struct Count {
    goes: bool,
    /// What it has while it stands, else what it had at cycle 0.
    value: u64,
}

impl Count {
    fn at(&self, now: u64) -> u64 {
        if self.goes { self.value.wrapping_add(now) } else { self.value }
    }

    fn set(&mut self, value: u64, now: u64) {
        self.value = if self.goes { value.wrapping_sub(now) } else { value };
    }

    fn go(&mut self, goes: bool, now: u64) {
        let value = self.at(now);
        self.goes = goes;
        self.set(value, now);
    }
}

/// Timers of 16 bits: Timer1 of the ATmega328P (DS40002061B, 16.11), of the ATmega32U4 (the same) and ATmega128
/// (2467X, "16-bit Timer/Counter Register Description": its addresses go the other way), TCA0 of the ATmega4809
/// (DS40002173, "TCA - 16-bit Timer/Counter Type A") and Timer_A of the MSP430 (SLAU049F, 11.3).
#[derive(Debug, Default)]
struct Timer {
    /// Offsets of the register that starts it, and of its count.
    control: u32,
    count: u32,
    mode: Mode,
    /// The bit that sets it to 0, which reads as 0.
    clears: u32,
    set_up: u32,
    now: Count,
    /// The other byte between two accesses to bytes (DS40002061B, 16.3; DS40002173, 8.5.6), and whether a write ends
    /// with the high one.
    other: u32,
    high_ends: bool,
}

/// How the register that starts a timer sets it up.
#[derive(Clone, Copy, Debug, Default)]
struct Mode {
    /// The bits that do.
    bits: u32,
    /// What they have where it counts cycles, one by one and up to the end of its range.
    counts: u32,
    /// Those without which it stands.
    starts: u32,
}

impl Counter for Timer {
    fn knows(&self, offset: u32, value: u32) -> Option<bool> {
        let mode = self.mode;
        (offset == self.control).then_some(value & mode.bits == mode.counts || value & mode.starts == 0)
    }

    fn goes(&self) -> bool {
        self.now.goes
    }
}

impl Peripheral for Timer {
    fn read(&mut self, offset: u32, size: u8, host: &mut Host) -> Option<u32> {
        let count = self.now.at(host.now) as u32 & 0xFFFF;
        match offset.checked_sub(self.count) {
            Some(0) if size == 1 => {
                self.other = count >> 8;
                Some(count & 0xFF)
            }
            Some(0) => Some(count),
            Some(1) => Some(self.other),
            _ => (offset == self.control).then_some(self.set_up),
        }
    }

    fn write(&mut self, offset: u32, size: u8, value: u32, host: &mut Host) -> Option<()> {
        let value = if size == 1 { value & 0xFF } else { value & 0xFFFF };
        match offset.checked_sub(self.count) {
            Some(0) if size > 1 => self.now.set(value.into(), host.now),
            Some(1) if self.high_ends => self.now.set((value << 8 | self.other).into(), host.now),
            Some(0) if !self.high_ends => self.now.set((self.other << 8 | value).into(), host.now),
            Some(0 | 1) => self.other = value,
            _ if offset == self.control => {
                self.set_up = value & !self.clears;
                self.now.go(value & self.mode.bits == self.mode.counts, host.now);
                if value & self.clears != 0 {
                    self.now.set(0, host.now);
                }
            }
            _ => return None,
        }
        Some(())
    }
}

/// SYST_CSR, SYST_RVR, SYST_CVR, SYST_CALIB: 24 bits that go down to 0, and on from the reload value (DDI 0419, B3.3).
/// A write to the count sets it to 0, and COUNTFLAG, which says that it came to 0 since it was read last. A write to the
/// reload value counts from the next time on that the count is 0, where 0 stops it.
#[derive(Debug, Default)]
struct SysTick {
    control: u32,
    reload: u32,
    /// Cycles that it went on since the count or the reload value was written, and how many of them led to the first 0.
    passed: Count,
    first: u64,
    /// How often it had come to 0 when COUNTFLAG was read or cleared, and whether it had before `passed` began.
    told: u64,
    before: bool,
}

impl SysTick {
    const ENABLE: u32 = 1;
    const INTERRUPT: u32 = 2;
    const CORE: u32 = 4;
    const COUNTFLAG: u32 = 1 << 16;

    fn zeros(&self, now: u64) -> u64 {
        let after = self.passed.at(now).checked_sub(self.first);
        after.map_or(0, |after| 1 + if self.reload == 0 { 0 } else { after / (u64::from(self.reload) + 1) })
    }

    fn count(&self, now: u64) -> u64 {
        let round = u64::from(self.reload) + 1;
        let passed = self.passed.at(now);
        match passed.checked_sub(self.first) {
            Some(after) => (round - after % round) % round,
            None => self.first - passed,
        }
    }

    /// Goes on from `count` with 0 told of or not.
    fn begin(&mut self, count: u64, before: bool, now: u64) {
        (self.first, self.before) = (count, before);
        self.passed.set(0, now);
        self.told = self.zeros(now);
    }
}

impl Counter for SysTick {
    fn knows(&self, offset: u32, value: u32) -> Option<bool> {
        (offset == 0).then_some(value & Self::ENABLE == 0 || value & Self::CORE != 0)
    }

    fn goes(&self) -> bool {
        self.passed.goes
    }
}

impl Peripheral for SysTick {
    fn read(&mut self, offset: u32, _: u8, host: &mut Host) -> Option<u32> {
        Some(match offset {
            0 => {
                let zeros = self.zeros(host.now);
                let flag = std::mem::take(&mut self.before) || zeros > self.told;
                self.told = zeros;
                self.control | if flag { Self::COUNTFLAG } else { 0 }
            }
            4 => self.reload,
            8 => self.count(host.now) as u32,
            _ => 0,
        })
    }

    fn write(&mut self, offset: u32, _: u8, value: u32, host: &mut Host) -> Option<()> {
        match offset {
            0 => {
                self.control = value & (Self::ENABLE | Self::INTERRUPT | Self::CORE);
                self.passed.go(value & Self::ENABLE != 0, host.now);
                host.interrupts |= value & Self::INTERRUPT != 0;
            }
            4 => {
                let (count, flag) = (self.count(host.now), self.before || self.zeros(host.now) > self.told);
                self.reload = value & 0x00FF_FFFF;
                self.begin(count, flag, host.now);
            }
            8 => self.begin(0, false, host.now),
            _ => return None,
        }
        Some(())
    }
}

/// STK_CTLR, STK_SR, STK_CNT, a gap, STK_CMP of the CH32V003: 32 bits that go up at the core's clock while bits 0 (enable)
/// and 2 (not divided by 8) of the first are set, and to the end of the range unless bit 3 asks for less (CH32V003RM,
/// "SysTick Register Description").
#[derive(Debug, Default)]
struct QingKeSysTick {
    control: u32,
    passed: Count,
}

impl QingKeSysTick {
    const ENABLE_CORE: u32 = 5;
}

impl Counter for QingKeSysTick {
    fn knows(&self, offset: u32, value: u32) -> Option<bool> {
        (offset == 0).then_some(value == Self::ENABLE_CORE || value & 1 == 0 && value & !Self::ENABLE_CORE == 0)
    }

    fn goes(&self) -> bool {
        self.passed.goes
    }
}

impl Peripheral for QingKeSysTick {
    fn read(&mut self, offset: u32, _: u8, host: &mut Host) -> Option<u32> {
        match offset {
            0 => Some(self.control),
            8 => Some(self.passed.at(host.now) as u32),
            _ => None,
        }
    }

    fn write(&mut self, offset: u32, _: u8, value: u32, host: &mut Host) -> Option<()> {
        match offset {
            0 => {
                self.control = value;
                self.passed.go(value == Self::ENABLE_CORE, host.now);
            }
            8 => self.passed.set(value.into(), host.now),
            _ => return None,
        }
        Some(())
    }
}

/// From the base of the DWT unit to a register of the debug unit, without whose TRCENA the former does nothing.
const DEMCR: u32 = 0xDDFC;

/// DWT_CTRL and DWT_CYCCNT (DDI 0403E, C1.8), DEMCR (C1.6.5). On the Cortex-M7 DWT_LAR unlocks writes by software.
#[derive(Debug, Default)]
struct Dwt {
    locked: bool,
    trace: u32,
    control: u32,
    cycles: Count,
}

impl Counter for Dwt {
    fn goes(&self) -> bool {
        self.cycles.goes
    }
}

impl Peripheral for Dwt {
    fn read(&mut self, offset: u32, _: u8, host: &mut Host) -> Option<u32> {
        match offset {
            0 => Some(self.control),
            4 => Some(self.cycles.at(host.now) as u32),
            DEMCR => Some(self.trace),
            _ => None,
        }
    }

    fn write(&mut self, offset: u32, _: u8, value: u32, host: &mut Host) -> Option<()> {
        const TRCENA: u32 = 1 << 24;
        const KEY: u32 = 0xC5AC_CE55;
        match offset {
            DEMCR => self.trace = value,
            0xFB0 => self.locked &= value != KEY,
            0 if !self.locked => self.control = value & 1,
            4 if !self.locked => self.cycles.set(value.into(), host.now),
            0 | 4 => {}
            _ => return None,
        }
        self.cycles.go(self.trace & TRCENA != 0 && self.control & 1 != 0, host.now);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Host, PeripheralConfig, build};

    /// What a counter has after so many cycles, when the harness's writes set it to 0 and started it.
    fn counted(kind: &str, writes: &[(u32, u8, u32)], count: (u32, u8), cycles: u64) -> Option<u32> {
        let mut host = Host { now: 1_000_003, ..Host::default() };
        let (_, mut counter) = build(&PeripheralConfig { kind, base: 0, trigger_bit: None }).expect("it is known");
        for &(offset, size, value) in writes {
            counter.write(offset, size, value, &mut host)?;
        }
        host.now += cycles;
        counter.read(count.0, count.1, &mut host)
    }

    #[test]
    fn cycles_modulo_the_width() {
        const UNLOCK: (u32, u8, u32) = (0xFB0, 4, 0xC5AC_CE55);
        const TRACE: (u32, u8, u32) = (0xDDFC, 4, 1 << 24);
        for cycles in [0, 1, 255, 256, 65_535, 65_536, 100_000, (1 << 24) - 1, 1 << 24, 20_000_000, 1 << 32] {
            let low = Some(cycles as u32 & 0xFF);
            assert_eq!(counted("avr-timer1", &[(1, 1, 1), (5, 1, 0), (4, 1, 0)], (4, 1), cycles), low);
            assert_eq!(counted("atmega128-timer1", &[(2, 1, 1), (1, 1, 0), (0, 1, 0)], (0, 1), cycles), low);
            assert_eq!(counted("megaavr0-tca", &[(0, 1, 1), (0x20, 1, 0), (0x21, 1, 0)], (0x20, 1), cycles), low);
            let half = Some(cycles as u32 & 0xFFFF);
            assert_eq!(counted("msp430-timer-a", &[(0, 2, 0x224)], (0x10, 2), cycles), half);
            let down = Some((cycles as u32).wrapping_neg() & 0xFF_FFFF);
            assert_eq!(counted("cortex-systick", &[(4, 4, 0xFF_FFFF), (0, 4, 5), (8, 4, 0)], (8, 4), cycles), down);
            let word = Some(cycles as u32);
            assert_eq!(counted("cortex-dwt", &[TRACE, (0, 4, 1), (4, 4, 0)], (4, 4), cycles), word);
            assert_eq!(counted("qingke-systick", &[(0, 4, 5), (8, 4, 0)], (8, 4), cycles), word);
            assert_eq!(counted("cortex-m7-dwt", &[TRACE, UNLOCK, (0, 4, 1), (4, 4, 0)], (4, 4), cycles), word);
        }
    }

    #[test]
    fn countflag_says_once_that_zero_was_reached() {
        let mut host = Host::default();
        let config = PeripheralConfig { kind: "cortex-systick", base: 0, trigger_bit: None };
        let (_, mut counter) = build(&config).expect("it is known");
        for (offset, value) in [(4, 99), (8, 0), (0, 5)] {
            counter.write(offset, 4, value, &mut host);
        }
        let mut said = Vec::new();
        for now in [0, 1, 99, 100, 101, 199, 350, 351] {
            host.now = now;
            said.push(counter.read(0, 4, &mut host).expect("it has this register") >> 16);
        }
        assert_eq!(said, [0, 0, 0, 1, 0, 0, 1, 0]);
    }

    #[test]
    fn another_reload_value_counts_from_the_next_zero_on() {
        let mut host = Host::default();
        let config = PeripheralConfig { kind: "cortex-systick", base: 0, trigger_bit: None };
        let (_, mut counter) = build(&config).expect("it is known");
        for (offset, value) in [(4, 99), (8, 0), (0, 5)] {
            counter.write(offset, 4, value, &mut host);
        }
        host.now = 31; // 69 left
        counter.write(4, 4, 9, &mut host);
        let mut seen = Vec::new();
        for now in [31, 32, 99, 100, 101, 109, 110, 111, 120] {
            host.now = now;
            seen.push(counter.read(8, 4, &mut host).expect("it has this register"));
        }
        assert_eq!(seen, [69, 68, 1, 0, 9, 1, 0, 9, 0]);
        counter.write(4, 4, 50, &mut host); // which does not clear COUNTFLAG
        let flags = [0, 0].map(|_| counter.read(0, 4, &mut host).expect("it has this register") >> 16);
        assert_eq!(flags, [1, 0]);
        let (_, mut fresh) = build(&config).expect("it is known");
        assert_eq!(fresh.read(0, 4, &mut host), Some(0), "nothing was counted at reset");
    }

    #[test]
    fn what_is_not_started_stands() {
        assert_eq!(counted("avr-timer1", &[(1, 1, 0), (4, 1, 7)], (4, 1), 9), Some(7));
        assert_eq!(counted("megaavr0-tca", &[(0x20, 1, 7), (0x21, 1, 0)], (0x20, 1), 9), Some(7));
        assert_eq!(counted("msp430-timer-a", &[(0, 2, 0x204)], (0x10, 2), 9), Some(0));
        assert_eq!(counted("cortex-dwt", &[(0, 4, 1), (4, 4, 3)], (4, 4), 9), Some(3)); // no TRCENA
        assert_eq!(counted("cortex-m7-dwt", &[(0xDDFC, 4, 1 << 24), (0, 4, 1), (4, 4, 3)], (4, 4), 9), Some(0));
        assert_eq!(counted("avr-timer1", &[(3, 1, 0)], (4, 1), 0), None);
    }

    #[test]
    fn what_goes_on_in_a_way_without_a_model_does_not_answer() {
        // divided by 8, up to OCR1A; divided by 2; ACLK, divided, up to TACCR0; a clock that is divided; an interrupt
        for (kind, control, size, count, others) in [
            ("avr-timer1", 1, 1, 4, &[2, 9][..]),
            ("atmega128-timer1", 2, 1, 0, &[3, 0x11]),
            ("megaavr0-tca", 0, 1, 0x20, &[3]),
            ("msp430-timer-a", 0, 2, 0x10, &[0x120, 0x2A0, 0x210]),
            ("cortex-systick", 0, 4, 8, &[1, 3]),
            ("qingke-systick", 0, 4, 8, &[1, 7]),
        ] {
            let (_, mut counter) = build(&PeripheralConfig { kind, base: 0, trigger_bit: None }).expect("it is known");
            let mut host = Host { now: 5, ..Host::default() };
            for &other in others {
                assert_eq!(counter.write(control, size, 0, &mut host), Some(()), "{kind} stands");
                assert!(counter.read(count, size, &mut host).is_some());
                assert_eq!(counter.write(control, size, other, &mut host), None, "{kind} {other:#x}");
                assert_eq!(counter.write(count, size, 0, &mut host), None);
                assert_eq!([control, count].map(|at| counter.read(at, size, &mut host)), [None; 2]);
            }
            assert_eq!(host.clocked, 0, "{kind} never went on");
        }
    }

    #[test]
    fn a_counter_that_goes_on_says_so_to_who_looks() {
        let mut host = Host::default();
        let config = PeripheralConfig { kind: "cortex-systick", base: 0, trigger_bit: None };
        let (_, mut counter) = build(&config).expect("it is known");
        for (control, clocked, interrupts) in [(4, 0, false), (5, 1, false), (7, 2, true)] {
            counter.write(0, 4, control, &mut host);
            counter.read(8, 4, &mut host);
            assert_eq!((host.clocked, host.interrupts), (clocked, interrupts));
        }
    }

    #[test]
    fn the_high_byte_is_that_of_the_moment_of_the_low_one() {
        let mut host = Host::default();
        let (_, mut timer) =
            build(&PeripheralConfig { kind: "avr-timer1", base: 0, trigger_bit: None }).expect("it is known");
        let mut bytes = |timer: &mut Box<dyn super::Peripheral>, now| {
            host.now = now;
            let low = timer.read(4, 1, &mut host);
            host.now += 2;
            (timer.read(5, 1, &mut host), low)
        };
        assert_eq!(timer.write(1, 1, 1, &mut Host::default()), Some(()));
        assert_eq!(bytes(&mut timer, 0x12FF), (Some(0x12), Some(0xFF)));
    }
}
