//! The run loop: decode once, run blocks, add up cycles.

mod calls;
mod places;

use std::collections::HashMap;

use mcu::{Fault, FaultKind, Image, Site, Stop};

use crate::block::{Block, Core, Timing};
use crate::cause::{Cause, Shares, Work, add};
use crate::native::Translator;
use crate::pieces::{Pieces, part};
use crate::profile::Profile;

/// Most instructions of decoded blocks: a jump to each address in turn makes a block for each. With more, all are forgotten.
/// It is more than any program needs that goes from its first instruction to its last.
const MOST_DECODED: usize = 1 << 23;
/// Most parts of runs that are kept: an image may say that a function begins at each instruction.
const MOST_PARTS: usize = 1 << 16;
const PIECE: usize = 16; // one that is a piece takes the memory of so many

/// No instruction of any core has more bytes: the MSP430's have six.
const MAX_BYTES: usize = 6;

/// Runs after which a block is worth translating: translation takes about as long as these runs.
const HOT: u32 = 5000;

/// A block that ran so often, and more than once in each measured call, will get there: waiting would cost more.
const EARLY: u32 = 600;

/// A core, its timing model and its decoded code.
pub struct Machine<C: Core, T: Timing<C>> {
    /// Architectural state.
    pub core: C,
    timing: T,
    blocks: Vec<Option<Box<Block<C>>>>,
    /// Instructions that were decoded since all blocks were forgotten.
    decoded: usize,
    /// Cycles since reset.
    pub cycles: u64,
    /// Most instructions in one block: 1 when single-stepping.
    max_run: usize,
    /// Cycles by function between the trigger's edges, while a profile is taken.
    pub profile: Option<Profile>,
    /// Whether the profile is of all cycles.
    pub whole: bool,
    /// Where the run ends for whoever looks on, whether it did there, and whether it has just been left.
    places: Vec<u32>,
    met: bool,
    resumed: bool,
    /// Parts of runs that such places or beginnings of a profile's functions are in, by the run's beginning and their own
    /// beginning and end; and the run that goes on at an address, if it does.
    parts: HashMap<(u32, u32, u32), Box<Block<C>>>,
    open: Option<(u32, u32)>,
    /// The last instruction of the block before, while a profile is taken.
    from: u32,
    /// Cycles between the trigger's edges by cause, while they are asked for, and runs taken to pieces for this.
    shares: Option<Shares>,
    pieces: HashMap<u32, Pieces<C>>,
    translator: Option<Box<dyn Translator<C, T>>>,
    hot: u32,
    /// The block that the interpreter ran last; none when native code has run since.
    last: usize,
    left_flash: Option<u32>,
    /// What the function of the call in progress has to keep, and the address that it has to return to.
    before: Vec<(&'static str, u64)>,
    back: u32,
    /// What the timing model had when calls began that it is to forget.
    kept: Option<(Vec<u8>, Option<u32>)>,
}

impl<C: Core, T: Timing<C>> Machine<C, T> {
    /// A machine in reset.
    pub fn new(core: C, timing: T) -> Self {
        let mut m = Self {
            core,
            timing,
            blocks: Vec::new(),
            decoded: 0,
            cycles: 0,
            max_run: T::MAX_RUN,
            profile: None,
            whole: false,
            places: Vec::new(),
            met: false,
            resumed: false,
            parts: HashMap::new(),
            open: None,
            from: 0,
            shares: None,
            pieces: HashMap::new(),
            translator: None,
            hot: HOT,
            last: usize::MAX,
            left_flash: None,
            before: Vec::new(),
            back: 0,
            kept: None,
        };
        m.reset();
        m
    }

    /// From now on, runs blocks that ran `hot` times (or a default number) as native code. Only the speed depends on
    /// it.
    #[must_use]
    pub fn with_translator(mut self, translator: Box<dyn Translator<C, T>>, hot: Option<u32>) -> Self {
        self.forget();
        self.translator = Some(translator);
        self.hot = hot.unwrap_or(HOT).max(1);
        self
    }

