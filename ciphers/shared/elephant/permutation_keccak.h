/*
 * P of Delirium
 */
#include "keccak200.h"

#define PERMUTE(x) keccak200(x)
