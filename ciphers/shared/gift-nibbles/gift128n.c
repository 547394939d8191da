#include "gift128n.h"
#include "nibbles.h"

#if !defined(GIFT128_FAST)
#error "the small GIFT-128 keeps the address of the key, which is local here"
#endif

/* The bit-sliced description has the words of the key in the same order, but
 * the highest one first. */
void gift128n_set_key(gift128_key *key, const uint8_t *k)
{
    uint8_t reversed[16], i;

    for (i = 0; i < 16; i++)
        reversed[i] = k[15 - i];
    gift128_set_key(key, reversed);
}

void gift128n_encrypt(const gift128_key *key, uint8_t *y)
{
    uint8_t s[16], i;

    for (i = 0; i < 4; i++) {
        uint8_t *p = s + 3 - i;

        nibbles_to_slices(y + 4 * i, p, p + 4, p + 8, p + 12);
    }
    gift128_encrypt(key, s);
    for (i = 0; i < 4; i++) {
        const uint8_t *p = s + 3 - i;

        slices_to_nibbles(y + 4 * i, p[0], p[4], p[8], p[12]);
    }
}
