"""Images that are not ours: calls that longjmp leaves, comes back to, or suspends."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.device import foreign
from tests.conftest import the_target
from tests.device.images import built, run

#: f returns, jumps to main, or jumps inside of itself, and is called from a frame below; then a task, which has a stack
#: above where that is, jumps inside of itself and crashes
JUMPS = """
#include <setjmp.h>
#if defined(__AVR__) /* no start-up code of libgcc */
__asm__(".global __do_copy_data, __do_clear_bss\\n__do_copy_data = 0\\n__do_clear_bss = 0");
#endif
static jmp_buf home, inside;
volatile unsigned how, kept = 1;
__attribute__((noinline)) void f(void)
{
    unsigned i;
    for (i = 0; i < 20; i++)
        kept += i;
    if (how == 1)
        longjmp(home, 1);
    if (how == 2 && !setjmp(inside))
        longjmp(inside, 1);
}
__attribute__((noinline)) void deeper(void)
{
    volatile unsigned room[8];
    room[0] = 1;
    f();
    kept += room[0];
}
__attribute__((noinline, noreturn)) void task(void)
{
    if (!setjmp(inside))
        longjmp(inside, 1);
    *(volatile unsigned char *)NOWHERE = 1;
    for (;;)
        ;
}
__attribute__((noinline, noreturn)) void schedule(void)
{
    __asm__ volatile(MOVE : : "r"(RAM + 0x1100ul));
    task();
}
__attribute__((noreturn)) int main(void)
{
    unsigned asked = HOW;
    __asm__ volatile("" : "+r"(asked)); /* the same code for each */
    how = 0;
    f();
    f();
    how = asked;
    if (!setjmp(home))
        f();
    how = 0;
    deeper();
    schedule();
}
"""


@pytest.mark.parametrize(
    ("name", "move"),
    [
        ("bluepill", "mov sp, %0"),
        ("gd32vf103", "mv sp, %0"),
        ("maixduino", "mv sp, %0"),
        ("esp8266", "mov a1, %0"),
        ("uno", ""),
    ],
)
def test_a_call_that_longjmp_leaves_for_its_caller(tmp_path: Path, name: str, move: str) -> None:
    """Whose frame has the stack pointer of the call on cores with a link register."""
    target = the_target(name)
    made = lambda how: built(tmp_path, target, JUMPS, f"-DHOW={how}", f'-DMOVE="{move}"').read_bytes()  # noqa: E731
    seen = lambda image, f="f": run(target, image, trigger=foreign.address(image, f))  # noqa: E731
    cycles = lambda seen: [c.cycles for c in seen.calls]  # noqa: E731
    plain, left, inside = (seen(made(how)) for how in range(3))
    assert (plain.counted, plain.left, left.counted, left.left) == (4, 0, 3, 1)
    first, second, _, last = cycles(plain)
    assert cycles(left) == [first, second, last]
    assert sum(f[3] for f in left.functions) == first + second + last
    assert (inside.counted, inside.left, inside.unfinished) == (4, 0, False)
    assert (plain.doubtful, left.doubtful, inside.doubtful) == (0, 0, 0)
    assert cycles(inside)[:2] == [first, second]
    image = made(1)
    for f in ("main", "schedule"):  # tasks jump on stacks of their own
        whole = seen(image, f)
        assert (whole.end, whole.left, whole.unfinished) == ("fault", 0, True), f


#: f runs on a stack of its own, jumps to main's, which is above, and goes on when main jumps back
COROUTINE = """
#include <setjmp.h>
static jmp_buf home, inside;
volatile unsigned kept = 1;
__attribute__((noinline)) void f(void)
{
    if (!setjmp(inside))
        longjmp(home, 1);
    kept++;
}
__attribute__((noinline, noreturn)) void start_it(void)
{
    __asm__ volatile(MOVE : : "r"(RAM + 0x800ul));
    f();
    f();
    *(volatile unsigned char *)NOWHERE = 1;
    for (;;)
        ;
}
__attribute__((noreturn)) int main(void)
{
    if (!setjmp(home))
        start_it();
    longjmp(inside, 1);
}
"""


@pytest.mark.parametrize(("name", "move"), [("bluepill", "mov sp, %0"), ("gd32vf103", "mv sp, %0")])
def test_a_call_that_longjmp_comes_back_to_is_not_left(tmp_path: Path, name: str, move: str) -> None:
    target = the_target(name)
    image = built(tmp_path, target, COROUTINE, f'-DMOVE="{move}"').read_bytes()
    seen = run(target, image, trigger=foreign.address(image, "f"))
    assert (seen.end, seen.counted, seen.left, seen.unfinished) == ("fault", 2, 0, False)
    assert seen.doubtful == 2


#: f lets a task go on whose stack is below main's, and which jumps back
BELOW = """
#include <setjmp.h>
static jmp_buf mine, theirs;
volatile unsigned kept = 1, begun;
__attribute__((noinline, noreturn)) void task(void)
{
    for (;;) {
        kept++;
        if (!setjmp(theirs))
            longjmp(mine, 1);
    }
}
__attribute__((noinline, noreturn)) void start_it(void)
{
    __asm__ volatile(MOVE : : "r"(RAM + 0x800ul));
    task();
}
__attribute__((noinline)) void large(void)
{
    volatile unsigned char own[200];
    own[0] = 1;
}
__attribute__((noinline, noreturn)) void away(void)
{
    longjmp(theirs, 1);
}
__attribute__((noinline)) void f(void)
{
    if (setjmp(mine)) {
        large();
        return;
    }
    if (begun++)
        longjmp(theirs, 1);
    start_it();
}
__attribute__((noreturn)) int main(void)
{
    begun = 0;
    f();
    f();
    f();
    if (!setjmp(mine))
        away();
    *(volatile unsigned char *)NOWHERE = 1;
    for (;;)
        ;
}
"""


@pytest.mark.parametrize(("name", "move"), [("bluepill", "mov sp, %0"), ("gd32vf103", "mv sp, %0")])
def test_a_call_that_a_task_below_goes_on_in_is_in_doubt(tmp_path: Path, name: str, move: str) -> None:
    """And its stack is what it used of its own, not how far the other is."""
    target = the_target(name)
    image = built(tmp_path, target, BELOW, f'-DMOVE="{move}"').read_bytes()
    seen = run(target, image, trigger=foreign.address(image, "f"))
    assert (seen.end, seen.counted, seen.left, seen.doubtful) == ("fault", 3, 0, 2)
    assert {200 < c.stack < 260 for c in seen.calls[1:]} == {True}
    away = run(target, image, trigger=foreign.address(image, "away"))
    assert (away.counted, away.left, away.doubtful) == (0, 1, 0), "it kept no way back"
    with pytest.raises(ValueError, match="longjmp returns from no call"):
        run(target, image, trigger=foreign.address(image, "longjmp"))


#: f catches what parse throws and, asked to, throws again; and main calls it three times
NESTED = """
#include <setjmp.h>
#if defined(__AVR__) /* no start-up code of libgcc */
__asm__(".global __do_copy_data, __do_clear_bss\\n__do_copy_data = 0\\n__do_clear_bss = 0");
#endif
static jmp_buf *top;
volatile unsigned kept = 1, k;
__attribute__((noinline)) void work(unsigned n)
{
    while (n--)
        kept += n;
}
__attribute__((noinline)) void parse(void)
{
    work(10);
    if (k == 1)
        longjmp(*top, 1);
}
__attribute__((noinline)) void f(void)
{
    jmp_buf own, *before = top;
    top = &own;
    if (!setjmp(own)) {
        parse();
        top = before;
    } else {
        top = before;
        work(4);
        if (AGAIN)
            longjmp(*top, 1);
    }
}
__attribute__((noreturn)) int main(void)
{
    static jmp_buf outer;
    top = &outer;
    for (k = 0; k < 3; k++) {
        if (!setjmp(outer)) {
            kept++;
            f(); /* returns to where the program goes on after it was left, too */
        } else {
            OTHERWISE;
        }
    }
    *(volatile unsigned char *)NOWHERE = 1;
    for (;;)
        ;
}
"""


@pytest.mark.parametrize(
    ("name", "otherwise", "again", "doubtful"),
    [
        ("bluepill", "work(1000)", 1, 1),
        ("gd32vf103", "", 1, 1),
        ("bluepill", "work(1000)", 0, 0),
        ("uno", "", 0, 0),
    ],
)
def test_a_call_that_catches_and_throws_again_is_in_doubt(
    tmp_path: Path, name: str, otherwise: str, again: int, doubtful: int
) -> None:
    """For what it kept may be where a coroutine goes on. What it catches itself stays within."""
    target = the_target(name)
    image = built(tmp_path, target, NESTED, f"-DAGAIN={again}", f"-DOTHERWISE={otherwise}").read_bytes()
    seen = run(target, image, trigger=foreign.address(image, "f"))
    assert (seen.end, seen.counted, seen.left, seen.doubtful) == ("fault", 3, 0, doubtful)


#: f has a number where the address to return to may be, and what throws is of C
DATA = """
#ifdef __AVR__
#include <setjmp.h>
__asm__(".global __do_copy_data, __do_clear_bss\\n__do_copy_data = 0\\n__do_clear_bss = 0");
#else
typedef unsigned jmp_buf[12];
__attribute__((naked, noinline, returns_twice)) int setjmp(unsigned *b)
{
    __asm__ volatile("mov r12,sp\\n stmia r0,{r4-r12,lr}\\n movs r0,#0\\n bx lr");
}
__attribute__((naked, noinline)) void restore(unsigned *b, int v)
{
    __asm__ volatile("ldmia r0,{r4-r12,lr}\\n mov sp,r12\\n mov r0,r1\\n bx lr");
}
static volatile unsigned locks;
__attribute__((noinline)) void unlock(void)
{
    locks = 0;
}
__attribute__((noinline)) void longjmp(unsigned *b, int v)
{
    unlock();
    restore(b, v);
    END
}
#endif
static jmp_buf own;
volatile unsigned kept = 1;
__attribute__((noinline)) void parse(unsigned char *m)
{
    kept += m[0];
    if (m[1] & 1)
        longjmp(own, 1);
}
__attribute__((noinline)) void f(unsigned k)
{
    unsigned char m[8];
    m[0] = k >> 8, m[1] = k, m[2] = 3;
    if (!setjmp(own))
        parse(m);
    kept += m[2];
}
__attribute__((noinline)) void large(void)
{
    volatile unsigned char own[200];
    own[0] = 1;
}
__attribute__((noinline)) void itself(void)
{
    if (!setjmp(own))
        longjmp(own, 1);
    large();
}
__attribute__((noreturn)) int main(void)
{
    for (unsigned k = 0; k < 300; k++)
        f(k);
    itself();
    *(volatile unsigned char *)NOWHERE = 1;
    for (;;)
        ;
}
"""


@pytest.mark.parametrize(("name", "end"), [("uno", ""), ("bluepill", ""), ("bluepill", "for (;;);")])
def test_data_on_a_stack_is_no_way_back_into_longjmp(tmp_path: Path, name: str, end: str) -> None:
    """And what it calls, or ends with, may lead elsewhere for it."""
    target = the_target(name)
    image = built(tmp_path, target, DATA, f"-DEND={end}").read_bytes()
    seen = run(target, image, trigger=foreign.address(image, "f"))
    assert (seen.end, seen.counted, seen.left, seen.doubtful) == ("fault", 300, 0, 0)
    parsed = run(target, image, trigger=foreign.address(image, "parse"))
    assert (parsed.end, parsed.counted, parsed.left) == ("fault", 150, 150)
    itself = run(target, image, trigger=foreign.address(image, "itself"))
    assert (itself.counted, itself.doubtful, itself.calls[0].stack > 200) == (1, 0, True)


#: a task that was begun by main goes on in each of f's rounds, which are more than between two looks for loops; g
#: jumps inside of itself for ever
LONG = """
#include <setjmp.h>
static jmp_buf mine, theirs;
volatile unsigned kept = 1;
__attribute__((noinline, noreturn)) void task(void)
{
    for (;;) {
        kept++;
        if (!setjmp(theirs))
            longjmp(mine, 1);
    }
}
__attribute__((noinline, noreturn)) void start_it(void)
{
    __asm__ volatile(MOVE : : "r"(RAM + 0x800ul));
    task();
}
__attribute__((noinline)) void f(unsigned rounds)
{
    while (rounds--)
        if (!setjmp(mine))
            longjmp(theirs, 1);
}
__attribute__((noinline)) void g(void)
{
    for (;;)
        if (!setjmp(mine))
            longjmp(mine, 1);
}
__attribute__((noreturn)) int main(void)
{
    if (!setjmp(mine))
        start_it();
    f(10);
    f(50000);
    g();
    for (;;)
        ;
}
"""


@pytest.mark.parametrize(("name", "move"), [("bluepill", "mov sp, %0"), ("gd32vf103", "mv sp, %0")])
def test_jumps_are_seen_while_it_is_looked_for_loops(tmp_path: Path, name: str, move: str) -> None:
    """And those of which a loop is made. It takes the cycles that are left where more differs from round to round."""
    target = the_target(name)
    image = built(tmp_path, target, LONG, f'-DMOVE="{move}"').read_bytes()
    seen = run(target, image, trigger=foreign.address(image, "f"), cycles=20_000_000)
    assert (seen.counted, seen.left, seen.doubtful) == (2, 0, 2)
    few, many = seen.calls
    assert many.cycles > 4_000_000
    assert few.stack == many.stack < 100
    endless = run(target, image, trigger=foreign.address(image, "g"), cycles=20_000_000)
    end = "loops" if name == "bluepill" else "cycles"
    assert (endless.end, endless.counted, endless.unfinished) == (end, 0, True)


#: 70 places where f is caught, or a place that no setjmp knows, for the restart of a task
MANY = """
#include <setjmp.h>
static jmp_buf home;
volatile unsigned kept = 1, how;
__attribute__((noinline)) void f(void)
{
    kept++;
    if (how)
        longjmp(home, 1);
}
#define TRY(n) __attribute__((noinline)) void try##n(void) { if (!setjmp(home)) f(); else kept += 1##n; }
#define TEN(do, n) do(n##0) do(n##1) do(n##2) do(n##3) do(n##4) do(n##5) do(n##6) do(n##7) do(n##8) do(n##9)
#define CALL(n) try##n();
TEN(TRY, 1) TEN(TRY, 2) TEN(TRY, 3) TEN(TRY, 4) TEN(TRY, 5) TEN(TRY, 6) TEN(TRY, 7)
static unsigned long long stack[64];
__attribute__((noinline, noreturn)) void again(void)
{
    how = 0;
    f();
    kept++;
    f();
    *(volatile unsigned char *)NOWHERE = 1;
    for (;;)
        ;
}
__attribute__((noreturn)) int main(void)
{
    f();
    how = THROWS;
    TEN(CALL, 1) TEN(CALL, 2) TEN(CALL, 3) TEN(CALL, 4) TEN(CALL, 5) TEN(CALL, 6) TEN(CALL, 7)
    (void)setjmp(home);
    ((unsigned *)home)[8] = (unsigned)(stack + 64); /* newlib's place of the stack pointer, and of where it goes on */
    ((unsigned *)home)[9] = (unsigned)again;
    f();
    for (;;)
        ;
}
"""


def test_calls_are_left_for_many_places_and_for_one_that_setjmp_did_not_keep(tmp_path: Path) -> None:
    target = the_target("bluepill")
    image = built(tmp_path, target, MANY, "-DTHROWS=1").read_bytes()
    seen = run(target, image, trigger=foreign.address(image, "f"))
    assert (seen.end, seen.counted, seen.left, seen.doubtful, seen.unfinished) == ("fault", 3, 71, 0, False)
    assert len({c.cycles for c in seen.calls}) == 1
    assert {c.stack for c in seen.calls} == {seen.calls[0].stack}
