//! Where the harness is in an image, and what a measured call may write.
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
    Painted,
}

/// How many there are.
const POINTERS: u32 = Pointer::Painted as u32 + 1;

/// What the harness's own variables are called, but for what the heap's functions write during a call, and `sy_run`
/// after it.
const OWN: &str = "sy_";
const WRITTEN: [&str; 3] = ["sy_stack_limit", "sy_heap_peak", "sy_pulse"];
/// Bytes of a variable of the harness, and of an epilogue, at most: symbols of a damaged image can have any size.
const LARGEST: u32 = 256;
/// Functions of compilers' libraries that restore registers and return in their caller's place.
const EPILOGUES: [&str; 2] = ["__mspabi_func_epilog", "__riscv_restore"];

/// A variable: where it is, and how wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    pub address: u32,
    pub size: u32,
}

/// Addresses of the harness that `harness/main.c` is a part of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Harness {
    /// The function that holds the trigger's edges.
    pub(crate) run: Range<u32>,
    /// The one that calls it.
    pub(crate) request: Range<u32>,
    /// What may run between the two.
    pub(crate) epilogues: Vec<Range<u32>>,
    pub(crate) free_start: u32,
    pub(crate) layout: Variable,
    pub(crate) heap_base: Variable,
    pub(crate) heap_peak: Variable,
    /// Variables that nothing writes between the edges.
    pub(crate) own: Vec<Range<u32>>,
    /// Bytes below the stack pointer that hold saved registers.
    pub(crate) below: u32,
    /// Whether frames of callers are written when registers run out.
    pub(crate) spills: bool,
}

impl Harness {
    /// The harness in `image`; none in an image that holds no whole one. `mask` makes data addresses of symbols'
    /// values. A core with register windows saves registers below stack pointers and in the frames of callers.
    pub fn find(image: &Image, mask: u32, windows: bool) -> Option<Self> {
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
            below: if windows { 16 } else { 0 },
            spills: windows,
        })
    }

    /// Where a pointer of the layout is kept.
    pub(crate) fn pointer(&self, which: Pointer) -> Variable {
        let size = self.layout.size / POINTERS;
        Variable { address: self.layout.address + size * which as u32, size }
    }
}

/// What kind of memory a call wrote that was not its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// An input; whether other bytes stand there now.
    Input(&'static str, bool),
    /// Behind the room for output: the guard there.
    Guard,
    /// RAM between heap and stack, in use by nobody.
    Free,
    /// Variables of the harness.
    Variables,
    /// The harness's part of the stack.
    Frames,
}

impl Place {
    /// The fixed name that results carry.
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

/// Writes of a call to memory that was not its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stray {
    /// Which call, counted from the first one since the image was loaded.
    pub call: u64,
    /// Whose the memory is.
    pub place: Place,
    /// The lowest address.
    pub address: u32,
    /// Bytes written.
    pub count: u32,
    /// Bytes from the end of the room for output to the address; negative before it.
    pub past: i64,
}
