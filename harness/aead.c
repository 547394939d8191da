/* The operations of crypto_aead. SY_PARTS chooses which of them the image holds: the linker drops
 * what is not called, which splits ROM into encryption, decryption and both. */
#include "harness.h"

#include "crypto_aead.h"

#ifndef SY_PARTS
#define SY_PARTS 3
#endif

const uint8_t sy_api = 1;
const uint8_t sy_parts = SY_PARTS;
extern const unsigned char *const sy_nsec_encrypt; /* params.c; null where the package has no secret message number */
extern unsigned char *const sy_nsec_decrypt;

typedef int (*encrypt_fn)(unsigned char *, unsigned long long *, const unsigned char *, unsigned long long,
                          const unsigned char *, unsigned long long, const unsigned char *,
                          const unsigned char *, const unsigned char *);
typedef int (*decrypt_fn)(unsigned char *, unsigned long long *, unsigned char *, const unsigned char *,
                          unsigned long long, const unsigned char *, unsigned long long,
                          const unsigned char *, const unsigned char *);

uint8_t sy_operation_known(uint8_t op)
{
    return op == SY_EMPTY || op == SY_EMPTY_DECRYPT || (op == SY_ENCRYPT && (SY_PARTS & 1)) ||
           (op == SY_DECRYPT && (SY_PARTS & 2));
}

uint32_t sy_out_max(uint8_t op, uint16_t in_len)
{
    /* published implementations count on room for the tag after a decrypted message */
    return op == SY_DECRYPT || op == SY_EMPTY_DECRYPT ? in_len : (uint32_t)in_len + sy_a_bytes;
}

/* The empty call goes through the same call site, so subtracting it leaves the callee alone. */
int sy_run(uint8_t op, struct sy_call *p)
{
    int code;
    if (op == SY_DECRYPT || op == SY_EMPTY_DECRYPT) {
        volatile decrypt_fn fn = (decrypt_fn)SY_NOTHING;
#if SY_PARTS & 2
        if (op == SY_DECRYPT)
            fn = crypto_aead_decrypt;
#endif
        decrypt_fn call = fn;
        SY_RISE();
        code = call(p->out, &p->out_len, sy_nsec_decrypt, p->in, p->in_len, p->ad, p->ad_len, p->npub, p->key);
        SY_FALL();
    } else {
        volatile encrypt_fn fn = (encrypt_fn)SY_NOTHING;
#if SY_PARTS & 1
        if (op == SY_ENCRYPT)
            fn = crypto_aead_encrypt;
#endif
        encrypt_fn call = fn;
        SY_RISE();
        code = call(p->out, &p->out_len, p->in, p->in_len, p->ad, p->ad_len, sy_nsec_encrypt, p->npub, p->key);
        SY_FALL();
    }
    return code;
}
