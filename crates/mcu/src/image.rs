//! A linked image: what goes into flash, and what the addresses are called.

use std::ops::Range;

use elf::{File, Kind, Place};

/// Bytes of the image that lie in flash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Load (physical) address.
    pub address: u32,
    /// Where the program looks for it (virtual address).
    pub runs_at: u32,
    /// Content.
    pub bytes: Vec<u8>,
}

impl Segment {
    /// Bytes that are looked for where they are loaded.
    pub fn of(address: u32, bytes: Vec<u8>) -> Self {
        Self { address, runs_at: address, bytes }
    }
}

/// A named address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Name as in the symbol table.
    pub name: String,
    /// Address, a function's without what is a mode in it ([`code_address`]).
    pub address: u32,
    /// Size in bytes, 0 when unknown.
    pub size: u32,
    /// Whether it is called a function.
    pub function: bool,
    /// Whether it is in a section that holds code.
    pub code: bool,
    /// Whether other objects could refer to it when the image was linked.
    pub global: bool,
}

/// A linked firmware image.
#[derive(Clone, Debug, Default)]
pub struct Image {
    /// What goes into flash.
    pub segments: Vec<Segment>,
    /// Symbols, sorted by address.
    pub symbols: Vec<Symbol>,
    /// Where the program begins, if it says so, and the number of its instruction set in ELF files.
    pub entry: Option<u32>,
    /// See there; 0 where it does not say.
    pub machine: u16,
    /// Whether its ELF file is of 64 bits.
    pub wide: bool,
    /// The address after the last variable in static data, as the program sees it.
    pub data_end: u32,
    /// Addresses at which the linker's pieces end, ascending, where it is known: no function goes past one.
    pub ends: Vec<u32>,
}

/// The number of Arm in ELF files.
const ARM: u16 = 40;

/// Where code lies that has this address on the machine of that number in ELF files: the lowest bit of Arm's says that it
/// is Thumb code (ELF for the Arm Architecture, 5.5.3), and is a part of the others', whose code may begin at odd ones.
pub const fn code_address(machine: u16, address: u32) -> u32 {
    if machine == ARM { address & !1 } else { address }
}

/// Largest sum of segment bytes accepted.
const MAX_LOAD: usize = 16 << 20;

impl Image {
    /// An image of `bytes` at an address, without symbols.
    pub fn of(address: u32, bytes: Vec<u8>) -> Self {
        Self { segments: vec![Segment::of(address, bytes)], ..Self::default() }
    }

    /// Reads a little-endian ELF executable of 32 bits, or of 64 bits with addresses below 2^32.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the file.
    pub fn parse(data: &[u8]) -> Result<Self, String> {
        let file = File::parse(data)?;
        let (segments, machine) = (segments(&file)?, file.machine()?);
        let mut symbols = Vec::new();
        for s in file.symbols()? {
            let other = s.place == Place::Undefined || s.bookkeeping;
            let Ok(address) = u32::try_from(s.value) else { continue };
            if other || s.name.starts_with('$') || s.name.starts_with(".L") {
                continue;
            }
            symbols.push(Symbol {
                name: s.name.into_owned(),
                address: if s.function { code_address(machine, address) } else { address },
                size: u32::try_from(s.size).unwrap_or(0),
                function: s.function,
                code: s.place == Place::Memory(Kind::Code),
                global: !s.local,
            });
        }
        symbols.sort_by(|a, b| a.address.cmp(&b.address).then_with(|| a.name.cmp(&b.name)));
        let variables = file.sections.iter().filter(|s| matches!(s.kind, Some(Kind::Data | Kind::Bss)));
        let ends = variables.filter_map(|s| u32::try_from(s.address.checked_add(s.size)?).ok());
        let data_end = ends.max().unwrap_or(0);
        let entry = u32::try_from(file.entry()?).ok().filter(|e| *e != 0);
        Ok(Self { segments, symbols, entry, machine, wide: file.wide(), data_end, ends: Vec::new() })
    }

    /// Address of the global symbol called `name`: a package's are local.
    pub fn address(&self, name: &str) -> Option<u32> {
        self.symbols.iter().find(|s| s.global && s.name == name).map(|s| s.address)
    }

    /// Name of the global variable that holds a data address.
    pub fn variable(&self, address: u32) -> Option<&str> {
        let avr = address | 0x80_0000; // avr-gcc puts RAM there
        let holds =
            |s: &&Symbol| s.global && !s.code && [address, avr].iter().any(|a| a.wrapping_sub(s.address) < s.size);
        self.symbols.iter().find(holds).map(|s| s.name.as_str())
    }

