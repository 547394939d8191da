//! The Python module `steelyard._native`: simulators, chips, frames and ELF reading. No other crate depends on Python.
//!
//! The interpreter lock is released while a simulator runs.

mod chip;
mod elf;
mod frame;
mod peripheral;
mod running;

use std::collections::HashMap;

use mcu::{Area, Image, Register, Segment, Stop, Stray};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sim::foreign::{self, Argument, Asked, End, Measured, Setting};
use sim::{Profile, Span};

use chip::{Chip, Region};
use peripheral::Foreign;

create_exception!(_native, SimulatorFault, PyException, "The program on the simulated chip failed; args: kind, text.");
create_exception!(_native, BudgetExceeded, PyException, "The program used up its cycle budget; args: text.");

/// A measured call: cycles between the trigger's edges, bytes of stack, unaligned accesses.
type CallTuple = (u64, u32, u64, u32);
/// Writes outside a call's own memory: index of the call, kind of memory, whether it changed (inputs), address, the
/// symbol there, bytes, distance from the end of the output buffer.
type StrayTuple = (u64, &'static str, bool, u32, String, u32, i64, u32);

/// One simulated chip.
#[pyclass(module = "steelyard._native")]
struct Simulator {
    inner: Box<dyn sim::Simulator>,
    image: Image,
    /// Cycles that run between two looks at the time, and the most of them.
    slice: u64,
    #[pyo3(get, set)]
    longest_slice: u64,
}

impl Simulator {
    fn pc(&self) -> u32 {
        self.inner.registers().iter().find(|r| r.0 == "pc").map_or(0, |r| r.1)
    }

    fn describe(&self, pc: u32) -> String {
        let (text, _) = self.inner.disassemble(pc);
        let place = self.image.function(pc).map_or(String::new(), |f| format!(" in {f}"));
        format!("{place}: {text}")
    }

    /// What stopped a run with a limit of `budget` cycles, as an exception, where the firmware does not wait.
    fn ended(&self, stop: Stop, budget: u64) -> PyResult<()> {
        match stop {
            Stop::Idle => Ok(()),
            Stop::Budget => {
                let pc = self.pc();
                let ended = self.inner.memory().calls.iter().any(|c| c.fall - c.rise > budget);
                // a call that has ended meanwhile is not where the program is
                let place = if ended { String::new() } else { format!(", at pc {pc:#x}{}", self.describe(pc)) };
                Err(BudgetExceeded::new_err(format!("no end after {budget} cycles{place}")))
            }
            Stop::Fault(f) => {
                let place = match self.inner.left_flash() {
                    Some(from) => format!(", from {from:#x}{}", self.describe(from)),
                    None => self.describe(f.pc),
                };
                Err(SimulatorFault::new_err((f.kind.name(), format!("{f}{place}"))))
            }
        }
    }
}

#[pymethods]
impl Simulator {
    /// A simulator for `chip`. ValueError when its core or one of its peripherals has no model.
    #[new]
    fn new(chip: &Chip) -> PyResult<Self> {
        let inner = sim::simulator(&chip.parsed()).map_err(PyValueError::new_err)?;
        Ok(Self { inner, image: Image::default(), slice: running::SLICE, longest_slice: running::SLICE })
    }

    /// Programs the ELF file `elf` and resets.
    fn load(&mut self, elf: &[u8]) -> PyResult<()> {
        let image = Image::parse(elf).map_err(PyValueError::new_err)?;
        self.inner.load(&image).map_err(PyValueError::new_err)?;
        self.image = image;
        self.inner.memory_mut().host.to_chip.clear();
        self.inner.memory_mut().host.from_chip.clear();
        self.inner.memory_mut().calls.clear();
        Ok(())
    }

    /// Tells at which addresses the linker's pieces of the image end, which functions do not go past in `profile`.
    fn set_ends(&mut self, mut ends: Vec<u32>) {
        ends.sort_unstable();
        self.image.ends = ends;
    }

    /// Resets the chip; RAM keeps its content.
    fn reset(&mut self) {
        self.inner.reset();
    }

    /// Sends `data`, runs until the firmware waits for more, and returns what it sent. A measured
    /// call may take `budget` cycles. `ask` is called several times a second with the cycles that
    /// passed; what it raises ends the run.
    ///
    /// Raises SimulatorFault or BudgetExceeded; what was sent before stays for `pending`.
    #[pyo3(signature = (data, budget, ask=None))]
    fn exchange<'py>(
        &mut self,
        py: Python<'py>,
        data: &[u8],
        budget: u64,
        ask: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.inner.memory_mut().host.to_chip.extend(data);
        let stop = py.detach(|| self.advance(budget, ask.as_ref()))?;
        self.ended(stop, budget)?;
        Ok(self.pending(py))
    }

    /// With True, what runs until False is forgotten by the timing model's branch predictor: later calls take as long as
    /// without it.
    fn set_aside(&mut self, on: bool) {
        self.inner.set_aside(on);
    }

    /// Gives the chip `data` and runs at most `budget` cycles more; whether the firmware waits for a byte. For whoever
    /// keeps the time outside of the chip.
    ///
    /// Raises SimulatorFault; what was sent before stays for `pending`.
    fn run(&mut self, py: Python<'_>, data: &[u8], budget: u64) -> PyResult<bool> {
        self.inner.memory_mut().host.to_chip.extend(data);
        match py.detach(|| self.inner.run(budget)) {
            Stop::Idle => Ok(true),
            Stop::Budget => Ok(false),
            Stop::Fault(f) => Err(SimulatorFault::new_err((f.kind.name(), f.to_string()))),
        }
    }

    /// Takes the trigger's pulses since the last time, oldest first: cycles since reset of rising and falling edge; of
    /// one that has not ended, which stays, the rising edge alone.
    fn pulses(&mut self) -> Vec<(u64, Option<u64>)> {
        let memory = self.inner.memory_mut();
        let ended = std::mem::take(&mut memory.calls);
        ended.iter().map(|c| (c.rise, Some(c.fall))).chain(memory.rose().map(|rise| (rise, None))).collect()
    }

    /// Bytes that the firmware has not taken yet.
    #[getter]
    fn waiting(&self) -> usize {
        self.inner.memory().host.to_chip.len()
    }

    /// Cycles of the serial port's clock that a bit takes on its line, as the firmware has set its divider; None where the
    /// chip has no port in hardware.
    #[getter]
    fn bit(&self) -> Option<f64> {
        self.inner.memory().bit()
    }

    /// Takes the bytes that the firmware sent.
    fn pending<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = std::mem::take(&mut self.inner.memory_mut().host.from_chip);
        PyBytes::new(py, &bytes)
    }

    /// Takes the calls measured since the last time, as (cycles, stack bytes, unaligned accesses, bytes of stack down to
    /// the lowest that was written).
    fn calls(&mut self) -> Vec<CallTuple> {
        let calls = std::mem::take(&mut self.inner.memory_mut().calls);
        calls.iter().map(|c| (c.fall - c.rise, c.sp.saturating_sub(c.sp_min), c.unaligned, c.written)).collect()
    }

    /// Takes the writes outside their own memory of the calls that `calls` returns next, as (index of the call, kind of
    /// memory, whether an input changed, address, symbol, bytes, distance in bytes from the end of the output, bytes to the last
    /// one).
    fn strays(&mut self) -> Vec<StrayTuple> {
        let memory = self.inner.memory_mut();
        let before = memory.finished - memory.calls.len() as u64;
        let strays = std::mem::take(&mut memory.watch.strays);
        let tuple = |s: &Stray| {
            let symbol = self.image.variable(s.address).unwrap_or_default().to_owned();
            let changed = matches!(s.area, Area::Input(_, true));
            // calls are counted when they have ended, so the first one is number 1
            Some((s.call.checked_sub(before + 1)?, s.area.name(), changed, s.address, symbol, s.count, s.past, s.span))
        };
        strays.iter().filter_map(tuple).collect()
    }

    /// Forgets which bytes of RAM were written.
    fn clear_written(&mut self) {
        self.inner.memory_mut().clear_written();
    }

    /// Longest run of RAM bytes that no store touched, between the end of static data and the top of RAM.
    fn longest_untouched(&self) -> u32 {
        let m = self.inner.memory();
        let top = m.ram_base + m.ram.len() as u32;
        let mask = if m.ram_base < 0x1_0000 { 0xFFFF } else { u32::MAX };
        self.image.address("sy_free_start").map_or(0, |start| m.longest_untouched(start & mask, top))
    }

    /// Sends `data` as `exchange` does and sums up the cycles of measured calls by function.
    ///
    /// Returns the call tree as (function, parent's index, calls, cycles in itself), callers first; a
    /// root's parent is itself.
    #[pyo3(signature = (data, budget, ask=None))]
    fn profile(
        &mut self,
        py: Python<'_>,
        data: &[u8],
        budget: u64,
        ask: Option<Py<PyAny>>,
    ) -> PyResult<Vec<(String, usize, u64, u64)>> {
        let (spans, names): (Vec<_>, Vec<_>) =
            self.image.code().into_iter().map(|(r, name)| (Span { start: r.start, end: r.end }, name)).unzip();
        self.inner.set_profile(Some(Profile::new(spans)));
        let result = self.exchange(py, data, budget, ask).map(|_| ());
        let tree = self.inner.set_profile(None);
        result?;
        let nodes = tree.as_ref().map_or(&[][..], Profile::nodes);
        Ok(nodes.iter().map(|n| (names[n.function].clone(), n.parent, n.calls, n.cycles)).collect())
    }

    /// Sends `data` as `exchange` does and sums up the cycles of measured calls by cause, one instruction at a time:
    /// (cause, kind of instruction, times, cycles). They add up to the calls' cycles.
    #[pyo3(signature = (data, budget, ask=None))]
    fn causes(
        &mut self,
        py: Python<'_>,
        data: &[u8],
        budget: u64,
        ask: Option<Py<PyAny>>,
    ) -> PyResult<Vec<(&'static str, &'static str, u64, u64)>> {
        self.inner.set_shares(true);
        let longest = self.longest_slice;
        self.longest_slice = longest.min(running::SLICE_IN_PIECES);
        self.slice = self.slice.min(self.longest_slice);
        let result = self.exchange(py, data, budget, ask).map(|_| ());
        self.longest_slice = longest;
        let shares = self.inner.set_shares(false).unwrap_or_default();
        result?;
        Ok(shares.into_iter().map(|((cause, work), s)| (cause.name(), work.name(), s.times, s.cycles)).collect())
    }

    /// Sends `data` and counts instructions of measured calls: ({mnemonic: count}, taken branches).
    ///
    /// Goes one instruction at a time; an IT block or a skipped instruction counts as it is stepped.
    #[pyo3(signature = (data, budget, ask=None))]
    fn instruction_mix(
        &mut self,
        py: Python<'_>,
        data: &[u8],
        budget: u64,
        ask: Option<Py<PyAny>>,
    ) -> PyResult<(HashMap<String, u64>, u64)> {
        self.inner.memory_mut().host.to_chip.extend(data);
        let counted = py.detach(|| self.count(budget, ask.as_ref()));
        self.inner.single_step(false);
        let (stop, at, taken) = counted?;
        self.ended(stop, budget)?;
        let mut mix: HashMap<String, u64> = HashMap::new();
        for (pc, count) in at {
            let text = self.inner.disassemble(pc).0;
            let mnemonic = text.split_whitespace().next().unwrap_or("?").to_owned();
            *mix.entry(mnemonic).or_default() += count;
        }
        Ok((mix, taken))
    }

    /// Runs up to `count` instructions one by one. Returns the registers before each, 32 bits little-endian
    /// in the order of `registers`; stops early at a fault or where the firmware waits.
    fn trace<'py>(&mut self, py: Python<'py>, count: usize) -> Bound<'py, PyBytes> {
        let mut states = Vec::new();
        for _ in 0..count {
            states.extend(self.inner.registers().iter().flat_map(|(_, v)| v.to_le_bytes()));
            if self.inner.step() != Stop::Budget {
                break;
            }
        }
        PyBytes::new(py, &states)
    }

    /// What a debug port reads: `count` bytes of RAM, flash, or registers of peripherals. ValueError where nothing is.
    fn read<'py>(&mut self, py: Python<'py>, address: u32, count: usize) -> PyResult<Bound<'py, PyBytes>> {
        let memory = self.inner.memory_mut();
        PyBytes::new_with(py, count, |into| memory.peek(address, into).ok_or_else(|| nothing_at(address)))
    }

    /// What a debug port writes: bytes of RAM, or registers of peripherals. ValueError where neither is.
    fn write(&mut self, address: u32, data: &[u8]) -> PyResult<()> {
        self.inner.memory_mut().poke(address, data).ok_or_else(|| nothing_at(address))
    }

    /// Values of the registers, in the order of `registers`.
    #[getter]
    fn values(&self) -> Vec<u32> {
        self.inner.registers().into_iter().map(|(_, v)| v).collect()
    }

    /// Sets the registers, in the order of `registers`; a program that had crashed goes on. ValueError for a core without
    /// a debug port.
    fn set_values(&mut self, values: Vec<u32>) -> PyResult<()> {
        if self.inner.set_registers(&values) {
            return Ok(());
        }
        Err(PyValueError::new_err("the core has no debug port, or other registers"))
    }

    /// Puts a peripheral of `size` bytes at `base`: an object with `read(offset, size) -> int` and
    /// `write(offset, size, value)`, either of which raises what it likes where there is no register.
    fn attach(&mut self, base: u32, size: u32, object: Py<PyAny>) {
        self.inner.memory_mut().attach(base, size, Box::new(Foreign(object)));
    }

    /// Names of the registers, in the order of `trace`.
    #[getter]
    fn registers(&self) -> Vec<&'static str> {
        self.inner.registers().into_iter().map(|(n, _)| n).collect()
    }

    /// Assembly text of the instruction at `pc`.
    fn disassemble(&self, pc: u32) -> String {
        self.inner.disassemble(pc).0
    }

    /// Cycles since reset.
    #[getter]
    fn cycles(&self) -> u64 {
        self.inner.cycles()
    }

    /// Identity of the timing model.
    #[getter]
    fn timing_model(&self) -> &'static str {
        self.inner.timing_id()
    }
}

