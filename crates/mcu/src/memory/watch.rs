//! Watches the writes of measured calls: each byte must be the call's own.
//! Its own are the stack below the rising edge, the arguments above it, the output buffer, the heap, and static data
//! that is not the harness's. The addresses of arguments are learnt from empty calls, for which `sy_run` writes them
//! too. Marks of written bytes are folded into [`Watch::touched`] and cleared where the harness itself writes between
//! calls, so that a mark at the end of a call is the call's. RAM between heap and stack stays unmarked from call to
//! call. After every call all of it is searched where that takes little time; the parts where the next call could hide
//! a mark are always searched.

use std::ops::Range;

use super::{Call, Memory, Site};
use crate::harness::{Pointer, Variable};
use crate::{Area, FaultKind, Harness, Stray};

/// Bytes after the buffers and below the stack that are searched after every call.
const NEAR: u32 = 1024;
/// Cycles whose simulation takes about forty times as long as checking a byte.
const CYCLES: u64 = 16;
/// Most strays that are kept.
const MOST: usize = 64;

/// The state of the watch.
pub struct Watch {
    harness: Option<Box<Harness>>,
    /// Addresses of the harness's variables; neighbours are one range.
    own: Vec<Range<u32>>,
    /// Marks that were folded.
    touched: Box<[u8]>,
    /// Between the falling edge and the return to `sy_request`: the call.
    leaving: Option<Call>,
    /// The address to which the first call returned.
    resume: Option<u32>,
    /// RAM between heap and stack has no marks except a call's.
    clean: bool,
    /// Buffers from the key on, as they were at the rising edge.
    inputs: Vec<u8>,
    /// Starts of key, nonce, associated data, input, output, guard, heap.
    starts: [u32; 7],
    out_len: u32,
    /// The bytes of its frame that `sy_run` writes for an empty call, from the stack pointer at the edge: arguments.
    arguments: Option<Range<u32>>,
    /// Highest end of buffers so far.
    buffers: u32,
    /// Lowest stack pointer of the harness itself so far.
    deepest: u32,
    /// Free RAM of the latest call, and cycles since all of it was searched.
    free: Range<u32>,
    unseen: u64,
    /// The strays that were found.
    pub strays: Vec<Stray>,
}

impl Watch {
    pub(crate) fn new(ram: usize) -> Self {
        Self {
            harness: None,
            own: Vec::new(),
            touched: vec![0; ram].into(),
            leaving: None,
            resume: None,
            clean: false,
            inputs: Vec::new(),
            starts: [0; 7],
            out_len: 0,
            arguments: None,
            buffers: 0,
            deepest: u32::MAX,
            free: 0..0,
            unseen: 0,
            strays: Vec::new(),
        }
    }

    /// No call is in progress.
    pub(crate) fn forget(&mut self) {
        (self.leaving, self.clean, self.free, self.unseen) = (None, false, 0..0, 0);
    }

    /// A call has ended, but the program is not back in the harness yet.
    pub fn leaving(&self) -> bool {
        self.leaving.is_some()
    }

    /// Whether there is a harness and `pc` is not in its function with the edges.
    pub(crate) fn outside_run(&self, pc: u32) -> bool {
        self.harness.as_ref().is_some_and(|h| !h.run.contains(&pc))
    }

    /// Whether an edge at `pc` cannot be the harness's.
    pub(crate) fn foreign_edge(&self, pc: u32) -> bool {
        self.leaving() || self.outside_run(pc)
    }
}

impl Memory {
    /// Watches the calls of `harness` from now on.
    pub fn look_after(&mut self, harness: Option<Harness>) {
        let mut own: Vec<Range<u32>> = Vec::new();
        let mut all: Vec<_> = harness.iter().flat_map(|h| h.own.clone()).collect();
        all.sort_by_key(|r| r.start);
        for r in all {
            match own.last_mut() {
                Some(last) if r.start <= last.end => last.end = last.end.max(r.end),
                _ => own.push(r),
            }
        }
        self.watch = Watch { harness: harness.map(Box::new), own, ..Watch::new(self.ram.len()) };
    }

    /// Marks of a range of addresses.
    fn marks(&self, range: &Range<u32>) -> &[u8] {
        let clamp = |a: u32| (a.saturating_sub(self.ram_base) as usize).min(self.written.len());
        let (from, to) = (clamp(range.start), clamp(range.end));
        self.written.get(from..to).unwrap_or(&[])
    }

