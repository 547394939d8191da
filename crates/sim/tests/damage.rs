//! Damaged inputs: images are loaded or refused with a sentence, and every core runs any content of its flash until a
//! named fault.

use random::Random;
use std::collections::BTreeSet;

use mcu::{Chip, Fault, Image, Stop};
use sim::{CORES, Simulator, simulator};

/// Bytes of flash: a program soon comes to its end.
const SIZE: u32 = 0x200;

/// Where `core` has flash, in the program's and the data's view, and RAM.
fn chip(core: &'static str) -> Chip<'static> {
    let (flash, in_data, ram) = match core {
        "avr25" | "avr5" | "avr51" => (0, None, 0x100),
        "avrxmega3" => (0, Some(0x4000), 0x2800),
        "msp430" => (0x1_0000 - SIZE, Some(0x1_0000 - SIZE), 0x1100),
        _ => (0x4000_0000, Some(0x4000_0000), 0x2000_0000),
    };
    Chip { core, flash_in_data: in_data, ..Chip::of_memories((flash, SIZE), (ram, 0x800)) }
}

/// NOP, and the bytes that lead to the middle of flash after reset, with their address.
fn frame(core: &str) -> (&'static [u8], Option<(usize, Vec<u8>)>) {
    let middle = chip("").flash.base + SIZE / 2;
    match core {
        "msp430" => (&[0x03, 0x43], Some((SIZE as usize - 2, vec![0x00, 0xFF]))),
        c if c.starts_with("avr") => (&[0, 0], None),
        c if c.starts_with("cortex") => {
            let vectors = [0x2000_0800, middle + 1];
            (&[0x00, 0xBF], Some((0, vectors.iter().flat_map(|v: &u32| v.to_le_bytes()).collect())))
        }
        c if c.starts_with("rv") => (&[0x01, 0x00], None),
        _ => (&[0x3D, 0xF0], None),
    }
}

fn fault(sim: &mut dyn Simulator) -> Option<Fault> {
    let stop = sim.run(3000);
    assert_ne!(stop, Stop::Idle, "there is no serial port to wait for");
    stop.fault()
}

#[test]
fn random_flash_runs_into_named_faults_on_every_core() {
    let mut random = Random::new(0x5EED);
    for core in CORES {
        let mut sim = simulator(&chip(core)).expect("the chip is possible");
        let base = chip(core).flash.base;
        let (nop, start) = frame(core);
        let (mut faults, mut jumps, mut kinds) = (0, 0, BTreeSet::new());
        for round in 0..2000 {
            // all of it random, or what the last instructions are, perhaps cut off
            let mut bytes = random.bytes(SIZE as usize);
            if round % 2 == 0 {
                let tail = SIZE as usize - 1 - random.below(12) as usize;
                (0..tail).for_each(|n| bytes[n] = nop[n % nop.len()]);
            }
            if let Some((at, content)) = &start {
                bytes[*at..at + content.len()].copy_from_slice(content);
            }
            sim.load(&Image::of(base, bytes)).expect("it fits");
            if let Some(f) = fault(sim.as_mut()) {
                faults += 1;
                kinds.insert(f.kind.name());
                assert!(f.cycle <= sim.cycles() && !f.to_string().is_empty(), "{core}: {f}");
                assert_eq!(sim.run(1), Stop::Fault(f), "{core}: a fault stays");
                let from = sim.left_flash().filter(|at| at.wrapping_sub(base) < SIZE);
                assert_eq!(from, sim.left_flash(), "{core}: {f}");
                jumps += usize::from(from.is_some());
            }
            sim.reset();
            for _ in 0..20 {
                sim.step();
            }
            for pc in (base + SIZE - 8..base + SIZE + 8).chain([0, 1, u32::MAX, random.word()]) {
                let (text, bytes) = sim.disassemble(pc);
                assert!(!text.is_empty() && (1..=6).contains(&bytes), "{core} at {pc:#x}: {text:?} {bytes}");
            }
        }
        println!("{core}: {faults} of 2000 programs end in {kinds:?}; {jumps} are known to leave flash");
        assert!(jumps > 20, "{core}: {jumps}");
        assert!(faults > 1000, "{core}: {faults} faults");
        assert!(kinds.contains(&"bad-fetch") && kinds.contains(&"out-of-range"), "{core}: {kinds:?}");
    }
}

/// An ELF executable of 32 or 64 bits: two segments, the second to be loaded elsewhere than it runs, three symbols.
fn elf(wide: bool) -> Vec<u8> {
    let half = |f: &mut Vec<u8>, v: u16| f.extend(v.to_le_bytes());
    let word = |f: &mut Vec<u8>, v: u32| f.extend(v.to_le_bytes());
    let long = |f: &mut Vec<u8>, v: u32| {
        f.extend(v.to_le_bytes());
        f.extend(vec![0; if wide { 4 } else { 0 }]);
    };
    let (header, segment, section, symbol) = if wide { (64, 56, 64, 24) } else { (52, 32, 40, 16) };
    let (code, names, titles) = ([0x5A; 24], b"\0main\0table\0last\0", b"\0.text\0.symtab\0.strtab\0");
    let at = header + 2 * segment; // of code
    let symbols = at + 24;
    let strings = symbols + 4 * symbol;
    let heads = strings + (names.len() + titles.len()) as u32;

    let mut f = vec![0x7F, b'E', b'L', b'F', 1 + u8::from(wide), 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    [2, 40].iter().for_each(|&v| half(&mut f, v)); // executable, of Arm: main is Thumb code
    word(&mut f, 1);
    [0x4000_0000, header, heads].iter().for_each(|&v| long(&mut f, v));
    word(&mut f, 0);
    [header, segment, 2, section, 5, 4].iter().for_each(|&v| half(&mut f, v as u16));
    for (from, run, load, bytes) in [(at, 0x4000_0000, 0x4000_0000, 16), (at + 16, 0x2000_0000, 0x4000_0010, 8)] {
        word(&mut f, 1);
        if wide {
            word(&mut f, 5);
        }
        [from, run, load, bytes, bytes].iter().for_each(|&v| long(&mut f, v));
        if !wide {
            word(&mut f, 5);
        }
        long(&mut f, 4);
    }
    f.extend(code);
    for (name, value, size, info) in
        [(0, 0, 0, 0), (1, 0x4000_0001, 8, 2), (6, 0x2000_0000, 8, 1), (12, 0x4000_0008, 0, 2)]
    {
        word(&mut f, name);
        let place: [u8; 4] = [info | 0x10, 0, if info == 0 { 0 } else { 1 }, 0];
        if wide {
            f.extend(place);
        }
        [value, size].iter().for_each(|&v| long(&mut f, v));
        if !wide {
            f.extend(place);
        }
    }
    f.extend(names);
    f.extend(titles);
    let tail = strings + names.len() as u32;
    // name, type, address, offset, size, link, info, size of an entry
    for s in [
        [0; 8],
        [1, 1, 0x4000_0000, at, 24, 0, 0, 0],
        [7, 2, 0, symbols, 4 * symbol, 3, 1, symbol],
        [15, 3, 0, strings, names.len() as u32, 0, 0, 0],
        [15, 3, 0, tail, titles.len() as u32, 0, 0, 0],
    ] {
        [s[0], s[1]].iter().for_each(|&v| word(&mut f, v));
        [2 * u32::from(s[1] == 1), s[2], s[3], s[4]].iter().for_each(|&v| long(&mut f, v));
        [s[5], s[6]].iter().for_each(|&v| word(&mut f, v));
        [1, s[7]].iter().for_each(|&v| long(&mut f, v));
    }
    f
}

#[test]
fn damaged_images_are_loaded_or_refused_in_words() {
    let mut random = Random::new(0xE1F);
    for wide in [false, true] {
        let good = elf(wide);
        let image = Image::parse(&good).expect("it is whole");
        let segments: Vec<_> = image.segments.iter().map(|s| (s.address, s.bytes.len())).collect();
        assert_eq!(segments, [(0x4000_0000, 16), (0x4000_0010, 8)]);
        assert_eq!(
            [0x4000_0007, 0x4000_0009, 0x4000_0100, 0x3FFF_FFFF].map(|pc| image.function(pc)),
            [Some("main".to_owned()), Some("last".to_owned()), None, None]
        );
        assert_eq!(image.address("table"), Some(0x2000_0000));
        let other = [&good[..18], &[94], &good[19..]].concat(); // of Xtensa
        assert_eq!(
            [image, Image::parse(&other).expect("too")].map(|i| i.address("main")),
            [Some(0x4000_0000), Some(0x4000_0001)]
        );

        let mut sim = simulator(&chip("rv32-bumblebee")).expect("the chip is possible");
        let (mut loaded, mut unfit, mut refused, mut functions) = (0, 0, 0, 0);
        for _ in 0..100_000 {
            let mut bytes = good.clone();
            for _ in 0..1 + random.below(4) {
                let at = random.below(bytes.len() as u32) as usize;
                bytes[at] = [0, 1, 0x7F, 0x80, 0xFF, random.word() as u8][random.below(6) as usize];
            }
            if random.below(4) == 0 {
                bytes.truncate(random.below(bytes.len() as u32) as usize);
            }
            match Image::parse(&bytes) {
                Ok(image) => {
                    let known = [0x4000_0000, 0, random.word(), u32::MAX].map(|pc| image.function(pc).is_some());
                    functions += usize::from(known[0]);
                    match sim.load(&image) {
                        Ok(()) => loaded += 1,
                        Err(text) => unfit += usize::from(!text.is_empty()),
                    }
                }
                Err(text) => refused += usize::from(!text.is_empty()),
            }
        }
        println!("64 bits: {wide}: {loaded} loaded, {unfit} do not fit, {refused} refused");
        assert_eq!(loaded + unfit + refused, 100_000);
        assert!(functions > 1000, "{functions}");
        assert!(loaded > 1000 && unfit > 500 && refused > 1000, "{loaded} {unfit} {refused}");
    }
    for _ in 0..10_000 {
        let n = random.below(200) as usize;
        let bytes = [b"\x7fELF".to_vec(), random.bytes(n)].concat();
        assert!(Image::parse(&bytes).is_err_and(|text| !text.is_empty()));
    }
}

#[test]
fn names_cannot_fill_memory() {
    // many symbols that all have the same long name
    let mut f = elf(false);
    let (symbols, heads) = (52 + 2 * 32 + 24, f.len() - 5 * 40);
    let at = f.len() as u32;
    let name = 1 << 20;
    for _ in 0..4096 {
        f.extend_from_within(symbols + 16..symbols + 32);
    }
    let strings = f.len() as u32;
    f.resize(f.len() + name, b'x');
    f.push(0);
    let mut set = |section: usize, field: usize, value: u32| {
        let place = heads + 40 * section + 4 * field;
        f[place..place + 4].copy_from_slice(&value.to_le_bytes());
    };
    [(2, 4, at), (2, 5, 4096 * 16), (3, 4, strings), (3, 5, name as u32 + 1)]
        .iter()
        .for_each(|&(s, k, v)| set(s, k, v));
    assert_eq!(Image::parse(&f).err(), Some("names hold too many bytes".into()));
}
