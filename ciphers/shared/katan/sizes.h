/*
 * KATAN and KTANTAN (De Canniere, Dunkelman, Knezevic, CHES 2009): lengths of
 * the two registers, and the taps of their functions (table 1 of the paper).
 */
#define ROUNDS 254

#if CRYPTO_BLOCKBYTES == 4
#define CLOCKS 1 /* of a round */
#define LENGTH1 13
#define LENGTH2 19
enum { X1 = 12, X2 = 7, X3 = 8, X4 = 5, X5 = 3 };
enum { Y1 = 18, Y2 = 7, Y3 = 12, Y4 = 10, Y5 = 8, Y6 = 3 };
typedef uint32_t reg2;
#elif CRYPTO_BLOCKBYTES == 6
#define CLOCKS 2
#define LENGTH1 19
#define LENGTH2 29
enum { X1 = 18, X2 = 12, X3 = 15, X4 = 7, X5 = 6 };
enum { Y1 = 28, Y2 = 19, Y3 = 21, Y4 = 13, Y5 = 15, Y6 = 6 };
typedef uint32_t reg2;
#else
#define CLOCKS 3
#define LENGTH1 25
#define LENGTH2 39
enum { X1 = 24, X2 = 15, X3 = 20, X4 = 11, X5 = 9 };
enum { Y1 = 38, Y2 = 25, Y3 = 33, Y4 = 21, Y5 = 14, Y6 = 9 };
typedef uint64_t reg2;
#endif

#define MASK1 (((uint32_t)1 << LENGTH1) - 1)
#define MASK2 (((reg2)1 << LENGTH2) - 1)

/* Bit 0 of a block, of L2, is the lowest of its last byte. */
static inline uint64_t load_block(const uint8_t *in)
{
    uint64_t s = 0;
    uint8_t i;

    for (i = 0; i < CRYPTO_BLOCKBYTES; i++)
        s = s << 8 | in[i];
    return s;
}

static inline void store_block(uint8_t *out, uint64_t s)
{
    uint8_t i;

    for (i = CRYPTO_BLOCKBYTES; i-- > 0; s >>= 8)
        out[i] = (uint8_t)s;
}
