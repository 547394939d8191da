//! Calls of a made-up harness, and what they write.

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
        empty: 1,
        below: 0,
        windows: false,
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
fn a_byte_that_the_stack_pointer_points_to_is_stack_once_it_is_written() {
    let mut m = memory();
    call(&mut m, |m| write(m, 0x1F00, 1));
    call(&mut m, |_| {});
    call(&mut m, |m| [0x1EFF, 0x1F00].into_iter().for_each(|a| write(m, a, 1)));
    assert_eq!(m.calls.iter().map(|c| c.sp - c.sp_min).collect::<Vec<_>>(), [0x101, 0x100, 0x101]);
    m.settle(0x2080);
    assert_eq!(seen(&mut m), [(3, Area::Free, 0x1EFF, 1)]);
}

#[test]
fn inputs_that_are_written_leave_room_for_what_counts() {
    let mut m = memory();
    call(&mut m, |_| {});
    for _ in 0..super::MOST {
        call(&mut m, |m| [FREE + 3, FREE + 25].into_iter().for_each(|a| write(m, a, 7)));
    }
    call(&mut m, |m| write(m, FREE + 47, 1)); // guard
    let got = seen(&mut m);
    assert_eq!(got.len(), super::MOST + 1);
    assert_eq!(got.last(), Some(&(super::MOST as u64 + 2, Area::Guard, FREE + 47, 1)));
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
    // by a jump into the harness
    assert_eq!(fault(&|m| call(m, |m| m.store::<1>(198, 1, 0x2000, Site { pc: RUN, cycles: 0 }))), "peripheral");
    assert_eq!(fault(&|m| call(m, |m| _ = m.load::<1>(PORT, 0x2000, Site { pc: RUN, cycles: 0 }))), "");
    let leave = |(pc, sp): (u32, u32)| {
        fault(&move |m| {
            edge(m, true, RUN);
            edge(m, false, RUN);
            m.left(pc, sp, 0);
        })
    };
    assert_eq!(leave((REQUEST, 0x2080)), "");
    let elsewhere = [(REQUEST + 2, 0x2080), (0x80, 0x2080), (REQUEST, 0x2078)];
    assert_eq!(elsewhere.map(leave), ["left-harness"; 3]);
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
