/* Ascon-p (SP 800-232, section 3; Ascon v1.2, "Permutation"), fastest code. */
#include "ascon.h"

#if ASCON_COLUMNS

/* T_k of the word x rotated right by n. */
#define ROTR_COLUMN(x, k, n) \
    ROTL8((x)[((k) + (n)) & 7], (((k) + (n)) >> 3) & 7)

/* Linear diffusion (3.4) of one word: x ^ (x >>> a) ^ (x >>> b). */
#define DIFFUSE_COLUMN(x, v, k, a, b) \
    ((x)[k] = (uint8_t)((v)[k] ^ ROTR_COLUMN(v, k, a) ^ ROTR_COLUMN(v, k, b)))
#define DIFFUSE(x, a, b) do { \
    const uint8_t v_[8] = { (x)[0], (x)[1], (x)[2], (x)[3], \
                            (x)[4], (x)[5], (x)[6], (x)[7] }; \
    DIFFUSE_COLUMN(x, v_, 0, a, b); DIFFUSE_COLUMN(x, v_, 1, a, b); \
    DIFFUSE_COLUMN(x, v_, 2, a, b); DIFFUSE_COLUMN(x, v_, 3, a, b); \
    DIFFUSE_COLUMN(x, v_, 4, a, b); DIFFUSE_COLUMN(x, v_, 5, a, b); \
    DIFFUSE_COLUMN(x, v_, 6, a, b); DIFFUSE_COLUMN(x, v_, 7, a, b); \
} while (0)

/*
 * The same as x ^ ((x ^ (x >>> b - a)) >>> a), for the words where this takes
 * rotations of bytes by smaller amounts.  The order of columns and words below
 * is the one that asks least of the registers of an AVR.
 */
#define NESTED_COLUMN(v, k, n) \
    (uint8_t)((v)[k] ^ ROTR_COLUMN(v, k, n))
#define DIFFUSE_NESTED(x, a, b) do { \
    const uint8_t v_[8] = { (x)[0], (x)[1], (x)[2], (x)[3], \
                            (x)[4], (x)[5], (x)[6], (x)[7] }; \
    const uint8_t z_[8] = { \
        NESTED_COLUMN(v_, 0, (b) - (a)), NESTED_COLUMN(v_, 1, (b) - (a)), \
        NESTED_COLUMN(v_, 2, (b) - (a)), NESTED_COLUMN(v_, 3, (b) - (a)), \
        NESTED_COLUMN(v_, 4, (b) - (a)), NESTED_COLUMN(v_, 5, (b) - (a)), \
        NESTED_COLUMN(v_, 6, (b) - (a)), NESTED_COLUMN(v_, 7, (b) - (a)) }; \
    (x)[0] = (uint8_t)(v_[0] ^ ROTR_COLUMN(z_, 0, a)); \
    (x)[1] = (uint8_t)(v_[1] ^ ROTR_COLUMN(z_, 1, a)); \
    (x)[2] = (uint8_t)(v_[2] ^ ROTR_COLUMN(z_, 2, a)); \
    (x)[3] = (uint8_t)(v_[3] ^ ROTR_COLUMN(z_, 3, a)); \
    (x)[4] = (uint8_t)(v_[4] ^ ROTR_COLUMN(z_, 4, a)); \
    (x)[5] = (uint8_t)(v_[5] ^ ROTR_COLUMN(z_, 5, a)); \
    (x)[6] = (uint8_t)(v_[6] ^ ROTR_COLUMN(z_, 6, a)); \
    (x)[7] = (uint8_t)(v_[7] ^ ROTR_COLUMN(z_, 7, a)); \
} while (0)

/* p_C (3.2), S_2 <- S_2 ^ c_i, and p_S (3.3) on column k. */
#define SUBSTITUTE(s, c, k) do { \
    uint8_t x0_ = (s)->x[0][k], x1_ = (s)->x[1][k], x2_ = (s)->x[2][k]; \
    uint8_t x3_ = (s)->x[3][k], x4_ = (s)->x[4][k]; \
    if ((c) & (1 << (k))) \
        x2_ ^= 0x80; \
    ASCON_SBOX_COLUMN(x0_, x1_, x2_, x3_, x4_); \
    (s)->x[0][k] = x0_; (s)->x[1][k] = x1_; (s)->x[2][k] = x2_; \
    (s)->x[3][k] = x3_; (s)->x[4][k] = x4_; \
} while (0)

