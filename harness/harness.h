/* What the parts of the harness and a target owe each other. */
#ifndef STEELYARD_HARNESS_H
#define STEELYARD_HARNESS_H

#include <stddef.h>
#include <stdint.h>

/* Raise this with every change that a host or a figure can notice. */
#define SY_PROTOCOL 9

/* --- what a target provides (targets/<name>/target.c) ------------------------------------------- */

#include "target.h" /* SY_TRIGGER_HIGH(), SY_TRIGGER_LOW(), SY_STACK_POINTER(), SY_STACK_RESERVE,
                       SY_PAINT_GAP, SY_CLOCK_HZ */

#ifndef SY_BOARD_HZ
#define SY_BOARD_HZ SY_CLOCK_HZ /* what the core of a board runs at after sy_target_init: target.toml's board_hz */
#endif
#ifndef SY_STACK_EMPTY
#define SY_STACK_EMPTY 0 /* the stack pointer points to what was pushed last */
#endif
/* SY_SETTLE(), before a call, leaves the same in flash buffers and branch predictors, whatever ran; but before a warm
 * call they stay as the call before left them. */
#ifdef SY_SETTLE
enum { SY_WARMS = 4 }; /* the bit of the handshake that says so */
extern uint8_t sy_warm; /* the call that is to come */
void sy_settled(void);
#define SY_SETTLED() sy_settled()
#else
enum { SY_WARMS = 0 }; /* nothing to settle: no call is warmer than another */
#define SY_SETTLED() ((void)0)
#endif
#ifndef SY_REPEAT
#define SY_REPEAT 1 /* calls for each request, where one is not enough to tell the time */
#endif

/* The chip's own counter of core cycles, a second time beside the pulse's. It is read outside of the pulse, which is as
 * long with it as without, and its width in bits is its modulus. No interrupt is used for it. */
#ifdef SY_NO_COUNTER /* simulators that know no cycles have other values in it */
#undef SY_COUNTER_BITS
#undef SY_COUNT_START
#undef SY_COUNT
#endif
#ifndef SY_COUNTER_BITS
#define SY_COUNTER_BITS 0 /* there is none */
#define SY_COUNT_START() ((void)0)
#define SY_COUNT() 0u
#endif

void sy_target_init(void);    /* clocks, serial port, trigger pin low */
uint8_t sy_getc(void);        /* waits for a byte */
void sy_putc(uint8_t byte);   /* waits for room */
void sy_target_hasten(void);  /* serial port to SY_FAST_BAUD; it began with SY_BAUD, both from target.toml */
extern uint8_t sy_free_start[]; /* linker script: first free byte after .bss */

/* --- what an operation file provides (aead.c, hash.c, cxof.c, block.c) -------------------------- */

enum { SY_EMPTY = 0, SY_ENCRYPT = 1, SY_DECRYPT = 2, SY_EMPTY_DECRYPT = 3, SY_HASH = 1 };
enum { SY_SCHEDULE_ENCRYPT = 4, SY_SCHEDULE_DECRYPT = 5 }; /* of block ciphers, whose second empty call is a schedule's */
enum { SY_API_BLOCK = 4 };
/* A block cipher's operation with this bit is all that the harness does for it, with a function that only returns: what
 * the call itself draws is the difference. Its output is what the buffer was filled with. */
enum { SY_HOLLOW = 8 };
enum { SY_CONTINUES = 8 }; /* bit 3: decryption's schedule goes on from encryption's round keys, which are its context's */

struct sy_call {
    uint8_t *out;
    const uint8_t *in, *ad, *npub, *key;
    uint16_t in_len, ad_len;
    unsigned long long out_len; /* set by the call */
};

/* out_len before a call: right for hardly any call, so that one who leaves it there is found; below 256, because
 * FELICS-AE writes its lower bytes only. */
#define SY_LENGTH_UNSET 251

#define SY_NOTE_STACK() \
    do { \
        if (sy_layout[SY_STACK] != NULL) \
            sy_layout[SY_STACK] = SY_STACK_POINTER(); \
    } while (0)

/* The edges around a call. The pin was low before the first and high before the second: read with the same cost around
 * the empty call. Without a pin nothing but the harness makes edges. */
#if defined(SY_TRIGGER_READ) && !defined(SY_NO_PIN) /* what the output register has for the pin: not 0 when it is high */
#define SY_RISE() \
    do { \
        SY_NOTE_STACK(); \
        SY_SETTLED(); \
        sy_pulse = !SY_TRIGGER_READ(); \
        SY_TRIGGER_HIGH(); \
    } while (0)
#define SY_FALL() \
    do { \
        uint8_t high_ = SY_TRIGGER_READ() != 0; \
        SY_TRIGGER_LOW(); \
        sy_pulse &= high_; \
    } while (0)
