#include <string.h>

#include "cipher.h"
#include "constants.h"

void RunEncryptionKeySchedule(uint8_t *key, uint8_t *roundKeys)
{
    memcpy(roundKeys, key, KEY_SIZE);
}