    /// Folds the marks of a range of addresses, and clears them.
    fn fold(&mut self, range: &Range<u32>) {
        let clamp = |a: u32| (a.saturating_sub(self.ram_base) as usize).min(self.written.len());
        let (from, to) = (clamp(range.start), clamp(range.end));
        if from < to {
            let (marks, kept) = (&mut self.written[from..to], &mut self.watch.touched[from..to]);
            marks.iter_mut().zip(kept).for_each(|(m, k)| *k |= std::mem::take(m));
        }
    }

    fn variable(&self, v: Variable) -> u32 {
        self.number(v.address, v.size)
    }

    fn top(&self) -> u32 {
        self.ram_base + self.ram.len() as u32
    }

    /// A measured call begins.
    pub(crate) fn rising(&mut self, sp: u32) {
        let Some(harness) = self.watch.harness.take() else { return };
        let [npub, ad, input, out, guard, out_len, painted] =
            [Pointer::Npub, Pointer::Ad, Pointer::In, Pointer::Out, Pointer::Guard, Pointer::OutLen, Pointer::Painted]
                .map(|p| self.variable(harness.pointer(p)));
        let heap = self.variable(harness.heap_base);
        self.watch.starts = [harness.free_start, npub, ad, input, out, guard, heap];
        self.watch.out_len = out_len;
        self.watch.deepest = self.watch.deepest.min(self.sp_min).min(sp);
        if self.watch.clean && painted == 0 {
            self.fold(&(harness.free_start..heap));
            self.fold(&(self.watch.deepest..self.top()));
        } else {
            self.fold(&(harness.free_start..self.top()));
            self.watch.clean = true;
        }
        for k in 0..self.watch.own.len() {
            self.fold(&self.watch.own[k].clone());
        }
        let offset = |a: u32| (a.saturating_sub(self.ram_base) as usize).min(self.ram.len());
        let (from, to) = (offset(harness.free_start), offset(out));
        self.watch.inputs.clear();
        self.watch.inputs.extend_from_slice(self.ram.get(from..to).unwrap_or(&[]));
        self.watch.harness = Some(harness);
    }

    /// A measured call has ended: the run loop returns after each block until the program is back in the harness.
    pub(crate) fn falling(&mut self, call: Call) {
        if self.watch.harness.is_some() {
            self.watch.leaving = Some(call);
            self.deadline = 0;
        }
    }

    /// Checks where the program goes after the falling edge: it must return to the place where every call was made.
    #[cold]
    pub fn left(&mut self, pc: u32, sp: u32, cycle: u64) {
        let Some(call) = self.watch.leaving else { return };
        let Some(harness) = self.watch.harness.take() else { return };
        let on_the_way = harness.run.contains(&pc) || harness.epilogues.iter().any(|e| e.contains(&pc));
        if !on_the_way {
            self.watch.leaving = None;
            let resume = *self.watch.resume.get_or_insert(pc);
            if pc == resume && harness.request.contains(&pc) {
                self.look(&harness, call, sp);
                self.sp_min = sp;
            } else {
                (self.block_start, self.stall) = (cycle, 0);
                self.fault(FaultKind::LeftHarness, Site { pc, cycles: 0 });
            }
        }
        self.watch.harness = Some(harness);
    }

