//! Finds the harness in an image, and the memory that a measured call may write.
//!
//! The harness's symbols are global; a package's were made local, whatever their names.

use std::ops::Range;

use crate::Image;

/// Pointers in `sy_layout`, which `harness/main.c` fills before each call.
#[derive(Clone, Copy)]
pub(crate) enum Pointer {
    Npub,
    Ad,
    In,
    Out,
    Guard,
    OutLen,
    Stack,
}

/// How many there are.
const POINTERS: u32 = Pointer::Stack as u32 + 1;

/// Names of the harness's own variables, except those that the heap's functions write during a call, and `sy_run` after
/// it.
const OWN: &str = "sy_";
const WRITTEN: [&str; 3] = ["sy_stack_limit", "sy_heap_peak", "sy_pulse"];
/// Most bytes of a variable of the harness, and of an epilogue: symbols of a damaged image can have any size.
const LARGEST: u32 = 256;
/// Functions of compilers' libraries that restore registers and return on behalf of their caller.
const EPILOGUES: [&str; 2] = ["__mspabi_func_epilog", "__riscv_restore"];

/// A variable: where it is, and how wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    pub address: u32,
    pub size: u32,
}

/// Addresses of the harness, of which `harness/main.c` is a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Harness {
    /// The function with the trigger's edges.
    pub(crate) run: Range<u32>,
    /// The function that calls it.
    pub(crate) request: Range<u32>,
    /// Code that may run between the two.
    pub(crate) epilogues: Vec<Range<u32>>,
    pub(crate) free_start: u32,
    pub(crate) layout: Variable,
    pub(crate) heap_base: Variable,
    pub(crate) heap_peak: Variable,
    /// Variables that nothing writes between the edges.
    pub(crate) own: Vec<Range<u32>>,
    /// Bytes from where the stack pointer points up to what was pushed last: an AVR's points to the first free one.
    pub(crate) empty: u32,
    /// Bytes below the stack pointer where registers are saved.
    pub(crate) below: u32,
    /// Whether callers may be in registers, and are written to their frames when these run out.
    pub(crate) windows: bool,
}

impl Harness {
    /// The harness in `image`; none in an image without a complete one. `mask` turns symbols' values into data
    /// addresses, `empty` are the bytes from the stack pointer up to the content. A core with register windows saves
    /// registers below stack pointers and in the frames of callers.
    pub fn find(image: &Image, mask: u32, empty: u32, windows: bool) -> Option<Self> {
        let global = |name: &str| image.symbols.iter().find(|s| s.global && s.name == name);
        let code = |name| global(name).filter(|s| s.size > 0).map(|s| s.address..s.address + s.size);
        let data = |name| global(name).map(|s| Variable { address: s.address & mask, size: s.size });
        let layout = data("sy_layout").filter(|v| v.size % POINTERS == 0)?;
        let way = |name: &str| EPILOGUES.iter().any(|e| name.starts_with(e));
        let handlers = |name: &str| windows && name == "sy_vectors";
        let epilogues = image.symbols.iter().filter(|s| s.global && s.code);
        let epilogues = epilogues.filter(|s| way(&s.name) && s.size <= LARGEST || handlers(&s.name));
        let own = image.symbols.iter().filter(|s| s.global && !s.code && s.size > 0 && s.name.starts_with(OWN));
        let own = own.filter(|s| !WRITTEN.contains(&s.name.as_str()) && s.size <= LARGEST);
        Some(Self {
            run: code("sy_run")?,
            request: code("sy_request")?,
            epilogues: epilogues.map(|s| s.address..s.address + s.size.max(1)).collect(),
            free_start: data("sy_free_start")?.address,
            layout,
            heap_base: data("sy_heap_base")?,
            heap_peak: data("sy_heap_peak")?,
            own: own.map(|s| (s.address & mask)..(s.address & mask).saturating_add(s.size)).collect(),
            empty,
            below: if windows { 16 } else { 0 },
            windows,
        })
    }

    /// The address of a pointer of the layout.
    pub(crate) fn pointer(&self, which: Pointer) -> Variable {
        let size = self.layout.size / POINTERS;
        Variable { address: self.layout.address + size * which as u32, size }
    }
}

/// Kinds of memory that are not a call's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// An input; the flag says whether its bytes changed.
    Input(&'static str, bool),
    /// The guard after the output buffer.
    Guard,
    /// Unused RAM between heap and stack.
    Free,
    /// Variables of the harness.
    Variables,
    /// The harness's part of the stack.
    Frames,
}

impl Area {
    /// The fixed name in results.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Input(name, _) => name,
            Self::Guard => "guard",
            Self::Free => "free",
            Self::Variables => "variables",
            Self::Frames => "frames",
        }
    }
}

/// A call's writes to memory that is not its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stray {
    /// The number of the call, counted from the first one since the image was loaded.
    pub call: u64,
    /// The kind of memory.
    pub area: Area,
    /// The lowest address.
    pub address: u32,
    /// Bytes written.
    pub count: u32,
    /// Bytes from the end of the output buffer to the address; negative before it.
    pub past: i64,
    /// Bytes from the address to the last one that was written.
    pub span: u32,
}
