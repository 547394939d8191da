/*
 * WAGE.
 *
 * Both S-boxes are tables, as in Tables 2.3 and 2.4.  The circuit of WGP has
 * some hundred operations, and what it is applied to depends on the round
 * before, so that in slices of bits a round would take many times as long.
 * On a core with a data cache the tables are not in constant time.
 *
 * Table 2.4 is what test vector A.1 and the known answers have; the bits of SB
 * in section 2.3.3, taken literally, are another S-box.
 */
#include <string.h>

#include "duplex.h"

#if defined(__AVR__)
#include <avr/pgmspace.h>

#define TABLE const uint8_t PROGMEM
#define LOOK_UP(table, i) pgm_read_byte((table) + (i))
#else
#define TABLE const uint8_t
#define LOOK_UP(table, i) ((table)[i])
#endif

#define WGP(x) LOOK_UP(wgp, x)
#define SB(x) LOOK_UP(sb, x)

/* Table 2.3 */
static TABLE wgp[128] = {
    0x00, 0x12, 0x0a, 0x4b, 0x66, 0x0c, 0x48, 0x73, 0x79, 0x3e, 0x61, 0x51,
    0x01, 0x15, 0x17, 0x0e, 0x7e, 0x33, 0x68, 0x36, 0x42, 0x35, 0x37, 0x5e,
    0x53, 0x4c, 0x3f, 0x54, 0x58, 0x6e, 0x56, 0x2a, 0x1d, 0x25, 0x6d, 0x65,
    0x5b, 0x71, 0x2f, 0x20, 0x06, 0x18, 0x29, 0x3a, 0x0d, 0x7a, 0x6c, 0x1b,
    0x19, 0x43, 0x70, 0x41, 0x49, 0x22, 0x77, 0x60, 0x4f, 0x45, 0x55, 0x02,
    0x63, 0x47, 0x75, 0x2d, 0x40, 0x46, 0x7d, 0x5c, 0x7c, 0x59, 0x26, 0x0b,
    0x09, 0x03, 0x57, 0x5d, 0x27, 0x78, 0x30, 0x2e, 0x44, 0x52, 0x3b, 0x08,
    0x67, 0x2c, 0x05, 0x6b, 0x2b, 0x1a, 0x21, 0x38, 0x07, 0x0f, 0x4a, 0x11,
    0x50, 0x6a, 0x28, 0x31, 0x10, 0x4d, 0x5f, 0x72, 0x39, 0x16, 0x5a, 0x13,
    0x04, 0x3c, 0x34, 0x1f, 0x76, 0x1e, 0x14, 0x23, 0x1c, 0x32, 0x4e, 0x7b,
    0x24, 0x74, 0x7f, 0x3d, 0x69, 0x64, 0x62, 0x6f,
};

/* Table 2.4 */
static TABLE sb[128] = {
    0x2e, 0x1c, 0x6d, 0x2b, 0x35, 0x07, 0x7f, 0x3b, 0x28, 0x08, 0x0b, 0x5f,
    0x31, 0x11, 0x1b, 0x4d, 0x6e, 0x54, 0x0d, 0x09, 0x1f, 0x45, 0x75, 0x53,
    0x6a, 0x5d, 0x61, 0x00, 0x04, 0x78, 0x06, 0x1e, 0x37, 0x6f, 0x2f, 0x49,
    0x64, 0x34, 0x7d, 0x19, 0x39, 0x33, 0x43, 0x57, 0x60, 0x62, 0x13, 0x05,
    0x77, 0x47, 0x4f, 0x4b, 0x1d, 0x2d, 0x24, 0x48, 0x74, 0x58, 0x25, 0x5e,
    0x5a, 0x76, 0x41, 0x42, 0x27, 0x3e, 0x6c, 0x01, 0x2c, 0x3c, 0x4e, 0x1a,
    0x21, 0x2a, 0x0a, 0x55, 0x3a, 0x38, 0x18, 0x7e, 0x0c, 0x63, 0x67, 0x56,
    0x50, 0x7c, 0x32, 0x7a, 0x68, 0x02, 0x6b, 0x17, 0x7b, 0x59, 0x71, 0x0f,
    0x30, 0x10, 0x22, 0x3d, 0x40, 0x69, 0x52, 0x14, 0x36, 0x44, 0x46, 0x03,
    0x16, 0x65, 0x66, 0x72, 0x12, 0x0e, 0x29, 0x4a, 0x4c, 0x70, 0x15, 0x26,
    0x79, 0x51, 0x23, 0x3f, 0x73, 0x5b, 0x20, 0x5c,
};

/* The omega multiple, modulo x^7 + x^3 + x^2 + x + 1; omega^6 is bit 0. */
static inline uint8_t omega(uint8_t x)
{
    return (uint8_t)(x >> 1 ^ (-(x & 1) & 0x78));
}

