/* The operation of crypto_cxof: the customization string travels where an AEAD has associated data. */
#include "harness.h"

#include "crypto_cxof.h"

const uint8_t sy_api = 3;
const uint8_t sy_parts = 1;

typedef int (*cxof_fn)(unsigned char *, unsigned long long, const unsigned char *, unsigned long long,
                       const unsigned char *, unsigned long long);

uint8_t sy_operation_known(uint8_t op)
{
    return op == SY_EMPTY || op == SY_HASH;
}

uint32_t sy_out_max(uint8_t op, uint16_t in_len)
{
    (void)op, (void)in_len;
    return sy_a_bytes;
}

int sy_run(uint8_t op, struct sy_call *p)
{
    volatile cxof_fn fn = op == SY_HASH ? crypto_cxof : (cxof_fn)SY_NOTHING;
    cxof_fn call = fn;
    int code;
    p->out_len = sy_a_bytes; /* before the edge: after it the simulator takes it for the call's */
    SY_RISE();
    code = call(p->out, sy_a_bytes, p->in, p->in_len, p->ad, p->ad_len);
    SY_FALL();
    return code;
}