    /// Finds writes of a call outside its own memory.
    fn look(&mut self, harness: &Harness, call: Call, sp: u32) {
        const NAMES: [&str; 4] = ["key", "nonce", "associated data", "message"];
        let starts = self.watch.starts;
        let (guard, heap) = (starts[5], starts[6]);
        for (k, name) in NAMES.into_iter().enumerate() {
            let range = starts[k]..starts[k + 1];
            if !nothing(self.marks(&range)) {
                let from = |base: u32| range.start.wrapping_sub(base) as usize..range.end.wrapping_sub(base) as usize;
                let now = self.ram.get(from(self.ram_base));
                let same = now.is_some() && self.watch.inputs.get(from(starts[0])) == now;
                self.stray(Area::Input(name, !same), &range);
            }
        }
        self.stray(Area::Guard, &(guard..heap));
        if !self.watch.own.iter().all(|own| nothing(self.marks(own))) {
            harness.own.iter().for_each(|own| self.stray(Area::Variables, own));
        }
        let frames = sp.saturating_add(1)..self.top(); // an AVR's stack pointer is one below its content
        let out_len = self.watch.out_len;
        if !harness.spills {
            self.stray(Area::Frames, &(frames.start..frames.end.min(out_len).max(frames.start)));
            self.stray(Area::Frames, &(out_len.saturating_add(8).clamp(frames.start, frames.end)..frames.end));
            self.look_at_arguments(call.sp.saturating_add(1)..frames.start);
        }

        let low = call.sp_min.saturating_sub(harness.below);
        let end = heap.saturating_add(self.variable(harness.heap_peak)).min(low);
        self.fold(&(starts[0]..end));
        self.fold(&(low..call.sp));
        self.watch.free = end..low;
        self.watch.buffers = self.watch.buffers.max(heap);
        self.watch.unseen = self.watch.unseen.saturating_add((call.fall - call.rise).max(1));
        if self.watch.unseen >= u64::from(low.saturating_sub(end)) * CYCLES {
            return self.look_through();
        }
        let near = end..low.min(self.watch.buffers.saturating_add(NEAR));
        let deep = self.watch.deepest.min(low.saturating_sub(NEAR)).max(near.end)..low;
        self.stray(Area::Free, &near);
        self.stray(Area::Free, &deep);
    }

    /// Finds writes to the frame of `sy_run` besides the arguments. An empty call writes nothing else.
    fn look_at_arguments(&mut self, frame: Range<u32>) {
        if self.watch.out_len == 0 {
            let marks = self.marks(&frame);
            let at = |k: Option<usize>| k.map(|k| k as u32);
            let first = at(marks.iter().position(|&m| m != 0));
            let last = at(marks.iter().rposition(|&m| m != 0));
            let found = first.unwrap_or(0)..last.map_or(0, |k| k + 1);
            let known = self.watch.arguments.get_or_insert(found.clone());
            *known = known.start.min(found.start)..known.end.max(found.end);
        } else if let Some(known) = self.watch.arguments.clone() {
            self.stray(Area::Frames, &(frame.start..frame.start + known.start));
            self.stray(Area::Frames, &(frame.start.saturating_add(known.end).min(frame.end)..frame.end));
        }
    }

    /// Searches all RAM that was not the latest call's.
    fn look_through(&mut self) {
        self.watch.unseen = 0;
        let free = self.watch.free.clone();
        self.stray(Area::Free, &free);
    }

    /// No call is in progress: searches the RAM that was not searched yet.
    pub(crate) fn settle(&mut self, sp: u32) {
        if self.watch.unseen > 0 && self.watch.clean {
            self.watch.free.end = self.watch.free.end.min(self.sp_min).min(sp);
            self.look_through();
        }
    }

    /// Records the marks in a range as strays.
    fn stray(&mut self, area: Area, range: &Range<u32>) {
        if !nothing(self.marks(range)) {
            self.keep(area, range);
        }
    }

    #[cold]
    fn keep(&mut self, area: Area, range: &Range<u32>) {
        let marks = self.marks(range);
        let count = marks.iter().map(|&m| u32::from(m != 0)).sum();
        let first = marks.iter().position(|&m| m != 0).unwrap_or(0) as u32;
        let address = range.start.max(self.ram_base) + first;
        let past = i64::from(address) - i64::from(self.watch.starts[5]);
        if self.watch.strays.len() < MOST {
            self.watch.strays.push(Stray { call: self.finished, area, address, count, past });
        }
        self.fold(range);
    }

    /// A byte for each byte of RAM, 0 where no store touched it. Between a call's edges only that call's.
    pub fn written(&self) -> &[u8] {
        &self.written
    }

    /// Forgets which RAM bytes were written.
    pub fn clear_written(&mut self) {
        self.written.fill(0);
        self.watch.touched.fill(0);
    }

    /// Longest run of bytes in `from..to` (addresses) that no store touched.
    pub fn longest_untouched(&self, from: u32, to: u32) -> u32 {
        let clamp = |a: u32| (a.saturating_sub(self.ram_base) as usize).min(self.written.len());
        let (from, to) = (clamp(from), clamp(to));
        let (mut longest, mut run) = (0, 0);
        for at in from..to {
            run = if self.written[at] | self.watch.touched[at] == 0 { run + 1 } else { 0 };
            longest = longest.max(run);
        }
        longest
    }
}

