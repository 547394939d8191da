/*
 * Calls one implementation with random inputs in heap blocks of just their size, so that the sanitizers see
 * every access outside, and holds what any authenticated cipher or hash promises. Prints the first broken
 * promise and exits with 1.
 *
 * With an argument it takes inputs from standard input instead: on each line key, nonce, associated data and
 * message in hexadecimal, "-" for nothing, and a line feed. It prints the outputs; or it compares them where the
 * line goes on with what has to come out.
 */
#define _POSIX_C_SOURCE 200809L /* getline */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"

/* Most bytes that the algorithm takes. */
#ifndef MAX_AD
#define MAX_AD 300
#endif
#ifndef MAX_MESSAGE
#define MAX_MESSAGE 600
#endif

static uint64_t state = 0x9e3779b97f4a7c15u;

static uint64_t draw(void) /* splitmix64 */
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

struct block {
    unsigned char *base, *p, *copy;
    size_t size;
};

/* size bytes at a random alignment, with nothing allocated behind them; no bytes have no address */
static struct block block(size_t size)
{
    struct block b = {NULL, NULL, NULL, size};
    size_t shift = draw() & 7;

    if (size == 0)
        return b;
    b.base = malloc(size + shift);
    b.copy = malloc(size);
    if (b.base == NULL || b.copy == NULL)
        exit(2);
    b.p = b.base + shift;
    for (size_t i = 0; i < size; i++)
        b.copy[i] = b.p[i] = (unsigned char)draw();
    return b;
}

