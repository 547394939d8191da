/* The cipher of ESTATE_TweGIFT-128 */
#include "twegift128.h"

#define tbc_key gift128_key
#define tbc_set_key gift128n_set_key
#define tbc_encrypt twegift128_encrypt
#define ESTATE_NOT_LAST(key, t, x) tbc_encrypt(key, t, x)