/// Whether there is no mark; many bytes at a time.
fn nothing(marks: &[u8]) -> bool {
    let chunks = marks.chunks_exact(128);
    chunks.remainder().iter().all(|&m| m == 0) && chunks.into_iter().all(|c| c.iter().fold(0, |all, m| all | m) == 0)
}

#[cfg(test)]
mod tests {
    use crate::harness::Variable;
    use crate::{Area, Call, Chip, Harness, Memory, PeripheralConfig, Site, Stop};

    const RAM: u32 = 0x100;
    const FREE: u32 = RAM + 64;
    const RUN: u32 = 0x20;
    const REQUEST: u32 = 0x42;
    const PORT: u32 = 0x25;

    /// A chip with a trigger at bit 5 of the port, and a harness whose variables begin at RAM.
    fn memory() -> Memory {
        let at = |kind, base, trigger_bit| PeripheralConfig { kind, base, trigger_bit };
        let chip = Chip {
            flash_in_data: None,
            peripherals: vec![at("avr-port", 0x23, Some(5)), at("avr-usart", 0xC0, None)],
            ..Chip::of_memories((0, 4096), (RAM, 8192))
        };
        let mut m = Memory::new(&chip).expect("a memory");
        let word = |k: u32| Variable { address: RAM + 2 * k, size: 2 };
        m.look_after(Some(Harness {
            run: RUN..0x40,
            request: 0x40..0x60,
            epilogues: Vec::new(),
            free_start: FREE,
            layout: Variable { address: RAM, size: 14 },
            heap_base: word(8),
            heap_peak: word(9),
            own: vec![RAM..RAM + 16, RAM + 16..RAM + 18],
            below: 0,
            spills: false,
        }));
        m.store::<1>(PORT - 1, 0xFF, 0x2080, Site::default());
        m
    }

    fn write(m: &mut Memory, address: u32, value: u32) {
        assert!(m.ram_store::<1>(address, value));
    }

    fn edge(m: &mut Memory, level: bool, pc: u32) {
        m.store::<1>(PORT, u32::from(level) << 5, 0x2000, Site { pc, cycles: 0 });
    }

    /// One call of 16 bytes of key, 8 of nonce, none of associated data, 8 of input, 8 of output and 8 of guard.
    fn call(m: &mut Memory, body: impl FnOnce(&mut Memory)) {
        one(m, 0x20F0, body);
    }

    /// A call of the empty function: `sy_run` writes 12 bytes of arguments.
    fn empty(m: &mut Memory) {
        one(m, 0, |m| (0x2001..0x200D).for_each(|a| write(m, a, 1)));
    }

    fn one(m: &mut Memory, out_len: u32, body: impl FnOnce(&mut Memory)) {
        let ends = [FREE + 16, FREE + 24, FREE + 24, FREE + 32, FREE + 40, out_len, 0, 0, FREE + 48, 0];
        for (k, v) in ends.into_iter().enumerate() {
            assert!(m.ram_store::<2>(RAM + 2 * k as u32, v));
        }
        (FREE..FREE + 48).for_each(|a| write(m, a, 7));
        edge(m, true, RUN);
        m.stack(0x1F00, Site::default());
        body(m);
        edge(m, false, RUN + 2);
        m.left(RUN + 4, 0x2000, 0);
        m.left(REQUEST, 0x2080, 0);
    }

    fn seen(m: &mut Memory) -> Vec<(u64, Area, u32, u32)> {
        std::mem::take(&mut m.watch.strays).iter().map(|s| (s.call, s.area, s.address, s.count)).collect()
    }

    #[test]
    fn a_call_may_write_its_own_memory() {
        let mut m = memory();
        empty(&mut m);
        for _ in 0..3 {
            call(&mut m, |m| {
                (FREE + 32..FREE + 40).for_each(|a| write(m, a, 1)); // output
                (0x1F00..0x2000).for_each(|a| write(m, a, 1)); // stack
                (0x2001..0x200D).for_each(|a| write(m, a, 2)); // arguments
                (0x20F0..0x20F8).for_each(|a| write(m, a, 1)); // out_len
                write(m, RAM + 18, 3); // peak of the heap
                (FREE + 48..FREE + 51).for_each(|a| write(m, a, 1)); // heap
                write(m, RAM + 40, 1); // its own variable
            });
        }
        assert_eq!((seen(&mut m), m.stop, m.finished), (vec![], None, 4));
    }

