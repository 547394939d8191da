/* HyENA v1 as specified. */
#define HYENA_VERSION 1
#define GIFT128_FAST
