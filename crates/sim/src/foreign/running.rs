//! A run: from reset or of one function, to its end, which may be a limit or a state that nothing leads out of.

use std::collections::BTreeSet;
use std::time::Instant;

use isa::{Invocation, Profile};
use mcu::{Chip, FaultKind, Image, Register, Stop};

use super::jumping::Out;
use super::placing::nowhere;
use super::turning::{PATIENCE, State, Turns};
use super::{Argument, End, MOST_CALLS, Measured, Setting};
use crate::Simulator;
use crate::family::{Family, among};

/// Cycles between two looks at whether the program only turns round.
const SLICE: u64 = 4_000_000;
/// Cycles between two looks at the clock: with a profile, a block of one cycle may take a microsecond.
const LOOK: u64 = 1 << 16;
/// Most bytes of output.
const MOST_OUTPUT: usize = 1 << 20;

/// A run in progress.
pub(super) struct Run<'a> {
    pub(super) sim: Box<dyn Simulator>,
    pub(super) family: &'static Family,
    pub(super) image: &'a Image,
    pub(super) memories: &'a [(String, u32, u32)],
    pub(super) settings: &'a [Setting],
    pub(super) others: Vec<Option<u32>>,
    pub(super) more: &'a mut dyn FnMut() -> bool,
    pub(super) profile: Option<Profile>,
    pub(super) deadline: Instant,
    pub(super) budget: u64,
    pub(super) sent: usize,
    pub(super) vain: u32,
    pub(super) waiting: Option<State>,
    pub(super) idle: u32,
    pub(super) met: Option<(State, usize)>,
    pub(super) pulses: Vec<Measured>,
    pub(super) pulsed: u64,
    pub(super) calls: Vec<Measured>,
    pub(super) counted: u64,
    pub(super) round: BTreeSet<Register>,
    pub(super) left: u64,
    pub(super) doubtful: u64,
    pub(super) jumps: Vec<u32>,
    pub(super) saves: Vec<u32>,
    pub(super) landings: Vec<u32>,
    pub(super) unfinished: bool,
    pub(super) failed: Option<mcu::Fault>,
}

