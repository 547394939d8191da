/* Romulus: tweakey encoding and state update (sections 2.4.1 and 2.4.2). */
#include <string.h>

#include "romulus.h"

#ifdef ROMULUS_OPT32
#define SKINNY_WORD32
#include "skinny.h"
#endif

void romulus_start(romulus *z)
{
    memset(z->s, 0, sizeof z->s);
    memset(z->tk, 0, sizeof z->tk);
}

void romulus_set_key(romulus *z, const uint8_t *k)
{
    memcpy(z->tk + ROMULUS_K_AT, k, 16);
}

void romulus_set_tweak(romulus *z, const uint8_t *t, uint8_t n)
{
    uint8_t *tweak = z->tk + ROMULUS_T_AT, i;

    for (i = 0; i < n; i++)
        tweak[i] = t[i];
    if (n < ROMULUS_T) {
        while (i < ROMULUS_T - 1)
            tweak[i++] = 0;
        tweak[i] = n;
    }
#ifdef ROMULUS_OPT32
    skinny128_schedule(z->schedule, NULL, tweak, z->tk + ROMULUS_K_AT);
#endif
}

/* x = 2x in GF(2)[x] / F(x), least significant byte first; low is F without
 * its highest term. */
static void doubling(uint8_t *x, uint8_t bytes, uint8_t low)
{
    uint8_t carry = 0, i;

    for (i = 0; i < bytes; i++) {
        uint8_t out = (uint8_t)(x[i] >> 7);

        x[i] = (uint8_t)(x[i] << 1 | carry);
        carry = out;
    }
    x[0] ^= (uint8_t)(-carry & low);
}

#define ONE(x, bytes)                                                        \
    do {                                                                     \
        memset((x), 0, bytes);                                               \
        (x)[0] = 1;                                                          \
    } while (0)

#if ROMULUS_T == 16

void romulus_start_counter(romulus *z)
{
    ONE(z->tk, 7);
}

void romulus_next_counter(romulus *z)
{
    doubling(z->tk, 7, 0x95);
}

#else

void romulus_start_counter(romulus *z)
{
    ONE(z->tk, 3);
#if SKINNY_TK == 3
    ONE(z->tk + ROMULUS_D2_AT, 3);
#endif
}

void romulus_next_counter(romulus *z)
{
    doubling(z->tk, 3, 0x1b);
#if SKINNY_TK == 3
    /* The text has D1 count the rounds of D2; the known answers have D2, in
     * TK3, count those of D1. */
    if (z->tk[0] == 1 && (z->tk[1] | z->tk[2]) == 0)
        doubling(z->tk + ROMULUS_D2_AT, 3, 0x1b);
#endif
}

#endif

void romulus_encipher(romulus *z, uint8_t b)
{
    z->tk[ROMULUS_B_AT] = b;
#ifdef ROMULUS_OPT32
    skinny128_encrypt_scheduled(z->s, z->tk, z->schedule);
#elif SKINNY_TK == 3
    skinny128_encrypt(z->s, z->tk, z->tk + 16, z->tk + 32);
#else
    skinny128_encrypt(z->s, z->tk, z->tk + 16);
#endif
}

/* G_s of one byte */
static inline uint8_t g(uint8_t x)
{
    return (uint8_t)(x >> 1 ^ (x & 0x80) ^ x << 7);
}

void romulus_absorb(romulus *z, const uint8_t *in, uint8_t n)
{
    uint8_t i;

    for (i = 0; i < n; i++)
        z->s[i] ^= in[i];
    if (n < 16)
        z->s[15] ^= n;
}

void romulus_crypt(romulus *z, uint8_t *out, const uint8_t *in, uint8_t n,
                   uint8_t decrypt)
{
    uint8_t i;

#ifdef ROMULUS_OPT32
    /* four bytes at once */
    if (n == 16) {
        for (i = 0; i < 16; i += 4) {
            uint32_t s = SKINNY_LOAD(z->s + i, 0);
            uint32_t x = SKINNY_LOAD(in + i, 0);
            uint32_t y = x ^ (s >> 1 & 0x7f7f7f7fu) ^
                         ((s ^ s << 7) & 0x80808080u);

            s ^= decrypt ? y : x;
            SKINNY_STORE(z->s + i, 0, s);
            SKINNY_STORE(out + i, 0, y);
        }
        return;
    }
#endif
    for (i = 0; i < n; i++) {
        uint8_t x = in[i];
        uint8_t y = x ^ g(z->s[i]);

        /* the plaintext: input of encryption, output of decryption */
        z->s[i] ^= (uint8_t)(decrypt ? y : x);
        out[i] = y;
    }
    if (n < 16)
        z->s[15] ^= n;
}

void romulus_tag(uint8_t *t, const romulus *z)
{
    uint8_t i;

    for (i = 0; i < 16; i++)
        t[i] = g(z->s[i]);
}

int romulus_verify(const uint8_t *t, const uint8_t *u, uint8_t *m, size_t len)
{
    uint8_t difference = 0, i;

    for (i = 0; i < 16; i++)
        difference |= (uint8_t)(t[i] ^ u[i]);
    if (difference == 0)
        return 0;
    if (len != 0)
        memset(m, 0, len);
    return -1;
}