    /// Forgets all decoded and translated code.
    fn forget(&mut self) {
        self.blocks.fill_with(|| None);
        self.decoded = 0;
        self.timing.forget();
        self.pieces.clear();
        (self.parts, self.open) = (HashMap::new(), None);
        if let Some(translator) = &mut self.translator {
            translator.clear();
        }
    }

    /// Loads an image into flash and resets.
    ///
    /// # Errors
    /// A sentence when the image does not fit.
    pub fn load(&mut self, image: &Image) -> Result<(), String> {
        self.core.memory_mut().program(image)?;
        self.core.loaded();
        self.forget();
        self.reset();
        Ok(())
    }

    /// Resets the machine; RAM keeps its content.
    pub fn reset(&mut self) {
        self.cycles = 0;
        self.timing.reset();
        (self.last, self.left_flash, self.kept, self.open) = (usize::MAX, None, None, None);
        self.before.clear();
        self.core.memory_mut().stop = None;
        self.core.memory_mut().forget_call();
        let places = self.core.memory().flash.len() / C::CODE_ALIGN as usize;
        self.blocks.resize_with(places, || None);
        self.core.reset();
    }

    /// From now on the timing model will forget what runs, or forgets it: later calls take as long as without it.
    pub fn set_aside(&mut self, on: bool) {
        if on {
            self.kept = Some((self.timing.history().to_vec(), self.timing.last_end().copied()));
        } else if let Some((history, last_end)) = self.kept.take() {
            self.timing.history().copy_from_slice(&history); // in place: native code has its address
            if let (Some(to), Some(end)) = (self.timing.last_end(), last_end) {
                *to = end;
            }
        }
    }

    /// Identity of the timing model.
    pub fn timing_id(&self) -> &'static str {
        self.timing.id()
    }

    /// Runs at most `budget` cycles (one block may exceed it).
    pub fn run(&mut self, budget: u64) -> Stop {
        if let Some(stop @ Stop::Fault(_)) = self.core.memory().stop {
            return stop; // a crashed program stays crashed until reset
        }
        self.core.memory_mut().stop = None;
        let deadline = self.cycles.saturating_add(budget);
        self.look_up_at(deadline);
        if self.shares.is_some() {
            self.run_pieces(deadline)
        } else if self.profile.is_some() || !self.places.is_empty() {
            self.run_blocks::<true>(deadline)
        } else {
            self.open = None;
            self.run_blocks::<false>(deadline)
        }
    }

    /// Starts to sum up cycles by cause, or stops and returns them.
    pub fn set_shares(&mut self, on: bool) -> Option<Shares> {
        std::mem::replace(&mut self.shares, on.then(Shares::new))
    }

    /// The run loop: runs until `deadline`, and returns to its caller after each block while a call's beginning or end is
    /// watched.
    fn look_up_at(&mut self, deadline: u64) {
        let m = self.core.memory_mut();
        m.deadline = if m.watch.leaving() || m.watch.begins || m.watch.entering { 0 } else { deadline };
    }

