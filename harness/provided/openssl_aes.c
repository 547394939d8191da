/* OpenSSL's functions of <openssl/aes.h> for single blocks. */
#include "openssl/aes.h"
#include "steelyard_aes.h"

int AES_set_encrypt_key(const unsigned char *userKey, const int bits, AES_KEY *key)
{
    if (!userKey || !key)
        return -1;
    if (bits != 128 && bits != 192 && bits != 256)
        return -2;
    key->rounds = 6 + bits / 32;
    if (bits == 192)
        expand_24(key, userKey);
    else
        expand(key, userKey, (uint8_t)(bits / 8));
    return 0;
}

/* The same round keys: they are taken from the end. */
int AES_set_decrypt_key(const unsigned char *userKey, const int bits, AES_KEY *key)
{
    return AES_set_encrypt_key(userKey, bits, key);
}

void AES_encrypt(const unsigned char *in, unsigned char *out, const AES_KEY *key)
{
    cipher_with(out, in, key);
}

void AES_decrypt(const unsigned char *in, unsigned char *out, const AES_KEY *key)
{
    inverse_cipher_with(out, in, key);
}
