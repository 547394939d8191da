/* Compute-heavy mix for the AVR core: words of 8 to 64 bits, tables, calls, branches. */
#include <avr/io.h>
#include <avr/interrupt.h>
#include <avr/pgmspace.h>
#include <avr/sleep.h>
#include <stdint.h>

#ifndef ROUNDS
#define ROUNDS 1200
#endif

static uint8_t box[256];
static uint8_t text[64];
static uint64_t lanes[5];
static const uint8_t steps[12] PROGMEM = {0xf0, 0xe1, 0xd2, 0xc3, 0xb4, 0xa5, 0x96, 0x87, 0x78, 0x69, 0x5a, 0x4b};

static uint64_t turn(uint64_t x, uint8_t n) { return x >> n | x << (64 - n); }

static void permute(void) {
    uint64_t a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3], e = lanes[4];
    for (uint8_t r = 0; r < 12; r++) {
        c ^= pgm_read_byte(&steps[r]);
        a ^= e; e ^= d; c ^= b;
        uint64_t t = a & ~e;
        a ^= c & ~b; c ^= e & ~d; e ^= b & ~a; b ^= d & ~c; d ^= t;
        b ^= a; a ^= e; d ^= c; c = ~c;
        a ^= turn(a, 19); b ^= turn(b, 39); c ^= turn(c, 1); d ^= turn(d, 10); e ^= turn(e, 7);
    }
    lanes[0] = a; lanes[1] = b; lanes[2] = c; lanes[3] = d; lanes[4] = e;
}

static uint16_t crc(const uint8_t *p, uint8_t n) {
    uint16_t v = 0xffff;
    while (n--) {
        v ^= *p++;
        for (uint8_t k = 0; k < 8; k++)
            v = v & 1 ? v >> 1 ^ 0xa001 : v >> 1;
    }
    return v;
}

static void sort(uint8_t *p, uint8_t n) {
    for (uint8_t i = 1; i < n; i++) {
        uint8_t v = p[i], j = i;
        for (; j && p[j - 1] > v; j--)
            p[j] = p[j - 1];
        p[j] = v;
    }
}

static void mix(uint32_t *w) {
    for (uint8_t r = 0; r < 8; r++) {
        w[0] += w[1]; w[3] ^= w[0]; w[3] = w[3] << 16 | w[3] >> 16;
        w[2] += w[3]; w[1] ^= w[2]; w[1] = w[1] << 12 | w[1] >> 20;
        w[0] = w[0] * 0x9e3779b1u + r;
    }
}

int main(void) {
    uint16_t sum = 0;
    for (uint16_t k = 0; k < 256; k++)
        box[k] = k * 167 + 13;
    for (uint16_t round = 0; round < ROUNDS; round++) {
        for (uint8_t k = 0; k < sizeof text; k++)
            text[k] = box[text[k] ^ k] + round;
        mix((uint32_t *)text);
        sum ^= crc(text, sizeof text);
        sort(text, sizeof text);
        lanes[round % 5] ^= sum;
        permute();
        sum += lanes[3];
    }
    UDR0 = "0123456789abcdef"[sum >> 12];
    UDR0 = "0123456789abcdef"[sum >> 8 & 15];
    UDR0 = "0123456789abcdef"[sum >> 4 & 15];
    UDR0 = "0123456789abcdef"[sum & 15];
    UDR0 = '\n';
    cli();
    sleep_cpu();
}
