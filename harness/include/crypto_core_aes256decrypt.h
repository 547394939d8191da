/* SUPERCOP's AES-256 of one block. It is linked where a package has none of its own: harness/provided/. */
#ifndef crypto_core_aes256decrypt_H
#define crypto_core_aes256decrypt_H
#define crypto_core_aes256decrypt_OUTPUTBYTES 16
#define crypto_core_aes256decrypt_INPUTBYTES 16
#define crypto_core_aes256decrypt_KEYBYTES 32
#define crypto_core_aes256decrypt_CONSTBYTES 0
#ifdef __cplusplus
extern "C" {
#endif
/* out = 16 bytes of in under the 32 bytes of k; c is not used; returns 0 */
int crypto_core_aes256decrypt(unsigned char *out, const unsigned char *in, const unsigned char *k,
                              const unsigned char *c);
#ifdef __cplusplus
}
#endif
#endif
