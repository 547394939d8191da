/*
 * AES-128 (section 1.4.1); every key serves once.
 */
#include "aes.h"
#include "comet.h"

void comet_cipher(uint8_t *y, const uint8_t *z)
{
    aes_block s, k;
    uint8_t rcon = 0x01, i;

    aes_load(&s, y);
    aes_load_key(&k, z);
    aes_add(&s, &k);
    for (i = 1; i <= 10; i++) {
        rcon = aes_sub_bytes_next_key(&s, &k, rcon);
        aes_shift_rows(&s);
        if (i < 10)
            aes_mix_columns(&s);
        aes_add(&s, &k);
    }
    aes_store(y, &s);
}
