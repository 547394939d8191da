/*
 * TweAES-128 and TweAES-128-6 (Algorithm 3), from the steps of AES.
 */
#include "tweaes128.h"

/* The tweak in eight bits, which AddTweak adds to the lowest bits of the bytes
 * 0 to 7. */
static void load_tweak(aes_block *tweak, uint8_t t)
{
    uint8_t x[16], sum = (uint8_t)(t ^ t >> 2), i;

    sum = (uint8_t)((sum ^ sum >> 1) & 1);
    for (i = 0; i < 4; i++) {
        x[i] = t >> i & 1;
        x[4 + i] = x[i] ^ sum;
        x[8 + i] = 0;
        x[12 + i] = 0;
    }
    aes_load(tweak, x);
}

/* Rounds 1 to n, every second one of them with AddTweak; the tweak 0 changes
 * nothing. */
static void rounds(aes_block *s, const aes_key *key, uint8_t t, uint8_t n)
{
    aes_block tweak;
    uint8_t i;

    if (t != 0)
        load_tweak(&tweak, t);
    aes_add(s, &key->round[0]);
    for (i = 1; i <= n; i++) {
        aes_round(s);
        aes_add(s, &key->round[i]);
        if (t != 0 && (i & 1) == 0)
            aes_add(s, &tweak);
    }
}

void tweaes128_encrypt(const aes_key *key, uint8_t t, uint8_t *x)
{
    aes_block s;

    aes_load(&s, x);
    rounds(&s, key, t, 9);
    aes_sub_bytes(&s);
    aes_shift_rows(&s);
    aes_add(&s, &key->round[10]);
    aes_store(x, &s);
}

/* The sixth round has MixColumns and no AddTweak.  Its key is that of round 6
 * in the text, but that of round 10 in the known answers. */
void tweaes128_6_encrypt(const aes_key *key, uint8_t t, uint8_t *x)
{
    aes_block s;

    aes_load(&s, x);
    rounds(&s, key, t, 5);
    aes_round(&s);
    aes_add(&s, &key->round[10]);
    aes_store(x, &s);
}
