/*
 * Xoodyak: the Cyclist mode of operation, Algorithms 2 and 3 of the
 * specification.
 */
#include <string.h>

#include "cyclist.h"

#define UP 0
#define DOWN 1

#if CYCLIST_MODE == CYCLIST_KEYED
#define R_ABSORB R_KIN
#define R_SQUEEZE R_KOUT
#else
#define R_ABSORB R_HASH
#define R_SQUEEZE R_HASH
#endif

/* Down(X_i, c_D), after the bytes of X_i have been added to the state: the
 * rest of its padding and the domain byte. */
static void down(cyclist *z, uint8_t len, uint8_t c_d)
{
#if CYCLIST_MODE == CYCLIST_HASH
    c_d &= 1;
#endif
    XOODOO_BYTE(&z->s, len) ^= 1;
    XOODOO_BYTE(&z->s, XOODOO_BYTES - 1) ^= c_d;
    z->phase = DOWN;
}

/* Up(|Y_i|, c_U); Y_i is the first bytes of the state. */
static void up(cyclist *z, uint8_t c_u)
{
#if CYCLIST_MODE == CYCLIST_KEYED
    XOODOO_BYTE(&z->s, XOODOO_BYTES - 1) ^= c_u;
#else
    (void)c_u;
#endif
    xoodoo(&z->s);
    z->phase = UP;
}

#ifdef CYCLIST_FAST
static inline uint32_t load32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
           (uint32_t)p[3] << 24;
}

static inline void store32(uint8_t *p, uint32_t x)
{
    p[0] = (uint8_t)x;
    p[1] = (uint8_t)(x >> 8);
    p[2] = (uint8_t)(x >> 16);
    p[3] = (uint8_t)(x >> 24);
}
#endif

/* AbsorbAny(X, R_absorb, c_D) */
static void absorb_any(cyclist *z, const uint8_t *x, size_t len, uint8_t c_d)
{
    do {
        uint8_t n = (uint8_t)(len < R_ABSORB ? len : R_ABSORB);
        uint8_t i = 0;

        if (z->phase != UP)
            up(z, 0x00);
#ifdef CYCLIST_FAST
        for (; i + 4 <= n; i = (uint8_t)(i + 4)) {
            z->s.a[i / 4] ^= load32(x);
            x += 4;
        }
#endif
        for (; i < n; i++)
            XOODOO_BYTE(&z->s, i) ^= *x++;
        down(z, n, c_d);
        c_d = 0x00;
        len -= n;
    } while (len != 0);
}

void cyclist_absorb(cyclist *z, const uint8_t *x, size_t len)
{
    absorb_any(z, x, len, 0x03);
}

/* SqueezeAny(l, '40' (squeeze)) */
void cyclist_squeeze(cyclist *z, uint8_t *y, uint8_t len)
{
    uint8_t i;

    up(z, 0x40);
    for (;;) {
        uint8_t n = (uint8_t)(len < R_SQUEEZE ? len : R_SQUEEZE);

        for (i = 0; i < n; i++)
            *y++ = XOODOO_BYTE(&z->s, i);
        len = (uint8_t)(len - n);
        if (len == 0)
            return;
        down(z, 0, 0x00);
        up(z, 0x00);
    }
}

#if CYCLIST_MODE == CYCLIST_KEYED

/* AbsorbKey(K, id, empty): K || id || enc8(|id|) is one block. */
void cyclist_keyed(cyclist *z, const uint8_t *key, const uint8_t *id)
{
    uint8_t i;

    memset(z, 0, sizeof *z); /* phase up */
#if CYCLIST_ID_BYTES != 0
    for (i = 0; i < 16; i++) {
        XOODOO_BYTE(&z->s, i) = key[i];
        XOODOO_BYTE(&z->s, 16 + i) = id[i];
    }
#else
    (void)id;
    for (i = 0; i < 16; i++)
        XOODOO_BYTE(&z->s, i) = key[i];
#endif
    XOODOO_BYTE(&z->s, 16 + CYCLIST_ID_BYTES) = CYCLIST_ID_BYTES;
    down(z, 17 + CYCLIST_ID_BYTES, 0x02);
}

void cyclist_crypt(cyclist *z, uint8_t *out, const uint8_t *in, size_t len,
                   uint8_t decrypt)
{
    uint8_t c_u = 0x80;

    do {
        uint8_t n = (uint8_t)(len < R_KOUT ? len : R_KOUT);
        uint8_t i = 0;

        up(z, c_u);
        /* O_i = I_i + Up(); P_i, which is I_i or O_i, is added by Down() */
#ifdef CYCLIST_FAST
        for (; i + 4 <= n; i = (uint8_t)(i + 4)) {
            uint32_t x = load32(in);
            uint32_t y = x ^ z->s.a[i / 4];

            z->s.a[i / 4] = decrypt ? x : y;
            store32(out, y);
            in += 4;
            out += 4;
        }
#endif
        for (; i < n; i++) {
            uint8_t x = *in++;
            uint8_t y = x ^ XOODOO_BYTE(&z->s, i);

            XOODOO_BYTE(&z->s, i) = decrypt ? x : y;
            *out++ = y;
        }
        down(z, n, 0x00);
        c_u = 0x00;
        len -= n;
    } while (len != 0);
}

#else

void cyclist_hash(cyclist *z)
{
    memset(z, 0, sizeof *z); /* phase up */
}

#endif
