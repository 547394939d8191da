/* SUPERCOP's crypto_core_aes128encrypt. The key serves once, so that round keys are made as they are used. */
#include "crypto_core_aes128encrypt.h"
#include "steelyard_aes.h"

int crypto_core_aes128encrypt(unsigned char *out, const unsigned char *in, const unsigned char *k,
                              const unsigned char *c)
{
    aes_block s, key;
    uint8_t rcon = 0x01, i;

    (void)c;
    aes_load(&s, in);
    aes_load_key(&key, k);
    aes_add(&s, &key);
    for (i = 1; i <= 10; i++) {
        rcon = aes_sub_bytes_next_key(&s, &key, rcon);
        aes_shift_rows(&s);
        if (i < 10)
            aes_mix_columns(&s);
        aes_add(&s, &key);
    }
    aes_store(out, &s);
    return 0;
}
