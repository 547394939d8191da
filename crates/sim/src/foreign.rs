//! Runs images that are not ours: programs without a harness, from reset or from one of their functions.
//!
//! Registers without a model keep what is written to them and are 0 before; who uses them is told, because a program
//! that waits for one waits for ever. Nothing here trusts the image: what it can do is bounded by cycles, time, output
//! and what is kept of it.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use isa::{Invocation, Profile, Span};
use mcu::{Chip, FaultKind, Image, Memory, Register, Segment, Stop, Unmodelled};

use crate::family::{FAMILIES, Family, among, family};
use crate::{Simulator, simulator};

/// Cycles between two looks at the clock, and at whether the program only turns round.
const SLICE: u64 = 4_000_000;
/// Blocks within which a program that turns round comes back to where it was.
const ROUND: usize = 64;
/// How often a program may look in vain for a byte before it is said to wait for one.
const PATIENCE: u32 = 1000;
/// Bytes of a segment in no memory of the chip that are left out, as settings are that only a programmer writes; more
/// would be a program for another chip.
const MOST_APART: usize = 4096;
/// Most bytes before flash that hold the headers of an ELF file: a page of the linkers that have the largest.
const MOST_HEADERS: usize = 1 << 16;
/// Most bytes of output, and most measured calls that are kept.
const MOST_OUTPUT: usize = 1 << 20;
/// See there.
const MOST_CALLS: usize = 100_000;

/// avr-gcc's addresses of RAM, and of what is not in flash besides: EEPROM, fuses, lock bits, signature.
const AVR_RAM: u32 = 0x80_0000;
/// See there.
const AVR_REST: std::ops::Range<u32> = 0x81_0000..0x90_0000;

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
}

impl Setting {
    fn bytes(&self) -> u8 {
        if self.mask > 0xFF { 4 } else { 1 }
    }