    fn run_blocks<const PROFILED: bool>(&mut self, deadline: u64) -> Stop {
        loop {
            let before = (self.cycles, if PROFILED { self.core.stack_pointer() } else { 0 });
            let finished = if PROFILED { self.core.memory().calls.len() } else { 0 };
            let pc = self.core.pc();
            let back = if PROFILED { self.profile.as_mut().and_then(|p| p.entered(pc)) } else { None };
            let called = back.is_some_and(|back| self.core.called_by(self.from, back));
            if PROFILED && !std::mem::take(&mut self.resumed) && self.places.contains(&pc) {
                self.met = true;
                return Stop::Budget;
            }
            if !self.before.is_empty() && self.came_back(pc) {
                return self.core.memory().stop.unwrap_or(Stop::Budget);
            }
            let open = if PROFILED { self.open.take().filter(|o| o.1 == pc).map(|o| o.0) } else { None };
            let start = open.unwrap_or(pc);
            let slot = (start.wrapping_sub(self.core.memory().flash_base) / C::CODE_ALIGN) as usize;
            let block = match self.blocks.get_mut(slot) {
                Some(Some(b)) => b,
                Some(None) => {
                    let run = self.core.decode(start, self.max_run);
                    if self.decoded > MOST_DECODED {
                        self.forget();
                    }
                    self.decoded += run.insns.len();
                    let hot = if self.translator.is_some() { self.hot.min(EARLY) } else { 0 };
                    let m = self.core.memory();
                    let (calls, edges) = (m.finished, m.watch.in_run(start));
                    let block = Block::new(start, run, &self.timing);
                    self.blocks[slot].insert(Box::new(Block { hot, calls, edges, ..block }))
                }
                None => {
                    let m = self.core.memory_mut();
                    (m.block_start, m.stall) = (self.cycles, 0);
                    m.fault(FaultKind::BadFetch, Site { pc, cycles: 0 });
                    let stop = m.stop.unwrap_or(Stop::Budget);
                    return self.outside(stop);
                }
            };
            let whole = block.end;
            if open.is_none() {
                self.cycles += u64::from(self.timing.enter(start, whole));
            }
            let mut place = None;
            if PROFILED {
                let begins = self.profile.as_mut().and_then(|p| p.after(pc));
                place = self.places.iter().copied().chain(begins).filter(|&p| pc < p && p < whole).min();
            }
            let block = if PROFILED && (open.is_some() || place.is_some()) {
                let to = place.unwrap_or(whole);
                if self.parts.len() > MOST_PARTS {
                    self.parts.clear();
                }
                let (core, timing, max) = (&self.core, &self.timing, self.max_run);
                self.parts.entry((start, pc, to)).or_insert_with(|| Box::new(part(core, timing, start, pc..to, max)))
            } else {
                block
            };
            let end = block.end;
            let last = if PROFILED { block.last() } else { None };
            if !PROFILED && block.native {
                self.run_native(slot);
                self.last = usize::MAX;
            } else {
                let m = self.core.memory_mut();
                (m.block_start, m.stall) = (self.cycles, 0);
                self.last = slot;
                let first = block.insns.as_ptr();
                // SAFETY: `first` is the first instruction of a block, whose last one does not continue.
                unsafe { ((*first).exec)(&mut self.core, first) };
                let m = self.core.memory();
                self.cycles = (self.cycles + u64::from(block.cycles)).wrapping_add_signed(m.stall);
                block.runs = block.runs.wrapping_add(1);
                if !PROFILED && block.runs == block.hot && !block.edges {
                    let (runs, calls) = (u64::from(block.runs), m.finished - block.calls);
                    if block.runs < self.hot && 2 * runs < 3 * calls {
                        block.hot = self.hot.min(2 * block.runs);
                    } else {
                        self.translate(slot);
                    }
                }
            }
            if PROFILED {
                self.from = last.unwrap_or(pc);
                let next = self.core.pc();
                self.open = (end <= next && next < whole).then_some((start, next));
                if let Some(profile) = &mut self.profile {
                    // of the blocks with the edges, only the cycles between them count
                    let m = self.core.memory();
                    if self.whole {
                        // the rest of a block was not done after a fault
                        let to = if let Some(Stop::Fault(f)) = m.stop { f.cycle } else { self.cycles };
                        profile.block(pc, end, before.1, called, to.saturating_sub(before.0));
                    } else if let Some(rise) = m.rose() {
                        profile.block(pc, end, before.1, called, self.cycles - before.0.max(rise));
                    } else {
                        if let Some(call) = m.calls.get(finished..).and_then(<[_]>::last) {
                            profile.block(pc, end, before.1, called, call.fall - before.0.max(call.rise));
                        }
                        profile.end();
                    }
                }
            }
            if self.cycles >= self.core.memory().deadline {
                let met = self.call_begins() | self.call_enters() | self.left_call();
                if (self.split_blocks() || met) && self.core.memory().stop.is_none() && self.cycles < deadline {
                    self.look_up_at(deadline);
                    continue;
                }
                let stop = self.core.memory().stop.unwrap_or(Stop::Budget);
                return self.outside(stop);
            }
        }
    }

