#define CRYPTO_KEYBYTES 16
#define CRYPTO_BLOCKBYTES 8
#if defined(__AVR__) /* that of ref, which fast is there */
#define CRYPTO_CONTEXTBYTES 136
#else
#define CRYPTO_CONTEXTBYTES 264
#endif
