//! The features in which cores differ: instructions, special registers, unaligned accesses.

/// A core: which instructions and registers it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    part: Part,
    registers: u32,
}

impl Features {
    /// LX106 as in the ESP8266: no windows, no hardware loops, 32-bit products' low words only. The
    /// options are those of its `core-isa.h`.
    pub const LX106: Self = Self { part: Part::Core, registers: 16 };
    /// LX6 as in the ESP32, without its floating-point, boolean and MAC16 options.
    pub const LX6: Self = Self { part: Part::Lx6, registers: 64 };

    /// The same core with another number of physical registers (32 or 64).
    pub const fn with_registers(self, registers: u32) -> Self {
        Self { registers, ..self }
    }

    /// Physical registers.
    pub const fn registers(self) -> u32 {
        self.registers
    }

    /// Whether it has the windowed register option.
    pub fn windowed(self) -> bool {
        self.part == Part::Lx6
    }

    /// Whether unaligned accesses are performed, instead of raising an exception.
    pub fn unaligned(self) -> bool {
        self.part == Part::Lx6
    }

    pub(crate) fn has(self, part: Part) -> bool {
        part == Part::Core || part == self.part
    }

    /// Whether the special register number `n` exists and is modelled.
    pub fn has_special(self, n: u8) -> bool {
        SPECIAL.iter().any(|&(part, number, _)| number == n && self.has(part))
    }
}

/// Which cores have an instruction or register: both, or the LX6 only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Core,
    Lx6,
}

/// Special registers: number and name (table 5-127 "Special Registers" of the manual).
#[rustfmt::skip]
const SPECIAL: &[(Part, u8, &str)] = &[
    (Part::Lx6, 0, "lbeg"), (Part::Lx6, 1, "lend"), (Part::Lx6, 2, "lcount"), (Part::Core, 3, "sar"),
    (Part::Lx6, 4, "br"), (Part::Lx6, 12, "scompare1"),
    (Part::Lx6, 72, "windowbase"), (Part::Lx6, 73, "windowstart"),
    (Part::Core, 177, "epc1"), (Part::Core, 178, "epc2"), (Part::Core, 179, "epc3"),
    (Part::Lx6, 180, "epc4"), (Part::Lx6, 181, "epc5"), (Part::Lx6, 182, "epc6"), (Part::Lx6, 183, "epc7"),
    (Part::Core, 192, "depc"), (Part::Core, 194, "eps2"), (Part::Core, 195, "eps3"),
    (Part::Lx6, 196, "eps4"), (Part::Lx6, 197, "eps5"), (Part::Lx6, 198, "eps6"), (Part::Lx6, 199, "eps7"),
    (Part::Core, 209, "excsave1"), (Part::Core, 210, "excsave2"), (Part::Core, 211, "excsave3"),
    (Part::Lx6, 212, "excsave4"), (Part::Lx6, 213, "excsave5"), (Part::Lx6, 214, "excsave6"),
    (Part::Lx6, 215, "excsave7"), (Part::Lx6, 224, "cpenable"), (Part::Core, 228, "intenable"),
    (Part::Core, 230, "ps"), (Part::Core, 231, "vecbase"), (Part::Core, 232, "exccause"),
    (Part::Core, 234, "ccount"), (Part::Core, 235, "prid"), (Part::Core, 238, "excvaddr"),
    (Part::Lx6, 244, "misc0"), (Part::Lx6, 245, "misc1"), (Part::Lx6, 246, "misc2"), (Part::Lx6, 247, "misc3"),
];

pub(crate) fn special_name(n: u8) -> Option<&'static str> {
    SPECIAL.iter().find(|s| s.1 == n).map(|s| s.2)
}
