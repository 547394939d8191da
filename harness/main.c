/* The command loop: a framed request comes in over the serial line, a framed answer goes out.
 *
 * Frame:   0xA5, command, length (2 bytes), check, payload, CRC (2 bytes)
 *   check  complement of command + length bytes: garbage rarely looks like a header
 *   CRC    CRC-16/CCITT, start 0xFFFF, over command, length and payload
 * All numbers are little-endian. An answer's command is the request's with bit 7 set; SY_ERROR
 * answers carry one byte that says why. The receiver looks for 0xA5 and a valid check, so it finds
 * the next frame after any garbage once the bytes of a broken one have run out.
 */
#include "harness.h"

#ifdef __AVR__
#include <avr/pgmspace.h>
#define SY_FLASH_BYTE(at) pgm_read_byte(at)
#else
#define SY_FLASH_BYTE(at) (*(at))
#endif

enum { SYNC = 0xA5, HELLO = 1, RUN = 2, ANSWER = 0x80, SY_ERROR = 0xFF };
enum { BAD_CRC = 1, BAD_COMMAND = 2, TOO_LARGE = 3, BAD_REQUEST = 4 };
enum { PAINT = 1, IN_PLACE = 2, WARM = 4 };
enum { RUN_HEADER = 8, GUARD = 8, GUARD_BYTE = 0xC3, PAINT_BYTE = 0x5A };

extern uint16_t sy_crc;
uint16_t sy_crc;
/* What fills the output before a call is of its request, so that no package can count on it. */
#define SY_FILL ((uint8_t)sy_crc)
void *volatile sy_layout[SY_POINTERS];
uint8_t sy_pulse;

#ifdef SY_SETTLE
uint8_t sy_warm;

__attribute__((noinline)) void sy_settled(void)
{
    if (!sy_warm)
        SY_SETTLE();
}
#endif

static void crc_add(uint8_t byte)
{
    uint8_t x = (uint8_t)(sy_crc >> 8) ^ byte;
    x ^= x >> 4;
#ifdef __AVR__ /* the same in bytes: wider shifts are loops there */
    uint8_t high = (uint8_t)sy_crc ^ (uint8_t)(x << 4) ^ (uint8_t)(x >> 3);
    sy_crc = (uint16_t)((uint16_t)high << 8 | (uint8_t)(x ^ (uint8_t)(x << 5)));
#else
    sy_crc = (uint16_t)((uint16_t)(sy_crc << 8) ^ ((uint16_t)x << 12) ^ ((uint16_t)x << 5) ^ x);
#endif
}

static uint8_t get(void)
{
    uint8_t byte = sy_getc();
    crc_add(byte);
    return byte;
}

static uint16_t get16(void)
{
    uint16_t low = get();
    return (uint16_t)(low | (uint16_t)get() << 8);
}

static void put(uint8_t byte)
{
    crc_add(byte);
    sy_putc(byte);
}

static void put16(uint16_t value)
{
    put((uint8_t)value);
    put((uint8_t)(value >> 8));
}

static void put32(uint32_t value)
{
    put16((uint16_t)value);
    put16((uint16_t)(value >> 16));
}

static void begin(uint8_t command, uint16_t length)
{
    uint8_t low = (uint8_t)length, high = (uint8_t)(length >> 8);
    sy_putc(SYNC);
    sy_crc = 0xFFFF;
    put(command);
    put16(length);
    sy_putc((uint8_t)~(command + low + high));
}

static void end(void)
{
    uint16_t value = sy_crc;
    put16(value);
}

static void error(uint8_t why)
{
    begin(SY_ERROR, 1);
    put(why);
    end();
}

/* Takes the CRC after a payload; 1 when it fits. */
static uint8_t crc_fits(void)
{
    uint16_t expected = sy_crc;
    uint8_t low = sy_getc();
    return (uint16_t)(low | (uint16_t)sy_getc() << 8) == expected;
}

