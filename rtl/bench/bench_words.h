// Words of ports, bits of words, and chance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace {

// xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled" (2016)
struct Random {
    uint64_t state;
    explicit Random(uint64_t seed) : state(seed * 0x9e3779b97f4a7c15u + 1) {
        for (int i = 0; i < 8; i++)
            next();
    }
    uint32_t next() {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        return static_cast<uint32_t>((state * 0x2545f4914f6cdd1du) >> 32);
    }
    uint32_t below(uint32_t n) { return static_cast<uint32_t>((uint64_t(next()) * n) >> 32); }
};

// A port as 32-bit words, least significant first: Verilator has integers up to 64 bits and arrays above.
template <typename T, std::enable_if_t<std::is_integral<T>::value, int> = 0> void put(T &port, const uint32_t *words) {
    port = static_cast<T>(sizeof(T) > 4 ? words[0] | uint64_t(words[1]) << 32 : words[0]);
}
template <typename T, std::enable_if_t<!std::is_integral<T>::value, int> = 0> void put(T &port, const uint32_t *words) {
    for (size_t i = 0; i < sizeof(T) / 4; i++)
        port[i] = words[i];
}
template <typename T, std::enable_if_t<std::is_integral<T>::value, int> = 0> void get(const T &port, uint32_t *words) {
    words[0] = static_cast<uint32_t>(port);
    words[1] = static_cast<uint32_t>(uint64_t(port) >> 32);
}
template <typename T, std::enable_if_t<!std::is_integral<T>::value, int> = 0> void get(const T &port, uint32_t *words) {
    for (size_t i = 0; i < sizeof(T) / 4; i++)
        words[i] = port[i];
}

void set_bits(uint32_t *words, unsigned at, unsigned width, uint32_t value) {
    for (unsigned i = 0; i < width; i++, at++)
        words[at / 32] = (words[at / 32] & ~(1u << at % 32)) | ((value >> i & 1) << at % 32);
}
uint32_t bits(const uint32_t *words, unsigned at, unsigned width) {
    uint32_t value = 0;
    for (unsigned i = 0; i < width; i++, at++)
        value |= (words[at / 32] >> at % 32 & 1) << i;
    return value;
}

} // namespace
