/* The ciphers of sESTATE_TweAES-128-6: F^15 in all calls but the last of the
 * MAC and those of OFB. */
#include "tweaes128.h"

#define tbc_key aes_key
#define tbc_set_key aes_set_key
#define tbc_encrypt tweaes128_encrypt
#define ESTATE_NOT_LAST(key, t, x) tweaes128_6_encrypt(key, 15, x)
