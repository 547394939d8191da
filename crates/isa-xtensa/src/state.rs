//! The state of the core, and accesses to it that all parts share.

use std::collections::HashMap;

use mcu::{FaultKind, Memory, Site};

use crate::features::Features;

/// Costs that depend on what happens at run time, in cycles beyond the static ones; a timing model
/// fills them.
#[derive(Clone, Copy, Debug)]
pub struct Events {
    /// A jump to an address that is known only at run time: its position in a word (the two low bits), and then whether
    /// the instruction there has 2 or 3 bytes.
    pub land: [[u8; 2]; 4],
    /// Entry into an exception's vector.
    pub exception: u32,
    /// Unaligned access: address and bytes (2 or 4).
    pub unaligned: fn(u32, u32) -> u32,
    /// Division of the first argument by the second.
    pub div: fn(u32, u32) -> u32,
}

impl Default for Events {
    fn default() -> Self {
        Self { land: [[0; 2]; 4], exception: 0, unaligned: |_, _| 0, div: |_, _| 0 }
    }
}

/// Ends of hardware loops that an image may have: each costs the host as much as thousands of cycles.
const MOST_ENDS: usize = 4096;

/// The stack pointer's number in both calling conventions.
pub(crate) const SP: usize = 1;

/// Numbers of special registers (section 5.3).
pub(crate) mod special {
    pub const LBEG: u8 = 0;
    pub const LEND: u8 = 1;
    pub const LCOUNT: u8 = 2;
    pub const SAR: u8 = 3;
    pub const BR: u8 = 4;
    pub const SCOMPARE1: u8 = 12;
    pub const WINDOW_BASE: u8 = 72;
    pub const WINDOW_START: u8 = 73;
    pub const EPC1: u8 = 177;
    pub const INTENABLE: u8 = 228;
    pub const PS: u8 = 230;
    pub const VECBASE: u8 = 231;
    pub const EXCCAUSE: u8 = 232;
    pub const CCOUNT: u8 = 234;
    pub const PRID: u8 = 235;
}

/// Fields of PS (4.4.1).
pub(crate) mod ps {
    pub const INTLEVEL: u32 = 0xF;
    pub const EXCM: u32 = 1 << 4;
    pub const UM: u32 = 1 << 5;
    pub const OWB: u32 = 0xF << 8;
    pub const CALLINC: u32 = 3 << 16;
    pub const WOE: u32 = 1 << 18;
}

/// A caller: where its window is, and the registers that its callees leave alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) base: u32,
    pub(crate) registers: Vec<u32>,
}

/// State of the core.
#[repr(C)]
pub struct Xtensa {
    /// a0 to a15 of the current window; longer than needed so that a byte indexes it without a check.
    pub(crate) a: [u32; 256],
    pub(crate) pc: u32,
    pub(crate) sar: u32,
    /// Bit n is set when a use of the registers a4n to a4n+3 overflows the window.
    pub(crate) guard: u8,
    pub(crate) lcount: u32,
    pub(crate) lbeg: u32,
    pub(crate) lend: u32,
    pub(crate) ps: u32,
    /// The physical registers, four at a time; those of the current window are in `a`.
    pub(crate) ar: [[u32; 4]; 16],
    pub(crate) window_base: u32,
    pub(crate) window_start: u32,
    /// Special registers without a field of their own.
    pub(crate) sr: [u32; 256],
    /// User register THREADPTR.
    pub(crate) thread: u32,
    /// CCOUNT minus the cycles since reset.
    pub(crate) ccount: u32,
    /// Every address in code that was the end of a hardware loop, with where that one began last; blocks do not go past them.
    pub(crate) ends: HashMap<u32, u32>,
    pub(crate) new_end: Option<u32>,
    /// PS and the callers of the measured call, innermost first.
    pub(crate) callers: (u32, Vec<Caller>),
    pub(crate) features: Features,
    /// Costs that depend on what happens at run time.
    pub events: Events,
    pub(crate) entry: u32,
    pub(crate) mem: Memory,
}

impl Xtensa {
    /// A core with the instructions of `features`, in reset. Execution starts at `entry`: the boot ROM, which is not
    /// modelled, would load the image and jump there.
    pub fn new(mem: Memory, features: Features, entry: u32) -> Self {
        let mut cpu = Self {
            a: [0; 256],
            pc: 0,
            sar: 0,
            guard: 0,
            lcount: 0,
            lbeg: 0,
            lend: 0,
            ps: 0,
            ar: [[0; 4]; 16],
            window_base: 0,
            window_start: 1,
            sr: [0; 256],
            thread: 0,
            ccount: 0,
            ends: HashMap::new(),
            new_end: None,
            callers: (0, Vec::new()),
            features,
            events: Events::default(),
            entry,
            mem,
        };
        cpu.start_over();
        cpu
    }

    /// Sets register `n` of a0 to a15; other numbers are ignored.
    pub fn set_register(&mut self, n: usize, value: u32) {
        if n < 16 {
            self.a[n] = value;
        }
    }

    /// Continues at `pc`.
    pub fn set_pc(&mut self, pc: u32) {
        self.pc = pc;
    }

    /// PS.EXCM and PS.INTLEVEL are set (table of reset values in 4.4.1); the rest is undefined, here 0.
    pub(crate) fn start_over(&mut self) {
        self.a = [0; 256];
        self.ar = [[0; 4]; 16];
        (self.sar, self.lcount, self.lbeg, self.lend) = (0, 0, 0, 0);
        (self.window_base, self.window_start) = (0, 1);
        self.sr = [0; 256];
        (self.thread, self.ccount) = (0, 0);
        self.set_ps(ps::EXCM | ps::INTLEVEL);
        self.pc = self.entry;
    }

    pub(crate) fn byte(&self, pc: u32) -> Option<u32> {
        let offset = pc.wrapping_sub(self.mem.flash_base) as usize;
        self.mem.flash.get(offset).map(|&b| b.into())
    }

    /// Length of the instruction at `pc`; 3 when there is none.
    #[inline(always)]
    pub(crate) fn length(&self, pc: u32) -> u32 {
        match self.byte(pc).unwrap_or(0) & 15 {
            8..=13 => 2,
            _ => 3,
        }
    }

    /// Makes sure that no block goes past the end of a loop. Where there is no code, no loop ends.
    pub(crate) fn loop_ends_at(&mut self, end: u32, site: Site) {
        self.lend = end;
        if self.byte(end.wrapping_sub(1)).is_none() {
            return;
        }
        if let Some(begin) = self.ends.get_mut(&end) {
            *begin = self.lbeg;
        } else if self.ends.len() == MOST_ENDS {
            self.mem.fault(FaultKind::ManyLoops { most: MOST_ENDS }, site);
        } else {
            self.ends.insert(end, self.lbeg);
            self.new_end = Some(end);
            self.mem.deadline = 0;
        }
    }
}

/// Cycle count that an instruction at `site` sees.
pub(crate) fn now(cpu: &Xtensa, site: Site) -> u32 {
    cpu.mem.now(site) as u32
}
