/* The cipher of ESTATE_TweAES-128 */
#include "tweaes128.h"

#define tbc_key aes_key
#define tbc_set_key aes_set_key
#define tbc_encrypt tweaes128_encrypt
#define ESTATE_NOT_LAST(key, t, x) tbc_encrypt(key, t, x)
