/* The operations of crypto_block as the first FELICS declares them: keys and blocks that are not const, encryption and
 * decryption in place, a schedule of decryption that goes on from encryption's round keys, which the host sends as its
 * context. Copies are made before the rising edge, and no function of the package is called there: a pulse is one of
 * FELICS's functions. Otherwise as block.c. */
#include "harness.h"

#ifndef SY_PARTS
#define SY_PARTS 3
#endif

const uint8_t sy_api = SY_API_BLOCK;
const uint8_t sy_parts = SY_PARTS | SY_CONTINUES;

typedef void (*phase_fn)(uint8_t *, uint8_t *);

extern void crypto_block_encrypt_schedule(uint8_t *key, uint8_t *round_keys);
extern void crypto_block_decrypt_schedule(uint8_t *key, uint8_t *round_keys);
extern void crypto_block_encrypt(uint8_t *block, uint8_t *round_keys);
extern void crypto_block_decrypt(uint8_t *block, uint8_t *round_keys);

uint8_t sy_operation_known(uint8_t op)
{
    op &= (uint8_t)~SY_HOLLOW;
    return op == SY_EMPTY || op == SY_EMPTY_DECRYPT ||
           op == SY_SCHEDULE_ENCRYPT || (op == SY_ENCRYPT && (SY_PARTS & 1)) ||
           ((op == SY_DECRYPT || op == SY_SCHEDULE_DECRYPT) && (SY_PARTS & 2));
}

uint32_t sy_out_max(uint8_t op, uint16_t in_len)
{
    (void)in_len;
    return (op & ~SY_HOLLOW) >= SY_SCHEDULE_ENCRYPT ? sy_npub_bytes : sy_a_bytes;
}

/* FELICS's functions return nothing, and so does the empty one. */
static void nothing(void)
{
}

int sy_run(uint8_t op, struct sy_call *p)
{
    volatile phase_fn fn = (phase_fn)(void (*)(void))nothing;
    uint8_t *first = p->out, *second = (uint8_t *)p->npub;
    uint16_t i;
    phase_fn call;
    if (op == SY_SCHEDULE_ENCRYPT)
        fn = crypto_block_encrypt_schedule;
#if SY_PARTS & 1
    if (op == SY_ENCRYPT)
        fn = crypto_block_encrypt;
#endif
#if SY_PARTS & 2
    if (op == SY_SCHEDULE_DECRYPT)
        fn = crypto_block_decrypt_schedule;
    if (op == SY_DECRYPT)
        fn = crypto_block_decrypt;
#endif
    if ((op & ~SY_HOLLOW) >= SY_EMPTY_DECRYPT) {
        first = (uint8_t *)p->key;
        second = p->out;
        p->out_len = sy_npub_bytes;
        for (i = 0; (op & ~SY_HOLLOW) == SY_SCHEDULE_DECRYPT && i < sy_npub_bytes; i++)
            second[i] = p->npub[i];
    } else {
        p->out_len = sy_a_bytes;
        for (i = 0; i < p->in_len; i++)
            first[i] = p->in[i];
    }
    call = fn;
    SY_RISE();
    call(first, second);
    SY_FALL();
    return 0;
}
