/*
 * Piccolo (Shibutani, Isobe, Hiwatari, Mitsuda, Akishita, Shirai, CHES 2011):
 * sizes and the key schedule. Words of 16 bits, the most significant byte
 * first.
 */
#if CRYPTO_KEYBYTES == 10
#define ROUNDS 25
#define KEY_CONSTANT 0x0f1e2d3c
#else
#define ROUNDS 31
#define KEY_CONSTANT 0x6547a98b
#endif

typedef struct {
    uint16_t white[4], rk[ROUNDS][2];
} keys;

/* left byte of a, right byte of b */
#define BYTES_OF(a, b) ((uint16_t)(((a) & 0xFF00) | ((b) & 0x00FF)))

static void expand(keys *to, const unsigned char *key)
{
    uint16_t k[CRYPTO_KEYBYTES / 2];
    uint8_t r;

    for (r = 0; r < CRYPTO_KEYBYTES / 2; r++)
        k[r] = LOAD16BE(key + 2 * r);
    to->white[0] = BYTES_OF(k[0], k[1]);
    to->white[1] = BYTES_OF(k[1], k[0]);
#if CRYPTO_KEYBYTES == 10
    to->white[2] = BYTES_OF(k[4], k[3]);
    to->white[3] = BYTES_OF(k[3], k[4]);
#else
    to->white[2] = BYTES_OF(k[4], k[7]);
    to->white[3] = BYTES_OF(k[7], k[4]);
#endif
    for (r = 0; r < ROUNDS; r++) {
        uint32_t i = (uint32_t)(r + 1); /* five bits, four times */
        uint32_t con = (i << 27 | i << 17 | i << 10 | i) ^ KEY_CONSTANT;
#if CRYPTO_KEYBYTES == 10
        static const uint8_t first[5] = { 2, 0, 2, 4, 0 };
        static const uint8_t second[5] = { 3, 1, 3, 4, 1 };
        uint16_t even = k[first[r % 5]], odd = k[second[r % 5]];
#else
        static const uint8_t from[8] = { 2, 1, 6, 7, 0, 3, 4, 5 };
        uint16_t even, odd;

        if (r % 4 == 3) {
            uint16_t t[8];
            uint8_t j;

            memcpy(t, k, 16);
            for (j = 0; j < 8; j++)
                k[j] = t[from[j]];
        }
        even = k[(2 * r + 2) & 7];
        odd = k[(2 * r + 3) & 7];
#endif
        to->rk[r][0] = (uint16_t)(con >> 16) ^ even;
        to->rk[r][1] = (uint16_t)con ^ odd;
    }
}
