//! Counts cycles by function in a call tree. It uses block boundaries only, so it works for every core; no block goes past
//! a function's beginning.
//!
//! A block that starts at a function's first instruction is a call, or a tail call when the stack
//! pointer is back at the caller's value and the link does not lead to where the block before ended. Who falls into a
//! function jumps to it. A block where a function's caller goes on, with the stack pointer at the function's value or
//! above it, is its return; one elsewhere in a function that is on the stack is a return to that.

use std::collections::HashMap;

/// Most frames that are kept of calls that need no stack and do not return, more than cores have registers for links:
/// beyond it, the older half of them is forgotten. A return leaves no more than these, for each block looks at them.
const FLAT: usize = 1 << 6;
/// Most frames that are kept, more than any RAM has room for: beyond it, the older half is forgotten.
const DEEPEST: usize = 1 << 20;

/// Nodes of a tree: programs with more paths than that are there, such as deep recursion.
const MOST: usize = 1 << 17;

/// A function's addresses, the last one excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First instruction.
    pub start: u32,
    /// The address after the last one.
    pub end: u32,
}

/// One function as called along one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Index into the functions given to [`Profile::new`].
    pub function: usize,
    /// Index of the caller's node; a root's is its own.
    pub parent: usize,
    /// Times it was called along this path. Jumps to its beginning are calls' last ones (tail calls), and count once in
    /// a call: a label that a loop comes back to is no function that is called so often.
    pub calls: u64,
    /// Cycles in the function itself.
    pub cycles: u64,
}

#[derive(Clone)]
struct Frame {
    node: usize,
    /// The call that it is in, by its number; a function that was jumped to is in the call that jumped.
    call: u64,
    sp: u32,
    /// Where its caller goes on.
    back: u32,
}

/// A call tree that grows while a program runs. Once it has very many nodes, functions on new paths are at its root.
#[derive(Clone)]
pub struct Profile {
    functions: Vec<Span>,
    nodes: Vec<Node>,
    /// Nodes by function and caller's node.
    known: HashMap<(usize, Option<usize>), usize>,
    stack: Vec<Frame>,
    /// For each node, the number of the call that it was in when it counted last; how many calls there were.
    counted: Vec<u64>,
    calls: u64,
    last: usize,
    /// The address after the last block.
    end: u32,
}

impl Profile {
    /// An empty tree for `functions`, which must be sorted by start and not overlap.
    pub fn new(functions: Vec<Span>) -> Self {
        Self {
            functions,
            nodes: Vec::new(),
            known: HashMap::new(),
            stack: Vec::new(),
            counted: Vec::new(),
            calls: 0,
            last: 0,
            end: 0,
        }
    }

    /// Nodes, callers before callees.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Where `pc` is a function's first instruction, the end of the last block: its caller goes on there if that was a call.
    pub fn entered(&mut self, pc: u32) -> Option<u32> {
        self.find(pc).filter(|&f| self.functions[f].start == pc).map(|_| self.end)
    }

    /// Where the first function begins that does so after `pc`.
    pub fn after(&mut self, pc: u32) -> Option<u32> {
        let next = match self.find(pc) {
            Some(function) => function + 1,
            None => self.functions.partition_point(|s| s.start <= pc),
        };
        self.functions.get(next).map(|s| s.start)
    }

    /// The end of the last block, if that was in the function that has `pc`.
    pub fn inside(&mut self, pc: u32) -> Option<u32> {
        let function = self.find(pc)?;
        self.stack.last().filter(|top| self.nodes[top.node].function == function).map(|_| self.end)
    }

