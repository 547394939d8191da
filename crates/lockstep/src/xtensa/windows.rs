//! Programs of functions whose calls nest deeper than there are registers.

use std::ops::Range;

use isa_xtensa::Class;

use super::*;

/// The handlers of window overflow and underflow (4.7.1.5), at `start` bytes in the code.
pub fn window_handlers(code: &mut Code, start: usize) {
    let at = |code: &mut Code, offset: usize| code.bytes.resize(start + offset, 0);
    let move_ = |code: &mut Code, name: &str, t: u32, s: u32, words: i32| {
        code.op(name, &[('t', t), ('s', s), ('i', (words + 16) as u32)]);
    };
    for (k, base) in [(0u32, 5), (1, 9), (2, 13)] {
        let (more, top) = (4 * k, 3 + 4 * k);
        at(code, 0x80 * k as usize);
        move_(code, "s32e", 0, base, -4);
        if k > 0 {
            move_(code, "l32e", 0, 1, -3);
        }
        (1..4).for_each(|r| move_(code, "s32e", r, base, r as i32 - 4));
        (0..more).for_each(|r| move_(code, "s32e", 4 + r, 0, r as i32 - 4 - more as i32));
        code.op("rfwo", &[]);
        at(code, 0x80 * k as usize + 0x40);
        (0..3).for_each(|r| move_(code, "l32e", r, base, r as i32 - 4));
        if k > 0 {
            move_(code, "l32e", top, 1, -3);
        }
        move_(code, "l32e", 3, base, -1);
        (0..more).for_each(|r| move_(code, "l32e", 4 + r, top, r as i32 - 4 - more as i32));
        code.op("rfwu", &[]);
    }
}

/// Those handlers, and one for MOVSP that does the same as RETW's underflow.
fn window_vectors(code: &mut Code) {
    window_handlers(code, 0x400);
    code.bytes.resize(0x700, 0);
    code.op("rotw", &[('i', 15)]);
    code.read_special(2, PS);
    code.read_special(0, WINDOWBASE);
    code.op("addi", &[('t', 0), ('s', 0), ('i', 1)]);
    code.op("extui", &[('r', 0), ('t', 0), ('w', 2)]); // eight groups
    code.op("extui", &[('r', 3), ('t', 2), ('i', 8), ('w', 3)]);
    code.op("xor", &[('r', 3), ('s', 3), ('t', 0)]);
    code.op("slli", &[('r', 3), ('s', 3), ('i', 8), ('I', 1)]); // 32 - 8
    code.op("xor", &[('r', 2), ('s', 2), ('t', 3)]);
    code.write_special(2, PS);
    code.op("rsync", &[]);
    let base = CODE + 0x400;
    code.op("bbsi", &[('s', 4), ('b', 15), ('I', 1), ('i', 2)]);
    code.jump(base + 0x40);
    code.op("rotw", &[('i', 15)]);
    code.op("bbsi", &[('s', 8), ('b', 14), ('I', 1), ('i', 2)]);
    code.jump(base + 0xC0);
    code.op("rotw", &[('i', 15)]);
    code.jump(base + 0x140);
}

