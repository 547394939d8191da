/* SUPERCOP's AES-128 of one block. It is linked where a package has none of its own: harness/provided/. */
#ifndef crypto_core_aes128encrypt_H
#define crypto_core_aes128encrypt_H
#define crypto_core_aes128encrypt_OUTPUTBYTES 16
#define crypto_core_aes128encrypt_INPUTBYTES 16
#define crypto_core_aes128encrypt_KEYBYTES 16
#define crypto_core_aes128encrypt_CONSTBYTES 0
#ifdef __cplusplus
extern "C" {
#endif
/* out = 16 bytes of in under the 16 bytes of k; c is not used; returns 0 */
int crypto_core_aes128encrypt(unsigned char *out, const unsigned char *in, const unsigned char *k,
                              const unsigned char *c);
#ifdef __cplusplus
}
#endif
#endif
