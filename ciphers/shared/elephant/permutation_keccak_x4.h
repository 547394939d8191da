/*
 * Four P of Delirium; word i holds byte i of the four.
 */
#include "keccak200.h"

#define PERMUTE_X4(x) keccak200(x)
