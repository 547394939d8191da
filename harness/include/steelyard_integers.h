/* The functions of SUPERCOP's crypto_uintN.h and crypto_intN.h, as their names say: results are masks (0 or all
 * ones), 01 (0 or 1) or numbers, and time does not depend on values. Little-endian where nothing else is said.
 *
 * T: prefix, V: type of values, U: unsigned type of that size, N: bits, TOP: 1 where the top bit is a sign. */
#ifndef STEELYARD_INTEGERS_H
#define STEELYARD_INTEGERS_H

#include <stdint.h>

#define SY_INTEGER static __inline__ __attribute__((unused))

#define SY_INTEGER_PAIR(T, V, U, name, condition) \
    SY_INTEGER V T##_##name##_01(V x, V y) \
    { \
        return (V)(condition); \
    } \
    SY_INTEGER V T##_##name##_mask(V x, V y) \
    { \
        return (V)(0u - (U)(condition)); \
    }

#define SY_INTEGER_TEST(T, V, U, name, condition) \
    SY_INTEGER V T##_##name##_01(V x) \
    { \
        return (V)(condition); \
    } \
    SY_INTEGER V T##_##name##_mask(V x) \
    { \
        return (V)(0u - (U)(condition)); \
    }

/* z | -z has its top bit set unless z is 0 */
#define SY_NONZERO(U, N, z) ((U)((U)(z) | (U)(0u - (U)(z))) >> ((N)-1))
/* the borrow of a - b comes from the top bits of both and of the difference */
#define SY_LESS(U, N, a, b) \
    ((U)(((U) ~(U)(a) & (U)(b)) | ((U) ~(U)((a) ^ (b)) & (U)((U)(a) - (U)(b)))) >> ((N)-1))
#define SY_FLIPPED(U, N, TOP, x) ((U)((U)(x) ^ (U)((U)(TOP) << ((N)-1))))
#define SY_SMALLER(U, N, TOP, x, y) SY_LESS(U, N, SY_FLIPPED(U, N, TOP, x), SY_FLIPPED(U, N, TOP, y))

#define SY_INTEGERS(T, V, U, N, TOP) \
    SY_INTEGER V T##_load(const unsigned char *s) \
    { \
        U x = 0; \
        int i; \
        for (i = 0; i < (N) / 8; i++) \
            x |= (U)((U)s[i] << 8 * i); \
        return (V)x; \
    } \
    SY_INTEGER V T##_load_bigendian(const unsigned char *s) \
    { \
        U x = 0; \
        int i; \
        for (i = 0; i < (N) / 8; i++) \
            x |= (U)((U)s[i] << ((N)-8 - 8 * i)); \
        return (V)x; \
    } \
    SY_INTEGER void T##_store(unsigned char *s, V x) \
    { \
        int i; \
        for (i = 0; i < (N) / 8; i++) \
            s[i] = (unsigned char)((U)x >> 8 * i); \
    } \
    SY_INTEGER void T##_store_bigendian(unsigned char *s, V x) \
    { \
        int i; \
        for (i = 0; i < (N) / 8; i++) \
            s[i] = (unsigned char)((U)x >> ((N)-8 - 8 * i)); \
    } \
    SY_INTEGER_TEST(T, V, U, topbit, (U)x >> ((N)-1)) \
    SY_INTEGER_TEST(T, V, U, bottombit, (U)x & 1u) \
    SY_INTEGER_TEST(T, V, U, nonzero, SY_NONZERO(U, N, x)) \
    SY_INTEGER_TEST(T, V, U, zero, 1u - SY_NONZERO(U, N, x)) \
    SY_INTEGER_PAIR(T, V, U, bitmod, ((U)x >> ((U)y & ((N)-1))) & 1u) \
    SY_INTEGER_PAIR(T, V, U, bitinrangepublicpos, ((U)x >> ((U)y & ((N)-1))) & 1u) \
    SY_INTEGER_PAIR(T, V, U, unequal, SY_NONZERO(U, N, (U)x ^ (U)y)) \
    SY_INTEGER_PAIR(T, V, U, equal, 1u - SY_NONZERO(U, N, (U)x ^ (U)y)) \
    SY_INTEGER_PAIR(T, V, U, smaller, SY_SMALLER(U, N, TOP, x, y)) \
    SY_INTEGER_PAIR(T, V, U, leq, 1u - SY_SMALLER(U, N, TOP, y, x)) \
    SY_INTEGER V T##_shlmod(V x, V s) \
    { \
        return (V)(U)((0u + (U)x) << ((U)s & ((N)-1))); \
    } \
    SY_INTEGER V T##_shrmod(V x, V s) \
    { \
        return (V)(x >> ((U)s & ((N)-1))); \
    } \
    SY_INTEGER V T##_min(V x, V y) \
    { \
        return (V)((U)x ^ (((U)x ^ (U)y) & (U)T##_smaller_mask(y, x))); \
    } \
    SY_INTEGER V T##_max(V x, V y) \
    { \
        return (V)((U)x ^ (((U)x ^ (U)y) & (U)T##_smaller_mask(x, y))); \
    } \
    SY_INTEGER void T##_minmax(V *x, V *y) \
    { \
        V least = T##_min(*x, *y); \
        *y = T##_max(*x, *y); \
        *x = least; \
    } \
    SY_INTEGER int T##_ones_num(V x) \
    { \
        int i, n = 0; \
        for (i = 0; i < (N); i++) \
            n += (int)((U)x >> i & 1u); \
        return n; \
    } \
    SY_INTEGER int T##_bottomzeros_num(V x) \
    { \
        return T##_ones_num((V)((U) ~(U)x & (U)((U)x - 1u))); \
    }

#define SY_UNSIGNED_INTEGERS(T, V, S, N) \
    SY_INTEGERS(T, V, V, N, 0) \
    SY_INTEGER S T##_signed(V x) \
    { \
        return (S)x; \
    }

#define SY_SIGNED_INTEGERS(T, V, U, N) \
    SY_INTEGERS(T, V, U, N, 1) \
    SY_INTEGER_TEST(T, V, U, negative, (U)x >> ((N)-1)) \
    SY_INTEGER_TEST(T, V, U, positive, SY_NONZERO(U, N, x) & (1u ^ ((U)x >> ((N)-1)))) \
    SY_INTEGER V T##_absolute(V x) \
    { \
        U sign = (U)T##_negative_mask(x); \
        return (V)(U)(((U)x ^ sign) - sign); \
    } \
    SY_INTEGER U T##_unsigned(V x) \
    { \
        return (U)x; \
    }

#endif
