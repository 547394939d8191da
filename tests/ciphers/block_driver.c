/*
 * Calls one block cipher with inputs in heap blocks of just their size, so that the sanitizers see every access outside,
 * and holds what crypto_block.h promises. Prints the first broken promise and exits with 1.
 *
 * With the argument "answers" it takes inputs from standard input instead, on each line key and block in hexadecimal, and
 * prints the encrypted block of each; with "chain" the block after CHAIN encryptions, each of the block before. Every
 * answer is decrypted again.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "crypto_block.h"

#define CHAIN 10000
#define KEY CRYPTO_KEYBYTES
#define BLOCK CRYPTO_BLOCKBYTES
#define CONTEXT CRYPTO_CONTEXTBYTES

typedef int schedule(unsigned char *, const unsigned char *);
typedef int call(unsigned char *, const unsigned char *, const unsigned char *);

static uint64_t state = 0x9e3779b97f4a7c15u;

static uint64_t draw(void) /* splitmix64 */
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static void hold(int promise, const char *text)
{
    if (promise)
        return;
    printf("%s\n", text);
    exit(1);
}

/* size random bytes, shift bytes behind a multiple of 16, with nothing allocated behind them */
struct block {
    unsigned char *base, *p;
};

static struct block block(size_t size, size_t shift)
{
    struct block b = {malloc(size + shift), NULL};

    if (b.base == NULL)
        exit(2);
    b.p = b.base + shift;
    for (size_t i = 0; i < size; i++)
        b.p[i] = (unsigned char)draw();
    return b;
}

/* A context of its own, 8 bytes behind a multiple of 16. */
static struct block scheduled(schedule *of, const unsigned char *k)
{
    struct block b = block(CONTEXT, 8);

    hold(of(b.p, k) == 0, "a key schedule fails");
    return b;
}

/* The context stays, the input stays, and what comes out of place comes in place. */
static void called(call *of, unsigned char *out, const unsigned char *in, unsigned char *ctx)
{
    unsigned char before[CONTEXT], input[BLOCK];
    struct block both = block(BLOCK, draw() & 7);

    memcpy(before, ctx, CONTEXT);
    memcpy(input, in, BLOCK);
    memcpy(both.p, in, BLOCK);
    hold(of(out, in, ctx) == 0, "a call fails");
    hold(memcmp(before, ctx, CONTEXT) == 0, "the context is written");
    hold(memcmp(input, in, BLOCK) == 0, "the input is written");
    hold(of(both.p, both.p, ctx) == 0 && memcmp(both.p, out, BLOCK) == 0, "in place gives another block");
    free(both.base);
}

/* Two keys at once, their contexts used in turn, and one made anew from the same key. */
static void round_(size_t shift)
{
    struct block k = block(KEY, shift), l = block(KEY, (shift + 3) & 7), copy = block(KEY, 0);
    memcpy(copy.p, k.p, KEY);
    struct block ek = scheduled(crypto_block_encrypt_schedule, k.p), el = scheduled(crypto_block_encrypt_schedule, l.p);
    struct block dk = scheduled(crypto_block_decrypt_schedule, k.p), dl = scheduled(crypto_block_decrypt_schedule, l.p);

    hold(memcmp(copy.p, k.p, KEY) == 0, "the key is written");
    memset(k.p, 0xA5, KEY); /* a context holds all that it needs */
    for (int i = 0; i < 4; i++) {
        struct block x = block(BLOCK, (shift + (size_t)i) & 7), y = block(BLOCK, (shift + 5) & 7);
        struct block z = block(BLOCK, (shift + 2) & 7), again = block(BLOCK, 1);

        called(crypto_block_encrypt, y.p, x.p, ek.p);
        called(crypto_block_encrypt, z.p, x.p, el.p);
        hold(memcmp(y.p, z.p, BLOCK) != 0, "two keys give the same block");
        called(crypto_block_decrypt, again.p, y.p, dk.p);
        hold(memcmp(again.p, x.p, BLOCK) == 0, "decryption gives another block");
        called(crypto_block_decrypt, again.p, z.p, dl.p);
        hold(memcmp(again.p, x.p, BLOCK) == 0, "decryption gives another block");
        if (i == 1) { /* contexts are filled once more, from the other key */
            crypto_block_encrypt_schedule(el.p, copy.p);
            crypto_block_decrypt_schedule(dl.p, copy.p);
            hold(crypto_block_encrypt(z.p, x.p, el.p) == 0 && memcmp(y.p, z.p, BLOCK) == 0, "a reused context differs");
            crypto_block_encrypt_schedule(el.p, l.p);
            crypto_block_decrypt_schedule(dl.p, l.p);
        }
        free(x.base), free(y.base), free(z.base), free(again.base);
    }
    free(k.base), free(l.base), free(copy.base), free(ek.base), free(el.base), free(dk.base), free(dl.base);
}

static int word(unsigned char *to, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned byte;
        if (scanf("%2x", &byte) != 1)
            return 0;
        to[i] = (unsigned char)byte;
    }
    return 1;
}

static void answers(int times)
{
    struct block k = block(KEY, 0), x = block(BLOCK, 0), y = block(BLOCK, 0);

    while (word(k.p, KEY)) {
        struct block e = scheduled(crypto_block_encrypt_schedule, k.p), d = scheduled(crypto_block_decrypt_schedule, k.p);

        if (!word(x.p, BLOCK))
            exit(2);
        memcpy(y.p, x.p, BLOCK);
        for (int i = 0; i < times; i++)
            crypto_block_encrypt(y.p, y.p, e.p);
        for (size_t i = 0; i < BLOCK; i++)
            printf("%02x", y.p[i]);
        printf("\n");
        for (int i = 0; i < times; i++)
            crypto_block_decrypt(y.p, y.p, d.p);
        hold(memcmp(x.p, y.p, BLOCK) == 0, "decryption gives another block");
        free(e.base), free(d.base);
    }
    free(k.base), free(x.base), free(y.base);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        answers(strcmp(argv[1], "chain") == 0 ? CHAIN : 1);
        return 0;
    }
    for (size_t i = 0; i < 64; i++)
        round_(i & 7);
    return 0;
}
