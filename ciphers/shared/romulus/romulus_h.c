/* Romulus-H: MDPH with SKINNY-128-384+ (Figure 2.11). */
#include <string.h>

#include "params.h"
#include "romulus_h.h"

#ifdef ROMULUS_OPT32
#include "skinny128_fixsliced.h"
#else
#include "skinny128.h"
#endif

/* (L, R) = CF(L, R, M) */
static void compress(romulus_h *h)
{
    uint8_t x[16], y[16], i;
#ifdef ROMULUS_OPT32
    uint32_t schedule[SKINNY_SCHEDULE];

    skinny128_schedule(schedule, h->tk, h->tk + 16, h->tk + 32);
#define E(x) skinny128_encrypt_scheduled((x), h->tk, schedule)
#else
#define E(x) skinny128_encrypt((x), h->tk, h->tk + 16, h->tk + 32)
#endif

    memcpy(x, h->l, 16);
    E(x);
    for (i = 0; i < 16; i++)
        x[i] ^= h->l[i]; /* L' */
    h->l[0] ^= 1;
    memcpy(y, h->l, 16);
    E(y);
    for (i = 0; i < 16; i++)
        h->tk[i] = y[i] ^ h->l[i]; /* R' */
    memcpy(h->l, x, 16);
#undef E
}

void romulus_h_start(romulus_h *h)
{
    memset(h, 0, sizeof *h);
}

void romulus_h_update(romulus_h *h, const uint8_t *m, size_t len)
{
    while (len != 0) {
        uint8_t n = (uint8_t)(32 - h->n);

        if (len < n)
            n = (uint8_t)len;
        memcpy(h->tk + 16 + h->n, m, n);
        h->n = (uint8_t)(h->n + n);
        m += n;
        len -= n;
        if (h->n == 32) {
            compress(h);
            h->n = 0;
        }
    }
}

void romulus_h_finish(romulus_h *h, uint8_t *out)
{
    uint8_t *block = h->tk + 16;

    /* ipad of 256 bits: the byte length of the partial block comes last */
    memset(block + h->n, 0, (size_t)(32 - h->n));
    block[31] |= h->n;
    h->l[0] ^= 2;
    compress(h);
    memcpy(out, h->l, 16);
    memcpy(out + 16, h->tk, 16);
}
