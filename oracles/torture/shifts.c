/* Shifts and rotations by amounts that are known only at run time, for every width. */
#include "torture.h"

static NOINLINE uint32_t rotate(uint32_t v, uint8_t n) { return v << (n & 31) | v >> (-n & 31); }
static NOINLINE uint64_t rotate64(uint64_t v, uint8_t n) { return v << (n & 63) | v >> (-n & 63); }
static NOINLINE uint8_t rotate8(uint8_t v, uint8_t n) { return (uint8_t)(v << (n & 7) | v >> (-n & 7)); }

uint32_t shifts(void)
{
    uint32_t sum = 3, v = 0x9234F6E7u;
    uint64_t w = 0xA1B2C3D4E5F60718u;
    for (uint8_t n = 0; n < 64; n++) {
        uint8_t k = OPAQUE(uint8_t, n);
        sum = mix64(sum, w << k);
        sum = mix64(sum, w >> k);
        sum = mix64(sum, (uint64_t)((int64_t)w >> k));
        if (k < 32) {
            sum = mix(sum, v << k);
            sum = mix(sum, v >> k);
            sum = mix(sum, (uint32_t)((int32_t)v >> k));
            sum = mix(sum, rotate(v, k));
        }
        if (k < 16)
            sum = mix(sum, (uint32_t)(uint16_t)((unsigned)(uint16_t)v << k) | (uint32_t)((uint16_t)v >> k) << 16);
        if (k < 8) {
            /* by way of memory: msp430-elf-gcc 12.2 forgets to cut the upper byte off */
            uint8_t left = OPAQUE(uint8_t, (uint8_t)((unsigned)(uint8_t)v << k));
            uint8_t right = OPAQUE(uint8_t, (uint8_t)((int8_t)v >> k));
            sum = mix(sum, left | (uint32_t)right << 8);
        }
        if (k % 4 == 1) {
            sum = mix64(sum, rotate64(w, k));
            sum = mix(sum, rotate8((uint8_t)v, k));
        }
    }
    return sum;
}
