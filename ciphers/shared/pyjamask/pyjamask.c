/*
 * Pyjamask: a row of the state is a word (section 5.1.1).
 */
#include "pyjamask.h"

#define ROTATE_LEFT(x, n) ((x) << (n) | (x) >> (32 - (n)))
#define ROTATE_RIGHT(x, n) ((x) >> (n) | (x) << (32 - (n)))

/*
 * The first rows of the circulant matrices (section 2.4.2, 2.4.4 and appendix
 * A.2), the first element as the highest bit.
 */
#define M0 0xd08430e2u
#define M1 0x42074163u
#define M2 0x00a79a4bu
#define M3 0x64095289u
#define MK 0xa9cec08eu
#define INVERSE_M0 0x4242f602u
#define INVERSE_M1 0x02a7f884u
#define INVERSE_M2 0x818d9504u
#define INVERSE_M3 0x74469566u

/*
 * M * R for a circulant matrix M: the sum of R rotated to the left by k for
 * all k with M_(0,k) = 1.  With k = 8i + j, the rotations by 8i are made first
 * and those by 1, for j from 7 to 0, on the sum.  m is a constant, so that the
 * compiler sees which terms there are.
 */
#define HAS(m, k) ((m) >> (31 - (k)) & 1)
#define STEP(m, j)                                                           \
    do {                                                                     \
        if (HAS(m, j))                                                       \
            sum_ ^= x0_;                                                     \
        if (HAS(m, 8 + (j)))                                                 \
            sum_ ^= x8_;                                                     \
        if (HAS(m, 16 + (j)))                                                \
            sum_ ^= x16_;                                                    \
        if (HAS(m, 24 + (j)))                                                \
            sum_ ^= x24_;                                                    \
        if ((j) != 0)                                                        \
            sum_ = ROTATE_LEFT(sum_, 1);                                     \
    } while (0)

#define MULTIPLY(m, r)                                                       \
    do {                                                                     \
        const uint32_t x0_ = (r), x8_ = ROTATE_LEFT(x0_, 8);                 \
        const uint32_t x16_ = ROTATE_LEFT(x0_, 16);                          \
        const uint32_t x24_ = ROTATE_LEFT(x0_, 24);                          \
        uint32_t sum_ = 0;                                                   \
                                                                             \
        STEP(m, 7);                                                          \
        STEP(m, 6);                                                          \
        STEP(m, 5);                                                          \
        STEP(m, 4);                                                          \
        STEP(m, 3);                                                          \
        STEP(m, 2);                                                          \
        STEP(m, 1);                                                          \
        STEP(m, 0);                                                          \
        (r) = sum_;                                                          \
    } while (0)

