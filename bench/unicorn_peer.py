"""Runs an ARM replay image in Unicorn with a compiled block hook; prints blocks and processor seconds.

A program of its own: Unicorn is never loaded into Steelyard.
usage: unicorn_peer.py IMAGE HOOK_LIBRARY
"""

import ctypes
import struct
import sys
import time
from pathlib import Path

import unicorn
from unicorn.unicorn_py3.unicorn import uclib

elf = Path(sys.argv[1]).read_bytes()
header = struct.unpack_from("<16sHHIIIIIHHHHHH", elf)
machine = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS)
machine.mem_map(0, 1 << 20)
machine.mem_map(0x20000000, 1 << 16)
machine.mem_map(0x40010000, 1 << 16)
for n in range(header[10]):
    kind, offset, _, address, size = struct.unpack_from("<IIIII", elf, header[5] + n * header[9])
    if kind == 1 and size:
        machine.mem_write(address, elf[offset : offset + size])
stack, entry = struct.unpack("<II", machine.mem_read(0, 8))
machine.reg_write(unicorn.arm_const.UC_ARM_REG_SP, stack)
machine.hook_add(unicorn.UC_HOOK_INTR, lambda uc, number, data: uc.emu_stop())

hook = ctypes.CDLL(sys.argv[2]).count_block
blocks = ctypes.c_uint64(0)
handle = ctypes.c_size_t()
uclib.uc_hook_add(
    machine._uch,
    ctypes.byref(handle),
    unicorn.UC_HOOK_BLOCK,
    ctypes.cast(hook, ctypes.c_void_p),
    ctypes.byref(blocks),
    ctypes.c_uint64(1),
    ctypes.c_uint64(0),
)
start = time.process_time()
machine.emu_start(entry | 1, 1 << 20)
print(blocks.value, time.process_time() - start)
