//! What ELF files contain.

use ::elf::{File, Kind};
use mcu::Image;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// A section: name, address, bytes, and "code", "constants", "data" or "bss"; "" when it is not in memory.
type SectionTuple = (String, u64, u64, &'static str);
/// A symbol: name, bytes, whether it is local, the kind of its section, "undefined" or "common", "" for others; and the
/// bytes of its section from it on.
type SymbolTuple = (String, u64, bool, &'static str, u64);

fn file(elf: &[u8]) -> PyResult<File<'_>> {
    File::parse(elf).map_err(PyValueError::new_err)
}

/// Sections of an ELF file. ValueError when it is not one.
#[pyfunction]
pub(crate) fn elf_sections(elf: &[u8]) -> PyResult<Vec<SectionTuple>> {
    let kind = |k: Option<Kind>| k.map_or("", Kind::name);
    Ok(file(elf)?.sections.into_iter().map(|s| (s.name.into_owned(), s.address, s.size, kind(s.kind))).collect())
}

/// What a loader takes of an ELF file: physical addresses with their bytes. ValueError when it is not one.
#[pyfunction]
pub(crate) fn elf_segments<'py>(py: Python<'py>, elf: &[u8]) -> PyResult<Vec<(u64, Bound<'py, PyBytes>)>> {
    let segments = file(elf)?.segments().map_err(PyValueError::new_err)?;
    Ok(segments.into_iter().map(|s| (s.address, PyBytes::new(py, s.bytes))).collect())
}

/// Symbols of an ELF file that have a name. ValueError when it is not one.
#[pyfunction]
pub(crate) fn elf_symbols(elf: &[u8]) -> PyResult<Vec<SymbolTuple>> {
    let symbols = file(elf)?.symbols().map_err(PyValueError::new_err)?;
    Ok(symbols.into_iter().map(|s| (s.name.into_owned(), s.size, s.local, s.place.name(), s.left)).collect())
}

/// Address of an image's symbol; None where it has none of that name. ValueError when it is not an image.
#[pyfunction]
pub(crate) fn elf_address(elf: &[u8], name: &str) -> PyResult<Option<u32>> {
    Ok(Image::parse(elf).map_err(PyValueError::new_err)?.address(name))
}

/// Address of the code that has this name, global or not; None where there is none. ValueError when it is not an image.
#[pyfunction]
pub(crate) fn elf_code(elf: &[u8], name: &str) -> PyResult<Option<u32>> {
    let image = Image::parse(elf).map_err(PyValueError::new_err)?;
    let mut found: Vec<_> = image.symbols.iter().filter(|s| s.name == name && (s.code || s.function)).collect();
    found.sort_by_key(|s| (!s.function, !s.global));
    Ok(found.first().map(|s| s.address))
}