    #[test]
    fn what_is_not_its_own_is_named_and_counted_once() {
        let mut m = memory();
        call(&mut m, |_| {});
        call(&mut m, |m| {
            write(m, FREE + 3, 9); // key
            write(m, FREE + 25, 7); // message, with the same content
            write(m, FREE + 47, 1); // guard
            write(m, FREE + 48, 1);
            write(m, FREE + 51, 1);
            write(m, 0x1EFF, 1); // below the stack
            write(m, RAM + 16, 1); // a variable
            write(m, 0x2081, 1); // a frame
        });
        let free = (2, Area::Free, FREE + 48, 3);
        // the two ends of large free RAM are searched separately
        let (parts, got): (Vec<_>, Vec<_>) = seen(&mut m).into_iter().partition(|s| s.1 == Area::Free);
        assert_eq!(parts.iter().map(|s| s.3).sum::<u32>(), free.3);
        assert_eq!(parts[0].2, free.2);
        let input = |name, changed| Area::Input(name, changed);
        let expected = [
            (2, input("key", true), FREE + 3, 1),
            (2, input("message", false), FREE + 25, 1),
            (2, Area::Guard, FREE + 47, 1),
            (2, Area::Variables, RAM + 16, 1),
            (2, Area::Frames, 0x2081, 1),
        ];
        assert_eq!(got, expected);
        call(&mut m, |_| {});
        assert_eq!(seen(&mut m), []);
    }

    #[test]
    fn of_the_frame_of_sy_run_a_call_has_its_arguments() {
        let mut m = memory();
        call(&mut m, |m| write(m, 0x2040, 1)); // nobody knows yet
        empty(&mut m);
        call(&mut m, |m| [0x200C, 0x200D, 0x2080].into_iter().for_each(|a| write(m, a, 1)));
        assert_eq!(seen(&mut m), [(3, Area::Frames, 0x200D, 2)]);
    }

    #[test]
    fn the_middle_of_free_ram_is_looked_at_in_the_end() {
        let mut m = memory();
        call(&mut m, |_| {});
        call(&mut m, |m| write(m, 0x1800, 1));
        m.settle(0x2000);
        assert_eq!(seen(&mut m), [(2, Area::Free, 0x1800, 1)]);
        assert_eq!(m.longest_untouched(0x1000, 0x2000), 0x800);
    }

    #[test]
    fn edges_and_peripherals_are_the_harness_s() {
        let fault = |body: &dyn Fn(&mut Memory)| {
            let mut m = memory();
            call(&mut m, |_| {});
            body(&mut m);
            match m.stop {
                Some(Stop::Fault(f)) => f.kind.name(),
                _ => "",
            }
        };
        assert_eq!(fault(&|m| edge(m, true, 0x80)), "foreign-trigger");
        assert_eq!(fault(&|m| call(m, |m| edge(m, false, 0x80))), "foreign-trigger");
        assert_eq!(fault(&|m| call(m, |m| m.store::<1>(198, 1, 0x2000, Site { pc: 0x80, cycles: 0 }))), "peripheral");
        assert_eq!(fault(&|m| call(m, |m| _ = m.load::<1>(192, 0x2000, Site { pc: 0x80, cycles: 0 }))), "peripheral");
        let leave = |pc: u32| {
            fault(&move |m| {
                edge(m, true, RUN);
                edge(m, false, RUN);
                m.left(pc, 0x2080, 0);
            })
        };
        assert_eq!([REQUEST, REQUEST + 2, 0x80].map(leave), ["", "left-harness", "left-harness"]);
        // a second pulse before the way back
        assert_eq!(fault(&|m| [true, false, true].into_iter().for_each(|l| edge(m, l, RUN))), "foreign-trigger");
    }

    #[test]
    fn without_a_harness_nothing_is_looked_at() {
        let mut m = memory();
        m.look_after(None);
        edge(&mut m, true, 0x80);
        write(&mut m, FREE, 1);
        edge(&mut m, false, 0x80);
        assert_eq!((m.stop, m.watch.leaving(), m.calls.len()), (None, false, 1));
        assert_eq!(m.calls[0], Call { sp: 0x2000, sp_min: 0x2000, ..m.calls[0] });
        assert_eq!(m.written()[(FREE - RAM) as usize], 1);
    }
}