#ifndef ASCON_PERMUTE_ELSEWHERE         /* in assembly, permutation_avr.S */
void ascon_permute(ascon_state *s, uint8_t rounds)
{
    uint8_t c = ASCON_FIRST_CONSTANT(rounds);

    do {
        SUBSTITUTE(s, c, 0);
        SUBSTITUTE(s, c, 5);
        SUBSTITUTE(s, c, 2);
        SUBSTITUTE(s, c, 3);
        SUBSTITUTE(s, c, 4);
        SUBSTITUTE(s, c, 6);
        SUBSTITUTE(s, c, 1);
        SUBSTITUTE(s, c, 7);

        DIFFUSE_NESTED(s->x[0], 19, 28);
        DIFFUSE_NESTED(s->x[4], 7, 41);
        DIFFUSE(s->x[1], 39, 61);
        DIFFUSE_NESTED(s->x[3], 10, 17);
        DIFFUSE(s->x[2], 6, 1);

        c = (uint8_t)(c - ASCON_CONSTANT_STEP);
    } while (c != ASCON_AFTER_LAST_CONSTANT);
}
#endif

#ifdef ASCON_ROWS_ELSEWHERE             /* likewise, rows_avr.S */
void add_row(uint8_t *x, const unsigned char *p);
void extract_row(const uint8_t *x, unsigned char *p);
#else
/* Transpose the bit matrix of eight rows: bit i of row k <-> bit k of row i. */
#define TRANSPOSE(row) do { \
    SWAP_BLOCKS((row)[0], (row)[4], 4, 0xf0); \
    SWAP_BLOCKS((row)[1], (row)[5], 4, 0xf0); \
    SWAP_BLOCKS((row)[2], (row)[6], 4, 0xf0); \
    SWAP_BLOCKS((row)[3], (row)[7], 4, 0xf0); \
    SWAP_BLOCKS((row)[0], (row)[2], 2, 0xcc); \
    SWAP_BLOCKS((row)[1], (row)[3], 2, 0xcc); \
    SWAP_BLOCKS((row)[4], (row)[6], 2, 0xcc); \
    SWAP_BLOCKS((row)[5], (row)[7], 2, 0xcc); \
    SWAP_BLOCKS((row)[0], (row)[1], 1, 0xaa); \
    SWAP_BLOCKS((row)[2], (row)[3], 1, 0xaa); \
    SWAP_BLOCKS((row)[4], (row)[5], 1, 0xaa); \
    SWAP_BLOCKS((row)[6], (row)[7], 1, 0xaa); \
} while (0)

static void add_row(uint8_t *x, const unsigned char *p)
{
    uint8_t row[8];

    row[ASCON_ROW(0)] = p[0];
    row[ASCON_ROW(1)] = p[1];
    row[ASCON_ROW(2)] = p[2];
    row[ASCON_ROW(3)] = p[3];
    row[ASCON_ROW(4)] = p[4];
    row[ASCON_ROW(5)] = p[5];
    row[ASCON_ROW(6)] = p[6];
    row[ASCON_ROW(7)] = p[7];
    TRANSPOSE(row);
    x[0] ^= row[0];
    x[1] ^= row[1];
    x[2] ^= row[2];
    x[3] ^= row[3];
    x[4] ^= row[4];
    x[5] ^= row[5];
    x[6] ^= row[6];
    x[7] ^= row[7];
}

static void extract_row(const uint8_t *x, unsigned char *p)
{
    uint8_t row[8] = { x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7] };

    TRANSPOSE(row);
    p[0] = row[ASCON_ROW(0)];
    p[1] = row[ASCON_ROW(1)];
    p[2] = row[ASCON_ROW(2)];
    p[3] = row[ASCON_ROW(3)];
    p[4] = row[ASCON_ROW(4)];
    p[5] = row[ASCON_ROW(5)];
    p[6] = row[ASCON_ROW(6)];
    p[7] = row[ASCON_ROW(7)];
}
#endif

void ascon_add(ascon_state *s, uint8_t i, const unsigned char *p, uint8_t n)
{
    unsigned char t[8] = { 0 };
    uint8_t j;

    if (n != 8) {
        for (j = 0; j < n; j++)
            t[j] = p[j];
        p = t;
    }
    add_row(s->x[i], p);
}

void ascon_extract(const ascon_state *s, uint8_t i, unsigned char *p, uint8_t n)
{
    unsigned char t[8];
    uint8_t j;

    if (n == 8) {
        extract_row(s->x[i], p);
    } else {
        extract_row(s->x[i], t);
        for (j = 0; j < n; j++)
            p[j] = t[j];
    }
}

void ascon_crypt(ascon_state *s, uint8_t i, unsigned char *out,
                 const unsigned char *in, uint8_t n, uint8_t what)
{
    unsigned char t[8];
    uint8_t j;

    if (what != ASCON_DECRYPT) {
        ascon_add(s, i, in, n);
        if (what == ASCON_ENCRYPT)
            ascon_extract(s, i, out, n);
        return;
    }
    extract_row(s->x[i], t);
    for (j = 0; j < n; j++) {
        t[j] ^= in[j];
        out[j] = t[j];
    }
    for (; j < 8; j++)
        t[j] = 0;
    add_row(s->x[i], t);
}

#elif ASCON_INTERLEAVE

/* x rotated right by n bits, n < 32 */
#define ROTR32(x, n) (((x) >> (n)) | ((x) << ((32 - (n)) & 31)))

