//! Bounded reading of little-endian ELF files of 32 and 64 bits: sections, symbols, and what a loader takes.
//!
//! The files are other people's. What is outside of the file or contradicts itself is an error in words; nothing is
//! copied but names that are not UTF-8, and the names of a file hold at most [`SHARED`] times its bytes, so that neither
//! time nor memory exceeds a small multiple of them. Layouts and numbers are those of the System V ABI's chapter 4
//! (object files) and 5 (program loading).

use std::borrow::Cow;

/// Largest file that is read, bytes.
pub const MAX_FILE: usize = 64 << 20;
/// Names may share their bytes; all of them together hold at most this many times the bytes of the file.
pub const SHARED: usize = 4;

const MAGIC: [u8; 4] = *b"\x7fELF";
const SHT_SYMTAB: u64 = 2;
const SHT_NOBITS: u64 = 8;
const SHF_WRITE: u64 = 1;
const SHF_ALLOC: u64 = 2;
const SHF_EXECINSTR: u64 = 4;
const PT_LOAD: u64 = 1;
const STB_LOCAL: u8 = 0;
const STT_SECTION: u8 = 3;
const STT_FILE: u8 = 4;
const STT_FUNC: u8 = 2;
const STT_GNU_IFUNC: u8 = 10;
const SHN_UNDEF: u64 = 0;
const SHN_COMMON: u64 = 0xFFF2;

/// What memory holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Instructions.
    Code,
    /// What is only read.
    Constants,
    /// Variables with initial values.
    Data,
    /// Variables without: zero, or whatever was there.
    Bss,
}

/// A section, with an address or without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section<'a> {
    /// Its name.
    pub name: Cow<'a, str>,
    /// Where it is in an image.
    pub address: u64,
    /// Bytes, in memory and, but for [`Kind::Bss`], in the file.
    pub size: u64,
    /// What it holds; none when it is not in memory, as debug information.
    pub kind: Option<Kind>,
}

/// Bytes that a loader puts somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    /// Physical address: where the bytes are before the program starts.
    pub address: u64,
    /// Virtual address: where the program looks for them.
    pub runs_at: u64,
    /// Content.
    pub bytes: &'a [u8],
}

/// Where a symbol is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In another object.
    Undefined,
    /// Wherever the linker puts it, once for all objects that name it.
    Common,
    /// In a section that memory holds.
    Memory(Kind),
    /// In another section, or nowhere: it is a mere number.
    Elsewhere,
}

/// A symbol with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// Its name.
    pub name: Cow<'a, str>,
    /// Address in an image, distance in an object's section, alignment of a common one.
    pub value: u64,
    /// Bytes, 0 when unknown.
    pub size: u64,
    /// Where it is defined.
    pub place: Place,
    /// Whether other objects do not see it.
    pub local: bool,
    /// Whether it is called a function.
    pub function: bool,
    /// Whether it names a section or a source.
    pub bookkeeping: bool,
    /// Bytes of its section from it on; 0 behind the section's end, and in none.
    pub left: u64,
}

/// A file of which the headers have been read.
pub struct File<'a> {
    data: &'a [u8],
    wide: bool,
    headers: Vec<Header>,
    /// Sections in the order of the file; the first is an empty one.
    pub sections: Vec<Section<'a>>,
}

/// What is used of a section header.
struct Header {
    kind: u64,
    offset: u64,
    size: u64,
    link: u64,
}

/// Names, and how many bytes of them may still come.
struct Names {
    left: usize,
}

impl Kind {
    /// Its name for a reader.
    pub fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Constants => "constants",
            Self::Data => "data",
            Self::Bss => "bss",
        }
    }
}

impl Place {
    /// Its name for a reader; that of what memory holds, and none for what is elsewhere.
    pub fn name(self) -> &'static str {
        match self {
            Self::Undefined => "undefined",
            Self::Common => "common",
            Self::Memory(kind) => kind.name(),
            Self::Elsewhere => "",
        }
    }
}