    fn bits(&self, memory: &mut Memory) -> u32 {
        memory.register_at(self.address, self.bytes()) & self.mask
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
    /// Calls of the function that was asked for, and all of them, which may be more.
    pub calls: Vec<Measured>,
    /// See there.
    pub counted: u64,
    /// How many calls the program left by a jump past their caller (longjmp).
    pub left: u64,
    /// Pulses of the trigger's pin, and how many there were of all, which may be more.
    pub pulses: Vec<Measured>,
    /// See there.
    pub pulsed: u64,
    /// What the called function returned: the lowest 8 bytes of its registers.
    pub result: Option<u64>,
    /// What pointers pointed to when the function had returned.
    pub buffers: Vec<Vec<u8>>,
    /// What the serial port sent.
    pub output: Vec<u8>,
    /// Cycles by function: name, caller's index, calls, cycles in itself.
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
    sim.load(&Image { segments: flash, symbols: image.symbols.clone(), ..Image::default() })?;
    let memory = sim.memory_mut();
    memory.look_after(None);
    memory.limit_pointer = None;
    let own = [chip.flash, chip.ram].map(|m| m.base..m.base + m.size);
    let within = family.peripherals.iter().map(|&(from, to)| from..to);
    memory.unmodelled = Some(Unmodelled::new(within.collect(), if family.avr { Vec::new() } else { own.into() }));
    memory.host.to_chip.extend(&asked.input);
    for s in &asked.settings {
        s.reset.into_iter().for_each(|value| memory.reset_register_at(s.address, s.bytes(), value));
    }
    let at_reset: Vec<_> = asked.settings.iter().map(|s| s.bits(memory)).collect();
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
        idle: 0,
        pulses: Vec::new(),
        pulsed: 0,
        calls: Vec::new(),
        counted: 0,
        round: BTreeSet::new(),
        left: 0,
        failed: None,
    };
    let mut seen = (None, Vec::new());
    let end = match (&asked.call, asked.trigger) {
        (Some((entry, arguments)), _) => run.call(chip, *entry, arguments, &mut seen)?,
        (None, Some(trigger)) => {
            run.start(chip);
            run.watch(trigger)
        }
        (None, None) => {
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
        run.others.iter_mut().zip(&at_reset).for_each(same);
    }
    let memory = run.sim.memory_mut();
    let kept = memory.unmodelled.as_ref().map(Unmodelled::kept).unwrap_or_default();
    let used = memory.unmodelled.take().map(|u| u.seen).unwrap_or_default();
    let allows = |at: u32, value: u64| {
        family.enables.iter().any(|&(from, to, bits)| from <= at && at < to && value & u64::from(bits) != 0)
    };
    let enabled = kept.iter().any(|&(register, value)| matches!(register, Register::At(at) if allows(at, value)));
    let nodes = run.profile.as_ref().map_or(&[][..], Profile::nodes);
    Ok(Seen {
        end,
        pc: run.failed.map_or_else(|| run.sim.place().0, |f| f.pc),
        cycles: run.failed.map_or_else(|| run.sim.cycles(), |f| f.cycle),
        functions: nodes.iter().map(|n| (names[n.function].clone(), n.parent, n.calls, n.cycles)).collect(),
        calls: run.calls,
        counted: run.counted,
        left: run.left,
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

/// Bytes for RAM: address, content, and whether a loader puts them there rather than start-up code.
type ForRam = (u32, Vec<u8>, bool);

/// The image's segments by where they belong: in flash; in RAM when the program runs; nowhere.
#[allow(clippy::type_complexity)]
fn placed(
    chip: &Chip<'_>,
    family: &Family,
    image: &Image,
    memories: &[(String, u32, u32)],
) -> Result<(Vec<Segment>, Vec<ForRam>, Vec<(u32, usize)>), String> {
    let avr = family.avr;
    let data = |at: u32| if avr && (AVR_RAM..AVR_REST.start).contains(&at) { at - AVR_RAM } else { at };
    let inside = |r: mcu::Region, at: u32, size: usize| {
        at.checked_sub(r.base).is_some_and(|from| from as usize + size <= r.size as usize)
    };
    let (mut flash, mut ram, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    let mut apart = None;
    for s in &image.segments {
        let mut s = s.clone();
        // linkers put the file's headers before the code, where the chip may have nothing
        if s.bytes.starts_with(b"\x7fELF") && s.address < chip.flash.base {
            let headers = (chip.flash.base - s.address) as usize;
            if headers < s.bytes.len() && headers <= MOST_HEADERS {
                rest.push((s.address, headers));
                s.bytes.drain(..headers);
                s.address += headers as u32;
                s.runs_at = s.runs_at.wrapping_add(headers as u32);
            }
        }
        let (address, size) = (s.address, s.bytes.len());
        let in_ram = |at: u32| !avr || at >= AVR_RAM; // code and data have the same addresses on AVR
        if inside(chip.flash, address, size) {
            let to = data(s.runs_at);
            if s.runs_at != address && in_ram(s.runs_at) && inside(chip.ram, to, size) {
                ram.push((to, s.bytes.clone(), false));
            }
            flash.push(s);
        } else if in_ram(address) && inside(chip.ram, data(address), size) {
            ram.push((data(address), s.bytes.clone(), true));
        } else if avr && AVR_REST.contains(&address) {
            rest.push((address, size));
        } else {
            let (f, r) = (chip.flash, chip.ram);
            let spans = [f, r].map(|m| format!("{:#x} to {:#x}", m.base, u64::from(m.base) + u64::from(m.size) - 1));
            let [f, r] = &spans;
            let text = match memories.iter().find(|m| address.wrapping_sub(m.1) < m.2) {
                Some((name, ..)) => format!(
                    "{size} bytes at {address:#x} are in {name}, which has no model; link the image for code at {f} and \
                     data at {r}"
                ),
                None => format!(
                    "{size} bytes at {address:#x} are in neither of the chip's memories, flash ({f}) nor RAM ({r})"
                ),
            };
            if size > MOST_APART {
                return Err(text);
            }
            apart.get_or_insert(text);
            rest.push((address, size));
        }
    }
    if flash.is_empty() {
        let text = "the image has nothing in the chip's memory for code; code in RAM is not modelled";
        return Err(apart.unwrap_or_else(|| text.into()));
    }
    flash.sort_by_key(|s| s.address);
    if let Some(twice) = flash.windows(2).find(|s| s[1].address - s[0].address < s[0].bytes.len() as u32) {
        return Err(format!("two segments have the bytes at {:#x}", twice[1].address));
    }
    Ok((flash, ram, rest))
}

/// The highest address in flash that no segment of the image has: what returns there has come from nowhere else.
fn nowhere(flash: mcu::Region, image: &Image) -> Option<u32> {
    let free = |at: &u32| image.segments.iter().all(|s| at.wrapping_sub(s.address) as usize >= s.bytes.len());
    (flash.base..flash.base + flash.size).step_by(4).rev().take(1 << 20).find(free)
}

/// A run in progress.
struct Run<'a> {
    sim: Box<dyn Simulator>,
    family: &'static Family,
    image: &'a Image,
    memories: &'a [(String, u32, u32)],
    settings: &'a [Setting],
    others: Vec<Option<u32>>,
    more: &'a mut dyn FnMut() -> bool,
    profile: Option<Profile>,
    deadline: Instant,
    budget: u64,
    sent: usize,
    vain: u32,
    waiting: Option<State>,
    idle: u32,
    pulses: Vec<Measured>,
    pulsed: u64,
    calls: Vec<Measured>,
    counted: u64,
    round: BTreeSet<Register>,
    left: u64,
    failed: Option<mcu::Fault>,
}

impl Run<'_> {
    /// Begins where the image says, on cores that do not begin at an address of their own (vectors), and on Arm where it does
    /// not lie there.
    fn start(&mut self, chip: &Chip<'_>) {
        let flash = chip.flash;
        if !self.family.vectors {
            let entry = self.image.entry.filter(|e| e.wrapping_sub(flash.base) < flash.size);
            self.sim.continue_at(entry.unwrap_or(flash.base));
        }
        // behind a boot loader, which goes on by the vectors with which the image begins
        let begins =
            self.image.segments.iter().map(|s| s.address).filter(|a| a.wrapping_sub(flash.base) < flash.size).min();
        if let (true, Some(at)) = (self.family.name == "Arm", begins.filter(|&at| at > flash.base)) {
            let word = |n: usize| {
                let from = (at - flash.base) as usize + n;
                self.sim.memory().flash.get(from..from + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            };
            if let (Some(sp), Some(pc)) = (word(0), word(4)) {
                self.set("sp", sp & !3);
                self.set("pc", pc & !1);
            }
        }
    }

    /// Sets a register of the core, where it has one that is called so.
    fn set(&mut self, name: &str, value: u32) {
        let mut all = self.sim.registers();
        all.iter_mut().filter(|r| r.0 == name).for_each(|r| r.1 = value);
        self.sim.set_registers(&all.iter().map(|r| r.1).collect::<Vec<_>>());
    }

    /// Calls the function at `entry` and returns what it returned and left.
    fn call(
        &mut self,
        chip: &Chip<'_>,
        entry: u32,
        arguments: &[Argument],
        seen: &mut (Option<u64>, Vec<Vec<u8>>),
    ) -> Result<End, String> {
        if entry.wrapping_sub(chip.flash.base) >= chip.flash.size {
            return Err(format!("there is no code at {entry:#x}"));
        }
        let sizes =
            arguments.iter().map(|a| if let Argument::Pointer(b) = a { b.len().next_multiple_of(16) } else { 0 });
        let data_end = if self.family.avr { self.image.data_end & 0xFFFF } else { self.image.data_end };
        let top = chip.ram.base + chip.ram.size;
        let low = data_end.clamp(chip.ram.base, top);
        let buffers = u32::try_from(sizes.sum::<usize>()).ok().and_then(|all| (top & !15).checked_sub(all));
        let stack = buffers.filter(|&stack| stack >= low.saturating_add(64));
        let stack = stack.ok_or("what pointers point to leaves no room for a stack in RAM")?;
        let mut at = stack;
        let (mut values, mut places) = (Vec::new(), Vec::new());
        for argument in arguments {
            match argument {
                Argument::Number(value, bytes) => values.push((*value, (*bytes).clamp(1, 8))),
                Argument::Pointer(bytes) => {
                    let from = (at - chip.ram.base) as usize;
                    self.sim.memory_mut().ram[from..from + bytes.len()].copy_from_slice(bytes);
                    values.push((at.into(), self.family.pointer));
                    places.push(from..from + bytes.len());
                    at += bytes.len().next_multiple_of(16) as u32;
                }
            }
        }
        let vectors = ["sy_vectors", "_vector_table", "_WindowOverflow4"];
        if let Some(vectors) = vectors.iter().find_map(|name| self.image.address(name)) {
            self.sim.vectors_at(vectors);
        }
        let back = nowhere(chip.flash, self.image).ok_or("the flash is full: no address is left to return to")?;
        self.sim.invoke(&Invocation { entry, stack, back, arguments: values })?;
        if let Some(global) = self.image.address("__global_pointer$") {
            self.set("gp", global); // linkers reach data by it, and start-up code sets it
        }
        let sp = self.sim.place().1;
        self.sim.memory_mut().sp_limit = low;
        let end = self.profiled(|run| run.measured(None, back, sp).err());
        seen.0 = end.is_none().then(|| self.sim.result());
        if end.is_none() {
            seen.1 = places.into_iter().map(|p| self.sim.memory().ram[p].to_vec()).collect();
        }
        Ok(end.unwrap_or(End::Returned))
    }

    /// Measures every call of the function at `entry`, until the program ends.
    fn watch(&mut self, entry: u32) -> End {
        loop {
            let end = if self.sim.place().0 == entry { None } else { self.until(&[entry]) };
            if let Some(end) = end {
                return end;
            }
            let (back, sp) = (self.sim.returns_to(), self.sim.place().1);
            let end = self.profiled(|run| run.measured(Some(entry), back, sp).err());
            if let Some(end) = end.or_else(|| self.limit()) {
                return end;
            }
        }
    }

    /// Runs to `back`, where the stack pointer is at least `sp`, and notes what passed; how it ended where it does not
    /// come there. A program that is in the caller before its call again, or calls the function at `entry` from
    /// elsewhere, with no more on the stack than at first, has left the call by another way (longjmp).
    fn measured(&mut self, entry: Option<u32>, back: u32, sp: u32) -> Result<(), End> {
        let began = self.sim.cycles();
        self.sim.memory_mut().sp_min = sp;
        let mut places = vec![back];
        if let Some(entry) = entry {
            places.extend([entry, back.wrapping_sub(2), back.wrapping_sub(3), back.wrapping_sub(4)]);
        }
        loop {
            if let Some(end) = self.until(&places) {
                return Err(end);
            }
            let (pc, now) = self.sim.place();
            if now >= sp && pc == back {
                break;
            }
            // a function may begin with a loop, which is no call
            if now >= sp && (Some(pc) != entry || self.sim.returns_to() != back && !self.sim.turned()) {
                self.left += 1;
                return Ok(());
            }
            if let Some(end) = self.limit() {
                return Err(end);
            }
        }
        if entry.is_some() {
            self.compare();
        }
        let stack = sp.saturating_sub(self.sim.memory().sp_min);
        self.counted += 1;
        if self.calls.len() < MOST_CALLS {
            self.calls.push(Measured { began, cycles: self.sim.cycles() - began, stack });
        }
        Ok(())
    }

    /// Notes the first value of each setting that is not as assumed.
    fn compare(&mut self) {
        let memory = self.sim.memory_mut();
        for (s, other) in self.settings.iter().zip(&mut self.others).filter(|(_, other)| other.is_none()) {
            *other = Some(s.bits(memory)).filter(|&bits| bits != s.assumed);
        }
    }

    /// Runs `part` with the profile.
    fn profiled(&mut self, part: impl FnOnce(&mut Self) -> Option<End>) -> Option<End> {
        self.sim.profile_whole(true);
        let mut profile = self.profile.take();
        if let Some(p) = &mut profile {
            p.end();
        }
        self.sim.set_profile(profile);
        let end = part(self);
        self.profile = self.sim.set_profile(None);
        end
    }

    /// Runs to one of `places`; how it ended where it does not come there.
    fn until(&mut self, places: &[u32]) -> Option<End> {
        loop {
            if self.sim.cycles() >= self.budget {
                return Some(End::Cycles);
            }
            let slice = SLICE.min(self.budget - self.sim.cycles());
            let (stop, met) = self.sim.run_until(slice, places);
            if met {
                return None;
            }
            self.take_pulses();
            match stop {
                Stop::Fault(f) => {
                    self.failed = Some(f);
                    return Some(self.fault(f));
                }
                Stop::Idle => {
                    let sent = self.sim.memory().host.from_chip.len();
                    if sent != self.sent {
                        (self.sent, self.vain, self.waiting) = (sent, 0, None);
                    }
                    self.vain += 1;
                    if self.waits() {
                        return Some(End::Waits);
                    }
                    self.idle = self.idle.wrapping_add(1);
                    if self.idle % PATIENCE != 0 {
                        continue; // many of them are as nothing
                    }
                }
                Stop::Budget => {}
            }
            if let Some(end) = self.limit() {
                return Some(end);
            }
            match self.turns(places) {
                Turns::Round => return Some(End::Loops),
                Turns::Met => return None,
                Turns::Not => {}
            }
        }
    }

    /// Whether it is at a limit that is not one of cycles.
    fn limit(&mut self) -> Option<End> {
        self.take_pulses();
        if self.sim.memory().host.from_chip.len() > MOST_OUTPUT {
            return Some(End::Output);
        }
        let over = Instant::now() >= self.deadline || !(self.more)();
        over.then_some(End::Time)
    }

    /// Whether the program comes back to where it is with registers, memory and peripherals as they are, and sent nothing:
    /// without input it will do so for ever, because there are no interrupts. A counter that it read could end it.
    fn turns(&mut self, places: &[u32]) -> Turns {
        let before = self.state();
        for _ in 0..ROUND {
            let (stop, met) = self.sim.run_until(1, places);
            if met {
                return Turns::Met;
            }
            if stop != Stop::Budget {
                return Turns::Not;
            }
            if self.sim.registers() == before.registers {
                if self.state() != before {
                    return Turns::Not;
                }
                self.look_on(&before, places);
                return Turns::Round;
            }
        }
        Turns::Not
    }

    /// Goes round once more, and notes what is read on the way.
    fn look_on(&mut self, before: &State, places: &[u32]) {
        self.sim.memory_mut().reads = Some(BTreeSet::new());
        for _ in 0..ROUND {
            self.sim.run_until(1, places);
            if self.sim.registers() == before.registers {
                break;
            }
        }
        self.round = self.sim.memory_mut().reads.take().unwrap_or_default();
    }

    /// Whether the program, which looked in vain for a byte again, did so before with all this as it is: a counter
    /// would end its patience.
    fn waits(&mut self) -> bool {
        if self.vain <= PATIENCE {
            return false;
        }
        match &self.waiting {
            Some(before) if before.registers == self.sim.registers() => {
                let same = *before == self.state();
                let reads = self.sim.memory_mut().reads.take();
                if same {
                    self.round = reads.unwrap_or_default();
                    return true;
                }
                (self.waiting, self.vain) = (None, 0);
            }
            Some(_) if self.vain > PATIENCE + ROUND as u32 => (self.waiting, self.vain) = (None, 0),
            Some(_) => {}
            None => {
                self.waiting = Some(self.state());
                self.sim.memory_mut().reads = Some(BTreeSet::new());
            }
        }
        false
    }

    fn state(&self) -> State {
        let memory = self.sim.memory();
        let kept = memory.unmodelled.as_ref().map(Unmodelled::kept).unwrap_or_default();
        State {
            registers: self.sim.registers(),
            hidden: self.sim.hidden(),
            ram: memory.ram.to_vec(),
            peripherals: memory.peripherals(),
            kept,
            sent: memory.host.from_chip.len(),
            clocked: memory.host.clocked,
        }
    }

    fn take_pulses(&mut self) {
        let calls = std::mem::take(&mut self.sim.memory_mut().calls);
        let room = MOST_CALLS - self.pulses.len();
        self.pulsed += calls.len() as u64;
        self.pulses.extend(calls.iter().take(room).map(|c| Measured {
            began: c.rise,
            cycles: c.fall - c.rise,
            stack: c.sp.saturating_sub(c.sp_min),
        }));
        self.sim.memory_mut().watch.strays.clear();
    }

    fn fault(&self, f: mcu::Fault) -> End {
        if matches!(f.kind, FaultKind::Unsupported { word } if among(word, self.family.sleeps)) {
            return End::Sleeps;
        }
        let place = |pc: u32| {
            let within = self.image.function(pc).map_or(String::new(), |name| format!(" in {name}"));
            format!("{within}: {}", self.sim.disassemble(pc).0)
        };
        let ram = {
            let m = self.sim.memory();
            f.pc.wrapping_sub(m.ram_base) < m.ram.len() as u32
        };
        let text = match (f.kind, self.sim.left_flash()) {
            (FaultKind::BadFetch, from) => {
                let ram = if ram { "; code in RAM is not modelled" } else { "" };
                format!("{f}{}{ram}", from.map_or(String::new(), |from| format!(", from {from:#x}{}", place(from))))
            }
            (FaultKind::OutOfRange { address, .. }, _) => {
                let there = self.memories.iter().find(|m| address.wrapping_sub(m.1) < m.2);
                let which = if !self.family.avr && self.sim.memory().is_fetched(address) {
                    "; that is the memory for code, whose bus only loads, and aligned words alone".into()
                } else {
                    there.map_or(String::new(), |m| format!("; that is {}, which has no model", m.0))
                };
                format!("{f}{}{which}", place(f.pc))
            }
            (FaultKind::BadOpcode { word } | FaultKind::Unsupported { word }, _) => {
                let what = self.family.lacks.iter().find(|(some, _)| among(word, some));
                format!("{f}{}{}", place(f.pc), what.map_or("", |w| w.1))
            }
            _ => format!("{f}{}", place(f.pc)),
        };
        End::Fault(f.kind.name(), text)
    }
}

/// What the next instructions depend on, how much was sent, and how often a counter was read that goes on.
#[derive(PartialEq)]
struct State {
    registers: Vec<(&'static str, u32)>,
    hidden: Vec<u32>,
    ram: Vec<u8>,
    peripherals: String,
    kept: Vec<(Register, u64)>,
    sent: usize,
    clocked: u64,
}

/// Whether a program only turns round.
enum Turns {
    Round,
    Met,
    Not,
}
