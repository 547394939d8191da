//! Runs images that are not ours: programs without a harness, from reset or from one of their functions.
//!
//! Registers without a model keep what is written to them and are 0 before; who uses them is told, because a program
//! that waits for one waits for ever. Nothing here trusts the image: what it can do is bounded by cycles, time, output
//! and what is kept of it.

mod jumping;
mod placing;
mod running;
mod turning;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use isa::{Profile, Span};
use mcu::{Chip, Image, Memory, Register, Unmodelled, code_address};

use self::jumping::never_returns;
use self::placing::placed;
use self::running::Run;
use crate::family::{FAMILIES, family};
use crate::simulator;

/// Most measured calls, and pulses, that are kept.
const MOST_CALLS: usize = 100_000;

/// An argument of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A number of so many bytes, 1 to 8.
    Number(u64, u8),
    /// A pointer to these bytes.
    Pointer(Vec<u8>),
}

/// A register that a program sets and the simulation does not answer: cycles or seconds are those of one setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its address.
    pub address: u32,
    /// The bits that count.
    pub mask: u32,
    /// What they are assumed to be.
    pub assumed: u32,
    /// What a reset leaves in the register, where its model, which our start-up code writes first, does not know it.
    pub reset: Option<u32>,
    /// What its lowest byte is written as before it is read, where it is one of several at the address.
    pub select: Option<u8>,
}

impl Setting {
    fn bytes(&self) -> u8 {
        if self.mask > 0xFF { 4 } else { 1 }
    }

    fn bits(&self, memory: &mut Memory) -> u32 {
        let Some(which) = self.select else { return memory.register_at(self.address, self.bytes()) & self.mask };
        let before = memory.register_at(self.address, 1);
        memory.set_register_at(self.address, 1, which.into());
        let bits = memory.register_at(self.address, self.bytes()) & self.mask;
        memory.set_register_at(self.address, 1, before);
        bits
    }

    /// Sets the bits as our start-up code leaves them.
    fn assume(&self, memory: &mut Memory) {
        if let Some(which) = self.select {
            memory.set_register_at(self.address, 1, which.into());
        }
        let rest = memory.register_at(self.address, self.bytes()) & !self.mask;
        memory.set_register_at(self.address, self.bytes(), rest | self.assumed);
    }
}

/// What is asked of an image.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The function that runs instead of the program, by its address, and its arguments.
    pub call: Option<(u32, Vec<Argument>)>,
    /// The function whose calls are measured.
    pub trigger: Option<u32>,
    /// What the serial port receives.
    pub input: Vec<u8>,
    /// Memories of the chip that have no model: what they are called, first address and bytes.
    pub memories: Vec<(String, u32, u32)>,
    /// Settings that are compared with what the program makes of them.
    pub settings: Vec<Setting>,
    /// Most cycles.
    pub cycles: u64,
    /// Most seconds.
    pub seconds: f64,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The function returned.
    Returned,
    /// The program waits for a byte.
    Waits,
    /// The program turns round and does nothing else.
    Loops,
    /// The core sleeps until an interrupt.
    Sleeps,
    /// It had all cycles.
    Cycles,
    /// It had all seconds, or whoever asked wants no more.
    Time,
    /// It wrote more than is kept.
    Output,
    /// It failed, with the fault's name and a sentence.
    Fault(&'static str, String),
}

/// A measured call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// When it began, in cycles since reset.
    pub began: u64,
    /// Cycles, from the function's first instruction to its return, or between the edges of the trigger's pin.
    pub cycles: u64,
    /// Bytes of stack.
    pub stack: u32,
}

