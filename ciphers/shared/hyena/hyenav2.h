/* HyENA v2: other multiples of Delta for the last block. */
#define HYENA_VERSION 2
#define GIFT128_FAST