    /// The same run one instruction at a time, each with the costs that it has in its block, so that every cycle between
    /// the trigger's edges is known by cause.
    fn run_pieces(&mut self, deadline: u64) -> Stop {
        let mut open: Option<u32> = None; // the run that the last instruction was in
        loop {
            let pc = self.core.pc();
            let inside = pc.wrapping_sub(self.core.memory().flash_base) < self.core.memory().flash.len() as u32;
            if !inside {
                let m = self.core.memory_mut();
                (m.block_start, m.stall) = (self.cycles, 0);
                m.fault(FaultKind::BadFetch, Site { pc, cycles: 0 });
                return self.core.memory().stop.unwrap_or(Stop::Budget);
            }
            if !self.before.is_empty() && self.came_back(pc) {
                return self.core.memory().stop.unwrap_or(Stop::Budget);
            }
            let before = self.cycles;
            let finished = self.core.memory().calls.len();
            let mut entry = (0, 0);
            let run = match open {
                Some(run) => run,
                None => {
                    if !self.pieces.contains_key(&pc) {
                        if self.decoded > MOST_DECODED {
                            self.forget();
                        }
                        let run = Pieces::of(&self.core, &self.timing, pc);
                        self.decoded += PIECE * run.of.len();
                        self.pieces.insert(pc, run);
                    }
                    entry = self.timing.enter_by_cause(pc, self.pieces[&pc].end);
                    pc
                }
            };
            let Some(piece) = self.pieces.get(&run).and_then(|r| r.of.get(&pc)) else {
                open = None; // cannot be: the run has a piece where it was said to go on
                continue;
            };
            self.cycles += u64::from(entry.0 + entry.1);
            let m = self.core.memory_mut();
            (m.block_start, m.stall) = (self.cycles, 0);
            let waits = m.waits;
            let first = piece.block.insns.as_ptr();
            // SAFETY: `first` is the first instruction of a block, whose last one does not continue.
            unsafe { ((*first).exec)(&mut self.core, first) };
            let m = self.core.memory();
            let stall = m.stall;
            let (data, unaligned) = (m.waits.data - waits.data, m.waits.unaligned - waits.unaligned);
            let next = self.core.pc();
            // a taken branch does not wait for the code after it
            let falls = if next == piece.block.end { 0 } else { piece.falls };
            let other = stall - data - unaligned + i64::from(falls); // below zero where a block skipped what it need not do
            self.cycles = (self.cycles + u64::from(piece.block.cycles)).wrapping_add_signed(stall);
            // of the instructions with the edges, only the cycles between them count
            let call = m.calls.get(finished..).and_then(<[_]>::last);
            let within = match (m.rose(), call) {
                (Some(rise), _) => self.cycles - before.max(rise),
                (None, Some(call)) => call.fall - before.max(call.rise),
                (None, None) => 0,
            };
            let whole = within == self.cycles - before;
            if let Some(shares) = self.shares.as_mut().filter(|_| within > 0) {
                let work = piece.parts.iter().map(|p| p.0).find(|w| *w != Work::Nothing).unwrap_or(Work::Nothing);
                // an exception leaves without having done its instruction; who turns round in a hardware loop has done it
                let led = next == piece.block.end || self.core.looped(piece.block.end);
                let left = !led && !piece.parts.iter().any(|p| p.0 == Work::Branch);
                if !whole || other < 0 || left {
                    add(shares, Cause::Instead, work, within);
                } else {
                    add(shares, Cause::Fetch, Work::Nothing, entry.0.into());
                    add(shares, Cause::Mispredicted, Work::Branch, entry.1.into());
                    piece.without(falls).for_each(|(work, cause, cycles)| add(shares, cause, work, cycles.into()));
                    // an instruction may wait for several reasons, and one with a condition is a piece with it
                    let access = piece.parts.iter().map(|p| p.0).find(|w| w.accesses()).unwrap_or(work);
                    add(shares, Cause::FlashData, access, data.unsigned_abs());
                    add(shares, Cause::Unaligned, access, unaligned.unsigned_abs());
                    let cause = if work == Work::Branch { Cause::Refill } else { Cause::Operands };
                    add(shares, cause, work, other.unsigned_abs());
                }
            }
            // a piece may lead on in its run; a jump back never does
            let on = self.pieces.get(&run).is_some_and(|r| next > pc && r.of.contains_key(&next));
            open = on.then_some(run);
            if self.cycles >= self.core.memory().deadline {
                let _ = self.call_begins() | self.call_enters() | self.left_call();
                if let Some(at) = self.core.split() {
                    self.pieces.retain(|_, r| !(r.start < at && at <= r.end));
                    (open, _) = (None, self.forget_before(at));
                }
                // a run that is left in its middle would have other costs when it goes on
                if self.core.memory().stop.is_some() || self.cycles >= deadline && open.is_none() {
                    return self.core.memory().stop.unwrap_or(Stop::Budget);
                }
                self.look_up_at(deadline);
            }
        }
    }