/// What was seen.
pub struct Seen {
    /// How it ended.
    pub end: End,
    /// Where.
    pub pc: u32,
    /// Cycles since reset.
    pub cycles: u64,
    /// Calls of the function that was asked for: the first [`MOST_CALLS`].
    pub calls: Vec<Measured>,
    /// How many there were of all.
    pub counted: u64,
    /// How many calls the program left by a jump to their caller or past it (longjmp).
    pub left: u64,
    /// How many of all called setjmp before longjmp led out of their frames: they may have been left, and hide others.
    pub doubtful: u64,
    /// Whether it ended in a call of the trigger's function, which is in `functions` and not in `calls`.
    pub unfinished: bool,
    /// Pulses of the trigger's pin: the first [`MOST_CALLS`].
    pub pulses: Vec<Measured>,
    /// How many there were of all.
    pub pulsed: u64,
    /// What the called function returned: the lowest 8 bytes of its registers.
    pub result: Option<u64>,
    /// What pointers pointed to when the function had returned.
    pub buffers: Vec<Vec<u8>>,
    /// What the serial port sent.
    pub output: Vec<u8>,
    /// Cycles by function, of calls of the one that was asked for if one was: name, caller's index, calls, cycles in itself.
    pub functions: Vec<(String, usize, u64, u64)>,
    /// Accesses without a model: register, reads, writes, first and last instruction.
    pub unmodelled: Vec<(Register, u64, u64, u32, u32)>,
    /// Unaligned accesses.
    pub unaligned: u64,
    /// Whether the program allowed interrupts.
    pub interrupts: bool,
    /// Registers that a program reads in each round that ends by waiting or turning round.
    pub round: BTreeSet<Register>,
    /// For each setting asked for its bits where they are not as assumed: when a call of the trigger's function
    /// returned, else at the end. A function that is called without start-up code has the assumed ones, but for those that
    /// it changes itself.
    pub settings: Vec<Option<u32>>,
    /// Segments of the image that no memory of the chip has.
    pub left_out: Vec<(u32, usize)>,
    /// Identity of the timing model.
    pub timing: &'static str,
}

