#include "machine/target.h"