/// Functions whose calls nest deeper than there are registers, with random work between the calls;
/// each logs all registers and the window's state.
fn windows(g: &mut Generator<'_>) -> (Program, u32) {
    let mut code = begin(g.random, 0x4_0000, window_vectors);
    let mut functions: Vec<(u32, u32)> = Vec::new(); // address, logs
    code.jump(CODE + 0x400 + PAD + 0xC000);
    for _ in 0..60 {
        code.align(4);
        let start = code.here();
        let mut logs = 1;
        (g.pointers, g.left) = (0, true);
        code.op("entry", &[('s', 1), ('i', 10 + g.random.below(6))]);
        let work = |g: &mut Generator<'_>, code: &mut Code| {
            for _ in 0..g.random.below(6) {
                let (word, bits, ..) = g.pick(code.here(), 3, |c| c == Class::Alu);
                code.put(word, bits);
            }
        };
        for k in 0..2 {
            work(g, &mut code);
            if g.random.below(4) == 0 {
                code.op("addi", &[('t', 3), ('s', 1), ('i', 0xE0)]);
                code.op("movsp", &[('t', 1), ('s', 3)]);
            }
            let callee = match k {
                0 => functions.last(),
                _ if g.random.below(3) == 0 => functions.get(g.random.below(5) as usize),
                _ => None,
            };
            if let Some(&(to, n)) = callee {
                let groups = 1 + g.random.below(3);
                if g.random.below(2) == 0 {
                    let name = ["call4", "call8", "call12"][groups as usize - 1];
                    let offset = (to.wrapping_sub(code.here() & !3).wrapping_sub(4)) >> 2;
                    code.op(name, &[('i', offset & 0x3FFFF)]);
                } else {
                    let name = ["callx4", "callx8", "callx12"][groups as usize - 1];
                    let skip = code.here() + 3;
                    let literal = (skip + 3) & !3;
                    code.jump(literal + 4);
                    code.align(4);
                    code.word(to);
                    code.literal(4, literal);
                    code.op(name, &[('s', 4)]);
                }
                logs += n;
            }
        }
        work(g, &mut code);
        code.write_special(2, EXCSAVE2);
        code.read_special(2, EXCSAVE1);
        (3..16).for_each(|r| code.op("s32i", &[('t', r), ('s', 2), ('i', r - 3)]));
        for (k, n) in [WINDOWSTART, WINDOWBASE, PS, EXCSAVE2].into_iter().enumerate() {
            code.read_special(3, n);
            code.op("s32i", &[('t', 3), ('s', 2), ('i', 13 + k as u32)]);
        }
        code.op("addi", &[('t', 2), ('s', 2), ('i', 68)]);
        code.write_special(2, EXCSAVE1);
        code.read_special(2, EXCSAVE2);
        work(g, &mut code);
        code.op(if g.random.below(2) == 0 { "retw" } else { "retw.n" }, &[]);
        functions.push((start, logs));
    }
    assert!(code.here() < CODE + 0x400 + PAD + 0xC000);
    code.bytes.resize(0x400 + PAD as usize + 0xC000, 0);
    let here = code.here();
    code.jump(here + 16);
    code.align(4);
    code.word(RAM + STACK - 64);
    code.word(LOG);
    code.word(functions[59].0);
    code.op("movi", &[('t', 0)]);
    code.literal(1, here + 4);
    code.literal(2, here + 8);
    code.write_special(2, EXCSAVE1);
    code.op("movi", &[('t', 3), ('i', 1)]);
    code.write_special(3, WINDOWSTART);
    code.op("rsync", &[]);
    code.literal(4, here + 12);
    code.op("callx4", &[('s', 4)]); // the outermost frame has no caller to keep more than four registers for
    let end = code.here();
    code.op("simcall", &[]);
    let program =
        Program { image: code.bytes, places: Vec::new(), end, window: vec![0; STACK as usize], timed: Vec::new() };
    (program, functions[59].1 * 4 * WORDS)
}

/// Functions with windows on both sides; false without the oracle.
///
/// # Errors
/// The first difference, or what went wrong.
pub fn compare_windows(seeds: Range<u64>) -> Result<bool, String> {
    for seed in seeds {
        // a new process for each: unwritten registers must be the same
        let started = start(DE212.qemu).inspect_err(|e| eprintln!("skipped: {e}"));
        let Ok(mut oracle) = started else { return Ok(false) };
        let mut random = Random::new(seed);
        let (program, log) = windows(&mut Generator::new(&DE212, &mut random));
        let mine = DE212.run_here(&program, Way::Blocks)?;
        if mine != DE212.run_here(&program, Way::Steps(&mut Trace::default()))? {
            return Err(format!("seed {seed}: stepping makes a difference"));
        }
        if mine != DE212.run_here(&program, Way::Native)? {
            return Err(format!("seed {seed}: native code makes a difference"));
        }
        let mine = &mine[..(STACK + log) as usize];
        let rows =
            |ram: &[u8]| -> Vec<Vec<u64>> { ram[STACK as usize..].chunks(4 * WORDS as usize).map(words).collect() };
        if let Some(k) = rows(mine).iter().position(|row| row.iter().all(|&w| w == 0)) {
            return Err(format!("seed {seed}: the function that logs as number {k} has not run"));
        }
        let theirs = run_there(&mut oracle, &program, log)?;
        // a3 to a15, WindowStart, WindowBase, PS, a2
        for (k, (a, b)) in rows(mine).iter().zip(rows(&theirs)).enumerate() {
            if *a != b {
                return Err(format!("seed {seed}: log {k}\n{a:08x?}\n{b:08x?}"));
            }
        }
        if mine != theirs {
            return Err(format!("seed {seed}: the stack"));
        }
    }
    Ok(true)
}