    /// All of the code space, cut at functions and ends of segments; what none of them holds is cut at labels in sections with code, and
    /// called "other" where there is no label or segment either. A function without a size goes to the next function, or to the next
    /// global label: assembly leaves functions without a type.
    pub fn code(&self) -> Vec<(Range<u32>, String)> {
        let mut functions: Vec<(Range<u32>, &str)> = Vec::new();
        let called: Vec<_> = self.symbols.iter().filter(|s| s.function).collect();
        let mut above = called.iter().copied().peekable();
        let mut global = self.symbols.iter().filter(|s| s.code && s.global).peekable();
        for f in &called {
            while above.next_if(|n| n.address <= f.address).is_some() {}
            while global.next_if(|n| n.address <= f.address).is_some() {}
            let next = above.peek().map_or(u32::MAX, |n| n.address);
            let label = global.peek().map_or(u32::MAX, |n| n.address);
            let end = if f.size > 0 { f.address.saturating_add(f.size).min(next) } else { next.min(label) };
            if functions.last().is_none_or(|(r, _)| r.start < f.address) && f.address < end {
                functions.push((f.address..end, &f.name));
            }
        }
        functions.push((u32::MAX..u32::MAX, OTHER));
        let mut labels = self.symbols.iter().filter(|s| s.code && !s.function).peekable();
        let (mut cut, mut at) = (Vec::new(), 0);
        for (range, name) in functions {
            let mut of = OTHER;
            while let Some(label) = labels.next_if(|l| l.address < range.end) {
                if label.address >= range.start || label.address < at {
                    continue; // inside a function
                }
                if label.address > at {
                    cut.push((at..label.address, of.to_owned()));
                    at = label.address;
                }
                of = &label.name;
            }
            if at < range.start {
                cut.push((at..range.start, of.to_owned()));
            }
            at = range.end;
            if !range.is_empty() {
                cut.push((range, name.to_owned()));
            }
        }
        self.clipped(cut)
    }

    /// The same, where what has a name ends with its piece and its segment: code behind a function without a size, or with a
    /// false one, may have no name, and linkers' symbols lie after the last segment.
    fn clipped(&self, code: Vec<(Range<u32>, String)>) -> Vec<(Range<u32>, String)> {
        let end = |s: &Segment| s.runs_at.saturating_add(u32::try_from(s.bytes.len()).unwrap_or(u32::MAX));
        let mut segments: Vec<_> = self.segments.iter().map(|s| s.runs_at..end(s)).collect();
        segments.sort_by_key(|s| s.start);
        let mut clipped = Vec::with_capacity(code.len());
        for (range, name) in code {
            let after = segments.partition_point(|s| s.start <= range.start);
            let end = after.checked_sub(1).map_or(range.start, |k| segments[k].end.clamp(range.start, range.end));
            let piece = self.ends.get(self.ends.partition_point(|&e| e <= range.start)).copied();
            let end = end.min(piece.unwrap_or(u32::MAX));
            for (range, name) in [(range.start..end, name), (end..range.end, OTHER.to_owned())] {
                if !range.is_empty() {
                    clipped.push((range, name));
                }
            }
        }
        clipped
    }

    /// Name of the function or label that holds `pc`, in [`Image::code`].
    pub fn function(&self, pc: u32) -> Option<String> {
        Self::within(&self.code(), pc).map(str::to_owned)
    }

    /// The same, where it is asked for several times.
    pub fn within(code: &[(Range<u32>, String)], pc: u32) -> Option<&str> {
        let after = code.partition_point(|(range, _)| range.start <= pc);
        let (range, name) = code.get(after.checked_sub(1)?)?;
        (range.contains(&pc) && name != OTHER).then_some(name)
    }
}

/// What code without a name is called.
const OTHER: &str = "other";

/// What goes into flash.
fn segments(file: &File<'_>) -> Result<Vec<Segment>, String> {
    let found = file.segments()?;
    if found.iter().map(|s| s.bytes.len()).sum::<usize>() > MAX_LOAD {
        return Err(format!("segments hold more than {MAX_LOAD} bytes"));
    }
    let address = |at: u64| u32::try_from(at).map_err(|_| format!("a segment at {at:#x} is beyond 32 bits"));
    let segment = |s: &elf::Segment<'_>| {
        Ok(Segment { address: address(s.address)?, runs_at: address(s.runs_at)?, bytes: s.bytes.to_vec() })
    };
    found.iter().map(segment).collect()
}
