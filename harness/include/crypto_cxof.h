/* A customizable XOF in the manner of the NIST API (SP 800-232): `cs` is the customization string. */
#ifndef STEELYARD_CRYPTO_CXOF_H
#define STEELYARD_CRYPTO_CXOF_H
#ifdef __cplusplus
extern "C" {
#endif
int crypto_cxof(unsigned char *out, unsigned long long outlen, const unsigned char *in, unsigned long long inlen,
                const unsigned char *cs, unsigned long long cslen);
#ifdef __cplusplus
}
#endif
#endif
