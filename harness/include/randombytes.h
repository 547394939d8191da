/* SUPERCOP's source of randomness is declared alone: no image has one, and its answers could not be verified. */
#ifndef randombytes_h
#define randombytes_h
#ifdef __cplusplus
extern "C" {
#endif
extern void randombytes(unsigned char *x, unsigned long long bytes);
#ifdef __cplusplus
}
#endif
#endif
