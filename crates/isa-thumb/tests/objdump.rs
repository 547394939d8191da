//! The disassembler against `arm-none-eabi-objdump`: all 16-bit encodings, random 32-bit ones.

use std::collections::BTreeMap;
use std::process::Command;

use isa::Core as _;
use isa_thumb::{Features, Thumb};
use mcu::{Chip, Memory};
use random::Random;

const BASE: u32 = 0x0800_0000;

fn core(code: &[u8], features: Features) -> Thumb {
    let chip = Chip::of_memories((BASE, 4 << 20), (0x2000_0000, 0x1000));
    let mut memory = Memory::new(&chip).expect("the chip is possible");
    memory.flash[..code.len()].copy_from_slice(code);
    Thumb::with_features(memory, features)
}

/// Text of each instruction by address; none when objdump is missing.
fn objdump(name: &str, code: &[u8]) -> Option<BTreeMap<u32, String>> {
    let path = std::env::temp_dir().join(format!("steelyard-{name}-{}.bin", std::process::id()));
    std::fs::write(&path, code).expect("the temporary directory is writable");
    let out = Command::new("arm-none-eabi-objdump")
        .args(["-D", "-z", "-b", "binary", "-m", "arm", "-M", "force-thumb,reg-names-std"])
        .arg(format!("--adjust-vma={BASE:#x}"))
        .arg(&path)
        .output();
    let _ = std::fs::remove_file(&path);
    let Ok(out) = out else {
        eprintln!("skipped: arm-none-eabi-objdump is not installed");
        return None;
    };
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let lines = text.lines().filter_map(|l| {
        let mut columns = l.split('\t');
        let address = u32::from_str_radix(columns.next()?.trim().strip_suffix(':')?, 16).ok()?;
        let text = columns.skip(1).collect::<Vec<_>>().join(" ");
        Some((address, text))
    });
    Some(lines.collect())
}

/// Removes comments, spacing and spellings that mean the same.
fn normal(text: &str) -> String {
    let text = text.split([';', '<', '@']).next().unwrap_or("").trim().to_lowercase();
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((&text, ""));
    let name = match name {
        "negs" => return format!("rsbs {},#0", rest.replace(' ', "")), // the same instruction
        "svc" => return format!("svc {}", rest.trim().trim_start_matches('#')),
        name => name,
    };
    let name = name.trim_end_matches(".w").trim_end_matches(".n");
    let rest: String = rest.chars().filter(|c| !c.is_whitespace()).collect();
    // an offset of zero is shown or not, with its sign or not
    let rest = rest.replace(",#0]", "]").replace(",#-0]", "]").replace("],#0", "]").replace("],#-0", "]");
    let rest = if rest.rsplit('[').next().is_some_and(|b| b.contains(',')) { rest } else { rest.replace("]!", "]") };
    format!("{name} {rest}").trim().to_owned()
}

/// Instructions of other cores, which objdump knows and one with `features` does not have.
fn foreign(theirs: &str, features: Features) -> bool {
    const NAMES: &str = "undefined .inst .word .short hlt setend setpan bxns blxns blx bxj rfe srs smc hvc eret sg tt esb csdb ssbb \
        pssbb mcr mrc mrrc cdp ldc stc v cx crc lda stl dls wls le bf lctp csel csinc csinv csneg cset cinc cinv \
        cneg clrm asrl lsll lsrl sqrshr uqrshl urshr srshr uqshl sqshl sb pacg bxaut aut pac ldrexd strexd pldw dcps \
        letp";
    const DSP: &str = "pkh qadd qsub qdadd qdsub qasx qsax sadd ssub sasx ssax shadd shsub shasx shsax uadd usub uasx usax uhadd \
        uhsub uhasx uhsax uqadd uqsub uqasx uqsax sel smla smul smml smmul smua smus smls usad umaal sxtab sxtah \
        uxtab uxtah sxtb16 uxtb16 ssat16 usat16 smlad smlsd";
    let dsp = if features.has(Features::DSP) { "" } else { DSP };
    NAMES.split(' ').chain(dsp.split_terminator(' ')).any(|n| theirs.starts_with(n))
}

/// Whether the texts of an encoding agree, or how they may differ.
fn agree(word: u32, ours: &str, raw: &str, features: Features) -> bool {
    let (a, b) = (normal(ours), normal(raw));
    let unprivileged = a.contains(",[pc,") && b.replacen("t ", " ", 1) == a; // a literal load all the same
    a == b
        || unprivileged
        || (a == "mov r8,r8" && b == "nop")
        || ours.starts_with(".inst") && (foreign(&b, features) || unpredictable(&b, raw) || odd(word))
}

