/* Memory of the caller's frame. */
#ifndef STEELYARD_ALLOCA_H
#define STEELYARD_ALLOCA_H

#define alloca(size) __builtin_alloca(size)

#endif