    /// A block from `pc` to `end`, which is not in it, took `cycles`; `sp` was the stack pointer before it, and `called`
    /// tells whether the block before it called it.
    pub fn block(&mut self, pc: u32, end: u32, sp: u32, called: bool, cycles: u64) {
        let back = std::mem::replace(&mut self.end, end);
        let Some(function) = self.find(pc) else { return };
        // a function may leave by another's end, which restores registers and is a frame above it
        let above = self.stack.iter().rev().take(FLAT).take_while(|f| sp >= f.sp).position(|f| f.back == pc);
        if let Some(above) = above {
            self.stack.truncate(self.stack.len() - 1 - above);
        }
        let start = self.functions[function].start;
        match self.stack.last() {
            None => self.push(function, None, sp, u32::MAX),
            Some(top) if self.nodes[top.node].function == function && (pc != start || sp >= top.sp && !called) => {}
            Some(top) if pc == start && !called && (sp >= top.sp || back == pc) => {
                let (call, left) = (top.call, sp >= top.sp && self.stack.len() > 1);
                let back = match back {
                    _ if left => top.back,
                    _ if back == pc => u32::MAX, // the one that it was fallen from returns for it
                    _ => back,
                };
                let mut same = self.stack.iter().rev().take(FLAT).take_while(|f| f.call == call);
                match same.position(|f| self.nodes[f.node].function == function) {
                    Some(above) => self.stack.truncate(self.stack.len() - above), // a loop over both
                    None => {
                        if left {
                            self.stack.pop(); // a tail call takes its caller's place
                        }
                        self.push(function, Some(call), sp, back);
                    }
                }
            }
            Some(_) if pc == start => self.push(function, None, sp, back),
            Some(top) => match self.stack.iter().rposition(|f| self.nodes[f.node].function == function) {
                Some(at) => self.stack.truncate(at + 1),
                None => self.push(function, Some(top.call), sp, back), // into the middle, such as shared epilogues
            },
        }
        if let Some(top) = self.stack.last() {
            self.nodes[top.node].cycles += cycles;
        }
    }

    /// The measured call is over: the next block starts at a root again.
    pub fn end(&mut self) {
        self.stack.clear();
    }

    /// Goes into a function: by a jump in the call of that number, or by a call.
    fn push(&mut self, function: usize, jumped: Option<u64>, sp: u32, back: u32) {
        let mut parent = self.stack.last().map(|f| f.node);
        if self.nodes.len() >= MOST && !self.known.contains_key(&(function, parent)) {
            parent = None;
        }
        let next = self.nodes.len();
        let node = *self.known.entry((function, parent)).or_insert(next);
        if node == next {
            self.nodes.push(Node { function, parent: parent.unwrap_or(next), calls: 0, cycles: 0 });
            self.counted.push(0);
        }
        let call = jumped.unwrap_or_else(|| {
            self.calls += 1;
            self.calls
        });
        if std::mem::replace(&mut self.counted[node], call) != call {
            self.nodes[node].calls += 1;
        }
        let flat = self.stack.len().wrapping_sub(FLAT);
        if self.stack.get(flat).is_some_and(|f| f.sp <= sp) {
            self.stack.drain(flat..flat + FLAT / 2);
        }
        if self.stack.len() == DEEPEST {
            self.stack.drain(..DEEPEST / 2);
        }
        self.stack.push(Frame { node, call, sp, back });
    }

