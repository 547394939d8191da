/*
 * The permutation PHOTON_256 (chapter 2 of the PHOTON-Beetle specification,
 * the submission to the NIST LWC project): 64 cells of four bits, eight rows
 * of eight.
 *
 * As 32 bytes: the two cells of a byte are X[i, 2j] (low half) and
 * X[i, 2j + 1], the rows follow each other, four bytes each.
 */
#ifndef PHOTON256_H
#define PHOTON256_H

#include <stdint.h>

#define PHOTON256_BYTES 32

void photon256(uint8_t *x);

/*
 * SubCells on bit slices, x0 the lowest bits of the cells: the S-box of
 * PRESENT in 14 operations (N. Courtois, D. Hulme, T. Mourouzis, "Solving
 * Circuit Optimisation Problems in Cryptography and Cryptanalysis", 2011).
 */
#define PHOTON256_SUBCELLS(type, x0, x1, x2, x3)                             \
    do {                                                                     \
        type t1 = (type)(x1 ^ x2), t2 = (type)(x2 & t1);                     \
        type t3 = (type)(x3 ^ t2), t4;                                       \
                                                                             \
        t4 = x0;                                                             \
        x0 = (type)(x0 ^ t3);                                                \
        t2 = (type)((t1 & t3) ^ x2);                                         \
        t1 = (type)(t1 ^ x0);                                                \
        x1 = (type)((t4 | t2) ^ t1);                                         \
        t2 = (type)(t2 ^ ~t4);                                               \
        x3 = (type)(x1 ^ t2);                                                \
        x2 = (type)((t1 | t2) ^ t3);                                         \
    } while (0)

#endif
