"""``sim`` on the command line: symbols, arguments, the serial port, what is a call, and what it says of mistakes."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from steelyard.device import simulated
from steelyard.device.client import encode
from steelyard.lab.image import from_intel_hex, intel_hex
from steelyard.model.call import Op, Request
from tests import toys
from tests.conftest import Bench, the_target

from .conftest import Cli
from .programs import VECTORS, assembled

CALL = "sim x.elf --chip ATmega328P --call"
#: a function that is local in the image
TOP = """
static unsigned char kept[4];
__attribute__((noinline, noclone)) static void copied(unsigned char *to, const unsigned char *from, unsigned n)
{
    while (n--)
        *to++ = *from++;
    __asm__ volatile("" : : : "memory");
}
"""


@pytest.fixture
def image(bench: Bench, tmp_path: Path) -> bytes:
    """An image of ours as a file, and what its serial port is sent."""
    package = bench.package(toys.files(top=TOP, in_encrypt="copied(kept, k, mlen & 3);"))
    built = bench.build(package, the_target("uno"), "-Os").images["both"]
    (tmp_path / "x.elf").write_bytes(built.read_bytes())
    client = simulated(the_target("uno"), built)
    request = encode(Request(Op.ENCRYPT, bytes(client.hello.key_bytes), bytes(client.hello.npub_bytes), b"", b"abc"))
    (tmp_path / "request").write_bytes(request)
    return client.link.exchange(request)


def test_a_program_and_its_serial_port(cli: Cli, tmp_path: Path, image: bytes) -> None:
    done = cli("sim x.elf -t uno --input request --uart answer --json --trigger crypto_aead_encrypt")
    assert done.code == 0
    said = json.loads(done.out)
    assert (said["end"], said["counted"], said["target"]) == ("waits", 1, "uno")
    [call], [pulse] = said["calls"], said["pulses"]
    assert 0 < call["cycles"] < pulse["cycles"]
    assert sum(f["exclusive"] for f in said["functions"]) == call["cycles"]
    assert (tmp_path / "answer").read_bytes() == bytes.fromhex(said["output"])
    assert image in (tmp_path / "answer").read_bytes()
    assert "the program waits at its serial port" in cli("sim x.elf -t uno").out
    assert re.search(r"^\s*x\.elf on uno", cli("sim x.elf -t uno --input request --uart -").out, re.MULTILINE)
    assert "No call of copied came to its end." in cli("sim x.elf -t uno --trigger copied").out


def test_intel_hex_is_the_image_that_it_was_made_of(cli: Cli, tmp_path: Path, image: bytes) -> None:
    made = intel_hex((tmp_path / "x.elf").read_bytes())
    (tmp_path / "x.hex").write_bytes(made)
    done = cli("sim x.hex -t uno --input request --uart answer --json")
    assert (done.code, json.loads(done.out)["end"]) == (0, "waits")
    assert image in (tmp_path / "answer").read_bytes()
    lines = made.splitlines(keepends=True)
    for wrong, why in (
        (lines[:-1], "a part of the file is missing"),
        ([lines[0], b":" + lines[1][3:], *lines[2:]], "line 2 is not a record of Intel HEX"),
        ([b":0200000055AA\nFF\n", lines[-1]], "line 1 is not a record of Intel HEX"),
        ([*lines[:-1], b":0100020055A8\n", lines[-1]], "has bytes at 0x2, which another line has, too"),
        ([lines[-1]], "Intel HEX without a byte"),
        ([b":06000004FFFFFFFFFFFFFC\n:0100000055AA\n", lines[-1]], "line 1 has a base of 6 bytes"),
        ([b":02000004FFFFFC\n:02FFFF005555" + b"56\n", lines[-1]], "beyond 32 bits"),
    ):
        (tmp_path / "x.hex").write_bytes(b"".join(wrong))
        assert why in cli("sim x.hex -t uno").err
    for before in (b"\n", b"\r\n \n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"):  # as editors leave them
        (tmp_path / "x.hex").write_bytes(before + made)
        assert json.loads(cli("sim x.hex -t uno --json").out)["end"] == "waits"
    # a base in paragraphs of 16 bytes, and bytes that no record has
    text = b":020000021000EC\n:01000100FFFF\n:0100030011EB\n:0100020022DB\n:0100090033C3\n:00000001FF\n"
    assert from_intel_hex(text) == [(0x10001, b"\xff\x22\x11"), (0x10009, b"\x33")]
    # settings that a programmer writes are in no memory that runs
    (tmp_path / "x.hex").write_bytes(b":02000004008278\n:03000000FFDEFD23\n:020000040000FA\n" + made)
    done = cli("sim x.hex -t uno")
    assert done.code == 0
    assert "Left out, no memory that runs: 3 bytes at 0x820000." in done.err + done.out


def test_intel_hex_begins_where_it_says(cli: Cli, tmp_path: Path) -> None:
    assembled(tmp_path, ".globl _start\nfirst: break\n    break\n_start: break\n")
    lines = intel_hex((tmp_path / "x.elf").read_bytes()).splitlines(keepends=True)
    for start, pc in ((b"", 0), (b":0400000300000004F5\n", 4), (b":0400000500000004F3\n", 4)):
        (tmp_path / "x.hex").write_bytes(b"".join([*lines[:-1], start, lines[-1]]))
        assert json.loads(cli("sim x.hex -t uno --json").out)["pc"] == pc
    (tmp_path / "x.hex").write_bytes(b"".join([*lines[:-1], b":020000030000FB\n", lines[-1]]))
    assert "has a start of 2 bytes; Intel HEX has four" in cli("sim x.hex -t uno").err
    assert json.loads(cli("sim x.elf -t uno --json").out)["pc"] == 4


def test_one_function(cli: Cli, image: bytes) -> None:
    said = cli(f"{CALL} copied --arg @4 --arg @hex:01020304 --arg 3 --json")
    assert said.code == 0
    assert json.loads(said.out)["buffers"] == ["01020300", "01020304"]
    wrong = cli(f"{CALL} copied --arg @400 --arg @400 --arg 400 --max-cycles 3")
    assert (wrong.code, "the cycles were used up" in wrong.out) == (1, True)


def test_an_object_has_to_be_linked_first(cli: Cli, tmp_path: Path) -> None:
    spec = the_target("uno").toolchain
    (tmp_path / "f.s").write_text("f: ret\n")
    subprocess.run([spec.compiler, *spec.flags, "-c", "f.s"], cwd=tmp_path, check=True)
    for option in ("", " --call f", " --trigger 0"):
        done = cli(f"sim f.o -t uno{option}")
        assert (done.code, done.out) == (2, "")
        assert "f.o: is an object file, whose code has no addresses yet; link it first" in done.err


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (f"{CALL} copeid", "--call: the image has no function 'copeid'; did you mean copied?"),
        (f"{CALL} copied --arg 1x", "--arg '1x': write a number, 5 or 0x10:8, or a pointer"),
        (f"{CALL} copied --arg 256:1", "--arg '256:1': does not fit into 1 bytes"),
        (f"{CALL} copied --arg {'9' * 5000}", "99...': does not fit into 8 bytes"),
        ("sim x.elf --chip uno --trigger 0016385", "there is no code at 0x4001"),
        (f"{CALL} copied --arg @file:none", "none: No such file or directory; name another file"),
        (f"{CALL} copied --trigger copied", "--call and --trigger: leave one of them out"),
        ("sim x.elf --chip uno --arg 3", "--arg: is for --call; name a function"),
        ("sim x.elf --chip uno --trigger 0x4000", "x.elf on uno: there is no code at 0x4000"),
        ("sim x.elf --chip uno --call 0x800100", "x.elf on uno: there is no code at 0x800100"),
        ("sim x.elf", "--chip: name a target, or its chip"),
        ("sim x.elf --chip unno", "unknown chip 'unno'; did you mean uno"),
        ("sim x.elf --chip zzz", "known: atmega128, atmega328p, atmega32u4"),
        ("sim x.elf --chip uno --base 0", "--base: an ELF file says itself where its bytes belong; leave it out"),
        ("sim x.elf --chip host", "host is a machine, and no chip that is simulated"),
        ("sim x.elf --chip bluepill", "x.elf on bluepill: the image is for AVR (e_machine 83), the chip is Arm (40)"),
        ("sim none.elf --chip uno", "none.elf: No such file or directory; name another image"),
        ("sim request --chip uno", "request: begins as neither ELF nor Intel HEX do; give --base if these"),
        ("sim x.elf --chip uno --uart x.elf", "--uart x.elf: is the file of IMAGE too; name another file"),
        ("sim x.elf --chip uno --uart ./x.elf", "--uart x.elf: is the file of IMAGE too"),
        ("sim x.elf --chip uno --input request --uart request", "--uart request: is the file of --input too"),
        ("sim x.elf --chip uno --uart a.json -o a.json", "-o a.json: is the file of --uart too"),
        ("sim x.elf --chip uno --call copied --arg @file:request --uart request", "is the file of --arg @file:request"),
        ("sim request --chip uno --format json -o request", "-o request: is the file of IMAGE too"),
        (
            "sim request --chip uno --base 0 --trigger work",
            "these are bytes without symbols; give an address, or an ELF file",
        ),
    ],
)
def test_mistakes(cli: Cli, image: bytes, command: str, why: str) -> None:
    said = cli(command)
    assert why in said.err
    assert said.code in (1, 2)
    assert said.out == ""


#: counts to 2^18 in memory, and at the head of its loop all registers are as they were; then it stops
COUNTS = """
_start: clr r1
1:  lds r24, 0x100
    lds r25, 0x101
    lds r26, 0x102
    adiw r24, 1
    adc r26, r1
    sts 0x100, r24
    sts 0x101, r25
    sts 0x102, r26
    cpi r26, 4
    breq 2f
    clr r24
    clr r25
    clr r26
    rjmp 1b