static void drop(uint16_t length)
{
    while (length--)
        (void)get();
    (void)crc_fits();
}

/* Bytes between the end of static data and the stack, less what the stack keeps. */
static inline __attribute__((always_inline)) uint16_t capacity(void)
{
    uintptr_t free = (uintptr_t)SY_STACK_POINTER() - (uintptr_t)sy_free_start;
    free = free > SY_STACK_RESERVE ? free - SY_STACK_RESERVE : 0;
    return free > 0xFFF0u ? 0xFFF0u : (uint16_t)free;
}

static inline __attribute__((always_inline)) void hello(void)
{
    uint8_t i;
    begin(HELLO | ANSWER, 21);
    put('S');
    put('Y');
    put(SY_PROTOCOL);
    put(sy_api);
    put(sy_parts | SY_WARMS);
    put(GUARD);
    put16(sy_key_bytes);
    put16(sy_npub_bytes);
    put16(sy_a_bytes);
    put16(capacity());
    put16((uint16_t)(SY_BOARD_HZ / 10000UL));
    put(SY_COUNTER_BITS);
    for (i = 0; i < sizeof sy_image; i++)
        put(SY_FLASH_BYTE(&sy_image[i]));
    end();
}

/* Next buffer of `length` bytes at `offset` past a multiple of 8. */
static uint8_t *place(uint8_t **next, uint16_t length, uint8_t offset)
{
    uintptr_t at = ((uintptr_t)*next + 7u) & ~(uintptr_t)7u;
    uint8_t *buffer = (uint8_t *)(at + offset);
    *next = buffer + length;
    return buffer;
}

/* Writes `byte` to all of at..to: eight at once, because all free RAM is painted before a call. */
static void fill(uint8_t *at, const uint8_t *to, uint8_t byte)
{
    volatile uint8_t *p = at;
    for (; p + 8 <= to; p += 8) {
        p[0] = byte;
        p[1] = byte;
        p[2] = byte;
        p[3] = byte;
        p[4] = byte;
        p[5] = byte;
        p[6] = byte;
        p[7] = byte;
    }
    while (p < to)
        *p++ = byte;
}

static void receive(uint8_t *buffer, uint16_t length)
{
    while (length--)
        *buffer++ = get();
}

static void copy(uint8_t *to, const uint8_t *from, uint16_t length)
{
    while (length--)
        *to++ = *from++;
}

/* Bytes of the stack that the call touched, from its rising edge down to the paint; all bits set when all of it. */
static uint32_t painted(const uint8_t *from, const uint8_t *to)
{
    const uint8_t *p = from, *top = (uint8_t *)sy_layout[SY_STACK] + SY_STACK_EMPTY;
    for (; p + 8 <= to; p += 8) {
        uint8_t all = p[0] & p[1] & p[2] & p[3] & p[4] & p[5] & p[6] & p[7];
        uint8_t any = p[0] | p[1] | p[2] | p[3] | p[4] | p[5] | p[6] | p[7];
        if (all != PAINT_BYTE || any != PAINT_BYTE)
            break;
    }
    while (p < to && *p == PAINT_BYTE)
        p++;
    if (p == from)
        return 0xFFFFFFFFu;
    return p < top ? (uint32_t)(top - p) : 0;
}

#if SY_REPEAT > 1
/* Makes other bytes of some, and these again when called once more. */
static void stir(uint8_t *at, uint16_t length, uint8_t with)
{
    while (length--)
        *at++ ^= with;
}

/* A sum (FNV-1a) of what a call answered: its code, and what it wrote unless it refused. */
static uint32_t sum(int code, const uint8_t *from, const uint8_t *to)
{
    uint32_t value = 2166136261u ^ (uint32_t)code;
    while (code == 0 && from < to)
        value = (value ^ *from++) * 16777619u;
    return value;
}
#endif

