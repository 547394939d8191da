//! Bounded, validated loading of ELF images.

use std::ops::Range;

use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, Object, ObjectSection, ObjectSymbol, SectionFlags, SymbolKind, elf};

/// Bytes of the image that lie in flash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Load (physical) address.
    pub address: u32,
    /// Content.
    pub bytes: Vec<u8>,
}

/// A named address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Name as in the symbol table.
    pub name: String,
    /// Address with the Thumb bit cleared.
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
}

/// Largest image accepted, bytes of file.
const MAX_FILE: usize = 64 << 20;
/// Largest sum of segment bytes accepted.
const MAX_LOAD: u64 = 16 << 20;

impl Image {
    /// Reads a little-endian ELF executable of 32 bits, or of 64 bits with addresses below 2^32.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the file.
    pub fn parse(data: &[u8]) -> Result<Self, String> {
        if data.len() > MAX_FILE {
            return Err(format!("ELF file of {} bytes is larger than {MAX_FILE}", data.len()));
        }
        const CLASS: usize = 4; // EI_CLASS
        let segments = match data.get(CLASS) {
            Some(&elf::ELFCLASS64) => segments::<elf::FileHeader64<Endianness>>(data)?,
            _ => segments::<elf::FileHeader32<Endianness>>(data)?,
        };
        let file = object::File::parse(data).map_err(|e| format!("ELF sections: {e}"))?;
        let code: Vec<_> = file.sections().filter(|s| executable(&s.flags())).map(|s| s.index()).collect();
        let (mut symbols, mut names) = (Vec::new(), 0);
        for s in file.symbols() {
            let function = s.kind() == SymbolKind::Text;
            let other = s.is_undefined() || matches!(s.kind(), SymbolKind::File | SymbolKind::Section);
            let name = s.name().ok().filter(|n| !other && !n.is_empty() && !n.starts_with('$') && !n.starts_with(".L"));
            let (Some(name), Ok(address)) = (name, u32::try_from(s.address())) else { continue };
            names += name.len(); // many symbols can have one long name
            if names > MAX_FILE {
                return Err(format!("names of symbols hold more than {MAX_FILE} bytes"));
            }
            symbols.push(Symbol {
                name: name.to_owned(),
                address: if function { address & !1 } else { address },
                size: u32::try_from(s.size()).unwrap_or(0),
                function,
                code: s.section_index().is_some_and(|i| code.contains(&i)),
                global: s.is_global(),
            });
        }
        symbols.sort_by(|a, b| a.address.cmp(&b.address).then_with(|| a.name.cmp(&b.name)));
        Ok(Self { segments, symbols })
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

    /// All of the code space, cut at functions; what none of them holds is cut at labels in sections with code, and
    /// called "other" where there is no label either.
    pub fn code(&self) -> Vec<(Range<u32>, String)> {
        const OTHER: &str = "other";
        let mut functions: Vec<(Range<u32>, &str)> = Vec::new();
        let called: Vec<_> = self.symbols.iter().filter(|s| s.function).collect();
        for (k, f) in called.iter().enumerate() {
            let next = called[k + 1..].iter().map(|n| n.address).find(|&a| a > f.address).unwrap_or(u32::MAX);
            let end = if f.size > 0 { f.address.saturating_add(f.size).min(next) } else { next };
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
        cut
    }

    /// Name of the function that holds `pc`.
    pub fn function(&self, pc: u32) -> Option<&str> {
        self.symbols
            .iter()
            .rev()
            .filter(|s| s.function && s.address <= pc)
            .find(|s| s.size == 0 || pc - s.address < s.size)
            .map(|s| s.name.as_str())
    }
}

/// SHF_EXECINSTR.
fn executable(flags: &SectionFlags) -> bool {
    matches!(flags, SectionFlags::Elf { sh_flags } if sh_flags & u64::from(elf::SHF_EXECINSTR) != 0)
}

/// What goes into flash.
fn segments<H: FileHeader<Endian = Endianness>>(data: &[u8]) -> Result<Vec<Segment>, String> {
    let header = H::parse(data).map_err(|e| format!("not an ELF file: {e}"))?;
    let endian = header.endian().map_err(|e| format!("ELF header: {e}"))?;
    if endian != Endianness::Little {
        return Err("big-endian ELF files are not supported".into());
    }
    let headers = header.program_headers(endian, data).map_err(|e| format!("program headers: {e}"))?;
    let mut segments = Vec::new();
    let mut total = 0u64;
    for ph in headers.iter().filter(|ph| ph.p_type(endian) == elf::PT_LOAD && ph.p_filesz(endian).into() > 0) {
        let bytes = ph.data(endian, data).map_err(|()| "a segment lies outside the file".to_string())?;
        total += bytes.len() as u64;
        if total > MAX_LOAD {
            return Err(format!("segments hold more than {MAX_LOAD} bytes"));
        }
        let address: u64 = ph.p_paddr(endian).into();
        let address = u32::try_from(address).map_err(|_| format!("a segment at {address:#x} is beyond 32 bits"))?;
        segments.push(Segment { address, bytes: bytes.to_vec() });
    }
    Ok(segments)
}

#[cfg(test)]
mod tests {
    use super::Image;

    #[test]
    fn garbage_is_refused_with_a_sentence() {
        for data in [&b""[..], b"\x7fELF", &[0u8; 64], b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0"] {
            assert!(Image::parse(data).is_err());
        }
    }
}
