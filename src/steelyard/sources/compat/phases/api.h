/* The sizes of a FELICS block cipher as crypto_block calls them. */
#include "constants.h"

#define CRYPTO_KEYBYTES KEY_SIZE
#define CRYPTO_BLOCKBYTES BLOCK_SIZE
#define CRYPTO_CONTEXTBYTES ROUND_KEYS_SIZE