/// Fields that must have other values, which objdump ignores.
fn odd(word: u32) -> bool {
    let top = word >> 16;
    let imm12 = word >> 15 & 0x800 | word >> 4 & 0x700 | word & 0xFF;
    let msb = word & 0x1F;
    let lsb = word >> 10 & 0x1C | word >> 6 & 3;
    top == 0 && word >> 6 == 0x4500 >> 6                                          // CMP of two low registers
        || top & 0xEC00 == 0xEC00                                        // coprocessors
        || top & 0xFA00 == 0xF000 && imm12 & 0xFF == 0 && imm12 & 0x300 != 0 && imm12 < 0x400
        || top & 0xFE00 == 0xF800 && word & 0xFC0 != 0                   // index with other bits
        || top & 0xFF70 == 0xF340 && lsb + msb > 31                      // SBFX, UBFX beyond the word
        || top & 0xFFF0 == 0xF360 && msb < lsb                           // BFI, BFC upside down
        || top & 0xFFE0 == 0xF3E0                                        // MRS of no register or a reserved bit
        || top & 0xFFE0 == 0xF380                                        // MSR likewise
        || top & 0xFF80 == 0xFB80 && word >> 12 & 15 == word >> 8 & 15   // both halves to one register
        || top & 0xFF70 == 0xF320 && word & 0x10 != 0                    // SSAT16, USAT16 beyond the halfword
        || top & 0xFFF0 == 0xFA90 && top & 15 != word & 15               // REV and RBIT of two registers
        || top == 0 && word & 0xFFE8 == 0xB660                           // CPS of no mask or of A
        || top == 0 && word & 0xFF00 == 0x4700 && word & 7 != 0 // BX, BLX with low bits
}

/// Encodings that the architecture makes undefined or unpredictable are not instructions here; objdump marks some of
/// them, and shows the others with operands that are not allowed.
fn unpredictable(theirs: &str, raw: &str) -> bool {
    let raw = raw.to_lowercase();
    let operands = theirs.split_once(' ').map_or("", |(_, o)| o);
    let names: Vec<&str> = operands.split(|c: char| !c.is_alphanumeric()).filter(|n| !n.is_empty()).collect();
    let special = names.iter().any(|n| ["sp", "pc"].contains(n));
    let memory = ["ld", "st"].iter().any(|n| theirs.starts_with(n));
    let repeated = memory && (1..names.len()).any(|k| names[..k].contains(&names[k]));
    let short_list = memory && operands.contains('{') && !operands.contains("},") && names.len() == 2;
    raw.contains("undefined")
        || raw.contains("{}")
        || raw.contains("unpredictable")
        || raw.contains("??")
        || special
        || repeated
        || short_list
}

#[test]
fn all_narrow_encodings_read_as_objdump_reads_them() {
    let words: Vec<u16> = (0..0xE800u32).map(|w| w as u16).collect();
    let code: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes().into_iter().chain([0x00, 0xBF])).collect();
    let cpu = core(&code, Features::CORTEX_M3);
    let Some(theirs) = objdump("narrow", &code) else { return };
    let mut wrong = Vec::new();
    let mut guarded = 0;
    for (k, w) in words.iter().enumerate() {
        let pc = BASE + 4 * k as u32;
        let (ours, bytes) = cpu.disassemble(pc);
        assert_eq!(bytes, 2, "{w:#06x}");
        let Some(raw) = theirs.get(&pc) else {
            wrong.push(format!("{w:#06x}: objdump has no line"));
            continue;
        };
        // objdump carries an IT's conditions into later instructions
        let after_it = (1..=4).any(|n| k >= n && words[k - n] & 0xFF00 == 0xBF00 && words[k - n] & 0xF != 0);
        if after_it {
            guarded += 1;
        } else if !agree(u32::from(*w), &ours, raw, Features::CORTEX_M3) {
            wrong.push(format!("{w:#06x}: {:?}, objdump {:?}", normal(&ours), raw));
        }
    }
    assert!(guarded < 300, "{guarded}");
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong[..wrong.len().min(60)].join("\n"));
}

#[test]
fn random_wide_encodings_read_as_objdump_reads_them() {
    wide("wide", Features::CORTEX_M3);
}

#[test]
fn random_wide_encodings_with_dsp_read_as_objdump_reads_them() {
    wide("dsp", Features::CORTEX_M4);
}