static unsigned digit(char c)
{
    if (!isxdigit((unsigned char)c))
        exit(2);
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* the next word of a line */
static struct block word(char **line)
{
    const char *text = *line;
    size_t length = strcspn(text, " \n");
    struct block b = block(text[0] == '-' ? 0 : length / 2);

    if (length == 0)
        exit(2);
    *line += length + 1;
    for (size_t i = 0; i < b.size; i++)
        b.copy[i] = b.p[i] = (unsigned char)(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
    return b;
}

static void drop(struct block *b)
{
    free(b->base);
    free(b->copy);
}

static int changed(const struct block *b)
{
    return b->size != 0 && memcmp(b->p, b->copy, b->size) != 0;
}

static void flip(struct block *b, unsigned ignored)
{
    uint64_t bit = draw() % (8 * b->size - ignored);

    b->p[bit / 8] ^= (unsigned char)(1u << (bit % 8));
}

static size_t adlen, mlen;

static void hold(int promise, const char *text)
{
    if (promise)
        return;
    printf("%s (associated data %zu, message %zu bytes)\n", text, adlen, mlen);
    exit(1);
}

/* Set where ciphertext is one block of CRYPTO_ABYTES bytes, whatever the message. */
#ifndef ONE_BLOCK
#define ONE_BLOCK 0
#endif
/* Bits at the end of the key that the algorithm ignores. */
#ifndef IGNORED_KEY_BITS
#define IGNORED_KEY_BITS 0
#endif

#if defined(AEAD)
#include "crypto_aead.h"

static int open_(unsigned char *m, unsigned long long *len, const unsigned char *c, size_t clen, const struct block *ad,
                 const struct block *npub, const struct block *k)
{
    *len = 12345;
    return crypto_aead_decrypt(m, len, NULL, c, clen, ad->p, ad->size, npub->p, k->p);
}

static void refused(struct block *part, const struct block *c, const struct block *ad, const struct block *npub,
                    const struct block *k, const struct block *m, const char *text)
{
    struct block out = block(m->size);
    unsigned long long len;

    if (part->size == 0) {
        drop(&out);
        return;
    }
    flip(part, part == k ? IGNORED_KEY_BITS : 0);
    hold(open_(out.p, &len, c->p, c->size, ad, npub, k) != 0, text);
    hold(m->size < 8 || memcmp(out.p, m->p, m->size) != 0, "plaintext is left behind after a forgery");
    memcpy(part->p, part->copy, part->size);
    drop(&out);
}

static void round_(void)
{
    struct block k = block(CRYPTO_KEYBYTES), npub = block(CRYPTO_NPUBBYTES), ad = block(adlen), m = block(mlen);
    size_t length = ONE_BLOCK ? CRYPTO_ABYTES : mlen + CRYPTO_ABYTES, start = length - CRYPTO_ABYTES;
    struct block c = block(length), out = block(mlen), both = block(length);
    unsigned long long len = 12345;

    hold(crypto_aead_encrypt(c.p, &len, m.p, mlen, ad.p, adlen, NULL, npub.p, k.p) == 0, "encryption fails");
    hold(len == length, "wrong ciphertext length");
    memcpy(c.copy, c.p, c.size);
    hold(open_(out.p, &len, c.p, c.size, &ad, &npub, &k) == 0, "decryption refuses its own ciphertext");
    hold(len == mlen, "wrong plaintext length");
    hold(mlen == 0 || memcmp(out.p, m.p, mlen) == 0, "decryption gives another plaintext");
    hold(!changed(&k) && !changed(&npub) && !changed(&ad) && !changed(&m) && !changed(&c), "an input is written");

    if (mlen != 0)
        memcpy(both.p, m.p, mlen);
    crypto_aead_encrypt(both.p, &len, both.p, mlen, ad.p, adlen, NULL, npub.p, k.p);
    hold(memcmp(both.p, c.p, c.size) == 0, "encryption in place gives another ciphertext");
    hold(open_(both.p, &len, both.p, both.size, &ad, &npub, &k) == 0, "decryption in place refuses");
    hold(mlen == 0 || memcmp(both.p, m.p, mlen) == 0, "decryption in place gives another plaintext");

    struct block tag = {NULL, c.p + start, c.copy + start, CRYPTO_ABYTES}, text = {NULL, c.p, c.copy, start};
    refused(&tag, &c, &ad, &npub, &k, &m, "a forged tag is accepted");
    refused(&text, &c, &ad, &npub, &k, &m, "a forged ciphertext is accepted");
    refused(&ad, &c, &ad, &npub, &k, &m, "forged associated data is accepted");
    refused(&npub, &c, &ad, &npub, &k, &m, "another nonce is accepted");
    refused(&k, &c, &ad, &npub, &k, &m, "another key is accepted");

    if (MAX_AD != 0) {
        struct block other = block(adlen == 0 ? 1 : adlen - 1);
        if (adlen != 0 && other.size != 0)
            memcpy(other.p, ad.p, other.size);
        hold(open_(out.p, &len, c.p, c.size, &other, &npub, &k) != 0, "associated data of another length is accepted");
        drop(&other);
    }

    size_t cut = draw() % 2 ? c.size - 1 : draw() % c.size;
    struct block less = block(cut);
    if (cut != 0)
        memcpy(less.p, c.p, cut);
    struct block room = block(cut < CRYPTO_ABYTES ? 0 : cut - CRYPTO_ABYTES);
    hold(open_(room.p, &len, less.p, cut, &ad, &npub, &k) != 0, "a truncated ciphertext is accepted");
    drop(&less), drop(&room);
    drop(&k), drop(&npub), drop(&ad), drop(&m), drop(&c), drop(&out), drop(&both);
}

/* what comes out, which opens again */
static struct block answer(const struct block *k, const struct block *npub, const struct block *ad,
                           const struct block *m)
{
    struct block c = block(ONE_BLOCK ? CRYPTO_ABYTES : m->size + CRYPTO_ABYTES), out = block(m->size);
    unsigned long long len = 12345;

    if (k->size != CRYPTO_KEYBYTES || npub->size != CRYPTO_NPUBBYTES)
        exit(2);
    hold(crypto_aead_encrypt(c.p, &len, m->p, m->size, ad->p, ad->size, NULL, npub->p, k->p) == 0, "encryption fails");
    hold(len == c.size, "wrong ciphertext length");
    hold(open_(out.p, &len, c.p, c.size, ad, npub, k) == 0, "decryption refuses its own ciphertext");
    hold(len == m->size && (len == 0 || memcmp(out.p, m->p, m->size) == 0), "decryption gives another plaintext");
    drop(&out);
    return c;
}

#else

#if defined(HASH)
#include "crypto_hash.h"
#define ABSORB(out, m, ad) crypto_hash((out).p, (m).p, (m).size)
#define WITH_AD 0
#else
#include "crypto_cxof.h"
#define ABSORB(out, m, ad) crypto_cxof((out).p, CRYPTO_BYTES, (m).p, (m).size, (ad).p, (ad).size)
#define WITH_AD 1
#endif

static void round_(void)
{
    struct block ad = block(WITH_AD ? adlen : 0), m = block(mlen), one = block(CRYPTO_BYTES), two = block(CRYPTO_BYTES);

    hold(ABSORB(one, m, ad) == 0, "hashing fails");
    hold(!changed(&m) && !changed(&ad), "an input is written");
    ABSORB(two, m, ad);
    hold(memcmp(one.p, two.p, CRYPTO_BYTES) == 0, "two calls differ");
    if (mlen != 0) {
        flip(&m, 0);
        ABSORB(two, m, ad);
        hold(memcmp(one.p, two.p, CRYPTO_BYTES) != 0, "another message has the same digest");
        memcpy(m.p, m.copy, m.size);
    }
    if (ad.size != 0) {
        flip(&ad, 0);
        ABSORB(two, m, ad);
        hold(memcmp(one.p, two.p, CRYPTO_BYTES) != 0, "another customization has the same digest");
    }
    drop(&ad), drop(&m), drop(&one), drop(&two);
}

static struct block answer(const struct block *k, const struct block *npub, const struct block *ad,
                           const struct block *m)
{
    struct block out = block(CRYPTO_BYTES);

    if (k->size != 0 || npub->size != 0 || (!WITH_AD && ad->size != 0))
        exit(2);
    hold(ABSORB(out, *m, *ad) == 0, "hashing fails");
    return out;
}

#endif

static void take(char *line)
{
    struct block k = word(&line), npub = word(&line), ad = word(&line), m = word(&line);

    adlen = ad.size, mlen = m.size;
    struct block made = answer(&k, &npub, &ad, &m);
    if (*line != '\0') {
        struct block expected = word(&line);
        hold(made.size == expected.size && memcmp(made.p, expected.p, made.size) == 0, "another output");
        drop(&expected);
    } else {
        for (size_t i = 0; i < made.size; i++)
            printf("%02x", made.p[i]);
        putchar('\n');
    }
    drop(&k), drop(&npub), drop(&ad), drop(&m), drop(&made);
}

int main(int argc, char **argv)
{
    char *line = NULL;
    size_t room = 0;

    (void)argv;
    if (argc > 1) {
        while (getline(&line, &room, stdin) > 0)
            take(line);
        free(line);
        return 0;
    }
    for (size_t i = 0; i < 160; i++) {
        /* every short length of both, then long ones */
        adlen = (i < 80 ? i * 7 % 80 : draw()) % (MAX_AD + 1);
        mlen = (i < 80 ? i : draw()) % (MAX_MESSAGE + 1);
        if (draw() % 8 == 0)
            adlen = 0;
        if (draw() % 8 == 0)
            mlen = 0;
        round_();
    }
    return 0;
}
