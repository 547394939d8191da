//! Texts of instructions are for people: code that executes or counts must not read them.

use std::path::{Path, PathBuf};

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the sources are there").flatten().map(|e| e.path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

#[test]
fn only_disassemblers_read_the_texts_of_tables() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("it is among the others");
    for (name, rest) in [("isa-thumb", 10), ("isa-riscv", 8)] {
        let all = sources(&crates.join(name).join("src"));
        let reads = |p: &PathBuf| std::fs::read_to_string(p).expect("it is text").contains(".text");
        let (readers, others): (Vec<_>, Vec<_>) = all.iter().partition(|p| reads(p));
        assert!(others.len() >= rest, "{name}: {others:?}");
        assert!(matches!(readers[..], [one] if one.ends_with("src/disasm.rs")), "{name}: {readers:?}");
    }
}