/// Instructions of ARMv6-M read as on a Cortex-M3; anything else is not an instruction. The list is that of
/// DDI 0419 (ARMv6-M architecture reference manual), A5.2 and A5.3.
#[test]
fn only_armv6_m_is_an_instruction_on_a_cortex_m0plus() {
    let mut numbers = Random::new(0);
    let random = (0..400_000).map(|_| numbers.word()).map(|w| {
        // half of them near the few 32-bit instructions
        if w & 1 == 0 { w | 0xE000_0000 } else { 0xF380_8000 | w & 0x7F_7FFF }
    });
    let words = (0..0xE800u32).map(|w| w << 16).chain(random.filter(|w| w >> 27 > 0x1C));
    let (mut small, mut large) = (core(&[], Features::CORTEX_M0PLUS), core(&[], Features::CORTEX_M3));
    let mut wide = 0;
    for w in words {
        let code = [(w >> 16) as u16, w as u16];
        for cpu in [&mut small, &mut large] {
            cpu.memory_mut().flash[..2].copy_from_slice(&code[0].to_le_bytes());
            cpu.memory_mut().flash[2..4].copy_from_slice(&code[1].to_le_bytes());
        }
        let (ours, theirs) = (small.disassemble(BASE).0, large.disassemble(BASE).0);
        let top = w >> 16;
        let special = |n: u32| !(17..=19).contains(&n);
        let v6 = match top {
            0..0xE800 => {
                top & 0xF500 != 0xB100
                    && !(top & 0xFF00 == 0xBF00 && top & 15 != 0)
                    && (top & 0xFFE8 != 0xB660 || top & 7 == 2)
            }
            0xF000..0xF800 => match (top, w & 0xFFFF) {
                (_, low) if low & 0xD000 == 0xD000 => true,                             // BL
                (0xF380..0xF390, low) => low & 0xFF00 == 0x8800 && special(low & 0xFF), // MSR
                (0xF3EF, low) => low & 0xF000 == 0x8000 && special(low & 0xFF),         // MRS
                (0xF3BF, low) => (0x8F40..0x8F70).contains(&low),                       // DSB, DMB, ISB
                (0xF7F0..0xF800, low) => low & 0xF000 == 0xA000,                        // UDF
                _ => false,
            },
            _ => false,
        };
        if v6 {
            assert_eq!(ours, theirs, "{w:#010x}");
            wide += u32::from(top >= 0xE800 && !ours.starts_with(".inst"));
        } else {
            assert!(ours.starts_with(".inst"), "{w:#010x} is {ours}");
        }
    }
    assert!(wide > 10_000, "{wide}");
}

fn wide(name: &str, features: Features) {
    let mut numbers = Random::new(1);
    let mut random = || numbers.word();
    let words: Vec<u32> = (0..200_000)
        .map(|k| {
            let w = random();
            let first = match k % 4 {
                0 => 0xE800 | w >> 16 & 0x17FF, // every major group
                1 => 0xF000 | w >> 16 & 0x07FF, // immediates and branches
                2 => 0xF800 | w >> 16 & 0x03FF, // loads, stores, registers, multiplication
                _ => 0xE800 | w >> 16 & 0x03FF, // several registers, shifted registers
            };
            // half of the second halfwords have plausible fixed bits
            let second = if random() & 1 == 0 { w & 0xFFFF } else { w & 0x7FFF };
            let second = if first >= 0xFA00 && random() & 1 == 0 { second & 0x0F3F | 0xF000 } else { second };
            first << 16 | second
        })
        .collect();
    let code: Vec<u8> =
        words.iter().flat_map(|w| [(w >> 16) as u16, *w as u16, 0xBF00, 0xBF00]).flat_map(u16::to_le_bytes).collect();
    let cpu = core(&code, features);
    let Some(theirs) = objdump(name, &code) else { return };
    let mut wrong = Vec::new();
    let mut same = 0;
    for (k, w) in words.iter().enumerate() {
        let pc = BASE + 8 * k as u32;
        let (ours, bytes) = cpu.disassemble(pc);
        assert_eq!(bytes, 4, "{w:#010x}");
        let Some(raw) = theirs.get(&pc) else {
            wrong.push(format!("{w:#010x}: objdump has no line"));
            continue;
        };
        if !agree(*w, &ours, raw, features) {
            wrong.push(format!("{w:#010x}: {:?}, objdump {:?}", normal(&ours), raw));
        } else if !ours.starts_with(".inst") {
            same += 1;
        }
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong[..wrong.len().min(60)].join("\n"));
    assert!(same > 50_000, "only {same} encodings are instructions");
}
