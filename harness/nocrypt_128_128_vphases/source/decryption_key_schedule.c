#include "cipher.h"

void RunDecryptionKeySchedule(uint8_t *key, uint8_t *roundKeys)
{
    (void)key;
    (void)roundKeys;
}
