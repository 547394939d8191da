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
/// Most strays that are kept in inputs, which are only noted, and elsewhere.
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
    /// A call has begun, and the core has callers in registers.
    pub begins: bool,
    /// A call has begun, and the program is not in the function that is called yet.
    pub entering: bool,
    /// Where the core saves these in the callers' frames.
    pub saves: Vec<Range<u32>>,
    /// The address to which the first call returned, and the stack pointer there.
    resume: Option<(u32, u32)>,
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
            begins: false,
            entering: false,
            saves: Vec::new(),
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
        (self.begins, self.entering) = (false, false);
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

    /// Whether `pc` is in the harness's function with the edges.
    pub fn in_run(&self, pc: u32) -> bool {
        self.harness.as_ref().is_some_and(|h| h.run.contains(&pc))
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
        let [npub, ad, input, out, guard, out_len, stack] =
            [Pointer::Npub, Pointer::Ad, Pointer::In, Pointer::Out, Pointer::Guard, Pointer::OutLen, Pointer::Stack]
                .map(|p| self.variable(harness.pointer(p)));
        let heap = self.variable(harness.heap_base);
        self.watch.starts = [harness.free_start, npub, ad, input, out, guard, heap];
        self.watch.out_len = out_len;
        self.watch.deepest = self.watch.deepest.min(self.sp_min).min(sp);
        if self.watch.clean && stack == 0 {
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
        self.watch.begins = harness.windows;
        self.watch.entering = true;
        self.deadline = 0;
        self.watch.harness = Some(harness);
    }

    /// The lowest stack pointer of the call that ends. A byte that an AVR's stack pointer points to is free; a call that
    /// writes it there at its deepest uses one more than it made room for.
    pub(crate) fn lowest(&self) -> u32 {
        let empty = self.watch.harness.as_ref().map_or(0, |h| h.empty);
        let used = !nothing(self.marks(&(self.sp_min..self.sp_min.saturating_add(empty))));
        self.sp_min.saturating_sub(u32::from(used))
    }

    /// Bytes from the stack pointer `sp` at the rising edge down to the lowest that the call wrote, not below `low`.
    pub(crate) fn written_below(&self, sp: u32, low: u32) -> u32 {
        let top = sp.saturating_add(self.watch.harness.as_ref().map_or(0, |h| h.empty));
        let first = self.marks(&(low..top)).iter().position(|&m| m != 0);
        first.map_or(0, |k| top.saturating_sub(low).saturating_sub(k as u32))
    }

    /// A measured call has ended: the run loop returns after each block until the program is back in the harness.
    pub(crate) fn falling(&mut self, call: Call) {
        if self.watch.harness.is_some() {
            self.watch.leaving = Some(call);
            self.deadline = 0;
        }
    }

    /// Checks where the program goes after the falling edge: it must return to the place where every call was made, with
    /// the same stack pointer. Returns whether it has returned there.
    #[cold]
    pub fn left(&mut self, pc: u32, sp: u32, cycle: u64) -> bool {
        let Some(call) = self.watch.leaving else { return false };
        let Some(harness) = self.watch.harness.take() else { return false };
        let mut back = false;
        let on_the_way = harness.run.contains(&pc) || harness.epilogues.iter().any(|e| e.contains(&pc));
        if !on_the_way {
            self.watch.leaving = None;
            let resume = *self.watch.resume.get_or_insert((pc, sp));
            back = (pc, sp) == resume && harness.request.contains(&pc);
            if back {
                self.look(&harness, call, sp);
                self.sp_min = sp;
            } else {
                self.left_harness(pc, cycle);
            }
        }
        self.watch.harness = Some(harness);
        back
    }

    /// Records that the program does not go on in the harness as without the call.
    pub fn left_harness(&mut self, pc: u32, cycle: u64) {
        (self.block_start, self.stall) = (cycle, 0);
        self.fault(FaultKind::LeftHarness, Site { pc, cycles: 0 });
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
        for k in 0..self.watch.saves.len() {
            self.fold(&self.watch.saves[k].clone());
        }
        self.stray(Area::Frames, &(frames.start..frames.end.min(out_len).max(frames.start)));
        self.stray(Area::Frames, &(out_len.saturating_add(8).clamp(frames.start, frames.end)..frames.end));
        if !harness.windows {
            self.look_at_arguments(call.sp.saturating_add(1)..frames.start);
        }

        let low = call.sp_min.saturating_add(harness.empty).saturating_sub(harness.below);
        let refused = 1 << (if harness.heap_peak.size == 2 { 15 } else { 31 }); // harness/heap.c
        let end = heap.saturating_add(self.variable(harness.heap_peak) & !refused).min(low);
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
        let span = marks.iter().rposition(|&m| m != 0).map_or(0, |last| last as u32 + 1 - first);
        let address = range.start.max(self.ram_base) + first;
        let past = i64::from(address) - i64::from(self.watch.starts[5]);
        let noted = |a: Area| matches!(a, Area::Input(..));
        if self.watch.strays.iter().filter(|s| noted(s.area) == noted(area)).count() < MOST {
            self.watch.strays.push(Stray { call: self.finished, area, address, count, past, span });
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
mod tests;