    /// Remembers the last instruction in flash when execution leaves flash.
    fn outside(&mut self, stop: Stop) -> Stop {
        if let Stop::Fault(Fault { kind: FaultKind::BadFetch, pc, .. }) = stop {
            let m = self.core.memory();
            let inside = |at: u32| ((at.wrapping_sub(m.flash_base)) as usize) < m.flash.len();
            let block = self.blocks.get(self.last).and_then(Option::as_ref).filter(|_| !inside(pc));
            self.left_flash = block.and_then(|b| b.insns.iter().rev().map(|i| i.site.pc).find(|&at| inside(at)));
        }
        stop
    }

    /// The instruction that led out of flash, after a [`FaultKind::BadFetch`] there; none for native code.
    pub fn left_flash(&self) -> Option<u32> {
        self.left_flash
    }

    /// Forgets blocks that go past an address where the core asks for an end; returns whether it asked.
    #[cold]
    fn split_blocks(&mut self) -> bool {
        let Some(at) = self.core.split() else { return false };
        self.forget_before(at);
        true
    }

    /// Forgets the blocks that go past the address `at`, or up to it: a loop may go back there.
    fn forget_before(&mut self, at: u32) {
        (self.parts, self.open) = (HashMap::new(), None);
        self.forget_over(at, |b| b.start < at && at <= b.end);
    }

    /// Forgets those of the blocks that begin before the address `at` and can reach it for which `which` holds, and all
    /// native code where there were some, for it may have them.
    fn forget_over(&mut self, at: u32, which: impl Fn(&Block<C>) -> bool) {
        let end = (at.wrapping_sub(self.core.memory().flash_base) / C::CODE_ALIGN) as usize;
        let end = end.min(self.blocks.len());
        let from = end.saturating_sub(T::MAX_RUN * MAX_BYTES / C::CODE_ALIGN as usize);
        let found = self.blocks[from..end].iter_mut().filter(|b| b.as_deref().is_some_and(&which));
        if found.map(|b| *b = None).count() == 0 {
            return;
        }
        if let Some(translator) = &mut self.translator {
            translator.clear();
            self.blocks.iter_mut().flatten().for_each(|b| (b.native, b.runs, b.hot) = (false, 0, self.hot));
        }
    }

    /// Runs the native code of the block at index `slot`, which has been entered, and of the blocks after it.
    #[inline(never)]
    fn run_native(&mut self, slot: usize) {
        if let Some(translator) = &self.translator {
            self.cycles = translator.run(&mut self.core, &mut self.timing, slot, self.cycles);
        }
    }

    /// Generates native code for the block at index `slot`, if possible.
    #[cold]
    fn translate(&mut self, slot: usize) {
        if self.max_run != T::MAX_RUN {
            return;
        }
        let Some(translator) = &mut self.translator else { return };
        let Some(made) = translator.translate(&self.core, &mut self.timing, &self.blocks, slot) else { return };
        for at in made {
            if let Some(block) = &mut self.blocks[at] {
                block.native |= at == slot;
                // a block in the middle gets its own code when it is entered from elsewhere as often
                block.hot = block.runs.saturating_add(self.hot);
            }
        }
    }

    /// Runs one instruction. Static costs are those of the instruction alone, so cycle counts of a
    /// stepped program can differ from those of a run where the model considers neighbours.
    pub fn step(&mut self) -> Stop {
        self.single_step(true);
        self.run(1)
    }

    /// From now on, decodes one instruction per block, or runs again.
    pub fn single_step(&mut self, on: bool) {
        let max_run = if on { 1 } else { T::MAX_RUN };
        if self.max_run != max_run {
            self.max_run = max_run;
            self.forget();
        }
    }
}
