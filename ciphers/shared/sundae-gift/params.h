/* Fixsliced GIFT-128: the round keys are computed once. */
#define GIFT128_FAST
