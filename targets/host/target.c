#include "machine/target.c"