/// Runs `image` on `chip`. `more` is asked now and then whether to go on.
///
/// # Errors
/// A sentence where the image is not for the chip, or the call cannot be made.
pub fn run(chip: &Chip<'_>, image: &Image, asked: &Asked, more: &mut dyn FnMut() -> bool) -> Result<Seen, String> {
    let mut sim = simulator(chip)?;
    let family = family(chip.core).expect("every core has its row");
    if ![0, family.machine].contains(&image.machine) {
        let other = FAMILIES.iter().find(|i| i.machine == image.machine).map_or("another machine", |i| i.name);
        let (number, name, own) = (image.machine, family.name, family.machine);
        return Err(format!("the image is for {other} (e_machine {number}), the chip is {name} ({own})"));
    }
    if image.machine != 0 && image.wide != family.wide() {
        let bits = |wide| if wide { "64 bits (EI_CLASS 2)" } else { "32 bits (EI_CLASS 1)" };
        return Err(format!("the image is of {}, the chip is for {}", bits(image.wide), bits(family.wide())));
    }
    let (flash, ram, left_out) = placed(chip, family, image, &asked.memories)?;
    let entry = asked.call.as_ref().map(|c| c.0).or(asked.trigger).map(|at| code_address(family.machine, at));
    let empty = |&at: &u32| flash.iter().all(|s| at.wrapping_sub(s.address) as usize >= s.bytes.len());
    if let Some(at) = entry.filter(empty) {
        return Err(format!("there is no code at {at:#x}"));
    }
    if let Some(at) = entry.filter(|at| at % family.code != 0) {
        return Err(format!("no instruction of {} begins at an odd address such as {at:#x}", family.name));
    }
    if asked.trigger.is_some() && entry.is_some_and(|at| never_returns(image, at)) {
        return Err("longjmp returns from no call, so that none has an end: measure the function that calls it, or \
                    setjmp"
            .into());
    }
    sim.load(&Image { segments: flash, symbols: image.symbols.clone(), ..Image::default() })?;
    let memory = sim.memory_mut();
    memory.look_after(None);
    memory.limit_pointer = None;
    let own = [chip.flash, chip.ram].map(|m| m.base..m.base + m.size);
    let within = family.peripherals.iter().map(|&(from, to)| from..to);
    memory.unmodelled = Some(Unmodelled::new(within.collect(), if family.avr { Vec::new() } else { own.into() }));
    memory.host.to_chip.extend(&asked.input);
    for s in &asked.settings {
        s.reset.into_iter().for_each(|value| memory.set_register_at(s.address, s.bytes(), value));
    }
    if asked.call.is_some() {
        asked.settings.iter().for_each(|s| s.assume(memory));
    }
    let before: Vec<_> = asked.settings.iter().map(|s| s.bits(memory)).collect();
    for (address, bytes) in ram.iter().filter(|r| asked.call.is_some() || r.2).map(|r| (r.0, &r.1)) {
        let at = (address - chip.ram.base) as usize;
        memory.ram[at..at + bytes.len()].copy_from_slice(bytes);
    }
    let (spans, names): (Vec<_>, Vec<_>) =
        image.code().into_iter().map(|(r, name)| (Span { start: r.start, end: r.end }, name)).unzip();
    let mut run = Run {
        sim,
        family,
        image,
        memories: &asked.memories,
        settings: &asked.settings,
        others: vec![None; asked.settings.len()],
        more,
        profile: Some(Profile::new(spans)),
        deadline: Instant::now() + Duration::from_secs_f64(asked.seconds.clamp(0.0, 1e6)),
        budget: asked.cycles,
        sent: 0,
        vain: 0,
        waiting: None,
        met: None,
        idle: 0,
        pulses: Vec::new(),
        pulsed: 0,
        calls: Vec::new(),
        counted: 0,
        round: BTreeSet::new(),
        left: 0,
        doubtful: 0,
        jumps: Vec::new(),
        saves: Vec::new(),
        landings: Vec::new(),
        unfinished: false,
        failed: None,
    };
    let mut seen = (None, Vec::new());
    let end = match (&asked.call, entry) {
        (Some((_, arguments)), Some(entry)) => run.call(chip, entry, arguments, &mut seen)?,
        (None, Some(trigger)) => {
            run.start(chip);
            run.watch(trigger)
        }
        (_, None) => {
            run.start(chip);
            run.profiled(|run| run.until(&[])).unwrap_or(End::Returned)
        }
    };
    run.take_pulses();
    if asked.trigger.is_none() || run.counted == 0 {
        run.compare();
    }
    if asked.call.is_some() {
        let same = |(other, before): (&mut Option<u32>, &u32)| *other = other.filter(|now| now != before);
        run.others.iter_mut().zip(&before).for_each(same); // a model may refuse what is assumed
    }
    let memory = run.sim.memory_mut();
    let allows = |at: u32, value: u64| {
        family.enables.iter().any(|&(from, to, bits)| from <= at && at < to && value & u64::from(bits) != 0)
    };
    let enables = |(register, ones)| matches!(register, Register::At(at) if allows(at, ones));
    let enabled = memory.unmodelled.as_ref().is_some_and(|u| u.ones().any(enables));
    let used = memory.unmodelled.take().map(|u| u.seen).unwrap_or_default();
    let nodes = run.profile.as_ref().map_or(&[][..], Profile::nodes);
    Ok(Seen {
        end,
        pc: run.failed.map_or_else(|| run.sim.place().0, |f| f.pc),
        cycles: run.failed.map_or_else(|| run.sim.cycles(), |f| f.cycle),
        functions: nodes.iter().map(|n| (names[n.function].clone(), n.parent, n.calls, n.cycles)).collect(),
        calls: run.calls,
        counted: run.counted,
        left: run.left,
        doubtful: run.doubtful,
        unfinished: run.unfinished,
        pulses: run.pulses,
        pulsed: run.pulsed,
        result: seen.0,
        buffers: seen.1,
        unmodelled: used.into_iter().map(|(at, a)| (at, a.reads, a.writes, a.first, a.last)).collect(),
        unaligned: run.sim.memory().unaligned,
        interrupts: enabled || run.sim.allowed_interrupts(),
        settings: run.others,
        left_out,
        round: run.round,
        timing: run.sim.timing_id(),
        output: std::mem::take(&mut run.sim.memory_mut().host.from_chip),
    })
}