impl<'a> File<'a> {
    /// Reads headers and sections.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the file.
    pub fn parse(data: &'a [u8]) -> Result<Self, String> {
        if data.len() > MAX_FILE {
            return Err(format!("ELF file of {} bytes is larger than {MAX_FILE}", data.len()));
        }
        let wide = match data {
            [a, b, c, d, class @ (1 | 2), 1, ..] if [*a, *b, *c, *d] == MAGIC => *class == 2,
            _ => return Err("not a little-endian ELF file".into()),
        };
        let mut file = Self { data, wide, headers: Vec::new(), sections: Vec::new() };
        // name, type, flags, address, offset, size, link
        let fields = if wide { [0, 4, 8, 16, 24, 32, 40] } else { [0, 4, 8, 12, 16, 20, 24] };
        let shape = if wide { (40, 58, 64) } else { (32, 46, 40) };
        let table = file.table(shape, "section headers")?;
        let text_of = file.number(if wide { 62 } else { 50 }, 2)?;
        let mut names = Vec::new();
        for header in table {
            let at = |field: usize| file.word(header + fields[field]);
            let half = |field: usize| file.number(header + fields[field], 4);
            names.push((half(0)?, at(2)?, at(3)?));
            file.headers.push(Header { kind: half(1)?, offset: at(4)?, size: at(5)?, link: half(6)? });
        }
        // a program that is only loaded needs no sections, and so no names of them
        let text = if file.headers.is_empty() && text_of == 0 { &[] } else { file.text(text_of)? };
        let mut budget = Names { left: SHARED * data.len() };
        for ((name, flags, address), header) in names.into_iter().zip(&file.headers) {
            let kind = match flags {
                f if f & SHF_ALLOC == 0 => None,
                _ if header.kind == SHT_NOBITS => Some(Kind::Bss),
                f if f & SHF_EXECINSTR != 0 => Some(Kind::Code),
                f if f & SHF_WRITE != 0 => Some(Kind::Data),
                _ => Some(Kind::Constants),
            };
            file.sections.push(Section { name: budget.name(text, name)?, address, size: header.size, kind });
        }
        Ok(file)
    }

    /// The number of the instruction set (`e_machine`).
    ///
    /// # Errors
    /// A sentence where the file ends before.
    pub fn machine(&self) -> Result<u16, String> {
        Ok(self.number(18, 2)? as u16)
    }

    /// Whether it is of 64 bits (`EI_CLASS`).
    pub fn wide(&self) -> bool {
        self.wide
    }

    /// Where the program begins; 0 where it does not say.
    ///
    /// # Errors
    /// A sentence where the file ends before.
    pub fn entry(&self) -> Result<u64, String> {
        self.word(24)
    }

