/*
 * P of Dumbo and Jumbo
 */
#include "spongent.h"

#define PERMUTE(x) spongent(x)
