/* The operations of crypto_aead as FELICS-AE declares them: lengths of size_t, no nsec. Otherwise as aead.c. */
#include "harness.h"

#ifndef SY_PARTS
#define SY_PARTS 3
#endif

const uint8_t sy_api = 1;
const uint8_t sy_parts = SY_PARTS;

typedef int (*aead_fn)(uint8_t *, size_t *, const uint8_t *, size_t, const uint8_t *, size_t, const uint8_t *,
                       const uint8_t *);

extern int crypto_aead_encrypt(uint8_t *, size_t *, const uint8_t *, size_t, const uint8_t *, size_t,
                               const uint8_t *, const uint8_t *);
extern int crypto_aead_decrypt(uint8_t *, size_t *, const uint8_t *, size_t, const uint8_t *, size_t,
                               const uint8_t *, const uint8_t *);

uint8_t sy_operation_known(uint8_t op)
{
    return op == SY_EMPTY || op == SY_EMPTY_DECRYPT || (op == SY_ENCRYPT && (SY_PARTS & 1)) ||
           (op == SY_DECRYPT && (SY_PARTS & 2));
}

uint32_t sy_out_max(uint8_t op, uint16_t in_len)
{
    return op == SY_DECRYPT || op == SY_EMPTY_DECRYPT ? in_len : (uint32_t)in_len + sy_a_bytes;
}

int sy_run(uint8_t op, struct sy_call *p)
{
    volatile aead_fn fn = (aead_fn)SY_NOTHING;
    aead_fn call;
    /* the lower bytes of a number that was small: no variable of this frame is the call's to write */
    size_t __attribute__((may_alias)) *out_len = (size_t __attribute__((may_alias)) *)&p->out_len;
    int code;
#if SY_PARTS & 1
    if (op == SY_ENCRYPT)
        fn = crypto_aead_encrypt;
#endif
#if SY_PARTS & 2
    if (op == SY_DECRYPT)
        fn = crypto_aead_decrypt;
#endif
    call = fn;
    SY_RISE();
    code = call(p->out, (size_t *)out_len, p->in, p->in_len, p->ad, p->ad_len, p->npub, p->key);
    SY_FALL();
    /* FELICS-AE does not look at what encryption returns, and some packages return nothing */
    return op == SY_ENCRYPT ? 0 : code;
}