void pyjamask_load(uint32_t *r, const uint8_t *p)
{
    uint8_t i;

    for (i = 0; i < PYJAMASK_ROWS; i++, p += 4)
        r[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
               (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

void pyjamask_unload(uint8_t *p, const uint32_t *r)
{
    uint8_t i;

    for (i = 0; i < PYJAMASK_ROWS; i++) {
        *p++ = (uint8_t)(r[i] >> 24);
        *p++ = (uint8_t)(r[i] >> 16);
        *p++ = (uint8_t)(r[i] >> 8);
        *p++ = (uint8_t)r[i];
    }
}

/* KeySchedule.  The rows 1 to 3 are rotated to the right: so do the printed
 * test vectors (section 6.1), where the text says left. */
void pyjamask_set_key(pyjamask_key *key, const uint8_t *k)
{
    uint32_t w[4];
    uint8_t i, j;

    for (i = 0; i < 4; i++, k += 4)
        w[i] = (uint32_t)k[0] << 24 | (uint32_t)k[1] << 16 |
               (uint32_t)k[2] << 8 | (uint32_t)k[3];
    for (i = 0;; i++) {
        uint32_t sum;

        for (j = 0; j < PYJAMASK_ROWS; j++)
            key->rk[i][j] = w[j];
        if (i == 14)
            return;
        /* MixColumns: every row becomes the sum of the others. */
        sum = w[0] ^ w[1] ^ w[2] ^ w[3];
        for (j = 0; j < 4; j++)
            w[j] ^= sum;
        /* MixAndRotateRows */
        MULTIPLY(MK, w[0]);
        w[1] = ROTATE_RIGHT(w[1], 8);
        w[2] = ROTATE_RIGHT(w[2], 15);
        w[3] = ROTATE_RIGHT(w[3], 18);
        /* AddConstant (Figure 5) */
        w[0] ^= 0x80u | i;
        w[1] ^= 0x6a00u;
        w[2] ^= (uint32_t)0x3f << 16;
        w[3] ^= (uint32_t)0x24 << 24;
    }
}

void pyjamask_encrypt(const pyjamask_key *key, uint32_t *r)
{
    uint32_t r0 = r[0], r1 = r[1], r2 = r[2], t;
#if PYJAMASK_ROWS == 4
    uint32_t r3 = r[3];
#endif
    uint8_t i;

    for (i = 0;; i++) {
        /* AddRoundKey */
        r0 ^= key->rk[i][0];
        r1 ^= key->rk[i][1];
        r2 ^= key->rk[i][2];
#if PYJAMASK_ROWS == 4
        r3 ^= key->rk[i][3];
#endif
        if (i == 14)
            break;
        /* SubBytes */
#if PYJAMASK_ROWS == 3
        r0 ^= r1;
        r1 ^= r2;
        r2 ^= r0 & r1;
        r0 ^= r1 & r2;
        r1 ^= r0 & r2;
        r2 ^= r0;
        r0 ^= r1;
        r2 = ~r2;
        t = r0;
        r0 = r1;
        r1 = t;
#else
        r0 ^= r3;
        r3 ^= r0 & r1;
        r0 ^= r1 & r2;
        r1 ^= r2 & r3;
        r2 ^= r0 & r3;
        r2 ^= r1;
        r1 ^= r0;
        t = ~r3;
        r3 = r2;
        r2 = t;
#endif
        /* MixRows */
        MULTIPLY(M0, r0);
        MULTIPLY(M1, r1);
        MULTIPLY(M2, r2);
#if PYJAMASK_ROWS == 4
        MULTIPLY(M3, r3);
#endif
    }
    r[0] = r0;
    r[1] = r1;
    r[2] = r2;
#if PYJAMASK_ROWS == 4
    r[3] = r3;
#endif
}

void pyjamask_decrypt(const pyjamask_key *key, uint32_t *r)
{
    uint32_t r0 = r[0], r1 = r[1], r2 = r[2], t;
#if PYJAMASK_ROWS == 4
    uint32_t r3 = r[3];
#endif
    uint8_t i;

    for (i = 14;; i--) {
        /* AddRoundKey */
        r0 ^= key->rk[i][0];
        r1 ^= key->rk[i][1];
        r2 ^= key->rk[i][2];
#if PYJAMASK_ROWS == 4
        r3 ^= key->rk[i][3];
#endif
        if (i == 0)
            break;
        /* InvMixRows */
        MULTIPLY(INVERSE_M0, r0);
        MULTIPLY(INVERSE_M1, r1);
        MULTIPLY(INVERSE_M2, r2);
#if PYJAMASK_ROWS == 4
        MULTIPLY(INVERSE_M3, r3);
#endif
        /* InvSubBytes: SubBytes backwards */
#if PYJAMASK_ROWS == 3
        t = r0;
        r0 = r1;
        r1 = t;
        r2 = ~r2;
        r0 ^= r1;
        r2 ^= r0;
        r1 ^= r0 & r2;
        r0 ^= r1 & r2;
        r2 ^= r0 & r1;
        r1 ^= r2;
        r0 ^= r1;
#else
        t = r2;
        r2 = r3;
        r3 = ~t;
        r1 ^= r0;
        r2 ^= r1;
        r2 ^= r0 & r3;
        r1 ^= r2 & r3;
        r0 ^= r1 & r2;
        r3 ^= r0 & r1;
        r0 ^= r3;
#endif
    }
    r[0] = r0;
    r[1] = r1;
    r[2] = r2;
#if PYJAMASK_ROWS == 4
    r[3] = r3;
#endif
}
