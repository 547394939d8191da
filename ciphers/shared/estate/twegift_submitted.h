/* As the submission's code, and its known answers, have it. */
#define GIFT128_FAST
#define ESTATE_SUBMITTED
