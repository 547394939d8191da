/*
 * The permutation Xoodoo[12] (section 2.1 of the Xoodyak specification, the
 * submission to the NIST LWC project).
 */
#ifndef XOODOO_H
#define XOODOO_H

#include <stddef.h>
#include <stdint.h>

/*
 * Lane (x, y) is a[4y + x].  Bit i of the state as a string is bit z of lane
 * (x, y) with i = z + 32(x + 4y): four bytes a lane, lowest first.
 */
typedef struct {
    uint32_t a[12];
} xoodoo_state;

#define XOODOO_BYTES 48u

/* Byte i of the state as a string. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define XOODOO_BYTE(s, i) (((uint8_t *)(s)->a)[(i) ^ 3u])
#else
#define XOODOO_BYTE(s, i) (((uint8_t *)(s)->a)[i])
#endif

void xoodoo(xoodoo_state *s);

#endif
