/* The sizes of a block cipher of two crypto_core functions, as crypto_block calls them: a context is the key. */
#include "encrypt/api.h"

#define CRYPTO_BLOCKBYTES CRYPTO_INPUTBYTES
#define CRYPTO_CONTEXTBYTES CRYPTO_KEYBYTES
