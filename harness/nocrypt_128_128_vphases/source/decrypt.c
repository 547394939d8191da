#include "cipher.h"

void Decrypt(uint8_t *block, uint8_t *roundKeys)
{
    (void)block;
    (void)roundKeys;
}