fn nothing_at(address: u32) -> PyErr {
    PyValueError::new_err(format!("nothing at {address:#010x}"))
}

/// An argument of a call: a number with its bytes, or what a pointer points to.
#[derive(FromPyObject)]
enum Given {
    Number(u64, u8),
    Pointer(Vec<u8>),
}

/// An image that is not ours: an ELF file, or bytes by their addresses.
#[derive(FromPyObject)]
enum Program {
    Elf(Vec<u8>),
    Pieces(Vec<(u32, Vec<u8>)>),
}

/// A register that is compared: address, bits, what they are assumed to be, its value after a reset, where no model knows
/// it, and the byte that selects it, where several share the address.
type GivenSetting = (u32, u32, u32, Option<u32>, Option<u8>);

/// Runs an image that is not ours on `chip`. `call` is the
/// address of a function that runs alone, with its `arguments`; `trigger` that of one whose calls are measured; `memories`
/// are those of the chip that have no model: what they are called, first address and bytes; `settings` are
/// registers that are compared. `entry` is where bytes begin on cores without vectors, if they say so.
///
/// Returns what was seen as JSON. ValueError with a sentence where the image is not for the chip, or the call cannot be
/// made.
#[pyfunction]
#[pyo3(signature = (chip, image, entry, call, arguments, trigger, input, memories, settings, cycles, seconds))]
#[allow(clippy::too_many_arguments)]
fn simulate(
    py: Python<'_>,
    chip: &Chip,
    image: Program,
    entry: Option<u32>,
    call: Option<u32>,
    arguments: Vec<Given>,
    trigger: Option<u32>,
    input: Vec<u8>,
    memories: Vec<(String, u32, u32)>,
    settings: Vec<GivenSetting>,
    cycles: u64,
    seconds: f64,
) -> PyResult<String> {
    let given = |a| match a {
        Given::Number(value, bytes) => Argument::Number(value, bytes),
        Given::Pointer(bytes) => Argument::Pointer(bytes),
    };
    let call = call.map(|entry| (entry, arguments.into_iter().map(given).collect()));
    let setting = |(address, mask, assumed, reset, select)| Setting { address, mask, assumed, reset, select };
    let settings = settings.into_iter().map(setting).collect();
    let asked = Asked { call, trigger, input, memories, settings, cycles, seconds };
    let image = match image {
        Program::Elf(file) => Image::parse(&file).map_err(PyValueError::new_err)?,
        Program::Pieces(some) => {
            let segments = some.into_iter().map(|(at, b)| Segment::of(at, b)).collect();
            Image { segments, entry, ..Image::default() }
        }
    };
    let mut interrupted = None;
    let seen = py.detach(|| {
        foreign::run(&chip.parsed(), &image, &asked, &mut || {
            interrupted = Python::attach(|py| py.check_signals()).err();
            interrupted.is_none()
        })
    });
    if let Some(e) = interrupted {
        return Err(e);
    }
    let seen = seen.map_err(PyValueError::new_err)?;
    let (end, fault, text) = match seen.end {
        End::Returned => ("returned", None, String::new()),
        End::Waits => ("waits", None, String::new()),
        End::Loops => ("loops", None, String::new()),
        End::Sleeps => ("sleeps", None, String::new()),
        End::Cycles => ("cycles", None, String::new()),
        End::Time => ("time", None, String::new()),
        End::Output => ("output", None, String::new()),
        End::Fault(kind, text) => ("fault", Some(kind), text),
    };
    let code = image.code();
    let place = |pc: u32| Image::within(&code, pc).unwrap_or_default().to_owned();
    let calls = |some: &[Measured]| -> Vec<_> { some.iter().map(|c| (c.began, c.cycles, c.stack)).collect() };
    let named = |register| match register {
        Register::At(address) => (Some(address), String::new()),
        Register::Control(number) => (None, sim::csr_name(number)),
    };
    let used = seen.unmodelled.iter().map(|&(register, reads, writes, first, last)| {
        let (address, name) = named(register);
        (address, name, reads, writes, (first, place(first)), (last, place(last)))
    });
    let said = serde_json::json!({
        "end": end,
        "fault": fault,
        "text": text,
        "pc": seen.pc,
        "function": place(seen.pc),
        "cycles": seen.cycles,
        "calls": calls(&seen.calls),
        "counted": seen.counted,
        "left": seen.left,
        "doubtful": seen.doubtful,
        "unfinished": seen.unfinished,
        "pulses": calls(&seen.pulses),
        "pulsed": seen.pulsed,
        "result": seen.result,
        "buffers": seen.buffers,
        "output": seen.output,
        "functions": seen.functions,
        "unmodelled": used.collect::<Vec<_>>(),
        "unaligned": seen.unaligned,
        "interrupts": seen.interrupts,
        "settings": seen.settings,
        "left_out": seen.left_out,
        "round": seen.round.iter().map(|&register| named(register)).collect::<Vec<_>>(),
        "timing_model": seen.timing,
    });
    Ok(said.to_string())
}

#[pymodule]
fn _native(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Simulator>()?;
    m.add_class::<Chip>()?;
    m.add_class::<Region>()?;
    m.add_class::<frame::Decoder>()?;
    m.add_function(wrap_pyfunction!(frame::encode, m)?)?;
    m.add_function(wrap_pyfunction!(elf::elf_sections, m)?)?;
    m.add_function(wrap_pyfunction!(elf::elf_segments, m)?)?;
    m.add_function(wrap_pyfunction!(elf::elf_symbols, m)?)?;
    m.add_function(wrap_pyfunction!(elf::elf_address, m)?)?;
    m.add_function(wrap_pyfunction!(elf::elf_code, m)?)?;
    m.add_function(wrap_pyfunction!(simulate, m)?)?;
    m.add("SimulatorFault", m.py().get_type::<SimulatorFault>())?;
    m.add("BudgetExceeded", m.py().get_type::<BudgetExceeded>())?;
    m.add("CORES", sim::CORES.to_vec())?;
    Ok(())
}
