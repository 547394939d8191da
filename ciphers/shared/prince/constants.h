/* Round constants 0 to 5 (the others are their sums with alpha, constant 11),
 * and constant 11. */
TABLE(uint64_t) rc[7] = {
    0x0000000000000000u,
    0x13198a2e03707344u,
    0xa4093822299f31d0u,
    0x082efa98ec4e6c89u,
    0x452821e638d01377u,
    0xbe5466cf34e90c6cu,
    0xc0ac29b7c97c50ddu
};