static inline __attribute__((always_inline)) void run(uint16_t length)
{
    struct sy_call call;
    uint8_t *next = sy_free_start, *key, *npub, *ad, *in, *guard, *paint_end;
    uint8_t op, flags, offset, out_offset, intact = 1, same = 1, changed = 0, i, repeat;
    uint16_t out_len, over;
    uint32_t out_max, need, expected, stack = 0, heap;
#if SY_REPEAT > 1
    uint8_t keyed;
    uint32_t answered = 0, given;
#endif
    int code = 0;

    op = get();
    flags = get();
    offset = get() & 7u;
    out_offset = get() & 7u;
    call.in_len = get16();
    call.ad_len = get16();
    length = (uint16_t)(length - RUN_HEADER);

    expected = (uint32_t)sy_key_bytes + sy_npub_bytes + call.ad_len + call.in_len;
    out_max = sy_out_max(op, call.in_len);
    if (expected != length || !sy_operation_known(op) || (flags & IN_PLACE && call.in_len > out_max)) {
        drop(length);
        error(BAD_REQUEST);
        return;
    }
#ifdef SY_SETTLE
    if (flags & WARM && call.ad_len != sy_npub_bytes + sy_key_bytes + call.in_len) {
        drop(length);
        error(BAD_REQUEST);
        return;
    }
#endif
    need = expected + out_max + GUARD + 5u * 15u;
    if (need > capacity()) {
        drop(length);
        error(TOO_LARGE);
        return;
    }

    key = place(&next, sy_key_bytes, offset);
    npub = place(&next, sy_npub_bytes, sy_api == SY_API_BLOCK ? 0 : offset); /* contexts are always aligned */
    ad = place(&next, call.ad_len, offset);
    in = place(&next, call.in_len, offset);
    call.out = place(&next, (uint16_t)out_max, (op & ~SY_HOLLOW) >= SY_SCHEDULE_ENCRYPT ? 0 : out_offset);
    guard = next;
    next += GUARD;
    receive(key, sy_key_bytes);
    receive(npub, sy_npub_bytes);
    receive(ad, call.ad_len);
    receive(in, call.in_len);
    if (!crc_fits()) {
        error(BAD_CRC);
        return;
    }
    call.key = key;
    call.npub = npub;
    call.ad = ad;
    call.in = flags & IN_PLACE ? call.out : in;
    fill(call.out, guard, SY_FILL);
    fill(guard, next, GUARD_BYTE);
    paint_end = (uint8_t *)SY_STACK_POINTER() - SY_PAINT_GAP;
    if (flags & PAINT)
        fill(next, paint_end, PAINT_BYTE);

    sy_layout[SY_NPUB] = npub;
    sy_layout[SY_AD] = ad;
    sy_layout[SY_IN] = in;
    sy_layout[SY_OUT] = call.out;
    sy_layout[SY_GUARD] = guard;
    sy_layout[SY_OUT_LEN] = op == SY_EMPTY || op == SY_EMPTY_DECRYPT ? NULL : &call.out_len;
    sy_layout[SY_STACK] = flags & PAINT ? next : NULL;

#if SY_REPEAT > 1
    keyed = sy_key_bytes && (sy_api != SY_API_BLOCK || (op & ~SY_HOLLOW) >= SY_SCHEDULE_ENCRYPT);
    given = sum(0, npub, npub + sy_npub_bytes);
#endif
    for (repeat = SY_REPEAT; repeat > 0; repeat--) {
        call.out_len = SY_LENGTH_UNSET;
        sy_stack_limit = sy_heap_base = next;
        sy_heap_peak = 0;
#if SY_REPEAT > 1
        /* a call with another key first, or another message of a hash: nothing is as the measured one left it. A context
         * is as its schedule made it, or not one: of a block cipher it is another block */
        if (keyed) {
            stir(key, sy_key_bytes, repeat);
            stir(npub, sy_npub_bytes, repeat);
        } else {
            stir(in, call.in_len, repeat);
        }
        (void)sy_run(op, &call);
        if (keyed) {
            stir(key, sy_key_bytes, repeat);
            stir(npub, sy_npub_bytes, repeat);
        } else {
            stir(in, call.in_len, repeat);
            changed |= given != sum(0, npub, npub + sy_npub_bytes); /* what two calls undo is a change too */
        }
        fill(call.out, guard, SY_FILL);
        call.out_len = SY_LENGTH_UNSET;
        sy_stack_limit = sy_heap_base = next;
#endif
        if (flags & IN_PLACE)
            copy(call.out, in, call.in_len);
#ifdef SY_SETTLE
        /* a warm call comes right after another one, whose context (or nonce), key and input are the associated data */
        if (flags & WARM) {
            call.npub = ad;
            call.key = ad + sy_npub_bytes;
            call.in = call.key + sy_key_bytes;
        }
    again:
#endif
        SY_SETTLED(); /* that of sy_run takes the same time then */
        SY_COUNT_START();
        code = sy_run(op, &call);
        SY_FORGET(code);
        sy_keep_count();
#ifdef SY_SETTLE
        sy_warm = flags & WARM;
        if (sy_warm) {
            flags &= (uint8_t)~WARM;
            call.npub = npub;
            call.key = key;
            call.in = flags & IN_PLACE ? call.out : in;
            goto again;
        }
#endif
#if SY_REPEAT > 1
        same &= repeat == SY_REPEAT || sum(code, call.out, guard) == answered;
        answered = sum(code, call.out, guard);
        changed |= given != sum(0, npub, npub + sy_npub_bytes);
#endif
    }

    if (flags & PAINT)
        stack = painted(sy_stack_limit, paint_end);
    heap = sy_heap_peak;
    sy_stack_limit = sy_free_start;
    for (i = 0; i < GUARD; i++)
        intact &= guard[i] == GUARD_BYTE;
    if (op == SY_EMPTY || op == SY_EMPTY_DECRYPT || (code != 0 && call.out_len == SY_LENGTH_UNSET))
        call.out_len = 0; /* nothing was written */
    out_len = (uint16_t)(call.out_len > out_max ? out_max : call.out_len);

    for (over = (uint16_t)out_max; over > out_len && call.out[over - 1] == SY_FILL; over--)
        ;
    over = (uint16_t)(over - out_len);

    begin(RUN | ANSWER, (uint16_t)(22 + out_len));
    put32((uint32_t)(int32_t)code);
    put32(call.out_len > 0xFFFFFFFFu ? 0xFFFFFFFFu : (uint32_t)call.out_len);
    /* bit 0: nothing touched after the buffer; bit 1: the pulse is ours; bit 2: every repetition answered alike;
     * bit 3: a call changed its nonce or context, which only machines look at: elsewhere the simulator sees it */
    put((uint8_t)(intact | sy_pulse << 1 | same << 2 | changed << 3));
    put(over > 255 ? 255 : (uint8_t)over); /* bytes after the output that the call touched */
    put32(stack);
    put32(heap);
    sy_put_count(put16);
    for (length = 0; length < out_len; length++)
        put(call.out[length]);
    end();
}

/* Answers a frame whose header came. Both commands are inlined: they find the same room below the stack. */
__attribute__((noinline)) void sy_request(uint8_t command, uint16_t length)
{
    if (command == HELLO && length == 0) {
        if (crc_fits())
            hello();
        else
            error(BAD_CRC);
    } else if (command == RUN && length >= RUN_HEADER) {
        run(length);
    } else {
        drop(length);
        error(BAD_COMMAND);
    }
}

int main(void)
{
    sy_stack_limit = sy_free_start;
    sy_target_init();
    for (;;) {
        uint8_t command, low, high;
        uint16_t length;
        if (sy_getc() != SYNC)
            continue;
        sy_crc = 0xFFFF;
        command = get();
        low = get();
        high = get();
        if (sy_getc() != (uint8_t)~(command + low + high))
            continue;
        length = (uint16_t)(low | (uint16_t)high << 8);
        SY_TAKE(command, length);
    }
}
