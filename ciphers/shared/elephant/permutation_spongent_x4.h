/*
 * Four P of Dumbo or Jumbo; word i holds byte i of the four.
 */
#include "spongent_x4.h"

#define PERMUTE_X4(x) spongent_x4(x)
