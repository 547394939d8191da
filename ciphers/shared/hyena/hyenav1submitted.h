/* HyENA v1 as the submission's code, and its known answers, have it. */
#define HYENA_VERSION 1
#define HYENA_SUBMITTED
#define GIFT128_FAST
