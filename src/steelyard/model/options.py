"""Options of compilers that hold nothing of the user's: their names are the compilers', and their values numbers.

A list, because compilers take any text as a name of some (``-fno-builtin-NAME``, ``-Wno-NAME``), and write down what
they were told where a package can read it (``-frecord-gcc-switches``, ``-g``)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

#: most options of a set that cannot hold data: in a dozen there is room for a key or an answer, and no table of them
MOST = 12
_CODE = """
aggressive-loop-optimizations align-functions align-jumps align-labels align-loops allocation-dce
allow-store-data-races associative-math asynchronous-unwind-tables auto-inc-dec bit-tests branch-count-reg
branch-probabilities branch-target-load-optimize branch-target-load-optimize2 builtin builtin-memcmp builtin-memcpy
builtin-memmove builtin-memset builtin-strlen caller-saves code-hoisting combine-stack-adjustments common compare-elim
conserve-stack cprop-registers crossjumping cse-follow-jumps cx-fortran-rules cx-limited-range data-sections dce
defer-pop delayed-branch delete-dead-exceptions delete-null-pointer-checks devirtualize devirtualize-speculatively dse
early-inlining exceptions expensive-optimizations fast-math fat-lto-objects finite-loops finite-math-only float-store
fold-simple-inlines force-addr forward-propagate fp-int-builtin-inexact freestanding function-cse function-sections
gcse gcse-after-reload gcse-las gcse-lm gcse-sm gnu-unique gnu89-inline graphite graphite-identity
guess-branch-probability harden-compares harden-conditional-branches hoist-adjacent-loads hosted ident if-conversion
if-conversion2 indirect-inlining inline inline-atomics inline-functions inline-functions-called-once inline-limit
inline-small-functions integrated-as ipa-bit-cp ipa-cp ipa-cp-alignment ipa-cp-clone ipa-icf ipa-icf-functions
ipa-icf-variables ipa-modref ipa-profile ipa-pta ipa-pure-const ipa-ra ipa-reference ipa-reference-addressable ipa-sra
ipa-stack-alignment ipa-strict-aliasing ipa-vrp ira-hoist-pressure ira-loop-pressure ira-share-save-slots
ira-share-spill-slots isolate-erroneous-paths-attribute isolate-erroneous-paths-dereference ivopts jump-tables
keep-inline-functions keep-static-consts leading-underscore lifetime-dse limit-function-alignment live-range-shrinkage
loop-block loop-interchange loop-nest-optimize loop-optimize loop-parallelize-all loop-strip-mine loop-unroll-and-jam
lra-remat lto math-errno max-errors merge-all-constants merge-constants merge-debug-strings modulo-sched
modulo-sched-allow-regmoves move-loop-invariants move-loop-stores non-call-exceptions nothrow-opt omit-frame-pointer
optimize-register-move optimize-sibling-calls optimize-strlen pack-struct partial-inlining pcc-struct-return
peel-loops peephole peephole2 permissive pic pie plt predictive-commoning prefetch-loop-arrays printf-return-value
profile-reorder-functions reciprocal-math ree reg-struct-return regmove rename-registers reorder-blocks
reorder-blocks-and-partition reorder-functions rerun-cse-after-loop rerun-loop-opt reschedule-modulo-scheduled-loops
rounding-math rtti sched-critical-path-heuristic sched-dep-count-heuristic sched-group-heuristic sched-interblock
sched-last-insn-heuristic sched-pressure sched-rank-heuristic sched-spec sched-spec-insn-heuristic sched-spec-load
sched-spec-load-dangerous sched-stalled-insns sched-stalled-insns-dep sched2-use-superblocks schedule-fusion
schedule-insns schedule-insns2 section-anchors sel-sched-pipelining sel-sched-pipelining-outer-loops
sel-sched-reschedule-pipelined selective-scheduling selective-scheduling2 semantic-interposition short-double
short-enums short-wchar shrink-wrap shrink-wrap-separate signaling-nans signed-bitfields signed-char signed-zeros
single-precision-constant slp-vectorize split-ivs-in-unroller split-loops split-paths split-stack split-wide-types
split-wide-types-early ssa-backprop ssa-phiopt stack-check stack-clash-protection stack-protector stack-protector-all
stack-protector-explicit stack-protector-strong stack-usage stdarg-opt store-merging strength-reduce strict-aliasing
strict-enums strict-float-cast-overflow strict-overflow strict-volatile-bitfields sync-libcalls thread-jumps
threadsafe-statics toplevel-reorder tracer trampolines trapping-math trapv tree-bit-ccp tree-builtin-call-dce tree-ccp
tree-ch tree-coalesce-inlined-vars tree-coalesce-vars tree-copy-prop tree-copyrename tree-cselim tree-dce
tree-dominator-opts tree-dse tree-forwprop tree-fre tree-loop-distribute-patterns tree-loop-distribution
tree-loop-if-convert tree-loop-if-convert-stores tree-loop-im tree-loop-ivcanon tree-loop-linear tree-loop-optimize
tree-loop-vectorize tree-lrs tree-parallelize-loops tree-partial-pre tree-phiprop tree-pre tree-pta tree-reassoc
tree-scev-cprop tree-sink tree-slp-vectorize tree-slsr tree-sra tree-switch-conversion tree-tail-merge tree-ter
tree-vectorize tree-vrp unconstrained-commons unit-at-a-time unroll-all-loops unroll-loops unsafe-loop-optimizations
unsafe-math-optimizations unsigned-bitfields unsigned-char unswitch-loops unwind-tables use-cxa-atexit
use-linker-plugin var-tracking var-tracking-assignments var-tracking-uninit variable-expansion-in-unroller vectorize
verbose-asm version-loops-for-strides vpt web wrapv wrapv-pointer zero-initialized-in-bss
"""
_MACHINE = """
abort-on-noreturn absdata accumulate-args aes align-data apcs apcs-frame arm auto-litpools avx big-endian bmi
branch-cost call-prologues const16 deb disable-watchdog div explicit-relocs fdiv fix-cortex-m3-ldrd flip-thumb
force-l32 force-no-pic fract-convert-truncate fused-madd general-regs-only hard-float hwmult int8 interrupts large
little-endian long-calls longcalls n-flash neon-for-64bits omit-leaf-frame-pointer order1 order2 pclmul plt
pmem-wrap-around poke-function-name preferred-stack-boundary pure-code red-zone relax restrict-it riscv-attribute rmw
save-restore sched-prolog serialize-volatile short-calls shorten-memrefs single-pic-base skip-bug slow-flash-data
small small-data-limit soft-float sp8 sse2 ssse3 strict-align target-align text-section-literals thumb
thumb-interwork tiny-stack tpcs-frame tpcs-leaf-frame unaligned-access word-relocations
"""
_WARNING = """
all array-bounds attributes cast-align cast-qual conversion discarded-qualifiers double-promotion error extra format
implicit-fallthrough implicit-function-declaration incompatible-pointer-types int-conversion maybe-uninitialized
misleading-indentation missing-braces missing-prototypes overflow parentheses pedantic pointer-sign shadow
shift-count-overflow sign-compare sign-conversion strict-aliasing strict-prototypes stringop-overflow switch
type-limits undef uninitialized unknown-pragmas unused unused-but-set-variable unused-const-variable unused-function
unused-label unused-parameter unused-result unused-value unused-variable vla write-strings
"""
_NUMBERED = """
-falign-functions -falign-jumps -falign-labels -falign-loops -finline-limit -flto -fmax-errors -fpack-struct
-mbranch-cost -mhwmult -mn-flash -mpreferred-stack-boundary -msmall-data-limit
"""
_NAMES = frozenset(
    f"{letter}{no}{name}"
    for letter, names in (("-f", _CODE), ("-m", _MACHINE), ("-W", _WARNING))
    for name in names.split()
    for no in ("", "no-")
)
_WITH_NUMBER = frozenset(_NUMBERED.split())
#: what nocrypt is compiled with, besides options of the machine without a value
_LEVEL = re.compile(
    r"-O.*|-f(?:no-)?(?:lto(?:=.*)?|fat-lto-objects)|-m(?:arch|abi|cpu|tune|cmodel|fpu|float-abi|isa-spec|mcu)=.*"
)
#: it hands the next word to LLVM
WITH_WORD = "-mllvm"
_LEVELS = re.compile(r"-O(?:[0-3sgz]|fast)?|-g[0-3]?|-std=(?:c|gnu)(?:[89]9|90|1[178x]|2[3xy])|-W")


def known(flags: Collection[str]) -> bool:
    """Whether ``flags`` are options alone: with these no package knows more than its sources."""
    return len(flags) <= MOST and all(map(_is_option, flags))


def of_baseline(flags: Iterable[str]) -> tuple[str, ...]:
    """What of ``flags`` nocrypt is compiled with: level, link-time optimisation, and the machine's options. Macros and
    folders are for the package; and what makes functions larger, such as ``-falign-functions=4096``, a package can take
    back in its sources, where nocrypt would make what is subtracted large."""
    flags = tuple(flags)
    values = {k + 1 for k, f in enumerate(flags) if f == WITH_WORD}
    return tuple(
        f for k, f in enumerate(flags) if k not in values and (_LEVEL.fullmatch(f) or (f[:2] == "-m" and _is_option(f)))
    )


def _is_option(flag: str) -> bool:
    name, _, value = flag.partition("=")
    if re.fullmatch(r"[0-9]{1,2}", value):
        return name in _WITH_NUMBER
    return flag in _NAMES or bool(_LEVELS.fullmatch(flag))