/*
 * Linear diffusion (3.4) of one word with even bits e and odd bits o:
 * x ^ (x >>> a) ^ (x >>> b).  A rotation by an odd amount swaps the two.
 */
#define ROTR_EVEN(e, o, n) \
    ((n) & 1 ? ROTR32(o, (n) / 2) : ROTR32(e, (n) / 2))
#define ROTR_ODD(e, o, n) \
    ((n) & 1 ? ROTR32(e, (n) / 2 + 1) : ROTR32(o, (n) / 2))
#define DIFFUSE(e, o, a, b) do { \
    uint32_t e_ = (e), o_ = (o); \
    (e) = e_ ^ ROTR_EVEN(e_, o_, a) ^ ROTR_EVEN(e_, o_, b); \
    (o) = o_ ^ ROTR_ODD(e_, o_, a) ^ ROTR_ODD(e_, o_, b); \
} while (0)

/* The round constants (3.2), even bits and odd bits, then an end mark. */
#define EVEN(c) \
    (((c) & 1) | ((c) >> 1 & 2) | ((c) >> 2 & 4) | ((c) >> 3 & 8))
#define CONSTANT(c) { EVEN(c), EVEN((c) >> 1) }
#define END_MARK 0xff
static const uint8_t constants[13][2] = {
    CONSTANT(0xf0), CONSTANT(0xe1), CONSTANT(0xd2), CONSTANT(0xc3),
    CONSTANT(0xb4), CONSTANT(0xa5), CONSTANT(0x96), CONSTANT(0x87),
    CONSTANT(0x78), CONSTANT(0x69), CONSTANT(0x5a), CONSTANT(0x4b),
    { END_MARK }
};

void ascon_permute(ascon_state *s, uint8_t rounds)
{
    uint32_t e0 = s->x[0][0], e1 = s->x[1][0], e2 = s->x[2][0];
    uint32_t e3 = s->x[3][0], e4 = s->x[4][0];
    uint32_t o0 = s->x[0][1], o1 = s->x[1][1], o2 = s->x[2][1];
    uint32_t o3 = s->x[3][1], o4 = s->x[4][1];
    const uint8_t *c = constants[12 - rounds];

    do {
        /* p_C (3.2): S_2 <- S_2 ^ c_i */
        e2 ^= *c++;
        o2 ^= *c++;

        /* p_S (3.3) */
        ASCON_SBOX(e0, e1, e2, e3, e4);
        ASCON_SBOX(o0, o1, o2, o3, o4);

        /* p_L (3.4) */
        DIFFUSE(e0, o0, 19, 28);
        DIFFUSE(e1, o1, 61, 39);
        DIFFUSE(e2, o2, 1, 6);
        DIFFUSE(e3, o3, 10, 17);
        DIFFUSE(e4, o4, 7, 41);
    } while (*c != END_MARK);

    s->x[0][0] = e0; s->x[1][0] = e1; s->x[2][0] = e2;
    s->x[3][0] = e3; s->x[4][0] = e4;
    s->x[0][1] = o0; s->x[1][1] = o1; s->x[2][1] = o2;
    s->x[3][1] = o3; s->x[4][1] = o4;
}

#else

void ascon_permute(ascon_state *s, uint8_t rounds)
{
    uint32_t l0 = s->x[0][0], l1 = s->x[1][0], l2 = s->x[2][0];
    uint32_t l3 = s->x[3][0], l4 = s->x[4][0];
    uint32_t h0 = s->x[0][1], h1 = s->x[1][1], h2 = s->x[2][1];
    uint32_t h3 = s->x[3][1], h4 = s->x[4][1];
    uint8_t c = ASCON_FIRST_CONSTANT(rounds);

    do {
        /* p_C (3.2): S_2 <- S_2 ^ c_i */
        l2 ^= c;

        /* p_S (3.3), on the lower and the upper half of the words */
        ASCON_SBOX(l0, l1, l2, l3, l4);
        ASCON_SBOX(h0, h1, h2, h3, h4);

        /* p_L (3.4) */
        ASCON_DIFFUSE(l0, h0, 19, 28);
        ASCON_DIFFUSE(l1, h1, 61, 39);
        ASCON_DIFFUSE(l2, h2, 1, 6);
        ASCON_DIFFUSE(l3, h3, 10, 17);
        ASCON_DIFFUSE(l4, h4, 7, 41);

        c = (uint8_t)(c - ASCON_CONSTANT_STEP);
    } while (c != ASCON_AFTER_LAST_CONSTANT);

    s->x[0][0] = l0; s->x[1][0] = l1; s->x[2][0] = l2;
    s->x[3][0] = l3; s->x[4][0] = l4;
    s->x[0][1] = h0; s->x[1][1] = h1; s->x[2][1] = h2;
    s->x[3][1] = h3; s->x[4][1] = h4;
}

#endif
