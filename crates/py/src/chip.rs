//! A target's `[chip]` table as Python sees it: checked here, where its meaning is known.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value;

/// A span of addresses.
#[pyclass(module = "steelyard._native", frozen, get_all)]
#[derive(Clone, Copy)]
pub(crate) struct Region {
    /// First address.
    base: u32,
    /// Bytes.
    size: u32,
}

impl From<mcu::Region> for Region {
    fn from(region: mcu::Region) -> Self {
        Self { base: region.base, size: region.size }
    }
}

/// A chip that can be simulated, and the few of its values that Python asks for.
#[pyclass(module = "steelyard._native", frozen, eq, hash)]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Chip {
    /// The whole table, with what it leaves out.
    table: Value,
}

impl Chip {
    /// What simulation needs.
    pub(crate) fn parsed(&self) -> mcu::Chip<'_> {
        serde::Deserialize::deserialize(&self.table).expect("it was made of a chip")
    }
}

#[pymethods]
impl Chip {
    /// The chip that `table`, JSON, describes. ValueError with the place, keys and numbers with dots, and the text.
    #[new]
    fn new(table: &str) -> PyResult<Self> {
        let wrong = |place: String, text: String| PyValueError::new_err((place, text));
        let table: Value = serde_json::from_str(table).map_err(|e| wrong(String::new(), e.to_string()))?;
        let chip: mcu::Chip<'_> =
            serde_path_to_error::deserialize(&table).map_err(|e| wrong(e.path().to_string(), e.inner().to_string()))?;
        Ok(Self { table: serde_json::to_value(chip).map_err(|e| wrong(String::new(), e.to_string()))? })
    }

    /// The whole table as JSON.
    #[getter]
    fn json(&self) -> PyResult<String> {
        serde_json::to_string(&self.parsed()).map_err(|e| PyValueError::new_err(e.to_string()))
    }

    /// Peripherals that have a model: kind, first address and bytes of registers.
    #[getter]
    fn modelled(&self) -> Vec<(String, u32, u32)> {
        let chip = self.parsed();
        let of = |p: &mcu::PeripheralConfig<'_>| Some((p.kind.to_owned(), p.base, mcu::build_peripheral(p).ok()?.0));
        chip.peripherals.iter().filter_map(of).collect()
    }

    #[getter]
    fn core(&self) -> &str {
        self.parsed().core
    }

    #[getter]
    fn clock_hz(&self) -> u32 {
        self.parsed().clock_hz
    }

    #[getter]
    fn flash(&self) -> Region {
        self.parsed().flash.into()
    }

    #[getter]
    fn ram(&self) -> Region {
        self.parsed().ram.into()
    }

    fn __repr__(&self) -> String {
        format!("Chip({})", self.table)
    }
}