#else
#define SY_RISE() \
    do { \
        SY_NOTE_STACK(); \
        sy_pulse = 1; \
        SY_TRIGGER_HIGH(); \
    } while (0)
#define SY_FALL() SY_TRIGGER_LOW()
#endif

/* What an empty call calls. It has no parameters: for those on the stack avr-gcc would set up a frame, which is no
 * part of a call. */
static int __attribute__((unused)) empty(void)
{
    return 0;
}
#define SY_NOTHING (void (*)(void))empty

extern const uint8_t sy_api;          /* 1 aead, 2 hash, 3 cxof, 4 block */
extern const uint8_t sy_parts;        /* bit 0 encrypt or hash, bit 1 decrypt */
uint8_t sy_operation_known(uint8_t op);
uint32_t sy_out_max(uint8_t op, uint16_t in_len); /* most bytes that the call may write */
int sy_run(uint8_t op, struct sy_call *call);     /* raises the trigger just around the call */

/* Compiled against the package's own api.h: key, nonce, tag (or digest) bytes; of a block cipher key, context, block. */
extern const uint16_t sy_key_bytes, sy_npub_bytes, sy_a_bytes;
/* And which build the image is of; in flash on AVR. */
extern const uint8_t sy_image[4];

/* --- main.c, for the simulator, which finds global symbols: variables are called sy_ something and none is static - */

/* Nonce, associated data, input, output, first byte after it, the call's out_len (NULL where nothing is called), stack
 * pointer at the rising edge (NULL where nothing is painted) of the call that is to come; the key is at sy_free_start and
 * sy_heap_base after the guard. After the call one of them holds what the counter counted: variables of their own would
 * leave calls less RAM. */
enum { SY_NPUB, SY_AD, SY_IN, SY_OUT, SY_GUARD, SY_OUT_LEN, SY_STACK, SY_POINTERS, SY_COUNTED = SY_OUT_LEN };
extern void *volatile sy_layout[SY_POINTERS];
extern uint8_t sy_pulse; /* the latest call's pulse was the harness's */
void sy_request(uint8_t command, uint16_t length); /* holds the only call of sy_run */

/* After a call no register holds what it must but `code`: a package in assembly may have changed those that a callee
 * keeps, to have the harness write or return elsewhere. So nothing of the harness is in them across a call. */
#if defined(__AVR__) /* Y, the frame's address, is the stack pointer in a function without alloca */
#define SY_FORGET(code) \
    __asm__ volatile("clr r1\n\tin r28, 0x3d\n\tin r29, 0x3e" \
                     : "+r"(code) :: "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13", "r14", \
                       "r15", "r16", "r17", "memory")
#elif defined(__arm__)
#define SY_FORGET(code) __asm__ volatile("" : "+r"(code) :: "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "memory")
#elif defined(__MSP430__)
#define SY_FORGET(code) __asm__ volatile("" : "+r"(code) :: "r4", "r5", "r6", "r7", "r8", "r9", "r10", "memory")
#elif defined(__riscv)
#define SY_FORGET(code) \
    __asm__ volatile(".option push\n\t.option norelax\n\tlla gp, __global_pointer$\n\t.option pop" \
                     : "+r"(code) :: "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", \
                       "memory")
#elif defined(__XTENSA_CALL0_ABI__)
#define SY_FORGET(code) __asm__ volatile("" : "+r"(code) :: "a12", "a13", "a14", "a15", "memory")
#else /* register windows; processes, whose memory is their own */
#define SY_FORGET(code) ((void)0)
#endif

/* --- tally.c ------------------------------------------------------------------------------------ */

void sy_keep_count(void);                   /* notes what the counter has now */
void sy_put_count(void (*put16)(uint16_t)); /* sends it, the lower half first */

/* --- tempo.c ------------------------------------------------------------------------------------ */

enum { SY_HASTEN = 3 }; /* a command without payload, as its answer is */
void sy_hasten(void);   /* takes the rest of it, answers, and goes on at the serial port's second rate */
/* What main() does with a command. On RISC-V it stays as it was: the linker makes its calls long or short by how far
 * they reach, and ROM would depend on what else is in the image. */
#ifndef SY_FAST_BAUD
#define SY_TAKE(command, length) sy_request(command, length)
#elif defined(__riscv)
#define SY_TAKE(command, length) sy_take(command, length)
void sy_take(uint8_t command, uint16_t length);
#else
#define SY_TAKE(command, length) (command == SY_HASTEN && length == 0 ? sy_hasten() : sy_request(command, length))
#endif

/* --- heap.c ------------------------------------------------------------------------------------- */

/* First address the stack must not reach: end of buffers, raised by the heap. The simulator guards it. */
extern uint8_t *volatile sy_stack_limit;
extern uint8_t *sy_heap_base; /* where the heap of the current call starts */
extern size_t sy_heap_peak;   /* most bytes it held; bit 15 or 31 where it had no room for a block */

#endif