2:  break
"""
#: asks its serial port for a byte 5000 times, then it stops
ASKS = """
_start: ldi r24, 136
    ldi r25, 19
1:  lds r18, 0xC0
    sbrc r18, 7
    rjmp 2f
    sbiw r24, 1
    brne 1b
2:  break
"""
#: every other call of f goes to where its caller goes on, and not to where it was called
LEAVES = """
_start: ldi r16, 8
    out 0x3e, r16
    clr r20
1:  rcall f
    nop
2:  inc r20
    cpi r20, 6
    brne 1b
    break
f:  sbrc r20, 0
    ret
    pop r0
    pop r0
    rjmp 2b
"""


def test_a_call_that_is_left_by_a_jump_is_not_counted(cli: Cli, tmp_path: Path) -> None:
    assembled(tmp_path, LEAVES)
    done = cli("sim x.elf -t uno --trigger f --json")
    said = json.loads(done.out)
    assert [c["cycles"] for c in said["calls"]] == [5, 5, 5], "sbrc and ret"
    assert sum(f["cycles"] for f in said["tree"]) == 15, "what is done after a jump is not theirs"
    assert "3 calls not counted: left by a jump to the caller or past it" in done.err
    done = cli(f"sim x.elf -t uno --trigger {0x0:#x}")
    assert done.code == 1
    ends = LEAVES.replace("clr r20", "ldi r20, 1").replace("rjmp 2b", "ldi r24, 9\n3:  dec r24\n    brne 3b\n    break")
    assembled(tmp_path, ends)
    done = cli("sim x.elf -t uno --trigger f --json")  # and f is not called again
    assert (json.loads(done.out)["left"], sum(f["cycles"] for f in json.loads(done.out)["tree"])) == (1, 5)
    assembled(tmp_path, ends.replace("    break", "    ldi r24, 1\n    out 0x33, r24\n    sleep"))
    said = json.loads(cli("sim x.elf -t uno --trigger f --json").out)
    assert (said["end"], said["left"], said["unfinished"]) == ("sleeps", 1, False)
    assembled(tmp_path, ends.replace("    break", "    .word 0xffff"))  # a crash may take anything from the stack
    said = json.loads(cli("sim x.elf -t uno --trigger f --json").out)
    assert (said["left"], said["unfinished"], len(said["tree"]), said["tree"][0]["calls"]) == (0, True, 1, 2)


def test_a_call_that_may_have_been_left_is_said_to(cli: Cli, tmp_path: Path) -> None:
    """For longjmp led out of it, after setjmp, to code that goes on where it returns to."""
    begins = LEAVES[: LEAVES.index("1:  rcall f")]
    jumps = "longjmp: pop r0\n pop r0\n pop r0\n pop r0\n rjmp out\nsetjmp: ret\n"
    main = f"{begins} rcall setjmp\nout: sbrc r20, 0\n rjmp %s\n inc r20\n rcall f\nback: break\naway: break\n"
    program = f"{main}f: rcall setjmp\n rcall longjmp\n{jumps}"
    assembled(tmp_path, program % "back")
    done = cli("sim x.elf -t uno --trigger f --json")
    said = json.loads(done.out)
    assert (said["counted"], said["left"], said["doubtful"]) == (1, 0, 1)
    assert "1 call in doubt: longjmp led out of the frame" in done.err
    assembled(tmp_path, program % "away")
    said = json.loads(cli("sim x.elf -t uno --trigger f --json").out)
    assert (said["counted"], said["doubtful"]) == (0, 1), "it hides what comes until the program is back"


@pytest.mark.parametrize("source", [COUNTS, ASKS])
def test_a_loop_that_ends_is_not_taken_for_one_that_does_not(cli: Cli, tmp_path: Path, source: str) -> None:
    assembled(tmp_path, source)
    said = json.loads(cli("sim x.elf -t uno --json").out)
    assert (said["end"], said["fault"]) == ("breakpoint", None), said["end"]


@pytest.mark.parametrize("target", ["mkrzero", "nrf52840"])
def test_an_image_behind_a_boot_loader_begins_at_its_own_vectors(cli: Cli, tmp_path: Path, target: str) -> None:
    base = the_target(target).chip.flash.base
    assembled(tmp_path, f"{VECTORS}    push {{r0}}\n    movs r0, #7\n    bkpt 0\n", target, 0x2000)
    first = json.loads(cli(f"sim x.elf -t {target} --json").out)
    assert (first["end"], first["fault"], first["pc"]) == ("breakpoint", None, base + 0x200C)
    told = cli(f"sim x.elf -t {target}")
    assert (told.code, "the program is at a breakpoint\n" in told.out) == (0, True)
    (tmp_path / "x.hex").write_bytes(intel_hex((tmp_path / "x.elf").read_bytes()))
    again = json.loads(cli(f"sim x.hex -t {target} --json").out)
    assert (again["end"], again["pc"], again["cycles"]) == ("breakpoint", first["pc"], first["cycles"])


#: start-up code that enters main as a return from a trap, with interrupts as they were before it
MRET = """
    .option arch, +zicsr
