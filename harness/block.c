/* The operations of crypto_block. A schedule's output is a context, which the host sends back as the nonce of encryptions
 * and decryptions: nothing else outlasts a schedule. SY_PARTS is that of aead.c, each schedule with its direction. */
#include "harness.h"

#include "crypto_block.h"

#ifndef SY_PARTS
#define SY_PARTS 3
#endif

const uint8_t sy_api = SY_API_BLOCK;
const uint8_t sy_parts = SY_PARTS;

typedef int (*schedule_fn)(unsigned char *, const unsigned char *);
typedef int (*block_fn)(unsigned char *, const unsigned char *, const unsigned char *);

uint8_t sy_operation_known(uint8_t op)
{
    op &= (uint8_t)~SY_HOLLOW;
    return op == SY_EMPTY || op == SY_EMPTY_DECRYPT ||
           ((op == SY_ENCRYPT || op == SY_SCHEDULE_ENCRYPT) && (SY_PARTS & 1)) ||
           ((op == SY_DECRYPT || op == SY_SCHEDULE_DECRYPT) && (SY_PARTS & 2));
}

uint32_t sy_out_max(uint8_t op, uint16_t in_len)
{
    (void)in_len;
    return (op & ~SY_HOLLOW) >= SY_SCHEDULE_ENCRYPT ? sy_npub_bytes : sy_a_bytes;
}

/* Both empty calls: schedules have two arguments, the others three. */
int sy_run(uint8_t op, struct sy_call *p)
{
    int code;
    if ((op & ~SY_HOLLOW) >= SY_EMPTY_DECRYPT) {
        volatile schedule_fn fn = (schedule_fn)SY_NOTHING;
#if SY_PARTS & 1
        if (op == SY_SCHEDULE_ENCRYPT)
            fn = crypto_block_encrypt_schedule;
#endif
#if SY_PARTS & 2
        if (op == SY_SCHEDULE_DECRYPT)
            fn = crypto_block_decrypt_schedule;
#endif
        schedule_fn call = fn;
        p->out_len = sy_npub_bytes; /* before the edge: after it the simulator takes it for the call's */
        SY_RISE();
        code = call(p->out, p->key);
        SY_FALL();
    } else {
        volatile block_fn fn = (block_fn)SY_NOTHING;
#if SY_PARTS & 1
        if (op == SY_ENCRYPT)
            fn = crypto_block_encrypt;
#endif
#if SY_PARTS & 2
        if (op == SY_DECRYPT)
            fn = crypto_block_decrypt;
#endif
        block_fn call = fn;
        p->out_len = sy_a_bytes;
        SY_RISE();
        code = call(p->out, p->in, p->npub);
        SY_FALL();
    }
    return code;
}
