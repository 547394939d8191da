//! Files that no tool makes: cut, damaged, and made to take long.

use super::{File, Kind, Place, SHARED};

/// An object file with a section `.text` of four bytes, and `symbols` of the name `name`, which are functions there.
fn object(wide: bool, name: &str, symbols: usize) -> Vec<u8> {
    let text = [b"\0.text\0.symtab\0.strtab\0", name.as_bytes(), b"\0"].concat();
    let (head, step) = if wide { (64, 24) } else { (52, 16) };
    let (code, strings) = (head, head + 4);
    let table = strings + text.len();
    let headers = table + step * symbols;
    let mut file = vec![0; head];
    file[..6].copy_from_slice(&[0x7F, b'E', b'L', b'F', 1 + u8::from(wide), 1]);
    let put = |file: &mut Vec<u8>, at: usize, n: usize, width: usize| {
        file[at..at + width].copy_from_slice(&n.to_le_bytes()[..width]);
    };
    put(&mut file, if wide { 40 } else { 32 }, headers, if wide { 8 } else { 4 });
    for (k, n) in [if wide { 64 } else { 40 }, 4, 3].into_iter().enumerate() {
        put(&mut file, (if wide { 58 } else { 46 }) + 2 * k, n, 2);
    }
    file.extend([1, 2, 3, 4]);
    file.extend(&text);
    let called = 23;
    for _ in 0..symbols {
        let word = |n: usize| n.to_le_bytes()[..if wide { 8 } else { 4 }].to_vec();
        let [name, value, size] = [(called as u32).to_le_bytes().to_vec(), word(2), word(2)];
        let (info, section) = (vec![0x12, 0], vec![1, 0]);
        let parts = if wide { [name, info, section, value, size] } else { [name, value, size, info, section] };
        file.extend(parts.concat());
    }
    for (name, kind, flags, offset, size) in
        [(0, 0, 0, 0, 0), (1, 1, 6, code, 4), (7, 2, 0, table, step * symbols), (15, 3, 0, strings, text.len())]
    {
        let word = |n: usize| n.to_le_bytes()[..if wide { 8 } else { 4 }].to_vec();
        let half = |n: usize| n.to_le_bytes()[..4].to_vec();
        file.extend([half(name), half(kind), word(flags), word(0), word(offset), word(size), half(3)].concat());
        file.extend([half(0), word(0), word(0)].concat());
    }
    file
}

/// As much of a file as there is, so that a panic would show.
fn all(data: &[u8]) -> Result<usize, String> {
    let file = File::parse(data)?;
    let names = |n: usize, name: &str| n + name.len();
    let read = file.symbols()?.iter().fold(0, |n, s| names(n, &s.name)) + file.segments()?.len();
    Ok(file.sections.iter().fold(read, |n, s| names(n, &s.name)))
}

#[test]
fn both_widths_are_read() {
    for wide in [false, true] {
        let data = object(wide, "function", 2);
        let file = File::parse(&data).unwrap();
        let sections: Vec<_> = file.sections.iter().map(|s| (&*s.name, s.size, s.kind)).collect();
        assert_eq!(sections[..2], [("", 0, None), (".text", 4, Some(Kind::Code))]);
        let symbols = file.symbols().unwrap();
        assert_eq!(symbols.len(), 2);
        let s = &symbols[1];
        assert_eq!((&*s.name, s.value, s.size, s.place), ("function", 2, 2, Place::Memory(Kind::Code)));
        assert!(s.function && !s.local && !s.bookkeeping);
    }
}

#[test]
fn garbage_and_what_is_cut_are_refused() {
    for data in [&b""[..], b"\x7fELF", &[0u8; 64], b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0", b"\x7fELF\x01\x02"] {
        assert!(File::parse(data).is_err());
    }
    for wide in [false, true] {
        let data = object(wide, "function", 3);
        for length in 0..data.len() {
            assert!(File::parse(&data[..length]).is_err(), "{length} of {}", data.len());
        }
    }
}

#[test]
fn any_byte_may_be_any_other() {
    for wide in [false, true] {
        let good = object(wide, "function", 3);
        let mut refused = 0;
        for at in 0..good.len() {
            for value in [0, 1, 0x7F, 0x80, 0xFF] {
                let mut data = good.clone();
                data[at] = value;
                refused += usize::from(all(&data).is_err());
            }
        }
        assert!(refused > 100, "{refused}");
    }
}

#[test]
fn names_that_share_their_bytes_are_bounded() {
    let long = "x".repeat(1 << 14);
    let data = object(false, &long, 3);
    assert!(all(&data).is_ok_and(|n| n <= SHARED * data.len()));
    let error = all(&object(true, &long, 1 << 12)).unwrap_err();
    assert!(error.contains("too many bytes"), "{error}");
}

#[test]
fn tables_that_overlap_are_refused() {
    let mut data = object(false, "function", 64);
    let headers = data.len() - 4 * 40;
    let table: Vec<u8> = data[headers + 80..headers + 120].to_vec();
    for _ in 0..100 {
        data.extend(&table);
    }
    data[48] = 104; // so many section headers
    assert!(File::parse(&data).is_ok());
    assert_eq!(all(&data), Err("symbol tables overlap".into()));
}

#[test]
fn a_program_may_have_no_sections() {
    let mut data = object(false, "function", 3);
    data[32..36].fill(0); // e_shoff, then e_shnum and e_shstrndx
    data[48..52].fill(0);
    let file = File::parse(&data).expect("sections are for linkers");
    assert!(file.sections.is_empty() && file.symbols().is_ok_and(|s| s.is_empty()) && file.segments().is_ok());
    data[50] = 1;
    assert!(File::parse(&data).is_err(), "names without a section");
}