_start: la t0, main
    csrw mepc, t0
    li t0, 0x1880
    csrw mstatus, t0
    mret
1:  j 1b
main: csrr a0, mstatus
    andi a0, a0, 0x88
    li a1, 0x88
    bne a0, a1, 1b
    ebreak
"""


@pytest.mark.parametrize("target", ["gd32vf103", "maixduino", "esp32c3", "ch32v003"])
def test_start_up_code_may_enter_main_by_mret(cli: Cli, tmp_path: Path, target: str) -> None:
    assembled(tmp_path, MRET, target)
    said = json.loads(cli(f"sim x.elf -t {target} --json").out)
    assert (said["end"], said["fault"]) == ("breakpoint", None), said["text"]
    assert said["interrupts"]  # MPIE was 1


def test_a_function_that_ends_in_a_jump_to_the_first_one_has_not_returned(cli: Cli, tmp_path: Path) -> None:
    """Which lies where the flash begins."""
    first = "f: subi r24, 1\n    brne f\n    ldi r24, 7\n    ret\n"
    assembled(tmp_path, f".globl _start\n_start:\n{first}.globl g\n.type g, @function\ng: ldi r24, 100\n    jmp f\n")
    said = json.loads(cli("sim x.elf -t uno --call g --json").out)
    assert (said["end"], said["result"]["1"]) == ("returned", 7)
    assert said["calls"][0]["cycles"] > 300


def test_a_call_that_does_not_return_is_told(cli: Cli, tmp_path: Path) -> None:
    assembled(
        tmp_path, ".globl _start\n_start: rcall f\n    ldi r24, 1\n.globl f\nf: sbrs r24, 0\n    ret\n1: rjmp 1b\n"
    )
    done = cli("sim x.elf -t uno --trigger f --max-cycles 5000 --json")
    said = json.loads(done.out)
    assert (said["end"], said["counted"], said["unfinished"]) == ("loops", 1, True)
    assert sum(f["exclusive"] for f in said["functions"]) > said["calls"][0]["cycles"]
    assert "A call of f had not returned: its cycles are in those by function, not in the calls." in done.err
    watched, called = (cli(f"sim x.elf -t uno --{how} f").out for how in ("trigger", "call"))
    assert "cycles by function in the calls of f" in watched
    assert ("cycles since reset" in watched, "since reset" in called) == (True, False), "nothing was reset for a call"


def test_a_loop_over_labels_is_called_once(cli: Cli, tmp_path: Path) -> None:
    """As libgcc divides on AVR: with labels inside of its loops, and a common one at their end."""
    assembled(
        tmp_path,
        ".globl _start\n_start: ldi r24, 9\n    rcall f\n    break\n.globl f\nf: rjmp end\n"
        ".globl loop\nloop: nop\n.globl end\nend: dec r24\n    brne loop\n    ret\n",
    )
    said = json.loads(cli("sim x.elf -t uno --json").out)
    assert {n["function"]: n["calls"] for n in said["functions"]} == {"_start": 1, "f": 1, "loop": 1, "end": 1}


def test_a_loop_at_a_function_s_beginning_calls_nothing(cli: Cli, tmp_path: Path) -> None:
    text = f"{VECTORS}    movs r0, #5\n    bl f\n    movs r0, #3\n    bl f\n    bkpt 0\n"
    function = ".global f\n.type f, %function\n.thumb_func\nf: subs r0, #1\n    bne f\n    bx lr\n.size f, . - f\n"
    assembled(tmp_path, text + function, "bluepill", 0x2000)
    for asked, calls in (("--trigger f", 2), ("--call f --arg 9", 1)):
        said = json.loads(cli(f"sim x.elf -t bluepill {asked} --json").out)
        assert [(n["function"], n["calls"]) for n in said["tree"] if n["function"] == "f"] == [("f", calls)], said[
            "tree"
        ]


#: by the RISC-V psABI: what f returns of its arguments, which are words in registers, perhaps one on the stack, and the
#: last one
HANDED = {
    "gd32vf103": ("lw a0, 8(sp)\n lw a1, 12(sp)", [*range(8), "9:4"], "0x1122334455667788:8", 0x1122334455667788),
    "esp32c3": ("mv a0, a7\n lw a1, 0(sp)", [*range(7)], "0x1122334455667788:8", 0x1122334455667788),
    "ch32v003": ("lw a0, 4(sp)\n lw a1, 8(sp)", [*range(6), "9:4"], "0x1122334455667788:8", 0x1122334455667788),
    "maixduino": ("ld a0, 8(sp)", [*range(8), "9:4"], "0xdeadbeef:4", 0xFFFFFFFF_DEADBEEF),
}


@pytest.mark.parametrize("target", HANDED)
def test_arguments_are_where_compiled_code_looks_for_them(cli: Cli, tmp_path: Path, target: str) -> None:
    code, words, last, returned = HANDED[target]
    assembled(tmp_path, f".globl _start, f\n.type f, @function\n_start: j _start\nf: {code}\n ret\n", target)
    given = " ".join(f"--arg {w}" for w in (*words, last))
    assert json.loads(cli(f"sim x.elf -t {target} --call f {given} --json").out)["result"]["8"] == returned
