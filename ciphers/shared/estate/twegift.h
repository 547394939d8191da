/* As specified; GIFT-128 with its round keys computed once. */
#define GIFT128_FAST