/* The LFSR of the round constants, x^7 + x + 1 (section 4.6.1) */
static inline uint8_t next_constant(uint8_t rc)
{
    return (uint8_t)(rc >> 1 | ((rc ^ rc >> 1) & 1) << 6);
}

/* Algorithm 1.  The register does not move: S_j is at p[j], and p moves. */
void wage_permute(duplex_state *z)
{
    uint8_t s[2 * WAGE_STAGES];
    uint8_t rc = 0x7f, i;

    memcpy(s + WAGE_STAGES, z->s, WAGE_STAGES);
    for (i = 0; i < 3; i++) { /* 37 rounds */
        uint8_t *p;

        memcpy(s, s + WAGE_STAGES, WAGE_STAGES);
        for (p = s; p != s + WAGE_STAGES; p++) {
            uint8_t fb = p[31] ^ p[30] ^ p[26] ^ p[24] ^ p[19] ^ p[13] ^
                         p[12] ^ p[8] ^ p[6] ^ omega(p[0]);

            p[5] ^= SB(p[8]);
            p[11] ^= SB(p[15]);
            p[19] ^= WGP(p[18]) ^ rc;
            rc = next_constant(rc);
            p[24] ^= SB(p[27]);
            p[30] ^= SB(p[34]);
            p[37] = fb ^ WGP(p[36]) ^ rc;
            rc = next_constant(rc);
        }
    }
    memcpy(z->s, s + WAGE_STAGES, WAGE_STAGES);
}

/* The seven bits of a string from bit i on; the first bit of a byte is its
 * highest. */
static uint8_t get(const uint8_t *p, uint8_t i)
{
    uint16_t w = (uint16_t)(p[i / 8] << 8);

    if (i % 8 > 1) /* the next byte may not be there */
        w |= p[i / 8 + 1];
    return (uint8_t)(w >> (9 - i % 8) & 0x7f);
}

/* Adds seven bits to a string. */
static void put(uint8_t *p, uint8_t i, uint8_t x)
{
    uint16_t w = (uint16_t)(x << (9 - i % 8));

    p[i / 8] ^= (uint8_t)(w >> 8);
    if (i % 8 > 1)
        p[i / 8 + 1] ^= (uint8_t)w;
}

/* The stages of D_0 to D_8; D_9 is bit 63 in S_(36,0). */
static const uint8_t rate[9] = {8, 9, 15, 16, 18, 27, 28, 34, 35};

void duplex_add(duplex_state *z, const uint8_t *p)
{
    uint8_t i;

    for (i = 0; i < 9; i++)
        z->s[rate[i]] ^= get(p, (uint8_t)(7 * i));
    z->s[36] ^= (uint8_t)((p[7] & 1) << 6);
}

void duplex_extract(const duplex_state *z, uint8_t *p)
{
    uint8_t i;

    memset(p, 0, 8);
    for (i = 0; i < 9; i++)
        put(p, (uint8_t)(7 * i), z->s[rate[i]]);
    p[7] ^= z->s[36] >> 6;
}

/* The stages of tuples 0 to 17 of the nonce (section 2.4.3); those of the tag
 * (2.4.7) differ in S_16 and S_17. */
static const uint8_t nonce[18] = {
    28, 9, 29, 10, 30, 11, 31, 12, 32, 13, 33, 14, 34, 15, 35, 17, 36, 16,
};

/* First bit of tuple i of key and nonce; bits 63 and 127 are in S_18. */
#define TUPLE(i) (uint8_t)(7 * (i) + ((i) > 8))

/* load-AE(N, K) */
void duplex_load(duplex_state *z, const uint8_t *npub, const uint8_t *k)
{
    uint8_t i;

    for (i = 0; i < 18; i++) {
        z->s[nonce[i]] = get(npub, TUPLE(i));
        /* even tuples of the key from S_0, odd ones from S_19 on */
        z->s[(i & 1) != 0 ? 19 + i / 2 : i / 2] = get(k, TUPLE(i));
    }
    z->s[18] = (uint8_t)((k[7] & 1) << 6 | (k[15] & 1) << 5 |
                         (npub[7] & 1) << 4 | (npub[15] & 1) << 3);
}

/* tagextract(S): tuple i begins at bit 7i; bits 126 and 127 are in S_18. */
void duplex_tag(const duplex_state *z, uint8_t *t)
{
    uint8_t i;

    memset(t, 0, 16);
    for (i = 0; i < 18; i++) {
        uint8_t j = nonce[i];

        if (i == 15 || i == 17) /* S_16 and S_17, exchanged */
            j ^= 1;
        put(t, (uint8_t)(7 * i), z->s[j]);
    }
    t[15] |= z->s[18] >> 3 & 3;
}