    fn find(&mut self, pc: u32) -> Option<usize> {
        let holds = |s: &Span| s.start <= pc && pc < s.end;
        if !self.functions.get(self.last).is_some_and(holds) {
            let next = self.functions.partition_point(|s| s.start <= pc);
            self.last = next.checked_sub(1).filter(|&k| holds(&self.functions[k]))?;
        }
        Some(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::{Profile, Span};

    #[test]
    fn a_root_that_begins_with_its_own_loop_calls_nothing() {
        let mut p = Profile::new(vec![Span { start: 0, end: 10 }]);
        for pc in [0, 0, 0, 4] {
            p.block(pc, pc + 4, 100, false, 1);
        }
        p.block(0, 4, 98, true, 1); // itself
        let seen: Vec<_> = p.nodes().iter().map(|n| (n.parent, n.calls, n.cycles)).collect();
        assert_eq!(seen, [(0, 1, 4), (0, 1, 1)]);
    }

    #[test]
    fn a_label_that_is_jumped_to_again_is_not_called_again() {
        let mut p =
            Profile::new([(0, 10), (10, 20), (20, 30), (30, 40)].map(|(start, end)| Span { start, end }).to_vec());
        p.block(0, 4, 100, false, 1);
        for _ in 0..2 {
            p.block(10, 12, 98, true, 1);
            for pc in [20, 30, 20, 30, 20, 24] {
                p.block(pc, pc + 2, 98, false, 1); // a loop over two labels
            }
            p.block(4, 6, 100, false, 1);
        }
        let seen: Vec<_> = p.nodes().iter().map(|n| (n.function, n.parent, n.calls, n.cycles)).collect();
        assert_eq!(seen, [(0, 0, 1, 3), (1, 0, 2, 2), (2, 0, 2, 8), (3, 0, 2, 4)]);
    }

    #[test]
    fn who_falls_into_a_function_jumps_to_it() {
        let spans = [(0, 10), (10, 20), (20, 30)].map(|(start, end)| Span { start, end });
        let of = |p: &Profile| p.nodes().iter().map(|n| (n.function, n.parent, n.calls, n.cycles)).collect::<Vec<_>>();
        let mut p = Profile::new(spans.to_vec());
        p.block(0, 4, 100, false, 1);
        p.block(10, 20, 98, true, 1);
        p.block(20, 30, 98, false, 5);
        p.block(4, 6, 100, false, 1);
        p.block(20, 30, 98, true, 5);
        p.block(6, 8, 100, false, 1);
        assert_eq!(of(&p), [(0, 0, 1, 3), (1, 0, 1, 1), (2, 0, 2, 10)]);
        for frame in [4, 0] {
            // a loop over both, and one into the middle of the second, with a frame and without
            let mut p = Profile::new(spans.to_vec());
            p.block(0, 4, 100, false, 1);
            p.block(10, 16, 98, true, 1);
            for _ in 0..100 {
                p.block(16, 20, 98 - frame, false, 1);
                p.block(20, 30, 98 - frame, false, 2);
            }
            p.block(4, 6, 100, false, 1);
            let calls = |f: usize| p.nodes().iter().filter(|n| n.function == f).map(|n| n.calls).sum::<u64>();
            let cycles = |f: usize| p.nodes().iter().filter(|n| n.function == f).map(|n| n.cycles).sum::<u64>();
            assert_eq!((calls(0), cycles(0), cycles(1), cycles(2)), (1, 2, 101, 200));
            assert_eq!(calls(2), 1, "{:?}", of(&p));
            assert!(p.nodes().len() <= 4, "{:?}", of(&p));
        }
    }

    #[test]
    fn calls_tail_calls_and_returns() {
        let spans = [(0, 10), (10, 20), (20, 30), (30, 40)].map(|(start, end)| Span { start, end });
        let mut p = Profile::new(spans.to_vec());
        // root 0 calls 1, which calls 2, returns, and leaves by a tail call to 3
        for (pc, sp, cycles) in [(4, 100, 1), (10, 98, 2), (20, 90, 3), (14, 90, 4), (30, 98, 5), (6, 100, 6)] {
            p.block(pc, pc + 2, sp, false, cycles);
        }
        let seen: Vec<_> = p.nodes().iter().map(|n| (n.function, n.parent, n.calls, n.cycles)).collect();
        assert_eq!(seen, [(0, 0, 1, 7), (1, 0, 1, 6), (2, 1, 1, 3), (3, 0, 1, 5)]);
    }

    #[test]
    fn calls_that_leave_the_stack_pointer_alone() {
        let spans = [(0, 10), (10, 20), (20, 30), (30, 40)].map(|(start, end)| Span { start, end });
        let mut p = Profile::new(spans.to_vec());
        // root 0 calls 1, which calls 2 twice, itself once, and leaves by 3, which it jumps to
        for (pc, called) in [(4, false), (10, true), (20, true), (12, false), (20, true), (14, false)] {
            p.block(pc, pc + 2, 100, called, 1);
        }
        for (pc, called) in [(10, true), (16, false), (30, false), (6, false)] {
            p.block(pc, pc + 2, 100, called, 1);
        }
        let seen: Vec<_> = p.nodes().iter().map(|n| (n.function, n.parent, n.calls, n.cycles)).collect();
        assert_eq!(seen, [(0, 0, 1, 2), (1, 0, 1, 4), (2, 1, 2, 2), (1, 1, 1, 1), (3, 0, 1, 1)]);
    }

    #[test]
    fn a_function_that_calls_itself_and_leaves_by_the_end_of_another() {
        let mut p = Profile::new([(0, 10), (10, 20), (20, 30)].map(|(start, end)| Span { start, end }).to_vec());
        p.block(0, 4, 100, false, 1);
        for level in 0..4 {
            p.block(10, 12, 100 - 8 * level, true, 1);
        }
        for level in (0..4).rev() {
            let sp = 100 - 8 * level;
            p.block(14, 16, sp - 8, false, 1);
            p.block(20, 22, sp - 8, false, 1); // restores registers, and returns for it
            let back = if level == 0 { 4 } else { 12 };
            p.block(back, back + 2, sp, false, 1);
        }
        let depths: Vec<_> = p.nodes().iter().filter(|n| n.function == 1).map(|n| (n.calls, n.cycles)).collect();
        assert_eq!(depths, [(1, 3), (1, 3), (1, 3), (1, 2)]);
    }

    /// Twice by itself at each level, as from Fibonacci's numbers; frames of 4 bytes, and none where it ends at once.
    fn calls_itself(p: &mut Profile, level: u32, sp: u32) {
        p.block(10, 12, sp, true, 1);
        if level == 0 {
            return p.block(18, 20, sp, false, 1);
        }
        p.block(12, 14, sp - 4, false, 1);
        calls_itself(p, level - 1, sp - 4);
        p.block(14, 16, sp - 4, false, 1);
        calls_itself(p, level - 1, sp - 4);
        p.block(16, 18, sp - 4, false, 1);
    }

    #[test]
    fn a_function_that_calls_itself() {
        let mut p = Profile::new([(0, 10), (10, 20)].map(|(start, end)| Span { start, end }).to_vec());
        p.block(0, 4, 100, false, 1);
        calls_itself(&mut p, 5, 100);
        p.block(4, 6, 100, false, 1);
        let of = |f: usize| {
            let mine = p.nodes().iter().filter(|n| n.function == f);
            mine.fold((0, 0), |(calls, cycles), n| (calls + n.calls, cycles + n.cycles))
        };
        assert_eq!((of(0), of(1)), ((1, 2), (63, 31 * 4 + 32 * 2)));
        // on each level twice as many as on the one above it
        let depths: Vec<_> = p.nodes().iter().map(|n| n.calls).collect();
        assert_eq!(depths, [1, 1, 2, 4, 8, 16, 32]);
    }

    #[test]
    fn deep_calls_return_to_who_made_them() {
        let mut p = Profile::new([(0, 10), (10, 20)].map(|(start, end)| Span { start, end }).to_vec());
        p.block(0, 4, 100_000, false, 1);
        (0..5000).for_each(|n| p.block(10, 12, 100_000 - 8 * n, true, 1));
        (0..5000).rev().for_each(|n| p.block(12, 14, 100_000 - 8 * n - 8, false, 1));
        p.block(4, 6, 100_000, false, 1);
        let calls = |f: usize| p.nodes().iter().filter(|n| n.function == f).map(|n| n.calls).sum::<u64>();
        assert_eq!((calls(0), calls(1), p.nodes()[0].cycles), (1, 5000, 2));
    }

    #[test]
    fn calls_without_end_and_stack_take_no_memory() {
        let mut p = Profile::new(vec![Span { start: 0, end: 10 }]);
        (0..1 << 16).for_each(|_| p.block(0, 4, 100, true, 1));
        assert!(p.stack.len() <= super::FLAT);
        assert_eq!(p.nodes().iter().map(|n| n.cycles).sum::<u64>(), 1 << 16);
    }

    #[test]
    fn a_tree_of_endless_paths_has_a_size() {
        let spans: Vec<_> = (0..3).map(|n| Span { start: 10 * n, end: 10 * n + 10 }).collect();
        let mut p = Profile::new(spans);
        let mut cycles = 0;
        for path in 0_u32..1 << 14 {
            // the bits of its number say which of two functions calls the other
            for depth in 0..15 {
                let pc = if depth == 0 { 0 } else { 10 + (path >> (depth - 1) & 1) * 10 };
                p.block(pc, pc + 1, 1000 - depth, false, 1);
                cycles += 1;
            }
            p.end();
        }
        let nodes = p.nodes();
        let of = |f: usize| nodes.iter().filter(|n| n.function == f).map(|n| n.cycles).sum::<u64>();
        assert!(nodes.len() <= super::MOST + 3, "{} nodes", nodes.len());
        assert_eq!((of(0), of(0) + of(1) + of(2)), (1 << 14, cycles));
        assert!(nodes.iter().enumerate().all(|(k, n)| n.parent <= k), "callers come first");
    }
}