    /// What a loader puts into memory, in the order of the file.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the file.
    pub fn segments(&self) -> Result<Vec<Segment<'a>>, String> {
        // offset, physical address, virtual address, bytes in the file
        let fields = if self.wide { [8, 24, 16, 32] } else { [4, 12, 8, 16] };
        let mut found = Vec::new();
        for header in self.table(if self.wide { (32, 54, 56) } else { (28, 42, 32) }, "program headers")? {
            if self.number(header, 4)? != PT_LOAD {
                continue;
            }
            let [offset, address, runs_at, size] = fields.map(|f| self.word(header + f));
            let bytes = self.bytes(offset?, size?).ok_or("a segment lies outside the file")?;
            if !bytes.is_empty() {
                found.push(Segment { address: address?, runs_at: runs_at?, bytes });
            }
        }
        Ok(found)
    }

    /// Symbols with a name, in the order of the file.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the file.
    pub fn symbols(&self) -> Result<Vec<Symbol<'a>>, String> {
        // size of an entry; value, size, info, section
        let (step, fields) = if self.wide { (24, [8, 16, 4, 6]) } else { (16, [4, 8, 12, 14]) };
        let mut budget = Names { left: SHARED * self.data.len() };
        let mut found = Vec::new();
        for header in self.headers.iter().filter(|h| h.kind == SHT_SYMTAB) {
            let text = self.text(header.link)?;
            let table = self.bytes(header.offset, header.size).ok_or("a symbol table lies outside the file")?;
            if found.len() + table.len() / step > self.data.len() / step {
                return Err("symbol tables overlap".into());
            }
            for entry in table.chunks_exact(step) {
                let name = number(entry, 0, 4);
                if name == 0 {
                    continue;
                }
                let width = if self.wide { 8 } else { 4 };
                let (info, section) = (entry[fields[2]], number(entry, fields[3], 2));
                let (binding, kind) = (info >> 4, info & 15);
                found.push(Symbol {
                    name: budget.name(text, name)?,
                    value: number(entry, fields[0], width),
                    size: number(entry, fields[1], width),
                    place: self.place(section),
                    local: binding == STB_LOCAL,
                    function: matches!(kind, STT_FUNC | STT_GNU_IFUNC),
                    bookkeeping: matches!(kind, STT_SECTION | STT_FILE),
                    left: self.left(section, number(entry, fields[0], width)),
                });
            }
        }
        Ok(found)
    }

    fn place(&self, section: u64) -> Place {
        match section {
            SHN_UNDEF => Place::Undefined,
            SHN_COMMON => Place::Common,
            _ => {
                let section = usize::try_from(section).ok().and_then(|s| self.sections.get(s));
                section.and_then(|s| s.kind).map_or(Place::Elsewhere, Place::Memory)
            }
        }
    }

    fn left(&self, section: u64, value: u64) -> u64 {
        let section = usize::try_from(section).ok().and_then(|s| self.sections.get(s));
        let ends = section.and_then(|s| s.address.checked_add(s.size));
        ends.map_or(0, |end| end.saturating_sub(value))
    }

    /// Offsets of the headers of a table: `shape` says where its own offset, and then the size and the number of its
    /// entries are, and which size they must have.
    fn table(&self, shape: (usize, usize, usize), what: &str) -> Result<impl Iterator<Item = usize> + use<>, String> {
        let (place, sizes, step) = shape;
        let (start, size, count) = (self.word(place)?, self.number(sizes, 2)?, self.number(sizes + 2, 2)?);
        let length = count * step as u64;
        if count > 0 && (size != step as u64 || self.bytes(start, length).is_none()) {
            return Err(format!("{count} {what} of {size} bytes do not lie within the file"));
        }
        // a table within the file starts at an offset that a pointer can have
        let start = if count > 0 { start as usize } else { 0 };
        Ok((start..start + length as usize).step_by(step))
    }

    /// The strings of the section of this number.
    fn text(&self, section: u64) -> Result<&'a [u8], String> {
        let header = usize::try_from(section).ok().and_then(|s| self.headers.get(s));
        let header = header.ok_or("names are in a section that does not exist")?;
        self.bytes(header.offset, header.size).ok_or_else(|| "names lie outside the file".into())
    }

    fn bytes(&self, offset: u64, size: u64) -> Option<&'a [u8]> {
        let (start, size) = (usize::try_from(offset).ok()?, usize::try_from(size).ok()?);
        self.data.get(start..start.checked_add(size)?)
    }

    /// A number of `width` bytes.
    fn number(&self, at: usize, width: usize) -> Result<u64, String> {
        let bytes = self.data.get(at..at + width).ok_or("the ELF file ends in its headers")?;
        Ok(number(bytes, 0, width))
    }

    /// An address, offset or size.
    fn word(&self, at: usize) -> Result<u64, String> {
        self.number(at, if self.wide { 8 } else { 4 })
    }
}

impl Names {
    /// The name that begins at `at`.
    fn name<'a>(&mut self, text: &'a [u8], at: u64) -> Result<Cow<'a, str>, String> {
        let rest = usize::try_from(at).ok().and_then(|at| text.get(at..)).ok_or("a name lies outside the names")?;
        let length = rest.iter().take(self.left + 1).position(|&b| b == 0);
        let much = rest.len() > self.left;
        let length = length.ok_or(if much { "names hold too many bytes" } else { "a name does not end" })?;
        self.left -= length;
        Ok(String::from_utf8_lossy(&rest[..length]))
    }
}

/// The little-endian number of `width` bytes at `at`, which must be there.
fn number(bytes: &[u8], at: usize, width: usize) -> u64 {
    bytes[at..at + width].iter().rev().fold(0, |n, &b| n << 8 | u64::from(b))
}

#[cfg(test)]
mod tests;