impl Run<'_> {
    /// Begins where the image says, on cores that do not begin at an address of their own (vectors), and on Arm where it does
    /// not lie there.
    pub(super) fn start(&mut self, chip: &Chip<'_>) {
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
    pub(super) fn call(
        &mut self,
        chip: &Chip<'_>,
        entry: u32,
        arguments: &[Argument],
        seen: &mut (Option<u64>, Vec<Vec<u8>>),
    ) -> Result<End, String> {
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
        let memory = self.sim.memory_mut();
        (memory.sp_limit, memory.sp_top) = (low, sp);
        let end = self.profiled(|run| run.measured(None, back, sp, &mut None).err());
        seen.0 = end.is_none().then(|| self.sim.result());
        if end.is_none() {
            seen.1 = places.into_iter().map(|p| self.sim.memory().ram[p].to_vec()).collect();
        }
        Ok(end.unwrap_or(End::Returned))
    }

    /// Whether a program ends, and by no fault but a breakpoint.
    fn well(&self, end: Option<&End>) -> bool {
        let trapped = self.failed.is_some_and(|f| f.kind == FaultKind::Trap);
        end.is_some_and(|end| trapped || !matches!(end, End::Fault(..)))
    }

    /// Whether the stack pointer is in RAM, or right above.
    fn stack(&self, sp: u32) -> bool {
        let memory = self.sim.memory();
        memory.ram_base < sp && sp - memory.ram_base <= memory.ram.len() as u32
    }

    /// Measures every call of the function at `entry`, until the program ends.
    pub(super) fn watch(&mut self, entry: u32) -> End {
        self.look_for_jumps(entry);
        loop {
            let end = if self.sim.place().0 == entry { None } else { self.until_noting(entry) };
            if let Some(end) = end {
                return end;
            }
            let (back, sp) = (self.sim.returns_to(), self.sim.place().1);
            let (before, left) = (self.profile.clone(), self.left);
            let mut out = None;
            let end = self.profiled(|run| run.measured(Some(entry), back, sp, &mut out).err());
            self.doubtful += u64::from(out.is_some());
            // the program ends in a frame of a caller: well, for a crash may take any address from the stack, and after a
            // call, which what makes the stack is none of
            let gone = self.well(end.as_ref()) && self.stack(sp) && self.sim.place().1 > sp;
            self.left += u64::from(gone);
            if self.left > left {
                self.profile = before; // that it was left is noticed late
                self.left -= u64::from(out.is_some()); // if it was
            }
            self.unfinished = end.is_some() && !gone;
            if let Some(end) = end.or_else(|| self.limit()) {
                return end;
            }
        }
    }

    /// Runs to `back`, where the stack pointer is at least `sp`, and notes what passed; how it ended where it does not
    /// come there. A program that is in the caller before its call again, or calls the function at `entry` from
    /// elsewhere, with no more on the stack than at first, has left the call by another way. So has one that longjmp
    /// leads there before setjmp is called: afterwards it may come back, as coroutines do, or jump inside of the call.
    /// Nothing decides then whether it was left: that longjmp led `out` of its stack is noted.
    fn measured(&mut self, entry: Option<u32>, back: u32, sp: u32, out: &mut Option<Out>) -> Result<(), End> {
        let began = self.sim.cycles();
        self.sim.memory_mut().sp_min = sp;
        let mut places = vec![back];
        if let Some(entry) = entry {
            places.push(entry);
            // where the call begins; what else ends there may be the return of what is called
            let calls = [2, 3, 4].map(|size| back.wrapping_sub(size));
            places.extend(calls.iter().filter(|&&at| self.sim.after_call(at) == Some(back)));
        }
        let fixed = places.len();
        places.extend(self.jumps.iter().chain(&self.saves));
        let mut saved = false;
        loop {
            let end = if saved { self.until_out(&places, back, sp, out) } else { self.until(&places) };
            if let Some(end) = end {
                return Err(end);
            }
            let (mut pc, mut now) = self.sim.place();
            if self.saves.contains(&pc) {
                self.note_landing();
                places.truncate(fixed);
                saved = true;
                continue;
            }
            let (jumps, from) = (!saved && self.jumps.contains(&pc), now);
            let landed = jumps && self.jumped(&places[..fixed])?;
            if jumps {
                (pc, now) = self.sim.place();
                if self.saves.contains(&pc) {
                    places.truncate(fixed);
                    saved = true;
                }
            }
            if now >= sp && pc == back {
                break;
            }
            let elsewhere = if jumps {
                landed
            } else {
                // a function may begin with a loop, which is no call
                Some(pc) != entry || self.sim.returns_to() != back && !self.sim.turned()
            };
            // below what it came from is another stack, where a call that kept no way back is left as well
            if elsewhere && (now >= sp || jumps && now < from) {
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
        let lowest = out.filter(|out| out.away).map_or(self.sim.memory().sp_min, |out| out.deepest);
        let stack = sp.saturating_sub(lowest);
        self.counted += 1;
        if self.calls.len() < MOST_CALLS {
            self.calls.push(Measured { began, cycles: self.sim.cycles() - began, stack });
        }
        Ok(())
    }

    /// Notes the first value of each setting that is not as assumed.
    pub(super) fn compare(&mut self) {
        let memory = self.sim.memory_mut();
        for (s, other) in self.settings.iter().zip(&mut self.others).filter(|(_, other)| other.is_none()) {
            *other = Some(s.bits(memory)).filter(|&bits| bits != s.assumed);
        }
    }

    /// Runs `part` with the profile.
    pub(super) fn profiled(&mut self, part: impl FnOnce(&mut Self) -> Option<End>) -> Option<End> {
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
    pub(super) fn until(&mut self, places: &[u32]) -> Option<End> {
        let mut turn = self.slice();
        self.until_met(places, places, &mut turn)
    }

    /// When it is looked again whether the program turns round.
    pub(super) fn slice(&self) -> u64 {
        self.sim.cycles().saturating_add(SLICE).min(self.budget)
    }

    /// As [`Run::until`], with a look at `turn` whether the program turns round and meets none of `ends`, which are of
    /// `places`. At the others it is looked whether it was there with all as it is.
    pub(super) fn until_met(&mut self, places: &[u32], ends: &[u32], turn: &mut u64) -> Option<End> {
        loop {
            let now = self.sim.cycles();
            if now >= self.budget {
                return Some(End::Cycles);
            }
            let left = turn.saturating_sub(now); // none where what is no end was met just then
            let (stop, met) = if left > 0 { self.sim.run_until(LOOK.min(left), places) } else { (Stop::Budget, false) };
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
                    *turn = self.slice();
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
            if stop == Stop::Budget && self.sim.cycles() < *turn {
                continue;
            }
            match self.turns(places) {
                Turns::Round => return Some(End::Loops),
                Turns::Met if ends.contains(&self.sim.place().0) => return None,
                Turns::Met => match self.recurs() {
                    Turns::Round => return Some(End::Loops),
                    Turns::Met => return None,
                    Turns::Not => {
                        *turn = self.slice();
                        return None;
                    }
                },
                Turns::Not => {
                    (self.met, *turn) = (None, self.slice());
                }
            }
        }
    }

    /// Whether it is at a limit that is not one of cycles.
    pub(super) fn limit(&mut self) -> Option<End> {
        self.take_pulses();
        if self.sim.memory().host.from_chip.len() > MOST_OUTPUT {
            return Some(End::Output);
        }
        let over = Instant::now() >= self.deadline || !(self.more)();
        over.then_some(End::Time)
    }

    pub(super) fn take_pulses(&mut self) {
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

    pub(super) fn fault(&self, f: mcu::Fault) -> End {
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
