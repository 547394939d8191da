/* Constants c of the rounds, and alpha. */
static const uint64_t constant[7] = {
    0x0000000000000000u,
    0x13198a2e03707344u,
    0xa4093822299f31d0u,
    0x082efa98ec4e6c89u,
    0x452821e638d01377u,
    0xbe5466cf34e90c6cu,
    0x3f84d5b5b5470917u
};
#define ALPHA 0xc0ac29b7c97c50ddu
